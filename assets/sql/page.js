/* Connects SQL to Dash and the server: editor, queries, files, chart, URL. */
window.wattlas.withDash(function () {
  "use strict";

  const { wattlas } = window, { setProps, address, sql } = wattlas;
  const NAME = "sql", RETRY_MS = 1000, NOTHING = { columns: [], types: [], rows: [], about: [] };
  const part = (name) => document.getElementById("sql-" + name);
  /* The result's table as Dash writes it; its library is loaded when there is a result. */
  const GRID = { namespace: "dash_ag_grid", type: "AgGrid", props: {
    id: "sql-rows", className: "grid", style: { height: "100%" }, columnSize: "autoSize",
    defaultColDef: { sortable: true, resizable: true },
    dashGridOptions: {
      rowHeight: 24, headerHeight: 26, theme: { function: "themeBalham" }, enableCellTextSelection: true,
    },
  } };
  let spec = null, answer = NOTHING, running = null, chart = {};
  /* The query of the rows on the screen, and when it was answered. */
  let shown = { sql: "", at: "" };

  const say = (words, isError) => {
    const said = part("said");
    said.textContent = words;
    said.className = isError ? "failed" : "quiet";
    if (isError) part("grid-frame").classList.remove("pending");
  };

  const post = (path, body, options) => wattlas.fetchAnswer(wattlas.pagesRoot() + "sql/" + path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    // This page says what a query waits for.
    isBusyReturned: true, ...options,
  });

  function setRunning(now) {
    running = now;
    part("run").disabled = Boolean(now);
    part("cancel").disabled = !now;
  }

  /** Repeat the request until the server accepts it: it may be busy with other queries. */
  async function asked(path, mine) {
    for (;;) {
      const response = await post(path, { sql: mine.sql, id: mine.id, lake: spec.lake });
      if (response.status !== 503 || running !== mine) return response;
      say((await response.json()).error + ": this one waits");
      await new Promise((done) => wattlas.later(done, RETRY_MS));
    }
  }

  async function run() {
    if (running || !spec || part("run").disabled) return;
    const { text, at } = wattlas.sqlEditor.content(), own = sql.statementAt(text, at);
    if (!own) { say("There is no statement to run.", true); return; }
    const mine = { id: crypto.randomUUID ? crypto.randomUUID() : String(Math.random()), sql: own.sql };
    mine.words = own.count > 1 ? "statement " + own.number + " of " + own.count + ": " : "";
    setRunning(mine);
    say(mine.words + "running");
    wattlas.sqlEditor.remember(own.sql);
    address.keep(NAME, { sql: text.length <= 6000 ? text : "" });
    try {
      const response = await asked("run", mine), found = await response.json();
      if (!response.ok) failed(mine.words + found.error);
      else await show(found, mine);
    } catch (error) {
      failed("The server did not answer (" + error.message + ").");
    }
    setRunning(null);
  }

  /** The query has no rows: those on the screen are of an earlier one. */
  function failed(words) {
    say(words, true);
    if (answer === NOTHING) draw(sql.said("No rows to draw: the query failed."));
    else markStale("of an earlier query, " + shown.at + ": " + sql.shortened(shown.sql));
  }
  function markStale(words) {
    for (const name of ["rows", "chart"]) {
      const note = part(name + "-of");
      Object.assign(note, { textContent: words, title: words ? shown.sql : "" });
      note.closest(".panel").classList.toggle("stale", Boolean(words));
    }
    ["csv", "parquet"].forEach((form) => { part(form).disabled = Boolean(words); });
  }

  async function show(found, mine) {
    answer = found;
    shown = { sql: mine.sql, at: new Date().toTimeString().slice(0, 8) };
    const more = found.truncated ? ", the first ones: the answer holds more" : "";
    const count = found.rows.length.toLocaleString("en") + " rows";
    say(mine.words + count + more + " \u00b7 " + found.elapsed_ms + " ms");
    markStale("");
    const names = [...new Set(found.columns)].map((name) => ({ value: name, label: name }));
    // The chosen columns, else those that follow from the roles.
    if (![chart.x, chart.y].every((name) => found.columns.includes(name))) {
      chart = found.chart;
      address.keep(NAME, chart);
    }
    for (const key of ["x", "y", "col"]) setProps("sql-" + key, { data: names, value: chart[key] || null });
    await wattlas.library("dash_ag_grid");
    const columns = { columnDefs: sql.columnsOf(found), rowData: sql.rowsOf(found) };
    setProps("sql-grid-frame", { children: { ...GRID, props: { ...GRID.props, ...columns } } });
    draw();
  }

  const pictures = wattlas.linked({ views: { chart: { id: "sql-chart" } } });
  function draw(figure = sql.chartOf(answer, chart)) {
    pictures.show("chart", { figure }, wattlas.theme());
  }

  /** The chart for paper, its caption with the statement that was run. */
  function onPaper() {
    const figure = pictures.paper("chart");
    return figure && sql.captioned(figure, answer, chart, shown.sql);
  }

  async function save(form) {
    const mine = { id: String(Math.random()), sql: shown.sql };
    running = mine;
    try {
      const response = await asked(form, mine);
      if (!response.ok) { say((await response.json()).error, true); return; }
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await response.blob());
      link.download = "wattlas-sql." + form;
      link.click();
      URL.revokeObjectURL(link.href);
      const isCut = response.headers.get("X-Truncated") === "yes";
      say(isCut ? "saved; the file holds the first rows only" : "saved");
    } finally {
      running = null;
    }
  }

  /* A callback of Dash: the chart's menus. */
  function chosen(x, y, col, isOpening) {
    if (!spec || isOpening) return window.dash_clientside.no_update;
    const now = { x: x || "", y: y || "", col: col || "" };
    const isSame = ["x", "y", "col"].every((key) => now[key] === (chart[key] || ""));
    if (isSame || answer === NOTHING) return window.dash_clientside.no_update;
    chart = now;
    address.keep(NAME, chart);
    draw();
    return window.dash_clientside.no_update;
  }
  document.addEventListener("click", (event) => {
    if (!document.querySelector(".page.sql")) return;
    const within = (selector) => wattlas.closest(event, selector);
    const example = within("[data-example]"), column = within("[data-column]");
    if (example && part("editor")) {
      wattlas.sqlEditor.write(example.dataset.example);
      chart = {};
      run();
    }
    if (column && part("editor")) wattlas.sqlEditor.insert(column.dataset.column);
    if (within("#sql-history")) wattlas.sqlEditor.history();
    if (within("#sql-run")) run();
    if (within("#sql-cancel") && running) post("cancel", { id: running.id });
    if (within("#sql-csv")) save("csv");
    if (within("#sql-parquet")) save("parquet");
  });
  function typed(event) {
    if (!wattlas.closest(event, ".panel-editor")) return false;
    const steps = { ArrowUp: 1, ArrowDown: -1 };
    if (event.altKey && event.key in steps) wattlas.sqlEditor.step(steps[event.key]);
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
    else return false;
    return true;
  }

  wattlas.addPage({
    name: NAME,
    open(opened) {
      spec = opened;
      pictures.open("");
      answer = NOTHING;
      running = null;
      chart = { x: spec.kept.x, y: spec.kept.y, col: spec.kept.col };
      wattlas.sqlEditor.open();
      if (spec.kept.sql) wattlas.later(run);
    },
    typed,
    follows: () => [],
    openQuery(query) {
      const { name } = wattlas.currentPage();
      const parts = new URLSearchParams(name === NAME ? address.query(NAME) : wattlas.linkQuery(name, NAME));
      ["x", "y", "col"].forEach((key) => parts.delete(key));
      parts.set("sql", query);
      wattlas.openPage(NAME, parts.toString());
    },
    figure: (view) => view === "chart" && answer !== NOTHING && onPaper(),
    theme: pictures.paint, resize: pictures.resize,
  });
  wattlas.clientside(NAME, { chosen });
});
