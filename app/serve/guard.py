"""Checks of every request before its route runs, and the security headers of every response.

A refused request gets a status that fits and one line on what was wrong; never a stack trace.
Visitors are told apart by their network address, for quotas.
"""

import logging
import time
import unicodedata
from collections.abc import Collection, Sequence
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, Final
from urllib.parse import urlsplit

from dash.exceptions import DependencyException, InvalidCallbackReturnValue
from flask import Flask, Response, abort, current_app, g, request
from flask.json.provider import DefaultJSONProvider
from werkzeug.exceptions import (
    BadRequest,
    HTTPException,
    InternalServerError,
    NotFound,
    default_exceptions,
)
from werkzeug.sansio.utils import host_is_trusted

from app.kit.export import fill
from app.kit.links import LAKE_PATH, address
from app.kit.settings import LOOPBACK, Network
from data.errors import BusyError, UnknownVersionError, WattlasError

MOST_BODY_BYTES: Final = 1_000_000
# When to repeat a request that found the server busy.
RETRY_S: Final = 2
_TRICKS: Final = frozenset({"", ".", ".."})
_JSON: Final = "application/json"
# Components of a page are nested some 20 levels deep.
_DEEPEST: Final = 100
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
_PROXIES: Final = "wattlas-proxies"
# An IPv6 visitor has a whole network of this size.
_IPV6_BITS: Final = 64


def add_guard(server: Flask, allowed_hosts: Collection[str] | None) -> None:
    """Refuse bad requests to all routes, and answer errors as plain text.

    Call it before other request handlers are registered.

    Args:
        allowed_hosts: Names besides those of the loopback; a leading dot allows all subdomains.
            None allows any name.
    """
    server.config["MAX_CONTENT_LENGTH"] = MOST_BODY_BYTES
    server.json = _Json(server)
    names = None if allowed_hosts is None else (*LOOPBACK, *allowed_hosts)
    server.before_request(partial(_check, names))
    server.register_error_handler(HTTPException, _in_words)
    server.register_error_handler(DependencyException, lambda _: _in_words(NotFound()))
    server.register_error_handler(WattlasError, _refused)
    server.register_error_handler(InvalidCallbackReturnValue, _unfit)
    server.register_error_handler(Exception, _bug)


class _Json(DefaultJSONProvider):
    """Flask's JSON, without bodies so deep that what reads them would run out of stack."""

    def loads(self, s: str | bytes, **more: Any) -> Any:
        try:
            body = super().loads(s, **more)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        level = [body]
        for _ in range(_DEEPEST):
            level = [part for one in level if isinstance(one, (dict, list))
                     for part in (one.values() if isinstance(one, dict) else one)]  # fmt: skip
            if not level:
                return body
        raise ValueError("nested too deeply")


def elapsed_s() -> float:
    """Return the time since the current request arrived."""
    now_s = time.perf_counter()
    return now_s - float(g.get("started_s", now_s))


def _check(allowed_hosts: Collection[str] | None) -> None:
    g.started_s = time.perf_counter()
    # Werkzeug compares no IPv6 addresses with names.
    is_loopback = request.host.startswith("[::1]") and host_is_trusted(request.host)
    if not (is_loopback or host_is_trusted(request.host, allowed_hosts)):
        abort(
            400,
            f"this server does not answer as {request.host[:100]!r}: "
            "its administrator can add the name to --allowed-hosts",
        )
    problem = path_problem(request.path)
    if problem:
        abort(400, f"the path {problem}")
    if is_cross_site() and not is_navigation():
        abort(403, "a page of another site may link here, but may not load this or post to it")
    if request.method != "POST":
        return
    if (request.content_length or 0) > MOST_BODY_BYTES:
        abort(413, f"the body has {request.content_length:,} bytes, at most {MOST_BODY_BYTES:,}")
    has_body = request.content_length or "Transfer-Encoding" in request.headers
    if has_body and request.mimetype != _JSON:
        abort(415, f"the body is {request.mimetype[:100] or 'of no type'!r}, expected {_JSON}")


