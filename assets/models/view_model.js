/*
 * The state of Models in the browser: values of the controls, the curves that follow from them.
 * Knows no Dash; an export runs it without a server.
 */
(function (wattlas) {
  "use strict";

  const page = {
    spec: null, kept: {}, runs: null, fits: null, simulated: { labels: [], results: [] }, theme: "light",
    isDragging: false,
    // Resets of the axes: each gives the measured axes new limits.
    resets: 0,
  };
  const listeners = [];
  /** Tell that keys of the state have changed. */
  const tell = (keys) => listeners.forEach((listener) => listener(keys));

  /* ---- values of the controls */

  const read = (control, text) => {
    if (typeof control.default === "boolean") return text === "1";
    return control.isChoice ? text : Number(text);
  };
  const write = (value) => (value === true ? "1" : value === false ? "0" : String(value));
  const pairs = (text) => (text || "").split(",").filter(Boolean).map((part) => part.split(/:(.*)/s));

  /** Values out of a text `key:value,key:value`, only those that it names. */
  function named(text, controls) {
    return Object.fromEntries(
      pairs(text).filter(([key]) => controls[key]).map(([key, value]) => [key, read(controls[key], value)]),
    );
  }
  const defaults = (controls) =>
    Object.fromEntries(Object.entries(controls).map(([key, control]) => [key, control.default]));

  /** What the presets say, before the visitor's own changes. */
  function presetValues() {
    const { spec, kept } = page, host = spec.hosts[kept.host], figure = spec.figures[kept.fig];
    return { ...defaults(spec.controls), ...(host && host.values), ...(figure && figure.values) };
  }
  const values = () => ({ ...presetValues(), ...named(page.kept.p, page.spec.controls) });
  const energyValues = () => ({ ...defaults(page.spec.energy), ...named(page.kept.e, page.spec.energy) });

  /** The text of values that differ from others, in the order of the controls. */
  function written(controls, given, normal) {
    return Object.keys(controls)
      .filter((key) => given[key] !== normal[key])
      .map((key) => key + ":" + write(given[key]))
      .join(",");
  }

  /** Whether a control takes a value; numbers within its range, whole where they must be. */
  function accepts(control, value) {
    if (control.isChoice) return control.range.includes(value);
    const [low, high] = control.range;
    return (
      Number.isFinite(value) &&
      value >= low &&
      value <= high &&
      (!control.isWhole || Number.isInteger(value))
    );
  }

  /** Change keys of the state and tell it. */
  function set(changes) {
    const keys = Object.keys(changes).filter((key) => String(page.kept[key]) !== String(changes[key]));
    if (!keys.length) return;
    Object.assign(page.kept, changes);
    tell(keys);
  }
  const setValue = (key, value) =>
    set({ p: written(page.spec.controls, { ...values(), [key]: value }, presetValues()) });
  const setEnergy = (key, value) =>
    set({ e: written(page.spec.energy, { ...energyValues(), [key]: value }, defaults(page.spec.energy)) });

  /* ---- curves */

  const schemeOf = (name) => page.spec.schemes.find((scheme) => scheme.name === name);

  /** The curves of the state: {label, scheme, hue, values by parameter}. */
  function curves() {
    const { spec, kept } = page, all = values(), figure = spec.figures[kept.fig];
    const asked = figure
      ? figure.curves
      : spec.schemes
          .filter(({ name }) => kept.scheme.split(",").includes(name))
          .map(({ name }) => ({ scheme: name }));
    return asked.map((one, number) => {
      const scheme = schemeOf(one.scheme);
      const own = Object.fromEntries(
        Object.entries(scheme.controls).map(([name, control]) => [name, all[control]]),
      );
      return {
        label: one.label || scheme.title, scheme, values: { ...own, ...one.over },
        hue: figure
          ? spec.hues[(number + (figure.curves[0].scheme === "ideal" ? 0 : 1)) % spec.hues.length]
          : scheme.hue,
      };
    });
  }

  /** What makes no sense together, as Python refuses it. */
  function isRefused({ values: p }) {
    return (
      (p.count > p.ring && p.delay_us === undefined) ||
      (p.poll_period_us !== undefined && p.poll_overhead_us >= p.poll_period_us)
    );
  }

  /** Arrival rates of the load axis, in Kpps. */
  function rates(points) {
    const { spec, kept } = page;
    const most = values().traffic === "bursty" ? Math.min(kept.to, spec.linkKpps) : Number(kept.to);
    const first = Math.min(1, most / points), step = (most - first) / (points - 1);
    return Array.from({ length: points }, (_, i) => first + i * step);
  }

  const memo = new Map(), MOST_KEPT = 120;
  /** The solutions of a curve in formulas: [{kind, rates, answers}]. The last ones are kept. */
  function solved(curve) {
    if (isRefused(curve)) return [];
    return wattlas.schemes
      .kinds(curve.scheme.name)
      .map((kind) => {
        const isSlow = curve.scheme.name === "count_coalescing" && kind === "exact" && curve.values.count > 1;
        // A held slider gets fewer points; all when it pauses.
        const part = !page.isDragging ? 1 : isSlow ? 4 : 2;
        const grid = rates(Math.ceil(page.spec.points / part));
        const key = JSON.stringify([curve.scheme.name, kind, curve.values, grid.length, page.kept.to]);
        if (!memo.has(key)) {
          const answers = grid.map((rate) =>
            wattlas.schemes.solve(curve.scheme.name, kind, rate, curve.values),
          );
          if (memo.size >= MOST_KEPT) memo.delete(memo.keys().next().value);
          memo.set(key, { kind, rates: grid, answers });
        }
        return memo.get(key);
      })
      .filter(({ answers }) => answers.every(Boolean));
  }

  /** The best solution of a curve at one rate: exact, else by the formula; null without either. */
  function solvedAt(curve, rate) {
    const kinds = isRefused(curve) ? [] : wattlas.schemes.kinds(curve.scheme.name);
    for (const kind of ["exact", "paper"].filter((one) => kinds.includes(one))) {
      const answer = wattlas.schemes.solve(curve.scheme.name, kind, rate, curve.values);
      if (answer) return { kind, ...answer };
    }
    return null;
  }

  /** The shown range of the load axis, Kpps. */
  function loadRange() {
    return page.kept.zoom ? page.kept.zoom.split("~").map(Number) : [0, Number(page.kept.to)];
  }

  /** The simulated results of a curve, by its label; null without any. */
  function simulatedOf(label) {
    const { labels, results } = page.simulated;
    if (!page.kept.sim) return null;
    return results.find((one) => !one.refused && labels[one.curve] === label) || null;
  }

  wattlas.models = {
    page, set, setValue, setEnergy, values, energyValues, presetValues, curves, solved, solvedAt, simulatedOf,
    rates, loadRange, accepts, schemeOf, defaults,
    onChange: (listener) => listeners.push(listener),
  };
})((window.wattlas = window.wattlas || {}));
