/* Start an exported Storage: the app's drawing and linking, without a server. */
(function (wattlas) {
  "use strict";
  const { figures, configurations, sel } = JSON.parse(document.getElementById("view-data").textContent);
  const button = document.getElementById("theme-button");
  let theme = "light";
  function show(wanted) {
    theme = wanted;
    document.documentElement.setAttribute("data-theme", theme);
    button.textContent = theme === "dark" ? "light" : "dark";
    wattlas.storage.show(figures, configurations, theme);
  }
  button.addEventListener("click", () => show(theme === "dark" ? "light" : "dark"));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") wattlas.storage.select("");
    else if (wattlas.storage.key(event)) event.preventDefault();
  });
  wattlas.storage.open(sel);
  show(theme);
})(window.wattlas);
