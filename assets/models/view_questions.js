/* The four questions that the tab Interrupts opens with: a sentence with numbers, and the picture of it. */
(function (wattlas) {
  "use strict";

  const { models, element } = wattlas, { three, loadWords, runsOf, ratioOf } = wattlas.modelsFigures;
  const PER_KPPS = 1e-3, US_PER_ITR_US = 1.024, ITR_STEP_US = 2, STEPS = 40, LONGEST_US = 1e4,
    HIGH_SHARE = 1.3;
  // Bursty traffic has no formulas.
  const arrivals = () => (models.isBursty() ? "With Poisson arrivals: " : "");
  const SAME_SHARE = 5e-4, times = (ratio) => `${ratio.toPrecision(3)} times`;
  const percent = (share) => `${three(Math.round(1e4 * share) / 100)} %`;
  const thousand = (perS) => `${three(perS / 1e3)}k`;
  const solve = (name, kind, rate, p) => wattlas.schemes.solve(name, kind, rate, p);

  /* ---- which ITR */

  /** Packets that share an interrupt, and the mean wait, at low load: bounds at any load. */
  function throttled(rate, delayUs) {
    const packets = rate * delayUs + Math.exp(-rate * delayUs);
    return { perS: (rate / packets) * 1e6, waitUs: (rate * delayUs ** 2) / 2 / packets };
  }
  /** The longest delay within the limit: the mean without a delay, and the mean wait. */
  function longestItr(kpps, limitUs, p) {
    const rate = kpps * PER_KPPS, first = solve("disable_enable", "exact", kpps, { ...p, setup: "parts" });
    if (first.latency_mean_us > limitUs) return { first, itrUs: null };
    let low = 0, high = LONGEST_US;
    for (let i = 0; i < STEPS; i += 1) {
      const middle = (low + high) / 2;
      if (first.latency_mean_us + throttled(rate, middle).waitUs <= limitUs) low = middle;
      else high = middle;
    }
    const itrUs = Math.floor(low / US_PER_ITR_US / ITR_STEP_US) * ITR_STEP_US;
    const { perS, waitUs } = throttled(rate, itrUs * US_PER_ITR_US);
    const left = 1 - rate * p.service_us - perS * 1e-6 * (p.interrupt_us + p.register_us);
    return { first, itrUs, perS, meanUs: first.latency_mean_us + waitUs, left: Math.max(left, 0) };
  }
  function itrWords() {
    const p = models.values(), at = Number(models.page.kept.at), limit = Number(models.page.kept.under);
    const { first, itrUs, perS, meanUs, left } = longestItr(at, limit, p);
    const without = `${three(first.latency_mean_us)} us`;
    if (itrUs === null) {
      return `At ${loadWords(at)} a queue none: without any delay the mean is ${without}, over ` +
        `${three(limit)} us.`;
    }
    return `At ${loadWords(at)} a queue an ITR up to ${itrUs} us keeps the mean latency within ` +
      `${three(limit)} us ` +
      `(at most ${three(meanUs)}; ${without} without delay), with at most ${thousand(perS)} interrupts a ` +
      `second ` +
      `instead of ${thousand(first.interrupts_per_s)} and ${percent(left)} of the CPU left instead of ` +
      `${percent(first.cpu_left)}. Bounds by the low-load formula.`;
  }

  /* ---- when polling pays */

  const pollsLeft = (kpps, p) => wattlas.schemes.pollingShares(kpps * PER_KPPS, p).left;
  const ownLeft = (kpps, p) => solve("disable_enable", "exact", kpps, p).cpu_left;
  /** The rate above which pure polling leaves more CPU than disable-enable; null: it never does. */
  function pollingPays(p) {
    const most = (HIGH_SHARE / p.service_us) * 1e3, isMore = (kpps) => pollsLeft(kpps, p) > ownLeft(kpps, p);
    const grid = Array.from({ length: 24 }, (_, i) => (most * (i + 1)) / 24);
    const last = grid.findLastIndex((kpps) => !isMore(kpps));
    if (last === grid.length - 1) return null;
    let low = last < 0 ? 0 : grid[last], high = grid[last + 1];
    for (let i = 0; i < 12; i += 1) {
      const middle = (low + high) / 2;
      if (isMore(middle)) high = middle;
      else low = middle;
    }
    return high;
  }
  function pollingWords() {
    const p = models.values(), at = Number(models.page.kept.at), most = 1e3 / p.service_us;
    if (p.poll_overhead_us >= p.poll_period_us) return "Never: the overhead of a poll fills the period.";
    const from = pollingPays(p), top = 1e3 * wattlas.schemes.pollingShares(Infinity, p).most;
    const latency = (name, kind) => three(solve(name, kind, at, p).latency_mean_us);
    const price = `at ${loadWords(at)} the mean latency is ${latency("pure_polling", "paper")} against ` +
      `${latency("disable_enable", "exact")} us, and throughput ends at ${three(top)} instead of ` +
      `${three(most)} Kpps`;
    if (from === null) {
      return "Not with these parameters: pure polling leaves no more CPU than disable-enable up to " +
        `${three(HIGH_SHARE * most)} Kpps; ${price}.`;
    }
    const left = (kpps) => `${percent(pollsLeft(kpps, p))} against ${percent(ownLeft(kpps, p))}`;
    return `From ${three(from)} Kpps on pure polling leaves more CPU than disable-enable: ${left(at)} at ` +
      `${loadWords(at)}, ${left(most)} at ${three(most)} Kpps. The price: ${price}. The proposed hybrid ` +
      `polls ` +
      `from ${three(p.switch_kpps)} Kpps on.`;
  }

  /* ---- the formula against the exact answer */

  const DOUBLE = ["normal", "count_coalescing"];
  /** Of a scheme the ratio of the exact mean latency to the formula's, at the crosshair and at its most. */
  function ratios(name, title) {
    const { spec, kept } = models.page, all = models.values(), at = Number(kept.at);
    const { controls } = spec.schemes.find((one) => one.name === name);
    const values = Object.fromEntries(Object.entries(controls).map(([key, control]) => [key, all[control]]));
    const curve = { scheme: { name }, values, kinds: ["paper", "exact"] };
    const here = Object.fromEntries(models.solvedAt(curve, at).map(({ kind, ...answer }) => [kind, answer]));
    const [paper, exact] = ["paper", "exact"].map((kind) => models.solved(curve).find((one) =>
      one.kind === kind));
    if (!here.exact || !here.paper || !exact || !paper) return null;
    const each = exact.answers.map((one, i) => one.latency_mean_us / paper.answers[i].latency_mean_us);
    const off = each.map((ratio) => Math.abs(Math.log(ratio))), i = off.indexOf(Math.max(...off));
    return { title, here, most: each[i], mostAt: exact.rates[i] };
  }
  function exactWords() {
    const { spec, kept } = models.page, titleOf = (name) => spec.schemes.find((one) =>
      one.name === name).title;
    const found = DOUBLE.map((name) => ratios(name, titleOf(name))).filter(Boolean);
    if (!found.length) return "No scheme has both with these parameters.";
    const parts = found.map(({ title, here: { paper, exact }, most, mostAt }) =>
      `${times(exact.latency_mean_us / paper.latency_mean_us)} the formula's for ${title} ` +
      `(${three(exact.latency_mean_us)} against ${three(paper.latency_mean_us)} us; furthest off, ` +
      `${times(most)}, ` +
      `at ${three(mostAt)} Kpps)`);
    const left = Math.max(...found.map(({ here: { paper,
      exact } }) => Math.abs(exact.cpu_left - paper.cpu_left)));
    const differs = `CPU left differs by up to ${three(100 * left)} points`;
    const leftWords = left < SAME_SHARE ? "CPU left is the same" : differs;
    return `At ${loadWords(Number(kept.at))} the exact mean latency is ${parts.join(" and ")}. ` +
      `${leftWords}; ` +
      "disable-enable is the same in both.";
  }

  /* ---- the runs */

  const quantile = (sorted, share) => sorted[Math.round(share * (sorted.length - 1))];
  /** Measured over predicted of a panel's configurations; null without any. */
  function measuredRatio(name) {
    const found = runsOf(name).map(ratioOf).filter(Number.isFinite).sort((a, b) => a - b);
    if (!found.length) return null;
    return { n: found.length, low: quantile(found, 0.1), middle: quantile(found, 0.5), high: quantile(found,
      0.9) };
  }
  function runsWords() {
    const { runs, kept } = models.page;
    if (!kept.runs) return "Runs are not shown.";
    const absent = models.absence("runs") || (runs.runs ? "" : runs.words);
    if (absent) return absent;
    const parts = [
      ["itr", "interrupts are", "the throttle formula's"],
      ["cpu", "CPU left is", "what the costs of the sliders leave"],
      ["latency", "mean latency (else p50) is", "the wait for the interrupt and one constant a system"],
    ].map(([name, words, whose]) => ({ words, whose, found: measuredRatio(name) })).filter(({ found }) =>
      found);
    const whole = (count) => count.toLocaleString("en");
    const count = `${whole(runs.runs)} runs, ${whole(runs.points.lam_kpps.length)} configurations`;
    if (!parts.length) return `${count}: none with a fixed ITR and interrupts.`;
    const said = parts.map(({ words, whose, found: { n, low, middle, high } }) =>
      `${words} ${times(middle)} ${whose} (80 % of ${n} within ${low.toPrecision(3)} to ` +
      `${high.toPrecision(3)})`);
    return `${count}: ${said.join("; ")}.`;
  }

  /* Each question: words, and what a click shows: a state, the picture, whether it needs a simulation. */
  const QUESTIONS = [
    ["Which ITR at my load?", itrWords, { fig: "itr" }, "latency"],
    ["When does polling pay?", pollingWords, { fig: "", scheme: "disable_enable,pure_polling,hybrid" },
      "cpu"],
    [
      "How far is the formula from the exact answer?", exactWords,
      { fig: "", scheme: "normal,count_coalescing" }, "latency",
    ],
    ["What do my runs say?", runsWords, { runs: true }, "itr"],
  ];

  /** Write the questions; `show` is called with a state, a picture's name. */
  function write(root, show) {
    root.replaceChildren(...QUESTIONS.map(([title, words, state, picture]) => element(
      "article", { className: "models-question" },
      element("h2", { textContent: title }), element("p", { textContent: (words === runsWords ? "" :
        arrivals()) + words() }),
      element("button", {
        className: "plain", textContent: "show", onclick: () => show(state, picture),
        attributes: { "aria-label": `show: ${title}` },
      }),
    )));
    wattlas.oneStops(root);
  }

  wattlas.modelsQuestions = { write };
})((window.wattlas = window.wattlas || {}));
