/*
 * Storage's linked views: what the kit's pictures of the configurations show besides, the legend of the
 * modes, the published tables, the sections. Independent of Dash: an export runs it without a server.
 */
(function (wattlas) {
  "use strict";

  const PREFIX = "storage-", listeners = [];
  // The server says which views there are.
  const views = {};
  const storage = (wattlas.storage = wattlas.linked({ views, changed: announce }));
  /** Call a listener after every change of the selection and every drawing. */
  storage.onChange = (listener) => listeners.push(listener);

  const { open } = storage;
  /** The page was opened with a selection. */
  storage.open = function (clause) {
    open(clause);
    wattlas.later(() => { foldSections(); watchSections(); });
  };

  /** Draw the answers of all views. */
  storage.showPictures = function (answers, theme) {
    for (const [name, { figure }] of Object.entries(answers)) {
      views[name] = { id: PREFIX + name, lines };
      const panel = document.querySelector(`.storage-panel[data-view="${PREFIX + name}"]`);
      if (panel) panel.classList.toggle("bare", figure.layout.meta.kind === "message");
    }
    storage.showAll(answers, theme);
    announce();
  };

  /* ---- the card of an item: its words, then the points of other lines that it hides */

  const NEAR_PX = 4, MOST_NEAR = 5;
  function lines({ gd, trace, i }) {
    const words = trace.meta && trace.meta.words && trace.meta.words[i];
    return words ? [...words, ...alsoHere(gd, trace, i)] : null;
  }
  function alsoHere(gd, own, pointNumber) {
    if (own.type !== "scatter") return [];
    const placeOf = (trace, i) => wattlas.place(gd, trace.x[i], trace.y[i], trace);
    const { clientX: x, clientY: y } = placeOf(own, pointNumber), near = [];
    const isBeside = (trace) =>
      wattlas.rows.isSelectable(trace) && trace.type === "scatter" && trace.xaxis === own.xaxis;
    gd.data.filter(isBeside).forEach((trace) => trace.meta.words.forEach((words, i) => {
      if (trace === own && i === pointNumber) return;
      const at = placeOf(trace, i);
      if (Math.hypot(at.clientX - x, at.clientY - y) < NEAR_PX) near.push("also here: " + words[0]);
    }));
    const more = near.length - MOST_NEAR;
    return more > 0 ? [...near.slice(0, MOST_NEAR), "and " + more + " more"] : near;
  }

  /* ---- the selection in the legend and in the published tables */

  /** Wide pictures and published tables scroll where the page is narrow. */
  storage.reachScrolling = () => {
    wattlas.reachScrolling([...document.querySelectorAll(".storage .broad, .published-tables figure")]);
  };

  function announce() {
    storage.reachScrolling();
    const status = document.getElementById("status-selection");
    const clear = document.getElementById("storage-clear"), { clause } = storage;
    if (!status || !clear) return;
    status.textContent = wattlas.clause.words(storage);
    clear.hidden = !clause;
    document.querySelectorAll("#storage-legend button")
      .forEach((button) => button.setAttribute("aria-pressed", String(modeClause(button) === clause)));
    storage.markPublished();
    listeners.forEach((listener) => listener());
  }
  const modeClause = (button) => wattlas.clause.knobs({ mode: button.dataset.mode || null });

  storage.markPublished = function () {
    const { mask } = storage;
    document.querySelectorAll(".published-rows tr[data-rows]").forEach((line) => {
      const rows = line.dataset.rows ? line.dataset.rows.split(" ").map(Number) : [];
      const isSelected = Boolean(mask) && rows.some((row) => mask[row]);
      line.classList.toggle("selected", isSelected);
      line.classList.toggle("dimmed", Boolean(mask) && rows.length > 0 && !isSelected);
    });
  };

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

  /* The browser keeps which sections are folded, as it does the theme. */
  const FOLDED = "wattlas-storage-folded";
  function foldedSections() {
    try { return JSON.parse(localStorage.getItem(FOLDED)) || []; } catch (error) { return []; }
  }
  function foldSections() { foldedSections().forEach((name) => fold(name, true)); }
  function fold(name, isFolded) {
    const section = document.getElementById(PREFIX + "section-" + name);
    if (!section) return;
    section.classList.toggle("folded", isFolded);
    section.querySelector(".section-fold").setAttribute("aria-expanded", String(!isFolded));
    const others = foldedSections().filter((other) => other !== name);
    const folded = JSON.stringify(isFolded ? [...others, name] : others);
    try { localStorage.setItem(FOLDED, folded); } catch (error) { /* private window */ }
  }
  const sectionOf = (element) => element.closest(".storage-section").id.slice((PREFIX + "section-").length);

  /** Scroll to a view and give it the focus; its section unfolds. */
  function showView(view, behavior) {
    const panel = document.querySelector(`.storage-panel[data-view="${PREFIX + view}"]`);
    if (!panel) return;
    fold(sectionOf(panel), false);
    panel.focus({ preventScroll: true });
    panel.scrollIntoView({ behavior, block: "center" });
  }

  document.addEventListener("click", (event) => {
    const within = (selector) => wattlas.closest(event, selector);
    const tab = within(".section-tab"), entry = within("#storage-legend button");
    const shown = within("[data-show]"), folding = within(".section-fold");
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    if (folding) fold(folding.dataset.fold, folding.getAttribute("aria-expanded") === "true");
    if (tab) fold(tab.dataset.section, false);
    if (tab) document.getElementById(PREFIX + "section-" + tab.dataset.section).scrollIntoView({ behavior });
    if (shown) showView(shown.dataset.show, behavior);
    if (entry) storage.toggle(modeClause(entry));
    if (within("#storage-clear")) storage.clear();
  });
})((window.wattlas = window.wattlas || {}));
