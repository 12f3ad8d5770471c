/* Connects Modes to Dash: controls that depend on each other, figures of the server's answers, selection. */
document.addEventListener("DOMContentLoaded", function () {
  "use strict";
  const { wattlas } = window, { modes } = wattlas, { view } = modes;

  const ROLES = ["x", "y", "who"];
  const same = () => window.dash_clientside.no_update;
  let rawCells = null;

  function open(spec) {
    view.figures = {};
    view.data = rawCells = null;
    view.sel = spec.kept.sel || "";
  }

  /**
   * Keep the knobs of the three roles different: choosing a knob of another role swaps the two. A filter of
   * one value on the chosen knob is cleared.
   */
  function gathered(values, before) {
    // An incomplete number, such as `0.`, does not change the state.
    const most = values.test === "sets" ? 0.5 : 1;
    if (!(values.alpha > 0 && values.alpha < most)) values.alpha = before ? before.alpha : 0.05;
    if (!(values.margin > 0 && values.margin < 50)) values.margin = before ? before.margin : 2;
    if (!(values.limit > 0)) values.limit = "";
    if (!before) return values;
    // The rule of the papers is uncorrected, and it alone.
    if (before.test !== values.test && (values.test === "student") !== (values.corr === "none")) {
      const corr = values.test === "student" ? "none" : "benjamini-hochberg";
      wattlas.setProps("modes-corr", { value: corr });
      values.corr = corr;
    }
    // A limit is in the unit of its metric.
    if (before.by !== values.by && values.limit !== "") {
      wattlas.setProps("modes-limit", { value: "" });
      values.limit = "";
    }
    const role = ROLES.find((name) => before[name] !== values[name]);
    const other = ROLES.find((name) => name !== role && values[name] === values[role]);
    if (role && other) {
      wattlas.setProps("modes-" + other, { value: before[role] });
      before[role] = values[role];
      return null;
    }
    // A selected cell is valid for its axes only, a selected winner for its competitors only.
    if (role || String(before.workload) !== String(values.workload)) modes.select("");
    const held = role && values[role] !== "workload" && (values[values[role]] || []).length === 1;
    if (!held) return values;
    const chips = window.dash_clientside.callback_context.inputs_list.flat();
    wattlas.setProps(chips.find(({ id }) => id.facet === values[role]).id, { value: [] });
    before[role] = values[role];
    return null;
  }

  function theme(winners, shares, pareto, name, cells) {
    if (!winners) return [same(), same(), same()];
    if (cells !== rawCells) {
      rawCells = cells;
      view.data = wattlas.cells.decode(cells);
    }
    Object.assign(view.figures, { winners, shares, pareto });
    view.theme = name;
    ["winners", "shares", "pareto"].forEach((id) => {
      wattlas.legend(id, view.figures[id]);
      modes.own(id);
    });
    wattlas.later(() => { modes.announce(); wattlas.address.push("modes"); });
    return [winners, shares, pareto].map((f) => wattlas.modesFigures.themed(f, view.data, view.sel, name));
  }

  function themeEvidence(figure, name) {
    if (!figure) return same();
    view.figures.evidence = figure;
    wattlas.legend("evidence", figure);
    modes.own("evidence");
    return wattlas.modesFigures.themed(figure, null, "", name);
  }

  view.onSelect = (sel) => {
    wattlas.address.keep("modes", { sel });
    wattlas.setProps("modes-selected", { data: sel });
  };

  wattlas.addPage({
    name: "modes", open, gathered,
    handover: () => ({ sel: view.data ? wattlas.cells.handover(view.data, view.sel) : "" }),
    figure(id) {
      const figure = view.figures[id], data = id === "evidence" ? null : view.data;
      return figure && wattlas.modesFigures.onPaper(figure, data, view.sel, wattlas.plot(id));
    },
    key: modes.key, clear: modes.clear,
  });
  wattlas.clientside("modes", { theme, themeEvidence });

  document.addEventListener("click", (event) => {
    if (wattlas.closest(event, "#clear-selection")) modes.clear();
  });
});
