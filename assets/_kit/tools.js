/*
 * The tool bar of a picture, in the head of its panel: what a drag does, zoom, the ranges of the axes.
 * It takes the place of Plotly's, which covers titles. `app/kit/page_layout.py` lists the tools of each one.
 */
(function (wattlas) {
  "use strict";

  const TITLES = {
    zoom: "drag to zoom", pan: "drag to move",
    select: "drag to select a box", lasso: "drag to select by a lasso",
    in: "zoom in", out: "zoom out", fit: "fit all points", reset: "reset axes",
    present: "present: this picture alone, large (p)",
  };
  const ICONS = {
    zoom: "M11 6.5a4.5 4.5 0 1 1-9 0a4.5 4.5 0 1 1 9 0M10 10l5 5",
    pan: "M8 1v14M1 8h14M6 3l2-2 2 2M6 13l2 2 2-2M3 6L1 8l2 2M13 6l2 2-2 2",
    select: "M2 5V2h3M8 2h0M11 2h3v3M14 11v3h-3M5 14H2v-3M2 8h0M7 2h2M7 14h2M2 7v2M14 7v2",
    lasso: "M8 2c4 0 6 2 6 4s-2 4-6 4-6-2-6-4 2-4 6-4M5 10c-2 1-2 4 0 5",
    in: "M8 2v12M2 8h12",
    out: "M2 8h12",
    fit: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",
    reset: "M3 8a5 5 0 1 0 2-4M5 1v3.500h3.500",
    present: "M1 3h14v8H1zM8 11v3M5 14h6M7 5.500l3 1.500-3 1.500z",
  };
  const DRAGS = ["zoom", "pan", "select", "lasso"], FACTORS = { in: 0.5, out: 2 };

  function button(tool) {
    const title = TITLES[tool], made = wattlas.element("button", { title, className: "tool" });
    made.dataset.tool = tool;
    const icon = { viewBox: "0 0 16 16", "aria-hidden": "true" };
    made.append(wattlas.svg("svg", icon, wattlas.svg("path", { d: ICONS[tool] })));
    made.setAttribute("aria-label", title);
    return made;
  }

  /** Fill the bar of a picture, and mark what a drag does. Call it when the picture is drawn. */
  wattlas.tools = function (id) {
    const bar = document.querySelector('.tools[data-tools-of="' + id + '"]'), gd = wattlas.plot(id);
    if (!bar || !gd || !gd._fullLayout) return;
    // An exported page presents nothing.
    const tools = bar.dataset.tools.split(" ").concat(wattlas.present ? "present" : []);
    if (!bar.children.length) bar.replaceChildren(...tools.map(button));
    wattlas.oneStops(bar);
    for (const one of bar.children) {
      const { tool } = one.dataset;
      if (DRAGS.includes(tool)) one.setAttribute("aria-pressed", String(gd._fullLayout.dragmode === tool));
    }
  };

  /* As if the reader had done it in the picture: Plotly keeps it when the figure is drawn again. */
  function relayout(gd, change) {
    gd._fullLayout._guiEditing = true;
    window.Plotly.relayout(gd, change);
    gd._fullLayout._guiEditing = false;
  }

  const axesOf = (gd) => Object.entries(gd._fullLayout)
    .filter(([name, axis]) => /^[xy]axis\d*$/.test(name) && axis.range && !axis.fixedrange);
  /** The range of an axis, `factor` times as long around its middle. */
  function scaled(axis, factor) {
    const [from, to] = axis.range.map((value) => axis.r2l(value)), middle = (from + to) / 2;
    return [from, to].map((value) => axis.l2r(middle + factor * (value - middle)));
  }
  /** What changes an axis back to its first range. */
  function first(name, { _rangeInitial0: from, _rangeInitial1: to }) {
    const hasRange = from !== undefined && to !== undefined;
    return hasRange ? [[name + ".range", [from, to]]] : [[name + ".autorange", true]];
  }
  const CHANGES = {
    fit: (name) => [[name + ".autorange", true]],
    reset: first,
    in: (name, axis) => [[name + ".range", scaled(axis, FACTORS.in)]],
    out: (name, axis) => [[name + ".range", scaled(axis, FACTORS.out)]],
  };

  /** Change the axes of a drawn picture: "fit", "reset", "in" or "out". */
  wattlas.scale = function (gd, tool) {
    const change = Object.fromEntries(axesOf(gd).flatMap(([name, axis]) => CHANGES[tool](name, axis)));
    if (Object.keys(change).length) relayout(gd, change);
  };

  /** Show ranges of axes, {axis: range}, of a drawn picture. */
  wattlas.scaleTo = function (gd, ranges) {
    const change = Object.entries(ranges).filter(([axis]) => gd._fullLayout[axis])
      .map(([axis, range]) => [axis + ".range", range]);
    if (change.length) relayout(gd, Object.fromEntries(change));
  };

  function use(tool, id) {
    const gd = wattlas.plot(id);
    if (!gd || !gd._fullLayout) return;
    if (tool === "present") wattlas.present(gd.closest(".panel").dataset.view);
    else if (DRAGS.includes(tool)) relayout(gd, { dragmode: tool });
    else wattlas.scale(gd, tool);
    wattlas.tools(id);
  }

  document.addEventListener("click", (event) => {
    const one = wattlas.closest(event, ".tool");
    if (one) use(one.dataset.tool, one.parentElement.dataset.toolsOf);
  });

  /* Groups that are one stop of the Tab key, and their parts; radio buttons are that by themselves. */
  const GROUPS = ".tools, .facet-chips, [role=menu], [role=tablist], [data-one-stop]";
  const PARTS = ".tools .tool, .facet-chips input[type=checkbox], .presets a, [role=menuitem], [role=tab], "
    + "[data-one-stop] :is(a, button, summary)";
  const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
  const partsOf = (part) => [...part.closest(GROUPS).querySelectorAll(PARTS)];
  /** Make each group in an element, or it, one stop: the part that has the focus, else the first one. */
  wattlas.oneStops = function (root = document.body) {
    for (const group of [root, ...root.querySelectorAll(GROUPS)].filter((one) => one.matches(GROUPS))) {
      const parts = [...group.querySelectorAll(PARTS)], { activeElement } = document;
      const stop = parts.includes(activeElement) ? activeElement : parts[0];
      parts.forEach((part) => { part.tabIndex = part === stop ? 0 : -1; });
    }
  };
  /** Give a part of a group the focus, and make it the group's stop. */
  wattlas.stopAt = function (next) {
    partsOf(next).forEach((part) => { part.tabIndex = part === next ? 0 : -1; });
    next.focus();
  };
  /** Move within a group by an arrow, Home or End. Returns whether a key was for it. */
  wattlas.groupKey = function (event) {
    const one = wattlas.closest(event, PARTS), { key } = event;
    if (!one || !(key in STEPS || key === "Home" || key === "End")) return false;
    const parts = partsOf(one), { length } = parts;
    const to = key === "Home" ? 0 : key === "End" ? -1 : parts.indexOf(one) + STEPS[key];
    wattlas.stopAt(parts[(to + length) % length]);
    event.preventDefault();
    return true;
  };
})((window.wattlas = window.wattlas || {}));
