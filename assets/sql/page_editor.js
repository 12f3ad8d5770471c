/*
 * The SQL editor: CodeMirror over the page's text area, whose content it keeps equal to its own. Without the
 * library, or before it is loaded, the text area is the editor. The queries that were run are kept in the
 * browser.
 */
(function (wattlas) {
  "use strict";

  const { element } = wattlas;
  const KEPT = "wattlas-sql-history", MOST_KEPT = 100;
  const area = () => document.getElementById("sql-editor");
  let view = null, back = -1, draft = "";
  const shown = () => (view && view.dom.isConnected ? view : null);

  function mirror(text) {
    const box = area();
    box.setRangeText(text, 0, box.value.length, "start");
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /* Names, units and titles of the page's list of tables. */
  const textOf = (item) => item.querySelector(".spread").textContent.trim();
  const tablesOf = () => [...document.querySelectorAll(".page.sql .tables details")].map((part) => ({
    name: part.querySelector("[data-table]").dataset.table,
    columns: [...part.querySelectorAll("[data-column]")].map((item) => (
      { name: item.dataset.column, unit: textOf(item), title: item.title })),
  }));

  function source(tables, words) {
    const apply = (editor, { label }, from, to) => editor.dispatch({
      changes: { from, to, insert: label + "()" }, selection: { anchor: from + label.length + 1 },
    });
    return (context) => {
      const word = context.matchBefore(/[\w.]*/), text = context.state.doc.toString();
      if (!word.text && !context.explicit) return null;
      const own = wattlas.sql.statementAt(text, context.pos) || { from: 0, sql: "" };
      const before = text.slice(own.from, word.from);
      const found = wattlas.sql.completionsOf(tables, words, own.sql, word.text, before);
      const options = found.map(({ kind, ...one }) => (
        { ...one, type: kind, ...(kind === "function" ? { apply } : {}) }));
      return { from: word.from + word.text.lastIndexOf(".") + 1, options, validFor: /^\w*$/ };
    };
  }

  /* Of several statements the lines of the one that runs are marked. */
  function marks({ doc, selection }) {
    const { Decoration } = window.CodeMirror;
    const own = wattlas.sql.statementAt(doc.toString(), selection.main.head);
    if (!own || own.count < 2) return Decoration.none;
    const [first, last] = [own.from, own.to].map((at) => doc.lineAt(at).number);
    const lines = Array.from({ length: last - first + 1 }, (_, i) => doc.line(first + i).from);
    return Decoration.set(lines.map((from) => Decoration.line({ class: "code-own" }).range(from)));
  }

  function extensions(words) {
    const cm = window.CodeMirror;
    const of = (kind) => words.word.filter((_, i) => words.kind[i] === kind).join(" ");
    const dialect = cm.SQLDialect.define({
      keywords: of("keyword"), types: of("type"), doubleDollarQuotedStrings: true,
      caseInsensitiveIdentifiers: true, operatorChars: "+-*/<>=~!@#%^&|`?", specialVar: "",
    });
    const outside = cm.ifNotIn(["String", "LineComment", "BlockComment"], source(tablesOf(), words));
    // The page's own keys: here they only close the list of completions.
    const { run: close } = cm.completionKeymap.find(({ key }) => key === "Escape");
    const left = ["Mod-Enter", "Alt-ArrowUp", "Alt-ArrowDown"].map((key) => (
      { key, run: (editor) => close(editor) || true }));
    return [
      cm.Prec.highest(cm.keymap.of([{ key: "Tab", run: cm.acceptCompletion }, ...left])),
      cm.keymap.of([
        ...cm.closeBracketsKeymap, ...cm.completionKeymap, ...cm.historyKeymap, ...cm.defaultKeymap,
      ]),
      dialect.extension, cm.syntaxHighlighting(cm.classHighlighter), cm.lineNumbers(), cm.history(),
      cm.bracketMatching(), cm.closeBrackets(),
      cm.autocompletion({ override: [outside], icons: false, interactionDelay: 0 }),
      cm.EditorView.lineWrapping,
      cm.EditorView.contentAttributes.of({ "aria-label": "SQL query", tabindex: "0" }),
      cm.EditorView.decorations.compute(["doc", "selection"], marks),
      cm.EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged && area()) mirror(state.doc.toString());
      }),
    ];
  }

  function kept() {
    try { return JSON.parse(localStorage.getItem(KEPT)) || []; } catch (error) { return []; }
  }

  const editor = {
    /** Load the library and put the editor over the text area. */
    async open() {
      const parent = document.getElementById("sql-code");
      [back, draft] = [-1, ""];
      if (!parent || parent.firstChild) return;
      let words = null;
      try {
        const answer = wattlas.fetchAnswer(wattlas.pagesRoot() + "sql/words");
        await wattlas.library("codemirror");
        words = await (await answer).json();
      } catch (error) { return; }
      if (!parent.isConnected || parent.firstChild) return;
      const box = area(), hadFocus = document.activeElement === box, anchor = box.selectionStart;
      // An editor listens to the window until it is destroyed.
      if (view) view.destroy();
      view = new window.CodeMirror.EditorView({
        doc: box.value, parent, selection: { anchor }, extensions: extensions(words),
      });
      parent.closest(".panel").classList.add("has-code");
      if (hadFocus) view.focus();
    },
    /** The text, and where the caret is in it. */
    content() {
      const { value: text, selectionStart } = area();
      return { text, at: shown() ? view.state.selection.main.head : selectionStart };
    },
    /** Replace the whole text. The visitor can undo it. */
    write(text) {
      const changes = { from: 0, to: area().value.length, insert: text };
      if (shown()) view.dispatch({ changes, selection: { anchor: 0 } });
      else mirror(text);
    },
    /** Put a name in place of what is selected. */
    insert(name) {
      if (shown()) {
        view.dispatch(view.state.replaceSelection(name));
        view.focus();
        return;
      }
      const box = area();
      box.focus();
      box.setRangeText(name, box.selectionStart, box.selectionEnd, "end");
      box.dispatchEvent(new Event("input", { bubbles: true }));
    },

    /** Keep a query in the browser, the newest first. */
    remember(query) {
      const all = [query, ...kept().filter((one) => one !== query)].slice(0, MOST_KEPT);
      back = -1;
      try { localStorage.setItem(KEPT, JSON.stringify(all)); } catch (error) { /* private window */ }
    },
    /** Show the query before the shown one (1), or after it (-1); after the newest what was written. */
    step(by) {
      const all = kept(), { text } = editor.content();
      if (back < 0) draft = text;
      // The query that was run last is on the screen already.
      const first = all[0] === text.trim() && back < 0 && by > 0 ? 1 : 0;
      const next = Math.min(Math.max(back + by + first, -1), all.length - 1);
      if (next === back) return;
      back = next;
      editor.write(back < 0 ? draft : all[back]);
    },
    /** List the earlier queries; a click takes one. */
    history() {
      const all = kept(), title = "Earlier queries";
      const close = { className: "plain", textContent: "close", onclick: () => dialog.close() };
      const entries = all.map((query) => element("button", {
        className: "query", textContent: query,
        onclick: () => { dialog.close(); editor.write(query); if (shown()) view.focus(); },
      }));
      const none = element("p", { className: "quiet", textContent: "No query was run in this browser yet." });
      const dialog = element("dialog",
        { className: "history", onclose: () => dialog.remove(), attributes: { "aria-label": title } },
        element("h2", { textContent: title }), ...(all.length ? entries : [none]),
        element("p", {}, element("button", close)));
      document.body.append(dialog);
      dialog.showModal();
    },
  };
  wattlas.sqlEditor = editor;
})((window.wattlas = window.wattlas || {}));
