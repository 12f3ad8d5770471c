/* Connects Modes to Dash: controls that depend on each other, the server's answers, selection, links. */
window.wattlas.withDash(function () {
  "use strict";
  const { wattlas } = window, { modes, address } = wattlas;

  const ROLES = ["x", "y", "who"];

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
    const isOther = role || before.split !== values.split;
    if (isOther || String(before.workload) !== String(values.workload)) modes.select("");
    const held = role && values[role] !== "workload" && (values[values[role]] || []).length === 1;
    if (!held) return values;
    const chips = window.dash_clientside.callback_context.inputs_list.flat();
    wattlas.setProps(chips.find(({ id }) => id.facet === values[role]).id, { value: [] });
    before[role] = values[role];
    return null;
  }

  const PICTURES = ["winners", "shares", "pareto"];
  function showMap(...answers) {
    if (!answers[0]) return;
    // The map has the columns of all three.
    PICTURES.forEach((name, i) => modes.show(name, answers[i], wattlas.theme()));
    if (modes.columns) wattlas.setProps("modes-limit", { suffix: " " + modes.columns.rules.limit_unit });
    wattlas.later(() => { modes.announce(); address.push("modes"); });
  }
  const showEvidence = (answer) => { if (answer) modes.show("evidence", answer, wattlas.theme()); };

  modes.onChange(() => {
    modes.announce();
    address.keep("modes", { sel: modes.clause });
    wattlas.setProps("modes-selected", { data: modes.clause });
  });

  modes.openPanel = (panel) => wattlas.panels.open("modes", panel);
  wattlas.addPage({
    name: "modes", open: (spec) => modes.open(spec.kept.sel), gathered,
    handover: () => ({ sel: modes.columns ? wattlas.cells.handover(modes.columns, modes.clause) : "" }),
    figure: modes.paper, key: modes.key, clear: modes.clear, resize: modes.resize, theme: modes.paint,
  });
  wattlas.clientside("modes", { showMap, showEvidence });

  document.addEventListener("click", (event) => {
    if (wattlas.closest(event, "#clear-selection")) modes.clear();
  });
});
