/* Connects Models to Dash and the server: the URL, runs and fits of the filters, simulations. */
document.addEventListener("DOMContentLoaded", function () {
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

  /* ---- the URL is written when the controls rest */

  let urlTimer = 0;
  const changed = new Set();
  const RESTARTS = ["p", "fig", "scheme", "host", "to", "seed"];
  models.onChange((keys) => {
    keys.forEach((key) => changed.add(key));
    // A simulation of the old parameters is not followed any further.
    if (RESTARTS.some((key) => keys.includes(key))) following += 1;
    wattlas.cancel(urlTimer);
    urlTimer = wattlas.later(() => {
      address.keep(NAME, Object.fromEntries([...changed].map((key) => [key, page.kept[key]])));
      const hasChanged = (...names) => names.some((key) => changed.has(key));
      const isOther = hasChanged("cores", "tsc"), isRestarted = hasChanged(...RESTARTS);
      const isAsking = isOther || hasChanged("tab", "runs");
      changed.clear();
      if (isOther) forgetAnswers();
      if (isAsking) ask();
      if (isRestarted) {
        stop();
        models.set({ sim: false });
      }
    }, URL_MS);
  });

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
    if (kept.tab === "interrupts" && kept.runs && !page.runs) await take("runs", mine);
    if ((kept.tab === "fit" || isMeasured()) && !page.fits) await take("fits", mine);
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
  let following = 0, job = "";

  function stop() {
    following += 1;
    if (job) answerOf("cancel", `job=${job}&visitor=${visitor}`, { method: "POST" });
    job = "";
    if (!models.isRunning()) return;
    Object.assign(page.simulated, { status: "cancelled", words: "simulation cancelled" });
    if (page.spec && isShown()) modelsPage.say();
  }

  function simulate() {
    if (models.isRunning()) {
      stop();
      models.set({ sim: false });
      return;
    }
    models.set({ sim: true });
    page.simulated = { labels: [], results: [], status: "waiting", words: "simulation begins" };
    modelsPage.say();
    // After the URL has the sliders: the server simulates what the URL says.
    wattlas.later(() => {
      if (page.simulated.status === "waiting") follow();
    }, 2 * URL_MS);
  }

  async function follow() {
    const mine = (following += 1);
    for (let method = "POST"; ; method = job ? "GET" : "POST") {
      const have = page.simulated.results.length;
      const query = `${address.shown(NAME)}&visitor=${visitor}&have=${have}`;
      const found = await answerOf("simulate", query, { method, isBusyReturned: true });
      if (mine !== following || !isShown()) return;
      const { error, labels, results, state, done, total, words } = found;
      if (found.isBusy) page.simulated.words = "simulation waits: " + error;
      else if (error) Object.assign(page.simulated, { status: "failed", words: error });
      else {
        const said = {
          waiting: "simulation waits for another", running: `simulated ${done} of ${total}`,
          failed: "simulation failed: " + words, cancelled: "simulation cancelled: " + words,
        };
        const all = [...page.simulated.results, ...results];
        page.simulated = { labels, results: all, status: state, words: said[state] || "" };
        job = models.isRunning() ? found.job : "";
      }
      modelsPage.say();
      if (!error && results.length) modelsPage.draw();
      if (!job && !found.isBusy) return;
      await new Promise((ready) => wattlas.later(ready, found.isBusy ? BUSY_MS : POLL_MS));
    }
  }

  Object.assign(modelsPage.server, {
    simulate,
    fit: () => take("fits", turn),
  });

  wattlas.addPage({
    name: NAME, open, gathered,
    // Neither parameters nor schemes depend on the runs.
    follows: () => [],
    figure: modelsPage.figure, resize: modelsPage.resize, key: modelsPage.key,
    clear: () => { if (models.isRunning()) simulate(); },
  });

  wattlas.clientside("wattlasModels", {
    show(spec, theme) {
      page.spec = spec;
      page.theme = theme;
      const wait = () => {
        if (!isShown()) return;
        if (!page.kept.tab) { wattlas.later(wait, 10); return; }
        modelsPage.show();
        if (page.kept.sim && !page.simulated.status) {
          page.simulated.status = "waiting";
          wattlas.later(follow);
        }
      };
      wait();
      return window.dash_clientside.no_update;
    },
  });
});
