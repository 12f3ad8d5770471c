/* The two themes: their colours, and a figure's layout under one of them. Pure: layout in, layout out. */
(function (wattlas) {
  "use strict";

  const THEMES = {
    light: {
      text: "#1f2328", grid: "#e4e7eb", line: "#9aa1a9", halo: "rgba(255,255,255,0.9)", missed: "#c3c7cc",
    },
    dark: {
      text: "#e6e8eb", grid: "#2f343b", line: "#6b737d", halo: "rgba(255,255,255,0.55)", missed: "#4b5159",
    },
  };
  wattlas.palette = (theme) => THEMES[theme] || THEMES.light;

  /**
   * The layout with the theme's colours on all its axes, text, selections and tool bar. No axis looks for
   * labels outside its figure: Plotly would measure each one, up to a third of the time of drawing.
   */
  wattlas.themed = function (layout, theme) {
    const c = wattlas.palette(theme);
    const axes = Object.entries({ xaxis: {}, yaxis: {}, ...layout })
      .filter(([key]) => /^[xy]axis\d*$/.test(key))
      .map(([key, axis]) => [key, {
        ...axis, gridcolor: c.grid, linecolor: c.line, tickcolor: c.line, ticklabeloverflow: "allow",
      }]);
    return {
      ...layout,
      ...Object.fromEntries(axes),
      font: { ...layout.font, color: c.text },
      newselection: { line: { color: c.text, width: 1, dash: "dot" } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: c.line, activecolor: c.text },
    };
  };

  /** Write the theme where the style sheet and the table's library read it, and name the other one. */
  wattlas.applyTheme = function (theme) {
    document.documentElement.setAttribute("data-theme", theme);
    document.documentElement.setAttribute("data-ag-theme-mode", theme);
    const button = document.getElementById("theme-button");
    if (button) button.textContent = theme === "dark" ? "light" : "dark";
  };

  /** In an exported page: show each theme in turn at the button. Returns the present theme's name. */
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
    return () => theme;
  };
})((window.wattlas = window.wattlas || {}));
