/* Modes' glue to Dash: its state and URL, clicks and keys on its pictures, one selection for all of them. */
document.addEventListener("DOMContentLoaded", function () {
  "use strict";
  const { wattlas } = window;

  const FACETS = ["dataset", "workload", "load", "message", "device", "rw", "request", "depth", "threads", "system", "mode", "itr", "dvfs", "rapl"];
  const CONTROLS = ["x", "y", "who", "metric", "test", "corr", "level", "margin", "against"];
  const IDS = { x: "modes-x", y: "modes-y", who: "modes-competitor", metric: "modes-metric" };
  const GRAPHS = ["winners", "shares", "pareto", "evidence"];
  const same = () => window.dash_clientside.no_update;
  const setProps = wattlas.setProps;

  let figures = {}, data = null, rawCells, pick = "", opened = null, roles = null, workload = null, level = 0.05, gathered = "";

  /* The page was opened, by a load or by a link: nothing of an earlier visit counts. */
  function open(browser) {
    opened = browser;
    figures = {};
    data = rawCells = null;
    pick = browser.pick || "";
    gathered = "";
    address.open(browser.shown);
    roles = null;
  }

  function gather(...args) {
    const values = args.slice(0, FACETS.length);
    const controls = Object.fromEntries(CONTROLS.map((name, i) => [name, args[FACETS.length + i]]));
    const browser = args[FACETS.length + CONTROLS.length];
    const isFirst = opened !== browser;
    if (isFirst) open(browser);
    const now = { x: controls.x, y: controls.y, who: controls.who };
    if (!isFirst && (swapped(now) || freed(now, values))) return [same(), same()];
    // A cell belongs to its axes, a win to its competitors: neither means anything on others.
    if (roles && ["x", "y", "who"].some((role) => roles[role] !== now[role])) setPick("");
    if (!isFirst && workload !== values[1]) setPick("");
    roles = now;
    workload = values[1];
    const state = Object.fromEntries(FACETS.map((name, i) => [name, [].concat(values[i] || [])]));
    // A level half typed, as `0.`, changes nothing yet.
    if (Number(controls.level) > 0 && Number(controls.level) < 1) level = Number(controls.level);
    Object.assign(state, controls, { level, lake: browser.lake });
    if (!isFirst && JSON.stringify(state) === gathered) return [same(), same()];
    gathered = JSON.stringify(state);
    return [state, isFirst ? same() : state];
  }

  /* A knob chosen for one part while it plays another: the two change places. */
  function swapped(now) {
    const changed = ["x", "y", "who"].find((role) => roles && roles[role] !== now[role]);
    const other = changed && ["x", "y", "who"].find((role) => role !== changed && now[role] === now[changed]);
    if (!other) return false;
    setProps(IDS[other], { value: roles[changed] });
    roles = { ...roles, [changed]: now[changed] };
    return true;
  }

  /* A knob that becomes an axis or competes is no longer held at one value by its filter. */
  function freed(now, values) {
    const fresh = ["x", "y", "who"].filter((role) => roles && roles[role] !== now[role]).map((role) => now[role]);
    const held = fresh.find((name) => [].concat(values[FACETS.indexOf(name)] || []).length === 1 && name !== "workload");
    if (!held) return false;
    roles = now;
    setPick("");
    setProps("modes-facet-" + held, { value: [] });
    return true;
  }

  /* The server has turned to another workload: its filters, axes and prize follow. */
  function turn(turned) {
    if (!turned) return;
    roles = { x: turned.controls.x, y: turned.controls.y, who: turned.controls.who };
    for (const [name, value] of Object.entries(turned.controls)) setProps(IDS[name], { value });
    for (const [name, value] of Object.entries(turned.facets)) setProps("modes-facet-" + name, { value });
  }

  function dress(winners, shares, pareto, theme, cells) {
    if (!winners) return [same(), same(), same()];
    if (cells !== rawCells) { rawCells = cells; data = wattlas.cells.decode(cells); }
    Object.assign(figures, { winners, shares, pareto });
    ["winners", "shares", "pareto"].forEach((id) => own(id));
    wattlas.later(announce, 0);
    return [winners, shares, pareto].map((figure) => wattlas.modesPaint.dress(figure, data, pick, theme));
  }

  function dressEvidence(figure, theme) {
    if (!figure) return same();
    figures.evidence = figure;
    own("evidence");
    return wattlas.modesPaint.dress(figure, null, "", theme);
  }

  /* Plotly's events are ours: dcc.Graph listens to them only to write them back and draw everything again. */
  const EVENTS = ["plotly_selecting", "plotly_selected", "plotly_deselect", "plotly_relayout", "plotly_restyle", "plotly_click", "plotly_hover", "plotly_unhover", "plotly_doubleclick"];
  function own(id, tries = 200) {
    const gd = wattlas.plot(id);
    if (!gd || !gd.on || !gd._fullLayout) { if (tries > 0) wattlas.later(() => own(id, tries - 1), 25); return; }
    EVENTS.forEach((name) => gd.removeAllListeners(name));
    gd.on("plotly_click", (event) => { const found = pickOf(id, event.points[0]); if (found) choose(found); });
    gd.on("plotly_hover", (event) => { const lines = linesOf(id, event.points[0]); if (lines) wattlas.card(lines, event.event); });
    gd.on("plotly_unhover", () => wattlas.hideHover());
    if (!gd.wattlasOwned) {
      gd.wattlasOwned = true;
      gd.on("plotly_afterplot", () => wattlas.later(() => {
        if (!gd.isConnected) return;
        own(id);
        if (id === "winners") wattlas.modesPaint.fit(gd, figures.winners, data, wattlas.theme());
      }, 0));
      gd.addEventListener("mouseleave", () => wattlas.hideHover());
    }
  }

  const cellOf = (point) => data && data.at.get(Math.round(point.x) + "," + Math.round(point.y));

  function pickOf(id, point) {
    if (!data || !point) return "";
    if (id === "winners") { const i = cellOf(point); return i === undefined ? "" : wattlas.cells.pick(data, i); }
    if (id === "pareto" && point.customdata !== undefined) return wattlas.cells.pick(data, data.contenders.cell[point.customdata]);
    return id === "shares" ? JSON.stringify(point.customdata) : "";
  }

  function linesOf(id, point) {
    if (id === "winners") { const i = cellOf(point); return i === undefined ? null : wattlas.cells.lines(data, i); }
    if (id === "pareto" && point.customdata !== undefined) {
      const axis = wattlas.plot(id).layout.xaxis.title.text;
      return wattlas.cells.contenderLines(data, point.customdata, axis + ": " + Number(point.x.toPrecision(4)));
    }
    if (id === "shares") return [point.data.name, point.data.text[0], "click: these cells"];
    if (id === "evidence" && data) return evidenceLines(point);
    return null;
  }

  function evidenceLines(point) {
    const value = wattlas.formatQuantity(point.y, data.prize.unit);
    const half = point["error_y.array"];
    if (point.data.meta.kind === "means") return ["mean " + value, half > 0 ? "95 % confidence interval \u00b1 " + wattlas.formatQuantity(half, data.prize.unit) : "one run: no interval"];
    return [value, point.data.name, String(point.customdata)];
  }

  const choose = (found) => setPick(found === pick ? "" : found);

  /** Publish a selection: painted here at once; only the evidence of a cell asks the server. */
  function setPick(wanted) {
    if (wanted === pick) return;
    pick = wanted;
    if (data) wattlas.modesPaint.paint(figures, data, pick, wattlas.theme());
    announce();
    address.push();
    setProps("modes-pick", { data: pick });
  }

  function announce() {
    const status = document.getElementById("status-selection"), clear = document.getElementById("clear-pick");
    if (!status || !clear) return;
    const words = wattlas.cells.words(data, pick);
    status.textContent = words;
    clear.hidden = !pick;
    setProps("modes-to-explore", { href: wattlas.exploreOf(data, wattlas.cells.mask(data, pick)) });
  }

  function writeUrl(serverQuery) {
    if (!serverQuery) return same();
    address.take(serverQuery);
    return "modes/data/runs.csv?" + address.shown();
  }

  const onPaper = (id, cells) => wattlas.modesPaint.asSeen(wattlas.modesPaint.dress(figures[id], cells, pick, "light"), wattlas.plot(id), cells, "light");

  const page = {
    root: ".modes",
    tab: "tab-modes",
    query: () => address.query(),
    figure: (id) => figures[id] && onPaper(id, id === "evidence" ? null : data),
    data: (id, format) => "modes/data/" + id + "." + format + "?" + address.shown(),
    how: (id) => "how/modes/" + id + "?" + address.shown(),
    resize: () => GRAPHS.forEach((id) => wattlas.plot(id) && window.Plotly.Plots.resize(wattlas.plot(id))),
    clear: () => setPick(""),
  };
  wattlas.addPage(page);
  const address = wattlas.makeAddress(page, () => ({ pick }));

  /* A cursor for those who use no mouse: arrows step from cell to cell, bar to bar, point to point; Enter selects. */
  const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const cursor = { winners: [0, 0], shares: 0, pareto: 0 };
  const within = (value, count) => Math.min(Math.max(value, 0), count - 1);

  function mapCursor(gd, step) {
    const [columns, rows] = [data.x.values.length, data.y.values.length];
    cursor.winners = [within(cursor.winners[0] + step[0], columns), within(cursor.winners[1] + step[1], rows)];
    const [x, y] = cursor.winners;
    return { point: { x, y }, x, y, empty: [data.x.words[x] + " \u00b7 " + data.y.words[y], "not measured"] };
  }
  function barCursor(gd, step) {
    cursor.shares = within(cursor.shares - step[1] + step[0], gd.data.length);
    const bar = gd.data[cursor.shares];
    return { point: { customdata: bar.customdata[0], data: bar }, x: bar.x[0] || 0, y: cursor.shares };
  }
  function pointCursor(gd, step) {
    const traces = figures.pareto.data.filter((t) => t.meta.kind === "points");
    const read = (values) => Array.from(values.bdata ? wattlas.decode(values) : values);
    const points = traces.flatMap((t) => {
      const [xs, ys, rows] = [t.x, t.y, t.customdata].map(read);
      return xs.map((x, i) => ({ x, y: ys[i], customdata: rows[i] }));
    }).sort((a, b) => a.x - b.x || a.y - b.y);
    cursor.pareto = within(cursor.pareto + step[0] + step[1], points.length);
    const point = points[cursor.pareto];
    return { point, x: point.x, y: point.y };
  }
  const CURSORS = { winners: mapCursor, shares: barCursor, pareto: pointCursor };

  document.addEventListener("keydown", (event) => {
    const panel = event.target.closest && event.target.closest(".modes section[data-view]");
    const id = panel && event.target === panel ? panel.dataset.view : "", gd = id && wattlas.plot(id);
    const isOurs = event.key in STEPS || event.key === "Enter" || event.key === " ";
    if (!isOurs || !gd || !data || !CURSORS[id] || !figures[id]) return;
    event.preventDefault();
    const at = CURSORS[id](gd, STEPS[event.key] || [0, 0]);
    const found = pickOf(id, at.point);
    if (!(event.key in STEPS)) { if (found) choose(found); return; }
    const place = id === "shares" ? barPlace(gd, at.y) : wattlas.place(gd, at.x, at.y);
    wattlas.card(linesOf(id, at.point) || at.empty, place);
  });

  function barPlace(gd, index) {
    const box = gd.getBoundingClientRect(), { yaxis, xaxis } = gd._fullLayout;
    return { clientX: box.left + xaxis._offset + 20, clientY: box.top + yaxis._offset + yaxis.l2p(yaxis.d2c(gd.data[index].y[0])) };
  }

  document.addEventListener("click", (event) => {
    if (event.target.closest && event.target.closest("#clear-pick")) setPick("");
  });

  wattlas.modes = { state: () => ({ pick, query: address.written(), data, figures }) };
  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    wattlasModes: { gather, turn, dress, dressEvidence, writeUrl },
  });
});
