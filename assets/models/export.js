/* Start an exported Models: sliders and curves as in the app; runs, fits and simulations as they were. */
(function (wattlas) {
  "use strict";

  const { models: { page }, modelsPage } = wattlas, { simulated, ...others } = wattlas.exportData();
  Object.assign(page, { ...others, simulated: { ...simulated, status: simulated.results.length ? "done" :
    "" } });
  wattlas.exportThemes((theme) => {
    page.theme = theme;
    modelsPage.show();
    modelsPage.answered();
  });
  wattlas.exportKeys({ key: modelsPage.key });
})(window.wattlas);
