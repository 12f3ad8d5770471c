/*
 * The timeline page: its state, its questions to the server, its address.
 * Windows are asked for at a pace, the last one always; a question that a newer one overtakes is aborted, an answer that
 * comes late is dropped, and the old picture stays, stretched, until the new one is there.
 */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {});
  const FIGURE = "timeline-figure", SIDES = ["timeline-gaps", "timeline-sizes"];
  const CONFIG = { staticPlot: true, displaylogo: false, showSendToCloud: false, responsive: false };
  const LEAST_PX = 50, MOST_PX = 4000, LEAST_SPAN_S = 1e-6, PACE_MS = 120;
  timeline.FIGURE = FIGURE;

  /* state: what the URL holds. infos: what is known of each run, in its order. answer: what is drawn. clipped: what was asked for outside the runs, in words. */
  const page = { state: null, infos: [], hues: [], answer: null, start: null, clipped: "" };
  timeline.page = page;
  timeline.plot = () => document.getElementById(FIGURE);
  const isShown = () => Boolean(document.querySelector(".timeline"));

  /** Length of the longest run, in seconds. */
  timeline.duration = () => Math.max(0, ...page.infos.map((info) => (info.has_log && info.duration_s) || 0));

  /** What is looked at: from, to, in seconds. */
  timeline.span = function () {
    const { from, to } = page.state;
    return [from === null ? 0 : from, to === null ? timeline.duration() : to];
  };

  /* ---- questions */

  const LISTS = { bdata: 1 };
  function decoded(value) {
    if (Array.isArray(value)) return value.map(decoded);
    if (!value || typeof value !== "object") return value;
    if (Object.keys(LISTS).every((key) => key in value)) return wattlas.decode(value);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, decoded(part)]));
  }

  const exact = (seconds) => seconds.toFixed(9);

  /** The window as the server is asked for it. */
  timeline.question = function (more) {
    const { state } = page, [from, to] = timeline.span(), gd = timeline.plot();
    const room = gd ? gd.clientWidth - 80 : 1000;
    const asked = new URLSearchParams();
    state.runs.forEach((run) => asked.append("runs", run));
    const parts = {
      cores: state.cores, from: exact(from), to: exact(to), width: Math.round(Math.min(Math.max(room, LEAST_PX), MOST_PX)),
      panels: state.panels.join(","), heat: state.heat, base: state.base, lake: page.start.shown, ...more,
    };
    Object.entries(parts).forEach(([key, value]) => asked.set(key, value));
    if (!(to > from)) { asked.delete("from"); asked.delete("to"); }
    return asked.toString();
  };

  let asking = null, askTimer = 0, askedAt = 0, number = 0;
  timeline.requests = { sent: 0, aborted: 0, dropped: 0 };

  /** The window or what is drawn of it has changed: ask at once after a rest, else at the pace's next beat. */
  timeline.ask = function () {
    if (askTimer) return;
    const wait = Math.max(0, askedAt + PACE_MS - performance.now());
    askTimer = wattlas.later(() => { askTimer = 0; fetchWindow(); }, wait);
  };

  /** Whether a question is about to be asked or has no answer yet. */
  timeline.isBusy = () => Boolean(askTimer || asking);

  async function fetchWindow() {
    if (!isShown() || !page.state) return;
    if (!page.state.runs.length) { timeline.nothing(); return; }
    askedAt = performance.now();
    if (asking) { asking.abort(); timeline.requests.aborted += 1; }
    const mine = (number += 1), control = (asking = new AbortController());
    timeline.requests.sent += 1;
    try {
      const response = await wattlas.fetch("timeline/window?" + timeline.question(), { signal: control.signal });
      const answer = response.status < 500 ? await response.json() : { error: "BUG: the server failed on this window; its log has the details. The picture is that of the last window." };
      if (mine !== number) { timeline.requests.dropped += 1; return; }
      if (!response.ok) { timeline.complain(answer.error); return; }
      take(decoded(answer));
    } catch (error) {
      if (error.name !== "AbortError") timeline.complain("The server did not answer (" + error.message + "). The picture is that of the last window.");
    } finally {
      if (asking === control) asking = null;
      if (mine === number && !page.answer) clear("");
    }
  }

  function take(answer) {
    if (!isShown()) return;
    page.answer = answer;
    if (answer.clipped) adopt(answer);
    timeline.complain("");
    timeline.draw();
    timeline.drawSides();
  }

  /* What was asked for lies outside the runs: the window is the one that the server has shown instead. */
  function adopt({ from_s: from, to_s: to, clipped }) {
    const all = timeline.duration(), isWhole = to - from >= all * (1 - 1e-9);
    Object.assign(page.state, { from: isWhole ? null : Number(exact(from)), to: isWhole ? null : Number(exact(to)) });
    page.clipped = clipped;
    timeline.writeUrl();
  }

  /* ---- pictures */

  timeline.scene = (theme) => ({ answer: page.answer, infos: page.infos, state: page.state, hues: page.hues, theme: theme || wattlas.theme(), roomPx: room() });
  const room = () => { const gd = timeline.plot(); return gd ? gd.parentElement.clientHeight - 4 : 600; };

  /** Paint the answer that is at hand. */
  timeline.draw = function () {
    const gd = timeline.plot();
    if (!gd || !page.answer) return;
    // First, since its lines of words take room from the pictures.
    timeline.tellProblems(timeline.scene());
    const figure = timeline.figure(timeline.scene());
    if (!figure.data.length) { clear(isAllOff() ? ALL_OFF : page.answer.runs.every((run) => run.problem) ? NONE_SHOWN : "Nothing of these runs can be drawn here. Home shows all of them."); timeline.showSpan(); return; }
    if (!gd.classList.contains("js-plotly-plot")) gd.textContent = "";
    figure.layout.width = gd.clientWidth;
    timeline.unstretch();
    window.Plotly.react(gd, figure.data, { ...figure.layout, annotations: [] }, CONFIG);
    timeline.writeWords(gd, figure.layout.annotations);
    gd.setAttribute("aria-busy", "false");
    timeline.stretch();
    timeline.showSpan();
    timeline.showCursor();
  };

  timeline.drawSides = function () {
    const scene = timeline.scene();
    SIDES.forEach((id) => {
      const gd = document.getElementById(id);
      if (!gd) return;
      timeline.listenSizes(gd);
      const figure = timeline.side(id, scene, gd.clientHeight);
      window.Plotly.react(gd, figure.data, { ...figure.layout, width: gd.clientWidth, height: gd.clientHeight }, CONFIG);
    });
    timeline.fillTotals(scene);
  };

  const ALL_OFF = "All panels are switched off: switch one on.";
  const NONE_SHOWN = "None of these runs can be shown. Why is said above; others are under \u201cadd a run\u201d.";
  const isAllOff = () => !page.state.panels.length && page.state.heat === "none";

  function clear(words) {
    const gd = timeline.plot();
    window.Plotly.purge(gd);
    gd.classList.remove("js-plotly-plot");
    gd.textContent = words;
  }

  /** There is no run to draw: say so. */
  timeline.nothing = function () {
    number += 1;
    page.answer = null;
    SIDES.forEach((id) => window.Plotly.purge(document.getElementById(id)));
    clear(page.start.advice);
    timeline.fillTotals(null);
    timeline.complain("");
    timeline.showSpan();
  };

  /* ---- changes */

  const past = [];

  /** Look at another window; the picture is stretched at once and drawn anew when the answer comes. */
  timeline.look = function (from, to, isOneMove) {
    const all = timeline.duration(), [before, behind] = timeline.span();
    const span = Math.min(Math.max(to - from, Math.min(LEAST_SPAN_S, all)), all);
    const start = Math.min(Math.max((from + to - span) / 2, 0), all - span);
    const whole = span >= all * (1 - 1e-9);
    if (isOneMove !== false && (start !== before || start + span !== behind)) past.push([before, behind]);
    if (past.length > 100) past.shift();
    page.clipped = "";
    page.state.from = whole ? null : Number(exact(start));
    page.state.to = whole ? null : Number(exact(start + span));
    timeline.stretch();
    timeline.showSpan();
    timeline.ask();
    timeline.writeUrl();
  };
  timeline.back = function () {
    const last = past.pop();
    if (last) timeline.look(last[0], last[1], false);
  };
  timeline.zoom = function (factor, at) {
    const [from, to] = timeline.span(), middle = at === undefined ? (from + to) / 2 : at;
    timeline.look(middle - (middle - from) * factor, middle + (to - middle) * factor);
  };
  timeline.pan = function (share) {
    const [from, to] = timeline.span(), step = (to - from) * share;
    const kept = Math.min(Math.max(step, -from), timeline.duration() - to);
    timeline.look(from + kept, to + kept);
  };
  timeline.whole = () => timeline.look(0, timeline.duration());

  /** Change parts of the state that are not the window. */
  timeline.set = function (parts) {
    Object.assign(page.state, parts);
    timeline.ask();
    timeline.writeUrl();
  };

  /* ---- address */

  timeline.query = function () {
    const { state, start } = page;
    if (!state) return "";
    const written = new URLSearchParams({ v: start.version });
    state.runs.forEach((run) => written.append("run", run));
    if (state.hues.some((hue, k) => hue !== k)) state.hues.forEach((hue) => written.append("hue", hue));
    if (state.panels.join() !== start.panels.filter((p) => p.is_default).map((p) => p.name).join()) (state.panels.length ? state.panels : ["none"]).forEach((name) => written.append("panel", name));
    const { defaults } = start;
    for (const key of ["cores", "heat", "layout", "base", "other", "from", "to", "lake"]) {
      if (state[key] !== null && state[key] !== defaults[key]) written.set(key, state[key]);
    }
    return written.toString();
  };
  let urlTimer = 0;
  timeline.writeUrl = function () {
    wattlas.cancel(urlTimer);
    urlTimer = wattlas.later(() => {
      wattlas.writeAddress(shell, timeline.query());
      const link = document.getElementById("timeline-data");
      if (link && isShown()) link.href = shell.data(FIGURE, "csv");
    }, 120);
  };

  /* ---- beginning */

  /** The page is there: take its state, ask for the window, fill the rail. */
  timeline.open = function (start) {
    if (!start) return 0;
    Object.assign(page, { start, state: start.state, infos: start.runs, hues: start.hues, answer: null, clipped: "" });
    past.length = 0;
    number += 1;
    if (asking) asking.abort();
    wattlas.cancel(askTimer);
    askTimer = askedAt = 0;
    timeline.leaveCursor();
    timeline.listen(timeline.plot());
    if (start.state.runs.length) timeline.plot().textContent = "Reading the window\u2026";
    fetchWindow();
    timeline.fillRuns();
    timeline.showSpan();
    timeline.writeUrl();
    return number;
  };

  let shownControls = "";
  /** A control in the rail has changed. */
  timeline.control = function (panels, layout, heat, mode, chosen) {
    const controls = JSON.stringify([panels, layout, heat, mode, chosen]);
    if (!page.state || !isShown() || controls === shownControls) return;
    shownControls = controls;
    const order = page.start.panels.map((panel) => panel.name).filter((name) => (panels || []).includes(name));
    const cores = mode === "chosen" ? timeline.readCores(chosen) : mode;
    const box = document.getElementById("timeline-cores-box");
    if (box) box.hidden = mode !== "chosen";
    if (cores === null) return;
    const now = { panels: order, layout, heat, cores: cores || "all" };
    if (Object.entries(now).some(([key, value]) => String(page.state[key]) !== String(value))) timeline.set(now);
  };

  const shell = {
    root: ".timeline",
    tab: "tab-timeline",
    query: timeline.query,
    figure: (id) => page.answer && (id === FIGURE ? timeline.onPaper() : SIDES.includes(id) && timeline.sidesOnPaper()),
    data: (id, format) => "timeline/data." + format + "?" + timeline.question({ what: { "timeline-totals": "totals", "timeline-gaps": "distributions" }[id] || "view" }),
    how: () => "timeline/how?" + timeline.question(),
    theme: () => { if (page.answer) { timeline.fillRuns(); timeline.draw(); timeline.drawSides(); } },
    clear: () => timeline.leaveCursor(),
    resize: () => { if (page.answer) { timeline.draw(); timeline.drawSides(); timeline.ask(); } },
  };
  timeline.shell = shell;
  wattlas.addPage(shell);
  let sizeTimer = 0;
  addEventListener("resize", () => { wattlas.cancel(sizeTimer); sizeTimer = wattlas.later(() => isShown() && shell.resize(), 150); });

  window.dash_clientside = Object.assign({}, window.dash_clientside, { timeline: { open: timeline.open, control: timeline.control } });
})(window.wattlas);
