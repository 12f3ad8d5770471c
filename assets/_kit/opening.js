/*
 * The first picture of a page is drawn before Dash and the pages' scripts are there, over what they draw: its
 * answer arrives beside plotly.js. Then the others are loaded, in their order. At their end the document gets
 * the event `scripts`.
 */
(function (wattlas) {
  "use strict";

  const rest = document.getElementById("scripts"), box = document.getElementById("opening");
  // How long the others wait for the answer.
  const PATIENCE_MS = 400;
  // Up to so many characters of an answer, SVG is drawn in less time than WebGL takes to begin.
  const SMALL_CHARS = 200000;

  function copy({ src, textContent, id, type }) {
    const script = wattlas.element("script", { textContent, id, type, async: false });
    if (src) script.src = src;
    return script;
  }

  /** Load the other scripts, then run those without an address. */
  function load() {
    const release = wattlas.busy("scripts"), all = [...rest.content.children].map(copy);
    const files = all.filter(({ src }) => src);
    for (const file of files) {
      file.onerror = () => {
        const line = document.querySelector(".first-page .status");
        if (line) line.textContent = "a script did not arrive: reload the page";
        release();
      };
    }
    files[files.length - 1].onload = () => {
      document.dispatchEvent(new Event("scripts"));
      document.body.append(...all.filter(({ src }) => !src));
      release();
    };
    document.body.append(...files);
  }

  function draw(answer) {
    if (!box.isConnected || !window.Plotly) return;
    const { figure } = answer.json(), isSmall = answer.text().length < SMALL_CHARS;
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const theme = document.documentElement.dataset.theme || (isDark ? "dark" : "light");
    const { data, layout } = wattlas.themedFigure(figure, theme);
    const drawn = data.map((trace) => (
      isSmall && trace.type === "scattergl" ? { ...trace, type: "scatter" } : trace));
    box.previousElementSibling.remove();
    wattlas.legend(box.id, { data, layout });
    const placed = wattlas.panels.arranged(box, wattlas.titles.fitted(box, layout));
    window.Plotly.newPlot(box, drawn, placed, { ...wattlas.PLOT_CONFIG, staticPlot: true });
  }

  async function open() {
    const answer = box ? wattlas.fetch(box.dataset.address).catch(() => null) : null;
    await Promise.race([answer, new Promise((done) => wattlas.later(done, PATIENCE_MS))]);
    load();
    const found = await answer;
    if (found && found.status === 200) draw(found);
  }

  /** Whether the page has drawn its own picture, or needs none; then the frame before it can go. */
  wattlas.isOpened = () => !document.querySelector(".first-page .js-plotly-plot")
    || Boolean(document.querySelector("#react-entry-point main :is(.main-svg, .notice:not(:empty))"));

  // The rest of the kit comes after this file in the same script.
  if (rest) Promise.resolve().then(open);
})((window.wattlas = window.wattlas || {}));
