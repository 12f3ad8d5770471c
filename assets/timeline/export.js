/*
 * Start an exported timeline: the page's figures and moves without a server. The file holds the answer for
 * the visible window, and the answer for the whole runs if that is small. Other windows are cut out of the
 * narrower answer that contains them.
 */
(function (wattlas) {
  "use strict";

  const { timeline } = wattlas, { page } = timeline;
  const { answers, state, colors } = wattlas.exportData();
  const held = answers.map(timeline.decoded);
  for (const one of held) {
    one.runs.forEach((run, k) => { run.bands = one.bands[k].problem ? null : one.bands[k]; });
  }
  const part = (id) => document.getElementById(id);

  /* ---- windows within an answer */

  const EDGE = 1e-9;

  /** The first bin that touches a window, and the one after the last. */
  function binsIn({ t0, dt, n, edges }, from, to) {
    if (edges) {
      const begin = Math.max(edges.findLastIndex((x) => x <= from), 0);
      const behind = edges.findIndex((x) => x >= to);
      return [Math.min(begin, n - 1), Math.max(behind < 0 ? n : behind, Math.min(begin, n - 1) + 1)];
    }
    const first = Math.min(Math.max(Math.floor((from - t0) / dt + EDGE), 0), n - 1);
    return [first, Math.min(Math.max(Math.ceil((to - t0) / dt - EDGE), first + 1), n)];
  }
  const cutAxis = (axis, [first, end]) => {
    const cut = { t0: timeline.edgeOf(axis, first), n: end - first, t1: timeline.edgeOf(axis, end) };
    if (!axis.edges) return { ...cut, dt: axis.dt };
    return { ...cut, edges: axis.edges.slice(first, end + 1), t_s: axis.t_s.slice(first, end + 1) };
  };
  const mapValues = (object, change) => {
    return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
  };

  function cutRun(run, panels, from, to) {
    if (run.problem) return run;
    const bins = mapValues(run.axes, (axis) => binsIn(axis, from, to)), drawn = bins[run.window.clock];
    const clockOf = (name) => panels.find((one) => one.series.some((series) => series.name === name)).axis;
    const cut = (values, clock) => values.subarray(...bins[clock]);
    const group = (one) => ({
      ...one, ...(one.count ? { count: cut(one.count, "interrupts") } : {}),
      series: mapValues(one.series, (line, name) => mapValues(line, (values) => cut(values, clockOf(name)))),
    });
    return {
      ...run, axes: mapValues(run.axes, (axis, name) => cutAxis(axis, bins[name])),
      groups: run.groups.map(group), power: run.power.map(group),
      bands: run.bands && cutRun(run.bands, panels, from, to),
      raw: run.raw && cutRaw(run.raw, from, to),
      heat: run.heat && cutHeat(run.heat, from, to),
      window: { ...run.window, bins: drawn[1] - drawn[0] },
    };
  }
  function cutRaw(raw, from, to) {
    const places = timeline.placesOf(raw), { length } = places, first = places.findIndex((x) => x >= from);
    const behind = places.findIndex((x) => x >= to), start = first < 0 ? length : first;
    return mapValues(raw, (values) => values.subarray(start, behind < 0 ? values.length : behind));
  }
  function cutHeat(heat, from, to) {
    const [rows, n] = heat.shape, [first, end] = binsIn({ ...heat, n }, from, to), width = end - first;
    const z = new Float32Array(rows * width);
    for (let i = 0; i < rows; i++) z.set(heat.z.subarray(i * n + first, i * n + end), i * width);
    return { ...heat, ...cutAxis({ ...heat, n }, [first, end]), z, shape: [rows, width] };
  }

  function answerFor(from, to) {
    const whole = held.filter((one) => one.from_x <= from + EDGE && one.to_x >= to - EDGE)
      .sort((a, b) => a.to_x - a.from_x - (b.to_x - b.from_x))[0];
    if (!whole) return null;
    const runs = whole.runs.map((run) => cutRun(run, whole.panels, from, to));
    return { ...whole, runs, from_x: from, to_x: to, held: whole };
  }

  /* Totals and distributions are those of the answer that the window is cut out of. */
  function title({ held: whole }) {
    const words = (x) => timeline.placeWords(page, x, whole.to_x - whole.from_x);
    const from = words(whole.from_x), to = words(whole.to_x);
    part("timeline-gaps-title").textContent = "Distributions of " + from + " to " + to;
    part("timeline-totals-title").textContent = "Totals of " + from + " to " + to;
  }

  function ask() {
    const answer = answerFor(...timeline.span());
    if (!answer) {
      const { from_x: from, to_x: to } = held[0], words = (x) => timeline.placeWords(page, x, to - from);
      timeline.look(from, to, false);
      timeline.complain("This file holds " + words(from) + " to " + words(to) + " only.");
      return;
    }
    timeline.show(answer);
    title(answer);
  }

  /* ---- the page */

  let theme = "light";
  timeline.host = { ask, changed() {}, toggleCore() {}, theme: () => theme };
  Object.assign(page, { state, infos: state.infos, hues: colors, canChoose: false });
  const isAll = ({ from_x: from, to_x: to }) => to - from >= timeline.duration() * (1 - EDGE);
  page.x = held.length ? held[0].x : null;
  if (held.length) Object.assign(state, windowOf(held[0]));
  page.whole = held.find((one) => isAll(one) && one.panels.some(({ name }) => name === "interrupts")) || null;
  part("timeline-strip").hidden = !page.whole;
  function windowOf(one) {
    return isAll(one) ? { from: null, to: null } : { from: one.from_x, to: one.to_x };
  }
  timeline.listen();
  timeline.observe();
  wattlas.exportThemes((name) => {
    theme = name;
    if (held.length) ask(); else timeline.clearPicture("No run is shown.");
  });
  wattlas.exportKeys({ clear: timeline.leaveCursor, key: timeline.key });
})(window.wattlas);
