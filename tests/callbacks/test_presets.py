"""The presets of Explore and Modes: what a lake offers, and where each link leads."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from dash import html

from app.explore import presets as explore_presets
from app.explore.layout import explore_layout
from app.explore.state import ExploreState
from app.explore.views import picture
from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.modes import defaults as modes_presets
from app.modes.layout import modes_layout
from app.modes.payload import judge
from app.modes.state import ModesState
from data.catalogue import SHIPPED
from data.selection import Selection
from tests.callbacks.components import walk
from tests.callbacks.conftest import grid_rows
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.storage_rows import fio, study_rows


def lake(path: Path, rows: list[dict[str, Any]]) -> LakeView:
    return Lakes(write_lake(path / "lake", rows)).at(None)


def netpipe(message_bytes: int, **values: Any) -> dict[str, Any]:
    return run(
        workload="netpipe", loop="closed", load_qps=None, message_bytes=message_bytes,
        performance_metric="duration_s", duration_s=0.2, latency_p99_us=None, **values,
    )  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    """Network and storage runs: 26 of memcached at 200k QPS, one at 300k; three of NetPIPE."""
    rows = [*grid_rows(), run(load_qps=300_000.0), netpipe(64), netpipe(524_288)]
    rows += [run(dataset="other", run_id="other")]
    rows += [run(workload="nodejs", run_id="n1", load_qps=None)]
    return lake(tmp_path_factory.mktemp("both"), [*rows, *study_rows()])


def links(main: html.Main) -> dict[str, str]:
    return {
        str(c.children): str(c.href).removeprefix("?")
        for c in walk(main) if getattr(c, "className", None) == "preset"
    }  # fmt: skip


def test_explore_offers_what_the_lake_holds_of_the_study(both: LakeView) -> None:
    found = links(explore_layout(both, ExploreState(), ""))
    assert list(found) == [
        "memcached 200k QPS", "NetPIPE 64 B", "NetPIPE 8 KiB", "NetPIPE 512 KiB", "node.js",
        "3: NetPIPE and node.js",
        "4: NetPIPE and node.js", "6 a-c: memcached", "6 d: memcached",
    ]  # fmt: skip
    state = ExploreState.from_query(found["memcached 200k QPS"], SHIPPED)
    # of the two datasets with such runs the one with more of them
    assert state.selection == Selection.of(
        dataset=[grid_rows()[0]["dataset"]], workload=["memcached"], load=[200_000.0]
    )
    assert (state.x, state.y, state.replicates) == ("performance", "energy_j", "means")
    hints = [one.hint for one in explore_presets.study_presets(both)]
    assert hints[0] == "energy against performance, memcached 200k QPS, 26 runs"


def test_modes_offers_figure_3(both: LakeView) -> None:
    found = links(modes_layout(both, ModesState(), ""))
    assert list(found) == ["figure 3 of HotStorage '22", "4 KB reads", "Student's rule"]
    rule = ModesState.from_query(found["Student's rule"], SHIPPED)
    assert (rule.test, rule.correction, rule.alpha) == ("student", "none", 0.05)
    state = ModesState.from_query(found["figure 3 of HotStorage '22"], SHIPPED)
    assert (state.metric, state.competitor, state.x, state.y) == (
        "bytes_per_joule", "mode", "depth", "request",
    )  # fmt: skip
    assert (state.test, state.alpha, state.correction, state.lead) == (
        "student", 0.05, "none", "absolute",
    )  # fmt: skip
    assert state.selection == Selection.of(
        dataset=["lab"], workload=["fio"], device=["optane"], rw=["randread"]
    )
    cells = judge(both, state).comparison.cells
    # 4 and 64 KiB x depth 1, 2, 8
    assert len(cells) == 6


def test_4_kb_reads_are_judged_by_depth_and_device(both: LakeView) -> None:
    found = links(modes_layout(both, ModesState(), ""))
    state = ModesState.from_query(found["4 KB reads"], SHIPPED)
    assert (state.x, state.y) == ("depth", "device")
    assert state.selection.values("request") == (4096.0,)
    cells = judge(both, state).comparison.cells
    assert dict(cells.group_by("y").agg(pl.len()).iter_rows()) == {"optane": 3, "disk": 2}


def test_figure_3_keeps_to_its_axes(tmp_path: Path) -> None:
    rows = [
        fio(mode, request_bytes=size, depth=depth)
        for mode in ("poll", "interrupt") for size in (512, 4096) for depth in (8, 128)
    ]  # fmt: skip
    (figure, _) = modes_presets.study_presets(lake(tmp_path, rows))
    assert isinstance(figure.state, ModesState)
    assert figure.state.selection.values("request") == (4096.0,)
    assert figure.state.selection.values("depth") == (8.0,)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [fio("interrupt")],
        [fio("interrupt", power_w=None, energy_j=None), fio("poll", power_w=None, energy_j=None)],
    ],
)
def test_no_preset_without_runs_of_it(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    view = lake(tmp_path, rows)
    assert modes_presets.study_presets(view) == []
    assert explore_presets.study_presets(view) == []
    assert set(links(modes_layout(view, ModesState(), ""))) <= {"Student's rule"}


@pytest.mark.parametrize(("loads", "expected"), [((5e4, 1e5), ["8", "9"]), ((5e4,), ["9"])])
def test_figures_8_and_9_are_offered_where_silo_was_run(
    tmp_path: Path, loads: tuple[float, ...], expected: list[str]
) -> None:
    """The published tables have none; figure 8 needs several loads."""
    rows = [
        run(workload="memcached-silo", load_qps=load, system=system, itr_us=itr)
        for load in loads for system in ("linux_tuned", "ebbrt_tuned") for itr in (2.0, 100.0)
    ]  # fmt: skip
    view = lake(tmp_path, rows)
    presets = explore_presets.figure_presets(view)
    assert [one.title for one in presets] == [f"{n}: memcached-silo" for n in expected]
    for one in presets:
        assert isinstance(one.state, ExploreState)
        shown = "lines" if one.state.show == "lines" else "scatter"
        # Marks of an open loop stand within a limit.
        assert one.state.limit == (500 if shown == "scatter" else None)
        meta = picture(shown, view, one.state)["figure"]["layout"]["meta"]
        assert [p["value"] for p in meta.get("panels", [])] == list(loads)
