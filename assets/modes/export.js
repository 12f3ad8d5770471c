/* Start an exported Modes: the same drawing and linking as in the app, without a server. */
(function (wattlas) {
  "use strict";

  const { views, sel } = wattlas.exportData(), { modes } = wattlas;
  modes.open(sel);

  function linesOf(i) {
    const texts = wattlas.cells.cellLines(modes.columns, i).slice(0, -1);
    return [...texts, "The runs of this cell are not in this file."]
      .map((textContent) => wattlas.element("p", { textContent }));
  }

  /* The file has the evidence of one cell. For other cells it shows the lines of the hover. */
  const evidence = document.getElementById("modes-evidence-words"), exported = [...evidence.childNodes];
  modes.onChange(() => {
    const i = modes.clause === sel ? -1 : wattlas.cells.selectedCell(modes.columns, modes.clause);
    document.getElementById("evidence").hidden = i >= 0;
    if (i < 0) evidence.replaceChildren(...exported);
    else evidence.replaceChildren(...linesOf(i));
    modes.announce();
  });

  wattlas.exportThemes((theme) => {
    for (const [name, answer] of Object.entries(views)) modes.show(name, answer, theme);
    modes.announce();
  });
  wattlas.exportKeys(modes);
  document.getElementById("clear-selection").addEventListener("click", modes.clear);
})(window.wattlas);
