/* The figures of Models: traces and layouts out of the state. Pure: state in, figure out. */
(function (wattlas) {
  "use strict";

  const { models } = wattlas;
  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
  const DASHES = { paper: "dash", exact: "solid" };
  const PANELS = {
    throughput: { field: "throughput_kpps", title: "Throughput", unit: "Kpps", better: "more", scale: 1 },
    cpu: { field: "cpu_left", title: "CPU left for users", unit: "%", better: "more", scale: 100 },
    latency: { field: "latency_mean_us", title: "Latency", unit: "us", better: "less", scale: 1 },
    loss: { field: "loss_share", title: "Loss", unit: "%", better: "less", scale: 100 },
  };
  const three = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(3))) : "\u2013");

  function layout(title, subtitle, more) {
    return {
      title: {
        text: `${title}<br><span style="font-size:11px">${subtitle}</span>`, font: { size: 13 }, x: 0,
        xref: "container", xanchor: "left", pad: { l: 10, t: 15 }, y: 1, yanchor: "top",
      },
      font: { family: FONT, size: 11 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 52, r: 12, t: 46, b: 36 }, hovermode: "closest", showlegend: false,
      ...more,
      meta: { kind: "models" },
    };
  }
  const axis = (title, more = {}) => ({ title: { text: title, standoff: 6 }, zeroline: false, ...more });

  function message(sentence) {
    return {
      data: [],
      layout: layout("", "", {
        xaxis: { visible: false }, yaxis: { visible: false },
        annotations: [
          {
            text: wrapped(sentence), showarrow: false, xref: "paper", yref: "paper", x: 0.5, y: 0.5,
            font: { size: 12 },
          },
        ],
      }),
    };
  }
  const wrapped = (text) => text.replace(/(.{30,52}?)\s/g, "$1<br>");

  /* ---- panels against load */

  const latencyField = () => (models.page.kept.latency === "p99" ? "latency_p99_us" : "latency_mean_us");
  const fieldOf = (name) => (name === "latency" ? latencyField() : PANELS[name].field);

  function curveTraces(name, curve) {
    const { scale } = PANELS[name], field = fieldOf(name);
    return models
      .solved(curve)
      .filter(() => field !== "latency_p99_us")
      .map(({ kind, rates, answers }) => ({
        type: "scatter", mode: "lines", x: rates,
        y: answers.map((answer) => answer[field] * scale),
        name: `${curve.label}, ${kind}`,
        line: { color: curve.hue, width: kind === "paper" ? 1.4 : 2, dash: DASHES[kind] },
        hoverinfo: "none", meta: { kind: "curve", label: curve.label, solution: kind },
      }));
  }

  function simulatedTrace(name, curve) {
    const found = models.simulatedOf(curve.label), field = fieldOf(name), { scale } = PANELS[name];
    if (!found) return [];
    const up = (values) => values.map((value) => (value === null ? null : value * scale));
    return [
      {
        type: "scatter", mode: "markers", x: found.rates_kpps, y: up(found[field]),
        name: curve.label + ", simulated",
        error_y: {
          type: "data", array: up(found[field + "_half_width"]), thickness: 1, width: 2, color: curve.hue,
        },
        marker: {
          color: curve.hue,
          symbol: found.is_slow.map((slow) => curve.scheme.symbol + (slow ? "-open" : "")),
          size: 6,
        },
        hoverinfo: "none", meta: { kind: "simulated", label: curve.label, slow: found.is_slow },
      },
    ];
  }

  function starTrace(name) {
    const { spec, kept } = models.page, { traffic } = models.values();
    // The published values are of the study's host, and means.
    const values = models.values(),
      isTheirs = spec.publishedCosts.every((key) => values[key] === spec.controls[key].default);
    if (!isTheirs || (name === "latency" && kept.latency === "p99")) return [];
    const wanted = kept.fig === "table1" ? ["table1"] : [traffic];
    const stars = spec.stars.filter(
      (star) =>
        star.panel === name &&
        wanted.includes(star.traffic) &&
        star.y !== null &&
        star.x <= Number(kept.to) * 1.01,
    );
    if (!stars.length) return [];
    return [
      {
        type: "scatter", mode: "markers",
        x: stars.map(({ x }) => x),
        y: stars.map(({ y }) => y),
        name: "published",
        marker: { symbol: "star-open", size: 11, color: "page", line: { width: 1.4 } },
        error_y: {
          type: "data", symmetric: false, color: "page", thickness: 1,
          visible: stars.some((star) => star.low),
          array: stars.map(({ y, high }) => (high ? high - y : 0)),
          arrayminus: stars.map(({ y, low }) => (low ? y - low : 0)),
        },
        hoverinfo: "none",
        meta: { kind: "published", words: stars.map(({ words }) => words) },
      },
    ];
  }

  /* ---- runs of the lake */

  /** What the models say of a run: by panel, the measured and the predicted value. */
  function ofRuns(name) {
    const { runs, kept } = models.page;
    if (!runs || !kept.runs) return [];
    const { points, events } = runs, { service_us: service, interrupt_us: interrupt } = models.values();
    const rows = (points.lam_kpps || []).map((lam, i) => {
      const itr = points.itr_us[i], k = events[points.group[i]] || 1,
        delay = models.page.spec.usPerItrUs * itr;
      const rate = lam * 1e-3 * k, isTuned = itr > 1 && rate > 0;
      const formula = isTuned ? wattlas.schemes.throttlePerS(rate, delay) : null;
      // The longest wait is the delay; the 99th percentile is near it.
      const mean = (rate * delay * delay) / 2 / (rate * delay + Math.exp(-rate * delay));
      const wait = !isTuned ? null : kept.latency === "p99" ? delay : mean;
      return { i, lam, group: points.group[i], formula, wait };
    });
    const latency = (i) => {
      if (kept.latency === "p99") return "latency_p99_us";
      return points.latency_mean_us[i] === null ? "latency_p50_us" : "latency_mean_us";
    };
    const column = {
      throughput: () => "lam_kpps",
      cpu: () => "busy_share",
      latency,
      itr: () => "interrupts_per_s",
    }[name];
    if (!column) return [];
    const isShare = name === "cpu", scale = isShare ? 100 : 1;
    const found = rows
      .map((row) => ({
        ...row,
        value: points[column(row.i)][row.i], sd: points[column(row.i) + "_sd"][row.i],
      }))
      .filter(({ value }) => value !== null)
      .map((row) => ({
        ...row,
        value: isShare ? 100 * (1 - row.value) : row.value,
        sd: row.sd === null ? null : scale * row.sd,
      }));
    if (name === "cpu") {
      return found.map((row) => ({
        ...row,
        predicted:
          row.formula === null ? null : 100 * (1 - row.formula * 1e-6 * interrupt - row.lam * 1e-3 * service),
      }));
    }
    if (name === "itr") return found.map((row) => ({ ...row, predicted: row.formula }));
    if (name === "throughput") return found.map((row) => ({ ...row, predicted: null }));
    // Client and wire are in the measured latency: a constant by group, the median of what is left.
    const constants = {};
    for (const group of new Set(found.map((row) => row.group))) {
      const rest = found
        .filter((row) => row.group === group && row.wait !== null)
        .map(({ value, wait }) => value - wait - service)
        .sort((a, b) => a - b);
      constants[group] = rest.length ? rest[Math.floor(rest.length / 2)] : null;
    }
    return found.map((row) => ({
      ...row,
      predicted: row.wait === null ? null : constants[row.group] + service + row.wait,
    }));
  }

  const said = (values) => values.some((value) => value !== null);
  /** The settings of a run; a knob that no run has is left out. */
  function runWords({ i, group, sd }) {
    const { points } = models.page.runs, words = [group];
    if (points.load_qps[i] !== null) words.push(`${three(points.load_qps[i] / 1e3)}k QPS`);
    if (said(points.itr_us))
      words.push(points.itr_us[i] === null ? "ITR adaptive" : `ITR ${points.itr_us[i]} us`);
    if (said(points.dvfs_ghz))
      words.push(points.dvfs_ghz[i] === null ? "governor" : `${points.dvfs_ghz[i]} GHz`);
    if (points.rapl_w[i] !== null) words.push(`${points.rapl_w[i]} W`);
    words.push(`n = ${points.n[i]}` + (sd === null ? "" : `, sd ${three(sd)}`));
    return words.join(" · ");
  }

  function runTraces(name, x, y, axes) {
    const rows = ofRuns(name), groups = [...new Set(rows.map(({ group }) => group))];
    return groups.flatMap((group) => {
      const mine = rows.filter((row) => row.group === group && x(row) > 0 && y(row) !== null),
        { hue, symbol } = models.page.runs.styles[group];
      return mine.length === 0 ? [] : {
        type: "scatter", mode: "markers", x: mine.map(x), y: mine.map(y), name: group + ", measured",
        marker: { color: hue, symbol: symbol + "-open", size: 6, opacity: 0.75, line: { width: 1.1 } },
        // Replicates: one standard deviation.
        ...(axes.yaxis
          ? {}
          : {
              error_y: {
                type: "data", symmetric: false,
                array: mine.map(({ sd }) => sd || 0),
                // On a logarithmic axis a bar has no lower end: it stops a decade below.
                arrayminus: mine.map(({ sd, value }) => Math.min(sd || 0, 0.9 * Math.abs(value))),
                color: hue, thickness: 0.7, width: 0,
              },
            }),
        hoverinfo: "none", cliponaxis: true,
        ...axes,
        meta: { kind: "measured", words: mine.map(runWords), isResidual: Boolean(axes.yaxis) },
      };
    });
  }
  const residualTraces = (name, x) =>
    runTraces(name, x, ({ value, predicted }) => (predicted > 0 ? value / predicted : null), { yaxis: "y2" });

  /* The strip under a panel: measured over predicted. */
  const STRIP = {
    yaxis: { domain: [0.3, 1] },
    yaxis2: {
      ...axis("measured / model", { title: { text: "measured<br>/ model", standoff: 2, font: { size: 9 } } }),
      domain: [0, 0.2], range: [0, 2], tickvals: [0.5, 1, 1.5], fixedrange: true, zeroline: false,
    },
  };

  /** The lines of all curves in a panel: bursty traffic has none. */
  const lines = (name) =>
    models.values().traffic === "bursty" ? [] : models.curves().flatMap((curve) => curveTraces(name, curve));

  const LEAST_LOSS_PCT = 0.01;
  /** Whether no drawn scheme loses packets: the axis then shows no rounding. */
  const isLossless = (name, all) =>
    name === "loss" &&
    [...lines(name), ...all.flatMap((curve) => simulatedTrace(name, curve))].every(({ y }) =>
      y.every((value) => !(value > LEAST_LOSS_PCT)),
    );

  /** One of the four panels against load. */
  function panel(name) {
    const { kept } = models.page, { title, unit, better } = PANELS[name], all = models.curves();
    const measured = runTraces(name, ({ lam }) => lam, ({ value }) => value, {});
    const residuals = name === "throughput" ? [] : residualTraces(name, ({ lam }) => lam);
    const isStrip = residuals.length > 0;
    const word =
      name === "latency" ? (kept.latency === "p99" ? "99th percentile, simulated only" : "mean") : "";
    const isLog = name === "latency" && kept.scale === "log";
    const { latency_to: latencyTo } = models.page.spec.figures[kept.fig] || {};
    const isShort = name === "latency" && latencyTo && !isLog;
    const isBursty = models.values().traffic === "bursty";
    const bursty = isBursty ? "bursty: simulated only, intervals too narrow" : "";
    const lost = name === "loss" && kept.runs && models.page.runs ? "the lake holds no losses" : "";
    const ofRunsWords = {
      throughput: "runs: receive descriptors of a core, on the diagonal by definition",
      cpu: "runs: time awake of a core; model: the costs at any frequency",
      latency: `runs: ${kept.latency === "p99" ? "p99" : "mean, else p50"}, incl. client and wire`,
    };
    const shown = measured.length
      ? (ofRunsWords[name] || "") + (ofRunsWords[name] ? ", \u00B1 1 sd" : "")
      : "";
    return {
      data: [
        ...lines(name),
        ...all.flatMap((curve) => simulatedTrace(name, curve)),
        ...starTrace(name),
        ...measured,
        ...residuals,
      ],
      layout: layout(title, [word, bursty, lost, shown].filter(Boolean).join(" · ") || "of one queue", {
        xaxis: axis("arrivals of a queue, Kpps", {
          range: models.loadRange(), uirevision: kept.zoom + kept.to,
          anchor: isStrip ? "y2" : "y",
        }),
        yaxis: axis(`${unit} (${better} is better)`, {
          rangemode: "tozero", uirevision: [kept.scale, kept.latency, models.page.resets].join(),
          ...(isLog ? { type: "log", dtick: 1, tickformat: "~s" } : {}),
          ...(isShort ? { range: [0, latencyTo] } : {}),
          ...(isLossless(name, all) ? { range: [0, 1] } : {}),
          ...(isStrip ? STRIP.yaxis : {}),
        }),
        ...(isStrip ? { yaxis2: STRIP.yaxis2 } : {}),
      }),
    };
  }

  /** Interrupts a second of the tuned runs against the throttle formula. */
  function interrupts() {
    const measured = runTraces("itr", ({ predicted }) => predicted, ({ value }) => value, {});
    if (!measured.length) {
      const { runs } = models.page;
      return message((runs && runs.words) || "No run that the filters leave has a fixed ITR and interrupts.");
    }
    const all = measured.flatMap(({ x, y }) => [...x, ...y]), low = Math.min(...all), high = Math.max(...all);
    const line = {
      type: "scatter", mode: "lines", x: [low, high], y: [low, high],
      line: { color: "page", width: 1, dash: "dot" }, hoverinfo: "skip", meta: { kind: "equal" },
    };
    const log = { type: "log", dtick: 1, tickformat: "~s" };
    return {
      data: [line, ...measured],
      layout: layout(
        "Interrupts of a queue", "measured against 1/(T' + e^(-k l T')/(k l)), T' = 1.024 ITR",
        { xaxis: axis("formula, 1/s", log), yaxis: axis("measured, 1/s", log) },
      ),
    };
  }

  /* ---- at the crosshair */

  const SHARES = [
    ["interrupt_share", "interrupts, poll overhead", "#D55E00"],
    ["protocol_share", "protocol work", "#0072B2"],
    ["cpu_left", "users", "#B4BAC1"],
  ];
  function stack() {
    const at = Number(models.page.kept.at),
      rows = models
        .curves()
        .map((curve) => {
          const simulated = models.simulatedOf(curve.label);
          const answer = models.values().traffic === "bursty" ? null : models.solvedAt(curve, at);
          return { curve, answer: answer || (simulated && nearest(simulated, at)) };
        })
        .filter(({ answer }) => answer)
        .reverse();
    if (!rows.length)
      return message("No scheme is shown that has a solution here. Simulate, or show others.");
    const labels = rows.map(({ curve }) => curve.label);
    return {
      data: SHARES.map(([field, name, color]) => ({
        type: "bar", orientation: "h", y: labels,
        x: rows.map(({ answer }) => 100 * answer[field]),
        name, marker: { color }, hoverinfo: "none",
        meta: { kind: "share", name, kinds: rows.map(({ answer }) => answer.kind) },
      })),
      layout: layout(
        `CPU at ${three(at)} Kpps`,
        SHARES.map(([, name, hue]) => `<span style="color:${hue}">\u25A0</span> ${name}`).join("  "),
        {
          barmode: "stack", bargap: 0.25, margin: { l: 8, r: 16, t: 46, b: 38 },
          xaxis: axis("share of the CPU, %", { range: [0, 100], ticklabelstandoff: 2, automargin: true }),
          yaxis: { automargin: true, tickfont: { size: 10 } },
        },
      ),
    };
  }
  function nearest(found, rate) {
    const i = nearestTo(found.rates_kpps, rate);
    const one = Object.fromEntries(SHARES.map(([field]) => [field, found[field][i]]));
    return { kind: "simulated, at the nearest rate", ...one };
  }

  const TIE = "#B4BAC1", TIE_SHARE = 0.005;
  /** The schemes that the strip compares (the ideal one is no choice), each by its best solution. */
  function contenders() {
    const all = models.curves().filter(({ scheme }) => scheme.name !== "ideal"),
      isSimulated = models.page.kept.latency === "p99" || models.values().traffic === "bursty";
    return all.map((curve) => {
      const solutions = isSimulated ? [] : models.solved(curve),
        exact = solutions.find(({ kind }) => kind === "exact");
      const simulated = fromSimulation(curve), [first] = solutions;
      const best = exact || (simulated ? null : first);
      return { curve, set: best ? fromFormula(curve, best) : simulated };
    });
  }
  /** The best schemes along the load axis: most CPU left among those within the latency limit. */
  function winners() {
    const limit = Number(models.page.kept.limit), sets = contenders().map(({ set }) => set).filter(Boolean);
    if (!sets.length) return [];
    const longest = sets.reduce((one, other) => (other.rates.length > one.rates.length ? other : one));
    return longest.rates.map((rate) => {
      const able = sets
        .map((set) => ({
          curve: set.curve, kind: set.kind, latency: between(set.rates, set.latency, rate),
          left: between(set.rates, set.left, rate),
          half: set.half ? between(set.rates, set.half, rate) : TIE_SHARE / 2,
        }))
        .filter(({ latency }) => latency !== null && latency <= limit)
        .sort((a, b) => b.left - a.left);
      const [best, second] = able;
      const isTie = Boolean(second) && best.left - second.left <= best.half + second.half;
      return { rate, best, second, isTie };
    });
  }
  /** The value at a rate, straight between those of two rates; null outside of them. */
  function between(rates, values, rate) {
    const after = rates.findIndex((one) => one >= rate - 1e-9);
    if (after < 0 || (after === 0 && rates[0] > rate + 1e-9)) return null;
    if (after === 0 || rates[after] <= rate + 1e-9) return values[after];
    const low = values[after - 1], high = values[after],
      share = (rate - rates[after - 1]) / (rates[after] - rates[after - 1]);
    return low === null || high === null ? null : low + share * (high - low);
  }
  function nearestTo(rates, rate) {
    const off = rates.map((value) => Math.abs(value - rate));
    return off.indexOf(Math.min(...off));
  }
  const fromFormula = (curve, { kind, rates, answers }) => ({
    curve, kind, rates,
    latency: answers.map((a) => a.latency_mean_us),
    left: answers.map((a) => a.cpu_left),
  });
  function fromSimulation(curve) {
    const found = models.simulatedOf(curve.label);
    return (
      found && {
        curve, kind: "simulated", rates: found.rates_kpps, latency: found[latencyField()],
        left: found.cpu_left, half: found.cpu_left_half_width,
      }
    );
  }
  /** Which solution the strip takes where it is not the exact one, and which schemes have none. */
  function solutionWords() {
    const by = { simulated: [], paper: [], none: [] };
    for (const { curve, set } of contenders()) {
      const kind = set ? set.kind : "none";
      if (by[kind]) by[kind].push(curve.label);
    }
    return [
      by.paper.length ? `by the paper's formula: ${by.paper.join(", ")}` : "",
      by.none.length ? `not simulated: ${by.none.join(", ")}` : "",
    ].filter(Boolean);
  }

  function strip() {
    const rows = winners(), { kept } = models.page, what = kept.latency === "p99" ? "p99" : "mean latency";
    if (!rows.length) return message(`No solution has a ${what} here: simulate first.`);
    const step = rows.length > 1 ? rows[1].rate - rows[0].rate : 1;
    const groups = new Map();
    for (const row of rows) {
      const name = !row.best ? "none" : row.isTie ? "tie" : row.best.curve.label;
      if (!groups.has(name))
        groups.set(name, { hue: row.isTie ? TIE : row.best && row.best.curve.hue, rows: [] });
      groups.get(name).rows.push(row);
    }
    const isMissed = groups.has("none");
    groups.delete("none");
    return {
      data: [...groups].map(([name, group]) => ({
        type: "bar",
        x: group.rows.map(({ rate }) => rate),
        y: group.rows.map(() => 1),
        name, width: step, marker: { color: group.hue, line: { width: 0 } }, hoverinfo: "none",
        meta: { kind: "winner", words: group.rows.map(winnerWords) },
      })),
      layout: layout(
        `Most CPU left with ${what} up to ${three(Number(kept.limit))} us`,
        [...groups]
          .map(([name, { hue }]) => `<span style="color:${hue}">\u25A0</span> ${name}`)
          .concat(isMissed ? ["\u25A1 none meets the limit"] : [])
          .concat(solutionWords())
          .join("  "),
        {
          xaxis: axis("arrivals of a queue, Kpps", { range: models.loadRange(), fixedrange: true }),
          yaxis: { visible: false, range: [0, 1], fixedrange: true }, bargap: 0, barmode: "overlay",
          margin: { l: 52, r: 12, t: 44, b: 34 },
        },
      ),
    };
  }
  function winnerWords({ rate, best: one, second, isTie }) {
    const words = (way) =>
      `${way.curve.label}, ${way.kind}: ${three(100 * way.left)} % left, ${three(way.latency)} us`;
    return [
      `${three(rate)} Kpps: ${isTie ? "tie" : one.curve.label}`,
      words(one),
      second ? words(second) : "no other meets it",
    ];
  }

  wattlas.modelsFigures = {
    PANELS, panel, lines, itr: interrupts, stack, best: strip, winners, message, layout, axis, three, DASHES,
  };
})((window.wattlas = window.wattlas || {}));
