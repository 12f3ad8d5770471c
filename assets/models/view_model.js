/*
 * The state of Models in the browser: values of the controls, and the curves of these values.
 * Independent of Dash: an export runs it without a server.
 */
(function (wattlas) {
  "use strict";

  const page = {
    spec: null, kept: {}, runs: null, fits: null, failed: {}, simulated: null, theme: "light",
    isDragging: false,
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
      };
    });
  }

  /** Whether parameters contradict each other; Python refuses the same. */
  const isRefused = ({ values: p }) => (p.count > p.ring && p.delay_us === undefined) ||
    (p.poll_period_us !== undefined && p.poll_overhead_us >= p.poll_period_us);

  /** Arrival rates of the load axis, in Kpps. */
  function rates(points) {
    const { spec, kept } = page;
    const most = isBursty() ? Math.min(kept.to, spec.linkKpps) : Number(kept.to);
    const first = Math.min(1, most / points), step = (most - first) / (points - 1);
    return Array.from({ length: points }, (_, i) => first + i * step);
  }

  const memo = new Map(), MOST_KEPT = 120;
  /** The solutions of a curve in formulas: [{kind, rates, answers}]. The last ones are kept. */
  function solved(curve) {
    if (isRefused(curve)) return [];
    const { scheme: { name }, values: p } = curve;
    return wattlas.schemes.kinds(name).map((kind) => {
      const isSlow = name === "count_coalescing" && kind === "exact" && p.count > 1;
      // While a slider moves the curves have fewer points.
      const part = !page.isDragging ? 1 : isSlow ? 4 : 2, grid = rates(Math.ceil(page.spec.points / part));
      const key = JSON.stringify([name, kind, p, grid.length, page.kept.to]);
      if (!memo.has(key)) {
        const answers = grid.map((rate) => wattlas.schemes.solve(name, kind, rate, p));
        if (memo.size >= MOST_KEPT) memo.delete(memo.keys().next().value);
        memo.set(key, { kind, rates: grid, answers });
      }
      return memo.get(key);
    }).filter(({ answers }) => answers.every(Boolean));
  }

  /** The best solution of a curve at one rate: exact, else by the formula; null without either. */
  function solvedAt(curve, rate) {
    const { scheme: { name }, values: p } = curve;
    const kinds = isRefused(curve) ? [] : wattlas.schemes.kinds(name);
    for (const kind of ["exact", "paper"].filter((one) => kinds.includes(one))) {
      const answer = wattlas.schemes.solve(name, kind, rate, p);
      if (answer) return { kind, ...answer };
    }
    return null;
  }

  /** The shown range of the load axis, Kpps. */
  function loadRange() {
    const { zoom, to } = page.kept;
    return zoom ? zoom.split("~").map(Number) : [0, Number(to)];
  }

  /* ---- simulations */

  const forgetSimulation = () => { page.simulated = { labels: [], results: [] }; };
  forgetSimulation();
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

  /** The simulated results of a curve, by its label; null without any. */
  function simulatedOf(label) {
    const { labels, results } = page.simulated;
    if (!page.kept.sim) return null;
    return results.find((one) => !one.refused && labels[one.curve] === label) || null;
  }

  wattlas.models = {
    page, set, setValue, setEnergy, values, energyValues, isBursty, curves, solved, solvedAt, simulatedOf,
    forgetSimulation, isRunning, loadRange, accepts,
    absence, costsOf, hasOwnCosts, hostWords,
    onChange: (listener) => listeners.push(listener),
  };
})((window.wattlas = window.wattlas || {}));
