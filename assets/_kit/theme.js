/* The two themes: their colours, and figures in one of them. Figures are pure: figure in, figure out. */
(function (wattlas) {
  "use strict";

  const THEMES = {
    light: {
      text: "#1f2328", grid: "#e4e7eb", line: "#9aa1a9", outline: "rgba(31,35,40,0.55)", missed: "#c3c7cc",
      paper: "#ffffff",
    },
    dark: {
      text: "#e6e8eb", grid: "#2f343b", line: "#6b737d", outline: "rgba(230,232,235,0.55)", missed: "#4b5159",
      paper: "#16191d",
    },
  };
  wattlas.palette = (theme) => THEMES[theme] || THEMES.light;
  wattlas.FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

  /**
   * The layout with the theme's colours on all its axes, text and selections. Plotly hides no tick
   * labels at the edges of a figure, for which it would measure every label: a seventh of Storage's drawing.
   */
  wattlas.themed = function (layout, theme) {
    const c = wattlas.palette(theme);
    const axes = Object.entries({ xaxis: {}, yaxis: {}, ...layout })
      .filter(([key]) => /^[xy]axis\d*$/.test(key))
      .map(([key, axis]) => [key, {
        ...axis, gridcolor: c.grid, linecolor: c.line, tickcolor: c.line, ticklabeloverflow: "allow",
        // Plotly changes ranges in place.
        ...(axis.range ? { range: axis.range.slice() } : {}),
      }]);
    return {
      ...layout,
      ...Object.fromEntries(axes),
      font: { ...layout.font, color: c.text },
      newselection: { line: { color: c.text, width: 1, dash: "dot" } },
    };
  };

  /** A part of a figure with the words "page" and "missed" replaced by the colours of a theme. */
  function withColor(value, colors) {
    if (value === "page") return colors.text;
    if (value === "missed") return colors.missed;
    if (Array.isArray(value)) {
      return typeof value[0] === "number" ? value : value.map((one) => withColor(one, colors));
    }
    if (!value || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withColor(one, colors)]));
  }

  /** A figure with the theme's colours: of text for "page", of what misses a limit for "missed". */
  wattlas.themedFigure = function ({ data, layout }, theme) {
    const colors = wattlas.palette(theme);
    const colored = ({ meta, ...part }) => ({ ...withColor(part, colors), meta });
    return { data: data.map(colored), layout: wattlas.themed(colored(layout), theme) };
  };

  /** Set the theme for the style sheet and the table's library. The button names the other theme. */
  wattlas.applyTheme = function (theme) {
    document.documentElement.setAttribute("data-theme", theme);
    document.documentElement.setAttribute("data-ag-theme-mode", theme);
    const button = document.getElementById("theme-button");
    if (button) button.textContent = theme === "dark" ? "light" : "dark";
  };
})((window.wattlas = window.wattlas || {}));
