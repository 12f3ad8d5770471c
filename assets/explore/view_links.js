/*
 * Explore's linked views: any view sets the one selection, and all views show it. The browser does this
 * without the server.
 */
(function (wattlas) {
  "use strict";

  const figures = wattlas.exploreFigures;
  const view = {
    points: null, clause: "", mask: null, limit: null, zoom: "", theme: "light", fields: { x: "", y: "" },
    scatter: null, heatmap: null, under: null,
  };
  const listeners = [];
  const tell = (what) => listeners.forEach((listener) => listener(what));
  const { plot } = wattlas;

  /** Take the server's figures and points. */
  function show(scatter, points) {
    view.scatter = scatter;
    view.byX = null;
    const meta = scatter.layout.meta || {};
    view.points = points;
    view.fields = { x: meta.x, y: meta.y };
    if (points && points.values.clause_x) {
      const clause = wattlas.clause.read(view.clause);
      points.clauseFields = clause && clause.fields;
    }
    view.original = scatter.data.filter((t) => wattlas.kindOf(t) === "points");
    evaluate();
  }

  function evaluate() {
    view.mask = wattlas.clause.evaluate(view.clause, figures.columns(view.points, view.fields));
  }

  /* "Reset axes" restores the first range of the axes. If the link has a zoom, that is not the full range. */
  const home = () => ({ xaxis: view.scatter.layout.xaxis.range, yaxis: view.scatter.layout.yaxis.range });
  function goHome(gd) {
    if (!figures.isScatter(gd)) return;
    for (const [name, range] of Object.entries(home())) {
      const axis = gd._fullLayout[name];
      if (axis && range) [axis._rangeInitial0, axis._rangeInitial1] = range;
    }
  }

  /* ---- selections in the plots */

  const SCATTER = {
    plotly_selected(gd, event) {
      if (event && event.range) select(boxAsDrawn(gd, event.range));
      else if (event && event.lassoPoints) {
        select(wattlas.clause.lasso(view.fields, event.lassoPoints.x, event.lassoPoints.y));
      }
    },
    plotly_deselect: () => select(""),
    plotly_click(gd, event) {
      const i = pointIndex(gd, event.points[0]);
      if (i !== null) toggle(wattlas.configuration(view.points, i));
    },
    plotly_relayout(gd, change) {
      if (!Object.keys(change).some((name) => /^[xy]axis\.(range|autorange)/.test(name))) return;
      const { xaxis, yaxis } = gd._fullLayout, at = home();
      const isHome = String(xaxis.range) === String(at.xaxis) && String(yaxis.range) === String(at.yaxis);
      const bounds = [...xaxis.range, ...yaxis.range].map((v) => Number(v).toPrecision(6) * 1);
      view.zoom = isHome ? "" : bounds.join("~");
      paintArrows(gd);
      tell("zoom");
    },
  };

  const HEATMAP = {
    plotly_selected(gd, event) {
      if (!event || !(event.range || event.lassoPoints)) return;
      const catcher = wattlas.tracesOf(gd.data, "catcher")[0];
      const cells = event.points.filter((p) => p.curveNumber === catcher).map((p) => cellAt(gd, p.x, p.y));
      select(cells.length ? cellsClause(gd, cells) : "");
    },
    plotly_deselect: () => select(""),
    plotly_click(gd, event) {
      const p = event.points.find((q) => q.z !== null && q.z !== undefined && !isNaN(q.z));
      if (p) toggleClause(cellsClause(gd, [cellAt(gd, p.x, p.y)]));
    },
  };

  function cellAt(gd, x, y) {
    const { xs, ys } = gd.layout.meta, trace = gd.data[0];
    return [xs[trace.x.indexOf(x)], ys[trace.y.indexOf(y)]];
  }
  const cellsClause = (gd, cells) =>
    wattlas.clause.pairs(...gd.layout.meta.knobs, cells, gd.layout.meta.place);

  /** Index among all points of a point or arrow head in a Plotly event; null for marks and frontier. */
  function pointIndex(gd, p) {
    if (wattlas.kindOf(gd.data[p.curveNumber]) === "arrows") return p.customdata;
    const k = figures.pointTraces(gd).indexOf(p.curveNumber);
    return k < 0 ? null : view.points.traces[k] + p.pointNumber;
  }

  const toggleClause = (clause) => select(clause === view.clause ? "" : clause);
  const toggle = (configuration) => toggleClause(wattlas.clause.knobs(configuration));

  /** Select by a clause; an empty one clears the selection. All views show it. */
  function select(clause) {
    view.clause = clause;
    evaluate();
    paintPoints();
    paintVeil();
    paintBest();
    tell("selection");
  }

  /* ---- showing the selection */

  const hasOutline = (gd) => Boolean(gd.layout.selections && gd.layout.selections.length);
  const withoutOutline = (gd) => (hasOutline(gd) ? { selections: [] } : {});

  /** Highlight the selected points, unless Plotly's own selection has drawn the same points already. */
  function paintPoints() {
    const gd = plot("scatter");
    if (!view.points || !figures.isScatter(gd)) return;
    const traces = figures.pointTraces(gd), selected = figures.selectedPoints(view.points, view.mask);
    const clause = wattlas.clause.read(view.clause);
    const layout = clause && clause.fields ? {} : withoutOutline(gd);
    const isDrawn = traces.every((t, k) => sameIndices(gd.data[t].selectedpoints, selected[k]));
    if (isDrawn || wattlas.highlight(gd, traces, selected)) {
      if (layout.selections) window.Plotly.relayout(gd, layout);
    } else window.Plotly.update(gd, { selectedpoints: selected }, layout, traces);
  }

  /** Move the arrow heads of error bars to the edges of the shown range. */
  function paintArrows(gd) {
    const [k] = wattlas.tracesOf(gd.data, "arrows");
    if (k === undefined) return;
    const { x, y, marker, customdata } = figures.arrows(view.points, gd._fullLayout, gd.layout.meta);
    if (JSON.stringify([x, y]) === JSON.stringify([gd.data[k].x, gd.data[k].y])) return;
    const change = { x: [x], y: [y], customdata: [customdata], "marker.symbol": [marker.symbol] };
    window.Plotly.restyle(gd, change, [k]);
  }

  /* Plotly rounds the range of a box to hundredths of a pixel, but selects points by the exact box. If the
     two differ at a point on the edge, the clause is the box around the points that Plotly selected. */
  function boxAsDrawn(gd, range) {
    const clause = wattlas.clause.box(view.fields, range.x, range.y);
    const mask = wattlas.clause.evaluate(clause, figures.columns(view.points, view.fields));
    const drawn = [];
    figures.pointTraces(gd).forEach((t, k) => {
      (gd.data[t].selectedpoints || []).forEach((i) => drawn.push(view.points.traces[k] + i));
    });
    const { x, y } = view.points.values, count = mask.reduce((n, v) => n + v, 0);
    if (!drawn.length || (drawn.every((i) => mask[i]) && drawn.length === count)) return clause;
    const ends = (values) => drawn.reduce(
      ([low, high], i) => [Math.min(low, values[i]), Math.max(high, values[i])], [Infinity, -Infinity]);
    return ["box", view.fields.x, view.fields.y, ...ends(x), ...ends(y)].join("~");
  }

  function sameIndices(drawn, wanted) {
    if (!drawn || !wanted) return !drawn && !wanted;
    if (drawn.length !== wanted.length) return false;
    const sorted = Array.from(drawn).sort((a, b) => a - b);
    return wanted.every((v, i) => v === sorted[i]);
  }

  /** Cover the heatmap's cells without a selected point, unless they are covered already. */
  function paintVeil() {
    const gd = plot("heatmap");
    if (!view.points || !figures.isHeatmap(gd)) return;
    const [index] = wattlas.tracesOf(gd.data, "veil");
    const veil = figures.veil(gd.layout.meta, view.points, view.mask);
    if (JSON.stringify(gd.data[index].z) !== JSON.stringify(veil)) {
      window.Plotly.update(gd, { z: [veil] }, withoutOutline(gd), [index]);
    } else if (hasOutline(gd)) window.Plotly.relayout(gd, withoutOutline(gd));
  }

  /** Mark the rows of the best-settings table whose configuration is selected. */
  function paintBest() {
    const columns = view.mask && figures.columns(view.points, view.fields);
    document.querySelectorAll("#best-table tr[data-config]").forEach((row) => {
      const mine = columns && wattlas.clause.evaluate("knobs~" + row.dataset.config, columns);
      const isHit = mine ? mine.some((v, i) => v && view.mask[i]) : false;
      row.classList.toggle("selected", isHit);
      row.classList.toggle("dimmed", Boolean(view.mask) && !isHit);
      row.setAttribute("aria-selected", String(isHit));
    });
  }

  let limitFrame = 0, greyTimer = 0;
  /** Draw the limit at once; grey the points beyond it when the slider rests. */
  function drawLimit(limit) {
    if (limit === view.limit) return;
    view.limit = limit;
    wattlas.cancel(limitFrame);
    wattlas.cancel(greyTimer);
    limitFrame = wattlas.nextFrame(() => {
      const gd = plot("scatter");
      if (!view.points || !figures.isScatter(gd)) return;
      const shapes = figures.limitShapes(gd.layout.meta, view.limit, view.theme, view.points.values.x);
      window.Plotly.relayout(gd, { shapes });
      greyTimer = wattlas.later(() => {
        const traces = figures.pointTraces(gd);
        const { points, original, theme } = view;
        const colors = traces.map((t, k) => figures.limitColors(
          points, k, original[k], view.limit, theme, gd.layout.meta));
        window.Plotly.restyle(gd, { "marker.color": colors }, traces);
      }, 60);
    });
  }

  /* ---- in words */

  const CELL = { has: (name) => name === "system" || cellKnobs().includes(name) };
  const cellKnobs = () => {
    const gd = plot("heatmap"), meta = gd && gd.layout && gd.layout.meta;
    return meta && meta.knobs ? [...meta.knobs, ...Object.keys(meta.place)] : ["itr_us", "dvfs_ghz"];
  };
  const isCells = (clause) => clause.knobs.every((one) => Object.keys(one).every((name) => CELL.has(name)));
  const kindOf = (clause) => {
    if (clause.kind !== "knobs") return clause.kind;
    return isCells(clause) ? "cells" : "configuration";
  };
  /** The selection in words, for the status line. */
  function selectionWords() {
    if (!view.mask) return "";
    let points = 0, runs = 0;
    view.mask.forEach((v, i) => { if (v) { points += 1; runs += view.points.n[i]; } });
    const means = view.points.n.some((n) => n > 1) || isNaN(view.points.replicate[0]);
    const kind = kindOf(wattlas.clause.read(view.clause));
    const inPoints = means ? " in " + points.toLocaleString("en") + " configurations" : "";
    return "selection: " + runs.toLocaleString("en") + " runs" + inPoints + " (" + kind + ")";
  }

  const joined = (...words) => words.filter(Boolean).join(" \u00b7 ");
  /** The lines of the card of a point: configuration, then the two values with spread and n. */
  function pointLines(meta, i) {
    const points = view.points, row = wattlas.configuration(points, i);
    const value = (axis) => {
      const column = meta[axis], unit = meta.units[column], sd = points.values[axis + "_sd"][i];
      const spread = sd > 0 ? " \u00b1 " + wattlas.formatQuantity(sd, unit) : "";
      return meta.titles[column] + ": " + wattlas.formatQuantity(points.values[axis][i], unit) + spread;
    };
    const replicate = points.replicate[i];
    const listed = (name) => points[name] && points[name].values[points[name].index[i]];
    const flags = listed("flags"), odd = listed("odd");
    return [
      joined(points.labels[row.system] || row.system, wattlas.knobWords(points, i, false)),
      joined(wattlas.knobWords(points, i, true), row.dataset),
      value("x"), value("y"),
      meta.means ? "n = " + points.n[i] : isNaN(replicate) ? "one run" : "replicate " + replicate,
      odd ? "odd: " + odd : "",
      flags ? "flags: " + flags : "",
      view.hint ? view.hint(i) : "click: select this configuration",
    ];
  }

  function scatterLines(gd, event) {
    view.under = pointIndex(gd, event.points[0]);
    return view.under === null ? null : pointLines(gd.layout.meta, view.under);
  }

  function heatmapLines(gd, event) {
    const p = event.points.find((q) => q.customdata && q.data && wattlas.kindOf(q.data) === "cells");
    return p ? cellLines(gd, gd.data[0].y.indexOf(p.y), gd.data[0].x.indexOf(p.x)) : null;
  }

  function cellLines(gd, row, column) {
    const meta = gd.layout.meta, trace = gd.calcdata[0][0].trace;
    const z = gd._fullData[0]._z ? gd._fullData[0]._z[row][column] : trace.z[row][column];
    const place = meta.x_words[column] + " \u00b7 " + meta.y_words[row];
    if (z === null || z === undefined || isNaN(z)) return [place, "not measured"];
    const [sd, n] = trace.customdata[row][column];
    const spread = sd > 0 ? " \u00b1 " + wattlas.formatQuantity(sd, meta.unit) + " sd" : "";
    return [
      joined(meta.of, place),
      meta.title + ": " + wattlas.formatQuantity(z * trace.meta.scale, meta.unit) + spread,
      "n = " + n, "click: select its runs",
    ];
  }

  /** Handle the events of a plot, `scatter` or `heatmap`. */
  function own(id) {
    if (id === "scatter") wattlas.ownPlot(id, { handlers: SCATTER, hover: scatterLines, drawn: goHome });
    else wattlas.ownPlot(id, { handlers: HEATMAP, hover: heatmapLines, drawn: paintVeil });
  }

  /* ---- keys: arrows step through the points by x, or through the cells; Enter selects */

  const rowOf = (event) => wattlas.closest(event, "#best-table tr[data-config]");
  document.addEventListener("click", (event) => {
    const row = rowOf(event);
    if (row) toggle(JSON.parse(row.dataset.config));
  });

  const cursor = { scatter: -1, heatmap: [0, 0] };
  const { within } = wattlas;

  /** Handle a key, on the page or in an export. Returns whether it had an action. */
  function key(event) {
    const row = rowOf(event), isChoice = event.key === "Enter" || event.key === " ";
    if (row && isChoice) { toggle(JSON.parse(row.dataset.config)); return true; }
    if (!isChoice && !event.key.startsWith("Arrow")) return false;
    const panel = wattlas.closest(event, "section[data-view]");
    const id = panel && event.target === panel ? panel.dataset.view : "", gd = id && plot(id);
    if (!gd || !view.points) return false;
    if (id === "scatter" && figures.isScatter(gd)) scatterCursor(gd, event.key);
    else if (id === "heatmap" && figures.isHeatmap(gd)) heatmapCursor(gd, event.key);
    else return false;
    return true;
  }

  function scatterCursor(gd, pressed) {
    const { x, y } = view.points.values;
    if (!view.byX) view.byX = Array.from(x.keys()).sort((a, b) => x[a] - x[b]);
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[pressed] || 0;
    cursor.scatter = within(cursor.scatter + step, view.points.count);
    const i = view.byX[cursor.scatter];
    view.under = i;
    if (step) wattlas.card(pointLines(gd.layout.meta, i), wattlas.place(gd, x[i], y[i]));
    else toggle(wattlas.configuration(view.points, i));
  }

  function heatmapCursor(gd, pressed) {
    const { xs, ys } = gd.layout.meta, [row, column] = cursor.heatmap;
    const move = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [1, 0], ArrowDown: [-1, 0] }[pressed];
    if (!move) { toggleClause(cellsClause(gd, [[xs[column], ys[row]]])); return; }
    cursor.heatmap = [within(row + move[0], ys.length), within(column + move[1], xs.length)];
    const [r, c] = cursor.heatmap;
    wattlas.card(cellLines(gd, r, c), wattlas.place(gd, c, r));
  }

  wattlas.explore = {
    view, show, evaluate, select, own, key, drawLimit, paintVeil, paintBest, selectionWords,
    /** Escape was pressed. */
    clear: () => { if (view.clause) select(""); },
    onChange: (listener) => listeners.push(listener),
  };
})((window.wattlas = window.wattlas || {}));
