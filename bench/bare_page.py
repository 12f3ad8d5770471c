"""The reference: a page with Plotly only that links the same points as Explore."""

import json
from pathlib import Path
from typing import Any, Final

import plotly.offline

_FOLDER: Final = Path(__file__).parent

# Runs in Explore's page. Returns the points that it shows as lists.
SHOWN: Final = """() => {
  const scatter = wattlas.plot("scatter"), heatmap = wattlas.plot("heatmap");
  const { columns } = wattlas.explore, { fields } = scatter.layout.meta;
  const [allX, allY] = [columns.fields[fields.x], columns.fields[fields.y]];
  const plain = (v) => Array.from(v, (x) => (Number.isNaN(x) ? null : x));
  const traces = scatter._fullData.filter((t) => t.meta && t.meta.kind === "points").map((t) => {
    const { first: from, end: to } = t.meta.rows;
    const knob = (name) => Array.from({ length: to - from }, (_, i) => wattlas.knob(columns, name, from + i));
    return {
      name: knob("system")[0], x: plain(allX.slice(from, to)), y: plain(allY.slice(from, to)),
      size: typeof t.marker.size === "number" ? t.marker.size : plain(t.marker.size),
      symbol: t.marker.symbol, itr: knob("itr_us"), dvfs: knob("dvfs_ghz"),
    };
  });
  const { xaxis, yaxis, margin, width, height } = scatter._fullLayout, heat = heatmap._fullLayout;
  return {
    traces, system: heatmap.layout.meta.system, itr: heatmap.layout.meta.map.xs, dvfs: heatmap.layout.meta.map.ys,
    z: Array.from(heatmap._fullData[0]._z || heatmap.calcdata[0][0].z, plain),
    rows: Array.from(document.querySelectorAll("#best-table tr[data-config]"), (row) => {
      const c = JSON.parse(row.dataset.config);
      return { key: c.system + "|" + c.itr_us + "|" + c.dvfs_ghz, words: row.innerText };
    }),
    scatterLayout: { width, height, margin: { l: margin.l, r: margin.r, t: margin.t, b: margin.b }, xaxis: { range: xaxis.range }, yaxis: { range: yaxis.range } },
    heatmapLayout: { width: heat.width, height: heat.height, margin: { l: heat.margin.l, r: heat.margin.r, t: heat.margin.t, b: heat.margin.b } },
  };
}"""  # noqa: E501


def write_bare_page(folder: Path, shown: dict[str, Any]) -> Path:
    """Write the page, and plotly.js into the same folder.

    Args:
        shown: Answer of SHOWN.
    """
    (folder / "plotly.min.js").write_text(plotly.offline.get_plotlyjs(), encoding="utf-8")
    (folder / "bare.js").write_text((_FOLDER / "bare.js").read_text("utf-8"), encoding="utf-8")
    table = "".join(f'<tr data-key="{row["key"]}"><td>{row["words"]}' for row in shown["rows"])
    page = folder / "bare.html"
    page.write_text(
        _PAGE.format(table=table, data=json.dumps(shown).replace("</", "<\\/")), encoding="utf-8"
    )
    return page


_PAGE: Final = """<!doctype html>
<html><head><meta charset="utf-8"><style>body {{ margin: 0 }} .selected {{ background: #fff3c9 }}
#pictures {{ display: flex }}</style></head><body>
<div id="pictures"><div id="scatter"></div><div id="heatmap"></div></div>
<table id="table">{table}</table>
<script type="application/json" id="data">{data}</script>
<script src="plotly.min.js"></script><script src="bare.js"></script></body></html>
"""
