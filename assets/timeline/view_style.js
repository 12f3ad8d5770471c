/* What all pictures of the timeline share: letter, colour and dash of a run, and the ticks of axes. Pure. */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {});
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
  const LEAST_CONTRAST = 4.5, paperOf = (scene) => wattlas.palette(scene.theme).paper;

  timeline.letter = (k) => String.fromCharCode(65 + k);
  timeline.dash = (hue) => DASHES[hue % DASHES.length];

  const channel = (hex, i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  timeline.transparent = (hex, alpha) => "rgba(" + [0, 1, 2].map((i) => channel(hex, i)) + "," + alpha + ")";

  function mix(hex, other, share) {
    const mixed = (i) => Math.round(channel(hex, i) * (1 - share) + channel(other, i) * share);
    return "#" + [0, 1, 2].map((i) => mixed(i).toString(16).padStart(2, "0")).join("");
  }

  /** Colour of a run's g-th group of n: the first is the run's own colour, later ones are paler. */
  timeline.shade = function (scene, k, g = 0, n = 1) {
    const hue = scene.hues[scene.state.hues[k] % scene.hues.length];
    const own = scene.theme === "dark" ? mix(hue, "#ffffff", 0.25) : hue;
    return n > 1 ? mix(own, paperOf(scene), (0.6 * g) / (n - 1)) : own;
  };

  /* Relative luminance and contrast. Source: WCAG 2. */
  function luminance(hex) {
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4));
    const [r, g, b] = [0, 1, 2].map((i) => linear(channel(hex, i) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }
  /** Colour of a run for text: its own, with enough contrast to be read. */
  timeline.textColor = function (scene, k) {
    const far = scene.theme === "dark" ? "#ffffff" : "#000000", own = timeline.shade(scene, k);
    for (let share = 0; share < 1; share += 0.05) {
      const color = mix(own, far, share);
      if (contrast(color, paperOf(scene)) >= LEAST_CONTRAST) return color;
    }
    return far;
  };

  const scaled = (v, units) => {
    const [scale, unit] = units.find(([least]) => v >= least) || units[units.length - 1];
    return Number((v / scale).toPrecision(6)) + " " + unit;
  };
  timeline.tickWords = {
    us: (v) => scaled(v, [[1e6, "s"], [1e3, "ms"], [1, "us"], [1e-3, "ns"]]),
    bytes: (v) => scaled(v, [[1e6, "MB"], [1e3, "kB"], [1, "B"]]),
  };

  /* ---- places on the x axis */

  /** The i-th edge of some bins: equal ones, whose last may differ, or any, as `edges`. */
  timeline.edgeOf = ({ t0, dt, t1, edges }, i) => (edges ? edges[i] : Math.min(t0 + i * dt, t1));
  /** The middle of the i-th bin; before the first bin and after the last one bins of their width go on. */
  timeline.middleOf = function (bins, i) {
    const { t0, dt, n, edges } = bins;
    if (!edges) return i === n - 1 ? (t0 + i * dt + bins.t1) / 2 : t0 + (i + 0.5) * dt;
    const at = Math.min(Math.max(i, 0), n - 1), [from, to] = [edges[at], edges[at + 1]];
    return (from + to) / 2 + (i - at) * (to - from);
  };
  /** The bin that a place lies in, -1 for none. The window's end lies in the last. */
  timeline.binAt = function ({ t0, dt, n, t1, edges }, x) {
    if (x < t0 || x > t1) return -1;
    if (!edges) return Math.min(Math.floor((x - t0) / dt), n - 1);
    let low = 0, high = n;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (edges[middle] <= x) low = middle; else high = middle;
    }
    return low;
  };
  /** The places of single interrupts. */
  timeline.placesOf = (raw) => raw.x || raw.t_s;

  /** Ticks of a logarithmic axis: of each decade 1, 2 and 5, or 1 and 3, or 1, at most `room` if possible. */
  timeline.logTicks = function (low, high, room, words) {
    const first = Math.floor(Math.log10(low)), count = Math.ceil(Math.log10(high)) - first + 1;
    const powers = Array.from({ length: count }, (_, i) => first + i);
    const inDecade = (steps) => (power) => steps.map((s) => Number((s * Math.pow(10, power)).toPrecision(1)));
    const ticks = (steps) => powers.flatMap(inDecade(steps)).filter((v) => v >= low && v <= high);
    const found = [[1, 2, 5], [1, 3], [1]].map(ticks);
    const tickvals = found.find((one) => one.length <= room) || found[2];
    return { tickvals, ticktext: tickvals.map(words) };
  };

  /** Ticks of a linear axis at multiples of 1, 2 or 5 tens: at most `room`, but always one besides 0. */
  timeline.linearTicks = function (low, high, room) {
    const top = Math.max(high, -low), power = Math.pow(10, Math.floor(Math.log10(top)) - 1);
    const steps = [1, 2, 5, 10, 20, 50].map((step) => step * power).filter((step) => step <= top);
    const count = (step) => Math.floor(high / step) - Math.ceil(low / step) + 1;
    const step = steps.find((one) => count(one) <= room) || steps[steps.length - 1];
    const tick = (i) => Number(((Math.ceil(low / step) + i) * step).toPrecision(3));
    return Array.from({ length: count(step) }, (_, i) => tick(i));
  };
})((window.wattlas = window.wattlas || {}));
