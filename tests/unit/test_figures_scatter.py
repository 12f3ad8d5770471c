"""The scatter by its facts: traces, numbers, marks, frontier, legend, words."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.explore.figures.marks import find_marks
from app.explore.figures.scatter import Scene, build_scatter
from app.explore.roles import encoding_of, in_trace_order, trace_groups
from app.explore.state import ExploreState
from app.kit.competitors import system_order, system_style
from app.kit.encodings import (
    ADAPTIVE_SIZE_PX,
    GOVERNOR_HUE,
    SIZE_MAX_PX,
    SIZE_MIN_PX,
    itr_sizes_px,
    left_px,
    metric_ticks,
    short_labels,
)
from data.analysis.coded_rows import Part
from data.catalogue import SHIPPED, Catalogue
from data.declared import Column
from data.metrics import Metric
from tests.fixtures.lakes import run, runs_from_text
from tests.fixtures.pictures import pairs, points_of, traces

# Two replicates of one setting; the best p99, the least energy and the best product of Linux tuned
# are three different settings:       p99   energy  product
#   t2  (ITR 2,  2.9 GHz), 2 runs      63    1,005   0.0633  best performance
#   t50 (ITR 50, 1.3 GHz)             110      500   0.0550  lowest energy
#   t20 (ITR 20, 1.9 GHz)              70      600   0.0420  best product
#   bad (ITR 100, 1.9 GHz)            160      700   0.1120  not on the frontier
TEXT = """
system         itr_us  dvfs_ghz  replicate  energy_j  latency_p99_us
linux_tuned    2.0     2.9       0          1000.0    62.0
linux_tuned    2.0     2.9       1          1010.0    64.0
linux_tuned    50.0    1.3       0          500.0     110.0
linux_tuned    20.0    1.9       0          600.0     70.0
linux_tuned    100.0   1.9       0          700.0     160.0
linux_tuned    -       1.9       0          650.0     90.0
linux_default  -       -         0          2000.0    104.0
ebbrt_tuned    2.0     2.9       0          900.0     60.0
"""
SYSTEMS = ("ebbrt_tuned", "linux_default", "linux_tuned")


def draw(
    points: pl.DataFrame,
    drawn: list[int] | None = None,
    scene: dict | None = None,
    catalogue: Catalogue = SHIPPED,
    **state: Any,
) -> dict[str, Any]:
    """The figure; x is p99 and y is energy unless told otherwise."""
    view = ExploreState(**{"x": "latency_p99_us", "limited": "latency_p99_us", **state})
    indices = np.arange(len(points)) if drawn is None else np.array(drawn)
    none = pl.lit(None, pl.String)
    part = Part.of(points.with_columns(standing=none, best=none, odd=none))
    encoding = encoding_of(part, view, SYSTEMS, catalogue)
    marks = find_marks(part, view, encoding, catalogue, points.columns)
    setting = Scene(catalogue, encoding, marks, points.columns, **(scene or {}))
    return build_scatter(part, indices, view, setting)


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    return points_of(tmp_path_factory.mktemp("scatter") / "lake", runs_from_text(TEXT))


def test_one_trace_a_system_governed_or_not_adaptive_or_not(points: pl.DataFrame) -> None:
    shown = [
        (t["name"], t["marker"]["symbol"], len(t["x"])) for t in traces(draw(points), "points")
    ]
    assert shown == [
        ("Library OS", "diamond", 1),
        ("Linux default", "square-open-dot", 1),  # adaptive: hollow with a dot
        ("Linux tuned", "circle", 4),
        ("Linux tuned", "circle-open-dot", 1),
    ]
    part = Part.of(points)
    encoding = encoding_of(part, ExploreState(), SYSTEMS, SHIPPED)
    assert trace_groups(part, encoding) == [(0, 1), (1, 2), (2, 6), (6, 7)]


def test_the_numbers_at_a_point(points: pl.DataFrame) -> None:
    tuned = traces(draw(points), "points")[2]
    # In the query's order: by DVFS, then ITR. The last is the mean of the two replicates.
    assert pairs(tuned) == [(110, 500), (70, 600), (160, 700), (63, 1005)]


def test_axes_carry_unit_and_direction(points: pl.DataFrame) -> None:
    layout = draw(points)["layout"]
    assert layout["xaxis"]["title"]["text"] == "p99 latency, us (less is better)"
    assert layout["yaxis"]["title"]["text"] == "Energy, J (less is better)"
    assert (layout["xaxis"]["type"], layout["yaxis"]["type"]) == ("linear", "linear")
    logged = draw(points, x_log=True)["layout"]
    assert (logged["xaxis"]["type"], logged["yaxis"]["type"]) == ("log", "linear")
    # 62 to 160 us are half a decade: each digit has its tick. Of two decades 1, 2 and 5 have one.
    far = points.with_columns(pl.col("x") * pl.when(pl.col("x") > 100).then(50).otherwise(1))
    axes = [draw(each, x_log=True)["layout"]["xaxis"] for each in (points, far)]
    # 200 is no bare 2.
    ticks = [(each.get("dtick"), each["tickformat"]) for each in axes]
    assert ticks == [(None, ",~r"), ("D2", ",~r")]
    # Of 62 us to 10 s, with margins of 6 %, each decade has one: 0.00002 has no room.
    far = points.with_columns(pl.col("x") * pl.when(pl.col("x") > 100).then(62_500).otherwise(1))
    axis = draw(far, x_log=True)["layout"]["xaxis"]
    assert (axis.get("dtick"), axis["nticks"]) == (None, 6)


def test_colour_is_dvfs_and_the_governor_has_a_hue_of_its_own(points: pl.DataFrame) -> None:
    figure = draw(points)
    by_name = {t["marker"]["symbol"]: t["marker"] for t in traces(figure, "points")}
    assert by_name["circle"]["color"].tolist() == pytest.approx([1.3, 1.9, 1.9, 2.9])
    assert by_name["circle"]["coloraxis"] == "coloraxis"
    assert by_name["square-open-dot"]["color"] == GOVERNOR_HUE
    axis = figure["layout"]["coloraxis"]
    assert (axis["cmin"], axis["cmax"]) == (1.3, 2.9)
    assert axis["colorbar"]["title"]["text"] == "DVFS, GHz"
    # A single frequency still has a scale; without any there is no colour bar.
    axis = draw(points.filter(dvfs_ghz=2.9))["layout"]["coloraxis"]
    assert axis["cmin"] < axis["cmax"]
    assert not draw(points.filter(system="linux_default"))["layout"]["coloraxis"]["showscale"]


def test_one_number_beside_none_has_two_hues_and_no_scale(points: pl.DataFrame) -> None:
    limited = pl.when(pl.col("system") != "linux_default").then(15.0)
    figure = draw(points.with_columns(rapl_w=limited), colour="rapl")
    assert not figure["layout"]["coloraxis"]["showscale"]
    hues = {t["name"]: t["marker"]["color"] for t in traces(figure, "points")}
    assert len(set(hues.values())) == 2
    assert hues["Linux tuned"] == hues["Library OS"] != hues["Linux default"]
    entries = [t["name"] for t in figure["data"] if t.get("showlegend")]
    assert {"15 W", "none"} <= set(entries)
    # One number alone leaves the hues of the systems' frontiers as they are.
    alone = draw(points.filter(pl.col("system") != "linux_default"), colour="rapl")
    assert alone["layout"]["coloraxis"]["showscale"]


def test_area_grows_in_step_with_the_interrupt_delay() -> None:
    sizes = itr_sizes_px(np.array([0.0, 100.0, 200.0, np.nan]), 200.0)
    assert sizes[0] == pytest.approx(SIZE_MIN_PX)
    assert sizes[2] == pytest.approx(SIZE_MAX_PX)
    # Half the delay, half-way between the areas.
    assert sizes[1] ** 2 == pytest.approx((SIZE_MIN_PX**2 + SIZE_MAX_PX**2) / 2)
    assert sizes[3] == pytest.approx(ADAPTIVE_SIZE_PX)


def test_winners_are_marked_where_they_are(points: pl.DataFrame) -> None:
    marks = {t["meta"]["winner"]: t for t in traces(draw(points), "winner")}
    # In the order of the systems' symbols: Linux tuned, library OS, Linux default.
    assert pairs(marks["performance"]) == [(63, 1005), (60, 900), (104, 2000)]
    assert pairs(marks["energy"]) == [(110, 500), (60, 900), (104, 2000)]
    assert pairs(marks["edp"]) == [(70, 600), (60, 900), (104, 2000)]
    assert [marks[k]["marker"]["symbol"] for k in ("performance", "energy", "edp")] == [
        "cross-thin-open", "x-thin-open", "circle-open",
    ]  # fmt: skip
    hues = [system_style(s, SYSTEMS)[1] for s in ("linux_tuned", "ebbrt_tuned", "linux_default")]
    assert marks["energy"]["marker"]["color"] == hues


def test_marks_and_frontier_keep_to_the_limit(points: pl.DataFrame) -> None:
    figure = draw(points, limit=65.0)
    marks = {t["meta"]["winner"]: pairs(t) for t in traces(figure, "winner")}
    assert marks == {kind: [(63, 1005), (60, 900)] for kind in ("performance", "energy", "edp")}
    lines = {t["meta"]["system"]: pairs(t) for t in traces(figure, "frontier")}
    assert lines == {"linux_tuned": [(63, 1005)], "ebbrt_tuned": [(60, 900)]}
    assert "limit missed by Linux default" in figure["layout"]["title"]["text"]
    assert "limit missed" not in draw(points, limit=104.0)["layout"]["title"]["text"]


def test_beside_the_energy_of_an_item_the_lowest_is_of_items(tmp_path: Path) -> None:
    """The energy of equally long runs is a power: it marks nothing on an axis of items."""
    column = Column("j_per_op", "metric", "real", "Energy", unit="J/op", better="less")
    rows = [run(energy_j=e, latency_p99_us=10 * e, itr_us=e) for e in (10.0, 20.0, 30.0)]
    points = points_of(tmp_path, rows).with_columns(y=pl.Series([3.0, 1.0, 2.0]))
    figure = draw(points, catalogue=Catalogue((column,)), y="j_per_op")
    marks = {t["meta"]["winner"]: pairs(t) for t in traces(figure, "winner")}
    assert [y for _, y in marks["energy"]] == [1]
    assert not marks.get("edp")


def test_a_limit_of_what_more_is_better_is_the_least(tmp_path: Path) -> None:
    rows = [run(throughput_qps=q, energy_j=q, itr_us=q) for q in (10.0, 20.0, 30.0)]
    points = points_of(tmp_path, rows).with_columns(limited=pl.col("energy_j"))
    figure = draw(points, limited="throughput_qps", limit=20.0)
    marks = {t["meta"]["winner"]: pairs(t) for t in traces(figure, "winner")}
    assert [y for _, y in marks["energy"]] == [20]


@pytest.mark.parametrize("column", ["load_qps", "dataset"])
def test_only_like_runs_compete(tmp_path: Path, column: str) -> None:
    is_text = column == "dataset"
    rows = [
        run(
            **{column: value if is_text else number},
            latency_p99_us=50.0 * number,
            energy_j=100.0 * number,
            itr_us=number,
        )
        for number, value in ((1.0, "a"), (2.0, "b"))
    ]
    figure = draw(points_of(tmp_path, rows))
    for mark in traces(figure, "winner"):
        assert sorted(pairs(mark)) == [(50, 100), (100, 200)]
    (line,) = traces(figure, "frontier")
    (x0, _), (gap, _), (x2, _) = pairs(line)
    assert sorted([x0, x2]) == [50, 100]
    assert np.isnan(gap)


def test_single_settings_of_many_places_are_not_marked(tmp_path: Path) -> None:
    rows = [run(load_qps=1e3 * k, latency_p99_us=50.0 + k) for k in range(1, 32)]
    rows.append(run(load_qps=1e3, latency_p99_us=40.0, itr_us=4.0, energy_j=900.0))
    figure = draw(points_of(tmp_path, rows))
    assert [len(pairs(mark)) for mark in traces(figure, "winner")] == [1, 1, 1]
    few = draw(points_of(tmp_path / "few", rows[:5]))
    assert not any(pairs(mark) for mark in traces(few, "winner"))


def test_winners_of_what_was_not_measured_are_not_marked(tmp_path: Path) -> None:
    rows = [run(energy_j=None, power_w=p, itr_us=i, latency_p99_us=p)
            for p, i in ((50.0, 2.0), (40.0, 4.0))]  # fmt: skip
    figure = draw(points_of(tmp_path, rows, y="power_w"), y="power_w")
    marks = {t["meta"]["winner"]: pairs(t) for t in traces(figure, "winner")}
    assert marks["energy"] == marks["edp"] == []
    assert len(marks["performance"]) == 1


def test_the_frontier_of_each_system(points: pl.DataFrame) -> None:
    lines = {t["meta"]["system"]: t for t in traces(draw(points), "frontier")}
    # (90, 650) and (160, 700) are beaten by (70, 600).
    assert pairs(lines["linux_tuned"]) == [(63, 1005), (70, 600), (110, 500)]
    assert pairs(lines["ebbrt_tuned"]) == [(60, 900)]
    assert lines["linux_tuned"]["line"]["shape"] == "hv"
    assert lines["linux_tuned"]["line"]["color"] == system_style("linux_tuned", SYSTEMS)[1]
    assert traces(draw(points, frontier=False), "frontier") == []


def test_the_frontier_minds_which_way_is_better(tmp_path: Path) -> None:
    # More throughput is better:  (10, 500) and (30, 900) stay, (20, 950) is beaten by (30, 900).
    rows = [run(throughput_qps=q, energy_j=e, itr_us=q) for q, e in ((10.0, 500.0), (20.0, 950.0), (30.0, 900.0))]  # fmt: skip  # noqa: E501
    figure = draw(points_of(tmp_path, rows, x="throughput_qps"), x="throughput_qps")
    (line,) = traces(figure, "frontier")
    assert pairs(line) == [(10, 500), (30, 900)]
    assert line["line"]["shape"] == "vh"


def test_no_frontier_for_a_metric_without_a_direction(tmp_path: Path) -> None:
    assert SHIPPED.metric("c1").better is None
    figure = draw(points_of(tmp_path, [run(c1=5)], x="c1"), x="c1")
    assert traces(figure, "frontier") == []
    assert "Pareto frontier" not in [t["name"] for t in traces(figure, "legend")]


def test_frontier_and_winners_count_points_that_are_not_drawn(points: pl.DataFrame) -> None:
    figure = draw(points, drawn=[0])
    assert sum(len(t["x"]) for t in traces(figure, "points")) == 1
    lines = {t["meta"]["system"]: t for t in traces(figure, "frontier")}
    assert len(pairs(lines["linux_tuned"])) == 3
    title = figure["layout"]["title"]["text"]
    assert "6 more points not drawn; filter to see them" in title


def test_the_legend_says_what_everything_means(points: pl.DataFrame) -> None:
    names = [t["name"] for t in traces(draw(points), "legend")]
    assert names[:3] == ["Linux tuned", "Library OS", "Linux default"]
    # Shortest, middle and longest of the delays that occur: 2, 20, 50, 100.
    assert [n for n in names if n.startswith("ITR") and n.endswith(" us")] == [
        "ITR 2 us", "ITR 50 us", "ITR 100 us",
    ]  # fmt: skip
    assert {
        "+ best performance", "x lowest energy", "o best energy-delay product", "Pareto frontier",
    } <= set(names)  # fmt: skip
    assert any("governor" in name for name in names)
    assert any("adaptive" in name for name in names)
    assert all(t["showlegend"] for t in traces(draw(points), "legend"))


def test_the_legend_has_only_what_is_there(tmp_path: Path) -> None:
    names = [t["name"] for t in traces(draw(points_of(tmp_path, [run()])), "legend")]
    assert not [n for n in names if "governor" in n or "adaptive" in n]
    assert [n for n in names if n.startswith("ITR")] == ["ITR 2 us"]


def test_sizes_in_the_legend_are_those_of_the_points(points: pl.DataFrame) -> None:
    figure = draw(points)
    legend = {t["name"]: t["marker"]["size"] for t in traces(figure, "legend")}
    tuned = traces(figure, "points")[2]["marker"]["size"].tolist()
    assert [legend["ITR 50 us"], legend["ITR 100 us"], legend["ITR 2 us"]] == pytest.approx(
        [tuned[0], tuned[2], tuned[3]]
    )


def test_title_and_subtitle_count_and_say_how(points: pl.DataFrame) -> None:
    title = draw(points, scene={"total": 8296})["layout"]["title"]["text"]
    assert title.startswith("Energy against p99 latency, memcached at 200k QPS<br>")
    assert "configuration means, bars ±1 sd where n > 1" in title
    assert "8 of 8,296 runs" in title
    assert "synthetic" not in title
    assert "not drawn" not in title


def test_error_bars_only_in_means_of_several_runs(tmp_path: Path) -> None:
    rows = runs_from_text(TEXT)
    means = points_of(tmp_path / "a", rows)
    library, _, tuned, _ = traces(draw(means), "points")
    # Half the difference times the root of two; nothing where there is one run.
    assert tuned["error_x"]["array"].tolist() == pytest.approx([0, 0, 0, 2**0.5])
    assert tuned["error_y"]["array"].tolist() == pytest.approx([0, 0, 0, 50**0.5])
    assert "error_x" not in library
    each = draw(points_of(tmp_path / "b", rows, means=False), replicates="runs")
    assert not [t for t in traces(each, "points") if "error_x" in t or "error_y" in t]


def test_on_a_logarithmic_axis_a_bar_that_ends_below_0_stays(tmp_path: Path) -> None:
    rows = [run(latency_p99_us=v, energy_j=10.0, replicate=i) for i, v in enumerate((1.0, 99.0))]
    points = points_of(tmp_path, rows)  # 50 us +- 69.3 us
    (trace,) = traces(draw(points, x_log=True, y_log=True), "points")
    assert trace["error_x"]["array"].tolist() == pytest.approx([69.3], abs=0.1)
    assert 0 < 50 - trace["error_x"]["arrayminus"][0] < 0.01
    assert trace["error_y"]["arrayminus"].tolist() == [0]
    assert "arrayminus" not in traces(draw(points), "points")[0]["error_x"]


def test_a_system_keeps_its_symbol_whatever_else_is_there() -> None:
    alone = system_style("linux_tuned", ["linux_tuned"])
    assert alone == system_style("linux_tuned", ["a", "linux_tuned", "z"])
    others = {system_style(s, ["a", "b", "linux_tuned"]) for s in ("a", "b", "linux_tuned")}
    assert len(others) == 3
    assert system_order({"z", "linux_default", "a", "linux_tuned"}) == [
        "linux_tuned", "linux_default", "a", "z",
    ]  # fmt: skip


# p99 from 100 to 139 us, and one of 40 ms.
FAR = [run(itr_us=float(i), latency_p99_us=100.0 + i, energy_j=500.0 - i) for i in range(40)]
FAR += [run(itr_us=99.0, latency_p99_us=40_000.0, energy_j=600.0)]
TAIL = [run(itr_us=100.0 + k, latency_p99_us=2_000.0 * 2**k, energy_j=600.0) for k in range(5)]


@pytest.mark.parametrize(
    ("rows", "state", "high_us"),
    [
        (FAR, {}, 139), (FAR, {"limit": 200.0}, 200), (FAR, {"x_log": True}, 139),
        # A limit beyond all points does not stretch the axis; another metric's is not of this one.
        (FAR, {"limit": 50_000.0}, 139), (FAR, {"limit": 200.0, "limited": "energy_j"}, 139),
        # Nobody meets the limit, so that there are no best points.
        (FAR, {"limit": 1.0}, 139),
        # The least energy is at 9 ms, and is shown.
        ([*FAR, run(itr_us=98.0, latency_p99_us=9_000.0, energy_j=1.0)], {}, 9_000),
        # Without what is far out the axis would not be twice as short.
        ([*FAR[:-1], run(itr_us=99.0, latency_p99_us=170.0, energy_j=600.0)], {}, 170),
        # Of six points none is an exception; of 45 two are, though five are far out.
        ([*FAR[:5], FAR[-1]], {}, 40_000), ([*FAR[:-1], *TAIL], {}, 8_000),
    ],
)  # fmt: skip
def test_an_axis_fits_what_most_points_need(
    tmp_path: Path, rows: list[dict], state: dict[str, Any], high_us: float
) -> None:
    axis = draw(points_of(tmp_path / "lake", rows), **state)["layout"]["xaxis"]
    low, high = np.log10([100, high_us]) if axis["type"] == "log" else (100, high_us)
    margin = 0.06 * (high - low)
    assert axis["range"] == pytest.approx([low - margin, high + margin])


def test_a_title_says_its_unit_once() -> None:
    rate, energy = (Metric("x", title, unit, "x", "", better="less") for title, unit in (
        ("Requests/s", "Requests/s"), ("Energy", "J")))  # fmt: skip
    titles = [metric.titled() for metric in (rate, energy)]
    assert titles == ["Requests/s (less is better)", "Energy, J (less is better)"]


@pytest.mark.parametrize(
    ("metric", "look"),
    [
        (("us", 9_000.0), ("latency, us (less is better)", "SI", None)),
        (("us", 30_000.0), ("latency, ms (less is better)", "SI", "~s")),
        (("us", 12e6), ("latency, s (less is better)", "SI", "~s")),
        (("J", 9_000.0), ("latency, J (less is better)", "SI", "~s")),
        (("kWh", 2e-7), ("latency, kWh (less is better)", "power", None)),
        (("kWh", 9_000.0), ("latency, kWh (less is better)", "power", None)),
        (("uJ", 1.2e9), ("latency, J (less is better)", "SI", "~s")),
        (("ms", 40e3), ("latency, s (less is better)", "SI", "~s")),
    ],
)
def test_numbers_of_an_axis_have_one_prefix(
    metric: tuple[str, float], look: tuple[str, str, str | None]
) -> None:
    unit, top = metric
    axis = metric_ticks(Metric("x", "latency", unit, "x", "", better="less"), top)
    title, form, ticks = look
    assert (axis["title"]["text"], axis["exponentformat"]) == (title, form)
    assert axis.get("tickformat") == ticks
    aliases = axis.get("labelalias", {})
    assert bool(aliases) == (top > 9_000 and unit not in ("J", "kWh"))
    if (unit, top) == ("us", 12e6):
        # What a closer look has keeps the unit of the axis.
        assert axis["ticksuffix"] == " us"
        labels = ("0 us", "500k us", "12M us", "2.15M us")
        assert [aliases.get(label) for label in labels] == ["0", "0.5", "12", None]
        log = metric_ticks(Metric("x", "latency", unit, "x", "", better="less"), top, True)
        # Between the decades Plotly writes no unit.
        between = ("10M us", "20M", "500k", "2k", "50", "500m")
        shown = ["10", "20", "0.5", "0.002", "0.00005", "0.0000005"]
        assert [log["labelalias"].get(label) for label in between] == shown


def test_each_symbol_with_one_point_competes_with_the_others(tmp_path: Path) -> None:
    """Three modes of one run each: one has the least energy, not each of its own symbol."""
    rows = [run(mode=mode, itr_us=None, dvfs_ghz=None, energy_j=energy, latency_p99_us=p99)
            for mode, energy, p99 in (("poll", 3.0, 5.0), ("hybrid", 2.0, 6.0),
                                      ("interrupt", 4.0, 7.0))]  # fmt: skip
    shown = draw(points_of(tmp_path / "lake", rows), symbol="mode", colour="none", size="none")
    (mark,) = [t for t in traces(shown, "winner") if t["meta"]["winner"] == "energy"]
    assert mark["y"].tolist() == [2.0]
    (line,) = traces(shown, "frontier")
    assert sorted(line["y"].tolist()) == [2.0, 3.0]


def test_a_point_alone_by_its_symbol_is_best_only_where_it_is_best_of_all(tmp_path: Path) -> None:
    """Poll was run with two delays, the others with one: the most energy is not the lowest."""
    rows = [run(mode=mode, itr_us=itr, dvfs_ghz=None, energy_j=energy, latency_p99_us=p99)
            for mode, itr, energy, p99 in (("poll", 2.0, 3.0, 5.0), ("poll", 4.0, 2.5, 9.0),
                                           ("hybrid", 2.0, 2.0, 6.0),
                                           ("interrupt", 2.0, 4.0, 7.0))]  # fmt: skip
    shown = draw(points_of(tmp_path / "lake", rows), symbol="mode", colour="none", size="none")
    marks = {t["meta"]["winner"]: pairs(t) for t in traces(shown, "winner")}
    # Products: 15, 22.5, 12, 28.
    assert marks == {"performance": [(5, 3)], "energy": [(6, 2)], "edp": [(6, 2)]}


def test_points_of_any_encoding_are_sorted_and_none_stay_none(points: pl.DataFrame) -> None:
    """Without colour, size and symbol all points are one trace, in the order of the query."""
    plain = ExploreState(colour="none", size="none", symbol="none")
    for state in (ExploreState(), plain):
        none = Part.of(points.clear())
        encoding = encoding_of(none, state, (), SHIPPED)
        assert len(in_trace_order(none, encoding)) == 0
    assert in_trace_order(Part.of(points), encoding).rows.equals(points)
    by_mode = ExploreState(colour="none", size="itr", symbol="system")
    encoding = encoding_of(Part.of(points), by_mode, SYSTEMS, SHIPPED)
    keys = [pl.col("system"), pl.col("itr_us").is_null()]
    for rows in (points, points[::-1]):
        wanted = rows.sort(keys, maintain_order=True, nulls_last=True)
        assert in_trace_order(Part.of(rows), encoding).rows.equals(wanted)


@pytest.mark.parametrize(
    ("ends", "signs"),
    [
        ((0.1122, 0.1132), 6),  # 0.1122, 0.1124
        ((4.0, 4.8), 3),
        ((-0.4, 0.4), 4),
        ((327e-6, 330e-6), 6),  # 327.5 u
        ((1.2e4, 1.3e4), 5),  # 12.2k
        ((7.0, 7.0), 0),
    ],
)
def test_long_numbers_have_room_between_an_axis_and_its_title(
    ends: tuple[float, float], signs: int
) -> None:
    assert left_px(*ends) == 62 + 7 * max(0, signs - 4)
    assert left_px(*ends, is_log=True) == 62


def test_labels_that_begin_alike_show_their_ends() -> None:
    labels = ["(cc)gcc -O3 -DN=250", "(cc)gcc -O3 -DN=4000", "clang", "a long name of its own"]
    ends = {labels[0]: "…c -O3 -DN=250", labels[1]: "… -O3 -DN=4000"}
    assert short_labels(labels, 14) == ends | {labels[3]: "a long name o…"}
