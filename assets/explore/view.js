/*
 * Explore's linked views: what the kit's pictures of the points and of the cells show besides, and the table
 * of best settings.
 */
(function (wattlas) {
  "use strict";

  const { kindOf, tracesOf } = wattlas;
  const listeners = [];
  const explore = (wattlas.explore = wattlas.linked({
    views: {
      scatter: { dress: dressScatter, lines: pointLines, drawn: paintEdges },
      heatmap: { lines: cellLines, drawn: fitNumbers },
      lines: { dress: dressLines },
    },
    changed(what) {
      if (what === "selection") paintBest();
      listeners.forEach((listener) => listener(what));
    },
  }));
  explore.limit = null;
  /** Call a listener after each change of the "selection" or the "zoom". */
  explore.onChange = (listener) => listeners.push(listener);

  const metaOf = (name) => (explore.figures[name] && explore.figures[name].layout.meta) || {};
  const isScatter = () => metaOf("scatter").kind === "scatter";
  /** The panels of the scatter: their axes, and their rows of the columns; without a split one. */
  const panelsOf = ({ panels }) =>
    panels || [{ x: "x", y: "y", rows: { first: 0, end: explore.columns.count } }];
  const axisOf = (layout, id) => layout[id[0] + "axis" + id.slice(1)];

  /* ---- the scatter: grey points beyond the limit, the line at it, arrows of error bars */

  function dressScatter({ data, layout }, theme) {
    const { meta } = layout, { columns } = explore;
    if (meta.kind !== "scatter" || !columns) return { data, layout };
    const traces = data.map((trace) => {
      if (kindOf(trace) !== "points") return trace;
      const marker = { ...trace.marker, line: { ...trace.marker.line } };
      if (!String(marker.symbol).includes("-open")) marker.line.color = wattlas.palette(theme).outline;
      if (explore.limit !== null) marker.color = limitColors(trace, theme, meta);
      return { ...trace, marker };
    });
    const annotations = [...layout.annotations || [], ...beyondOf(layout, meta)];
    const dressed = { ...layout, shapes: limitShapes(layout, theme), annotations };
    return { data: meta.means ? [...traces, ...arrowsOf(dressed, meta)] : traces, layout: dressed };
  }

  /** Marker colours of a trace of points: the scale of a knob or one hue; grey past the limit. */
  function limitColors({ marker: { color, coloraxis }, meta: { rows } }, theme, meta) {
    const { colour, limited, is_least: isLeast } = meta, sign = isLeast ? -1 : 1;
    const { columns, limit } = explore, values = columns.fields[limited];
    const standing = limit === meta.limit && columns.knobs.standing;
    const scale = columns.knobs[colour], grey = wattlas.palette(theme).missed;
    const own = typeof color === "string" && !coloraxis ? color : null;
    return Array.from({ length: rows.end - rows.first }, (_, k) => {
      const i = rows.first + k;
      // The server says which settings surely miss the limit; while the slider moves, the mean counts.
      const known = standing && standing.values[standing.index[i]];
      if (known ? known === "outside" : !(limit === null || sign * values[i] <= sign * limit)) return grey;
      return own || scale.values[scale.index[i]];
    });
  }

  /** What the first picture needs of the columns, from the points of its traces, which are in their order. */
  function columnsOf({ data, layout: { meta: { fields = {} } = {} } }) {
    const points = data.filter((trace) => kindOf(trace) === "points").map(wattlas.decoded);
    const all = (of) => Float64Array.from(points.flatMap((trace) => [...of(trace)]));
    const none = ({ x }) => ({ array: x.map(() => NaN) });
    const spread = (letter) => all((trace) => (trace["error_" + letter] || none(trace)).array);
    const [x, y] = ["x", "y"].map((letter) => all((trace) => trace[letter]));
    return {
      count: x.length, knobs: {}, fields: { [fields.x]: x, [fields.y]: y },
      spreads: { x: spread("x"), y: spread("y") },
    };
  }
  if (wattlas.openings) wattlas.openings.explore = function ({ figure, columns }, theme) {
    explore.columns = wattlas.decoded(columns) || columnsOf(figure);
    explore.limit = (figure.layout.meta || {}).limit ?? null;
    const dressed = dressScatter(wattlas.themedFigure(figure, theme), theme);
    explore.columns = null;
    return dressed;
  };

  /* ---- the lines: the limit across the panels of its metric */

  function dressLines({ data, layout }, theme) {
    return { data, layout: { ...layout, shapes: limitsOfLines(layout.meta, theme) } };
  }
  function limitsOfLines({ axes, limited, unit }, theme) {
    const own = (axes && axes[limited]) || [];
    return explore.limit === null ? [] : own.map((yref) => levelShape(yref, unit, theme));
  }
  function levelShape(yref, unit, theme) {
    const { line, label } = limitLook(unit, theme), { limit } = explore;
    return { type: "line", xref: "paper", yref, x0: 0, x1: 1, y0: limit, y1: limit, line, label };
  }
  function limitLook(unit, theme) {
    const color = wattlas.palette(theme).text, text = "limit " + wattlas.formatQuantity(explore.limit, unit);
    const line = { color, width: 1.5, dash: "dash" };
    return { line, label: { text, font: { size: 12, color }, textposition: "end" } };
  }

  function isInRightHalf(value, { type, range }) {
    return range && (type === "log" ? Math.log10(value) : value) > (Number(range[0]) + Number(range[1])) / 2;
  }

  /** The line at the limit in each panel, along whichever axis shows the limited metric. */
  function limitShapes({ meta, ...layout }, theme) {
    const { fields, limited, units } = meta, { limit } = explore;
    if (limit === null || !units) return [];
    const { line, label } = limitLook(units[limited], theme);
    if (fields.x === limited) {
      const anchor = (x) => (isInRightHalf(limit, axisOf(layout, x)) ? "right" : "left");
      return panelsOf(meta).map(({ x, y }) => ({
        type: "line", xref: x, yref: y + " domain", x0: limit, x1: limit, y0: 0, y1: 1, line,
        label: { ...label, textangle: 0, xanchor: anchor(x), yanchor: "top" },
      }));
    }
    if (fields.y !== limited) return [];
    const level = (y) => levelShape(y, units[limited], theme);
    return panelsOf(meta).map(({ x, y }) => ({ ...level(y), xref: x + " domain" }));
  }

  /**
   * Arrow heads where error bars leave the axes: at the edge, along the bar. A bar of a logarithmic axis that
   * ends at 0 or below leaves it at its lower edge.
   */
  const arrowsOf = (layout, meta) => panelsOf(meta).map((panel) => arrowsIn(panel, layout, meta));
  function arrowsIn({ x: xaxis, y: yaxis, rows }, layout, { bar, fields }) {
    const { columns } = explore, at = { x: [], y: [], symbol: [], rows: [] };
    const axes = { x: frame(axisOf(layout, xaxis)), y: frame(axisOf(layout, yaxis)) };
    const values = { x: columns.fields[fields.x], y: columns.fields[fields.y] }, other = { x: "y", y: "x" };
    for (let i = rows.first; i < rows.end; i++) {
      if (!axes.x.includes(values.x[i]) || !axes.y.includes(values.y[i])) continue;
      for (const letter of ["x", "y"]) {
        const sd = columns.spreads[letter][i], value = values[letter][i];
        if (!(sd > 0)) continue;
        const { low, high } = axes[letter], [down, up] = HEADS[letter];
        for (const [end, symbol] of [[low, value - sd < low && down], [high, value + sd > high && up]]) {
          if (!symbol) continue;
          at[letter].push(end);
          at[other[letter]].push(values[other[letter]][i]);
          at.symbol.push(symbol);
          at.rows.push(i);
        }
      }
    }
    const isWhole = { marker: { opacity: 1 } };
    return {
      type: "scatter", mode: "markers", meta: { kind: "arrows", of: at.rows }, hoverinfo: "none",
      showlegend: false, cliponaxis: false, marker: { symbol: at.symbol, size: 8, color: bar, opacity: 1 },
      x: at.x, y: at.y, xaxis, yaxis, selected: isWhole, unselected: isWhole,
    };
  }
  const HEADS = { x: ["triangle-left", "triangle-right"], y: ["triangle-down", "triangle-up"] };
  /** The ends of an axis as values, a hair inside: Plotly hides what lies beyond by rounding. */
  function frame({ type, range }) {
    const [from, to] = range.map(Number).sort((a, b) => a - b), hair = 1e-9 * (to - from);
    const [low, high] = [from + hair, to - hair].map((v) => (type === "log" ? Math.pow(10, v) : v));
    return { low, high, includes: (value) => value >= low && value <= high };
  }

  const beyond = (x, y, xanchor, yanchor) => ({
    x, y, xanchor, yanchor, showarrow: false, font: { size: 12 }, name: "beyond",
  });
  const EDGES = [
    ["x", "low", (n) => "\u25c2 " + n, beyond(0, 0.5, "left", "middle")],
    ["x", "high", (n) => n + " \u25b8", beyond(1, 0.5, "right", "middle")],
    ["y", "low", (n) => "\u25be " + n, beyond(0.5, 0, "center", "bottom")],
    ["y", "high", (n) => "\u25b4 " + n, beyond(0.5, 1, "center", "top")],
  ];
  /** At each edge of a panel how many points lie beyond it; the hover says how far, a click shows all. */
  const beyondOf = (layout, meta) => panelsOf(meta).flatMap((panel) => beyondIn(panel, layout, meta));
  function beyondIn({ x, y, rows }, layout, { fields, units }) {
    const { columns } = explore, axes = { x: frame(axisOf(layout, x)), y: frame(axisOf(layout, y)) };
    return EDGES.flatMap(([letter, end, text, place]) => {
      const edge = axes[letter][end], sign = end === "low" ? -1 : 1, name = fields[letter];
      const own = columns.fields[name].subarray(rows.first, rows.end);
      const there = own.filter((value) => sign * value > sign * edge);
      if (!there.length) return [];
      const far = there.reduce((a, b) => (sign * b > sign * a ? b : a));
      const n = there.length.toLocaleString("en"), points = there.length === 1 ? " point" : " points";
      const hovertext = n + points + " beyond, to " + wattlas.formatQuantity(far, units[name])
        + " \u00b7 click: show all";
      return [{ ...place, xref: x + " domain", yref: y + " domain", text: text(n + " beyond"), hovertext }];
    });
  }

  /** Move the arrow heads of error bars, and what is beyond, to the edges of the shown range. */
  function paintEdges(gd) {
    if (!isScatter()) return;
    const meta = metaOf("scatter"), was = gd.layout.annotations || [];
    const isBeyond = ({ name }) => name === "beyond", text = (one) => one.text + one.xref;
    const now = beyondOf(gd._fullLayout, meta), own = was.filter(isBeyond);
    const annotations = [...was.filter((one) => !isBeyond(one)), ...now];
    const isSame = String(now.map(text)) === String(own.map(text));
    if (!isSame) window.Plotly.relayout(gd, { annotations });
    const drawn = tracesOf(gd.data, "arrows");
    if (!drawn.length) return;
    arrowsOf(gd._fullLayout, meta).forEach(({ x, y, marker, meta: of }, i) => {
      const k = drawn[i];
      if (JSON.stringify([x, y]) === JSON.stringify([gd.data[k].x, gd.data[k].y])) return;
      window.Plotly.restyle(gd, { x: [x], y: [y], meta: [of], "marker.symbol": [marker.symbol] }, [k]);
    });
  }

  let limitFrame = 0, greyTimer = 0;
  /** Draw the limit at once; grey the points beyond it when the slider rests. */
  explore.drawLimit = function (limit) {
    if (limit === explore.limit) return;
    explore.limit = limit;
    wattlas.cancel(limitFrame);
    wattlas.cancel(greyTimer);
    limitFrame = wattlas.nextFrame(() => {
      const gd = explore.plot("scatter"), lines = explore.plot("lines");
      if (lines) window.Plotly.relayout(lines, { shapes: limitsOfLines(metaOf("lines"), explore.theme) });
      if (!gd || !isScatter()) return;
      window.Plotly.relayout(gd, { shapes: limitShapes(explore.figures.scatter.layout, explore.theme) });
      greyTimer = wattlas.later(() => {
        const original = explore.figures.scatter.data, traces = tracesOf(original, "points");
        const colors = traces.map((t) => limitColors(original[t], explore.theme, metaOf("scatter")));
        window.Plotly.restyle(gd, { "marker.color": colors }, traces);
      }, 60);
    });
  };

  /* ---- in words */

  const STANDINGS = {
    within: "within the limit", maybe: "may or may not meet the limit", outside: "misses the limit",
  };
  const NEXT = { in: "so is the next run (95 %)", out: "the next run may miss it" };
  const BEST = { set: "cannot be told from the best", once: "measured once, cannot be ruled out" };
  const joined = (...words) => words.filter(Boolean).join(" \u00b7 ");

  /** Whether a setting meets the limit, and whether the next run will; nothing without a limit. */
  function standingWords(standing, nextRun) {
    return joined(STANDINGS[standing], standing === "outside" ? "" : NEXT[nextRun]);
  }

  /** The label of a point's system; empty where it is only the name of the dataset. */
  explore.systemOf = function (columns, i) {
    const system = wattlas.knob(columns, "system", i);
    const isNamed = system && system !== "unknown" && system !== wattlas.knob(columns, "dataset", i);
    return isNamed ? columns.labels[system] || system : "";
  };

  /** How many runs the value of a point along an axis is of; a mean without a deviation counts as one. */
  explore.runsOf = ({ runs, spreads }, axis, i) => (isNaN(spreads[axis][i]) ? Math.min(runs[i], 1) : runs[i]);
  /** `n = 5`, or `n = 5 for Time, 1 for Energy`. */
  function nWords(i) {
    const { fields, titles } = metaOf("scatter"), of = (axis) => explore.runsOf(explore.columns, axis, i);
    const [x, y] = ["x", "y"].map(of);
    if (x === y) return wattlas.nWords(x, metaOf("scatter").unstated);
    return "n = " + x + " for " + titles[fields.x] + ", " + y + " for " + titles[fields.y];
  }

  /** The lines of the card of a point: configuration, then the two values with spread and n. */
  function pointLines({ rows: [i] }) {
    if (i === undefined) return null;
    const { columns } = explore, { fields, titles, units, means, unstated } = metaOf("scatter");
    const value = (axis) => {
      const name = fields[axis], sd = columns.spreads[axis][i];
      const spread = sd > 0 ? " \u00b1 " + wattlas.formatQuantity(sd, units[name]) : "";
      return titles[name] + ": " + wattlas.formatQuantity(columns.fields[name][i], units[name]) + spread;
    };
    const listed = (name) => columns.knobs[name] && wattlas.knob(columns, name, i);
    const replicate = listed("replicate"), flags = listed("flags"), odd = listed("odd");
    const isRun = replicate !== undefined && replicate !== null;
    return [
      joined(explore.systemOf(columns, i), wattlas.knobWords(columns, i, false)),
      joined(wattlas.knobWords(columns, i, true), wattlas.knob(columns, "dataset", i)),
      value("x"), value("y"),
      means ? nWords(i) : isRun ? "replicate " + replicate : unstated ? "one row" : "one run",
      standingWords(listed("standing"), listed("next_run")),
      BEST[listed("best")] || "",
      odd ? "odd: " + odd : "",
      flags ? "flags: " + flags : "",
      explore.hint ? explore.hint(i) : "click: select this configuration",
    ];
  }

  function cellLines({ gd, cell: [column, row] }) {
    const meta = metaOf("heatmap"), [trace] = gd.data.filter((one) => kindOf(one) === "cells");
    if (!trace || row < 0 || column < 0) return null;
    const place = meta.x_words[column] + " \u00b7 " + meta.y_words[row];
    if (meta.map.missing.some(([r, c]) => r === row && c === column)) return [place, "not measured"];
    const { mean, sd, n } = trace.meta, at = row * meta.map.xs.length + column;
    const spread = sd[at] > 0 ? " \u00b1 " + wattlas.formatQuantity(sd[at], meta.unit) + " sd" : "";
    return [
      joined(meta.of, place),
      meta.title + ": " + wattlas.formatQuantity(mean[at], meta.unit) + spread,
      wattlas.nWords(n[at], meta.unstated), "click: select its runs",
    ];
  }

  const EDGE_PX = 1.5, LINE_PX = 15;
  /** Write the numbers into the cells where each has room for its number. */
  function fitNumbers(gd) {
    const k = gd.data.findIndex((one) => kindOf(one) === "cells" && one.text);
    if (k < 0) return;
    const { xaxis, yaxis } = gd._fullLayout, room = wattlas.titles.widest(gd.data[k].text.flat()) + EDGE_PX;
    const [wide, high] = [xaxis, yaxis].map(({ range, _length }) => _length / Math.abs(range[1] - range[0]));
    const wanted = wide >= room && high >= LINE_PX ? "%{text}" : "";
    if (gd.data[k].texttemplate !== wanted) window.Plotly.restyle(gd, { texttemplate: wanted }, [k]);
  }

  /** The selection in words, for the status line. */
  explore.selectionWords = () => wattlas.clause.words(explore, metaOf("scatter").means);

  /* ---- the table of best settings: a click or Enter on a row selects its best set */

  /** Mark the rows of the best-settings table of which a selected point is. */
  function paintBest() {
    const { columns, mask } = explore;
    document.querySelectorAll("#best-table tr[data-config]").forEach((row) => {
      const own = mask && wattlas.clause.evaluate("knobs~" + row.dataset.config, columns);
      const isHit = Boolean(own) && own.some((isOwn, i) => isOwn && mask[i]);
      row.classList.toggle("selected", isHit);
      row.classList.toggle("dimmed", Boolean(mask) && !isHit);
      row.setAttribute("aria-selected", String(isHit));
    });
  }
  explore.paintBest = paintBest;

  const rowOf = (event) =>
    (wattlas.closest(event, "[data-limit]") ? null : wattlas.closest(event, "#best-table tr[data-config]"));
  const toggleRow = (row) => explore.toggle(wattlas.clause.knobs(JSON.parse(row.dataset.config)));
  document.addEventListener("click", (event) => {
    const row = rowOf(event);
    if (row) toggleRow(row);
  });

  const { key } = explore;
  explore.key = function (event) {
    const row = rowOf(event), isChoice = event.key === "Enter" || event.key === " ";
    if (!row || !isChoice) return key(event);
    toggleRow(row);
    return true;
  };
})((window.wattlas = window.wattlas || {}));
