/* Moving through the timeline by mouse, wheel, keys and buttons. */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {});
  const STEP = 2, WHEEL = 1.0015, CLICK_PX = 4, LINE_PX = 30;
  const part = (id) => document.getElementById(id);

  /* ---- mouse */

  let drag = null, isPanMode = false;
  timeline.panMode = function (on) {
    isPanMode = on;
    timeline.plot().classList.toggle("panning", on);
    const button = part("timeline-pan");
    if (button) button.setAttribute("aria-pressed", String(on));
  };

  function drawBand(at, x0, x1) {
    const band = part("timeline-band"), frame = band.parentElement, box = frame.getBoundingClientRect();
    Object.assign(band.style, {
      display: "block", left: Math.min(x0, x1) - box.left + "px", width: Math.abs(x1 - x0) + "px",
      top: at.top - box.top + frame.scrollTop + "px", height: at.height + "px",
    });
  }

  function down(event) {
    const gd = timeline.plot(), at = timeline.place(gd);
    if (!at || !timeline.inside(at, event) || event.button > 1) return;
    event.preventDefault();
    gd.closest("section").focus({ preventScroll: true });
    gd.setPointerCapture(event.pointerId);
    const isPan = isPanMode !== event.shiftKey || event.button === 1;
    drag = { at, x: event.clientX, y: event.clientY, isPan, span: timeline.span() };
    timeline.hideHover();
  }
  function move(event) {
    if (!drag) { timeline.hover(event); return; }
    const { at, x } = drag, end = Math.min(Math.max(event.clientX, at.left), at.left + at.width);
    if (drag.isPan) timeline.pan((x - event.clientX) / at.width, false, drag.span);
    else drawBand(at, x, end);
  }
  function up(event) {
    if (!drag) return;
    const { at, x, isPan, y } = drag;
    cancel();
    if (Math.hypot(event.clientX - x, event.clientY - y) < CLICK_PX) { timeline.clicked(at, event); return; }
    if (isPan) return;
    const end = Math.min(Math.max(event.clientX, at.left), at.left + at.width);
    timeline.look(...[timeline.timeAt(at, x), timeline.timeAt(at, end)].sort((p, q) => p - q));
  }
  function cancel() {
    drag = null;
    part("timeline-band").style.display = "none";
  }

  function wheel(event) {
    const gd = timeline.plot(), at = timeline.place(gd);
    if (!at || !timeline.inside(at, event)) return;
    event.preventDefault();
    const { deltaX: x, deltaY: y } = event, pixels = event.deltaMode ? LINE_PX : 1;
    const sideways = event.shiftKey ? y || x : Math.abs(x) > Math.abs(y) ? x : 0;
    if (sideways) timeline.pan((sideways * pixels) / at.width);
    else timeline.zoom(Math.pow(WHEEL, y * pixels), timeline.timeAt(at, event.clientX));
    timeline.hideHover();
  }

  function doubleClick(event) {
    const at = timeline.place(timeline.plot());
    if (!at || !timeline.inside(at, event)) return;
    timeline.leaveCursor();
    timeline.whole();
  }

  const listening = new WeakSet();
  /** Listen to the mouse over the figure and the distributions; once for each element. */
  timeline.listen = function () {
    const gd = timeline.plot();
    if (listening.has(gd)) return;
    listening.add(gd);
    const listeners = {
      pointerdown: down, pointermove: move, pointerup: up, pointercancel: cancel,
      pointerleave: timeline.hideHover, dblclick: doubleClick,
    };
    Object.entries(listeners).forEach(([name, act]) => gd.addEventListener(name, act));
    gd.addEventListener("wheel", wheel, { passive: false });
    timeline.listenSizes();
  };

  /* ---- keys and buttons */

  /* Zoom around the cursor, if there is one. */
  const zoomBy = (factor) => timeline.zoom(factor, timeline.cursorTime());
  const zoomIn = () => zoomBy(1 / STEP), zoomOut = () => zoomBy(STEP);
  const addRun = () => { const button = part("timeline-add"); if (button) button.click(); };
  const KEYS = {
    "+": zoomIn, "=": zoomIn, "-": zoomOut, _: zoomOut,
    ArrowLeft: (event) => timeline.pan(event.shiftKey ? -0.9 : -0.2),
    ArrowRight: (event) => timeline.pan(event.shiftKey ? 0.9 : 0.2),
    Home: () => timeline.whole(), Backspace: () => timeline.back(),
    v: () => timeline.toggleCursor(), d: () => timeline.panMode(!isPanMode), a: addRun,
  };
  /* The wheel zooms, so panels taller than their frame need keys; elsewhere these keys scroll the page. */
  function scroller(event) {
    const frame = timeline.plot().parentElement;
    const isHere = frame.contains(event.target) || frame.parentElement === event.target;
    if (!isHere || frame.scrollHeight <= frame.clientHeight) return undefined;
    return () => { frame.scrollTop += (event.key === "PageDown" ? 0.8 : -0.8) * frame.clientHeight; };
  }
  const OWN_ARROWS =
    "input, textarea, select, [role=listbox], [role=menu], [role=radiogroup], [role=slider], dialog";
  /** Handle a key. Returns whether it had an action. */
  timeline.key = function (event) {
    const isPress = ["Enter", " "].includes(event.key);
    if (wattlas.closest(event, OWN_ARROWS + (isPress ? ", button, a" : ""))) return false;
    const scroll = event.key.startsWith("Page") ? scroller(event) : KEYS[event.key];
    const act = timeline.sizesKey(event) || timeline.cursorKey(event.key) || scroll;
    if (!act || (!timeline.page.answer && act !== addRun)) return false;
    event.preventDefault();
    timeline.hideHover();
    act(event);
    return true;
  };

  const BUTTONS = {
    "timeline-in": zoomIn, "timeline-out": zoomOut, "timeline-left": () => timeline.pan(-0.5),
    "timeline-right": () => timeline.pan(0.5), "timeline-all": () => timeline.whole(),
    "timeline-back": () => timeline.back(), "timeline-pan": () => timeline.panMode(!isPanMode),
    "timeline-values": () => timeline.toggleCursor(),
  };
  document.addEventListener("click", (event) => {
    const button = wattlas.closest(event, "button");
    if (!button || !timeline.page.answer) return;
    if (BUTTONS[button.id]) BUTTONS[button.id]();
    if (button.dataset.other) timeline.setOther(Number(button.dataset.other));
  });
})((window.wattlas = window.wattlas || {}));
