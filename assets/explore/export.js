/* Start an exported Explore: the same drawing and linking as in the app, without a server. */
(function (wattlas) {
  "use strict";

  const { scatter, heatmap, points, state } = wattlas.exportData(), { explore } = wattlas, { view } = explore;
  Object.assign(view, { clause: state.clause, zoom: state.zoom, limit: state.limit });
  explore.show(scatter, wattlas.decodePoints(points));

  const status = document.getElementById("status-selection");
  const announce = () => { status.textContent = explore.selectionWords(); };
  explore.onChange((what) => { if (what === "selection") announce(); });

  wattlas.exportThemes((theme) => {
    view.theme = theme;
    for (const [id, figure] of [["scatter", scatter], ["heatmap", heatmap]]) {
      const { data, layout } = wattlas.exploreFigures[id](figure, view.points, view, theme);
      const gd = document.getElementById(id);
      wattlas.legend(id, figure);
      window.Plotly.react(gd, data, layout, wattlas.PLOT_CONFIG).then(() => explore.own(id));
    }
    explore.paintBest();
    announce();
  });
  wattlas.exportKeys(explore);
})(window.wattlas);
