/* Connects Models to Dash and the server: the URL, runs and fits of the filters, simulations. */
document.addEventListener("DOMContentLoaded", function () {
  "use strict";

  const { wattlas } = window, { models, modelsPage, address } = wattlas, { page } = models;
  const NAME = "models", PREFIX = NAME + "-", POLL_MS = 500, URL_MS = 120;
  const viewOf = (id) => id.slice(PREFIX.length);
  const isShown = () => Boolean(document.querySelector(".page.models"));
  const where = (path, query = address.shown(NAME)) => `${wattlas.pagesRoot()}${NAME}/${path}?${query}`;

  /** The page was opened, by a load or by a link. */
  function open({ kept }) {
    stop();
    Object.assign(page, { kept: { ...kept }, runs: null, fits: null, isDragging: false });
    page.simulated = { labels: [], results: [] };
  }

  /* ---- URL: sliders write it at a pace */

  let urlTimer = 0;
  const changed = new Set();
  const RESTARTS = ["p", "fig", "scheme", "host", "to", "seed"];
  models.onChange((keys) => {
    keys.forEach((key) => changed.add(key));
    // Answers for the old parameters are late from now on.
    if (RESTARTS.some((key) => keys.includes(key))) following += 1;
    wattlas.cancel(urlTimer);
    urlTimer = wattlas.later(() => {
      urlTimer = 0;
      changed.forEach((key) => address.keep(NAME, key, page.kept[key]));
      const asked = ["cores", "tsc"].some((key) => changed.has(key));
      const isRestarted = RESTARTS.some((key) => changed.has(key));
      const wants = asked || changed.has("tab") || changed.has("runs");
      changed.clear();
      if (asked) {
        turn += 1;
        page.runs = null;
        page.fits = null;
      }
      if (wants) ask();
      if (isRestarted) {
        stop();
        models.set({ sim: false });
      }
    }, URL_MS);
  });

  /* ---- runs and fits */

  async function answerOf(path, query, options) {
    try {
      const response = await wattlas.fetch(where(path, query), options), body = response.json();
      return response.ok ? body : { error: body.error };
    } catch (error) {
      return { error: "The server did not answer (" + error.message + "). Reload the page." };
    }
  }
  const complain = (words) => wattlas.setProps("notice", { children: words });

  let turn = 0;
  /** Ask for what the shown tab needs of the lake and does not have. */
  async function ask() {
    if (!page.spec || page.spec.lakeIsEmpty) return;
    const { kept } = page, mine = turn;
    if (kept.tab === "interrupts" && kept.runs && !page.runs) await take("runs", mine);
    if (kept.tab === "fit" && !page.fits) await take("fits", mine);
  }
  async function take(what, mine) {
    const found = await answerOf(what);
    if (mine !== turn || !isShown()) return;
    if (found.error) {
      complain(found.error);
      return;
    }
    page[what] = found;
    modelsPage.draw();
  }

  function gathered(values) {
    turn += 1;
    page.runs = null;
    page.fits = null;
    wattlas.later(ask);
    return values;
  }

  /* ---- simulations */

  const visitor = Math.random().toString(36).slice(2);
  let following = 0, job = "";

  function stop() {
    following += 1;
    if (job)
      wattlas.fetch(where("cancel", `job=${job}&visitor=${visitor}`), { method: "POST" }).catch(() => {});
    job = "";
    if (isRunning()) {
      page.simulated = { ...page.simulated, status: "cancelled", words: "simulation cancelled" };
      if (page.spec && isShown()) modelsPage.say();
    }
  }

  const isRunning = () => ["running", "waiting"].includes(page.simulated.status);

  function simulate() {
    if (isRunning()) {
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
    for (let method = "POST"; ; method = "GET") {
      const have = page.simulated.results.length,
        query = `${address.shown(NAME)}&visitor=${visitor}&have=${have}`;
      const found = await answerOf("simulate", query, { method });
      if (mine !== following || !isShown()) return;
      if (found.error) {
        page.simulated = { ...page.simulated, status: "failed", words: found.error };
      } else {
        job = ["running", "waiting"].includes(found.state) ? found.job : "";
        const words = {
          waiting: "simulation waits for another", running: `simulated ${found.done} of ${found.total}`,
          failed: "simulation failed: " + found.words, cancelled: "simulation cancelled: " + found.words,
        };
        page.simulated = {
          labels: found.labels, results: [...page.simulated.results, ...found.results], status: found.state,
          words: words[found.state] || "",
        };
      }
      modelsPage.say();
      if (!found.error && found.results.length) modelsPage.draw();
      if (!job) return;
      await new Promise((done) => {
        wattlas.later(done, POLL_MS);
      });
    }
  }

  Object.assign(modelsPage.server, {
    simulate,
    async host(use) {
      if (!page.fits) await take("fits", turn);
      use(page.fits);
    },
  });

  wattlas.addPage({
    name: NAME, open, gathered,
    links: () => ({ explore: wattlas.pagesRoot() + "?" + address.handover(NAME) }),
    figure: (id) => modelsPage.figure(viewOf(id)),
    data: (id, format) => where(`data/${viewOf(id)}.${format}`),
    how: (id) => where(`how/${viewOf(id)}`),
    theme: () => {},
    resize: modelsPage.resize,
    clear: () => {
      if (isRunning()) simulate();
    },
    key: modelsPage.key,
  });

  wattlas.clientside("wattlasModels", {
    show(spec, theme) {
      page.spec = spec;
      page.theme = theme;
      const wait = () => {
        if (!isShown()) return;
        if (!page.kept.tab) {
          wattlas.later(wait, 10);
          return;
        }
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
