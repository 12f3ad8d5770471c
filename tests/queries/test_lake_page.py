"""The catalogue of a lake: datasets, coverage, problems, and questions with their answers."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from dash import html

from app.findings.answer import claims_of
from app.findings.page import PAGE as FINDINGS
from app.kit.context import Lakes
from app.kit.export import render
from app.kit.lake_view import LakeView
from app.kit.links import open_page
from app.lake.answer import (
    MOST_PLACES,
    coverage,
    datasets_of,
    knob_ranges,
    questions_of,
    small_coverage,
)
from app.lake.layout import blocks, questions_block
from app.lake.settings_answers import settings_answers, unasked_words
from data.connection import Lake
from data.declared import Column
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake

# Two datasets: in `a` two settings of tuned Linux with two runs and one, in `b` one run with a log.
# Energies of `a`: 100 and 110 J (mean 105, standard deviation 10 / sqrt(2) = 7.07 J, 6.7 %), 210 J.
ROWS: list[dict[str, Any]] = [
    run(run_id="a0", dataset="a", itr_us=2.0, replicate=0, start_unix_s=1_600_000_000.0,
        duration_s=20.0, energy_j=100.0, rapl_w=75.0, flags=["no_log"]),
    run(run_id="a1", dataset="a", itr_us=2.0, replicate=1, start_unix_s=1_600_000_100.0,
        duration_s=20.0, energy_j=110.0, rapl_w=75.0),
    run(run_id="a2", dataset="a", itr_us=50.0, replicate=0, start_unix_s=1_600_000_200.0,
        duration_s=20.0, energy_j=210.0, rapl_w=None, mode="hybrid"),
    run(run_id="b0", dataset="b", itr_us=8.0, energy_j=None, power_w=None, has_log=True,
        interrupts=None),
]  # fmt: skip


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    return Lakes(write_lake(tmp_path_factory.mktemp("catalogue") / "lake", ROWS)).at(None)


def test_a_row_says_what_a_dataset_holds(view: LakeView) -> None:
    first, second = datasets_of(view).iter_rows(named=True)
    assert (first["dataset"], first["runs"], first["configurations"]) == ("a", 3, 2)
    assert (first["least_n"], first["median_n"], first["logged"]) == (1, 1.5, 0)
    # The last run ends 20 s after its start.
    assert (first["first_s"], first["last_s"]) == (1_600_000_000, 1_600_000_220)
    assert first["missing"] == "Timeline: per-interrupt logs; Storage: results of fio"
    # Samples of power are no interrupts.
    assert (second["runs"], second["logged"], second["with_interrupts"]) == (1, 1, 0)
    assert second["missing"] == "Explore: energy or power"


def test_nothing_is_missing_that_a_study_of_others_cannot_have(tmp_path: Path) -> None:
    """Energies of parts alone are a cost; a study without interrupts and storage lacks none."""
    part = Column("cpu_e", "metric", "real", "CPU_E", "CPU_E", "J")
    rows = [run(itr_us=None, dvfs_ghz=None, energy_j=None, power_w=None, cpu_e=9.5)]
    view = Lakes(write_lake(tmp_path / "lake", rows, [part])).at(None)
    assert datasets_of(view)["missing"].to_list() == [""]
    rate = Column("images_s", "metric", "real", "images_s", "images_s", "image/s")
    rows = [run(itr_us=None, dvfs_ghz=None, latency_p99_us=None, duration_s=None, images_s=9.5)]
    view = Lakes(write_lake(tmp_path / "rates", rows, [rate])).at(None)
    assert datasets_of(view)["missing"].to_list() == [""]


def test_energy_and_time_of_items_are_what_explore_needs(tmp_path: Path) -> None:
    """An energy of 0 is none: the questions are about the energy of a frame, 2 to 8 mJ."""
    own = [
        Column("frame_mj", "metric", "real", "energy per frame", "frame", "mJ/frame", "less"),
        Column("frame_ms", "metric", "real", "time per frame", "frame", "ms/frame", "less"),
    ]
    rows = [
        run(itr_us=itr, energy_j=0.0, power_w=None, latency_p99_us=None, duration_s=None,
            frame_mj=joules, frame_ms=joules / 2, replicate=r, performance_metric="frame_ms")
        for itr, joules in ((2.0, 2.0), (4.0, 4.0), (8.0, 8.0)) for r in (0, 1)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows, own)).at(None)
    logs = "Timeline: per-interrupt logs"
    assert datasets_of(view)["missing"].to_list() == [logs]
    asked = {question.title: question.answer for question in questions_of(view)}
    assert "Which knob matters for energy per frame?" in asked
    assert asked["How repeatable is a run?"].startswith(
        "The standard deviation of energy per frame between runs of one setting is 0 % of the mean"
    )
    without = [row | {"frame_mj": 0.0, "frame_ms": None} for row in rows]
    view = Lakes(write_lake(tmp_path / "without", without, own)).at(None)
    assert datasets_of(view)["missing"].to_list() == [
        f"Explore: energy or power, latency, rate or time; {logs}"
    ]


def test_one_knob_without_noise_explains_nothing(tmp_path: Path) -> None:
    rows = [run(itr_us=itr, energy_j=90 + itr) for itr in (2.0, 4.0, 8.0)]
    view = Lakes(write_lake(tmp_path / "once", rows)).at(None)
    assert "Which knob matters for energy?" not in {one.title for one in questions_of(view)}
    again = [*rows, run(itr_us=2.0, energy_j=92.5, replicate=1)]
    view = Lakes(write_lake(tmp_path / "twice", again)).at(None)
    asked = {one.title: one.answer for one in questions_of(view)}
    assert "Which knob matters for energy?" in asked
    # 98 J against (92 + 92.5) / 2 = 92.25 J.
    assert asked["Which setting has least energy, and which most?"] == (
        "Least ITR 2 us: 92.2 J (n = 2); most ITR 8 us: 98.0 J (n = 1), 6.23 % more."
    )


def test_a_column_of_texts_named_like_a_latency_is_no_performance(tmp_path: Path) -> None:
    named = Column("latency_class", "knob", "text", "latency_class", "latency_class", "")
    rows = [run(latency_p99_us=None, duration_s=None, latency_class="low")]
    view = Lakes(write_lake(tmp_path / "lake", rows, [named])).at(None)
    assert datasets_of(view)["with_performance"].to_list() == [0]


def test_a_knob_has_its_range_and_a_place_its_runs(view: LakeView) -> None:
    ranges = {(d, knob): facts for d, knob, *facts in knob_ranges(view).rows()}
    assert ranges["a", "itr_us"] == [2, "2.0", "50.0", ["2.0", "50.0"], 0]
    cells = coverage(view).select("dataset", "runs", "configurations").rows()
    assert cells == [("a", 3, 2), ("b", 1, 1)]


def test_a_matrix_pools_the_knob_with_most_values_until_it_is_small(view: LakeView) -> None:
    one = coverage(view).head(1)
    rows = pl.concat([
        one.with_columns(message_bytes=pl.lit(float(k)), load_qps=pl.lit(1e3 * (k % 3)))
        for k in range(MOST_PLACES + 6)
    ])  # fmt: skip
    assert small_coverage(rows[:MOST_PLACES], view.catalogue)[1] == []
    small, over = small_coverage(rows, view.catalogue)
    assert over == ["message size"]
    assert small["runs"].to_list() == [3 * 10] * 3
    assert small["configurations"].to_list() == [2 * 10] * 3


def test_the_page_says_it_in_words(view: LakeView) -> None:
    made = {name: render(body) for name, body in blocks(view).items()}
    assert "3 in 2 configurations; n at least 1, median 1.5" in made["datasets"]
    assert "ITR: 2 us to 50 us (2 values)" in made["datasets"]
    assert "RAPL: 75 W or none" in made["datasets"]
    assert "completion mode: hybrid or none" in made["datasets"]
    assert "2020-09-13 12:26 to 2020-09-13 12:30 UTC" in made["datasets"]
    assert "no_log: 1 run" in made["datasets"]
    assert '<td class="">3 in 2</td>' in made["coverage"]
    assert "Nothing was refused, repaired or doubted." in made["problems"]


def test_without_a_claim_the_settings_answer(view: LakeView, tmp_path: Path) -> None:
    asked = {question.title: question.answer for question in questions_of(view)}
    assert "is 6.7 % of the mean (1 setting with" in asked["How repeatable is a run?"]
    assert asked["Which setting has least energy, and which most?"] == (
        "Least no mode · ITR 2 us · 75 W: 105 J (n = 2); most hybrid polling · ITR 50 us · "
        "no power limit: 210 J (n = 1), 2 times as much."
    )
    # Without energy and power there is nothing to ask.
    unmeasured = dict.fromkeys(("latency_p50_us", "latency_p99_us", "duration_s"))
    without = Lakes(write_lake(tmp_path / "lake", [ROWS[3] | unmeasured])).at(None)
    assert questions_of(without) == []
    assert "No run measured what settings are compared by" in render(questions_block(without))


def test_one_setting_alone_says_so(tmp_path: Path) -> None:
    alone = Lakes(write_lake(tmp_path / "lake", ROWS[:1])).at(None)
    assert questions_of(alone) == []
    said = render(questions_block(alone))
    assert "There is one setting, with one run that measured energy" in said
    assert "No run measured" not in said


def test_least_and_most_are_of_what_ran_alike(tmp_path: Path) -> None:
    """At 100k QPS three settings have 10, 12 and 15 J; at 400k QPS two have 70 and 90 J."""
    places = {100e3: (10.0, 12.0, 15.0), 400e3: (70.0, 90.0)}
    rows = [
        run(load_qps=load, itr_us=2.0 + i, energy_j=joules)
        for load, energies in places.items()
        for i, joules in enumerate(energies)
    ]
    titled = "Which setting has least energy, and which most?"
    answers = []
    for path, part in (("a", rows), ("b", [rows[0], rows[3]]), ("c", [rows[0], rows[4]])):
        view = Lakes(write_lake(tmp_path / path, part)).at(None)
        asked = settings_answers(view, Selection(), view.catalogue.metric("energy_j"))
        answers.append(dict(asked).get(titled, render(questions_block(view))))
    assert answers[0] == (
        "At 100k QPS, least ITR 2 us: 10.0 J (n = 1); most ITR 4 us: 15.0 J (n = 1), 1.5 times as "
        "much."
    )
    # Neither the same setting nor another one says which is least under unlike loads.
    assert "Each of 2 settings has one run, and no two of them ran the same" in answers[1]
    assert answers[2] == answers[1]


def test_unlike_work_and_metrics_without_a_direction_have_no_least(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guessed setting may be an amount of work; of a voltage neither end is better."""
    columns = (
        Column("rail_v", "metric", "real", title="rail", unit="V"),
        Column("part", "knob", "text", title="part", is_given=True),
    )
    rows = [
        run(itr_us=2.0 * n, energy_j=10.0 * n, rail_v=1.0 * n, part=None if n < 3 else "a",
            workload="first" if n < 3 else "second")
        for n in (1, 2, 3)
    ]  # fmt: skip
    monkeypatch.setattr(Lake, "guessed", frozenset({"tiny"}))
    view = Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None)
    energy, rail = (view.catalogue.metric(name) for name in ("energy_j", "rail_v"))
    asked = dict(settings_answers(view, Selection(), energy))
    assert asked["Which setting has least energy, and which most?"] == (
        "At first, least ITR 2 us: 10.0 J (n = 1); most ITR 4 us: 20.0 J (n = 1), 2 times as much. "
        "The comparison holds if both do the same work."
    )
    assert settings_answers(view, Selection(), rail) == []
    assert (
        "whether less or more rail is better is not"
        in unasked_words(view, Selection(), rail).lower()
    )


