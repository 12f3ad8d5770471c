/* Energy and latency of a request by frequency, as in data/models/energy.py. */
(function (wattlas) {
  "use strict";

  const ROUNDING = 1e-12;
  const workPower = (p, d) => p.static_w + p.dynamic_w * d ** (2 + p.beta);

  /** One point of the curve; null values where the machine is saturated. */
  function at(p, d) {
    const work = p.work_us / d ** (1 + p.alpha), latency = p.detect_us + work;
    if (latency > p.interval_us * (1 + ROUNDING)) return { dvfs: d, latency_us: null, energy_uj: null };
    const detect = p.detection === "busy" ? workPower(p, d) : 0;
    const energy = detect * p.detect_us + workPower(p, d) * work + p.sleep_w * (p.interval_us - latency);
    return { dvfs: d, latency_us: latency, energy_uj: energy };
  }

  /** Below this frequency the machine is saturated. */
  function slowest(p) {
    const left = p.interval_us - p.detect_us;
    if (left <= 0) return Infinity;
    if (p.alpha === -1) return p.work_us <= left ? 0 : Infinity;
    return (p.work_us / left) ** (1 / (1 + p.alpha));
  }

  /** The frequency of least energy of the work in low..1; NaN where all of it is saturated. */
  function best(p, low) {
    const from = Math.max(low, slowest(p));
    if (from > 1) return NaN;
    const awake = p.static_w - p.sleep_w, bends = p.dynamic_w * (1 + p.beta - p.alpha);
    if (bends > 0 && awake > 0 && p.alpha > -1) {
      return Math.min(Math.max(((awake * (1 + p.alpha)) / bends) ** (1 / (2 + p.beta)), from), 1);
    }
    const work = (d) => (awake + p.dynamic_w * d ** (2 + p.beta)) / d ** (1 + p.alpha);
    return work(from) <= work(1) ? from : 1;
  }

  wattlas.energyModel = { at, slowest, best };
})((window.wattlas = window.wattlas || {}));
