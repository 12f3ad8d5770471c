/*
 * A busy server answers 503 and says when to come back: wait, say so, and ask again. A request with the
 * option `isBusyReturned` gets the answer instead.
 */
(function (wattlas) {
  "use strict";

  const ask = window.fetch;

  window.fetch = async function (address, options) {
    for (;;) {
      const response = await ask.call(window, address, options), wait = response.headers.get("Retry-After");
      const isLeft = options && options.isBusyReturned;
      if (response.status !== 503 || !wait || isLeft) return response;
      if (wattlas.say) wattlas.say("the server is busy: waiting");
      await new Promise((done) => wattlas.later(done, 1000 * Number(wait)));
    }
  };
})((window.wattlas = window.wattlas || {}));
