"""Facts about Timeline's figures of a hand-made answer."""

from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import load_scripts

pytestmark = pytest.mark.browser

HUES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"]
NOT_MEASURED = "NaN"
SCRIPTS = (
    "_kit/columns",
    "_kit/theme",
    "timeline/view_distributions",
    "timeline/view_panels",
    "timeline/view_rows",
    "timeline/view_style",
)
DRAW = (Path(__file__).parent / "draw_timeline.js").read_text("utf-8")


@pytest.fixture(scope="module")
def drawing(blank: Page) -> Page:
    """A page with only the scripts that make figures."""
    return load_scripts(blank, *SCRIPTS)


def panel(name: str, unit: str, *series: str, log: bool = False) -> dict[str, Any]:
    titles = [{"name": s, "title": s.upper()} for s in series]
    return {
        "name": name,
        "title": name.title(),
        "unit": unit,
        "log": log,
        "axis": "interrupts",
        "series": titles,
    }


GAP = panel("gap", "us", "gap", log=True)
BYTES = panel("bytes", "B", "rx", "tx")
RATE = panel("interrupts", "1/s", "interrupts")


def run(name: str, series: dict[str, Any], bins: int = 4, **more: Any) -> dict[str, Any]:
    """One run of an answer: `bins` bins of 0.25 s from 0 s on."""
    axis = {"t0": 0, "dt": 0.25, "n": bins, "t1": 0.25 * bins}
    group = {"name": "all", "cores": [0], "count": [1] * bins, "series": series}
    return {
        "run_id": name, "label": f"label of {name}", "short": name, "problem": None,
        "axes": {"interrupts": axis, "counters": axis}, "groups": [group],
        "power": [], "raw": None, "samples": None, "heat": None, "hist": {}, **more,
    }  # fmt: skip


def scene(runs: list[dict], panels: list[dict], itr: tuple = (None, 50), **state: Any) -> dict:
    x = {"title": "Time", "unit": "s"}
    answer = {"x": x, "from_x": 0, "to_x": 1, "panels": panels, "runs": runs,
              "heat": {"name": "interrupts", "title": "Interrupts", "unit": "1/s"}}  # fmt: skip
    return {
        "answer": answer, "hues": HUES, "theme": "light", "roomPx": 600,
        "infos": [{"itr_us": itr[k % len(itr)]} for k in range(len(runs))],
        "state": {"hues": list(range(len(runs))), "layout": "overlay", "base": 0, **state},
    }  # fmt: skip


def draw(page: Page, drawn: dict, what: str = "") -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(DRAW, [drawn, what])
    return found


def traces(figure: dict, kind: str, **meta: str) -> list[dict]:
    wanted = {"kind": kind, **meta}
    return [t for t in figure["data"] if wanted.items() <= t["meta"].items()]


def words(figure: dict) -> list[str]:
    return [note["text"] for note in figure["layout"]["annotations"]]


def test_one_long_gap_is_visible_in_its_bin(drawing: Page) -> None:
    # 800 bins of some 50 us gaps; one of 2 ms among thousands leaves the mean of bin 417 at 51 us.
    gap = {"mean": [50.0] * 800, "min": [48.0] * 800, "max": [60.0] * 800}
    gap["mean"][417], gap["max"][417] = 51.0, 2000.0
    figure = draw(drawing, scene([run("a", {"gap": gap}, 800)], [GAP]))
    (edge,) = traces(figure, "envelope")
    assert max(v for v in edge["y"] if v is not None) == 2000
    assert edge["x"][edge["y"].index(2000)] == pytest.approx((417 + 0.5) * 0.25)
    assert edge["line"]["width"] > 0
    axis = figure["layout"]["yaxis"]
    assert axis["type"] == "log"
    assert 10 ** axis["range"][0] < 48
    assert 10 ** axis["range"][1] > 2000
    (mean,) = traces(figure, "mean")
    assert max(mean["y"]) == 51
    assert edge["fill"] == "toself"


