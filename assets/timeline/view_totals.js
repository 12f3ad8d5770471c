/*
 * The texts beside the figure as elements: totals of the window, gaps at the ITR limit, problems of runs.
 * They are no components of Dash: Dash visits all components once for each new one, and these 190 made a
 * zoom a third slower.
 */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {}), { element } = wattlas;
  const MOST_OTHERS = 4;

  /** The reference: the chosen run, or the server's choice where that has no totals. */
  const baseOf = ({ answer, state }) => (answer.totals.length ? answer.totals[0].base : state.base);

  /** The run that is compared with the reference: the chosen one, else the first other; -1 for none. */
  function otherOf(scene, base) {
    const { runs } = scene.answer, others = [...runs.keys()].filter((k) => k !== base && !runs[k].problem);
    return others.includes(scene.state.other) ? scene.state.other : others.length ? others[0] : -1;
  }

  timeline.baseRun = baseOf;
  timeline.comparedRun = (scene) => otherOf(scene, baseOf(scene));

  /* How far a total of the compared run is from the reference's, as a share; what has no share is last. */
  function changeOf({ differences }, other) {
    const change = other >= 0 && differences[other];
    return change && change.percent !== null ? Math.abs(change.percent) : -1;
  }

  /* The reference, the run compared with it and their difference (-1) first, then the other runs. */
  function columnsOf(scene, base, other) {
    const all = [...scene.answer.runs.keys()];
    return other < 0 ? all : [base, other, -1, ...all.filter((k) => k !== other && k !== base)];
  }

  function headCell(scene, k, base, other) {
    if (k < 0) {
      const words = timeline.letter(other) + " \u2212 " + timeline.letter(base);
      return element("th", { scope: "col", className: "difference" }, words);
    }
    const run = scene.answer.runs[k], isBase = k === base, canChoose = scene.canChoose && !isBase;
    return element("th", { scope: "col" }, element("button", {
      className: "plain", title: run.label + (canChoose ? ": compare it with the reference" : ""),
      style: "border-color: " + timeline.shade(scene, k), disabled: !canChoose, data: { other: k },
      attributes: { "aria-pressed": String(k === other) },
    }, timeline.letter(k) + (isBase ? " ref" : "")));
  }

  function differenceCell(total, other) {
    const change = other >= 0 && total.differences[other];
    if (!change) return element("td", { className: "number difference" }, "\u2013");
    const isBetter = (change.value < 0) === (total.better === "less");
    const judged = !change.value || !total.better ? "" : isBetter ? " good" : " bad";
    const percent = change.percent_text ? element("div", {}, change.percent_text) : null;
    return element("td", { className: "number difference" + judged }, change.text, percent);
  }

  /** Totals of the window: a column a run; the largest difference to the reference first. */
  timeline.totals = function (scene) {
    const base = baseOf(scene), other = otherOf(scene, base), columns = columnsOf(scene, base, other);
    const heads = columns.map((k) => headCell(scene, k, base, other));
    const largestFirst = [...scene.answer.totals].sort((a, b) => changeOf(b, other) - changeOf(a, other));
    const rows = largestFirst.map((total) => element("tr", {},
      element("th", { scope: "row", ...(total.note ? { title: total.note } : {}) }, total.title),
      ...columns.map((k) => {
        return k < 0 ? differenceCell(total, other) : element("td", { className: "number" }, total.texts[k]);
      })));
    return [element("table", { className: "totals" },
      element("thead", {}, element("tr", {}, element("td"), ...heads)), element("tbody", {}, ...rows))];
  };

  /** How many gaps of each run are as long as the ITR value. */
  timeline.limits = (scene) => scene.answer.runs.flatMap((run, k) => {
    const limit = !run.problem && run.hist && run.hist.gap && run.hist.gap.at_limit;
    if (!limit) return [];
    const [low, high] = [limit.lo_us, limit.hi_us].map((end) => wattlas.formatQuantity(end, "us"));
    const counts = timeline.countWords(limit.count) + " of " + timeline.countWords(limit.of) + " gaps: ";
    return [element("div", {
      title: counts + "the interrupts were held back until the delay had passed",
      style: "color: " + timeline.textColor(scene, k),
    }, timeline.letter(k) + ": " + limit.text + " of gaps at the ITR limit (" + low + " to " + high + ")")];
  });

  /* A run that cannot be shown, with the runs to show instead. */
  function problem(scene, run, k) {
    const info = scene.infos[k] || {};
    const more = info.known ? "runs that have one\u2026" : "runs of the lake\u2026";
    const others = (info.others || []).slice(0, MOST_OTHERS).map((other) => element("button", {
      className: "plain", data: { replace: info.run_id, by: other.run_id },
    }, "show " + other.label));
    const pick = element("button", { className: "plain", data: { pickRuns: "1" } }, more);
    if (info.run_id && !info.has_log) others.push(pick);
    const buttons = scene.canChoose ? others.flatMap((button) => [" ", button]) : [];
    return element("div", {}, timeline.letter(k) + ": " + run.problem, ...buttons);
  }

  /**
   * The problems of each run, and the clipped windows.
   *   complaint: the error of the last request, or an empty text.
   */
  timeline.problems = function (scene, complaint) {
    const lines = complaint ? [element("div", {}, complaint)] : [], clipped = new Map();
    if (!scene.answer) return lines;
    const isWhole = scene.state.from === null && scene.state.to === null;
    const note = (words, k) => clipped.set(words, [...(clipped.get(words) || []), timeline.letter(k)]);
    scene.answer.runs.forEach((run, k) => {
      if (run.outside) note(run.problem, k);
      else if (run.problem) lines.push(problem(scene, run, k));
      else if (run.window.clipped && !isWhole) note(run.window.clipped, k);
    });
    const notes = [...clipped].map(([words, letters]) => letters.join(" ") + ": " + words);
    const words = [scene.clipped, ...notes].filter(Boolean).join(" \u00b7 ");
    return words ? [...lines, element("div", { className: "quiet" }, words)] : lines;
  };
})((window.wattlas = window.wattlas || {}));
