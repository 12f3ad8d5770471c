"""The frame of an exported page: one HTML file that needs no server and may ask no network."""

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.io
import plotly.offline
from dash.development.base_component import Component

from app.kit.lakes import LakeView
from app.kit.settings import ASSETS

POLICY: Final = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; worker-src blob:"
)


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """What differs from page to page.

    Attributes:
        main: The main element, as HTML.
        data: What the scripts read from `view-data`.
        scripts: Patterns of files in `assets/`, in the order in which they run; those that one
            pattern finds in the order of their names. None of them may know Dash.
        is_synthetic: Whether synthetic runs are in it.
    """

    title: str
    main: str
    data: dict[str, Any]
    scripts: Sequence[str]
    is_synthetic: bool


def page_html(view: LakeView, page: ExportedPage) -> str:
    """Write the file; the same lake and page give the same bytes."""
    paths = [path for pattern in page.scripts for path in sorted(ASSETS.glob(pattern))]
    return _PAGE.format(
        policy=html.escape(POLICY, quote=True),
        title=html.escape(f"{page.title} · wattlas"),
        css="\n".join(path.read_text("utf-8") for path in sorted(ASSETS.glob("*/*.css"))),
        plotly=_script_safe(plotly.offline.get_plotlyjs()),
        badge='<strong class="badge">synthetic data</strong>' if page.is_synthetic else "",
        lake=html.escape(f"lake {view.lake.path.name}, version {view.version}"),
        main=page.main,
        data=_json(page.data).replace("<", "\\u003c"),
        scripts=_script_safe("\n".join(path.read_text("utf-8") for path in paths)),
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
    if isinstance(properties.get("style"), dict):
        properties["style"] = "; ".join(f"{k}: {v}" for k, v in properties["style"].items())
    attributes = "".join(
        f" {names.get(key, key)}" + ("" if value is True else f'="{html.escape(str(value))}"')
        for key, value in sorted(properties.items())
        if value is not False
    )
    tag = plain["type"].lower()
    end = "" if tag in _VOID else f"{render(children)}</{tag}>"
    return f"<{tag}{attributes}>{end}"


def _json(data: dict[str, Any]) -> str:
    encoded: str = plotly.io.json.to_json_plotly(data)
    return json.dumps(json.loads(encoded), separators=(",", ":"), sort_keys=True)


def _script_safe(text: str) -> str:
    """Keep a script or data from ending the element that holds it."""
    return text.replace("</", "<\\/")


_VOID: Final = ("br", "hr", "img")
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
{main}
<div id="hover-card" class="hover-card" role="status"></div>
<script>{plotly}</script>
<script type="application/json" id="view-data">{data}</script>
<script>{scripts}</script>
</body>
</html>
"""
