/*
 * The menu of a view, or of the knob of a legend line: one for all of them, made when a button opens it.
 * Escape, its own button, a click beside it and Tab close it. On a narrow screen it is a sheet (style.css).
 */
(function (wattlas) {
  "use strict";

  const { element } = wattlas;
  const ENTRIES = {
    "copy-link": "Copy link", paper: "Figure for a paper", pdf: "PDF",
    csv: "Data as CSV", parquet: "Data as Parquet",
    explain: "How was this computed", maximise: "Maximise (m)", present: "Present (p)",
  };
  /* Of a picture whose rows its page saves by itself. */
  const OF_ROWS = ["csv", "parquet", "explain"];
  const OF_PICTURES = ["paper", "pdf"];
  let menu = null, opener = null;

  function close(isBack) {
    if (!menu) return;
    menu.remove();
    menu = null;
    opener.setAttribute("aria-expanded", "false");
    if (isBack && opener.isConnected) opener.focus({ preventScroll: true });
  }

  const item = (data, textContent, isChosen) => element("button", {
    type: "button", textContent, tabIndex: -1, data, className: isChosen ? "chosen" : "",
    attributes: { role: "menuitem", ...(isChosen ? { "aria-current": "true" } : {}) },
  });
  /* The menu of a control lists what its own list would. */
  function choicesOf(id) {
    const { props: { data, value } } = window.dash_component_api.getLayout(id);
    return data.map((one) => item({ control: id, choice: one.value }, one.label, one.value === value));
  }

  function open(button) {
    const { opens } = button.dataset;
    const entries = opens ? choicesOf(opens) : Object.entries(ENTRIES)
      .filter(([action]) => (OF_ROWS.includes(action) ? button.dataset.hasRows !== "no"
        : !OF_PICTURES.includes(action) || button.closest("section").querySelector(".js-plotly-plot")))
      .map(([action, words]) => item({ action, viewTarget: button.dataset.menuOf }, words));
    const name = { role: "menu", "aria-label": button.getAttribute("aria-label") || button.title };
    menu = element("div", { className: "menu", attributes: name }, ...entries, item({}, "Close"));
    opener = button;
    opener.setAttribute("aria-expanded", "true");
    document.body.append(menu);
    const at = button.getBoundingClientRect(), { offsetWidth, offsetHeight } = menu;
    const below = at.bottom + offsetHeight < innerHeight ? at.bottom : at.top - offsetHeight;
    menu.style.setProperty("--left", Math.max(4, opens ? at.left : at.right - offsetWidth) + "px");
    menu.style.setProperty("--top", Math.max(4, below) + "px");
    (entries.find(({ className }) => className) || entries[0]).focus();
  }

  // Before the handlers of the actions, so that what they open gives the focus back to the button.
  document.addEventListener("click", (event) => {
    const button = wattlas.closest(event, "[data-menu-of], [data-opens]"), isOpen = menu && button === opener;
    const choice = wattlas.closest(event, "[data-choice]");
    if (choice) wattlas.setProps(choice.dataset.control, { value: choice.dataset.choice });
    close(Boolean(wattlas.closest(event, "[role=menuitem]")));
    if (button && !isOpen) open(button);
  }, true);
  /** Close the menu by Escape or Tab. Returns whether the key was for it. */
  wattlas.menuKey = function ({ key }) {
    if (!menu || (key !== "Escape" && key !== "Tab")) return false;
    close(true);
    return true;
  };
  addEventListener("resize", () => close(false));
})(window.wattlas);
