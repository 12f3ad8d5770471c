/* The way from Explore to the timeline: what a point offers, a double click, a key, a button for what is selected. */
document.addEventListener("DOMContentLoaded", function () {
  "use strict";
  const { wattlas } = window;

  const MOST = 6, NEAR_PX = 12, EXPLORE = ".explore";
  const view = wattlas.view;
  const way = (wattlas.way = { pressedAt: 0 });

  /** What can be done with a point, for its hover: the last line. */
  wattlas.pointHint = (i) => "click: pin \u00b7 " + (view.points.logged[i] > 0 ? "double-click: timeline" : "no timeline: no per-interrupt log");

  /** A configuration as the timeline's address has it; of one run where points are runs. */
  function asked(i) {
    const workload = new URLSearchParams(explore().query()).get("workload"), replicate = view.points.replicate[i];
    return { ...(workload ? { workload } : {}), ...wattlas.configuration(view.points, i), ...(isNaN(replicate) ? {} : { replicate }) };
  }
  const explore = () => wattlas.currentPage();

  const picked = () => (view.mask ? Array.from(view.mask.keys()).filter((i) => view.mask[i]) : []);
  const logged = (indices) => indices.filter((i) => view.points.logged[i] > 0);

  /** Go to the timeline of some points without loading the app again; Explore's tab leads back to this state. */
  wattlas.openTimeline = function (indices) {
    const can = logged(indices);
    if (!can.length) { wattlas.say(indices.length ? "no per-interrupt log, so no timeline" : "select points first, then t"); return; }
    const page = explore(), query = new URLSearchParams(), pinned = new URLSearchParams(page.query()).get("lake");
    if (pinned !== null) { query.set("v", "1"); query.set("lake", pinned); }
    can.slice(0, MOST).forEach((i) => query.append("open", JSON.stringify(asked(i))));
    query.set("of", indices.length);
    way.pressedAt = performance.now();
    wattlas.writeAddress(page, page.query());
    wattlas.hideHover();
    history.pushState({}, "", "/timeline?" + query);
    dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
    scrollTo(0, 0);
  };

  /** Say at the selection how many of its points have a timeline. */
  wattlas.offerTimeline = function () {
    const button = document.getElementById("picked-timeline");
    if (!button || !view.points) return;
    const all = picked(), can = logged(all);
    button.hidden = !all.length;
    button.disabled = !can.length;
    button.textContent = can.length > MOST ? "timeline of " + MOST + " (t)" : can.length ? "timeline (t)" : "no timeline";
    const some = all.length + (all.length === 1 ? " point" : " points");
    button.title = can.length ? can.length + " of " + some + " with a per-interrupt log" : "no per-interrupt log behind " + some + ": summary tables hold none";
  };

  /* Before Plotly sees it: the second press of a double click on a point would clear selection and zoom. */
  document.addEventListener("mousedown", (event) => {
    const gd = event.detail === 2 && event.button === 0 && event.target.closest && event.target.closest("#scatter") && wattlas.plot("scatter");
    if (!gd || view.under === undefined || view.under === null || !view.points) return;
    const i = view.under, at = wattlas.place(gd, view.points.values.x[i], view.points.values.y[i]);
    if (!at || Math.hypot(at.clientX - event.clientX, at.clientY - event.clientY) > NEAR_PX) return;
    event.stopPropagation();
    event.preventDefault();
    wattlas.select(wattlas.configClause(wattlas.configuration(view.points, i)));
    wattlas.openTimeline([i]);
  }, true);

  document.addEventListener("keydown", (event) => {
    if (event.key !== "t" || event.ctrlKey || event.metaKey || event.altKey || !document.querySelector(EXPLORE) || !view.points) return;
    if (document.querySelector("dialog[open]") || event.target.closest("input, textarea, [role=listbox]")) return;
    const isPointed = document.getElementById("hover-card").style.display === "block" && view.under !== null && view.under !== undefined;
    wattlas.openTimeline(view.mask ? picked() : isPointed ? [view.under] : []);
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest && event.target.closest("#picked-timeline")) wattlas.openTimeline(picked());
  });
});
