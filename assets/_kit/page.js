/*
 * What all pages share: theme, keys, dialogs, the small menu of each view, the tabs.
 * A page's script registers its own functions with `wattlas.addPage`. The shown page is the one whose main
 * element is in the document.
 */
(function (wattlas) {
  "use strict";

  const setProps = (id, props) => window.dash_clientside.set_props(id, props);
  wattlas.setProps = setProps;
  let theme = "light";

  /** The address under which the app is served, with a slash at its end. */
  const pagesRoot = () =>
    JSON.parse(document.getElementById("_dash-config").textContent).requests_pathname_prefix;
  wattlas.pagesRoot = pagesRoot;

  /** Add functions to a namespace that Dash's clientside callbacks call. */
  wattlas.clientside = function (namespace, functions) {
    const all = (window.dash_clientside = window.dash_clientside || {});
    all[namespace] = Object.assign(all[namespace] || {}, functions);
  };
  const pages = [];
  /**
   * Register a page. All parts but `name` are optional.
   *   name: the page's name, a class of its main element; the addresses of its files follow from it.
   *   open(spec): the page was opened, by a load or by a link: forget earlier visits.
   *   gathered(values, before): the controls' values by URL key, before they become the state.
   *   files(): addresses of files, by the names of the links in the status line.
   *   handover(name, shared): the filters, limit and `sel` that links to another page replace in what all
   *     pages share.
   *   follows(shared): the keys of what pages share with which the page's own settings change; without it
   *     dataset and workload.
   *   openQuery(sql): go to the page and show a query.
   *   figure(view): a view's figure for paper, {data, layout}; null where the view is a table.
   *   data(view, format): address of a view's rows, format csv or parquet.
   *   how(view): address of the words that say how a view was computed.
   *   theme(name): paint in another theme.
   *   resize(): the room for the views has changed.
   *   clear(): Escape was pressed.
   *   key(event): another key was pressed, not in a field. Returns whether the key had an action.
   *   takes(key): whether a key is the page's own now, although it has another meaning on all pages.
   *   typed(event): a key was pressed anywhere, also in a field or a dialog. Comes before all others, which
   *     are left out if it returns true.
   */
  wattlas.addPage = (page) => pages.push({ ...defaultsOf(page.name), ...page });
  /** The address of a page's file or answer, for the state that is on the screen. */
  const fileOf = (name, path, query = wattlas.address.shown(name)) =>
    pagesRoot() + name + "/" + path + "?" + query;
  wattlas.fileOf = fileOf;
  const defaultsOf = (name) => ({
    data: (view, format) => fileOf(name, "data/" + view + "." + format),
    how: (view) => fileOf(name, "how/" + view),
    resize: () => wattlas.resizePlots([...document.querySelectorAll(".page .js-plotly-plot")]),
  });
  /* The name of a view: the id of its element without the page's name. */
  const viewOf = (page, id) => (id.startsWith(page.name + "-") ? id.slice(page.name.length + 1) : id);
  wattlas.page = (name) => pages.find((page) => page.name === name);
  wattlas.pageVersions = () => JSON.parse(document.querySelector("[data-versions]").dataset.versions);
  wattlas.pageNames = () => Object.keys(wattlas.pageVersions());
  const current = () => pages.find(({ name }) => document.querySelector(".page." + name));
  wattlas.currentPage = current;

  function markTab() {
    const tabs = [...document.querySelectorAll("header.top .tab")];
    const own = tabs.find((tab) => new URL(tab.href).pathname === location.pathname);
    const tabOfPage = JSON.parse(document.querySelector("[data-tabs]").dataset.tabs);
    tabs.forEach((tab) => {
      if (own && tab.id === "tab-" + tabOfPage[own.id.slice(4)]) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    });
    document.querySelectorAll("header.top .tab[aria-current]").forEach(wattlas.showTab);
  }
  wattlas.markTab = markTab;
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

  /* Remove the frame with placeholders (app/serve/index.py) when the page is drawn. */
  const MOST_TRIES = 250;
  let tries = 0, scrolled = 0;
  /** Scroll and unfold the page as its reader did the frame, which has the same text. */
  function takeOver(frame) {
    const details = (part) => [...part.querySelectorAll(".views details")];
    const views = document.querySelector("main .views"), before = details(frame);
    if (!views) return;
    const now = details(views.parentElement);
    if (before.length === now.length) before.forEach(({ open }, i) => { now[i].open = now[i].open || open; });
    if (!scrolled || views.scrollTop || scrollY) return;
    views.scrollTop = scrolled;
    if (!views.scrollTop) scrollTo(0, scrolled);
  }
  function removeFirstPage() {
    const frame = document.querySelector(".first-page");
    if (!frame) return;
    // The style sheet may hide the frame earlier; what is hidden is not scrolled.
    if (frame.offsetHeight) scrolled = frame.querySelector(".views").scrollTop;
    const isThere = document.querySelector("#react-entry-point main");
    if (isThere && (wattlas.isOpened() || (tries += 1) > MOST_TRIES)) {
      frame.querySelectorAll(".js-plotly-plot").forEach((gd) => window.Plotly.purge(gd));
      frame.remove();
      takeOver(frame);
    } else wattlas.later(removeFirstPage, 20);
  }
  wattlas.withDash(removeFirstPage);

  /** Show a message for two seconds in place of the selection's words in the status line. */
  function say(text) {
    const status = document.getElementById("status-selection");
    if (!status) return;
    const before = status.textContent;
    status.textContent = text;
    setTimeout(() => { if (status.textContent === text) status.textContent = before; }, 2000);
  }
  wattlas.say = say;

  /** Copy a text. Browsers offer the clipboard by https and on this machine only; else copy a field. */
  async function isCopied(text) {
    if (navigator.clipboard) {
      try {
        await navigator.clipboard.writeText(text);
        return true;
      } catch (error) { /* not allowed: try the other way */ }
    }
    const field = wattlas.element("textarea", { value: text, readOnly: true, className: "copied" });
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    return isDone;
  }

  wattlas.isCopied = isCopied;

  /** Copy a link to what is shown, of the version of the lake that is shown. */
  async function copyLink(page) {
    const link = location.origin + location.pathname + "?" + wattlas.address.shown(page.name);
    const { shown } = wattlas.address.opened(page.name).spec;
    if (await isCopied(link)) {
      say(shown >= 0 ? "link copied; it pins version " + shown + " of the lake" : "link copied");
      return;
    }
    const field = wattlas.element("input", { value: link, readOnly: true, className: "field link" });
    const dialog = wattlas.element("dialog", { onclose: () => dialog.remove() },
      wattlas.element("h2", { textContent: "Copy this link: Ctrl+C" }), field);
    document.body.append(dialog);
    dialog.showModal();
    field.select();
  }

  const ACTIONS = {
    "copy-link": copyLink,
    paper: (page, id) => wattlas.paper(page, id, viewOf(page, id)),
    pdf: (page, id) => wattlas.paper(page, id, viewOf(page, id), true),
    csv: (page, id) => { location.href = page.data(viewOf(page, id), "csv"); },
    parquet: (page, id) => { location.href = page.data(viewOf(page, id), "parquet"); },
    explain,
    maximise: (page, id) => wattlas.maximise(id),
    present: (page, id) => wattlas.present(id),
  };

  /* Each query of an explanation is one paragraph; a button opens it on the page that runs queries. */
  function withLinks(text) {
    const opener = pages.find((page) => page.openQuery);
    if (!opener) return [text];
    return text.split(/(?<=\n\n)/).flatMap((part) => {
      if (!/^(SELECT|WITH) /.test(part)) return [part];
      const onclick = () => {
        document.getElementById("how").close();
        opener.openQuery(part.trim());
      };
      const link = { className: "plain", textContent: "open in " + titleOf(opener.name), onclick };
      return [wattlas.element("button", link), "\n" + part];
    });
  }

  async function explain(page, id) {
    const words = document.getElementById("explanation");
    words.textContent = "\u2026";
    document.getElementById("how").showModal();
    try {
      words.replaceChildren(...withLinks(await (await wattlas.fetch(page.how(viewOf(page, id)))).text()));
    } catch (error) {
      words.textContent = "The server did not answer (" + error.message + "). Reload the page.";
    }
  }

  document.addEventListener("click", (event) => {
    const within = (selector) => wattlas.closest(event, selector);
    const item = within("[data-action]"), action = item && ACTIONS[item.dataset.action];
    if (action) action(current(), item.dataset.viewTarget);
    const clear = within("[data-clear-facet]"), closes = within(".closes");
    const sidebar = within("#sidebar-button");
    if (clear) setProps(JSON.parse(clear.dataset.clearFacet), { value: [] });
    if (within("#theme-button")) setTheme(theme === "dark" ? "light" : "dark");
    if (closes) closes.closest("dialog").close();
    if (within("#help-button")) document.getElementById("help").showModal();
    if (sidebar) {
      const folded = document.querySelector(".page").classList.toggle("folded");
      sidebar.setAttribute("aria-expanded", String(!folded));
      const page = current();
      if (page && page.resize) wattlas.later(page.resize, 60);
    }
    if (event.target.tagName === "DIALOG") event.target.close();
  });

  const tabOf = (name) => document.getElementById("tab-" + name);
  const titleOf = (name) => tabOf(name).textContent;

  /** The address of a page with a URL query. */
  wattlas.pageAddress = (name, query) => new URL(tabOf(name).href).pathname + (query ? "?" + query : "");

  /** Go to another page without loading the app again. */
  wattlas.openPage = function (name, query) {
    const isSame = document.querySelector(".page." + name), { changes = 0 } = history.state || {};
    wattlas.hideHover();
    if (!isSame && !wattlas.isComplete()) {
      location.assign(wattlas.pageAddress(name, query));
      return;
    }
    history.pushState({ changes: isSame ? changes + 1 : 0 }, "", wattlas.pageAddress(name, query));
    dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
    scrollTo(0, 0);
  };

  /* Whether a key asks to undo: in a text it is the browser's. */
  function isUndo(event) {
    const { key, ctrlKey, metaKey, shiftKey, altKey } = event;
    const texts = "input:not([type=checkbox], [type=radio]), textarea, [contenteditable=true]";
    return key === "z" && (ctrlKey || metaKey) && !shiftKey && !altKey && !wattlas.closest(event, texts);
  }

  /* Handle all keys: help, undo and Escape here; the shown page handles the others, without a listener. */
  document.addEventListener("keydown", (event) => {
    if (wattlas.menuKey(event) || wattlas.groupKey(event)) return;
    const typed = "input, textarea, select, [contenteditable=true], [role=listbox]";
    const isTyping = wattlas.closest(event, typed);
    if (wattlas.panelKey(event, isTyping)) return;
    const help = document.getElementById("help"), page = current();
    if (page && page.typed && page.typed(event)) {
      event.preventDefault();
      return;
    }
    if (event.key === "?" && !isTyping) {
      if (help.open) help.close(); else help.showModal();
      return;
    }
    if (isUndo(event) && !document.querySelector("dialog[open]")) {
      if (wattlas.address.canUndo()) history.back();
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
