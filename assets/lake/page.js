/* Connects Lake to Dash: a page of text, which has files but no pictures. */
window.wattlas.withDash(function () {
  "use strict";

  const { wattlas } = window, NAME = "lake";

  wattlas.addPage({
    name: NAME,
    open() {},
    handover: () => ({}),
    files: () => ({ data: wattlas.fileOf(NAME, "data/datasets.csv") }),
    clear() {},
  });
});
