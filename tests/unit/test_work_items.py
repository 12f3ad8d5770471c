"""The energy of an item, where runs took equally long and did unlike amounts of work."""

from pathlib import Path
from typing import Any

import pytest

from app.explore.defaults import default_state
from app.explore.views import best_table
from app.findings.answer import default_state as findings_state
from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.kit.work_words import work_words
from app.lake.settings_answers import settings_answers
from app.modes.answer import answer
from app.modes.opening import default_state as modes_state
from data.catalogue import Catalogue
from data.declared import Column
from data.findings import claims
from data.work_items import item_counted
from tests.fixtures.lakes import run, write_lake

BACKEND = Column("backend", "knob", "text", "backend", "backend")
FRAMES = Column("n_frames", "metric", "whole", "n_frames", "n_frames")
TOKENS = Column("tokens", "metric", "whole", "tokens", "tokens")
# Joules and frames: the thrifty backend takes more energy, and less of it for a frame.
DONE = {"thrifty": (5000.0, 2500), "slow": (4000.0, 1000)}


def lake_of(
    folder: Path, columns: list[Column], seconds: dict[str, float], **values: Any
) -> LakeView:
    rows = [
        run(itr_us=None, backend=backend, replicate=r, energy_j=joules + r, n_frames=frames + r,
            duration_s=seconds[backend], latency_p99_us=None, performance_metric="duration_s",
            **values)
        for backend, (joules, frames) in DONE.items() for r in range(3)
    ]  # fmt: skip
    return Lakes(write_lake(folder, rows, columns)).at(None)


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("n_frames", "frame"), ("frame_count", "frame"), ("total_tokens", "token"),
        ("ops_done", "operation"), ("queries", "query"), ("requests", "request"),
        ("tokens_per_s", ""), ("n_samples", ""), ("frame_id", ""), ("frame", ""), ("count", ""),
        ("max_frames", ""), ("prompt_tokens", ""),
    ],
)  # fmt: skip
def test_what_a_column_counts(name: str, item: str) -> None:
    assert item_counted(name) == item


def test_energy_of_a_frame_decides_where_runs_took_equally_long(tmp_path: Path) -> None:
    """5000 J over 2500 frames are 2 J; 4000 J over 1000 are 4 J."""
    view = lake_of(tmp_path, [BACKEND, FRAMES], {"thrifty": 600.0, "slow": 610.0})
    metric = view.catalogue.metric("energy_per_frame_j")
    assert (metric.title, metric.unit, metric.better) == ("Energy per frame", "J/frame", "less")
    explore, modes = default_state(view), modes_state(view)
    assert explore.y == modes.metric == findings_state(view).metric == metric.name
    (best,) = best_table(view, explore).to_dicts()
    assert (best["backend"], round(best["cost_mean"], 2)) == ("thrifty", 2.0)
    (claim,) = claims(view.lake)
    assert claim.metric == metric.name
    assert claim.sentence.startswith("backend thrifty lowers energy per frame against backend slow")
    note = (
        "All runs took equally long and did unlike amounts of work: energy per frame is compared. "
        "Derived: energy over n_frames."
    )
    assert work_words(view, explore.selection) == note
    assert note in answer(view, modes).conclusions


@pytest.mark.parametrize(
    ("load_qps", "metric"), [(None, "energy_per_request_uj"), (500.0, "energy_j")]
)
def test_energy_of_a_request_decides_where_no_load_was_set(
    load_qps: float | None, metric: str, tmp_path: Path
) -> None:
    """A load that was set is the work, whether or not all of it was done."""
    rows = [
        run(itr_us=None, backend=backend, replicate=r, energy_j=joules + r, requests=done + r,
            duration_s=60.0, load_qps=load_qps, performance_metric="latency_p99_us")
        for backend, (joules, done) in DONE.items() for r in range(3)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path, rows, [BACKEND])).at(None)
    assert default_state(view).y == modes_state(view).metric == metric
    assert metric in {claim.metric for claim in claims(view.lake)}
    assert bool(work_words(view, default_state(view).selection)) == (load_qps is None)


