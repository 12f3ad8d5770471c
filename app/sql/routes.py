"""`POST /sql/run`, `/sql/csv`, `/sql/parquet` run a query in the sandbox; `/sql/cancel` ends it.

`GET /sql/words` lists the words of DuckDB's SQL for the editor.
"""

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import orjson
from flask import Flask, Response, g, request

from app.kit.context import lake_view, sandbox
from app.kit.encodings import NUMBER_SCALE
from app.serve.guard import visitor
from app.serve.routes import CSV as CSV_TYPE
from app.serve.routes import PARQUET as PARQUET_TYPE
from app.serve.routes import file_answer, json_answer, json_refusal
from app.sql.roles import chart_of, columns_of_result
from data.errors import SelectionError, WattlasError
from data.queries.lake_page import words_query
from data.sandbox import pool

_KEYS: Final = frozenset({"sql", "id", "lake"})
_FILES: Final = {
    "csv": (pool.CSV, CSV_TYPE, "wattlas-sql.csv"),
    "parquet": (pool.PARQUET, PARQUET_TYPE, "wattlas-sql.parquet"),
}
_LONGEST_ID: Final = 64


def add_routes(server: Flask) -> None:
    """Add the addresses to a server."""
    server.add_url_rule("/sql/words", "sql_words", lambda: json_answer(_words))
    for name, view in (("run", _run), ("cancel", _cancel)):
        server.add_url_rule(f"/sql/{name}", f"sql_{name}", _answered(view), methods=["POST"])
    for form in _FILES:
        route = _answered(partial(_file, form))
        server.add_url_rule(f"/sql/{form}", f"sql_file_{form}", route, methods=["POST"])


def _words() -> dict[str, Any]:
    """Return the columns of `words_query`."""
    rows = lake_view(None).lake.polars(*words_query())
    return {name: rows[name].to_list() for name in rows.columns}


def _answered(view: Callable[[dict[str, Any]], Response]) -> Callable[[], Response]:
    """Return a route that reads a JSON object, and answers errors as JSON."""

    def route() -> Response:
        try:
            found = sandbox()
            if isinstance(found, str):
                return _json({"error": found}, 403)
            return view(_asked(request.get_json()))
        except WattlasError as error:
            return json_refusal(error)

    return route


def _asked(body: Any) -> dict[str, Any]:
    """Check the body: `sql`, and if given `id` (a name for `cancel`) and `lake` (a version)."""
    if not isinstance(body, dict) or set(body) - _KEYS:
        raise SelectionError(f"expected a JSON object with {', '.join(sorted(_KEYS))}")
    for key in ("sql", "id"):
        if not isinstance(body.get(key, ""), str):
            raise SelectionError(f"{key} is no text")
    if len(body.get("id", "")) > _LONGEST_ID:
        raise SelectionError(f"id has more than {_LONGEST_ID} characters")
    version = body.get("lake")
    if version is not None and (not isinstance(version, int) or isinstance(version, bool)):
        raise SelectionError(f"lake is {str(version)[:40]!r}, expected a version number")
    g.query_id = body.get("id") or secrets.token_hex(8)
    return body


def _ask(body: dict[str, Any], bounds: pool.Bounds) -> tuple[dict[str, Any], bytes]:
    workers = sandbox()
    assert not isinstance(workers, str)
    sql = body.get("sql", "")
    if not sql.strip():
        raise SelectionError("sql is empty")
    return workers.run(lake_view(body.get("lake")).lake, sql, bounds, g.query_id, visitor())


def _run(body: dict[str, Any]) -> Response:
    answer = _ask(body, pool.ROWS)[0]
    columns = columns_of_result(lake_view(body.get("lake")), answer)
    chart = chart_of(columns, len(answer["rows"]))
    return _json({**answer, "about": columns, "chart": chart, "scale": NUMBER_SCALE}, 200)


def _file(form: str, question: dict[str, Any]) -> Response:
    bounds, kind, name = _FILES[form]
    head, body = _ask(question, bounds)
    answer = file_answer(body, kind, name)
    answer.headers["X-Truncated"] = "yes" if head["truncated"] else "no"
    return answer


def _cancel(body: dict[str, Any]) -> Response:
    workers = sandbox()
    assert not isinstance(workers, str)
    return _json({"cancelled": workers.cancel(body.get("id", ""))}, 200)


def _json(body: Any, status: int) -> Response:
    return Response(orjson.dumps(body), status=status, mimetype="application/json")
