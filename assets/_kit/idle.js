/*
 * When a page is idle: nothing is computed, asked for, drawn or about to be.
 * All timers, frames and requests of our scripts go through here, so that they can be counted.
 * A message that goes away by itself is no work: it uses setTimeout.
 */
(function (wattlas) {
  "use strict";

  const underWay = new Map();

  /** Count a piece of work until the function that this returns is called. The name is for debugging. */
  wattlas.busy = function (name) {
    const key = {};
    underWay.set(key, name);
    return () => underWay.delete(key);
  };

  function counted(name, start, stop, work) {
    const release = wattlas.busy(name);
    const id = start(() => {
      try { work(); } finally { release(); }
    });
    return () => {
      stop(id);
      release();
    };
  }

  /** The counted setTimeout. Returns what `wattlas.cancel` takes. */
  wattlas.later = (work, ms = 0) => counted("timer", (run) => setTimeout(run, ms), clearTimeout, work);

  /** The counted requestAnimationFrame. Returns what `wattlas.cancel` takes. */
  wattlas.nextFrame = (work) => counted("frame", requestAnimationFrame, cancelAnimationFrame, work);

  /** Cancel a timer or a frame; 0 stands for none. */
  wattlas.cancel = (timer) => { if (timer) timer(); };

  /** The counted fetch: resolves when the whole body is there, to {ok, status, text(), json()}. */
  wattlas.fetch = async function (address, options) {
    const release = wattlas.busy("request");
    try {
      const response = await fetch(address, options), body = await response.text();
      return { ok: response.ok, status: response.status, text: () => body, json: () => JSON.parse(body) };
    } finally {
      release();
    }
  };

  /* Dash's text inputs publish some time after the last key; its longest pause is shorter than this. */
  const TYPING_MS = 500;
  let typing = 0;
  addEventListener("input", () => {
    wattlas.cancel(typing);
    typing = wattlas.later(() => {}, TYPING_MS);
  }, true);

  /* The lists of Dash's callbacks that are not done; the others are records of the past. */
  const PENDING = ["requested", "prioritized", "blocked", "executing", "watched", "executed"];
  function pendingCallbacks() {
    if (!document.getElementById("react-entry-point")) return [];
    const stores = window.dash_stores || [];
    if (!stores.length) return ["Dash"];
    return stores.flatMap((store) => {
      const { appLifecycle, callbacks } = store.getState();
      if (appLifecycle !== "HYDRATED") return ["Dash"];
      return PENDING.flatMap((list) => callbacks[list].map(({ callback }) => "callback of " + callback.output));
    });
  }

  function pendingPlots() {
    const isDrawn = (graph) => graph.querySelector(".js-plotly-plot") || graph.matches(".js-plotly-plot");
    return [...document.querySelectorAll(".dash-graph")]
      .filter((graph) => graph.matches(".dash-graph--pending") || graph.querySelector(".dash-graph--pending") || !isDrawn(graph))
      .map((graph) => "plot " + graph.id);
  }

  /** What is under way, by name. */
  wattlas.underWay = function () {
    const loading = document.readyState === "complete" ? [] : ["document"];
    return [...loading, ...underWay.values(), ...pendingCallbacks(), ...pendingPlots()];
  };

  /** Whether nothing is under way. */
  wattlas.isIdle = () => !wattlas.underWay().length;
})((window.wattlas = window.wattlas || {}));
