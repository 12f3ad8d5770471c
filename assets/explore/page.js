/* Explore's glue to Dash: clientside callbacks, its state and URL, the table of what is selected. */
document.addEventListener("DOMContentLoaded", function () {
  "use strict";
  const { wattlas } = window;

  const view = wattlas.view;
  const setProps = wattlas.setProps;
  const FACETS = ["dataset", "workload", "load", "message", "device", "rw", "request", "depth", "threads", "system", "mode", "itr", "dvfs", "rapl"];
  const figures = {};
  let domain = null, opened = null, hasPainted = false, axes = "", workload = null;

  /* The page was opened, by a load or by a link from another page: nothing of an earlier visit counts. */
  function open(browser) {
    opened = browser;
    Object.assign(view, { brush: browser.brush, zoom: browser.zoom, mask: null, points: null, raw: undefined, under: null });
    expected = null;
    hasPainted = false;
    address.open(browser.shown);
    named = "";
  }

  function gatherState(...args) {
    const values = args.slice(0, FACETS.length);
    const [replicates, x, y, xlog, ylog, frontier, browser] = args.slice(FACETS.length);
    const isFirst = opened !== browser;
    if (isFirst) {
      open(browser);
      workload = values[1];
      axes = [workload, x, y, xlog, ylog].join();
    }
    // A zoom belongs to its axes, a selection to its workload: neither means anything on another.
    if (axes !== [values[1], x, y, xlog, ylog].join()) view.zoom = "";
    if (workload !== values[1]) view.brush = "";
    workload = values[1];
    axes = [workload, x, y, xlog, ylog].join();
    const state = Object.fromEntries(FACETS.map((name, i) => [name, [].concat(values[i] || [])]));
    Object.assign(state, { rep: replicates, x, y, xlog: Boolean(xlog), ylog: Boolean(ylog), frontier: Boolean(frontier), brush: view.brush, zoom: view.zoom, lake: browser.lake });
    // The filters come with the page as its state wants them: they need no answer of their own yet.
    return [state, isFirst ? window.dash_clientside.no_update : state];
  }

  function dressScatter(figure, theme, rawPoints) {
    if (!figure) return window.dash_clientside.no_update;
    figures.scatter = figure;
    if (rawPoints !== view.raw) {
      view.raw = rawPoints;
      view.points = wattlas.decodePoints(rawPoints);
      view.byX = null;
    }
    const meta = figure.layout.meta || {};
    view.fields = { x: meta.x, y: meta.y };
    view.theme = theme;
    view.original = figure.data.filter((t) => t.meta && t.meta.kind === "points");
    view.mask = wattlas.evaluate(view.brush, view.points, view.fields);
    own("scatter");
    wattlas.later(() => repaintOthers(), 0);
    return wattlas.dress.scatter(figure, view.points, view, theme);
  }

  async function dressHeatmap(figure, theme) {
    if (!figure) return window.dash_clientside.no_update;
    figures.heatmap = figure;
    await painted("scatter");
    own("heatmap");
    return wattlas.dress.heatmap(figure, view.points, view, theme);
  }

  /* The first pictures compete for one thread; the largest view, asked for first, is to be seen first. */
  const PATIENCE_MS = 3000;
  async function painted(id) {
    const until = performance.now() + PATIENCE_MS;
    const isDrawn = () => { const gd = wattlas.plot(id); return gd && gd.calcdata && gd.layout.meta; };
    while (!isDrawn() && performance.now() < until) await new Promise((done) => wattlas.later(done, 15));
    if (hasPainted) return;
    await new Promise((done) => wattlas.nextFrame(() => wattlas.later(done, 0)));
    hasPainted = true;
  }

  /* The table's library is as large as all else of ours, and nobody waits for an empty table. */
  async function mountGrid(grid) {
    await painted("scatter");
    return grid;
  }

  /* The server has drawn the heatmap of a system that the filters leave: its menu follows. */
  function turnHeatmap(system) {
    if (system) setProps("heat-system", { value: system });
  }

  function repaintOthers() {
    wattlas.paintBest();
    wattlas.paintVeil();
    wattlas.announce();
  }

  function own(id, tries = 200) {
    if (!wattlas.own(id) && tries > 0) wattlas.later(() => own(id, tries - 1), 25);
  }

  function dressBest() {
    wattlas.later(wattlas.paintBest, 0);
  }

  /* The slider runs over the logarithm of the metric; its right end means no limit. */
  const STEPS = 1000;
  function limitOf(step) {
    if (!domain || step >= STEPS || !(domain.low > 0)) return null;
    const value = domain.low * Math.pow(domain.high / domain.low, step / STEPS);
    return Number(value.toPrecision(3));
  }
  function stepOf(limit) {
    if (limit === null || !domain || !(domain.low > 0) || domain.high === domain.low) return STEPS;
    const step = (STEPS * Math.log(limit / domain.low)) / Math.log(domain.high / domain.low);
    return Math.round(Math.min(Math.max(step, 0), STEPS - 1));
  }
  /* A screen reader is told the limit, not the slider's step. */
  function sayLimit(limit) {
    const thumb = document.querySelector("#limit-slider [role=slider], [role=slider][aria-label='latency limit']");
    if (thumb) thumb.setAttribute("aria-valuetext", limit === null || !domain ? "no limit" : wattlas.formatQuantity(limit, domain.unit));
  }
  let boxTimer = 0, expected = null;
  function slideLimit(step) {
    if (step === expected) return;
    const limit = limitOf(step);
    wattlas.drawLimit(limit);
    sayLimit(limit);
    wattlas.cancel(boxTimer);
    boxTimer = wattlas.later(() => setProps("limit-box", { value: limit === null ? "" : limit }), 120);
  }
  function setLimit(value, range) {
    const other = domain && range && domain.column !== range.column;
    if (range && (!domain || other)) setProps("limit-box", { suffix: " " + range.unit });
    domain = range;
    if (other && value !== "") { setProps("limit-box", { value: "" }); return; }
    const limit = Number(value) > 0 && Number.isFinite(Number(value)) ? Number(value) : null;
    wattlas.later(() => sayLimit(limit), 0);
    if (view.points) wattlas.drawLimit(limit); else view.limit = limit;
    if (limitOf(expected === null ? STEPS : expected) === limit) return;
    expected = stepOf(limit);
    setProps("limit-slider", { value: expected });
  }

  function writeUrl(serverQuery) {
    if (!serverQuery) return [window.dash_clientside.no_update, window.dash_clientside.no_update];
    address.take(serverQuery);
    return fileLinks();
  }
  const fileLinks = () => (address.written() ? ["export.html?" + address.shown(), "data/runs.csv?" + address.shown()] : ["", ""]);

  const page = {
    root: ".explore",
    tab: "tab-explore",
    query: () => address.query(),
    figure: (id) => figures[id] && wattlas.dress[id](figures[id], view.points, view, "light"),
    data: (id, format) => "data/" + id + "." + format + "?" + address.shown(),
    how: (id) => "how/explore/" + id + "?" + address.shown(),
    resize: () => ["scatter", "heatmap"].forEach((id) => wattlas.plot(id) && window.Plotly.Plots.resize(wattlas.plot(id))),
  };
  wattlas.addPage(page);
  const address = wattlas.makeAddress(page, () => ({ brush: view.brush || "", zoom: view.zoom || "" }));

  /** Status line, table of what is selected, URL: after the pictures have been painted. */
  wattlas.announce = function () {
    const words = wattlas.selectionWords();
    const status = document.getElementById("status-selection");
    if (!status) return;
    status.textContent = words ? words + " \u00b7 Esc clears" : "";
    document.getElementById("clear-selection").hidden = !view.brush;
    document.getElementById("picked-words").textContent = words ? pickedNote() : "nothing yet: drag a box in a picture";
    wattlas.offerTimeline();
    wattlas.offerModes();
    fillGrid(40);
  };

  /* getApi throws while the grid is not there yet. */
  function gridApi() {
    try { return window.dash_ag_grid.getApi("picked-grid"); } catch (error) { return null; }
  }

  /* The table comes up after the pictures; its last columns are whatever the axes show. */
  let named = "", gridTimer = 0;
  function fillGrid(tries) {
    wattlas.cancel(gridTimer);
    const gd = wattlas.plot("scatter"), meta = gd && gd.layout && gd.layout.meta;
    const grid = gridApi();
    if (!grid || !gd || !meta) {
      if (tries > 0) gridTimer = wattlas.later(() => fillGrid(tries - 1), 250);
      return;
    }
    if (meta.titles && named !== meta.x + meta.y) {
      named = meta.x + meta.y;
      const titles = { x: meta.titles[meta.x], y: meta.titles[meta.y] };
      grid.setGridOption("columnDefs", grid.getColumnDefs().map((c) => ({ ...c, headerName: titles[c.field] || c.headerName })));
    }
    setProps("picked-grid", { rowData: pickedRows() });
  }

  const GRID_ROWS = 500;
  function picked() {
    const found = [];
    if (view.mask) view.mask.forEach((v, i) => { if (v) found.push(i); });
    return found;
  }
  function pickedNote() {
    const count = picked().length;
    return count > GRID_ROWS ? "first " + GRID_ROWS + " of " + count.toLocaleString("en") : count.toLocaleString("en") + (count === 1 ? " point" : " points");
  }
  function pickedRows() {
    const gd = wattlas.plot("scatter"), meta = gd && gd.layout && gd.layout.meta;
    if (!meta || !meta.units) return [];
    return picked().slice(0, GRID_ROWS).map((i) => {
      const row = wattlas.configuration(view.points, i);
      const show = (v, none) => (v === null ? none : v);
      return {
        system: view.points.labels[row.system] || row.system,
        load: wattlas.loadWords(row) || "\u2013",
        itr: show(row.itr_us, "adaptive"), dvfs: show(row.dvfs_ghz, "governor"), rapl: show(row.rapl_w, "\u2013"),
        n: view.points.n[i],
        x: wattlas.formatQuantity(view.points.values.x[i], meta.units[meta.x]),
        y: wattlas.formatQuantity(view.points.values.y[i], meta.units[meta.y]),
      };
    });
  }

  let urlTimer = 0, announceTimer = 0;
  wattlas.onChange((what) => {
    if (what === "selection") {
      wattlas.cancel(announceTimer);
      announceTimer = wattlas.later(wattlas.announce, 30);
    }
    wattlas.cancel(urlTimer);
    urlTimer = wattlas.later(() => {
      if (!document.querySelector(page.root)) return;
      address.push();
      const [exportHref, dataHref] = fileLinks();
      setProps("export-link", { href: exportHref });
      setProps("data-link", { href: dataHref });
    }, 150);
  });

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    wattlas: { gatherState, dressScatter, dressHeatmap, mountGrid, turnHeatmap, dressBest, slideLimit, setLimit, writeUrl },
  });
});
