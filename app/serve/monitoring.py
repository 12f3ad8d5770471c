"""Numbers for Prometheus on a port of their own: requests, latencies, the lake, caches, memory.

Visitors cannot ask for them: the port listens on the loopback alone.
"""

from collections.abc import Iterator
from typing import Final

from flask import Flask, Response, request
from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from app.kit.lakes import Lakes
from app.serve.guard import elapsed_s
from app.serve.request_log import route_name
from app.serve.response_cache import ResponseCache
from data.sandbox.pool import Sandbox

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
        for name, words, value in (
            ("version", "Newest open version of the lake; -1 for none.", newest),
            ("open_versions", "Open versions of the lake.", len(views)),
            ("cached_rows", "Rows of cached answers.", rows),
            ("cached_response_bytes", "Bodies of cached responses.", self._responses.body_bytes),
        ):
            yield GaugeMetricFamily(f"wattlas_lake_{name}", words, value=value)
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
