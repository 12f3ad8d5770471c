"""A page as one HTML file that works without server and network; HTML templates.

An export holds plotly.js, the data and the scripts as base64 of gzip; the browser unpacks them
(`assets/_kit/export.js`). plotly.js in `vendor/` has only the traces that the pages draw, and makes
no functions from text, which a Content-Security-Policy without `unsafe-eval` forbids.
"""

import base64
import gzip
import html
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import plotly.io
from dash import html as tags
from dash.development.base_component import Component
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.kit.compressed import gzipped
from app.kit.lake_view import LakeView
from app.kit.settings import ASSETS

POLICY: Final = (
    "default-src 'none'; script-src 'unsafe-inline' blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; worker-src blob:"
)
# Scripts of the kit that are not bundled: the one that starts an export, and those for Dash.
_NOT_EXPORTED: Final = ("export.js", "opening.js", "page")
Script = Literal["codemirror", "plotly", "regenerator-runtime"]
_VENDORED: Final = Path(__file__).parents[2] / "vendor"
_TEMPLATES: Final = Path(__file__).parent / "templates"
_VOID: Final = ("br", "hr", "img")


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """The parts of an export that differ from page to page.

    Attributes:
        main: The main element, as HTML.
        data: The data that the scripts read from `view-data`.
        is_synthetic: Whether the data contain synthetic runs.
    """

    title: str
    main: str
    data: dict[str, Any]
    is_synthetic: bool


def how_computed(words: str) -> tags.Details:
    """Lay out the text on how the views of an export were computed."""
    return tags.Details([tags.Summary("How was this computed"), tags.Pre(words)])


def page_html(view: LakeView, name: str, page: ExportedPage) -> str:
    """Write the file of the page of a name; the same lake and page give the same bytes."""
    styles = [*sorted((ASSETS / "_kit").glob("*.css")), *sorted((ASSETS / name).glob("*.css"))]
    data: str = plotly.io.json.to_json_plotly(page.data, engine="orjson")
    return fill(
        "export.html",
        policy=POLICY,
        title=page.title,
        css="\n".join(path.read_text("utf-8") for path in styles),
        lake=view.words,
        is_synthetic=page.is_synthetic,
        main=page.main,
        parts=[
            ("plotly", _base64(_vendored("plotly"))),
            ("data", _base64(gzipped(data.encode()))),
            ("scripts", _base64(gzipped(export_scripts(name).encode()))),
        ],
        # A script must not end the element that contains it.
        unpack=(ASSETS / "_kit" / "export.js").read_text("utf-8").replace("</", "<\\/"),
    )


def export_scripts(name: str) -> str:
    """Return the scripts of a page without Dash, then the one that starts the export."""
    kit = [
        p for p in sorted((ASSETS / "_kit").glob("*.js")) if not p.name.startswith(_NOT_EXPORTED)
    ]
    folder = ASSETS / name
    paths = [*kit, *sorted(folder.glob("view*.js")), *folder.glob("export.js")]
    return "\n".join(path.read_text("utf-8") for path in paths)


def _base64(packed: bytes) -> str:
    return base64.b64encode(packed).decode("ascii")


def render(part: Component | str | float | list | None) -> str:
    """Convert Dash's html components to HTML text."""
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
    if isinstance(properties.get("style"), dict):
        properties["style"] = "; ".join(f"{k}: {v}" for k, v in properties["style"].items())
    # Sorted: Dash keeps data-* and aria-* in a set, whose order differs between processes.
    attributes = "".join(
        f" {names.get(key, key)}" + ("" if value is True else f'="{html.escape(str(value))}"')
        for key, value in sorted(properties.items())
        if value is not False
    )
    tag = plain["type"].lower()
    end = "" if tag in _VOID else f"{render(children)}</{tag}>"
    return f"<{tag}{attributes}>{end}"


def vendored(script: Script) -> str:
    """Return a script. Do not cache it as text, which takes megabytes."""
    return gzip.decompress(_vendored(script)).decode()


def _vendored(script: Script) -> bytes:
    return (_VENDORED / f"{script}.min.js.gz").read_bytes()


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def fill(name: str, **values: Any) -> str:
    """Render one template; a missing value is an error."""
    return _environment().get_template(name).render(values)