def test_a_band_is_filled_and_extremes_are_thin_lines(drawing: Page) -> None:
    gap = {"mean": [50.0] * 80, "min": [48.0] * 80, "max": [2000.0] * 80}
    drawn = run("a", {"gap": gap}, 80)
    # Eight values of ten windows each; of the last nothing was measured.
    band = {"p10": [49.0] * 7 + ["NaN"], "p90": [55.0] * 7 + ["NaN"]}
    bands = run("a", {"gap": band}, 8)
    drawn["bands"] = {**bands, "windows_s": {"interrupts": 0.25, "counters": 0.25}}
    figure = draw(drawing, scene([drawn], [GAP]))
    (filled,), (edge,) = traces(figure, "band"), traces(figure, "envelope")
    assert {value for value in filled["y"] if value is not None} == {49, 55}
    assert (filled["fill"], filled["line"]["width"]) == ("toself", 0)
    # Each value is a step over its bin, and there is nothing over the last.
    assert list(zip(filled["x"], filled["y"], strict=True)) == [
        *((x, 55) for i in range(7) for x in (i * 0.25, (i + 1) * 0.25)),
        *((x, 49) for i in reversed(range(7)) for x in ((i + 1) * 0.25, i * 0.25)),
        (0, 55), (None, None),
    ]  # fmt: skip
    assert "fill" not in edge
    assert edge["line"]["width"] < 1
    kinds = [trace["meta"]["kind"] for trace in figure["data"]]
    assert kinds == ["band", "envelope", "mean"]


TICKS = "(pairs) => pairs.map(([high, room]) => wattlas.timeline.linearTicks(0, high, room))"


def test_a_linear_axis_has_a_tick_besides_zero_and_all_ticks_fit(drawing: Page) -> None:
    highs = (1e-7, 0.9, 1.06, 4.9, 9.99, 106.0, 1.9e3, 2.1e3)
    asked = list(product(highs, (2, 3, 5)))
    for (high, room), ticks in zip(asked, drawing.evaluate(TICKS, asked), strict=True):
        assert ticks[0] == 0
        assert 0 < ticks[-1] <= high < 2 * ticks[-1] + ticks[1]
        steps = [b - a for a, b in pairwise(ticks)]
        assert steps == pytest.approx([ticks[1]] * len(steps))
        assert len(ticks) <= max(room, 3)


def test_each_series_has_a_row_with_title_and_unit(drawing: Page) -> None:
    values = {name: {"mean": [1.0, 2.0, 3.0, 4.0]} for name in ("gap", "rx", "tx", "interrupts")}
    figure = draw(drawing, scene([run("a", values)], [BYTES, RATE, GAP]))
    rows = figure["layout"]["meta"]["rows"]
    assert [(r["panel"], r["series"]) for r in rows] == [
        ("bytes", "rx"), ("bytes", "tx"), ("interrupts", "interrupts"), ("gap", "gap"),
    ]  # fmt: skip
    assert "<b>Bytes, RX</b>, B" in words(figure)
    assert "<b>Interrupts</b>, 1/s" in words(figure)
    domains = [r["domain"] for r in rows]
    assert all(high[0] > low[1] for high, low in pairwise(domains))
    assert {t["xaxis"] for t in figure["data"]} == {"x"}
    assert figure["layout"]["xaxis"]["range"] == [0, 1]


def test_a_run_keeps_its_hue_and_letter_everywhere(drawing: Page) -> None:
    values = {"gap": {"mean": [40.0] * 4, "max": [90.0] * 4}, "interrupts": {"mean": [9.0] * 4}}
    hist = {"gap": {"lo": [10], "hi": [20], "count": [5], "unit": "us", "itr_us": None}}
    runs = [run("a", values, hist=hist), run("b", values, hist=hist)]
    drawn = scene(runs, [RATE, GAP], hues=[2, 0])
    figure = draw(drawing, drawn)
    hues = {r: {t["line"]["color"] for t in traces(figure, "mean", run=r)} for r in ("a", "b")}
    assert hues == {"a": {"#009E73"}, "b": {"#0072B2"}}
    side = draw(drawing, drawn, "timeline-gaps")
    assert [t["line"]["color"] for t in side["data"]] == ["#009E73", "#0072B2"]
    assert len({t["line"]["dash"] for t in side["data"]}) == 2  # not by colour alone
    assert words(figure).count("A") == words(figure).count("B") == 2


