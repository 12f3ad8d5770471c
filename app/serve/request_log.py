"""The request log: one line per request, with the reason if it was refused.

A line has the URL, but nothing else that a visitor sent: no address, headers or body.
"""

import json
import logging
import re
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from flask import Flask, Response, g, request

from app.kit.settings import LogFormat
from app.serve.guard import elapsed_s

LOGGER: Final = logging.getLogger("wattlas.requests")


def add_request_log(server: Flask, style: LogFormat) -> None:
    """Log all requests of a server at level INFO."""
    LOGGER.setLevel(logging.INFO)
    write = {"text": _as_text, "json": json.dumps}[style]
    server.after_request(partial(_log, write))


def route_name() -> str:
    """Return the route of the current request; a dash for an address without one."""
    return request.url_rule.rule if request.url_rule else "-"


def _log(write: Any, answer: Response) -> Response:
    line = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "method": request.method,
        "route": route_name(),
        "url": request.full_path.rstrip("?"),
        "status": answer.status_code,
        "ms": round(elapsed_s() * 1000, 1),
        "query": g.get("query_id"),
        "refused": g.get("refused"),
    }
    LOGGER.info("%s", write({name: value for name, value in line.items() if value is not None}))
    return answer


def _as_text(line: dict[str, Any]) -> str:
    return " ".join(f"{name}={_word(value)}" for name, value in line.items())


def _word(value: Any) -> str:
    """Write a value as one word: texts with spaces or other characters as JSON."""
    text = str(value)
    return text if re.fullmatch(r"[!#-~]+", text) else json.dumps(value)
