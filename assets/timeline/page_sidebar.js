/* The timeline's rail: the runs with their colours, the picker that adds some, the cores. */
(function (wattlas) {
  "use strict";

  const timeline = wattlas.timeline, { page } = timeline;

  function element(tag, attributes, ...children) {
    const box = document.createElement(tag);
    Object.entries(attributes || {}).forEach(([name, value]) => { if (value !== null) box.setAttribute(name, value); });
    box.append(...children);
    return box;
  }

  const DASHES = { solid: "", dash: "7 4", dot: "2 3", dashdot: "7 3 2 3", longdash: "11 5", longdashdot: "11 4 2 4" };
  function swatch(k) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    svg.setAttribute("class", "run-line");
    svg.setAttribute("viewBox", "0 0 30 10");
    svg.setAttribute("aria-hidden", "true");
    path.setAttribute("d", "M0 5H30");
    path.setAttribute("stroke", timeline.shade({ hues: page.hues, state: page.state, theme: wattlas.theme() }, k, 0, 1));
    path.setAttribute("stroke-width", "3");
    path.setAttribute("stroke-dasharray", DASHES[timeline.dash(page.state.hues[k])]);
    svg.append(path);
    return svg;
  }

  /** The runs that are drawn, each with its letter, line, configuration and what can be done. */
  timeline.fillRuns = function () {
    const box = document.getElementById("timeline-runs");
    if (!box || !page.state) return;
    timeline.refill(box, page.state.runs.map((id, k) => {
      const info = page.infos[k], isBase = k === page.state.base, letter = timeline.letter(k);
      const tag = element("button", { class: "plain base", "data-base": k, "data-keep": "base " + id, "aria-pressed": String(isBase), title: isBase ? "differences are taken against this run" : "take differences against this run" }, isBase ? "reference" : "ref");
      const gone = element("button", { class: "plain", "data-remove": id, "aria-label": "remove run " + letter, title: "remove" }, "\u00d7");
      const label = element("div", { class: "run-label", title: id }, info.label || id);
      return element("li", { class: "run", "data-run": id }, element("b", {}, letter), swatch(k), element("span", { class: "spring" }), tag, gone, label);
    }));
    const full = page.state.runs.length >= page.start.most, add = document.getElementById("timeline-add");
    add.disabled = full;
    add.textContent = full ? page.start.most + " runs are the most" : "add a run\u2026";
    fillCores();
  };

  const freeHue = () => [0, 1, 2, 3, 4, 5].find((hue) => !page.state.hues.includes(hue));

  async function describe(ids) {
    const query = [...ids.map((id) => ["runs", id]), ["lake", page.start.shown]];
    return (await wattlas.fetch("timeline/runs?" + new URLSearchParams(query))).json();
  }
  /** Show one more run; the first of all comes with the run to compare it with. */
  timeline.addRun = async function (id) {
    const { state } = page, fits = (run) => !state.runs.includes(run) && state.runs.length < page.start.most;
    if (!fits(id)) return;
    try {
      let answer = await describe([id]);
      if (!answer.error && !state.runs.length && answer.reference && answer.reference !== id) answer = await describe([answer.reference, id]);
      if (answer.error) { timeline.complain(answer.error); return; }
      for (const info of answer.runs) {
        if (!fits(info.run_id)) continue;
        page.infos.push(info);
        timeline.set({ runs: [...state.runs, info.run_id], hues: [...state.hues, freeHue()] });
      }
    } catch (error) {
      timeline.complain("The server did not answer (" + error.message + ").");
    }
    timeline.fillRuns();
  };
  timeline.removeRun = function (id) {
    const { state } = page, k = state.runs.indexOf(id);
    if (k < 0) return;
    const without = (list) => list.filter((_, i) => i !== k);
    page.infos = without(page.infos);
    const moved = (place, gone) => (place === null || k > place ? place : k === place ? gone : place - 1);
    const base = moved(state.base, 0), other = moved(state.other, null);
    timeline.set({ runs: without(state.runs), hues: without(state.hues), base, other: other === base ? null : other });
    timeline.fillRuns();
  };

  /* ---- cores */

  const cores = () => [...new Set(page.infos.flatMap((info) => info.cores || []))].sort((a, b) => a - b);

  /** Read `0,2,5-7`; null where that is no list of cores of these runs. */
  timeline.readCores = function (text) {
    const known = cores(), found = new Set();
    for (const part of String(text || "").split(",").map((p) => p.trim()).filter(Boolean)) {
      const range = /^(\d+)(?:-(\d+))?$/.exec(part);
      if (!range) return say(part + " is no core: write 0,2,5-7");
      const [a, b] = [Number(range[1]), Number(range[2] || range[1])];
      if (b < a || b > 4095) return say(part + " is no range of cores");
      for (let core = a; core <= b; core++) found.add(core);
    }
    const unknown = [...found].filter((core) => !known.includes(core));
    if (unknown.length) return say("no run here has core " + unknown.slice(0, 5).join(", "));
    if (found.size > page.start.most_cores) return say(found.size + " cores: " + page.start.most_cores + " lines are the most");
    say("");
    return found.size ? [...found].sort((a, b) => a - b).join(",") : "all";
  };
  function say(sentence) {
    document.getElementById("timeline-cores-words").textContent = sentence;
    return null;
  }
  function fillCores() {
    const known = cores(), box = document.getElementById("timeline-cores-words");
    if (box && !box.textContent) box.title = "cores " + known.join(", ");
  }

  /** Take a core of the heatmap into the panels, or out again. */
  timeline.toggleCore = function (name) {
    const core = /^core (\d+)$/.exec(name);
    if (!core) return;
    const now = /^[\d,]+$/.test(page.state.cores) ? page.state.cores.split(",") : [];
    const next = now.includes(core[1]) ? now.filter((c) => c !== core[1]) : [...now, core[1]];
    if (next.length > page.start.most_cores) return;
    wattlas.setProps("timeline-cores-list", { value: next.sort((a, b) => a - b).join(",") });
    wattlas.setProps("timeline-cores", { value: next.length ? "chosen" : "all" });
  };

  /* ---- the picker */

  let offered = null, pickTimer = 0, asked = 0;
  async function offer() {
    const mine = (asked += 1), box = document.getElementById("timeline-choices"), words = document.getElementById("timeline-choices-words");
    const query = new URLSearchParams({ q: document.getElementById("timeline-search").value, near: page.state.runs[0] || "", lake: page.start.shown });
    try {
      const answer = await (await wattlas.fetch("timeline/choices?" + query)).json();
      if (mine !== asked) return;
      if (answer.error) { words.textContent = answer.error; return; }
      offered = answer.runs;
      const cut = answer.total > offered.length ? "the first " + offered.length + " of " + answer.total.toLocaleString("en") + " runs with a per-interrupt log: type words to narrow" : answer.total.toLocaleString("en") + (answer.total === 1 ? " run" : " runs") + " with a per-interrupt log";
      words.textContent = cut;
      box.replaceChildren(...choiceRows());
    } catch (error) {
      words.textContent = "The server did not answer (" + error.message + ").";
    }
  }
  function choiceRows() {
    let subject = null;
    return offered.flatMap((run) => {
      const isIn = page.state.runs.includes(run.run_id), isFull = page.state.runs.length >= page.start.most;
      const button = element("button", { class: "choice", role: "option", "aria-selected": String(isIn), "data-pick": run.run_id, title: run.run_id }, (isIn ? "\u2713 " : "+ ") + run.label, element("span", { class: "quiet" }, run.note));
      button.disabled = isFull && !isIn;
      const head = run.subject === subject ? [] : [element("div", { class: "choice-subject" }, run.subject)];
      subject = run.subject;
      return [...head, button];
    });
  }

  document.addEventListener("click", async (event) => {
    const target = event.target.closest ? event.target.closest("button") : null;
    if (!target) return;
    if (target.id === "timeline-add" || target.dataset.offer) {
      document.getElementById("timeline-picker").showModal();
      document.getElementById("timeline-search").focus();
      offer();
    } else if (target.id === "timeline-picked") document.getElementById("timeline-picker").close();
    else if (target.dataset.remove) timeline.removeRun(target.dataset.remove);
    else if (target.dataset.base && target.closest("#timeline-runs")) timeline.setBase(Number(target.dataset.base));
    else if (target.dataset.pick) {
      const id = target.dataset.pick;
      if (page.state.runs.includes(id)) timeline.removeRun(id); else await timeline.addRun(id);
      document.getElementById("timeline-choices").replaceChildren(...choiceRows());
      const again = document.querySelector('[data-pick="' + CSS.escape(id) + '"]');
      if (again) again.focus();
    }
  });
  document.addEventListener("input", (event) => {
    if (event.target.id !== "timeline-search") return;
    wattlas.cancel(pickTimer);
    pickTimer = wattlas.later(offer, 120);
  });
  document.addEventListener("keydown", (event) => {
    const dialog = event.target.closest && event.target.closest("#timeline-picker");
    if (!dialog || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    const all = [...dialog.querySelectorAll(".choice:not(:disabled)")], i = all.indexOf(document.activeElement);
    const next = all[Math.max(0, i + (event.key === "ArrowDown" ? 1 : -1))];
    if (next) next.focus();
  });
})(window.wattlas);
