"""The paper's own findings, from its own tables, by what Explore shows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from app.explore.presets import figure_presets, study_presets
from app.explore.state import ExploreState
from app.explore.views import best_table, limit_domain, picture, status_words
from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from data.connection import Lake, open_lake
from data.selection import Selection
from tests.fixtures.pictures import decode, traces
from tests.fixtures.real import real_data

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def lake(published_lake: Path) -> Iterator[Lake]:
    with open_lake(published_lake) as opened:
        yield opened


@pytest.fixture(scope="module")
def view(lake: Lake) -> LakeView:
    return LakeView(lake)


def memcached(load_qps: int) -> Selection:
    return Selection.of(workload=["memcached"], load=[load_qps])


def points_of(answer: dict[str, Any]) -> dict[str, np.ndarray]:
    """The knobs of the points of a scatter, and `x` and `y`."""
    points = answer["columns"]
    knobs = {
        name: np.array(knob["values"], dtype=object)[decode(knob["index"])]
        for name, knob in points["knobs"].items()
    }
    axes = answer["figure"]["layout"]["meta"]["fields"].values()
    fields = {name: decode(points["fields"][own]) for name, own in zip("xy", axes, strict=True)}
    return {**knobs, **fields}


def winner(view: LakeView, state: ExploreState, system: str, kind: str) -> dict[str, Any]:
    """The run under a mark of the scatter: its knobs and values, found by where the mark is."""
    answer = picture("scatter", view, state)
    points = points_of(answer)
    (mark,) = [t for t in traces(answer["figure"], "winner") if t["meta"]["winner"] == kind]
    mine = points["system"] == system
    at = [
        int(i)
        for x, y in zip(mark["x"], mark["y"], strict=True)
        for i in np.flatnonzero(mine & (points["x"] == x) & (points["y"] == y))
    ]
    assert len(at) == 1, f"{len(at)} points of {system} under {kind}"
    return {name: column[at[0]] for name, column in points.items()}


@pytest.mark.parametrize(
    ("load_qps", "default_us", "tuned_us", "cut_percent"),
    [(200_000, 103.87, 61.7, -40.6), (600_000, 138.93, 102.6, -26.2)],
)
def test_tuning_cuts_the_tail_of_memcached(
    view: LakeView, load_qps: int, default_us: float, tuned_us: float, cut_percent: float
) -> None:
    means = ExploreState(memcached(load_qps).with_values("system", ["linux_default"]))
    # One setting has no mark of a best one: it is the only point.
    answer = picture("scatter", view, means)
    assert not [t for t in traces(answer["figure"], "winner") if len(t["x"])]
    (mean_us,) = points_of(answer)["x"]
    assert mean_us == pytest.approx(default_us, abs=0.005)
    tuned = winner(
        view, ExploreState(memcached(load_qps), replicates="runs"), "linux_tuned", "performance"
    )
    assert tuned["x"] == tuned_us
    assert 100 * (tuned["x"] / mean_us - 1) == pytest.approx(cut_percent, abs=0.05)


@pytest.mark.parametrize(
    ("selection", "system", "itr_us", "dvfs_ghz", "product_js"),
    [
        ({"workload": ["netpipe"], "message": [512 << 10]}, "linux_tuned", 28.0, 1.2, 491.2),
        ({"workload": ["nodejs"]}, "ebbrt_tuned", 4.0, 2.9, 986.1),
    ],
    ids=["netpipe", "nodejs"],
)
def test_the_best_energy_delay_product(
    view: LakeView,
    selection: dict[str, list],
    system: str,
    itr_us: float,
    dvfs_ghz: float,
    product_js: float,
) -> None:
    state = ExploreState(Selection.of(**selection), replicates="runs")
    best = winner(view, state, system, "edp")
    assert (best["itr_us"], best["dvfs_ghz"]) == (itr_us, dvfs_ghz)
    assert best["y"] * best["x"] == pytest.approx(product_js, abs=0.05)


# Figures 3 and 5 on the published tables: each system's time (s) or p99 (us) and energy (J) under
# +, x and o, at most 500 us in memcached. The energy-delay product of node.js is in J s.
FIGURES: dict[str, tuple[dict, tuple, dict]] = {
    "node.js": ({"workload": ["nodejs"]}, (8.418, 270.7), {
        "linux_tuned": ((7.679, 251.6), (7.699, 247.6), 1906),
        "ebbrt_tuned": ((5.633, 177.5), (7.699, 167.8), 999.2)}),
    "NetPIPE, 64 B messages": ({"workload": ["netpipe"], "message": [64]}, (0.2101, 4.448), {
        "linux_tuned": ((0.1373, 4.19), (0.1573, 3.207), 0.4789),
        "ebbrt_tuned": ((0.1127, 2.503), (0.1157, 2.49), 0.282)}),
    "NetPIPE, 8 KiB messages": ({"workload": ["netpipe"], "message": [8 << 10]}, (0.3655, 8.05), {
        "linux_tuned": ((0.2727, 7.973), (0.3487, 6.667), 2.06),
        "ebbrt_tuned": ((0.217, 4.703), (0.2347, 4.37), 1.021)}),
    "NetPIPE, 64 KiB messages": ({"workload": ["netpipe"], "message": [64 << 10]}, (1.493, 30.91), {
        "linux_tuned": ((0.849, 26.69), (1.082, 20.48), 19.8),
        "ebbrt_tuned": ((0.7187, 13.09), (0.7187, 13.09), 9.41)}),
    "NetPIPE, 512 KiB messages": (
        {"workload": ["netpipe"], "message": [512 << 10]}, (5.454, 119.9), {
        "linux_tuned": ((5.021, 106.5), (5.066, 97.17), 492.3),
        "ebbrt_tuned": ((4.739, 89.0), (4.768, 85.96), 409.8)}),
    "200k QPS": ({"workload": ["memcached"], "load": [200_000]}, (103.9, 1334), {
        "linux_tuned": ((61.7, 2175), (456.8, 1056), 120_600),
        "ebbrt_tuned": ((65.9, 1747), (445.6, 938.2), 70_590)}),
    "400k QPS": ({"workload": ["memcached"], "load": [400_000]}, (114.5, 1926), {
        "linux_tuned": ((74.0, 2533), (458.8, 1170), 183_000),
        "ebbrt_tuned": ((64.9, 1111), (361.4, 981.7), 72_120)}),
    "600k QPS": ({"workload": ["memcached"], "load": [600_000]}, (138.9, 2595), {
        "linux_tuned": ((102.6, 2731), (486.0, 1472), 280_200),
        "ebbrt_tuned": ((60.2, 1279), (375.4, 1027), 72_530)}),
}  # fmt: skip
HUES = {"linux_tuned": "#0072B2", "ebbrt_tuned": "#D55E00", "linux_default": "#009E73"}


def marks_of(view: LakeView, state: ExploreState) -> dict[str, list[tuple[str, float, float]]]:
    """The hue and place of each mark, by its kind."""
    return {
        t["meta"]["winner"]: list(
            zip(t["marker"]["color"], t["x"].tolist(), t["y"].tolist(), strict=True)
        )
        for t in traces(picture("scatter", view, state)["figure"], "winner")
    }


def agrees(found: tuple, system: str, *values: float) -> bool:
    """Whether a mark is a system's, at printed numbers of three or four digits."""
    return found[0] == HUES[system] and all(
        value == pytest.approx(printed, rel=6e-4)
        for value, printed in zip(found[1:], values, strict=True)
    )


