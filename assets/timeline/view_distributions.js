/* The distributions of a window: how many gaps and interrupts of each size. Pure. */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {});
  const PER_DECADE = 24, MOST_TICKS = 7, GAP_PX = 40, MARGIN = { l: 44, r: 10, t: 22, b: 34 };
  const BEHIND = { dark: "rgba(22,25,29,0.8)", light: "rgba(255,255,255,0.8)" };
  // By picture, its quantities: name, title, unit.
  const GAPS = [["gap", "Time between interrupts", "us"]];
  const SIZES = [
    ["rx_bytes", "Received per interrupt", "bytes"], ["tx_bytes", "Sent per interrupt", "bytes"],
  ];
  const PICTURES = {
    "timeline-gaps": GAPS, "timeline-sizes": SIZES, "timeline-distributions": [...GAPS, ...SIZES],
  };

  /* Counts in equal steps of the logarithm. A bin over several steps is divided by its logarithmic length. */
  function countSteps({ lo, hi, count }) {
    const step = (v) => Math.log10(v) * PER_DECADE, found = new Map();
    let total = 0, zeros = 0;
    for (let i = 0; i < count.length; i++) {
      total += count[i];
      if (!(lo[i] > 0)) { zeros += count[i]; continue; }
      const a = step(lo[i]), b = Math.max(step(hi[i]), a + 1e-9);
      for (let s = Math.floor(a); s < b; s++) {
        const part = (Math.min(b, s + 1) - Math.max(a, s)) / (b - a);
        found.set(s, (found.get(s) || 0) + count[i] * part);
      }
    }
    return { found, total, zeros };
  }

  /** Percentages of the values as a line of steps. Zeros have no place on the axis and are only counted. */
  timeline.shares = function (hist) {
    const { found, total, zeros } = countSteps(hist), x = [], y = [];
    const edge = (s) => Math.pow(10, s / PER_DECADE);
    let last = null;
    for (const s of [...found.keys()].sort((p, q) => p - q)) {
      if (last === null) { x.push(edge(s)); y.push(0); }
      else if (s > last + 1) { x.push(edge(last + 1), edge(s)); y.push(0, 0); }
      x.push(edge(s), edge(s + 1));
      y.push((100 * found.get(s)) / total, (100 * found.get(s)) / total);
      last = s;
    }
    if (last !== null) { x.push(x[x.length - 1]); y.push(0); }
    return { x, y, total, zeros };
  };

  /* The runs' lines of one quantity. */
  function traces(scene, quantity, n) {
    return scene.answer.runs.flatMap((run, k) => {
      const hist = !run.problem && run.hist && run.hist[quantity];
      if (!hist) return [];
      const { x, y, total, zeros } = timeline.shares(hist), dash = timeline.dash(scene.state.hues[k]);
      return [{
        type: "scatter", mode: "lines", x, y, xaxis: "x" + n, yaxis: "y" + n, hoverinfo: "skip",
        line: { width: 1.4, color: timeline.shade(scene, k), dash },
        meta: { kind: "shares", quantity, run: run.run_id, total, zeros, k },
      }];
    });
  }

  /* A line and words at each ITR value. */
  function delayMarks(scene, quantity, n) {
    const delays = new Map(), shapes = [], annotations = [];
    scene.answer.runs.forEach((run, k) => {
      const delay = !run.problem && run.hist && run.hist[quantity] && run.hist[quantity].itr_us;
      if (delay > 0) delays.set(delay, [...(delays.get(delay) || []), k]);
    });
    [...delays].forEach(([delay, runs], i) => {
      const color = timeline.textColor(scene, runs[0]), at = { xref: "x" + n, yref: "y" + n + " domain" };
      const line = { width: 1, dash: "dot", color };
      shapes.push({ ...at, type: "line", x0: delay, x1: delay, y0: 0, y1: 1, line });
      annotations.push({
        ...at, text: runs.map(timeline.letter).join(" ") + " ITR " + delay + " us",
        x: Math.log10(delay), xanchor: "left", xshift: 2, y: 1 - 0.13 * i, yanchor: "top", showarrow: false,
        font: { size: 12, color }, bgcolor: BEHIND[scene.theme], borderpad: 0,
      });
    });
    return { shapes, annotations };
  }

  /* The title of one quantity, and for each run how many interrupts had no bytes. */
  function headings(scene, title, y, lines) {
    const common = { xref: "paper", yref: "paper", y, showarrow: false };
    const heading = {
      ...common, text: "<b>" + title + "</b>" + (lines.length ? "" : ": not measured"),
      // Where the page is narrow, it begins over the ticks: the other words need the room.
      x: 0, xanchor: "left", xshift: scene.widthPx < 400 ? -34 : 0, yanchor: "bottom", font: { size: 12 },
    };
    const none = lines.filter(({ meta }) => meta.zeros).map(({ meta: { k, zeros, total } }) => {
      const words = timeline.letter(k) + " " + ((100 * zeros) / total).toFixed(0) + " %";
      return "<span style='color:" + timeline.textColor(scene, k) + "'>" + words + "</span>";
    });
    if (!none.length) return [heading];
    const zeros = {
      ...common, text: "none: " + none.join(", "), x: 1, xanchor: "right",
      yanchor: none.length > 2 ? "top" : "bottom", font: { size: 12 }, bgcolor: BEHIND[scene.theme],
      borderpad: 0,
    };
    return [heading, zeros];
  }

  /** One of the pictures of distributions; times and sizes on logarithmic axes. */
  timeline.distributions = function (id, scene, heightPx) {
    const c = wattlas.palette(scene.theme), quantities = PICTURES[id];
    const layout = { shapes: [], annotations: [] };
    const inner = Math.max(heightPx - MARGIN.t - MARGIN.b, 40);
    const tall = (inner - GAP_PX * (quantities.length - 1)) / quantities.length;
    const axis = { gridcolor: c.grid, linecolor: c.line, zeroline: false, tickfont: { size: 12 } };
    const data = quantities.flatMap(([quantity, title, unit], p) => {
      const n = p ? p + 1 : "", top = 1 - (p * (tall + GAP_PX)) / inner;
      const lines = traces(scene, quantity, n), marks = delayMarks(scene, quantity, n);
      const ends = lines.flatMap(({ x }) => (x.length ? [x[0], x[x.length - 1]] : []));
      const [low, high] = ends.length ? [Math.min(...ends), Math.max(...ends)] : [1, 10];
      const ticks = timeline.logTicks(low, high, MOST_TICKS, timeline.tickWords[unit]);
      layout["xaxis" + n] = {
        ...axis, type: "log", anchor: "y" + n, ...ticks, ticks: "outside", visible: lines.length > 0,
      };
      layout["yaxis" + n] = {
        ...axis, domain: [Math.max(0, top - tall / inner), top], anchor: "x" + n, rangemode: "tozero",
        nticks: 4, ticksuffix: " %", visible: lines.length > 0,
      };
      layout.annotations.push(...headings(scene, title, top, lines), ...marks.annotations);
      layout.shapes.push(...marks.shapes);
      return lines;
    });
    Object.assign(layout, {
      margin: MARGIN, showlegend: false, hovermode: false,
      font: { family: wattlas.FONT, size: 12, color: c.text }, paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)", meta: { kind: "distribution", parts: quantities },
    });
    return { data, layout };
  };
})((window.wattlas = window.wattlas || {}));
