"""Figures for papers: files are vector, in the size asked for, and hold what is drawn."""

import ast
import csv
import itertools
import json
import os
import re
import subprocess
import sys
import zipfile
import zlib
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.kit.paper import vector
from app.kit.paper.axes import Axis, ticks_of
from app.kit.paper.calls import Call, Plan
from app.kit.paper.child import made
from app.kit.paper.figure import FigureError, array, colour, plain
from app.kit.paper.options import MM_PT, Options, read_options
from app.kit.paper.order import Drawers
from app.kit.paper.plan import plan_of
from bench.paper import packed, scatter_figure, timeline_figure
from data.errors import BusyError

CAPTION = "Energy against latency.\nn = 4 runs; lake grid, version 0; wattlas."
RED, BLUE = "#d55e00", "#0072b2"


def everything() -> dict[str, Any]:
    """Two panels beside each other, over a map; each kind of trace that the pages draw."""
    band = [1.0, 10.0, 100.0, 100.0, 10.0, 1.0, None, 1, 10, 10]
    return {
        "data": [
            {"type": "scatter", "mode": "lines", "x": band, "y": [1, 2, 3, 5, 4, 3, None, 1, 1, 2],
             "fill": "toself", "fillcolor": "rgba(0,114,178,0.2)", "line": {"width": 0}},
            {"type": "scatter", "mode": "lines+markers", "name": "library OS", "showlegend": True,
             "x": [1.0, 10.0, 100.0], "y": [1.0, 2.0, 4.0],
             "line": {"shape": "hv", "color": BLUE, "width": 1.5},
             "error_y": {"array": [0.5, 0.5, 0.5], "arrayminus": [0.25, 0.25, 0.25],
                         "symmetric": False}},
            {"type": "scattergl", "mode": "markers", "name": "runs", "x": packed([2, 20, 50, 500]),
             "y": packed([2, 3, 4, 5]), "selectedpoints": [1], "showlegend": True,
             "unselected": {"marker": {"opacity": 0.2}},
             "marker": {"color": [1.2, 1.9, 2.9, 2.9], "coloraxis": "coloraxis",
                        "symbol": "diamond", "size": [5, 9, 11, 17],
                        "line": {"width": 1, "color": "#ffffff"}}},
            {"type": "bar", "x": ["read", "write"], "y": [3, 4], "xaxis": "x2", "yaxis": "y2",
             "name": "block", "marker": {"color": RED}},
            {"type": "bar", "x": ["read", "write"], "y": [1, 2], "xaxis": "x2", "yaxis": "y2",
             "name": "nvme", "marker": {"color": BLUE, "pattern": {"shape": "/"}}},
            {"type": "heatmap", "z": [[1, 2, None], [4, 5, 6]], "xaxis": "x3", "yaxis": "y3",
             "xgap": 1, "text": [["one", "two", ""], ["four", "five", "six"]],
             "texttemplate": "%{text}", "colorscale": [[0, BLUE], [1, RED]], "showscale": False},
            {"type": "scatter", "mode": "markers", "x": [None], "y": [None], "name": "<b>best</b>",
             "showlegend": True, "marker": {"symbol": "cross-thin-open", "size": 9, "color": RED}},
        ],
        "layout": {
            "title": {"text": "Energy against latency<br>means"},
            "font": {"size": 11}, "margin": {"l": 50, "r": 50, "t": 50, "b": 50},
            "barmode": "stack", "showlegend": False,
            "coloraxis": {"colorscale": "Cividis", "cmin": 1, "cmax": 3, "showscale": True,
                          "colorbar": {"title": {"text": "DVFS, GHz"}}},
            "xaxis": {"domain": [0, 0.45], "type": "log", "range": [0, 2], "anchor": "y",
                      "title": {"text": "p99 latency, us"}},
            "yaxis": {"domain": [0.55, 1], "anchor": "x", "title": {"text": "Energy, J"}},
            "xaxis2": {"domain": [0.55, 1], "anchor": "y2"},
            "yaxis2": {"domain": [0.55, 1], "anchor": "x2"},
            "xaxis3": {"domain": [0, 1], "anchor": "y3", "tickvals": [0, 1, 2],
                       "ticktext": ["1 KiB", "4 KiB", "16 KiB"]},
            "yaxis3": {"domain": [0, 0.4], "anchor": "x3", "autorange": "reversed"},
            "annotations": [
                {"text": "<b>random reads</b>", "xref": "paper", "yref": "paper", "x": 0.2, "y": 1,
                 "yanchor": "bottom", "showarrow": False},
                {"text": "saturated", "x": 1, "y": 4, "ax": 20, "ay": -20, "showarrow": True},
            ],
            "shapes": [
                {"type": "line", "x0": 50, "x1": 50, "yref": "paper", "y0": 0.55, "y1": 1,
                 "line": {"dash": "dash"}, "label": {"text": "limit 50 us"}},
                {"type": "rect", "x0": 10, "x1": 100, "y0": 1, "y1": 2, "fillcolor": "#eeeeee"},
            ],
        },
    }  # fmt: skip


