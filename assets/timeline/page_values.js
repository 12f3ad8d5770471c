/* What stands at a place of the timeline, in lines of words: the same for the pointer, the cursor and the ear. */
(function (wattlas) {
  "use strict";

  const timeline = wattlas.timeline, { page } = timeline;
  const MOST_GROUPS = 8;
  const RAW_OF = { gap: "gap_us", rx: "rx_bytes", tx: "tx_bytes" };
  const DASH = "\u2013", DOT = " \u00b7 ";

  const at = (time) => { const [from, to] = timeline.span(); return "at " + timeline.timeWords(time, to - from); };
  const shown = (row, value) => (row.panel === "busy" ? wattlas.formatQuantity(100 * value, "%") : wattlas.formatQuantity(value, row.unit));

  /** Which column of a run's single interrupts a row draws; undefined where it draws bins alone. */
  timeline.rawColumn = (row) => (row.kind === "lines" && row.panel !== "byte_rate" ? RAW_OF[row.series] : undefined);

  /** A row's values at a time: a line for each run and group, then what the letters stand for. */
  timeline.rowLines = function (row, time) {
    const lines = [row.title + " " + at(time)];
    for (const k of row.runs) {
      const run = page.answer.runs[k], i = binAt(run.axes[row.clock], time);
      if (i < 0) continue;
      const groups = row.panel === "power" ? run.power : run.groups;
      groups.slice(0, MOST_GROUPS).forEach((group) => {
        const values = group.series[row.series];
        if (values) lines.push(timeline.letter(k) + groupName(group, groups) + ": " + valueWords(row, values, i, spreadWords(row, run, group)) + countWords(row, group, i));
      });
    }
    lines.push(...row.runs.map((k) => timeline.letter(k) + " is " + page.answer.runs[k].short), row.note ? "note: " + row.note : "");
    return lines;
  };
  /* The bin that a time lies in, -1 for none; the window's end lies in the last, which may be a little longer. */
  function binAt({ t0, dt, n, t1 }, time) {
    return time < t0 || time > t1 ? -1 : Math.min(Math.floor((time - t0) / dt), n - 1);
  }
  const groupName = (group, groups) => (groups.length > 1 || !group.name.startsWith("all") ? " " + group.name : "");
  /* What the extremes are of: of what is drawn as one, or how long a step lasts in which interrupts are counted. */
  function spreadWords(row, run, group) {
    if (row.panel === "interrupts") return run.window.step_s > 0 ? " in " + wattlas.formatQuantity(1e6 * run.window.step_s, "us") : "";
    const panel = page.answer.panels.find((one) => one.name === row.panel);
    return panel.spread && group.parts > 1 ? ", " + panel.spread : "";
  }
  function valueWords(row, values, i, of) {
    if (isNaN(values.mean[i])) return DASH;
    const spread = values.max ? " (" + (values.min ? shown(row, values.min[i]) + " to " : "at most ") + shown(row, values.max[i]) + of + ")" : "";
    return "mean " + shown(row, values.mean[i]) + spread;
  }
  const countWords = (row, group, i) => (group.count && row.clock === "interrupts" ? DOT + group.count[i].toLocaleString("en") + " interrupts" : "");

  /** The i-th core of a heatmap's row: its name, and its value at a time; NaN where nothing is known. */
  timeline.heatValue = function (row, i, time) {
    const { heat } = page.answer.runs[row.runs[0]], [height, width] = heat.shape;
    const core = Math.min(height - 1, Math.max(0, i)), bin = binAt({ ...heat, n: width }, time);
    return { core, name: heat.rows[core], value: bin < 0 ? NaN : heat.z[core * width + bin] };
  };
  timeline.heatLines = function (row, i, time) {
    const k = row.runs[0], { name, value } = timeline.heatValue(row, i, time);
    return [
      timeline.letter(k) + DOT + page.answer.runs[k].short, page.answer.heat.title, name + " " + at(time) + ": " + wattlas.formatQuantity(value, page.answer.heat.unit),
      name.startsWith("core") ? "click: this core in the panels, click again: all" : "",
    ];
  };

  /** One interrupt with all its fields. */
  timeline.interruptLines = function (k, i) {
    const { raw, samples, short } = page.answer.runs[k], gap = raw.gap_us[i];
    const bytes = (n, of) => n.toLocaleString("en") + " B in " + of + (of === 1 ? " descriptor" : " descriptors");
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
    for (let i = 0; i < samples.t_s.length; i++) {
      if (samples.core[i] !== core || time > samples.t_s[i] || time <= samples.t_s[i] - samples.dt_s[i]) continue;
      const [instructions, cycles, misses] = [samples.instructions[i], samples.cycles[i], samples.llc_misses[i]];
      return "its sample of " + wattlas.formatQuantity(samples.dt_s[i] * 1e6, "us") + ": " + wattlas.formatQuantity(instructions, "") + " instructions, IPC " + wattlas.formatQuantity(instructions / cycles, "") + ", " + wattlas.formatQuantity(misses, "") + " LLC misses";
    }
    return "";
  }

  /** How many gaps or sizes of each run are as large as a value, to the width of a slot. */
  timeline.sizeLines = function (quantity, title, value) {
    const lines = [], found = page.answer.runs.map((run) => (!run.problem && run.hist && run.hist[quantity] ? slotAt(run.hist[quantity], value) : null));
    const slot = found.find((one) => one && one.count) || found.find(Boolean);
    if (!slot) return null;
    lines.push(title + ": " + wattlas.formatQuantity(slot.lo, slot.unit) + " to " + wattlas.formatQuantity(slot.hi, slot.unit));
    found.forEach((one, k) => {
      if (!one) return;
      const share = wattlas.formatQuantity(one.total ? (100 * one.count) / one.total : NaN, "%");
      lines.push(timeline.letter(k) + ": " + share + DOT + one.count.toLocaleString("en") + " of " + one.total.toLocaleString("en"));
    });
    return lines;
  };
  function slotAt({ lo, hi, count, unit }, value) {
    const total = count.reduce((sum, n) => sum + n, 0);
    let i = hi.findIndex((end) => value < end);
    if (i < 0) i = hi.length;
    if (i < hi.length && lo[i] <= value) return { lo: lo[i], hi: hi[i], count: count[i], total, unit };
    return { lo: i ? hi[i - 1] : 0, hi: i < lo.length ? lo[i] : value, count: 0, total, unit };
  }
})(window.wattlas);
