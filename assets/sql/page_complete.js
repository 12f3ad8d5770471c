/* Completion in the SQL editor: names of tables and columns, with units and descriptions. */
(function (wattlas) {
  "use strict";

  const KEYS = { ArrowDown: 1, ArrowUp: -1 };
  let shown = null, chosen = 0;

  const editor = () => document.getElementById("sql-editor");
  const list = () => document.getElementById("sql-complete");

  /* The names, units and descriptions of the page's list of tables and columns. */
  function known() {
    const items = document.querySelectorAll(".page.sql [data-column], .page.sql [data-table]");
    return new Map(
      [...items].map((item) => {
        const unit = item.querySelector(".spread").textContent.trim();
        return [item.dataset.column || item.dataset.table, { unit, title: item.title }];
      }),
    );
  }

  function hide() {
    shown = null;
    if (list()) list().replaceChildren();
  }

  function show() {
    const box = editor(), columns = known();
    shown = wattlas.sql.completionsOf([...columns.keys()], box.value, box.selectionStart);
    if (!shown || !shown.names.length) { hide(); return; }
    chosen = Math.min(chosen, shown.names.length - 1);
    list().replaceChildren(
      ...shown.names.map((name, number) => {
        const { unit, title } = columns.get(name), words = [unit, title].filter(Boolean).join(" \u00b7 ");
        return wattlas.element(
          "li",
          { data: { completion: name }, attributes: { role: "option", "aria-selected": number === chosen } },
          wattlas.element("code", { textContent: name }),
          wattlas.element("span", { textContent: words, className: "quiet" }),
        );
      }),
    );
  }

  /** Replace a part of the text by a name, so that the visitor can undo it. */
  wattlas.sqlInsert = function (name, from) {
    const box = editor();
    box.focus();
    box.setRangeText(name, from, box.selectionEnd, "end");
    box.dispatchEvent(new Event("input", { bubbles: true }));
    hide();
  };

  document.addEventListener("input", (event) => {
    if (event.target !== editor() || event.inputType === undefined) return;
    chosen = 0;
    show();
  });
  /** Handle a key while names are offered; return whether it had an action. */
  wattlas.sqlTyped = function (event) {
    if (event.target !== editor() || !shown || event.ctrlKey || event.metaKey) return false;
    if (event.key in KEYS) {
      chosen = (chosen + KEYS[event.key] + shown.names.length) % shown.names.length;
      show();
    } else if (event.key === "Tab") wattlas.sqlInsert(shown.names[chosen], shown.from);
    else if (event.key === "Escape") hide();
    else return false;
    return true;
  };
  /* Run before the editor loses the caret. */
  document.addEventListener("mousedown", (event) => {
    const item = wattlas.closest(event, "[data-completion]");
    if (item && shown) {
      event.preventDefault();
      wattlas.sqlInsert(item.dataset.completion, shown.from);
    } else if (event.target !== editor()) hide();
  });
})((window.wattlas = window.wattlas || {}));
