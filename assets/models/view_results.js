/* The figures and the table of the tabs Energy and Fit. */
(function (wattlas) {
  "use strict";

  const { models, element } = wattlas;
  const { layout, axis, message, three, scatter, equalLine, entry, runWords } = wattlas.modelsFigures;
  const POINTS = 56, HUES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"], LAST_LATENCY = 1.12;
  const GAP = 0.06, GAP_DOWN = 0.09, MOST_NAMED = 3;

  /* ---- energy and latency */

  const hueOf = (i) => HUES[i % HUES.length];
  const modelOf = (values) =>
    ({ ...values, detect_us: values.detect_share, work_us: values.work_share, interval_us: 1 });

  /** The curve of one set of values in one subplot: line, points by frequency, the best frequencies. */
  function energyTraces(values, axes, hue, isLabelled) {
    const { at, best } = wattlas.energyModel, { lowestDvfs: low } = models.page.spec, model = modelOf(values);
    const grid = Array.from({ length: POINTS }, (_, i) => low + ((1 - low) * i) / (POINTS - 1));
    const points = grid.map((d) => at(model, d)), words = `detection ${three(values.detect_share)}`;
    const able = points.filter((point) => Number.isFinite(point.energy_uj)), wanted = best(model, low);
    const mark = (kind, noun, { dvfs, latency_us: x, energy_uj: y }, marker) =>
      scatter("markers", [x], [y], { kind, words: `${noun}: D = ${three(dvfs)}` }, { ...axes, marker });
    const curve = scatter(
      "lines+markers", points.map((p) => p.latency_us), points.map((p) => p.energy_uj),
      { kind: "energy", words, dvfs: grid },
      {
        ...axes, name: words, line: { color: hue, width: 7 }, connectgaps: false,
        marker: {
          size: 4.5, color: grid, colorscale: "Cividis", cmin: low, cmax: 1, showscale: isLabelled,
          colorbar: { title: { text: "D" }, thickness: 10, len: 0.7 },
        },
      },
    );
    const cross = { symbol: "x", size: 11, color: hue, line: { width: 1, color: "page" } };
    const ring = { symbol: "circle-open", size: 13, color: hue, line: { width: 2 } };
    const found = Number.isFinite(wanted) ? at(model, wanted) : { latency_us: null };
    const marks = found.latency_us === null ? [] : [mark("best", "least energy of the work", found, cross)];
    if (!able.length) return [curve, ...marks];
    // The mean power counts the energy of detection too.
    const least = able.reduce((one, other) => (other.energy_uj < one.energy_uj ? other : one));
    return [curve, ...marks, mark("least", "least mean power", least, ring)];
  }

  /** The part of a subplot where queues build up: hatched. */
  const saturated = (topW, axes) =>
    scatter("lines", [1, LAST_LATENCY, LAST_LATENCY, 1], [0, 0, topW, topW], { kind: "saturated" }, {
      ...axes, line: { width: 0 }, fill: "toself", fillcolor: "rgba(0,0,0,0)", hoverinfo: "skip",
      fillpattern: { shape: "/", fgcolor: "#9AA1A9", size: 7, solidity: 0.2 },
    });

  /** Where the subplots of a figure are: alpha down and beta across, or one row where beta is fixed. */
  function subplots(alphas, betas) {
    const isGrid = betas.length > 1, rows = isGrid ? alphas.length : 1;
    const columns = isGrid ? betas.length : alphas.length;
    const width = (1 - GAP * (columns - 1)) / columns, height = (1 - GAP_DOWN * (rows - 1)) / rows;
    return alphas.flatMap((alpha, a) => betas.map((beta, b) => {
      const row = isGrid ? a : 0, column = isGrid ? b : a, n = row * columns + column + 1;
      const left = column * (width + GAP), top = 1 - row * (height + GAP_DOWN), name = n === 1 ? "" : "" + n;
      const latency = columns > 1 ? "latency / interval" : "latency / time between requests (less is better)";
      const power = rows > 1 ? "mean power, W" : "mean power, W (less is better)";
      return {
        alpha, beta, name, xaxis: axis(row === rows - 1 && column === columns >> 1 ? latency : "", {
          domain: [left, left + width], anchor: "y" + name, range: [0, LAST_LATENCY],
        }),
        yaxis: axis(column === 0 ? power : "", {
          domain: [top - height, top], anchor: "x" + name, rangemode: "tozero",
        }),
        note: {
          text: `\u03B1 ${three(alpha)}, \u03B2 ${three(beta)}`, xref: "paper", yref: "paper",
          x: left + width / 2, y: top, yanchor: "bottom", xanchor: "center", showarrow: false,
          font: { size: 12 },
        },
      };
    }));
  }

  function saturationWords(values) {
    const lowest = wattlas.energyModel.slowest(modelOf(values));
    if (lowest === Infinity) return " · saturated at every frequency";
    return lowest > models.page.spec.lowestDvfs ? ` · saturated below D = ${three(lowest)}` : "";
  }

  function energy() {
    const { spec, kept } = models.page, values = models.energyValues();
    const { alphas, betas } = spec.multiples[kept.multiples], isMultiple = alphas.length > 0;
    const detections = isMultiple ? spec.detectShares : [values.detect_share], data = [], axes = {};
    const parts = subplots(isMultiple ? alphas : [values.alpha], betas.length ? betas : [values.beta]);
    for (const { alpha, beta, name, xaxis, yaxis } of parts) {
      const at = { xaxis: "x" + name, yaxis: "y" + name };
      const mine = detections.flatMap((detect_share, i) =>
        energyTraces({ ...values, alpha, beta, detect_share }, at, hueOf(i), !isMultiple));
      const topW = 1.08 * Math.max(1e-9, ...mine.flatMap(({ y }) => y.filter(Number.isFinite)));
      data.push(...mine, saturated(topW, at));
      Object.assign(axes, { ["xaxis" + name]: xaxis, ["yaxis" + name]: { ...yaxis, range: [0, topW] } });
    }
    const legend = detections.map((share, i) => entry(hueOf(i), "\u2014", "detection " + three(share)));
    const marks = ["\u2715 least energy of the work", "\u25CB least mean power"];
    const hatched = "hatched: saturated" + (isMultiple ? "" : saturationWords(values));
    const chosen = isMultiple ? [`<br>chosen by us: ${spec.multiplesChosen}`] : [];
    return {
      data,
      layout: layout("Power against latency by frequency D", [...legend, ...marks, hatched,
        ...chosen].join("  "), {
        ...axes, annotations: parts.map(({ note }) => note), margin: { l: 56, r: 14, t: isMultiple ? 80 : 66,
          b: 44 },
      }),
    };
  }

  /* ---- runs in the plane of latency and power */

  const MOST_LINES = 36;
  /** The fitted model of one sweep of frequencies: a group, load, ITR and power limit. */
  function modelLines({ styles, plane: model }) {
    const sweeps = new Map();
    model.latency_model_us.forEach((x, i) => {
      const y = model.power_model_w[i];
      const key = ["group", "load_qps", "itr_us", "rapl_w"].map((name) => model[name][i]).join("|");
      if (!sweeps.has(key)) sweeps.set(key, []);
      sweeps.get(key).push({ x, y, i, dvfs: model.dvfs_ghz[i] });
    });
    const long = [...sweeps.values()].filter((sweep) => sweep.length > 2);
    const every = Math.max(1, Math.ceil(long.length / MOST_LINES));
    return long.filter((_, n) => n % every === 0).map((sweep) => {
      sweep.sort((a, b) => a.dvfs - b.dvfs);
      const [{ i }] = sweep, group = model.group[i];
      const words = `${group} · ${three(model.load_qps[i] / 1e3)}k QPS · ITR ${model.itr_us[i]} us · ` +
        `fitted model`;
      return scatter("lines", sweep.map(({ x }) => x), sweep.map(({ y }) => y),
        { kind: "model", words: sweep.map(({ dvfs }) => `${words} · ${dvfs} GHz`) },
        { line: { color: styles[group].hue, width: 1.1 }, opacity: 0.7 });
    });
  }

  /** How far the fitted power is off, of the middle 80 % of configurations. */
  function fitWords({ predicted: { fit, residual } }) {
    const ratios = residual.filter((_, i) => fit[i] === "power").map((off) => 1 + off).sort((a, b) => a - b);
    const at = (share) => ratios[Math.round(share * (ratios.length - 1))].toPrecision(3);
    return `measured / model ${at(0.1)} to ${at(0.9)} for 80 %; power limits are not in it`;
  }

  /** Configurations by latency and mean power, coloured by frequency, with the fitted model. */
  function plane() {
    const { runs, fits, kept } = models.page;
    if (!kept.runs) return message("Runs are not shown.");
    const absent = models.absence("runs") || (runs.runs ? "" : runs.words);
    if (absent) return message(absent);
    const { points, styles } = runs, groups = [...new Set(points.group)];
    const speeds = points.dvfs_ghz.filter((value) => value !== null);
    const has = (i) => points.latency_us[i] !== null && points.power_w[i] !== null;
    const traces = groups.flatMap((group) => {
      const mine = points.group.flatMap((one, i) => (one === group && has(i) ? [i] : []));
      if (!mine.length) return [];
      return scatter("markers", mine.map((i) => points.latency_us[i]), mine.map((i) => points.power_w[i]), {
        kind: "fitted", words: mine.map((i) => runWords({ i, group, sd: points.power_w_sd[i] })),
      }, {
        name: group, marker: {
          symbol: styles[group].symbol, size: 6, colorscale: "Cividis",
          cmin: Math.min(...speeds), cmax: Math.max(...speeds),
          color: mine.map((i) => points.dvfs_ghz[i] ?? "#9AA1A9"), line: { width: 1,
            color: styles[group].hue },
        },
      });
    });
    if (!traces.length) return message("No run that the filters leave has both a latency and an energy.");
    if (speeds.length) {
      const colorbar = { title: { text: "GHz" }, thickness: 10, len: 0.7 };
      Object.assign(traces[0].marker, { showscale: true, colorbar });
    }
    const lines = fits ? modelLines(fits) : [];
    const noLines = fits ? fits.notes[0] || "no fit" : models.absence("fits");
    const ofModel = lines.length ? `lines: the fitted model by ITR and load, ${fitWords(fits)}` : noLines;
    const words = `${legendOf(traces)}<br>fill: frequency (grey: the governor's)  ${ofModel}`;
    return {
      data: [...traces, ...lines],
      layout: layout("Runs: mean power against latency", words, {
        xaxis: axis("latency (mean, else p50), incl. client and wire, us (less is better)", { type: "log",
          dtick: "D2" }),
        yaxis: axis("mean power, W (less is better)", { rangemode: "tozero" }), margin: { l: 56, r: 14,
          t: 66, b: 44 },
      }),
    };
  }

  /* ---- fits */

  /** The rows of the chosen fit, by column; null without any. */
  function fitted() {
    const { fits, kept } = models.page;
    if (!fits || !fits.predicted.fit) return null;
    const isMine = (_, i) => fits.predicted.fit[i] === kept.fit;
    const columns = Object.entries(fits.predicted).map(([name, values]) => [name, values.filter(isMine)]);
    const found = Object.fromEntries(columns);
    return found.fit.length ? found : null;
  }
  const missing = () => {
    const { fits } = models.page;
    return message(models.absence("fits") || fits.notes[0] || "No run has what this fit needs.");
  };

  function byGroup(predicted, x, y) {
    const { load_qps: load, itr_us: itr, dvfs_ghz: dvfs, rapl_w: rapl } = predicted;
    return [...new Set(predicted.group)].map((group) => {
      const mine = [...x.keys()].filter((i) => predicted.group[i] === group);
      const { hue, symbol } = models.page.fits.styles[group];
      const words = mine.map(
        (i) => `${group} · ${three(load[i] / 1e3)}k QPS · ITR ${itr[i]} us · ${dvfs[i]} GHz` +
          (rapl[i] === null ? "" : ` · ${rapl[i]} W`));
      return scatter("markers", mine.map((i) => x[i]), mine.map((i) => y[i]), { kind: "fitted", words }, {
        name: group, marker: { color: hue, symbol: symbol + "-open", size: 7, line: { width: 1.2 } },
      });
    });
  }
  function legendOf(traces) {
    const more = traces.length - MOST_NAMED;
    const named = traces.slice(0, MOST_NAMED)
      .map(({ name, marker: { line, color } }) => entry((line && line.color) || color, "\u25CF", name));
    return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join("  ");
  }

  const FORMULAS = {
    power: "P_q + u (P_s + P_d D^(2+beta))", busy_time: "A N_i / D^(1+alpha)",
    interrupts: "1/(T' + e^(-k l T')/(k l))", host: "interrupts/r + packets/mu",
  };

  function predictedFigure() {
    const found = fitted(), { spec, kept: { fit } } = models.page;
    if (!found) return missing();
    const { predicted, measured } = found, traces = byGroup(found, predicted, measured);
    const unit = found.unit[0] ? `, ${found.unit[0]}` : "", name = spec.fits[fit];
    const title = name[0].toUpperCase() + name.slice(1) + ", measured against predicted";
    return {
      data: [equalLine([...predicted, ...measured]), ...traces],
      layout: layout(title, legendOf(traces), {
        xaxis: axis(`predicted by ${FORMULAS[fit]}${unit}`), yaxis: axis(`measured${unit}`), uirevision: fit,
      }),
    };
  }

  const AGAINST = {
    dvfs_ghz: "frequency, GHz", itr_us: "ITR, us", busy_share: "busy share of the cores",
    load_qps: "load, QPS",
  };
  function residuals() {
    const found = fitted(), { against, fit } = models.page.kept;
    if (!found) return missing();
    const traces = byGroup(found, found[against], found.residual.map((value) => 100 * value));
    return {
      data: traces,
      layout: layout("Residuals", legendOf(traces), {
        xaxis: axis(AGAINST[against]), yaxis: axis("measured / predicted \u2212 1, %", { zeroline: true }),
        uirevision: fit + against,
      }),
    };
  }

  /* ---- the table of fitted numbers */

  const TITLES = [
    "system", "load", "quantity", "value", "95 % interval", "condition", "runs", "median error", "note",
  ];
  const cell = (tag, textContent, className = "") => element(tag, { textContent, className });

  function rowOf(row, hosts, onHost) {
    const { group, load_qps: load, dvfs_ghz: dvfs, identified: isKnown, low, high, error } = row;
    const at = (load ? `${three(load / 1e3)}k QPS` : "all loads") + (dvfs ? `, ${dvfs} GHz` : "");
    const range = isKnown && low !== null ? `${three(low)} to ${three(high)}` : "\u2013";
    const value = isKnown ? `${three(row.value)} ${row.unit}` : "not identified";
    const host = row.quantity === "1/r" && hosts.find((one) => one.group === group);
    const note = cell("td", row.note, "quiet");
    const use = { className: "plain", textContent: "use as host", onclick: () => onHost(host) };
    if (host) note.append(element("button", use));
    return element(
      "tr", {}, cell("th", group), cell("td", at), cell("td", row.quantity),
      cell("td", value, isKnown ? "number" : "number missed"), cell("td", range, "number spread"),
      cell("td", three(row.condition), "number"), cell("td", row.runs, "number"),
      cell("td", error === null ? "\u2013" : `${three(100 * error)} %`, "number"), note,
    );
  }

  /** The table, with a button on each measured host. */
  function table(onHost) {
    const { fits } = models.page;
    if (!fits) return cell("p", models.absence("fits"), "note");
    const notes = cell("p", fits.notes.join(" "), "note");
    if (!fits.table.length) return notes;
    const head = element("tr", {}, ...TITLES.map((title) => cell("th", title)));
    const rows = fits.table.map((row) => rowOf(row, fits.hosts, onHost));
    const found = element(
      "table", { className: "best models-fits" }, element("thead", {}, head), element("tbody", {}, ...rows),
    );
    return element("div", {}, found, fits.notes.length ? notes : null);
  }

  wattlas.modelsFit = { energy, plane, predicted: predictedFigure, residuals, table };
})((window.wattlas = window.wattlas || {}));
