"""The request log, and numbers for Prometheus: requests, latencies, the lake, caches, memory.

A line of the log has the URL and the reason of a refusal, but nothing else that a visitor sent: no
address, headers or body. Visitors cannot ask for the numbers: their port is on the loopback alone.
"""

import json
import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from app.kit.context import Lakes
from app.kit.settings import LogFormat
from app.serve.guard import elapsed_s
from app.serve.response_cache import ResponseCache
from data.sandbox.pool import Sandbox

LOGGER: Final = logging.getLogger("wattlas.requests")
METRICS: Final = "wattlas-metrics"
_BOUNDS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20)


class _Numbers(Collector):
    """Numbers of the lake, its caches and SQL, read when somebody asks."""

    def __init__(self, lakes: Lakes, responses: ResponseCache, sandbox: Sandbox | str) -> None:
        self._lakes = lakes
        self._responses = responses
        self._sandbox = sandbox

    def collect(self) -> Iterator[Metric]:
        views = self._lakes.opened
        newest = max((view.version for view in views), default=-1)
        rows = sum(view.cached_rows for view in views)
        for name, help_text, value in (
            ("version", "Newest open version of the lake; -1 for none.", newest),
            ("open_versions", "Open versions of the lake.", len(views)),
            ("cached_rows", "Rows of cached answers.", rows),
            ("cached_response_bytes", "Bodies of cached responses.", self._responses.body_bytes),
        ):
            yield GaugeMetricFamily(f"wattlas_lake_{name}", help_text, value=value)
        if isinstance(self._sandbox, str):
            return
        yield GaugeMetricFamily("wattlas_sql_running", "Queries.", value=self._sandbox.running)
        ended = CounterMetricFamily("wattlas_sql", "Queries by outcome.", labels=["outcome"])
        for outcome, count in self._sandbox.outcomes.items():
            ended.add_metric([outcome], count)
        yield ended


def add_metrics(
    server: Flask, lakes: Lakes, responses: ResponseCache, sandbox: Sandbox | str
) -> None:
    """Count all requests of a server; `serve_metrics` answers with the numbers."""
    registry = server.extensions[METRICS] = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Numbers(lakes, responses, sandbox))
    labels = ["route", "method"]
    requests = Counter("wattlas_requests", "Requests.", [*labels, "status"], registry=registry)
    latency = Histogram(
        "wattlas_request_seconds", "Time of an answer.", labels, registry=registry,
        buckets=_BOUNDS_S,
    )  # fmt: skip

    def count(answer: Response) -> Response:
        names = route_name(), request.method if request.url_rule else "-"
        requests.labels(*names, str(answer.status_code)).inc()
        latency.labels(*names).observe(elapsed_s())
        return answer

    server.after_request(count)


def serve_metrics(server: Flask, port: int) -> int:
    """Answer Prometheus on a port of the loopback, in a thread.

    Args:
        port: 0 for any free one.

    Returns:
        The port.

    Raises:
        OSError: Another program listens there.
    """
    listening, _ = start_http_server(port, "127.0.0.1", server.extensions[METRICS])
    return int(listening.server_port)


def add_request_log(server: Flask, style: LogFormat) -> None:
    """Log all requests of a server at level INFO."""
    LOGGER.setLevel(logging.INFO)
    write = json.dumps if style == "json" else _as_text
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
    """Write each value as one word: texts with spaces or other characters as JSON."""
    labels = {
        name: value if re.fullmatch(r"[!#-~]+", str(value)) else json.dumps(value)
        for name, value in line.items()
    }
    return " ".join(f"{name}={word}" for name, word in labels.items())
