/* The values at a place of the timeline as text: for the pointer, the cursor and screen readers. Pure. */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {});
  const MOST_GROUPS = 8, DASH = "\u2013", DOT = " \u00b7 ";

  const STEPS = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
  /** A place on the x axis with as many decimals as a thousandth of the window needs. */
  timeline.placeWords = function ({ x: axis }, place, span) {
    const unit = axis ? axis.unit : "s", least = unit === "s" ? 1e-9 : 1;
    const [scale, prefix] = unit === "s" ? [1, ""] : STEPS.find(([size]) => place >= size) || [1, ""];
    const step = Math.max(span, least) / scale / 1000;
    const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step))));
    return (place / scale).toFixed(scale === 1 && unit !== "s" ? 0 : decimals) + " " + prefix +
      (prefix && unit.length > 1 ? " " : "") + unit;
  };
  timeline.countWords = (n) => n.toLocaleString("en");

  const at = (scene, time) => "at " + timeline.placeWords(scene, time, scene.span[1] - scene.span[0]);
  const shown = (row, value) => {
    const isShare = row.panel === "busy";
    return wattlas.formatQuantity(isShare ? 100 * value : value, isShare ? "%" : row.unit);
  };

  const groupName = (group, groups) => {
    return groups.length > 1 || !group.name.startsWith("all") ? " " + group.name : "";
  };

  /* What the extremes are taken over; for counts of interrupts the length of the steps. */
  function spreadWords(scene, row, run, group) {
    const { step_s: step } = run.window;
    if (row.panel === "interrupts") return step > 0 ? " in " + wattlas.formatQuantity(1e6 * step, "us") : "";
    const panel = scene.answer.panels.find((one) => one.name === row.panel);
    return panel.spread && group.parts > 1 ? ", " + panel.spread : "";
  }
  function valueWords(row, { mean, min, max }, i, spread) {
    if (isNaN(mean[i])) return DASH;
    const least = min ? shown(row, min[i]) + " to " : "at most ";
    return "mean " + shown(row, mean[i]) + (max ? " (" + least + shown(row, max[i]) + spread + ")" : "");
  }
  function bandWords(row, band, x) {
    const i = band ? timeline.binAt(band.bins, x) : -1;
    if (i < 0 || isNaN(band.p10[i])) return "";
    return DOT + "p10 to p90 of windows of " + wattlas.formatQuantity(1e6 * band.windows_s, "us") + ": " +
      shown(row, band.p10[i]) + " to " + shown(row, band.p90[i]);
  }
  const binWords = (row, group, i) => {
    const isCounted = group.count && row.clock === "interrupts";
    return isCounted ? DOT + timeline.countWords(group.count[i]) + " interrupts" : "";
  };

  /** A row's values at a time: a line for each run and group, then what the letters stand for. */
  timeline.rowLines = function (scene, row, time) {
    const lines = [row.title + " " + at(scene, time)], { runs } = scene.answer;
    for (const k of row.runs) {
      const run = runs[k], bins = run.axes[row.clock], i = timeline.binAt(bins, time);
      const groups = timeline.groupsOf(run, row);
      if (i < 0) continue;
      // Of runs aligned by work each has its own time.
      const when = bins.t_s ? DOT + bins.t_s[i].toFixed(6) + " s" : "";
      for (const group of groups.slice(0, MOST_GROUPS).filter((one) => one.series[row.series])) {
        const words = valueWords(row, group.series[row.series], i, spreadWords(scene, row, run, group));
        lines.push(timeline.letter(k) + groupName(group, groups) + ": " + words +
          binWords(row, group, i) + when + bandWords(row, timeline.bandOf(run, row, group), time));
      }
    }
    lines.push(...row.runs.map((k) => timeline.letter(k) + " is " + runs[k].short));
    return [...lines, row.note ? "note: " + row.note : ""];
  };

  /** The i-th core of a heatmap's row: its name, and its value at a time; NaN where there is none. */
  timeline.heatValue = function (scene, row, i, time) {
    const { heat } = scene.answer.runs[row.runs[0]], [height, width] = heat.shape;
    const core = Math.min(height - 1, Math.max(0, i)), bin = timeline.binAt({ ...heat, n: width }, time);
    return { core, name: heat.rows[core], value: bin < 0 ? NaN : heat.z[core * width + bin] };
  };
  timeline.heatLines = function (scene, row, i, time) {
    const k = row.runs[0], { name, value } = timeline.heatValue(scene, row, i, time), { heat } = scene.answer;
    return [
      timeline.letter(k) + DOT + scene.answer.runs[k].short, heat.title,
      name + " " + at(scene, time) + ": " + wattlas.formatQuantity(value, heat.unit),
      name.startsWith("core") && scene.canChoose ? "click: this core in the panels, click again: all" : "",
    ];
  };

  /** One interrupt with all its fields. */
  timeline.interruptLines = function (scene, k, i) {
    const { raw, samples, short } = scene.answer.runs[k], gap = raw.gap_us[i];
    const plural = (n) => (n === 1 ? " descriptor" : " descriptors");
    const bytes = (n, of) => timeline.countWords(n) + " B in " + of + plural(of);
    return [
      timeline.letter(k) + DOT + short,
      "interrupt on core " + raw.core[i] + " at " + raw.t_s[i].toFixed(9) + " s",
      isNaN(gap) ? "the first of its core" : wattlas.formatQuantity(gap, "us") + " after the one before it",
      "received " + bytes(raw.rx_bytes[i], raw.rx_desc[i]), "sent " + bytes(raw.tx_bytes[i], raw.tx_desc[i]),
      samples ? sampleLine(samples, raw.core[i], raw.t_s[i]) : "",
    ];
  };
  /* The counter sample that the interrupt lies in: what its core did in about a millisecond. */
  function sampleLine(samples, core, time) {
    const { t_s: ends, dt_s: lengths } = samples;
    const holds = (end, j) => samples.core[j] === core && time <= end && time > end - lengths[j];
    const i = ends.findIndex(holds), number = (value) => wattlas.formatQuantity(value, "");
    if (i < 0) return "";
    const ipc = number(samples.instructions[i] / samples.cycles[i]);
    return "its sample of " + wattlas.formatQuantity(lengths[i] * 1e6, "us") + ": " +
      number(samples.instructions[i]) + " instructions, IPC " + ipc + ", " +
      number(samples.llc_misses[i]) + " LLC misses";
  }

  /** How many gaps or sizes of each run are as large as a value, to a slot's width; null without runs. */
  timeline.sizeLines = function (scene, quantity, title, value) {
    const found = scene.answer.runs.map((run) => {
      return !run.problem && run.hist && run.hist[quantity] ? slotAt(run.hist[quantity], value) : null;
    });
    const slot = found.find((one) => one && one.count) || found.find(Boolean);
    if (!slot) return null;
    const [lo, hi] = [slot.lo, slot.hi].map((end) => wattlas.formatQuantity(end, slot.unit));
    const lines = found.map((one, k) => {
      if (!one) return null;
      const share = wattlas.formatQuantity(one.total ? (100 * one.count) / one.total : NaN, "%");
      const counts = timeline.countWords(one.count) + " of " + timeline.countWords(one.total);
      return timeline.letter(k) + ": " + share + DOT + counts;
    });
    return [title + ": " + lo + " to " + hi, ...lines.filter(Boolean)];
  };
  function slotAt({ lo, hi, count, unit }, value) {
    const total = count.reduce((sum, n) => sum + n, 0), found = hi.findIndex((end) => value < end);
    const i = found < 0 ? hi.length : found;
    if (i < hi.length && lo[i] <= value) return { lo: lo[i], hi: hi[i], count: count[i], total, unit };
    return { lo: i ? hi[i - 1] : 0, hi: i < lo.length ? lo[i] : value, count: 0, total, unit };
  }

  /* ---- what is drawn */

  /** The resolution of the answer: bins by width and source, and the number of interrupts drawn singly. */
  timeline.detailWords = function ({ runs, x }) {
    const kinds = new Map(), raw = [];
    if (x && x.name !== "time") {
      const bins = runs.filter((run) => !run.problem).map((run) => run.window.bins);
      return "at most " + timeline.countWords(Math.max(0, ...bins)) + " bins of about equal work";
    }
    runs.forEach((run, k) => {
      if (run.problem) return;
      const { bins, bin_s: width, source, level, interrupts } = run.window, letter = timeline.letter(k);
      if (run.raw) { raw.push(letter + " " + timeline.countWords(interrupts)); return; }
      const from = source === "overview" ? "overview " + timeline.countWords(level) : "from the rows";
      const key = JSON.stringify([bins, from]), widths = kinds.get(key) || new Map();
      const words = wattlas.formatQuantity(width * 1e6, "us");
      kinds.set(key, widths.set(words, [...(widths.get(words) || []), letter]));
    });
    const isOne = kinds.size === 1 && !raw.length;
    const parts = [...kinds].map(([key, widths]) => {
      const [bins, from] = JSON.parse(key), isSame = isOne && widths.size === 1;
      const each = [...widths].map(([width, letters]) => (isSame ? "" : letters.join(" ") + " ") + width);
      return timeline.countWords(bins) + " bins of " + each.join(", ") + " (" + from + ")";
    });
    return [...parts, raw.length ? "every interrupt: " + raw.join(", ") : ""].filter(Boolean).join(DOT);
  };

  /** The window and its resolution; `isDrawn`: whether the answer is of this window. */
  timeline.spanWords = function (scene, isDrawn) {
    const [from, to] = scene.span, wide = to - from, words = (x) => timeline.placeWords(scene, x, wide);
    if (!(to > from) || (scene.state.align || "time") !== (scene.x ? scene.x.name : "time")) return "";
    const isWhole = scene.state.from === null && scene.state.to === null;
    return [
      words(from) + " to " + words(to) + (isWhole ? " (all)" : ""),
      (scene.x && scene.x.unit !== "s" ? words(wide) : wattlas.formatQuantity(wide * 1e6, "us")) + " wide",
      isDrawn ? timeline.detailWords(scene.answer) : "\u2026",
    ].filter(Boolean).join(DOT);
  };
})((window.wattlas = window.wattlas || {}));
