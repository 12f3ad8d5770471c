/* Reading the distributions: what is under the pointer in them, and their own cursor when the panel has the focus. */
(function (wattlas) {
  "use strict";

  const timeline = wattlas.timeline, { page } = timeline;
  const PICTURES = ["timeline-gaps", "timeline-sizes"], MANY = 10;

  /* Each quantity's picture and axes. */
  function places() {
    if (!page.answer) return [];
    return PICTURES.flatMap((id) => {
      const gd = document.getElementById(id), layout = gd && gd._fullLayout;
      if (!layout || !gd.layout.meta.parts) return [];
      return gd.layout.meta.parts.map(([quantity, title], p) => ({ gd, quantity, title, x: layout["xaxis" + (p ? p + 1 : "")], y: layout["yaxis" + (p ? p + 1 : "")] }));
    });
  }
  const left = ({ gd, x }) => gd.getBoundingClientRect().left + x._offset;
  const top = ({ gd, y }) => gd.getBoundingClientRect().top + y._offset;

  function hover(event) {
    const at = places().find((one) => one.gd === event.currentTarget && event.clientY >= top(one) - 14 && event.clientY <= top(one) + one.y._length);
    const inside = at && event.clientX >= left(at) && event.clientX <= left(at) + at.x._length;
    const lines = inside && timeline.sizeLines(at.quantity, at.title, at.x.p2d(event.clientX - left(at)));
    if (lines) wattlas.card(lines, event); else timeline.hideHover();
  }

  const listening = new WeakSet();
  /** Tell what is under the pointer in a picture; once for each element. */
  timeline.listenSizes = function (gd) {
    if (listening.has(gd)) return;
    listening.add(gd);
    gd.addEventListener("pointermove", hover);
    gd.addEventListener("pointerleave", () => timeline.hideHover());
  };

  /* ---- keys */

  const cursor = { part: 0, value: 0 };
  /* Where the slots of all runs begin that hold anything, rising; zeros have no place on the axis. */
  function slots({ quantity }) {
    const found = new Set();
    page.answer.runs.forEach((run) => { if (!run.problem && run.hist && run.hist[quantity]) run.hist[quantity].lo.forEach((lo) => { if (lo > 0) found.add(lo); }); });
    return [...found].sort((a, b) => a - b);
  }
  function go(parts, by) {
    const all = places();
    cursor.part = Math.min(Math.max(cursor.part + parts, 0), all.length - 1);
    const at = all[cursor.part], values = at ? slots(at) : [];
    if (!values.length) return;
    const now = values.findIndex((lo) => lo >= cursor.value), i = now < 0 ? values.length - 1 : now;
    cursor.value = values[Math.min(Math.max(parts ? 0 : i + by, 0), values.length - 1)];
    const lines = timeline.sizeLines(at.quantity, at.title, cursor.value);
    wattlas.card(lines, { clientX: left(at) + at.x.d2p(cursor.value), clientY: top(at) + at.y._length / 2 });
    document.getElementById("timeline-value").textContent = lines.join(". ");
  }
  const KEYS = {
    ArrowLeft: (event) => go(0, event.shiftKey ? -MANY : -1), ArrowRight: (event) => go(0, event.shiftKey ? MANY : 1),
    ArrowUp: () => go(-1, 0), ArrowDown: () => go(1, 0),
  };
  /** What a key does where the panel of distributions has the focus; undefined elsewhere. */
  timeline.sizesKey = (event) => (event.target.matches && event.target.matches(".panel-distributions") && page.answer ? KEYS[event.key] : undefined);
})(window.wattlas);
