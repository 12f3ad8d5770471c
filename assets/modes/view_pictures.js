/*
 * Modes' linked views: what the kit's pictures of the cells show besides. The rows of all are the cells.
 */
(function (wattlas) {
  "use strict";

  const { cells, modesMap, kindOf, tracesOf } = wattlas;
  const listeners = [];
  const modes = (wattlas.modes = wattlas.linked({
    views: {
      winners: { dress: dressMap, lines: cellLines, clause: cellClause, drawn: fit },
      shares: {},
      pareto: { lines: pointLines },
      evidence: {},
    },
    changed(what) { if (what === "selection") listeners.forEach((listener) => listener()); },
  }));
  /** Call a listener after each change of the selection. */
  modes.onChange = (listener) => listeners.push(listener);

  const metaOf = () => (modes.figures.winners ? modes.figures.winners.layout.meta : {});
  const cellOf = ({ cell }) => cells.indexAt(modes.columns, cell[0], cell[1]);

  function cellLines(item) {
    const i = cellOf(item), { x, y } = modes.columns, [column, row] = item.cell;
    if (i !== undefined) return cells.cellLines(modes.columns, i);
    return [x.words[column] + " \u00b7 " + y.words[row], "not measured"];
  }
  function cellClause(item) {
    const i = cellOf(item);
    return i === undefined ? "" : cells.clauseOf(modes.columns, i);
  }
  function pointLines({ gd, trace, i }) {
    if (kindOf(trace) !== "points") return null;
    const title = wattlas.shownText(gd.layout.xaxis.title.text);
    return cells.contenderLines(modes.columns, trace.meta.at[i], title);
  }

  /** The map with labels and texts of the part in view, and pale cells in the theme's colour. */
  function dressMap({ data, layout }, theme) {
    if (layout.meta.kind !== "map" || !modes.columns) return { data, layout };
    const { labels, texts } = modesMap.shown(layout.meta, modes.columns, modes.plot("winners"), theme);
    const changes = { pale: { colorscale: modesMap.veilScale(theme) }, texts };
    const dressed = { ...layout };
    for (const [path, value] of Object.entries(labels)) {
      const [axis, name] = path.split(".");
      dressed[axis] = { ...dressed[axis], [name]: value };
    }
    return { data: data.map((trace) => ({ ...trace, ...changes[kindOf(trace)] })), layout: dressed };
  }

  /** Fit labels and texts of the drawn map to the part in view. Does nothing where they fit already. */
  function fit(gd) {
    const meta = metaOf();
    if (meta.kind !== "map" || !modes.columns) return;
    const { labels, texts } = modesMap.shown(meta, modes.columns, gd, modes.theme), layout = {};
    for (const name of ["x", "y"]) {
      const path = name + "axis.tickvals", text = name + "axis.ticktext";
      if (String(labels[path]) === String(gd.layout[name + "axis"].tickvals)) continue;
      Object.assign(layout, { [path]: labels[path], [text]: labels[text] });
    }
    const [index] = tracesOf(gd.data, "texts"), drawn = gd.data[index], { x, y, text, textfont } = texts;
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

  /** Write the selection into the status line. */
  modes.announce = function () {
    const status = document.getElementById("status-selection");
    const clear = document.getElementById("clear-selection");
    if (!status || !clear) return;
    status.textContent = cells.words(modes.columns, modes.clause);
    clear.hidden = !modes.clause;
  };
})((window.wattlas = window.wattlas || {}));
