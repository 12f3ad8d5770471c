/* The tab Traffic: ON/OFF sources as in data/models/simulation/bursts.py, frame sizes, table 1. */
(function (wattlas) {
  "use strict";

  const { models, element } = wattlas;
  const { axis, entry, layout, loadWords, scatter, three } = wattlas.modelsFigures;
  const SOURCES = 8, ON_SHAPE = 1.3, OFF_SHAPE = 1.5, LEAST_ON_US = 0.512, BEFORE_US = 2000, SPAN_US = 200;
  const WORD = 2 ** 32, ON_HUE = "#0072B2", SUM_HUE = "#D55E00", BIN_BYTES = 16, MOST_SIZES = 64;

  /** Random numbers in (0, 1]: mulberry32. */
  function uniforms(seed) {
    let state = seed | 0;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return 1 - ((mixed ^ (mixed >>> 14)) >>> 0) / WORD;
    };
  }

  /** When the sources send: [[source, begin, end]] in us. */
  function onPeriods(load, spanUs, seed) {
    const onUs = (ON_SHAPE * LEAST_ON_US) / (ON_SHAPE - 1);
    const leastUs = ((OFF_SHAPE - 1) / OFF_SHAPE) * onUs * (SOURCES / load - 1), periods = [];
    for (let source = 1; source <= SOURCES; source += 1) {
      const draw = uniforms(seed * SOURCES + source);
      for (let at = -BEFORE_US; ;) {
        at += leastUs * draw() ** (-1 / OFF_SHAPE);
        if (at >= spanUs) break;
        const end = at + LEAST_ON_US * draw() ** (-1 / ON_SHAPE);
        if (end > 0) periods.push([source, Math.max(at, 0), Math.min(end, spanUs)]);
        at = end;
      }
    }
    return periods;
  }

  /** Figure 8: each source and their sum. */
  function sources() {
    const { kept } = models.page, link = models.linkKpps(), rate = Math.min(Number(kept.at), link);
    const periods = onPeriods(rate / link, SPAN_US, Number(kept.seed));
    const column = (of) => periods.flatMap(of);
    const each = scatter(
      "lines", column(([, from, to]) => [from, to, null]), column(([source]) => [source, source, null]),
      { kind: "source" }, { line: { color: ON_HUE, width: 7 }, connectgaps: false },
    );
    const steps = [...periods.map(([, from]) => [from, 1]), ...periods.map(([, , to]) => [to, -1])]
      .sort((a, b) => a[0] - b[0]);
    let count = 0;
    const sums = steps.map(([, step]) => (count += step));
    const sum = scatter("lines", [0, ...steps.map(([at]) => at), SPAN_US], [0, ...sums, count],
      { kind: "sending" }, {
      line: { color: SUM_HUE, width: 1.5, shape: "hv" }, yaxis: "y2",
    });
    return {
      data: [each, sum],
      layout: layout(
        `${SOURCES} ON/OFF sources at a ${loadWords(rate)}`,
        `Pareto times by the paper's formula, ON ${ON_SHAPE} from ${LEAST_ON_US} us, OFF ${OFF_SHAPE} · ` +
        `seed ` + kept.seed,
        {
          xaxis: axis("time, us", { range: [0, SPAN_US], anchor: "y2" }),
          yaxis: axis("source", { domain: [0.42, 1], range: [0.4, SOURCES + 0.6], dtick: 1 }),
          yaxis2: axis("sources that send", { domain: [0, 0.34], rangemode: "tozero", dtick: 1 }),
        },
      ),
    };
  }

  /** Figure 9: the histogram of frame sizes and their cumulated shares. */
  function sizes() {
    const all = models.frameSizes(), bins = new Map();
    for (const [size, share] of all) {
      const bin = Math.floor(size / BIN_BYTES) * BIN_BYTES;
      bins.set(bin, (bins.get(bin) || 0) + 100 * share);
    }
    const mean = all.reduce((sum, [size, share]) => sum + size * share, 0), last = all[all.length - 1][0];
    let cumulated = 0;
    const steps = all.map(([size, share]) => [size, 100 * (cumulated += share)]);
    const at = [...bins.keys()].map((bin) => bin + BIN_BYTES / 2);
    const whose = models.page.kept.sizes ? "your sizes" : "chosen by us to the printed mean and peaks";
    return {
      data: [
        {
          type: "bar", x: at, y: [...bins.values()], width: BIN_BYTES, hoverinfo: "none", marker: { color:
            ON_HUE },
          meta: { kind: "bin", width: BIN_BYTES },
        },
        scatter("lines", [0, ...steps.map(([size]) => size), last + BIN_BYTES],
          [0, ...steps.map(([, share]) => share), 100], { kind: "cumulated" },
          { line: { color: SUM_HUE, width: 1.6, shape: "hv" }, yaxis: "y2" }),
      ],
      layout: layout(
        `Frame sizes, mean ${three(mean)} bytes`,
        [whose, entry(ON_HUE, "\u25A0", `share of ${BIN_BYTES} bytes`), entry(SUM_HUE, "\u2014",
          "cumulated")].join("  "),
        {
          xaxis: axis("frame size, bytes", { range: [0, last + 2 * BIN_BYTES] }),
          margin: { l: 52, r: 52, t: 46, b: 36 },
          yaxis: axis("share, %", { rangemode: "tozero" }),
          yaxis2: axis("up to this size, %", {
            overlaying: "y", side: "right", range: [0, 102], showgrid: false, tickmode: "linear", dtick: 20,
          }),
        },
      ),
    };
  }

  /* ---- the reader's own sizes */

  /** Read sizes from text, one `bytes share` a line. Returns the text of the URL; throws with words. */
  function readSizes(text) {
    const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
    const rows = lines.map((line) => line.split(/[\s,;:]+/).map(Number));
    // The first line may hold titles.
    const isNamed = rows.length > 0 && rows[0].some(Number.isNaN), shares = new Map();
    rows.slice(isNamed ? 1 : 0).forEach(([size, weight], i) => {
      const line = lines[i + (isNamed ? 1 : 0)];
      if (!(Number.isInteger(size) && size >= 1 && size <= 65535 && weight >= 0 && Number.isFinite(weight))) {
        throw new Error(`"${line.slice(0, 40)}" is no size and share: write e.g. 1518 0.25`);
      }
      shares.set(size, (shares.get(size) || 0) + weight);
    });
    if (shares.size > MOST_SIZES) throw new Error(`${shares.size} sizes; a link holds at most ${MOST_SIZES}`);
    if (![...shares.values()].some((weight) => weight > 0)) throw new Error("no share is above 0");
    return [...shares].map(([size, weight]) => `${size}:${Number(weight.toPrecision(6))}`).join(",");
  }

  /** The controls of the reader's own sizes. */
  function sizeControls() {
    const { kept } = models.page, said = element("p", { className: "quiet", attributes: { role: "status" } });
    const box = element("textarea", {
      className: "field", rows: 6, value: (kept.sizes || "").replaceAll(",", "\n").replaceAll(":", " "),
        placeholder: "64 0.5\n1518 0.5",
      attributes: { "aria-label": "frame sizes, bytes and share, one a line" },
    });
    const take = (text) => {
      try {
        models.set({ sizes: readSizes(text) });
        said.textContent = "";
      } catch ({ message: words }) {
        said.textContent = words;
      }
    };
    const file = element("input", {
      type: "file", accept: ".csv,.tsv,.txt", attributes: { "aria-label": "file of frame sizes" },
      onchange: async () => {
        if (file.files[0]) take((box.value = await file.files[0].text()));
      },
    });
    const button = (textContent, onclick) => element("button", { className: "plain", textContent, onclick });
    return [
      element("div", { className: "sidebar-title", textContent: "Your frame sizes" }),
      element("p", { className: "quiet",
        textContent: "Bytes and share, one a line, or a CSV file of both." }),
      box, file,
      element("div", { className: "models-buttons" }, button("use these", () => take(box.value)),
        button("shipped sizes", () => models.set({ sizes: "" }))),
      said,
    ];
  }

  /* ---- table 1 */

  const HEAD = ["load", "lower, ms", "upper, ms", "mean, ms", "half width, ms", "precision, %",
    "simulated here, ms"];
  const cell = (tag, textContent, className = "") => element(tag, { textContent, className });

  /** Table 1 beside the same loads simulated here, if the preset is shown. */
  function table1(chooseFigure) {
    const { spec, kept, simulated: { results } } = models.page, isShown = kept.fig === "table1";
    const found = isShown ? results.find((one) => !one.refused) : null;
    const ms = (us) => three(us / 1e3);
    const here = (i) => (found && found.latency_mean_us[i] !== null
      ? `${ms(found.latency_mean_us[i])} \u00B1 ${ms(found.latency_mean_us_half_width[i])}` : "\u2013");
    const printed = ["load", "lower_ms", "upper_ms", "mean_ms", "half_width_ms", "precision_pct"];
    const rows = spec.table1.map((row, i) => element(
      "tr", {}, ...printed.map((name) => cell("td", String(row[name]), "number")), cell("td", here(i),
        "number"),
    ));
    const words = "Table 1: mean latency of coalescing by 50 us, bursty traffic, ten replications, 95 %. " +
      "Traffic and "
      + "timer are ambiguous in the text: shown, not tested against.";
    const button = element("button", {
      className: "plain models-needs", onclick: () => chooseFigure("table1"),
      textContent: isShown ? models.unsimulated().words : "simulate these loads",
    });
    return element(
      "div", {}, element("table", { className: "best models-crosshair-table" }, cell("caption", words),
        element("thead", {}, element("tr", {}, ...HEAD.map((title) => cell("th", title, "number")))),
        element("tbody", {}, ...rows)),
      found || models.isRunning() ? null : button,
    );
  }

  wattlas.modelsTraffic = { onPeriods, sources, sizes, sizeControls, table1 };
})((window.wattlas = window.wattlas || {}));