@pytest.mark.parametrize(
    ("columns", "seconds", "values"),
    [
        # Another time is another amount of work done, or the same in less time: nothing tells.
        ([BACKEND, FRAMES], {"thrifty": 600.0, "slow": 700.0}, {}),
        # Two counts: nothing tells which is the work.
        ([BACKEND, FRAMES, TOKENS], {"thrifty": 600.0, "slow": 600.0}, {"tokens": 7}),
    ],
)
def test_energy_of_a_run_stays_where_nothing_decides(
    tmp_path: Path, columns: list[Column], seconds: dict[str, float], values: dict[str, Any]
) -> None:
    view = lake_of(tmp_path, columns, seconds, **values)
    explore = default_state(view)
    assert explore.y == modes_state(view).metric == findings_state(view).metric == "energy_j"
    assert "energy_j" in {claim.metric for claim in claims(view.lake)}
    assert work_words(view, explore.selection) == ""


def test_a_stated_energy_of_an_item_or_a_column_of_that_name_comes_first() -> None:
    named = Column("energy_per_frame_j", "label", "text", "x", "x")
    assert Catalogue.of((FRAMES,)).costs_of_work == ("energy_per_frame_j",)
    assert Catalogue.of((FRAMES, named)).costs_of_work == ()
    stated = Column("frame_mj", "metric", "real", "energy per frame", "frame", "mJ/frame", "less")
    (item,) = Catalogue.of((FRAMES, stated)).work_items
    assert "frame_mj IS NULL" in item.sql


def test_times_of_runs_that_stopped_early_are_not_compared(tmp_path: Path) -> None:
    """Of the short prompt one engine made 20 tokens in 0.4 s, the other 200 in 4.1 s; of the long
    one each makes 200. The precision follows from the model.
    """
    columns = [
        Column("model", "knob", "text", "model", "model", is_given=True),
        Column("prompt", "knob", "text", "prompt", "prompt", is_given=True),
        Column("bits", "knob", "text", "bits", "bits"),
        Column("engine", "knob", "text", "engine", "engine"),
        TOKENS,
        Column("decode", "metric", "real", "decode", "decode", "tokens/s", "more"),
    ]
    times = {("short", "a"): (20, 0.4), ("short", "b"): (200, 4.1), ("long", "a"): (200, 4.0),
             ("long", "b"): (200, 4.2)}  # fmt: skip
    rows = [
        run(itr_us=None, model=model, bits=f"{n}-bit", prompt=prompt, engine=engine, replicate=r,
            tokens=tokens, duration_s=seconds * n + r / 99, decode=tokens / (seconds * n) + r / 9,
            energy_j=None, latency_p99_us=None, performance_metric="duration_s")
        for n, model in enumerate(("elm", "oak"), 4)
        for (prompt, engine), (tokens, seconds) in times.items() for r in range(3)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path, rows, columns)).at(None)
    explore, modes = default_state(view), modes_state(view)
    assert {explore.x, explore.y} <= {"decode", "performance"}
    assert (modes.competitor, modes.metric) == ("c_engine", "decode")
    assert findings_state(view).metric == "decode"
    note = "Runs did unlike amounts of work, so that time alone does not tell: tokens is 20 to 200."
    assert note in answer(view, modes).conclusions
    (claim,) = claims(view.lake)
    assert (claim.n_subject, claim.n_reference) == (6, 6), "two cells of the long prompt"
    ((_, said),) = [one for one in settings_answers(view, modes.selection, view.catalogue.metric(
        "duration_s")) if one[0].startswith("Which setting")]  # fmt: skip
    assert "times as much" not in said


def test_what_failed_is_told(tmp_path: Path) -> None:
    columns = [
        Column("heading", "knob", "text", "heading", "heading"),
        Column("failed_requests", "label", "whole", "failed requests", "failed requests"),
    ]
    rows = [
        run(itr_us=None, heading=heading, failed_requests=failed, requests=4000,
            load_qps=None, energy_j=None, latency_p99_us=micros, duration_s=60.0,
            performance_metric="latency_p99_us")
        for heading, failed, micros in (("by_forked", 12, 9e7), ("by_threads", 310, 8e7))
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path, rows, columns)).at(None)
    state = default_state(view)
    note = "Not all work was done: failed requests is 12 to 310 of 4,000 requests in a run."
    assert work_words(view, state.selection) == note
    assert answer(view, modes_state(view)).conclusions[-1] == note
