/* Dress the server's figures: theme, latency limit, selection. Pure: figure in, figure out. */
(function (wattlas) {
  "use strict";

  const THEMES = {
    light: { text: "#1f2328", grid: "#e4e7eb", line: "#9aa1a9", halo: "rgba(255,255,255,0.9)", missed: "#c3c7cc" },
    dark: { text: "#e6e8eb", grid: "#2f343b", line: "#6b737d", halo: "rgba(255,255,255,0.55)", missed: "#4b5159" },
  };
  wattlas.palette = (theme) => THEMES[theme] || THEMES.light;

  const kindOf = (trace) => (trace.meta && trace.meta.kind) || "";
  wattlas.tracesOf = (data, kind) => data.map((t, i) => (kindOf(t) === kind ? i : -1)).filter((i) => i >= 0);

  function themed(layout, theme) {
    const c = THEMES[theme] || THEMES.light;
    const axis = (a) => ({ ...a, gridcolor: c.grid, linecolor: c.line, tickcolor: c.line });
    const out = { ...layout, font: { ...layout.font, color: c.text } };
    out.xaxis = axis(layout.xaxis || {});
    out.yaxis = axis(layout.yaxis || {});
    out.newselection = { line: { color: c.text, width: 1, dash: "dot" } };
    out.modebar = { bgcolor: "rgba(0,0,0,0)", color: c.line, activecolor: c.text };
    return out;
  }

  /** Marker colours of one points trace: the DVFS scale or the governor's hue; grey past the limit. */
  wattlas.limitColors = function (points, k, trace, limit, theme) {
    const from = points.traces[k], to = points.traces[k + 1];
    const dvfs = points.knobs.dvfs_ghz, performance = points.values.performance;
    const own = typeof trace.marker.color === "string" && !trace.marker.coloraxis ? trace.marker.color : null;
    const colors = new Array(to - from);
    const grey = THEMES[theme].missed;
    for (let i = from; i < to; i++) {
      const meets = limit === null || performance[i] <= limit;
      colors[i - from] = meets ? (own || dvfs.values[dvfs.index[i]]) : grey;
    }
    return colors;
  };

  /** Indices of the selected points within each points trace; null where there is no selection. */
  wattlas.selectedPoints = function (points, mask) {
    return points.traces.slice(0, -1).map((from, k) => {
      if (!mask) return null;
      const found = [];
      for (let i = from; i < points.traces[k + 1]; i++) if (mask[i]) found.push(i - from);
      return found;
    });
  };

  /** The box or lasso of a clause as Plotly draws it, where its columns are the axes. */
  wattlas.outline = function (brush, fields, theme) {
    const [kind, x, y, ...rest] = (brush || "").split("~");
    if ((kind !== "box" && kind !== "lasso") || x !== fields.x || y !== fields.y) return [];
    const look = { xref: "x", yref: "y", line: { color: THEMES[theme].text, width: 1, dash: "dot" } };
    if (kind === "lasso") return [{ ...look, type: "path", path: "M" + rest.join("L") + "Z" }];
    const [x0, x1, y0, y1] = rest.map(Number);
    return [{ ...look, type: "rect", x0, x1, y0, y1 }];
  };

  function inRightHalf(value, xs) {
    let low = Infinity, high = -Infinity;
    for (const x of xs) { if (x < low) low = x; if (x > high) high = x; }
    return value > (low + high) / 2;
  }

  /** The line at the latency limit, along whichever axis shows the performance metric. */
  wattlas.limitShapes = function (meta, limit, theme, xs) {
    if (limit === null || !meta) return [];
    const line = { color: THEMES[theme].text, width: 1.5, dash: "dash" };
    const label = { text: "limit " + wattlas.formatQuantity(limit, meta.units[meta.performance]), font: { size: 11, color: THEMES[theme].text } };
    if (meta.x === meta.performance) {
      return [{ type: "line", xref: "x", yref: "paper", x0: limit, x1: limit, y0: 0, y1: 1, line, label: { ...label, textposition: "end", textangle: 0, xanchor: inRightHalf(limit, xs) ? "right" : "left", yanchor: "top" } }];
    }
    if (meta.y === meta.performance) {
      return [{ type: "line", xref: "paper", yref: "y", x0: 0, x1: 1, y0: limit, y1: limit, line, label: { ...label, textposition: "end" } }];
    }
    return [];
  };

  wattlas.dress = {
    scatter(figure, points, view, theme) {
      const layout = themed(figure.layout, theme);
      if (!points) return { data: figure.data, layout };
      const meta = figure.layout.meta;
      const selected = wattlas.selectedPoints(points, view.mask);
      let k = 0;
      const data = figure.data.map((trace) => {
        if (kindOf(trace) !== "points") return trace;
        const marker = { ...trace.marker, line: { ...trace.marker.line } };
        if (!String(marker.symbol).endsWith("-open")) marker.line.color = THEMES[theme].halo;
        if (view.limit !== null) marker.color = wattlas.limitColors(points, k, trace, view.limit, theme);
        return { ...trace, marker, selectedpoints: selected[k++] };
      });
      layout.shapes = wattlas.limitShapes(meta, view.limit, theme, points.values.x);
      layout.selections = wattlas.outline(view.brush, view.fields, theme);
      view.home = { xaxis: figure.layout.xaxis.range, yaxis: figure.layout.yaxis.range };
      if (view.zoom) {
        const [x0, x1, y0, y1] = view.zoom.split("~").map(Number);
        layout.xaxis = { ...layout.xaxis, range: [x0, x1], autorange: false };
        layout.yaxis = { ...layout.yaxis, range: [y0, y1], autorange: false };
      }
      return { data, layout };
    },

    heatmap(figure, points, view, theme) {
      const layout = themed(figure.layout, theme);
      if (kindOf({ meta: figure.layout.meta }) !== "heatmap" || !points) return { data: figure.data, layout };
      const data = figure.data.map((t) => (kindOf(t) === "veil" ? { ...t, z: wattlas.veil(figure, points, view.mask) } : t));
      return { data, layout };
    },
  };

  /** The veil over the heatmap: 1 where a measured cell holds no selected point, else null. */
  wattlas.veil = function (figure, points, mask) {
    const { itr, dvfs, system, missing } = figure.layout.meta;
    const z = dvfs.map(() => itr.map(() => (mask ? 1 : null)));
    if (!mask) return z;
    for (const [row, column] of missing) z[row][column] = null;
    const rowOf = points.knobs.dvfs_ghz.values.map((v) => dvfs.indexOf(v));
    const columnOf = points.knobs.itr_us.values.map((v) => itr.indexOf(v));
    const mine = points.knobs.system.values.indexOf(system);
    const { system: s, dvfs_ghz: d, itr_us: t } = points.knobs;
    for (let i = 0; i < points.count; i++) {
      if (!mask[i] || s.index[i] !== mine) continue;
      const row = rowOf[d.index[i]], column = columnOf[t.index[i]];
      if (row >= 0 && column >= 0) z[row][column] = null;
    }
    return z;
  };
})((window.wattlas = window.wattlas || {}));
