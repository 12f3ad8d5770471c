/* Start an exported Explore: the same drawing and linking as in the app, without a server. */
(function (wattlas) {
  "use strict";

  const { pictures, state } = wattlas.exportData(), { explore } = wattlas;
  explore.open(state.clause, state.zoom);
  explore.limit = state.limit;

  const status = document.getElementById("status-selection");
  const announce = () => { status.textContent = explore.selectionWords(); };
  explore.onChange((what) => { if (what === "selection") announce(); });

  wattlas.exportThemes((theme) => {
    explore.showAll(pictures, theme);
    explore.paintBest();
    announce();
  });
  wattlas.exportKeys(explore);
})(window.wattlas);
