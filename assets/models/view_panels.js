/* The figures of the tab Interrupts: traces and layouts out of the state. Pure: state in, figure out. */
(function (wattlas) {
  "use strict";

  const { models } = wattlas;
  const PANELS = {
    throughput: { field: "throughput_kpps", title: "Throughput", unit: "Kpps", better: "more", scale: 1 },
    cpu: { field: "cpu_left", title: "CPU left for users", unit: "%", better: "more", scale: 100 },
    latency: { field: "latency_mean_us", title: "Latency", unit: "us", better: "less", scale: 1 },
    loss: { field: "loss_share", title: "Loss", unit: "%", better: "less", scale: 100 },
  };
  const LOG = { type: "log", dtick: 1, tickformat: "~s" }, LEAST_LOSS_PCT = 0.01;
  const three = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(3))) : "\u2013");
  const isP99 = () => models.page.kept.latency === "p99";

  /* ---- parts of all figures of Models */

  function layout(title, subtitle, more) {
    return {
      title: {
        text: `${title}<br><span style="font-size:11px">${subtitle}</span>`, font: { size: 13 }, x: 0,
        xref: "container", xanchor: "left", pad: { l: 10, t: 15 }, y: 1, yanchor: "top",
      },
      font: { family: wattlas.FONT, size: 11 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 52, r: 12, t: 46, b: 36 }, hovermode: "closest", showlegend: false,
      ...more,
      meta: { kind: "models" },
    };
  }
  const axis = (title, more = {}) => ({ title: { text: title, standoff: 6 }, zeroline: false, ...more });

  /** A trace of points or lines. The card at the pointer takes the place of Plotly's hover. */
  const scatter = (mode, x, y, meta, more) =>
    ({ type: "scatter", mode, x, y, meta, hoverinfo: "none", ...more });

  /** The line on which the values of both axes are equal. */
  function equalLine(values) {
    const ends = [Math.min(...values), Math.max(...values)], line = { color: "page", width: 1, dash: "dot" };
    return scatter("lines", ends, ends, { kind: "equal" }, { line, hoverinfo: "skip" });
  }

  /** An entry of a legend within a subtitle: a coloured sign and words. */
  const entry = (hue, sign, words) => `<span style="color:${hue}">${sign}</span> ${words}`;

  /** A figure with a sentence in place of a picture. */
  function message(sentence) {
    const text = sentence.replace(/(.{30,52}?)\s/g, "$1<br>"), at = { xref: "paper", yref: "paper" };
    const annotations = [{ ...at, x: 0.5, y: 0.5, text, showarrow: false, font: { size: 12 } }];
    const hidden = { visible: false };
    return { data: [], layout: layout("", "", { xaxis: hidden, yaxis: hidden, annotations }) };
  }

  /* ---- panels against load */

  const latencyField = () => (isP99() ? "latency_p99_us" : "latency_mean_us");
  const fieldOf = (name) => (name === "latency" ? latencyField() : PANELS[name].field);

  function curveTraces(name, curve) {
    const { scale } = PANELS[name], field = fieldOf(name);
    if (field === "latency_p99_us") return [];
    return models.solved(curve).map(({ kind, rates, answers }) => {
      const y = answers.map((answer) => answer[field] * scale), isPaper = kind === "paper";
      return scatter("lines", rates, y, { kind: "curve", label: curve.label, solution: kind }, {
        name: `${curve.label}, ${kind}`,
        line: { color: curve.hue, width: isPaper ? 1.4 : 2, dash: isPaper ? "dash" : "solid" },
      });
    });
  }

  /** The lines of all curves in a panel: bursty traffic has none. */
  const lines = (name) =>
    (models.isBursty() ? [] : models.curves().flatMap((curve) => curveTraces(name, curve)));

  function simulatedTrace(name, { label, hue, scheme }) {
    const found = models.simulatedOf(label), field = fieldOf(name), { scale } = PANELS[name];
    if (!found) return [];
    const { rates_kpps: rates, is_slow: slow } = found;
    const scaled = (values) => values.map((value) => (value === null ? null : value * scale));
    const array = scaled(found[field + "_half_width"]);
    const symbol = slow.map((isSlow) => scheme.symbol + (isSlow ? "-open" : ""));
    return scatter("markers", rates, scaled(found[field]), { kind: "simulated", label, slow }, {
      name: label + ", simulated", marker: { color: hue, symbol, size: 6 },
      error_y: { type: "data", array, thickness: 1, width: 2, color: hue },
    });
  }

  function starTrace(name) {
    const { spec, kept } = models.page, values = models.values();
    // The published values are means, with the costs of the study's host.
    const isTheirs = spec.publishedCosts.every((key) => values[key] === spec.controls[key].default);
    if (!isTheirs || (name === "latency" && isP99())) return [];
    const wanted = kept.fig === "table1" ? "table1" : values.traffic, most = Number(kept.to) * 1.01;
    const stars = spec.stars.filter(({ panel: shown, traffic, x, y }) =>
      shown === name && traffic === wanted && y !== null && x <= most);
    if (!stars.length) return [];
    const column = (of) => stars.map(of);
    const meta = { kind: "published", words: column(({ words }) => words) };
    return scatter("markers", column(({ x }) => x), column(({ y }) => y), meta, {
      name: "published", marker: { symbol: "star-open", size: 11, color: "page", line: { width: 1.4 } },
      error_y: {
        type: "data", symmetric: false, color: "page", thickness: 1,
        visible: stars.some((star) => star.low),
        array: column(({ y, high }) => (high ? high - y : 0)),
        arrayminus: column(({ y, low }) => (low ? y - low : 0)),
      },
    });
  }

  /* ---- runs of the lake */

  /* By panel the columns of the points with the value and what the model predicts; CPU is computed here. */
  const RUN_COLUMNS = {
    throughput: () => ["lam_kpps"], cpu: () => ["busy_share"],
    latency: () => (isP99() ? ["latency_p99_us", "latency_p99_predicted_us"]
      : ["latency_us", "latency_predicted_us"]),
    itr: () => ["interrupts_per_s", "interrupts_predicted_per_s"],
  };

  /** The runs that a panel can show: the measured value with its deviation, and the predicted value. */
  function runsOf(name) {
    const { runs, kept } = models.page;
    if (!runs || !kept.runs || !RUN_COLUMNS[name]) return [];
    const { points } = runs, [column, prediction] = RUN_COLUMNS[name]();
    const rows = points.lam_kpps.map((lam, i) => ({
      i, lam, group: points.group[i], value: points[column][i], sd: points[column + "_sd"][i],
      predicted: prediction ? points[prediction][i] : null,
    })).filter(({ value }) => value !== null);
    return name === "cpu" ? rows.map(cpuOf) : rows;
  }
  /** The share of the CPU that a run left for users, and that the costs of the sliders leave. */
  function cpuOf({ value, sd, ...row }) {
    const { service_us: service, interrupt_us: interrupt } = models.values();
    const perS = models.page.runs.points.interrupts_predicted_per_s[row.i];
    const predicted = 100 * (1 - perS * 1e-6 * interrupt - row.lam * 1e-3 * service);
    return {
      ...row, value: 100 * (1 - value), sd: sd === null ? null : 100 * sd,
      predicted: perS === null ? null : predicted,
    };
  }

  /** The settings of a run; a knob that no run has is left out. */
  function runWords({ i, group, sd }) {
    const { points } = models.page.runs, words = [group];
    const isVaried = (values) => values.some((value) => value !== null);
    const { load_qps: load, itr_us: itr, dvfs_ghz: dvfs, rapl_w: rapl } = points;
    if (load[i] !== null) words.push(`${three(load[i] / 1e3)}k QPS`);
    if (isVaried(itr)) words.push(itr[i] === null ? "ITR adaptive" : `ITR ${itr[i]} us`);
    if (isVaried(dvfs)) words.push(dvfs[i] === null ? "governor" : `${dvfs[i]} GHz`);
    if (rapl[i] !== null) words.push(`${rapl[i]} W`);
    words.push(`n = ${points.n[i]}` + (sd === null ? "" : `, sd ${three(sd)}`));
    return words.join(" · ");
  }

  /** A trace for each group of runs; with `more` it is of residuals, without error bars. */
  function runTraces(name, x, y, more) {
    const rows = runsOf(name), { styles } = models.page.runs || {};
    return [...new Set(rows.map(({ group }) => group))].flatMap((group) => {
      const mine = rows.filter((row) => row.group === group && x(row) > 0 && y(row) !== null);
      if (!mine.length) return [];
      const { hue: color, symbol } = styles[group];
      const deviation = {
        type: "data", symmetric: false, array: mine.map(({ sd }) => sd || 0),
        // On a logarithmic axis a bar has no lower end: it stops a decade below.
        arrayminus: mine.map(({ sd, value }) => Math.min(sd || 0, 0.9 * Math.abs(value))),
        color, thickness: 0.7, width: 0,
      };
      const meta = { kind: "measured", words: mine.map(runWords), isResidual: Boolean(more) };
      return scatter("markers", mine.map(x), mine.map(y), meta, {
        name: wattlas.plotText(group) + ", measured", cliponaxis: true,
        marker: { color, symbol: symbol + "-open", size: 6, opacity: 0.75, line: { width: 1.1 } },
        ...(more || { error_y: deviation }),
      });
    });
  }
  const loadOf = ({ lam }) => lam, measuredOf = ({ value }) => value;
  const predictedOf = ({ predicted }) => predicted;
  const ratioOf = ({ value, predicted }) => (predicted > 0 ? value / predicted : null);

  /* The axis of the measured over the predicted values, below a panel. */
  const RATIO_AXIS = {
    ...axis(""), title: { text: "measured<br>/ model", standoff: 2, font: { size: 9 } },
    domain: [0, 0.2], range: [0, 2], tickvals: [0.5, 1, 1.5], fixedrange: true,
  };

  /* What the runs' points are, in the subtitle of a panel. */
  const RUN_WORDS = {
    throughput: () => "receive descriptors of a core, on the diagonal by definition",
    cpu: () => "time awake of a core; model: the costs at any frequency",
    latency: () => `${isP99() ? "p99" : "mean, else p50"}, incl. client and wire`,
  };

  /** One of the four panels against load. */
  function panel(name) {
    const { kept, spec, runs, resets } = models.page, { title, unit, better } = PANELS[name];
    const measured = runTraces(name, loadOf, measuredOf), isLatency = name === "latency";
    const residuals = name === "throughput" ? [] : runTraces(name, loadOf, ratioOf, { yaxis: "y2" });
    const isStrip = residuals.length > 0, isLog = isLatency && kept.scale === "log";
    const { latency_to: latencyTo } = spec.figures[kept.fig] || {};
    const words = [
      isLatency && (isP99() ? "99th percentile, simulated only" : "mean"),
      models.isBursty() && "bursty: simulated only, intervals too narrow",
      name === "loss" && kept.runs && runs && "the lake holds no losses",
      measured.length && `runs: ${RUN_WORDS[name]()}, \u00B1 1 sd`,
    ].filter(Boolean);
    const modelled = [...lines(name), ...models.curves().flatMap((curve) => simulatedTrace(name, curve))];
    // Where no scheme loses packets the axis shows no rounding.
    const isLossless = name === "loss" && modelled.every(({ y }) => y.every((v) => !(v > LEAST_LOSS_PCT)));
    return {
      data: [...modelled, ...[starTrace(name)].flat(), ...measured, ...residuals],
      layout: layout(title, words.join(" · ") || "of one queue", {
        xaxis: axis("arrivals of a queue, Kpps", {
          range: models.loadRange(), uirevision: kept.zoom + kept.to, anchor: isStrip ? "y2" : "y",
        }),
        yaxis: axis(`${unit} (${better} is better)`, {
          rangemode: "tozero", uirevision: [kept.scale, kept.latency, resets].join(),
          ...(isLog && LOG), ...(isLatency && latencyTo && !isLog && { range: [0, latencyTo] }),
          ...(isLossless && { range: [0, 1] }), ...(isStrip && { domain: [0.3, 1] }),
        }),
        ...(isStrip && { yaxis2: RATIO_AXIS }),
      }),
    };
  }

  /** Interrupts a second of the tuned runs against the throttle formula. */
  function interrupts() {
    const measured = runTraces("itr", predictedOf, measuredOf), { runs, kept } = models.page;
    if (!kept.runs) return message("Runs are not shown.");
    const missing = "No run that the filters leave has a fixed ITR and interrupts.";
    if (!measured.length) return message(models.absence("runs") || (runs.runs ? missing : runs.words));
    return {
      data: [equalLine(measured.flatMap(({ x, y }) => [...x, ...y])), ...measured],
      layout: layout("Interrupts of a queue", "measured against 1/(T' + e^(-k l T')/(k l)), T' = 1.024 ITR", {
        xaxis: axis("formula, 1/s", LOG), yaxis: axis("measured, 1/s", LOG),
      }),
    };
  }

  /* ---- at the crosshair */

  const SHARES = [
    ["interrupt_share", "interrupts, poll overhead", "#D55E00"],
    ["protocol_share", "protocol work", "#0072B2"],
    ["cpu_left", "users", "#B4BAC1"],
  ];

  /** How each scheme spends the CPU at the crosshair. */
  function stack() {
    const at = Number(models.page.kept.at);
    const rows = models.curves().map((curve) => {
      const { label } = curve, simulated = models.simulatedOf(label);
      const solved = models.isBursty() ? null : models.solvedAt(curve, at);
      return { label, answer: solved || (simulated && nearest(simulated, at)) };
    }).filter(({ answer }) => answer).reverse();
    const missing = "No scheme is shown that has a solution here. Simulate, or show others.";
    if (!rows.length) return message(underWay() || missing);
    const y = rows.map(({ label }) => label), kinds = rows.map(({ answer }) => answer.kind);
    return {
      data: SHARES.map(([field, name, color]) => ({
        type: "bar", orientation: "h", y, x: rows.map(({ answer }) => 100 * answer[field]), name,
        marker: { color }, hoverinfo: "none", meta: { kind: "share", name, kinds },
      })),
      layout: layout(
        `CPU at ${three(at)} Kpps`, SHARES.map(([, name, hue]) => entry(hue, "\u25A0", name)).join("  "),
        {
          barmode: "stack", bargap: 0.25, margin: { l: 8, r: 16, t: 46, b: 38 },
          xaxis: axis("share of the CPU, %", { range: [0, 100], ticklabelstandoff: 2, automargin: true }),
          yaxis: { automargin: true, tickfont: { size: 10 } },
        },
      ),
    };
  }
  /** What a running simulation says of itself; empty without one. */
  const underWay = () => (models.isRunning() ? models.page.simulated.words || "simulation begins" : "");

  /* The simulated shares at the rate that is nearest to another. */
  function nearest(found, rate) {
    const off = found.rates_kpps.map((value) => Math.abs(value - rate)), i = off.indexOf(Math.min(...off));
    const shares = Object.fromEntries(SHARES.map(([field]) => [field, found[field][i]]));
    return { kind: "simulated, at the nearest rate", ...shares };
  }

  /* ---- the best scheme along the load axis */

  const TIE = "#B4BAC1", TIE_SHARE = 0.005;

  /** The schemes that the strip compares (the ideal one is no choice), each by its best solution. */
  function contenders() {
    const isSimulated = isP99() || models.isBursty();
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
          xaxis: axis("arrivals of a queue, Kpps", { range: models.loadRange(), fixedrange: true }),
          yaxis: { visible: false, range: [0, 1], fixedrange: true }, bargap: 0, barmode: "overlay",
          margin: { l: 52, r: 12, t: 44, b: 40 },
        },
      ),
    };
  }
  function winnerWords({ rate, best, second, isTie }) {
    const words = ({ curve, kind, left, latency }) =>
      `${curve.label}, ${kind}: ${three(100 * left)} % left, ${three(latency)} us`;
    const title = `${three(rate)} Kpps: ${isTie ? "tie" : best.curve.label}`;
    return [title, words(best), second ? words(second) : "no other meets it"];
  }

  wattlas.modelsFigures = {
    panel, lines, itr: interrupts, stack, best: strip,
    message, layout, axis, three, scatter, equalLine, entry,
  };
})((window.wattlas = window.wattlas || {}));
