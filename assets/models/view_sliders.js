/* The controls of Models: sliders with numbers, choices, the bar of presets, the legend. Native elements. */
(function (wattlas) {
  "use strict";

  const { models } = wattlas;
  const LEAST_STEPS = 200;
  /** A step of 1, 0.1, 0.01...: a slider then stops at round values. */
  const roundStep = (low, high) => 10 ** Math.floor(Math.log10((high - low) / LEAST_STEPS));

  function element(tag, properties = {}, ...children) {
    const { data, ...others } = properties, found = Object.assign(document.createElement(tag), others);
    Object.entries(data || {}).forEach(([key, value]) => {
      found.dataset[key] = value;
    });
    found.append(...children.filter((child) => child !== null && child !== undefined));
    return found;
  }
  const label = (text, ...children) => {
    const found = element(
      "label", { className: "models-choice" },
      element("span", { textContent: text }),
      ...children,
    );
    return found;
  };

  function select(name, value, options, change) {
    const found = element(
      "select", { className: "plain" },
      ...options.map(([key, text]) =>
        element("option", { value: key, textContent: text, selected: String(key) === String(value) }),
      ),
    );
    found.setAttribute("aria-label", name);
    found.addEventListener("change", () => change(found.value));
    return found;
  }

  /* ---- one parameter */

  function slider(key, control, value, change) {
    const [low, high] = control.slider || control.range;
    const range = element("input", {
      type: "range", min: low, max: high,
      step: control.isWhole ? 1 : roundStep(low, high),
      value, data: { control: key },
    });
    range.setAttribute("aria-label", control.title);
    const number = element("input", { type: "number", value, step: "any", data: { number: key } });
    number.setAttribute("aria-label", `${control.title}${control.unit ? ", " + control.unit : ""}`);
    const take = (text) => {
      const wanted = control.isWhole ? Math.round(Number(text)) : Number(Number(text).toPrecision(6));
      const isGood = text !== "" && models.accepts(control, wanted);
      number.setCustomValidity(isGood ? "" : `${control.title} must be from ${control.range.join(" to ")}`);
      number.classList.toggle("missed", !isGood);
      if (isGood) change(wanted);
      return isGood ? wanted : null;
    };
    range.addEventListener("input", () => {
      models.page.isDragging = true;
      number.value = Number(Number(range.value).toPrecision(6));
      take(range.value);
    });
    range.addEventListener("change", () => {
      models.page.isDragging = false;
      wattlas.modelsPage.draw();
    });
    number.addEventListener("change", () => {
      const taken = take(number.value);
      if (taken !== null) range.value = taken;
      else number.reportValidity();
    });
    return element(
      "div", { className: "models-slider", title: control.sentence },
      element("span", { className: "models-name", textContent: control.title }),
      number,
      element("span", { className: "models-unit", textContent: control.unit }),
      range,
    );
  }

  function choice(key, control, value, change) {
    const words = (option) => option === true ? "yes" : option === false ? "no" : option.replace("_", " ");
    const options = control.range.map((option) => [String(option), words(option)]);
    const found = select(control.title, String(value), options, (text) =>
      change(typeof control.default === "boolean" ? text === "true" : text),
    );
    found.dataset.control = key;
    const whole = label(control.title, found);
    whole.title = control.sentence;
    return whole;
  }
  const one = (key, control, value, change) =>
    (control.isChoice ? choice : slider)(key, control, value, (wanted) => change(key, wanted));

  /** The sidebar's controls: those of the shown schemes, or those of energy. */
  function controls(root) {
    const { spec, kept } = models.page;
    if (kept.tab === "fit") {
      root.replaceChildren(...runControls());
      return;
    }
    const isEnergy = kept.tab === "energy", all = isEnergy ? spec.energy : spec.controls;
    const now = isEnergy ? models.energyValues() : models.values();
    const used = new Set(models.curves().flatMap(({ scheme }) => Object.values(scheme.controls)));
    const isBursty = now.traffic === "bursty";
    const keys = Object.keys(all).filter(
      (key) => isEnergy || (used.has(key) && (isBursty || !["reading", "link"].includes(key))),
    );
    const rows = keys.map((key) =>
      one(key, all[key], now[key], isEnergy ? models.setEnergy : models.setValue),
    );
    const first = keys.filter((key) => !all[key].isChoice).map((key) => rows[keys.indexOf(key)]);
    const rest = keys.filter((key) => all[key].isChoice).map((key) => rows[keys.indexOf(key)]);
    root.replaceChildren(
      element("div", { className: "sidebar-title", textContent: "Parameters" }),
      ...first,
      ...rest,
      ...(isEnergy ? [] : loadControls()),
    );
  }

  function loadControls() {
    const { kept } = models.page;
    const numbers = [["to", "load axis to, Kpps"], ["limit", "latency limit, us"], ["seed", "seed"]];
    return [...numbers.map(([key, title]) => plainNumber(key, title, kept[key])), ...runControls()];
  }
  function plainNumber(key, title, value) {
    const found = element("input", { type: "number", min: 0, step: "any", value, data: { key } });
    found.setAttribute("aria-label", title);
    found.addEventListener("change", () => {
      const wanted = Number(found.value),
        isGood = key === "seed" ? Number.isInteger(wanted) && wanted >= 0 : wanted > 0;
      found.classList.toggle("missed", !isGood);
      if (isGood) models.set({ [key]: wanted });
    });
    return label(title, found);
  }
  /** What runs without logs do not say of themselves. */
  function runControls() {
    const { kept } = models.page;
    return [
      element("div", { className: "sidebar-title", textContent: "Runs without logs" }),
      plainNumber("cores", "cores that served", kept.cores),
      plainNumber("tsc", "TSC, GHz", kept.tsc),
      element("p", { className: "quiet", textContent: "Runs with logs have both in the lake." }),
    ];
  }

  /* ---- the bar and the legend */

  const toggle = (key, title, first, second) => {
    const found = element("button", { className: "plain", textContent: title, data: { toggle: key } });
    const isOn = String(models.page.kept[key]) === String(second);
    found.setAttribute("aria-pressed", String(isOn));
    found.addEventListener("click", () => models.set({ [key]: isOn ? first : second }));
    return found;
  };

  function tabs() {
    const { spec, kept } = models.page;
    const found = element(
      "div", { className: "models-tabs" },
      ...Object.entries(spec.tabs).map(([key, title]) => {
        const button = element("button", {
          className: "models-tab-button", textContent: title, data: { tab: key },
        });
        button.setAttribute("role", "tab");
        button.setAttribute("aria-selected", String(key === kept.tab));
        button.addEventListener("click", () => models.set({ tab: key }));
        return button;
      }),
    );
    found.setAttribute("role", "tablist");
    return found;
  }

  function bar(root) {
    const { spec, kept } = models.page, parts = [tabs()];
    if (kept.tab === "interrupts") {
      const hosts = Object.entries(spec.hosts).map(([key, { title }]) => [key, title]);
      const figures = [
        ["", "schemes of the legend"],
        ...Object.entries(spec.figures).map(([k, f]) => [k, f.title]),
      ];
      parts.push(
        label("host", select("host", kept.host, hosts, wattlas.modelsPage.chooseHost)),
        label("curves", select("curves", kept.fig, figures, chooseFigure)),
        toggle("scale", "linear latency", "log", "linear"),
        toggle("latency", "p99", "mean", "p99"),
        toggle("runs", "runs", false, true),
        simulateButton(),
      );
    } else if (kept.tab === "energy") {
      const multiples = Object.entries(spec.multiples).map(([key, { title }]) => [key, title]);
      parts.push(
        label("curves", select("curves", kept.multiples, multiples, (key) => models.set({ multiples: key }))),
      );
    } else {
      const against = [
        ["dvfs_ghz", "frequency"],
        ["itr_us", "ITR"],
        ["busy_share", "busy share"],
        ["load_qps", "load"],
      ];
      const fits = Object.entries(spec.fits);
      parts.push(
        label("fit of", select("fit of", kept.fit, fits, (key) => models.set({ fit: key }))),
        label(
          "residuals against",
          select("residuals against", kept.against, against, (key) => models.set({ against: key })),
        ),
      );
    }
    const note = kept.tab === "interrupts" ? spec.hosts[kept.host].note : "";
    root.replaceChildren(...parts, element("span", { className: "quiet", textContent: note }));
  }
  const FIRST_TO_KPPS = 300;
  /** A figure's own values take the place of what the visitor has changed. */
  function chooseFigure(key) {
    const { to, latency_to: latencyTo } = models.page.spec.figures[key] || {};
    models.set({ fig: key, p: "", zoom: "", to: to || FIRST_TO_KPPS, scale: latencyTo ? "linear" : "log" });
  }

  function simulateButton() {
    const button = element("button", { className: "plain", id: "models-simulate" });
    button.addEventListener("click", wattlas.modelsPage.simulate);
    const progress = element("progress", { id: "models-progress" });
    progress.setAttribute("aria-label", "curves that are simulated");
    showJob(button, progress);
    return element("span", { className: "models-job" }, button, progress);
  }
  /** Show how far the simulation is; the button stays, so that a click and the focus are not lost. */
  function showJob(
    button = document.getElementById("models-simulate"),
    progress = document.getElementById("models-progress"),
  ) {
    if (!button || !progress) return;
    const { status, labels, results } = models.page.simulated,
      isRunning = status === "running" || status === "waiting",
      text = isRunning ? "cancel" : "simulate";
    if (button.textContent !== text) button.textContent = text;
    progress.max = Math.max(labels.length, 1);
    progress.value = results.length;
    progress.hidden = !isRunning;
  }

  const KINDS = [
    ["paper", "paper"],
    ["exact", "exact"],
    ["\u25CF", "simulated, 95 % (open: slow to converge)"],
    ["\u2606", "published"],
    ["\u25CB", "measured"],
  ];
  const GLYPHS = {
    circle: "\u25CF", diamond: "\u25C6", square: "\u25A0", "triangle-up": "\u25B2", "triangle-down": "\u25BC",
    pentagon: "\u2B1F",
  };

  function legend(root) {
    const { spec, kept } = models.page;
    root.hidden = kept.tab !== "interrupts";
    const glyph = (hue, symbol) => {
      const found = element("span", { textContent: GLYPHS[symbol] + " " });
      found.style.color = hue;
      found.setAttribute("aria-hidden", "true");
      return found;
    };
    const entries = kept.fig
      ? models
          .curves()
          .map(({ label: text, hue, scheme }) =>
            element("span", { className: "models-entry" }, glyph(hue, scheme.symbol), text),
          )
      : spec.schemes.map((scheme) => {
          const isOn = kept.scheme.split(",").includes(scheme.name);
          const found = element(
            "button",
            { className: "plain", title: scheme.sentence, data: { scheme: scheme.name } },
            glyph(scheme.hue, scheme.symbol),
            scheme.title,
          );
          found.setAttribute("aria-pressed", String(isOn));
          found.addEventListener("click", () =>
            models.set({
              scheme:
                spec.schemes
                  .map(({ name }) => name)
                  .filter((name) => (name === scheme.name ? !isOn : kept.scheme.split(",").includes(name)))
                  .join(",") || "none",
            }),
          );
          return found;
        });
    const kinds = KINDS.map(([mark, word]) => {
      const isLine = ["paper", "exact"].includes(mark);
      const drawn = isLine
        ? element("span", { className: "models-line models-line-" + mark })
        : element("span", { textContent: mark });
      drawn.setAttribute("aria-hidden", "true");
      return element("span", { className: "models-kind" }, drawn, " " + word);
    });
    root.replaceChildren(...entries, element("span", { className: "quiet models-kinds" }, ...kinds));
  }

  wattlas.modelsControls = { controls, bar, legend, showJob };
})((window.wattlas = window.wattlas || {}));
