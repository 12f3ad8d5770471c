"""The gunicorn worker of the app: slow visitors occupy no thread, and waiting is bounded.

gunicorn's own threaded worker gives each connection a thread, which waits for the request. Here the
event loop collects each request, head and body, and a thread gets it when it is complete. What does
not arrive in time is answered with status 408 and closed. A busy server refuses further requests at
once, with status 503.
"""

import http
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from selectors import EVENT_READ
from typing import Any, Final

from gunicorn.http import RequestParser
from gunicorn.http.unreader import Unreader
from gunicorn.workers.gthread import TConn, ThreadWorker
from werkzeug.test import run_wsgi_app
from werkzeug.wrappers import Response

from app.serve.guard import MOST_BODY_BYTES, RETRY_S
from app.serve.scripts import BUNDLES

MOST_HEAD_BYTES: Final = 32_768
_PIECE_BYTES: Final = 65_536
_LOOK_S: Final = 0.5
_HEAD_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding[ \t]*:", re.IGNORECASE)
MOST_WORKING: Final = 8
# Enough for some requests of each of many visitors.
MOST_WAITING: Final = 120
PATIENCE_S: Final = 20.0
# Files, which are in memory, and the health check. A page without one of its scripts is broken, and
# browsers do not repeat the request.
_NEVER_REFUSED: Final = ("/health", BUNDLES, "/_dash-component-suites/")


class _Collected(Unreader):
    """The bytes of one request; behind them is the end, so that no thread waits for more."""

    def chunk(self, size_hint: int | None = None) -> bytes:
        del size_hint
        return b""


