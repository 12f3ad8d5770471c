/* One selection for all figures of Modes: hover, click and keys, with Dash and in an export. */
(function (wattlas) {
  "use strict";

  /* onSelect is called after the selection has changed. */
  const view = { figures: {}, data: null, sel: "", theme: "light", onSelect() {} };

  /** Change the selection and show it in all figures. */
  function select(sel) {
    if (sel === view.sel) return;
    view.sel = sel;
    if (view.data) wattlas.modesFigures.paint(view.figures, view.data, sel, view.theme);
    announce();
    view.onSelect(sel);
  }
  const toggle = (sel) => select(sel === view.sel ? "" : sel);

  /** Write the selection into the status line. */
  function announce() {
    const status = document.getElementById("status-selection");
    const clear = document.getElementById("clear-selection");
    if (!status || !clear) return;
    status.textContent = wattlas.cells.words(view.data, view.sel);
    clear.hidden = !view.sel;
  }

  const cellAt = (point) => view.data.at.get(Math.round(point.x) + "," + Math.round(point.y));

  /** The clause that a click on a point selects; empty for none. */
  function clauseAt(id, point) {
    const { data } = view;
    if (!data || !point) return "";
    if (id === "shares") return point.customdata || "";
    const places = { winners: () => cellAt(point), pareto: () => data.contenders.cell[point.customdata] };
    const i = places[id] ? places[id]() : undefined;
    return i === undefined ? "" : wattlas.cells.clauseOf(data, i);
  }

  const LINES = {
    winners(point) {
      const i = cellAt(point);
      return i === undefined ? null : wattlas.cells.cellLines(view.data, i);
    },
    pareto(point) {
      if (point.customdata === undefined) return null;
      const title = wattlas.shownText(wattlas.plot("pareto").layout.xaxis.title.text);
      const against = title + ": " + Number(point.x.toPrecision(4));
      return wattlas.cells.contenderLines(view.data, point.customdata, against);
    },
    shares: (point) => [wattlas.shownText(point.data.name), point.data.text[0], "click: these cells"],
    evidence(point) {
      const quantity = (value) => wattlas.formatQuantity(value, view.data.metric.unit);
      const above = point["error_y.array"], below = point["error_y.arrayminus"];
      const { name, meta } = point.data;
      if (meta.kind !== "means") return [quantity(point.y), name, String(point.customdata)];
      const ends = [point.y - below, point.y + above].map(quantity).join(", ");
      const words = above > 0 ? "95 % confidence interval [" + ends + "]" : "one run: no interval";
      return ["mean " + quantity(point.y), words];
    },
  };
  const linesAt = (id, point) => (view.data && LINES[id] ? LINES[id](point) : null);

  /** Handle the events of a figure; a map is fitted to its part in view after each drawing. */
  function own(id) {
    wattlas.ownPlot(id, {
      handlers: {
        plotly_click(gd, event) {
          const sel = clauseAt(id, event.points[0]);
          if (sel) toggle(sel);
        },
      },
      hover: (gd, event) => linesAt(id, event.points[0]),
      drawn: (gd) => { if (id === "winners") wattlas.modesFigures.fit(gd, view.data, view.theme); },
    });
  }

  /* The keyboard cursor: arrows go from cell to cell, bar to bar, point to point; Enter selects. */
  const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const cursor = { winners: [0, 0], shares: 0, pareto: 0 }, { within } = wattlas;

  const CURSORS = {
    winners(gd, step) {
      const { x, y } = view.data, counts = [x.values.length, y.values.length];
      cursor.winners = cursor.winners.map((at, axis) => within(at + step[axis], counts[axis]));
      const [column, row] = cursor.winners;
      const empty = [x.words[column] + " \u00b7 " + y.words[row], "not measured"];
      return { point: { x: column, y: row }, place: wattlas.place(gd, column, row), empty };
    },
    shares(gd, step) {
      cursor.shares = within(cursor.shares - step[1] + step[0], gd.data.length);
      const bar = gd.data[cursor.shares], { xaxis, yaxis } = gd._fullLayout;
      const box = gd.getBoundingClientRect(), y = yaxis._offset + yaxis.l2p(yaxis.d2c(bar.y[0]));
      const place = { clientX: box.left + xaxis._offset + 20, clientY: box.top + y };
      return { point: { customdata: bar.customdata[0], data: bar }, place };
    },
    pareto(gd, step) {
      const read = (values) => Array.from(values.bdata ? wattlas.decode(values) : values);
      const points = view.figures.pareto.data.filter((t) => t.meta.kind === "points").flatMap((t) => {
        const [xs, ys, rows] = [t.x, t.y, t.customdata].map(read);
        return xs.map((x, i) => ({ x, y: ys[i], customdata: rows[i] }));
      }).sort((a, b) => a.x - b.x || a.y - b.y);
      cursor.pareto = within(cursor.pareto + step[0] + step[1], points.length);
      const point = points[cursor.pareto];
      return { point, place: wattlas.place(gd, point.x, point.y) };
    },
  };

  /** Move the focused figure's cursor, or select the point at it. Returns whether the key had an action. */
  function press({ target: panel, key }) {
    const id = panel.dataset && panel.dataset.view, isSelect = key === "Enter" || key === " ";
    if ((!STEPS[key] && !isSelect) || !view.data || !CURSORS[id] || !view.figures[id]) return false;
    const gd = wattlas.plot(id);
    if (!gd) return false;
    const { point, place, empty } = CURSORS[id](gd, STEPS[key] || [0, 0]);
    const sel = clauseAt(id, point);
    if (!isSelect) wattlas.card(linesAt(id, point) || empty, place);
    else if (sel) toggle(sel);
    return true;
  }

  wattlas.modes = { view, select, announce, own, key: press, clear: () => select("") };
})((window.wattlas = window.wattlas || {}));
