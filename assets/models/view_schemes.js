/* Schemes compared at the crosshair and along the load axis: shares of the CPU, a table, the best scheme. */
(function (wattlas) {
  "use strict";

  const { models, element } = wattlas;
  const { axis, entry, isP99, latencyField, layout, loadAxis, loadWords, message, three } =
    wattlas.modelsFigures;

  /* ---- at the crosshair */

  // Rows of the picture whose names fit below each other in the usual size.
  const MOST_LARGE = 8, SHARES = [
    ["interrupt_share", "interrupts, poll overhead", "#D55E00"],
    ["protocol_share", "protocol work", "#0072B2"],
    ["cpu_left", "users", "#B4BAC1"],
  ];

  /** How each scheme spends the CPU at the crosshair. */
  function stack() {
    const at = Number(models.page.kept.at);
    const rows = models.curves().map((curve) => (
      { label: curve.label, answer: models.solvedAt(curve, at)[0] || models.simulatedAt(curve.label) }
    )).filter(({ answer }) => answer).reverse();
    const missing = "No scheme is shown that has a solution here. Simulate, or show others.";
    if (!rows.length) return message(underWay() || missing);
    const y = rows.map(({ label }) => label), kinds = rows.map(({ answer }) => answer.kind);
    return {
      data: SHARES.map(([field, name, color]) => ({
        type: "bar", orientation: "h", y, x: rows.map(({ answer }) => 100 * answer[field]), name,
        marker: { color }, hoverinfo: "none", meta: { kind: "share", name, kinds },
      })),
      layout: layout(
        `CPU at ${loadWords(at)}`, SHARES.map(([, name, hue]) => entry(hue, "\u25A0", name)).join("  "),
        {
          barmode: "stack", bargap: 0.25, margin: { l: 8, r: 16, t: 46, b: 38 },
          xaxis: axis("share of the CPU, %", { range: [0, 100], ticklabelstandoff: 2, automargin: true }),
          yaxis: { automargin: true, dtick: 1, tickfont: { size: rows.length > MOST_LARGE ? 9 : 12 } },
        },
      ),
    };
  }
  /** What a running simulation says of itself; empty without one. */
  const underWay = () => (models.isRunning() ? models.page.simulated.words || "simulation begins" : "");

  const PERCENT = 100, LEAST_LOSS_SHARE = 1e-4;
  const HEAD = ["scheme", "CPU left, %", "mean, us", "p99, us", "loss, %", "how known"];
  const cell = (tag, textContent, className = "") => element(tag, { textContent, className });

  /** A value with half of its 95 % interval. */
  function spread(answer, field, scale) {
    const value = answer[field], half = answer[field + "_half_width"];
    if (value === undefined || value === null) return "\u2013";
    if (field === "loss_share" && value < LEAST_LOSS_SHARE) return "< 0.01";
    return three(value * scale) + (Number.isFinite(half) ? ` \u00B1 ${three(half * scale)}` : "");
  }
  function known({ kind, isNearest, rates_kpps: rate, is_slow: isSlow, is_first: isFirst }) {
    if (kind !== "simulated") return kind;
    const how = isFirst ? "first pass" : isSlow && "slow to converge";
    return [kind, isNearest && `at ${three(rate)} Kpps`, how].filter(Boolean).join(", ");
  }
  const FIELDS = [
    ["cpu_left", PERCENT], ["latency_mean_us", 1], ["latency_p99_us", 1], ["loss_share", PERCENT],
  ];

  /** What all solutions of all shown schemes say at the crosshair. */
  function crosshairTable(simulate) {
    const at = Number(models.page.kept.at), { labels, words } = models.unsimulated();
    const rows = models.curves().flatMap((curve) => {
      const answers = [...models.solvedAt(curve, at), models.simulatedAt(curve.label)].filter(Boolean);
      const name = element("th", {}, sign(curve), curve.label);
      if (!answers.length) {
        const button = element("button", { className: "plain models-needs", textContent: words,
          onclick: simulate });
        const why = models.isRunning() ? "simulating" : button;
        const last = labels.includes(curve.label) ? why : "refuses these parameters";
        const none = FIELDS.map(() => cell("td", "\u2013", "number"));
        return [element("tr", {}, name, ...none, element("td", {}, last))];
      }
      return answers.map((answer, i) => element(
        "tr", {}, i ? cell("th", "") : name,
        ...FIELDS.map(([field, scale]) => cell("td", spread(answer, field, scale), "number")),
        cell("td", known(answer)),
      ));
    });
    const caption = cell("caption", `Schemes at ${loadWords(at)}, \u00B1 95 %`);
    const head = element("thead", {}, element("tr", {}, ...HEAD.map((title, i) => cell("th", title,
      i % 5 ? "number" : ""))));
    return element(
      "table", { className: "best models-crosshair-table" }, caption, head, element("tbody", {}, ...rows),
    );
  }
  const sign = ({ hue }) => element("span", { textContent: "\u25A0 ", style: "color:" + hue });

  /* ---- the best scheme along the load axis */

  const TIE = "#B4BAC1", TIE_SHARE = 0.005;

  /** The schemes that the strip compares (the ideal one is no choice), each by its best solution. */
  function contenders() {
    const isSimulated = isP99();
    return models.curves().filter(({ scheme }) => scheme.name !== "ideal").map((curve) => {
      const solutions = isSimulated ? [] : models.solved(curve), simulated = fromSimulation(curve);
      const best = solutions.find(({ kind }) => kind === "exact") || (simulated ? null : solutions[0]);
      return { curve, set: best ? fromFormula(curve, best) : simulated };
    });
  }
  const fromFormula = (curve, { kind, rates, answers }) => ({
    curve, kind, rates, latency: answers.map((one) => one.latency_mean_us),
    left: answers.map((one) => one.cpu_left),
  });
  function fromSimulation(curve) {
    const found = models.simulatedOf(curve.label);
    return found && {
      curve, kind: "simulated", rates: found.rates_kpps, latency: found[latencyField()],
      left: found.cpu_left, half: found.cpu_left_half_width,
    };
  }

  /** At each rate the two schemes that leave most CPU among those within the latency limit. */
  function winners() {
    const limit = Number(models.page.kept.under), sets = contenders().map(({ set }) => set).filter(Boolean);
    if (!sets.length) return [];
    const longest = sets.reduce((one, other) => (other.rates.length > one.rates.length ? other : one));
    return longest.rates.map((rate) => {
      const able = sets.map(({ curve, kind, rates, ...columns }) => {
        const at = (values) => between(rates, values, rate), { latency, left, half } = columns;
        return { curve, kind, latency: at(latency), left: at(left), half: half ? at(half) : TIE_SHARE / 2 };
      }).filter(({ latency }) => latency !== null && latency <= limit).sort((a, b) => b.left - a.left);
      const [best, second] = able;
      const isTie = Boolean(second) && best.left - second.left <= best.half + second.half;
      return { rate, best, second, isTie };
    });
  }
  /** The value at a rate, linearly between those of two rates; null outside of them. */
  function between(rates, values, rate) {
    const after = rates.findIndex((one) => one >= rate - 1e-9);
    if (after < 0 || (after === 0 && rates[0] > rate + 1e-9)) return null;
    if (after === 0 || rates[after] <= rate + 1e-9) return values[after];
    const low = values[after - 1], high = values[after];
    const share = (rate - rates[after - 1]) / (rates[after] - rates[after - 1]);
    return low === null || high === null ? null : low + share * (high - low);
  }

  /** Which solution the strip takes where it is not the exact one, and which schemes have none. */
  function solutionWords() {
    const all = contenders().map(({ curve, set }) => ({ label: curve.label, kind: set ? set.kind : "none" }));
    const named = (kind) => all.filter((one) => one.kind === kind).map(({ label }) => label).join(", ");
    const paper = named("paper"), none = named("none");
    const simulated = models.isRunning() ? "not simulated yet" : "not simulated";
    return [paper && `by the paper's formula: ${paper}`, none && `${simulated}: ${none}`].filter(Boolean);
  }

  function strip() {
    const rows = winners(), limit = three(Number(models.page.kept.under));
    const what = isP99() ? "p99" : "mean latency";
    if (!rows.length) return message(underWay() || `No solution has a ${what} here: simulate first.`);
    const width = rows.length > 1 ? rows[1].rate - rows[0].rate : 1, groups = new Map();
    for (const row of rows.filter(({ best }) => best)) {
      const { label, hue } = row.best.curve, name = row.isTie ? "tie" : label;
      if (!groups.has(name)) groups.set(name, { color: row.isTie ? TIE : hue, rows: [] });
      groups.get(name).rows.push(row);
    }
    const legend = [...groups].map(([name, { color }]) => entry(color, "\u25A0", name));
    const missed = rows.every(({ best }) => best) ? [] : ["\u25A1 none meets the limit"];
    return {
      data: [...groups].map(([name, { color, rows: mine }]) => ({
        type: "bar", x: mine.map(({ rate }) => rate), y: mine.map(() => 1), name, width,
        marker: { color, line: { width: 0 } }, hoverinfo: "none",
        meta: { kind: "winner", words: mine.map(winnerWords) },
      })),
      layout: layout(
        `Most CPU left with ${what} up to ${limit} us`, [...legend, ...missed, ...solutionWords()].join("  "),
        {
          xaxis: loadAxis({ fixedrange: true }),
          yaxis: { visible: false, range: [0, 1], fixedrange: true }, bargap: 0, barmode: "overlay",
          margin: { l: 52, r: 12, t: 44, b: 40 },
        },
      ),
    };
  }
  function winnerWords({ rate, best, second, isTie }) {
    const words = ({ curve, kind, left, latency }) =>
      `${curve.label}, ${kind}: ${three(100 * left)} % left, ${three(latency)} us`;
    const title = `${loadWords(rate)}: ${isTie ? "tie" : best.curve.label}`;
    return [title, words(best), second ? words(second) : "no other meets it"];
  }

  wattlas.modelsSchemes = { stack, best: strip, crosshairTable };
})((window.wattlas = window.wattlas || {}));
