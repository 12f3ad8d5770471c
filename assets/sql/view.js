/* Rows for the grid and traces of the chart. Pure; texts from the server are never read as HTML. */
(function (wattlas) {
  "use strict";

  const NUMBERS = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL)/;
  const isNumber = (type) => NUMBERS.test(type);

  /* The first hue of the house, for rows without a colour of their own. */
  const HUE = "#0072B2";

  /** A query on one line, of at most `most` characters. */
  function shortened(query, most = 60) {
    const line = query.replace(/\s+/g, " ").trim();
    return line.length > most ? line.slice(0, most - 1) + "\u2026" : line;
  }

  /* Cells show six digits; the whole number is in the tooltip, in copies and in the files. */
  const DIGITS = 6;
  function shownNumber({ value }) {
    if (typeof value !== "number" || Number.isInteger(value)) return value;
    const short = Number(value.toPrecision(DIGITS));
    return Math.abs(short) >= 1e-4 && Math.abs(short) < 1e15 ? String(short) : short.toExponential();
  }
  const wholeNumber = ({ value }) =>
    (typeof value === "number" && String(shownNumber({ value })) !== String(value) ? String(value) : null);

  /** The grid's columns: fields by position, since names may repeat or hold dots. */
  function columnsOf({ columns, types }) {
    return columns.map((name, i) => ({
      field: "c" + i, headerName: name, headerTooltip: types[i],
      ...(isNumber(types[i]) ? { valueFormatter: shownNumber, tooltipValueGetter: wholeNumber } : {}),
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

  const WORDED = ["knob", "category", "index"];
  /* The card of a row: what it is of, then its numbers with their units. */
  function linesOf({ about }, row) {
    const named = about.map(({ values, name, role, unit }, i) => {
      const known = values.find(([value]) => value === row[i]);
      if (known) return name + " " + known[1];
      const isQuantity = typeof row[i] === "number" && role !== "count";
      return name + " " + (isQuantity ? wattlas.formatQuantity(row[i], unit) : row[i]);
    });
    const isOf = ({ role }) => WORDED.includes(role);
    const of = (wanted) => named.filter((_, i) => isOf(about[i]) === wanted && row[i] !== null);
    return [of(true).join(" \u00b7 "), ...of(false)];
  }

  /* Rows by the values of a column that has a look for each; all others together. */
  function groupsOf({ about, rows }, k) {
    const looks = k < 0 ? [] : about[k].values, texts = k >= 0 && about[k].role === "category";
    const groups = looks.map(([value, name, hue, symbol]) => (
      { name, hue, symbol, rows: rows.filter((row) => row[k] === value) }));
    const isOther = (row) => !looks.some(([value]) => value === row[k]);
    const others = looks.length ? [] : rows.filter(isOther);
    const name = texts ? "more than 20 values" : "";
    return [...groups, { name, hue: null, symbol: "circle", rows: others }].filter((one) => one.rows.length);
  }

  /**
   * The chart of two columns of an answer; a third one colours: by the looks of its values, or by a scale.
   * Rows of a knob are joined where each x is there once; spreads of y are bars.
   */
  function chartOf(answer, { x, y, col }) {
    const { about, columns } = answer;
    const [i, j, k] = [x, y, col].map((name) => columns.indexOf(name));
    if (i < 0 || j < 0) return said("Choose x and y to draw the rows.");
    const drawn = answer.rows.filter((row) => row[i] !== null && row[j] !== null);
    const spread = about.findIndex(({ role, base }) => role === "spread" && base === about[j].base);
    const isScaled = k >= 0 && !about[k].values.length && !["category", "spread"].includes(about[k].role);
    const escaped = (value) => (typeof value === "string" ? wattlas.plotText(value) : value);
    const cell = (column) => (row) => escaped(row[column]);
    const isOrdered = drawn.length && typeof drawn[0][i] === "number";
    const isLine = isOrdered && about[i].role === "knob";
    // Sizes double from value to value.
    const isLog = isLine && about[i].unit === "B" && drawn.every((row) => row[i] > 0);
    const data = groupsOf({ about, rows: drawn }, k).map(({ name, hue, symbol, rows }) => {
      const isJoined = isLine && !isScaled && new Set(rows.map((row) => row[i])).size === rows.length;
      const own = isJoined ? [...rows].sort((a, b) => a[i] - b[i]) : rows, color = hue || HUE;
      return {
        type: "scatter", mode: isJoined && own.length > 1 ? "lines+markers" : "markers",
        name: wattlas.plotText(name), showlegend: k >= 0 && !isScaled,
        x: own.map(cell(i)), y: own.map(cell(j)), hoverinfo: "none",
        meta: { kind: "points", words: own.map((row) => linesOf(answer, row)) },
        line: { color, width: 1.5 },
        marker: isScaled
          ? { size: 7, symbol, color: own.map((row) => row[k]), colorscale: answer.scale, showscale: true,
            line: { width: 0.5, color: "page" },
            colorbar: { title: { text: wattlas.plotText(about[k].title), side: "right" }, thickness: 10 } }
          : { size: 7, symbol, color, line: { width: 0.5, color: "page" } },
        ...(spread < 0 ? {} : { error_y: {
          type: "data", array: own.map((row) => row[spread] || 0), color, thickness: 1, width: 2,
        } }),
      };
    });
    const bars = spread < 0 ? "" : "; bars: " + about[spread].title.split(" of ")[0];
    const titled = ({ title }, more = "") => (
      { title: { text: wattlas.plotText(title + more), font: { size: 12 } } });
    const missing = answer.rows.length - drawn.length;
    const words = missing + " of " + answer.rows.length + " rows have no value of x or y";
    const layout = {
      xaxis: { ...titled(about[i]), zeroline: false, ...(isLog ? { type: "log" } : {}) },
      yaxis: { ...titled(about[j], bars), zeroline: false },
      margin: { l: 64, r: 12, t: missing ? 28 : 12, b: 44 }, hovermode: "closest",
      font: { size: 12 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      showlegend: false, legend: k < 0 ? {} : { title: { text: wattlas.plotText(about[k].title) } },
      uirevision: x + " " + y, meta: { kind: "chart" },
      annotations: missing ? [{ text: words, showarrow: false, xref: "paper", yref: "paper",
        x: 1, y: 1, xanchor: "right", yanchor: "bottom" }] : [],
    };
    return { data, layout };
  }

  /** A chart with a title: its columns, then its rows and the statement that yields them. */
  function captioned(figure, { about, columns, rows, truncated }, { x, y }, statement) {
    const [across, up] = [x, y].map((name) => (about[columns.indexOf(name)] || { title: name }).title);
    const first = truncated ? "the first " : "", count = rows.length.toLocaleString("en");
    const named = (up + " by " + across).replaceAll(/ \((less|more) is better\)/g, "");
    const words = wattlas.plotText(named) + "<br>Points: n = " + first + count + " rows of: "
      + wattlas.plotText(shortened(statement, 400));
    return { ...figure, layout: { ...figure.layout, title: { text: words } } };
  }

  /* Texts, names in quotes and comments, in which a semicolon ends nothing; else a semicolon. Comments nest
   * in DuckDB, which nobody writes: the first end counts. The blanks after a semicolon are of its line. */
  const PARTS = new RegExp([
    /[eE]'(?:[^'\\]|\\[^]|'')*'?/, /'(?:[^']|'')*'?/, /"(?:[^"]|"")*"?/, /--[^\n]*/, /\/\*[^]*?(?:\*\/|$)/,
    /\$(\w*)\$[^]*?(?:\$\1\$|$)/, /;(?:[ \t]*(?=\n|$))?/,
  ].map(({ source }) => source).join("|"), "g");

  /** The statements of a text: `from` and `to` without blanks around, `end` of what belongs to it. */
  function statementsOf(text) {
    const found = [], add = (from, to, end) => {
      const own = text.slice(from, to), start = from + own.length - own.trimStart().length;
      const isEmpty = !own.replace(PARTS, (part) => (/^(--|\/\*)/.test(part) ? "" : part)).trim();
      if (!isEmpty) found.push({ from: start, to: from + own.trimEnd().length, end });
    };
    let from = 0;
    for (const match of text.matchAll(PARTS)) {
      if (!match[0].startsWith(";")) continue;
      const end = match.index + match[0].length;
      add(from, match.index, end);
      from = end;
    }
    add(from, text.length, text.length);
    return found;
  }

  /**
   * The statement at a place in a text; after the last one it is the last. Null: there is none.
   * `number` counts from 1, of `count`.
   */
  function statementAt(text, at) {
    const all = statementsOf(text), i = all.findIndex(({ end }) => at <= end);
    const own = i < 0 ? all[all.length - 1] : all[i];
    if (!own) return null;
    const { from, to } = own, number = i < 0 ? all.length : i + 1;
    return { from, to, sql: text.slice(from, to), number, count: all.length };
  }

  /* Tables with the names that a statement gives them. */
  const NAMED = /(?:\b(?:from|join)|,)\s+(\w+)(?:\s+(?:as\s+)?(\w+))?/gi;

  /**
   * What a word of a statement could become: columns (of the tables that the statement names first), tables,
   * functions, keywords. After a table's name and a point only its columns; after FROM tables first.
   *   tables: [{ name, columns: [{ name, unit, title }] }].
   *   before: the statement's text before the word.
   *   words: { word, kind, detail, description }, lists of the same length (`GET /sql/words`).
   * Each: { label, kind, detail, info, boost }.
   */
  function completionsOf(tables, words, statement, word, before) {
    const known = new Map(tables.map((table) => [table.name, table])), named = new Map();
    for (const [, name, other = ""] of statement.matchAll(NAMED)) {
      const table = known.get(name.toLowerCase());
      if (!table) continue;
      [table.name, other.toLowerCase()].filter(Boolean).forEach((one) => named.set(one, table));
    }
    const columns = new Map();
    const take = (table, boost) => table.columns.forEach(({ name, unit, title }) => {
      if (!columns.has(name)) {
        columns.set(name, { label: name, kind: "column", detail: unit, info: title, boost });
      }
    });
    const [, owner] = /^(\w+)\.\w*$/.exec(word) || [];
    if (owner) {
      const table = named.get(owner.toLowerCase()) || known.get(owner.toLowerCase());
      if (table) take(table, 0);
      return [...columns.values()];
    }
    named.forEach((table) => take(table, 2));
    tables.forEach((table) => take(table, named.size ? -2 : 1));
    const told = words.word.map((label, i) => ({
      label, kind: words.kind[i], detail: words.detail[i] === null ? "" : "(" + words.detail[i] + ")",
      info: words.description[i] || "", boost: -1,
    }));
    const boost = /\b(from|join)\s+$/i.test(before) ? 9 : 1;
    const listed = tables.map(({ name, columns: own }) => (
      { label: name, kind: "table", detail: own.length + " columns", info: "", boost }));
    return [...columns.values(), ...listed, ...told];
  }

  wattlas.sql = {
    captioned, chartOf, columnsOf, completionsOf, rowsOf, said, shortened, statementAt,
  };
})((window.wattlas = window.wattlas || {}));
