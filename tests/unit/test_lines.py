"""The lines of Explore: which runs a point is of, the ends of a style, axes, links; by hand."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.explore.defaults import default_state
from app.explore.figures.frame import line_range
from app.explore.presets import figure_presets
from app.explore.state import ExploreState
from app.explore.views import explain, picture, rows_behind
from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from data.catalogue import SHIPPED
from data.declared import Column
from data.errors import SelectionError
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.pictures import drawn, traces

MEMCACHED = Selection.of(workload=["memcached"], load=[200_000.0])


def tiny_rows() -> list[dict[str, Any]]:
    """Energy 1,000 J x GHz + ITR (+ 10 J in the second replicate); at 1.3 GHz no ITR below 50."""
    spans = {1.3: (50.0, 100.0), 2.9: (2.0, 50.0, 100.0)}
    rows = [
        run(itr_us=itr, dvfs_ghz=ghz, rapl_w=rapl, replicate=r, load_qps=load,
            energy_j=1000 * ghz + itr + 10 * r, latency_p99_us=60 + itr)
        for ghz, delays in spans.items() for itr in delays for r in (0, 1)
        for rapl in (75.0, 135.0) for load in (200_000.0, 400_000.0)
    ]  # fmt: skip
    rows += [run(system="linux_default", itr_us=None, dvfs_ghz=None, energy_j=3500.0)]
    return rows


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    return Lakes(write_lake(tmp_path_factory.mktemp("lines") / "lake", tiny_rows())).at(None)


def state(selection: Selection = MEMCACHED, **changes: Any) -> ExploreState:
    return ExploreState(selection, show="lines", **changes)


def figure(view: LakeView, asked: ExploreState) -> dict[str, Any]:
    answer = picture("lines", view, asked)
    assert answer["view"] == "lines"
    return drawn(answer["figure"])


def rows(view: LakeView, asked: ExploreState, metric: str = "energy_j") -> pl.DataFrame:
    """The rows behind the lines of one metric, with its columns as `value`, `n`, `low`, `high`."""
    found = rows_behind(view, asked, "lines").with_columns(pl.col("system").cast(pl.String))
    own = {f"{metric}_{end}": end for end in ("n", "low", "high") if metric}
    value = metric if asked.lines_stat == "mean" else f"{metric}_median"
    return found.rename({value: "value", **own}).drop_nulls("value")


def subtitle(shown: dict[str, Any]) -> str:
    return str(shown["layout"]["title"]["text"]).partition("<br>")[2].replace("<br>", " ")


def test_the_fastest_itr_is_the_fastest_run_at_that_clock(tiny: LakeView) -> None:
    found = rows(tiny, state(MEMCACHED.with_values("system", ["linux_tuned"])))
    ends = {(row["dvfs_ghz"], row["end"]): row for row in found.iter_rows(named=True)}
    # The means of two replicates, at one power limit.
    assert {key: (row["itr_us"], row["value"], row["n"]) for key, row in ends.items()} == {
        (1.3, "least"): (50, 1355, 2), (1.3, "most"): (100, 1405, 2),
        (2.9, "least"): (2, 2907, 2), (2.9, "most"): (100, 3005, 2),
    }  # fmt: skip
    # sd 7.07 J, t(1, 97.5 %) = 12.706: half = 12.706 x 7.07 / sqrt(2) = 63.5 J.
    assert ends[1.3, "least"]["high"] - 1355 == pytest.approx(63.53, abs=0.01)


def test_loads_are_never_pooled_and_the_shown_one_is_named(tiny: LakeView) -> None:
    shown = figure(tiny, state(Selection.of(workload=["memcached"], system=["linux_tuned"])))
    assert "200k QPS of 2 target loads, 135 W of 2 power limits (most complete)" in subtitle(shown)
    place = traces(shown, "line")[0]["meta"]["cells"]
    assert place["knobs"] == ["dvfs_ghz", "system", "itr_us", "load_qps", "rapl_w"]
    assert place["at"][0] == [1.3, "linux_tuned", 50.0, 200_000.0, 135.0]
    with pytest.raises(SelectionError, match="never pooled"):
        state(lines_pool=("load",)).check(SHIPPED)


def test_a_pooled_setting_is_named(tiny: LakeView) -> None:
    asked = state(MEMCACHED.with_values("system", ["linux_tuned"]), lines_pool=("rapl",))
    assert "over 2 power limits" in subtitle(figure(tiny, asked))
    assert set(rows(tiny, asked)["n"]) == {4}
    assert "rapl_w" not in str(traces(figure(tiny, asked), "line")[0]["meta"]["cells"]["knobs"])


def test_a_load_is_an_axis(tiny: LakeView) -> None:
    asked = state(
        Selection.of(workload=["memcached"], system=["linux_tuned"]),
        lines_x="load", lines_style="dvfs", lines_levels="all", lines_y=("latency_p99_us",),
    )  # fmt: skip
    shown = figure(tiny, asked)
    assert shown["layout"]["xaxis"]["ticktext"] == ["200k QPS", "400k QPS"]
    # Of ITR one value is shown, of those at both clocks the longest: 160 us at each load.
    assert [list(t["y"]) for t in traces(shown, "line")] == [[160, 160]] * 2
    assert "lower values darker" in subtitle(shown)
    dark, light = (t["line"]["color"] for t in traces(shown, "line"))
    assert float(dark.split(",")[-1][:-1]) > float(light.split(",")[-1][:-1])


def test_metrics_are_stacked_over_one_axis_with_one_crosshair(tiny: LakeView) -> None:
    layout = figure(tiny, state(lines_y=("energy_j", "performance", "duration_s")))["layout"]
    domains = [layout[name]["domain"] for name in ("yaxis", "yaxis2", "yaxis3")]
    assert "yaxis4" not in layout
    assert all(upper[0] > lower[1] for upper, lower in pairwise(domains))
    assert {layout[name]["anchor"] for name in ("yaxis", "yaxis2", "yaxis3")} == {"x"}
    assert (layout["xaxis"]["showspikes"], layout["xaxis"]["spikemode"]) == (True, "across")
    assert layout["meta"]["axes"]["latency_p99_us"] == ["y2"]
    with pytest.raises(SelectionError, match="ly names 5 metrics"):
        state(lines_y=("a", "b", "c", "d", "e"))


@pytest.mark.parametrize(
    ("values", "beyond"),
    [
        ([*range(100), 100_000], 1),
        # Ten of 110 are no exception, and twice as far is in sight.
        ([*range(100), *[100_000] * 10], None),
        ([*range(100), 500], None),
        ([7.0] * 100 + [8.0], None),
        ([], None),
    ],
)
def test_an_axis_of_lines_leaves_out_a_few_values_far_out(
    values: list[float], beyond: int | None
) -> None:
    fitted = line_range(np.array(values, np.float64))
    assert (fitted and fitted[1]) == beyond
    assert fitted is None or fitted[0] == [pytest.approx(-5.94), pytest.approx(104.94)]


def test_what_has_no_number_along_x_is_a_level_line(tiny: LakeView) -> None:
    shown = figure(tiny, state())
    (level,) = traces(shown, "level")
    assert list(level["x"]) == [1.3, 2.9]
    assert list(level["y"]) == [3500, 3500]
    assert "governor" in [t["name"] for t in traces(shown, "legend")]


def test_a_logarithmic_axis_says_that_it_has_no_zero(tiny: LakeView, tmp_path: Path) -> None:
    lake = write_lake(tmp_path / "lake", [run(itr_us=itr) for itr in (0.0, 2.0, 20.0)])
    asked = state(lines_x="itr", lines_x_log=True)
    shown = figure(Lakes(lake).at(None), asked)
    assert "0 is not on the logarithmic axis" in subtitle(shown)
    assert shown["layout"]["xaxis"]["type"] == "log"
    assert "logarithmic" not in subtitle(figure(tiny, asked))


def test_names_are_categories_and_medians_have_quartiles(tmp_path: Path) -> None:
    values = {"linux_tuned": (1.0, 2.0, 90.0), "ebbrt_tuned": (4.0,)}
    made = [run(system=s, replicate=r, energy_j=j) for s, all_j in values.items()
            for r, j in enumerate(all_j)]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", made)).at(None)
    asked = state(lines_x="system", lines_style="none", lines_stat="median")
    found = {row["system"]: row for row in rows(view, asked).iter_rows(named=True)}
    assert [found["linux_tuned"][k] for k in ("value", "low", "high", "n")] == [
        2, 1.5, 46, 3,
    ]  # fmt: skip
    assert found["ebbrt_tuned"]["low"] is None
    shown = figure(view, asked)
    # Turned names have room below the axis.
    assert "bottom" in shown["layout"]["xaxis"]["automargin"]
    assert "arithmetic means" in subtitle(figure(view, replace(asked, lines_stat="mean")))
    assert shown["layout"]["xaxis"]["categoryarray"] == ["Linux tuned", "Library OS"]
    # Names have no order: points with error bars, no line from one to the next and no band.
    assert not traces(shown, "interval")
    (line,) = traces(shown, "line")
    assert line["mode"] == "markers"
    place = list(line["x"]).index("Linux tuned")
    assert [line["error_y"][end][place] for end in ("array", "arrayminus")] == [44, 0.5]
    (plain,) = traces(figure(view, replace(asked, lines_bands=False)), "line")
    assert "error_y" not in plain
    assert "medians of runs" in subtitle(shown)
    assert "quantile_cont(energy_j" in explain(view, asked, "lines")


def test_of_too_many_lines_the_first_are_drawn(
    tiny: LakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = state(MEMCACHED.with_values("system", ["linux_tuned"]), lines_levels="all")
    assert len(traces(figure(tiny, asked), "line")) == 3
    monkeypatch.setattr("app.explore.lines.MOST_LINES", 2)
    shown = figure(tiny, asked)
    assert len(traces(shown, "line")) == 2
    assert "1 of the lines not drawn" in subtitle(shown)


def test_a_style_needs_numbers_and_old_links_show_points() -> None:
    with pytest.raises(SelectionError, match="'system' has no numbers"):
        state(lines_style="system").check(SHIPPED)
    old = ExploreState.from_query("v=2&workload=memcached&load=400000&limit=200&xlog=1", SHIPPED)
    assert (old.show, old.lines_y) == ("points", ("energy_j",))
    asked = state(lines_y=("ipc", "performance"), lines_x="itr", lines_levels="all",
                  lines_pool=("rapl",), lines_y_log=True, lines_bands=False)  # fmt: skip
    assert ExploreState.from_query(asked.to_query(), SHIPPED) == asked


# The figures of the network study, on the published tables.


@pytest.fixture(scope="module")
def published(published_lake: Path) -> LakeView:
    return Lakes(published_lake).at(None)


@pytest.fixture(scope="module")
def figures(published: LakeView) -> dict[str, ExploreState]:
    return {one.title: one.state for one in figure_presets(published)}  # type: ignore[misc]


# The two systems, then the ends of the style over all panels: of figure 4 the clocks.
LEGENDS = {
    "4: NetPIPE and node.js": ["Linux tuned", "Library OS", "1.2 GHz", "2.9 GHz"],
    "6 a-c: memcached": ["Linux tuned", "Library OS", "fastest ITR", "slowest ITR"],
    "6 d: memcached": ["Linux tuned", "Library OS", "1.3 GHz", "2.9 GHz"],
}
LOADS = (200_000.0, 400_000.0, 600_000.0)
SYSTEMS = ("linux_tuned", "ebbrt_tuned")
# Panels of figure 4 by their message size; node.js has none.
SIZES: dict[str, float | str] = {
    "NetPIPE 64 B": 64.0, "NetPIPE 8 KiB": 8192.0, "NetPIPE 64 KiB": 65_536.0,
    "NetPIPE 512 KiB": 524_288.0, "node.js": "none",
}  # fmt: skip


def panel_of(figure: ExploreState, value: float | str) -> ExploreState:
    """The page that a click on the title of a panel opens."""
    return replace(figure, selection=figure.selection.with_values(figure.split, [value]))


@pytest.mark.real
def test_a_preset_has_the_panels_and_the_metrics_of_its_figure(
    published: LakeView, figures: dict[str, ExploreState]
) -> None:
    names = ["3: NetPIPE and node.js", "5: memcached", "4: NetPIPE and node.js",
             "6 a-c: memcached", "6 d: memcached"]  # fmt: skip
    assert list(figures) == names
    for name, columns, metrics in zip(names[2:], (5, 3, 3), (4, 4, 1), strict=True):
        drawn_lines = picture("lines", published, figures[name])
        meta = drawn_lines["figure"]["layout"]["meta"]
        assert (meta["grid"]["columns"], meta["grid"]["lines"]) == (columns, 1)
        assert len(meta["axes"]) == metrics
        told = [t["name"] for t in traces(drawn_lines["figure"], "legend")]
        assert told == LEGENDS[name]
        if name.startswith("4"):
            title = drawn_lines["figure"]["layout"]["title"]["text"]
            assert "NetPIPE, node.js at 4 message sizes" in title
            assert "5 to 17 processor frequencies, lower values darker" in title


def _saved_j(published: LakeView, asked: ExploreState, system: str, is_slow: bool) -> float:
    """Energy of the fastest ITR less that of the slowest, at the slowest or the fastest clock."""
    own = rows(published, asked).filter(system=system)
    clock = own["dvfs_ghz"].min() if is_slow else own["dvfs_ghz"].max()
    ends = dict(own.filter(dvfs_ghz=clock).select("end", "value").iter_rows())
    return float(ends["least"] - ends["most"])


@pytest.mark.real
@pytest.mark.parametrize(("is_slow", "saved_j"), [(True, 64.1), (False, 292.7)])
def test_figure_6_a_saves_what_the_claim_says(
    published: LakeView, figures: dict[str, ExploreState], is_slow: bool, saved_j: float
) -> None:
    cells = [(panel_of(figures["6 a-c: memcached"], load), s) for load in LOADS for s in SYSTEMS]
    saved = [_saved_j(published, asked, system, is_slow) for asked, system in cells]
    # The claim weighs configurations alike, a point of the picture runs: 1.2 % apart.
    assert sum(saved) / 6 == pytest.approx(saved_j, rel=0.015)


@pytest.mark.real
def test_figure_6_b_and_c_have_the_ratios_of_the_claim(
    published: LakeView, figures: dict[str, ExploreState]
) -> None:
    ratios, ipcs = [], []
    on = ["itr_us", "dvfs_ghz", "rapl_w"]
    for load in LOADS:
        figure = panel_of(figures["6 a-c: memcached"], load)
        asked = replace(figure, lines_levels="all", lines_pool=())
        parts = [
            rows_behind(published, replace(asked, selection=chosen), "lines")
            .with_columns(pl.col("system").cast(pl.String), rapl_w=pl.lit(watts))
            for watts in (55.0, 75.0, 95.0, 135.0)
            for chosen in [asked.selection.with_values("rapl", [watts])]
        ]  # fmt: skip
        linux, library = (pl.concat(parts).filter(system=system) for system in SYSTEMS)
        both = linux.join(library, on=on, suffix="_e")
        ratios.append((both["instructions"] / both["instructions_e"]).mean())
        ipcs.append((both["ipc_e"].mean(), both["ipc"].mean()))
    assert ratios == pytest.approx([3.17, 2.85, 2.60], abs=0.005)
    assert ipcs[0] == pytest.approx((0.35, 0.49), abs=0.005)
    assert ipcs[1] == pytest.approx((0.42, 0.51), abs=0.005)
    assert ipcs[2] == pytest.approx((0.47, 0.52), abs=0.005)


@pytest.mark.real
@pytest.mark.parametrize(
    ("panel", "delays", "cut_pct"), [("node.js", 17, 99.2), ("NetPIPE 64 B", 4, 27)]
)
def test_figure_4_d_cuts_interrupts_as_the_claim_says(
    published: LakeView, figures: dict[str, ExploreState], panel: str, delays: int, cut_pct: float
) -> None:
    asked = panel_of(figures["4: NetPIPE and node.js"], SIZES[panel])
    found = rows(published, asked, "interrupts")
    own = found.filter(system="ebbrt_tuned")
    cut = 1 - pl.col("value").min() / pl.col("value").max()
    cuts = own.group_by("itr_us").agg(cut=100 * cut)["cut"]
    assert len(cuts) == delays
    assert cuts.median() == pytest.approx(cut_pct, abs=0.5)
    if panel == "node.js":
        by_clock = dict(own.group_by("dvfs_ghz").agg(pl.col("value").mean()).iter_rows())
        assert by_clock[1.3] == pytest.approx(1_700, rel=0.02)
        assert by_clock[1.7] == pytest.approx(88_500, rel=0.02)
        assert all(by_clock[ghz] == pytest.approx(195_000, rel=0.05) for ghz in (2.1, 2.5, 2.9))


@pytest.mark.real
@pytest.mark.parametrize(
    ("panel", "ratio"),
    [("node.js", 1.11), ("NetPIPE 64 B", 4.3), ("NetPIPE 8 KiB", 5.3), ("NetPIPE 64 KiB", 3.2),
     ("NetPIPE 512 KiB", 1.09)],
)  # fmt: skip
def test_figure_4_a_has_the_instructions_of_the_claim(
    published: LakeView, figures: dict[str, ExploreState], panel: str, ratio: float
) -> None:
    found = rows(
        published, panel_of(figures["4: NetPIPE and node.js"], SIZES[panel]), "instructions"
    )
    linux, library = (found.filter(system=system)["value"].median() for system in SYSTEMS)
    assert linux / library == pytest.approx(ratio, rel=0.04)  # type: ignore[operator]


def test_rows_of_panels_are_those_of_each_with_the_knob_of_the_panels(tiny: LakeView) -> None:
    one = state(split="none", lines_by="none", lines_style="none", lines_x="itr")
    whole = rows_behind(tiny, one, "lines")
    parts = rows_behind(tiny, replace(one, split="dvfs"), "lines")
    assert "dvfs_ghz" not in whole.columns
    assert parts["energy_j_n"].sum() >= whole["energy_j_n"].sum() > 0
    for value in parts["dvfs_ghz"].unique().to_list():
        kept = one.selection.with_values("dvfs", ["governor" if value is None else value])
        alone = rows_behind(tiny, replace(one, selection=kept), "lines")
        own = parts.filter(pl.col("dvfs_ghz").eq_missing(value)).drop("dvfs_ghz")
        assert own.select(alone.columns).equals(alone)
    # No run has this metric: there is no panel, and no row.
    none = replace(one, split="dvfs", lines_y=("bytes_per_joule",))
    assert not len(rows_behind(tiny, none, "lines"))
    assert "SELECT" in explain(tiny, none, "lines")


def test_a_figure_without_any_of_its_metrics_has_no_preset(tmp_path: Path) -> None:
    """A study of memcached need not have latencies: figure 6 d shows nothing else."""
    titles = []
    for name, p99_us in (("with", 80.0), ("without", None)):
        rows = [run(itr_us=itr, latency_p99_us=p99_us) for itr in (2.0, 4.0)]
        view = Lakes(write_lake(tmp_path / name, rows)).at(None)
        titles.append([preset.title.partition(":")[0] for preset in figure_presets(view)])
    assert titles == [["6 a-c", "6 d"], ["6 a-c"]]


def test_lines_open_over_what_was_set_and_are_of_the_items(tmp_path: Path) -> None:
    """Sizes of a problem are the work: the question is what threads change at each."""
    own = [
        Column("size", "knob", "whole", "size", "size", is_given=True),
        Column("thread_count", "knob", "whole", "threads", "threads"),
    ]
    rows = [
        run(itr_us=None, dvfs_ghz=None, size=size, thread_count=threads, energy_j=None,
            latency_p99_us=None, duration_s=size / threads, performance_metric="duration_s")
        for size in (128, 256, 512, 1024) for threads in (2, 4, 8)
    ]  # fmt: skip
    state = default_state(Lakes(write_lake(tmp_path / "lake", rows, own)).at(None))
    assert (state.show, state.lines_x, state.lines_by, state.lines_style) == (
        "lines", "c_thread_count", "c_size", "none",
    )  # fmt: skip
