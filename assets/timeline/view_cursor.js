/*
 * Reading values: at the pointer, and at a cursor for keys and screen readers. Both show the same card; a
 * live region announces the values at the cursor.
 */
(function (wattlas) {
  "use strict";

  const timeline = wattlas.timeline, { page } = timeline;
  const NEAR_PX = 14, MANY = 10;
  const part = (id) => document.getElementById(id);
  const show = (element, style) => Object.assign(element.style, { display: "block", ...style });
  const hide = (...ids) => {
    for (const element of ids.map(part).filter(Boolean)) element.style.display = "none";
  };

  /* ---- the pointer */

  timeline.hideHover = function () {
    hide("timeline-cursor");
    if (cursor && page.answer) mark(); else wattlas.hideHover();
  };

  function linesOf(row, time, hit, core) {
    const scene = timeline.scene();
    if (row.kind === "heat") return timeline.heatLines(scene, row, core, time);
    return hit ? timeline.interruptLines(scene, hit.k, hit.i) : timeline.rowLines(scene, row, time);
  }

  timeline.hover = function (event) {
    const gd = timeline.plot(), at = gd && timeline.place(gd);
    const row = at && timeline.inside(at, event) && timeline.rowAt(at, event.clientY);
    if (!row || gd.classList.contains("stretched")) { timeline.hideHover(); return; }
    const line = part("timeline-cursor"), box = line.parentElement.getBoundingClientRect();
    const left = event.clientX - box.left + "px", top = at.top - box.top + "px";
    show(line, { left, top, height: at.height + "px" });
    const time = timeline.timeAt(at, event.clientX), isHeat = row.kind === "heat";
    const hit = isHeat ? null : nearest(at, row, event, time);
    wattlas.card(linesOf(row, time, hit, isHeat ? coreAt(at, row, event.clientY) : 0), event);
  };

  const heatOf = (row) => page.answer.runs[row.runs[0]].heat;
  function coreAt(at, row, clientY) {
    const share = 1 - (clientY - at.top) / at.height, [low, high] = row.domain;
    return Math.floor(((high - share) / (high - low)) * heatOf(row).shape[0]);
  }
  /* Where in the browser's window a row draws a value. */
  const yOf = (at, row, value) => at.top + (1 - timeline.shareOf(row, value)) * at.height;

  /* The single interrupt that is nearest to the pointer, if one is near. */
  function nearest(at, row, event, time) {
    const column = timeline.rawColumn(row), [from, to] = timeline.span(), perSecond = at.width / (to - from);
    const reach = NEAR_PX / perSecond;
    let best = null;
    for (const k of column ? row.runs : []) {
      const { raw } = page.answer.runs[k];
      if (!raw) continue;
      const { [column]: values } = raw, times = timeline.placesOf(raw);
      for (let i = firstFrom(times, time - reach); i < times.length && times[i] <= time + reach; i++) {
        const far = Math.hypot((times[i] - time) * perSecond, yOf(at, row, values[i]) - event.clientY);
        if (far <= NEAR_PX && (!best || far < best.far)) best = { far, k, i };
      }
    }
    return best;
  }
  function firstFrom(times, time) {
    let low = 0, high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] < time) low = middle + 1; else high = middle;
    }
    return low;
  }

  function chooseCore(row, core, time) {
    if (page.canChoose) timeline.host.toggleCore(timeline.heatValue(timeline.scene(), row, core, time).name);
  }
  /** A click on a core of the heatmap shows the core in the panels; a click on a panel sets the cursor. */
  timeline.clicked = function (at, event) {
    const row = timeline.rowAt(at, event.clientY), time = timeline.timeAt(at, event.clientX);
    if (!row) return;
    if (row.kind === "heat") { chooseCore(row, coreAt(at, row, event.clientY), time); return; }
    const hit = nearest(at, row, event, time);
    const hitTime = hit && timeline.placesOf(page.answer.runs[hit.k].raw)[hit.i];
    setCursor({ key: keyOf(row), core: 0, time: hit ? hitTime : time, hit, said: "" });
  };

  /* ---- the cursor: a row, a time, and which core of a heatmap or which single interrupt */

  let cursor = null;
  const keyOf = (row) => [row.kind, row.panel, row.series, row.isShared ? "" : row.runs[0]].join(" ");
  function rowsNow() {
    const gd = timeline.plot(), at = page.answer && gd && timeline.place(gd);
    return at ? at.rows : [];
  }
  const rowNow = () => rowsNow().find((row) => keyOf(row) === cursor.key) || rowsNow()[0];

  function setCursor(next) {
    cursor = next;
    const button = part("timeline-values");
    if (button) button.setAttribute("aria-pressed", String(Boolean(cursor)));
    if (cursor) { timeline.showCursor(); return; }
    hide("timeline-mark", "timeline-dot");
    if (part("timeline-value")) part("timeline-value").textContent = "";
    wattlas.hideHover();
  }

  /** Set the cursor to the middle of the window, or remove it. */
  timeline.toggleCursor = function () {
    if (cursor || !rowsNow().length) { setCursor(null); return; }
    const [from, to] = timeline.span();
    setCursor({ key: keyOf(rowsNow()[0]), core: 0, time: (from + to) / 2, hit: null, seek: 1, said: "" });
  };
  timeline.leaveCursor = () => { if (cursor) setCursor(null); };
  /** The cursor's time, in seconds; undefined where there is no cursor. */
  timeline.cursorTime = () => (cursor ? cursor.time : undefined);

  /** Draw the cursor into the figure, and announce the values. */
  timeline.showCursor = function () {
    const row = cursor && page.answer && rowNow();
    if (!row) return;
    cursor.key = keyOf(row);
    settle(row);
    const lines = mark();
    if (lines) say(lines);
  };

  /* Adapt the cursor to a new answer, which has other bins and other single interrupts. */
  function settle(row) {
    const all = interruptsOf(row), [from, to] = timeline.span();
    cursor.time = Math.min(Math.max(cursor.time, from), to);
    cursor.core = row.kind === "heat" ? Math.min(cursor.core, heatOf(row).shape[0] - 1) : 0;
    if (cursor.hit && cursor.seen === page.answer) return;
    if (cursor.hit || cursor.seek) cursor.hit = near(all, cursor.time, cursor.seek || 1);
    if (cursor.hit) cursor.time = cursor.hit.time;
    Object.assign(cursor, { seek: 0, seen: page.answer });
  }
  /* The first interrupt at or after a time, or (`by` < 0) the last until then; else the outermost one. */
  function near(all, time, by) {
    const found = by > 0 ? all.find((one) => one.time >= time) : all.findLast((one) => one.time <= time);
    return found || (by > 0 ? all[all.length - 1] : all[0]) || null;
  }

  /* Every single interrupt that a row draws, in the order of time. */
  function interruptsOf(row) {
    const column = timeline.rawColumn(row), found = [];
    for (const k of column ? row.runs : []) {
      const { raw } = page.answer.runs[k];
      if (!raw) continue;
      timeline.placesOf(raw).forEach((time, i) => {
        if (!isNaN(raw[column][i])) found.push({ time, k, i });
      });
    }
    return found.sort((a, b) => a.time - b.time || a.k - b.k || a.i - b.i);
  }

  /* Line, dot and card at the cursor. Returns the card's lines. */
  function mark() {
    const gd = timeline.plot(), at = timeline.place(gd), row = at && rowNow();
    if (!row || gd.classList.contains("stretched")) {
      hide("timeline-mark", "timeline-dot");
      wattlas.hideHover();
      return null;
    }
    const line = part("timeline-mark"), frame = line.parentElement, box = frame.getBoundingClientRect();
    const [from, to] = timeline.span(), lines = linesOf(row, cursor.time, cursor.hit, cursor.core);
    const x = at.left + ((cursor.time - from) / (to - from)) * at.width, y = yNow(at, row);
    const left = x - box.left + "px", topOf = (pixels) => pixels - box.top + frame.scrollTop + "px";
    show(line, { left, top: topOf(at.top), height: at.height + "px" });
    show(part("timeline-dot"), { left, top: topOf(y) });
    wattlas.card(lines, { clientX: x, clientY: Math.min(Math.max(y, box.top), box.bottom) });
    return lines;
  }
  function yNow(at, row) {
    const [low, high] = row.domain, yAt = (share) => at.top + (1 - share) * at.height;
    if (row.kind === "heat") return yAt(high - ((cursor.core + 0.5) / heatOf(row).shape[0]) * (high - low));
    const { hit } = cursor;
    if (!hit) return yAt((low + high) / 2);
    return yOf(at, row, page.answer.runs[hit.k].raw[timeline.rawColumn(row)][hit.i]);
  }

  /* Announce the meaning of the letters and the panel's note once for a row, not at each step. */
  function say(lines) {
    const isSame = cursor.said === cursor.key, box = part("timeline-value");
    cursor.said = cursor.key;
    const said = lines.filter((text) => text && !(isSame && /^(note:|[A-F] is )/.test(text)));
    const sentence = said.join(". ").replace("click:", "Enter:");
    if (box.textContent !== sentence) box.textContent = sentence;
  }

  /* ---- steps */

  /** Move the cursor by some values; beyond an end of the window, the window moves too. */
  function step(by) {
    const row = rowNow(), all = interruptsOf(row), [from, to] = timeline.span(), { hit } = cursor;
    const i = hit ? all.findIndex((one) => one.k === hit.k && one.i === hit.i) : -1;
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
    const axes = row.runs.map((k) => page.answer.runs[k].axes[row.clock]);
    const width = ({ t0, t1, n }) => (t1 - t0) / n, heat = row.kind === "heat" && heatOf(row);
    const bins = heat ? { ...heat, n: heat.shape[1] } : axes.reduce((a, b) => (width(b) < width(a) ? b : a));
    const inside = Math.min(Math.max(cursor.time, bins.t0), bins.t1);
    return timeline.middleOf(bins, timeline.binAt(bins, inside) + by);
  }

  /** Go to another row; within a heatmap from core to core. */
  function change(by) {
    const rows = rowsNow(), row = rowNow(), cores = (r) => (r.kind === "heat" ? heatOf(r).shape[0] : 1);
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
  /* Scroll to a row: the figure may be taller than its frame. */
  function reveal(row) {
    const gd = timeline.plot(), at = timeline.place(gd), frame = gd.parentElement.getBoundingClientRect();
    const [top, bottom] = [row.domain[1], row.domain[0]].map((share) => at.top + (1 - share) * at.height);
    if (top - 20 < frame.top) gd.parentElement.scrollTop -= frame.top - top + 20;
    else if (bottom > frame.bottom) gd.parentElement.scrollTop += bottom - frame.bottom + 4;
  }

  /* Yield each visible value of a row: the maxima of its bins, or its single interrupts. */
  function* valuesOf(row) {
    for (const k of row.runs) {
      const run = page.answer.runs[k];
      if (row.kind === "heat") {
        const wide = run.heat.shape[1], bins = { ...run.heat, n: wide };
        for (const [n, value] of run.heat.z.entries()) {
          yield { value, time: timeline.middleOf(bins, n % wide), core: Math.floor(n / wide) };
        }
      } else if (timeline.isRaw(run, row)) {
        for (const [i, value] of run.raw[timeline.rawColumn(row)].entries()) {
          const time = timeline.placesOf(run.raw)[i];
          yield { value, time, hit: { time, k, i } };
        }
      } else {
        const lines = timeline.groupsOf(run, row).map((group) => group.series[row.series]).filter(Boolean);
        for (const line of lines) {
          const values = line.max || line.mean;
          for (const [i, value] of values.entries()) {
            yield { value, time: timeline.middleOf(run.axes[row.clock], i) };
          }
        }
      }
    }
  }
  function toLargest() {
    let best = { value: -Infinity };
    for (const one of valuesOf(rowNow())) if (one.value > best.value) best = one;
    if (best.time === undefined) return;
    Object.assign(cursor, { time: best.time, core: best.core || 0, hit: best.hit || null });
    timeline.showCursor();
  }

  function enter() {
    const row = rowNow();
    if (row.kind === "heat") chooseCore(row, cursor.core, cursor.time);
  }
  const KEYS = {
    ArrowLeft: (event) => step(event.shiftKey ? -MANY : -1),
    ArrowRight: (event) => step(event.shiftKey ? MANY : 1),
    ArrowUp: () => change(-1), ArrowDown: () => change(1), m: toLargest, Enter: enter,
  };
  /** The action of a key while there is a cursor; undefined for other keys. */
  timeline.cursorKey = (key) => (cursor && rowsNow().length ? KEYS[key] : undefined);
})(window.wattlas);
