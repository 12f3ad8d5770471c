"""Scripts."""

import html
import os
import queue
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import dash
import xxhash
from flask import Flask, Response, request

from app.kit.export import Script, vendored
from app.kit.settings import ASSETS
from app.serve.compressed import ENCODINGS, CompressedFiles, Encoding, compress_fast

# Key of the app's `Scripts` among the server's extensions.
SCRIPTS: Final = "wattlas-scripts"
_LIBRARIES: Final = "/_dash-component-suites/"
_IMMUTABLE: Final = "public, max-age=31536000, immutable"
_TYPES: Final = ("text/javascript", "application/javascript", "text/css")
_LEAST_BYTES: Final = 256
_FINGERPRINT: Final = re.compile(r"\.v[\w-]+m\d+\.")
_IN_INDEX: Final = re.compile(r'(?:src|href)="([^"]+)"')
# Scripts that other scripts load later; the index does not name them.
_LATER: Final = (
    f"{_LIBRARIES}dash/dcc/async-graph.js",
    f"{_LIBRARIES}dash_ag_grid/dash_ag_grid.min.js",
    f"{_LIBRARIES}dash_ag_grid/async-community.js",
)
# Part of a script's address to the script that is sent instead.
_REPLACED: Final[dict[str, Script]] = {
    "/plotly/package_data/plotly.": "plotly",
    "/dash/deps/polyfill@": "regenerator-runtime",
}
_LOWEST_PRIORITY: Final = 19
BUNDLES: Final = "/_bundle/"
_KINDS: Final = {"js": "text/javascript", "css": "text/css"}
_TAGS: Final = {"js": '<script src="{}"></script>', "css": '<link rel="stylesheet" href="{}">'}
# Only exports load these files.
_LEFT_OUT: Final = "export.js"


@dataclass(frozen=True, slots=True)
class _File:
    """One file; the background thread replaces entries of `compressed` by better ones."""

    mimetype: str
    content: bytes
    tag: str
    is_immutable: bool
    compressed: dict[Encoding, bytes] = field(default_factory=dict)


class Scripts:
    """The files that browsers load, by address."""

    def __init__(self, app: dash.Dash, kept: CompressedFiles) -> None:
        self._app = app
        self._kept = kept
        self._files: dict[str, _File] = {}
        self._waiting: queue.SimpleQueue[_File] = queue.SimpleQueue()
        app.server.before_request(self._send)
        # Flask runs these handlers in reverse order, so this one runs before flask-compress.
        app.server.after_request(self._keep_response)

    def prepare(self) -> None:
        """Compress the files that the index loads, and those that its scripts load later."""
        config = self._app.config
        routes, asked = config.routes_pathname_prefix, config.requests_pathname_prefix
        index = self._app.server.test_client().get(routes).get_data(as_text=True)
        named = [html.unescape(address) for address in _IN_INDEX.findall(index)]
        addresses = [routes + name.removeprefix(asked) for name in named if name.startswith(asked)]
        self.compress([*addresses, *(routes + name.lstrip("/") for name in _LATER)])

    def compress(self, addresses: Sequence[str]) -> threading.Thread:
        """Compress the files at some addresses in a thread of the lowest priority."""
        thread = threading.Thread(target=self._compress, args=[addresses], daemon=True)
        thread.start()
        return thread

    def _compress(self, addresses: Sequence[str]) -> None:
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOWEST_PRIORITY)
        client = self._app.server.test_client()
        for address in addresses:
            client.get(address, headers={"Accept-Encoding": "br"})
        while not self._waiting.empty():
            file = self._waiting.get()
            for encoding in ENCODINGS:
                file.compressed[encoding] = self._kept.make(file.content, encoding)

    def _send(self) -> Response | None:
        """Answer a request for a known file; None leaves it to Dash and Flask."""
        encoding = request.accept_encodings.best_match(ENCODINGS)
        file = self._files.get(_address())
        if file is None or encoding not in ENCODINGS or request.method != "GET" or _is_changed():
            return None
        if encoding not in file.compressed:
            file.compressed.setdefault(encoding, compress_fast(file.content, encoding))
        answer = Response(file.compressed[encoding], mimetype=file.mimetype)
        answer.headers["Content-Encoding"] = encoding
        answer.headers["Vary"] = "Accept-Encoding"
        answer.headers["Cache-Control"] = _IMMUTABLE if file.is_immutable else "no-cache"
        answer.set_etag(f"{file.tag}-{encoding}")
        answer.make_conditional(request)
        return answer

    def _keep_response(self, answer: Response) -> Response:
        """Keep the first response for a file, and queue it for compression at the best level."""
        is_whole = answer.status_code == 200 and "Content-Encoding" not in answer.headers
        if (
            request.method != "GET"
            or not is_whole
            or not _is_file()
            or _is_changed()
            or answer.mimetype not in _TYPES
        ):
            return answer
        answer.direct_passthrough = False
        other = replacement(request.path)
        if other is not None:
            answer.set_data(other)
        content = answer.get_data()
        if len(content) < _LEAST_BYTES:
            return answer
        file = _File(
            answer.mimetype, content, xxhash.xxh3_64_hexdigest(content), _has_fingerprint()
        )
        for encoding in ENCODINGS:
            found = self._kept.find(content, encoding)
            if found is not None:
                file.compressed[encoding] = found
        if len(file.compressed) < len(ENCODINGS):
            self._waiting.put(file)
        self._files[_address()] = file
        return self._send() or answer


def _is_file() -> bool:
    return _LIBRARIES in request.path or BUNDLES in request.path


def _address() -> str:
    return f"{request.path}?{request.args.get('m', '')}"


def _has_fingerprint() -> bool:
    return "m" in request.args or bool(_FINGERPRINT.search(request.path))


def _is_changed() -> bool:
    """Return whether an asset was edited since the app made the bundle's address."""
    kind = request.path.rpartition(".")[2]
    return BUNDLES in request.path and fingerprint(kind) != request.args.get("m")


def add_bundles(server: Flask) -> None:
    """Add the addresses of the bundles."""
    for kind, mimetype in _KINDS.items():
        server.add_url_rule(
            f"{BUNDLES}all.{kind}", f"bundle_{kind}", _answer(kind, mimetype), methods=["GET"]
        )


def _answer(kind: str, mimetype: str) -> Callable[[], Response]:
    return lambda: Response(bundle(kind), mimetype=mimetype)


def bundle(kind: str) -> str:
    """Return the files of a kind, `js` or `css`, in the order of their folders and names."""
    return "".join(
        f"/* {path.relative_to(ASSETS)} */\n{path.read_text('utf-8')}\n" for path in _paths(kind)
    )


def fingerprint(kind: str) -> str:
    """Return a text that changes when a file of a kind is edited, added or removed."""
    stamps = [f"{path}:{path.stat().st_mtime_ns}" for path in _paths(kind)]
    return xxhash.xxh3_64_hexdigest("\n".join(stamps).encode())


def bundle_tag(kind: str, prefix: str) -> str:
    """Return the HTML tag that loads a bundle.

    Args:
        prefix: Path under which the app is served, with a slash at its end.
    """
    return _TAGS[kind].format(f"{prefix}{BUNDLES[1:]}all.{kind}?m={fingerprint(kind)}")


def _paths(kind: str) -> list[Path]:
    return [path for path in sorted(ASSETS.glob(f"*/*.{kind}")) if path.name != _LEFT_OUT]


def replacement(path: str) -> str | None:
    """Return the script to send for an address; None for the one that is there."""
    return next((vendored(name) for part, name in _REPLACED.items() if part in path), None)
