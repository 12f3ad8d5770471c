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

  wattlas.sql = { columnsOf, rowsOf, chartOf, completionsOf, said, shortened, statementAt, statementsOf };
})((window.wattlas = window.wattlas || {}));
