/*
 * Whether a page is idle: it computes, requests and draws nothing, and plans nothing of that.
 * All timers, frames and requests of our scripts go through here, so that they are counted.
 * A message that disappears after some time uses setTimeout, so that it does not count.
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

  /** The counted fetch for a file or a stream: resolves to the browser's own response. */
  wattlas.fetchAnswer = async function (address, options) {
    const release = wattlas.busy("request");
    try {
      return await fetch(address, options);
    } finally {
      release();
    }
  };

  /*
   * What a visitor does may have consequences that a library publishes with a delay: Plotly throttles
   * hovers, drags and wheels to 50 ms, Dash's text inputs wait up to 400 ms after the last key, a smooth
   * scroll goes on. A page is not idle until that time is over. A timer measures it, not a clock: timers that
   * are due earlier run before it.
   */
  const DELAYS_MS = {
    mousemove: 100, mouseup: 100, click: 100, wheel: 100, keydown: 100, scroll: 100, resize: 100, input: 500,
  };
  for (const [kind, delay] of Object.entries(DELAYS_MS)) {
    let isWaiting = false, isNewer = false;
    const wait = () => {
      isWaiting = true;
      isNewer = false;
      wattlas.later(() => {
        isWaiting = false;
        if (isNewer) wait();
      }, delay);
    };
    const happened = () => { if (isWaiting) isNewer = true; else wait(); };
    addEventListener(kind, happened, { capture: true, passive: true });
  }

  /* Dash's lists of callbacks that are not done. Its other lists are history. */
  const PENDING = ["requested", "prioritized", "blocked", "executing", "watched", "executed"];
  function pendingCallbacks() {
    if (!document.getElementById("react-entry-point")) return [];
    const stores = window.dash_stores || [];
    if (!stores.length) return ["Dash"];
    return stores.flatMap((store) => {
      const { appLifecycle, callbacks } = store.getState();
      if (appLifecycle !== "HYDRATED") return ["Dash"];
      const pending = PENDING.flatMap((list) => callbacks[list]);
      return pending.map(({ callback }) => "callback of " + callback.output);
    });
  }

  /** The names of all work in progress. */
  wattlas.underWay = function () {
    const loading = document.readyState === "complete" ? [] : ["document"];
    return [...loading, ...underWay.values(), ...pendingCallbacks()];
  };

  /** Whether no work is in progress. */
  wattlas.isIdle = () => !wattlas.underWay().length;
})((window.wattlas = window.wattlas || {}));
