/*
 * Linked views: pictures of the server over one table of rows, with one selection for all of them.
 * Draws, hovers, steps by keys, selects, dims, resizes, makes pictures for paper; with Dash and in exports.
 * ../README.md describes the protocol: a view is a query, a figure and a line.
 */
(function (wattlas) {
  "use strict";

  const { rows: of } = wattlas;
  const STEPS = { ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowLeft: [-1, 0], ArrowDown: [0, -1] };
  const isRange = (name) => /^[xy]axis\d*\.(range|autorange)/.test(name);

  /**
   * The linked views of a page.
   *   views: by name; all parts are optional, and a view without any needs no entry:
   *     id: id of the element; without it the name.
   *     dress(figure, theme): the figure with what only the browser knows. Pure.
   *     lines(item): the lines of the card; without it the trace's `meta.words`.
   *     opens(item): what a click does instead of selecting.
   *     clause(item): what a click selects; without it the item's configuration or cell.
   *     drawn(gd): after each drawing, and after each change of the axes.
   *     reset(): a double click has reset the axes.
   *   changed(what): the "selection" or the "zoom" was changed.
   * An item of a picture is { name, gd, trace, i, rows, cell }: `cell` is [column, row] of a map, else null.
   */
  wattlas.linked = function ({ views, changed = () => {} }) {
    const blank = () => ({ columns: null, clause: "", mask: null, zoom: "", under: null, figures: {} });
    const link = { ...blank(), theme: "light" };
    let drawn = new Set(), cursors = {}, waiting = [], turn = 0, decoded = [null, null], boxed = "";

    const idOf = (name) => views[name].id || name;
    const elementOf = (name) => document.getElementById(idOf(name));
    const nameOf = (id) => Object.keys(views).find((name) => idOf(name) === id);
    /** The plot of a view; null before its first figure is drawn. */
    link.plot = (name) => (drawn.has(name) ? elementOf(name) : null);
    const metaOf = (name) => (link.figures[name] && link.figures[name].layout.meta) || {};

    /** The page was opened: forget what an earlier visit left. */
    link.open = function (clause, zoom = "") {
      Object.assign(link, blank(), { clause: clause || "", zoom });
      [drawn, cursors, waiting, decoded, boxed] = [new Set(), {}, [], [null, null], ""];
    };

    /* ---- drawing */

    /** Take the answer of a view, {figure, columns}, and draw it. Without columns it shows another's. */
    link.show = (name, answer, theme) => link.showAll({ [name]: answer }, theme);
    /** Take the answers of several views, by name. */
    link.showAll = function (answers, theme) {
      link.theme = theme;
      Object.entries(answers).forEach(([name, answer]) => take(name, answer));
      inTurn();
    };
    function take(name, answer) {
      views[name] = views[name] || {};
      if (answer.columns !== undefined && answer.columns !== decoded[0]) {
        decoded = [answer.columns, wattlas.decoded(answer.columns)];
        link.columns = decoded[1];
        evaluate();
        findAgain();
      }
      const data = answer.figure.data.map((trace) => of.found(withRows(trace), link.columns));
      const figure = { ...answer.figure, data }, last = link.figures[name];
      // Plotly shows the whole of a figure of another revision; a sentence in place of one has none.
      const isOther = last && last.layout.uirevision !== figure.layout.uirevision;
      if (isOther && last.data.length && data.length && wattlas.ranges) wattlas.ranges.keep(idOf(name), {});
      link.figures[name] = figure;
      delete cursors[name];
      drawn.delete(name);
    }
    const withRows = (trace) => (trace.meta ? { ...trace, meta: wattlas.decoded(trace.meta) } : trace);
    /* Pictures whose items are found by knobs hold other rows of other columns. */
    function findAgain() {
      for (const [name, figure] of Object.entries(link.figures)) {
        if (!figure.data.some(({ meta }) => meta && meta.cells)) continue;
        link.figures[name] = { ...figure, data: figure.data.map((trace) => of.found(trace, link.columns)) };
        drawn.delete(name);
      }
    }
    function evaluate() {
      link.mask = wattlas.clause.evaluate(link.clause, link.columns);
    }

    /** A view's figure in a theme, with the selection. */
    function dressed(name, theme) {
      const figure = wattlas.themedFigure(link.figures[name], theme), { dress } = views[name];
      const { data, layout } = dress ? dress(figure, theme) : figure;
      const out = { data: [...data], layout: { ...layout } };
      const changes = of.changes(figure, link.columns, link.mask);
      changes.forEach(([i, change]) => { out.data[i] = { ...out.data[i], ...change }; });
      const { fields, panels } = metaOf(name), outlines = of.outline(link.clause, fields, theme);
      out.layout.selections = (panels || [{}]).flatMap(({ x, y }) =>
        outlines.map((one) => ({ ...one, ...(x ? { xref: x, yref: y } : {}) })));
      if (link.zoom && hasZoom(name)) zoomTo(out.layout, link.zoom.split("~").map(Number));
      return out;
    }
    /* A zoom of the link is that of one picture of the metrics, not of panels. */
    const hasZoom = (name) => metaOf(name).fields && !metaOf(name).panels;
    function zoomTo(layout, [x0, x1, y0, y1]) {
      layout.xaxis = { ...layout.xaxis, range: [x0, x1], autorange: false };
      layout.yaxis = { ...layout.yaxis, range: [y0, y1], autorange: false };
    }

    /** A view's figure for paper: in the light theme, the part in view; null where nothing is drawn. */
    link.paper = function (name) {
      const gd = link.plot(name);
      if (!gd) return null;
      const figure = dressed(name, "light");
      for (const [axis, range] of Object.entries(rangesOf(gd))) {
        figure.layout[axis] = { ...figure.layout[axis], range };
      }
      return figure;
    };

    function draw(gd, name) {
      const { data, layout } = dressed(name, link.theme);
      wattlas.legend(gd.id, { data, layout });
      const placed = wattlas.panels.arranged(gd, wattlas.titles.fitted(gd, layout));
      window.Plotly.react(gd, data, placed, wattlas.PLOT_CONFIG);
      drawn.add(name);
      listen(gd, name);
      setHome(gd, name);
      wattlas.tools(gd.id);
      restore(gd);
      if (views[name].drawn) views[name].drawn(gd);
    }
    /* The zoom that the entry of the browser's history has. */
    function restore(gd) {
      const ranges = wattlas.ranges && gd.data.length ? wattlas.ranges.of(gd.id) : {}, now = rangesOf(gd);
      if (Object.keys(ranges).some((axis) => String(ranges[axis]) !== String(now[axis]))) {
        wattlas.scaleTo(gd, ranges);
      }
    }
    const rangesOf = ({ _fullLayout }) => Object.fromEntries(
      Object.keys(_fullLayout).filter((key) => /^[xy]axis\d*$/.test(key))
        .map((axis) => [axis, _fullLayout[axis].range.slice()]));

    /* The visible pictures first, then the others one by one, so that the page stays responsive. */
    function inTurn(work = (gd, name) => (drawn.has(name) ? paint(gd, name) : draw(gd, name))) {
      if (!window.Plotly) { wattlas.whenComplete(() => inTurn(work)); return; }
      const mine = (turn += 1);
      const all = Object.keys(link.figures).map((name) => [elementOf(name), name]).filter(([gd]) => gd);
      const isSeen = ([gd]) => {
        const box = gd.getBoundingClientRect();
        return box.bottom > 0 && box.top < innerHeight;
      };
      waiting = all.filter((one) => !isSeen(one));
      all.filter(isSeen).forEach(([gd, name]) => work(gd, name));
      const next = () => {
        if (mine !== turn || !waiting.length) return;
        const [gd, name] = waiting.shift();
        if (gd.isConnected) work(gd, name);
        if (waiting.length) wattlas.later(next);
      };
      if (waiting.length) wattlas.later(next);
    }
    /** Draw all pictures again, in another theme. */
    link.paint = function (theme) {
      link.theme = theme;
      drawn = new Set();
      inTurn();
    };
    /** Whether pictures wait to be drawn. */
    link.isBusy = () => waiting.length > 0;
    link.resize = () => wattlas.resizePlots([...drawn].map(elementOf));

    /* ---- showing the selection in what is drawn */

    const sameItems = (has, wanted) => {
      if (!has || !wanted) return !has && !wanted;
      if (has.length !== wanted.length) return false;
      const sorted = Array.from(has).sort((a, b) => a - b);
      return wanted.every((value, i) => value === sorted[i]);
    };
    const textOf = (value) => JSON.stringify(value === undefined ? null : value);
    const isShown = (has, change) => Object.entries(change).every(([key, value]) => (
      key === "selectedpoints" ? sameItems(has[key], value) : textOf(has[key]) === textOf(value)));

    /** Show the selection in a drawn picture, unless Plotly's own selection has drawn the same already. */
    function paint(gd, name) {
      const all = of.changes(link.figures[name], link.columns, link.mask);
      const wanted = all.filter(([i, change]) => !isShown(gd.data[i], change));
      const isFast = ([i]) => gd.data[i].type === "scattergl";
      const fast = wanted.some(isFast) ? all.filter(isFast) : [], traces = fast.map(([i]) => i);
      const isDone = !fast.length
        || wattlas.highlight(gd, traces, fast.map(([, change]) => change.selectedpoints));
      const rest = isDone ? wanted.filter((one) => !isFast(one)) : wanted;
      const hasOutline = Boolean(gd.layout.selections && gd.layout.selections.length);
      const clause = wattlas.clause.read(link.clause), { fields } = metaOf(name);
      const isOfAxes = clause && clause.fields && fields;
      const keeps = clause && (isOfAxes ? clause.fields.x === fields.x : boxed === name);
      const layout = hasOutline && !keeps ? { selections: [] } : {};
      if (rest.length) update(gd, rest, layout);
      else if (layout.selections) window.Plotly.relayout(gd, layout);
    }
    /* Plotly leaves a property of a trace alone where its value is undefined. */
    function update(gd, wanted, layout) {
      const names = new Set(wanted.flatMap(([, change]) => Object.keys(change)));
      const change = [...names].map((key) => [key, wanted.map(([, one]) => one[key])]);
      window.Plotly.update(gd, Object.fromEntries(change), layout, wanted.map(([i]) => i));
    }

    /** Select by a clause; an empty one clears the selection. All views show it, without the server. */
    link.select = function (clause) {
      if (clause === link.clause) return;
      if (clause.length > wattlas.clause.MAX_CHARS) {
        if (wattlas.say) wattlas.say("too many cells of different columns for a link; select fewer");
        return;
      }
      link.clause = clause;
      evaluate();
      inTurn();
      changed("selection");
    };
    link.toggle = (clause) => { boxed = ""; link.select(clause === link.clause ? "" : clause); };
    link.clear = () => link.select("");
    /** Indices of the selected rows. */
    link.selected = () => (link.mask ? Array.from(link.mask.keys()).filter((i) => link.mask[i]) : []);

    /* ---- items */

    const indexAt = (axis, value) => (
      axis.type === "category" ? axis._categories.indexOf(value) : Math.round(value));
    const mapOf = (name, trace) => wattlas.rows.mapOf(metaOf(name), trace);
    /** The item of a point in a Plotly event. */
    function itemOf(name, gd, { curveNumber, pointNumber, x, y }) {
      const trace = gd.data[curveNumber], { _fullLayout: axes } = gd;
      const axisOf = (letter) => axes[letter + "axis" + (trace[letter + "axis"] || letter).slice(1)];
      const cell = mapOf(name, trace) ? [indexAt(axisOf("x"), x), indexAt(axisOf("y"), y)] : null;
      return { name, gd, trace, i: pointNumber, rows: of.of(trace, pointNumber), cell };
    }
    /* A column or a row of a map is a value of its knob, or a bin of several. */
    const cellsClause = ({ knobs: [x, y], xs, ys, place }, cells) => (
      [...xs, ...ys].some(Array.isArray)
        ? wattlas.clause.bins(x, y, { xs, ys }, cells, place)
        : wattlas.clause.pairs(x, y, cells.map(([column, row]) => [xs[column], ys[row]]), place));

    const knobsClause = (rows, names) =>
      wattlas.clause.knobs(rows.map((row) => wattlas.configuration(link.columns, row, names)));
    /** The knobs of an item that is found by them. */
    const valuesOf = ({ trace: { meta: { cells: { knobs, at } } }, i }) => (
      Object.fromEntries(knobs.map((name, k) => [name, at[i][k]])));
    /** The clause of a click on an item; empty for what selects nothing. */
    function clauseOf(item) {
      const { name, trace, i, rows, cell } = item;
      if (views[name].clause) return views[name].clause(item);
      if (trace.meta && trace.meta.clauses) return trace.meta.clauses[i];
      if (cell) return cellsClause(mapOf(name, trace), [cell]);
      if (trace.meta && trace.meta.cells) return wattlas.clause.knobs([valuesOf(item)]);
      return rows.length ? knobsClause(rows.slice(0, 1), trace.meta.knobs) : "";
    }
    function linesOf(item) {
      const { name, trace, i, rows } = item, { lines } = views[name];
      link.under = rows.length ? rows[0] : null;
      return lines ? lines(item) : (trace.meta && trace.meta.words && trace.meta.words[i]) || null;
    }

    /* ---- what the pointer does */

    const isMeasured = (map, [column, row]) => !map.missing.some(([r, c]) => r === row && c === column);
    const HANDLERS = {
      plotly_click(gd, name, { points }) {
        const items = points.map((point) => itemOf(name, gd, point));
        if (views[name].opens) { views[name].opens(items[0]); return; }
        const can = ({ trace, cell }) => !cell || isMeasured(mapOf(name, trace), cell);
        const clause = items.filter(can).map(clauseOf).find(Boolean);
        if (clause) link.toggle(clause);
      },
      plotly_selected(gd, name, event) {
        if (!event || !(event.range || event.lassoPoints)) return;
        boxed = name;
        link.select(outlined(gd, name, event));
      },
      plotly_deselect: () => link.select(""),
      plotly_hover(gd, name, { points, event }) {
        const item = itemOf(name, gd, points.find(({ z }) => z !== undefined) || points[0]);
        const lines = linesOf(item);
        if (lines) wattlas.card(lines, event);
      },
      plotly_unhover: wattlas.hideHover,
      plotly_doubleclick(gd, name) {
        if (views[name].reset) views[name].reset();
      },
      plotly_clickannotation(gd, name, { annotation }) {
        const [kind, number] = (annotation.name || "").split(" ");
        if (kind === "beyond") {
          wattlas.scale(gd, "fit");
          // The annotation goes from under the pointer, which then never leaves it.
          gd.querySelector(".hoverlayer").replaceChildren();
        }
        if (kind === "panel" && link.openPanel) link.openPanel(metaOf(name).panels[number]);
      },
      plotly_relayout(gd, name, change) {
        if (!Object.keys(change).some(isRange)) return;
        // The link has the zoom of some; a page that hears of a reset keeps it itself.
        if (hasZoom(name)) keepZoom(gd, name);
        else if (wattlas.ranges && !views[name].reset) wattlas.ranges.keep(gd.id, rangesOf(gd));
        if (views[name].drawn) views[name].drawn(gd);
      },
    };

    function listen(gd, name) {
      if (gd.wattlasLink === link) return;
      gd.wattlasLink = link;
      for (const [kind, handle] of Object.entries(HANDLERS)) gd.on(kind, (event) => handle(gd, name, event));
      gd.addEventListener("mouseleave", wattlas.hideHover);
      const fit = () => {
        const { width, height } = gd._fullLayout || {};
        const isSame = Math.abs(gd.clientWidth - width) < 1 && Math.abs(gd.clientHeight - height) < 1;
        if (!gd.isConnected || !gd.clientWidth || isSame) return;
        const isPlaced = wattlas.panels.isArranged(gd)
          && wattlas.titles.areFitted(gd, link.figures[name].layout);
        if (!isPlaced) draw(gd, name);
        // Plotly keeps the size of the first drawing, which of a hidden picture is none of the page's.
        wattlas.resizePlots([gd]);
      };
      new ResizeObserver(() => wattlas.nextFrame(fit)).observe(gd);
    }

    /** The clause of a box or a lasso in a picture: over its axes, else what its items hold. */
    function outlined(gd, name, { range, lassoPoints, points }) {
      const { fields } = metaOf(name);
      if (fields && lassoPoints) return wattlas.clause.lasso(fields, lassoPoints.x, lassoPoints.y);
      if (fields) return boxAsDrawn(gd, fields, range);
      const items = points.map((point) => itemOf(name, gd, point));
      const map = items.length && mapOf(name, items[0].trace);
      if (map) {
        const cells = [...new Map(items.map(({ cell }) => [String(cell), cell])).values()];
        const measured = cells.filter((cell) => isMeasured(map, cell));
        return measured.length ? cellsClause(map, measured) : "";
      }
      const can = items.filter(({ trace }) => of.isSelectable(trace));
      return can.length ? clauseAround(can) : "";
    }
    /* Of a figure of several subplots the items of one. */
    function clauseAround(items) {
      const [{ trace: { meta, xaxis } }] = items, own = items.filter(({ trace }) => trace.xaxis === xaxis);
      const rows = [...new Set(own.flatMap((item) => item.rows))], { knobs } = link.columns;
      if (meta.cells) return wattlas.clause.knobs(own.map(valuesOf));
      if (meta.box) return of.boxAround(link.columns, meta.box, rows);
      const varied = Object.keys(knobs).filter((key) => knobs[key].values.length > 1);
      return knobsClause(rows, varied.length ? varied : undefined);
    }
    /* Plotly rounds the range of a box to hundredths of a pixel, but selects points by the exact box. If the
       two differ at a point on the edge, the clause is the box around the points that Plotly selected. */
    function boxAsDrawn(gd, fields, range) {
      const clause = wattlas.clause.box(fields, range.x, range.y);
      const mask = wattlas.clause.evaluate(clause, link.columns);
      const rows = gd.data.filter(of.isSelectable)
        .flatMap((trace) => Array.from(trace.selectedpoints || [], (i) => of.of(trace, i)[0]));
      const count = mask ? mask.reduce((sum, value) => sum + value, 0) : 0;
      if (!rows.length || (rows.every((row) => mask[row]) && rows.length === count)) return clause;
      const ends = ["x", "y"].flatMap((axis) => of.endsOf(link.columns, fields[axis], rows));
      return ["box", fields.x, fields.y, ...ends].join("~");
    }

    /* ---- zoom: "reset axes" restores the first range, which a link with a zoom does not show */

    const home = (name) => {
      const { xaxis = {}, yaxis = {} } = link.figures[name].layout;
      return { xaxis: xaxis.range, yaxis: yaxis.range };
    };
    function setHome(gd, name) {
      for (const [axis, range] of Object.entries(home(name))) {
        if (range && hasZoom(name)) {
          [gd._fullLayout[axis]._rangeInitial0, gd._fullLayout[axis]._rangeInitial1] = range;
        }
      }
    }
    function keepZoom(gd, name) {
      const { xaxis, yaxis } = gd._fullLayout, at = home(name);
      const isHome = String(xaxis.range) === String(at.xaxis) && String(yaxis.range) === String(at.yaxis);
      const bounds = [...xaxis.range, ...yaxis.range].map((v) => Number(v).toPrecision(6) * 1);
      link.zoom = isHome ? "" : bounds.join("~");
      changed("zoom");
    }

    /* ---- keys: arrows step through the items of the picture that has the focus, Enter selects */

    /** Handle a key. Returns whether it had an action. */
    link.key = function ({ target, key }) {
      const name = target.dataset && nameOf(target.dataset.view), gd = name && link.plot(name);
      const isChoice = key === "Enter" || key === " ", step = STEPS[key] || [0, 0];
      if (!gd || (!STEPS[key] && !isChoice) || !link.columns) return false;
      const hasMap = metaOf(name).map || (metaOf(name).panels || []).some(({ map }) => map);
      const found = hasMap ? cellAtCursor(name, gd, step) : itemAtCursor(name, gd, step);
      if (!found) return false;
      const { item, at } = found, lines = linesOf(item);
      if (isChoice && views[name].opens) views[name].opens(item);
      else if (!isChoice && lines) wattlas.card(lines, at);
      else if (isChoice && clauseOf(item)) link.toggle(clauseOf(item));
      return true;
    };
    function cellAtCursor(name, gd, [right, up]) {
      const all = gd.data.filter((one) => wattlas.kindOf(one) === "cells");
      let [column, row, panel] = cursors[name] || [0, 0, 0];
      [column, row] = [column + right, row + up];
      // Beside the last column is the first one of the next panel.
      const width = (k) => mapOf(name, all[k]).xs.length;
      if (column >= width(panel) && panel + 1 < all.length) [column, panel] = [0, panel + 1];
      else if (column < 0 && panel > 0) [column, panel] = [width(panel - 1) - 1, panel - 1];
      const trace = all[panel], { xs, ys } = mapOf(name, trace);
      const cell = [wattlas.within(column, xs.length), wattlas.within(row, ys.length)];
      cursors[name] = [...cell, panel];
      const item = { name, gd, trace, i: [cell[1], cell[0]], rows: [], cell };
      return { item, at: wattlas.place(gd, ...cell, trace) };
    }
    /* In order of x where all items share the axes, else as they are drawn. */
    function itemAtCursor(name, gd, [right, up]) {
      if (!cursors[name]) {
        const all = gd.data.flatMap((trace, t) => (of.isSelectable(trace)
          ? Array.from({ length: of.countOf(trace) }, (_, i) => [t, i]) : []));
        const x = ([t, i]) => gd._fullData[t].x[i];
        const isOnePlane = gd.data.every(({ type, xaxis = "x" }) => /^scatter/.test(type) && xaxis === "x");
        cursors[name] = { all: isOnePlane ? all.sort((a, b) => x(a) - x(b)) : all, at: -1 };
      }
      const cursor = cursors[name];
      if (!cursor.all.length) return null;
      cursor.at = wattlas.within(cursor.at + right + up, cursor.all.length);
      const [t, i] = cursor.all[cursor.at], trace = gd.data[t], full = gd._fullData[t];
      const item = { name, gd, trace, i, rows: of.of(trace, i), cell: null };
      return { item, at: wattlas.place(gd, full.x[i], full.y[i], trace) };
    }

    return link;
  };
})((window.wattlas = window.wattlas || {}));
