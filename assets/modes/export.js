/* Start an exported Modes: the same drawing and linking as in the app, without a server. */
(function (wattlas) {
  "use strict";

  const { figures, cells, sel } = wattlas.exportData(), { modes } = wattlas, { view } = modes;
  Object.assign(view, { figures, data: wattlas.cells.decode(cells), sel });

  function linesOf(i) {
    const texts = wattlas.cells.cellLines(view.data, i).slice(0, -1);
    return [...texts, "The runs of this cell are not in this file."]
      .map((textContent) => wattlas.element("p", { textContent }));
  }

  /* The file has the evidence of one cell. For other cells it shows the lines of the hover. */
  const evidence = document.getElementById("modes-evidence-words"), exported = [...evidence.childNodes];
  view.onSelect = (now) => {
    const i = now === sel ? -1 : wattlas.cells.selectedCell(view.data, now);
    document.getElementById("evidence").hidden = i >= 0;
    if (i < 0) evidence.replaceChildren(...exported);
    else evidence.replaceChildren(...linesOf(i));
  };

  wattlas.exportThemes((theme) => {
    view.theme = theme;
    for (const [id, figure] of Object.entries(figures)) {
      const cellsOf = id === "evidence" ? null : view.data;
      const { data, layout } = wattlas.modesFigures.themed(figure, cellsOf, view.sel, theme);
      const gd = document.getElementById(id);
      wattlas.legend(id, figure);
      window.Plotly.react(gd, data, layout, wattlas.PLOT_CONFIG).then(() => modes.own(id));
    }
    modes.announce();
  });

  wattlas.exportKeys(modes);
  document.getElementById("clear-selection").addEventListener("click", () => modes.select(""));
})(window.wattlas);