# The presets show all panels: these are single ones.
@pytest.mark.thin(3)
@pytest.mark.parametrize("panel", FIGURES)
def test_the_marks_of_figures_3_and_5(view: LakeView, panel: str) -> None:
    chosen, default, systems = FIGURES[panel]
    is_open = "load" in chosen
    state = ExploreState(Selection.of(**chosen), limit=500.0 if is_open else None)
    marks = marks_of(view, state)
    assert [len(found) for found in marks.values()] == [3, 3, 3]
    for kind in marks:
        assert any(agrees(found, "linux_default", *default) for found in marks[kind])
    for system, (fastest, thriftiest, product) in systems.items():
        assert any(agrees(found, system, *fastest) for found in marks["performance"])
        assert any(agrees(found, system, *thriftiest) for found in marks["energy"])
        _, x, y = next(found for found in marks["edp"] if found[0] == HUES[system])
        # The product of the means is near the mean of the runs' products, which is minimised.
        assert x * y == pytest.approx(product, rel=0.01)


@pytest.mark.parametrize(("number", "count"), [("3", 5), ("5", 3)])
def test_a_preset_shows_the_panels_and_marks_of_the_study(
    published_lake: Path, number: str, count: int
) -> None:
    """The product is of the means here: a point is the mean of a configuration."""
    view = Lakes(published_lake).at(None)
    (preset,) = (p for p in figure_presets(view) if p.title.startswith(f"{number}: "))
    figure = picture("scatter", view, preset.state)["figure"]  # type: ignore[arg-type]
    notes = [note for note in figure["layout"]["annotations"] if "name" in note]
    titles = [note["text"].removeprefix("<b>").removesuffix("</b>") for note in notes]
    assert len(titles) == count
    for place, title in enumerate(titles):
        axis = f"x{place + 1 if place else ''}"
        marks: dict[str, dict[str, tuple[float, float]]] = {}
        for trace in figure["data"]:
            if trace["meta"]["kind"] == "winner" and trace["xaxis"] == axis:
                places = zip(trace["x"], trace["y"], strict=True)
                marks[trace["name"]] = dict(zip(trace["marker"]["color"], places, strict=True))
        _, default, systems = FIGURES[title]
        assert marks["energy"][HUES["linux_default"]] == pytest.approx(default, rel=1e-3)
        for system, found in systems.items():
            hue = HUES[system]
            for kind, mark in zip(("performance", "energy"), found, strict=False):
                assert marks[kind][hue] == pytest.approx(mark, rel=1e-3), (title, hue, kind)
            x, y = marks["edp"][hue]
            assert x * y == pytest.approx(found[2], rel=1e-3), (title, hue)


