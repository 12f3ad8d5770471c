/* What all of the timeline's pictures share: a run's letter, hue and dash, colours for words, ticks of logarithmic axes. Pure. */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {});
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
  const LEAST_CONTRAST = 4.5, PAPER = { light: "#ffffff", dark: "#16191d" };

  timeline.letter = (k) => String.fromCharCode(65 + k);
  timeline.dash = (hue) => DASHES[hue % DASHES.length];

  function mix(hex, other, share) {
    const part = (text, i) => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16);
    return "#" + [0, 1, 2].map((i) => Math.round(part(hex, i) * (1 - share) + part(other, i) * share).toString(16).padStart(2, "0")).join("");
  }

  /** Hue of a run's g-th group of n: the first in full, the others nearer to the paper. */
  timeline.shade = function (scene, k, g, n) {
    const hue = scene.hues[scene.state.hues[k] % scene.hues.length];
    const lifted = scene.theme === "dark" ? mix(hue, "#ffffff", 0.25) : hue;
    return n > 1 ? mix(lifted, scene.theme === "dark" ? "#16191d" : "#ffffff", (0.6 * g) / (n - 1)) : lifted;
  };

  /* Relative luminance and contrast as WCAG 2 defines them. */
  function luminance(hex) {
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4)));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }
  /** A run's hue for words: as far from the paper as reading needs. */
  timeline.ink = function (scene, k) {
    const isDark = scene.theme === "dark", paper = PAPER[isDark ? "dark" : "light"], hue = timeline.shade(scene, k, 0, 1);
    for (let share = 0; share < 1; share += 0.05) {
      const ink = mix(hue, isDark ? "#ffffff" : "#000000", share);
      if (contrast(ink, paper) >= LEAST_CONTRAST) return ink;
    }
    return isDark ? "#ffffff" : "#000000";
  };

  const SVG = "http://www.w3.org/2000/svg";
  const ANCHORS = { left: "start", right: "end" }, LIFTS = { middle: "0.35em", bottom: "-0.4em" };

  /* An element with attributes, and text or further elements in it. */
  function svg(name, attributes, ...inside) {
    const element = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    element.append(...inside);
    return element;
  }

  /* A text's parts in <b> stand at odd places. */
  const parts = (text) => text.split(/<\/?b>/).map((part, i) => svg("tspan", i % 2 ? { "font-weight": "bold" } : {}, part));

  /**
   * Write annotations into a picture: Plotly takes a third of its drawing for fifty of them.
   *   words: annotations with text, x and y (shares of the picture), xanchor, yanchor, font, and xshift perhaps.
   */
  timeline.writeWords = function (gd, words) {
    const { _infolayer: layer, _size: size, font } = gd._fullLayout;
    layer.selectAll(".words").remove();
    const texts = words.map((word) => svg("text", {
      x: size.l + size.w * word.x + (word.xshift || 0), y: size.t + size.h * (1 - word.y), dy: LIFTS[word.yanchor], "text-anchor": ANCHORS[word.xanchor],
      fill: word.font.color, "font-size": word.font.size, "font-weight": word.font.weight || "normal", "font-family": font.family, class: word.name || "",
    }, ...parts(word.text)));
    layer.node().append(svg("g", { class: "words" }, ...texts));
  };

  /** Ticks of a logarithmic axis: of each decade 1, 2 and 5, or 1 and 3, or 1, as many as there is room for. */
  timeline.logTicks = function (low, high, room, words) {
    const powers = [], isSeen = (v) => v >= low && v <= high;
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) powers.push(power);
    const ticks = (steps) => powers.flatMap((power) => steps.map((step) => Number((step * Math.pow(10, power)).toPrecision(1)))).filter(isSeen);
    const found = [[1, 2, 5], [1, 3], [1]].map(ticks), tickvals = found.find((one) => one.length <= room) || found[2];
    return { tickvals, ticktext: tickvals.map(words) };
  };

  /** Ticks of a linear axis at multiples of 1, 2 or 5 tens: as many as there is room for, and one besides 0 always. */
  timeline.linearTicks = function (low, high, room) {
    const top = Math.max(high, -low), power = Math.pow(10, Math.floor(Math.log10(top)) - 1);
    const steps = [1, 2, 5, 10, 20, 50].map((step) => step * power).filter((step) => step <= top);
    const count = (step) => Math.floor(high / step) - Math.ceil(low / step) + 1;
    const step = steps.find((one) => count(one) <= room) || steps[steps.length - 1];
    return Array.from({ length: count(step) }, (_, i) => Number(((Math.ceil(low / step) + i) * step).toPrecision(3)));
  };
})((window.wattlas = window.wattlas || {}));