def path_problem(path: str) -> str:
    """Return why a decoded path is refused; empty if it is well formed."""
    if any(unicodedata.category(c) == "Cc" for c in path):
        return "holds a control character"
    if "\\" in path or "\N{REPLACEMENT CHARACTER}" in path:
        return "holds a backslash, or is not UTF-8"
    if any(part in _TRICKS for part in path.strip("/").split("/")) and path != "/":
        return "holds an empty part, '.' or '..'"
    return ""


def is_cross_site() -> bool:
    """Return whether the browser's headers name a page of another site as the sender."""
    site = request.headers.get("Sec-Fetch-Site")
    if site:
        return site not in ("same-origin", "none")
    origin = request.headers.get("Origin")
    return origin is not None and urlsplit(origin).netloc != request.host


def _in_words(error: HTTPException) -> Response:
    """Answer with the error's description and headers: plain text, or a page where one is shown."""
    answer = Response(f"{error.description}\n", error.code, mimetype="text/plain")
    if is_navigation():
        ways = {title: address(path) for title, path in (("Explore", "/"), ("Lake", LAKE_PATH))}
        answer = Response(fill("error.html", error=error, ways=ways), error.code)
    for name, value in error.get_headers():
        if name != "Content-Type":
            answer.headers[name] = value
    g.refused = error.description
    return answer


def is_navigation() -> bool:
    """Return whether the browser opens a link to show the answer as a page of its own."""
    headers = request.headers
    opened = headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest")
    return request.method == "GET" and opened == ("navigate", "document")


def status_of(error: WattlasError) -> int:
    """Return the status of the answer to a request that is refused with this error."""
    statuses = {UnknownVersionError: 404, BusyError: 503}
    return next((status for kind, status in statuses.items() if isinstance(error, kind)), 400)


def retry_header(error: WattlasError) -> dict[str, str]:
    """Return the header that says when to repeat a request that found the server busy."""
    return {"Retry-After": str(RETRY_S)} if isinstance(error, BusyError) else {}


def _refused(error: WattlasError) -> Response:
    refusal = default_exceptions[status_of(error)]
    answer = _in_words(refusal(str(error)))
    answer.headers.update(retry_header(error))
    return answer


def _unfit(error: Exception) -> Response:
    """Answer a request whose outputs differ from the callback's; the page may have a bug."""
    logging.getLogger("wattlas").warning("a callback's answer does not fit: %s", error)
    return _in_words(BadRequest("the callback's answer does not fit the outputs asked for"))


def _bug(error: Exception) -> Response:
    return _in_words(InternalServerError(bug("a request", error)))


def bug(what: str, error: Exception) -> str:
    """Log an error that nobody expected; return what a visitor is told.

    Args:
        what: What failed.
    """
    logging.getLogger("wattlas").error("BUG: %s failed", what, exc_info=error)
    return f"BUG: {type(error).__name__} inside wattlas; the server's log has the details."


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


def trust_proxies(server: Flask, proxies: Sequence[Network]) -> None:
    """Set the addresses whose header `X-Forwarded-For` names the visitor."""
    server.extensions[_PROXIES] = tuple(proxies)


def visitor() -> str:
    """Return the address of the visitor who sent the current request.

    A request from a trusted proxy comes from the last address in `X-Forwarded-For`: the proxy adds
    that one, and whatever stands before it is the visitor's own claim.
    """
    ip = _address(request.remote_addr or "")
    proxies: tuple[Network, ...] = current_app.extensions[_PROXIES]
    if ip and any(ip in proxy for proxy in proxies):
        ip = _address(request.headers.get("X-Forwarded-For", "").rpartition(",")[2]) or ip
    if ip and ip.version == 6:
        return str(ip_network(f"{ip}/{_IPV6_BITS}", strict=False))
    return str(ip or "")


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        ip = ip_address(text.strip())
    except ValueError:
        return None
    return (ip.ipv4_mapped or ip) if ip.version == 6 else ip
