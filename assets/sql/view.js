/* Rows for the grid and traces of the chart. Pure; texts from the server are never read as HTML. */
(function (wattlas) {
  "use strict";

  const NUMBERS = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL)/;
  const isNumber = (type) => NUMBERS.test(type);

  const HUES = [
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b",
    "#e377c2", "#7f7f7f", "#bcbd22", "#17becf",
  ];

  /** A query on one line, of at most `most` characters. */
  function shortened(query, most = 60) {
    const line = query.replace(/\s+/g, " ").trim();
    return line.length > most ? line.slice(0, most - 1) + "\u2026" : line;
  }

  /** The grid's columns: fields by position, since names may repeat or hold dots. */
  function columnsOf({ columns, types }) {
    return columns.map((name, i) => ({
      field: "c" + i, headerName: name, headerTooltip: types[i],
      ...(isNumber(types[i]) ? { type: "rightAligned" } : {}),
    }));
  }

  const rowsOf = ({ rows }) => rows.map((row) => Object.fromEntries(row.map((cell, i) => ["c" + i, cell])));

  /** Words in place of a chart. */
  function said(text) {
    const axis = { visible: false }, clear = "rgba(0,0,0,0)";
    const colors = { paper_bgcolor: clear, plot_bgcolor: clear };
    const annotations = [{ text, showarrow: false, xref: "paper", yref: "paper", x: 0.5, y: 0.5 }];
    return { data: [], layout: { xaxis: axis, yaxis: axis, annotations, ...colors } };
  }

  /** The chart of two columns; a third one makes one trace of each of its values, at most `most`. */
  function chartOf(answer, { x, y, colour }, most = 20) {
    const [i, j, k] = [x, y, colour].map((name) => answer.columns.indexOf(name));
    if (i < 0 || j < 0) return said("Choose x and y to draw the rows.");
    const groups = new Map();
    for (const row of answer.rows) {
      const name = k < 0 ? "" : String(row[k]);
      const key = groups.has(name) || groups.size < most ? name : "others";
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(row);
    }
    const escaped = (value) => (typeof value === "string" ? wattlas.plotText(value) : value);
    const cell = (column) => (row) => escaped(row[column]);
    const data = [...groups].map(([name, rows], at) => ({
      type: "scatter", mode: "markers", name: wattlas.plotText(name),
      x: rows.map(cell(i)), y: rows.map(cell(j)),
      marker: { size: 7, color: HUES[at % HUES.length] }, showlegend: k >= 0,
    }));
    const layout = {
      xaxis: { title: { text: wattlas.plotText(x) } }, yaxis: { title: { text: wattlas.plotText(y) } },
      margin: { l: 64, r: 12, t: 12, b: 44 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      showlegend: false, uirevision: x + " " + y,
    };
    return { data, layout };
  }

  /**
   * What could end the word before the caret: at most `most` of `names`, those that begin with it first.
   * Null without a word; `from` is where the word begins.
   */
  function completionsOf(names, text, caret, most = 8) {
    const [word] = /[A-Za-z_]\w*$/.exec(text.slice(0, caret)) || [""];
    if (!word) return null;
    const lower = word.toLowerCase(), at = (name) => name.toLowerCase().indexOf(lower);
    const found = names
      .filter((name) => at(name) >= 0 && name.length > word.length)
      .sort((a, b) => Math.min(at(a), 1) - Math.min(at(b), 1));
    return { from: caret - word.length, names: found.slice(0, most) };
  }

  wattlas.sql = { columnsOf, rowsOf, chartOf, completionsOf, said, shortened };
})((window.wattlas = window.wattlas || {}));
