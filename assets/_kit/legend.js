/*
 * The legend of a picture as HTML in its panel, which wraps at any width.
 * Its entries are the traces with `showlegend`. Traces of the kind `legend` explain; others can be hidden.
 */
(function (wattlas) {
  "use strict";

  const DASHES = { dash: "4 3", dot: "1 3" };
  /* Outlines around 0, 0 with a radius of 1. */
  const around = (corners, turn) => "M" + Array.from({ length: corners }, (_, i) => {
    const angle = (2 * Math.PI * i) / corners + turn;
    return Math.sin(angle).toFixed(3) + " " + (-Math.cos(angle)).toFixed(3);
  }).join("L") + "Z";
  const PATHS = {
    circle: "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1 -1 0Z", square: "M-.9-.9H.9V.9H-.9Z", diamond: around(4, 0),
    "triangle-up": around(3, 0), "triangle-down": around(3, Math.PI), pentagon: around(5, 0),
    "cross-thin": "M0-1V1M-1 0H1", "x-thin": "M-.8-.8L.8.8M.8-.8L-.8.8",
    "line-ne": "M-.8 .8L.8-.8",
    hash: "M-.4-1V1M.4-1V1M-1-.4H1M-1 .4H1",
  };
  const WIDTH = 24, HEIGHT = 18, LARGEST = 17;

  const first = (value) => (Array.isArray(value) || ArrayBuffer.isView(value) ? value[0] : value);

  /** The sign of a trace: its line, its symbol. */
  function sign({ type, mode = "markers", marker = {}, line = {} }) {
    const svg = wattlas.svg("svg", { width: WIDTH, height: HEIGHT, viewBox: `-12 -9 ${WIDTH} ${HEIGHT}` });
    svg.setAttribute("aria-hidden", "true");
    const color = first(marker.color) || line.color || "currentColor";
    if (mode.includes("lines")) {
      const look = { stroke: line.color || color, "stroke-width": line.width || 1.5, fill: "none" };
      const dashes = { "stroke-dasharray": DASHES[line.dash] || "" };
      svg.append(wattlas.svg("path", { d: "M-12 0H12", ...look, ...dashes }));
    }
    const size = first(marker.size);
    if (mode.includes("markers") && size !== 0) {
      const name = String(first(marker.symbol) || (type === "bar" ? "square" : "circle"));
      const isOpen = name.includes("-open");
      const radius = Math.min(size || 6, LARGEST) / 2, border = marker.line || {};
      svg.append(wattlas.svg("path", {
        d: PATHS[name.replace(/-open.*/, "")] || PATHS.circle, transform: `scale(${radius})`,
        "vector-effect": "non-scaling-stroke", fill: isOpen ? "none" : color, stroke: color,
        "stroke-width": Math.max(1, first(border.width) || 1),
      }));
      if (name.endsWith("-dot")) svg.append(wattlas.svg("circle", { r: 1.5, fill: color }));
    }
    return svg;
  }

  const canHide = (trace, { legend }) =>
    wattlas.kindOf(trace) !== "legend" && !(legend && legend.itemclick === false);

  function entry(trace, index, isButton) {
    const name = wattlas.shownText(trace.name), properties = { className: "legend-entry", title: name };
    const part = wattlas.element(isButton ? "button" : "span", properties);
    part.append(sign(trace), wattlas.element("span", { textContent: name, className: "legend-name" }));
    if (isButton) {
      part.dataset.trace = index;
      part.setAttribute("aria-pressed", String(trace.visible !== "legendonly"));
    }
    return part;
  }

  /** The title of a line of the legend: a button that opens the menu of its knob. */
  function roleTitle({ control, word, title }) {
    const name = { "aria-haspopup": "menu", "aria-expanded": "false" };
    return wattlas.element("button", {
      type: "button", className: "legend-title", textContent: word + ": " + title + " \u25be",
      title: word + ": choose another knob", data: { opens: control }, attributes: name,
    });
  }

  /** Write the legend of a figure. Call it before the figure is drawn: it takes room from it. */
  wattlas.legend = function (id, { data, layout }) {
    const box = document.querySelector('.legend[data-legend-of="' + id + '"]');
    if (!box) return;
    const rows = new Map();
    data.forEach((trace, index) => {
      if (trace.showlegend !== true) return;
      const row = (trace.meta && trace.meta.row) || 0;
      if (!rows.has(row)) rows.set(row, wattlas.element("div", { className: "legend-row" }));
      rows.get(row).append(entry(trace, index, canHide(trace, layout)));
    });
    // An exported page has no menus.
    const roles = wattlas.setProps ? (layout.meta && layout.meta.roles) || [] : [];
    for (const role of roles) if (rows.has(role.row)) rows.get(role.row).prepend(roleTitle(role));
    const written = [...rows].sort(([a], [b]) => a - b).map(([, row]) => row);
    const without = roles.filter((role) => !rows.has(role.row)).map(roleTitle);
    if (without.length) written.unshift(wattlas.element("div", { className: "legend-row" }, ...without));
    const { legend } = layout, title = legend && legend.title ? wattlas.shownText(legend.title.text) : "";
    if (title && written.length) {
      written[0].prepend(wattlas.element("span", { textContent: title, className: "quiet" }));
    }
    const focused = box.contains(document.activeElement) && document.activeElement.dataset.opens;
    box.replaceChildren(...written);
    if (focused) box.querySelector('[data-opens="' + CSS.escape(focused) + '"]').focus();
    wattlas.reachScrolling([box]);
  };

  document.addEventListener("click", (event) => {
    const one = wattlas.closest(event, "button.legend-entry");
    if (!one) return;
    const gd = wattlas.plot(wattlas.closest(event, ".legend").dataset.legendOf);
    const isShown = one.getAttribute("aria-pressed") === "true";
    one.setAttribute("aria-pressed", String(!isShown));
    window.Plotly.restyle(gd, { visible: isShown ? "legendonly" : true }, [Number(one.dataset.trace)]);
  });
})((window.wattlas = window.wattlas || {}));
