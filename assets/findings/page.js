/* Connects Findings to Dash: blocks of HTML, pictures, the selected claim, the run list's address. */
window.wattlas.withDash(function () {
  "use strict";

  const { wattlas } = window, { findings, address } = wattlas;
  const NAME = "findings";
  let sel = "", claim = "", isLinked = false;

  function select(row) {
    ({ sel = "", claim = "" } = row ? row.dataset : {});
    findings.mark(sel, claim);
    address.keep(NAME, { sel, claim });
  }

  /** Mark the selected claim; the first time, bring that of the link into view. */
  function written() {
    const row = findings.mark(sel, claim);
    if (!row || !isLinked) return;
    isLinked = false;
    const folded = row.closest("details");
    if (folded) folded.open = true;
    row.scrollIntoView({ block: "nearest" });
  }

  findings.onOpen(([sweep, knob]) => {
    wattlas.setProps("findings-sweep", { value: sweep });
    wattlas.setProps("findings-knob", { value: knob });
    document.querySelector(".panel-effect").scrollIntoView({ block: "nearest" });
  });

  wattlas.addPage({
    name: NAME,
    open(spec) {
      findings.open("");
      ({ sel = "", claim = "" } = spec.kept);
      isLinked = Boolean(claim);
    },
    handover: () => ({ sel }),
    files: () => ({
      list: wattlas.fileOf(NAME, "list.csv"),
      data: wattlas.fileOf(NAME, "data/claims.csv"),
    }),
    figure: findings.paper,
    resize: findings.resize,
    key: findings.key,
    clear: () => select(null),
    written,
  });

  document.addEventListener("click", (event) => {
    const row = wattlas.closest(event, ".page.findings .findings-claims > li[data-sel]");
    if (!row || wattlas.closest(event, "a, summary")) return;
    select(row.classList.contains("selected") ? null : row);
  });

  wattlas.clientside("wattlasFindings", {
    draw(answer, theme) {
      const { id } = window.dash_clientside.callback_context.inputs_list[0];
      if (answer) findings.show(id.replace("findings-figure-", ""), answer, theme);
      return window.dash_clientside.no_update;
    },
  });
});
