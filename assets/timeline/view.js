/*
 * The visible window and its figures. A move changes the window at once. The old figure is stretched until
 * the answer for the new window arrives, from the page or the export.
 */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {});
  const FIGURE = "timeline-figure", SIDES = ["timeline-gaps", "timeline-sizes"];
  const CONFIG = { staticPlot: true, displaylogo: false, showSendToCloud: false, responsive: false };
  const LEAST_SPAN_S = 1e-6, LEAST_WORK = 1, MOST_PAST = 100, FIT_MS = 20;
  const part = (id) => document.getElementById(id);

  /*
   * state: the values of the URL. infos: facts about each run. x: the x axis of the last answer.
   * answer: the drawn answer. whole: the answer
   * for the whole of the runs, for the strip; null before it is there.
   * clipped: a sentence if the requested window was outside the runs. complaint: the last request's error.
   * canChoose: whether runs and cores can be chosen.
   */
  const page = (timeline.page = {
    state: null, infos: [], hues: [], x: null, answer: null, whole: null, clipped: "", complaint: "",
    canChoose: true,
  });
  /*
   * timeline.host: functions of the page or the export.
   *   ask(): the window has changed, an answer for it is needed.
   *   changed(): the state has changed.
   *   toggleCore(name): a core of the heatmap was chosen.
   *   theme(): name of the theme.
   */

  timeline.plot = () => part(FIGURE);
  const isOfTime = () => page.state.align === "time";
  /** The end of the longest run on the x axis: in seconds, or the work that it does. */
  timeline.duration = function () {
    if (!isOfTime()) return page.x && page.x.name === page.state.align ? page.x.end : 0;
    return Math.max(0, ...page.infos.map((info) => (info.has_log && info.duration_s) || 0));
  };
  /** The visible window on the x axis: from, to. */
  timeline.span = function () {
    const { from, to } = page.state;
    return [from === null ? 0 : from, to === null ? timeline.duration() : to];
  };
  const room = () => { const gd = timeline.plot(); return gd ? gd.parentElement.clientHeight - 4 : 600; };
  /** The input of the functions that make figures. */
  timeline.scene = (theme) => ({
    ...page, theme: theme || timeline.host.theme(), roomPx: room(), widthPx: timeline.plot().clientWidth,
    span: timeline.span(),
  });

  /** An answer of the server with its columns as typed arrays. */
  timeline.decoded = function (value) {
    if (Array.isArray(value)) return value.map(timeline.decoded);
    if (!value || typeof value !== "object") return value;
    if (typeof value.bdata === "string") return wattlas.decode(value);
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, timeline.decoded(one)]));
  };

  /* ---- places */

  /** Where the panels are in the browser's window, and the rows; null where nothing is drawn. */
  timeline.place = function (gd) {
    const { layout } = gd;
    if (!page.answer || !layout || !layout.meta) return null;
    const { l, r, t, b } = layout.margin, box = gd.getBoundingClientRect();
    return {
      left: box.left + l, top: box.top + t, width: layout.width - l - r, height: layout.height - t - b,
      rows: layout.meta.rows,
    };
  };
  timeline.timeAt = (at, x) => {
    const [from, to] = timeline.span();
    return from + ((x - at.left) / at.width) * (to - from);
  };
  timeline.rowAt = (at, y) => {
    const share = 1 - (y - at.top) / at.height, titlePx = 14;
    return at.rows.find((row) => share >= row.domain[0] && share <= row.domain[1] + titlePx / at.height);
  };
  timeline.inside = (at, { clientX: x, clientY: y }) => {
    return x >= at.left - 2 && x <= at.left + at.width + 2 && y >= at.top - 20 && y <= at.top + at.height;
  };

  /* ---- stretching */

  /** Whether the drawn answer is of the visible window, to half a pixel: times are whole nanoseconds. */
  function isCurrent(width) {
    const [from, to] = timeline.span(), { answer } = page;
    if (!answer) return false;
    return (Math.abs(answer.from_x - from) + Math.abs(answer.to_x - to)) * width <= 0.5 * (to - from);
  }
  function stretchNow() {
    const gd = timeline.plot(), at = gd && timeline.place(gd);
    if (!at) return;
    timeline.showStrip();
    const [from, to] = timeline.span(), { from_x: drawnFrom, to_x: drawnTo } = page.answer;
    gd.classList.toggle("stretched", !isCurrent(at.width));
    if (isCurrent(at.width)) return;
    gd.style.setProperty("--stretch", (drawnTo - drawnFrom) / (to - from));
    gd.style.setProperty("--shift", ((drawnFrom - from) / (to - from)) * at.width + "px");
    writeLane();
    timeline.hideHover();
  }
  let frame = 0;
  /** Stretch the drawn figure to the visible window; the style sheet moves the lines. */
  timeline.stretch = function () {
    wattlas.cancel(frame);
    frame = wattlas.nextFrame(stretchNow);
  };

  /* ---- pictures */

  const SVG = "http://www.w3.org/2000/svg";
  const ANCHORS = { left: "start", right: "end" }, LIFTS = { middle: "0.35em", bottom: "-0.4em" };
  function svg(name, attributes, ...inside) {
    const element = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    element.append(...inside);
    return element;
  }
  /* After the split, the parts at odd places are those in <b>. */
  const spans = (text) => text.split(/<\/?b>/)
    .map((one, i) => svg("tspan", i % 2 ? { "font-weight": "bold" } : {}, wattlas.shownText(one)));

  /* Annotations have a layer of our own: fifty of them make Plotly's drawing 50 % slower. */
  function writeWords({ annotations, margin, width, height, font }) {
    const inner = { width: width - margin.l - margin.r, height: height - margin.t - margin.b };
    const texts = annotations.map((word) => svg("text", {
      x: margin.l + inner.width * word.x + (word.xshift || 0), y: margin.t + inner.height * (1 - word.y),
      dy: LIFTS[word.yanchor], "text-anchor": ANCHORS[word.xanchor], fill: word.font.color,
      "font-size": word.font.size, "font-weight": word.font.weight || "normal", "font-family": font.family,
      class: word.name || "",
    }, ...spans(word.text)));
    part("timeline-words").replaceChildren(svg("svg", { width, height, "aria-hidden": "true" }, ...texts));
  }

  const ALL_OFF = "All panels are switched off: switch one on.";
  const NONE_SHOWN = "None of these runs can be shown. The reasons are above; " +
    "other runs are under \u201cadd a run\u201d.";
  const NOTHING = "Nothing of these runs can be drawn here. Home shows all of them.";
  function emptyWords() {
    const { state, answer } = page;
    if (!state.panels.length && state.heat === "none") return ALL_OFF;
    return answer.runs.every((run) => run.problem) ? NONE_SHOWN : NOTHING;
  }

  /** Remove the picture and show a text in its place. */
  timeline.clearPicture = function (words) {
    const gd = timeline.plot();
    window.Plotly.purge(gd);
    gd.classList.remove("js-plotly-plot");
    gd.textContent = words;
    part("timeline-words").replaceChildren();
    part("timeline-lane").replaceChildren();
    part("timeline-strip").replaceChildren();
  };

  /* Show elements in another one. What has not changed stays: screen readers would read it out again. */
  function render(id, elements) {
    const box = part(id);
    if (!box || box.innerHTML === elements.map((one) => one.outerHTML).join("")) return;
    const { other } = box.contains(document.activeElement) ? document.activeElement.dataset : {};
    box.replaceChildren(...elements);
    if (other === undefined) return;
    // The columns may change places: the focus stays with the run.
    const again = box.querySelector('[data-other="' + other + '"]:not(:disabled)');
    (again || box.querySelector("button:not(:disabled)") || box).focus();
  }

  /* The lane is under the panels, so its times are those of the visible window. */
  function writeLane() {
    const box = part("timeline-lane"), gd = timeline.plot(), at = gd && timeline.place(gd);
    if (!at || box.hidden) return;
    const [from, to] = timeline.span(), left = at.left - box.getBoundingClientRect().left;
    render("timeline-lane", timeline.differences(timeline.scene(), { left, width: at.width, from, to }));
  }

  /* The texts come before the figure, whose room depends on them. */
  function writeTexts() {
    const scene = timeline.scene();
    render("timeline-problems", timeline.problems(scene, page.complaint));
    render("timeline-limits", timeline.limits(scene));
    render("timeline-totals", timeline.totals(scene));
    part("timeline-lane").hidden = !scene.answer.differences;
    timeline.showSpan();
  }

  timeline.draw = function () {
    const gd = timeline.plot();
    if (!gd || !page.answer) return;
    const scene = timeline.scene(), { data, layout } = timeline.figure(scene);
    if (!data.length) { timeline.clearPicture(emptyWords()); return; }
    if (!gd.classList.contains("js-plotly-plot")) gd.textContent = "";
    Object.assign(layout, { width: gd.clientWidth, meta: { ...layout.meta, roomPx: scene.roomPx } });
    gd.classList.remove("stretched");
    window.Plotly.react(gd, data, { ...layout, annotations: [] }, CONFIG);
    writeWords(layout);
    writeLane();
    wattlas.reachScrolling([gd.parentElement, part("timeline-lane")]);
    timeline.showStrip();
    gd.setAttribute("aria-busy", "false");
    timeline.stretch();
    timeline.showCursor();
  };

  timeline.drawSides = function () {
    const scene = timeline.scene();
    for (const gd of SIDES.map(part).filter(Boolean)) {
      const { data, layout } = timeline.distributions(gd.id, scene, gd.clientHeight);
      window.Plotly.react(gd, data, { ...layout, width: gd.clientWidth, height: gd.clientHeight }, CONFIG);
    }
  };
  timeline.redraw = function () {
    if (!page.answer) return;
    writeTexts();
    timeline.draw();
    timeline.drawSides();
  };

  /* The room for the pictures changes with the window, the sidebar, and the lines of words beside them. */
  function fit() {
    const gd = timeline.plot();
    if (!gd || !page.answer) return;
    const { width, meta } = gd.layout || {}, isWider = width !== gd.clientWidth;
    if (meta && (isWider || meta.roomPx !== room())) timeline.draw();
    if (meta && isWider) timeline.host.ask();
    const isFit = ({ layout, clientWidth, clientHeight }) => {
      return !layout || (layout.width === clientWidth && layout.height === clientHeight);
    };
    if (!SIDES.map(part).every(isFit)) timeline.drawSides();
  }
  let fitting = 0;
  const observer = new ResizeObserver(() => {
    wattlas.cancel(fitting);
    fitting = wattlas.later(fit, FIT_MS);
  });
  /** Draw the pictures anew whenever their room changes. */
  timeline.observe = function () {
    observer.disconnect();
    [timeline.plot().parentElement, ...SIDES.map(part)].forEach((element) => observer.observe(element));
  };

  /** Draw an answer. */
  timeline.show = function (answer) {
    Object.assign(page, { answer, x: answer.x, complaint: "" });
    timeline.redraw();
  };

  /** Draw the bands of the drawn answer's runs. */
  timeline.showBands = function (bands) {
    page.answer.runs.forEach((run, k) => { run.bands = bands[k].problem ? null : bands[k]; });
    timeline.draw();
  };

  /** Show the error of the last request; the figure stays. */
  timeline.complain = function (sentence) {
    page.complaint = sentence;
    render("timeline-problems", timeline.problems(timeline.scene(), sentence));
  };

  /** Remove all figures, since there is no run, and show a text. */
  timeline.nothing = function (words) {
    page.answer = null;
    SIDES.map(part).forEach((gd) => window.Plotly.purge(gd));
    timeline.clearPicture(words);
    ["timeline-totals", "timeline-limits"].forEach((id) => render(id, []));
    timeline.complain("");
    timeline.showSpan();
  };

  timeline.showSpan = function () {
    const box = part("timeline-span");
    if (!box || !page.state) return;
    box.textContent = box.title = timeline.spanWords(timeline.scene(), isCurrent(1000));
  };

  /* ---- moves */

  const past = [];
  timeline.forgetPast = () => { past.length = 0; };
  /** Places as they are sent and kept in the URL: whole nanoseconds. */
  timeline.exact = (seconds) => Number(seconds.toFixed(9));

  /** Show another window; `isOneMove`: whether `back` undoes this move alone. */
  timeline.look = function (from, to, isOneMove = true) {
    const all = timeline.duration(), [before, behind] = timeline.span();
    if (!all) return;
    const least = isOfTime() ? LEAST_SPAN_S : LEAST_WORK;
    const span = Math.min(Math.max(to - from, Math.min(least, all)), all);
    const start = Math.min(Math.max((from + to - span) / 2, 0), all - span);
    const isWhole = span >= all * (1 - 1e-9);
    if (isOneMove && (start !== before || start + span !== behind)) past.push([before, behind]);
    if (past.length > MOST_PAST) past.shift();
    page.clipped = "";
    page.state.from = isWhole ? null : timeline.exact(start);
    page.state.to = isWhole ? null : timeline.exact(start + span);
    timeline.stretch();
    timeline.showSpan();
    timeline.host.ask();
    timeline.host.changed();
  };
  timeline.back = function () {
    const last = past.pop();
    if (last) timeline.look(last[0], last[1], false);
  };
  timeline.zoom = function (factor, at) {
    const [from, to] = timeline.span(), middle = at === undefined ? (from + to) / 2 : at;
    timeline.look(middle - (middle - from) * factor, middle + (to - middle) * factor);
  };
  /** Move the window by a share of its width, but not out of the runs. */
  timeline.pan = function (share, isOneMove, [from, to] = timeline.span()) {
    const step = Math.min(Math.max((to - from) * share, -from), timeline.duration() - to);
    timeline.look(from + step, to + step, isOneMove);
  };
  timeline.whole = () => timeline.look(0, timeline.duration());

  /** Compare another run with the reference. */
  timeline.setOther = function (k) {
    page.state.other = k;
    render("timeline-totals", timeline.totals(timeline.scene()));
    writeLane();
    timeline.host.changed();
  };
})((window.wattlas = window.wattlas || {}));
