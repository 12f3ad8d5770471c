"""Bounded waiting: what a busy server cannot answer soon it refuses at once, with 503."""

import threading
from collections.abc import Callable, Iterable
from typing import Any, Final

from werkzeug.wrappers import Response

MOST_WORKING: Final = 8
MOST_WAITING: Final = 56
PATIENCE_S: Final = 20.0
RETRY_S: Final = 2
_HEALTH: Final = "/health"


class Bounded:
    """A WSGI app in front of another: some requests at once, some that wait, no more.

    The health check is never refused. The server needs a thread for each request that waits.
    """

    def __init__(
        self,
        app: Callable[[dict[str, Any], Any], Iterable[bytes]],
        most_working: int = MOST_WORKING,
        most_waiting: int = MOST_WAITING,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._app = app
        self._room = threading.BoundedSemaphore(most_working + most_waiting)
        self._working = threading.BoundedSemaphore(most_working)
        self._patience_s = patience_s

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer, wait, or refuse with status 503 and the seconds after which to try again."""
        if environ.get("PATH_INFO", "").endswith(_HEALTH):
            return self._app(environ, start_response)
        if not self._room.acquire(blocking=False):
            return _busy(environ, start_response)
        try:
            if not self._working.acquire(timeout=self._patience_s):
                return _busy(environ, start_response)
            try:
                return self._app(environ, start_response)
            finally:
                self._working.release()
        finally:
            self._room.release()


def _busy(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    words = "the server is busy; try again in a few seconds\n"
    headers = {"Retry-After": str(RETRY_S), "X-Content-Type-Options": "nosniff"}
    return Response(words, 503, headers, mimetype="text/plain")(environ, start_response)