def test_stacked_runs_have_rows_of_their_own_and_one_scale(drawing: Page) -> None:
    runs = [run("a", {"interrupts": {"mean": [1.0, 2.0, 3.0, 4.0]}}),
            run("b", {"interrupts": {"mean": [10.0, 20.0, 30.0, 100.0]}})]  # fmt: skip
    figure = draw(drawing, scene(runs, [RATE], layout="stacked"))
    assert [r["runs"] for r in figure["layout"]["meta"]["rows"]] == [[0], [1]]
    ranges = [figure["layout"][name]["range"] for name in ("yaxis", "yaxis2")]
    assert ranges[0] == ranges[1] == [0, pytest.approx(106)]
    assert [t["yaxis"] for t in traces(figure, "mean")] == ["y", "y2"]
    assert "<b>B</b> b" in words(figure)


def test_an_empty_bin_is_a_gap_in_the_line_and_a_single_bin_a_step(drawing: Page) -> None:
    mean = [5.0, NOT_MEASURED, 7.0, NOT_MEASURED]
    figure = draw(drawing, scene([run("a", {"gap": {"mean": mean, "max": mean}})], [GAP]))
    (line,) = traces(figure, "mean")
    assert list(zip(line["x"], line["y"], strict=True)) == [
        (0, 5), (0.25, 5), (0.375, None), (0.5, 7), (0.75, 7), (0.875, None),
    ]  # fmt: skip
    (edge,) = traces(figure, "envelope")
    assert 0 not in edge["y"]
    assert edge["y"].count(None) == 2


def test_few_interrupts_are_drawn_one_by_one(drawing: Page) -> None:
    raw = {"t_s": [0.1, 0.2], "core": [0, 1], "gap_us": [NOT_MEASURED, 52.0],
           "rx_desc": [1, 2], "rx_bytes": [66, 132], "tx_desc": [0, 0],
           "tx_bytes": [0, 0]}  # fmt: skip
    values = {name: {"mean": [1.0] * 4, "max": [2.0] * 4} for name in ("gap", "rx", "tx")}
    figure = draw(drawing, scene([run("a", values, raw=raw)], [BYTES, GAP]))
    assert [t["y"] for t in traces(figure, "raw")] == [[66, 132], [0, 0], ["NaN", 52]]
    assert [t["x"] for t in traces(figure, "raw")] == [[0.1, 0.2]] * 3
    assert traces(figure, "envelope") == []


def test_rates_of_few_interrupts_are_a_tick_an_interrupt(drawing: Page) -> None:
    raw = {"t_s": [0.1, 0.2], "core": [0, 1], "gap_us": [9.0, 52.0], "rx_desc": [1, 0],
           "rx_bytes": [66, 0], "tx_desc": [0, 0], "tx_bytes": [0, 0]}  # fmt: skip
    values = {"interrupts": {"mean": [4.0, 0.0, 8.0, 0.0, 0.0]}, "rx_rate": {"mean": [5.0] * 5}}
    panels = [RATE, panel("byte_rate", "B/s", "rx_rate")]
    runs = [run(name, values, 5, raw=raw) for name in "ab"]
    figure = draw(drawing, scene(runs, panels))
    first, second, received, _ = traces(figure, "event")
    assert first["x"] == second["x"] == [0.1, 0.1, None, 0.2, 0.2, None]
    assert received["x"] == [0.1, 0.1, None]
    # Each run has its lane, the first on top.
    assert min(first["y"][:2]) > max(second["y"][:2])
    assert traces(figure, "mean") == []
    assert figure["layout"]["yaxis"]["tickvals"] == []
    assert "<b>Interrupts</b>, a tick an interrupt" in words(figure)
    # Bins that mostly hold interrupts are a line.
    few = [run("a", values, 4, raw=raw), run("b", values, 5, raw=raw)]
    assert traces(draw(drawing, scene(few, panels)), "event") == []