def written(form: str, figure: Any = None, **options: Any) -> bytes:
    question = {
        "figure": figure or everything(), "size_px": [700, 500], "caption": CAPTION,
        "options": {"format": form, **options}, "maker": "wattlas 0",
    }  # fmt: skip
    return made(question)


def planned(figure: Any, **options: Any) -> Plan:
    return plan_of(figure, (700, 500), Options(**options))


def calls(plan: Plan, method: str) -> list[Call]:
    return [call for call in plan.calls if call.method == method]


WORDS = (
    "p99 latency, us", "Energy, J", "DVFS, GHz", "library OS", "runs", "best", "random reads",
    "saturated", "limit 50 us", "read", "write", "four", "16 KiB",
)  # fmt: skip


@pytest.mark.parametrize(("width", "family"), [(85, "sans"), (120.5, "serif")])
def test_svg_is_vector_with_its_texts_as_text(width: float, family: str) -> None:
    svg = written("svg", width_mm=width, family=family, font_pt=7).decode()
    assert "<image" not in svg
    assert "data:image" not in svg
    size = re.search(r'<svg[^>]* width="([\d.]+)pt"', svg)
    assert size
    assert float(size[1]) == pytest.approx(width * MM_PT, abs=0.01)
    texts = re.findall(r"<text [^>]*>([^<]*)</text>", svg)
    assert set(WORDS) <= set(texts)
    name = {"sans": "DejaVu Sans", "serif": "STIXGeneral"}[family]
    fonts = set(re.findall(r"font-size: ([\d.]+)px; font-family: '?([\w ]+)", svg))
    assert {family for _, family in fonts} == {name}
    assert max(float(size) for size, _ in fonts) == 7
    assert "n = 4 runs" in svg
    if family == "sans":
        assert svg == written("svg", width_mm=width, family=family, font_pt=7).decode()


def test_points_of_12_000_rows_are_small_files() -> None:
    count = 12_000
    svg, pdf = (written(form, scatter_figure(count)) for form in ("svg", "pdf"))
    assert len(svg) <= 300_000
    assert len(pdf) <= 300_000
    marks = sum(
        path.upper().count("M") for path in re.findall(r'<path d="([^"]*)" fill="#', svg.decode())
    )
    assert marks >= count


