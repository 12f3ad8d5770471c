/* Beside the timeline: distributions of the window, its totals, what went wrong, the figure for paper. */
(function (wattlas) {
  "use strict";

  const timeline = wattlas.timeline, { page } = timeline;
  const PER_DECADE = 24, MOST_TICKS = 7, SIDES_PX = 560, SIDES_WIDE_PX = 680, MARGIN = { l: 44, r: 10, t: 22, b: 34 };
  const words = { us: (v) => (v >= 1e6 ? v / 1e6 + " s" : v >= 1e3 ? v / 1e3 + " ms" : v >= 1 ? v + " us" : v * 1e3 + " ns"), bytes: (v) => (v >= 1e6 ? v / 1e6 + " MB" : v >= 1e3 ? v / 1e3 + " kB" : v + " B") };

  /**
   * Shares of the values in equal steps of the logarithm, as a line of steps.
   * A bin of the server that reaches over several steps is shared out among them by its logarithmic length;
   * zeros have no place on the axis and are only counted.
   */
  timeline.shares = function ({ lo, hi, count }) {
    const step = (v) => Math.log10(v) * PER_DECADE, found = new Map();
    let total = 0, zeros = 0;
    for (let i = 0; i < count.length; i++) {
      total += count[i];
      if (!(lo[i] > 0)) { zeros += count[i]; continue; }
      const a = step(lo[i]), b = Math.max(step(hi[i]), a + 1e-9);
      for (let s = Math.floor(a); s < b; s++) found.set(s, (found.get(s) || 0) + (count[i] * (Math.min(b, s + 1) - Math.max(a, s))) / (b - a));
    }
    const x = [], y = [];
    let last = null;
    for (const s of [...found.keys()].sort((p, q) => p - q)) {
      const edge = (k) => Math.pow(10, k / PER_DECADE);
      if (last === null) { x.push(edge(s)); y.push(0); }
      else if (s > last + 1) { x.push(edge(last + 1), edge(s)); y.push(0, 0); }
      x.push(edge(s), edge(s + 1));
      y.push((100 * found.get(s)) / total, (100 * found.get(s)) / total);
      last = s;
    }
    if (last !== null) { x.push(x[x.length - 1]); y.push(0); }
    return { x, y, total, zeros };
  };

  const PICTURES = {
    "timeline-gaps": [["gap", "Time between interrupts", "us"]],
    "timeline-sizes": [["rx_bytes", "Received bytes an interrupt", "bytes"], ["tx_bytes", "Sent bytes an interrupt", "bytes"]],
  };

  PICTURES["timeline-distributions"] = [...PICTURES["timeline-gaps"], ...PICTURES["timeline-sizes"]];

  /** One of the pictures of distributions; times and sizes on a logarithmic axis. */
  timeline.side = function (id, scene, heightPx) {
    const c = wattlas.palette(scene.theme), parts = PICTURES[id], data = [], shapes = [], annotations = [], axes = {};
    const behind = scene.theme === "dark" ? "rgba(22,25,29,0.8)" : "rgba(255,255,255,0.8)";
    const inner = Math.max(heightPx - MARGIN.t - MARGIN.b, 40), tall = (inner - 40 * (parts.length - 1)) / parts.length;
    parts.forEach(([quantity, title, unit], p) => {
      const n = p ? p + 1 : "", top = 1 - (p * (tall + 40)) / inner;
      const common = { gridcolor: c.grid, linecolor: c.line, zeroline: false, tickfont: { size: 10 } };
      axes["yaxis" + n] = { ...common, domain: [Math.max(0, top - tall / inner), top], anchor: "x" + n, rangemode: "tozero", nticks: 4, ticksuffix: " %" };
      const heading = { text: "<b>" + title + "</b>", xref: "paper", yref: "paper", x: 0, y: top, xanchor: "left", yanchor: "bottom", showarrow: false, font: { size: 11 } }, none = [], delays = new Map(), ends = [];
      annotations.push(heading);
      scene.answer.runs.forEach((run, k) => {
        const hist = !run.problem && run.hist && run.hist[quantity];
        if (!hist) return;
        const { x, y, total, zeros } = timeline.shares(hist), color = timeline.shade(scene, k, 0, 1);
        if (x.length) ends.push(x[0], x[x.length - 1]);
        data.push({ type: "scatter", mode: "lines", x, y, xaxis: "x" + n, yaxis: "y" + n, hoverinfo: "skip", line: { width: 1.4, color, dash: timeline.dash(scene.state.hues[k]) }, meta: { kind: "shares", quantity, run: run.run_id, total, zeros } });
        if (zeros) none.push("<span style='color:" + timeline.ink(scene, k) + "'>" + timeline.letter(k) + " " + ((100 * zeros) / total).toFixed(0) + " %" + "</span>");
        if (hist.itr_us > 0) delays.set(hist.itr_us, [...(delays.get(hist.itr_us) || []), k]);
      });
      [...delays].forEach(([delay, runs], i) => {
        const color = timeline.ink(scene, runs[0]), at = { xref: "x" + n, yref: "y" + n + " domain" };
        shapes.push({ ...at, type: "line", x0: delay, x1: delay, y0: 0, y1: 1, line: { width: 1, dash: "dot", color } });
        annotations.push({ ...at, text: runs.map(timeline.letter).join(" ") + " ITR " + delay + " us", x: Math.log10(delay), y: 1 - 0.13 * i, xanchor: "left", yanchor: "top", xshift: 2, showarrow: false, font: { size: 10, color }, bgcolor: behind, borderpad: 0 });
      });
      axes["xaxis" + n] = { ...common, type: "log", anchor: "y" + n, ...timeline.logTicks(...(ends.length ? [Math.min(...ends), Math.max(...ends)] : [1, 10]), MOST_TICKS, words[unit]) };
      if (none.length) annotations.push({ ...heading, text: "none: " + none.join(", "), x: 1, xanchor: "right", yanchor: none.length > 2 ? "top" : "bottom", font: { size: 10 }, bgcolor: behind, borderpad: 0 });
    });
    return { data, layout: { ...axes, shapes, annotations, margin: MARGIN, showlegend: false, hovermode: false, font: { family: timeline.FONT, size: 11, color: c.text }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", meta: { kind: "distribution", parts } } };
  };

  /* ---- words */

  function line(text, className) {
    const box = document.createElement("div");
    box.textContent = text;
    if (className) box.className = className;
    return box;
  }

  /** Put other children into a box; the focus stays at the button with the same `data-keep`. */
  timeline.refill = function (box, children) {
    const active = document.activeElement, key = box.contains(active) ? active.dataset.keep || "" : null;
    box.replaceChildren(...children);
    if (key === null) return;
    const again = box.querySelector('[data-keep="' + CSS.escape(key) + '"]:not(:disabled)') || box.querySelector("button:not(:disabled)");
    if (again) again.focus();
  };

  function tellLimits(scene) {
    const box = document.getElementById("timeline-limits");
    box.replaceChildren(...scene.answer.runs.map((run, k) => {
      const at = !run.problem && run.hist && run.hist.gap && run.hist.gap.at_limit;
      if (!at) return null;
      const told = line(timeline.letter(k) + ": " + at.text + " of gaps at the ITR limit (" + wattlas.formatQuantity(at.lo_us, "us") + " to " + wattlas.formatQuantity(at.hi_us, "us") + ")");
      told.title = at.count.toLocaleString("en") + " of " + at.of.toLocaleString("en") + " gaps: the interrupts were held back until the delay had passed";
      told.style.color = timeline.ink(scene, k);
      return told;
    }).filter(Boolean));
  }

  let complaint = "";
  /** One sentence about the question as a whole; empty takes it back. */
  timeline.complain = function (sentence) {
    complaint = sentence || "";
    if (complaint || !page.answer) tell([]);
  };

  function tell(lines) {
    const box = document.getElementById("timeline-problems");
    if (box) box.replaceChildren(...(complaint ? [line(complaint)] : []), ...lines);
  }

  /** What could not be drawn, run by run, and what was clipped; the rest of the page works. */
  timeline.tellProblems = function (scene) {
    const lines = [], clipped = new Map(), isWhole = scene.state.from === null && scene.state.to === null;
    const note = (sentence, k) => clipped.set(sentence, [...(clipped.get(sentence) || []), timeline.letter(k)]);
    scene.answer.runs.forEach((run, k) => {
      if (run.outside) note(run.problem, k);
      else if (run.problem) lines.push(withOthers(timeline.letter(k) + ": " + run.problem, page.infos[k]));
      else if (run.window.clipped && !isWhole) note(run.window.clipped, k);
    });
    const words = [page.clipped, ...[...clipped].map(([sentence, letters]) => letters.join(" ") + ": " + sentence)].filter(Boolean).join(" \u00b7 ");
    tell(words ? [...lines, line(words, "quiet")] : lines);
    tellLimits(scene);
  };

  function withOthers(sentence, info) {
    const told = line(sentence);
    ((info && info.others) || []).slice(0, 4).forEach((other) => {
      const button = document.createElement("button");
      button.className = "plain";
      button.textContent = "show " + other.label;
      button.addEventListener("click", () => timeline.replaceRun(info.run_id, other.run_id));
      told.append(" ", button);
    });
    if (info && !info.has_log) {
      const button = document.createElement("button");
      button.className = "plain";
      button.textContent = info.known ? "runs that have one\u2026" : "runs of the lake\u2026";
      button.dataset.offer = info.run_id;
      told.append(" ", button);
    }
    return told;
  }
  timeline.replaceRun = async function (id, other) {
    timeline.removeRun(id);
    await timeline.addRun(other);
  };

  /* ---- totals */

  function cell(tag, text, className) {
    const box = document.createElement(tag);
    box.textContent = text;
    if (className) box.className = className;
    return box;
  }
  const scoped = (box, scope) => { box.scope = scope; return box; };
  const row = (...cells) => { const box = document.createElement("tr"); box.append(...cells); return box; };

  /** The run that the others are compared with: the one chosen, or the one that the server took because that has no totals. */
  const baseOf = ({ answer, state }) => (answer.totals.length ? answer.totals[0].base : state.base);

  /** The run that is compared with the reference: the one chosen, else the first other; -1 for none. */
  function otherOf(scene) {
    const base = baseOf(scene), drawn = scene.answer.runs.map((_, k) => k).filter((k) => k !== base && !scene.answer.runs[k].problem);
    return drawn.includes(scene.state.other) ? scene.state.other : drawn.length ? drawn[0] : -1;
  }

  /** Take differences against another run; where that was the one compared, the two change places. */
  timeline.setBase = function (k) {
    const { base, other } = page.state;
    timeline.set({ base: k, other: other === k ? base : other });
    timeline.fillRuns();
  };
  /** Show the difference of another run to the reference. */
  timeline.setOther = function (k) {
    page.state.other = k;
    timeline.fillTotals(timeline.scene());
    timeline.writeUrl();
  };

  /** Totals of the window: a column a run, then one run against the reference. */
  timeline.fillTotals = function (scene) {
    const box = document.getElementById("timeline-totals");
    if (!scene || !scene.answer) { box.replaceChildren(); return; }
    const base = baseOf(scene), other = otherOf(scene), table = document.createElement("table");
    table.className = "totals";
    const head = row(cell("td", "")), order = columnsOf(scene, base, other);
    order.forEach((k) => {
      if (k < 0) { head.append(scoped(cell("th", timeline.letter(other) + " \u2212 " + timeline.letter(base), "difference"), "col")); return; }
      const run = scene.answer.runs[k];
      const heading = scoped(cell("th", ""), "col");
      const button = cell("button", timeline.letter(k) + (k === base ? " ref" : ""), "plain");
      button.title = run.label + (k === base ? "" : ": compare it with the reference");
      button.style.borderColor = timeline.shade(scene, k, 0, 1);
      button.setAttribute("aria-pressed", String(k === other));
      button.dataset.keep = "other " + run.run_id;
      button.disabled = k === base;
      button.addEventListener("click", () => timeline.setOther(k));
      heading.append(button);
      head.append(heading);
    });
    const thead = document.createElement("thead"), body = document.createElement("tbody");
    thead.append(head);
    scene.answer.totals.forEach((total) => body.append(totalRow(total, other, order)));
    table.append(thead, body);
    timeline.refill(box, [table]);
  };

  /* The two that are compared and their difference (-1) first, then the other runs. */
  function columnsOf(scene, base, other) {
    const all = scene.answer.runs.map((_, k) => k);
    if (other < 0) return all;
    return [base, other, -1, ...all.filter((k) => k !== other && k !== base)];
  }

  function totalRow(total, other, order) {
    const change = other >= 0 && total.differences[other];
    const isBetter = change && change.value && total.better ? (change.value < 0) === (total.better === "less") : null;
    const className = "number difference" + (isBetter === null ? "" : isBetter ? " good" : " bad");
    const difference = cell("td", change ? change.text : "\u2013", className);
    if (change && change.percent_text) difference.append(line(change.percent_text));
    const heading = scoped(cell("th", total.title), "row");
    if (total.note) heading.title = total.note;
    return row(heading, ...order.map((k) => (k < 0 ? difference : cell("td", total.texts[k], "number"))));
  }

  /* ---- paper */

  /** The figure as it leaves the page: light, with the runs and the window in words. */
  timeline.onPaper = () => withRuns(timeline.figure(timeline.scene("light")), () => "solid");
  /** All distributions as they leave the page, in one picture. */
  timeline.sidesOnPaper = function () {
    const figure = timeline.side("timeline-distributions", timeline.scene("light"), SIDES_PX);
    return withRuns({ ...figure, layout: { ...figure.layout, height: SIDES_PX, width: SIDES_WIDE_PX } }, (k) => timeline.dash(page.state.hues[k]));
  };
  function withRuns(figure, dashOf) {
    const scene = timeline.scene("light"), extra = 16 * scene.answer.runs.length + 8;
    const [from, to] = [scene.answer.from_s, scene.answer.to_s];
    const { margin, height, annotations, shapes } = figure.layout, inner = height - margin.t - margin.b;
    const count = scene.answer.runs.length, at = (line) => 1 + (margin.t + 2 + 16 * (count - 1 - line)) / inner;
    const legend = scene.answer.runs.map((run, k) => ({
      text: "<b>" + timeline.letter(k) + "</b> \u2013 " + (run.label || run.run_id), font: { size: 11, color: timeline.ink(scene, k) },
      xref: "paper", yref: "paper", x: 0, xshift: 34, xanchor: "left", y: at(k), yanchor: "bottom", showarrow: false,
    }));
    const lines = scene.answer.runs.map((run, k) => ({
      type: "line", xref: "paper", yref: "paper", xsizemode: "pixel", xanchor: 0, x0: 0, x1: 28, ysizemode: "pixel", yanchor: at(k), y0: 8, y1: 8,
      line: { width: 2, color: timeline.shade(scene, k, 0, 1), dash: dashOf(k) },
    }));
    legend.push({ text: timeline.timeWords(from, to - from) + " to " + timeline.timeWords(to, to - from), font: { size: 11 }, xref: "paper", yref: "paper", x: 1, xanchor: "right", y: at(0), yanchor: "bottom", showarrow: false });
    figure.layout = { ...figure.layout, height: height + extra, margin: { ...margin, t: margin.t + extra }, annotations: [...annotations, ...legend], shapes: [...shapes, ...lines] };
    return figure;
  }
})(window.wattlas);
