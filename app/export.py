"""A view as one self-contained HTML file: pictures, table, linking, no server, no network."""

import html
import json
from typing import Any, Final

import plotly.io
import plotly.offline
from dash.development.base_component import Component

from app.components.best_table import best_settings_table, limit_words
from app.explore import best_table, explain, heatmap, performance_column, scatter, status_words
from app.lakes import LakeView
from app.settings import ASSETS
from app.url_state import ViewState

POLICY: Final = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; worker-src blob:"
)
# The linking script's parts that need no Dash, in the order of their names, then the export's own.
_SCRIPTS: Final = "[1-4]*.js"
_BOOT: Final = "export/boot.js"


def export_html(view: LakeView, state: ViewState) -> str:
    """Write a view as one HTML page; the same lake and state give the same bytes.

    It holds the drawn points, plotly.js and the linking script; a content policy keeps it from
    asking the network for anything.
    """
    answer = scatter(view, state)
    performance = performance_column(view, state.selection)
    rows = best_table(view, state)
    data = {
        "scatter": answer.figure,
        "heatmap": heatmap(view, state),
        "points": answer.points,
        "state": {"brush": state.brush, "zoom": state.zoom, "limit": state.limit},
    }
    scripts = [path.read_text("utf-8") for path in sorted(ASSETS.glob(_SCRIPTS))]
    scripts.append((ASSETS / _BOOT).read_text("utf-8"))
    table = best_settings_table(rows, performance, state.limit)
    synthetic = bool(len(view.cube)) and bool(view.cube["is_synthetic"].any())
    return _PAGE.format(
        policy=html.escape(POLICY, quote=True),
        title=html.escape(_title(answer.figure)),
        css="\n".join(path.read_text("utf-8") for path in sorted(ASSETS.glob("*.css"))),
        plotly=_script_safe(plotly.offline.get_plotlyjs()),
        badge='<strong class="badge">synthetic data</strong>' if synthetic else "",
        filters=html.escape(state.selection.in_words()),
        status=html.escape(status_words(view, state)),
        lake=html.escape(f"lake {view.lake.path.name}, version {view.version}"),
        words=html.escape(limit_words(rows, performance, state.limit)),
        table=render(table),
        explanation=html.escape(explain(view, state)),
        data=_json(data).replace("<", "\\u003c"),
        scripts=_script_safe("\n".join(scripts)),
    )


def render(part: Component | str | float | list | None) -> str:
    """Write Dash's html components as HTML text."""
    if part is None:
        return ""
    if isinstance(part, list):
        return "".join(render(child) for child in part)
    if not isinstance(part, Component):
        return html.escape(str(part))
    plain = part.to_plotly_json()
    properties = dict(plain["props"])
    children = properties.pop("children", None)
    names = {"className": "class", "tabIndex": "tabindex"}
    # Sorted: Dash keeps data-* and aria-* in a set, whose order differs from process to process.
    attributes = "".join(
        f' {names.get(key, key)}="{html.escape(str(value), quote=True)}"'
        for key, value in sorted(properties.items())
    )
    tag = plain["type"].lower()
    return f"<{tag}{attributes}>{render(children)}</{tag}>"


def _title(figure: dict[str, Any]) -> str:
    """The figure's title without its subtitle; a message has none."""
    first_line = figure["layout"]["title"]["text"].split("<br>")[0]
    return f"{first_line or 'Explore'} · wattlas"


def _json(data: dict[str, Any]) -> str:
    encoded: str = plotly.io.json.to_json_plotly(data)
    return json.dumps(json.loads(encoded), separators=(",", ":"), sort_keys=True)


def _script_safe(text: str) -> str:
    """Keep a script or data from ending the element that holds it."""
    return text.replace("</", "<\\/")


_PAGE: Final = """<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{css}</style>
</head>
<body class="exported">
<header class="top"><span class="brand">wattlas</span><span>{lake}</span>{badge}
<button id="theme-button" class="plain">dark</button></header>
<main class="explore-export">
<p class="quiet">{status}: {filters}. Drag in a picture to select; Escape clears.</p>
<div class="export-views">
<section class="panel" data-view="scatter"><div id="scatter" class="graph"></div></section>
<section class="panel" data-view="heatmap"><div id="heatmap" class="graph"></div></section>
</div>
<section class="panel panel-best"><h2>Best settings</h2><p>{words}</p>
<div id="best-table">{table}</div></section>
<p id="status-selection" role="status"></p>
<details><summary>How was this computed</summary><pre>{explanation}</pre></details>
</main>
<div id="hover-card" class="hover-card" role="status"></div>
<script>{plotly}</script>
<script type="application/json" id="view-data">{data}</script>
<script>{scripts}</script>
</body>
</html>
"""