def test_runs_far_apart_are_no_replicates(tmp_path: Path) -> None:
    """Of three settings one has runs of 40 and 100 J, whose geometric standard deviation is
    2.5 ** (1 / sqrt(2)) = 1.9; the last has 2 to 800 J.
    """
    rows = [
        run(itr_us=itr, replicate=r, energy_j=joules)
        for itr, energies in ((2.0, (40.0, 100.0)), (8.0, (60.0, 60.0)), (50.0, (2.0, 30.0, 800.0)))
        for r, joules in enumerate(energies)
    ]
    first = Lakes(write_lake(tmp_path / "a", rows)).at(None)
    asked = dict(settings_answers(first, Selection(), first.catalogue.metric("energy_j")))
    # Standard deviations: 60 / sqrt(2) = 42.4 J of 70 J on average, and none.
    assert asked["How repeatable is a run?"] == (
        "The standard deviation of energy between runs of one setting is 30 % of the mean in the "
        "median setting, 61 % in the noisiest (2 of 3 settings with two runs or more, the others' "
        "runs are no replicates)."
    )
    assert asked["Do settings tell all runs apart?"].startswith(
        "No: in 1 setting the runs differ in energy by a factor of up to 400."
    )
    # The mean of runs that are no replicates is none of a setting.
    least_and_most = asked["Which setting has least energy, and which most?"]
    assert least_and_most == (
        "Least ITR 8 us: 60.0 J (n = 2); most ITR 2 us: 70.0 J (n = 2), 1.17 times as much."
    )
    alone = Lakes(write_lake(tmp_path / "b", rows[4:])).at(None)
    titles = {one.title for one in questions_of(alone)}
    assert titles == {
        "Does the thriftiest setting meet the limit?",
        "Do settings tell all runs apart?",
    }


