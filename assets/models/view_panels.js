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
        text: `${title}<br><span style="font-size:12px">${subtitle}</span>`, font: { size: 13 }, x: 0,
        xref: "container", xanchor: "left", pad: { l: 10, t: 15 }, y: 1, yanchor: "top",
      },
      font: { family: wattlas.FONT, size: 12 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 52, r: 12, t: 46, b: 36 }, hovermode: "closest", showlegend: false, uirevision: "keep",
      ...more,
      meta: { kind: "models" },
    };
  }
  const axis = (title, more = {}) =>
    ({ title: { text: title, standoff: 6, font: { size: 12 } }, zeroline: false, ...more });

  /** A trace of points or lines. The card at the pointer takes the place of Plotly's hover. */
  const scatter = (mode, x, y, meta, more) =>
    ({ type: "scatter", mode, x, y, meta, hoverinfo: "none", ...more });

  /** The line on which the values of both axes are equal. */
  function equalLine(values) {
    const ends = [Math.min(...values), Math.max(...values)], line = { color: "page", width: 1, dash: "dot" };
    return scatter("lines", ends, ends, { kind: "equal" }, { line, hoverinfo: "skip" });
  }

  /** An entry of a legend within a subtitle: a coloured sign and words. */
  const entry = (hue, sign, words) => `<span style="color:${hue}">${sign}</span>\u00a0${words}`;

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

  /** The lines of all curves in a panel. */
  const lines = (name) => models.curves().flatMap((curve) => curveTraces(name, curve));

  /** Circles; of a curve without a formula they are joined by a dashed line. */
  function simulatedTrace(name, { label, hue, scheme, kinds }) {
    const found = models.simulatedOf(label), field = fieldOf(name), { scale } = PANELS[name];
    if (!found) return [];
    const { rates_kpps: rates, is_slow: slow } = found;
    const scaled = (values) => values.map((value) => (value === null ? null : value * scale));
    const array = scaled(found[field + "_half_width"]);
    const symbol = slow.map((isSlow) => scheme.symbol + (isSlow ? "-open" : ""));
    const mode = kinds.length ? "markers" : "lines+markers";
    return scatter(mode, rates, scaled(found[field]), { kind: "simulated", label, slow }, {
      name: label + ", simulated", marker: { color: hue, symbol, size: 6 },
      line: { color: hue, width: 1.2, dash: "dash" },
      error_y: { type: "data", array, thickness: 1, width: 2, color: hue },
    });
  }

  function starTrace(name) {
    const { spec, kept } = models.page, values = models.values();
    // The published values are means, with the costs and frames of the study's host.
    const isTheirs = !(kept.sizes && models.isBursty())
      && spec.publishedCosts.every((key) => values[key] === spec.controls[key].default);
    if (!isTheirs || (name === "latency" && isP99())) return [];
    const wanted = kept.fig === "table1" ? "table1" : values.traffic, most = models.mostKpps() * 1.01;
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
    // The axis of bursty traffic is the load of a link, which is not the runs' link.
    if (!runs || !kept.runs || !RUN_COLUMNS[name] || (models.isBursty() && name in PANELS)) return [];
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
    ...axis(""), title: { text: "ratio", standoff: 2, font: { size: 12 } },
    domain: [0, 0.2], range: [0, 2], tickvals: [0, 1, 2], fixedrange: true,
  };

  /* What the runs' points are, in the subtitle of a panel. */
  const RUN_WORDS = {
    throughput: () => "receive descriptors of a core, on the diagonal by definition",
    cpu: () => "time awake of a core; model: the costs at any frequency",
    latency: () => `${isP99() ? "p99" : "mean, else p50"}, incl. client and wire`,
  };

  /** Arrival rates as the axis shows them: Kpps, under bursty traffic the load of the link too. */
  const loadWords = (rate) => (models.isBursty()
    ? `load ${three(rate / models.linkKpps())} (${three(rate)} Kpps)` : `${three(rate)} Kpps`);
  /** The axis of arrival rates; under bursty traffic its ticks are loads of the link, 0 to 1. */
  function loadAxis(more) {
    const range = models.loadRange();
    if (!models.isBursty()) return axis("arrivals of a queue, Kpps", { range, ...more });
    const link = models.linkKpps(), [from, to] = range.map((rate) => rate / link);
    const step = [0.01, 0.02, 0.05, 0.1, 0.2].find((one) => (to - from) / one <= 6) || 0.5;
    const first = Math.ceil(from / step - 1e-9), count = Math.floor((to / step) * (1 + 1e-9)) - first + 1;
    const loads = Array.from({ length: Math.max(count, 0) }, (_, i) => (first + i) * step);
    return axis(`rho, load of the link (1 is ${three(link)} Kpps)`, {
      range, tickmode: "array", tickvals: loads.map((load) => load * link), ticktext: loads.map(three),
        ...more,
    });
  }

  /** A vertical line at the switch of each scheme that has one. */
  function switches(bottom) {
    return models.curves().filter(({ values: p }) => p.switch_kpps !== undefined)
      .map(({ values: { switch_kpps: x }, hue: color }) => ({
        type: "line", x0: x, x1: x, yref: "paper", y0: bottom, y1: 1, line: { color, width: 1.2,
          dash: "dot" },
        label: {
          text: `switch ${three(x)}`, font: { size: 12, color }, textposition: "end", textangle: 0,
          xanchor: "left", yanchor: "top",
        },
      }));
  }

  /** One of the four panels against load. */
  function panel(name) {
    const { kept, spec, runs, resets } = models.page, { title, unit, better } = PANELS[name];
    const measured = runTraces(name, loadOf, measuredOf), isLatency = name === "latency";
    const residuals = name === "throughput" ? [] : runTraces(name, loadOf, ratioOf, { yaxis: "y2" });
    const isStrip = residuals.length > 0, isLog = isLatency && kept.scale === "log";
    const { latency_to: latencyTo } = spec.figures[kept.fig] || {};
    const words = [
      isLatency && (isP99() ? "99th percentile, simulated only" : "mean"),
      models.isBursty() && "bursty: simulated only, intervals too narrow; runs are of other links",
      name === "loss" && kept.runs && runs && "the lake holds no losses",
      measured.length && `runs: ${RUN_WORDS[name]()}, \u00B1\u00a01\u00a0sd`,
    ].filter(Boolean);
    const modelled = [...lines(name), ...models.curves().flatMap((curve) => simulatedTrace(name, curve))];
    // Where no scheme loses packets the axis shows no rounding.
    const isLossless = name === "loss" && modelled.every(({ y }) => y.every((v) => !(v > LEAST_LOSS_PCT)));
    return {
      data: [...modelled, ...[starTrace(name)].flat(), ...measured, ...residuals],
      layout: layout(title, words.join(" · ") || "of one queue", {
        xaxis: loadAxis({ uirevision: kept.zoom + models.mostKpps(), anchor: isStrip ? "y2" : "y" }),
        shapes: switches(isStrip ? 0.3 : 0),
        yaxis: axis(`${unit} (${better} is better)`, {
          rangemode: "tozero", uirevision: [kept.scale, kept.latency, resets, isLossless, latencyTo].join(),
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

  wattlas.modelsFigures = {
    panel, lines, itr: interrupts, isP99, latencyField, loadAxis, loadWords,
    message, layout, axis, three, scatter, equalLine, entry, runsOf, runWords, ratioOf,
  };
})((window.wattlas = window.wattlas || {}));
