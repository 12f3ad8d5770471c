"""The SQL that explanations of Timeline and Models print gives the rows behind their numbers."""

from pathlib import Path

import polars as pl
import pytest

from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.models.page import PAGE as MODELS
from app.timeline.page import PAGE as TIMELINE
from tests.callbacks.test_explanations import asked, assert_same, rows


@pytest.fixture(scope="module")
def view(logged_lake: Path) -> LakeView:
    return Lakes(logged_lake).at(None)


@pytest.fixture(scope="module")
def window(view: LakeView) -> str:
    """A narrow window of a run: its interrupts are drawn one by one."""
    runs = view.lake.sql("SELECT run_id FROM runs WHERE has_log ORDER BY run_id").fetchall()
    return f"v=2&run={runs[0][0]}&from=0.002&to=0.01"


def test_the_runs_of_models(view: LakeView) -> None:
    query = "v=2&workload=memcached&load=200000"
    names = ("runs", "throughput", "cpu", "latency", "itr", "fits", "predicted")
    answers = [asked(view, MODELS, query, name) for name in names]
    expected = rows(view, MODELS, query, "runs").sort("run_id")
    columns = ("run_id", "energy_j", "duration_s", "ref_cycles", "interrupts", "rx_desc")
    for (found,) in answers:
        assert_same(found.sort("run_id"), expected, {c: c for c in columns})
        assert found["load_qps"].unique().to_list() == [200_000.0]


def test_the_interrupts_of_a_window(view: LakeView, window: str) -> None:
    found = asked(view, TIMELINE, window, "interrupts")[0]
    expected = rows(view, TIMELINE, window, "interrupts")
    by = ["core", "t_ns"]
    assert_same(found.sort(by), expected.sort(by), {"core": "core", "t_ns": "t_ns"})


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", ["figure", "gaps", "totals", "bins", "samples"])
def test_the_totals_of_a_window(view: LakeView, window: str, name: str) -> None:
    interrupts, *_ = asked(view, TIMELINE, window, name)
    totals = dict(rows(view, TIMELINE, window, "totals").select("name", "value").iter_rows())
    assert totals["interrupts"] == len(interrupts)
    assert totals["rx_bytes"] == interrupts.select(pl.col("rx_bytes").sum()).item()
