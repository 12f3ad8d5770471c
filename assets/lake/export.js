/* Start an exported Lake page: text in two themes. */
(function (wattlas) {
  "use strict";

  wattlas.exportThemes(() => {});
})(window.wattlas);
