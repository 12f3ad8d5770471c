/*
 * Where the compared run differs from the reference: a lane under the panels, and a list. The server has
 * divided the difference in each window by its noise between windows (data/analysis/window_differences.py).
 */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {}), { element, svg } = wattlas;
  const HEIGHT = 30, NOTABLE = 4;
  const OF_RUNS = "Noise from window to window in these two runs, not between replicates: whether their " +
    "settings differ, Findings says.";

  /** `+12 ×`: how many times the noise. */
  function unitWords(units) {
    const size = Math.abs(units), digits = size < 10 ? 1 : 0;
    return (units < 0 ? "\u2212" : "+") + (size > 999 ? "over 999" : size.toFixed(digits)) + " \u00d7";
  }
  const zoom = (from, to) => ({ data: { zoomFrom: String(from), zoomTo: String(to) } });

  /* Half the lane's height for more, half for less; the root shows small ones beside large ones. */
  function bars(scene, { titles, largest, series }, at) {
    const { edges } = scene.answer.differences;
    const middle = HEIGHT / 2, xOf = (t) => at.left + (at.width * (t - at.from)) / (at.to - at.from);
    const most = Math.max(NOTABLE, ...[...largest].filter((units) => !isNaN(units)).map(Math.abs));
    const span = 20 * (edges[1] - edges[0]);
    return [...largest].flatMap((units, i) => {
      const [a, b] = [Math.max(xOf(edges[i]), at.left), Math.min(xOf(edges[i + 1]), at.left + at.width)];
      if (isNaN(units) || b <= a) return [];
      const high = Math.max(Math.sqrt(Math.abs(units) / most) * (middle - 1), 0.5);
      const words = titles[series[i]] + ": " + unitWords(units) + " noise, " +
        timeline.placeWords(scene, edges[i], span) + " to " + timeline.placeWords(scene, edges[i + 1], span);
      return [svg("rect", {
        x: a, width: Math.max(b - a - 0.5, 0.5), y: units > 0 ? middle - high : middle, height: high,
        class: Math.abs(units) >= NOTABLE ? "notable" : "", "data-zoom-from": edges[i],
        "data-zoom-to": edges[i + 1],
      }, svg("title", {}, words))];
    });
  }

  /**
   * The lane and the list as elements; none where nothing is compared.
   *   at: where the panels are: left, width (pixels), from, to (on the x axis).
   */
  timeline.differences = function (scene, at) {
    const { differences } = scene.answer, other = differences ? timeline.comparedRun(scene) : -1;
    const found = other >= 0 && differences.runs[other];
    if (!found || !found.largest) return [];
    const pair = timeline.letter(other) + " \u2212 " + timeline.letter(timeline.baseRun(scene));
    const lane = svg("svg", { height: HEIGHT, width: at.left + at.width, class: "lane", role: "img",
      "aria-label": "difference " + pair + " by window, in units of the noise between windows" },
      svg("text", { x: at.left - 6, y: HEIGHT / 2 + 4, "text-anchor": "end" }, pair),
      svg("line", { x1: at.left, x2: at.left + at.width, y1: HEIGHT / 2, y2: HEIGHT / 2 }),
      ...bars(scene, found, at));
    const always = found.throughout.map((one) => one.title + " " + unitWords(one.units));
    const buttons = found.list.map((one) => {
      const span = 20 * (one.to_x - one.from_x);
      const [a, b] = [one.from_x, one.to_x].map((x) => timeline.placeWords(scene, x, span));
      return element("button", {
        className: "plain", ...zoom(one.from_x, one.to_x),
        title: "zoom to it" + (one.beside ? "; more or less than the median difference" : ""),
      }, one.title + " " + unitWords(one.units) + " \u00b7 " + a + " to " + b);
    });
    const heads = [
      always.length ? pair + " throughout, in units of the noise between windows: " + always.join(", ") : "",
      buttons.length ? (always.length ? "beside that:"
        : pair + " in units of the noise between windows:") : "",
    ].filter(Boolean);
    const words = heads.join("; ") ||
      pair + ": no window differs by 4 times the noise between windows";
    const [head, note] = [words, OF_RUNS].map((text) => element("span", { className: "quiet" }, text));
    return [lane, element("div", { className: "lane-list small" }, head, ...buttons, note)];
  };

  document.addEventListener("click", (event) => {
    const place = wattlas.closest(event, ".lane-box [data-zoom-from]");
    if (place) timeline.look(Number(place.dataset.zoomFrom), Number(place.dataset.zoomTo));
  });
})((window.wattlas = window.wattlas || {}));
