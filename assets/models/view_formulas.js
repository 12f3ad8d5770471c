/*
 * The solutions in formulas of data/models/schemes/, for curves that follow a slider. Each takes an
 * arrival rate (packets per microsecond) and the parameters; a test compares all of them with Python.
 */
(function (wattlas) {
  "use strict";

  const { geometric, moment, sum, mm1b, md1b, recur, gather, close } = wattlas.queues;
  const PER_KPPS = 1e-3, MOST_COUNT = 64;

  /** An answer in units of users; latency by Little's law where it is not given. */
  const answer = ({ throughput, left, interrupt, protocol, loss, packets, latency, interrupts }) => ({
    throughput_kpps: throughput / PER_KPPS, cpu_left: left, interrupt_share: interrupt,
    protocol_share: protocol, loss_share: loss,
    latency_mean_us: latency === undefined ? packets / throughput : latency,
    interrupts_per_s: interrupts * 1e6,
  });

  function ideal(rate, p) {
    const queue = mm1b(rate * p.service_us, p.ring);
    return answer({
      throughput: queue.busy / p.service_us, left: queue.empty, interrupt: 0, protocol: queue.busy,
      loss: queue.full, packets: queue.packets, interrupts: 0,
    });
  }

  function normalPaper(rate, p, count = 1) {
    const taken = (rate * p.interrupt_us) / (rate * p.interrupt_us + count),
      service = p.service_us / (1 - taken);
    const queue = mm1b(rate * service, p.ring), throughput = queue.busy / service;
    return answer({
      throughput, left: (1 - taken) * queue.empty, interrupt: taken, protocol: throughput * p.service_us,
      loss: queue.full, interrupts: rate / (rate * p.interrupt_us + count),
      latency: (count - 1) / (2 * rate) + p.interrupt_us + queue.packets / throughput,
    });
  }

  function normalExact(rate, p) {
    const { ring } = p, work = rate * p.service_us, isr = rate * p.interrupt_us, during = isr / (1 + isr);
    const sums = geometric(work + during, ring - 1);
    const working = new Float64Array(ring), interrupted = new Float64Array(ring);
    for (let n = 0; n < ring; n += 1) {
      working[n] = work * sums[n];
      interrupted[n] =
        n < ring - 1 ? during * sums[n] : isr * (sums[n] + (p.drops_interrupt ? working[n] : 0));
    }
    const total = sums[0] + sum(working) + sum(interrupted);
    const busy = sum(working) / total, share = sum(interrupted) / total, last = working[ring - 1] / total;
    return answer({
      throughput: busy / p.service_us, left: sums[0] / total, interrupt: share, protocol: busy,
      loss: last + interrupted[ring - 1] / total,
      packets: (moment(working, 1) + moment(interrupted, 1)) / total,
      interrupts: rate * (1 - share - (p.drops_interrupt ? 0 : last)),
    });
  }

  function joint(rate, p) {
    const { ring, service_us: service } = p, long = p.register_us + p.interrupt_us + service;
    const load = rate * service, more = (rate * long) / (1 + rate * long);
    const first = geometric(more, ring), inputs = new Float64Array(ring);
    first[ring] = rate * long * first[ring - 1];
    for (let n = 0; n < ring - 1; n += 1) inputs[n] = load * more * first[n];
    const { values, factor } = recur(load, inputs), scaled = first.map((value) => value * factor);
    const total = sum(scaled) + sum(values), own = service / long;
    const inFirst = sum(scaled.subarray(1)) / total, later = sum(values) / total;
    return answer({
      throughput: inFirst / long + later / service, left: scaled[0] / total, interrupt: (1 - own) * inFirst,
      protocol: own * inFirst + later, loss: (scaled[ring] + values[ring - 1]) / total,
      packets: (moment(scaled) + moment(values, 1)) / total, interrupts: (rate * scaled[0]) / total,
    });
  }

  const ofCycle = (cycle, p, left, overhead, interrupts) =>
    answer({
      throughput: cycle.work / p.service_us, left: left * cycle.perUs, interrupt: overhead * cycle.perUs,
      protocol: cycle.work, loss: cycle.full, packets: cycle.packets, interrupts: interrupts * cycle.perUs,
    });

  function parts(rate, p) {
    const setup = gather(rate, p.ring, 1, p.register_us, p.interrupt_us);
    const cycle = close(rate, p.service_us, p.ring, [[1, setup]], 1 / rate);
    return ofCycle(cycle, p, 1 / rate, p.register_us + p.interrupt_us, 1);
  }

  /** The greatest rate that polls serve, and the shares of the CPU, which need no queue. */
  function pollingShares(rate, p) {
    const overhead = p.poll_overhead_us / p.poll_period_us, free = p.poll_period_us - p.poll_overhead_us;
    const most = p.quota * p.service_us <= free ? p.quota / p.poll_period_us : (1 - overhead) / p.service_us;
    const work = Math.min(rate, most) * p.service_us;
    return { most, overhead, work, left: 1 - overhead - work };
  }

  function polling(rate, p) {
    const { most, overhead, work, left } = pollingShares(rate, p), queue = md1b(rate / most, p.ring);
    const throughput = most * queue.busy, wait = p.poll_period_us * (p.wait === "mean" ? 0.5 : 1);
    return answer({
      throughput, left, interrupt: overhead, protocol: work, loss: queue.full,
      latency: queue.packets / throughput + queue.empty * wait, interrupts: 0,
    });
  }

  function countExact(rate, p) {
    if (p.count === 1) return normalExact(rate, p);
    if (p.count > MOST_COUNT || p.interrupt_us === 0) return null;
    const found = wattlas.countChain(
      rate, p.service_us, p.interrupt_us, p.ring, p.count, p.take === "gated", p.drops_interrupt,
    );
    return answer({
      throughput: found.work / p.service_us, left: found.idle, interrupt: found.interrupt,
      protocol: found.work, loss: found.full, packets: found.packets,
      interrupts: found.interrupt / p.interrupt_us,
    });
  }

  const timePaper = (rate, p) => normalPaper(rate, p, Math.max(1, Math.ceil(rate * p.delay_us - 1e-9)));
  const hybrid = (rate, p) => (rate < p.switch_kpps * PER_KPPS ? joint(rate, p) : polling(rate, p));

  function deferral(rate, p, firstLook = 0) {
    const { ring } = p, atOnce = gather(rate, ring, 0, firstLook, 0);
    const look = gather(rate, ring, 0, p.delay_us, p.poll_overhead_us);
    const setup = gather(rate, ring, 1, p.register_us, p.interrupt_us), empty = look.ends[0];
    const inVain = atOnce.ends[0] * empty ** p.count;
    let looks = 0, power = atOnce.ends[0];
    for (let n = 0; n < p.count; n += 1) {
      looks += power;
      power *= empty;
    }
    const stages = [[1, atOnce], [looks, look], [inVain, setup]];
    const cycle = close(rate, p.service_us, ring, stages, inVain / rate);
    const overhead = firstLook + looks * p.poll_overhead_us + inVain * (p.register_us + p.interrupt_us);
    return ofCycle(cycle, p, looks * p.delay_us + inVain / rate, overhead, inVain);
  }

  function busyPolling(rate, p) {
    const look = gather(rate, p.ring, 0, p.poll_overhead_us, 0), found = 1 - look.ends[0];
    const entered = found > 0 ? [[1 / found, look]] : [[1, gather(rate, p.ring, 1, 0, 0)]];
    const idle = found > 0 ? p.poll_overhead_us / found : 1 / rate;
    const cycle = close(rate, p.service_us, p.ring, entered, found > 0 ? 0 : 1 / rate);
    return ofCycle(cycle, p, 0, idle, 0);
  }

  const SOLUTIONS = {
    ideal: { paper: ideal, exact: ideal },
    normal: { paper: (rate, p) => normalPaper(rate, p), exact: normalExact },
    disable_enable: { paper: joint, exact: (rate, p) => (p.setup === "parts" ? parts : joint)(rate, p) },
    pure_polling: { paper: polling },
    count_coalescing: { paper: (rate, p) => normalPaper(rate, p, p.count), exact: countExact },
    time_coalescing: { paper: timePaper }, hybrid: { paper: hybrid },
    deferral: { exact: (rate, p) => deferral(rate, p) },
    busy_polling: { exact: busyPolling },
    irq_suspension: { exact: (rate, p) => deferral(rate, p, p.poll_overhead_us) },
  };

  /** Kinds that a scheme has in formulas. */
  const kinds = (name) => Object.keys(SOLUTIONS[name] || {});
  /** The answer at one rate in Kpps; null where the solution does not go so far. */
  const solve = (name, kind, kpps, values) => SOLUTIONS[name][kind](kpps * PER_KPPS, values);

  wattlas.schemes = { kinds, solve, pollingShares };
})((window.wattlas = window.wattlas || {}));
