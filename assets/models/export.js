/* Start an exported Models: sliders and curves as in the app; runs, fits and simulations as they were. */
(function (wattlas) {
  "use strict";

  const { spec, kept, runs, fits, simulated } = JSON.parse(document.getElementById("view-data").textContent);
  const { models, modelsPage } = wattlas, { page } = models;
  Object.assign(page, { spec, kept, runs, fits });
  page.simulated = { ...simulated, status: simulated.results.length ? "done" : "" };
  wattlas.exportThemes((theme) => {
    page.theme = theme;
    modelsPage.show();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest && event.target.closest("input, select");
    if (!isTyping && !event.ctrlKey && !event.metaKey && !event.altKey && modelsPage.key(event)) {
      event.preventDefault();
    }
  });
})(window.wattlas);
