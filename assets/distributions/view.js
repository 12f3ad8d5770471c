/* The map of Distributions: what a cell says, and the runs that it opens. */
(function (wattlas) {
  "use strict";

  const { kindOf } = wattlas, NO_RUN = 0xffff;
  const distributions = (wattlas.distributions = wattlas.linked({
    views: { map: { id: "distributions-map", lines, opens: (item) => opens(item), dress: withNames } },
  }));
  if (wattlas.openings) wattlas.openings.distributions = ({ figure }, theme) =>
    withNames(wattlas.themedFigure(figure, theme));
  /** Go to some runs; the page sets it, an exported file has nowhere to go. */
  distributions.openRuns = null;

  /* Of the width of a picture, what is beside its columns: an axis and the colour bar. */
  const BESIDE_PX = 155;
  /** On narrow windows: with room between the last column and the colour bar for the names there. */
  function withNames({ data, layout }) {
    const names = data.filter((trace) => kindOf(trace) === "names"), out = { ...layout };
    // The frame before the page may be hidden.
    const boxes = [...document.querySelectorAll(".panel-map .graph")];
    const px = Math.max(...boxes.map(({ clientWidth }) => clientWidth)) - BESIDE_PX;
    const share = Math.max(...names.map(({ text }) => wattlas.titles.widest(text))) / px;
    const last = Math.max(...names.map(({ x }) => x[0]));
    for (const { xaxis = "x" } of share > 0 && share < 0.7 ? names : []) {
      const key = "xaxis" + xaxis.slice(1), [low, high] = layout[key].range;
      // Names of levels stand upright there, some longer than the margin.
      const range = [low, Math.max(high, low + (last - low) / (1 - share))];
      out[key] = { ...layout[key], automargin: true, range };
    }
    return { data, layout: out };
  }

  const metaOf = () => distributions.figures.map.layout.meta;

  /** The cell of an item: that of the pointer, or that of a quantile. */
  function cellOf({ gd, trace, i }) {
    const isCell = kindOf(trace) === "cells", axis = (one) => one.xaxis || "x";
    const cells = isCell ? trace
      : gd.data.find((one) => kindOf(one) === "cells" && axis(one) === axis(trace));
    return { cells, slot: isCell ? i[0] : trace.meta.slots[i], level: isCell ? i[1] : i };
  }
  const runsOf = ({ cells: { meta: { most } }, slot, level }) => {
    const { bins, opens: ids, mostOpened: count } = metaOf(), first = (level * bins.length + slot) * count;
    return Array.from(most.subarray(first, first + count)).filter((at) => at !== NO_RUN).map((at) => ids[at]);
  };

  function lines(item) {
    const cell = cellOf(item), { cells, slot, level } = cell, { levels, bins } = metaOf();
    // Plotly decodes the numbers of a trace.
    const { panel, runs } = cells.meta, z = item.gd._fullData[item.gd.data.indexOf(cells)].z[slot][level];
    if (!runs[level]) return null;
    const count = runsOf(cell).length, few = count > 1 ? count + " runs" : "run";
    const own = item.trace.meta.words ? item.trace.meta.words[item.i] : [];
    return [
      [panel, levels[level]].filter(Boolean).join(" \u00b7 "), ...own,
      bins[slot] + ": " + wattlas.formatDigits(100 * (Number.isFinite(z) ? 10 ** z : 0)) + " %",
      runs[level].toLocaleString("en") + (runs[level] === 1 ? " run" : " runs"),
      count && distributions.openRuns ? "click: the " + few + " with most of their values here" : "",
    ];
  }
  function opens(item) {
    const runs = runsOf(cellOf(item));
    if (runs.length && distributions.openRuns) distributions.openRuns(runs);
  }
})((window.wattlas = window.wattlas || {}));
