/*
 * The row "filtered by" above the views of a page with filters: a chip for each filter, the limit and the
 * selection, of which a click removes it; reset, which opens the page as it opens without a link; undo, which
 * is the browser's Back.
 */
(function (wattlas) {
  "use strict";

  const { element, setProps } = wattlas;
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
      const by = document.getElementById(name + "-by");
      const hasMenu = by && by.type !== "hidden";
      const metric = hasMenu ? by.value.replace(/ \(performance\)$/, "") : limit.dataset.metric;
      const words = (metric ? metric + " limit: " : "limit: ") + limit.value;
      found.push([words, () => setProps(limit.id, { value: "" })]);
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

  /* What the filters offer after a change. Only what differs is set: each component that Dash sets or makes
   * costs actions that visit all components. So the number of runs of a choice goes into its element. */
  const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const PATIENCE_FRAMES = 60, offeredIn = new WeakMap();

  /** Name the chips of a filter for screen readers; those without runs are faint. Wait for new chips. */
  function describe(frame, chips, frames) {
    if (offeredIn.get(frame) !== chips || !frames) return;
    const inputs = shownIn(frame);
    if (!hasChips(inputs, chips)) {
      wattlas.nextFrame(() => describe(frame, chips, frames - 1));
      return;
    }
    chips.forEach(([, , words, isEmpty], i) => {
      inputs[i].setAttribute("aria-label", words);
      inputs[i].parentElement.classList.toggle("chip-empty", isEmpty);
    });
  }
  const shownIn = (frame) => [...frame.querySelectorAll(".facet-chips input")];
  const hasChips = (inputs, chips) =>
    isSame(
      inputs.map((input) => [input.value, textOf(input.labels[0])]),
      chips.map(([value, label]) => [value, label.trim()]),
    );

  function offer(offered) {
    const { id } = window.dash_clientside.callback_context.inputs_list[0], name = id.replace(/-offered$/, "");
    if (!offered || !document.querySelector(".page." + name)) return;
    const { facets, menus } = offered;
    for (const frame of document.querySelectorAll(".page." + name + " [data-facet]")) {
      const { facet } = frame.dataset, { chips, note, isIdle } = facets[facet];
      const part = (what) => ({ page: name, facet, part: what });
      if (frame.hidden !== isIdle) setProps(part("frame"), { hidden: isIdle });
      if (textOf(frame.querySelector(".facet-count")) !== note) setProps(part("count"), { children: note });
      if (!hasChips(shownIn(frame), chips)) {
        const children = chips.map(([value, label], i) => ({
          type: "Chip", namespace: "dash_mantine_components",
          props: { children: label, value, tabIndex: i ? -1 : 0 },
        }));
        setProps(part(frame.dataset.part), { children });
      }
      offeredIn.set(frame, chips);
      describe(frame, chips, PATIENCE_FRAMES);
    }
    for (const [key, data] of Object.entries(menus)) {
      const menu = window.dash_component_api.getLayout(name + "-" + key);
      if (menu && !isSame(menu.props.data, data)) setProps(name + "-" + key, { data });
    }
  }
  wattlas.clientside("wattlas", { offer });

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
        element("span", { className: "ways" },
          button("reset", "what the page shows without a link", () => reset(name), {}),
          undo || button("undo", "the browser's Back", () => history.back(), { undo: "" })));
    }
    row.querySelector("[data-undo]").disabled = !wattlas.address.canUndo();
  });
})(window.wattlas);
