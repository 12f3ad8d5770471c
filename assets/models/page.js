/* Connects Models to Dash and the server: the URL, runs and fits of the filters, simulations. */
window.wattlas.withDash(function () {
  "use strict";

  const { wattlas } = window, { models, modelsPage, address } = wattlas, { page } = models;
  const NAME = "models", POLL_MS = 500, BUSY_MS = 2000, URL_MS = 120;
  const isShown = () => Boolean(document.querySelector(".page.models"));

  /** The page was opened, by a load or by a link. */
  function open({ kept }) {
    stop();
    Object.assign(page, { kept: { ...kept }, runs: null, fits: null, failed: {}, isDragging: false });
    models.forgetSimulation();
    modelsPage.open("");
  }

  /* ---- the URL is written when the controls rest; then simulations follow it */

  let urlTimer = 0, wanted = "";
  const changed = new Set();
  // Results of other values of these are of no use.
  const RESTARTS = ["p", "fig", "host", "to", "seed", "sizes"];
  function rest() {
    wattlas.cancel(urlTimer);
    urlTimer = wattlas.later(settle, URL_MS);
  }
  models.onChange((keys) => {
    keys.forEach((key) => changed.add(key));
    if (RESTARTS.some((key) => keys.includes(key))) forsake();
    rest();
  });
  function settle() {
    const { kept } = page, hasChanged = (...names) => names.some((key) => changed.has(key));
    address.keep(NAME, Object.fromEntries([...changed].map((key) => [key, kept[key]])));
    const isRestarted = hasChanged(...RESTARTS), isOfSchemes = hasChanged("scheme"),
      isMoved = hasChanged("at");
    const isOther = hasChanged("cores", "tsc"), isAsking = isOther || hasChanged("tab", "runs");
    const begun = wanted || (isOfSchemes && kept.sim ? "all" : "");
    changed.clear();
    wanted = "";
    if (isOther) forgetAnswers();
    if (isAsking) ask();
    if (isRestarted && !begun) models.set({ sim: false });
    if (begun || isRestarted || isOfSchemes) follow(begun);
    else if (isMoved && (models.hasSimulated() || models.isRunning())) followCrosshair("POST");
  }

  /* ---- runs and fits */

  async function answerOf(path, query, options) {
    try {
      const response = await wattlas.fetch(wattlas.fileOf(NAME, path, query), options);
      const body = response.json();
      return response.ok ? body : { error: body.error, isBusy: response.status === 503 };
    } catch (error) {
      return { error: "The server did not answer (" + error.message + "). Reload the page." };
    }
  }

  let turn = 0;
  function forgetAnswers() {
    turn += 1;
    Object.assign(page, { runs: null, fits: null, failed: {} });
  }
  /** Ask for what the shown tab needs of the lake and does not have. */
  async function ask() {
    if (!page.spec || page.spec.lakeIsEmpty) return;
    const { kept } = page, mine = turn;
    const isPlane = kept.tab === "energy" && kept.runs;
    if (((kept.tab === "interrupts" && kept.runs) || isPlane) && !page.runs) await take("runs", mine);
    if ((kept.tab === "fit" || isPlane || isMeasured()) && !page.fits) await take("fits", mine);
  }
  const isMeasured = () => page.kept.tab === "interrupts" && page.kept.host === "measured";
  async function take(what, mine) {
    const found = await answerOf(what);
    if (mine !== turn || !isShown()) return;
    if (found.error) {
      page.failed[what] = found.error;
      wattlas.setProps("notice", { children: found.error });
    } else page[what] = found;
    modelsPage.answered();
  }

  function gathered(values) {
    forgetAnswers();
    wattlas.later(ask);
    return values;
  }

  /* ---- simulations */

  const visitor = Math.random().toString(36).slice(2);
  const jobs = { grid: { turn: 0, name: "" }, crosshair: { turn: 0, name: "" } };

  /** Follow a job no longer; it ends if nobody else does. */
  function leave(job) {
    job.turn += 1;
    if (job.name) answerOf("cancel", `job=${job.name}&visitor=${visitor}`, { method: "POST" });
    job.name = "";
  }
  const forsake = () => Object.values(jobs).forEach(leave);
  function stop() {
    forsake();
    wanted = "";
    if (!models.isRunning()) return;
    Object.assign(page.simulated, { status: "cancelled", words: "simulation cancelled" });
    if (page.spec && isShown()) modelsPage.say();
  }

  /** Simulate `all` shown curves, or those that are `needed`; cancel a simulation that runs. */
  function simulate(part) {
    if (models.isRunning() && part === "all") {
      stop();
      models.set({ sim: false });
      return;
    }
    if (part === "all") models.set({ sim: true });
    Object.assign(page.simulated, { status: "waiting", words: "simulation begins" });
    modelsPage.draw([]);
    // After the URL has the sliders: the server simulates what the URL says.
    wanted = page.kept.sim ? "all" : part;
    rest();
  }

  /** Ask for a part of the simulation of the URL. The answer is null if nobody waits for it any more. */
  async function answerOfPart(job, part, have, method) {
    const mine = job.turn, query = `${address.shown(NAME)}&part=${part}&visitor=${visitor}&have=${have}`;
    const found = await answerOf("simulate", query, { method, isBusyReturned: true });
    if (mine !== job.turn || !isShown()) return null;
    job.name = ["waiting", "running"].includes(found.state) ? found.job : "";
    return found;
  }
  const pause = (found) =>
    new Promise((ready) => wattlas.later(ready, found.isBusy ? BUSY_MS : POLL_MS));

  /** Results by curve: later ones take the place of those of a first pass. */
  const newest = (results) => [...new Map(results.map((one) => [one.label, one])).values()];

  /** Follow the simulation over the load axis. Without a part to begin take what is known already. */
  async function follow(begun) {
    const job = jobs.grid, { labels: before } = page.simulated;
    leave(job);
    // The crosshair's own rate is known first; the server simulates it beside the load axis.
    if (begun) followCrosshair("POST");
    else page.simulated = { ...page.simulated, labels: before, status: "", words: "" };
    let have = 0;
    for (let method = begun ? "POST" : "GET"; ; method = job.name || !begun ? "GET" : "POST") {
      const found = await answerOfPart(job, begun || "all", have, method);
      if (!found) return;
      const { error, labels, results, state, first, done, total, words } = found;
      if (found.isBusy) page.simulated.words = "simulation waits: " + error;
      else if (error) Object.assign(page.simulated, { status: "failed", words: error });
      else {
        have += results.length;
        const said = {
          waiting: "simulation waits for another", running: `simulated ${done} of ${total}` +
            (first && done < total ? `, ${Math.min(first, total)} in a first pass` : ""),
          failed: "simulation failed: " + words, cancelled: "simulation cancelled: " + words,
        };
        const all = newest([...page.simulated.results, ...results]);
        const isKnown = !begun && state === "cancelled", status = isKnown ? (all.length ? "done" : "") :
          state;
        page.simulated = { labels, results: all, status, words: isKnown ? "" : said[state] || "" };
      }
      modelsPage.say();
      if (error || results.length || !job.name) modelsPage.draw();
      if (!job.name && !found.isBusy) break;
      await pause(found);
    }
    if (!begun && models.hasSimulated()) followCrosshair("GET");
  }

  /** Follow the simulation at the crosshair. */
  async function followCrosshair(begins) {
    const job = jobs.crosshair;
    leave(job);
    for (let method = begins; ; method = job.name ? "GET" : begins) {
      const found = await answerOfPart(job, "at", 0, method);
      if (!found || (found.error && !found.isBusy)) return;
      if (!found.error && found.results.length) {
        page.at = { results: newest(found.results) };
        modelsPage.draw(["stack"]);
      }
      if (!job.name && !found.isBusy) return;
      await pause(found);
    }
  }

  page.hasServer = true;
  Object.assign(modelsPage.server, {
    simulate,
    fit: () => take("fits", turn),
  });

  wattlas.addPage({
    name: NAME, open, gathered,
    // Neither parameters nor schemes depend on the runs.
    follows: () => [],
    figure: modelsPage.figure, resize: modelsPage.resize, key: modelsPage.key,
    clear: () => { if (models.isRunning()) simulate("all"); },
  });

  wattlas.clientside("wattlasModels", {
    show(spec, theme) {
      page.spec = spec;
      page.theme = theme;
      const wait = () => {
        if (!isShown()) return;
        if (!page.kept.tab) { wattlas.later(wait, 10); return; }
        modelsPage.show();
        if (page.simulated.status !== undefined) return;
        page.simulated.status = page.kept.sim ? "waiting" : "";
        wattlas.later(() => follow(page.kept.sim ? "all" : ""));
      };
      wait();
      return window.dash_clientside.no_update;
    },
  });
});