class Connection(TConn):
    """A visitor's connection.

    Attributes:
        collected: Bytes of the request that is arriving.
        needed: Length of the whole request; 0 until its head is there.
        can_go_on: Whether another request may follow: not behind a body that nobody reads.
        is_over: Whether everything is sent; what still arrives is dropped.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.parser = RequestParser(self.cfg, [], self.client)
        self.parser.unreader = _Collected()
        self.collected = bytearray()
        self.needed = 0
        self.data_ready = self.can_go_on = True
        self.is_over = False


class Worker(ThreadWorker):
    """Answers requests in threads once they are complete.

    Attributes:
        head_s: How long the head of a request may take to arrive, from its first byte.
        body_s: How long its body may take.
        send_s: How long a visitor may take to receive one part of an answer.
        linger_s: How long a connection is read after the last answer, so that it arrives.
    """

    head_s = 10.0
    body_s = 30.0
    send_s = 60.0
    linger_s = 2.0

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # In the order in which they began to wait.
        self._waiting: dict[Connection, None] = {}
        self._most_waiting = self.worker_connections - self.cfg.threads
        self._looked_s = 0.0

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection; if too many wait, the one that has waited longest is closed."""
        try:
            client, address = listener.accept()
        except OSError:
            return  # It is gone again, or there are too many open files; others are served.
        self.nr_conns += 1
        self._wait(Connection(self.cfg, client, address, listener.getsockname()), self.head_s)
        if len(self._waiting) > self._most_waiting:
            self._drop(next(iter(self._waiting)))

    def _wait(self, connection: Connection, time_s: float) -> None:
        connection.timeout = time.monotonic() + time_s
        try:
            connection.sock.setblocking(False)
        except OSError:  # The thread has closed it.
            self.nr_conns -= 1
            return
        self._waiting[connection] = None
        self.poller.register(connection.sock, EVENT_READ, partial(self._receive, connection))

    def _receive(self, connection: Connection, _: Any) -> None:
        try:
            piece = connection.sock.recv(_PIECE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._drop(connection)
        elif not connection.is_over:
            if not connection.collected:
                connection.timeout = time.monotonic() + self.head_s
            connection.collected += piece
            self._hand_on(connection)

    def _hand_on(self, connection: Connection) -> None:
        """Give a request to a thread if it is complete."""
        received = connection.collected
        if not connection.needed:
            self._read_head(connection)
        if not connection.needed or len(received) < connection.needed:
            return
        self._forget(connection)
        wanted = len(received) if connection.can_go_on else connection.needed
        connection.parser.unreader.unread(bytes(received[:wanted]))
        received.clear()
        self.enqueue_req(connection)

    def _read_head(self, connection: Connection) -> None:
        """Find out how long a request is; refuse one whose end cannot be known."""
        received = connection.collected
        end = received.find(_HEAD_END)
        if end < 0 and len(received) <= MOST_HEAD_BYTES:
            return
        head = received[: end + 2]
        if end < 0:
            self._refuse(connection, 431, f"the head has more than {MOST_HEAD_BYTES:,} bytes")
        elif _CHUNKED.search(head):
            self._refuse(connection, 411, "the body comes in chunks, expected Content-Length")
        else:
            length = _LENGTH.search(head)
            size = int(length[1]) if length else 0
            # The app refuses a longer body, and does not read it.
            connection.can_go_on = size <= MOST_BODY_BYTES
            connection.needed = end + len(_HEAD_END) + (size if connection.can_go_on else 0)
            connection.timeout = time.monotonic() + self.body_s

    def handle_request(self, request: Any, connection: Connection) -> bool:
        """Answer; a visitor who does not receive the answer in time is gone."""
        connection.sock.settimeout(self.send_s)
        try:
            is_kept = super().handle_request(request, connection)
        except TimeoutError:
            raise BrokenPipeError(32, "the visitor does not receive the answer") from None
        return bool(is_kept) and connection.can_go_on

    def finish_request(self, connection: Connection, done: "Future[bool]") -> None:
        """Wait for the next request of a connection, or close it."""
        is_kept = not done.cancelled() and done.exception() is None and done.result()
        if not (is_kept and self.alive):
            self._close(connection)
            return
        connection.collected += connection.parser.unreader.take_buffered()
        connection.needed = 0
        self._wait(connection, self.head_s if connection.collected else self.cfg.keepalive)
        self._hand_on(connection)

    def murder_keepalived(self, force: bool = False) -> None:
        """Close what has waited for too long; when the worker stops, all that waits."""
        now = time.monotonic()
        if not self.alive or force:
            for connection in list(self._waiting):
                self._drop(connection)
        elif now >= self._looked_s + _LOOK_S:
            self._looked_s = now
            for connection in [c for c in self._waiting if c.timeout <= now]:
                if connection.collected and not connection.is_over:
                    self._refuse(connection, 408, "the request did not arrive in time")
                else:
                    self._drop(connection)

    def _refuse(self, connection: Connection, status: int, reason: str) -> None:
        self._forget(connection)
        connection.collected.clear()
        answer = (
            f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\nConnection: close\r\n"
            "Content-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n"
            f"Content-Length: {len(reason) + 1}\r\n\r\n{reason}\n"
        )
        with suppress(OSError):
            connection.sock.send(answer.encode())
        self._close(connection)

    def _close(self, connection: Connection) -> None:
        """Say that this was all, and read on for a moment: unread bytes would cut the answer."""
        connection.is_over = True
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_WR)
        self._wait(connection, self.linger_s)

    def _drop(self, connection: Connection) -> None:
        self._forget(connection)
        self.nr_conns -= 1
        connection.close()

    def _forget(self, connection: Connection) -> None:
        del self._waiting[connection]
        self.poller.unregister(connection.sock)


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
            answer = self._pool.submit(run_wsgi_app, self._app, environ, buffered=True)
            try:
                body, status, headers = answer.result(self._patience_s)
            except TimeoutError:
                if answer.cancel():
                    return _busy(environ, start_response)
                body, status, headers = answer.result()
        finally:
            self._room.release()
        start_response(status, list(headers))
        return body


def _busy(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    words = "the server is busy; try again in a few seconds\n"
    headers = {"Retry-After": str(RETRY_S), "X-Content-Type-Options": "nosniff"}
    return Response(words, 503, headers, mimetype="text/plain")(environ, start_response)
