/* Draws a hand-made scene: its lists become typed arrays, as they are when an answer has been decoded. */
([scene, what]) => {
  const isNumbers = (v) => v.length > 0 && v.every((x) => typeof x === "number" || x === "NaN");
  const parts = (v) => Object.fromEntries(Object.entries(v).map(([key, part]) => [key, typed(part)]));
  function typed(v) {
    if (Array.isArray(v)) return isNumbers(v) ? Float64Array.from(v, Number) : v.map(typed);
    return v && typeof v === "object" ? parts(v) : v;
  }
  const runs = typed(scene.answer.runs);
  runs.forEach((run) => { if (run.heat) run.heat.shape = Array.from(run.heat.shape); });
  const plain = { ...scene, answer: { ...scene.answer, runs } };
  const figure = what ? wattlas.timeline.distributions(what, plain, 300) : wattlas.timeline.figure(plain);
  const written = (key, v) => (ArrayBuffer.isView(v) ? Array.from(v, (x) => (isNaN(x) ? "NaN" : x)) : v);
  return JSON.parse(JSON.stringify(figure, written));
}
