/*
 * A panel over the whole window: maximised with its controls, or presented: the panel alone, of which the
 * smallest text is TEXT_PX high, for talks.
 */
(function (wattlas) {
  "use strict";

  const TEXT_PX = 18, MOST = 2;
  const seen = (part) => part.getClientRects().length > 0;
  const shown = () => document.querySelector(".panel.maximised");
  const panels = () => [...document.querySelectorAll("main .panel[data-view]")].filter(seen);

  /** The height of the smallest text of a panel. */
  function leastPx(panel) {
    const texts = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT), sizes = [TEXT_PX];
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode;
      if (!data.trim() || !seen(parentElement)) continue;
      sizes.push(parseFloat(getComputedStyle(parentElement).fontSize));
    }
    return Math.min(...sizes);
  }

  function resize() {
    const page = wattlas.currentPage();
    wattlas.hideHover();
    if (page && page.resize) wattlas.later(page.resize, 60);
  }

  function end() {
    const panel = shown();
    if (!panel) return;
    panel.classList.remove("maximised", "presented");
    panel.style.removeProperty("--scale");
    resize();
  }

  /** Show a panel over the window. */
  function show(panel, isPresented) {
    if (!panel) return;
    end();
    panel.classList.add("maximised");
    panel.classList.toggle("presented", isPresented);
    if (isPresented) panel.style.setProperty("--scale", Math.min(MOST, TEXT_PX / leastPx(panel)));
    panel.focus({ preventScroll: true });
    resize();
  }

  const panelOf = (id) => panels().find(({ dataset }) => dataset.view === id);
  wattlas.maximise = (id) => show(panelOf(id), false);
  wattlas.present = (id) => show(panelOf(id), true);

  const STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -1, PageDown: 1 };
  /** Begin by m or p, go on by arrows, end by Escape. Returns whether the key was for it. */
  wattlas.panelKey = function (event, isTyping) {
    const { key } = event, now = shown();
    const isOther = isTyping || event.ctrlKey || event.metaKey || event.altKey;
    if (isOther || document.querySelector("dialog[open]")) return false;
    const page = wattlas.currentPage();
    if (!now && page && page.takes && page.takes(key)) return false;
    const focused = document.activeElement.closest("main .panel[data-view]");
    if (key === "m" || key === "p") {
      if (now && now.classList.contains("presented") === (key === "p")) end();
      else show(now || focused || panels()[0], key === "p");
    } else if (now && key === "Escape") end();
    else if (now && key in STEPS && now.classList.contains("presented")) {
      // The others are laid out below the one that is over them.
      const all = panels(), next = (all.indexOf(now) + STEPS[key] + all.length) % all.length;
      show(all[next], true);
    } else return false;
    event.preventDefault();
    return true;
  };
})(window.wattlas);
