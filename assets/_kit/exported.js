/* What the scripts share that start exported pages: the data of the file, the theme's button, keys. */
(function (wattlas) {
  "use strict";

  /** The data that the file holds. */
  wattlas.exportData = () => JSON.parse(document.getElementById("view-data").textContent);

  /** Show each theme in turn at the button; `show` gets its name. */
  wattlas.exportThemes = function (show) {
    let theme = "light";
    const change = (wanted) => {
      theme = wanted;
      wattlas.applyTheme(theme);
      show(theme);
    };
    document.getElementById("theme-button")
      .addEventListener("click", () => change(theme === "dark" ? "light" : "dark"));
    change(theme);
  };

  /** Keys as in the app: Escape calls `clear`, others go to `key`, which returns whether it took one. */
  wattlas.exportKeys = ({ key, clear = () => {} }) => document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || wattlas.groupKey(event)) return;
    if (event.key === "Escape") clear();
    else if (!wattlas.closest(event, "input, select") && key(event)) event.preventDefault();
  });
})((window.wattlas = window.wattlas || {}));
