/*
 * Highlight points of a WebGL scatter without a restyle.
 * Plotly computes a whole trace again when its `selectedpoints` change (about 250 ms at 12,000 points).
 * Plotly's own box selection does not: it gives the indices to the scene and draws the canvas again. This
 * function does the same.
 */
(function (wattlas) {
  "use strict";

  /* Plotly's WebGL canvases have four times the screen's pixels by default, which only papers need. */
  wattlas.useScreenPixels = function () {
    const plotGlPixelRatio = Math.min(Math.max(window.devicePixelRatio, 1), 4);
    if (window.Plotly && window.Plotly.setPlotConfig) window.Plotly.setPlotConfig({ plotGlPixelRatio });
  };
  wattlas.useScreenPixels();
  document.addEventListener("DOMContentLoaded", wattlas.useScreenPixels);

  /** Plotly's WebGL scene of a trace; null if Plotly draws the trace in another way. */
  function sceneOf(gd, trace) {
    const stash = gd.calcdata && gd.calcdata[trace] && gd.calcdata[trace][0] && gd.calcdata[trace][0].t;
    const scene = stash && stash._scene;
    const parts = ["scatter2d", "select2d", "draw", "selectBatch", "unselectBatch"];
    if (!scene || !parts.every((part) => scene[part])) return null;
    const hasOptions = scene.markerOptions[stash.index] && scene.markerUnselectedOptions[stash.index];
    return hasOptions ? { scene, at: stash.index } : null;
  }

  function complement(found, count) {
    const isFound = new Uint8Array(count), rest = [];
    for (const i of found) isFound[i] = 1;
    for (let i = 0; i < count; i++) if (!isFound[i]) rest.push(i);
    return rest;
  }

  /**
   * Highlight some points of each trace, or all points again.
   *   traces: indices of the traces, all of one subplot.
   *   selected: for each of them indices of its points, or null for no selection.
   * Returns whether it succeeded; if not, it has changed nothing.
   */
  wattlas.highlight = function (gd, traces, selected) {
    const places = traces.map((trace) => sceneOf(gd, trace));
    const canvases = gd._fullLayout && gd._fullLayout._glcanvas;
    const isOneScene = places.every((place) => place && place.scene === places[0].scene);
    if (!traces.length || !canvases || !isOneScene) return false;
    const { scene } = places[0];
    // Not holes: WebGL's scatter would forget the traces that have none.
    const changes = new Array(scene.count).fill(undefined);
    traces.forEach((trace, k) => {
      const { at } = places[k], found = selected[k];
      const wasSelected = scene.selectBatch[at].length + scene.unselectBatch[at].length > 0;
      gd.data[trace].selectedpoints = gd._fullData[trace].selectedpoints = found === null ? undefined : found;
      scene.selectBatch[at] = found || [];
      scene.unselectBatch[at] = found ? complement(found, gd._fullData[trace]._length) : [];
      const options = found ? scene.markerUnselectedOptions : scene.markerOptions;
      if (wasSelected !== Boolean(found)) changes[at] = options[at];
    });
    if (changes.some(Boolean)) scene.scatter2d.update(changes);
    canvases.each((layer) => layer.regl && layer.regl.clear({ color: true, depth: true }));
    scene.draw();
    return true;
  };
})((window.wattlas = window.wattlas || {}));
