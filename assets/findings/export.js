/* Start an exported Findings: a report, its pictures drawn without a server. */
(function (wattlas) {
  "use strict";

  const { figures, columns } = wattlas.exportData(), { findings } = wattlas;
  findings.open("");
  wattlas.exportThemes((theme) => {
    for (const [name, figure] of Object.entries(figures)) findings.show(name, { figure, columns }, theme);
  });
  wattlas.exportKeys(findings);
})(window.wattlas);
