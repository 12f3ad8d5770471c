"""Scripts and style sheets for browsers: bundled, and sent as they were compressed in advance.

The scripts of `assets/` are one file for the browser a page and two for the kit, and all style
sheets are another: single files would mean fifty requests in a first load, and a quarter more
bytes. First come those that draw the first picture: the scripts of the kit that work without Dash,
the page's, and plotly.js if it opens with a picture. Those of the other pages come when the page
can be used. Dash and Flask answer the first request for a file. If its content was compressed in
advance, that is kept in memory, by address, and sent from then on. Browsers cache files whose
addresses carry a fingerprint.
"""

import html
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import dash
import xxhash
from flask import Flask, Response, request

from app.kit.compressed import ENCODINGS, Encoding, find_compressed
from app.kit.export import Script, vendored
from app.kit.page import Page
from app.kit.settings import ASSETS

BUNDLES: Final = "/_bundle/"
KIT, WITH_DASH, STYLES = "kit.js", "dash.js", "all.css"
_SCRIPT: Final = "text/javascript"
_TAGS: Final = {"js": '<script src="{}"></script>', "css": '<link rel="stylesheet" href="{}">'}
# Only exports load these files.
_LEFT_OUT: Final = "export.js"
_LIBRARIES: Final = "/_dash-component-suites/"
# The library of one page.
_EDITOR: Final = f"{BUNDLES}codemirror.js"
_IMMUTABLE: Final = "public, max-age=31536000, immutable"
_TYPES: Final = ("text/javascript", "application/javascript", "text/css")
_FINGERPRINT: Final = re.compile(r"\.v[\w-]+m\d+\.")
_SCRIPT_TAG: Final = re.compile(r"<script.*?</script>", re.DOTALL)
_IN_INDEX: Final = re.compile(r'(?:src|href)="([^"]+)"')
# Scripts that other scripts load later; the index does not name them.
_LATER: Final = (
    f"{_LIBRARIES}dash/dcc/async-graph.js",
    f"{_LIBRARIES}dash_ag_grid/dash_ag_grid.min.js",
    f"{_LIBRARIES}dash_ag_grid/async-community.js",
    _EDITOR,
)
# Part of a script's address to the script that is sent instead.
_REPLACED: Final[dict[str, Script]] = {
    "/plotly/package_data/plotly.": "plotly",
    "/dash/deps/polyfill@": "regenerator-runtime",
}


@dataclass(frozen=True, slots=True)
class _File:
    """One file that was compressed in advance."""

    mimetype: str
    tag: str
    compressed: dict[Encoding, bytes]


class Scripts:
    """The files that browsers load, by address."""

    def __init__(self, server: Flask) -> None:
        self._files: dict[str, _File] = {}
        server.before_request(self._send)
        server.after_request(self._keep_response)

    def _send(self) -> Response | None:
        """Answer a request for a known file; None leaves it to Dash and Flask."""
        file = self._files.get(_address()) if request.method == "GET" else None
        encoding = request.accept_encodings.best_match(ENCODINGS) if file else None
        if file is None or encoding not in ENCODINGS or _is_changed():
            return None
        answer = Response(file.compressed[encoding], mimetype=file.mimetype)
        answer.headers["Content-Encoding"] = encoding
        answer.set_etag(f"{file.tag}-{encoding}")
        answer.make_conditional(request)
        return answer

    def _keep_response(self, answer: Response) -> Response:
        """Keep what the first response for a file is when compressed; say how long it holds."""
        is_file = _LIBRARIES in request.path or BUNDLES in request.path
        if not is_file or answer.status_code not in (200, 304) or answer.mimetype not in _TYPES:
            return answer
        if "Content-Encoding" not in answer.headers and answer.status_code == 200:
            answer.direct_passthrough = False
            other = next((name for part, name in _REPLACED.items() if part in request.path), None)
            if other:
                answer.set_data(vendored(other))
            content = answer.get_data()
            found = {way: find_compressed(content, way) for way in ENCODINGS}
            whole = {way: compressed for way, compressed in found.items() if compressed}
            if len(whole) == len(ENCODINGS) and not _is_changed():
                tag = xxhash.xxh3_64_hexdigest(content)
                self._files[_address()] = _File(answer.mimetype, tag, whole)
                answer = self._send() or answer
        answer.headers["Vary"] = "Accept-Encoding"
        is_immutable = "m" in request.args or bool(_FINGERPRINT.search(request.path))
        holds = is_immutable and not _is_changed()
        answer.headers["Cache-Control"] = _IMMUTABLE if holds else "no-cache"
        return answer


