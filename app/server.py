"""Make the Dash app for one lake: pages, downloads, health check, compression, headers."""

import io
import logging

import dash
import polars as pl
import polars.selectors as cs
from flask import Flask, Response, request

from app import ids
from app.components.shell import shell
from app.context import EXTENSION, lakes
from app.explore import rows_behind
from app.export import export_html
from app.lakes import Lakes
from app.pages import VIEWS
from app.settings import ASSETS, Settings
from app.url_state import ViewState
from data.errors import WattlasError


def create_app(settings: Settings) -> dash.Dash:
    """Build the app; nothing is read from the lake until somebody asks."""
    server = Flask("wattlas")
    server.config["COMPRESS_MIN_SIZE"] = 1024
    server.config["COMPRESS_ALGORITHM"] = ["br", "gzip"]
    server.config["COMPRESS_BR_LEVEL"] = 4
    server.config["COMPRESS_CACHE_BACKEND"] = ScriptCache
    server.config["COMPRESS_CACHE_KEY"] = lambda asked: asked.path
    server.extensions[EXTENSION] = Lakes(settings.lake)
    app = dash.Dash(
        "app",
        server=server,
        use_pages=True,
        pages_folder="",
        assets_folder=str(ASSETS),
        assets_ignore=r"boot\.js",
        compress=True,
        health_endpoint="health",
        title="wattlas",
        update_title="",
        on_error=_tell,
    )
    _load_plotly_first()
    for view in VIEWS:
        view.register()
    app.layout = shell
    _add_downloads(server)
    return app


class ScriptCache:
    """The compressed scripts of component libraries; their paths carry version and time.

    Without it each new visitor's 8 MB of scripts were compressed again.
    """

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        """The compressed answer for a path, if it is kept."""
        return self._kept.get(key)

    def set(self, key: str, compressed: bytes) -> None:
        """Keep the answer for a path that names one version of one script, and no other."""
        if "/_dash-component-suites/" in key:
            self._kept[key] = compressed


def _load_plotly_first() -> None:
    """Put plotly.js among the page's scripts: Dash asks for it when the layout is there.

    So it is fetched and compiled beside the others, and not after them.
    """
    for script in dash.dcc._js_dist:
        if script.get("namespace") == "plotly":
            script.pop("async", None)


def _tell(error: Exception) -> None:
    """A callback failed: say so on the page where the user looks, keep the old pictures."""
    words = f"{error}. Reload the page to see the lake as it is."
    if not isinstance(error, WattlasError):
        logging.getLogger("wattlas").exception("BUG: a callback failed", exc_info=error)
        words = f"BUG: {type(error).__name__} inside wattlas; the server's log has the details."
    dash.set_props(ids.NOTICE, {"children": words})


def _add_downloads(server: Flask) -> None:
    @server.get("/export.html")
    def export() -> Response:
        return _answer(
            lambda found, state: export_html(found.at(state.lake_version), state).encode(),
            "text/html",
            "wattlas.html",
        )

    @server.get("/data/<picture>.csv")
    def data_csv(picture: str) -> Response:
        return _answer(
            lambda found, state: _flat(found, state, picture).write_csv().encode(),
            "text/csv",
            f"wattlas-{picture}.csv",
        )

    @server.get("/data/<picture>.parquet")
    def data_parquet(picture: str) -> Response:
        return _answer(
            lambda found, state: _parquet(_flat(found, state, picture)),
            "application/vnd.apache.parquet",
            f"wattlas-{picture}.parquet",
        )


def _answer(make, kind: str, name: str) -> Response:  # type: ignore[no-untyped-def]
    """Answer a download for the state in the request's query, or say what is wrong with it."""
    try:
        body = make(lakes(), ViewState.from_query(request.query_string.decode()))
    except WattlasError as error:
        return Response(f"{error}\n", status=400, mimetype="text/plain")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, mimetype=kind, headers=headers)


def _flat(found: Lakes, state: ViewState, picture: str) -> pl.DataFrame:
    """The rows behind a picture, lists written as text so that CSV can hold them."""
    rows = rows_behind(found.at(state.lake_version), state, picture)
    return rows.with_columns(cs.list().list.join(" "))


def _parquet(rows: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
