/*
 * Explore's table of selected points; while nothing is selected, of the settings that cannot be told from the
 * best one. A click on a head sorts by its column.
 */
(function (wattlas) {
  "use strict";

  const { explore, element } = wattlas;
  const MOST_ROWS = 500;
  let sorted = { title: "", sign: 1 };

  const bestRow = () => document.querySelector("#best-table tr[data-best]");
  /** The points of the best row of the table of best settings, or of the one nearest to the limit. */
  function best() {
    const row = bestRow();
    const mask = row && wattlas.clause.evaluate("knobs~" + row.dataset.config, explore.columns);
    return mask ? Array.from(mask.keys()).filter((i) => mask[i]) : [];
  }
  /** The points that the table lists. */
  explore.listed = () => (explore.clause ? explore.selected() : explore.columns ? best() : []);

  /* The system, the knobs of which the points have several values, the means of both axes, what was given. */
  function columnsOf({ fields, titles, units, unstated }) {
    const { columns } = explore, system = (i) => explore.systemOf(columns, i);
    const hasSystems = columns.runs.some((_, i) => system(i));
    const ofKnob = ({ column, title, hint, cells }) => ({
      title, hint, text: (i) => cells[columns.knobs[column].index[i]],
      order: (i) => wattlas.knob(columns, column, i),
    });
    const isVaried = ({ column }) => new Set(columns.knobs[column].index).size > 1;
    const named = columns.named.some(isVaried) ? columns.named.filter(isVaried) : columns.named;
    const knobs = (isGiven) => named.filter((knob) => knob.is_given === isGiven).map(ofKnob);
    const ofField = (name) => ({
      title: titles[name], isNumber: true, order: (i) => columns.fields[name][i],
      text: (i) => wattlas.formatQuantity(columns.fields[name][i], units[name]),
    });
    const n = (title, axis) => {
      const runs = (i) => explore.runsOf(columns, axis, i);
      const text = (i) => (unstated && runs(i) === 1 ? "not stated" : runs(i));
      return { title, hint: unstated ? "rows" : "runs", isNumber: true, order: runs, text };
    };
    const axes = fields.x === fields.y ? ["y"] : ["y", "x"];
    // Rows that are means of many runs may state another quantity once.
    const isOne = axes.length === 1 || columns.runs.every((_, i) => (
      explore.runsOf(columns, "x", i) === explore.runsOf(columns, "y", i)));
    const values = axes.flatMap((axis) => [
      ofField(fields[axis]), ...(isOne ? [] : [n("n, " + titles[fields[axis]], axis)])]);
    return [
      ...(hasSystems ? [{ title: "system", text: system, order: system }] : []), ...knobs(false),
      ...(isOne ? [n("n", "y")] : []), ...values, ...knobs(true),
    ];
  }

  const compared = (a, b) => (a === b ? 0 : a === null || a === undefined ? 1
    : b === null || b === undefined ? -1 : a < b ? -1 : 1);

  function head({ title, hint, isNumber }) {
    const isSorted = title === sorted.title, way = sorted.sign > 0 ? "ascending" : "descending";
    const sorts = { type: "button", className: "sort", textContent: title, data: { sort: title } };
    const button = element("button", sorts);
    return element("th", {
      scope: "col", className: isNumber ? "number" : "", title: hint || "",
      attributes: isSorted ? { "aria-sort": way } : {},
    }, button);
  }

  function table(columns, rows) {
    const by = columns.find(({ title }) => title === sorted.title);
    const all = by ? [...rows].sort((a, b) => sorted.sign * compared(by.order(a), by.order(b))) : rows;
    const cell = ({ text, isNumber }, i) => (
      element("td", { textContent: text(i), className: isNumber ? "number" : "" }));
    const line = (i) => element("tr", {}, ...columns.map((column) => cell(column, i)));
    return element("table", { className: "best" },
      element("thead", {}, element("tr", {}, ...columns.map(head))),
      element("tbody", {}, ...all.slice(0, MOST_ROWS).map(line)));
  }

  function wordsOf(count) {
    if (!explore.figures.scatter) return "loading";
    const isCut = count > MOST_ROWS, all = count.toLocaleString("en");
    const points = isCut ? "first " + MOST_ROWS + " of " + all : all + (count === 1 ? " point" : " points");
    if (explore.clause) return points;
    if (!count) return "nothing: drag a box in a picture";
    const row = bestRow(), name = row.querySelector("th").textContent;
    if (row.dataset.meets === "False") return "nothing meets the limit; nearest: " + points + " of " + name;
    return ["nothing yet; " + points + " of " + name, row.dataset.best].filter(Boolean).join(" ");
  }

  /** Write the table and its words. */
  explore.showSelected = function () {
    const frame = document.getElementById("selected-table"), rows = explore.listed();
    if (!frame) return;
    const { scatter } = explore.figures, meta = scatter ? scatter.layout.meta : {};
    document.getElementById("selected-words").textContent = wordsOf(rows.length);
    frame.replaceChildren(...(meta.titles && rows.length ? [table(columnsOf(meta), rows)] : []));
  };

  document.addEventListener("click", (event) => {
    const button = wattlas.closest(event, "#selected-table [data-sort]");
    if (!button) return;
    const title = button.dataset.sort;
    sorted = { title, sign: title === sorted.title ? -sorted.sign : 1 };
    explore.showSelected();
    document.querySelector(`#selected-table [data-sort="${CSS.escape(title)}"]`).focus();
  });
})((window.wattlas = window.wattlas || {}));
