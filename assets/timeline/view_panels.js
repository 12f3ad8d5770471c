/*
 * The timeline's figure: the server's columns and the page's state in, a Plotly figure out. Pure.
 * A run has the same colour, dash and letter everywhere; a panel with several series has a row for each.
 */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {});
  const MARKERS = ["circle", "diamond", "square", "triangle-up", "triangle-down", "pentagon"];
  // The margins do not grow, so that scripts know where the panels are without asking Plotly.
  const MARGIN = { l: 58, r: 30, t: 54, b: 8, autoexpand: false }, HEAT_MARGIN_R = 54;
  const HEAT_TICKS = 4, CROWDED = 300;

  /** Middle of each bin on the x axis. */
  const middles = (bins) => Float64Array.from({ length: bins.n }, (_, i) => timeline.middleOf(bins, i));

  /* A bin between two empty ones has no neighbour to draw a line to: it is drawn from edge to edge. */
  function meanLine(bins, x, mean) {
    const xs = [], ys = [], isEmpty = (i) => i < 0 || i >= mean.length || isNaN(mean[i]);
    for (let i = 0; i < mean.length; i++) {
      if (!isEmpty(i) && isEmpty(i - 1) && isEmpty(i + 1)) {
        xs.push(timeline.edgeOf(bins, i), timeline.edgeOf(bins, i + 1));
        ys.push(mean[i], mean[i]);
      } else {
        xs.push(x[i]);
        ys.push(isEmpty(i) ? null : mean[i]);
      }
    }
    return { x: xs, y: ys };
  }

  /** The outline of minima and maxima: one polygon for each sequence of bins with values. */
  function envelope(bins, x, low, high) {
    const xs = [], ys = [];
    let start = -1;
    for (let i = 0; i <= high.length; i++) {
      const isFilled = i < high.length && !isNaN(high[i]);
      if (isFilled && start < 0) start = i;
      if (isFilled || start < 0) continue;
      if (i - start === 1) {
        const a = timeline.edgeOf(bins, start), b = timeline.edgeOf(bins, i);
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

  /** Steps between two lines, each over its whole bin: one polygon for each sequence of bins with values. */
  function steps(bins, low, high) {
    const xs = [], ys = [], isFilled = (i) => i < high.length && !isNaN(high[i]);
    const add = (x, y) => { xs.push(x); ys.push(y); };
    for (let i = 0, end; i < high.length; i = end) {
      for (end = i + 1; isFilled(i) && isFilled(end);) end++;
      if (!isFilled(i)) continue;
      const edge = (j) => timeline.edgeOf(bins, j);
      for (let j = i; j < end; j++) { add(edge(j), high[j]); add(edge(j + 1), high[j]); }
      for (let j = end - 1; j >= i; j--) { add(edge(j + 1), low[j]); add(edge(j), low[j]); }
      add(edge(i), high[i]);
      add(null, null);
    }
    return { x: xs, y: ys };
  }

  const traceOf = (row, run, kind, more) => ({
    type: "scatter", mode: "lines", xaxis: "x", yaxis: row.axis, hoverinfo: "skip", showlegend: false,
    ...more,
    meta: { run: run.run_id, series: row.series, panel: row.panel, kind, ...(more.meta || {}) },
  });

  function eventTrace(scene, row, k) {
    const run = scene.answer.runs[k], times = Array.from(timeline.eventsOf(run, row));
    const [from, to] = timeline.laneOf(row, k), line = { width: 1, color: timeline.shade(scene, k) };
    const x = times.flatMap((t) => [t, t, null]), y = times.flatMap(() => [from, to, null]);
    return traceOf(row, run, "event", { x, y, line });
  }

  function seriesTraces(scene, row, k) {
    if (row.isEvents) return [eventTrace(scene, row, k)];
    const run = scene.answer.runs[k], groups = timeline.groupsOf(run, row), data = [];
    const bins = run.axes[row.clock], x = (bins.middles = bins.middles || middles(bins));
    const isRaw = timeline.isRaw(run, row);
    groups.forEach((group, g) => {
      const values = group.series[row.series];
      if (!values) return;
      const color = timeline.shade(scene, k, g, groups.length), meta = { group: group.name };
      const band = timeline.bandOf(run, row, group);
      if (band && !isRaw) {
        const { bins: wide, p10, p90 } = band, line = { width: 0 };
        const fill = { fill: "toself", fillcolor: timeline.transparent(color, 0.28) };
        const drawn = { ...steps(wide, p10, p90), ...fill, line, meta };
        data.push(traceOf(row, run, "band", drawn));
      }
      if (values.max && !isRaw) {
        const line = { width: 0.8, color: timeline.transparent(color, 0.65) };
        const fill = band ? {} : { fill: "toself", fillcolor: timeline.transparent(color, 0.18) };
        const edge = envelope(bins, x, values.min || values.mean, values.max);
        data.push(traceOf(row, run, "envelope", { ...edge, ...fill, line, meta }));
      }
      const line = { width: isRaw ? 0.8 : 1.4, color };
      data.push(traceOf(row, run, "mean", { ...meanLine(bins, x, values.mean), line, meta }));
    });
    return isRaw ? [...data, rawTrace(scene, row, k)] : data;
  }

  function rawTrace(scene, row, k) {
    const run = scene.answer.runs[k], isCrowded = run.raw.t_s.length > CROWDED;
    const marker = {
      size: isCrowded ? 3 : 5.5, opacity: isCrowded ? 0.6 : 0.85, color: timeline.shade(scene, k),
      symbol: MARKERS[scene.state.hues[k] % MARKERS.length],
    };
    const y = run.raw[timeline.rawColumn(row)];
    return traceOf(row, run, "raw", { mode: "markers", marker, x: timeline.placesOf(run.raw), y });
  }

  /* The values that the colours of all heatmaps span. */
  function heatScale(scene, rows) {
    const isLog = Boolean(scene.answer.heat && scene.answer.heat.log);
    let low = Infinity, high = 0;
    for (const row of rows) {
      for (const z of scene.answer.runs[row.runs[0]].heat.z) {
        if (z > high) high = z;
        if (z > 0 && z < low) low = z;
      }
    }
    const ticks = { tickformat: "~s", nticks: 3 };
    if (!isLog || !high) return { of: (z) => z, zmin: 0, zmax: high || 1, ticks };
    const { tickvals, ticktext } = timeline.logTicks(low, high, HEAT_TICKS, timeline.tickWords.us);
    return {
      of: (z) => z.map((v) => (v > 0 ? Math.log10(v) : NaN)), zmin: Math.log10(low), zmax: Math.log10(high),
      ticks: { tickvals: tickvals.map(Math.log10), ticktext },
    };
  }

  function heatTrace(scene, row, scale) {
    const run = scene.answer.runs[row.runs[0]], { heat } = run, [height, width] = heat.shape;
    return {
      type: "heatmap", xaxis: "x", yaxis: row.axis, hoverinfo: "skip", colorscale: "Viridis",
      z: Array.from({ length: height }, (_, i) => scale.of(heat.z.subarray(i * width, (i + 1) * width))),
      ...(heat.edges ? { x: Array.from(heat.edges) } : { x0: heat.t0 + heat.dt / 2, dx: heat.dt }),
      y0: 0, dy: 1, zmin: scale.zmin, zmax: scale.zmax,
      showscale: row.isFirst,
      colorbar: {
        thickness: 8, outlinewidth: 0, x: 1.004, xpad: 0, len: 84, lenmode: "pixels", y: row.domain[1],
        yanchor: "top", tickfont: { size: 12 }, ...scale.ticks,
      },
      meta: { kind: "heat", run: run.run_id, rows: heat.rows },
    };
  }

  /* The ITR value of each run, across its rows of gaps. */
  function delayLines(scene, rows) {
    const hasDelay = (k) => scene.infos[k] && scene.infos[k].itr_us > 0;
    return rows.filter((row) => row.panel === "gap").flatMap((row) => row.runs.filter(hasDelay).map((k) => ({
      type: "line", xref: "paper", x0: 0, x1: 1,
      yref: row.axis, y0: scene.infos[k].itr_us, y1: scene.infos[k].itr_us,
      line: { width: 1, dash: "dot", color: timeline.transparent(timeline.shade(scene, k), 0.8) },
    })));
  }

  function timeAxis(scene) {
    const c = wattlas.palette(scene.theme), { title, unit } = scene.answer.x;
    return {
      range: [scene.answer.from_x, scene.answer.to_x], side: "top", anchor: "y", gridcolor: c.grid,
      linecolor: c.line, zeroline: false, ticks: "outside", ticklen: 18, tickcolor: c.grid,
      tickfont: { size: 12 }, ticklabeloverflow: "allow", nticks: 9,
      exponentformat: unit === "s" ? "none" : "SI",
      title: { text: title + " since the start of the workload, " + unit, font: { size: 12 }, standoff: 2 },
    };
  }

  /**
   * The figure of all panels.
   *   scene: answer (of /timeline/window, decoded), infos (of the runs), state, hues, theme, roomPx.
   */
  timeline.figure = function (scene) {
    const c = wattlas.palette(scene.theme), rows = timeline.listRows(scene);
    const height = timeline.placeRows(rows, scene.roomPx, MARGIN.t + MARGIN.b);
    timeline.setRanges(scene, rows);
    const ofKind = (kind) => rows.filter((row) => row.kind === kind);
    const lines = ofKind("lines"), heats = ofKind("heat");
    const endWords = lines.flatMap((row) => timeline.endWords(row, height - MARGIN.t - MARGIN.b));
    const layout = {
      height, margin: { ...MARGIN, r: heats.length ? HEAT_MARGIN_R : MARGIN.r }, showlegend: false,
      hovermode: false, dragmode: false, font: { family: wattlas.FONT, size: 12, color: c.text },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", xaxis: timeAxis(scene),
      annotations: [...timeline.rowWords(scene, rows), ...endWords],
      shapes: delayLines(scene, rows), meta: { kind: "timeline", rows },
    };
    for (const row of rows) layout["yaxis" + row.axis.slice(1)] = timeline.rowAxis(scene, row);
    const scale = heatScale(scene, heats);
    const data = [
      ...lines.flatMap((row) => row.runs.flatMap((k) => seriesTraces(scene, row, k))),
      ...heats.map((row) => heatTrace(scene, row, scale)),
    ];
    return { data, layout };
  };

  if (wattlas.openings) wattlas.openings.timeline = function ({ answer, state, colors }, theme, box) {
    const { clientWidth: widthPx, clientHeight: roomPx } = box, { infos } = state;
    const scene = { answer: timeline.decoded(answer), infos, state, hues: colors, theme, roomPx, widthPx };
    return timeline.figure(scene);
  };
})((window.wattlas = window.wattlas || {}));