def test_a_timeline_of_three_runs_is_a_small_file_and_keeps_its_extremes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a grid of 360 dots an inch; cells of one colour are one path, as wide as they were."""
    figure = timeline_figure(512)
    high, at = array(figure["data"][0]["y"])[:512], 100
    high[at] = 2 * high.max()
    figure["data"][0]["y"] = [*high, *array(figure["data"][0]["y"])[512:-1], high[0]]
    svg = written("svg", figure, width_mm=178).decode()
    assert len(svg) <= 300_000
    assert len(written("pdf", figure, width_mm=85)) <= 300_000
    band = re.search(r'd="M0 0m([^"]*?)z?" fill="#0072b2" fill-opacity', svg)
    assert band
    steps = [tuple(map(int, re.findall(r"-?\d+", one))) for one in _pairs(band[1])]
    y = np.cumsum([step[1] for step in steps])
    x = np.cumsum([step[0] for step in steps])
    panel = x.max() - x.min()
    assert (x[y.argmin()] - x.min()) / panel == pytest.approx(at / 511, abs=2 / 2000)
    seen = _seen(svg)
    monkeypatch.setattr(vector, "_layers", lambda cells: [cells])
    plain = written("svg", figure, width_mm=178).decode()
    assert len(svg) < len(plain)
    assert seen == _seen(plain)
    lengths = [len(row) for row in seen.values()]
    assert sum(lengths) == pytest.approx(3 * 11 * panel * 512 / 511, rel=0.01)


def _pairs(steps: str) -> list[str]:
    return re.findall(r"-?\d+(?: |(?=-))-?\d+", steps.replace("l", " "))


def _seen(svg: str) -> dict[float, dict[int, str]]:
    """Return the colours of each row of cells, by place: later cells hide earlier ones."""
    rows: dict[float, dict[int, str]] = {}
    shown = r'<path d="([^"]*)" stroke="(#[^"]*)"(?: stroke-width="\d+")?/>'
    for steps, hue in re.findall(shown, svg):
        x, y = 0, 0.0
        for right, down, wide in re.findall(r"[Mm](-?\d+) ?(-?[\d.]+)h(\d+)", steps):
            x, y = x + int(right), y + float(down)
            rows.setdefault(y, {}).update(dict.fromkeys(range(x, x + int(wide)), hue))
            x += int(wide)
    return rows


def test_points_are_where_they_were_and_in_their_colours() -> None:
    plan = planned(everything())
    (points,) = calls(plan, "points")
    _, x, y, area, hues = points.args
    assert points.options["marker"] == "D"
    assert plan.column(x).tolist() == [2, 20, 50]  # 500 is beyond the axis
    assert plan.column(y).tolist() == [2, 3, 4]
    colours = plan.column(hues["c"]).tolist()
    assert [len(one) for one in colours] == [9, 7, 9]  # those that are not selected are faint
    assert {one[7:] for one in colours} == {"33", ""}
    edges = plan.column(hues["edgecolors"]).tolist()
    assert edges == ["#ffffff33", "#ffffff", "#ffffff33"]
    assert plan.column(area).tolist() == pytest.approx(
        [(0.92 * d * 8 / 11) ** 2 for d in (5, 9, 11)], abs=0.01
    )


def test_bars_stand_on_each_other_and_cells_have_their_values() -> None:
    plan = planned(everything())
    first, second = calls(plan, "bar")
    assert plan.column(first.options["bottom"]).tolist() == [0, 0]
    assert plan.column(second.options["bottom"]).tolist() == [3, 4]
    assert plan.column(second.args[0]).tolist() == [0, 1]
    (mesh,) = calls(plan, "mesh")
    _, x, y, z = mesh.args
    assert plan.column(x).tolist() == [0, 1, 2, 0, 1, 2]
    assert plan.column(y).tolist() == [0, 0, 0, 1, 1, 1]
    assert plan.column(z).tolist()[3:] == [4, 5, 6]
    (errors,) = calls(plan, "errorbar")
    below, above = (plan.column(one).tolist() for one in errors.options["yerr"])
    assert (below, above) == ([0.25] * 3, [0.5] * 3)


def test_panels_do_not_overlap_and_lie_inside() -> None:
    plan = planned(everything())
    from app.kit.paper.room import draw

    figure = draw(plan)
    wide, high = figure.get_size_inches() * 72
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    for at, box in enumerate(boxes):
        assert box is not None
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= wide + 1
        assert box.y1 <= high + 1
        for other in boxes[at + 1 :]:
            assert other is not None
            assert min(box.x1, other.x1) <= max(box.x0, other.x0) + 1 or (
                min(box.y1, other.y1) <= max(box.y0, other.y0) + 1
            )


def panels_of(count: int, heading: str, **parts: Any) -> dict[str, Any]:
    """Panels side by side, each with a heading above it."""
    layout: dict[str, Any] = {"annotations": []}
    traces = []
    for at in range(count):
        end = "" if at == 0 else str(at + 1)
        ends = [at / count, (at + 0.8) / count]
        layout[f"xaxis{end}"] = {"domain": ends, "anchor": f"y{end}"}
        layout[f"yaxis{end}"] = {"anchor": f"x{end}"}
        traces.append({"x": [1, 2], "y": [1, 2], "xaxis": f"x{end}", "yaxis": f"y{end}"})
        note = {"text": f"<b>{heading} {at}</b>", "x": ends[0], "y": 1, "xref": "paper"}
        layout["annotations"].append({**note, "yref": "paper", "yanchor": "bottom"})
    return {"data": [{"type": "scatter", **one, **parts} for one in traces], "layout": layout}


def test_headings_are_wrapped_and_take_no_width_from_panels() -> None:
    plan = planned(panels_of(3, "NetPIPE, 512 KiB messages"))
    from app.kit.paper.room import draw

    axes = draw(plan).axes
    widths = [one.get_window_extent().width for one in axes]
    assert max(widths) <= 1.1 * min(widths)
    assert sum(widths) > 0.5 * 85 * MM_PT
    texts = [one.texts[0] for one in axes]
    assert [" ".join(text.get_text().split()) for text in texts] == [
        f"NetPIPE, 512 KiB messages {at}" for at in range(3)
    ]
    boxes = [text.get_window_extent() for text in texts]
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))
    assert boxes[-1].x1 < 85 * MM_PT


def test_notes_of_a_panel_do_not_cover_each_other() -> None:
    """Two above it at either end, two at one point, and names of two values that are close."""
    above = {"xref": "x domain", "yref": "y domain", "y": 1, "yanchor": "bottom"}
    close = [{"text": f"run {name}", "x": 5, "y": 5} for name in "AB"]
    figure = {
        "data": [{"type": "scatter", "x": [0, 9], "y": [0, 9]},
                 {"type": "scatter", "mode": "text", "x": [1, 1], "y": [4, 4.1],
                  "text": ["p90", "p99"], "textposition": "middle right"}],
        "layout": {"annotations": [
            {"text": "Interrupts a second by core, 1/s", **above, "x": 0, "xanchor": "left"},
            {"text": "A Library OS, ITR 6 us, 2.2 GHz", **above, "x": 1, "xanchor": "right"},
            *({**note, "showarrow": False} for note in close)]},
    }  # fmt: skip
    from app.kit.paper.room import draw

    boxes = [text.get_window_extent() for text in draw(planned(figure)).axes[0].texts]
    assert len(boxes) == 6
    for a, b in itertools.combinations(boxes, 2):
        assert a.x1 < b.x0 + 1 or b.x1 < a.x0 + 1 or a.y1 < b.y0 + 1 or b.y1 < a.y0 + 1


@pytest.mark.parametrize(("lines", "is_above"), [(2, False), (9, True)])
def test_a_note_that_hangs_in_a_panel_stands_above_it_where_it_would_cover_it(
    lines: int, is_above: bool
) -> None:
    figure = panels_of(1, "reads")
    text = "<br>".join(["0.2 + 0.3 x"] * lines)
    hung = {"text": text, "xref": "x domain", "yref": "paper", "x": 0, "y": 1, "yanchor": "top"}
    figure["layout"]["annotations"].append({**hung, "xanchor": "left"})
    from app.kit.paper.room import draw

    (axes,) = draw(planned(figure, height_mm=60)).axes
    heading, note = (text.get_window_extent() for text in axes.texts)
    top = axes.get_window_extent().y1
    assert (note.y0 > top - 2, note.y1 < top + 2) == (is_above, not is_above)
    assert heading.y0 > note.y1 - 2


def test_the_name_of_a_line_stands_where_there_is_room() -> None:
    figure = panels_of(1, "")
    line = {"type": "line", "x0": 1.99, "x1": 1.99, "yref": "paper", "y0": 0, "y1": 1}
    label = {"text": "limit 500 us", "xanchor": "left", "textposition": "end", "yanchor": "top"}
    figure["layout"]["shapes"] = [{**line, "label": label}]
    (limit,) = [c for c in calls(planned(figure), "annotate") if c.args[0] == "limit 500 us"]
    assert (limit.options["ha"], limit.options["xytext"][0] < 0) == ("right", True)


def test_a_long_legend_has_columns_and_takes_a_third_at_most() -> None:
    from app.kit.paper.room import draw

    names = [f"coalescing by count, series {at}" for at in range(15)]
    lines = [
        {"type": "scatter", "x": [1, 2], "y": [1, at], "name": n} for at, n in enumerate(names)
    ]
    plan = planned({"data": lines, "layout": {}})
    (legend,) = draw(plan).legends
    assert plan.legend_columns == 2
    assert legend.get_window_extent().height < 0.4 * (plan.size_pt[1] or 0)
    long = [{"type": "scatter", "x": [1], "y": [1], "name": 9 * "2.2 GHz, NetPIPE "}]
    plan = planned({"data": [{**one, "showlegend": True} for one in long], "layout": {}})
    (legend,) = draw(plan).legends
    assert legend.get_window_extent().x1 < 85 * MM_PT


@pytest.mark.parametrize(("columns", "width", "has_digits"), [(20, 85, False), (20, 178, True)])
def test_digits_are_left_out_where_cells_are_narrow(
    columns: int, width: float, has_digits: bool
) -> None:
    rows = [["2.98"] * columns] * 2
    cells = {"type": "heatmap", "z": [[1.0] * columns] * 2, "text": rows}
    figure = {"data": [{**cells, "texttemplate": "%{text}", "showscale": False}], "layout": {}}
    plan = planned(figure, width_mm=width)
    assert bool(calls(plan, "write")) is has_digits


# Reads what the script drew, in the process that ran it.
_RUN = """
import json, runpy, sys
sys.argv = ["figure.py", "out.svg"]
made = runpy.run_path("figure.py")
offsets = [c.get_offsets().tolist() for a in made["fig"].axes for c in a.collections
           if type(c).__name__ == "PathCollection"]
