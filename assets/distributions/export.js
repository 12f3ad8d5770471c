/* Start an exported Distributions: the same map, without a server. */
(function (wattlas) {
  "use strict";

  const { pictures } = wattlas.exportData(), { distributions } = wattlas;
  distributions.open("");
  wattlas.exportThemes((theme) => distributions.showAll(pictures, theme));
  wattlas.exportKeys(distributions);
})(window.wattlas);
