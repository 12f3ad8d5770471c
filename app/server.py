"""Make the Dash app for one lake: pages, health check, compression."""

import logging

import dash
from flask import Flask

from app.kit import ids
from app.kit.context import EXTENSION
from app.kit.lakes import Lakes
from app.kit.opening import register
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
    server.config["COMPRESS_CACHE_BACKEND"] = ScriptCache
    server.config["COMPRESS_CACHE_KEY"] = lambda asked: asked.path
    server.extensions[EXTENSION] = Lakes(settings.lake)
    app = dash.Dash(
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
    _load_plotly_first()
    for order, page in enumerate(PAGES):
        register(server, page, order)
    app.layout = lambda: shell(PAGES)
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
