/*
 * The selection language: what is selected in a view, as one clause of text. The twin of
 * app/kit/clause.py, which describes the texts; both pass the table tests/fixtures/clauses.json.
 *
 * Columns to evaluate over: { count, knobs: {name: {values, index}}, fields: {name: numbers} }.
 */
(function (wattlas) {
  "use strict";

  const MAX_CHARS = 6000, MOST = 2 ** 53, SEPARATOR = "~";
  const NUMBER = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
  const short = (value) => String(Number(Number(value).toPrecision(7)));
  const isPlain = (value) => value === null || typeof value === "string" ||
    (typeof value === "number" && Math.abs(value) < MOST);
  const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

  function number(text) {
    const value = NUMBER.test(text) ? Number(text) : NaN;
    if (!Number.isFinite(value)) throw new Error("no number");
    return value;
  }

  function knobsOf(raw) {
    if (!isObject(raw) || !Object.keys(raw).length) throw new Error("no object of columns and values");
    return Object.fromEntries(Object.entries(raw).map(([name, value]) => {
      const values = Array.isArray(value) ? value : [value];
      if (!values.length || !values.every(isPlain)) throw new Error("no plain value of " + name);
      return [name, values];
    }));
  }

  /** Split at the first `count` separators; the rest stays whole. */
  function split(text, count) {
    const parts = text.split(SEPARATOR);
    return parts.length <= count ? parts : [...parts.slice(0, count), parts.slice(count).join(SEPARATOR)];
  }

  const READERS = {
    knobs(text) {
      const parsed = [].concat(JSON.parse(text));
      if (!parsed.length) throw new Error("no configuration");
      return { knobs: parsed.map(knobsOf) };
    },
    box(text) {
      const [x, y, ...parts] = split(text, 6);
      const [x0, x1, y0, y1] = [0, 1, 2, 3].map((i) => number(parts[i]));
      return {
        fields: { x, y },
        bounds: [Math.min(x0, x1), Math.max(x0, x1), Math.min(y0, y1), Math.max(y0, y1)],
        knobs: parts.length > 4 ? [knobsOf(JSON.parse(parts[4]))] : [],
      };
    },
    lasso(text) {
      const [x, y, ...parts] = text.split(SEPARATOR);
      const corners = parts.map((part) => part.split(",").map(number));
      if (corners.length < 3 || corners.some((corner) => corner.length !== 2)) throw new Error("no polygon");
      return { fields: { x, y }, corners, knobs: [] };
    },
    won(text) {
      const value = JSON.parse(text);
      if (!isPlain(value)) throw new Error("no plain value");
      return { value, knobs: [] };
    },
    outcome: (text) => ({ value: text, knobs: [] }),
  };

  /** Read a clause; null for an empty or invalid text. */
  function read(text) {
    if (!text || text.length > MAX_CHARS) return null;
    const at = text.indexOf(SEPARATOR), kind = text.slice(0, at);
    if (at < 0 || !Object.hasOwn(READERS, kind)) return null;
    try {
      return { kind, ...READERS[kind](text.slice(at + 1)) };
    } catch (error) {
      return null;
    }
  }

  /* Even-odd rule. Source: Shimrat, CACM 5(8), 1962. */
  function isInside(corners, px, py) {
    let inside = false;
    for (let i = 0, j = corners.length - 1; i < corners.length; j = i++) {
      const [xi, yi] = corners[i], [xj, yj] = corners[j];
      if (yi > py !== yj > py && px < ((xj - xi) * (py - yi)) / (yj - yi) + xi) inside = !inside;
    }
    return inside;
  }

  /** For each column of an object, which of the column's distinct values it accepts. */
  function testOf(knobs, columns) {
    const isMissing = ([name]) => !columns.knobs[name], all = Object.entries(knobs);
    if (all.filter(isMissing).some(([, values]) => !values.includes(null))) return () => false;
    const tests = all.filter((one) => !isMissing(one)).map(([name, values]) => {
      const column = columns.knobs[name];
      return [column.index, column.values.map((v) => values.includes(v === undefined ? null : v))];
    });
    return (i) => tests.every(([index, accepted]) => accepted[index[i]]);
  }

  /* Cells of a map by their winner or outcome, which the columns of such a map name as knobs. */
  function cellsOf({ knobs }, { kind, value }) {
    const knob = knobs[kind];
    return knob ? Uint8Array.from(knob.index, (i) => (knob.values[i] === value ? 1 : 0)) : null;
  }

  /**
   * Which rows a clause selects: Uint8Array of 0 and 1; null for no clause, an invalid clause, or a kind
   * that the columns do not have. A row without a value in a field is not selected; a knob
   * without a column is NULL in all rows.
   */
  function evaluate(text, columns) {
    const clause = columns && read(text);
    if (!clause) return null;
    if (clause.kind === "won" || clause.kind === "outcome") return cellsOf(columns, clause);
    const mask = new Uint8Array(columns.count);
    const { x: xName, y: yName } = clause.fields || {};
    const [x, y] = [xName, yName].map((name) => name && wattlas.numbersOf(columns, name));
    if (clause.fields && (!x || !y)) return mask;
    const [x0, x1, y0, y1] = clause.bounds || [];
    const isIn = {
      knobs: () => true,
      box: (i) => x[i] >= x0 && x[i] <= x1 && y[i] >= y0 && y[i] <= y1,
      lasso: (i) => isInside(clause.corners, x[i], y[i]),
    }[clause.kind];
    const tests = clause.knobs.map((knobs) => testOf(knobs, columns));
    for (let i = 0; i < columns.count; i++) {
      mask[i] = isIn(i) && (!tests.length || tests.some((test) => test(i))) ? 1 : 0;
    }
    return mask;
  }

  function box(fields, x, y, knobs = null) {
    const bounds = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)].map(short);
    const parts = ["box", fields.x, fields.y, ...bounds];
    return (knobs ? [...parts, JSON.stringify(knobs)] : parts).join(SEPARATOR);
  }

  /** At most 120 corners, so that the text fits into a URL. */
  function lasso(fields, xs, ys) {
    const step = Math.ceil(xs.length / 120), corners = [];
    for (let i = 0; i < xs.length; i += step) corners.push(short(xs[i]) + "," + short(ys[i]));
    return ["lasso", fields.x, fields.y, ...corners].join(SEPARATOR);
  }

  /** One object of columns and values, or a list of such objects. */
  const knobs = (alternatives) => {
    const all = [].concat(alternatives);
    return "knobs" + SEPARATOR + JSON.stringify(all.length === 1 ? all[0] : all);
  };

  /**
   * Pairs of values of two columns, one object for each value of `y`, so that the text of a whole map fits
   * into a URL. `common` holds columns that all of them have.
   */
  function listed(x, y, values, common = {}) {
    const rows = new Map();
    for (const [vx, vy] of values) rows.set(vy, (rows.get(vy) || new Set()).add(vx));
    const one = (list) => (list.length === 1 ? list[0] : list);
    return [...rows].map(([vy, xs]) => ({ ...common, [y]: vy, [x]: one([...xs]) }));
  }
  /** A `knobs` clause of such pairs. */
  const pairs = (x, y, values, common) => knobs(listed(x, y, values, common));

  /**
   * A `knobs` clause of cells of a map whose columns or rows are bins of several values: one object for all
   * columns with the same rows, so that a rectangle is one object.
   */
  function bins(x, y, { xs, ys }, cells, common = {}) {
    const rowsOf = new Map(), alike = new Map();
    for (const [column, row] of cells) rowsOf.set(column, [...(rowsOf.get(column) || []), row]);
    for (const [column, rows] of rowsOf) {
      const key = rows.sort((a, b) => a - b).join();
      alike.set(key, { rows, columns: [...(alike.has(key) ? alike.get(key).columns : []), column] });
    }
    return knobs([...alike.values()].map(({ rows, columns }) => ({
      ...common, [x]: columns.flatMap((column) => xs[column]), [y]: rows.flatMap((row) => ys[row]),
    })));
  }

  const counted = (count, one) => count.toLocaleString("en") + " " + one + (count === 1 ? "" : "s");
  /** The selection of linked views in words; `isMeans`: whether a row is a configuration. */
  function words({ clause, columns, mask }, isMeans = true) {
    if (!mask) return "";
    const rows = columns.runs.filter((_, row) => mask[row]), runs = rows.reduce((sum, one) => sum + one, 0);
    const { fields, kind } = read(clause);
    const places = (isMeans ? " in " + counted(rows.length, "configuration") : "") +
      (fields ? " (" + kind + ")" : "");
    return "selection: " + counted(runs, "run") + places;
  }

  wattlas.clause = {
    MAX_CHARS, read, evaluate, words, box, lasso, knobs, listed, pairs, bins,
    won: (value) => "won" + SEPARATOR + JSON.stringify(value),
    outcome: (name) => "outcome" + SEPARATOR + name,
  };
})((window.wattlas = window.wattlas || {}));
