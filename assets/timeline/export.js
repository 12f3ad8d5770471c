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
  const part = (id) => document.getElementById(id);

  /* ---- windows within an answer */

  const EDGE_S = 1e-9;
  const holding = (from, to) => held.filter((one) => one.from_s <= from + EDGE_S && one.to_s >= to - EDGE_S);

  /** The first bin that touches a window, and the one after the last. */
  function binsIn({ t0, dt, n }, from, to) {
    const first = Math.min(Math.max(Math.floor((from - t0) / dt + EDGE_S), 0), n - 1);
    return [first, Math.min(Math.max(Math.ceil((to - t0) / dt - EDGE_S), first + 1), n)];
  }
  const cutAxis = (axis, [first, end]) => {
    const t0 = axis.t0 + first * axis.dt, t1 = end === axis.n ? axis.t1 : axis.t0 + end * axis.dt;
    return { t0, dt: axis.dt, n: end - first, t1 };
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
      raw: run.raw && cutRaw(run.raw, from, to), heat: run.heat && cutHeat(run.heat, from, to),
      window: { ...run.window, bins: drawn[1] - drawn[0] },
    };
  }
  function cutRaw(raw, from, to) {
    const first = raw.t_s.findIndex((t) => t >= from), start = first < 0 ? raw.t_s.length : first;
    const behind = raw.t_s.findIndex((t) => t >= to);
    return mapValues(raw, (values) => values.subarray(start, behind < 0 ? values.length : behind));
  }
  function cutHeat(heat, from, to) {
    const [rows, n] = heat.shape, [first, end] = binsIn({ ...heat, n }, from, to), width = end - first;
    const z = new Float32Array(rows * width);
    for (let i = 0; i < rows; i++) z.set(heat.z.subarray(i * n + first, i * n + end), i * width);
    return { ...heat, ...cutAxis({ ...heat, n }, [first, end]), z, shape: [rows, width] };
  }

  function answerFor(from, to) {
    const whole = holding(from, to).sort((a, b) => a.to_s - a.from_s - (b.to_s - b.from_s))[0];
    if (!whole) return null;
    const runs = whole.runs.map((run) => cutRun(run, whole.panels, from, to));
    return { ...whole, runs, from_s: from, to_s: to, held: whole };
  }

  /* Totals and distributions are those of the answer that the window is cut out of. */
  function title({ held: whole }) {
    const words = (time) => timeline.timeWords(time, whole.to_s - whole.from_s);
    const from = words(whole.from_s), to = words(whole.to_s);
    part("timeline-gaps-title").textContent = "Distributions of " + from + " to " + to;
    part("timeline-totals-title").textContent = "Totals of " + from + " to " + to;
  }

  function ask() {
    const answer = answerFor(...timeline.span());
    if (!answer) {
      const { from_s: from, to_s: to } = held[0], words = (t) => timeline.timeWords(t, to - from);
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
  const isAll = ({ from_s: from, to_s: to }) => to - from >= timeline.duration() * (1 - EDGE_S);
  if (held.length) Object.assign(state, windowOf(held[0]));
  page.whole = held.find((one) => isAll(one) && one.panels.some(({ name }) => name === "interrupts")) || null;
  part("timeline-strip").hidden = !page.whole;
  function windowOf(one) {
    return isAll(one) ? { from: null, to: null } : { from: one.from_s, to: one.to_s };
  }
  timeline.listen();
  timeline.observe();
  wattlas.exportThemes((name) => {
    theme = name;
    if (held.length) ask(); else timeline.clearPicture("No run is shown.");
  });
  wattlas.exportKeys({ clear: timeline.leaveCursor, key: timeline.key });
})(window.wattlas);
