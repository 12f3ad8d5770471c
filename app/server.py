"""Make the Dash app for one lake: pages, health check, compression."""

import logging

import dash
import dash_ag_grid
from flask import Flask

from app.kit import ids
from app.kit.compressed import CompressedFiles, cache_folder
from app.kit.context import EXTENSION
from app.kit.index import Atlas
from app.kit.lakes import Lakes
from app.kit.opening import register
from app.kit.scripts import SCRIPTS, Scripts
from app.kit.settings import ASSETS, Settings
from app.kit.shell import shell
from app.pages import PAGES
from data.errors import WattlasError


def create_app(settings: Settings) -> dash.Dash:
    """Build the app; nothing is read from the lake until somebody asks."""
    server = Flask("wattlas")
    server.config["COMPRESS_MIN_SIZE"] = 1024
    server.config["COMPRESS_ALGORITHM"] = ["br", "gzip"]
    # Half the time of the default, 4, for answers that are 3 % larger.
    server.config["COMPRESS_BR_LEVEL"] = 2
    server.extensions[EXTENSION] = Lakes(settings.lake)
    app = Atlas(
        "app",
        server=server,
        use_pages=True,
        pages_folder="",
        assets_folder=str(ASSETS),
        assets_ignore=r"^export\.js$",
        compress=True,
        health_endpoint="health",
        # Else Dash makes every page's layout at the first request, to check callbacks against it.
        suppress_callback_exceptions=True,
        title="wattlas",
        update_title="",
        on_error=_tell,
    )
    _choose_scripts()
    server.extensions[SCRIPTS] = Scripts(app, CompressedFiles(cache_folder()))
    app.pages = PAGES
    for page in PAGES:
        register(server, page, PAGES)
    app.layout = lambda: shell(PAGES)
    return app


def _choose_scripts() -> None:
    """Choose what the first page loads.

    plotly.js is loaded with the others: Dash asks for it when the layout is there. Dash's table and
    the code that its menus share are on no page. The grid is loaded when a table needs it
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
    """A callback failed: say so on the page where the user looks, keep the old pictures."""
    words = f"{error}. Reload the page to see the lake as it is."
    if not isinstance(error, WattlasError):
        logging.getLogger("wattlas").exception("BUG: a callback failed", exc_info=error)
        words = f"BUG: {type(error).__name__} inside wattlas; the server's log has the details."
    dash.set_props(ids.NOTICE, {"children": words})
