/* Moving through the timeline: mouse, wheel, keys; the picture that stretches meanwhile; what is under the pointer. */
(function (wattlas) {
  "use strict";

  const timeline = wattlas.timeline, { page } = timeline;
  const STEP = 2, WHEEL = 1.0015, CLICK_PX = 4, NEAR_PX = 14;

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
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      const gd = timeline.plot(), at = gd && place(gd);
      if (!at) return;
      const [from, to] = timeline.span(), { from_s: drawnFrom, to_s: drawnTo } = page.answer;
      if (isCurrent(at.width)) { timeline.unstretch(); return; }
      const scale = (drawnTo - drawnFrom) / (to - from), shift = ((drawnFrom - from) / (to - from)) * at.width;
      layers(gd).forEach((layer) => layer.setAttribute("transform", "translate(" + shift + ",0) scale(" + scale + ",1)"));
      gd.classList.add("stretched");
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
      const words = count + " bins of " + spanWords(width) + (source === "overview" ? " (overview " + level.toLocaleString("en") + ")" : " (from the rows)");
      bins.set(words, [...(bins.get(words) || []), timeline.letter(k)]);
    });
    const isOne = bins.size === 1 && !raw.length;
    const parts = [...bins].map(([words, letters]) => (isOne ? "" : letters.join(" ") + ": ") + words);
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
  const inside = (at, event) => event.clientX >= at.left - 2 && event.clientX <= at.left + at.width + 2 && event.clientY >= at.top - 20 && event.clientY <= at.top + at.height;

  function down(event) {
    const gd = timeline.plot(), at = place(gd);
    if (!at || !inside(at, event) || event.button > 1) return;
    event.preventDefault();
    gd.closest("section").focus({ preventScroll: true });
    gd.setPointerCapture(event.pointerId);
    const isPan = isPanMode !== event.shiftKey || event.button === 1;
    drag = { at, x: event.clientX, y: event.clientY, isPan, span: timeline.span(), from: timeline.span() };
    hideHover();
  }
  function move(event) {
    if (!drag) { hover(event); return; }
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
    if (Math.abs(event.clientX - x) < CLICK_PX && Math.abs(event.clientY - y) < CLICK_PX) { clicked(at, event); return; }
    if (isPan) return;
    const end = Math.min(Math.max(event.clientX, at.left), at.left + at.width);
    const [a, b] = [timeAt(at, x), timeAt(at, end)].sort((p, q) => p - q);
    timeline.look(a, b);
  }

  /* A click on a core's row of the heatmap chooses the core, or takes it back. */
  function clicked(at, event) {
    const row = rowAt(at, event.clientY);
    if (row && row.kind === "heat") timeline.toggleCore(heatCell(at, row, event).name);
  }

  function wheel(event) {
    const gd = timeline.plot(), at = place(gd);
    if (!at || !inside(at, event)) return;
    event.preventDefault();
    const pixels = event.deltaMode ? 30 : 1;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
    if (sideways) timeline.pan((sideways * pixels) / at.width);
    else timeline.zoom(Math.pow(WHEEL, event.deltaY * pixels), timeAt(at, event.clientX));
    hideHover();
  }

  let listening = null;
  timeline.listen = function (gd) {
    if (listening === gd) return;
    listening = gd;
    gd.addEventListener("pointerdown", down);
    gd.addEventListener("pointermove", move);
    gd.addEventListener("pointerup", up);
    gd.addEventListener("pointercancel", () => { drag = null; part("timeline-band").style.display = "none"; });
    gd.addEventListener("pointerleave", hideHover);
    gd.addEventListener("wheel", wheel, { passive: false });
    gd.addEventListener("dblclick", (event) => { const at = place(gd); if (at && inside(at, event)) timeline.whole(); });
  };

  /* ---- what is under the pointer */

  function hideHover() {
    wattlas.hideHover();
    const line = part("timeline-cursor");
    if (line) line.style.display = "none";
  }

  function hover(event) {
    const gd = timeline.plot(), at = gd && place(gd), row = at && inside(at, event) && rowAt(at, event.clientY);
    if (!row || gd.classList.contains("stretched")) { hideHover(); return; }
    const line = part("timeline-cursor"), box = line.parentElement.getBoundingClientRect();
    const time = timeAt(at, event.clientX), lines = row.kind === "heat" ? heatLines(at, row, event, time) : rowLines(at, row, event, time);
    line.style.display = "block";
    line.style.left = event.clientX - box.left + "px";
    line.style.top = at.top - box.top + "px";
    line.style.height = at.height + "px";
    wattlas.card(lines, event);
  }

  function heatCell(at, row, event) {
    const k = row.runs[0], { heat } = page.answer.runs[k], [height, width] = heat.shape;
    const share = 1 - (event.clientY - at.top) / at.height;
    const i = Math.min(height - 1, Math.max(0, Math.floor(((row.domain[1] - share) / (row.domain[1] - row.domain[0])) * height)));
    const j = Math.floor((timeAt(at, event.clientX) - heat.t0) / heat.dt);
    return { k, name: heat.rows[i], value: j >= 0 && j < width ? heat.z[i * width + j] : NaN };
  }
  function heatLines(at, row, event, time) {
    const { k, name, value } = heatCell(at, row, event), [from, to] = timeline.span();
    return [
      timeline.letter(k) + " \u00b7 " + page.answer.runs[k].short, name + ": " + wattlas.formatQuantity(value, page.answer.heat.unit),
      "at " + timeline.timeWords(time, to - from), name.startsWith("core") ? "click: this core in the panels, click again: all" : "",
    ];
  }

  const shown = (value, unit) => (unit === "busy" ? wattlas.formatQuantity(100 * value, "%") : wattlas.formatQuantity(value, unit));
  function rowLines(at, row, event, time) {
    const near = nearest(at, row, event, time);
    if (near) return near;
    const [from, to] = timeline.span(), unit = row.panel === "busy" ? "busy" : row.unit;
    const lines = [row.title + " at " + timeline.timeWords(time, to - from)];
    for (const k of row.runs) {
      const run = page.answer.runs[k], { t0, dt, n } = run.axes[row.clock], i = Math.floor((time - t0) / dt);
      if (i < 0 || i >= n) continue;
      const groups = row.panel === "power" ? run.power : run.groups;
      groups.slice(0, 8).forEach((group) => {
        const values = group.series[row.series];
        if (!values) return;
        const spread = values.max ? " (" + (values.min ? shown(values.min[i], unit) + " to " : "at most ") + shown(values.max[i], unit) + ")" : "";
        const count = group.count && row.clock === "interrupts" ? " \u00b7 " + group.count[i].toLocaleString("en") + " interrupts" : "";
        const name = groups.length > 1 || !group.name.startsWith("all") ? " " + group.name : "";
        lines.push(timeline.letter(k) + name + ": " + (isNaN(values.mean[i]) ? "\u2013" : "mean " + shown(values.mean[i], unit) + spread) + count);
      });
    }
    lines.push(...row.runs.map((k) => timeline.letter(k) + " is " + page.answer.runs[k].short));
    return lines;
  }

  const RAW_OF = { gap: "gap_us", rx: "rx_bytes", tx: "tx_bytes" };
  /** The raw interrupt that is nearest to the pointer, with all its fields. */
  function nearest(at, row, event, time) {
    if (!(row.series in RAW_OF) || row.panel === "byte_rate") return null;
    const axis = timeline.plot()._fullLayout["yaxis" + row.axis.slice(1)], [from, to] = timeline.span();
    const reach = (NEAR_PX / at.width) * (to - from), top = timeline.plot().getBoundingClientRect().top;
    let best = null;
    for (const k of row.runs) {
      const { raw } = page.answer.runs[k];
      if (!raw) continue;
      const times = raw.t_s, values = raw[RAW_OF[row.series]];
      for (let i = firstFrom(times, time - reach); i < times.length && times[i] <= time + reach; i++) {
        const dx = ((times[i] - time) / (to - from)) * at.width, dy = top + axis._offset + axis.d2p(values[i]) - event.clientY;
        const far = Math.hypot(dx, dy);
        if (far <= NEAR_PX && (!best || far < best.far)) best = { far, k, i };
      }
    }
    return best && interruptLines(best.k, best.i);
  }
  function firstFrom(times, time) {
    let low = 0, high = times.length;
    while (low < high) { const middle = (low + high) >> 1; if (times[middle] < time) low = middle + 1; else high = middle; }
    return low;
  }
  function interruptLines(k, i) {
    const { raw, samples, short } = page.answer.runs[k], gap = raw.gap_us[i];
    const bytes = (n, of) => n.toLocaleString("en") + " B in " + of + (of === 1 ? " descriptor" : " descriptors");
    return [
      timeline.letter(k) + " \u00b7 " + short,
      "interrupt on core " + raw.core[i] + " at " + raw.t_s[i].toFixed(9) + " s",
      isNaN(gap) ? "the first of its core" : wattlas.formatQuantity(gap, "us") + " after the one before it",
      "received " + bytes(raw.rx_bytes[i], raw.rx_desc[i]), "sent " + bytes(raw.tx_bytes[i], raw.tx_desc[i]),
      samples ? sampleLine(samples, raw.core[i], raw.t_s[i]) : "",
    ];
  }
  /* The counter sample that the interrupt lies in: what its core did in about a millisecond. */
  function sampleLine(samples, core, time) {
    for (let i = 0; i < samples.t_s.length; i++) {
      if (samples.core[i] !== core || time > samples.t_s[i] || time <= samples.t_s[i] - samples.dt_s[i]) continue;
      const [instructions, cycles, misses] = [samples.instructions[i], samples.cycles[i], samples.llc_misses[i]];
      return "its sample of " + wattlas.formatQuantity(samples.dt_s[i] * 1e6, "us") + ": " + wattlas.formatQuantity(instructions, "") + " instructions, IPC " + wattlas.formatQuantity(instructions / cycles, "") + ", " + wattlas.formatQuantity(misses, "") + " LLC misses";
    }
    return "";
  }

  /* ---- keys */

  const KEYS = {
    "+": () => timeline.zoom(1 / STEP), "=": () => timeline.zoom(1 / STEP), "-": () => timeline.zoom(STEP), _: () => timeline.zoom(STEP),
    ArrowLeft: (event) => timeline.pan(event.shiftKey ? -0.9 : -0.2), ArrowRight: (event) => timeline.pan(event.shiftKey ? 0.9 : 0.2),
    Home: timeline.whole, Backspace: timeline.back,
    p: () => timeline.panMode(!isPanMode), a: () => document.getElementById("timeline-add").click(),
  };
  const OWN_ARROWS = "input, textarea, select, [role=listbox], [role=menu], [role=radiogroup], [role=slider], dialog";
  document.addEventListener("keydown", (event) => {
    if (!document.querySelector(timeline.shell.root) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || (event.target.closest && event.target.closest(OWN_ARROWS))) return;
    const act = KEYS[event.key];
    if (!act || (!page.answer && event.key !== "a")) return;
    event.preventDefault();
    hideHover();
    act(event);
  });

  const BUTTONS = { "timeline-in": () => timeline.zoom(1 / STEP), "timeline-out": () => timeline.zoom(STEP), "timeline-left": () => timeline.pan(-0.5), "timeline-right": () => timeline.pan(0.5), "timeline-all": timeline.whole, "timeline-pan": () => timeline.panMode(!isPanMode) };
  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("button");
    if (button && BUTTONS[button.id] && page.answer) BUTTONS[button.id]();
  });
})(window.wattlas);
