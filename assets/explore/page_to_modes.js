/* The way between Explore and Modes: the filters of the one and what is selected in it, as the other's address. */
document.addEventListener("DOMContentLoaded", function () {
  "use strict";
  const { wattlas } = window;

  // So many characters of an address a selection may take; a larger one stays behind.
  const MOST = 5500;
  const fits = (text) => encodeURIComponent(text).length <= MOST;
  const view = wattlas.view;
  const PATIENCE_MS = 300;
  const FACETS = ["dataset", "workload", "load", "message", "device", "rw", "request", "depth", "threads", "system", "mode", "itr", "dvfs", "rapl"];
  let way = null, asked = "", timer = 0;

  /** What Modes asks under the filters of Explore, as the server has worked it out. */
  function take(answer) {
    // The answer for other filters may come late.
    if (!answer || answer.asked !== asked) return;
    way = JSON.parse(answer.way);
    wattlas.offerModes();
  }

  /** The filters of Explore alone, as a query that both pages read. */
  function filtersOf(page) {
    const query = new URLSearchParams({ v: "1" }), whole = new URLSearchParams(page.query());
    FACETS.forEach((name) => whole.getAll(name).forEach((value) => query.append(name, value)));
    return query.toString();
  }

  /* The axes that Modes would choose are asked for when the pictures are drawn: nobody waits for them. */
  function ask(filters) {
    if (filters === asked) return;
    asked = filters;
    way = null;
    wattlas.cancel(timer);
    timer = wattlas.later(() => {
      if (document.querySelector(".explore")) wattlas.setProps("modes-asked", { data: filters });
      else asked = "";
    }, PATIENCE_MS);
  }

  /** Values of one column by those of another, each pair once: [[y, x, x, ...], ...]. */
  function rowsOf(pairs) {
    const rows = new Map();
    for (const [x, y] of pairs) rows.set(y, (rows.get(y) || new Set()).add(x));
    return [...rows].map(([y, xs]) => [y, ...xs]);
  }

  /** The cells of Modes in which the points stand that are selected in Explore, as Modes writes them. */
  function cellsOfSelection() {
    const { points, mask } = view;
    if (!way || !mask || !points || !points.knobs[way.x] || !points.knobs[way.y]) return "";
    const pairs = [];
    mask.forEach((v, i) => { if (v) pairs.push([wattlas.knob(points, way.x, i), wattlas.knob(points, way.y, i)]); });
    const rows = rowsOf(pairs);
    if (!rows.length) return "";
    const isOne = rows.length === 1 && rows[0].length === 2;
    const pick = JSON.stringify(isOne ? ["cell", rows[0][1], rows[0][0]] : ["cells", ...rows]);
    return fits(pick) ? pick : "";
  }

  /** Lead the link on Explore to Modes with these filters and this selection. */
  wattlas.offerModes = function () {
    const page = wattlas.currentPage();
    if (!page || page.root !== ".explore" || !document.getElementById("explore-to-modes")) return;
    const filters = filtersOf(page);
    ask(filters);
    // Until the axes are known the way leads to the same filters, without what is selected.
    const query = new URLSearchParams(way ? way.query : filters), pick = cellsOfSelection();
    const pinned = new URLSearchParams(page.query()).get("lake");
    if (pick) query.set("pick", pick);
    if (pinned !== null) query.set("lake", pinned);
    wattlas.setProps("explore-to-modes", { href: "/modes?" + query });
  };

  /** The address of Explore with the filters of Modes, and the runs of the selected cells lit. */
  wattlas.exploreOf = function (data, mask) {
    if (!data) return "/";
    const query = new URLSearchParams(data.explore), brush = brushOf(data, mask);
    if (brush) query.set("brush", brush);
    return "/?" + query;
  };

  function brushOf(data, mask) {
    if (!mask || !mask.includes(1)) return "";
    const pairs = [];
    mask.forEach((v, i) => { if (v) pairs.push([data.x.values[data.cells.column[i]], data.y.values[data.cells.row[i]]]); });
    const configs = rowsOf(pairs).map(([y, ...xs]) => ({ [data.y.column]: y, [data.x.column]: xs.length === 1 ? xs[0] : xs }));
    const brush = "configs~" + JSON.stringify(configs.length === 1 ? configs[0] : configs);
    return fits(brush) ? brush : "";
  }

  window.dash_clientside = Object.assign({}, window.dash_clientside, { wattlasWay: { take } });
});