def test_each_load_has_marks_of_its_own(view: LakeView) -> None:
    alone = [
        mark
        for load in (200_000, 400_000, 600_000)
        for mark in marks_of(view, ExploreState(memcached(load), limit=500.0))["energy"]
    ]
    every = Selection.of(workload=["memcached"])
    together = marks_of(view, ExploreState(every, limit=500.0))["energy"]
    assert len(together) == 9
    assert sorted(together) == sorted(alone)
    figure = picture("scatter", view, ExploreState(every, limit=500.0))["figure"]
    lines = [np.isnan(t["x"]).sum() for t in traces(figure, "frontier")]
    assert lines == [2, 2, 2]  # three lines a system, with two gaps
    assert all(np.nanmax(t["x"]) <= 500 for t in traces(figure, "frontier"))


def test_a_system_that_misses_the_limit_has_no_mark_and_the_caption_says_so(view: LakeView) -> None:
    state = ExploreState(memcached(200_000), limit=100.0)
    assert [len(found) for found in marks_of(view, state).values()] == [2, 2, 2]
    title = picture("scatter", view, state)["figure"]["layout"]["title"]["text"]
    assert "limit missed by Linux default" in title
    all_loads = ExploreState(Selection.of(workload=["memcached"]), limit=110.0)
    title = picture("scatter", view, all_loads)["figure"]["layout"]["title"]["text"]
    assert "limit missed by Linux default 400k QPS, Linux default 600k QPS" in title


