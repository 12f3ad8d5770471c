/*
 * A page's state: gathered from the controls by their names, written into the URL here and nowhere else.
 * What the server sends with the page (`spec`, see app/kit/page_layout.py) says which filters and keys there
 * are, and their defaults.
 */
(function (wattlas) {
  "use strict";

  const { setProps } = wattlas;
  const same = () => window.dash_clientside.no_update;

  /** The pages that were opened, by name: { spec, kept, carried, values, sent }. */
  const opened = {};

  const texts = (value) => [].concat(value === null || value === undefined ? [] : value)
    .map((v) => (v === true ? "1" : v === false ? "0" : String(v))).filter((text) => text !== "");

  /* One entry of the browser's history for each change that the visitor makes; changes within BURST_MS of
   * each other, what is written while something is dragged, and what the server and the pictures add to a
   * change are part of the same entry. */
  const ACTS = ["pointerdown", "click", "keydown", "wheel", "drop"];
  const BURST_MS = 600;
  let hasActed = false, writtenAt = -Infinity, left = null, lastLink = "";
  // The places of an entry that was opened again, until the page is long enough for them or the reader acts.
  let wanted = null;
  for (const kind of ACTS) {
    const acted = (event) => {
      // A click by a pointer began with its press; one by a screen reader has no detail.
      if (!event.isTrusted || (event.type === "click" && event.detail)) return;
      hasActed = true;
      [left, wanted] = [null, null];
    };
    addEventListener(kind, acted, { capture: true, passive: true });
  }

  const here = () => location.pathname + location.search;
  /* Write an entry for another link, or for other ranges. */
  function write(link, ranges = zooms()) {
    lastLink = link;
    if (link === here() && isSame(ranges, zooms())) return;
    const now = performance.now(), isBurst = now - writtenAt < BURST_MS;
    const state = { ...history.state, ranges };
    if (!hasActed || isBurst) history.replaceState(state, "", link);
    else history.pushState({ ...state, scroll: scrolled(), changes: changes() + 1 }, "", link);
    if (hasActed) writtenAt = now;
    hasActed = false;
  }

  /* The ranges of zoomed pictures that no link has, {id: {axis: range}}, are kept with each entry. */
  const zooms = () => (history.state && history.state.ranges) || {};
  const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  let shownZooms = zooms();
  wattlas.ranges = {
    /** The ranges of a picture, by its element's id; empty for those that it has without a zoom. */
    of: (id) => zooms()[id] || {},
    keep(id, ranges) {
      if (isSame(wattlas.ranges.of(id), ranges)) return;
      shownZooms = { ...zooms(), [id]: ranges };
      write(here(), shownZooms);
      wattlas.sayFilters(wattlas.currentPage().name);
    },
  };
  function showZooms() {
    const before = shownZooms, page = wattlas.currentPage();
    shownZooms = zooms();
    for (const id of Object.keys({ ...before, ...shownZooms })) {
      const gd = wattlas.plot(id), ranges = wattlas.ranges.of(id);
      if (!gd || isSame(before[id], ranges)) continue;
      if (Object.keys(ranges).length) wattlas.scaleTo(gd, ranges);
      else wattlas.scale(gd, "reset");
    }
    if (page) wattlas.sayFilters(page.name);
  }

  /* How many changes of the page Back can undo. */
  const changes = () => (history.state && history.state.changes) || 0;

  /* The places of what scrolls, kept with each entry. */
  const SCROLLED = ["html", ".views", ".sidebar"], LOOK_MS = 50, CALM_LOOKS = 5;
  const scrollers = () => SCROLLED.flatMap((name) => {
    const part = document.querySelector(name);
    return part ? [[name, part]] : [];
  });
  const scrolled = () => Object.fromEntries(scrollers().map(([name, part]) => [name, part.scrollTop]));
  const keepPlaces = () => history.replaceState({ ...history.state, scroll: scrolled() }, "");
  const placesOfEntry = () => (history.state && history.state.scroll) || null;
  wanted = placesOfEntry();
  history.scrollRestoration = "manual";
  addEventListener("scrollend", () => { if (!left && !wanted) keepPlaces(); }, true);
  function scrollBack() {
    const places = wanted;
    let calm = 0;
    const look = () => {
      if (wanted !== places) return;
      scrollers().forEach(([name, part]) => { part.scrollTop = places[name] || 0; });
      // A part of the page may end before the next one begins.
      const isCalm = wattlas.underWay().every((what) => what === "timer" || what === "later scripts");
      calm = isCalm ? calm + 1 : 0;
      if (calm < CALM_LOOKS) wattlas.later(look, LOOK_MS);
      else wanted = null;
    };
    wattlas.nextFrame(look);
  }
  /* A page was opened: by Back, Forward or a reload where it was read, by a link to another at its top. */
  let lastName = "";
  function arrive(name) {
    if (wanted) scrollBack();
    else {
      if (lastName && name !== lastName) scrollers().forEach(([, part]) => { part.scrollTop = 0; });
      keepPlaces();
    }
    lastName = name;
  }

  /* Dash's location does not know the entries that are written here, so it would take the way back to the
   * address at which it was for no change: tell it each one. */
  addEventListener("popstate", (event) => {
    event.stopImmediatePropagation();
    // A link within the page, as the one that skips to the views, changes only the fragment.
    if (here() === lastLink) {
      showZooms();
      return;
    }
    lastLink = here();
    shownZooms = zooms();
    const page = wattlas.currentPage();
    left = page && opened[page.name] ? opened[page.name].spec : null;
    [hasActed, writtenAt, wanted] = [false, -Infinity, placesOfEntry()];
    const { pathname, search, hash, href } = location;
    setProps("_pages_location", { pathname, search, hash, href });
    wattlas.later(wattlas.markTab, 0);
    wattlas.hideHover();
  }, true);

  const isOther = (before, now) => String(texts(before)) !== String(texts(now));

  /** The URL query of a page: version, filters, then what differs from the defaults. */
  function queryOf(name, more = {}) {
    const { spec, kept, carried, values } = opened[name];
    const query = new URLSearchParams({ v: spec.version });
    const add = (key, list) => list.forEach((text) => query.append(key, text));
    for (const facet of spec.facets) add(facet, texts(values[facet]).sort());
    const all = { ...values, ...kept, ...(spec.lake === null ? {} : { lake: spec.lake }), ...more };
    for (const [key, normal] of Object.entries(spec.defaults)) {
      const written = texts(all[key]);
      if (written.join("\n") !== texts(normal).join("\n")) add(key, written);
    }
    for (const [key, list] of Object.entries(carried)) if (!query.has(key)) add(key, list);
    return query.toString();
  }

  /* Functions of the URL of a page, by the page's name. */
  const address = {
    /** The page's URL query; `more` replaces keys of it. */
    query: (name, more) => (opened[name] ? queryOf(name, more) : ""),
    /** The query for files and explanations, of the shown version of the lake. */
    shown: (name) => {
      if (!opened[name]) return "";
      const { shown } = opened[name].spec;
      return queryOf(name, shown >= 0 ? { lake: shown } : {});
    },
    /** What is known of a page that was opened; undefined for others. */
    opened: (name) => opened[name],
    texts,
    /** Whether Back undoes a change of this page. */
    canUndo: () => changes() > 0,
    kept: (name, key) => (opened[name] ? opened[name].kept[key] || "" : ""),
    values: (name) => (opened[name] ? opened[name].values : {}),
    /** Keep values that only the browser has, such as the selection, by URL key, and write the URL. */
    keep(name, values) {
      const { kept } = opened[name] || {};
      const changed = kept ? Object.entries(values).filter(([key, value]) => isOther(kept[key], value)) : [];
      if (!changed.length) return;
      Object.assign(kept, Object.fromEntries(changed));
      // Another selection was made here: the one of the link is gone.
      if (changed.some(([key]) => key === "sel")) delete opened[name].carried.sel;
      address.push(name);
    },
    /** Keep values that the server chose, by URL key. The controls get them too, without a request. */
    adopt(name, chosen) {
      const now = opened[name];
      if (!now) return;
      Object.assign(now.values, chosen);
      now.sent = JSON.stringify(askedOf(now));
      address.push(name);
    },
    /** Write the state into the URL, the page's tab and the links of its status line. */
    push(name) {
      const page = wattlas.page(name), tab = document.getElementById("tab-" + name);
      // While the next page loads, the address is that page's and the elements are the last page's.
      if (!opened[name] || !page || !document.querySelector(".page." + name)) return;
      if (tab && new URL(tab.href).pathname !== location.pathname) return;
      const written = location.pathname + "?" + queryOf(name);
      if (opened[name].spec === left) return;
      write(written);
      if (tab) setProps("tab-" + name, { href: written });
      linkFiles(name, page);
      wattlas.linkPages(name);
      wattlas.sayFilters(name);
    },
  };
  wattlas.address = address;

  function linkFiles(name, page) {
    const fileOf = (path) => wattlas.fileOf(name, path), others = page.files ? page.files() : {};
    const targets = { export: fileOf("export.html"), data: fileOf("data/runs.csv"), ...others };
    for (const [target, href] of Object.entries(targets)) {
      if (document.getElementById(name + "-to-" + target)) setProps(name + "-to-" + target, { href });
    }
  }

  /** The part of the state from which the server computes the views. */
  function askedOf({ spec, values }) {
    const state = { ...values, lake: spec.lake };
    spec.viewKeys.forEach((key) => delete state[key]);
    return state;
  }

  /**
   * Gather the state of a page from its controls: filters by their ids' `facet`, others are `NAME-KEY`.
   * The page may change it (`gathered(state, before)`), or return null to wait for controls that it has set.
   */
  function gather(...args) {
    const context = window.dash_clientside.callback_context, spec = args[args.length - 1];
    const prefix = spec.page + "-", values = {};
    for (const { id, value } of context.inputs_list.flat()) {
      values[id.facet || id.slice(prefix.length)] = value;
    }
    for (const facet of spec.facets) values[facet] = [].concat(values[facet] || []);
    const page = wattlas.page(spec.page) || {};
    const before = opened[spec.page], isFirst = !before || before.spec !== spec;
    if (isFirst) {
      opened[spec.page] = { spec, kept: { ...spec.kept }, carried: { ...spec.carried }, values, sent: "" };
      // What follows from the opening is part of its entry.
      [hasActed, writtenAt] = [false, -Infinity];
      arrive(spec.page);
      left = null;
      if (page.open) page.open(spec);
      wattlas.oneStops();
    }
    const now = opened[spec.page];
    const found = page.gathered ? page.gathered(values, isFirst ? null : now.values, isFirst) : values;
    if (!found) return [same(), same()];
    // A limit that another page has set is one on a metric of its workload.
    const isMoved = isOther(now.values.workload, found.workload);
    if (isMoved) ["limit", "by"].forEach((key) => delete now.carried[key]);
    now.values = found;
    address.push(spec.page);
    const state = askedOf(now), sent = JSON.stringify(state);
    if (sent === now.sent) return [same(), same()];
    now.sent = sent;
    // The filters of the first state came with the page: they need no update.
    return [state, isFirst ? same() : { ...found, lake: spec.lake }];
  }

  /** Write the server's HTML, in which it escapes all text, into the block that its store is named for. */
  function writeHtml(text) {
    const { id } = window.dash_clientside.callback_context.inputs_list[0];
    const block = document.getElementById(id.replace(/-html$/, "")), page = wattlas.currentPage();
    if (!text || !block) return;
    block.innerHTML = text;
    block.classList.remove("pending");
    wattlas.oneStops(block);
    if (page && page.written) page.written();
  }

  wattlas.clientside("wattlas", { gather, writeHtml });
})(window.wattlas);
