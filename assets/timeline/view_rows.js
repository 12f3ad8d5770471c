/* The rows of the timeline's figure: which there are, their heights, ranges, axes and words. Pure. */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {});
  const ROW_GAP_PX = 21, ROW_LEAST_PX = 35, LABEL_PX = 12, TICK_PX = 15, NARROW_PX = 560;
  const RAW_OF = { gap: "gap_us", rx: "rx_bytes", tx: "tx_bytes" };

  /** Which column of a run's single interrupts a row draws; undefined where it draws bins alone. */
  timeline.rawColumn = (row) => {
    return row.kind === "lines" && row.panel !== "byte_rate" ? RAW_OF[row.series] : undefined;
  };
  timeline.isRaw = (run, row) => Boolean(run.raw && timeline.rawColumn(row));
  /* The sizes of the interrupts that a rate counts; of the rate of interrupts all count. */
  const EVENTS_OF = { interrupts: "", rx_rate: "rx_bytes", tx_rate: "tx_bytes" };
  /**
   * The places at which a run's rate has its events; null where bins are drawn. A rate in bins of
   * which over half are empty would be a comb, whose height is the inverse of the bins' width.
   */
  timeline.eventsOf = function (run, row) {
    const size = EVENTS_OF[row.series], { raw } = run;
    if (size === undefined || !raw || run.groups.length > 1) return null;
    if (raw.t_s.length * 2 >= run.axes[row.clock].n) return null;
    const places = timeline.placesOf(raw);
    return size ? places.filter((_, i) => raw[size][i] > 0) : places;
  };
  timeline.isEvents = ({ answer }, row) => row.kind === "lines"
    && row.runs.every((k) => timeline.eventsOf(answer.runs[k], row));
  /** From and to of a run's ticks on the axis of a row of events: each run has a lane, the first on top. */
  timeline.laneOf = function (row, k) {
    const [low, high] = row.range, share = (high - low) / row.runs.length;
    const top = high - share * row.runs.indexOf(k);
    return [top - 0.9 * share, top - 0.1 * share];
  };

  /** The groups of cores, or the packages, that a row draws lines of. */
  timeline.groupsOf = (run, row) => (row.panel === "power" ? run.power || [] : run.groups);

  /** The band of a group's line: `bins`, `p10`, `p90`, `windows_s`; null where there is none. */
  timeline.bandOf = function (run, row, { name }) {
    const group = run.bands && timeline.groupsOf(run.bands, row).find((one) => one.name === name);
    const band = group && group.series[row.series];
    if (!band) return null;
    return { ...band, bins: run.bands.axes[row.clock], windows_s: run.bands.windows_s[row.clock] };
  };

  const has = (run, panel, series) => {
    return !run.problem && timeline.groupsOf(run, { panel }).some((group) => group.series[series]);
  };

  function panelRows({ answer, state }, panel) {
    const isOne = panel.series.length === 1;
    return panel.series.flatMap((series) => {
      const runs = [...answer.runs.keys()].filter((k) => has(answer.runs[k], panel.name, series.name));
      const row = {
        kind: "lines", panel: panel.name, series: series.name, clock: panel.axis, unit: panel.unit,
        log: panel.log, note: panel.note, weight: isOne ? 1 : 0.66,
        title: isOne ? panel.title : panel.title + ", " + series.title,
      };
      const shared = { ...row, runs, isFirst: true, isShared: true };
      if (state.layout !== "stacked") return runs.length ? [shared] : [];
      const scale = panel.name + "/" + series.name;
      return runs.map((k, i) => ({ ...row, runs: [k], isFirst: !i, weight: 0.7 * row.weight, scale }));
    });
  }

  /** The rows from top to bottom; weights are shares of the height. */
  timeline.listRows = function (scene) {
    const { answer } = scene, shown = [...answer.runs.keys()].filter((k) => answer.runs[k].heat);
    const heats = shown.map((k, i) => ({
      kind: "heat", title: answer.heat.title + " by core", unit: answer.heat.unit, runs: [k], isFirst: !i,
      weight: answer.runs[k].heat.shape[0] > 2 ? 0.8 : 0.4,
    }));
    return [...answer.panels.flatMap((panel) => panelRows(scene, panel)), ...heats];
  };

  /** Give each row its axis and its place. Returns the height of the figure. */
  timeline.placeRows = function (rows, roomPx, framePx) {
    const weights = rows.reduce((sum, row) => sum + row.weight, 0);
    const gaps = Math.max(rows.length - 1, 0) * ROW_GAP_PX;
    const height = Math.max(roomPx, framePx + gaps + weights * ROW_LEAST_PX), inner = height - framePx;
    let top = inner;
    rows.forEach((row, i) => {
      row.axis = i ? "y" + (i + 1) : "y";
      row.px = ((inner - gaps) * row.weight) / weights;
      row.domain = [Math.max(0, (top - row.px) / inner), top / inner];
      top -= row.px + ROW_GAP_PX;
    });
    return height;
  };

  /* ---- ranges */

  const nameOf = (group, groups) => {
    if (groups.length === 1 && group.name.startsWith("all")) return "";
    return " " + group.name.replace("package ", "p").replace("core ", "c");
  };

  /* The values that a row's axis must hold, and where each of its lines ends. */
  function extent(scene, row) {
    const found = { low: Infinity, high: -Infinity, ends: [] };
    const include = (values) => {
      for (const v of values) {
        if (v > found.high) found.high = v;
        if (v < found.low && (v > 0 || !row.log)) found.low = v;
      }
    };
    for (const k of row.runs) {
      const run = scene.answer.runs[k], groups = timeline.groupsOf(run, row), letter = timeline.letter(k);
      if (timeline.isRaw(run, row)) include(run.raw[timeline.rawColumn(row)]);
      for (const group of groups.filter((one) => one.series[row.series])) {
        const { mean, min, max } = group.series[row.series], name = nameOf(group, groups);
        [mean, max, min].filter(Boolean).forEach(include);
        const value = mean.findLast((v) => !isNaN(v));
        if (value === undefined || !(row.isShared || name)) continue;
        found.ends.push({ k, letter, text: letter + name, value, color: timeline.textColor(scene, k) });
      }
    }
    return found;
  }

  /**
   * Give each row of lines its range. Linear axes start at 0, logarithmic ones a little under the least
   * value. Rows of one scale have the same range.
   */
  timeline.setRanges = function (scene, rows) {
    const scales = {}, lines = rows.filter((row) => row.kind === "lines");
    for (const row of lines) {
      row.extent = extent(scene, row);
      const key = row.scale || row.axis, seen = (row.seen = scales[key] = scales[key] || { ...row.extent });
      seen.low = Math.min(seen.low, row.extent.low);
      seen.high = Math.max(seen.high, row.extent.high);
    }
    for (const row of lines) {
      row.range = rangeOf(row.seen, row.log);
      row.isEvents = timeline.isEvents(scene, row);
      for (const end of row.isEvents ? row.extent.ends : []) {
        const [from, to] = timeline.laneOf(row, end.k);
        end.value = (from + to) / 2;
      }
    }
  };
  function rangeOf({ low, high }, isLog) {
    if (!(high > 0)) return isLog ? [0, 3] : [0, 1];
    if (!isLog) return [Math.min(0, low), high * 1.06];
    return [Math.log10(low) - 0.08, Math.max(Math.log10(high), Math.log10(low) + 0.3) + 0.08];
  }

  /** Return the vertical position of a value in a row: a share of the figure's height, from below. */
  timeline.shareOf = function (row, value) {
    const [low, high] = row.range, [bottom, top] = row.domain, at = row.log ? Math.log10(value) : value;
    return bottom + ((at - low) / (high - low)) * (top - bottom);
  };

  /* ---- axes and words */

  function heatTicks(names, px) {
    const step = Math.max(1, Math.ceil(names.length / Math.max(1, Math.min(4, Math.floor(px / TICK_PX)))));
    const tickvals = [...names.keys()].filter((i) => i % step === 0);
    return { tickvals, ticktext: tickvals.map((i) => names[i]) };
  }

  /** A row's axis. Its labels may overflow: to avoid that, Plotly would measure each of them. */
  timeline.rowAxis = function (scene, row) {
    const c = wattlas.palette(scene.theme);
    const axis = {
      domain: row.domain, anchor: "x", fixedrange: true, gridcolor: c.grid, linecolor: c.line,
      zeroline: false, tickfont: { size: 12 }, ticklabeloverflow: "allow",
    };
    if (row.kind === "heat") {
      const names = scene.answer.runs[row.runs[0]].heat.rows;
      return { ...axis, range: [names.length - 0.5, -0.5], showgrid: false, ...heatTicks(names, row.px) };
    }
    if (row.log) {
      const ends = row.range.map((power) => Math.pow(10, power));
      const ticks = timeline.logTicks(...ends, Math.floor(row.px / TICK_PX), timeline.tickWords.us);
      return { ...axis, type: "log", range: row.range, ...ticks };
    }
    if (row.isEvents) return { ...axis, range: row.range, showgrid: false, tickvals: [] };
    const room = Math.max(2, Math.min(5, Math.round(row.px / 17)));
    const tickformat = row.panel === "busy" ? ".0%" : row.seen.high < 2 ? "~g" : "~s";
    return { ...axis, range: row.range, tickformat, tickvals: timeline.linearTicks(...row.range, room) };
  };

  const onPaper = { xref: "paper", yref: "paper", showarrow: false, borderpad: 0 };

  /** Titles of the rows, and the run of each row that has only one. */
  timeline.rowWords = function (scene, rows) {
    const c = wattlas.palette(scene.theme);
    return rows.flatMap((row) => {
      const at = { ...onPaper, y: row.domain[1], yanchor: "bottom" }, k = row.runs[0], words = [];
      const unit = row.isEvents ? "a tick an interrupt" : row.unit;
      const title = "<b>" + wattlas.plotText(row.title) + "</b>" + (unit ? ", " + unit : "");
      const font = { size: 12, color: c.text };
      if (row.isFirst) words.push({ ...at, text: title, x: 0, xanchor: "left", font });
      if (row.kind === "heat" || scene.state.layout === "stacked") {
        // Beside a title there is room for a letter only where the page is narrow.
        const name = scene.widthPx < NARROW_PX ? "" : " " + wattlas.plotText(scene.answer.runs[k].short);
        const text = "<b>" + timeline.letter(k) + "</b>" + name;
        const color = timeline.textColor(scene, k);
        words.push({ ...at, text, x: 1, xanchor: "right", font: { ...font, color } });
      }
      return words;
    });
  };

  /**
   * The letter of each run at the ends of a row's lines, moved apart so that none covers another.
   * Names of cores are left out where they do not fit.
   */
  timeline.endWords = function (row, innerPx) {
    const [bottom, top] = row.domain.map((share) => share * innerPx);
    const fits = (ends) => ends.length * LABEL_PX <= top - bottom + 2 * LABEL_PX;
    const isFirst = (end, i, all) => all.findIndex((other) => other.letter === end.letter) === i;
    const all = row.extent.ends, letters = all.filter(isFirst).map((end) => ({ ...end, text: end.letter }));
    const ends = [all, letters].find(fits) || [];
    const words = ends.map((end) => ({ ...end, px: timeline.shareOf(row, end.value) * innerPx }));
    words.sort((a, b) => a.px - b.px);
    words.forEach((word, i) => { if (i) word.px = Math.max(word.px, words[i - 1].px + LABEL_PX); });
    for (let i = words.length - 1, limit = top; i >= 0; i--, limit = words[i + 1].px - LABEL_PX) {
      words[i].px = Math.min(words[i].px, limit);
    }
    return words.map(({ text, color, px }) => ({
      ...onPaper, name: "end-word", text, x: 1, xanchor: "left", xshift: 2, y: px / innerPx,
      yanchor: "middle", font: { size: 12, color, weight: "bold" },
    }));
  };
})((window.wattlas = window.wattlas || {}));
