/*
 * Printing: a page becomes a report. Before a browser prints, what its controls and filters say is
 * written as text, pictures get the width of the paper, and the link is put at the foot.
 */
(function (wattlas) {
  "use strict";

  const { element } = wattlas, WIDE_PX = 660;
  let undo = [];

  const textOf = (part) => (part ? part.textContent.trim() : "");
  const said = (label, values) => (values.length ? label + ": " + values.join(", ") : "");

  /** What is chosen in a part of the page: chips, menus, numbers and switches, each with its name. */
  function choices(part, isOf = () => true) {
    const words = [];
    for (const box of [...part.querySelectorAll(".facet")].filter(isOf)) {
      const chosen = [...box.querySelectorAll("input:checked")].map((one) => textOf(one.labels[0]));
      if (!box.hidden) words.push(said(textOf(box.querySelector(".facet-title")), chosen));
    }
    const isFree = (control) => !control.closest(".facet") && control.type !== "hidden" && isOf(control);
    for (const control of [...part.querySelectorAll("input, .select")].filter(isFree)) {
      const group = control.closest("[role=radiogroup]");
      const name = control.getAttribute("aria-label") || (group && group.getAttribute("aria-label"))
        || (control.labels && textOf(control.labels[0]));
      const isBox = control.type === "checkbox" || control.type === "radio";
      const isMenu = control.matches(".select"), own = isMenu ? textOf(control) : control.value;
      const value = !isBox ? own : control.type === "radio" ? textOf(control.labels[0]) : "yes";
      if (name && value && (!isBox || control.checked)) words.push(said(name, [value]));
    }
    return words.filter(Boolean).join(" \u00b7 ");
  }

  /** Put a part onto the page for the time of printing. */
  function put(part, beside, where) {
    beside.insertAdjacentElement(where, part);
    undo.push(() => part.remove());
  }
  const line = (className, textContent) => element("p", { className: "printed " + className, textContent });

  function before() {
    const main = document.querySelector("main.page"), page = wattlas.currentPage();
    if (!main || undo.length) return;
    const sidebar = main.querySelector(".sidebar"), lake = textOf(document.getElementById("lake-line"));
    const badge = textOf(document.querySelector(".badge"));
    const status = textOf(main.querySelector(".status > [id$='-status']"));
    const runs = [...main.querySelectorAll(".sidebar .run")].map((run) =>
      textOf(run.querySelector("b")) + " " + textOf(run.querySelector(".run-label")));
    const others = choices(main, (control) => !control.closest(".sidebar, .panel-head, .grid"));
    const words = [status, ...runs, sidebar ? choices(sidebar) : "", others, badge].filter(Boolean);
    put(line("printed-head", words.join(" \u00b7 ")), main, "afterbegin");
    put(element("h1", { className: "printed", textContent: document.title }), main, "afterbegin");
    for (const head of main.querySelectorAll(".panel-head")) {
      const chosen = choices(head);
      if (chosen) put(line("printed-choices", chosen), head, "afterend");
    }
    for (const gd of main.querySelectorAll(".js-plotly-plot")) {
      if (!gd.clientWidth) continue;
      // What lies over a picture has its parent's.
      gd.parentElement.style.setProperty("--print-zoom", Math.min(1, WIDE_PX / gd.clientWidth));
      gd.style.setProperty("--print-wide", gd.clientWidth + "px");
      gd.style.setProperty("--print-high", gd.clientHeight + "px");
      gd.classList.add("on-paper");
      undo.push(() => gd.classList.remove("on-paper"));
    }
    const isSeen = (part) => part.getClientRects().length > 0;
    for (const graph of [...main.querySelectorAll(".graph:empty")].filter(isSeen)) {
      put(line("printed-choices", "not drawn: it was not on the screen yet"), graph, "afterend");
    }
    for (const part of main.querySelectorAll(".panel, :has(> .panel)")) {
      if (isSeen(part) || part.classList.contains("printless")) continue;
      part.classList.add("printless");
      undo.push(() => part.classList.remove("printless"));
    }
    const nav = document.querySelector("nav[data-maker]");
    const here = location.origin + location.pathname;
    const link = page ? here + "?" + wattlas.address.shown(page.name) : location.href;
    const named = element("a", { href: link, textContent: link });
    const foot = element("p", { className: "printed printed-foot" }, named,
      " \u00b7 " + [lake, nav && nav.dataset.maker].filter(Boolean).join(" \u00b7 "));
    put(foot, main, "beforeend");
  }

  function after() {
    undo.forEach((one) => one());
    undo = [];
  }
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
})((window.wattlas = window.wattlas || {}));
