/*
 * Storage's pictures as a reader meets them: drawn, hovered, stepped through by keys, one selection for all of them.
 * Knows no Dash: an export runs it without a server.
 */
(function (wattlas) {
  "use strict";

  const CONFIG = { displaylogo: false, showSendToCloud: false, responsive: true, displayModeBar: "hover", doubleClick: "reset", modeBarButtonsToRemove: ["toImage", "sendDataToCloud", "autoScale2d", "zoomIn2d", "zoomOut2d", "lasso2d"] };
  const paint = wattlas.storagePaint;

  let figures = {}, configurations = null, mask = null, pick = "", source = "", theme = "light", drawn = new Set();
  const listeners = [];

  /** The page was opened with a selection: nothing of an earlier visit counts. */
  function open(wanted) {
    figures = {};
    configurations = mask = null;
    pick = wanted || "";
    source = "";
    Object.keys(cursor).forEach((id) => delete cursor[id]);
    wattlas.later(watchSections, 0);
  }

  /** Draw other pictures, or the same in another theme. */
  function show(pictures, rows, wanted) {
    figures = pictures;
    configurations = rows;
    theme = wanted;
    drawn = new Set();
    mask = paint.evaluate(pick, configurations, figures);
    legend();
    Object.entries(figures).forEach(([view, figure]) => {
      const panel = divOf(view) && divOf(view).closest(".storage-panel");
      if (panel) panel.classList.toggle("bare", figure.layout.meta.kind === "message");
    });
    inTurn();
    announce();
  }

  /* What is not drawn yet is drawn whole, with the selection; the rest only repaints. */
  function paintOne(gd, view) {
    if (drawn.has(view)) { paint.repaint(gd, figures[view], mask, view === source && pick); return; }
    const { data, layout } = paint.dress(figures[view], mask, theme);
    window.Plotly.react(gd, data, layout, CONFIG);
    own(gd, view);
    drawn.add(view);
  }

  /* ---- pictures: those that are seen first, the others a frame each, so that the page stays responsive */

  const divOf = (view) => document.getElementById("storage-" + view);
  const isSeen = (gd) => { const box = gd.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; };
  let turn = 0, hidden = [];
  function inTurn(work = paintOne) {
    const mine = (turn += 1);
    const all = Object.keys(figures).map((view) => [divOf(view), view]).filter(([gd]) => gd);
    hidden = all.filter(([gd]) => !isSeen(gd));
    all.filter(([gd]) => isSeen(gd)).forEach(([gd, view]) => work(gd, view));
    const next = () => {
      if (mine !== turn || !hidden.length) return;
      const [gd, view] = hidden.shift();
      if (gd.isConnected) work(gd, view);
      wattlas.later(next, 0);
    };
    wattlas.later(next, 0);
  }

  function own(gd, view) {
    if (gd.wattlasOwned) return;
    gd.wattlasOwned = true;
    gd.on("plotly_click", (event) => {
      const point = event.points[0], trace = gd.data[point.curveNumber];
      if (paint.isSelectable(trace)) choose(paint.knobsClause(trace, point.pointNumber, configurations));
    });
    gd.on("plotly_selected", (event) => {
      if (!event || !event.range && !event.lassoPoints) return;
      source = view;
      setPick(paint.boxClause(view, gd, event.points));
    });
    gd.on("plotly_deselect", () => setPick(""));
    gd.on("plotly_hover", (event) => {
      const point = event.points[0], words = linesOf(gd.data[point.curveNumber], point.pointNumber);
      if (words) wattlas.card([...words, ...alsoThere(gd, point)], event.event);
    });
    gd.on("plotly_unhover", () => wattlas.hideHover());
    gd.addEventListener("mouseleave", () => wattlas.hideHover());
  }
  /* Points of other lines that this one hides, or lies within: one hover tells of all. */
  const NEAR_PX = 4, MOST_NEAR = 5;
  function alsoThere(gd, point) {
    const at = (trace, i) => ["x", "y"].map((letter) => {
      const axis = gd._fullLayout[axisOf(trace, letter)];
      return axis._offset + axis.d2p(trace[letter][i]);
    });
    const [x, y] = at(gd.data[point.curveNumber], point.pointNumber), found = [];
    gd.data.forEach((trace, t) => {
      if (!paint.isSelectable(trace) || trace.type !== "scatter" || !trace.meta.words) return;
      trace.meta.words.forEach((words, i) => {
        if (t === point.curveNumber && i === point.pointNumber) return;
        const [px, py] = at(trace, i);
        if (Math.hypot(px - x, py - y) < NEAR_PX) found.push("also here: " + words[0]);
      });
    });
    return found.length > MOST_NEAR ? [...found.slice(0, MOST_NEAR), "and " + (found.length - MOST_NEAR) + " more"] : found;
  }
  const linesOf = (trace, i) => trace.meta && trace.meta.words && trace.meta.words[i];

  /* ---- selection */

  const choose = (clause) => { source = ""; setPick(clause === pick ? "" : clause); };

  /** Publish a clause, or clear with an empty one: every view repaints, nothing is asked of the server. */
  function setPick(clause) {
    if (clause === pick) return;
    pick = clause;
    mask = paint.evaluate(pick, configurations, figures);
    inTurn();
    announce();
  }

  function announce() {
    const status = document.getElementById("status-selection"), clear = document.getElementById("storage-clear");
    if (!status || !clear) return;
    let rows = 0, runs = 0;
    if (mask) mask.forEach((v, i) => { if (v) { rows += 1; runs += configurations.runs[i]; } });
    const how = pick.startsWith("box~") ? "box" : "click";
    status.textContent = mask ? "selection: " + runs.toLocaleString("en") + " runs in " + rows.toLocaleString("en") + (rows === 1 ? " configuration (" : " configurations (") + how + ")" : "";
    clear.hidden = !pick;
    document.querySelectorAll("#storage-legend button").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.clause === pick)));
    markPublished();
    listeners.forEach((listener) => listener());
  }

  function markPublished() {
    document.querySelectorAll(".published-rows tr[data-rows]").forEach((line) => {
      const rows = line.dataset.rows ? line.dataset.rows.split(" ").map(Number) : [];
      const hit = Boolean(mask) && rows.some((row) => mask[row]);
      line.classList.toggle("selected", hit);
      line.classList.toggle("dimmed", Boolean(mask) && rows.length > 0 && !hit);
    });
  }

  /* ---- legend of the completion modes; each entry selects its mode */

  const SHAPES = { circle: "\u25cf", square: "\u25a0", diamond: "\u25c6", "triangle-up": "\u25b2", "triangle-down": "\u25bc", pentagon: "\u2b1f" };
  function legend() {
    const box = document.getElementById("storage-legend");
    if (!box) return;
    box.replaceChildren(...((configurations && configurations.modes) || []).map((mode) => {
      const button = document.createElement("button"), mark = document.createElement("span");
      mark.textContent = SHAPES[mode.symbol] || "\u25b2";
      mark.style.color = mode.hue;
      mark.setAttribute("aria-hidden", "true");
      button.className = "plain";
      button.dataset.clause = "knobs~" + JSON.stringify({ mode: mode.value });
      button.append(mark, " " + mode.label);
      return button;
    }));
    if (!hasPublished()) return;
    const star = document.createElement("span");
    star.className = "quiet";
    star.textContent = "\u2606 published";
    box.append(star);
  }
  const hasPublished = () => Object.values(figures).some((figure) => figure.data.some((trace) => trace.meta.kind === "published"));

  /* ---- sections */

  let watcher = null;
  function watchSections() {
    if (watcher) watcher.disconnect();
    const root = document.querySelector(".storage .views");
    if (!root) return;
    watcher = new IntersectionObserver(() => markSection(root), { root, threshold: [0, 0.5, 1] });
    root.querySelectorAll(".storage-section").forEach((section) => watcher.observe(section));
    root.addEventListener("scroll", () => { wattlas.hideHover(); markSection(root); }, { passive: true });
  }
  // On narrow screens the whole page scrolls.
  addEventListener("scroll", () => { const root = document.querySelector(".storage .views"); if (root) markSection(root); }, { passive: true });
  function markSection(root) {
    const top = root.querySelector(".storage-bar").getBoundingClientRect().bottom + 60;
    const sections = [...root.querySelectorAll(".storage-section")];
    const scroller = root.scrollHeight > root.clientHeight + 4 ? root : document.documentElement;
    const isEnd = scroller.scrollTop > 0 && scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 4;
    const current = isEnd ? sections[sections.length - 1] : sections.filter((s) => s.getBoundingClientRect().top <= top).pop() || sections[0];
    document.querySelectorAll(".section-tab").forEach((tab) => {
      if (current && current.id === "storage-section-" + tab.dataset.section) tab.setAttribute("aria-current", "true");
      else tab.removeAttribute("aria-current");
    });
  }

  document.addEventListener("click", (event) => {
    const target = event.target.closest ? event.target : document.body;
    const tab = target.closest(".section-tab"), entry = target.closest("#storage-legend button");
    if (tab) document.getElementById("storage-section-" + tab.dataset.section).scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    if (entry) choose(entry.dataset.clause);
    if (target.closest("#storage-clear")) setPick("");
  });

  /* ---- a cursor for those who use no mouse: arrows step through a view's points, Enter selects */

  const cursor = {};
  document.addEventListener("keydown", (event) => {
    const panel = event.target.closest && event.target.closest(".storage section[data-view]");
    const gd = panel && event.target === panel && document.getElementById(panel.dataset.view);
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!gd || !gd.data || (!step && event.key !== "Enter" && event.key !== " ")) return;
    const points = gd.data.flatMap((trace) => (paint.isSelectable(trace) ? trace.meta.rows.map((_, i) => [trace, i]) : []));
    if (!points.length) return;
    event.preventDefault();
    const at = cursor[gd.id] = Math.min(Math.max((cursor[gd.id] === undefined ? -1 : cursor[gd.id]) + (step || 0), 0), points.length - 1);
    const [trace, i] = points[at];
    if (!step) { choose(paint.knobsClause(trace, i, configurations)); return; }
    const box = gd.getBoundingClientRect(), { [axisOf(trace, "x")]: x, [axisOf(trace, "y")]: y } = gd._fullLayout;
    wattlas.card(linesOf(trace, i), { clientX: box.left + x._offset + x.d2p(trace.x[i]), clientY: box.top + y._offset + y.d2p(trace.y[i]) });
  });
  const axisOf = (trace, letter) => letter + "axis" + (trace[letter + "axis"] || letter).slice(1);

  wattlas.storage = {
    open, show, select: setPick,
    state: () => ({ pick, mask, figures, configurations }),
    /** Whether pictures out of sight wait for their turn. */
    isBusy: () => hidden.length > 0,
    /** Call after every change of the selection and every drawing. */
    onChange: (listener) => listeners.push(listener),
    resize: () => inTurn((gd, view) => { paintOne(gd, view); window.Plotly.Plots.resize(gd); }),
  };
})(window.wattlas);
