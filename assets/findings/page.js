/* Connects Findings to Dash: blocks of HTML, pictures, the selected claim, the run list's address. */
window.wattlas.withDash(function () {
  "use strict";

  const { wattlas } = window, { findings, address } = wattlas;
  const NAME = "findings";
  let sel = "";

  function select(now) {
    sel = now;
    findings.mark(sel);
    address.keep(NAME, { sel });
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
      sel = spec.kept.sel || "";
    },
    handover: () => ({ sel }),
    files: () => ({
      list: wattlas.fileOf(NAME, "list.csv"),
      data: wattlas.fileOf(NAME, "data/claims.csv"),
    }),
    figure: findings.paper,
    resize: findings.resize,
    key: findings.key,
    clear: () => select(""),
    written: () => findings.mark(sel),
  });

  document.addEventListener("click", (event) => {
    const row = wattlas.closest(event, ".page.findings .findings-claims > li[data-sel]");
    if (!row || wattlas.closest(event, "a, summary")) return;
    select(row.dataset.sel === sel ? "" : row.dataset.sel);
  });

  wattlas.clientside("wattlasFindings", {
    draw(answer, theme) {
      const { id } = window.dash_clientside.callback_context.inputs_list[0];
      if (answer) findings.show(id.replace("findings-figure-", ""), answer, theme);
      return window.dash_clientside.no_update;
    },
  });
});
