/* The figures for papers: in the light theme, with the runs and the window as text above them. Pure. */
(function (wattlas) {
  "use strict";

  const timeline = (wattlas.timeline = wattlas.timeline || {});
  const LINE_PX = 16, SIDES_PX = 560, SIDES_WIDE_PX = 680;

  /** The panels. The scene's theme must be light. */
  timeline.panelsOnPaper = (scene) => withRuns(scene, timeline.figure(scene), () => "solid");

  /** All distributions in one picture. */
  timeline.distributionsOnPaper = function (scene) {
    const figure = timeline.distributions("timeline-distributions", scene, SIDES_PX);
    Object.assign(figure.layout, { height: SIDES_PX, width: SIDES_WIDE_PX });
    return withRuns(scene, figure, (k) => timeline.dash(scene.state.hues[k]));
  };

  function withRuns(scene, { data, layout }, dashOf) {
    const { runs, from_s: from, to_s: to } = scene.answer, { margin, height } = layout;
    const extra = LINE_PX * runs.length + 8, inner = height - margin.t - margin.b;
    const at = (k) => 1 + (margin.t + 2 + LINE_PX * (runs.length - 1 - k)) / inner;
    const onPaper = { xref: "paper", yref: "paper" };
    const text = { ...onPaper, yanchor: "bottom", showarrow: false };
    const names = runs.map((run, k) => ({
      ...text, text: "<b>" + timeline.letter(k) + "</b> \u2013 " + wattlas.plotText(run.label || run.run_id),
      x: 0, xshift: 34, xanchor: "left", y: at(k), font: { size: 11, color: timeline.textColor(scene, k) },
    }));
    const lines = runs.map((run, k) => ({
      ...onPaper, type: "line", xsizemode: "pixel", xanchor: 0, x0: 0, x1: 28,
      ysizemode: "pixel", yanchor: at(k), y0: 8, y1: 8,
      line: { width: 2, color: timeline.shade(scene, k), dash: dashOf(k) },
    }));
    const span = timeline.timeWords(from, to - from) + " to " + timeline.timeWords(to, to - from);
    names.push({ ...text, text: span, font: { size: 11 }, x: 1, xanchor: "right", y: at(0) });
    const more = {
      height: height + extra, margin: { ...margin, t: margin.t + extra },
      annotations: [...layout.annotations, ...names], shapes: [...layout.shapes, ...lines],
    };
    return { data, layout: { ...layout, ...more } };
  }
})((window.wattlas = window.wattlas || {}));
