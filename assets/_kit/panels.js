/*
 * Panels of a picture in as many columns as have room. The server places them for a wide picture (app/kit/
 * joined.py): `meta.panels` says which axes and notes are a panel's and where it is, `meta.grid` in how many
 * columns and lines.
 */
(function (wattlas) {
  "use strict";

  // A panel that is narrower cannot be read; between two lines: room for ticks and the next title.
  const LEAST_PX = 150, LEAST_EMS = 12, ABOVE_PX = 48, BESIDE = 0.12;
  // A narrower tick of a logarithmic axis leaves no room for digits between two decades.
  const LOG_TICK_PX = 130;

  /** The number of columns for a picture of a width. */
  const columnsFor = ({ margin, meta: { grid } }, width) => {
    const room = width - margin.l - margin.r;
    return Math.max(1, Math.min(grid.columns, Math.floor(room / LEAST_PX)));
  };

  /** A layout with its panels in fewer columns, for a picture that is so many pixels high. Pure. */
  function inColumns(layout, columns, height) {
    const { panels, grid } = layout.meta, { margin } = layout, out = { ...layout };
    const lines = Math.ceil(panels.length / columns), beside = columns > 1 ? BESIDE : 0;
    const above = Math.min(0.5 / lines, ABOVE_PX / Math.max(1, height - margin.t - margin.b));
    const size = { x: (1 - beside * (columns - 1)) / columns, y: (1 - above * (lines - 1)) / lines };
    // The titles that one of the panels has, in the order of their axes.
    const keysOf = ({ axes }, letter) => axes.filter((key) => key[0] === letter);
    const titleOf = (letter, k) => panels.map((panel) => layout[keysOf(panel, letter)[k]].title)
      .find((title) => title && title.text) || { text: "" };
    const middle = Math.floor((columns * (lines - 1) + panels.length - 1) / 2);
    out.annotations = [...layout.annotations];
    panels.forEach(({ axes, notes, box }, number) => {
      const line = Math.floor(number / columns), column = number % columns;
      const start = { x: column * (size.x + beside), y: Math.max(0, 1 - line * (size.y + above) - size.y) };
      const moved = (letter, at) => {
        const [from, length] = box[letter];
        return start[letter] + ((at - from) / length) * size[letter];
      };
      const isOuter = { x: number + columns >= panels.length, y: column === 0 };
      const isTitledLine = lines < 3 || line === Math.floor((lines - 1) / 2);
      const isTitled = { x: number === middle, y: column === 0 && isTitledLine };
      const places = { x: 0, y: 0 };
      for (const key of axes) {
        const letter = key[0], k = places[letter]++;
        out[key] = {
          ...layout[key], domain: layout[key].domain.map((at) => within(moved(letter, at))),
          title: isTitled[letter] ? titleOf(letter, k) : { text: "" },
          showticklabels: isOuter[letter] || !grid.isShared,
        };
      }
      for (let i = notes[0]; i < notes[1]; i++) {
        const note = { ...out.annotations[i] };
        for (const letter of ["x", "y"]) {
          if (note[letter + "ref"] === "paper") note[letter] = moved(letter, note[letter]);
        }
        out.annotations[i] = note;
      }
    });
    return out;
  }

  /** A layout for an element: its panels in as many columns as have room; the page knows their lines. */
  function arranged(gd, layout) {
    const { grid, panels } = layout.meta || {}, frame = gd.closest(".panel") || gd;
    delete gd.dataset.panels;
    delete gd.dataset.columns;
    frame.style.removeProperty("--lines");
    if (!grid) return layout;
    let columns = 0, lines = 0;
    // The page gives many columns more room, so the width is asked for again.
    for (let turn = 0; turn < 2; turn++) {
      columns = columnsFor(layout, gd.clientWidth);
      lines = Math.ceil(panels.length / columns);
      Object.assign(gd.dataset, { panels: lines, columns });
    }
    frame.style.setProperty("--lines", lines);
    const placed = columns < grid.columns ? inColumns(layout, columns, gd.clientHeight) : layout;
    return withLogTicks(placed, gd.clientWidth);
  }

  /** A layout with as many ticks on logarithmic x axes as their panels' width has room for. Pure. */
  function withLogTicks(layout, width) {
    const { margin, meta: { panels } } = layout, out = { ...layout };
    for (const key of panels.flatMap(({ axes }) => axes)) {
      const { domain, type } = layout[key];
      if (key[0] !== "x" || type !== "log") continue;
      const px = (domain[1] - domain[0]) * (width - margin.l - margin.r);
      out[key] = { ...layout[key], nticks: Math.max(2, Math.floor(px / LOG_TICK_PX)) };
    }
    return out;
  }

  /**
   * A layout and its width and height for paper: panels in as many columns as a width of so many ems has room
   * for, each in the shape that it has on the screen.
   */
  function onPaper(gd, layout, [width, height], ems) {
    const { grid, panels } = layout.meta || {};
    const columns = grid && Math.max(1, Math.min(grid.columns, Math.floor(ems / LEAST_EMS)));
    if (!grid || columns === grid.columns) return [layout, [width, height]];
    const lines = Math.ceil(panels.length / columns), drawn = gd.dataset;
    const taller = (lines * (drawn.columns || grid.columns)) / (columns * (drawn.panels || grid.lines));
    return [inColumns(layout, columns, height * taller), [width, height * taller]];
  }

  /** Whether the panels of a drawn picture are in the columns that have room. */
  const isArranged = (gd) => !(gd.layout.meta || {}).grid
    || columnsFor(gd.layout, gd.clientWidth) === Number(gd.dataset.columns);

  /** Make a panel the page: its filter is set, and the split ends. */
  function open(name, { facet, value }) {
    const query = new URLSearchParams(wattlas.address.query(name));
    query.set(facet, value);
    query.delete("split");
    wattlas.openPage(name, query.toString());
  }

  /* Plotly refuses a domain that is beyond 1 by rounding. */
  const within = (share) => Math.min(1, Math.max(0, share));

  wattlas.panels = { inColumns, withLogTicks, arranged, onPaper, isArranged, open };
})((window.wattlas = window.wattlas || {}));
