"""`/findings/list.csv`: the list of next runs, with its seed, version and question."""

from flask import Flask, Response, request

from app.findings.state import FindingsState
from app.findings.tables import run_list
from app.kit.context import lakes
from app.serve.routes import CSV, file_answer


def add_routes(server: Flask) -> None:
    """Add the address to a server."""
    server.add_url_rule("/findings/list.csv", "findings_list", _list)


def _list() -> Response:
    view, state = lakes().follow(FindingsState.from_query, request.query_string.decode())
    return file_answer(run_list(view, state).encode(), CSV, "wattlas-next-runs.csv")
