/* Connects Distributions to Dash: its state, the map, runs that it opens in Timeline. */
window.wattlas.withDash(function () {
  "use strict";

  const { wattlas } = window, { distributions, address } = wattlas;
  const NAME = "distributions";

  function show(answer) {
    if (answer) distributions.show("map", answer, wattlas.theme());
  }
  /** Go to Timeline with some runs, of the version of the lake that is shown if the link pins one. */
  distributions.openRuns = function (runs) {
    const query = new URLSearchParams({ v: 2 }), { lake } = address.opened(NAME).spec;
    runs.forEach((run) => query.append("run", run));
    if (lake !== null) query.set("lake", lake);
    wattlas.openPage("timeline", query.toString());
  };
  /** Make a panel the page: its filter is set. */
  distributions.openPanel = function ({ facet, value }) {
    const query = new URLSearchParams(address.query(NAME));
    query.set(facet, value);
    wattlas.openPage(NAME, query.toString());
  };
  document.addEventListener("click", (event) => {
    if (!wattlas.closest(event, "#distributions-clear")) return;
    wattlas.setProps("distributions-sel", { data: "" });
  });

  /* What was chosen when the page was opened: Timeline keeps its runs until something else is. */
  let chosen = "";
  const chosenIn = (values) =>
    JSON.stringify([...address.opened(NAME).spec.facets, "sel"].map((key) => values[key]));
  function handover(target, shared) {
    if (target !== "timeline" || !address.opened(target)) return {};
    const isSame = chosenIn(address.values(NAME)) === chosen;
    return isSame ? Object.fromEntries(Object.keys(shared).map((key) => [key, []])) : {};
  }

  function gathered(values, before, isFirst) {
    if (isFirst) chosen = chosenIn(values);
    const clear = document.getElementById("distributions-clear");
    if (clear) clear.hidden = !values.sel;
    return values;
  }

  wattlas.addPage({
    name: NAME, open: () => distributions.open(""), gathered, handover, key: distributions.key,
    clear: wattlas.hideHover, theme: distributions.paint, resize: distributions.resize,
    figure: distributions.paper,
    files: () => ({ data: wattlas.fileOf(NAME, "data/map.csv") }),
  });
  wattlas.clientside(NAME, { show });
});