def test_heatmaps_share_one_scale(drawing: Page) -> None:
    def heat(*z: float) -> dict:
        return {"rows": ["core 0", "core 1"], "z": list(z), "shape": [2, 2], "t0": 0, "dt": 0.5}

    runs = [run("a", {}, heat=heat(1, 2, 3, 4)), run("b", {}, heat=heat(9, 0, 0, 5))]
    figure = draw(drawing, scene(runs, []))
    first, second = traces(figure, "heat")
    assert first["z"] == [[1, 2], [3, 4]]
    assert first["zmax"] == second["zmax"] == 9
    assert (first["x0"], first["dx"]) == (0.25, 0.5)
    assert first["showscale"] != second["showscale"]
    assert "<b>A</b> a" in words(figure)


def test_a_heatmap_of_gaps_has_a_logarithmic_scale(drawing: Page) -> None:
    heat = {"rows": ["core 0", "core 1"], "z": [10, 100, NOT_MEASURED, 2000], "shape": [2, 2],
            "t0": 0, "dt": 0.5}  # fmt: skip
    drawn = scene([run("a", {}, heat=heat)], [])
    drawn["answer"]["heat"] = {"name": "gap", "title": "Longest gap", "unit": "us", "log": True}
    (trace,) = traces(draw(drawing, drawn), "heat")
    assert trace["z"] == [[1, 2], [NOT_MEASURED, pytest.approx(3.30103)]]
    assert (trace["zmin"], trace["zmax"]) == (1, pytest.approx(3.30103))
    bar = trace["colorbar"]
    assert (bar["tickvals"], bar["ticktext"]) == ([1, 2, 3], ["10 us", "100 us", "1 ms"])


def test_power_is_drawn_by_package(drawing: Page) -> None:
    power = [
        {"name": f"package {p}", "series": {"power": {"mean": [30.0 + p] * 4}}} for p in (0, 1)
    ]
    figure = draw(drawing, scene([run("a", {}, power=power)], [panel("power", "W", "power")]))
    means = traces(figure, "mean", panel="power")
    assert [(t["meta"]["group"], t["y"][0]) for t in means] == [
        ("package 0", 30),
        ("package 1", 31),
    ]
    assert len({t["line"]["color"] for t in means}) == 2
    assert {"A p0", "A p1"} <= set(words(figure))


def test_a_run_with_a_problem_does_not_affect_the_others(drawing: Page) -> None:
    good = run("b", {"interrupts": {"mean": [1.0] * 4}})
    bad = {"run_id": "a", "label": "a", "short": "a", "problem": "its file is gone"}
    figure = draw(drawing, scene([bad, good], [RATE, GAP]))
    assert {t["meta"]["run"] for t in figure["data"]} == {"b"}
    assert "B" in words(figure)


def test_the_itr_is_a_line_across_the_gaps(drawing: Page) -> None:
    values = {"gap": {"mean": [60.0] * 4}}
    figure = draw(drawing, scene([run("a", values), run("b", values)], [GAP]))
    (line,) = figure["layout"]["shapes"]  # run a is adaptive
    assert (line["y0"], line["y1"]) == (50, 50)
    assert line["line"]["color"].startswith("rgba(213,94,0")


