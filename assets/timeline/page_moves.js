/* Moving through the timeline: mouse, wheel, keys; the picture that stretches meanwhile; the window in words. */
(function (wattlas) {
  "use strict";

  const timeline = wattlas.timeline, { page } = timeline;
  const STEP = 2, WHEEL = 1.0015, CLICK_PX = 4;

  /* ---- where things are */

  function place(gd) {
    const layout = gd._fullLayout;
    if (!layout || !layout._size || !page.answer || !gd.layout || !gd.layout.meta) return null;
    const { l, t, w, h } = layout._size, box = gd.getBoundingClientRect();
    return { left: box.left + l, top: box.top + t, width: w, height: h, rows: gd.layout.meta.rows };
  }
  const timeAt = (at, x) => {
    const [from, to] = timeline.span();
    return from + ((x - at.left) / at.width) * (to - from);
  };
  const rowAt = (at, y) => {
    const share = 1 - (y - at.top) / at.height;
    return at.rows.find((row) => share >= row.domain[0] && share <= row.domain[1] + 14 / at.height);
  };

  const inside = (at, event) => event.clientX >= at.left - 2 && event.clientX <= at.left + at.width + 2 && event.clientY >= at.top - 20 && event.clientY <= at.top + at.height;
  Object.assign(timeline, { place, timeAt, rowAt, inside });

  /* ---- stretching: the drawn window shown as the one that is looked at */

  /** Whether the answer that is drawn is that of the window that is looked at, to half a pixel: times travel in ns. */
  function isCurrent(width) {
    const [from, to] = timeline.span(), { answer } = page;
    return Boolean(answer) && (Math.abs(answer.from_s - from) + Math.abs(answer.to_s - to)) * width <= 0.5 * (to - from);
  }

  const layers = (gd) => gd.querySelectorAll(".cartesianlayer .plot > .mlayer");
  timeline.unstretch = function () {
    const gd = timeline.plot();
    if (!gd) return;
    layers(gd).forEach((layer) => layer.removeAttribute("transform"));
    gd.classList.remove("stretched");
  };
  let frame = 0;
  timeline.stretch = function () {
    wattlas.cancel(frame);
    frame = wattlas.nextFrame(() => {
      const gd = timeline.plot(), at = gd && place(gd);
      if (!at) return;
      const [from, to] = timeline.span(), { from_s: drawnFrom, to_s: drawnTo } = page.answer;
      if (isCurrent(at.width)) { timeline.unstretch(); return; }
      const scale = (drawnTo - drawnFrom) / (to - from), shift = ((drawnFrom - from) / (to - from)) * at.width;
      layers(gd).forEach((layer) => layer.setAttribute("transform", "translate(" + shift + ",0) scale(" + scale + ",1)"));
      gd.classList.add("stretched");
      timeline.hideHover();
    });
  };

  /* ---- what is shown, in words */

  /** A time with as many decimals as a thousandth of the window asks for. */
  timeline.timeWords = function (seconds, span) {
    const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(Math.max(span, 1e-9) / 1000))));
    return seconds.toFixed(decimals) + " s";
  };
  const spanWords = (seconds) => wattlas.formatQuantity(seconds * 1e6, "us");

  /* Bins by their width and where they come from, and how many interrupts are drawn one by one. */
  function detailWords(runs) {
    const bins = new Map(), raw = [];
    runs.forEach((run, k) => {
      if (run.problem) return;
      const { bins: count, bin_s: width, source, level, interrupts } = run.window;
      if (run.raw) { raw.push(timeline.letter(k) + " " + interrupts.toLocaleString("en")); return; }
      const words = JSON.stringify([count, source === "overview" ? "overview " + level.toLocaleString("en") : "from the rows"]);
      const widths = bins.get(words) || new Map(), span = spanWords(width);
      bins.set(words, widths.set(span, [...(widths.get(span) || []), timeline.letter(k)]));
    });
    const isOne = bins.size === 1 && !raw.length;
    const parts = [...bins].map(([words, widths]) => {
      const [count, source] = JSON.parse(words), isSame = isOne && widths.size === 1;
      const spans = [...widths].map(([span, letters]) => (isSame ? "" : letters.join(" ") + " ") + span);
      return count.toLocaleString("en") + " bins of " + spans.join(", ") + " (" + source + ")";
    });
    return [...parts, raw.length ? "every interrupt: " + raw.join(", ") : ""].filter(Boolean).join(" \u00b7 ");
  }

  timeline.showSpan = function () {
    const box = document.getElementById("timeline-span");
    if (!box || !page.state) return;
    const [from, to] = timeline.span(), words = timeline.timeWords;
    const whole = page.state.from === null && page.state.to === null;
    box.textContent = !(to > from) ? "" : [
      words(from, to - from) + " to " + words(to, to - from) + (whole ? " (all)" : ""), spanWords(to - from) + " wide",
      isCurrent(1000) ? detailWords(page.answer.runs) : "\u2026",
    ].filter(Boolean).join(" \u00b7 ");
    box.title = box.textContent;
  };

  /* ---- mouse */

  let drag = null, isPanMode = false;
  timeline.panMode = function (on) {
    isPanMode = on;
    const gd = timeline.plot();
    if (gd) gd.classList.toggle("panning", on);
    const button = document.getElementById("timeline-pan");
    if (button) button.setAttribute("aria-pressed", String(on));
  };

  const part = (id) => document.getElementById(id);
  function drawBand(at, x0, x1) {
    const band = part("timeline-band"), box = band.parentElement.getBoundingClientRect();
    band.style.display = "block";
    band.style.left = Math.min(x0, x1) - box.left + "px";
    band.style.width = Math.abs(x1 - x0) + "px";
    band.style.top = at.top - box.top + band.parentElement.scrollTop + "px";
    band.style.height = at.height + "px";
  }

  function down(event) {
    const gd = timeline.plot(), at = place(gd);
    if (!at || !inside(at, event) || event.button > 1) return;
    event.preventDefault();
    gd.closest("section").focus({ preventScroll: true });
    gd.setPointerCapture(event.pointerId);
    const isPan = isPanMode !== event.shiftKey || event.button === 1;
    drag = { at, x: event.clientX, y: event.clientY, isPan, span: timeline.span(), from: timeline.span() };
    timeline.hideHover();
  }
  function move(event) {
    if (!drag) { timeline.hover(event); return; }
    const { at } = drag, x = Math.min(Math.max(event.clientX, at.left), at.left + at.width);
    if (!drag.isPan) { drawBand(at, drag.x, x); return; }
    const [from, to] = drag.span, shift = ((drag.x - event.clientX) / at.width) * (to - from);
    const kept = Math.min(Math.max(shift, -from), timeline.duration() - to);
    timeline.look(from + kept, to + kept, false);
  }
  function up(event) {
    if (!drag) return;
    const { at, x, isPan, y } = drag;
    part("timeline-band").style.display = "none";
    drag = null;
    if (Math.abs(event.clientX - x) < CLICK_PX && Math.abs(event.clientY - y) < CLICK_PX) { timeline.clicked(at, event); return; }
    if (isPan) return;
    const end = Math.min(Math.max(event.clientX, at.left), at.left + at.width);
    const [a, b] = [timeAt(at, x), timeAt(at, end)].sort((p, q) => p - q);
    timeline.look(a, b);
  }

  function wheel(event) {
    const gd = timeline.plot(), at = place(gd);
    if (!at || !inside(at, event)) return;
    event.preventDefault();
    const pixels = event.deltaMode ? 30 : 1;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
    if (sideways) timeline.pan((sideways * pixels) / at.width);
    else timeline.zoom(Math.pow(WHEEL, event.deltaY * pixels), timeAt(at, event.clientX));
    timeline.hideHover();
  }

  let listening = null;
  timeline.listen = function (gd) {
    if (listening === gd) return;
    listening = gd;
    gd.addEventListener("pointerdown", down);
    gd.addEventListener("pointermove", move);
    gd.addEventListener("pointerup", up);
    gd.addEventListener("pointercancel", () => { drag = null; part("timeline-band").style.display = "none"; });
    gd.addEventListener("pointerleave", timeline.hideHover);
    gd.addEventListener("wheel", wheel, { passive: false });
    gd.addEventListener("dblclick", (event) => { const at = place(gd); if (at && inside(at, event)) { timeline.leaveCursor(); timeline.whole(); } });
  };

  /* ---- keys */

  /* About the cursor, where one stands. */
  const zoomBy = (factor) => timeline.zoom(factor, timeline.cursorTime());
  const KEYS = {
    "+": () => zoomBy(1 / STEP), "=": () => zoomBy(1 / STEP), "-": () => zoomBy(STEP), _: () => zoomBy(STEP),
    ArrowLeft: (event) => timeline.pan(event.shiftKey ? -0.9 : -0.2), ArrowRight: (event) => timeline.pan(event.shiftKey ? 0.9 : 0.2),
    Home: timeline.whole, Backspace: timeline.back,
    v: () => timeline.toggleCursor(), p: () => timeline.panMode(!isPanMode), a: () => document.getElementById("timeline-add").click(),
  };
  /* The wheel zooms, so that panels taller than their frame need keys; elsewhere these scroll the page. */
  function scroller(event) {
    const frame = timeline.plot().parentElement, isHere = frame.contains(event.target) || frame.parentElement === event.target;
    if (!isHere || frame.scrollHeight <= frame.clientHeight) return undefined;
    return () => { frame.scrollTop += (event.key === "PageDown" ? 0.8 : -0.8) * frame.clientHeight; };
  }
  const OWN_ARROWS = "input, textarea, select, [role=listbox], [role=menu], [role=radiogroup], [role=slider], dialog";
  document.addEventListener("keydown", (event) => {
    if (!document.querySelector(timeline.shell.root) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || (event.target.closest && event.target.closest(OWN_ARROWS))) return;
    if (["Enter", " "].includes(event.key) && event.target.closest && event.target.closest("button, a")) return;
    const act = timeline.sizesKey(event) || timeline.cursorKey(event.key) || (event.key.startsWith("Page") ? scroller(event) : KEYS[event.key]);
    if (!act || (!page.answer && event.key !== "a")) return;
    event.preventDefault();
    timeline.hideHover();
    act(event);
  });

  const BUTTONS = { "timeline-in": () => zoomBy(1 / STEP), "timeline-out": () => zoomBy(STEP), "timeline-left": () => timeline.pan(-0.5), "timeline-right": () => timeline.pan(0.5), "timeline-all": timeline.whole, "timeline-back": timeline.back, "timeline-pan": () => timeline.panMode(!isPanMode), "timeline-values": () => timeline.toggleCursor() };
  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("button");
    if (button && BUTTONS[button.id] && page.answer) BUTTONS[button.id]();
  });
})(window.wattlas);
