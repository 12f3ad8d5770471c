"""All scripts of `assets/` as one file for the browser, and all style sheets as another.

Single files would mean fifty requests in a first load, and a quarter more bytes.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import xxhash
from flask import Flask, Response

from app.kit.settings import ASSETS

BUNDLES: Final = "/_bundle/"
_TYPES: Final = {"js": "text/javascript", "css": "text/css"}
_TAGS: Final = {"js": '<script src="{}"></script>', "css": '<link rel="stylesheet" href="{}">'}
# Only exports load these files.
_LEFT_OUT: Final = "export.js"


def add_bundles(server: Flask) -> None:
    """Add the addresses of the bundles."""
    for kind, mimetype in _TYPES.items():
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
