/* Lake: on paper nothing is folded. */
(function () {
  "use strict";

  addEventListener("beforeprint", () => {
    document.querySelectorAll(".lake details").forEach((part) => { part.open = true; });
  });
})();
