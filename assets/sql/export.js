/* Start an exported SQL page: a list of tables and the query, in two themes. */
(function (wattlas) {
  "use strict";

  wattlas.exportThemes(() => {});
})(window.wattlas);
