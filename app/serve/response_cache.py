"""A cache of responses that depend only on the lake and the request.

Most visitors request the same default views, links and first filters. A cached response needs no
computation, encoding or compression. `Page.cached_routes` lists the addresses.
"""

from collections.abc import Hashable, Iterable
from hashlib import blake2b
from threading import Condition
from typing import Final

from cachetools import LRUCache
from flask import Flask, Response, g, request

from app.kit.context import Lakes
from data.errors import LakeError

ALL_BYTES: Final = 12_000_000
MOST_BYTES: Final = 1_000_000
# How long a request waits for the response to an equal one.
PATIENCE_S: Final = 20.0
# Value of the header `Cache-Status` (RFC 9211) of a cached response.
HIT: Final = "wattlas; hit"
# Addresses of Dash for all pages: components, callbacks, and answers of callbacks.
_OF_DASH: Final = ("/_dash-layout", "/_dash-dependencies", "/_dash-update-component")


class ResponseCache:
    """Caches responses; the least recently used are dropped if all bodies together are too large.

    Of simultaneous equal requests one is computed, and the others wait for its response. A cached
    response is valid while the lake has the same newest version.
    """

    def __init__(self, lakes: Lakes) -> None:
        self._lakes = lakes
        self._kept: LRUCache[Hashable, Response] = LRUCache(ALL_BYTES, getsizeof=_size)
        self._under_way: set[Hashable] = set()
        self._changed = Condition()
        self._routes: set[str] = set(_OF_DASH)

    def add_to(self, server: Flask) -> None:
        """Register the handlers that find and store responses.

        Call it after the guard, whose checks come first, and before responses are compressed.
        """
        server.before_request(self._find)
        server.after_request(self._keep)
        server.teardown_request(self._end)

    def add_routes(self, routes: Iterable[str]) -> None:
        """Also cache the responses of these rules."""
        self._routes.update(routes)

    @property
    def body_bytes(self) -> int:
        """Bytes of all cached bodies."""
        return int(self._kept.currsize)

    def _find(self) -> Response | None:
        key = self._key()
        if key is None:
            return None
        with self._changed:
            self._changed.wait_for(lambda: key not in self._under_way, PATIENCE_S)
            stored: Response | None = self._kept.get(key)
            if stored is None:
                self._under_way.add(key)
                g.response_key = g.under_way = key
                return None
        response = Response(stored.get_data(), stored.status, stored.headers.copy())
        response.headers["Cache-Status"] = HIT
        return response

    def _key(self) -> Hashable:
        is_plain = request.method in ("GET", "POST") and not request.headers.get("Range")
        if not is_plain or not request.url_rule or request.url_rule.rule not in self._routes:
            return None
        try:
            seen = self._lakes.look()
        except LakeError:
            return None
        if seen.identity is None:  # Without a lake, the answer depends on the lake before.
            return None
        # The query of a POST identifies one page load, for Dash's background callbacks.
        is_post = request.method == "POST"
        asked = blake2b(request.get_data()).digest() if is_post else request.query_string
        address = request.script_root, request.path, request.method, asked
        return seen, self._lakes.trouble, address, request.headers.get("Accept-Encoding")

    def _keep(self, answer: Response) -> Response:
        key = g.get("response_key")
        is_whole = answer.status_code in (200, 204) and not answer.is_streamed
        if key and is_whole and _size(answer) <= MOST_BYTES:
            kept = Response(answer.get_data(), answer.status, answer.headers.copy())
            with self._changed:
                self._kept[key] = kept
        return answer

    def _end(self, _: BaseException | None) -> None:
        with self._changed:
            self._under_way.discard(g.pop("under_way", None))
            self._changed.notify_all()


def keep_no_response() -> None:
    """Do not cache the response to this request: it depends on more than lake and request."""
    if g:
        g.response_key = None


def _size(answer: Response) -> int:
    return len(answer.get_data())
