"""The sample's storage sweep, from its raw files to the map: the picture of the paper."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.modes.opening import default_state
from app.modes.payload import judge
from data.analysis.rules import WIN
from data.analysis.ties import win_counts
from data.selection import Value
from ingest.__main__ import main as ingest
from ingest.sample.storage import write_storage

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    folder: Path = tmp_path_factory.mktemp("sweep")
    write_storage(folder, "small", 1, lambda: None)
    ingest(["add", str(folder / "storage"), "--lake", str(folder / "lake")])
    return Lakes(folder / "lake").at(None)


def winners(view: LakeView, device: str, rw: str) -> dict[tuple[Value, Value], str]:
    """Who wins each cell, by request size and depth; `tie` where nobody does, or too few."""
    state = default_state(view)
    selection = state.selection.with_values("device", [device]).with_values("rw", [rw])
    found = judge(view, replace(state, selection=selection)).comparison
    names = found.contenders["competitor"].gather(found.cells["winner"])
    shown = found.cells.with_columns(
        who=pl.when(pl.col("outcome") == WIN)
        .then(names)
        .otherwise(pl.col("outcome").replace("equivalent", "tie"))
    )
    return {(x, y): who for x, y, who in shown.select("x", "y", "who").iter_rows()}


def test_the_first_view_asks_the_question_of_the_paper(view: LakeView) -> None:
    state = default_state(view)
    assert (state.competitor, state.x, state.y) == ("mode", "request", "depth")
    assert state.metric == "bytes_per_joule"


@pytest.mark.parametrize("rw", ["randread", "randwrite"])
def test_polling_wins_at_low_latency_and_interrupts_at_high(view: LakeView, rw: str) -> None:
    found = winners(view, "optane", rw)
    sizes, depths = sorted({x for x, _ in found}), sorted({y for _, y in found})
    assert found[sizes[0], depths[0]] == "poll"
    assert found[sizes[-1], depths[-1]] == "interrupt"
    # Once interrupts win a row or a column they go on winning as requests get slower.
    for size in sizes:
        column = [found[size, depth] for depth in depths]
        assert column == sorted(column, key=["poll", "tie", "interrupt"].index)
    for depth in depths:
        row = [found[size, depth] for size in sizes]
        assert row == sorted(row, key=["poll", "tie", "interrupt"].index)


def test_hybrid_polling_never_does_better_than_a_tie(view: LakeView) -> None:
    for device in ("optane", "flash-a", "flash-b"):
        for rw in ("randread", "randwrite"):
            assert "hybrid" not in winners(view, device, rw).values()


def test_a_disk_that_only_interrupts_wins_nothing(view: LakeView) -> None:
    assert set(winners(view, "disk", "randread").values()) == {"alone"}
    state = default_state(view)
    selection = state.selection.with_values("device", ["disk"])
    counts = win_counts(judge(view, replace(state, selection=selection)).comparison)
    assert counts.filter(pl.col("outcome") == WIN)["cells"].sum() == 0
