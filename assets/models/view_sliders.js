/* The controls of Models: sliders with numbers, choices, the bar of presets, the legend. */
(function (wattlas) {
  "use strict";

  const { models, element } = wattlas;
  const LEAST_STEPS = 200, OURS = "chosen by us: the study does not print it";
  /** A step of 1, 0.1, 0.01...: a slider then stops at round values. */
  const roundStep = (low, high) => 10 ** Math.floor(Math.log10((high - low) / LEAST_STEPS));
  const rounded = (text) => Number(Number(text).toPrecision(6));
  const hidden = { "aria-hidden": "true" };

  const label = (text, child, title = "") =>
    element("label", { className: "models-choice", title }, element("span", { textContent: text }), child);

  const select = (name, value, options, change, data = {}) =>
    wattlas.select(name, options, value, { data, onchange: ({ target }) => change(target.value) });

  /** Fill a part anew; the focus stays on the control that had it. */
  function refill(root, ...parts) {
    const nameOf = (part) => part.getAttribute("aria-label") || part.textContent;
    const name = root.contains(document.activeElement) && nameOf(document.activeElement);
    root.replaceChildren(...parts);
    const again = name && [...root.querySelectorAll("button")].find((one) => nameOf(one) === name);
    if (again) again.focus();
    wattlas.oneStops(root);
  }

  /* ---- one parameter */

  function slider(key, control, value, change) {
    const { title, unit } = control, [low, high] = control.slider || control.range;
    const range = element("input", {
      type: "range", className: "slider", min: low, max: high, value,
      step: control.isWhole ? 1 : roundStep(low, high), data: { control: key },
      attributes: { "aria-label": title },
    });
    const fill = () => range.style.setProperty("--at", (range.value - low) / (high - low));
    fill();
    const number = element("input", {
      type: "number", className: "field", value, step: "any", data: { number: key },
      attributes: { "aria-label": unit ? `${title}, ${unit}` : title },
    });
    const take = (text) => {
      const wanted = control.isWhole ? Math.round(Number(text)) : rounded(text);
      const isGood = text !== "" && models.accepts(control, wanted);
      number.setCustomValidity(isGood ? "" : `${title} must be from ${control.range.join(" to ")}`);
      number.classList.toggle("missed", !isGood);
      if (isGood) change(key, wanted);
      return isGood ? wanted : null;
    };
    range.oninput = () => {
      models.page.isDragging = true;
      number.value = rounded(range.value);
      fill();
      take(range.value);
    };
    range.onchange = () => {
      models.page.isDragging = false;
      wattlas.modelsPage.draw();
    };
    number.onchange = () => {
      const taken = take(number.value);
      if (taken === null) { number.reportValidity(); return; }
      range.value = taken;
      fill();
    };
    const words = (className, textContent) => element("span", { className, textContent });
    return element(
      "div", { className: "models-slider", title: control.sentence },
      element("span", { className: "models-name" }, title, ours(control)), number, words("models-unit",
        unit), range,
    );
  }

  /** The sign of a value that the study does not print. */
  const ours = ({ isPrinted }) =>
    (isPrinted ? null : element("span", { className: "models-ours", textContent: " ours", title: OURS }));

  function choice(key, { title, isPrinted, sentence, range, default: normal }, value, change) {
    const words = (option) => ({ true: "yes", false: "no" })[option] || option.replace("_", " ");
    const options = range.map((option) => [String(option), words(option)]);
    const take = (text) => change(key, typeof normal === "boolean" ? text === "true" : text);
    const found = label(title, select(title, value, options, take, { control: key }), sentence);
    found.firstChild.append(ours({ isPrinted }) || "");
    return found;
  }

  /** The sidebar's controls: those of the shown schemes, or those of energy. */
  function controls(root) {
    const { spec, kept } = models.page, isEnergy = kept.tab === "energy";
    const wasOpen = Boolean(root.querySelector(".models-assumptions[open]"));
    if (kept.tab === "fit") { root.replaceChildren(...runControls()); return; }
    if (kept.tab === "traffic") {
      root.replaceChildren(...atControls(), plainNumber("seed", "seed"),
        ...wattlas.modelsTraffic.sizeControls());
      return;
    }
    const all = isEnergy ? spec.energy : spec.controls, set = isEnergy ? models.setEnergy : models.setValue;
    const now = isEnergy ? models.energyValues() : models.values();
    const used = new Set(models.curves().flatMap(({ scheme }) => Object.values(scheme.controls)));
    if (now.traffic !== "bursty") ["reading", "link"].forEach((key) => used.delete(key));
    const shown = Object.entries(all).filter(([key]) => isEnergy || used.has(key));
    const rows = (wanted, make) => shown.filter(([, control]) => Boolean(control.isChoice) === wanted)
      .map(([key, control]) => make(key, control, now[key], set));
    if (isEnergy) {
      const title = element("div", { className: "sidebar-title", textContent: "Parameters" });
      root.replaceChildren(title, ...rows(false, slider), ...rows(true, choice));
      return;
    }
    root.replaceChildren(
      ...atControls(), plainNumber("under", "latency limit, us"), plainNumber("to", "load axis to, Kpps"),
      element(
        "details", { className: "models-assumptions", open: wasOpen }, element("summary",
          { id: "models-assumed" }),
        ...rows(false, slider), ...rows(true, choice), plainNumber("seed", "seed"), ...runControls(),
      ),
    );
    sayAssumptions();
    sayLoads();
  }
  /** Say how many parameters there are, and how many the visitor has changed. */
  function sayAssumptions() {
    const words = document.getElementById("models-assumed"), own = models.page.kept.p;
    if (!words) return;
    const count = words.parentElement.querySelectorAll("[data-control]").length;
    const changed = own ? own.split(",").length : 0;
    words.textContent = `Assumptions: ${count} parameters${changed ? `, ${changed} changed` : ""}`;
  }

  const MOST_LOADS = 6;
  const atControls = () => [
    plainNumber("at", "my load, Kpps a queue"), element("div", { id: "models-loads",
      className: "models-buttons" }),
  ];
  /** Offer the loads of the runs, each by the median arrival rate of a queue. */
  function sayLoads() {
    const root = document.getElementById("models-loads"), { runs, kept } = models.page;
    if (!root) return;
    const { load_qps: loads, lam_kpps: rates } = runs && kept.runs ? runs.points : { load_qps: [],
      lam_kpps: [] };
    const known = [...new Set(loads)].filter((load) => load !== null).sort((a, b) => a - b).slice(0,
      MOST_LOADS);
    root.replaceChildren(...known.map((load) => {
      const mine = rates.filter((_, i) => loads[i] === load).sort((a, b) => a - b);
      const at = Number(mine[Math.floor(mine.length / 2)].toPrecision(3));
      return element("button", {
        className: "plain", textContent: `${load / 1e3}k QPS`,
          title: `${at} Kpps a queue, the median of the runs`,
        onclick: () => wattlas.modelsPage.pin(at),
      });
    }));
  }
  /** What runs without logs do not say of themselves. */
  const runControls = () => [
    element("div", { className: "sidebar-title", textContent: "Runs without logs" }),
    plainNumber("cores", "cores that served"), plainNumber("tsc", "TSC, GHz"),
    element("p", { className: "quiet", textContent: "Runs with logs have both in the lake." }),
  ];
  function plainNumber(key, title) {
    const found = element("input", {
      type: "number", className: "field", min: 0, step: "any",
      value: key === "to" ? models.mostKpps() : models.page.kept[key],
      data: { key }, attributes: { "aria-label": title },
    });
    found.onchange = () => {
      const wanted = Number(found.value);
      const isGood = key === "seed" ? Number.isInteger(wanted) && wanted >= 0 : wanted > 0;
      found.classList.toggle("missed", !isGood);
      if (isGood) models.set({ [key]: wanted });
    };
    return label(title, found);
  }

  /* ---- the bar and the legend */

  function toggle(key, textContent, first, second) {
    const isOn = String(models.page.kept[key]) === String(second);
    const onclick = () => models.set({ [key]: isOn ? first : second });
    const attributes = { "aria-pressed": String(isOn) };
    return element("button", { className: "plain", textContent, onclick, data: { toggle: key }, attributes });
  }

  function tabs() {
    const { spec, kept } = models.page;
    const buttons = Object.entries(spec.tabs).map(([key, textContent]) => element("button", {
      className: "section-tab", textContent, onclick: () => models.set({ tab: key }),
      data: { tab: key }, attributes: { role: "tab", "aria-selected": String(key === kept.tab) },
    }));
    return element("div", { className: "models-tabs", attributes: { role: "tablist" } }, ...buttons);
  }

  const AGAINST = [
    ["dvfs_ghz", "frequency"], ["itr_us", "ITR"], ["busy_share", "busy share"], ["load_qps", "load"],
  ];
  /** The menu of one key of the state. */
  function menu(key, name, options, change = (value) => models.set({ [key]: value })) {
    return label(name, select(name, models.page.kept[key], options, change));
  }
  const titled = (all) => Object.entries(all).map(([key, { title }]) => [key, title]);

  const figureMenu = ({ figures }) =>
    menu("fig", "curves", [["", "schemes of the legend"], ...titled(figures)], chooseFigure);
  const BARS = {
    interrupts: (spec) => [
      menu("host", "host", titled(spec.hosts), wattlas.modelsPage.chooseHost), figureMenu(spec),
      toggle("scale", "linear latency", "log", "linear"), toggle("latency", "p99", "mean", "p99"),
      toggle("runs", "runs", false, true), simulateButton(),
    ],
    energy: ({ multiples }) => [menu("multiples", "curves", titled(multiples)), toggle("runs", "runs", false,
      true)],
    traffic: (spec) => [figureMenu(spec), simulateButton()],
    fit: ({ fits }) => [
      menu("fit", "fit of", Object.entries(fits)), menu("against", "residuals against", AGAINST),
    ],
  };
  function bar(root) {
    const { spec, kept } = models.page;
    const words = element("span", { className: "quiet", id: "models-host-words" });
    refill(root, tabs(), ...BARS[kept.tab](spec), words);
  }
  /** A figure's own values take the place of what the visitor has changed. */
  function chooseFigure(key) {
    const { latency_to: latencyTo, tab, focus } = models.page.spec.figures[key] || {};
    models.set({
      fig: key, p: "", zoom: "", to: "", scale: latencyTo ? "linear" : "log", tab: tab || "interrupts",
    });
    wattlas.modelsPage.simulateMissing();
    wattlas.modelsPage.focus(focus);
  }

  function simulateButton() {
    const onclick = () => wattlas.modelsPage.simulate(), attributes = { "aria-label":
      "curves that are simulated" };
    const button = element("button", { className: "plain", id: "models-simulate", onclick });
    const progress = element("progress", { id: "models-progress", attributes });
    showJob(button, progress);
    return element("span", { className: "models-job" }, button, progress);
  }
  /** Show how far the simulation is; the button stays, so that a click and the focus are not lost. */
  function showJob(
    button = document.getElementById("models-simulate"),
    progress = document.getElementById("models-progress"),
  ) {
    if (!button || !progress) return;
    const { labels, results } = models.page.simulated, isRunning = models.isRunning();
    const text = isRunning ? "cancel" : "simulate";
    if (button.textContent !== text) button.textContent = text;
    Object.assign(progress, { max: Math.max(labels.length, 1), hidden: !isRunning });
    progress.value = results.filter((one) => !one.is_first).length;
  }

  const SIGNS = {
    circle: "\u25CF", diamond: "\u25C6", square: "\u25A0", "triangle-up": "\u25B2", "triangle-down": "\u25BC",
    pentagon: "\u2B1F",
  };
  const KINDS = [
    [{ className: "models-line models-line-paper" }, "paper"],
    [{ className: "models-line models-line-exact" }, "exact"],
    [{ textContent: "\u25CF" }, "simulated, 95 % (open: slow to converge)"],
    [{ textContent: "\u2606" }, "published"], [{ textContent: "\u25CB" }, "measured"],
  ];
  const sign = (hue, symbol) =>
    element("span", { textContent: SIGNS[symbol] + " ", style: "color:" + hue, attributes: hidden });

  /** The button that shows or hides a scheme. */
  function schemeButton({ name, title, sentence, hue, symbol }) {
    const { spec, kept } = models.page, shown = kept.scheme.split(","), isOn = shown.includes(name);
    const isWanted = (scheme) => (scheme.name === name ? !isOn : shown.includes(scheme.name));
    const wanted = () => spec.schemes.filter(isWanted).map((scheme) => scheme.name).join(",") || "none";
    const change = () => {
      models.set({ scheme: wanted() });
      if (!isOn) wattlas.modelsPage.simulateMissing();
    };
    return element("button", {
      className: "plain", title: sentence, onclick: change,
      data: { scheme: name }, attributes: { "aria-pressed": String(isOn) },
    }, sign(hue, symbol), title);
  }

  function legend(root) {
    const { spec, kept } = models.page;
    root.hidden = kept.tab !== "interrupts";
    const entry = ({ label: text, hue, scheme }) =>
      element("span", { className: "models-entry" }, sign(hue, scheme.symbol), text);
    const kinds = KINDS.map(([properties, words]) => {
      const mark = element("span", { ...properties, attributes: hidden });
      return element("span", { className: "models-kind" }, mark, " " + words);
    });
    refill(
      root, ...(kept.fig ? models.curves().map(entry) : spec.schemes.map(schemeButton)),
      element("span", { className: "quiet models-kinds" }, ...kinds),
    );
  }

  wattlas.modelsControls = { controls, bar, legend, showJob, sayAssumptions, sayLoads, chooseFigure };
})((window.wattlas = window.wattlas || {}));
