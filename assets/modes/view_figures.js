/* The figures of Modes in a theme, with the selection: figure in, figure out. And changes of drawn ones. */
(function (wattlas) {
  "use strict";

  const { kindOf, tracesOf } = wattlas;
  const changed = (traces, kind, change) => traces.map((t) => (kindOf(t) === kind ? { ...t, ...change } : t));
  const numbers = (values) => (values && values.bdata ? wattlas.decode(values) : values);

  /** For each points trace of the Pareto view the points of the selected cells; null without a selection. */
  function selectedPoints(figure, data, sel) {
    const mask = wattlas.cells.mask(data, sel);
    return figure.data.filter((t) => kindOf(t) === "points").map((trace) => {
      if (!mask) return null;
      const found = [];
      numbers(trace.customdata).forEach((row, i) => { if (mask[data.contenders.cell[row]]) found.push(i); });
      return found;
    });
  }

  /** The opacity of each bar of the shares: those of a selected cell are opaque. */
  function shareOpacities(figure, data, sel) {
    const mask = wattlas.cells.mask(data, sel);
    if (!mask || !mask.includes(1)) return figure.data.map(() => 1);
    const selected = new Set();
    mask.forEach((isSelected, i) => { if (isSelected) selected.add(wattlas.cells.shareOf(data, i)); });
    return figure.data.map((trace) => (selected.has(trace.customdata[0]) ? 1 : 0.3));
  }

  const CHANGES = {
    map(figure, layout, data, sel, theme, gd) {
      const meta = layout.meta, drawn = wattlas.modesMap.partInView(meta, gd);
      const part = wattlas.modesMap.isEmpty(drawn) ? wattlas.modesMap.partInView(meta) : drawn;
      for (const [path, value] of Object.entries(wattlas.modesMap.labels(meta, part))) {
        const [axis, name] = path.split(".");
        layout[axis] = { ...layout[axis], [name]: value };
      }
      layout.shapes = wattlas.modesMap.frame(data, sel, theme);
      const texts = wattlas.modesMap.texts(meta, data, part, theme);
      const dimmed = { z: wattlas.modesMap.dimmed(data, sel) };
      const veil = { colorscale: wattlas.modesMap.veilScale(theme) };
      return changed(changed(changed(figure.data, "veil", veil), "texts", texts), "dimmed", dimmed);
    },
    pareto(figure, layout, data, sel) {
      const selected = selectedPoints(figure, data, sel);
      let k = 0;
      return figure.data.map((t) => (kindOf(t) === "points" ? { ...t, selectedpoints: selected[k++] } : t));
    },
    shares(figure, layout, data, sel) {
      const opacities = shareOpacities(figure, data, sel);
      return figure.data.map((trace, i) => ({ ...trace, opacity: opacities[i] }));
    },
  };

  /**
   * A figure in a theme with the selection.
   *   gd: the plot that shows the figure; a map then has the labels and texts of the part in view.
   */
  function themed(figure, data, sel, theme, gd = null) {
    const layout = wattlas.themed(figure.layout, theme);
    const change = data && CHANGES[layout.meta && layout.meta.kind];
    return { data: change ? change(figure, layout, data, sel, theme, gd) : figure.data, layout };
  }

  /** Show a selection in the figures that are drawn already. */
  function paint(figures, data, sel, theme) {
    const drawn = (id, kind) => {
      const gd = wattlas.plot(id);
      return figures[id] && gd && gd.data && gd.layout.meta && gd.layout.meta.kind === kind ? gd : null;
    };
    const map = drawn("winners", "map"), pareto = drawn("pareto", "pareto");
    const shares = drawn("shares", "shares");
    if (map) {
      const z = [wattlas.modesMap.dimmed(data, sel)], shapes = wattlas.modesMap.frame(data, sel, theme);
      window.Plotly.update(map, { z }, { shapes }, tracesOf(map.data, "dimmed"));
    }
    if (pareto) {
      const traces = tracesOf(pareto.data, "points");
      const selected = selectedPoints(figures.pareto, data, sel);
      const isDone = wattlas.highlight(pareto, traces, selected);
      if (!isDone) window.Plotly.restyle(pareto, { selectedpoints: selected }, traces);
    }
    if (shares) window.Plotly.restyle(shares, { opacity: shareOpacities(figures.shares, data, sel) });
  }

  /** Fit labels and texts of a drawn map to the part in view. Does nothing where they fit already. */
  function fit(gd, data, theme) {
    const meta = gd.layout.meta;
    if (!meta || meta.kind !== "map" || !data) return;
    const part = wattlas.modesMap.partInView(meta, gd);
    if (wattlas.modesMap.isEmpty(part)) return;
    const layout = {}, labels = wattlas.modesMap.labels(meta, part);
    for (const name of ["x", "y"]) {
      const path = name + "axis.tickvals", text = name + "axis.ticktext";
      if (String(labels[path]) === String(gd.layout[name + "axis"].tickvals)) continue;
      Object.assign(layout, { [path]: labels[path], [text]: labels[text] });
    }
    const [index] = tracesOf(gd.data, "texts"), texts = wattlas.modesMap.texts(meta, data, part, theme);
    const { x, y, text, textfont } = texts, drawn = gd.data[index];
    const isSame = [[text, drawn.text], [x, drawn.x], [y, drawn.y]]
      .every(([wanted, has]) => String(wanted) === String(Array.from(has || [])));
    const { size, color, shadow } = textfont;
    const trace = {
      x: [x], y: [y], text: [text],
      "textfont.size": size, "textfont.color": [color], "textfont.shadow": [shadow],
    };
    if (!isSame) window.Plotly.update(gd, trace, layout, [index]);
    else if (Object.keys(layout).length) window.Plotly.relayout(gd, layout);
  }

  /** A figure for paper: in the light theme, the part in view where it is drawn. */
  function onPaper(figure, data, sel, gd) {
    const found = themed(figure, data, sel, "light", gd), full = gd && gd._fullLayout;
    if (!full || !full.xaxis) return found;
    const part = (name) => ({ ...found.layout[name], range: full[name].range.slice() });
    return { data: found.data, layout: { ...found.layout, xaxis: part("xaxis"), yaxis: part("yaxis") } };
  }

  wattlas.modesFigures = { themed, paint, fit, onPaper };
})((window.wattlas = window.wattlas || {}));
