/* The pictures of Findings: shares of knobs, and the effect of one; and the claim that is selected. */
(function (wattlas) {
  "use strict";

  let opened = () => {};
  const page = wattlas.linked({
    views: {
      knobs: {
        clause({ trace, i }) {
          const target = trace.meta.opens && trace.meta.opens[i];
          if (target) opened(target);
          return "";
        },
        drawn: tall,
      },
      effect: { clause: () => "" },
    },
  });

  /* The picture of shares is as tall as its sweeps need. */
  function tall(gd) {
    const { height } = gd.layout;
    if (height) gd.closest(".panel").style.minHeight = height + 44 + "px";
  }

  /**
   * Select the row of a claim, else the first with a setting; return it if there is one. While a page opens,
   * its first text has a copy of the row, before the one that stays.
   */
  function mark(sel, claim) {
    const rows = [...document.querySelectorAll(".findings-claims > li")];
    const found = rows.find((row) => claim && row.dataset.claim === claim)
      || rows.find((row) => sel && row.dataset.sel === sel);
    const isSelected = (row) => Boolean(found) && row.dataset.claim === found.dataset.claim;
    for (const row of rows) row.classList.toggle("selected", isSelected(row));
    return rows.findLast(isSelected);
  }

  wattlas.findings = Object.assign(page, { mark, onOpen: (action) => { opened = action; } });
})(window.wattlas);
