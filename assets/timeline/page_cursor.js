/*
 * Reading values: what is under the pointer, and a cursor for those who use keys or ears.
 * Both show the same card; what the cursor stands at is also said in a live region.
 */
(function (wattlas) {
  "use strict";

  const timeline = wattlas.timeline, { page } = timeline;
  const NEAR_PX = 14, MANY = 10;
  const part = (id) => document.getElementById(id);

  /* ---- the pointer */

  timeline.hideHover = function () {
    const line = part("timeline-cursor");
    if (line) line.style.display = "none";
    if (cursor && page.answer) mark(); else wattlas.hideHover();
  };

  timeline.hover = function (event) {
    const gd = timeline.plot(), at = gd && timeline.place(gd), row = at && timeline.inside(at, event) && timeline.rowAt(at, event.clientY);
    if (!row || gd.classList.contains("stretched")) { timeline.hideHover(); return; }
    const line = part("timeline-cursor"), box = line.parentElement.getBoundingClientRect();
    line.style.display = "block";
    line.style.left = event.clientX - box.left + "px";
    line.style.top = at.top - box.top + "px";
    line.style.height = at.height + "px";
    const time = timeline.timeAt(at, event.clientX), hit = row.kind === "heat" ? null : nearest(at, row, event, time);
    wattlas.card(hit ? timeline.interruptLines(hit.k, hit.i) : row.kind === "heat" ? timeline.heatLines(row, coreAt(at, row, event.clientY), time) : timeline.rowLines(row, time), event);
  };

  function coreAt(at, row, clientY) {
    const share = 1 - (clientY - at.top) / at.height, count = page.answer.runs[row.runs[0]].heat.shape[0];
    return Math.floor(((row.domain[1] - share) / (row.domain[1] - row.domain[0])) * count);
  }

  /* The single interrupt that is nearest to the pointer, if one is near. */
  function nearest(at, row, event, time) {
    const column = timeline.rawColumn(row), [from, to] = timeline.span(), reach = (NEAR_PX / at.width) * (to - from);
    let best = null;
    for (const k of column ? row.runs : []) {
      const { raw } = page.answer.runs[k];
      if (!raw) continue;
      const times = raw.t_s, values = raw[column];
      for (let i = firstFrom(times, time - reach); i < times.length && times[i] <= time + reach; i++) {
        const far = Math.hypot(((times[i] - time) / (to - from)) * at.width, yOf(row, values[i]) - event.clientY);
        if (far <= NEAR_PX && (!best || far < best.far)) best = { far, k, i };
      }
    }
    return best;
  }
  function firstFrom(times, time) {
    let low = 0, high = times.length;
    while (low < high) { const middle = (low + high) >> 1; if (times[middle] < time) low = middle + 1; else high = middle; }
    return low;
  }
  /* Where in the window a row draws a value. */
  function yOf(row, value) {
    const gd = timeline.plot(), axis = gd._fullLayout["yaxis" + row.axis.slice(1)];
    return gd.getBoundingClientRect().top + axis._offset + axis.d2p(value);
  }

  /** A click takes a core of the heatmap into the panels, or puts the cursor where it was. */
  timeline.clicked = function (at, event) {
    const row = timeline.rowAt(at, event.clientY), time = timeline.timeAt(at, event.clientX);
    if (!row) return;
    if (row.kind === "heat") { timeline.toggleCore(timeline.heatValue(row, coreAt(at, row, event.clientY), time).name); return; }
    const hit = nearest(at, row, event, time);
    setCursor({ key: keyOf(row), core: 0, time: hit ? page.answer.runs[hit.k].raw.t_s[hit.i] : time, hit, said: "" });
  };

  /* ---- the cursor: a row, a time, and which core of a heatmap or which single interrupt */

  let cursor = null;
  const keyOf = (row) => [row.kind, row.panel, row.series, row.isShared ? "" : row.runs[0]].join(" ");
  const rowsNow = () => { const gd = timeline.plot(), at = page.answer && gd && timeline.place(gd); return at ? at.rows : []; };
  const rowNow = () => rowsNow().find((row) => keyOf(row) === cursor.key) || rowsNow()[0];

  function setCursor(next) {
    cursor = next;
    const button = part("timeline-values");
    if (button) button.setAttribute("aria-pressed", String(Boolean(cursor)));
    if (cursor) { timeline.showCursor(); return; }
    ["timeline-mark", "timeline-dot"].forEach((id) => { if (part(id)) part(id).style.display = "none"; });
    if (part("timeline-value")) part("timeline-value").textContent = "";
    wattlas.hideHover();
  }

  /** Begin to read values in the middle of the window, or stop. */
  timeline.toggleCursor = function () {
    if (cursor || !rowsNow().length) { setCursor(null); return; }
    const [from, to] = timeline.span();
    setCursor({ key: keyOf(rowsNow()[0]), core: 0, time: (from + to) / 2, hit: null, seek: 1, said: "" });
  };
  timeline.leaveCursor = () => { if (cursor) setCursor(null); };
  /** Where the cursor stands, in seconds; undefined where there is none. */
  timeline.cursorTime = () => (cursor ? cursor.time : undefined);

  /** Mark the place of the cursor in the picture that is drawn, and say what stands there. */
  timeline.showCursor = function () {
    const row = cursor && page.answer && rowNow();
    if (!row) return;
    cursor.key = keyOf(row);
    settle(row);
    const lines = mark();
    if (lines) say(row, lines);
  };

  /* A new picture has other bins and other single interrupts. */
  function settle(row) {
    const all = interruptsOf(row), [from, to] = timeline.span();
    cursor.time = Math.min(Math.max(cursor.time, from), to);
    cursor.core = row.kind === "heat" ? Math.min(cursor.core, page.answer.runs[row.runs[0]].heat.shape[0] - 1) : 0;
    if (cursor.hit && cursor.seen === page.answer) return;
    if (cursor.hit || cursor.seek) cursor.hit = near(all, cursor.time, cursor.seek || 1);
    if (cursor.hit) cursor.time = cursor.hit.time;
    Object.assign(cursor, { seek: 0, seen: page.answer });
  }
  /* The first interrupt from a time on, or the last until then; where there is none, the one at that end. */
  function near(all, time, by) {
    const found = by > 0 ? all.find((one) => one.time >= time) : all.findLast((one) => one.time <= time);
    return found || (by > 0 ? all[all.length - 1] : all[0]) || null;
  }

  /* Every single interrupt that a row draws, in the order of time. */
  function interruptsOf(row) {
    const column = timeline.rawColumn(row), found = [];
    for (const k of column ? row.runs : []) {
      const { raw } = page.answer.runs[k];
      if (raw) raw.t_s.forEach((time, i) => { if (!isNaN(raw[column][i])) found.push({ time, k, i }); });
    }
    return found.sort((a, b) => a.time - b.time || a.k - b.k || a.i - b.i);
  }

  function linesOf(row) {
    if (row.kind === "heat") return timeline.heatLines(row, cursor.core, cursor.time);
    return cursor.hit ? timeline.interruptLines(cursor.hit.k, cursor.hit.i) : timeline.rowLines(row, cursor.time);
  }

  /* Line, dot and card at the cursor; gives the card's lines. */
  function mark() {
    const gd = timeline.plot(), at = timeline.place(gd), row = at && rowNow(), line = part("timeline-mark"), dot = part("timeline-dot");
    if (!row || gd.classList.contains("stretched")) { line.style.display = dot.style.display = "none"; wattlas.hideHover(); return null; }
    const [from, to] = timeline.span(), box = line.parentElement.getBoundingClientRect(), lines = linesOf(row);
    const scrolled = line.parentElement.scrollTop, x = at.left + ((cursor.time - from) / (to - from)) * at.width, y = yNow(at, row);
    Object.assign(line.style, { display: "block", left: x - box.left + "px", top: at.top - box.top + scrolled + "px", height: at.height + "px" });
    Object.assign(dot.style, { display: "block", left: x - box.left + "px", top: y - box.top + scrolled + "px" });
    wattlas.card(lines, { clientX: x, clientY: Math.min(Math.max(y, box.top), box.bottom) });
    return lines;
  }
  function yNow(at, row) {
    const [low, high] = row.domain, yAt = (share) => at.top + (1 - share) * at.height;
    if (row.kind === "heat") return yAt(high - ((cursor.core + 0.5) / page.answer.runs[row.runs[0]].heat.shape[0]) * (high - low));
    if (cursor.hit) return yOf(row, page.answer.runs[cursor.hit.k].raw[timeline.rawColumn(row)][cursor.hit.i]);
    return yAt((low + high) / 2);
  }

  /* What the letters stand for and the panel's note are said once in a row, not at every step. */
  function say(row, lines) {
    const isSame = cursor.said === cursor.key;
    cursor.said = cursor.key;
    const told = lines.filter((text) => text && !(isSame && /^(note:|[A-F] is )/.test(text)));
    const sentence = told.join(". ").replace("click:", "Enter:"), box = part("timeline-value");
    if (box.textContent !== sentence) box.textContent = sentence;
  }

  /* ---- steps */

  /** Go so many values on; over the window's end the window goes along. */
  function step(by) {
    const row = rowNow(), all = interruptsOf(row), [from, to] = timeline.span();
    const i = cursor.hit ? all.findIndex((one) => one.k === cursor.hit.k && one.i === cursor.hit.i) : -1;
    if (i >= 0 && i !== (by > 0 ? all.length - 1 : 0)) {
      cursor.hit = all[Math.min(Math.max(i + by, 0), all.length - 1)];
      cursor.time = cursor.hit.time;
    } else {
      cursor.time = i >= 0 ? (by > 0 ? to : from) : binMiddle(row, by);
      Object.assign(cursor, { hit: null, seek: by });
      const isOut = by > 0 ? cursor.time >= to && to < timeline.duration() : cursor.time <= from && from > 0;
      if (isOut) { timeline.pan(by > 0 ? 0.5 : -0.5); return; }
    }
    timeline.showCursor();
  }
  function binMiddle(row, by) {
    const { t0, dt } = row.kind === "heat" ? page.answer.runs[row.runs[0]].heat : row.runs.map((k) => page.answer.runs[k].axes[row.clock]).reduce((a, b) => (b.dt < a.dt ? b : a));
    return t0 + (Math.floor((cursor.time - t0) / dt) + by + 0.5) * dt;
  }

  /** Go to another row; within a heatmap from core to core. */
  function change(by) {
    const rows = rowsNow(), row = rowNow(), cores = (r) => (r.kind === "heat" ? page.answer.runs[r.runs[0]].heat.shape[0] : 1);
    const core = cursor.core + by;
    if (core >= 0 && core < cores(row)) cursor.core = core;
    else {
      const next = rows[rows.indexOf(row) + by];
      if (!next) return;
      Object.assign(cursor, { key: keyOf(next), core: by > 0 ? 0 : cores(next) - 1, hit: null, seek: 1 });
      reveal(next);
    }
    timeline.showCursor();
  }
  /* The picture may be taller than its frame. */
  function reveal(row) {
    const gd = timeline.plot(), at = timeline.place(gd), frame = gd.parentElement.getBoundingClientRect();
    const [top, bottom] = [row.domain[1], row.domain[0]].map((share) => at.top + (1 - share) * at.height);
    if (top - 20 < frame.top) gd.parentElement.scrollTop -= frame.top - top + 20;
    else if (bottom > frame.bottom) gd.parentElement.scrollTop += bottom - frame.bottom + 4;
  }

  /** Go to the largest value of the row in view: of the bins' greatest, or of the single interrupts. */
  function toLargest() {
    const row = rowNow();
    let best = { value: -Infinity };
    const see = (value, found) => { if (value > best.value) best = { value, ...found }; };
    for (const k of row.runs) {
      const run = page.answer.runs[k], column = timeline.rawColumn(row);
      if (row.kind === "heat") run.heat.z.forEach((value, n) => see(value, { time: run.heat.t0 + ((n % run.heat.shape[1]) + 0.5) * run.heat.dt, core: Math.floor(n / run.heat.shape[1]) }));
      else if (run.raw && column) run.raw[column].forEach((value, i) => see(value, { time: run.raw.t_s[i], hit: { time: run.raw.t_s[i], k, i } }));
      else {
        const { t0, dt } = run.axes[row.clock];
        for (const group of row.panel === "power" ? run.power : run.groups) {
          const values = group.series[row.series];
          if (values) (values.max || values.mean).forEach((value, i) => see(value, { time: t0 + (i + 0.5) * dt }));
        }
      }
    }
    if (best.time === undefined) return;
    Object.assign(cursor, { time: best.time, core: best.core || 0, hit: best.hit || null });
    timeline.showCursor();
  }

  const KEYS = {
    ArrowLeft: (event) => step(event.shiftKey ? -MANY : -1), ArrowRight: (event) => step(event.shiftKey ? MANY : 1),
    ArrowUp: () => change(-1), ArrowDown: () => change(1), m: toLargest,
    Enter: () => { const row = rowNow(); if (row.kind === "heat") timeline.toggleCore(timeline.heatValue(row, cursor.core, cursor.time).name); },
  };
  /** What a key does while values are read; undefined where it is no key of the cursor's. */
  timeline.cursorKey = (key) => (cursor && rowsNow().length ? KEYS[key] : undefined);
})(window.wattlas);