def test_with_too_many_cores_to_name_the_runs_are_named(drawing: Page) -> None:
    groups = [
        {"name": f"core {c}", "cores": [c], "count": [1] * 4,
         "series": {"interrupts": {"mean": [1.0 + c] * 4}}} for c in range(8)
    ]  # fmt: skip
    drawn = scene([run(name, {}, groups=groups) for name in "ab"], [RATE, GAP])
    assert "A c0" in words(draw(drawing, drawn))
    drawn["roomPx"] = 160
    small = words(draw(drawing, drawn))
    assert {"A", "B"} <= set(small)
    assert "A c0" not in small


def test_axes_of_gaps_have_ticks_for_any_range(drawing: Page) -> None:
    for low, high, first in ((14.0, 40.0, "20 us"), (1.0, 2e6, "1 us")):
        values = {"gap": {"mean": [low, high] * 2, "max": [high] * 4, "min": [low] * 4}}
        axis = draw(drawing, scene([run("a", values)], [GAP]))["layout"]["yaxis"]
        assert axis["ticktext"][0] == first
        assert 1 <= len(axis["tickvals"]) <= 30
        assert len(axis["tickvals"]) == len(axis["ticktext"])


@pytest.mark.parametrize(("theme", "paper"), [("light", "#ffffff"), ("dark", "#16191d")])
def test_words_of_each_hue_have_enough_contrast(drawing: Page, theme: str, paper: str) -> None:
    drawn = {"hues": HUES, "theme": theme, "state": {"hues": list(range(6))}}
    inks = drawing.evaluate(
        "(scene) => scene.hues.map((_, k) => wattlas.timeline.textColor(scene, k))", drawn
    )
    assert len(set(inks)) == 6
    assert min(contrast(ink, paper) for ink in inks) >= 4.5


def contrast(one: str, other: str) -> float:
    """Contrast of two colours as WCAG 2 defines it."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    r, g, b = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_shares_add_up_and_mark_the_delay(drawing: Page) -> None:
    # 30 gaps in one step of the logarithm; 10 in a bin of two decades, shared over its 48 steps.
    hist = {"gap": {"lo": [50, 100], "hi": [51, 10_000], "count": [30, 10], "unit": "us",
                    "itr_us": 50}}  # fmt: skip
    figure = draw(drawing, scene([run("a", {}, hist=hist)], [], itr=(50,)), "timeline-gaps")
    (shares,) = figure["data"]
    steps = shares["y"][1:-1:2]
    assert sum(steps) == pytest.approx(100)
    assert max(steps) == pytest.approx(75)
    assert steps[-1] == pytest.approx(25 / 48)
    assert shares["meta"]["total"] == 40
    (mark,) = figure["layout"]["shapes"]
    assert (mark["x0"], mark["x1"]) == (50, 50)
    assert "A ITR 50 us" in words(figure)
    assert figure["layout"]["xaxis"]["type"] == "log"


def test_a_picture_for_papers_has_all_distributions(drawing: Page) -> None:
    part = {"lo": [66], "hi": [67], "count": [3], "unit": "bytes", "itr_us": 50}
    hist = dict.fromkeys(("gap", "rx_bytes", "tx_bytes"), part)
    drawn = scene([run("a", {}, hist=hist), run("b", {}, hist=hist)], [])
    figure = draw(drawing, drawn, "timeline-distributions")
    assert [(t["meta"]["quantity"], t["yaxis"]) for t in figure["data"]] == [
        ("gap", "y"), ("gap", "y"), ("rx_bytes", "y2"), ("rx_bytes", "y2"),
        ("tx_bytes", "y3"), ("tx_bytes", "y3"),
    ]  # fmt: skip


def test_received_and_sent_bytes_have_one_plot_each(drawing: Page) -> None:
    part = {"lo": [66], "hi": [67], "count": [3], "unit": "bytes"}
    figure = draw(
        drawing, scene([run("a", {}, hist={"rx_bytes": part, "tx_bytes": part})], []),
        "timeline-sizes",
    )  # fmt: skip
    assert [(t["meta"]["quantity"], t["yaxis"]) for t in figure["data"]] == [
        ("rx_bytes", "y"), ("tx_bytes", "y2"),
    ]  # fmt: skip
