"""Figures for papers: `POST /NAME/figure/VIEW?STATE`, `POST /NAME/caption/VIEW?STATE`.

The browser sends the figure that it shows, as Plotly's dictionaries, so that zoom, selection and
what only the browser computes are in the file. The state says which runs these are: the caption.
Bodies may be compressed by gzip.
"""

import math
import zlib
from typing import Any, Final

import orjson
from flask import Flask, Response, current_app, request

from app.kit.page import Page
from app.kit.paper.figure import FigureError, number
from app.kit.paper.options import read_options
from app.kit.paper.order import Drawers, caption_of
from app.serve.guard import visitor
from app.serve.response_cache import keep_no_response
from app.serve.routes import file_answer, requested

MOST_BYTES: Final = 12_000_000
_DRAWERS: Final = "wattlas-drawers"
_KEYS: Final = frozenset({"figure", "size_px", "options"})
_FORMS: Final = {
    "pdf": ("application/pdf", "pdf"), "svg": ("image/svg+xml", "svg"),
    "png": ("image/png", "png"), "script": ("application/zip", "zip"),
}  # fmt: skip


def add_figure_routes(server: Flask, page: Page) -> None:
    """Add the addresses of one page."""
    server.extensions.setdefault(_DRAWERS, Drawers())
    for name, answer in (("figure", _figure), ("caption", _caption)):
        server.add_url_rule(
            f"/{page.name}/{name}/<view>",
            f"{page.name}_{name}",
            lambda view, answer=answer: answer(page, view),
            methods=["POST"],
        )


def _caption(page: Page, view: str) -> Response:
    keep_no_response()
    page.picture(view)
    words = caption_of(*requested(page), _body()["figure"])
    return Response(words, mimetype="text/plain")


def _figure(page: Page, view: str) -> Response:
    keep_no_response()
    name, body = page.picture(view).name, _body()
    options = read_options(body.get("options", {}))
    caption = caption_of(*requested(page), body["figure"])
    size = _size(body.get("size_px"))
    drawers: Drawers = current_app.extensions[_DRAWERS]
    file = drawers.file_of(body["figure"], size, options, caption, visitor())
    kind, ending = _FORMS[options.format]
    return file_answer(file, kind, f"wattlas-{page.name}-{name}.{ending}")


def _body() -> dict[str, Any]:
    """Read the body.

    Raises:
        FigureError: It is too large, or no JSON object with a figure.
    """
    data = request.get_data()
    if request.headers.get("Content-Encoding") == "gzip":
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
        try:
            data = unpacker.decompress(data, MOST_BYTES)
        except zlib.error:
            raise FigureError("the body is no gzip") from None
        if unpacker.unconsumed_tail:
            raise FigureError(f"the picture has more than {MOST_BYTES:,} bytes")
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise FigureError("the body is no JSON") from None
    if not isinstance(body, dict) or set(body) - _KEYS or not isinstance(body.get("figure"), dict):
        raise FigureError(f"expected a JSON object with {', '.join(sorted(_KEYS))}")
    return body


def _size(given: Any) -> tuple[float, float]:
    sides = given if isinstance(given, list) and len(given) == 2 else [0, 0]
    wide, high = (number(side, math.nan, 50, 10_000) for side in sides)
    if wide != wide or high != high:
        raise FigureError("size_px is no pair of a width and a height, pixels")
    return wide, high
