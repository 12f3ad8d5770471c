/* Modes: dress its pictures in the theme, and paint what is selected in all of them without the server. */
(function (wattlas) {
  "use strict";

  const kind = (trace) => (trace.meta && trace.meta.kind) || "";
  const indices = (data, name) => data.map((t, i) => (kind(t) === name ? i : -1)).filter((i) => i >= 0);

  function themed(layout, theme) {
    const c = wattlas.palette(theme);
    const axis = (a) => ({ ...a, gridcolor: c.grid, linecolor: c.line, tickcolor: c.line });
    return {
      ...layout, font: { ...layout.font, color: c.text }, xaxis: axis(layout.xaxis || {}), yaxis: axis(layout.yaxis || {}),
      modebar: { bgcolor: PAPER[theme] || PAPER.light, color: c.line, activecolor: c.text },
    };
  }

  /* Texts on cells without a fill have the colour `page`: the theme's own, with a halo before the hatching. */
  const PAPER = { light: "#ffffff", dark: "#16191d" };
  const haloOf = (theme) => Array(4).fill("0 0 3px " + (PAPER[theme] || PAPER.light)).join(", ");
  function inked(trace, theme) {
    if (kind(trace) !== "texts") return trace;
    // A copy in any case: what is written into a part of the map must not stay in the whole one.
    const colors = trace.textfont.color || [];
    const own = wattlas.palette(theme).text, halo = haloOf(theme);
    const font = { color: colors.map((c) => (c === "page" ? own : c)), shadow: colors.map((c) => (c === "page" ? halo : "none")) };
    return { ...trace, textfont: { ...trace.textfont, ...font } };
  }

  /** A figure in a theme with a selection painted: figure in, figure out. */
  function dress(figure, data, pick, theme) {
    const layout = themed(figure.layout, theme), name = layout.meta && layout.meta.kind;
    let traces = figure.data.map((t) => inked(t, theme));
    const mask = wattlas.cells.mask(data, pick);
    if (name === "map" && data) {
      layout.shapes = outline(data, pick, theme);
      traces = traces.map((t) => (kind(t) === "veil" ? { ...t, z: veil(data, pick, mask) } : t));
    } else if (name === "pareto" && data) {
      const selected = selectedPoints(figure, data, mask);
      let k = 0;
      traces = traces.map((t) => (kind(t) === "points" ? { ...t, selectedpoints: selected[k++] } : t));
    } else if (name === "shares" && data) {
      const opacity = shareOpacities(figure, data, pick);
      traces = traces.map((t, i) => ({ ...t, opacity: opacity[i] }));
    }
    return { data: traces, layout };
  }

  /** The frame around the one cell that is selected. */
  function outline(data, pick, theme) {
    const i = wattlas.cells.picked(data, pick);
    if (i < 0) return [];
    const x = data.cells.column[i], y = data.cells.row[i];
    return [{ type: "rect", x0: x - 0.5, x1: x + 0.5, y0: y - 0.5, y1: y + 0.5, line: { color: wattlas.palette(theme).text, width: 3 } }];
  }

  /** The veil over the map: 1 on cells that are not selected, where more than one is. */
  function veil(data, pick, mask) {
    const z = data.y.values.map(() => new Array(data.x.values.length).fill(null));
    if (!mask || pick.startsWith('["cell"')) return z;
    for (let i = 0; i < data.count; i++) if (!mask[i]) z[data.cells.row[i]][data.cells.column[i]] = 1;
    return z;
  }

  const numbers = (values) => (values && values.bdata ? wattlas.decode(values) : values);

  /** For each points trace the points whose cell is selected; null without a selection. */
  function selectedPoints(figure, data, mask) {
    return figure.data.filter((t) => kind(t) === "points").map((t) => {
      if (!mask) return null;
      const found = [];
      numbers(t.customdata).forEach((row, i) => { if (mask[data.contenders.cell[row]]) found.push(i); });
      return found;
    });
  }

  /** How strong each bar of the shares is: those that hold a selected cell fully. */
  function shareOpacities(figure, data, pick) {
    const mask = wattlas.cells.mask(data, pick);
    if (!mask || !mask.includes(1)) return figure.data.map(() => 1);
    const held = new Set();
    mask.forEach((v, i) => {
      if (!v) return;
      const outcome = data.outcomes[data.cells.outcome[i]];
      held.add(JSON.stringify(outcome === "win" ? ["won", data.who.values[data.contenders.who[data.cells.first[i]]]] : ["outcome", outcome]));
    });
    return figure.data.map((t) => (held.has(JSON.stringify(t.customdata[0])) ? 1 : 0.3));
  }

  /** Paint a selection in the pictures that are drawn already. */
  function paint(figures, data, pick, theme) {
    const mask = wattlas.cells.mask(data, pick);
    const drawn = (id, name) => {
      const gd = wattlas.plot(id);
      return figures[id] && gd && gd.data && gd.layout.meta && gd.layout.meta.kind === name ? gd : null;
    };
    const map = drawn("winners", "map"), pareto = drawn("pareto", "pareto"), shares = drawn("shares", "shares");
    if (map) window.Plotly.update(map, { z: [veil(data, pick, mask)] }, { shapes: outline(data, pick, theme) }, indices(map.data, "veil"));
    if (pareto) {
      const traces = indices(pareto.data, "points"), selected = selectedPoints(figures.pareto, data, mask);
      const isFast = wattlas.highlight && pareto.data[traces[0]].type === "scattergl" && wattlas.highlight(pareto, traces, selected);
      if (!isFast) window.Plotly.restyle(pareto, { selectedpoints: selected }, traces);
    }
    if (shares) window.Plotly.restyle(shares, { opacity: shareOpacities(figures.shares, data, pick) });
  }

  const CHARACTER_PX = 6.2, LINE_PX = 11.5;
  /** Which labels of a part of an axis have room: every k-th and the last; the twin of app/figures/map_marks.py. */
  function shownLabels(sizes, low, high, room) {
    const each = room / (high - low + 1), overlap = (i, j) => (j - i) * each < (sizes[i] + sizes[j]) / 2;
    for (let k = 0; ; k++) {
      const step = [1, 2, 5][k % 3] * Math.pow(10, Math.floor(k / 3)), found = [];
      for (let i = low; i < high; i += step) found.push(i);
      while (found.length && overlap(found[found.length - 1], high)) found.pop();
      found.push(high);
      if (found.length === 1 || found.every((i, n) => n === 0 || !overlap(found[n - 1], i))) return found;
    }
  }

  /** What of an axis is in view: the first and the last index, and whether that is all of it. */
  function inView(gd, name) {
    const axis = gd._fullLayout[name + "axis"], last = gd.layout.meta[name].length - 1, [from, to] = axis.range;
    const low = Math.max(0, Math.ceil(Math.min(from, to))), high = Math.min(last, Math.floor(Math.max(from, to)));
    return { low, high, isWhole: low === 0 && high === last, px: axis._length };
  }

  /**
   * Fit labels and texts to the part of the map that is in view: as many labels as have room there, and the
   * texts of its cells where the whole map has none. Does nothing where they fit already.
   *   whole: the map's figure as the server has drawn it.
   */
  function fit(gd, whole, data, theme) {
    const meta = gd.layout.meta;
    if (!whole || !meta || meta.kind !== "map" || !data) return;
    const layout = {}, seen = { x: inView(gd, "x"), y: inView(gd, "y") };
    if (seen.x.high < seen.x.low || seen.y.high < seen.y.low) return;
    for (const name of ["x", "y"]) {
      const at = labelsAt(seen[name], meta[name], name, whole.layout[name + "axis"]);
      if (String(at) === String(gd.layout[name + "axis"].tickvals)) continue;
      Object.assign(layout, { [name + "axis.tickvals"]: at, [name + "axis.ticktext"]: at.map((i) => meta[name][i]) });
    }
    const [index] = indices(gd.data, "texts"), texts = meta.has_texts ? null : textsIn(seen, meta, data, theme);
    const isWritten = !texts || String(texts.text[0]) === String(Array.from(gd.data[index].text || []));
    if (!isWritten) window.Plotly.update(gd, texts, layout, [index]);
    else if (Object.keys(layout).length) window.Plotly.relayout(gd, layout);
  }

  function labelsAt({ low, high, isWhole, px }, labels, name, axis) {
    if (isWhole) return axis.tickvals;
    return shownLabels(labels.map((label) => (name === "x" ? label.length * CHARACTER_PX + 6 : LINE_PX)), low, high, px);
  }

  /** The texts of the cells in view, where there are few enough; a change of the trace. */
  function textsIn(seen, meta, data, theme) {
    const found = { x: [], y: [], text: [], color: [], shadow: [] };
    const { low: left, high: right } = seen.x, { low, high } = seen.y;
    if (right - left < meta.most[0] && high - low < meta.most[1]) {
      for (let i = 0; i < data.count; i++) {
        const x = data.cells.column[i], y = data.cells.row[i], text = wattlas.cells.text(data, i);
        if (!text || x < left || x > right || y < low || y > high) continue;
        found.x.push(x);
        found.y.push(y);
        found.text.push(text);
        found.color.push(inkOf(meta, data, i, theme));
        found.shadow.push(data.outcomes[data.cells.outcome[i]] === "too few" ? haloOf(theme) : "none");
      }
    }
    return { x: [found.x], y: [found.y], text: [found.text], "textfont.color": [found.color], "textfont.shadow": [found.shadow] };
  }
  function inkOf(meta, data, i, theme) {
    const outcome = data.outcomes[data.cells.outcome[i]];
    if (outcome === "too few") return wattlas.palette(theme).text;
    return meta.inks[outcome === "tie" ? meta.inks.length - 1 : data.contenders.who[data.cells.first[i]]];
  }

  /** A dressed figure as it is seen: the part of it that a zoom has left, with its labels and texts; for paper. */
  function asSeen(figure, gd, data, theme) {
    if (!gd || !gd._fullLayout || !gd._fullLayout.xaxis) return figure;
    const axis = (name) => {
      const { tickvals, ticktext } = gd.layout[name] || {};
      return { ...figure.layout[name], range: gd._fullLayout[name].range.slice(), ...(tickvals ? { tickvals, ticktext } : {}) };
    };
    const layout = { ...figure.layout, xaxis: axis("xaxis"), yaxis: axis("yaxis") }, meta = layout.meta || {};
    if (meta.kind !== "map" || meta.has_texts || !data) return { ...figure, layout };
    const texts = textsIn({ x: inView(gd, "x"), y: inView(gd, "y") }, meta, data, theme);
    const written = (trace) => ({
      ...trace, x: texts.x[0], y: texts.y[0], text: texts.text[0],
      textfont: { ...trace.textfont, color: texts["textfont.color"][0], shadow: texts["textfont.shadow"][0] },
    });
    return { data: figure.data.map((trace) => (kind(trace) === "texts" ? written(trace) : trace)), layout };
  }

  wattlas.modesPaint = { dress, paint, fit, asSeen };
})((window.wattlas = window.wattlas || {}));
