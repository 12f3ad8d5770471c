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

  /** The row of the selected claim, of those with the same setting the first. */
  function mark(sel) {
    let isFirst = true;
    for (const row of document.querySelectorAll(".findings-claims > li")) {
      const isSelected = Boolean(sel) && row.dataset.sel === sel && isFirst;
      if (isSelected) isFirst = false;
      row.classList.toggle("selected", isSelected);
    }
  }

  wattlas.findings = Object.assign(page, { mark, onOpen: (action) => { opened = action; } });
})(window.wattlas);
