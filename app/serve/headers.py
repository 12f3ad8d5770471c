"""Security headers of every response."""

from collections.abc import Sequence
from typing import Final

from flask import Flask, Response, g

_POLICY: Final = (
    "default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
    "worker-src 'self' blob:; manifest-src 'self'; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'self'; object-src 'none'"
)
_UNUSED_FEATURES: Final = (
    "camera", "display-capture", "geolocation", "microphone", "midi", "payment", "usb",
)  # fmt: skip
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{name}=()" for name in _UNUSED_FEATURES),
}


def add_headers(server: Flask) -> None:
    """Add the headers to all responses of a server."""
    server.after_request(_with_headers)


def allow_scripts(hashes: Sequence[str]) -> None:
    """Allow the inline scripts of the response to this request.

    Args:
        hashes: In the form of the policy: `'sha256-...'`.
    """
    g.script_hashes = hashes


def _with_headers(answer: Response) -> Response:
    scripts = " ".join(["'self'", *g.get("script_hashes", ())])
    answer.headers["Content-Security-Policy"] = _POLICY.format(scripts=scripts)
    answer.headers.update(_HEADERS)
    return answer
