/*
 * Storage's pictures as they are painted: theme, selection. Pure but for `repaint`: figure in, figure out.
 * A selection is a clause: `knobs~{"mode":"poll"}`, configurations with these values, or
 * `box~VIEW~PANEL~x0~x1~y0~y1`, those of a view's points in a rectangle. app/storage_state.py reads the same.
 */
(function (wattlas) {
  "use strict";

  const SELECTABLE = { points: 1, bars: 1, cells: 1 }, FAINT = 0.3;
  const kind = (trace) => (trace.meta && trace.meta.kind) || "";
  const isSelectable = (trace) => kind(trace) in SELECTABLE;
  const panelOf = (trace) => Number((trace.xaxis || "x").slice(1) || 1) - 1;

  /** Which configurations a clause selects: Uint8Array of 0 and 1, or null for no clause or a broken one. */
  function evaluate(clause, configurations, figures) {
    if (!clause || !configurations) return null;
    const mask = new Uint8Array(configurations.runs.length);
    const [what, ...rest] = clause.split("~");
    try {
      if (what === "knobs") byKnobs(mask, configurations, JSON.parse(rest.join("~")));
      else if (what === "box") inBox(mask, figures[rest[0]], rest.slice(1).map(Number));
      else return null;
    } catch (error) { return null; }
    return mask;
  }

  function byKnobs(mask, configurations, wanted) {
    const tests = Object.entries(wanted).map(([name, value]) => [configurations.knobs[name], value]);
    for (let i = 0; i < mask.length; i++) mask[i] = tests.every(([values, value]) => values[i] === value) ? 1 : 0;
  }

  function inBox(mask, figure, [panel, x0, x1, y0, y1]) {
    figure.data.filter((t) => isSelectable(t) && panelOf(t) === panel).forEach((trace) => {
      trace.meta.rows.forEach((rows, i) => {
        const inside = trace.x[i] >= x0 && trace.x[i] <= x1 && trace.y[i] >= y0 && trace.y[i] <= y1;
        if (inside) rows.forEach((row) => { mask[row] = 1; });
      });
    });
  }

  /** The box around the points that Plotly has caught in one of a view's panels; "" for none. */
  function boxClause(view, gd, points) {
    const caught = points.filter((p) => isSelectable(gd.data[p.curveNumber]));
    if (!caught.length) return "";
    const panel = panelOf(gd.data[caught[0].curveNumber]);
    const mine = caught.filter((p) => panelOf(gd.data[p.curveNumber]) === panel);
    const ends = (axis) => {
      const values = mine.map((p) => gd.data[p.curveNumber][axis][p.pointNumber]);
      return [Math.min(...values), Math.max(...values)];
    };
    return ["box", view, panel, ...ends("x"), ...ends("y")].join("~");
  }

  /** What a click on a point selects: all configurations with the knobs that its trace names. */
  function knobsClause(trace, i, configurations) {
    const row = trace.meta.rows[i][0];
    if (row === undefined) return "";
    return "knobs~" + JSON.stringify(Object.fromEntries(trace.meta.knobs.map((name) => [name, configurations.knobs[name][row]])));
  }

  const caughtBy = (trace, mask) => mask && trace.meta.rows.flatMap((rows, i) => (rows.some((row) => mask[row]) ? [i] : []));

  /** How a trace is painted under a selection. */
  function look(trace, mask) {
    if (isSelectable(trace)) {
      const caught = caughtBy(trace, mask);
      return { selectedpoints: caught, opacity: caught && !caught.length ? 2 * FAINT : 1 };
    }
    if (kind(trace) === "texts") return { selectedpoints: caughtBy(trace, mask), opacity: 1 };
    if (kind(trace) === "totals") return { opacity: mask ? FAINT : 1 };
    if (!trace.meta || !trace.meta.behind) return {};
    // What is drawn of many configurations at once stays as long as one of them is selected.
    const share = mask && !trace.meta.behind.some((row) => mask[row]) ? FAINT : 1;
    return { opacity: share * (kind(trace) === "ranges" ? 0.45 : 1) };
  }

  /* The veil over a panel of cells: 1 where a measured cell holds nothing that is selected. */
  function veil(trace, catcher, mask) {
    const z = trace.z.map((line) => line.map(() => null));
    if (!mask) return z;
    const caught = new Set(caughtBy(catcher, mask));
    catcher.x.forEach((x, i) => { if (!caught.has(i)) z[catcher.y[i]][x] = 1; });
    return z;
  }

  function inked(value, ink) {
    if (Array.isArray(value)) return value.includes("page") ? value.map((part) => inked(part, ink)) : value;
    if (!value || typeof value !== "object") return value === "page" ? ink : value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, inked(part, ink)]));
  }

  function themed(layout, theme) {
    const c = wattlas.palette(theme), out = inked(layout, c.text);
    out.font = { ...layout.font, color: c.text };
    out.modebar = { bgcolor: "rgba(0,0,0,0)", color: c.line, activecolor: c.text };
    out.newselection = { line: { color: c.text, width: 1, dash: "dot" } };
    Object.keys(out).filter((key) => /^[xy]axis\d*$/.test(key)).forEach((key) => {
      out[key] = { ...out[key], gridcolor: c.grid, linecolor: c.line, tickcolor: c.line };
    });
    out.annotations = (layout.annotations || []).map((note) => inked(note, c.text));
    return out;
  }

  /** A figure of the server in a theme and under a selection. */
  function dress(figure, mask, theme) {
    const ink = wattlas.palette(theme).text;
    const data = figure.data.map((trace, i) => {
      const { meta, ...rest } = trace;
      const painted = { ...inked(rest, ink), meta, ...look(trace, mask) };
      if (kind(trace) === "veil") painted.z = veil(trace, figure.data[i + 1], mask);
      return painted;
    });
    return { data, layout: themed(figure.layout, theme) };
  }

  const LEGEND_PX = 40;
  /** For paper: on white, with a legend of its own, below, where the page has one for all. */
  function onPaper(figure, mask, height) {
    const out = dress(figure, mask, "light"), named = new Set();
    out.data = out.data.map((trace) => {
      const isFirst = (kind(trace) === "points" || kind(trace) === "published") && trace.name && !named.has(trace.name);
      if (isFirst) named.add(trace.name);
      return isFirst ? { ...trace, showlegend: true } : trace;
    });
    if (named.size) out.layout = { ...out.layout, showlegend: true, height: height + LEGEND_PX, legend: { orientation: "h", y: -0.2, font: { size: 10 } } };
    return out;
  }

  const isEqual = (a, b) => JSON.stringify(a === undefined ? null : a) === JSON.stringify(b === undefined ? null : b);

  /** Paint a selection into a picture that is drawn, in one step, unless it shows just that already. */
  function repaint(gd, figure, mask, keepsOutline) {
    const traces = [], wanted = [];
    figure.data.forEach((trace, i) => {
      const next = kind(trace) === "veil" ? { z: veil(trace, figure.data[i + 1], mask) } : look(trace, mask);
      if (!Object.keys(next).length) return;
      traces.push(i);
      wanted.push(next);
    });
    const isSame = traces.every((t, k) => Object.entries(wanted[k]).every(([name, value]) => isEqual(gd.data[t][name], value)));
    const hasOutline = Boolean(gd.layout.selections && gd.layout.selections.length);
    const layout = hasOutline && !keepsOutline ? { selections: [] } : {};
    // What a trace has no wish for is undefined, which Plotly passes over.
    const names = new Set(wanted.flatMap((next) => Object.keys(next)));
    const change = Object.fromEntries([...names].map((name) => [name, wanted.map((next) => next[name])]));
    if (!isSame) window.Plotly.update(gd, change, layout, traces);
    else if (layout.selections) window.Plotly.relayout(gd, layout);
  }

  wattlas.storagePaint = { evaluate, boxClause, knobsClause, dress, onPaper, repaint, isSelectable, panelOf };
})((window.wattlas = window.wattlas || {}));
