/*
 * Modes' linked views: what the kit's pictures of the cells show besides. The rows of all are the cells.
 */
(function (wattlas) {
  "use strict";

  const { cells, modesMap, kindOf, tracesOf } = wattlas;
  const listeners = [];
  const modes = (wattlas.modes = wattlas.linked({
    views: {
      winners: { dress: dressMap, lines: cellLines, drawn: fit },
      shares: {},
      pareto: { lines: pointLines },
      evidence: {},
    },
    changed(what) { if (what === "selection") listeners.forEach((listener) => listener()); },
  }));
  /** Call a listener after each change of the selection. */
  modes.onChange = (listener) => listeners.push(listener);

  const metaOf = () => (modes.figures.winners ? modes.figures.winners.layout.meta : {});

  function cellLines({ trace, cell }) {
    const map = wattlas.rows.mapOf(metaOf(), trace), i = cells.indexAt(modes.columns, map, cell);
    if (i >= 0) return cells.cellLines(modes.columns, i);
    const word = (axis, value) => modes.columns[axis].words[modes.columns[axis].values.indexOf(value)];
    return [word("x", map.xs[cell[0]]) + " \u00b7 " + word("y", map.ys[cell[1]]), "not measured"];
  }
  function pointLines({ gd, trace, i }) {
    if (kindOf(trace) !== "points") return null;
    const title = wattlas.shownText(gd.layout.xaxis.title.text);
    return cells.contenderLines(modes.columns, trace.meta.at[i], title);
  }

  function dressMap(figure, theme) {
    return modes.columns ? modesMap.dressed(figure, modes.columns, modes.plot("winners"), theme) : figure;
  }

  /** Fit labels and texts of the drawn maps to the parts in view. Does nothing where they fit already. */
  function fit(gd) {
    const meta = metaOf();
    if (meta.kind !== "map" || !modes.columns) return;
    const layout = {}, traces = [], indices = [], all = tracesOf(gd.data, "texts");
    const isSame = (wanted, has) => String(wanted) === String(Array.from(has || []));
    for (const map of modesMap.mapsOf(meta)) {
      const { labels, texts } = modesMap.shown(map, modes.columns, gd, modes.theme);
      for (const [path, value] of Object.entries(labels)) {
        const [axis, key] = path.split(".");
        if (key === "tickvals" && isSame(value, gd.layout[axis].tickvals)) continue;
        layout[path] = value;
      }
      const index = all.find((i) => (gd.data[i].xaxis || "x") === (map.x || "x")), drawn = gd.data[index];
      if (["text", "x", "y"].every((key) => isSame(texts[key], drawn[key]))) continue;
      traces.push(texts);
      indices.push(index);
    }
    const of = (key) => traces.map((one) => one[key]);
    const ofFont = (key) => traces.map((one) => one.textfont[key]);
    const change = {
      x: of("x"), y: of("y"), text: of("text"),
      "textfont.size": ofFont("size"), "textfont.color": ofFont("color"),
      "textfont.shadow": ofFont("shadow"),
    };
    if (indices.length) window.Plotly.update(gd, change, layout, indices);
    else if (Object.keys(layout).some((path) => path.endsWith("tickvals"))) {
      window.Plotly.relayout(gd, layout);
    }
  }

  /** Write the selection into the status line. */
  modes.announce = function () {
    const status = document.getElementById("status-selection");
    const clear = document.getElementById("clear-selection");
    if (!status || !clear) return;
    status.textContent = cells.words(modes.columns, modes.clause);
    clear.hidden = !modes.clause;
  };
})((window.wattlas = window.wattlas || {}));
