/* The judged cells of Modes in the browser: decoded, said in words, and which of them a selection means. */
(function (wattlas) {
  "use strict";

  /** The server's cells with every column as a typed array. */
  function decodeCells(raw) {
    if (!raw) return null;
    const columns = (part) => Object.fromEntries(Object.entries(part).map(([name, typed]) => [name, wattlas.decode(typed)]));
    const cells = { ...raw, cells: columns(raw.cells), contenders: columns(raw.contenders) };
    cells.count = cells.cells.column.length;
    cells.at = new Map();
    for (let i = 0; i < cells.count; i++) cells.at.set(cells.cells.column[i] + "," + cells.cells.row[i], i);
    return cells;
  }

  /** A cell as a selection is written: `["cell", x, y]`; several are `["cells", [y, x, x, ...], ...]`. */
  const cellPick = (data, i) => JSON.stringify(["cell", data.x.values[data.cells.column[i]], data.y.values[data.cells.row[i]]]);

  /** Which cells a selection means: Uint8Array of 0 and 1, or null for none. */
  function pickMask(data, pick) {
    if (!data || !pick) return null;
    let parts;
    try { parts = JSON.parse(pick); } catch (error) { return null; }
    const [kind, first, second] = parts, rows = kind === "cells" && new Map(parts.slice(1).map(([y, ...xs]) => [y, new Set(xs)]));
    const { column, row, outcome, first: leader } = data.cells;
    const tests = {
      cell: (i) => data.x.values[column[i]] === first && data.y.values[row[i]] === second,
      cells: (i) => { const xs = rows.get(data.y.values[row[i]]); return xs !== undefined && xs.has(data.x.values[column[i]]); },
      won: (i) => data.outcomes[outcome[i]] === "win" && data.who.values[data.contenders.who[leader[i]]] === first,
      outcome: (i) => data.outcomes[outcome[i]] === first,
    };
    if (!tests[kind]) return null;
    return Uint8Array.from({ length: data.count }, (_, i) => (tests[kind](i) ? 1 : 0));
  }

  /** The index of the one cell that a selection names; -1 where it names none. */
  const pickedCell = (data, pick) => (pick && pick.startsWith('["cell"') && data ? (pickMask(data, pick) || []).indexOf(1) : -1);

  const digits = (v) => (isNaN(v) ? "\u2013" : String(Number(v.toPrecision(3))));

  function lead(data, i) {
    const share = data.cells.margin_share[i], unit = data.prize.unit;
    const percent = isNaN(share) ? "" : (share < 0 ? "\u2212" : "+") + wattlas.formatQuantity(100 * Math.abs(share), "%") + ", ";
    return percent + wattlas.formatQuantity(data.cells.margin[i], unit) + (data.prize.better === "less" ? " less" : " more");
  }

  /** What stands in a cell: the lead, `tie`, or how few; nothing where one competes alone. The twin of app/figures/winner_map.py. */
  function cellText(data, i) {
    const outcome = data.outcomes[data.cells.outcome[i]], at = data.cells.first[i], share = data.cells.margin_share[i];
    if (outcome === "alone") return "";
    if (outcome === "tie") return "tie";
    if (outcome === "too few") return "n = " + Math.min(data.contenders.n[at], data.contenders.n[at + 1]);
    if (!data.rules.percent) return wattlas.formatQuantity(data.cells.margin[i], data.prize.unit);
    return isNaN(share) ? "\u2013" : (share < 0 ? "\u2212" : "+") + wattlas.formatQuantity(100 * Math.abs(share), "%");
  }

  function verdict(data, i) {
    const at = data.cells.first[i], who = (row) => data.who.words[data.contenders.who[row]];
    const outcome = data.outcomes[data.cells.outcome[i]];
    if (outcome === "alone") return "only " + who(at) + " was measured here: no win";
    const other = who(at + 1);
    if (outcome === "win") return who(at) + " wins over " + other + ": " + lead(data, i);
    if (outcome === "tie") return "tie of " + who(at) + " and " + other + ": " + lead(data, i);
    return "too few replicates to tell " + who(at) + " from " + other + ": " + lead(data, i);
  }

  function standing(data, row) {
    const c = data.contenders, unit = data.prize.unit;
    const half = c.half_width[row], setting = data.settings[c.setting[row]];
    const spread = isNaN(half) ? "" : " \u00b1 " + wattlas.formatQuantity(half, unit);
    const best = setting ? " \u00b7 " + (c.settings[row] > 1 ? "best of " + c.settings[row] + ": " : "") + setting : "";
    return data.who.words[c.who[row]] + ": " + wattlas.formatQuantity(c.mean[row], unit) + spread + " \u00b7 n = " + c.n[row] + best;
  }

  const SHOWN = 4;
  /** What a hover says of one cell. */
  function cellLines(data, i) {
    const { column, row, first, n, p, p_corrected: corrected, effect } = data.cells;
    const lines = [data.x.words[column[i]] + " \u00b7 " + data.y.words[row[i]], verdict(data, i)];
    for (let k = 0; k < Math.min(n[i], SHOWN); k++) lines.push(standing(data, first[i] + k));
    if (n[i] > SHOWN) lines.push("and " + (n[i] - SHOWN) + " more");
    if (!isNaN(p[i])) {
      const also = data.rules.correction === "none" ? "" : " (corrected " + digits(corrected[i]) + ")";
      lines.push("p = " + digits(p[i]) + also + " \u00b7 " + data.rules.effect + " = " + digits(effect[i]));
      lines.push("means \u00b1 95 % confidence interval");
    }
    lines.push("click: evidence and runs");
    return lines;
  }

  /** What a hover says of one competitor's point in the Pareto view. */
  function contenderLines(data, row, against) {
    const i = data.contenders.cell[row];
    return [
      data.who.words[data.contenders.who[row]],
      data.x.words[data.cells.column[i]] + " \u00b7 " + data.y.words[data.cells.row[i]],
      standing(data, row), against, "click: this cell",
    ];
  }

  /** A short account of a selection for the status line. */
  function pickWords(data, pick) {
    const mask = pickMask(data, pick);
    if (!mask) return "";
    const found = mask.reduce((n, v) => n + v, 0), [kind, value] = JSON.parse(pick);
    if (kind === "cell") {
      const i = mask.indexOf(1);
      return i < 0 ? "selection: a cell that is not on this map" : "selection: " + data.x.words[data.cells.column[i]] + " \u00b7 " + data.y.words[data.cells.row[i]];
    }
    const what = kind === "cells" ? "from Explore" : kind === "won" ? "won by " + (data.who.words[data.who.values.indexOf(value)] || value) : value;
    return "selection: " + found.toLocaleString("en") + (found === 1 ? " cell (" : " cells (") + what + ")";
  }

  wattlas.cells = { decode: decodeCells, pick: cellPick, mask: pickMask, picked: pickedCell, lines: cellLines, text: cellText, contenderLines, words: pickWords };
})((window.wattlas = window.wattlas || {}));
