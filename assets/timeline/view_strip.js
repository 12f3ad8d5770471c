/*
 * The overview strip over the panels: the whole of all runs, with a brush over the visible window. Drag the
 * brush to move it, an end to widen or narrow it, elsewhere to draw another one; a click brings the window
 * there, a double click shows all.
 */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {}), { svg } = wattlas;
  const HEIGHT = 26, END_PX = 6, LEAST_PX = 3, CLICK_PX = 4;
  const box = () => document.getElementById("timeline-strip");

  /* Interrupts a second of a run's cores; power where no interrupts were measured. */
  function lineOf(run) {
    if (run.problem) return null;
    const [{ series = {} } = {}] = run.groups, [power] = run.power;
    if (series.interrupts) return { clock: "interrupts", values: series.interrupts.mean };
    return power ? { clock: "counters", values: power.series.power.mean } : null;
  }
  const mostOf = (found) => Math.max(...found.map(({ values }) => (
    values.reduce((most, value) => (value > most ? value : most), 0)))) || 1;

  /** Where the strip is drawn: left, width (pixels), and the end of the longest run; null for nowhere. */
  function placeOf() {
    const gd = timeline.plot(), at = gd && timeline.place(gd), all = timeline.duration();
    const { whole, state } = timeline.page;
    if (!at || !all || !whole || whole.x.name !== state.align) return null;
    return { left: at.left - box().getBoundingClientRect().left, width: at.width, all };
  }

  function pathOf(bins, values, most, at) {
    const yOf = (value) => HEIGHT - 3 - (HEIGHT - 6) * (value / most);
    const points = Array.from(values, (value, i) => {
      const x = at.left + (at.width * timeline.middleOf(bins, i)) / at.all;
      return isNaN(value) ? "" : x.toFixed(1) + " " + yOf(value).toFixed(1);
    });
    return points.map((one, i) => one && (points[i - 1] ? "L" : "M") + one).join("");
  }

  /* Lines of one quantity have one scale, from 0. */
  function lines(at) {
    const scene = timeline.scene(), { runs } = timeline.page.whole, all = runs.map(lineOf);
    const drawn = all.flatMap((line, k) => {
      if (!line) return [];
      const { clock, values } = line, most = mostOf(all.filter((one) => one && one.clock === clock));
      const look = { fill: "none", stroke: timeline.shade(scene, k), "stroke-width": 1 };
      return [svg("path", { d: pathOf(runs[k].axes[clock], values, most, at), ...look })];
    });
    return svg("svg", { height: HEIGHT, width: at.left + at.width, role: "img",
      "aria-label": "the whole of the runs, with the visible window marked" },
      svg("title", {}, "drag the marked window, or draw another one; double-click: all"),
      svg("text", { x: at.left - 6, y: HEIGHT / 2 + 4, "text-anchor": "end" }, "whole"),
      ...drawn, svg("rect", { class: "brush", y: 0, height: HEIGHT }));
  }

  /** Draw the strip; while the window moves only the brush is moved. */
  let drawn = {};
  timeline.showStrip = function () {
    const strip = box(), at = placeOf(), { whole, state, hues } = timeline.page;
    if (!strip) return;
    if (!at) { strip.replaceChildren(); return; }
    const now = JSON.stringify([at, timeline.host.theme(), state.hues, hues]);
    if (drawn.whole !== whole || drawn.now !== now || !strip.firstChild) {
      strip.replaceChildren(lines(at));
      drawn = { whole, now };
    }
    const [from, to] = timeline.span(), xOf = (t) => at.left + (at.width * t) / at.all;
    const brush = strip.querySelector(".brush"), width = Math.max(xOf(to) - xOf(from), LEAST_PX);
    brush.setAttribute("x", Math.min(xOf(from), at.left + at.width - LEAST_PX));
    brush.setAttribute("width", width);
  };

  /* ---- brush */

  let drag = null;
  function placeAt(event, at) {
    const x = event.clientX - box().getBoundingClientRect().left - at.left;
    return Math.min(Math.max((x / at.width) * at.all, 0), at.all);
  }

  function down(event) {
    const at = placeOf();
    if (!at || event.button) return;
    event.preventDefault();
    box().setPointerCapture(event.pointerId);
    const time = placeAt(event, at), [from, to] = timeline.span(), near = (END_PX * at.all) / at.width;
    const isWhole = to - from >= at.all * (1 - 1e-9);
    const kind = isWhole ? "new" : Math.abs(time - from) < near ? "from" : Math.abs(time - to) < near ? "to"
      : time > from && time < to ? "move" : "new";
    drag = { at, kind, time, x: event.clientX, from, to, isMoved: false };
  }
  function move(event) {
    if (!drag || (!drag.isMoved && Math.abs(event.clientX - drag.x) < CLICK_PX)) return;
    const { at, kind, time, from, to, isMoved } = drag, now = placeAt(event, at);
    const step = Math.min(Math.max(now - time, -from), at.all - to);
    const ends = { move: [from + step, to + step], from: [now, to], to: [from, now], new: [time, now] }[kind];
    drag.isMoved = true;
    // One drag is one move for `back`.
    timeline.look(...ends.sort((p, q) => p - q), !isMoved);
  }
  function up() {
    if (!drag) return;
    const { isMoved, kind, time, from, to } = drag, half = (to - from) / 2;
    drag = null;
    if (isMoved || kind !== "new") return;
    const middle = Math.min(Math.max(time, half), timeline.duration() - half);
    timeline.look(middle - half, middle + half);
  }

  const of = (act) => (event) => { if (wattlas.closest(event, "#timeline-strip")) act(event); };
  document.addEventListener("pointerdown", of(down));
  document.addEventListener("pointermove", of(move));
  document.addEventListener("pointerup", of(up));
  document.addEventListener("pointercancel", () => { drag = null; });
  document.addEventListener("dblclick", of(() => timeline.whole()));
})((window.wattlas = window.wattlas || {}));
