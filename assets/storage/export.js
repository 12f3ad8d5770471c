/* Start an exported Storage: the same drawing and linking as in the app, without a server. */
(function (wattlas) {
  "use strict";

  const { pictures, sel } = wattlas.exportData(), { storage } = wattlas;
  storage.open(sel);
  wattlas.exportThemes((theme) => storage.showPictures(pictures, theme));
  wattlas.exportKeys(storage);
})(window.wattlas);
