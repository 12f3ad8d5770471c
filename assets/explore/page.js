/* Connects Explore to Dash: clientside callbacks, state, limit, table of the selection, links. */
window.wattlas.withDash(function () {
  "use strict";
  const { wattlas } = window;

  const NAME = "explore", { explore, address, setProps } = wattlas;
  let domain = null, hasPainted = false;

  /* ---- state */

  /* The page was opened, by a load or by a link: forget earlier visits. */
  function open(spec) {
    explore.open(spec.kept.sel, spec.kept.zoom);
    [domain, slid, sent, boxed] = [null, STEPS, [], null];
    hasPainted = false;
  }

  const AXES = ["workload", "x", "y", "xlog", "ylog"];
  const isOther = (keys, a, b) => keys.some((key) => String(a[key]) !== String(b[key]));

  /* A zoom is valid for its axes only, a selection for its workload only. */
  function gathered(values, before) {
    if (before && isOther(AXES, values, before)) keep("zoom", "");
    if (before && isOther(["workload"], values, before)) keep("sel", "");
    return { ...values, ...fieldsAsked(values) };
  }

  /* The server sends the columns of a box or polygon that was drawn over other axes than these. */
  function fieldsAsked(values) {
    const clause = wattlas.clause.read(explore.clause);
    if (!clause || !clause.fields) return {};
    return clause.fields.x === values.x && clause.fields.y === values.y ? {} : { sel: explore.clause };
  }

  function keep(name, text) {
    explore[name === "sel" ? "clause" : name] = text;
    address.keep(NAME, { [name]: text });
  }

  /* ---- figures */

  /** Draw the answer of a view; what the server could not show as asked is adopted. */
  async function show(answer) {
    if (!answer) return;
    const { view, adopts } = answer;
    if (Object.keys(adopts).length) address.adopt(NAME, adopts);
    const isHidden = address.values(NAME).show === "lines";
    if (view !== "scatter" && !isHidden) await painted("scatter");
    explore.show(view, answer, wattlas.theme());
    if (view === "scatter") wattlas.later(() => { explore.paintBest(); announce(); });
  }

  /** The state for a view that is computed while it is shown: its own controls join the state. */
  function ask(state, ...values) {
    const shown = values[values.length - 1], names = window.dash_clientside.callback_context.inputs_list;
    if (!state || shown === "points") return window.dash_clientside.no_update;
    const own = names.slice(1, -1).map(({ id }, i) => [id.slice(NAME.length + 1), values[i]]);
    return { ...state, ...Object.fromEntries(own) };
  }

  /* One thread draws all figures. It draws the scatter first, the largest one; the others wait while the
     callbacks of the scatter run, and at most PATIENCE_MS longer. */
  const PATIENCE_MS = 3000;
  async function painted(id) {
    let until = performance.now() + PATIENCE_MS;
    const isDrawn = () => explore.plot(id);
    const isComing = () => wattlas.underWay().some((what) => /^callback/.test(what) && what.includes(id));
    while (!isDrawn() && performance.now() < until) {
      if (isComing()) until = performance.now() + PATIENCE_MS;
      await new Promise((done) => wattlas.later(done, 15));
    }
    if (hasPainted) return;
    await new Promise((done) => wattlas.nextFrame(() => wattlas.later(done)));
    hasPainted = true;
  }

  const showBest = () => { wattlas.later(() => { explore.paintBest(); announce(); }); };

  /* ---- the limit: the slider runs over the logarithm of the metric; its right end means no limit */

  const STEPS = 1000;
  /* Number field and slider set each other, and each publishes its new value: ignore these echoes. */
  let boxTimer = 0, slid = STEPS, sent = [], boxed = null;
  function limitOf(step) {
    if (!domain || step >= STEPS || !(domain.low > 0)) return null;
    return Number((domain.low * Math.pow(domain.high / domain.low, step / STEPS)).toPrecision(3));
  }
  function stepOf(limit) {
    if (limit === null || !domain || !(domain.low > 0) || domain.high === domain.low) return STEPS;
    const step = (STEPS * Math.log(limit / domain.low)) / Math.log(domain.high / domain.low);
    return Math.round(Math.min(Math.max(step, 0), STEPS - 1));
  }
  /* A screen reader reads the limit, not the slider's step. */
  function describeLimit(limit) {
    const thumb = document.querySelector("[role=slider][aria-label='latency limit']");
    const words = limit === null || !domain ? "no limit" : wattlas.formatQuantity(limit, domain.unit);
    if (thumb) thumb.setAttribute("aria-valuetext", words);
  }
  function slideLimit(moved) {
    const echo = sent.indexOf(moved);
    sent = sent.slice(echo + 1);
    if (echo >= 0) return;
    slid = moved;
    const limit = limitOf(slid);
    explore.drawLimit(limit);
    describeLimit(limit);
    wattlas.cancel(boxTimer);
    boxTimer = wattlas.later(() => {
      boxed = limit === null ? "" : limit;
      setProps("explore-limit", { value: boxed });
    }, 120);
  }
  /* One click sets the limit of the study, on its metric. */
  let agreed = null;
  function takeAgreed() {
    const isOwn = domain.by === address.values(NAME).by;
    agreed = isOwn ? null : domain.agreed;
    setProps(isOwn ? "explore-limit" : "explore-by", { value: isOwn ? domain.agreed : domain.by });
  }
  function setLimit(value, range) {
    const isOtherMetric = domain && range && domain.column !== range.column;
    const isOtherRange = JSON.stringify(domain) !== JSON.stringify(range);
    if (range && (!domain || isOtherMetric)) setProps("explore-limit", { suffix: " " + range.unit });
    domain = range;
    document.getElementById("explore-limit-agreed").hidden = !(range && range.agreed);
    if (isOtherMetric && (value !== "" || agreed)) {
      setProps("explore-limit", { value: agreed || "" });
      agreed = null;
      return;
    }
    const limit = Number(value) > 0 && Number.isFinite(Number(value)) ? Number(value) : null;
    wattlas.later(() => describeLimit(limit));
    explore.drawLimit(limit);
    const isEcho = value === boxed && !isOtherRange;
    boxed = null;
    if (isEcho || !range || limitOf(slid) === limit) return;
    slid = stepOf(limit);
    sent.push(slid);
    setProps("explore-limit-slider", { value: slid });
  }

  explore.openPanel = (panel) => wattlas.panels.open(NAME, panel);

  /* ---- what is selected */

  const { listed, selected } = explore;
  const logged = (indices) => indices.filter((i) => explore.columns.logged[i] > 0);

  /** Write the selection into the status line and the table. Call it after the figures are painted. */
  function announce() {
    const status = document.getElementById("status-selection");
    if (!status || !document.querySelector(".page." + NAME)) return;
    const words = explore.selectionWords();
    status.textContent = words ? words + " \u00b7 Esc clears" : "";
    document.getElementById("clear-selection").hidden = !explore.clause;
    explore.showSelected();
    offerTimeline();
  }

  const keepUrl = () => address.keep(NAME, { sel: explore.clause, zoom: explore.zoom });
  let announceTimer = 0, urlTimer = 0;
  explore.onChange((what) => {
    if (what === "selection") {
      wattlas.cancel(announceTimer);
      announceTimer = wattlas.later(announce, 30);
    }
    wattlas.cancel(urlTimer);
    urlTimer = wattlas.later(keepUrl, 150);
  });

  /* ---- links to other pages carry the filters and the selection, which the page that opens applies */

  /** A point as knobs; of one run where points are runs. */
  function knobsOf(i) {
    const { columns } = explore, { replicate: known } = columns.knobs;
    const replicate = known && wattlas.knob(columns, "replicate", i);
    const isRun = replicate !== undefined && replicate !== null;
    return { ...wattlas.configuration(columns, i), ...(isRun ? { replicate } : {}) };
  }

  /** A clause of points for other pages: the selection, or the points' knobs if the points are runs. */
  function clauseOf(indices, all) {
    if (all && address.values(NAME).rep !== "runs") return explore.clause;
    const clause = indices.length ? wattlas.clause.knobs(indices.map(knobsOf)) : "";
    return clause.length <= wattlas.clause.MAX_CHARS ? clause : "";
  }

  const handover = () => ({ sel: explore.columns ? clauseOf(selected(), true) : explore.clause });

  const MOST_RUNS = 6, NEAR_PX = 12;
  explore.hint = (i) => {
    const hasLog = explore.columns.logged[i] > 0;
    const more = hasLog ? "double-click: timeline" : "no timeline: no per-interrupt log";
    return "click: pin \u00b7 " + more;
  };

  /** Go to the timeline of some points; Explore's tab leads back to this state. */
  function openTimeline(indices, all) {
    const can = logged(indices);
    if (!can.length) {
      wattlas.say(indices.length ? "no per-interrupt log, so no timeline" : "select points first, then t");
      return;
    }
    const sel = clauseOf(indices, all) || clauseOf(can.slice(0, MOST_RUNS), false);
    // Write the URL now, not later as after other selections: Explore's tab then leads back to this state.
    keepUrl();
    wattlas.openPage("timeline", wattlas.linkQuery(NAME, "timeline", { sel }));
  }

  /** Say on the button how many of the selected points have a timeline. */
  function offerTimeline() {
    const button = document.getElementById("selected-timeline");
    if (!button || !explore.columns) return;
    const all = listed(), can = logged(all);
    button.hidden = !(explore.clause ? all : can).length;
    button.disabled = !can.length;
    const few = can.length ? "timeline (t)" : "no timeline";
    button.textContent = can.length > MOST_RUNS ? "timeline of " + MOST_RUNS + " (t)" : few;
    const some = all.length + (all.length === 1 ? " point" : " points");
    button.title = can.length
      ? can.length + " of " + some + " with a per-interrupt log"
      : "no per-interrupt log behind " + some + ": summary tables hold none";
  }

  /* Run before Plotly: the second press of a double click on a point would clear selection and zoom. */
  document.addEventListener("mousedown", (event) => {
    const isDouble = event.detail === 2 && event.button === 0;
    const gd = isDouble && wattlas.closest(event, "#scatter") && explore.plot("scatter");
    const { under: i, columns } = explore;
    if (!gd || i === null || !columns) return;
    const { fields } = gd.layout.meta, of = (axis) => columns.fields[fields[axis]][i];
    const at = wattlas.place(gd, of("x"), of("y"));
    if (Math.hypot(at.clientX - event.clientX, at.clientY - event.clientY) > NEAR_PX) return;
    event.stopPropagation();
    event.preventDefault();
    explore.select(wattlas.clause.knobs(wattlas.configuration(columns, i)));
    openTimeline([i], false);
  }, true);

  function pressed(event) {
    const { columns, mask, under } = explore;
    if (event.key !== "t" || !columns) return explore.key(event);
    const isPointed = document.getElementById("hover-card").style.display === "block" && under !== null;
    if (mask) openTimeline(selected(), true); else openTimeline(isPointed ? [under] : listed(), false);
    return true;
  }

  document.addEventListener("click", (event) => {
    if (wattlas.closest(event, "#selected-timeline")) openTimeline(listed(), Boolean(explore.mask));
    if (wattlas.closest(event, "#clear-selection")) explore.select("");
    if (wattlas.closest(event, "#explore-limit-agreed") && domain) takeAgreed();
    const nearest = wattlas.closest(event, "[data-limit]");
    if (nearest) setProps("explore-limit", { value: Number(nearest.dataset.limit) });
  });

  wattlas.addPage({
    name: NAME, open, gathered, handover, key: pressed, clear: explore.clear, resize: explore.resize,
    theme: explore.paint,
    figure: explore.paper,
  });
  wattlas.clientside(NAME, { show, ask, showBest, slideLimit, setLimit });
});
