/* The figures and the table of the tabs Energy and Fit. */
(function (wattlas) {
  "use strict";

  const { models } = wattlas, { layout, axis, message, three } = wattlas.modelsFigures;
  const POINTS = 56, HUES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"];
  const LAST_LATENCY = 1.12;
  const CIVIDIS = "Cividis";

  function dvfs(low) {
    return Array.from({ length: POINTS }, (_, i) => low + ((1 - low) * i) / (POINTS - 1));
  }
  const modelOf = (values) => ({
    ...values,
    detect_us: values.detect_share, work_us: values.work_share, interval_us: 1,
  });

  /** The curve of one set of values in one subplot: line, points by frequency, the best frequency. */
  function energyTraces(values, axes, hue, isLabelled) {
    const { lowestDvfs } = models.page.spec, model = modelOf(values), grid = dvfs(lowestDvfs);
    const points = grid.map((d) => wattlas.energyModel.at(model, d));
    const best = wattlas.energyModel.best(model, lowestDvfs),
      at = Number.isFinite(best) ? wattlas.energyModel.at(model, best) : null;
    const words = `detection ${three(values.detect_share)}`;
    return [
      {
        type: "scatter", mode: "lines+markers",
        x: points.map((p) => p.latency_us),
        y: points.map((p) => p.energy_uj),
        line: { color: hue, width: 1.6 }, name: words, hoverinfo: "none", connectgaps: false,
        ...axes,
        marker: {
          size: 4.5, color: grid, colorscale: CIVIDIS, cmin: lowestDvfs, cmax: 1, showscale: isLabelled,
          colorbar: { title: { text: "D" }, thickness: 10, len: 0.7 },
        },
        meta: { kind: "energy", words, dvfs: grid },
      },
      ...(at && at.latency_us !== null
        ? [
            {
              type: "scatter", mode: "markers", x: [at.latency_us], y: [at.energy_uj], hoverinfo: "none",
              ...axes,
              marker: { symbol: "x", size: 11, color: hue, line: { width: 1, color: "page" } },
              meta: { kind: "best", words: `least energy of the work: D = ${three(best)}` },
            },
          ]
        : []),
      ...leastOf(points, grid, hue, axes),
    ];
  }

  /** Where a curve has its least mean power: the energy of detection counts too. */
  function leastOf(points, grid, hue, axes) {
    const able = points.map((p, i) => ({ ...p, i })).filter((p) => Number.isFinite(p.energy_uj));
    if (!able.length) return [];
    const least = able.reduce((one, other) => (other.energy_uj < one.energy_uj ? other : one));
    return [
      {
        type: "scatter", mode: "markers", x: [least.latency_us], y: [least.energy_uj], hoverinfo: "none",
        ...axes,
        marker: { symbol: "circle-open", size: 13, color: hue, line: { width: 2 } },
        meta: { kind: "least", words: `least mean power: D = ${three(grid[least.i])}` },
      },
    ];
  }

  /** The part of a subplot where queues build up: hatched. */
  const saturated = (topW, axes) => ({
    type: "scatter", mode: "lines", line: { width: 0 }, x: [1, LAST_LATENCY, LAST_LATENCY, 1],
    y: [0, 0, topW, topW], fill: "toself", fillcolor: "rgba(0,0,0,0)",
    fillpattern: { shape: "/", fgcolor: "#9AA1A9", size: 7, solidity: 0.2 },
    hoverinfo: "skip",
    ...axes,
    meta: { kind: "saturated" },
  });

  function energy() {
    const { spec, kept } = models.page, values = models.energyValues(),
      chosen = spec.multiples[kept.multiples];
    const alphas = chosen.alphas.length ? chosen.alphas : [values.alpha];
    const betas = chosen.betas.length ? chosen.betas : [values.beta], isMultiple = chosen.alphas.length > 0;
    const detections = isMultiple ? spec.detectShares : [values.detect_share];
    // Figure 10 has its three panels side by side; figure 11 has alpha down and beta across.
    const rows = betas.length > 1 ? alphas.length : 1,
      columns = betas.length > 1 ? betas.length : alphas.length;
    const data = [], axes = {}, notes = [];
    alphas.forEach((alpha, a) =>
      betas.forEach((beta, b) => {
        const row = betas.length > 1 ? a : 0, column = betas.length > 1 ? b : a,
          n = row * columns + column + 1;
        const name = n === 1 ? "" : String(n);
        detections.forEach((detect_share, i) =>
          data.push(
            ...energyTraces(
              { ...values, alpha, beta, detect_share }, { xaxis: "x" + name, yaxis: "y" + name },
              HUES[i % HUES.length], !isMultiple,
            ),
          ),
        );
        const gap = 0.06, gapDown = 0.09, width = (1 - gap * (columns - 1)) / columns,
          height = (1 - gapDown * (rows - 1)) / rows;
        const left = column * (width + gap), top = 1 - row * (height + gapDown);
        const latency =
          columns > 1 ? "latency / interval" : "latency / time between requests (less is better)";
        axes["xaxis" + name] = axis(row === rows - 1 ? latency : "", {
          domain: [left, left + width], anchor: "y" + name, range: [0, LAST_LATENCY],
        });
        const power = rows > 1 ? "mean power, W" : "mean power, W (less is better)";
        axes["yaxis" + name] = axis(column === 0 ? power : "", {
          domain: [top - height, top], anchor: "x" + name, rangemode: "tozero",
        });
        notes.push({
          text: `alpha = ${three(alpha)}, beta = ${three(beta)}`, xref: "paper", yref: "paper",
          x: left + width / 2, y: top, yanchor: "bottom", xanchor: "center", showarrow: false,
          font: { size: 11 },
        });
        const mine = data.filter(({ yaxis }) => yaxis === "y" + name),
          topW = 1.08 * Math.max(1e-9, ...mine.flatMap(({ y }) => y.filter(Number.isFinite)));
        axes["yaxis" + name].range = [0, topW];
        data.push(saturated(topW, { xaxis: "x" + name, yaxis: "y" + name }));
      }),
    );
    const legend = detections
      .map(
        (share, i) => `<span style="color:${HUES[i % HUES.length]}">\u2014</span> detection ${three(share)}`,
      )
      .join("  ");
    const { slowest } = wattlas.energyModel, lowest = slowest(modelOf(values));
    const said = isMultiple
      ? ""
      : lowest === Infinity
        ? " · saturated at every frequency"
        : lowest > spec.lowestDvfs ? ` · saturated below D = ${three(lowest)}` : "";
    return {
      data,
      layout: layout(
        "Power against latency by frequency D",
        `${legend}  \u2715 least energy of the work  \u25CB least mean power  hatched: saturated${said}`,
        { ...axes, annotations: notes, margin: { l: 56, r: 14, t: 66, b: 44 } },
      ),
    };
  }

  /* ---- fits */

  /** The rows of the chosen fit, by column; null without any. */
  function fitted() {
    const { fits, kept } = models.page;
    if (!fits || !fits.predicted.fit) return null;
    const { predicted } = fits,
      mine = predicted.fit.map((name, i) => (name === kept.fit ? i : -1)).filter((i) => i >= 0);
    if (!mine.length) return null;
    const columns = Object.entries(predicted).map(([name, values]) => [name, mine.map((i) => values[i])]);
    return Object.fromEntries(columns);
  }
  const missing = () => {
    const { fits } = models.page;
    return message(fits ? fits.notes[0] || "No run has what this fit needs." : "fitting");
  };

  function byGroup(predicted, x, y) {
    const groups = [...new Set(predicted.group)];
    return groups.map((group) => {
      const mine = predicted.group.map((name, i) => i).filter((i) => predicted.group[i] === group);
      const { hue, symbol } = models.page.fits.styles[group];
      return {
        type: "scatter", mode: "markers", name: group,
        x: mine.map((i) => x[i]),
        y: mine.map((i) => y[i]),
        marker: { color: hue, symbol: symbol + "-open", size: 7, line: { width: 1.2 } },
        hoverinfo: "none",
        meta: {
          kind: "fitted",
          words: mine.map(
            (i) =>
              `${group} · ${three(predicted.load_qps[i] / 1e3)}k QPS · ITR ` +
              `${predicted.itr_us[i]} us · ${predicted.dvfs_ghz[i]} GHz`,
          ),
        },
      };
    });
  }
  const MOST_NAMED = 3;
  function legendOf(traces) {
    const named = traces
      .slice(0, MOST_NAMED)
      .map(({ name, marker }) => `<span style="color:${marker.color}">\u25CF</span> ${name}`);
    const others = traces.length - named.length;
    return [...named, ...(others > 0 ? [`and ${others} more`] : [])].join("  ");
  }

  const FORMULAS = {
    power: "P_q + u (P_s + P_d D^(2+beta))", busy_time: "A N_i / D^(1+alpha)",
    interrupts: "1/(T' + e^(-k l T')/(k l))", host: "interrupts/r + packets/mu",
  };
  const titled = (text) => text[0].toUpperCase() + text.slice(1);

  function predictedFigure() {
    const predicted = fitted();
    if (!predicted) return missing();
    const { fit } = models.page.kept, traces = byGroup(predicted, predicted.predicted, predicted.measured);
    const unit = predicted.unit[0] ? `, ${predicted.unit[0]}` : "",
      all = [...predicted.predicted, ...predicted.measured],
      ends = [Math.min(...all), Math.max(...all)];
    const line = {
      type: "scatter", mode: "lines", x: ends, y: ends, hoverinfo: "skip", meta: { kind: "equal" },
      line: { color: "page", width: 1, dash: "dot" },
    };
    return {
      data: [line, ...traces],
      layout: layout(
        `${titled(models.page.spec.fits[fit])}, measured against predicted`,
        legendOf(traces),
        { xaxis: axis(`predicted by ${FORMULAS[fit]}${unit}`), yaxis: axis(`measured${unit}`) },
      ),
    };
  }

  const AGAINST = {
    dvfs_ghz: "frequency, GHz", itr_us: "ITR, us", busy_share: "busy share of the cores",
    load_qps: "load, QPS",
  };
  function residuals() {
    const predicted = fitted(), { against } = models.page.kept;
    if (!predicted) return missing();
    const traces = byGroup(predicted, predicted[against], predicted.residual.map((value) => 100 * value));
    return {
      data: traces,
      layout: layout("Residuals", `measured / predicted - 1 · ${legendOf(traces)}`, {
        xaxis: axis(AGAINST[against]), yaxis: axis("%", { zeroline: true }),
      }),
    };
  }

  const cell = (tag, text, className) => {
    const found = document.createElement(tag);
    found.textContent = text;
    if (className) found.className = className;
    return found;
  };
  const number = (value) => (value === null || value === undefined ? "\u2013" : three(value));

  /** The table of fitted numbers, with a button on each measured host. */
  function table(onHost) {
    const { fits } = models.page, found = document.createElement("table");
    found.className = "best models-fits";
    if (!fits) return cell("p", "fitting", "note");
    if (!fits.table.length) return cell("p", fits.notes.join(" "), "note");
    const head = document.createElement("tr");
    const titles = [
      "system", "load", "quantity", "value", "95 % interval", "condition", "runs", "median error", "",
    ];
    head.append(...titles.map((title) => cell("th", title, "")));
    const top = document.createElement("thead"), body = document.createElement("tbody");
    top.append(head);
    for (const row of fits.table) {
      const line = document.createElement("tr"),
        host = row.quantity === "1/r" && fits.hosts.find(({ group }) => group === row.group);
      const range = row.low === null ? "\u2013" : `${number(row.low)} to ${number(row.high)}`;
      const at = row.load_qps ? `${number(row.load_qps / 1e3)}k QPS` : "all loads";
      line.append(
        cell("th", row.group),
        cell("td", row.dvfs_ghz ? `${at}, ${row.dvfs_ghz} GHz` : at),
        cell("td", row.quantity),
        cell(
          "td",
          row.identified ? `${number(row.value)} ${row.unit}` : "not identified",
          row.identified ? "number" : "number missed",
        ),
        cell("td", row.identified ? range : "\u2013", "number spread"),
        cell("td", number(row.condition), "number"),
        cell("td", row.runs, "number"),
        cell("td", row.error === null ? "\u2013" : `${number(100 * row.error)} %`, "number"),
        cell("td", row.note, "quiet"),
      );
      if (host) {
        const button = cell("button", "use as host", "plain");
        button.addEventListener("click", () => onHost(host));
        line.lastChild.append(button);
      }
      body.append(line);
    }
    found.append(top, body);
    const all = document.createElement("div");
    all.append(found, ...(fits.notes.length ? [cell("p", fits.notes.join(" "), "note")] : []));
    return all;
  }

  wattlas.modelsFit = { energy, predicted: predictedFigure, residuals, table };
})((window.wattlas = window.wattlas || {}));
