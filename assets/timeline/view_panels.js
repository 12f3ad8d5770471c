/*
 * The timeline's figures: the server's columns and the page's state in, Plotly figures out. Pure.
 * A run has one hue, one dash and one letter in all of them; a panel with several series has a row for each.
 */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {});
  const MARKERS = ["circle", "diamond", "square", "triangle-up", "triangle-down", "pentagon"];
  const MARGIN = { l: 58, r: 30, t: 54, b: 8 };
  const ROW_GAP_PX = 21, ROW_LEAST_PX = 48, LABEL_PX = 11, TICK_PX = 14, HEAT_TICKS = 4, CROWDED = 300;
  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

  timeline.FONT = FONT;

  const glass = (hex, alpha) => "rgba(" + [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).join(",") + "," + alpha + ")";

  /** Middle of each bin, in seconds. */
  function middles({ t0, dt, n, t1 }) {
    const x = new Float64Array(n);
    for (let i = 0; i < n; i++) x[i] = (t0 + i * dt + Math.min(t0 + (i + 1) * dt, t1)) / 2;
    return x;
  }

  /* A bin between two empty ones has no neighbour to draw a line to: it is drawn from edge to edge. */
  function meanLine(bins, x, mean) {
    const xs = [], ys = [];
    for (let i = 0; i < mean.length; i++) {
      const alone = !isNaN(mean[i]) && !(mean[i - 1] === mean[i - 1] && i > 0) && !(mean[i + 1] === mean[i + 1] && i + 1 < mean.length);
      if (alone) { xs.push(bins.t0 + i * bins.dt, Math.min(bins.t0 + (i + 1) * bins.dt, bins.t1)); ys.push(mean[i], mean[i]); }
      else { xs.push(x[i]); ys.push(isNaN(mean[i]) ? null : mean[i]); }
    }
    return { x: xs, y: ys };
  }

  /** Outline around least and greatest, one closed piece for each stretch of bins that hold something. */
  function envelope(bins, x, low, high) {
    const xs = [], ys = [];
    let start = -1;
    for (let i = 0; i <= high.length; i++) {
      const filled = i < high.length && !isNaN(high[i]);
      if (filled && start < 0) start = i;
      if (filled || start < 0) continue;
      if (i - start === 1) {
        const [a, b] = [bins.t0 + start * bins.dt, bins.t0 + i * bins.dt];
        xs.push(a, b, b, a, a, null);
        ys.push(high[start], high[start], low[start], low[start], high[start], null);
      } else {
        for (let j = start; j < i; j++) { xs.push(x[j]); ys.push(high[j]); }
        for (let j = i - 1; j >= start; j--) { xs.push(x[j]); ys.push(low[j]); }
        xs.push(x[start], null);
        ys.push(high[start], null);
      }
      start = -1;
    }
    return { x: xs, y: ys };
  }

  const RAW_OF = { gap: "gap_us", rx: "rx_bytes", tx: "tx_bytes" };
  const isRaw = (run, row) => Boolean(run.raw) && row.panel !== "byte_rate" && row.series in RAW_OF;
  const groupsOf = (run, row) => (row.panel === "power" ? run.power || [] : run.groups);

  function seriesTraces(scene, row, k) {
    const run = scene.answer.runs[k], groups = groupsOf(run, row), data = [];
    const bins = run.axes[row.clock], x = (bins.middles = bins.middles || middles(bins));
    groups.forEach((group, g) => {
      const values = group.series[row.series];
      if (!values) return;
      const color = timeline.shade(scene, k, g, groups.length);
      const common = { type: "scatter", mode: "lines", xaxis: "x", yaxis: row.axis, hoverinfo: "skip", showlegend: false };
      const meta = { run: run.run_id, group: group.name, series: row.series, panel: row.panel };
      if (values.max && !isRaw(run, row)) {
        const edge = envelope(bins, x, values.min || values.mean, values.max);
        data.push({ ...common, ...edge, fill: "toself", fillcolor: glass(color, 0.18), line: { width: 0.8, color: glass(color, 0.65) }, meta: { ...meta, kind: "envelope" } });
      }
      const line = { width: isRaw(run, row) ? 0.8 : 1.4, color };
      data.push({ ...common, ...meanLine(bins, x, values.mean), line, meta: { ...meta, kind: "mean" } });
    });
    if (isRaw(run, row)) data.push(rawTrace(scene, row, k));
    return data;
  }

  function rawTrace(scene, row, k) {
    const run = scene.answer.runs[k];
    const isCrowded = run.raw.t_s.length > CROWDED;
    const marker = { size: isCrowded ? 3 : 5.5, color: timeline.shade(scene, k, 0, 1), symbol: MARKERS[scene.state.hues[k] % MARKERS.length], opacity: isCrowded ? 0.6 : 0.85 };
    return {
      type: "scatter", mode: "markers", xaxis: "x", yaxis: row.axis, hoverinfo: "skip", showlegend: false, marker,
      x: run.raw.t_s, y: run.raw[RAW_OF[row.series]], meta: { run: run.run_id, series: row.series, panel: row.panel, kind: "raw" },
    };
  }

  /* The values that the colours of all heatmaps span. */
  function heatScale(scene, rows) {
    const isLog = Boolean(scene.answer.heat && scene.answer.heat.log);
    let low = Infinity, high = 0;
    for (const row of rows) for (const z of scene.answer.runs[row.runs[0]].heat.z) { if (z > high) high = z; if (z > 0 && z < low) low = z; }
    const ticks = isLog && high ? timeline.logTicks(low, high, HEAT_TICKS, decadeWords) : null;
    return {
      of: (z) => (isLog ? z.map((v) => (v > 0 ? Math.log10(v) : NaN)) : z), zmin: isLog && high ? Math.log10(low) : 0, zmax: isLog && high ? Math.log10(high) : high || 1,
      ticks: ticks ? { tickvals: ticks.tickvals.map(Math.log10), ticktext: ticks.ticktext } : { tickformat: "~s", nticks: 3 },
    };
  }

  function heatTrace(scene, row, k, scale) {
    const { heat } = scene.answer.runs[k], [height, width] = heat.shape;
    const z = Array.from({ length: height }, (_, i) => scale.of(heat.z.subarray(i * width, (i + 1) * width)));
    return {
      type: "heatmap", z, x0: heat.t0 + heat.dt / 2, dx: heat.dt, y0: 0, dy: 1, xaxis: "x", yaxis: row.axis,
      zmin: scale.zmin, zmax: scale.zmax, colorscale: "Viridis", showscale: row.isFirst, hoverinfo: "skip",
      colorbar: { thickness: 8, outlinewidth: 0, x: 1.004, xpad: 0, len: 84, lenmode: "pixels", y: row.domain[1], yanchor: "top", ...scale.ticks, tickfont: { size: 10 } },
      meta: { kind: "heat", run: scene.answer.runs[k].run_id, rows: heat.rows },
    };
  }

  const has = (run, panel, series) => !run.problem && groupsOf(run, { panel }).some((group) => group.series[series]);

  /* Which rows there are, from top to bottom; heights are shares of one row's. */
  function listRows(scene) {
    const { answer, state } = scene, rows = [];
    for (const panel of answer.panels) {
      for (const series of panel.series) {
        const runs = answer.runs.map((_, k) => k).filter((k) => has(answer.runs[k], panel.name, series.name));
        const base = { kind: "lines", panel: panel.name, series: series.name, clock: panel.axis, unit: panel.unit, log: panel.log, note: panel.note, weight: panel.series.length > 1 ? 0.66 : 1 };
        const title = panel.series.length > 1 ? panel.title + ", " + series.title : panel.title;
        if (state.layout === "stacked") runs.forEach((k, i) => rows.push({ ...base, title, runs: [k], isFirst: i === 0, weight: 0.7 * base.weight, family: panel.name + "/" + series.name }));
        else if (runs.length) rows.push({ ...base, title, runs, isFirst: true, isShared: true });
      }
    }
    answer.runs.forEach((run, k) => {
      if (!run.problem && run.heat) rows.push({ kind: "heat", title: answer.heat.title + " by core", unit: answer.heat.unit, runs: [k], weight: run.heat.shape[0] > 2 ? 0.8 : 0.4, isFirst: !rows.some((r) => r.kind === "heat") });
    });
    return rows;
  }

  function placeRows(rows, roomPx) {
    const weights = rows.reduce((sum, row) => sum + row.weight, 0);
    const gaps = Math.max(rows.length - 1, 0) * ROW_GAP_PX, frame = MARGIN.t + MARGIN.b;
    const height = Math.max(roomPx, frame + gaps + weights * ROW_LEAST_PX);
    const inner = height - frame;
    let top = inner;
    rows.forEach((row, i) => {
      const tall = ((inner - gaps) * row.weight) / weights;
      row.axis = i ? "y" + (i + 1) : "y";
      row.px = tall;
      row.domain = [Math.max(0, (top - tall) / inner), top / inner];
      top -= tall + ROW_GAP_PX;
    });
    return height;
  }

  /* The values that a row's axis has to hold, and where each of its lines ends. */
  function extent(scene, row) {
    let low = Infinity, high = -Infinity;
    const ends = [];
    const see = (values) => { for (const v of values) { if (v > high) high = v; if (v < low && (v > 0 || !row.log)) low = v; } };
    for (const k of row.runs) {
      const run = scene.answer.runs[k], groups = groupsOf(run, row);
      if (isRaw(run, row)) see(run.raw[RAW_OF[row.series]]);
      groups.forEach((group, g) => {
        const values = group.series[row.series];
        if (!values) return;
        [values.mean, values.max, values.min].filter(Boolean).forEach(see);
        let i = values.mean.length - 1;
        while (i >= 0 && isNaN(values.mean[i])) i -= 1;
        const name = groups.length > 1 || !group.name.startsWith("all") ? " " + group.name.replace("package ", "p").replace("core ", "c") : "";
        if (i >= 0 && (row.isShared || name)) ends.push({ letter: timeline.letter(k), text: timeline.letter(k) + name, value: values.mean[i], color: timeline.ink(scene, k) });
      });
    }
    return { low, high, ends };
  }

  /* Axes start at 0, logarithmic ones a little under the least value; those of a family are the same. */
  function setRanges(scene, rows) {
    const tops = {};
    for (const row of rows.filter((r) => r.kind === "lines")) {
      const found = (row.extent = extent(scene, row)), key = row.family || row.axis;
      const seen = (tops[key] = tops[key] || { low: Infinity, high: -Infinity });
      seen.low = Math.min(seen.low, found.low);
      seen.high = Math.max(seen.high, found.high);
      row.seen = seen;
    }
    for (const row of rows.filter((r) => r.kind === "lines")) {
      const { low, high } = row.seen;
      if (!(high > 0)) row.range = row.log ? [0, 3] : [0, 1];
      else if (!row.log) row.range = [Math.min(0, low), high * 1.06];
      else row.range = [Math.log10(low) - 0.08, Math.max(Math.log10(high), Math.log10(low) + 0.3) + 0.08];
    }
  }

  /** The letter of each run where its lines end, moved apart so that none covers another; without their cores where these do not fit. */
  function endWords(row, innerPx) {
    const [low, high] = row.range, at = (v) => (row.log ? Math.log10(v) : v);
    const bottom = row.domain[0] * innerPx, top = row.domain[1] * innerPx;
    const fits = (count) => count * LABEL_PX <= top - bottom + 2 * LABEL_PX;
    const isFirst = (end, i, all) => all.findIndex((other) => other.letter === end.letter) === i;
    const ends = fits(row.extent.ends.length) ? row.extent.ends : row.extent.ends.filter(isFirst).map((end) => ({ ...end, text: end.letter }));
    if (!fits(ends.length)) return [];
    const words = ends.map((end) => ({ ...end, px: bottom + ((at(end.value) - low) / (high - low)) * (top - bottom) })).sort((a, b) => a.px - b.px);
    words.forEach((word, i) => { if (i) word.px = Math.max(word.px, words[i - 1].px + LABEL_PX); });
    for (let i = words.length - 1, limit = top; i >= 0; i--, limit = words[i + 1].px - LABEL_PX) words[i].px = Math.min(words[i].px, limit);
    return words.map(({ text, color, px }) => ({
      name: "end-word", text, xref: "paper", yref: "paper", x: 1, y: px / innerPx, xanchor: "left", yanchor: "middle", showarrow: false, xshift: 2, font: { size: 10, color, weight: "bold" }, borderpad: 0,
    }));
  }

  const decadeWords = (us) => (us >= 1e6 ? us / 1e6 + " s" : us >= 1e3 ? us / 1e3 + " ms" : us >= 1 ? us + " us" : us * 1e3 + " ns");

  /* Tick labels may overflow: there is room for all of them, and to find that out would measure each on every drawing. */
  function rowAxis(scene, row) {
    const c = wattlas.palette(scene.theme);
    const common = { domain: row.domain, anchor: "x", fixedrange: true, gridcolor: c.grid, linecolor: c.line, zeroline: false, tickfont: { size: 10 }, ticklabeloverflow: "allow" };
    if (row.kind === "heat") {
      const names = scene.answer.runs[row.runs[0]].heat.rows;
      const step = Math.max(1, Math.ceil(names.length / Math.max(1, Math.min(4, Math.floor(row.px / TICK_PX))))), shown = names.map((_, i) => i).filter((i) => i % step === 0);
      return { ...common, range: [names.length - 0.5, -0.5], tickvals: shown, ticktext: shown.map((i) => names[i]), showgrid: false };
    }
    if (row.log) return { ...common, type: "log", range: row.range, ...timeline.logTicks(...row.range.map((power) => Math.pow(10, power)), Math.floor(row.px / TICK_PX), decadeWords) };
    return { ...common, range: row.range, tickformat: row.panel === "busy" ? ".0%" : row.seen.high < 2 ? "~g" : "~s", tickvals: timeline.linearTicks(...row.range, Math.max(2, Math.min(5, Math.round(row.px / 17)))) };
  }

  function rowWords(scene, rows) {
    const c = wattlas.palette(scene.theme), words = [];
    const note = (row, text, x, anchor, color) => words.push({
      text, xref: "paper", yref: "paper", x, y: row.domain[1], xanchor: anchor, yanchor: "bottom", showarrow: false, font: { size: 11, color }, borderpad: 0,
    });
    for (const row of rows) {
      if (row.isFirst) note(row, "<b>" + row.title + "</b>" + (row.unit ? ", " + row.unit : ""), 0, "left", c.text);
      if (row.kind === "heat" || scene.state.layout === "stacked") {
        const k = row.runs[0];
        note(row, "<b>" + timeline.letter(k) + "</b> " + scene.answer.runs[k].short, 1, "right", timeline.ink(scene, k));
      }
    }
    return words;
  }

  /* The delay that each run was set to, across its rows of gaps. */
  function delayLines(scene, rows) {
    return rows.filter((row) => row.panel === "gap").flatMap((row) => row.runs.filter((k) => scene.infos[k] && scene.infos[k].itr_us > 0).map((k) => ({
      type: "line", xref: "paper", x0: 0, x1: 1, yref: row.axis, y0: scene.infos[k].itr_us, y1: scene.infos[k].itr_us,
      line: { width: 1, dash: "dot", color: glass(timeline.shade(scene, k, 0, 1), 0.8) },
    })));
  }

  /**
   * The figure of all panels.
   *   scene: answer (of /timeline/window, decoded), infos (of the runs), state, hues, theme, roomPx.
   */
  timeline.figure = function (scene) {
    const c = wattlas.palette(scene.theme), rows = listRows(scene), data = [];
    const height = placeRows(rows, scene.roomPx), inner = height - MARGIN.t - MARGIN.b;
    setRanges(scene, rows);
    const heats = rows.filter((row) => row.kind === "heat"), scale = heatScale(scene, heats);
    const layout = {
      height, margin: { ...MARGIN, r: heats.length ? 54 : MARGIN.r }, showlegend: false, hovermode: false, dragmode: false,
      font: { family: FONT, size: 11, color: c.text }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      xaxis: {
        range: [scene.answer.from_s, scene.answer.to_s], side: "top", anchor: "y", gridcolor: c.grid, linecolor: c.line, zeroline: false,
        title: { text: "Time since the start of the workload, s", font: { size: 11 }, standoff: 2 }, ticks: "outside", ticklen: 18, tickcolor: c.grid, tickfont: { size: 10 }, ticklabeloverflow: "allow", nticks: 9, exponentformat: "none",
      },
      annotations: [...rowWords(scene, rows), ...rows.filter((row) => row.runs.length && row.extent).flatMap((row) => endWords(row, inner))], shapes: delayLines(scene, rows), meta: { kind: "timeline", rows },
    };
    for (const row of rows) {
      layout["yaxis" + row.axis.slice(1)] = rowAxis(scene, row);
      if (row.kind === "heat") data.push(heatTrace(scene, row, row.runs[0], scale));
      else for (const k of row.runs) data.push(...seriesTraces(scene, row, k));
    }
    return { data, layout };
  };
})((window.wattlas = window.wattlas || {}));
