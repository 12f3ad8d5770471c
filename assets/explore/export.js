/* Start an exported page: the same dressing and linking as the app's, without a server. */
(function (wattlas) {
  "use strict";
  const { scatter, heatmap, points, state } = JSON.parse(document.getElementById("view-data").textContent);
  const view = wattlas.view;
  const config = { displaylogo: false, showSendToCloud: false, responsive: true };
  view.points = wattlas.decodePoints(points);
  view.brush = state.brush;
  view.zoom = state.zoom;
  view.limit = state.limit;
  const meta = scatter.layout.meta || {};
  view.fields = { x: meta.x, y: meta.y };
  view.original = scatter.data.filter((t) => t.meta && t.meta.kind === "points");
  view.mask = wattlas.evaluate(view.brush, view.points, view.fields);

  wattlas.announce = () => { document.getElementById("status-selection").textContent = wattlas.selectionWords(); };
  wattlas.onChange((what) => { if (what === "selection") wattlas.announce(); });

  function draw(theme) {
    view.theme = theme;
    document.documentElement.setAttribute("data-theme", theme);
    document.getElementById("theme-button").textContent = theme === "dark" ? "light" : "dark";
    for (const [id, figure] of [["scatter", scatter], ["heatmap", heatmap]]) {
      const { data, layout } = wattlas.dress[id](figure, view.points, view, theme);
      window.Plotly.react(document.getElementById(id), data, layout, config).then(() => wattlas.own(id));
    }
    wattlas.paintBest();
    wattlas.announce();
  }
  document.getElementById("theme-button").addEventListener("click", () => draw(view.theme === "dark" ? "light" : "dark"));
  draw("light");
})(window.wattlas);
