"""Bounded waiting: a busy server refuses further requests at once, with status 503."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from werkzeug.test import run_wsgi_app
from werkzeug.wrappers import Response

from app.serve.bundles import BUNDLES
from app.serve.guard import RETRY_S

MOST_WORKING: Final = 8
# Enough for some requests of each of many visitors.
MOST_WAITING: Final = 120
PATIENCE_S: Final = 20.0
# Files, which are in memory, and the health check. A page without one of its scripts is broken, and
# browsers do not repeat the request.
_NEVER_REFUSED: Final = ("/health", BUNDLES, "/_dash-component-suites/")


class Bounded:
    """A WSGI app that limits how many requests of another app run and wait.

    Files and the health check are never refused. The server needs a thread for each waiting
    request. The other app runs in a pool with one thread per running request, because allocators
    keep memory for every thread that ever worked.
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
        self._pool = ThreadPoolExecutor(most_working, "answers")
        self._patience_s = patience_s

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer, wait, or refuse with status 503 and the seconds after which to try again."""
        path = environ.get("PATH_INFO", "")
        if any(part in path for part in _NEVER_REFUSED):
            return self._app(environ, start_response)
        if not self._room.acquire(blocking=False):
            return _busy(environ, start_response)
        try:
            asked = self._pool.submit(run_wsgi_app, self._app, environ, buffered=True)
            try:
                body, status, headers = asked.result(self._patience_s)
            except TimeoutError:
                if asked.cancel():
                    return _busy(environ, start_response)
                body, status, headers = asked.result()
        finally:
            self._room.release()
        start_response(status, list(headers))
        return body


def _busy(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    words = "the server is busy; try again in a few seconds\n"
    headers = {"Retry-After": str(RETRY_S), "X-Content-Type-Options": "nosniff"}
    return Response(words, 503, headers, mimetype="text/plain")(environ, start_response)
