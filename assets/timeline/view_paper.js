/* The figures for papers: in the light theme, with the runs in a legend and the window in the title. Pure. */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {});
  const SIDES_PX = 560, SIDES_WIDE_PX = 680;

  /** The panels. The scene's theme must be light. */
  timeline.panelsOnPaper = (scene) => withRuns(scene, timeline.figure(scene), "Timeline", () => "solid");

  /** All distributions in one picture. */
  timeline.distributionsOnPaper = function (scene) {
    const figure = timeline.distributions("timeline-distributions", scene, SIDES_PX);
    Object.assign(figure.layout, { height: SIDES_PX, width: SIDES_WIDE_PX });
    return withRuns(scene, figure, "Distributions", (k) => timeline.dash(scene.state.hues[k]));
  };

  function withRuns(scene, { data, layout }, what, dashOf) {
    const { runs, from_x: from, to_x: to } = scene.answer;
    const keys = runs.map((run, k) => ({
      type: "scatter", mode: "lines", x: [null], y: [null], showlegend: true,
      name: timeline.letter(k) + " \u2013 " + wattlas.plotText(run.label || run.run_id),
      line: { width: 2, color: timeline.shade(scene, k), dash: dashOf(k) },
    }));
    const [begin, end] = [from, to].map((at) => timeline.placeWords(scene, at, to - from));
    const span = begin + " to " + end;
    return { data: [...data, ...keys], layout: { ...layout, title: { text: what + ", " + span } } };
  }
})((window.wattlas = window.wattlas || {}));
