"""What a page shows, in facts that no rewording changes: the same for every page."""

from typing import Any

from playwright.sync_api import Page

_SHOWN = r"""() => {
  const numbers = (text) => (text.match(/[\d,]*\d(\.\d+)?/g) || []).map((v) => Number(v.replaceAll(",", "")));
  const rounded = (value) => (typeof value === "number" ? Number(value.toPrecision(4)) : value);
  const main = document.querySelector("main");
  const textOf = (selector) => { const found = document.querySelector(selector); return found ? found.innerText : ""; };
  const nameOf = (view) => view.dataset.view.replace(/^(timeline|storage|modes|explore)-/, "");

  function plotOf(gd) {
    const axes = Object.keys(gd.layout).filter((key) => /^[xy]axis\d*$/.test(key)).map((key) => gd.layout[key]);
    const titles = axes.map((axis) => (axis.title && axis.title.text) || "").filter(Boolean).sort();
    const traces = gd.data.filter((trace) => trace.selectedpoints);
    const veils = gd.data.filter((trace) => trace.meta && trace.meta.kind === "veil");
    return {
      titles,
      ranges: axes.filter((axis) => axis.range).map((axis) => Array.from(axis.range, rounded)),
      caught: traces.length ? traces.reduce((sum, trace) => sum + trace.selectedpoints.length, 0) : null,
      veiled: veils.flatMap((trace) => Array.from(trace.z).flatMap((row) => Array.from(row))).filter((v) => v === 1).length,
      marks: (gd.layout.shapes || []).length,
    };
  }
  const views = {};
  document.querySelectorAll("main section[data-view]").forEach((view) => {
    const gd = view.querySelector(".js-plotly-plot");
    views[nameOf(view)] = gd && gd.layout && gd.data ? plotOf(gd) : { numbers: numbers(view.innerText) };
  });
  const evidence = document.querySelector("main [data-view=evidence]");
  const inputs = [...main.querySelectorAll("input:checked, input[type=hidden]")];
  const settings = inputs.map((input) => input.value).filter((value) => value && value !== "on");
  return {
    page: location.pathname,
    counts: (main.innerText.match(/[\d,]+ of [\d,]+ runs[^\n]*/) || [""]).map(numbers)[0],
    selected: numbers(textOf("#status-selection")),
    runs: [...document.querySelectorAll("[data-run]")].map((run) => run.dataset.run),
    window: numbers(textOf("#timeline-span").split("\u00b7")[0]),
    evidence: evidence ? numbers(evidence.innerText) : [],
    settings: settings.sort(),
    lake: new URLSearchParams(location.search).get("lake"),
    views,
  };
}"""


def read_shown(page: Page) -> dict[str, Any]:
    """The facts that the page on the screen shows; the page must be idle.

    Returns:
        Path, counts of runs, what is selected, runs and window of the timeline, the numbers of the
        evidence, what is switched on, the pinned version of the lake; of each view with a plot its
        axis titles, ranges, selected points, veiled cells and marks, of others their numbers.
    """
    found: dict[str, Any] = page.evaluate(_SHOWN)
    return found