def read_table(name: str) -> pl.DataFrame:
    """A published table read by itself, a row that is there twice counted once."""
    path = real_data() / "summaries" / f"{name}_combined.csv"
    return pl.read_csv(path, separator=" ", infer_schema_length=None).unique()


def read_memcached() -> pl.DataFrame:
    """Configuration means of energy and p99."""
    return (
        read_table("mcd")
        .filter(pl.col("joules").is_not_null() & pl.col("read_99th").is_not_null())
        .with_columns(code=pl.col("dvfs").str.to_lowercase())
        .group_by("sys", "itr", "code", "rapl", "target_QPS")
        .agg(pl.col("joules").mean(), pl.col("read_99th").mean(), n=pl.len())
    )


@pytest.mark.thin(4)
@pytest.mark.parametrize("load_qps", [200_000, 400_000, 600_000])
@pytest.mark.parametrize("limit_us", [None, 110.0, 500.0])
def test_best_settings_agree_with_the_published_table(
    view: LakeView, load_qps: int, limit_us: float | None
) -> None:
    found = best_table(view, ExploreState(memcached(load_qps), limit=limit_us))
    means = read_memcached().filter(pl.col("target_QPS") == load_qps)
    default = means.filter(pl.col("sys") == "linux_default").row(0, named=True)
    assert set(found["system"]) == set(means["sys"])
    for row in found.iter_rows(named=True):
        mine = means.filter(pl.col("sys") == row["system"])
        if row["system"] == "linux_default":
            assert (row["reason"], row["n"]) == ("the default", default["n"])
            continue
        (own,) = mine.filter(
            pl.col("itr") == row["itr_us"], pl.col("rapl") == row["rapl_w"],
            pl.col("code") == f"{round(row['dvfs_ghz'] * 10) << 8:#x}",
        ).to_dicts()  # fmt: skip
        # Geometric means of two or three runs are arithmetic ones to the fourth digit here.
        assert (row["cost"], row["limited"], row["n"]) == (
            pytest.approx(own["joules"], rel=1e-3), pytest.approx(own["read_99th"], rel=0.01),
            own["n"],
        )  # fmt: skip
        change = 100 * (own["joules"] / default["joules"] - 1)
        assert row["change_pct"] == pytest.approx(change, abs=0.1)
        assert row["change_low_pct"] < row["change_pct"] < row["change_high_pct"]
        if limit_us is not None and row["standing"] == "within":
            assert own["read_99th"] <= limit_us


def test_the_presets_are_the_studys(view: LakeView) -> None:
    found = {one.title: cast(ExploreState, one.state) for one in study_presets(view)}
    assert list(found) == [
        "memcached 200k QPS", "memcached 400k QPS", "memcached 600k QPS", "NetPIPE 64 B",
        "NetPIPE 8 KiB", "NetPIPE 64 KiB", "NetPIPE 512 KiB", "node.js",
    ]  # fmt: skip
    shown = picture("scatter", view, found["memcached 400k QPS"])["columns"]
    assert shown is not None
    assert shown["knobs"]["load_qps"]["values"] == [400_000]


def test_every_row_of_the_tables_is_there(view: LakeView) -> None:
    rows = {name: len(read_table(name)) for name in ("mcd", "node", "netpipe")}
    counted = dict(view.outline.group_by("workload").agg(pl.col("runs").sum()).iter_rows())
    assert counted == {
        "memcached": rows["mcd"], "nodejs": rows["node"], "netpipe": rows["netpipe"],
    }  # fmt: skip
    assert status_words(view, ExploreState(Selection.of(workload=["nodejs"]))).startswith(
        f"{rows['node']:,} of {sum(rows.values()):,} runs"
    )


def test_the_range_of_the_limit_is_that_of_the_load(view: LakeView) -> None:
    mine = read_table("mcd").filter(pl.col("target_QPS") == 200_000)["read_99th"]
    domain = limit_domain(view, ExploreState(memcached(200_000)))
    assert (domain["low"], domain["high"]) == (mine.min(), mine.max())
