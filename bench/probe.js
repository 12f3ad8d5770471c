/*
 * Put into a page before its own scripts: tells when its pictures were last painted.
 * Painted: two animation frames after a plot said that it was drawn, or after the page's tables changed.
 */
window.probe = (function () {
  "use strict";
  const probe = { paintedAt: 0, from: 0, firstScatter: null, calls: [] };
  let waiting = 0;

  function changed(then) {
    waiting += 1;
    requestAnimationFrame(() => requestAnimationFrame(() => {
      waiting -= 1;
      probe.paintedAt = performance.now();
      if (then) then();
    }));
  }
  probe.isQuiet = (ms) => waiting === 0 && performance.now() - Math.max(probe.paintedAt, probe.from) > ms;

  /** From now on: a mouse button that goes up starts the clock. */
  const start = () => { probe.from = performance.now(); probe.paintedAt = 0; };
  addEventListener("mouseup", start, true);
  // Where a page takes the pointer for itself, no event of the mouse follows.
  addEventListener("pointerup", start, true);

  const isScatter = (gd) => gd.layout && gd.layout.meta && gd.layout.meta.kind === "scatter";
  function drawn(gd) {
    changed(() => {
      if (probe.firstScatter === null && isScatter(gd)) probe.firstScatter = probe.paintedAt;
    });
  }

  let plotly;
  Object.defineProperty(window, "Plotly", {
    configurable: true,
    get: () => plotly,
    set(value) {
      plotly = value;
      for (const name of ["newPlot", "react", "restyle", "relayout", "update"]) {
        const original = value[name];
        value[name] = function (target, ...rest) {
          const gd = typeof target === "string" ? document.getElementById(target) : target;
          probe.calls.push([name, (gd.closest("[id]") || gd).id, Math.round(performance.now())]);
          return Promise.resolve(original.call(value, target, ...rest)).then((answer) => {
            if (!gd.probed) { gd.probed = true; gd.on("plotly_afterplot", () => drawn(gd)); }
            drawn(gd);
            return answer;
          });
        };
      }
    },
  });

  /** Something other than Plotly's functions painted. */
  probe.painted = () => changed();

  /** Also count changes of these elements as painting. */
  probe.watch = function (selectors) {
    const all = { subtree: true, childList: true, attributes: true, characterData: true };
    for (const selector of selectors) {
      new MutationObserver(() => changed()).observe(document.querySelector(selector), all);
    }
  };
  return probe;
})();
