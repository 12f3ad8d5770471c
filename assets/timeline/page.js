/*
 * Connects Timeline to Dash and the server: state, URL, controls, the list of runs, requests for windows.
 * There is at most one request each PACE_MS, and always one for the last window. A new request aborts the
 * previous one, and the old figure stays until the answer arrives.
 */
window.wattlas.withDash(function () {
  "use strict";

  const { wattlas } = window, { timeline } = wattlas, { page, exact } = timeline;
  const NAME = "timeline", URL_MS = 120, PACE_MS = 120, REST_MS = 400;
  const WIDTHS = [50, 4000], AXES_PX = 80;
  const part = (id) => document.getElementById(id);
  const isShown = () => Boolean(document.querySelector(".page.timeline"));

  /* What the page was opened with. */
  let spec = null;

  /* ---- requests for windows */

  const width = () => {
    const gd = timeline.plot(), room = gd ? gd.clientWidth - AXES_PX : 1000;
    return Math.round(Math.min(Math.max(room, WIDTHS[0]), WIDTHS[1]));
  };

  /** The query of a request for the window. */
  function question() {
    const { state } = page, { from, to, align } = state, asked = new URLSearchParams();
    state.runs.forEach((run) => asked.append("runs", run));
    const parts = {
      cores: state.cores, width: width(), panels: state.panels.join(","), heat: state.heat, base: state.base,
      align, lake: spec.shown, ...(from === null ? {} : { from: from.toFixed(9) }),
      ...(to === null ? {} : { to: to.toFixed(9) }),
    };
    Object.entries(parts).forEach(([key, value]) => asked.set(key, value));
    return asked.toString();
  }

  let asking = null, askTimer = 0, askedAt = 0, number = 0;
  timeline.requests = { sent: 0, aborted: 0, dropped: 0 };
  timeline.isBusy = () => Boolean(askTimer || asking || edits.length);

  /* Ask now, or PACE_MS after the last request. */
  function ask() {
    if (askTimer) return;
    const wait = Math.max(0, askedAt + PACE_MS - performance.now());
    askTimer = wattlas.later(() => { askTimer = 0; fetchWindow(); }, wait);
  }

  const FAILED = "BUG: the server failed on this window; its log has the details.";
  const OLD_PICTURE = " The picture is that of the last window.";

  async function fetchWindow() {
    if (!isShown() || !page.state) return;
    number += 1;
    if (!page.state.runs.length) { timeline.nothing(spec.advice); return; }
    askedAt = performance.now();
    if (asking) { asking.abort(); timeline.requests.aborted += 1; }
    const mine = number, control = (asking = new AbortController());
    timeline.requests.sent += 1;
    try {
      const address = wattlas.fileOf(NAME, "window", question());
      const response = await wattlas.fetch(address, { signal: control.signal });
      if (mine !== number) { timeline.requests.dropped += 1; return; }
      if (response.ok) take(timeline.decoded(response.json()));
      else timeline.complain(response.status < 500 ? response.json().error : FAILED + OLD_PICTURE);
    } catch (error) {
      const words = "The server did not answer (" + error.message + ")." + OLD_PICTURE;
      if (error.name !== "AbortError") timeline.complain(words);
    } finally {
      if (asking === control) asking = null;
      if (mine === number && !page.answer) timeline.clearPicture("");
    }
  }

  function take(answer) {
    if (!isShown()) return;
    page.x = answer.x;
    if (answer.clipped) adopt(answer);
    timeline.show(answer);
    askWhole();
    restBands();
  }
  /* Bands need finer windows than lines do: they are read when the window rests. */
  let resting = 0, askingBands = null;
  function restBands() {
    wattlas.cancel(resting);
    if (askingBands) askingBands.abort();
    resting = wattlas.later(fetchBands, REST_MS);
  }
  async function fetchBands() {
    const { answer } = page, hasBins = (run) => !run.problem && !run.raw;
    if (!isShown() || !answer || !answer.runs.some(hasBins)) return;
    const control = (askingBands = new AbortController());
    try {
      const address = wattlas.fileOf(NAME, "window", question() + "&parts=bands");
      const response = await wattlas.fetch(address, { signal: control.signal });
      if (response.ok && page.answer === answer && isShown()) {
        timeline.showBands(timeline.decoded(response.json()).runs);
      }
    } catch { /* The lines and their extremes stay. */ }
  }
  /* The strip shows the runs' whole length, once for each list of runs and x axis. */
  let wholeOf = "";
  async function askWhole() {
    const asked = new URLSearchParams(page.state.runs.map((run) => ["runs", run]));
    asked.set("align", page.state.align);
    const mine = asked.toString();
    if (mine === wholeOf) return;
    wholeOf = mine;
    const parts = { panels: "interrupts,power", parts: "panels", heat: "none", width: 400, lake: spec.shown };
    Object.entries(parts).forEach(([key, value]) => asked.set(key, value));
    try {
      const response = await wattlas.fetch(wattlas.fileOf(NAME, "window", asked.toString()));
      if (mine !== wholeOf || !isShown()) return;
      page.whole = response.ok ? timeline.decoded(response.json()) : null;
      timeline.showStrip();
    } catch (error) { wholeOf = ""; }
  }
  /* The requested window is outside the runs: the server has answered for another one. */
  function adopt({ from_x: from, to_x: to, clipped }) {
    const isWhole = to - from >= timeline.duration() * (1 - 1e-9);
    Object.assign(page.state, { from: isWhole ? null : exact(from), to: isWhole ? null : exact(to) });
    page.clipped = clipped;
    writeUrl();
  }

  /* ---- URL */

  let urlTimer = 0;
  function writeUrl() {
    wattlas.cancel(urlTimer);
    urlTimer = wattlas.later(() => {
      const { state } = page;
      const areInOrder = state.hues.every((hue, k) => hue === k);
      const kept = { ...state, run: state.runs, hue: areInOrder ? [] : state.hues };
      const { run, hue, from, to, base, other } = kept;
      wattlas.address.keep(NAME, { run, hue, from, to, base, other });
    }, URL_MS);
  }
  const fileOf = (path) => {
    const lake = spec.shown >= 0 ? { lake: spec.shown } : {};
    return wattlas.fileOf(NAME, path, wattlas.address.query(NAME, { width: width(), ...lake }));
  };

  /* ---- controls */

  /** The page was opened, by a load or by a link. */
  function open(opened) {
    spec = opened;
    const { runs, hues, base, other, infos, kept, cores, align, colors } = spec;
    const state = { runs, hues, base, other, from: kept.from, to: kept.to, cores, align };
    Object.assign(page, { state, infos, hues: colors, x: null, answer: null, whole: null, clipped: "",
      complaint: "" });
    wholeOf = "";
    edits.length = 0;
    timeline.forgetPast();
    if (asking) asking.abort();
    wattlas.cancel(askTimer);
    askTimer = askedAt = 0;
    timeline.leaveCursor();
    timeline.listen();
    timeline.observe();
    timeline.plot().textContent = runs.length ? "Reading the window\u2026" : "";
  }

  /** The controls' values as parts of the state; asks for the window if they have changed. */
  function gathered(values, before, isFirst) {
    part("timeline-cores-box").hidden = values.kind !== "chosen";
    const cores = values.kind === "chosen" ? readCores(values.list) : values.kind;
    const panels = spec.panels.filter((name) => (values.panel || []).includes(name));
    const { align } = values;
    if (align !== page.state.align) {
      // A window of the one axis is none of the other.
      Object.assign(page.state, { align, from: null, to: null });
      timeline.forgetPast();
      timeline.leaveCursor();
      writeUrl();
      ask();
    }
    const now = { panels, layout: values.layout, heat: values.heat, cores: cores || page.state.cores };
    const isSame = Object.entries(now).every(([key, value]) => String(page.state[key]) === String(value));
    Object.assign(page.state, now);
    if (isFirst) { fetchWindow(); timeline.showSpan(); } else if (!isSame) ask();
    const isDefault = String(panels) === String(spec.defaultPanels);
    const panel = isDefault ? [] : panels.length ? panels : ["none"];
    return { panel, align, layout: now.layout, heat: now.heat, cores: now.cores };
  }

  /** Read `0,2,5-7`; null and a sentence where that is no list of cores of these runs. */
  function readCores(text) {
    const known = [...new Set(page.infos.flatMap((info) => info.cores || []))].sort((a, b) => a - b);
    const found = new Set(), words = part("timeline-cores-words");
    const refuse = (sentence) => { words.textContent = sentence; return null; };
    words.title = "cores " + known.join(", ");
    for (const one of String(text || "").split(",").map((p) => p.trim()).filter(Boolean)) {
      const range = /^(\d+)(?:-(\d+))?$/.exec(one);
      if (!range) return refuse(one + " is no core: write 0,2,5-7");
      const [a, b] = [Number(range[1]), Number(range[2] || range[1])];
      if (b < a || b > 4095) return refuse(one + " is no range of cores");
      for (let core = a; core <= b; core++) found.add(core);
    }
    const unknown = [...found].filter((core) => !known.includes(core));
    if (unknown.length) return refuse("no run here has core " + unknown.slice(0, 5).join(", "));
    const { mostCores: most } = spec;
    if (found.size > most) return refuse(found.size + " cores: " + most + " lines are the most");
    words.textContent = "";
    return found.size ? [...found].sort((a, b) => a - b).join(",") : "all";
  }

  /** Show a core of the heatmap in the panels, or no longer. */
  function toggleCore(name) {
    const core = /^core (\d+)$/.exec(name);
    if (!core) return;
    const now = /^[\d,]+$/.test(page.state.cores) ? page.state.cores.split(",") : [];
    const next = now.includes(core[1]) ? now.filter((c) => c !== core[1]) : [...now, core[1]];
    if (next.length > spec.mostCores) return;
    wattlas.setProps("timeline-list", { value: next.sort((a, b) => a - b).join(",") });
    wattlas.setProps("timeline-kind", { value: next.length ? "chosen" : "all" });
  }

  /* ---- runs: the server changes the list and describes the new ones */

  /* The visitor's changes of the list that the server has not answered yet. */
  const edits = [];
  function edit(...one) {
    edits.push(one);
    const { runs, hues, base, other } = page.state;
    wattlas.setProps("timeline-edits", { data: { runs, hues, base, other, edits: [...edits] } });
  }
  /** The server has changed the list. */
  function edited(shown) {
    if (!shown) return;
    const { runs, hues, base, other, infos, edits: done } = shown;
    edits.splice(0, done);
    page.infos = infos;
    Object.assign(page.state, { runs, hues, base, other });
    if (part("timeline-picker").open) wattlas.setProps("timeline-picking", { data: runs });
    if (edits.length) return;
    ask();
    writeUrl();
  }

  function pickRuns() {
    const dialog = part("timeline-picker"), { runs } = page.state;
    dialog.showModal();
    part("timeline-search").focus();
    wattlas.setProps("timeline-picking", { data: runs });
  }

  document.addEventListener("click", (event) => {
    const button = wattlas.closest(event, ".page.timeline button");
    if (!button) return;
    const { edit: name, run, replace, by, pickRuns: picks } = button.dataset;
    if (name) edit(name, run);
    else if (replace) edit("replace", replace, by);
    else if (picks) pickRuns();
    else if (button.id === "timeline-picked") part("timeline-picker").close();
  });
  /** Move the focus in the picker's list. */
  function typed(event) {
    const dialog = wattlas.closest(event, "#timeline-picker");
    if (!dialog || !["ArrowDown", "ArrowUp"].includes(event.key)) return false;
    const all = [...dialog.querySelectorAll(".choice:not(:disabled)")];
    const next = all[Math.max(0, all.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1))];
    if (next) next.focus();
    return true;
  }

  /* ---- the page */

  /** Runs that the visitor has added or removed go on to their distributions; those of a link stay here. */
  function handover(target) {
    const { runs } = page.state || spec, known = page.infos.filter((info) => info.known);
    if (target !== "distributions" || !known.length || String(runs) === String(spec.runs)) return {};
    return { sel: "knobs~" + JSON.stringify(known.map(({ knobs }) => knobs)) };
  }

  timeline.host = { ask, changed: writeUrl, toggleCore, theme: wattlas.theme };
  const pictures = {
    figure: () => timeline.panelsOnPaper(timeline.scene("light")),
    gaps: () => timeline.distributionsOnPaper(timeline.scene("light")),
  };
  wattlas.addPage({
    name: NAME, open, gathered, handover, typed, key: timeline.key, clear: () => timeline.leaveCursor(),
    takes: (key) => Boolean(timeline.cursorKey(key)),
    figure: (view) => page.answer && pictures[view] && pictures[view](),
    data: (view, format) => fileOf("data/" + view + "." + format),
    how: (view) => fileOf("how/" + view),
    files: () => ({ data: fileOf("data/figure.csv") }),
    theme: timeline.redraw,
    // Its runs are those of the filters and the selection.
    follows: (shared) => Object.keys(shared).filter((key) => !["limit", "by"].includes(key)),
    // The pictures observe their room (view.js).
    resize: null,
  });
  wattlas.clientside(NAME, { edited });
});
