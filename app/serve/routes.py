"""The addresses of every page, and the forms of their responses: JSON and files.

/NAME/data/VIEW.csv, .parquet     the rows behind a view
/NAME/how/VIEW                    how the view was computed
/NAME/export.html                 the page as one file
/NAME/opening                     the first view, before Dash asks for any
"""

import io
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import orjson
import polars as pl
import polars.selectors as cs
from flask import Flask, Response, g, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from app.kit.columns import callback_json, encode_view
from app.kit.context import Lakes, lakes
from app.kit.export import page_html
from app.kit.lake_view import LakeView
from app.kit.links import address, open_page
from app.kit.page import Page
from app.serve.guard import retry_header, status_of
from data.csv_cells import guarded
from data.errors import BusyError, WattlasError

CSV = "text/csv"
PARQUET = "application/vnd.apache.parquet"


def json_answer(make: Callable[[], dict[str, Any]]) -> Response:
    """Return a result as JSON, NumPy scalars as numbers; for a WattlasError its words."""
    try:
        encoded = orjson.dumps(make(), option=orjson.OPT_SERIALIZE_NUMPY)
    except WattlasError as error:
        return json_refusal(error)
    return Response(encoded, mimetype="application/json")


def json_refusal(error: WattlasError) -> Response:
    """Return the words of an error as JSON."""
    # The words of others may quote what the visitor sent.
    g.refused = str(error) if isinstance(error, BusyError) else type(error).__name__
    body = orjson.dumps({"error": str(error)})
    return Response(body, status_of(error), retry_header(error), mimetype="application/json")


def add_page_routes(server: Flask, page: Page) -> None:
    """Add a page's addresses, its own routes, and redirects from its old addresses."""
    for ending, kind in (("csv", CSV), ("parquet", PARQUET)):
        server.add_url_rule(
            f"/{page.name}/data/<view>.{ending}",
            f"{page.name}_{ending}",
            lambda view, kind=kind: table_answer(
                page.rows(*requested(page), page.view(view).name),
                kind,
                f"wattlas-{page.name}-{view}",
            ),
        )
    server.add_url_rule(
        f"/{page.name}/how/<view>", f"{page.name}_how", lambda view: _how(page, view)
    )
    server.add_url_rule(f"/{page.name}/export.html", f"{page.name}_export", lambda: _export(page))
    if page.opening:
        server.add_url_rule(f"/{page.name}/opening", f"{page.name}_opening", lambda: _opening(page))
    if page.add_routes:
        page.add_routes(server)
    for number, (old, new) in enumerate(page.old_paths.items()):
        server.add_url_rule(
            old, f"{page.name}_old_{number}", lambda new=new, **parts: _redirect(new, parts)
        )


def cached_routes(page: Page) -> tuple[str, ...]:
    """Return the rules whose responses follow from the lake and the request alone."""
    views = tuple(
        f"/{page.name}/{kind}"
        for kind in ("data/<view>.csv", "data/<view>.parquet", "how/<view>", "opening")
    )
    return *views, *page.cached_routes


def _how(page: Page, view: str) -> Response:
    return Response(page.explain(*requested(page), page.view(view).name), mimetype="text/plain")


def _opening(page: Page) -> Response:
    view, state, _ = open_page(page, lakes(), request.query_string.decode())
    is_empty = not view.runs or (page.missing and page.missing(view, state))
    answer = None if is_empty or not page.opening else page.opening(view, state)
    if answer is None:
        return Response(status=204)
    return Response(callback_json(encode_view(answer)), mimetype="application/json")


def _export(page: Page) -> Response:
    query = request.query_string.decode()
    name = f"wattlas-{page.name}.html"
    return file_answer(export_html(page, lakes(), query).encode(), "text/html", name)


def export_html(page: Page, opened: Lakes, query: str) -> str:
    """Write the page of a URL query as one HTML file; without a query its default view.

    The same lake and query give the same bytes.

    Raises:
        WattlasError: The query is not a state of the page, or the lake cannot be read.
    """
    view, state, _ = open_page(page, opened, query)
    return page_html(view, page.name, page.export(view, state))


def requested(page: Page) -> tuple[LakeView, Any]:
    """Read the state from the request's query and open its version of the lake.

    Raises:
        WattlasError: The query is not a state of the page, or the lake cannot be read.
    """
    view, state = lakes().follow(page.state.from_query, request.query_string.decode())
    return view, (page.open_link(view, state)[0] if page.open_link else state)


def _redirect(path: str, parts: dict[str, str]) -> AnyResponse:
    for name, value in parts.items():
        path = path.replace(f"<{name}>", quote(value, safe=""))
    query = request.query_string.decode()
    return redirect(address(path) + (f"?{query}" if query else ""), code=301)


def file_answer(body: bytes, kind: str, name: str) -> Response:
    """Return a file of a media type, which browsers save under a name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, mimetype=kind, headers=headers)


def table_answer(rows: pl.DataFrame, kind: str, name: str) -> Response:
    """Return a table as a file of type `CSV` or `PARQUET`; lists become text."""
    write, ending = _WRITERS[kind]
    # CSV has no lists.
    body = write(rows.with_columns(cs.list().list.join(" ")))
    return file_answer(body, kind, f"{name}.{ending}")


def _parquet(rows: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


_WRITERS: dict[str, tuple[Callable[[pl.DataFrame], bytes], str]] = {
    CSV: (lambda rows: guarded(rows).write_csv().encode(), "csv"),
    PARQUET: (_parquet, "parquet"),
}