lines = [line.get_xydata().tolist() for a in made["fig"].axes for line in a.lines]
ours = [n for n in sys.modules if n.split(".")[0] in ("app", "data", "plotly", "polars", "dash")]
json.dump({"points": offsets, "lines": lines, "ours": ours}, sys.stdout)
"""


def test_the_script_draws_what_the_table_beside_it_holds(tmp_path: Path) -> None:
    zipfile.ZipFile(BytesIO(written("script"))).extractall(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "caption.txt", "figure.csv", "figure.py"]  # fmt: skip
    assert (tmp_path / "caption.txt").read_text() == f"{CAPTION}\n"
    environment = {"MPLCONFIGDIR": str(tmp_path), "MPLBACKEND": "agg", "PATH": os.environ["PATH"]}
    answer = subprocess.run(
        [sys.executable, "-I", "-c", _RUN],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(answer.stdout)
    assert found["ours"] == []
    assert (tmp_path / "out.svg").read_text().count("<text ") > 20
    table = list(csv.DictReader(StringIO((tmp_path / "figure.csv").read_text())))
    held = [[float(row["x"]), float(row["y"])] for row in table if row["title"] == "runs"]
    assert held == [[2, 2], [20, 3], [50, 4]]
    assert sorted(p for drawn in found["points"] for p in drawn if p in held) == held
    line = [[float(r["x"]), float(r["y"])] for r in table if r["title"] == "library OS"]
    assert line == [[1, 1], [10, 2], [100, 4]]
    assert line in found["lines"]


ALLOWED = {
    "numbers", "texts", "fill", "points", "write", "mesh", "scale", "bar_of", "Line2D",
}  # fmt: skip
HOSTILE = "x'); __import__('os').system('id') #\n\"\"\"\\"


def test_no_text_of_a_figure_becomes_code() -> None:
    figure = everything()
    for trace in figure["data"]:
        trace["name"] = HOSTILE
        trace.setdefault("marker", {}).setdefault("symbol", HOSTILE)
        trace["line"] = {**trace.get("line", {}), "dash": HOSTILE}
    figure["layout"]["xaxis"]["title"] = {"text": HOSTILE}
    figure["layout"]["annotations"][0]["text"] = HOSTILE
    figure["data"][3]["x"] = [HOSTILE, "=1+1"]
    question = {
        "figure": figure, "size_px": [700, 500], "caption": HOSTILE,
        "options": {"format": "script"}, "maker": "wattlas 0",
    }  # fmt: skip
    archive = zipfile.ZipFile(BytesIO(made(question)))
    body = ast.parse(archive.read("figure.py").decode()).body
    drawn = body[next(i for i, n in enumerate(body) if ast.unparse(n).startswith("fig = ")) :]
    for node in drawn:
        for part in ast.walk(node):
            assert not isinstance(part, (ast.Import, ast.Lambda))
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
                assert part.func.id in ALLOWED | {"len"}
    assert "__import__" in ast.unparse(body[0])  # the caption, as a text
    table = csv.DictReader(StringIO(archive.read("figure.csv").decode()))
    assert not any(
        cell[:1] in "=+-@" for row in table for cell in (row["title"], row["text"]) if cell
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"data": []}, "nothing is drawn"),
        ({"data": 3}, "no list of traces"),
        ({"data": [{"type": "pie", "values": [1]}]}, "a trace of type 'pie'"),
        ({"data": [{"type": "heatmap", "z": [[1, 2], [3]]}]}, "different lengths"),
        ({"data": [{"x": [1, {}], "y": [1, 2]}]}, "is no number"),
        ({"data": [{"x": {"dtype": "f8", "bdata": "AAAA"}, "y": [1]}]}, "damaged"),
        ({"data": [{"x": {"dtype": "O", "bdata": ""}, "y": [1]}]}, "of type 'O'"),
        ({"data": [{"x": [1], "y": [1]}] * 601}, "601 traces"),
        ({"data": [{"mode": "text", "x": [1] * 4001, "y": [1] * 4001, "text": "a"}]}, "texts"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused_with_the_part(change: Any, words: str) -> None:
    with pytest.raises(FigureError, match=words):
        written("svg", {"layout": {}, **change})


@pytest.mark.parametrize(
    "given",
    [{"format": "exe"}, {"width_mm": 4000}, {"width_mm": "85"}, {"font_pt": True},
     {"has_title": 1}, {"code": "1"}, {"height_mm": 5}, []],
)  # fmt: skip
def test_options_out_of_bounds_are_refused(given: Any) -> None:
    with pytest.raises(FigureError):
        read_options(given)


def test_options_have_defaults_of_one_column() -> None:
    assert read_options({"height_mm": None}) == Options()
    assert read_options({"font_pt": 9, "format": "svg"}).font_pt == 9


@pytest.mark.parametrize(
    ("text", "found"),
    [("#ABC", "#aabbcc"), ("rgba(0, 114, 178, 0.5)", "#0072b280"), ("rgb(1,2,3)", "#010203"),
     ("rgba(0,0,0,0)", "#00000000"), ("url(x)", "#1f2328"), (None, "#1f2328"),
     ("white", "#ffffff")],
)  # fmt: skip
def test_colours_of_css(text: Any, found: str) -> None:
    assert colour(text) == found


def test_texts_lose_their_tags_and_keep_their_signs() -> None:
    assert plain('a &lt; b<br><span style="color:#000">c</span> $x_1$ \x00') == "a < b\nc $x_1$ "


def test_arrays_of_a_browser() -> None:
    square = {**packed([1, 2, 3, 4], "i4"), "shape": "2, 2"}
    assert array(square).tolist() == [[1, 2], [3, 4]]
    assert array([packed([1, 2]), packed([3, 4])]).tolist() == [[1, 2], [3, 4]]
    assert np.isnan(array([1, None])[1])


@pytest.mark.parametrize(
    ("kind", "ends", "labels"),
    [("linear", (0.0, 1e6), ["0", "200k", "400k", "600k", "800k", "1M"]),
     ("log", (1.0, 1e4), ["1", "10", "100", "1k", "10k"]),
     ("log", (20.0, 300.0), ["20", "50", "100", "200"])],
)  # fmt: skip
def test_ticks(kind: str, ends: tuple[float, float], labels: list[str]) -> None:
    axis = Axis("x", {}, kind, ends=ends)
    found = ticks_of(axis, 240, 8)
    assert [label for label in found.labels if label] == labels


def test_labels_that_would_touch_are_left_out() -> None:
    spec = {"tickvals": [1, 1.1, 2, 3], "ticktext": ["1.0", "1.1", "2.0", "3.0"]}
    assert ticks_of(Axis("x", spec, ends=(1, 3)), 100, 8).labels == ["1.0", "", "2.0", "3.0"]


def test_a_process_draws_and_says_why_it_cannot() -> None:
    drawers = Drawers()
    pdf = drawers.file_of(everything(), (700, 500), Options(), CAPTION)
    assert pdf.startswith(b"%PDF")
    assert zlib.crc32(pdf)
    with pytest.raises(FigureError, match="a trace of type 'pie'"):
        drawers.file_of({"data": [{"type": "pie"}]}, (700, 500), Options(), CAPTION)


def test_a_visitor_draws_one_picture_at_a_time() -> None:
    drawers = Drawers()
    drawers._running["here"] = 1
    with pytest.raises(BusyError, match="another picture"):
        drawers.file_of(everything(), (700, 500), Options(), CAPTION, "here")
