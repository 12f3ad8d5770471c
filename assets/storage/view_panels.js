/*
 * Storage's figures on the screen: drawn, hovered, stepped through by keys, with one selection for all.
 * Independent of Dash: an export runs it without a server.
 */
(function (wattlas) {
  "use strict";

  const { decode, boxClause, knobsClause, paint, repaint, isSelectable, panelOf } = wattlas.storageFigures;
  const PREFIX = "storage-";

  let figures = {}, configurations = null, mask = null, sel = "", theme = "light";
  // The view whose box is the selection, the drawn views, the cursor's point in each view.
  let boxed = "", drawn = new Set(), cursors = {};
  const listeners = [];

  /** The page was opened with a selection: drop what an earlier visit left. */
  function open(clause) {
    figures = {};
    configurations = mask = null;
    sel = clause || "";
    boxed = "";
    cursors = {};
    wattlas.later(watchSections);
  }

  /** Draw other figures, or the same in another theme. */
  function show(wanted, raw, name) {
    if (wanted !== figures) configurations = decode(raw);
    figures = wanted;
    theme = name;
    drawn = new Set();
    mask = wattlas.clause.evaluate(sel, configurations);
    for (const [view, figure] of Object.entries(figures)) {
      const panel = divOf(view) && divOf(view).closest(".storage-panel");
      if (panel) panel.classList.toggle("bare", figure.layout.meta.kind === "message");
    }
    inTurn();
    announce();
  }

  /* A figure that is not drawn yet is drawn whole, with the selection; later it is only repainted. */
  function paintOne(gd, view) {
    if (drawn.has(view)) { repaint(gd, figures[view], mask, view === boxed && sel); return; }
    const { data, layout } = paint(figures[view], mask, theme);
    wattlas.legend(gd.id, { data, layout });
    window.Plotly.react(gd, data, layout, wattlas.PLOT_CONFIG);
    wattlas.tools(gd.id);
    listen(gd, view);
    drawn.add(view);
  }

  /* ---- draw the visible figures first, then the others one by one, so that the page stays responsive */

  const divOf = (view) => document.getElementById(PREFIX + view);
  function isSeen(gd) {
    const box = gd.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight;
  }
  let turn = 0, waiting = [];
  function inTurn(work = paintOne) {
    const mine = (turn += 1);
    const all = Object.keys(figures).map((view) => [divOf(view), view]).filter(([gd]) => gd);
    waiting = all.filter(([gd]) => !isSeen(gd));
    all.filter(([gd]) => isSeen(gd)).forEach(([gd, view]) => work(gd, view));
    const next = () => {
      if (mine !== turn || !waiting.length) return;
      const [gd, view] = waiting.shift();
      if (gd.isConnected) work(gd, view);
      wattlas.later(next);
    };
    wattlas.later(next);
  }

  /* ---- what the pointer does in a figure */

  const wordsOf = (trace, i) => trace.meta && trace.meta.words && trace.meta.words[i];

  function listen(gd, view) {
    if (gd.wattlasOwned) return;
    gd.wattlasOwned = true;
    gd.on("plotly_click", ({ points: [point] }) => {
      const trace = gd.data[point.curveNumber];
      if (isSelectable(trace)) choose(knobsClause(trace, point.pointNumber, configurations));
    });
    gd.on("plotly_selected", (event) => {
      if (!event || !event.range) return;
      boxed = view;
      select(boxClause(gd, event.points, configurations));
    });
    gd.on("plotly_deselect", () => select(""));
    gd.on("plotly_hover", ({ points: [point], event }) => {
      const words = wordsOf(gd.data[point.curveNumber], point.pointNumber);
      if (words) wattlas.card([...words, ...alsoHere(gd, point)], event);
    });
    gd.on("plotly_unhover", () => wattlas.hideHover());
    gd.addEventListener("mouseleave", () => wattlas.hideHover());
  }

  /* The points of other lines that this point hides: the card names all of them. */
  const NEAR_PX = 4, MOST_NEAR = 5;
  function alsoHere(gd, { curveNumber, pointNumber, xaxis, yaxis }) {
    const at = (trace, i) => [xaxis.d2p(trace.x[i]), yaxis.d2p(trace.y[i])];
    const own = gd.data[curveNumber], [x, y] = at(own, pointNumber), found = [];
    gd.data.forEach((trace, t) => {
      if (!isSelectable(trace) || trace.type !== "scatter" || panelOf(trace) !== panelOf(own)) return;
      trace.meta.words.forEach((words, i) => {
        if (t === curveNumber && i === pointNumber) return;
        const [px, py] = at(trace, i);
        if (Math.hypot(px - x, py - y) < NEAR_PX) found.push("also here: " + words[0]);
      });
    });
    const more = found.length - MOST_NEAR;
    return more > 0 ? [...found.slice(0, MOST_NEAR), "and " + more + " more"] : found;
  }

  /* ---- selection */

  function choose(clause) {
    boxed = "";
    select(clause === sel ? "" : clause);
  }

  /** Select by a clause; an empty one clears the selection. All views show it, without the server. */
  function select(clause) {
    if (clause === sel) return;
    sel = clause;
    mask = wattlas.clause.evaluate(sel, configurations);
    inTurn();
    announce();
  }

  const KINDS = { box: "box", lasso: "lasso", "knobs~[": "list" };
  function selectionWords() {
    if (!mask) return "";
    let rows = 0, runs = 0;
    mask.forEach((isSelected, i) => { if (isSelected) { rows += 1; runs += configurations.runs[i]; } });
    const how = KINDS[Object.keys(KINDS).find((start) => sel.startsWith(start))] || "click";
    const noun = rows === 1 ? "configuration" : "configurations";
    return `selection: ${runs.toLocaleString("en")} runs in ${rows.toLocaleString("en")} ${noun} (${how})`;
  }

  function announce() {
    const status = document.getElementById("status-selection");
    const clear = document.getElementById("storage-clear");
    if (!status || !clear) return;
    status.textContent = selectionWords();
    clear.hidden = !sel;
    document.querySelectorAll("#storage-legend button")
      .forEach((button) => button.setAttribute("aria-pressed", String(modeClause(button) === sel)));
    markPublished();
    listeners.forEach((listener) => listener());
  }

  const modeClause = (button) => wattlas.clause.knobs({ mode: button.dataset.mode || null });

  function markPublished() {
    document.querySelectorAll(".published-rows tr[data-rows]").forEach((line) => {
      const rows = line.dataset.rows ? line.dataset.rows.split(" ").map(Number) : [];
      const isSelected = Boolean(mask) && rows.some((row) => mask[row]);
      line.classList.toggle("selected", isSelected);
      line.classList.toggle("dimmed", Boolean(mask) && rows.length > 0 && !isSelected);
    });
  }

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
  addEventListener("scroll", () => {
    const root = document.querySelector(".storage .views");
    if (root) markSection(root);
  }, { passive: true });
  function markSection(root) {
    const line = root.querySelector(".storage-bar").getBoundingClientRect().bottom + 60;
    const sections = [...root.querySelectorAll(".storage-section")];
    const { scrollTop, clientHeight, scrollHeight } =
      root.scrollHeight > root.clientHeight + 4 ? root : document.documentElement;
    const isEnd = scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 4;
    const passed = sections.filter((section) => section.getBoundingClientRect().top <= line);
    const current = isEnd ? sections[sections.length - 1] : passed.pop() || sections[0];
    document.querySelectorAll(".section-tab").forEach((tab) => {
      const isCurrent = current && current.id === PREFIX + "section-" + tab.dataset.section;
      if (isCurrent) tab.setAttribute("aria-current", "true");
      else tab.removeAttribute("aria-current");
    });
  }

  /** Scroll to a view and give it the focus. */
  function showView(view, behavior) {
    const panel = divOf(view) && divOf(view).closest(".storage-panel");
    if (!panel) return;
    panel.focus({ preventScroll: true });
    panel.scrollIntoView({ behavior, block: "center" });
  }

  document.addEventListener("click", (event) => {
    const within = (selector) => wattlas.closest(event, selector);
    const tab = within(".section-tab"), entry = within("#storage-legend button");
    const shown = within("[data-show]");
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    if (tab) document.getElementById(PREFIX + "section-" + tab.dataset.section).scrollIntoView({ behavior });
    if (shown) showView(shown.dataset.show, behavior);
    if (entry) choose(modeClause(entry));
    if (within("#storage-clear")) select("");
  });

  /* ---- a cursor for the keyboard: arrows step through a view's points, Enter selects */

  const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Enter: 0, " ": 0 };
  function key(event) {
    const panel = wattlas.closest(event, ".storage section[data-view]");
    const gd = panel && event.target === panel && document.getElementById(panel.dataset.view);
    const step = STEPS[event.key];
    if (!gd || !gd.data || step === undefined) return false;
    const points = gd.data.filter(isSelectable).flatMap((trace) => trace.x.map((_, i) => [trace, i]));
    if (!points.length) return false;
    cursors[gd.id] = wattlas.within((cursors[gd.id] ?? -1) + step, points.length);
    const [trace, i] = points[cursors[gd.id]];
    if (!step) choose(knobsClause(trace, i, configurations));
    else wattlas.card(wordsOf(trace, i), wattlas.place(gd, trace.x[i], trace.y[i], trace));
    return true;
  }

  wattlas.storage = {
    open, show, select, markPublished, clear: () => select(""),
    /** Handle a key. Returns whether it had an action. */
    key,
    state: () => ({ sel, mask, figures, configurations }),
    /** Whether figures wait to be drawn. */
    isBusy: () => waiting.length > 0,
    /** Call after every change of the selection and every drawing. */
    onChange: (listener) => listeners.push(listener),
    resize: () => inTurn((gd, view) => { paintOne(gd, view); window.Plotly.Plots.resize(gd); }),
  };
})(window.wattlas);
