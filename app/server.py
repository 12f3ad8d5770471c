"""Make the Dash app for one lake: pages, health check, compression."""

import importlib
import inspect
from contextlib import suppress
from typing import Any

import dash
import dash_ag_grid
import plotly.io
from dash.exceptions import DashException
from flask import Flask, request
from werkzeug.middleware.dispatcher import DispatcherMiddleware

from app.kit import ids
from app.kit.columns import callback_json
from app.kit.context import EXTENSION, SANDBOX, Lakes
from app.kit.settings import ASSETS, Settings
from app.kit.shell import shell
from app.pages import PAGES
from app.serve.guard import add_guard, add_headers, bug, trust_proxies
from app.serve.index import Atlas, misfit, register, register_no_page, values_of
from app.serve.monitoring import add_metrics, add_request_log
from app.serve.response_cache import ResponseCache, keep_no_response
from app.serve.routes import cached_routes
from app.serve.scripts import Scripts, add_bundles
from data.errors import WattlasError
from data.sandbox.pool import Sandbox, SqlError


def create_app(settings: Settings) -> dash.Dash:
    """Build the app; the lake is not read before the first request."""
    # Arrow's `to_numpy` would import pandas in the thread that calls it first; Plotly's encoder in
    # another thread may then read a module that is only partly imported, and fail.
    with suppress(ImportError):
        importlib.import_module("pandas")
    server = Flask("wattlas")
    add_guard(server, settings.allowed_hosts)
    trust_proxies(server, settings.proxies)
    add_headers(server)
    if settings.prefix:
        server.config["APPLICATION_ROOT"] = settings.prefix
        # Some proxies keep the prefix, others remove it: the app answers with and without it.
        mounted: dict[str, Any] = {settings.prefix: server.wsgi_app}
        server.wsgi_app = DispatcherMiddleware(  # type: ignore[method-assign]
            server.wsgi_app, mounted
        )
    server.config["COMPRESS_MIN_SIZE"] = 1024
    # Scripts and style sheets are compressed in advance.
    server.config["COMPRESS_MIMETYPES"] = [
        "application/json", "text/csv", "text/html", "text/plain",
    ]  # fmt: skip
    # Zstandard takes 40 % of the time of Brotli at level 2 for as many bytes; of Brotli this level
    # takes half the time of the default, 4, for responses that are 3 % larger.
    server.config["COMPRESS_ALGORITHM"] = ["zstd", "br", "gzip"]
    server.config["COMPRESS_BR_LEVEL"] = 2
    # In 60 % of the time of the default, 3, for responses that are 1 % larger.
    server.config["COMPRESS_ZSTD_LEVEL"] = 2
    lakes = server.extensions[EXTENSION] = Lakes(settings.lake, settings.check_files)
    responses = ResponseCache(lakes)
    responses.add_to(server)
    sandbox = server.extensions[SANDBOX] = _sandbox(settings)
    add_bundles(server)
    if settings.log:
        add_request_log(server, settings.log)
    if settings.metrics_port is not None:
        add_metrics(server, lakes, responses, sandbox)
    app = Atlas(
        "app",
        server=server,
        use_pages=True,
        include_pages_meta=False,
        requests_pathname_prefix=f"{settings.prefix}/",
        routes_pathname_prefix="/",
        pages_folder="",
        assets_folder=str(ASSETS),
        # Dash would load each file; the index loads them as two bundles.
        assets_ignore=".*",
        compress=True,
        health_endpoint="health",
        # Otherwise Dash builds every page's layout at the first request, to check callbacks.
        suppress_callback_exceptions=True,
        title="wattlas",
        update_title="",
        on_error=_tell,
    )
    _choose_scripts()
    # Callbacks' answers are encoded with orjson, for which Dash has no setting. Layouts are with
    # Python's own JSON: with orjson, Plotly first copies each part in Python.
    plotly.io.json.config.default_engine = "json"
    dash._callback.to_json = callback_json
    Scripts(server)
    app.pages = PAGES
    for page in PAGES:
        register(server, page, PAGES)
        responses.add_routes(cached_routes(page))
    register_no_page(PAGES)
    app.layout = shell
    return app


def _sandbox(settings: Settings) -> Sandbox | str:
    if settings.sql == "off":
        return "SQL is off on this server. Its administrator can turn it on with --sql on."
    try:
        return Sandbox(has_landlock=settings.sql == "on")
    except SqlError as error:
        return f"SQL is off: {error}. With --sql unsafe-without-landlock it runs without Landlock."


def _choose_scripts() -> None:
    """Choose what the first page loads.

    plotly.js is loaded with the others; by default Dash requests it only after the layout. No page
    uses Dash's table and the shared code of its menus. The grid is loaded when a table needs it
    (`assets/_kit/page_library.js`).
    """
    later = [*dash.dash_table._js_dist, *dash_ag_grid._js_dist]
    for script in dash.dcc._js_dist:
        if script.get("namespace") == "plotly":
            script.pop("async", None)
        if script.get("relative_package_path", "").endswith("-shared.js"):
            later.append(script)
    for script in later:
        if "async" not in script:
            script["dynamic"] = True


def _tell(error: Exception) -> None:
    """Show the error of a callback in the page's notice; the figures stay."""
    keep_no_response()
    sentence = f"{error}. Reload the page to see the lake as it is."
    if not isinstance(error, (WattlasError, DashException)):
        body = request.get_json()
        asked = dash.get_app().callback_map[body["output"]]["callback"]
        wrong = misfit(inspect.unwrap(asked), values_of(body))
        sentence = f"{wrong}." if wrong else bug("a callback", error)
    dash.set_props(ids.NOTICE, {"children": sentence})
