"""Small multiples: which panels there are, and one figure of the figures of several."""

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.kit.joined import join_panels
from app.kit.panels import MOST_PANELS, Split
from data.analysis.coded_rows import Part
from data.catalogue import SHIPPED
from data.selection import Selection


def rows(loads: list[float | None], workloads: list[str] | None = None) -> pl.DataFrame:
    count = len(loads)
    return pl.DataFrame(
        {"load_qps": loads, "system": ["a"] * count, "system_label": ["A"] * count,
         "workload": workloads or ["memcached"] * count, "row": range(count)},
        schema_overrides={"load_qps": pl.Float64},
    )  # fmt: skip


def parted(loads: list[float | None], workloads: list[str] | None = None) -> Part:
    return Part.of(rows(loads, workloads))


LOAD = SHIPPED.knobs["load"]


def test_a_panel_for_each_value_in_order_and_null_last() -> None:
    own = parted([4e5, None, 2e5, 4e5])
    split = Split.of(own, LOAD)
    assert (split.values, split.left_out, split.words()) == ((2e5, 4e5, None), (), "")
    assert split.titles[:2] == ["200k QPS", "400k QPS"]
    assert [part.rows["row"].to_list() for part in split.parts(own)] == [[2], [0, 3], [1]]
    assert split.narrow(Selection(), 4e5).values("load") == (4e5,)
    assert split.narrow(Selection(), None).values("load") == ("none",)
    assert split.links() == [{"facet": "load", "value": v} for v in (2e5, 4e5, "none")]
    less = split.only([True, False, True])
    assert (less.values, len(less.titles)) == ((2e5, None), 2)


def test_of_many_values_the_first_have_panels_and_the_rest_is_named() -> None:
    split = Split.of(parted([1e3 * i for i in range(1, MOST_PANELS + 3)]), LOAD)
    assert len(split.values) == MOST_PANELS
    assert split.words() == "13k QPS, 14k QPS not drawn; filter to see them"
    split = Split.of(parted([1e3 * i for i in range(1, MOST_PANELS + 6)]), LOAD)
    assert split.words() == "13k QPS, 14k QPS, 15k QPS and 2 more not drawn; filter to see them"


def test_of_several_workloads_the_titles_name_them() -> None:
    split = Split.of(parted([2e5, None], ["memcached", "nodejs"]), LOAD)
    assert split.titles == ["memcached, 200k QPS", "node.js"]


def figure(count: int, high: float, scale: float) -> dict[str, Any]:
    points = {
        "type": "scatter", "x": np.arange(count), "y": np.arange(count), "name": "p",
        "meta": {"kind": "points", "rows": {"first": 0, "end": count}},
    }  # fmt: skip
    legend = {"type": "scatter", "x": [None], "y": [None], "name": "A", "meta": {"kind": "legend"}}
    axis = {"type": "linear", "title": {"text": "us"}}
    return {
        "data": [points, legend],
        "layout": {
            "title": {"text": "one"}, "margin": {"l": 62, "r": 8, "t": 46, "b": 46},
            "xaxis": {**axis, "range": [0, high]}, "yaxis": {**axis, "range": [1, high]},
            "coloraxis": {"cmin": scale, "cmax": 2 * scale}, "meta": {"kind": "scatter"},
            "annotations": [{"text": "note", "xref": "paper", "yref": "y", "x": 0.5, "y": 3}],
        },
    }  # fmt: skip


@pytest.mark.parametrize("is_shared", [True, False])
def test_figures_become_panels_of_one(is_shared: bool) -> None:
    split = Split.of(parted([2e5, 4e5, 6e5]), LOAD)
    figures = [figure(3, 10, 1.0), figure(2, 30, 0.5), figure(4, 20, 3.0)]
    joined = join_panels(figures, split, "Energy <J>", "3 loads", is_shared)
    layout = joined["layout"]
    points = [trace for trace in joined["data"] if trace["meta"]["kind"] == "points"]
    assert [(t["xaxis"], t["yaxis"]) for t in points] == [("x", "y"), ("x2", "y2"), ("x3", "y3")]
    rows_of = [t["meta"]["rows"] for t in points]
    assert rows_of == [{"first": 0, "end": 3}, {"first": 3, "end": 5}, {"first": 5, "end": 9}]
    assert [panel["rows"] for panel in layout["meta"]["panels"]] == rows_of
    assert [panel["value"] for panel in layout["meta"]["panels"]] == [2e5, 4e5, 6e5]
    # One legend, one scale, one title, which Plotly shows as it is.
    assert [t["name"] for t in joined["data"] if t["meta"]["kind"] == "legend"] == ["A"]
    assert (layout["coloraxis"]["cmin"], layout["coloraxis"]["cmax"]) == (0.5, 6.0)
    assert layout["title"]["text"].startswith("Energy &lt;J>")
    highs = [layout[f"xaxis{i}"]["range"][1] for i in ("", 2, 3)]
    assert highs == ([30, 30, 30] if is_shared else [10, 30, 20])
    assert layout["xaxis2"].get("matches") == ("x" if is_shared else None)
    # Three panels stand side by side: inner ones have no title along y, and no ticks if shared.
    domains = [layout[f"xaxis{i}"]["domain"] for i in ("", 2, 3)]
    assert all(a[1] < b[0] for a, b in pairwise(domains))
    assert [layout[f"yaxis{i}"]["title"]["text"] for i in ("", 2, 3)] == ["us", "", ""]
    assert layout["yaxis2"].get("showticklabels", True) is not is_shared
    assert (layout["xaxis3"]["anchor"], layout["yaxis3"]["anchor"]) == ("y3", "x3")
    notes = [note for note in layout["annotations"] if note["text"] == "note"]
    assert [note["yref"] for note in notes] == ["y", "y2", "y3"]
    assert notes[1]["x"] == pytest.approx(sum(domains[1]) / 2)
    named = [note["name"] for note in layout["annotations"] if "name" in note]
    assert named == ["panel 0", "panel 1", "panel 2"]
