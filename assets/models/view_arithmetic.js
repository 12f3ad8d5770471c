/*
 * Finite queues and cycles of idle and work, as in data/models/queues.py and cycle.py: positive terms only.
 * Rates are in packets per microsecond.
 */
(function (wattlas) {
  "use strict";

  const HUGE = 1e30, SATURATED = 600;
  function sum(values) {
    let total = 0;
    for (let n = 0; n < values.length; n += 1) total += values[n];
    return total;
  }

  /** ratio^n for n = 0..last, scaled so that the greatest is 1. */
  function geometric(ratio, last) {
    const found = new Float64Array(last + 1);
    let power = 1;
    for (let n = 0; n <= last; n += 1) {
      found[ratio <= 1 ? n : last - n] = power;
      power = ratio <= 1 ? power * ratio : power / ratio;
    }
    return found;
  }

  /** Sum of n * values[n]. */
  function moment(values, first = 0) {
    let total = 0;
    for (let n = 0; n < values.length; n += 1) total += (n + first) * values[n];
    return total;
  }

  function mm1b(load, ring) {
    const weights = geometric(load, ring), total = sum(weights);
    return {
      empty: weights[0] / total, busy: sum(weights.subarray(1)) / total, full: weights[ring] / total,
      packets: moment(weights) / total,
    };
  }

  /** P(N >= k) for k = 0..last, N Poisson: by summing the terms from the far end. */
  function poissonTails(mean, last) {
    const tails = new Float64Array(last + 1);
    tails[0] = 1;
    if (mean <= 0) return tails;
    const reach = Math.ceil(mean + 14 * Math.sqrt(mean) + 60), terms = new Float64Array(reach + 1);
    const mode = Math.floor(mean);
    terms[mode] = 1;
    for (let k = mode; k > 0; k -= 1) terms[k - 1] = (terms[k] * k) / mean;
    for (let k = mode; k < reach; k += 1) terms[k + 1] = (terms[k] * mean) / (k + 1);
    for (let k = reach - 1; k >= 0; k -= 1) terms[k] += terms[k + 1];
    for (let k = 1; k <= Math.min(last, reach); k += 1) tails[k] = terms[k] / terms[0];
    return tails;
  }

  function md1b(load, ring) {
    let left = new Float64Array(ring);
    if (load > SATURATED) left[ring - 1] = 1;
    else left = leftBehind(load, ring);
    const scale = left[0] + load;
    return {
      empty: left[0] / scale, busy: load / scale, full: Math.max(scale - 1, 0) / scale,
      packets: (moment(left) + ring * (scale - 1)) / scale,
    };
  }

  function leftBehind(load, ring) {
    const left = new Float64Array(ring), none = Math.exp(-load);
    const reach = Math.min(ring + 1, Math.trunc(load + 14 * Math.sqrt(load) + 60));
    const tails = poissonTails(load, reach + 1), known = tails.length;
    left[0] = 1;
    let first = 0;
    for (let n = 0; n < ring - 1; n += 1) {
      let found = n + 1 < known ? left[0] * tails[n + 1] : 0;
      for (let j = Math.max(1, first, n + 3 - known); j <= n; j += 1) found += left[j] * tails[n + 2 - j];
      left[n + 1] = found / none;
      if (left[n + 1] > HUGE) {
        const largest = left[n + 1];
        for (let j = first; j <= n + 1; j += 1) left[j] /= largest;
        while (left[first] === 0) first += 1;
      }
    }
    const total = sum(left);
    return left.map((value) => value / total);
  }

  /** x[n] = ratio x[n-1] + inputs[n] from x[-1] = 0, times a factor of at most 1. */
  function recur(ratio, inputs) {
    const last = inputs.length - 1, values = new Float64Array(last + 1);
    let before = 0;
    if (ratio <= 1) {
      for (let n = 0; n <= last; n += 1) values[n] = before = ratio * before + inputs[n];
      return { values, factor: 1 };
    }
    const powers = geometric(1 / ratio, last);
    for (let n = 0; n <= last; n += 1) {
      before += inputs[n] * powers[n];
      values[n] = before * powers[last - n];
    }
    return { values, factor: powers[last] };
  }

  /** A stage that begins with `start` packets: mean times with n packets, and how it ends. */
  function gather(rate, ring, start, constant, mean) {
    const room = ring - start, tails = poissonTails(rate * constant, room + 1);
    const times = new Float64Array(ring + 1), ends = new Float64Array(ring + 1);
    let spent = 0;
    for (let k = 0; k < room; k += 1) {
      times[start + k] = tails[k + 1] / rate;
      spent += times[start + k];
      ends[start + k] = Math.max(tails[k] - tails[k + 1], 0);
    }
    times[ring] = Math.max(constant - spent, 0);
    ends[ring] = tails[room];
    if (mean === 0) return { times, ends };
    const more = (rate * mean) / (1 + rate * mean), { values } = recur(more, ends);
    for (let n = 0; n <= ring; n += 1) {
      const stay = n < ring ? values[n] * (1 - more) * mean : values[ring] * mean;
      times[n] += stay;
      ends[n] = stay / mean;
    }
    return { times, ends };
  }

  /** Shares of a cycle of stages, [mean number of times, stage], then work until the ring is empty. */
  function close(rate, service, ring, stages, idle) {
    const outside = new Float64Array(ring + 1), above = new Float64Array(ring);
    for (const [times, stage] of stages) {
      for (let n = 0; n <= ring; n += 1) outside[n] += times * stage.times[n];
    }
    let entered = 0;
    for (let n = ring; n > 0; n -= 1) {
      for (const [times, stage] of stages) entered += times * stage.ends[n];
      above[n - 1] = service * entered;
    }
    const { values, factor } = recur(rate * service, above);
    const scaled = outside.map((value) => value * factor);
    const length = idle * factor + sum(scaled) + sum(values);
    return {
      perUs: factor / length, work: sum(values) / length, full: (scaled[ring] + values[ring - 1]) / length,
      packets: (moment(scaled) + moment(values, 1)) / length,
    };
  }

  wattlas.queues = { geometric, moment, sum, mm1b, md1b, recur, gather, close };
})((window.wattlas = window.wattlas || {}));
