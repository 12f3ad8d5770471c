/* Start an exported Storage: the same drawing and linking as the app's, without a server. */
(function (wattlas) {
  "use strict";
  const { figures, configurations, pick } = JSON.parse(document.getElementById("view-data").textContent);
  let theme = "light";
  function show(wanted) {
    theme = wanted;
    document.documentElement.setAttribute("data-theme", theme);
    document.getElementById("theme-button").textContent = theme === "dark" ? "light" : "dark";
    wattlas.storage.show(figures, configurations, theme);
  }
  document.getElementById("theme-button").addEventListener("click", () => show(theme === "dark" ? "light" : "dark"));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") wattlas.storage.select(""); });
  wattlas.storage.open(pick);
  show(theme);
})(window.wattlas);
