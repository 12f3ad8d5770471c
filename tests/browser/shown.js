/* What a page shows, in facts that no rewording changes; the same for every page. See shown.py. */
() => {
  const read = (text) => Number(text.replaceAll(",", ""));
  const numbers = (text) => (text.match(/[\d,]*\d(\.\d+)?/g) || []).map(read);
  const rounded = (value) => (typeof value === "number" ? Number(value.toPrecision(4)) : value);
  const main = document.querySelector("main");
  const textOf = (selector) => {
    const found = document.querySelector(selector);
    return found ? found.innerText : "";
  };
  const nameOf = (view) => view.dataset.view.replace(/^(timeline|storage|modes|explore)-/, "");

  function plotOf(gd) {
    const names = Object.keys(gd.layout).filter((key) => /^[xy]axis\d*$/.test(key));
    const axes = names.map((key) => gd.layout[key]);
    const traces = gd.data.filter((trace) => trace.selectedpoints);
    const veils = gd.data.filter((trace) => trace.meta && ["veil", "dimmed"].includes(trace.meta.kind));
    const cells = veils.flatMap((trace) => Array.from(trace.z).flatMap((row) => Array.from(row)));
    return {
      titles: axes.map((axis) => (axis.title && axis.title.text) || "").filter(Boolean).sort(),
      ranges: axes.filter((axis) => axis.range).map((axis) => Array.from(axis.range, rounded)),
      caught: traces.length ? traces.reduce((sum, { selectedpoints: p }) => sum + p.length, 0) : null,
      veiled: cells.filter((value) => value === 1).length,
      marks: (gd.layout.shapes || []).length,
    };
  }
  const views = {};
  document.querySelectorAll("main section[data-view]").forEach((view) => {
    const gd = view.querySelector(".js-plotly-plot");
    views[nameOf(view)] = gd && gd.layout && gd.data ? plotOf(gd) : { numbers: numbers(view.innerText) };
  });
  const runs = [...document.querySelectorAll("#timeline-runs [data-run]")];
  const evidence = document.querySelector("main [data-view=evidence]");
  const inputs = [...main.querySelectorAll("input:checked, input[type=hidden]")];
  const settings = inputs.map((input) => input.value).filter((value) => value && value !== "on");
  return {
    page: location.pathname,
    counts: numbers((main.innerText.match(/[\d,]+ of [\d,]+ (storage )?runs[^\n]*/) || [""])[0]),
    selected: numbers(textOf("#status-selection")),
    runs: [...new Set(runs.map((run) => run.dataset.run))],
    window: numbers(textOf("#timeline-span").split("\u00b7")[0]),
    evidence: evidence ? numbers(evidence.innerText) : [],
    settings: settings.sort(),
    lake: new URLSearchParams(location.search).get("lake"),
    views,
  };
}
