/* Plots on a page: their options, the card at the pointer, places. */
(function (wattlas) {
  "use strict";

  const plot = (id) => document.querySelector("#" + id + ".js-plotly-plot, #" + id + " .js-plotly-plot");
  wattlas.plot = plot;
  // Plotly's `responsive` listens to the window for ever, and so holds every page that was left: 20,000 nodes
  // a round over all pages. The views see their size themselves.
  wattlas.PLOT_CONFIG = {
    displaylogo: false, showSendToCloud: false, displayModeBar: false, showTips: false,
    doubleClick: "reset",
  };
  wattlas.resizePlots = (plots) => plots.filter(Boolean).forEach((gd) => window.Plotly.Plots.resize(gd));

  const scrolling = new ResizeObserver((entries) => entries.forEach(({ target: box }) => {
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = box;
    if (scrollWidth > clientWidth || scrollHeight > clientHeight) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }));
  /**
   * Make boxes stops of the Tab key as long as they scroll, so that keys scroll them. Call it whenever what
   * they hold has changed; that their size has changed is noticed.
   */
  wattlas.reachScrolling = (boxes) => boxes.forEach((box) => scrolling.observe(box));

  /** Show the card with lines at a place in the window: {clientX, clientY}. */
  wattlas.card = function (lines, at) {
    const box = document.getElementById("hover-card");
    const look = (text, i) => (text.startsWith("click:") ? "hint" : i === 0 ? "first" : "");
    box.replaceChildren(...lines.filter(Boolean).map((text, i) =>
      wattlas.element("div", { textContent: text, className: look(text, i) })));
    box.style.display = "block";
    const { width, height } = box.getBoundingClientRect();
    const x = at.clientX + 16 + width > innerWidth ? at.clientX - width - 12 : at.clientX + 16;
    const y = Math.min(Math.max(4, at.clientY - height / 2), innerHeight - height - 4);
    box.style.transform = "translate(" + Math.max(4, x) + "px," + y + "px)";
  };

  wattlas.hideHover = () => {
    const box = document.getElementById("hover-card");
    if (box) box.style.display = "none";
  };

  /**
   * The position in the window of a plot's point; on a category axis the value is the category's index.
   * `trace` names the axes, for plots of several panels.
   */
  wattlas.place = function (gd, x, y, trace = {}) {
    const at = (letter, value) => {
      const axis = gd._fullLayout[letter + "axis" + (trace[letter + "axis"] || letter).slice(1)];
      return axis._offset + (axis.type === "category" ? axis.l2p(value) : axis.d2p(value));
    };
    const box = gd.getBoundingClientRect();
    // A panel that is presented is scaled.
    const scale = box.width / gd.offsetWidth || 1;
    return { clientX: box.left + scale * at("x", x), clientY: box.top + scale * at("y", y) };
  };

  /** An index within a list of `count`. */
  wattlas.within = (index, count) => Math.min(Math.max(index, 0), count - 1);

  const kindOf = (trace) => (trace.meta && trace.meta.kind) || "";
  wattlas.kindOf = kindOf;
  /** Indices of the traces of one kind. */
  wattlas.tracesOf = (data, kind) => data.map((t, i) => (kindOf(t) === kind ? i : -1)).filter((i) => i >= 0);
})((window.wattlas = window.wattlas || {}));
