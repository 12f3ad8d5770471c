"""What Explore opens with: the rule by itself, then on lakes that lack what it likes best."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from app.explore.best_words import sentences
from app.explore.defaults import default_state, missing, opened, with_knobs
from app.explore.layout_best import best_settings_table
from app.explore.opening_rule import (
    Pair,
    Roles,
    are_alike,
    choose_heat,
    choose_over_settings,
    choose_roles,
    wants_logs,
)
from app.explore.question import Question
from app.explore.state import ExploreState
from app.explore.studies import standings_of
from app.explore.views import asked_of, best_table, picture, source_words
from app.findings.answer import default_state as findings_opens
from app.findings.answer import opened as findings_of_link
from app.findings.state import FindingsState
from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.kit.metric_choice import (
    choose_cost,
    choose_performance,
    is_performance,
    performance_column,
)
from app.kit.panels import NONE
from app.lake.settings_answers import settings_answers, unasked_words
from app.modes.answer import answer as modes_answer
from app.modes.defaults import for_workload
from app.modes.opening import default_state as modes_opens
from app.modes.state import ModesState
from data.catalogue import SHIPPED, Aggregates, Catalogue
from data.choices import Choice
from data.connection import Lake, open_lake
from data.decisions import decide
from data.declared import PERFORMANCE, Column, Kind
from data.errors import DataError
from data.findings import claims
from data.next_runs import next_runs
from data.queries.runs import one_measurement_query
from data.selection import Selection
from data.sweeps import knob_shares
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.pictures import traces


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (Pair(9, 9, 9, is_alike=False, is_spare=True), ("", 0)),
        (Pair(9, 9, 1, is_alike=False, is_spare=True), ("yx", 2)),
        (Pair(9, 9, 9, is_alike=True, is_spare=False), ("yx", 1)),
        (Pair(9, 9, 9, is_alike=True, is_spare=True), ("x", 1)),
        (Pair(2, 1, 1, is_alike=False, is_spare=True), ("x", 1)),
        (Pair(1, 1, 1, is_alike=False, is_spare=True), ("yx", 2)),
        (Pair(2, 1, 1, is_alike=False, is_spare=False), ("yx", 2)),
        (Pair(8, 4, 4, is_alike=False, is_spare=True), ("x", 1)),
        (Pair(8, 5, 5, is_alike=False, is_spare=True), ("", 0)),
        # Fewer than half of the runs with an energy have the other metric.
        (Pair(4, 9, 4, is_alike=False, is_spare=False), ("y", 1)),
        (Pair(5, 9, 5, is_alike=False, is_spare=False), ("", 0)),
    ],
)
def test_metrics_that_make_no_pair_stand_over_what_was_set(
    pair: Pair, expected: tuple[str, int]
) -> None:
    assert choose_over_settings(pair) == expected


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"energy_j": 10, "power_w": 10}, "energy_j"),
        ({"energy_j": 5, "power_w": 10}, "energy_j"),  # half of 10 is enough
        ({"energy_j": 4, "power_w": 10}, "power_w"),
        (
            {"energy_j": 2, "power_w": 3, "ipc": 9},
            "power_w",
        ),  # a quarter of 10, where none has half
        ({"energy_j": 2, "power_w": 2, "ipc": 9, "start_unix_s": 10}, "energy_j"),
        ({"energy_j": 0, "power_w": 1, "ipc": 9}, "power_w"),
        ({"ipc": 9, "start_unix_s": 10}, "ipc"),
        ({"latency_p99_us": 10, "duration_s": 10}, "duration_s"),
        ({"latency_p99_us": 10}, "energy_j"),
        ({"latency_min_us": 10, "latency_max_us": 10}, "latency_max_us"),
    ],
)
def test_energy_then_power_then_what_most_runs_have(counts: dict[str, int], expected: str) -> None:
    assert choose_cost(counts, 10, "latency_p99_us", SHIPPED) == expected
    assert choose_cost({"ipc": 9}, 10, "", SHIPPED) == "ipc"


def test_the_performance_metric_where_any_run_has_it() -> None:
    def chosen(counts: dict[str, int]) -> str:
        return choose_performance(counts, "latency_p99_us", SHIPPED)

    assert chosen({"latency_p99_us": 1, "ipc": 9}) == "latency_p99_us"
    assert chosen({"latency_p99_us": 0, "ipc": 9}) == "ipc"
    assert chosen({"interrupts": 1, "rx_desc": 9}) == "interrupts", "one that has a direction"
    few = {"interrupts": 9, "context_switches": 9, "latency_mean_us": 1}
    assert chosen(few) == "latency_mean_us", "a result before what a processor counts"
    assert chosen({"power_w": 9, "ipc": 5}) == "ipc", "power stands along y"
    assert chosen({}) == "latency_p99_us"
    timed = {"energy_j": 9, "power_w": 9, "cpu_usage": 9, "duration_s": 9}
    assert chosen(timed) == "duration_s"
    assert chosen(timed | {"latency_p50_us": 1}) == "duration_s"
    assert chosen(timed | {"throughput_qps": 5}) == "throughput_qps"


def test_a_temperature_is_never_along_x() -> None:
    named = [("peak_gpu_temp_c", ""), ("hottest", "°C")]
    columns = [Column(n, "metric", "real", n, unit=unit, better="less") for n, unit in named]
    catalogue = Catalogue(tuple(columns))
    for name, _ in named:
        counts = {name: 9, "power_w": 9}
        assert choose_performance(counts, "latency_p99_us", catalogue) == "latency_p99_us"


def test_emissions_are_no_performance_beside_another_result() -> None:
    """They are the energy once more, times the carbon of a kWh."""
    columns = [Column(n, "metric", "real", n, better="less") for n in ("avg_emissions", "retries")]
    catalogue, counts = Catalogue(tuple(columns)), {"energy_j": 9, "avg_emissions": 9, "retries": 8}
    assert choose_performance(counts, "latency_p99_us", catalogue) == "retries"
    assert choose_performance(counts | {"retries": 0}, "", catalogue) == "avg_emissions"


def test_the_energy_of_an_item_comes_before_power_and_before_that_of_a_part() -> None:
    columns = tuple(
        Column(name, role, "real", title=name, unit=unit)  # type: ignore[arg-type]
        for name, role, unit in [
            ("gpu_rail_energy", "metric", "mJ/image"),
            ("gpu_image", "metric", "mJ/image"),
            ("energy_image", "metric", "mJ/image"),
            ("budget", "knob", "J/image"),
            ("bytes_for_energy", "metric", "B/J"),
            ("dram_energy", "metric", "J"),
        ]
    )
    catalogue = Catalogue(columns)
    assert catalogue.costs == (
        "energy_j",
        "energy_image",
        "gpu_image",
        "gpu_rail_energy",
        "energy_per_request_uj",
        "power_w",
    )
    assert choose_cost({"power_w": 9, "energy_image": 9}, 9, "", catalogue) == "energy_image"


def test_dvfs_itr_system_then_the_knobs_with_most_values() -> None:
    numbers = {"dvfs", "itr", "load", "c_ring"}
    usual = {"system": 3, "itr": 9, "dvfs": 5, "load": 4}
    assert choose_roles(usual, numbers) == Roles()
    other = {"system": 1, "itr": 1, "dvfs": 1, "machine": 3, "c_ring": 8, "load": 2}
    assert choose_roles(other, numbers) == Roles(colour="c_ring", size="load", symbol="machine")
    both = {"system": 2, "machine": 3, "load": 15, "c_kernel": 9}
    assert choose_roles(both, numbers) == Roles(colour="machine", size="load", symbol="system")
    loads = {"system": 1, "load": 15}
    assert choose_roles(loads, numbers) == Roles(colour="load", size=NONE, symbol=NONE)
    assert choose_roles({"system": 2, "machine": 1}, numbers) == Roles(NONE, NONE, "system")
    suite = {"system": 1, "rapl": 2, "c_suite": 3, "c_program": 122}
    assert choose_roles(suite, {"rapl"}) == Roles(colour="rapl", size=NONE, symbol="c_suite")
    # What tells most of the picture comes first.
    swept = {"system": 1, "c_mode": 2, "c_watts": 3, "c_clock": 5, "c_batch": 2}
    numbers = {*swept} - {"system"}
    assert choose_roles(swept, numbers) == Roles("c_watts", "c_mode", "c_clock")
    assert choose_roles(swept, numbers, ["c_batch"]) == Roles("c_clock", "c_watts", "c_batch")
    assert choose_heat(swept, (), ["c_batch"]) == ("c_batch", "c_clock")


def test_the_heatmap_opens_with_knobs_that_vary() -> None:
    values = {"load": 4, "machine": 3, "system": 2, "itr": 1, "dvfs": 0, "rapl": 1}
    assert choose_heat(values) == ("load", "machine")
    assert choose_heat({**values, "dvfs": 9}) == ("dvfs", "load")
    assert choose_heat({**values, "dvfs": 9, "itr": 20}) == ("itr", "dvfs")
    suite = {"rapl": 2, "c_suite": 3, "c_program": 122}
    assert choose_heat(suite, ["c_suite", "c_program"]) == ("c_program", "rapl")
    assert choose_heat({"load": 4, "dvfs": 0, "itr": 0, "rapl": 1}) == ("load", "rapl")


def from_link(view: LakeView, query: str) -> ExploreState:
    """Return the state with which a link opens."""
    return opened(view, ExploreState.from_query(query, view.catalogue))


def assert_links_open_as(view: LakeView, first: ExploreState) -> None:
    """Check that a link of filters alone, and a link to the default view, open as that does."""
    filters_only = ExploreState(selection=first.selection).to_query()
    assert from_link(view, filters_only) == first == from_link(view, first.to_query())


def machines(lake: Path) -> LakeView:
    """Three machines at two request sizes: power and p99, no energy, no DVFS, no ITR."""
    rows = [
        run(machine=machine, request_bytes=size, itr_us=None, dvfs_ghz=None, energy_j=None,
            power_w=50.0 + number, latency_p99_us=100.0 - number + size / 4096, replicate=r)
        for number, machine in enumerate(("a1", "b2", "c3")) for size in (4096, 8192)
        for r in (0, 1)
    ]  # fmt: skip
    return Lakes(write_lake(lake, rows)).at(None)


def test_a_lake_of_three_machines_opens_with_them(tmp_path: Path) -> None:
    view = machines(tmp_path)
    state = default_state(view)
    assert_links_open_as(view, state)
    assert (state.x, state.y, state.cost) == (PERFORMANCE, "power_w", "power_w")
    assert (state.symbol, state.colour, state.size) == ("machine", NONE, NONE)
    figure = picture("scatter", view, state)["figure"]
    names = [t["name"] for t in figure["data"] if t.get("showlegend")]
    assert names[:3] == ["a1", "b2", "c3"]
    assert not any("energy" in name for name in names)
    assert len({t["marker"]["symbol"] for t in traces(figure, "points")}) == 3


def test_runs_that_are_no_replicates_are_drawn_each(tmp_path: Path) -> None:
    rows = [
        run(itr_us=itr, energy_j=energy + itr, latency_p99_us=100.0 + itr + n, replicate=n)
        for itr in (2.0, 10.0, 50.0) for n, energy in enumerate((10.0, 100.0, 1000.0))
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    state = default_state(view)
    assert state.replicates == "runs"
    figure = picture("scatter", view, state)["figure"]
    assert sum(len(trace["x"]) for trace in traces(figure, "points")) == 9
    assert [traces(figure, kind) for kind in ("set", "frontier")] == [[], []]
    assert not any(len(trace["x"]) for trace in traces(figure, "winner"))
    cells = picture("heatmap", view, state)["figure"]
    assert np.isnan(traces(cells, "cells")[0]["z"]).all()
    assert [trace["text"] for trace in traces(cells, "unlike")] == [["3 runs"] * 3]
    assert "no mean where runs are no replicates" in cells["layout"]["title"]["text"]
    over = replace(state, lines_x="itr", lines_by=NONE, lines_style=NONE, lines_y=("energy_j",))
    drawn = picture("lines", view, over)["figure"]
    (each,) = traces(drawn, "line")
    assert each["mode"] == "markers"
    assert sorted(each["y"]) == sorted(row["energy_j"] for row in rows)
    assert traces(drawn, "interval") == []
    title = drawn["layout"]["title"]["text"]
    assert "each run where runs are no replicates" in title
    assert "bands" not in title
    assert "Energy: 12.0 J, 102 J, 1.00 kJ" in each["meta"]["words"][0]
    assert (
        traces(picture("scatter", view, replace(state, replicates="means"))["figure"], "set") == []
    )


def test_what_tells_the_cost_has_a_role_and_ids_are_no_scale(tmp_path: Path) -> None:
    names = ("watts", "gpu_id", "clock", "batch")
    columns = tuple(Column(name, "knob", "whole", title=name) for name in names)
    rows = [
        run(itr_us=None, dvfs_ghz=None, watts=watts, gpu_id=gpu, clock=clock, batch=batch,
            energy_j=1000.0 * batch + clock + watts, latency_p99_us=100.0 + clock)
        for watts in (10, 15, 20) for gpu in (0, 1) for clock in (300, 400, 500, 600)
        for batch in (1, 32)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None)
    state, knob_of = default_state(view), view.catalogue.knob_of_column
    assert (state.symbol, state.colour) == (knob_of["batch"].name, knob_of["clock"].name)
    by_each = {
        name: replace(state, colour=knob_of[name].name, symbol=NONE, size=NONE) for name in names
    }
    is_scaled = {
        name: "coloraxis" in traces(picture("scatter", view, each)["figure"], "points")[0]["marker"]
        for name, each in by_each.items()
    }
    assert is_scaled == {"watts": False, "gpu_id": False, "clock": True, "batch": False}


@pytest.mark.parametrize(
    ("metric", "best"), [("throughput_qps", 30.0), ("duration_s", 10.0), ("c1", None)]
)
def test_the_mark_of_best_performance_minds_which_way_is_better(
    tmp_path: Path, metric: str, best: float | None
) -> None:
    rows = [
        run(itr_us=value, energy_j=value, performance_metric=metric, **{metric: value})
        for value in (10.0, 20.0, 30.0)
    ]
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    figure = picture("scatter", view, ExploreState(x=metric))["figure"]
    (mark,) = [t for t in traces(figure, "winner") if t["meta"]["winner"] == "performance"]
    assert mark["x"].tolist() == ([] if best is None else [best])
    names = [trace["name"] for trace in figure["data"] if trace.get("showlegend")]
    assert ("+ best performance" in names) == (best is not None)


def test_two_measurements_of_different_runs_stand_over_what_was_set(tmp_path: Path) -> None:
    none = dict.fromkeys(("energy_j", "latency_p99_us"))
    rows = [
        run(itr_us=itr, performance_metric="throughput_qps", **{**none, metric: 100.0 + itr})
        for itr in (10.0, 20.0) for metric in ("energy_j", "throughput_qps")
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    state = default_state(view)
    assert (state.show, state.lines_x) == ("lines", "itr")
    assert state.lines_y == ("energy_j", PERFORMANCE)
    assert missing(view, state) == ""
    lines = traces(picture("lines", view, state)["figure"], "line")
    assert {line["yaxis"]: line["y"].tolist() for line in lines} == {
        "y": [110, 120], "y2": [110, 120],
    }  # fmt: skip
    assert source_words(view, state).startswith("Energy and throughput over interrupt delay")


def test_workloads_of_one_setting_each_are_compared(tmp_path: Path) -> None:
    none = dict.fromkeys(("itr_us", "dvfs_ghz", "latency_p99_us"))
    rows = [
        run(**none, workload=workload, energy_j=float(energy), performance_metric="energy_j")
        for energy, workload in enumerate(("heap", "idle", "scan"), 40)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    state = default_state(view)
    assert not state.selection.values("workload")
    assert (state.show, state.lines_x, state.lines_by) == ("lines", "workload", NONE)
    (line,) = traces(picture("lines", view, state)["figure"], "line")
    assert line["y"].tolist() == [40, 41, 42]


@pytest.mark.parametrize(
    ("measured", "shown"),
    [
        pytest.param({"throughput_qps": 4, "iops": 4}, "throughput_qps", id="two rates"),
        pytest.param({"throughput_qps": 4, "requests": 4}, "throughput_qps", id="runs of one time"),
        pytest.param(
            {"latency_p99_us": 4, "interrupts": 1}, "latency_p99_us", id="a counter of one run"
        ),
    ],
)
def test_what_makes_no_pair_stands_over_what_was_set(
    tmp_path: Path, measured: dict[str, int], shown: str
) -> None:
    none = dict.fromkeys(("energy_j", "latency_p99_us", "dvfs_ghz", "performance_metric"))
    rows = [
        run(**none | {"itr_us": 10.0 * (i + 1)} | {n: 5 + i for n, k in measured.items() if i < k})
        for i in range(4)
    ]
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    state = default_state(view)
    assert (state.show, state.lines_x, state.cost, state.y) == ("lines", "itr", shown, shown)
    (line,) = traces(picture("lines", view, state)["figure"], "line")
    assert line["y"].tolist() == [5, 6, 7, 8]


def test_in_modes_names_compete_over_numbers_that_runs_have(tmp_path: Path) -> None:
    """`request` by threads is a usual map, but no run has a size of requests."""
    columns = (Column("tool", "knob", "text", title="tool"),)
    rows = [
        run(tool=tool, threads=threads, replicate=r, itr_us=None, energy_j=5.0 * threads + r)
        for tool in ("bzip2", "gzip") for threads in (1, 2, 4) for r in range(2)
    ]  # fmt: skip
    state = modes_opens(Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None))
    assert (state.competitor, state.x) == ("c_tool", "threads")
    assert state.y not in ("request", "depth")


def test_what_decides_the_competitor_is_no_axis_of_modes(tmp_path: Path) -> None:
    """Without slots all is resident: at one number of slots nobody competes."""
    kinds: tuple[tuple[str, Kind], ...] = (
        ("config", "text"), ("batch", "whole"), ("slots", "whole"),
    )  # fmt: skip
    columns = [Column(name, "knob", kind, title=name) for name, kind in kinds]
    rows = [
        run(**dict.fromkeys(("itr_us", "dvfs_ghz", "load_qps", "latency_p99_us")), batch=batch,
            config="slots" if slots else "resident", slots=slots, energy_j=9.0 + batch + slots)
        for batch in (1, 2, 4) for slots in (0, 16, 32)
    ]  # fmt: skip
    first = modes_opens(Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None))
    assert (first.competitor, first.x) == ("c_config", "c_batch")
    assert first.y != "c_slots"


@pytest.mark.parametrize(
    ("itr_us", "factor", "drawn"),
    [
        ((2.0, 2.0, 2.0), 10.0, "runs"),
        ((2.0, 2.0, 2.0), 1.25, "runs"),
        ((2.0, 2.0, 4.0), 10.0, "runs"),
        ((2.0, 2.0, 4.0), 1.25, "means"),
    ],
)
def test_runs_that_no_setting_tells_apart_are_points_of_their_own(
    itr_us: tuple[float, ...], factor: float, drawn: str, tmp_path: Path
) -> None:
    """They are no replicates, and their mean is none of a setting."""
    rows = [
        run(itr_us=itr, replicate=r, energy_j=factor ** (r + 1), duration_s=2.0 + r)
        for r, itr in enumerate(itr_us)
    ]
    state = default_state(Lakes(write_lake(tmp_path / "lake", rows)).at(None))
    assert state.replicates == drawn


def test_two_results_of_one_measurement_make_a_pair_where_nothing_was_set(tmp_path: Path) -> None:
    """One stands over what was set; where nothing was it would stand over itself."""
    rows = [
        run(energy_j=None, power_w=None, latency_p99_us=None, replicate=r, load_qps=None,
            performance_metric="throughput_qps", throughput_qps=rate, latency_mean_us=1e6 / rate)
        for r, rate in enumerate((1_200.0, 1_300.0, 1_400.0, 1_480.0))
    ]  # fmt: skip
    first = default_state(Lakes(write_lake(tmp_path / "lake", rows)).at(None))
    assert (first.x, first.y) == (PERFORMANCE, "latency_mean_us")


def test_colour_and_size_show_any_knob(tmp_path: Path) -> None:
    view = machines(tmp_path)
    state = ExploreState(x="latency_p99_us", y="power_w", colour="machine", size="request",
                         symbol=NONE)  # fmt: skip
    points = traces(picture("scatter", view, state)["figure"], "points")
    assert len({str(t["marker"]["color"]) for t in points}) == 3
    sizes = np.concatenate([np.atleast_1d(t["marker"]["size"]) for t in points])
    assert len(set(sizes.tolist())) == 2
    scaled = picture(
        "scatter", view, ExploreState(x="latency_p99_us", y="power_w", colour="request")
    )
    assert scaled["figure"]["layout"]["coloraxis"]["colorbar"]["title"]["text"] == "Request size, B"


def test_the_heatmap_takes_any_two_knobs(tmp_path: Path) -> None:
    view = machines(tmp_path)
    state = ExploreState(heat_metric="power_w", heat_x="machine", heat_y="request")
    figure = picture("heatmap", view, state)["figure"]
    assert figure["layout"]["meta"]["map"]["knobs"] == ["machine", "request_bytes"]
    assert np.asarray(figure["data"][0]["z"]).tolist() == [[50.0, 51.0, 52.0]] * 2
    assert list(figure["data"][0]["y"]) == ["4 KiB", "8 KiB"]


@pytest.mark.parametrize(
    ("cost", "limited", "limit"),
    [("power_w", "power_w", None), ("power_w", "latency_p99_us", 99.9),
     ("latency_p99_us", "power_w", 51.5)],
)  # fmt: skip
def test_any_cost_has_best_settings_within_any_limit(
    tmp_path: Path, cost: str, limited: str, limit: float | None
) -> None:
    """p99 of a machine is 100 less its number, plus 1 or 2: 101, 100, 99 us at 4 KiB.

    Machines and request sizes are never compared with each other: six choices of one setting.
    """
    state = ExploreState(cost=cost, limited=limited, limit=limit)
    rows = best_table(machines(tmp_path), state).sort("machine", "request_bytes")
    found = rows.select("machine", "request_bytes").rows()
    assert found == [(m, size) for m in ("a1", "b2", "c3") for size in (4096, 8192)]
    known = {
        "power_w": [50.0, 50.0, 51.0, 51.0, 52.0, 52.0],
        "latency_p99_us": [101.0, 102.0, 100.0, 101.0, 99.0, 100.0],
    }
    assert rows["cost"].to_list() == pytest.approx(known[cost])
    assert rows["limited"].to_list() == pytest.approx(known[limited])
    # Two runs of one setting prove nothing of a limit that is 1 % away.
    assert set(rows["standing"]) == {"within" if limit is None else "maybe"}


def test_modes_opens_on_a_study_with_energy_before_a_larger_one_without(tmp_path: Path) -> None:
    rows = [
        run(workload=name, system=system, itr_us=itr, dvfs_ghz=ghz, replicate=r,
            energy_j=None if name == "large" else 9.0 + r)
        for name, replicates in (("large", 4), ("small", 2))
        for system in ("a", "b") for itr in (2.0, 50.0) for ghz in (1.2, 2.0)
        for r in range(replicates)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    first = modes_opens(view)
    assert first.selection.values("workload") == ("small",)
    assert first.metric == "energy_j"


@pytest.mark.parametrize("replicates", [1, 2])
def test_modes_opens_on_the_map_with_most_contests(replicates: int, tmp_path: Path) -> None:
    """Of five models each has a cell at each batch: no map of one model has as many."""
    columns = (
        Column("batch", "knob", "whole", title="batch"),
        Column("beams", "knob", "whole", title="beams"),
        Column("model", "knob", "text", title="model", is_given=True),
        Column("engine", "knob", "text", title="engine"),
    )
    rows = [
        run(**dict.fromkeys(("itr_us", "dvfs_ghz", "load_qps", "latency_p99_us")), batch=batch,
            model=f"m{model}", beams=beams, engine=engine, replicate=r, energy_j=9.0 + model + r)
        for model in range(5) for batch in (1, 2, 4) for beams in (1, 2) for engine in "ab"
        for r in range(replicates)
    ]  # fmt: skip
    first = modes_opens(Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None))
    assert first.competitor == "c_engine"
    assert {first.x, first.y} == {"c_model", "c_batch"}
    assert first.selection.values("c_model") == ()


@pytest.mark.parametrize("is_given", [True, False])
def test_where_nothing_competes_all_loads_are_shown(is_given: bool, tmp_path: Path) -> None:
    """Of four models at three loads none is a way to do the work of another."""
    columns = (Column("model", "knob", "text", title="model", is_given=is_given),)
    rows = [
        run(**dict.fromkeys(("itr_us", "dvfs_ghz", "latency_p99_us", "power_w")), load_qps=load,
            model=f"m{model}", energy_j=90.0 + model - load)
        for model in range(4) for load in (8.0, 16.0, 32.0)
    ]  # fmt: skip
    first = default_state(Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None))
    assert first.selection.values("load") == (() if is_given else (8.0,))
    assert first.lines_x == ("load" if is_given else "c_model")


def test_explore_opens_on_a_large_workload_and_load(tmp_path: Path) -> None:
    rows = [
        run(workload=name, load_qps=load, itr_us=float(itr), energy_j=9.0 + itr,
            latency_p99_us=90.0 + load - itr)
        for name, loads in (("a-trial", (1.0,)), ("real", (2.0, 3.0, 4.0)))
        for load in loads for itr in range(2 if load == 2 or name == "a-trial" else 9)
    ]  # fmt: skip
    first = default_state(Lakes(write_lake(tmp_path / "lake", rows)).at(None)).selection
    assert (first.values("workload"), first.values("load")) == (("real",), (3.0,))


@pytest.mark.parametrize("rounding", [0.0, 1e-13])
def test_a_metric_of_one_value_is_none_of_any_opening(rounding: float, tmp_path: Path) -> None:
    """A supply that tells its rating as its power, or a mean of such."""
    rows = [
        run(energy_j=None, power_w=90.0 * (1 + rounding * r), itr_us=itr, dvfs_ghz=ghz,
            replicate=r, duration_s=9.0 + r, latency_p99_us=50.0 + r + itr)
        for itr in (2.0, 50.0) for ghz in (1.2, 2.0) for r in range(2)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    assert "power_w" not in (default_state(view).y, default_state(view).cost)
    assert modes_opens(view).metric == findings_opens(view).metric == "latency_p99_us"


@pytest.mark.parametrize(("least_qps", "shown"), [(1_990.0, False), (1_500.0, True)])
def test_a_rate_that_was_asked_for_tells_nothing(
    least_qps: float, shown: bool, tmp_path: Path
) -> None:
    rows = [
        run(energy_j=None, power_w=None, load_qps=2_000.0, itr_us=itr, replicate=r,
            throughput_qps=least_qps + r, latency_p99_us=50.0 + r + itr)
        for itr in (2.0, 50.0) for r in range(2)
    ]  # fmt: skip
    first = default_state(Lakes(write_lake(tmp_path / "lake", rows)).at(None))
    assert ("throughput_qps" in (first.x, first.y, first.cost)) is shown


def test_the_time_is_the_performance_of_a_workload_that_names_none(tmp_path: Path) -> None:
    rows = [
        run(
            workload="own",
            performance_metric=None,
            latency_p99_us=None,
            itr_us=itr,
            replicate=r,
            duration_s=20.0 + r,
        )
        for itr in (2.0, 50.0)
        for r in range(2)
    ]
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    first = default_state(view)
    assert performance_column(view, first.selection) == "duration_s"
    assert (first.x, first.limited) == (PERFORMANCE, PERFORMANCE)
    # It stands for the performance, but is called so only where a workload names it.
    assert not is_performance(view, first.selection, "duration_s")
    named = [{**row, "performance_metric": "duration_s"} for row in rows]
    view = Lakes(write_lake(tmp_path / "named", named)).at(None)
    assert is_performance(view, first.selection, "duration_s")


def test_runs_of_one_length_open_on_the_energy_of_an_item(tmp_path: Path) -> None:
    """Their energy is power times one time, whatever they did in it."""
    columns = (Column("energy_image", "metric", "real", title="image", unit="mJ/image"),)
    rows = [
        run(workload="own", performance_metric=None, latency_p99_us=None, throughput_qps=50.0 * r,
            itr_us=itr, replicate=r, duration_s=120.0 + r / 100, energy_image=9.0 - r)
        for itr in (2.0, 50.0) for r in range(1, 4)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None)
    first = default_state(view)
    assert (first.y, first.x) == ("energy_image", PERFORMANCE)
    assert first.show == "points"
    assert_links_open_as(view, first)


@pytest.mark.parametrize(("tokens", "shown"), [(40, "energy_token"), (1, "energy_j")])
def test_runs_of_unlike_work_open_on_the_energy_of_an_item(
    tokens: int, shown: str, tmp_path: Path
) -> None:
    """Programs may differ in their work, runs of one may not."""
    columns = (
        Column("energy_token", "metric", "real", title="token", unit="J/token", better="less"),
        Column("program", "knob", "text", title="program", is_given=True),
    )
    rows = [
        run(workload="own", performance_metric="duration_s", latency_p99_us=None, program=program,
            itr_us=itr, energy_j=energy, duration_s=9.0 + itr,
            energy_token=energy / (items + tokens * itr))
        for program, items, energy in (("a", 1000, 90.0), ("b", 9000, 700.0))
        for itr in (2.0, 5.0, 9.0)
    ]  # fmt: skip
    first = default_state(Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None))
    assert (first.y, first.cost) == (shown, shown)


@pytest.mark.parametrize(("longer", "x"), [(0.0, "power_w"), (1.5, PERFORMANCE)])
def test_energy_times_one_time_is_no_axis(longer: float, x: str, tmp_path: Path) -> None:
    """Nothing was set; a meter has a power of its own beside the energies of 40 ms."""
    rows = [
        run(workload="own", performance_metric="duration_s", latency_p99_us=None, itr_us=None,
            dvfs_ghz=None, replicate=r, duration_s=0.04 + longer * r, energy_j=joules,
            power_w=7.5 + r % 3)
        for r, joules in enumerate((0.21, 0.29, 0.27, 0.28, 0.26))
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    first = default_state(view)
    assert (first.x, first.y) == (x, "energy_j")
    assert view.ranges(first.selection)["edp_js"].runs == 5


@pytest.mark.parametrize(
    ("times_s", "x"),
    [
        ((0.0004121, 0.0004143, 0.0004129), PERFORMANCE),
        # Someone set two minutes, and all have one time of a clock that rounds.
        ((120.0, 120.3, 120.1), "power_w"),
        ((0.004, 0.004, 0.004), "power_w"),
    ],
)
def test_nearly_equal_times_that_nobody_sets_are_results(
    times_s: tuple[float, ...], x: str, tmp_path: Path
) -> None:
    rows = [
        run(workload="own", performance_metric="duration_s", latency_p99_us=None, itr_us=10.0 * r,
            dvfs_ghz=None, replicate=0, duration_s=time_s, energy_j=0.21 + r / 9, power_w=7.5 - r)
        for r, time_s in enumerate(times_s)
    ]  # fmt: skip
    first = default_state(Lakes(write_lake(tmp_path / "lake", rows)).at(None))
    assert (first.x, first.y) == (x, "energy_j")


def test_a_number_that_all_runs_share_is_no_metric_of_an_opening(tmp_path: Path) -> None:
    """Their mean is that number: a sum of 0.3 is not exact."""
    columns = (Column("most", "metric", "real", title="most"),)
    rows = [
        run(workload="own", performance_metric=None, latency_p99_us=None, energy_j=None,
            power_w=None, throughput_qps=50.0 + r, itr_us=itr, replicate=r, most=0.3)
        for itr in (2.0, 50.0) for r in range(1, 8)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None)
    first = default_state(view)
    assert "most" not in (first.y, first.x)
    plain, mean = "avg(most)", Aggregates().mean_sql("most")
    many = "(SELECT 0.3 + 0 * i::DOUBLE AS most FROM range(5000) t(i))"
    (row,) = view.answered(f"SELECT {plain} <> 0.3, {mean} FROM {many}", []).rows()
    assert row == (True, 0.3)


@pytest.mark.parametrize("others", [{}, {"energy_p50": 5.0}])
def test_one_measurement_stands_over_what_was_set(tmp_path: Path, others: dict[str, float]) -> None:
    columns = (Column("energy_p50", "metric", "real", title="p50", unit="J", better="less"),)
    rows = [
        run(workload="own", performance_metric=None, latency_p99_us=None, duration_s=None,
            itr_us=itr, energy_j=9.0 + itr, **others)
        for itr in (2.0, 50.0)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None)
    first = default_state(view)
    assert (first.show, first.lines_y, first.lines_x) == ("lines", ("energy_j",), "itr")
    assert not missing(view, first)
    assert_links_open_as(view, first)


def test_a_link_that_names_no_knobs_gets_those_of_the_default_view(tmp_path: Path) -> None:
    rows = [
        run(itr_us=None, dvfs_ghz=None, rapl_w=watts, load_qps=load, energy_j=9.0 * watts)
        for watts in (60.0, 100.0, 135.0)
        for load in (1e5, 2e5)
    ]
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)

    def knobs(query: str) -> tuple[str, ...]:
        state = from_link(view, query)
        points = (state.colour, state.size, state.symbol)
        return (*points, state.heat_x, state.heat_y, state.lines_x, state.lines_by)

    chosen = with_knobs(view, ExploreState())
    assert (chosen.heat_x, chosen.heat_y) == ("rapl", "load")
    bare = knobs("limit=60")
    assert bare == knobs("v=2&dataset=tiny&load=100000&load=200000") == knobs(chosen.to_query())
    assert knobs("hx=itr&hy=dvfs") == (*bare[:3], "itr", "dvfs", *bare[5:])
    assert knobs("hx=load") == (*bare[:3], "load", "dvfs", *bare[5:])
    assert knobs("sym=none") == ("dvfs", "itr", "none", *bare[3:])
    assert knobs("dataset=none&limit=60") == (*Roles(), "itr", "dvfs", "dvfs", "system")


def test_a_link_that_names_metrics_gets_the_others_of_the_study(tmp_path: Path) -> None:
    view = machines(tmp_path / "lake")

    def metrics(query: str) -> tuple[str | tuple[str, ...], ...]:
        state = from_link(view, query)
        return state.x, state.y, state.heat_metric, state.cost, state.limited, state.lines_y

    both = ("power_w", PERFORMANCE)
    assert metrics("limit=60") == (PERFORMANCE, *["power_w"] * 3, PERFORMANCE, both)
    assert metrics("x=power_w&y=latency_p99_us&hmet=performance") == (
        "power_w", "latency_p99_us", "performance", "latency_p99_us", PERFORMANCE,
        ("latency_p99_us", "power_w"),
    )  # fmt: skip
    assert metrics("cost=energy_j&ly=energy_j")[3:] == ("energy_j", PERFORMANCE, ("energy_j",))
    assert from_link(view, "y=performance").show == "points"

    catalogue = view.catalogue
    for query, metric in (("dataset=tiny", "power_w"), ("metric=edp_js", "edp_js")):
        linked = FindingsState.from_query(query, catalogue)
        assert findings_of_link(view, linked).metric == metric
    assert findings_opens(view).metric == "power_w"


@pytest.mark.parametrize("names", [("energy_change", "runtime_change"), ("speed", "power_share")])
def test_a_cost_in_percent_stands_against_a_time_in_percent(
    names: tuple[str, str], tmp_path: Path
) -> None:
    columns = tuple(
        Column(name, "metric", "real", title=name, unit="%", better="less") for name in names
    )
    rows = [
        run(workload="own", performance_metric=None, latency_p99_us=None, duration_s=None,
            energy_j=None, itr_us=5.0 * n, **{names[0]: 3.0 * n, names[1]: 9.0 - n})
        for n in range(4)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None)
    first = default_state(view)
    cost, other = sorted(names, key=lambda name: "energy" not in name and "power" not in name)
    assert (first.show, first.y, first.x) == ("points", cost, PERFORMANCE)
    assert performance_column(view, first.selection) == other


@pytest.mark.parametrize(
    ("title", "changes", "words"),
    [
        ("change", (-21.5, -3.5, 4.5, 5.5), "runs have change below 0, of which no setting is a"),
        ("change of energy", (21.5, 3.5, 4.5, 5.5), "of a change of energy in percent no setting"),
    ],
)
def test_changes_in_percent_have_no_best_settings(
    title: str, changes: Sequence[float], words: str, tmp_path: Path
) -> None:
    columns = (Column("energy_change", "metric", "real", title=title, unit="%", better="less"),)
    rows = [
        run(
            workload="own", energy_j=None, itr_us=5.0 * n, energy_change=change, replicate=replicate
        )
        for n, change in enumerate(changes)
        for replicate in range(2)
    ]
    view = Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None)
    state = replace(default_state(view), cost="energy_change")
    best, asked = best_table(view, state), asked_of(view, state)
    assert words in str(best_settings_table(best, asked))
    assert sentences(best, asked) == []
    # Nor does the scatter mark a best set.
    marks = standings_of(Question.of(view, state))["best"]
    assert {marks.values[code] for code in marks.codes} == {None}
    # Nor is anything else told of the settings with changes above 0 alone.
    assert claims(view.lake, metrics=["energy_change"]) == []
    choice = Choice(workload="own", system="linux_tuned", objective="energy_change")
    for refused in (next_runs, knob_shares, decide):
        with pytest.raises(DataError, match=words):
            refused(view.lake, choice)
    map_of_changes = modes_answer(view, replace(modes_opens(view), metric="energy_change"))
    assert words in str(map_of_changes.winners).replace("<br>", " ")
    assert map_of_changes.status == "8 runs"
    assert map_of_changes.conclusions == []
    metric = view.catalogue.metric("energy_change")
    # No factor and no share of a mean near 0 tells replicates apart.
    assert settings_answers(view, Selection(), metric) == []
    assert words in unasked_words(view, Selection(), metric)


def test_a_power_is_no_performance_of_its_energy() -> None:
    energy, power, time = map(SHIPPED.metric, ("energy_j", "power_w", "duration_s"))
    assert are_alike(power, energy)
    assert not are_alike(time, energy)


def test_the_energy_of_a_run_is_no_performance_of_that_of_an_item() -> None:
    own = Catalogue.of((
        Column("per_frame", "metric", "real", "per_frame", unit="mJ/frame", better="less"),
        Column("per_unit", "metric", "real", "per_unit", unit="kWh/FU", better="less"),
        Column("frame_ms", "metric", "real", "frame_ms", unit="ms/frame", better="less"),
    ))  # fmt: skip
    energy, *others = map(own.metric, ("energy_j", "per_frame", "per_unit", "frame_ms"))
    assert [are_alike(other, energy) for other in others] == [True, True, False]


@pytest.mark.parametrize(
    ("lows", "highs", "expected"),
    [
        ((1, 1), (99, 99), [False, False]),
        ((1, 1), (100, 5), [True, False]),
        ((1, 1), (100, 10), [True, True]),  # one decade beside two
        ((0, 1), (500, 100), [False, True]),
        ((-1, 1), (500, 50), [False, False]),
    ],
)
def test_axes_are_logarithmic_where_values_span_decades(
    lows: tuple[float, ...], highs: tuple[float, ...], expected: list[bool]
) -> None:
    assert wants_logs(lows, highs) == expected


def test_only_the_page_without_a_link_chooses_its_scales(tmp_path: Path) -> None:
    rows = [
        run(itr_us=10.0**n, energy_j=900.0 * 20**n, latency_p99_us=50.0 * 12**n) for n in range(3)
    ]
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    state = default_state(view)
    scales = state.x_log, state.y_log, state.lines_x_log, state.lines_y_log
    assert scales == (True, True, True, True)
    linked = from_link(view, "cost=energy_j")
    assert not any((linked.x_log, linked.y_log, linked.lines_x_log, linked.lines_y_log))


def test_a_speed_up_is_no_picture_beside_its_time(tmp_path: Path) -> None:
    """Of each program the product of both is one; over all programs it is not."""
    own = [
        Column("speed_up", "metric", "real", "speed-up", better="more"),
        Column("size", "knob", "whole", "size", is_given=True),
    ]
    rows = [
        run(itr_us=itr, size=size, energy_j=None, power_w=None, latency_p99_us=None,
            duration_s=size / itr**0.9, speed_up=itr**0.9, performance_metric="duration_s")
        for size in (10, 90) for itr in (1.0, 2.0, 4.0)
    ]  # fmt: skip
    state = default_state(Lakes(write_lake(tmp_path / "lake", rows, own)).at(None))
    assert (state.show, state.lines_y) == ("lines", (PERFORMANCE,))


def test_the_deviation_of_a_metric_is_no_axis(tmp_path: Path) -> None:
    """All runs took 1 s, within 1 %: their energies stand over what was set."""
    own = [Column("std_time", "metric", "real", "std_time", unit="s")]
    rows = [
        run(itr_us=itr, latency_p99_us=None, duration_s=1.0 + itr / 1000, energy_j=9.0 / itr,
            power_w=9.0 / itr, std_time=itr**2 / 7, performance_metric="duration_s")
        for itr in (1.0, 2.0, 4.0, 8.0)
    ]  # fmt: skip
    state = default_state(Lakes(write_lake(tmp_path / "lake", rows, own)).at(None))
    assert (state.show, state.lines_x, state.lines_y) == ("lines", "itr", ("energy_j",))


@pytest.mark.parametrize(
    ("places", "over", "by"),
    [
        # Lines over the two values of the other would be of one point each.
        ([(1, 2), (1, 4), (1, 6), (2, 6), (2, 8), (2, 9)], "c_width", "c_depth"),
        ([(a, b) for a in (1, 2) for b in (2, 4, 6)], "c_depth", "c_width"),
    ],
)
def test_lines_of_an_incomplete_grid_run_over_what_has_more_values(
    places: list[tuple[int, int]], over: str, by: str, tmp_path: Path
) -> None:
    own = [Column(name, "knob", "whole", name) for name in ("depth", "width")]
    rows = [
        run(itr_us=None, dvfs_ghz=None, latency_p99_us=None, energy_j=None, power_w=None,
            depth=depth, width=width, duration_s=90.0 / (depth * width),
            performance_metric="duration_s")
        for depth, width in places
    ]  # fmt: skip
    state = default_state(Lakes(write_lake(tmp_path / "lake", rows, own)).at(None))
    assert (state.lines_x, state.lines_by, state.lines_style) == (over, by, NONE)


def test_what_has_no_direction_is_no_picture_beside_what_has(tmp_path: Path) -> None:
    """Times that threads shorten, beside the rows of the smallest part."""
    part = Column("part_rows", "metric", "real", "part_rows")
    rows = [
        run(itr_us=itr, energy_j=None, power_w=None, latency_p99_us=None, duration_s=90.0 / itr,
            part_rows=1e6 / itr + 7 * itr, performance_metric="duration_s")
        for itr in (1.0, 2.0, 4.0)
    ]  # fmt: skip
    state = default_state(Lakes(write_lake(tmp_path / "lake", rows, [part])).at(None))
    assert (state.show, state.lines_x, state.lines_y) == ("lines", "itr", (PERFORMANCE,))


@pytest.mark.parametrize(("factor", "is_one"), [(2, True), (7, False)])
def test_counts_of_any_size_are_told_to_be_one_measurement(
    tmp_path: Path, factor: int, is_one: bool
) -> None:
    # Their product is over 64 bits.
    rows = [
        run(instructions=n * 10**13, cycles=(2 if n < 3 else factor) * n * 10**13)
        for n in (1, 2, 3)
    ]
    query = one_measurement_query(Selection(), "instructions", "cycles")
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        assert lake.polars(*query).item() is is_one


def test_links_to_a_study_of_dvfs_and_itr_mean_what_they_meant(tmp_path: Path) -> None:
    rows = [
        run(system=system, itr_us=itr, dvfs_ghz=ghz, rapl_w=watts)
        for system in ("linux_tuned", "ebbrt_tuned")
        for itr in (2.0, 50.0)
        for ghz in (1.2, 2.9)
        for watts in (60.0, 100.0, 135.0)
    ]
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    for query in ("v=2&system=linux_tuned&itr=2", "limit=60"):
        state = ExploreState.from_query(query, view.catalogue)
        assert opened(view, state) == state


def test_the_ranges_of_metrics_are_asked_once_for_all_studies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        run(workload=workload, load_qps=load, energy_j=energy)
        for workload, load, energy in (("a", 1.0, 5.0), ("a", 2.0, 7.0), ("b", 1.0, None))
    ]
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    asked: list[str] = []
    polars = Lake.polars

    def counted(lake: Lake, sql: str, parameters: Sequence[object]) -> pl.DataFrame:
        asked.append(sql)
        return polars(lake, sql, parameters)

    monkeypatch.setattr(Lake, "polars", counted)
    of_a, of_b = (view.ranges(Selection.of(workload=[name])) for name in "ab")
    assert of_a["energy_j"] == (2, 5.0, 7.0)
    assert of_b["energy_j"].runs == 0
    assert np.isnan(of_b["energy_j"].low)
    assert view.ranges(Selection())["energy_j"] == (2, 5.0, 7.0)
    assert view.ranges(Selection.of(workload=["c"]))["energy_j"].runs == 0
    assert sum("low_0" in sql for sql in asked) == 1
    assert view.ranges(Selection.of(load=[2.0]))["energy_j"] == (1, 7.0, 7.0)


def test_work_done_and_times_rounded_to_0_are_no_axes(tmp_path: Path) -> None:
    none = dict.fromkeys(("energy_j", "power_w", "latency_p99_us", "edp_js", "duration_s"))
    rows = [
        run(itr_us=float(at), performance_metric="throughput_qps", throughput_qps=50.0 + at * at,
            requests=700 + 9 * at, latency_mean_us=max(0.0, at - 4.0), latency_max_us=90.0 - at,
            **none)
        for at in range(1, 7)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    state = default_state(view)
    assert {state.x, state.y} == {PERFORMANCE, "latency_max_us"}, "a mean of 0 in four of six runs"
    for row in rows:
        row |= {"latency_mean_us": None, "latency_max_us": None}
    view = Lakes(write_lake(tmp_path / "other", rows)).at(None)
    state = default_state(view)
    assert (state.show, state.lines_y) == ("lines", (PERFORMANCE,))
    assert "equests" not in source_words(view, state)


def test_where_nothing_was_set_energy_stands_against_time(tmp_path: Path) -> None:
    """Ten inferences of 50 ms: their power is their energy again."""
    rows = [
        run(itr_us=None, dvfs_ghz=None, latency_p99_us=None, performance_metric="duration_s",
            replicate=r, energy_j=0.27 + r / 1e3, power_w=6.8 + r / 1e2, duration_s=0.05 + r / 1e6)
        for r in range(10)
    ]  # fmt: skip
    state = default_state(Lakes(write_lake(tmp_path / "lake", rows)).at(None))
    assert (state.show, state.x, state.y) == ("points", "performance", "energy_j")


@pytest.mark.parametrize("builds", [6, 12])
def test_a_workload_that_served_comes_before_one_with_a_time_alone(
    tmp_path: Path, builds: int
) -> None:
    """A quarter of the runs are enough, unless they tell no settings apart."""
    none = dict.fromkeys(("dvfs_ghz", "latency_p99_us", "performance_metric", "load_qps"))
    rows = [
        run(**none | {"workload": workload, "itr_us": 10.0 * (i + 1), "energy_j": 9.0 + i} | own(i))
        for workload, n, own in (
            ("build", builds, lambda i: {"duration_s": 40.0 + 9 * i}),
            ("serve", 2, lambda i: {"duration_s": 30.0 + i, "throughput_qps": 900.0 - 40 * i}),
        )
        for i in range(n)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    state = default_state(view)
    assert state.selection.values("workload") == ("serve" if builds == 6 else "build",)
    shown = performance_column(view, state.selection)
    assert shown == ("throughput_qps" if builds == 6 else "duration_s")


def test_what_was_measured_without_an_energy_is_named(tmp_path: Path) -> None:
    """Some runs have two measurements, so it would be false that none has two."""
    none = dict.fromkeys(("energy_j", "latency_p99_us", "itr_us", "dvfs_ghz", "load_qps"))
    none["duration_s"] = None
    names = ("pkg", "dram", "jobs")
    columns = [Column(name, "metric", "real", name.upper(), name, "") for name in names]
    rows = [run(**none, replicate=n, pkg=2.0 + n, dram=0.5 + n) for n in range(3)]
    rows += [run(**none, replicate=n, jobs=50.0 + n) for n in range(3, 7)]
    view = Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None)
    words = missing(view, default_state(view))
    assert "no run here has an energy or a power, nor was anything set" in words
    assert words.endswith("measured were PKG, DRAM, JOBS.")
    one = [{"pkg": None, **row, "dram": None, "jobs": None} for row in rows]
    view = Lakes(write_lake(tmp_path / "one", one, columns)).at(None)
    assert "no run here has two, nor was anything set" in missing(view, default_state(view))


def test_a_map_has_a_metric_of_the_runs_that_its_filters_leave(tmp_path: Path) -> None:
    """Two runs have an energy; the runs of each end point have a latency alone."""
    columns = [
        Column("variant_of", "knob", "text", "Variant", "variant", ""),
        Column("name", "knob", "text", "Name", "name", "", is_given=True),
    ]
    none = dict.fromkeys(("itr_us", "dvfs_ghz", "load_qps"))
    rows = [
        run(**none, variant_of=variant, name=name, energy_j=None if name else 90.0 + n,
            latency_p99_us=100.0 + n if name else None)
        for n, variant in enumerate(("plain", "cached")) for name in (None, "/a", "/b", "/c")
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows, columns)).at(None)
    state = modes_opens(view)
    assert view.ranges(state.selection)[str(state.metric)].runs
    moved = for_workload(view, ModesState(state.selection), "memcached")
    assert view.ranges(moved.selection)[str(moved.metric)].runs
