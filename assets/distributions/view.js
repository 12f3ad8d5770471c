/* The map of Distributions: what a cell says, and the runs that it opens. */
(function (wattlas) {
  "use strict";

  const { kindOf } = wattlas, NO_RUN = 0xffff;
  const distributions = (wattlas.distributions = wattlas.linked({
    views: { map: { id: "distributions-map", lines, opens: (item) => opens(item) } },
  }));
  /** Go to some runs; the page sets it, an exported file has nowhere to go. */
  distributions.openRuns = null;

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
