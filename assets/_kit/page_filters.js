/*
 * The row "filtered by" above the views of a page with filters: a chip for each filter, the limit and the
 * selection, of which a click removes it; reset, which opens the page as it opens without a link; undo, which
 * is the browser's Back.
 */
(function (wattlas) {
  "use strict";

  const { element } = wattlas;
  const textOf = (part) => (part ? part.textContent.trim() : "");

  /** What narrows the page: words, and what removes it, null where the page cannot be without it. */
  function narrowed(name, main) {
    const { values, kept } = wattlas.address.opened(name), found = [];
    for (const frame of main.querySelectorAll("[data-facet]")) {
      const chosen = [...frame.querySelectorAll("input:checked")].map((one) => textOf(one.labels[0]));
      const clear = frame.querySelector("[data-clear-facet]");
      const remove = clear ? () => clear.click() : null;
      const title = textOf(frame.querySelector(".facet-title"));
      if (chosen.length) found.push([title + ": " + chosen.join(", "), remove]);
    }
    const limit = document.getElementById(name + "-limit");
    if (limit && limit.type !== "hidden" && (values.limit ?? "") !== "") {
      found.push(["limit: " + limit.value, () => wattlas.setProps(limit.id, { value: "" })]);
    }
    const page = wattlas.page(name);
    if (kept.sel && page.clear) found.push(["selection", () => page.clear()]);
    return found;
  }

  function chip([words, remove]) {
    if (!remove) return element("span", { className: "filtered-chip", textContent: words });
    const title = "remove " + words;
    const cross = element("span", { attributes: { "aria-hidden": "true" } }, " \u00d7");
    return element("button", { className: "filtered-chip", title, onclick: remove }, words, cross);
  }

  function reset(name) {
    const { lake } = wattlas.address.opened(name).spec;
    wattlas.openPage(name, lake === null ? "" : "lake=" + lake);
  }

  /* The server lays a filter's choices out anew after a change: the focus goes on to the new one. */
  let chosen = null;
  const observer = new MutationObserver(() => {
    if (chosen.target.isConnected || document.activeElement !== document.body) return;
    const value = CSS.escape(chosen.target.value);
    const next = document.querySelector(chosen.own + ' input[value="' + value + '"]');
    if (next && next.type === "checkbox") wattlas.stopAt(next);
  });
  document.addEventListener("focusin", (event) => {
    const frame = wattlas.closest(event, "[data-facet]");
    observer.disconnect();
    if (!frame || event.target.type !== "checkbox") return;
    const own = '[data-facet="' + frame.dataset.facet + '"]', { target } = event;
    chosen = { own, target };
    observer.observe(frame, { childList: true, subtree: true });
  });

  /** Write the row of a page; the chips of its filters are there a frame after its state. */
  wattlas.sayFilters = (name) => wattlas.nextFrame(() => {
    const main = document.querySelector(".page." + name), row = main && main.querySelector(".filtered");
    if (!row || !wattlas.address.opened(name)) return;
    const found = narrowed(name, main), made = JSON.stringify([name, found.map(([words]) => words)]);
    const undo = row.querySelector("[data-undo]");
    if (row.dataset.made !== made) {
      const button = (textContent, title, onclick, data) =>
        element("button", { className: "plain", textContent, title, onclick, data });
      row.dataset.made = made;
      row.replaceChildren(
        element("span", { className: "quiet", textContent: found.length ? "filtered by" : "not filtered" }),
        ...found.map(chip),
        button("reset", "what the page shows without a link", () => reset(name), {}),
        undo || button("undo", "the browser's Back", () => history.back(), { undo: "" }));
    }
    row.querySelector("[data-undo]").disabled = !wattlas.address.canUndo();
  });
})(window.wattlas);