def test_the_questions_of_a_study_have_numbers_and_links(published_lake: Path) -> None:
    view = Lakes(published_lake).at(None)
    asked = questions_of(view)
    assert [question.title for question in asked] == [
        "What does tuning save?", "Which system needs least energy?",
        "Which knob matters for energy?", "What should be measured next?",
        "Which system performs best?",
    ]  # fmt: skip
    assert all(any(digit in one.answer for digit in "123456789") for one in asked)
    assert all(f"lake={view.version}" in one.link(view) for one in asked)
    # The answer of a claim leads to this claim, of those in the same place.
    for one in (asked[0], asked[1], asked[4]):
        _, state, _ = open_page(FINDINGS, Lakes(published_lake), one.link(view).partition("?")[2])
        (linked,) = (claim for claim in claims_of(view, state) if claim.id == state.claim)
        assert linked.sentence == one.answer
    (listed,) = questions_block(view)
    assert isinstance(listed, html.Dl)
    # What Findings says of the same sweep of Library OS under node.js.
    assert "ITR makes 40 %" in asked[2].answer


def test_equal_runs_do_not_say_how_repeatable_a_run_is(tmp_path: Path) -> None:
    """Two copies of a run; the table has a column of the name of one of the query's."""
    mean = Column("mean", "metric", "real", "mean", "mean", better="less")
    rows = [run(itr_us=2.0, replicate=r, energy_j=512.347, mean=2.0 + r) for r in (0, 1)]
    view = Lakes(write_lake(tmp_path / "lake", rows, [mean])).at(None)
    energy, own = (view.catalogue.metric(name) for name in ("energy_j", "mean"))
    assert dict(settings_answers(view, Selection(), energy))["How repeatable is a run?"] == (
        "Not known: the runs of 1 setting have equal values to all digits: they say nothing of "
        "noise, as copies of one run would."
    )
    asked = dict(settings_answers(view, Selection(), own))
    assert "mean mean 2.50, standard deviation 28 %" in asked["How repeatable is a run?"]
