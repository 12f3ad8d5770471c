/*
 * The least that links three views with Plotly alone: a scatter, a heatmap under a veil, a table.
 * `data` comes from the bench: the points and the grid that Explore shows, in figures of the same size.
 */
(function (data) {
  "use strict";
  const config = { displaylogo: false, showSendToCloud: false, displayModeBar: false };
  const rows = document.getElementById("table").querySelectorAll("tr");
  const columnOf = new Map(data.itr.map((v, i) => [v, i])), rowOf = new Map(data.dvfs.map((v, i) => [v, i]));
  let scatter, heatmap;

  function link(mask) {
    const z = data.dvfs.map(() => data.itr.map(() => (mask ? 1 : null)));
    const hit = new Set();
    if (mask) {
      data.traces.forEach((trace, k) => {
        for (let i = 0; i < trace.x.length; i++) {
          if (!mask[k][i]) continue;
          hit.add(trace.name + "|" + trace.itr[i] + "|" + trace.dvfs[i]);
          if (trace.name === data.system) z[rowOf.get(trace.dvfs[i])][columnOf.get(trace.itr[i])] = null;
        }
      });
    }
    Plotly.restyle(heatmap, { z: [z] }, [1]);
    rows.forEach((row) => row.classList.toggle("selected", hit.has(row.dataset.key)));
  }

  function maskOf(test) {
    return data.traces.map((trace, k) => Uint8Array.from(trace.x, (_, i) => (test(trace, i, k) ? 1 : 0)));
  }
  const indices = (mask) => mask.map((part) => Array.from(part.keys()).filter((i) => part[i]));

  function clear() {
    Plotly.restyle(scatter, { selectedpoints: data.traces.map(() => null) });
    Plotly.relayout(scatter, { selections: [] });
    Plotly.relayout(heatmap, { selections: [] });
    link(null);
  }
  window.bare = { clear };

  async function draw() {
    scatter = await Plotly.newPlot("scatter", data.traces.map((trace) => ({
      type: "scattergl", mode: "markers", x: trace.x, y: trace.y, name: trace.name,
      marker: { size: trace.size, symbol: trace.symbol, color: trace.dvfs, colorscale: "Cividis" },
      unselected: { marker: { opacity: 0.12 } }, hoverinfo: "none",
    })), { ...data.scatterLayout, dragmode: "select", showlegend: false }, config);
    const itr = data.itr.map(String), dvfs = data.dvfs.map(String), grey = "rgba(127,127,127,0.78)";
    heatmap = await Plotly.newPlot("heatmap", [
      { type: "heatmap", x: itr, y: dvfs, z: data.z, colorscale: "Viridis" },
      {
        type: "heatmap", x: itr, y: dvfs, z: data.z.map((row) => row.map(() => null)), zmin: 0, zmax: 1,
        showscale: false, colorscale: [[0, grey], [1, grey]], hoverinfo: "skip",
      },
      {
        type: "scatter", mode: "markers", marker: { size: 1, opacity: 0 }, showlegend: false,
        x: itr.flatMap((v) => dvfs.map(() => v)), y: itr.flatMap(() => dvfs), hoverinfo: "skip",
      },
    ], {
      ...data.heatmapLayout, dragmode: "select",
      xaxis: { type: "category" }, yaxis: { type: "category" },
    }, config);

    scatter.on("plotly_selected", (event) => {
      if (!event || !event.range) return;
      const rising = (range) => range.slice().sort((a, b) => a - b);
      const [x0, x1] = rising(event.range.x), [y0, y1] = rising(event.range.y);
      link(maskOf((t, i) => t.x[i] >= x0 && t.x[i] <= x1 && t.y[i] >= y0 && t.y[i] <= y1));
    });
    heatmap.on("plotly_selected", (event) => {
      if (!event || !event.range) return;
      const cells = new Set(event.points.filter((p) => p.curveNumber === 2).map((p) => p.x + "|" + p.y));
      const mask = maskOf((t, i) => t.name === data.system && cells.has(t.itr[i] + "|" + t.dvfs[i]));
      Plotly.restyle(scatter, { selectedpoints: indices(mask) });
      link(mask);
    });
    window.bare.ready = true;
  }
  draw();
})(JSON.parse(document.getElementById("data").textContent));
