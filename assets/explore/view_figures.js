/* Explore's figures under a theme, a limit and a selection. Pure: figure in, figure out. */
(function (wattlas) {
  "use strict";

  const { tracesOf, kindOf } = wattlas;
  const figures = {};

  /** The rows of the points to evaluate a clause over (see _kit/clause.js). */
  figures.columns = function (points, fields) {
    if (!points) return null;
    const { x, y, clause_x: cx, clause_y: cy } = points.values, named = {};
    const other = points.clauseFields;
    if (other) Object.assign(named, { [other.x]: cx, [other.y]: cy });
    const knobs = { ...points.knobs, get replicate() { return replicatesOf(points); } };
    return { count: points.count, knobs, fields: { ...named, [fields.x]: x, [fields.y]: y } };
  };

  /** Which replicate each point is, as a knob: a link may name one run. NULL for means. */
  function replicatesOf(points) {
    if (!points.replicates) {
      const values = [...new Set(points.replicate)], places = new Map(values.map((value, i) => [value, i]));
      const index = Uint32Array.from(points.replicate, (value) => places.get(value));
      points.replicates = { values: values.map((value) => (isNaN(value) ? null : value)), index };
    }
    return points.replicates;
  }

  /** Marker colours of one points trace: the scale of a knob or one hue; grey past the limit. */
  figures.limitColors = function (points, k, trace, limit, theme, meta) {
    const from = points.traces[k], to = points.traces[k + 1], { color, coloraxis } = trace.marker;
    const scale = points.knobs[meta.colour], { limited } = points.values, sign = meta.is_least ? -1 : 1;
    const own = typeof color === "string" && !coloraxis ? color : null;
    const grey = wattlas.palette(theme).missed, colors = new Array(to - from);
    for (let i = from; i < to; i++) {
      const meets = limit === null || sign * limited[i] <= sign * limit;
      colors[i - from] = meets ? (own || scale.values[scale.index[i]]) : grey;
    }
    return colors;
  };

  /** Indices of the selected points within each points trace; null where there is no selection. */
  figures.selectedPoints = function (points, mask) {
    return points.traces.slice(0, -1).map((from, k) => {
      if (!mask) return null;
      const found = [];
      for (let i = from; i < points.traces[k + 1]; i++) if (mask[i]) found.push(i - from);
      return found;
    });
  };

  /** The box or polygon of a clause as Plotly draws it, where its columns are the axes. */
  figures.outline = function (text, fields, theme) {
    const clause = wattlas.clause.read(text);
    const isHere = clause && clause.fields && clause.fields.x === fields.x && clause.fields.y === fields.y;
    if (!isHere) return [];
    const line = { color: wattlas.palette(theme).text, width: 1, dash: "dot" };
    const look = { xref: "x", yref: "y", line };
    if (clause.kind === "lasso") {
      return [{ ...look, type: "path", path: "M" + clause.corners.join("L") + "Z" }];
    }
    const [x0, x1, y0, y1] = clause.bounds;
    return [{ ...look, type: "rect", x0, x1, y0, y1 }];
  };

  function isInRightHalf(value, xs) {
    let low = Infinity, high = -Infinity;
    for (const x of xs) {
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
    return value > (low + high) / 2;
  }

  /** The line at the limit, along whichever axis shows the limited metric. */
  figures.limitShapes = function (meta, limit, theme, xs) {
    if (limit === null || !meta) return [];
    const color = wattlas.palette(theme).text, line = { color, width: 1.5, dash: "dash" };
    const text = "limit " + wattlas.formatQuantity(limit, meta.units[meta.limited]);
    const label = { text, font: { size: 11, color }, textposition: "end" };
    if (meta.x === meta.limited) {
      const xanchor = isInRightHalf(limit, xs) ? "right" : "left";
      return [{
        type: "line", xref: "x", yref: "paper", x0: limit, x1: limit, y0: 0, y1: 1, line,
        label: { ...label, textangle: 0, xanchor, yanchor: "top" },
      }];
    }
    if (meta.y !== meta.limited) return [];
    return [{ type: "line", xref: "paper", yref: "y", x0: 0, x1: 1, y0: limit, y1: limit, line, label }];
  };

  /**
   * Arrow heads where error bars leave the axes: at the edge, along the bar. A bar of a logarithmic axis that
   * ends at 0 or below leaves it at its lower edge.
   */
  figures.arrows = function (points, { xaxis, yaxis }, { bar, means }) {
    const at = { x: [], y: [], symbol: [], customdata: [] };
    const axes = { x: frame(xaxis), y: frame(yaxis) }, other = { x: "y", y: "x" };
    const isShown = (letter, i) => axes[letter].includes(points.values[letter][i]);
    for (let i = 0; means && i < points.count; i++) {
      for (const letter of ["x", "y"]) {
        const sd = points.values[letter + "_sd"][i], across = other[letter];
        if (!(sd > 0) || !isShown("x", i) || !isShown("y", i)) continue;
        const value = points.values[letter][i], { low, high } = axes[letter], [down, up] = HEADS[letter];
        for (const [end, symbol] of [[low, value - sd < low && down], [high, value + sd > high && up]]) {
          if (!symbol) continue;
          at[letter].push(end);
          at[across].push(points.values[across][i]);
          at.symbol.push(symbol);
          at.customdata.push(i);
        }
      }
    }
    const { symbol, ...places } = at;
    return {
      type: "scatter", mode: "markers", meta: { kind: "arrows" }, hoverinfo: "none", showlegend: false,
      cliponaxis: false, marker: { symbol, size: 8, color: bar, opacity: 1 }, ...places,
      selected: { marker: { opacity: 1 } }, unselected: { marker: { opacity: 1 } },
    };
  };
  const HEADS = { x: ["triangle-left", "triangle-right"], y: ["triangle-down", "triangle-up"] };
  /** The ends of an axis as values, a hair inside: Plotly hides what lies beyond by rounding. */
  function frame({ type, range }) {
    const [from, to] = range.map(Number).sort((a, b) => a - b), hair = 1e-9 * (to - from);
    const [low, high] = [from + hair, to - hair].map((v) => (type === "log" ? Math.pow(10, v) : v));
    return { low, high, includes: (value) => value >= low && value <= high };
  }

  figures.scatter = function (figure, points, view, theme) {
    const layout = wattlas.themed(figure.layout, theme);
    if (!points) return { data: figure.data, layout };
    const selected = figures.selectedPoints(points, view.mask);
    const { meta } = figure.layout;
    let k = 0;
    const data = figure.data.map((trace) => {
      if (kindOf(trace) !== "points") return trace;
      const marker = { ...trace.marker, line: { ...trace.marker.line } };
      if (!String(marker.symbol).endsWith("-open")) marker.line.color = wattlas.palette(theme).halo;
      if (view.limit !== null) {
        marker.color = figures.limitColors(points, k, trace, view.limit, theme, meta);
      }
      return { ...trace, marker, selectedpoints: selected[k++] };
    });
    layout.shapes = figures.limitShapes(figure.layout.meta, view.limit, theme, points.values.x);
    layout.selections = figures.outline(view.clause, view.fields, theme);
    if (view.zoom) {
      const [x0, x1, y0, y1] = view.zoom.split("~").map(Number);
      layout.xaxis = { ...layout.xaxis, range: [x0, x1], autorange: false };
      layout.yaxis = { ...layout.yaxis, range: [y0, y1], autorange: false };
    }
    if (meta.means) data.push(figures.arrows(points, layout, meta));
    return { data, layout };
  };

  figures.heatmap = function (figure, points, view, theme) {
    const layout = wattlas.themed(figure.layout, theme);
    if (kindOf(figure.layout) !== "heatmap" || !points) return { data: figure.data, layout };
    const z = figures.veil(figure.layout.meta, points, view.mask);
    return { data: figure.data.map((t) => (kindOf(t) === "veil" ? { ...t, z } : t)), layout };
  };

  /** What covers the heatmap: 1 where a measured cell holds no selected point, else null. */
  figures.veil = function ({ knobs, xs, ys, place, missing }, points, mask) {
    const z = ys.map(() => xs.map(() => (mask ? 1 : null)));
    if (!mask) return z;
    for (const [row, column] of missing) z[row][column] = null;
    const one = { values: [null], index: new Uint8Array(points.count) };
    const column = (name) => points.knobs[name] || one;
    const [t, d] = knobs.map(column);
    const rowOf = d.values.map((v) => ys.indexOf(v)), columnOf = t.values.map((v) => xs.indexOf(v));
    const shown = Object.entries(place).map(([name, value]) => (
      [column(name), column(name).values.indexOf(value)]));
    for (let i = 0; i < points.count; i++) {
      if (!mask[i] || shown.some(([knob, at]) => knob.index[i] !== at)) continue;
      const y = rowOf[d.index[i]], x = columnOf[t.index[i]];
      if (y >= 0 && x >= 0) z[y][x] = null;
    }
    return z;
  };

  figures.isScatter = (gd) => Boolean(gd && gd.layout && kindOf(gd.layout) === "scatter");
  figures.isHeatmap = (gd) => Boolean(gd && gd.layout && kindOf(gd.layout) === "heatmap");
  figures.pointTraces = (gd) => tracesOf(gd.data, "points");

  wattlas.exploreFigures = figures;
})((window.wattlas = window.wattlas || {}));
