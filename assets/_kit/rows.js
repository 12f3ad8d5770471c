/*
 * What the pictures of linked views hold: the rows behind each of their items, and what a selection of rows
 * changes in them. Pure: figure and mask in, changes out. README.md describes what `meta` of a trace says.
 */
(function (wattlas) {
  "use strict";

  const FAINT = 0.3;
  const { kindOf } = wattlas;

  /** The rows of a trace's items, as `meta.rows` or `meta.of` lists them: one list for each item. */
  function rowsOf({ meta }, i) {
    const rows = meta && (meta.rows || meta.of);
    if (!rows) return [];
    if (rows.first !== undefined) return [rows.first + i];
    return Array.isArray(rows[i]) || ArrayBuffer.isView(rows[i]) ? rows[i] : [rows[i]];
  }
  const isSelectable = (trace) => Boolean(trace.meta && trace.meta.rows);
  const countOf = ({ meta: { rows } }) => (rows.first === undefined ? rows.length : rows.end - rows.first);

  /* The rows of each combination of some knobs' values, kept while the columns stay. */
  function rowsByKnobs(columns, knobs) {
    const kept = (columns.rowsByKnobs = columns.rowsByKnobs || {}), name = knobs.join();
    if (kept[name]) return kept[name];
    const rows = new Map(), shown = knobs.map((knob) => columns.knobs[knob]);
    for (let row = 0; row < columns.count; row++) {
      let key = 0;
      for (const knob of shown) key = knob ? key * (knob.values.length + 1) + knob.index[row] : key;
      if (!rows.has(key)) rows.set(key, []);
      rows.get(key).push(row);
    }
    return (kept[name] = rows);
  }
  /** A trace whose items are found by values of knobs (`meta.cells`), with the rows of each. */
  function found(trace, columns) {
    const { cells } = trace.meta || {};
    if (!cells || !columns) return trace;
    const rows = rowsByKnobs(columns, cells.knobs), knobs = cells.knobs.map((name) => columns.knobs[name]);
    const keyOf = (values) => values.reduce((key, value, k) => {
      if (!knobs[k]) return value === null ? key : NaN;
      const index = knobs[k].values.indexOf(value);
      return index < 0 ? NaN : key * (knobs[k].values.length + 1) + index;
    }, 0);
    return { ...trace, meta: { ...trace.meta, rows: cells.at.map((values) => rows.get(keyOf(values)) ||
      []) } };
  }

  /** Indices of a trace's items that hold a selected row; null without a selection. */
  function selectedIn(trace, mask) {
    if (!mask) return null;
    const { rows } = trace.meta, selected = [];
    if (rows.first !== undefined) {
      for (let row = rows.first; row < rows.end; row++) if (mask[row]) selected.push(row - rows.first);
    } else {
      for (let i = 0; i < rows.length; i++) if (rowsOf(trace, i).some((row) => mask[row])) selected.push(i);
    }
    return selected;
  }

  /** The properties of a trace that depend on the selection. */
  function look(trace, mask) {
    const { rows, behind, fades } = trace.meta || {}, change = {};
    if (rows) change.selectedpoints = selectedIn(trace, mask);
    if (behind || fades) {
      const isSelected = !mask || (behind ? behind.some((row) => mask[row]) : change.selectedpoints.length);
      change.opacity = isSelected ? 1 : fades > 0 && fades < 1 ? fades : FAINT;
    }
    return change;
  }

  /** The map of a trace: of its panel, or of the picture; undefined for no map. */
  const mapOf = ({ panels, map }, { xaxis = "x" }) => (
    panels ? panels.find(({ x }) => x === xaxis) || {} : { map }).map;

  /** The cell of each row in a map of two knobs: an index by rows, or -1. Kept while the columns stay. */
  function cellOf(map, columns) {
    if (map.cellOf && map.cellOfColumns === columns) return map.cellOf;
    const none = { values: [null], index: new Uint8Array(columns.count) };
    const knob = (name) => columns.knobs[name] || none;
    const [x, y] = map.knobs.map(knob), width = map.xs.length;
    const at = (values, all) => {
      const places = new Map(all.flatMap((level, k) => [].concat(level).map((value) => [value, k])));
      return values.map((value) => places.get(value === undefined ? null : value) ?? -1);
    };
    const columnOf = at(x.values, map.xs), rowOf = at(y.values, map.ys);
    const shown = Object.entries(map.place || {}).map(([name, value]) => (
      [knob(name).index, knob(name).values.indexOf(value)]));
    map.cellOfColumns = columns;
    map.cellOf = Int32Array.from({ length: columns.count }, (_, i) => {
      const column = columnOf[x.index[i]], row = rowOf[y.index[i]];
      const isHere = column >= 0 && row >= 0 && shown.every(([index, value]) => index[i] === value);
      return isHere ? row * width + column : -1;
    });
    return map.cellOf;
  }

  /** What covers a map of two knobs: 1 where a measured cell holds no selected row, else null. */
  function veil(map, columns, mask) {
    const z = map.ys.map(() => new Array(map.xs.length).fill(mask ? 1 : null));
    if (!mask) return z;
    for (const [row, column] of map.missing) z[row][column] = null;
    const cells = cellOf(map, columns), width = map.xs.length;
    for (let i = 0; i < columns.count; i++) {
      if (mask[i] && cells[i] >= 0) z[Math.floor(cells[i] / width)][cells[i] % width] = null;
    }
    return z;
  }

  /** What covers the cells of the trace that follows a veil, each an item at the indices x and y. */
  function veilOver({ z }, cells, mask) {
    const covered = z.map((line) => Array.from(line, () => null));
    const selected = new Set(selectedIn(cells, mask));
    if (mask) cells.x.forEach((x, i) => { if (!selected.has(i)) covered[cells.y[i]][x] = 1; });
    return covered;
  }

  /** What a selection changes in each trace of a figure: a list of [index, changes], without empty ones. */
  function changes({ data, layout }, columns, mask) {
    return data.map((trace, i) => {
      const isVeil = kindOf(trace) === "veil", map = isVeil && mapOf(layout.meta || {}, trace);
      if (isVeil && map) return [i, columns ? { z: veil(map, columns, mask) } : {}];
      if (isVeil) return [i, { z: veilOver(trace, data[i + 1], mask) }];
      return [i, look(trace, mask)];
    }).filter(([, change]) => Object.keys(change).length);
  }

  /** The box or polygon of a clause as Plotly draws it, where its columns are the axes. */
  function outline(text, fields, theme) {
    const clause = wattlas.clause.read(text);
    const isHere = clause && clause.fields && fields
      && clause.fields.x === fields.x && clause.fields.y === fields.y;
    if (!isHere) return [];
    const line = { color: wattlas.palette(theme).text, width: 1, dash: "dot" };
    const common = { xref: "x", yref: "y", line };
    if (clause.kind === "lasso") {
      return [{ ...common, type: "path", path: "M" + clause.corners.join("L") + "Z" }];
    }
    const [x0, x1, y0, y1] = clause.bounds;
    return [{ ...common, type: "rect", x0, x1, y0, y1 }];
  }

  /** The ends of a field's values over some rows. */
  function endsOf(columns, field, rows) {
    const values = wattlas.numbersOf(columns, field);
    return rows.filter((row) => !Number.isNaN(values[row])).reduce(([low, high], row) => (
      [Math.min(low, values[row]), Math.max(high, values[row])]), [Infinity, -Infinity]);
  }

  /* The server's numbers are more exact than those of the browser's columns; knobs are exact. */
  const MARGIN = 1e-6;
  /** The clause of a box around some rows, over the columns x and y, with the values of `knobs`. */
  function boxAround(columns, { x, y, knobs }, rows) {
    const [xs, ys] = [x, y].map((field) => {
      const [low, high] = endsOf(columns, field, rows);
      if (field in columns.knobs) return [low, high];
      return [low - MARGIN * Math.abs(low), high + MARGIN * Math.abs(high)];
    });
    return wattlas.clause.box({ x, y }, xs, ys, knobs);
  }

  wattlas.rows = {
    of: rowsOf, found, mapOf, cellOf, isSelectable, countOf, changes, outline, endsOf, boxAround,
  };
})((window.wattlas = window.wattlas || {}));
