/*
 * The state of Models in the browser: values of the controls, and the curves of these values.
 * Independent of Dash: an export runs it without a server.
 */
(function (wattlas) {
  "use strict";

  const page = {
    spec: null, kept: {}, runs: null, fits: null, failed: {}, theme: "light", isDragging: false,
    // Simulations over the load axis, and at the crosshair.
    simulated: null, at: null,
    // Whether a server simulates: an export has none.
    hasServer: false,
    // Resets of the axes: each gives the measured axes new limits.
    resets: 0,
  };
  const listeners = [];

  /* ---- values of the controls */

  const read = (control, text) => {
    if (typeof control.default === "boolean") return text === "1";
    return control.isChoice ? text : Number(text);
  };
  const write = (value) => (value === true ? "1" : value === false ? "0" : String(value));
  const pairs = (text) => (text || "").split(",").filter(Boolean).map((part) => part.split(/:(.*)/s));

  /** Parse a text `key:value,key:value`; return only the keys that it names. */
  const named = (text, controls) => Object.fromEntries(
    pairs(text).filter(([key]) => controls[key]).map(([key, value]) => [key, read(controls[key], value)]));
  const defaults = (controls) =>
    Object.fromEntries(Object.entries(controls).map(([key, control]) => [key, control.default]));

  /** The values of the presets, without the visitor's changes. */
  function presetValues() {
    const { spec, kept } = page, host = spec.hosts[kept.host], figure = spec.figures[kept.fig];
    return { ...defaults(spec.controls), ...(host && host.values), ...(figure && figure.values) };
  }
  const values = () => ({ ...presetValues(), ...named(page.kept.p, page.spec.controls) });
  const energyValues = () => ({ ...defaults(page.spec.energy), ...named(page.kept.e, page.spec.energy) });
  const isBursty = () => values().traffic === "bursty";

  /** The text of values that differ from others, in the order of the controls. */
  const written = (controls, given, normal) =>
    Object.keys(controls).filter((key) => given[key] !== normal[key])
      .map((key) => key + ":" + write(given[key])).join(",");

  /** Whether a control takes a value; numbers within its range, whole where they must be. */
  function accepts(control, value) {
    if (control.isChoice) return control.range.includes(value);
    const [low, high] = control.range, isWhole = !control.isWhole || Number.isInteger(value);
    return Number.isFinite(value) && value >= low && value <= high && isWhole;
  }

  /** Change keys of the state and call the listeners with them. */
  function set(changes) {
    const keys = Object.keys(changes).filter((key) => String(page.kept[key]) !== String(changes[key]));
    if (!keys.length) return;
    Object.assign(page.kept, changes);
    listeners.forEach((listener) => listener(keys));
  }
  const setValue = (key, value) =>
    set({ p: written(page.spec.controls, { ...values(), [key]: value }, presetValues()) });
  const setEnergy = (key, value) =>
    set({ e: written(page.spec.energy, { ...energyValues(), [key]: value }, defaults(page.spec.energy)) });

  /* ---- curves */

  /** The curves of the state: {label, scheme, hue, values by parameter}. */
  function curves() {
    const { spec, kept } = page, all = values(), figure = spec.figures[kept.fig];
    const names = kept.scheme.split(","), shown = spec.schemes.filter(({ name }) => names.includes(name));
    const asked = figure ? figure.curves : shown.map(({ name }) => ({ scheme: name }));
    // The first hue is that of the ideal scheme.
    const first = figure && figure.curves[0].scheme === "ideal" ? 0 : 1;
    return asked.map((one, number) => {
      const scheme = spec.schemes.find(({ name }) => name === one.scheme);
      const own = Object.entries(scheme.controls).map(([name, control]) => [name, all[control]]);
      return {
        label: one.label || scheme.title, scheme, values: { ...Object.fromEntries(own), ...one.over },
        hue: figure ? spec.hues[(number + first) % spec.hues.length] : scheme.hue,
        // The solutions in formulas that are drawn: bursty traffic has none.
        kinds: one.is_simulated || all.traffic === "bursty" ? [] : wattlas.schemes.kinds(scheme.name),
      };
    });
  }

  /** Whether parameters contradict each other; Python refuses the same. */
  const isRefused = ({ values: p }) => (p.count > p.ring && p.delay_us === undefined) ||
    (p.poll_period_us !== undefined && p.poll_overhead_us >= p.poll_period_us);

  /* ---- bursty traffic */

  const BETWEEN_BYTES = 20, US_PER_BYTE = 0.008;
  /** Frame sizes and their shares, [[bytes, share]], rising. */
  function frameSizes() {
    const { sizes: { from, to, even, peaks } } = page.spec;
    const own = pairs(page.kept.sizes).map((pair) => pair.map(Number).slice(0, 2));
    if (!own.length) {
      const shares = Object.fromEntries(peaks);
      return Array.from({ length: to - from + 1 }, (_, i) => [from + i, even + (shares[from + i] || 0)]);
    }
    const total = own.reduce((sum, [, weight]) => sum + weight, 0);
    return own.map(([size, weight]) => [size, weight / total]).sort((a, b) => a[0] - b[0]);
  }
  /** The arrival rate at a load of the link of 1. */
  const linkKpps = () => (!page.kept.sizes ? page.spec.linkKpps
    : 1e3 / frameSizes().reduce((us, [size, share]) => us + share * (size + BETWEEN_BYTES) * US_PER_BYTE, 0));

  /** The end of the load axis, Kpps. */
  const loadEnd = () => (isBursty() ? Math.min(mostKpps(), linkKpps()) : mostKpps());
  /** What the link or the visitor says of that end, else the figure. */
  function mostKpps() {
    const { kept, spec } = page;
    return Number(kept.to || (spec.figures[kept.fig] || {}).to || spec.mostKpps);
  }
  /** Arrival rates of the load axis, in Kpps. */
  function rates(points) {
    const most = loadEnd();
    const first = Math.min(1, most / points), step = (most - first) / (points - 1);
    return Array.from({ length: points }, (_, i) => first + i * step);
  }
  /** The rates of a curve: a scheme that switches has two at its switch. */
  function ratesOf({ switch_kpps: jump }, points) {
    const grid = rates(points);
    if (jump === undefined || jump > grid[grid.length - 1]) return grid;
    return [...grid, jump * (1 - 1e-9), jump].sort((a, b) => a - b);
  }

  const memo = new Map(), MOST_KEPT = 120;
  /** The solutions of a curve in formulas: [{kind, rates, answers}]. The last ones are kept. */
  function solved(curve) {
    if (isRefused(curve)) return [];
    const { scheme: { name }, values: p, kinds } = curve;
    return kinds.map((kind) => {
      const isSlow = name === "count_coalescing" && kind === "exact" && p.count > 1;
      // While a slider moves the curves have fewer points.
      const part = !page.isDragging ? 1 : isSlow ? 4 : 2, grid = ratesOf(p,
        Math.ceil(page.spec.points / part));
      const key = JSON.stringify([name, kind, p, grid.length, mostKpps()]);
      if (!memo.has(key)) {
        const answers = grid.map((rate) => wattlas.schemes.solve(name, kind, rate, p));
        if (memo.size >= MOST_KEPT) memo.delete(memo.keys().next().value);
        memo.set(key, { kind, rates: grid, answers });
      }
      return memo.get(key);
    }).filter(({ answers }) => answers.every(Boolean));
  }

  /** The solutions of a curve at one rate, the exact one first: [{kind, ...}]. */
  function solvedAt(curve, rate) {
    const { scheme: { name }, values: p } = curve, kinds = isRefused(curve) ? [] : curve.kinds;
    return ["exact", "paper"].filter((one) => kinds.includes(one))
      .map((kind) => ({ kind, answer: wattlas.schemes.solve(name, kind, rate, p) }))
      .filter(({ answer }) => answer).map(({ kind, answer }) => ({ kind, ...answer }));
  }

  /** The shown range of the load axis, Kpps. */
  const loadRange = () => (page.kept.zoom ? page.kept.zoom.split("~").map(Number) : [0, loadEnd()]);

  /* ---- simulations */

  function forgetSimulation() {
    page.simulated = { labels: [], results: [] };
    page.at = { results: [] };
  }
  forgetSimulation();
  const hasSimulated = () => page.simulated.results.length > 0;
  const isRunning = () => ["running", "waiting"].includes(page.simulated.status);

  const READING = { runs: "reading the runs", fits: "fitting the runs" };
  /** Why the runs or the fits are not here; empty if they are. */
  function absence(what) {
    if (page.spec.lakeIsEmpty) return "The lake holds no runs yet.";
    return page[what] ? "" : page.failed[what] || READING[what];
  }

  const COSTS = ["interrupt_us", "service_us"];
  /** The costs of a fitted host as the controls take them: four digits. */
  const costsOf = (host) => Object.fromEntries(COSTS.map((key) => [key, Number(host[key].toPrecision(4))]));
  const hasOwnCosts = () => COSTS.some((key) => key in named(page.kept.p, page.spec.controls));

  /** Whose costs the controls have, beside the menu of hosts. */
  function hostWords() {
    const { spec, kept, fits } = page, now = values();
    if (kept.host !== "measured") return spec.hosts[kept.host].note;
    const hosts = fits ? fits.hosts : [];
    const isShown = (host) => Object.entries(costsOf(host)).every(([key, cost]) => now[key] === cost);
    const fitted = hosts.find(isShown);
    if (fitted) return `1/r and 1/mu fitted to ${fitted.group}`;
    const whose = hasOwnCosts() ? "costs of the link or the sliders" : "costs of the 2007 paper";
    return `${whose}: ${absence("fits") || "no fit to the shown runs gives them"}`;
  }

  const ofLabel = (results, label) => results.find((one) => !one.refused && one.label === label) || null;
  /** The simulated results of a curve, by its label; null without any. */
  const simulatedOf = (label) => ofLabel(page.simulated.results, label);
  /** The simulated values of a curve at the crosshair, else at the nearest rate; null without any. */
  function simulatedAt(label) {
    const rate = Math.min(Number(page.kept.at), isBursty() ? linkKpps() : Infinity);
    const own = ofLabel(page.at.results, label), isOwn = own && Math.abs(own.rates_kpps[0] / rate - 1) < 1e-9;
    const found = isOwn ? own : simulatedOf(label);
    if (!found) return null;
    const off = found.rates_kpps.map((value) => Math.abs(value - rate)), i = off.indexOf(Math.min(...off));
    const columns = Object.entries(found).filter(([, column]) => Array.isArray(column));
    return {
      kind: "simulated", isNearest: !isOwn, is_first: found.is_first,
      ...Object.fromEntries(columns.map(([name, all]) => [name, all[i]])),
    };
  }
  /** The shown curves that have neither a formula nor a simulation, and what they need, in words. */
  function unsimulated() {
    const { seconds } = page.spec;
    const labels = curves().filter((one) => !one.kinds.length && !isRefused(one) && !simulatedOf(one.label))
      .map(({ label }) => label);
    const took = Math.ceil(seconds.start + labels.length * seconds[values().traffic]);
    return { labels, words: page.hasServer ? `simulate, ${took} s` : "needs the server" };
  }

  wattlas.models = {
    page, set, setValue, setEnergy, values, energyValues, isBursty, curves, solved, solvedAt,
    simulatedOf, simulatedAt, unsimulated, hasSimulated, forgetSimulation, isRunning,
    frameSizes, linkKpps, loadEnd, mostKpps, loadRange, accepts,
    absence, costsOf, hasOwnCosts, hostWords,
    onChange: (listener) => listeners.push(listener),
  };
})((window.wattlas = window.wattlas || {}));
