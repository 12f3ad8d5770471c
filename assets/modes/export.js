/* Start an exported Modes: the same drawing and linking as in the app, without a server. */
(function (wattlas) {
  "use strict";

  const { figures, cells, sel } = JSON.parse(document.getElementById("view-data").textContent);
  const { modes } = wattlas, { view } = modes;
  const config = { displaylogo: false, showSendToCloud: false, responsive: true };
  Object.assign(view, { figures, data: wattlas.cells.decode(cells), sel });

  function linesOf(i) {
    const texts = wattlas.cells.cellLines(view.data, i).slice(0, -1);
    return [...texts, "The runs of this cell are not in this file."].map((text) => {
      const line = document.createElement("p");
      line.textContent = text;
      return line;
    });
  }

  /* The file has the evidence of one cell. Of another cell it says what the hover says. */
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
      window.Plotly.react(document.getElementById(id), data, layout, config).then(() => modes.own(id));
    }
    modes.announce();
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") modes.select("");
    else if (modes.press(event.target, event.key)) event.preventDefault();
  });
  document.getElementById("clear-selection").addEventListener("click", () => modes.select(""));
})(window.wattlas);