def contents_to_compress(app: dash.Dash) -> list[bytes]:
    """Return the files that the index of an app loads, and those that its scripts load later."""
    routes, client = app.config.routes_pathname_prefix, app.server.test_client()
    index = client.get(routes).get_data(as_text=True)
    named = (html.unescape(address) for address in _IN_INDEX.findall(index))
    asked = [name for name in named if _LIBRARIES in name or BUNDLES in name]
    plain = {"Accept-Encoding": "identity"}
    return [client.get(address, headers=plain).get_data() for address in [*asked, *_LATER]]


def _address() -> str:
    return f"{request.path}?{request.args.get('m', '')}"


def _is_changed() -> bool:
    """Return whether an asset was edited since the app made the bundle's address."""
    name = request.path.rpartition(BUNDLES)[2]
    return name in bundle_names() and fingerprint(name) != request.args.get("m")


def add_bundles(server: Flask) -> None:
    """Add the addresses of the bundles, and of the library of one page."""
    server.add_url_rule(
        _EDITOR,
        "bundle_editor",
        lambda: Response(vendored("codemirror"), mimetype=_SCRIPT),
        methods=["GET"],
    )
    for name in bundle_names():
        server.add_url_rule(
            f"{BUNDLES}{name}",
            f"bundle_{name}",
            lambda name=name: Response(
                bundle(name), mimetype="text/css" if name == STYLES else _SCRIPT
            ),
            methods=["GET"],
        )


@cache
def bundle_names() -> tuple[str, ...]:
    """Return the names of all bundles; that of a page is named as its folder."""
    folders = sorted({path.parent.name for path in ASSETS.glob("[!_]*/*.js")})
    return KIT, WITH_DASH, STYLES, *(f"{folder}.js" for folder in folders)


def bundle(name: str) -> str:
    """Return the files of a bundle, in the order of their folders and names."""
    return "".join(
        f"/* {path.relative_to(ASSETS)} */\n{path.read_text('utf-8')}\n" for path in _paths(name)
    )


def fingerprint(name: str) -> str:
    """Return a text that changes when a file of a bundle is edited, added or removed."""
    stamps = [f"{path}:{path.stat().st_mtime_ns}" for path in _paths(name)]
    return xxhash.xxh3_64_hexdigest("\n".join(stamps).encode())


def bundle_tag(name: str, prefix: str) -> str:
    """Return the HTML tag that loads a bundle.

    Args:
        prefix: Path under which the app is served, with a slash at its end.
    """
    tag = _TAGS[name.rpartition(".")[2]]
    return tag.format(f"{prefix}{BUNDLES[1:]}{name}?m={fingerprint(name)}")


def scripts_in_turn(tags: str, prefix: str, page: Page | None) -> tuple[str, str, str]:
    """Divide the tags of Dash's scripts and ours by when a page needs them.

    Returns:
        Those for the first picture or text, those for the page, and those for the other pages.
    """
    all_tags = _SCRIPT_TAG.findall(tags)
    plotly = [tag for tag in all_tags if "/plotly/" in tag]
    of_dash = [tag for tag in all_tags if tag not in plotly]
    own = f"{page.name}.js" if page else ""
    others = [bundle_tag(n, prefix) for n in bundle_names()[3:] if n != own]
    first = [bundle_tag(name, prefix) for name in (KIT, own) if name]
    opens_with_picture = page is not None and page.views[0].is_picture
    (first if opens_with_picture else others).append("".join(plotly))
    return (
        "\n".join(first),
        "\n".join([*of_dash, bundle_tag(WITH_DASH, prefix)]),
        "\n".join(others),
    )


def _paths(name: str) -> list[Path]:
    stem, _, kind = name.rpartition(".")
    if name == STYLES:
        return sorted(ASSETS.glob("*/*.css"))
    is_kit = name in (KIT, WITH_DASH)
    files = sorted((ASSETS / ("_kit" if is_kit else stem)).glob(f"*.{kind}"))
    return [
        path
        for path in files
        if path.name != _LEFT_OUT
        and not (is_kit and path.name.startswith("page") != (name == WITH_DASH))
    ]
