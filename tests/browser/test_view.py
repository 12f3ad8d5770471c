"""The protocol of views by a toy: three pictures over one table of four rows, one selection."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.atlas import visit, wait_idle

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("own_document")]

# Rows: (a, 1), (a, 2), (b, 1), (b, 2), with two runs each. The dots hold one row each; the bars
# hold the rows of a letter; the map has a cell for each row but the last, which was not measured.
_TOY = """() => {
  for (const id of ["toy-dots", "toy-bars", "toy-map"]) {
    const box = document.createElement("div");
    Object.assign(box, { id });
    box.style.cssText = "position:fixed;top:0;width:300px;height:200px;z-index:9";
    document.body.append(box);
  }
  const knob = (values, ...index) => ({ values, index: { dtype: "u1", bdata: btoa(
    String.fromCharCode(...index)) } });
  const columns = {
    count: 4, knobs: { letter: knob(["a", "b"], 0, 0, 1, 1), number: knob([1, 2], 0, 1, 0, 1) },
    fields: { x: { dtype: "u1", bdata: btoa(String.fromCharCode(1, 2, 3, 4)) },
              y: { dtype: "u1", repeat: 5, count: 4 } },
  };
  const dots = { data: [{ type: "scattergl", mode: "markers", x: [1, 2, 3, 4], y: [5, 5, 5, 5],
      meta: { kind: "points", rows: { first: 0, end: 4 } } }],
    layout: { xaxis: { range: [0, 5] }, yaxis: { range: [0, 9] },
              meta: { kind: "dots", fields: { x: "x", y: "y" } } } };
  const bars = { data: [{ type: "bar", x: ["a", "b"], y: [2, 2],
      meta: { kind: "bars", rows: [[0, 1], [2, 3]], knobs: ["letter"],
              words: [["of a"], ["of b"]] } },
      { type: "scatter", x: ["a", "b"], y: [1, 1], meta: { kind: "line", behind: [2, 3] } }],
    layout: { meta: { kind: "bars" } } };
  const z = [[null, null], [null, null]];
  const map = { data: [{ type: "heatmap", x: ["1", "2"], y: ["a", "b"], z: [[1, 1], [1, null]],
      meta: { kind: "cells" } }, { type: "heatmap", x: ["1", "2"], y: ["a", "b"], z,
      meta: { kind: "veil" } }],
    layout: { xaxis: { type: "category" }, yaxis: { type: "category" }, meta: { kind: "map",
      map: { knobs: ["number", "letter"], xs: [1, 2], ys: ["a", "b"], place: {},
             missing: [[1, 1]] } } } };
  window.told = [];
  window.toy = wattlas.linked({
    views: { dots: { id: "toy-dots" }, bars: { id: "toy-bars" }, map: { id: "toy-map" } },
    changed: (what) => told.push(what),
  });
  toy.open("");
  toy.show("dots", { figure: dots, columns }, "light");
  toy.show("bars", { figure: bars }, "light");
  toy.show("map", { figure: map }, "light");
}"""
_SHOWN = """() => {
  const [dots, bars, map] = ["dots", "bars", "map"].map(toy.plot);
  return {
    dots: dots._fullData[0].selectedpoints ? [...dots._fullData[0].selectedpoints] : null,
    bars: bars.data[0].selectedpoints || null, line: bars.data[1].opacity,
    veil: map.data[1].z.flat(), rows: toy.selected(), clause: toy.clause,
  };
}"""


_MOVE = "([x, y]) => Plotly.relayout(toy.plot('dots'), { 'xaxis.range': x, 'yaxis.range': y })"

_AGAIN = """async () => {
  const { bars } = toy.figures, gd = toy.plot("bars");
  const drawn = { data: bars.data, layout: { ...bars.layout, uirevision: "keep" } };
  toy.show("bars", { figure: drawn }, "light");
  await Plotly.relayout(gd, { "yaxis.range": [0, 1] });
  toy.show("bars", { figure: { data: [], layout: { meta: {} } } }, "light");
  toy.show("bars", { figure: drawn }, "light");
  return [gd._fullLayout.yaxis.range, wattlas.ranges.of("toy-bars")];
}"""


def shown(toy: Page) -> dict[str, Any]:
    wait_idle(toy)
    found: dict[str, Any] = toy.evaluate(_SHOWN)
    return found


def press(toy: Page, view: str, key: str) -> None:
    toy.evaluate(
        """([view, key]) => {
          const panel = Object.assign(document.createElement("section"), {});
          panel.dataset.view = view;
          toy.key({ target: panel, key });
        }""",
        [view, key],
    )


def test_pictures_of_one_table_share_selection_keys_and_zoom(page: Page, grid_address: str) -> None:
    visit(page, f"{grid_address}/?v=2&workload=memcached&load=200000")
    page.evaluate(_TOY)
    nothing = shown(page)
    assert (nothing["dots"], nothing["bars"], nothing["line"]) == (None, None, 1)
    assert nothing["veil"] == [None] * 4
    page.evaluate("""toy.select('knobs~{"letter":"a"}')""")
    found = shown(page)
    assert (found["rows"], found["dots"], found["bars"]) == ([0, 1], [0, 1], [0])
    # A line of the other rows fades; the cells of row b are covered, but for the one not measured.
    assert found["line"] == 0.3
    assert found["veil"] == [None, None, 1, None]
    page.evaluate("toy.clear()")
    assert shown(page) == nothing
    assert page.evaluate("told") == ["selection", "selection"]
    # A box selects by the axes.
    page.evaluate("""toy.select("box~x~y~1.5~3.5~0~9")""")
    found = shown(page)
    assert (found["dots"], found["bars"], found["veil"]) == ([1, 2], [0, 1], [1, None, None, None])
    # The box stays as an outline where its columns are the axes, nowhere else.
    assert page.evaluate("toy.paper('dots').layout.selections.length") == 1
    assert page.evaluate("toy.paper('bars').layout.selections.length") == 0
    page.evaluate("toy.clear()")
    # Keys step through items and select.
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        press(page, "toy-dots", key)
    assert shown(page)["clause"] == 'knobs~{"letter":"a","number":2}'
    press(page, "toy-bars", "ArrowRight")
    press(page, "toy-bars", "ArrowRight")
    assert page.locator("#hover-card").inner_text() == "of b"
    press(page, "toy-bars", "Enter")
    # A bar selects by its own knob.
    assert shown(page)["clause"] == 'knobs~{"letter":"b"}'
    press(page, "toy-map", "ArrowUp")
    press(page, "toy-map", "Enter")
    assert shown(page)["clause"] == 'knobs~{"letter":"b","number":1}'
    press(page, "toy-map", "Enter")
    assert shown(page)["clause"] == ""
    # A zoom is kept, and reset axes lead home.
    page.evaluate(_MOVE, [[1, 2], [4, 6]])
    assert page.evaluate("[toy.zoom, told.at(-1)]") == ["1~2~4~6", "zoom"]
    assert page.evaluate("toy.paper('dots').layout.xaxis.range") == [1, 2]
    page.evaluate(_MOVE, [[0, 5], [0, 9]])
    assert page.evaluate("toy.zoom") == ""
    # One outside the link is shown again after a sentence in place of the picture.
    assert page.evaluate(_AGAIN) == [[0, 1], {"xaxis": [-0.5, 1.5], "yaxis": [0, 1]}]
