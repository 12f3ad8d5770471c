/* Reading the distributions: at the pointer, and at a cursor while their panel has the focus. */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {});
  const PICTURES = ["timeline-gaps", "timeline-sizes"], MANY = 10;

  /* Each quantity's picture and axes. */
  function places() {
    if (!timeline.page.answer) return [];
    const drawn = PICTURES.map((id) => document.getElementById(id)).filter((gd) => gd && gd._fullLayout);
    return drawn.flatMap((gd) => {
      return gd.layout.meta.parts.map(([quantity, title], p) => {
        const n = p ? p + 1 : "";
        return { gd, quantity, title, x: gd._fullLayout["xaxis" + n], y: gd._fullLayout["yaxis" + n] };
      });
    });
  }
  const left = ({ gd, x }) => gd.getBoundingClientRect().left + x._offset;
  const top = ({ gd, y }) => gd.getBoundingClientRect().top + y._offset;
  const linesAt = (at, value) => timeline.sizeLines(timeline.scene(), at.quantity, at.title, value);

  function hover(event) {
    const { clientX, clientY, currentTarget } = event, titlePx = 14;
    const isIn = (at) => clientY >= top(at) - titlePx && clientY <= top(at) + at.y._length &&
      clientX >= left(at) && clientX <= left(at) + at.x._length;
    const found = places().find((at) => at.gd === currentTarget && isIn(at));
    const lines = found && linesAt(found, found.x.p2d(clientX - left(found)));
    if (lines) wattlas.card(lines, event); else timeline.hideHover();
  }

  timeline.listenSizes = () => PICTURES.map((id) => document.getElementById(id)).forEach((gd) => {
    gd.addEventListener("pointermove", hover);
    gd.addEventListener("pointerleave", () => timeline.hideHover());
  });

  /* ---- keys */

  const cursor = { part: 0, value: 0 };
  /* The lower ends of all non-empty slots of all runs, ascending; a logarithmic axis has no place for 0. */
  function slots({ quantity }) {
    const hists = timeline.page.answer.runs.map((run) => !run.problem && run.hist && run.hist[quantity]);
    const found = hists.filter(Boolean).flatMap((hist) => Array.from(hist.lo).filter((lo) => lo > 0));
    return [...new Set(found)].sort((a, b) => a - b);
  }
  function go(parts, by) {
    const all = places();
    cursor.part = Math.min(Math.max(cursor.part + parts, 0), all.length - 1);
    const at = all[cursor.part], values = at ? slots(at) : [];
    if (!values.length) return;
    const now = values.findIndex((lo) => lo >= cursor.value), i = now < 0 ? values.length - 1 : now;
    cursor.value = values[Math.min(Math.max(parts ? 0 : i + by, 0), values.length - 1)];
    const lines = linesAt(at, cursor.value);
    wattlas.card(lines, { clientX: left(at) + at.x.d2p(cursor.value), clientY: top(at) + at.y._length / 2 });
    document.getElementById("timeline-value").textContent = lines.join(". ");
  }
  const KEYS = {
    ArrowLeft: (event) => go(0, event.shiftKey ? -MANY : -1),
    ArrowRight: (event) => go(0, event.shiftKey ? MANY : 1),
    ArrowUp: () => go(-1, 0), ArrowDown: () => go(1, 0),
  };
  /** The action of a key while the panel of distributions has the focus; undefined otherwise. */
  timeline.sizesKey = function ({ target, key }) {
    const isHere = target.matches && target.matches(".panel-distributions") && timeline.page.answer;
    return isHere ? KEYS[key] : undefined;
  };
})((window.wattlas = window.wattlas || {}));
