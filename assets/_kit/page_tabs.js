/*
 * Links between pages: tabs, links in the status line, links of keys and points. All of them carry what
 * pages share: the filters, the limit, the selection and the pinned version of the lake. A page keeps in
 * its URL what it cannot use, and hands it on. A link brings the other page's own settings back if they
 * still apply.
 */
(function (wattlas) {
  "use strict";

  const { address } = wattlas, { texts } = address;
  const LIMIT = ["limit", "by"], LEADING = ["dataset", "workload"];
  const same = (a, b, keys) => keys.every((key) => String(a[key] || "") === String(b[key] || ""));

  /** What a page hands on to another: lists of texts by URL key; `more` replaces some. */
  function sharedOf(name, target, more = {}) {
    const { spec, kept, values, carried } = address.opened(name), all = { ...values, ...kept };
    const shared = { ...carried };
    for (const key of [...spec.facets, ...LIMIT, "sel"]) {
      const own = texts(all[key]);
      if (own.length && String(own) !== String(texts(spec.defaults[key]))) shared[key] = own;
    }
    // A selection that the page was opened with goes on as it came.
    const isAsOpened = carried.sel && String(texts(all.sel)) === String(texts(spec.kept.sel));
    const page = wattlas.page(name) || {}, replaced = page.handover ? page.handover(target, shared) : {};
    Object.assign(shared, replaced, isAsOpened ? { sel: carried.sel } : {}, more);
    return Object.fromEntries(Object.entries(shared).map(([key, value]) => [key, texts(value).sort()])
      .filter(([, list]) => list.length));
  }

  /** A page's settings that other pages do not have, as pairs, if they apply under what is handed on. */
  function ownOf(target, shared, before) {
    const { spec, carried } = address.opened(target), page = wattlas.page(target) || {};
    const follows = page.follows || (() => LEADING);
    if (!same(shared, before, follows({ ...shared, ...before }))) return [];
    const others = Object.keys({ ...carried, ...shared });
    const isShared = new Set([...spec.facets, ...others, ...LIMIT, "sel", "v", "lake"]);
    return [...new URLSearchParams(address.query(target))].filter(([key]) => !isShared.has(key));
  }

  /** The URL query of a link from a page to another; empty if the other page chooses what it shows. */
  wattlas.linkQuery = function (name, target, more) {
    const shared = sharedOf(name, target, more), there = address.opened(target);
    const before = there ? sharedOf(target, name) : {}, { lake } = address.opened(name).spec;
    const isEqual = same(shared, before, Object.keys({ ...shared, ...before }));
    const isEmpty = !Object.keys(shared).length;
    if (there && (isEqual || isEmpty) && there.spec.lake === lake) {
      return address.query(target, there.carried.sel ? shared : {});
    }
    const query = new URLSearchParams(isEmpty ? {} : { v: wattlas.pageVersions()[target] });
    for (const [key, list] of Object.entries(shared)) list.forEach((text) => query.append(key, text));
    if (there && !isEmpty) ownOf(target, shared, before).forEach(([key, text]) => query.append(key, text));
    if (lake !== null) query.set("lake", lake);
    return query.toString();
  };

  /* Until the scripts of other pages are there, a link to a page loads it as a document. */
  document.addEventListener("click", (event) => {
    if (!wattlas.isComplete() && wattlas.closest(event, "a[href]")) event.stopPropagation();
  }, true);

  /* The server writes links to some of the runs that a page shows; the limit is known here. */
  document.addEventListener("click", (event) => {
    const link = wattlas.closest(event, ".with-limit a"), page = link && wattlas.currentPage();
    if (!page || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const shared = sharedOf(page.name), query = new URLSearchParams(link.search);
    const target = wattlas.pageNames().find((name) => wattlas.pageAddress(name) === link.pathname);
    if (!target || !shared.limit) return;
    event.preventDefault();
    event.stopPropagation();
    LIMIT.filter((key) => shared[key]).forEach((key) => query.set(key, shared[key][0]));
    wattlas.openPage(target, query.toString());
  }, true);

  /** Write the addresses of a page's links to other pages. */
  wattlas.linkPages = function (name) {
    for (const target of wattlas.pageNames()) {
      if (target === name || !document.getElementById("tab-" + target)) continue;
      const href = wattlas.pageAddress(target, wattlas.linkQuery(name, target));
      for (const id of ["tab-" + target, name + "-to-" + target]) {
        const link = document.getElementById(id);
        if (link && link.getAttribute("href") !== href) wattlas.setProps(id, { href });
      }
    }
  };
})(window.wattlas);
