/*
 * Storage's figures in a theme and under a selection, and the clauses of its points. Pure but for `repaint`.
 * What a trace's `meta` holds: app/storage/figures/__init__.py.
 */
(function (wattlas) {
  "use strict";

  const SELECTABLE = new Set(["points", "bars", "cells"]), FAINT = 0.3, RANGE_OPACITY = 0.45;
  const { kindOf: kind, themedFigure } = wattlas;
  const isSelectable = (trace) => SELECTABLE.has(kind(trace));
  const panelOf = (trace) => trace.xaxis || "x";

  /** The configurations of the server with their columns as typed arrays, as clauses are evaluated over. */
  function decode(raw) {
    if (!raw) return null;
    const knobs = {}, fields = {};
    for (const [name, { values, index }] of Object.entries(raw.knobs)) {
      knobs[name] = { values, index: wattlas.decode(index) };
      fields[name] = Array.from(knobs[name].index, (i) => (values[i] === null ? NaN : values[i]));
    }
    for (const [name, column] of Object.entries(raw.fields)) fields[name] = wattlas.decode(column);
    return { ...raw, knobs, fields };
  }

  /* ---- clauses */

  const knobsOf = (configurations, names, row) =>
    Object.fromEntries(names.map((name) => [name, wattlas.knob(configurations, name, row)]));

  /** The clause of a click on a point: all configurations with the same values of the trace's knobs. */
  function knobsClause(trace, i, configurations) {
    const row = trace.meta.rows[i][0];
    if (row === undefined) return "";
    const names = trace.meta.knobs || Object.keys(configurations.knobs);
    return wattlas.clause.knobs(knobsOf(configurations, names, row));
  }

  /* A margin for the rounding of bounds in the text; knobs are exact. */
  const MARGIN = 1e-6;
  function endsOf(configurations, field, rows) {
    const values = rows.map((row) => configurations.fields[field][row]).filter(Number.isFinite);
    const low = Math.min(...values), high = Math.max(...values);
    if (field in configurations.knobs) return [low, high];
    return [low - MARGIN * Math.abs(low), high + MARGIN * Math.abs(high)];
  }

  /** The clause of the points that Plotly has found in a box in one of a figure's panels; "" for none. */
  function boxClause(gd, points, configurations) {
    const found = points.map((point) => [gd.data[point.curveNumber], point.pointNumber])
      .filter(([trace]) => isSelectable(trace));
    if (!found.length) return "";
    const mine = found.filter(([trace]) => panelOf(trace) === panelOf(found[0][0]));
    const rows = [...new Set(mine.flatMap(([trace, i]) => trace.meta.rows[i]))], { box } = mine[0][0].meta;
    if (box) {
      const [x, y] = [box.x, box.y].map((field) => endsOf(configurations, field, rows));
      return wattlas.clause.box(box, x, y, box.knobs);
    }
    const varied = Object.keys(configurations.knobs)
      .filter((name) => configurations.knobs[name].values.length > 1);
    const names = varied.length ? varied : ["dataset"];
    return wattlas.clause.knobs(rows.map((row) => knobsOf(configurations, names, row)));
  }

  /* ---- what a selection changes */

  /** Indices of a trace's points that hold a selected configuration; null without a selection. */
  const selectedIn = (trace, mask) =>
    mask && trace.meta.rows.flatMap((rows, i) => (rows.some((row) => mask[row]) ? [i] : []));

  /** The properties of a trace that depend on the selection. */
  function look(trace, mask) {
    if (isSelectable(trace)) {
      const selected = selectedIn(trace, mask);
      return { selectedpoints: selected, opacity: selected && !selected.length ? 2 * FAINT : 1 };
    }
    if (kind(trace) === "texts") return { selectedpoints: selectedIn(trace, mask), opacity: 1 };
    if (kind(trace) === "totals") return { opacity: mask ? FAINT : 1 };
    if (!trace.meta || !trace.meta.behind) return {};
    // A line through many configurations fades when none of them is selected.
    const share = mask && !trace.meta.behind.some((row) => mask[row]) ? FAINT : 1;
    return { opacity: share * (kind(trace) === "ranges" ? RANGE_OPACITY : 1) };
  }

  /** The veil over a panel of cells: 1 over a measured cell without a selected configuration. */
  function veil(trace, cells, mask) {
    const z = trace.z.map((line) => line.map(() => null));
    if (!mask) return z;
    const selected = new Set(selectedIn(cells, mask));
    cells.x.forEach((x, i) => { if (!selected.has(i)) z[cells.y[i]][x] = 1; });
    return z;
  }

  const changes = (figure, trace, i, mask) =>
    (kind(trace) === "veil" ? { z: veil(trace, figure.data[i + 1], mask) } : look(trace, mask));

  /** A figure of the server in a theme and under a selection. */
  function paint(figure, mask, theme) {
    const { data, layout } = themedFigure(figure, theme);
    const change = (trace, i) => ({ ...trace, ...changes(figure, figure.data[i], i, mask) });
    return { data: data.map(change), layout };
  }

  const LEGEND_PX = 40;
  /** A figure for papers, with its own legend below; on the page one legend serves all figures. */
  function onPaper(figure, mask, height) {
    const out = paint(figure, mask, "light"), named = new Set();
    out.data = out.data.map((trace) => {
      const isNew = ["points", "published"].includes(kind(trace)) && trace.name && !named.has(trace.name);
      if (isNew) named.add(trace.name);
      return isNew ? { ...trace, showlegend: true } : trace;
    });
    const legend = { orientation: "h", y: -0.2, font: { size: 10 } };
    if (named.size) out.layout = { ...out.layout, showlegend: true, height: height + LEGEND_PX, legend };
    return out;
  }

  const textOf = (value) => JSON.stringify(value === undefined ? null : value);

  /** Show a selection in a drawn figure, in one step, unless the figure shows it already. */
  function repaint(gd, figure, mask, keepsOutline) {
    const wanted = figure.data.map((trace, i) => [i, changes(figure, trace, i, mask)])
      .filter(([, change]) => Object.keys(change).length);
    const isSame = wanted.every(([i, change]) =>
      Object.entries(change).every(([name, value]) => textOf(gd.data[i][name]) === textOf(value)));
    const hasOutline = Boolean(gd.layout.selections && gd.layout.selections.length);
    const layout = hasOutline && !keepsOutline ? { selections: [] } : {};
    if (isSame) {
      if (layout.selections) window.Plotly.relayout(gd, layout);
      return;
    }
    // Plotly leaves a property of a trace alone where its value is undefined.
    const names = new Set(wanted.flatMap(([, change]) => Object.keys(change)));
    const valuesOf = (name) => wanted.map(([, change]) => change[name]);
    const update = Object.fromEntries([...names].map((name) => [name, valuesOf(name)]));
    window.Plotly.update(gd, update, layout, wanted.map(([i]) => i));
  }

  wattlas.storageFigures = { decode, boxClause, knobsClause, paint, onPaper, repaint, isSelectable, panelOf };
})((window.wattlas = window.wattlas || {}));
