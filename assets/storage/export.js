/* Start an exported Storage: the same drawing and linking as in the app, without a server. */
(function (wattlas) {
  "use strict";

  const { figures, configurations, sel } = JSON.parse(document.getElementById("view-data").textContent);
  const { storage } = wattlas;
  storage.open(sel);
  wattlas.exportThemes((theme) => storage.show(figures, configurations, theme));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") storage.select("");
    else if (storage.key(event)) event.preventDefault();
  });
})(window.wattlas);
