/* Plots on a page: their options, taking over Plotly's events, the card at the pointer, places. */
(function (wattlas) {
  "use strict";

  const plot = (id) => document.querySelector("#" + id + ".js-plotly-plot, #" + id + " .js-plotly-plot");
  wattlas.plot = plot;
  wattlas.PLOT_CONFIG = {
    displaylogo: false, showSendToCloud: false, responsive: true, displayModeBar: false, showTips: false,
    doubleClick: "reset",
  };
  wattlas.resizePlots = (plots) => plots.filter(Boolean).forEach((gd) => window.Plotly.Plots.resize(gd));

  /* dcc.Graph handles these events only to write them back and draw the figure again. */
  const EVENTS = [
    "selecting", "selected", "deselect", "relayout", "restyle", "click", "hover", "unhover", "doubleclick",
  ].map((name) => "plotly_" + name);
  const RETRY_MS = 25;

  /**
   * Handle a plot's events in place of dcc.Graph, now or when the plot is drawn, and after each redraw.
   *   handlers: by Plotly event, (gd, event) => ...
   *   hover: (gd, event) => the lines of the card at the pointer, or null.
   *   drawn: called after each redraw.
   */
  wattlas.ownPlot = function (id, { handlers = {}, hover, drawn }, tries = 200) {
    const gd = plot(id);
    if (!gd || !gd.on || !gd._fullLayout) {
      const again = () => wattlas.ownPlot(id, { handlers, hover, drawn }, tries - 1);
      if (tries > 0) wattlas.later(again, RETRY_MS);
      return;
    }
    EVENTS.forEach((name) => gd.removeAllListeners(name));
    for (const [name, handler] of Object.entries(handlers)) gd.on(name, (event) => handler(gd, event));
    gd.on("plotly_hover", (event) => {
      const lines = hover && hover(gd, event);
      if (lines) wattlas.card(lines, event.event);
    });
    gd.on("plotly_unhover", wattlas.hideHover);
    if (!gd.wattlasOwned) {
      gd.wattlasOwned = true;
      gd.on("plotly_afterplot", () => wattlas.later(() => {
        if (gd.isConnected) wattlas.ownPlot(id, { handlers, hover, drawn });
      }));
      gd.addEventListener("mouseleave", wattlas.hideHover);
    }
    wattlas.tools(id);
    if (drawn) drawn(gd);
  };

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
    return { clientX: box.left + at("x", x), clientY: box.top + at("y", y) };
  };

  /** An index within a list of `count`. */
  wattlas.within = (index, count) => Math.min(Math.max(index, 0), count - 1);

  const kindOf = (trace) => (trace.meta && trace.meta.kind) || "";
  wattlas.kindOf = kindOf;
  /** Indices of the traces of one kind. */
  wattlas.tracesOf = (data, kind) => data.map((t, i) => (kindOf(t) === kind ? i : -1)).filter((i) => i >= 0);
})((window.wattlas = window.wattlas || {}));
