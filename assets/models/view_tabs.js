/*
 * Models on the screen: figures of the shown tab, one crosshair through the panels, the pointer's card.
 * Knows no Dash: what only a server can do is registered by page.js.
 */
(function (wattlas) {
  "use strict";

  const { models } = wattlas, { page } = models, { three } = wattlas.modelsFigures;
  const PREFIX = "models-", PANELS = ["throughput", "cpu", "latency", "loss"];
  const CONFIG = {
    displaylogo: false, showSendToCloud: false, responsive: true, displayModeBar: "hover",
    doubleClick: "reset",
    modeBarButtonsToRemove: ["toImage", "sendDataToCloud", "lasso2d", "select2d", "autoScale2d"],
  };
  const BUILDERS = {
    ...Object.fromEntries(PANELS.map((name) => [name, () => wattlas.modelsFigures.panel(name)])),
    stack: wattlas.modelsFigures.stack, itr: wattlas.modelsFigures.itr, best: wattlas.modelsFigures.best,
    energy: wattlas.modelsFit.energy, predicted: wattlas.modelsFit.predicted,
    residuals: wattlas.modelsFit.residuals,
  };
  const TABS = {
    interrupts: [...PANELS, "stack", "itr", "best"], energy: ["energy"], fit: ["predicted", "residuals"],
  };
  /* What a server answers; an export has none of it. */
  const server = { simulate: null, host: null };
  const part = (name) => document.getElementById(PREFIX + name);

  /* ---- figures */

  const withText = (value, color) => {
    if (value === "page") return color;
    if (Array.isArray(value))
      return typeof value[0] === "number" ? value : value.map((one) => withText(one, color));
    if (!value || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withText(one, color)]));
  };
  function painted(figure, theme) {
    const { text } = wattlas.palette(theme);
    const data = figure.data.map(({ meta, ...trace }) => ({ ...withText(trace, text), meta }));
    return { data, layout: wattlas.themed(withText(figure.layout, text), theme) };
  }

  function drawView(name) {
    const gd = part(name);
    if (!gd) return;
    const { data, layout } = painted(BUILDERS[name](), page.theme);
    window.Plotly.react(gd, data, layout, CONFIG);
    wattlas.ownPlot(gd.id, {
      hover: (_, event) => words(event.points[0]),
      handlers: {
        plotly_click: (_, event) => {
          if (PANELS.includes(name)) pin(event.points[0].x);
        },
        ...(PANELS.includes(name) ? { plotly_relayout: zoomed, plotly_doubleclick: unzoomed } : {}),
      },
    });
  }
  /** All panels and the strip below follow the load axis of one. */
  function zoomed(gd, event) {
    const ends = event["xaxis.range"] || [event["xaxis.range[0]"], event["xaxis.range[1]"]];
    if (!ends.every(Number.isFinite)) return;
    const isAll = ends[0] <= 0 && ends[1] >= Number(page.kept.to);
    const text = ends.map((end) => Number(Math.max(0, end).toPrecision(5))).join("~");
    models.set({ zoom: isAll ? "" : text });
  }
  function unzoomed() {
    page.resets += 1;
    models.set({ zoom: "" });
    draw();
  }

  /* A held slider moves the lines alone, which takes Plotly a third of the time of a whole figure. */
  const AT_ONCE = { transition: { duration: 0 }, frame: { duration: 0, redraw: false }, mode: "immediate" };
  function moveLines(name) {
    const gd = part(name), lines = wattlas.modelsFigures.lines(name);
    const drawn = (gd.data || []).map(({ meta }, i) => (meta && meta.kind === "curve" ? i : -1));
    const traces = drawn.filter((i) => i >= 0);
    if (traces.length !== lines.length) drawView(name);
    else if (traces.length)
      window.Plotly.animate(gd, { data: lines.map(({ x, y }) => ({ x, y })), traces }, AT_ONCE);
  }
  const PAUSE_MS = 150;
  let pause = 0;
  /** Follow a held slider: lines at once, whole figures when it pauses. */
  function follow() {
    wattlas.cancel(frame);
    wattlas.cancel(pause);
    frame = wattlas.nextFrame(() => {
      frame = 0;
      PANELS.forEach(moveLines);
    });
    pause = wattlas.later(() => {
      page.isDragging = false;
      draw();
    }, PAUSE_MS);
  }

  let frame = 0;
  /** Draw what the shown tab has, at the next frame; earlier requests are merged. */
  function draw(names = TABS[page.kept.tab]) {
    wattlas.cancel(frame);
    wattlas.cancel(pause);
    frame = wattlas.nextFrame(() => {
      frame = 0;
      names.filter((name) => TABS[page.kept.tab].includes(name)).forEach(drawView);
      if (page.kept.tab === "fit") part("fits").replaceChildren(wattlas.modelsFit.table(useHost));
      placeCrosshair();
      say();
    });
  }

  function frameOf() {
    document.querySelectorAll("[data-tab-panel]").forEach((panel) => {
      panel.hidden = panel.dataset.tabPanel !== page.kept.tab;
    });
    wattlas.modelsControls.bar(part("bar"));
    wattlas.modelsControls.legend(part("legend"));
  }
  const drawControls = () => wattlas.modelsControls.controls(part("controls"));

  /** Show everything anew: the page was opened, or the theme is another one. */
  function show() {
    frameOf();
    drawControls();
    draw();
  }

  const AT = ["stack"], BEST = ["limit"], RUNS = [...PANELS, "itr"];
  models.onChange((keys) => {
    if (keys.every((key) => key === "at")) {
      draw(AT);
      return;
    }
    if (keys.every((key) => BEST.includes(key))) {
      draw(["best"]);
      return;
    }
    if (keys.every((key) => key === "zoom")) {
      draw();
      return;
    }
    const isSlider = keys.every((key) => key === "p" || key === "e");
    if (isSlider) {
      page.simulated = { labels: [], results: [] };
      if (!page.isDragging) {
        frameOf();
        drawControlsUnlessFocused();
      }
      if (page.isDragging && page.kept.tab === "interrupts") follow();
      else draw();
      return;
    }
    if (keys.some((key) => ["fig", "scheme", "host", "to", "seed"].includes(key))) {
      page.simulated = { labels: [], results: [] };
    }
    show();
  });
  /* A control that has the focus keeps it: the others follow when it loses it. */
  function drawControlsUnlessFocused() {
    if (!part("controls").contains(document.activeElement)) drawControls();
  }

  /** Say in the status line and at the button what is shown and simulated. */
  function say() {
    const status = part("status"), { runs, kept, spec, simulated } = page;
    if (!status) return;
    const lines = [];
    wattlas.modelsControls.showJob();
    if (spec.lakeIsEmpty) lines.push("The lake holds no runs yet: curves only.");
    else if (kept.runs && runs)
      lines.push(
        [runs.runs ? `${runs.runs.toLocaleString("en")} runs beside the models` : "", runs.words]
          .filter(Boolean)
          .join(" · "),
      );
    if (simulated.words) lines.push(simulated.words);
    else if (simulated.status === "done") {
      const done = simulated.results.filter(({ refused }) => !refused),
        slow = done.reduce((n, { is_slow: flags }) => n + flags.filter(Boolean).length, 0);
      lines.push(
        `simulated: ${done.length} curves${slow ? `, ${slow} rates slow to converge` : ""}`,
        ...simulated.results
          .filter(({ refused }) => refused)
          .map(({ curve, refused }) => `${simulated.labels[curve]} refused: ${refused}`),
      );
    }
    if (kept.sel) lines.push("runs of a selection");
    status.textContent = lines.join(" · ");
  }

  /* ---- the crosshair */

  const plots = () => PANELS.map((name) => wattlas.plot(PREFIX + name)).filter((gd) => gd && gd._fullLayout);
  function lineOf(gd) {
    let line = gd.querySelector(".models-crosshair");
    if (!line) {
      line = document.createElement("div");
      line.className = "models-crosshair";
      gd.append(line);
    }
    return line;
  }
  /** Put the line at a rate into all panels; at the pinned one without an argument. */
  function placeCrosshair(rate = Number(page.kept.at)) {
    for (const gd of plots()) {
      const { xaxis, yaxis } = gd._fullLayout, line = lineOf(gd);
      if (!xaxis || !xaxis.visible) continue;
      line.hidden = rate < xaxis.range[0] || rate > xaxis.range[1];
      line.style.left = `${xaxis._offset + xaxis.d2p(rate)}px`;
      line.style.top = `${yaxis._offset}px`;
      line.style.height = `${yaxis._length}px`;
    }
  }
  const pin = (rate) => models.set({ at: Number(Math.max(rate, 0.01).toPrecision(4)) });

  let hovered = 0;
  addEventListener(
    "pointermove",
    (event) => {
      if (!page.spec || !event.target.closest) return;
      const panel = event.target.closest("[data-view]"),
        name = panel && panel.dataset.view.slice(PREFIX.length);
      const gd = PANELS.includes(name) && wattlas.plot(PREFIX + name);
      if (!gd || !gd._fullLayout || !gd._fullLayout.xaxis) {
        if (hovered) {
          hovered = 0;
          placeCrosshair();
        }
        return;
      }
      const { xaxis } = gd._fullLayout;
      const x = xaxis.p2d(event.clientX - gd.getBoundingClientRect().left - xaxis._offset);
      if (x < xaxis.range[0] || x > xaxis.range[1]) return;
      hovered = x;
      placeCrosshair(x);
    },
    { passive: true },
  );
  document.addEventListener("click", (event) => {
    if (hovered && event.target.closest && event.target.closest(".nsewdrag")) pin(hovered);
  });

  /** What the card at the pointer says of a point. */
  function words(point) {
    const { meta } = point.data, i = point.pointNumber, at = `${three(point.x)} Kpps`;
    if (meta.kind === "curve")
      return [`${meta.label} · ${meta.solution}`, `${at}: ${three(point.y)}`, "click: crosshair"];
    if (meta.kind === "simulated") {
      const half = point.data.error_y.array[i];
      return [
        `${meta.label} · simulated`, `${at}: ${three(point.y)} \u00B1 ${three(half)} (95 %)`,
        meta.slow[i] ? "slow to converge: precision not reached" : "",
      ];
    }
    if (meta.kind === "published") return [meta.words[i], "published"];
    if (meta.kind === "measured") {
      return [
        meta.words[i],
        meta.isResidual
          ? `measured / model: ${three(point.y)}`
          : `${three(point.x)}: ${three(point.y)}, measured`,
      ];
    }
    if (meta.kind === "share") return [`${point.y} · ${meta.kinds[i]}`, `${meta.name}: ${three(point.x)} %`];
    if (meta.kind === "winner") return meta.words[i];
    if (meta.kind === "energy") {
      return [
        `${meta.words} · D = ${three(meta.dvfs[i])}`, `latency ${three(point.x)} of the interval`,
        `mean power ${three(point.y)} W`,
      ];
    }
    if (meta.kind === "fitted") return [meta.words[i], `${three(point.x)}: ${three(point.y)}`];
    return meta.words ? [String(meta.words)] : null;
  }

  /** Keys: the tabs, the crosshair of a focused panel, simulate. */
  function press(event) {
    const tabs = Object.keys(page.spec ? page.spec.tabs : {});
    if (tabs[Number(event.key) - 1]) {
      models.set({ tab: tabs[Number(event.key) - 1] });
      return true;
    }
    if (event.key === "s" && page.kept.tab === "interrupts") {
      simulate();
      return true;
    }
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !document.activeElement || !document.activeElement.closest("[data-view]")) return false;
    const most = Number(page.kept.to), wide = event.shiftKey ? 10 : 1;
    pin(Math.min(Math.max(Number(page.kept.at) + (step * wide * most) / 300, most / 300), most));
    return true;
  }

  /* ---- what needs a server */

  function simulate() {
    if (server.simulate) server.simulate();
    else {
      page.simulated.words = "A simulation needs the server.";
      say();
    }
  }
  /** Take a measured host's costs into the sliders. */
  function useHost({ interrupt_us: interrupt, service_us: service }) {
    const rounded = (value) => Number(value.toPrecision(4));
    const now = models.values(), costs = { interrupt_us: rounded(interrupt), service_us: rounded(service) };
    models.set({ host: "measured", fig: "", tab: "interrupts" });
    const { controls } = page.spec;
    for (const [name, value] of Object.entries(costs)) {
      if (models.accepts(controls[name], value) && now[name] !== value) models.setValue(name, value);
    }
    show();
  }
  function chooseHost(name) {
    if (name !== "measured") {
      models.set({ host: name, p: "" });
      return;
    }
    const use = (fits) => {
      if (fits && fits.hosts.length) useHost(fits.hosts[0]);
      else {
        page.simulated.words = "No host could be fitted to these runs: it takes several ITR values.";
        show();
      }
    };
    if (server.host) server.host(use);
    else use(page.fits);
  }

  wattlas.modelsPage = {
    draw, show, key: press, simulate, chooseHost, server, say, painted, RUNS,
    figure: (name) => BUILDERS[name] && painted(BUILDERS[name](), "light"),
    resize: () =>
      wattlas.later(() => {
        plots().forEach((gd) => window.Plotly.Plots.resize(gd));
        placeCrosshair();
      }),
  };
})((window.wattlas = window.wattlas || {}));
