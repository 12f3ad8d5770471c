/*
 * What all pages share: theme, keys, dialogs, the small menu of each view, the tabs.
 * A page's script registers what only it knows with `wattlas.addPage`; the page whose root element is
 * in the document is the one on the screen.
 */
(function (wattlas) {
  "use strict";

  const setProps = (id, props) => window.dash_clientside.set_props(id, props);
  wattlas.setProps = setProps;
  let theme = "light";

  const pages = [];
  /**
   * Make a page known. All parts but `root` may be missing.
   *   name: the page's name; `root` and the addresses of its files follow from it.
   *   open(spec): the page was opened, by a load or by a link: nothing of an earlier visit counts.
   *   gathered(values, before): the controls' values by URL key, before they become the state.
   *   links(): addresses of other pages, by the names of the links in the status line.
   *   root: selector of its main element.
   *   tab: id of its link in the header, which follows the page's state.
   *   query(): the whole state as a URL query.
   *   figure(id): a view's figure for paper, {data, layout}; null where the view is a table.
   *   data(id, format): address of a view's rows, format csv or parquet.
   *   how(id): address of the words that say how a view was computed.
   *   theme(name): paint in another theme.
   *   resize(): the room for the views has changed.
   *   clear(): Escape was pressed.
   *   key(event): another key was pressed, not in a field. Returns whether the page took it.
   */
  wattlas.addPage = (page) => pages.push(page.name ? { ...defaultsOf(page.name), ...page } : page);
  const defaultsOf = (name) => ({
    root: ".page." + name,
    tab: "tab-" + name,
    query: () => address.query(name),
    data: (id, format) => pagesRoot() + name + "/data/" + id + "." + format + "?" + address.shown(name),
    how: (id) => pagesRoot() + name + "/how/" + id + "?" + address.shown(name),
  });
  const current = () => pages.find((page) => document.querySelector(page.root));
  wattlas.currentPage = current;

  const same = () => window.dash_clientside.no_update;

  /* ---- state: gathered from the controls by their names, written into the URL here and nowhere else */

  /** By page: { spec, kept, values, state }, since it was opened. */
  const opened = {};

  const texts = (value) => [].concat(value === null || value === undefined ? [] : value)
    .map((v) => (v === true ? "1" : v === false ? "0" : String(v))).filter((text) => text !== "");

  /** The URL query of a page: version, filters, then what differs from the defaults. */
  function queryOf(name, more = {}) {
    const { spec, kept, values } = opened[name];
    const query = new URLSearchParams({ v: spec.version });
    for (const facet of spec.facets) texts(values[facet]).sort().forEach((text) => query.append(facet, text));
    const all = { ...values, ...kept, ...(spec.lake === null ? {} : { lake: spec.lake }), ...more };
    for (const [key, normal] of Object.entries(spec.defaults)) {
      const written = texts(all[key]);
      if (written.join("\n") !== texts(normal).join("\n")) written.forEach((text) => query.append(key, text));
    }
    return query.toString();
  }

  /** The filters and the selection alone, with the pinned version: what a link to another page carries. */
  function handoverOf(name, more = {}) {
    const { spec, kept, values } = opened[name];
    const query = new URLSearchParams({ v: spec.version });
    const { sel = kept.sel, ...others } = more, filters = { ...values, ...others };
    for (const facet of new Set([...spec.facets, ...Object.keys(others)])) {
      texts(filters[facet]).forEach((text) => query.append(facet, text));
    }
    if (sel) query.set("sel", sel);
    if (spec.lake !== null) query.set("lake", spec.lake);
    return query.toString();
  }

  /* By a page's root, its address; every page's scripts have the same object. */
  const address = {
    /** The page's URL query; `more` replaces keys of it. */
    query: (name, more) => (opened[name] ? queryOf(name, more) : ""),
    /** The query for files and words: they come from the version of the lake that is on the screen. */
    shown: (name) => {
      if (!opened[name]) return "";
      const { shown } = opened[name].spec;
      return queryOf(name, shown >= 0 ? { lake: shown } : {});
    },
    handover: (name, more) => (opened[name] ? handoverOf(name, more) : ""),
    kept: (name, key) => (opened[name] ? opened[name].kept[key] || "" : ""),
    values: (name) => (opened[name] ? opened[name].values : {}),
    /** Keep a text that the browser alone knows, as a selection, and write the URL. */
    keep(name, key, text) {
      if (!opened[name] || opened[name].kept[key] === text) return;
      opened[name].kept[key] = text;
      address.push(name);
    },
    /** Write the state into the URL, the page's tab and the links of its status line. */
    push(name) {
      const page = pages.find((one) => one.name === name), tab = document.getElementById("tab-" + name);
      // Until the next page is there the last one's elements still are, under the next one's address.
      if (!opened[name] || !page || !document.querySelector(page.root)) return;
      if (tab && new URL(tab.href).pathname !== location.pathname) return;
      const written = location.pathname + "?" + queryOf(name);
      history.replaceState(history.state, "", written);
      if (tab) setProps("tab-" + name, { href: written });
      linkFiles(name, page);
    },
  };
  wattlas.address = address;

  function linkFiles(name, page) {
    const base = pagesRoot() + name + "/", targets = page.links ? page.links() : {};
    const files = { export: "export.html", data: "data/runs.csv" };
    for (const [target, file] of Object.entries(files)) {
      if (document.getElementById(name + "-to-" + target)) {
        setProps(name + "-to-" + target, { href: base + file + "?" + address.shown(name) });
      }
    }
    for (const [target, href] of Object.entries(targets)) {
      if (document.getElementById(name + "-to-" + target)) setProps(name + "-to-" + target, { href });
    }
  }

  /** The address under which the app is served, with a slash at its end. */
  const pagesRoot = () => JSON.parse(document.getElementById("_dash-config").textContent).requests_pathname_prefix;
  wattlas.pagesRoot = pagesRoot;

  /**
   * Gather the state of a page from its controls, by their ids: `NAME-facet-FACET` and `NAME-KEY`.
   * The page may change it (`gathered(state, before)`), or answer null to wait for controls that it has set.
   */
  function gather(...args) {
    const context = window.dash_clientside.callback_context, spec = args[args.length - 1];
    const prefix = spec.page + "-", values = {};
    for (const { id, value } of context.inputs_list.flat()) {
      values[id.slice(prefix.length).replace(/^facet-/, "")] = value;
    }
    for (const facet of spec.facets) values[facet] = [].concat(values[facet] || []);
    const page = pages.find((one) => one.name === spec.page) || {};
    const before = opened[spec.page], isFirst = !before || before.spec !== spec;
    if (isFirst) {
      opened[spec.page] = { spec, kept: { ...spec.kept }, values, sent: "" };
      if (page.open) page.open(spec);
    }
    const now = opened[spec.page];
    const found = page.gathered ? page.gathered(values, isFirst ? null : now.values, isFirst) : values;
    if (!found) return [same(), same()];
    now.values = found;
    const state = { ...found, lake: spec.lake };
    spec.viewKeys.forEach((key) => delete state[key]);
    address.push(spec.page);
    const sent = JSON.stringify(state);
    if (sent === now.sent) return [same(), same()];
    now.sent = sent;
    // The filters come with the page as its state wants them: they need no answer of their own yet.
    return [state, isFirst ? same() : { ...found, lake: spec.lake }];
  }

  /** Add functions to a namespace that Dash's clientside callbacks call. */
  wattlas.clientside = function (namespace, functions) {
    const all = (window.dash_clientside = window.dash_clientside || {});
    all[namespace] = Object.assign(all[namespace] || {}, functions);
  };
  wattlas.clientside("wattlas", { gather });

  /** Write the state of the page on the screen into the address and into its tab. */
  wattlas.writeAddress = function (page, query) {
    // Until the next page is there the last one's elements still are, under the next one's address.
    const tab = page.tab && document.getElementById(page.tab);
    if (!document.querySelector(page.root) || (tab && new URL(tab.href).pathname !== location.pathname)) return;
    const address = location.pathname + (query ? "?" + query : "");
    history.replaceState(history.state, "", address);
    if (page.tab) setProps(page.tab, { href: address });
  };

  /**
   * The address of a page: the state as the server has written it, beside it what the browser alone keeps.
   *   page: as for addPage.
   *   kept(): name to text of what the browser keeps, as a selection; empty texts are left out.
   */
  wattlas.makeAddress = function (page, kept) {
    let written = "", version = -1;
    const query = (more = {}) => {
      const parameters = new URLSearchParams(written);
      for (const [name, value] of Object.entries({ ...kept(), ...more })) if (value !== "") parameters.set(name, value);
      return parameters.toString();
    };
    const push = () => { if (written) wattlas.writeAddress(page, query()); };
    return {
      query,
      push,
      /** The state without what the browser keeps; empty until the server has written one. */
      written: () => written,
      /** The page was opened on this version of the lake (-1: on none): nothing of an earlier visit counts. */
      open(shown) { written = ""; version = shown; },
      /** The server has written the state. */
      take(serverQuery) {
        const parameters = new URLSearchParams(serverQuery);
        Object.keys(kept()).forEach((name) => parameters.delete(name));
        written = parameters.toString();
        push();
      },
      /** The query for files and words: they come from the version of the lake that is on the screen. */
      shown: () => query(version >= 0 ? { lake: version } : {}),
    };
  };

  function markTab() {
    document.querySelectorAll(".top .tab").forEach((tab) => {
      if (new URL(tab.href).pathname === location.pathname) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    });
  }
  addEventListener("popstate", () => wattlas.later(markTab, 0));
  addEventListener("_dashprivate_pushstate", () => { wattlas.later(markTab, 0); wattlas.hideHover(); });

  function setTheme(wanted) {
    theme = wanted;
    wattlas.applyTheme(theme);
    setProps("mantine", { forceColorScheme: theme });
    setProps("theme", { data: theme });
    const page = current();
    if (page && page.theme) page.theme(theme);
    try { localStorage.setItem("wattlas-theme", theme); } catch (error) { /* private window */ }
  }
  wattlas.theme = () => theme;

  function firstTheme() {
    let kept = null;
    try { kept = localStorage.getItem("wattlas-theme"); } catch (error) { /* private window */ }
    theme = kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    document.documentElement.setAttribute("data-theme", theme);
    const wait = () => {
      if (!document.getElementById("theme-button")) { wattlas.later(wait, 20); return; }
      markTab();
      if (theme === "dark") setTheme(theme);
    };
    wait();
  }
  firstTheme();

  /** Say something for two seconds where the page tells what is selected. */
  function say(text) {
    const status = document.getElementById("status-selection");
    if (!status) return;
    const before = status.textContent;
    status.textContent = text;
    setTimeout(() => { if (status.textContent === text) status.textContent = before; }, 2000);
  }
  wattlas.say = say;

  const ACTIONS = {
    "copy-link": () => navigator.clipboard && navigator.clipboard.writeText(location.href).then(() => say("link copied")),
    png: (page, id) => picture(page, id, "png"),
    svg: (page, id) => picture(page, id, "svg"),
    csv: (page, id) => { location.href = page.data(id, "csv"); },
    parquet: (page, id) => { location.href = page.data(id, "parquet"); },
    explain,
  };

  /* Pictures leave for papers: on white, whatever the theme of the screen. */
  function picture(page, id, format) {
    const gd = wattlas.plot(id);
    const figure = gd && page.figure(id);
    if (!figure) { say("this view is a table: take its data as CSV"); return; }
    const onPaper = { data: figure.data, layout: { ...figure.layout, paper_bgcolor: "#ffffff" }, config: { ...gd._context, plotGlPixelRatio: 4 } };
    window.Plotly.downloadImage(onPaper, { format, filename: "wattlas-" + id, width: figure.layout.width || gd.clientWidth, height: figure.layout.height || gd.clientHeight, scale: format === "png" ? 2 : 1 });
  }

  async function explain(page, id) {
    const words = document.getElementById("explanation");
    words.textContent = "\u2026";
    document.getElementById("how").showModal();
    try {
      words.textContent = await (await wattlas.fetch(page.how(id))).text();
    } catch (error) {
      words.textContent = "The server did not answer (" + error.message + "). Reload the page.";
    }
  }

  document.addEventListener("click", (event) => {
    const target = event.target.closest ? event.target : document.body;
    const action = target.closest("[data-action]");
    if (action && ACTIONS[action.dataset.action]) ACTIONS[action.dataset.action](current(), action.dataset.viewTarget);
    const clear = target.closest("[data-clear-facet]");
    if (clear) setProps(clear.dataset.clearFacet, { value: [] });
    if (target.closest("#theme-button")) setTheme(theme === "dark" ? "light" : "dark");
    if (target.closest("#help-button")) document.getElementById("help").showModal();
    const rail = target.closest("#rail-button");
    if (rail) {
      const folded = document.querySelector(".page").classList.toggle("folded");
      rail.setAttribute("aria-expanded", String(!folded));
      const page = current();
      if (page && page.resize) wattlas.later(page.resize, 60);
    }
    if (target.tagName === "DIALOG") target.close();
  });

  /** Go to another page without loading the app again. */
  wattlas.openPage = function (name, query) {
    wattlas.openedAt = performance.now();
    wattlas.hideHover();
    history.pushState({}, "", pagesRoot() + name + "?" + query);
    dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
    scrollTo(0, 0);
  };

  /* The one router of keys: help and Escape here, all others to the page on the screen. */
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest && event.target.closest("input, textarea, select, [role=listbox]");
    const help = document.getElementById("help"), page = current();
    if (event.key === "?" && !isTyping) {
      if (help.open) help.close(); else help.showModal();
      return;
    }
    if (document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (page && page.clear) page.clear();
      wattlas.hideHover();
    } else if (isTyping) return;
    if (page && page.key && page.key(event)) event.preventDefault();
  });
})((window.wattlas = window.wattlas || {}));
