/*
 * The linked views: one selection, published by any of them, painted by all of them in the browser.
 * Plotly's own events go straight to Plotly.restyle; nothing travels to the server.
 */
(function (wattlas) {
  "use strict";

  const view = { points: null, brush: "", mask: null, limit: null, zoom: "", theme: "light", fields: { x: "", y: "" }, scatter: null, heatmap: null };
  wattlas.view = view;
  const listeners = [];
  wattlas.onChange = (listener) => listeners.push(listener);
  const tell = (what) => listeners.forEach((listener) => listener(what, view));

  const plot = (id) => document.querySelector("#" + id + ".js-plotly-plot, #" + id + " .js-plotly-plot");
  wattlas.plot = plot;

  /* Events that dcc.Graph listens to only to write them back and redraw; here they are ours. */
  const EVENTS = ["plotly_selecting", "plotly_selected", "plotly_deselect", "plotly_relayout", "plotly_restyle", "plotly_click", "plotly_hover", "plotly_unhover", "plotly_doubleclick"];

  /** Take a plot's events over; safe to call again after every redraw. */
  wattlas.own = function (id) {
    const gd = plot(id);
    if (!gd || !gd.on || !gd._fullLayout) return false;
    EVENTS.forEach((name) => gd.removeAllListeners(name));
    const handlers = HANDLERS[id];
    for (const [name, handler] of Object.entries(handlers)) gd.on(name, (event) => handler(gd, event));
    gd.on("plotly_hover", (event) => wattlas.showHover(id, gd, event));
    gd.on("plotly_unhover", () => wattlas.hideHover());
    if (!gd.wattlasOwned) {
      gd.wattlasOwned = true;
      gd.on("plotly_afterplot", () => wattlas.later(() => gd.isConnected && wattlas.own(id), 0));
      if (id === "heatmap") gd.on("plotly_afterplot", () => wattlas.later(wattlas.paintVeil, 0));
      gd.addEventListener("mouseleave", () => wattlas.hideHover());
    }
    if (id === "heatmap") wattlas.paintVeil();
    if (id === "scatter") goHome(gd);
    return true;
  };

  /* "Reset axes" goes to the range in which Plotly first saw the axes; that of a link's zoom is not home. */
  function goHome(gd) {
    for (const [name, range] of Object.entries(view.home || {})) {
      const axis = gd._fullLayout[name];
      if (axis && range) [axis._rangeInitial0, axis._rangeInitial1] = range;
    }
  }

  const HANDLERS = {
    scatter: {
      plotly_selected(gd, event) {
        if (!event) return;
        if (event.range) wattlas.select(boxAsDrawn(gd, event.range));
        else if (event.lassoPoints) wattlas.select(wattlas.lassoClause(view.fields, event.lassoPoints.x, event.lassoPoints.y));
      },
      plotly_deselect() { wattlas.select(""); },
      plotly_click(gd, event) {
        const i = wattlas.pointIndex(gd, event.points[0]);
        if (i !== null) wattlas.toggleConfig(wattlas.configuration(view.points, i));
      },
      plotly_relayout(gd, change) {
        const touched = Object.keys(change).some((key) => /^[xy]axis\.(range|autorange)/.test(key));
        if (!touched) return;
        const { xaxis, yaxis } = gd._fullLayout;
        const isHome = Object.entries(view.home || {}).every(([name, range]) => String(gd._fullLayout[name].range) === String(range));
        view.zoom = isHome ? "" : [...xaxis.range, ...yaxis.range].map((v) => Number(v).toPrecision(6) * 1).join("~");
        tell("zoom");
      },
    },
    heatmap: {
      plotly_selected(gd, event) {
        if (!event || !(event.range || event.lassoPoints)) return;
        const meta = gd.layout.meta, catcher = wattlas.tracesOf(gd.data, "catcher")[0];
        const cells = event.points.filter((p) => p.curveNumber === catcher).map((p) => cellAt(meta, gd, p.x, p.y));
        wattlas.select(wattlas.cellsClause(meta.system, cells));
      },
      plotly_deselect() { wattlas.select(""); },
      plotly_click(gd, event) {
        const p = event.points.find((q) => q.z !== null && q.z !== undefined && !isNaN(q.z));
        if (!p) return;
        const clause = wattlas.cellsClause(gd.layout.meta.system, [cellAt(gd.layout.meta, gd, p.x, p.y)]);
        wattlas.select(clause === view.brush ? "" : clause);
      },
    },
  };

  function cellAt(meta, gd, x, y) {
    const trace = gd.data[0];
    return [meta.itr[trace.x.indexOf(x)], meta.dvfs[trace.y.indexOf(y)]];
  }

  /** Index among all points of a point in a Plotly event; null for marks and frontier. */
  wattlas.pointIndex = function (gd, p) {
    const k = wattlas.tracesOf(gd.data, "points").indexOf(p.curveNumber);
    return k < 0 ? null : view.points.traces[k] + p.pointNumber;
  };

  wattlas.toggleConfig = function (config) {
    const clause = wattlas.configClause(config);
    wattlas.select(clause === view.brush ? "" : clause);
  };

  /** Publish a clause, or clear with an empty one: every view repaints. */
  wattlas.select = function (clause) {
    view.brush = clause;
    view.mask = wattlas.evaluate(clause, view.points, view.fields);
    paint();
    tell("selection");
  };

  const hasOutline = (gd) => Boolean(gd.layout.selections && gd.layout.selections.length);
  const withoutOutline = (gd) => (hasOutline(gd) ? { selections: [] } : {});

  function paint() {
    paintPoints();
    wattlas.paintVeil();
    wattlas.paintBest();
  }

  /** Highlight the selected points, unless Plotly's own selection has drawn just these already. */
  function paintPoints() {
    const gd = plot("scatter");
    if (!view.points || !gd || !gd.layout || !gd.layout.meta || gd.layout.meta.kind !== "scatter") return;
    const traces = wattlas.tracesOf(gd.data, "points");
    const selected = wattlas.selectedPoints(view.points, view.mask);
    const kind = wattlas.clauseKind(view.brush);
    const layout = kind === "box" || kind === "lasso" ? {} : withoutOutline(gd);
    const isDrawn = traces.every((t, k) => sameIndices(gd.data[t].selectedpoints, selected[k]));
    if (isDrawn || wattlas.highlight(gd, traces, selected)) {
      if (layout.selections) window.Plotly.relayout(gd, layout);
    } else window.Plotly.update(gd, { selectedpoints: selected }, layout, traces);
  }

  /* Plotly rounds a box's range to hundredths of a pixel, its own selection not: where a point at the
     edge makes the two differ, the clause is the box around the points that Plotly has drawn. */
  function boxAsDrawn(gd, range) {
    const clause = wattlas.boxClause(view.fields, range.x, range.y);
    const mask = wattlas.evaluate(clause, view.points, view.fields);
    const drawn = [];
    wattlas.tracesOf(gd.data, "points").forEach((t, k) => (gd.data[t].selectedpoints || []).forEach((i) => drawn.push(view.points.traces[k] + i)));
    const { x, y } = view.points.values;
    if (!drawn.length || (drawn.every((i) => mask[i]) && drawn.length === mask.reduce((n, v) => n + v, 0))) return clause;
    const ends = (values) => drawn.reduce(([low, high], i) => [Math.min(low, values[i]), Math.max(high, values[i])], [Infinity, -Infinity]);
    return ["box", view.fields.x, view.fields.y, ...ends(x), ...ends(y)].join("~");
  }

  function sameIndices(drawn, wanted) {
    if (!drawn || !wanted) return !drawn && !wanted;
    if (drawn.length !== wanted.length) return false;
    const sorted = Array.from(drawn).sort((a, b) => a - b);
    return wanted.every((v, i) => v === sorted[i]);
  }

  /** Draw the heatmap's veil for the selection, unless it is drawn already; its outline goes. */
  wattlas.paintVeil = function () {
    const heat = plot("heatmap");
    if (!view.points || !heat || !heat.layout || !heat.layout.meta || heat.layout.meta.kind !== "heatmap") return;
    const [index] = wattlas.tracesOf(heat.data, "veil");
    const veil = wattlas.veil({ layout: heat.layout }, view.points, view.mask);
    if (JSON.stringify(heat.data[index].z) !== JSON.stringify(veil)) window.Plotly.update(heat, { z: [veil] }, withoutOutline(heat), [index]);
    else if (hasOutline(heat)) window.Plotly.relayout(heat, withoutOutline(heat));
  };

  /** Mark the rows of the best-settings table whose configuration is selected. */
  wattlas.paintBest = function () {
    document.querySelectorAll("#best-table tr[data-config]").forEach((row) => {
      const mask = view.mask && wattlas.evaluate("configs~" + row.dataset.config, view.points, view.fields);
      const hit = mask ? mask.some((v, i) => v && view.mask[i]) : false;
      row.classList.toggle("selected", hit);
      row.classList.toggle("dimmed", Boolean(view.mask) && !hit);
      row.setAttribute("aria-selected", String(hit));
    });
  };

  let limitFrame = 0, greyTimer = 0;
  /** Draw the latency limit at once, and grey what misses it when the hand rests. */
  wattlas.drawLimit = function (limit) {
    if (limit === view.limit) return;
    view.limit = limit;
    wattlas.cancel(limitFrame);
    wattlas.cancel(greyTimer);
    limitFrame = wattlas.nextFrame(() => {
      const gd = plot("scatter");
      if (!gd || !gd.layout || !gd.layout.meta || gd.layout.meta.kind !== "scatter") return;
      window.Plotly.relayout(gd, { shapes: wattlas.limitShapes(gd.layout.meta, view.limit, view.theme, view.points.values.x) });
      greyTimer = wattlas.later(() => {
        const traces = wattlas.tracesOf(gd.data, "points");
        const colors = traces.map((t, k) => wattlas.limitColors(view.points, k, view.original[k], view.limit, view.theme));
        window.Plotly.restyle(gd, { "marker.color": colors }, traces);
        tell("limit");
      }, 60);
    });
  };

  /** A short account of the selection for the status line. */
  wattlas.selectionWords = function () {
    if (!view.mask) return "";
    let points = 0, runs = 0;
    view.mask.forEach((v, i) => { if (v) { points += 1; runs += view.points.n[i]; } });
    const kind = { box: "box", lasso: "lasso", cells: "cells", configs: "configuration" }[wattlas.clauseKind(view.brush)];
    const means = view.points.n.some((n) => n > 1) || isNaN(view.points.replicate[0]);
    return "selection: " + runs.toLocaleString("en") + " runs" + (means ? " in " + points.toLocaleString("en") + " configurations" : "") + " (" + kind + ")";
  };

  wattlas.showHover = function (id, gd, event) {
    const lines = id === "scatter" ? scatterLines(gd, event) : heatmapLines(gd, event);
    if (lines) card(lines, event.event || wattlas.lastMouse);
  };

  function scatterLines(gd, event) {
    const i = wattlas.pointIndex(gd, event.points[0]);
    view.under = i;
    return i === null ? null : wattlas.pointLines(gd.layout.meta, i);
  }

  /** What is said of one point: configuration first, then the two values with spread and n. */
  wattlas.pointLines = function (meta, i) {
    const points = view.points, row = wattlas.configuration(points, i);
    const spread = (axis, unit) => {
      const sd = points.values[axis + "_sd"][i];
      return sd > 0 ? " \u00b1 " + wattlas.formatQuantity(sd, unit) : "";
    };
    const load = wattlas.loadWords(row);
    const value = (axis) => {
      const column = meta[axis], unit = meta.units[column];
      return meta.titles[column] + ": " + wattlas.formatQuantity(points.values[axis][i], unit) + spread(axis, unit);
    };
    const replicate = points.replicate[i];
    const flags = points.flags && points.flags.values[points.flags.index[i]];
    return [
      (points.labels[row.system] || row.system) + " \u00b7 " + wattlas.configurationWords(row),
      [load, row.dataset].filter(Boolean).join(" \u00b7 "),
      value("x"), value("y"),
      meta.means ? "n = " + points.n[i] : isNaN(replicate) ? "one run" : "replicate " + replicate,
      flags ? "flags: " + flags : "",
      wattlas.pointHint ? wattlas.pointHint(i) : "click: select this configuration",
    ];
  };

  function heatmapLines(gd, event) {
    const p = event.points.find((q) => q.customdata && q.data && q.data.meta && q.data.meta.kind === "cells");
    return p ? wattlas.cellLines(gd, gd.data[0].y.indexOf(p.y), gd.data[0].x.indexOf(p.x)) : null;
  }

  wattlas.cellLines = function (gd, row, column) {
    const meta = gd.layout.meta, full = gd.calcdata[0][0].trace;
    const z = gd._fullData[0]._z ? gd._fullData[0]._z[row][column] : full.z[row][column];
    if (z === null || z === undefined || isNaN(z)) return [meta.itr_words[column] + " \u00b7 " + meta.dvfs_words[row], "not measured"];
    const [sd, n] = full.customdata[row][column];
    const scale = full.meta.scale;
    return [
      (view.points && view.points.labels[meta.system] || meta.system) + " \u00b7 " + meta.itr_words[column] + " \u00b7 " + meta.dvfs_words[row],
      meta.title + ": " + wattlas.formatQuantity(z * scale, meta.unit) + (sd > 0 ? " \u00b1 " + wattlas.formatQuantity(sd, meta.unit) + " sd" : ""),
      "n = " + n,
      "click: select its runs",
    ];
  };

  function card(lines, at) {
    const box = document.getElementById("hover-card");
    box.replaceChildren(...lines.filter(Boolean).map((text, i) => {
      const line = document.createElement("div");
      line.textContent = text;
      if (i === 0) line.className = "first";
      if (text.startsWith("click:")) line.className = "hint";
      return line;
    }));
    box.style.display = "block";
    const { width, height } = box.getBoundingClientRect();
    const x = at.clientX + 16 + width > innerWidth ? at.clientX - width - 12 : at.clientX + 16;
    const y = Math.min(Math.max(4, at.clientY - height / 2), innerHeight - height - 4);
    box.style.transform = "translate(" + Math.max(4, x) + "px," + y + "px)";
  }
  wattlas.card = card;

  wattlas.hideHover = () => { document.getElementById("hover-card").style.display = "none"; };

  document.addEventListener("click", (event) => {
    const row = event.target.closest && event.target.closest("#best-table tr[data-config]");
    if (row) wattlas.toggleConfig(JSON.parse(row.dataset.config));
  });

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest && event.target.closest("input, textarea, select, [role=listbox]");
    if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
      if (view.brush && plot("scatter")) wattlas.select("");
      wattlas.hideHover();
    } else if (event.key === "Enter" || event.key === " ") {
      const row = event.target.closest && event.target.closest("#best-table tr[data-config]");
      if (row) { event.preventDefault(); wattlas.toggleConfig(JSON.parse(row.dataset.config)); }
      else if (!typing) cursorKey(event);
    } else if (event.key.startsWith("Arrow") && !typing) cursorKey(event);
  });

  /* A cursor for those who use no mouse: arrows step through the points by x, or through the cells. */
  const cursor = { scatter: -1, heatmap: [0, 0] };
  function cursorKey(event) {
    const panel = event.target.closest && event.target.closest("section[data-view]");
    const id = panel && event.target === panel ? panel.dataset.view : "";
    const gd = id && plot(id);
    if (!gd || !view.points || !gd.layout.meta) return;
    if (id === "scatter" && gd.layout.meta.kind === "scatter") { event.preventDefault(); scatterCursor(gd, event.key); }
    if (id === "heatmap" && gd.layout.meta.kind === "heatmap") { event.preventDefault(); heatmapCursor(gd, event.key); }
  }

  function scatterCursor(gd, key) {
    const x = view.points.values.x;
    if (!view.byX) view.byX = Array.from(x.keys()).sort((a, b) => x[a] - x[b]);
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[key] || 0;
    cursor.scatter = Math.min(Math.max(cursor.scatter + step, 0), view.points.count - 1);
    const i = view.byX[cursor.scatter];
    view.under = i;
    if (!step) { wattlas.toggleConfig(wattlas.configuration(view.points, i)); return; }
    card(wattlas.pointLines(gd.layout.meta, i), place(gd, x[i], view.points.values.y[i]));
  }

  function heatmapCursor(gd, key) {
    const meta = gd.layout.meta;
    const [row, column] = cursor.heatmap;
    const move = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [1, 0], ArrowDown: [-1, 0] }[key];
    if (!move) {
      const clause = wattlas.cellsClause(meta.system, [[meta.itr[column], meta.dvfs[row]]]);
      wattlas.select(clause === view.brush ? "" : clause);
      return;
    }
    cursor.heatmap = [
      Math.min(Math.max(row + move[0], 0), meta.dvfs.length - 1),
      Math.min(Math.max(column + move[1], 0), meta.itr.length - 1),
    ];
    const [r, c] = cursor.heatmap;
    card(wattlas.cellLines(gd, r, c), place(gd, c, r));
  }

  /* Where in the window a plot draws a place; on a category axis the place is the category's index. */
  function place(gd, x, y) {
    const { xaxis, yaxis } = gd._fullLayout, box = gd.getBoundingClientRect();
    const at = (axis, v) => axis._offset + (axis.type === "category" ? axis.l2p(v) : axis.d2p(v));
    return { clientX: box.left + at(xaxis, x), clientY: box.top + at(yaxis, y) };
  }
  wattlas.place = place;
})((window.wattlas = window.wattlas || {}));
