/*
 * The first picture or text of a page is there before Dash, over what Dash draws. Then the other scripts are
 * loaded, in their order, and when the page can be used those of the other pages.
 */
(function (wattlas) {
  "use strict";

  const part = (id) => document.getElementById(id), box = part("opening");
  // How long the others wait for the answer.
  const PATIENCE_MS = 400;
  // Up to so many characters of an answer, SVG is drawn in less time than WebGL takes to begin.
  const SMALL_CHARS = 100000;
  /** By page: (answer, theme, box) to the figure in this theme; without one the answer's own figure. */
  wattlas.openings = {};

  function moment() {
    let waiting = [];
    return {
      isOver: () => !waiting,
      // Later than the rest of its script, on which it may depend.
      add: (work) => { if (waiting) waiting.push(work); else queueMicrotask(work); },
      come() { const all = waiting; waiting = null; all.forEach((work) => work()); },
    };
  }
  const dash = moment(), complete = moment();
  /** Call a function when Dash's scripts are there, before Dash starts; soon if they are. */
  wattlas.withDash = dash.add;
  /** Call a function when the scripts of all pages are there; soon if they are. */
  wattlas.whenComplete = complete.add;
  wattlas.isComplete = complete.isOver;

  function copy({ src, textContent, id, type }) {
    const script = wattlas.element("script", { textContent, id, type, async: false });
    if (src) script.src = src;
    return script;
  }

  /** Load the scripts of a template; then call a function with those that have no address. */
  function load(template, done) {
    const release = wattlas.busy("scripts"), all = [...part(template).content.children].map(copy);
    const files = all.filter(({ src }) => src);
    for (const file of files) {
      file.onerror = () => {
        const line = document.querySelector(".first-page .status");
        if (line) line.textContent = "a script did not arrive: reload the page";
        release();
      };
    }
    files[files.length - 1].onload = () => {
      done(all.filter(({ src }) => !src));
      release();
    };
    document.body.append(...files);
  }
  function start(inline) {
    dash.come();
    document.body.append(...inline);
    whenQuiet(() => load("later-scripts", () => {
      wattlas.useScreenPixels();
      complete.come();
    }));
  }
  const QUIET_MS = 50, MOST_TRIES = 100;
  /** Call a function when the page waits for nothing else, or has waited for long. */
  function whenQuiet(work) {
    const release = wattlas.busy("later scripts");
    let tries = 0;
    const look = () => {
      if (wattlas.underWay().length > 2 && (tries += 1) < MOST_TRIES) wattlas.later(look, QUIET_MS);
      else { work(); release(); }
    };
    wattlas.later(look, QUIET_MS);
  }

  function draw(answer) {
    if (!box.isConnected) return;
    const found = answer.json(), isSmall = answer.text().length < SMALL_CHARS;
    const page = box.closest(".first-page");
    page.classList.add("opened");
    if (found.html) {
      const views = box.closest(".views");
      views.innerHTML = found.html;
      views.querySelectorAll("[id]").forEach((one) => one.removeAttribute("id"));
      return;
    }
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const theme = document.documentElement.dataset.theme || (isDark ? "dark" : "light");
    box.previousElementSibling.remove();
    // The name of the first view, which may not be what is drawn.
    box.closest(".panel").querySelector(".panel-head").textContent = "\u00a0";
    const make = wattlas.openings[box.dataset.page] || (({ figure }) => wattlas.themedFigure(figure, theme));
    const { data, layout } = make(found, theme, box);
    const drawn = data.map((trace) => (
      isSmall && trace.type === "scattergl" ? { ...trace, type: "scatter" } : trace));
    wattlas.legend(box.id, { data, layout });
    const placed = wattlas.panels.arranged(box, wattlas.titles.fitted(box, layout));
    window.Plotly.newPlot(box, drawn, placed, { ...wattlas.PLOT_CONFIG, staticPlot: true });
  }

  async function open() {
    const answer = box ? wattlas.fetch(box.dataset.address).catch(() => null) : null;
    // Until then plotly.js arrives, where the page opens with a picture.
    await new Promise((done) => document.addEventListener("DOMContentLoaded", done));
    await Promise.race([answer, new Promise((done) => wattlas.later(done, PATIENCE_MS))]);
    load("scripts", start);
    const found = await answer;
    if (found && found.status === 200) draw(found);
  }

  /** Whether the page shows what the frame before it shows, or has a notice; then the frame can go. */
  wattlas.isOpened = function () {
    const frame = document.querySelector(".first-page.opened"), page = document.querySelector("main.page");
    if (!frame || page.querySelector(".notice:not(:empty)")) return true;
    const pending = (one) => one.querySelectorAll(".views .pending:empty").length;
    return frame.querySelector(".js-plotly-plot") ? Boolean(page.querySelector(".main-svg"))
      : pending(page) <= pending(frame);
  };

  /** Scroll the tabs, which may be wider than the window, so that one of them is in their middle. */
  wattlas.showTab = function (tab) {
    const nav = tab.parentElement;
    nav.scrollLeft = tab.offsetLeft - nav.offsetLeft - (nav.clientWidth - tab.offsetWidth) / 2;
  };
  document.querySelectorAll(".first-page .tab.active").forEach(wattlas.showTab);

  // The rest of the kit comes after this file in the same script.
  if (part("scripts")) Promise.resolve().then(open);
})((window.wattlas = window.wattlas || {}));
