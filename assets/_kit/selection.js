/*
 * The selection as one clause: who published it, over which fields, with which value. Its text stands
 * in the URL; its predicate is evaluated here and nowhere else, over the columns the page holds.
 *
 *   box~X~Y~x0~x1~y0~y1        points in a rectangle over the columns X and Y
 *   lasso~X~Y~x,y~x,y~...      points in a polygon
 *   cells~SYSTEM~dvfs:itr,itr~...  points of one system in cells of the heatmap, row by row
 *   configs~JSON               points with these values of knobs; a value may be a list, of which any
 *                              will do, and the whole a list of such, of which again any will do
 *
 * A NULL knob is written as `-`.
 */
(function (wattlas) {
  "use strict";

  const short = (v) => String(Number(Number(v).toPrecision(7)));

  wattlas.boxClause = (fields, x, y) =>
    ["box", fields.x, fields.y, Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)]
      .map((p, i) => (i < 3 ? p : short(p))).join("~");

  wattlas.lassoClause = function (fields, xs, ys) {
    const step = Math.ceil(xs.length / 120);
    const corners = [];
    for (let i = 0; i < xs.length; i += step) corners.push(short(xs[i]) + "," + short(ys[i]));
    return ["lasso", fields.x, fields.y, ...corners].join("~");
  };

  const word = (v) => (v === null ? "-" : String(v));

  /** Row by row, so that the text of a whole heatmap still fits into a URL. */
  wattlas.cellsClause = function (system, cells) {
    const rows = new Map();
    for (const [itr, dvfs] of cells) rows.set(word(dvfs), [...(rows.get(word(dvfs)) || []), word(itr)]);
    return ["cells", system, ...[...rows].map(([dvfs, itrs]) => dvfs + ":" + itrs.join(","))].join("~");
  };

  wattlas.configClause = (config) => "configs~" + JSON.stringify(config);

  wattlas.clauseKind = (text) => (text || "").split("~", 1)[0];

  const TESTS = {
    box(points, parts, fields) {
      const [x0, x1, y0, y1] = parts.slice(2).map(Number);
      const [x, y] = columns(points, parts, fields);
      return (i) => x[i] >= x0 && x[i] <= x1 && y[i] >= y0 && y[i] <= y1;
    },
    lasso(points, parts, fields) {
      const corners = parts.slice(2).map((p) => p.split(",").map(Number));
      const [x, y] = columns(points, parts, fields);
      return (i) => insidePolygon(corners, x[i], y[i]);
    },
    cells(points, parts) {
      const rows = new Map(parts.slice(1).map((row) => {
        const [dvfs, itrs] = row.split(":");
        return [dvfs, new Set(itrs.split(","))];
      }));
      const { system, itr_us: itr, dvfs_ghz: dvfs } = points.knobs;
      return (i) => {
        const row = rows.get(word(dvfs.values[dvfs.index[i]]));
        return system.values[system.index[i]] === parts[0] && row !== undefined && row.has(word(itr.values[itr.index[i]]));
      };
    },
    configs(points, parts) {
      const wanted = [].concat(JSON.parse(parts.join("~"))).map((config) => {
        const names = Object.keys(config).filter((name) => name in points.knobs);
        return names.map((name) => [points.knobs[name].index, new Set([].concat(config[name]).map((v) => points.knobs[name].values.indexOf(v)))]);
      });
      return (i) => wanted.some((at) => at.length > 0 && at.every(([index, values]) => values.has(index[i])));
    },
  };

  function columns(points, parts, fields) {
    const same = parts[0] === fields.x && parts[1] === fields.y;
    const { x, y, brush_x: bx, brush_y: by } = points.values;
    if (!same && !bx) return [new Float64Array(0), new Float64Array(0)];
    return same ? [x, y] : [bx, by];
  }

  /* Even-odd rule. Source: Shimrat, CACM 5(8), 1962. */
  function insidePolygon(corners, px, py) {
    let inside = false;
    for (let i = 0, j = corners.length - 1; i < corners.length; j = i++) {
      const [xi, yi] = corners[i], [xj, yj] = corners[j];
      if (yi > py !== yj > py && px < ((xj - xi) * (py - yi)) / (yj - yi) + xi) inside = !inside;
    }
    return inside;
  }

  /** Which points a clause selects: Uint8Array of 0 and 1, or null for no clause or one that is broken. */
  wattlas.evaluate = function (clause, points, fields) {
    if (!clause || !points) return null;
    const [kind, ...parts] = clause.split("~");
    if (!TESTS[kind]) return null;
    let test;
    try { test = TESTS[kind](points, parts, fields); } catch (error) { return null; }
    const mask = new Uint8Array(points.count);
    for (let i = 0; i < points.count; i++) mask[i] = test(i) ? 1 : 0;
    return mask;
  };
})((window.wattlas = window.wattlas || {}));
