/* Start an exported Explore: the same drawing and linking as in the app, without a server. */
(function (wattlas) {
  "use strict";

  const { scatter, heatmap, points, state } = JSON.parse(document.getElementById("view-data").textContent);
  const { explore } = wattlas, { view } = explore;
  const config = { displaylogo: false, showSendToCloud: false, responsive: true };
  Object.assign(view, { clause: state.clause, zoom: state.zoom, limit: state.limit });
  explore.show(scatter, wattlas.decodePoints(points));

  const status = document.getElementById("status-selection");
  const announce = () => { status.textContent = explore.selectionWords(); };
  explore.onChange((what) => { if (what === "selection") announce(); });

  wattlas.exportThemes((theme) => {
    view.theme = theme;
    for (const [id, figure] of [["scatter", scatter], ["heatmap", heatmap]]) {
      const { data, layout } = wattlas.exploreFigures[id](figure, view.points, view, theme);
      window.Plotly.react(document.getElementById(id), data, layout, config).then(() => explore.own(id));
    }
    explore.paintBest();
    announce();
  });
  document.addEventListener("keydown", (event) => { if (explore.key(event)) event.preventDefault(); });
})(window.wattlas);
