/*
 * The judged cells of Modes, which are the rows of its views: words about a cell, and what a selection means.
 * Pure functions of the columns that the server sends (app/modes/payload.py) and a clause (_kit/clause.js).
 */
(function (wattlas) {
  "use strict";

  const MINUS = "\u2212", DASH = "\u2013", DOT = " \u00b7 ";
  const HOVER_CONTENDERS = 4;

  const columnOf = (data, i) => data.knobs[data.x.column].index[i];
  const rowOf = (data, i) => data.knobs[data.y.column].index[i];
  const outcomeOf = (data, i) => data.knobs.outcome.values[data.knobs.outcome.index[i]];
  const placeOf = (data, i) => [
    data.x.words[columnOf(data, i)], data.y.words[rowOf(data, i)],
    ...(data.panel ? [data.panel.words[data.knobs[data.panel.column].index[i]]] : []),
  ].join(DOT);

  /** The index of the measured cell in a column and a row of a map; -1 for none. */
  const indexAt = (data, map, [column, row]) =>
    wattlas.rows.cellOf(map, data).indexOf(row * map.xs.length + column);

  const pairOf = (data, i) => [data.x.values[columnOf(data, i)], data.y.values[rowOf(data, i)]];

  const mask = (data, sel) => wattlas.clause.evaluate(sel, data);

  /** Whether a clause names one cell, measured or not. */
  function isOneCell(sel) {
    const clause = wattlas.clause.read(sel);
    if (!clause || clause.kind !== "knobs" || clause.knobs.length > 1) return false;
    return Object.values(clause.knobs[0]).every((values) => values.length === 1);
  }

  /** The index of the one cell that a selection names; -1 where it names none or several. */
  const selectedCell = (data, sel) => (data && isOneCell(sel) ? mask(data, sel).indexOf(1) : -1);

  /** The selected cells as a clause that other pages understand; empty where it is none or too long. */
  function handover(data, sel) {
    const found = mask(data, sel);
    if (!found || !found.includes(1)) return "";
    const panels = new Map(), own = data.panel && data.knobs[data.panel.column];
    found.forEach((isSelected, i) => {
      const panel = own ? own.values[own.index[i]] : undefined;
      if (isSelected) panels.set(panel, [...(panels.get(panel) || []), pairOf(data, i)]);
    });
    const all = [...panels].flatMap(([panel, pairs]) => wattlas.clause.listed(
      data.x.column, data.y.column, pairs, own ? { [data.panel.column]: panel } : {}));
    const handed = wattlas.clause.knobs(all);
    return encodeURIComponent(handed).length <= wattlas.clause.MAX_CHARS ? handed : "";
  }

  const quantity = (data, value) => wattlas.formatQuantity(value, data.metric.unit);
  const digits = (value) => (isNaN(value) ? DASH : String(Number(value.toPrecision(3))).replace("-", MINUS));
  const sign = (value) => (value < 0 ? MINUS : "+");
  const percent = (share, count = 3) =>
    sign(share) + wattlas.formatDigits(100 * Math.abs(share), count) + " %";

  /** The digits that tell the ends of an interval apart; the twin of digits_between in data/units.py. */
  const digitsBetween = (low, high) => {
    const places = [Math.max(Math.abs(low), Math.abs(high)), high - low].map(Math.log10).map(Math.floor);
    return places.every(isFinite) ? Math.min(Math.max(places[0] - places[1] + 1, 3), 6) : 3;
  };
  const intervalOf = (data, i) => {
    const ends = [data.cells.share_low[i], data.cells.share_high[i]];
    if (ends.every(isNaN)) return "";
    const count = digitsBetween(...ends);
    const word = (end) => (isFinite(end) ? percent(end, count).replace(" %", "") : "not bounded");
    return " [" + ends.map(word).join(", ") + "]";
  };

  function lead(data, i) {
    const share = data.cells.margin_share[i], direction = data.metric.better === "less" ? " less" : " more";
    const relative = isNaN(share) ? "" : percent(share) + intervalOf(data, i) + ", ";
    return relative + quantity(data, data.cells.margin[i]) + direction;
  }

  const more = (data, i) => (data.cells.more[i] < 0 ? ">100" : "+" + data.cells.more[i]);

  /**
   * The text of a cell: the lead with the winner's name, what the runs leave open, or how many there are.
   *   isNamed: with the winner's name.
   *   isShort: two digits for a lead in percent, signs for words, for narrow cells.
   *   isRoomy: whether "unproven" has room beside the number of runs.
   */
  function cellText(data, i, isNamed, isShort, isRoomy) {
    const outcome = outcomeOf(data, i), best = data.cells.best[i], share = data.cells.margin_share[i];
    const { n, who } = data.contenders;
    // Who leads with too few runs is named, and that nothing proves it.
    const leader = () => wattlas.plotText(data.who.words[who[best]]) + "<br>" + (isRoomy ? "unproven, " : "");
    const few = () => (isNamed && data.metric.better ? leader() : "")
      + wattlas.nWords(Math.min(n[best], n[data.cells.second[i]]), data.rules.unstated);
    const words = {
      alone: () => "", over: () => "", unlike: () => "", tie: () => "tie", "too few": few,
      equivalent: () => (isShort ? "\u2248" : isNamed ? "equivalent" : "equiv."),
      undecided: () => more(data, i) + (isShort ? "" : isNamed ? " runs decide" : " runs"),
    };
    if (words[outcome]) return words[outcome]();
    const bold = () => "<b>" + wattlas.plotText(data.who.words[who[best]]) + "</b><br>";
    const name = isNamed || outcome === "differ" ? bold() : "";
    if (!data.rules.percent) return name + quantity(data, data.cells.margin[i]);
    if (isNaN(share)) return name + DASH;
    // The winner's lead is always in the better direction, so that narrow cells leave out its sign.
    return name + (isShort ? percent(share, 2).slice(1).replace(" ", "") : percent(share));
  }

  function verdict(data, i) {
    const name = (at) => data.who.words[data.contenders.who[at]];
    const { best: bests, second: seconds } = data.cells;
    const best = name(bests[i]), outcome = outcomeOf(data, i);
    if (outcome === "over") return "none meets the limit: " + data.rules.limit;
    if (outcome === "alone") {
      const isAble = data.cells.n[i] > 1;
      const why = isAble ? " may meet the limit: " + data.rules.limit : " was measured here: no win";
      return "only " + best + why;
    }
    if (outcome === "unlike") return "not judged: runs of one setting are no replicates";
    const second = name(seconds[i]), leads = data.metric.better ? " leads " : " is above ";
    const words = {
      win: best + " wins over " + second, differ: best + " is above " + second + ", and neither is better",
      tie: "tie of " + best + " and " + second,
      equivalent: "equivalent within " + data.rules.margin + " %: " + best + leads + second,
      undecided: "undecided: " + best + leads + second,
      "too few": "unproven with too few replicates: " + best + leads + second,
    };
    return words[outcome] + ": " + lead(data, i);
  }

  function contenderWords(data, at) {
    const { who, mean, low, high, n, setting, settings } = data.contenders;
    const ends = [low[at], high[at]].map((end) => quantity(data, end));
    const spread = isNaN(low[at]) ? "" : " [" + ends.join(", ") + "]";
    const count = settings[at] > 1 ? "best of " + settings[at] + ": " : "";
    const words = data.settings[setting[at]], best = words ? DOT + count + words : "";
    const runs = wattlas.nWords(n[at], data.rules.unstated);
    return data.who.words[who[at]] + ": " + quantity(data, mean[at]) + spread + DOT + runs + best;
  }

  /** The hover of one cell. */
  function cellLines(data, i) {
    const { first, n, p, p_corrected: corrected, effect } = data.cells;
    const lines = [placeOf(data, i), verdict(data, i)];
    for (let k = 0; k < Math.min(n[i], HOVER_CONTENDERS); k++) lines.push(contenderWords(data, first[i] + k));
    if (n[i] > HOVER_CONTENDERS) lines.push("and " + (n[i] - HOVER_CONTENDERS) + " more");
    if (!isNaN(p[i])) {
      const also = data.rules.correction === "none" ? "" : " (corrected " + digits(corrected[i]) + ")";
      const size = data.rules.effect ? DOT + data.rules.effect + " = " + digits(effect[i]) : "";
      const needed = more(data, i).replace("+", "about ").replace(">", "more than ");
      if (outcomeOf(data, i) === "undecided") lines.push(needed + " more runs of each would decide");
      lines.push("p = " + digits(p[i]) + also + size);
      lines.push("means with 95 % confidence intervals");
    }
    if (data.metric.doubt) lines.push(data.metric.doubt);
    return [...lines, "click: evidence and runs"];
  }

  /** The hover of one competitor's point in the Pareto view, along x of a quantity with this title. */
  function contenderLines(data, at, title) {
    const { cell, who, against } = data.contenders, name = data.who.words[who[at]];
    const along = title + ": " + Number(against[at].toPrecision(4));
    return [name, placeOf(data, cell[at]), contenderWords(data, at), along, "click: this cell"];
  }

  /** A selection in the words of the status line. */
  function selectionWords(data, sel) {
    const found = mask(data, sel);
    if (!found) return "";
    const { kind, value } = wattlas.clause.read(sel), count = found.reduce((sum, one) => sum + one, 0);
    if (isOneCell(sel)) {
      return "selection: " + (count ? placeOf(data, found.indexOf(1)) : "a cell that is not on this map");
    }
    const winner = kind === "won" && (data.who.words[data.who.values.indexOf(value)] || value);
    const which = { won: " (won by " + winner + ")", outcome: " (" + value + ")" }[kind] || "";
    return "selection: " + count.toLocaleString("en") + (count === 1 ? " cell" : " cells") + which;
  }

  wattlas.cells = {
    indexAt, selectedCell, handover, outcomeOf, text: cellText, cellLines,
    contenderLines, words: selectionWords,
  };
})((window.wattlas = window.wattlas || {}));
