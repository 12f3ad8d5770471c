/*
 * Models on the screen: figures of the shown tab, one crosshair through the panels, the pointer's card.
 * Independent of Dash: page.js registers the functions that need a server.
 */
(function (wattlas) {
  "use strict";

  const { models } = wattlas, { page } = models, { three } = wattlas.modelsFigures;
  const PREFIX = "models-", PANELS = ["throughput", "cpu", "latency", "loss"];
  const { panel, lines: linesOf, itr, loadWords } = wattlas.modelsFigures;
  const { stack, best, crosshairTable } = wattlas.modelsSchemes;
  const { energy, plane, predicted, residuals, table } = wattlas.modelsFit;
  const { sources, sizes, table1 } = wattlas.modelsTraffic;
  const BUILDERS = {
    ...Object.fromEntries(PANELS.map((name) => [name, () => panel(name)])),
    stack, itr, best, energy, plane, predicted, residuals, sources, sizes,
  };
  const TABS = {
    interrupts: [...PANELS, "stack", "itr", "best"], energy: ["energy", "plane"], fit: ["predicted",
      "residuals"],
    traffic: ["sources", "sizes"],
  };
  /* The tables of each tab. */
  const TABLES = {
    interrupts: { crosshair: () => crosshairTable(simulateMissing) }, energy: {},
    fit: { fits: () => table(useHost) }, traffic: { table1: () =>
      table1(wattlas.modelsControls.chooseFigure) },
  };
  /* Functions that need a server; an export has none of them. */
  const server = { simulate: null, fit: null };
  const part = (name) => document.getElementById(PREFIX + name);

  /* ---- figures, built here and drawn by the kit */

  const viewOf = (name) => ({
    id: PREFIX + name, lines: cardLines,
    ...(PANELS.includes(name) && { drawn: zoomed, reset: unzoomed }),
  });
  const names = Object.keys(BUILDERS);
  const pictures = wattlas.linked({ views: Object.fromEntries(names.map((name) => [name, viewOf(name)])) });

  if (wattlas.openings) wattlas.openings.models = function ({ spec, kept }, theme) {
    Object.assign(page, { spec, kept, theme });
    return wattlas.themedFigure(BUILDERS[TABS[kept.tab][0]](), theme);
  };

  /** All panels and the strip below follow the load axis of one. */
  function zoomed(gd) {
    const ends = gd._fullLayout.xaxis.range;
    const isAll = ends[0] <= 0 && ends[1] >= models.loadEnd() * (1 - 1e-9);
    const text = ends.map((end) => Number(Math.max(0, end).toPrecision(5))).join("~");
    models.set({ zoom: isAll ? "" : text });
  }
  function unzoomed() {
    page.resets += 1;
    models.set({ zoom: "" });
    draw();
  }

  /* While a slider moves, only the lines follow, which takes a third of the time of a whole figure. */
  const AT_ONCE = { transition: { duration: 0 }, frame: { duration: 0, redraw: false }, mode: "immediate" };
  function moveLines(name) {
    const gd = part(name), lines = linesOf(name), traces = wattlas.tracesOf(gd.data || [], "curve");
    if (traces.length !== lines.length) drawViews([name]);
    else if (traces.length) {
      window.Plotly.animate(gd, { data: lines.map(({ x, y }) => ({ x, y })), traces }, AT_ONCE);
    }
  }
  const PAUSE_MS = 150;
  let pause = 0, frame = 0;
  /** Follow a moving slider: lines at once, whole figures when it pauses. */
  function follow() {
    wattlas.cancel(frame);
    wattlas.cancel(pause);
    frame = wattlas.nextFrame(() => PANELS.forEach(moveLines));
    pause = wattlas.later(() => {
      page.isDragging = false;
      draw();
    }, PAUSE_MS);
  }

  const drawViews = (some) => pictures.showAll(
    Object.fromEntries(some.map((name) => [name, { figure: BUILDERS[name]() }])), page.theme);
  const asked = new Set();
  /** Draw what the shown tab has, at the next frame; earlier requests are merged. */
  function draw(some = TABS[page.kept.tab]) {
    some.forEach((name) => asked.add(name));
    wattlas.cancel(frame);
    wattlas.cancel(pause);
    frame = wattlas.nextFrame(() => {
      const { tab } = page.kept;
      drawViews(TABS[tab].filter((name) => asked.has(name)));
      asked.clear();
      for (const [name, build] of Object.entries(TABLES[tab])) part(name).replaceChildren(build());
      if (tab === "interrupts") wattlas.modelsQuestions.write(part("questions"), showAnswer);
      placeCrosshair();
      say();
    });
  }

  function showTab() {
    for (const tab of document.querySelectorAll("[data-tab-panel]")) {
      tab.hidden = tab.dataset.tabPanel !== page.kept.tab;
      tab.dataset.multiples = page.kept.multiples;
    }
    part("questions").hidden = page.kept.tab !== "interrupts";
    wattlas.modelsControls.bar(part("bar"));
    wattlas.modelsControls.legend(part("legend"));
  }
  const drawControls = () => wattlas.modelsControls.controls(part("controls"));

  /** Draw everything: the page was opened, or the theme has changed. */
  function show() {
    showTab();
    drawControls();
    draw();
  }

  models.onChange((keys) => {
    const areAll = (...some) => keys.every((key) => some.includes(key));
    if (areAll("at")) {
      draw(["stack", "sources"]);
      for (const input of document.querySelectorAll('input[data-key="at"]')) input.value = page.kept.at;
    }
    else if (areAll("under")) draw(["best"]);
    else if (areAll("zoom")) draw();
    else if (areAll("p", "e")) moved();
    else {
      const isOther = ["fig", "host", "to", "seed", "sizes"].some((key) => keys.includes(key));
      if (isOther) models.forgetSimulation();
      show();
    }
  });
  /* A slider has moved. The control that has the focus keeps it: then no control is drawn anew. */
  function moved() {
    models.forgetSimulation();
    if (!page.isDragging) {
      showTab();
      if (!part("controls").contains(document.activeElement)) drawControls();
    }
    if (page.isDragging && page.kept.tab === "interrupts") follow();
    else draw();
  }

  /** Write into the status line and the button what is shown and simulated. */
  function say() {
    const status = part("status"), { runs, kept, spec, simulated } = page;
    if (!status) return;
    placeNeeds();
    wattlas.modelsControls.showJob();
    wattlas.modelsControls.sayAssumptions();
    wattlas.modelsControls.sayLoads();
    const { chosen } = spec.figures[kept.fig] || {}, isOfFigure = ["interrupts",
      "traffic"].includes(kept.tab);
    const said = [kept.tab === "interrupts" && models.hostWords(), isOfFigure && chosen &&
      `chosen by us: ${chosen}`];
    part("host-words").textContent = said.filter(Boolean).join(" · ");
    const count = runs && runs.runs ? `${runs.runs.toLocaleString("en")} runs beside the models` : "";
    const isBeside = kept.runs && ["interrupts", "energy"].includes(kept.tab);
    const ofRuns = isBeside && runs ? [count, runs.words] : [];
    const ofSimulation = simulated.words || simulated.status !== "done" ? [simulated.words] :
      resultWords(simulated);
    const words = [
      ...(spec.lakeIsEmpty ? ["The lake holds no runs yet: curves only."] : ofRuns),
      ...(isOfFigure ? ofSimulation : []),
      kept.sel && "runs of a selection",
    ];
    // In a narrow window its end is cut.
    status.title = status.textContent = words.filter(Boolean).join(" · ");
  }
  function resultWords({ results }) {
    const done = results.filter(({ refused }) => !refused);
    const refusals = results.filter(({ refused }) => refused);
    const slow = done.flatMap(({ is_slow: flags }) => flags).filter(Boolean).length;
    const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
    return [
      `simulated: ${counted(done.length, "curve")}` +
        (slow ? `, ${counted(slow, "rate")} slow to converge` : ""),
      ...refusals.map(({ label, refused }) => `${label} refused: ${refused}`),
    ];
  }

  /* ---- the crosshair */

  const plots = () => PANELS.map((name) => wattlas.plot(PREFIX + name)).filter((gd) => gd && gd._fullLayout);
  function lineOf(gd) {
    if (!gd.querySelector(".models-crosshair")) {
      gd.append(wattlas.element("div", { className: "models-crosshair" }));
    }
    return gd.querySelector(".models-crosshair");
  }
  /** Put the line at a rate into all panels; at the pinned one without an argument. */
  function placeCrosshair(rate = Number(page.kept.at)) {
    for (const gd of plots()) {
      const { xaxis, yaxis } = gd._fullLayout, line = lineOf(gd);
      if (!xaxis || !xaxis.visible) continue;
      const left = `${xaxis._offset + xaxis.d2p(rate)}px`;
      line.hidden = rate < xaxis.range[0] || rate > xaxis.range[1];
      Object.assign(line.style, { left, top: `${yaxis._offset}px`, height: `${yaxis._length}px` });
    }
  }
  /** Name in each panel the curves that need a simulation or are simulated; a click simulates them. */
  function placeNeeds() {
    const { labels, words } = models.unsimulated(), isRunning = models.isRunning();
    const who = labels.length > 1 ? `${labels.length} schemes` : labels[0];
    for (const gd of plots()) {
      const head = gd.closest(".panel").querySelector(".panel-head");
      let note = head.querySelector(".models-needs");
      if (!note) {
        const onclick = () => simulateMissing();
        note = wattlas.element("button", { className: "plain models-needs", onclick });
        head.prepend(note);
      }
      note.hidden = !labels.length;
      note.disabled = isRunning;
      note.textContent = `${who}: ${isRunning ? "simulating" : words}`;
      note.title = labels.join(", ");
    }
  }

  /** Show what a question is about: a state, and the picture. */
  function showAnswer(state, picture) {
    models.set({ tab: "interrupts", ...state });
    simulateMissing();
    focus(picture);
  }
  /** Bring a picture into view and mark it. */
  function focus(name) {
    const around = name && part(name).closest("[data-view]");
    for (const marked of document.querySelectorAll(".models-marked")) {
      marked.classList.remove("models-marked");
    }
    if (!around) return;
    around.classList.add("models-marked");
    wattlas.nextFrame(() => around.scrollIntoView({ block: "nearest" }));
  }

  const pin = (rate) => models.set({ at: Number(Math.max(rate, 0.01).toPrecision(4)) });

  let hovered = 0;
  addEventListener("pointermove", (event) => {
    const around = page.spec && wattlas.closest(event, "[data-view]");
    const name = around && around.dataset.view.slice(PREFIX.length);
    const gd = PANELS.includes(name) && wattlas.plot(PREFIX + name);
    const axis = gd && gd._fullLayout && gd._fullLayout.xaxis;
    if (!axis) {
      if (hovered) placeCrosshair();
      hovered = 0;
      return;
    }
    const x = axis.p2d(event.clientX - gd.getBoundingClientRect().left - axis._offset);
    if (x < axis.range[0] || x > axis.range[1]) return;
    hovered = x;
    placeCrosshair(x);
  }, { passive: true });
  document.addEventListener("click", (event) => {
    if (hovered && wattlas.closest(event, ".nsewdrag")) pin(hovered);
  });

  /* The lines of the card of a point, by the kind of its trace. */
  const CARDS = {
    curve: ({ label, solution }, _, y, i, { x }) =>
      [`${label} · ${solution}`, `${loadWords(x[i])}: ${y}`, "click: crosshair"],
    simulated({ label, slow }, _, y, i, { x, error_y: { array } }) {
      const warning = slow[i] ? "slow to converge: precision not reached" : "";
      return [`${label} · simulated`, `${loadWords(x[i])}: ${y} \u00B1 ${three(array[i])} (95 %)`, warning];
    },
    published: ({ words }, x, y, i) => [words[i], "published"],
    measured: ({ words, isResidual }, x, y, i) =>
      [words[i], isResidual ? `measured / model: ${y}` : `${x}: ${y}, measured`],
    share: ({ name, kinds }, x, y, i, { y: labels }) => [`${labels[i]} · ${kinds[i]}`, `${name}: ${x} %`],
    winner: ({ words }, x, y, i) => words[i],
    energy: ({ words, dvfs }, x, y, i) =>
      [`${words} · D = ${three(dvfs[i])}`, `latency ${x} of the interval`, `mean power ${y} W`],
    fitted: ({ words }, x, y, i) => [words[i], `${x}: ${y}`],
    model: ({ words }, x, y, i) => [words[i], `${x} us, ${y} W`],
    sending: (_, x, y) => [`from ${x} us on ${y} sources send`],
    bin: ({ width }, _, y, i, { x }) => [`${x[i] - width / 2} to ${x[i] + width / 2 - 1} bytes: ${y} %`],
    cumulated: (_, x, y) => [`up to ${x} bytes: ${y} %`],
    best: ({ words }) => [words],
    least: ({ words }) => [words],
  };
  function cardLines({ trace, i }) {
    const card = CARDS[trace.meta.kind];
    return card ? card(trace.meta, three(trace.x[i]), three(trace.y[i]), i, trace) : null;
  }

  /** Keys: the tabs, the crosshair of a focused panel, simulate. */
  function press(event) {
    const { spec, kept } = page, tab = Object.keys(spec ? spec.tabs : {})[Number(event.key) - 1];
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], focused = document.activeElement;
    if (tab) models.set({ tab });
    else if (event.key === "s" && kept.tab === "interrupts") simulate();
    else if (step && focused && focused.closest("[data-view]")) {
      const most = models.mostKpps(), wide = event.shiftKey ? 10 : 1;
      pin(Math.min(Math.max(Number(kept.at) + (step * wide * most) / 300, most / 300), most));
    } else return false;
    return true;
  }

  /* ---- what needs a server */

  /** Simulate all shown curves, or only those that have no formula. */
  function simulate(of = "all") {
    if (server.simulate) { server.simulate(of); return; }
    page.simulated.words = "A simulation needs the server.";
    say();
  }
  function simulateMissing() {
    if (models.unsimulated().labels.length) simulate("needed");
  }
  /** Take a measured host's costs into the sliders. */
  function useHost(host) {
    models.set({ host: "measured", fig: "", tab: "interrupts" });
    takeCosts(host);
    show();
  }
  function takeCosts(host) {
    const { controls } = page.spec, now = models.values();
    for (const [name, value] of Object.entries(models.costsOf(host))) {
      if (models.accepts(controls[name], value) && now[name] !== value) models.setValue(name, value);
    }
  }
  function chooseHost(name) {
    models.set({ host: name, p: "" });
    if (name !== "measured") return;
    if (page.fits) answered();
    else if (server.fit) server.fit();
  }
  /** Runs or fits have arrived, or could not be read. A measured host without costs takes the first fit. */
  function answered() {
    const [first] = page.fits ? page.fits.hosts : [];
    if (first && page.kept.host === "measured" && !models.hasOwnCosts()) takeCosts(first);
    draw();
  }

  wattlas.modelsPage = {
    draw, show, answered, key: press, simulate, simulateMissing, focus, chooseHost, server, say, pin,
    open: pictures.open, figure: pictures.paper,
    resize: () => wattlas.later(() => {
      pictures.resize();
      placeCrosshair();
    }),
  };
})((window.wattlas = window.wattlas || {}));
