/* Start an exported Storage: the same drawing and linking as in the app, without a server. */
(function (wattlas) {
  "use strict";

  const { figures, configurations, sel } = wattlas.exportData(), { storage } = wattlas;
  storage.open(sel);
  wattlas.exportThemes((theme) => storage.show(figures, configurations, theme));
  wattlas.exportKeys(storage);
})(window.wattlas);
