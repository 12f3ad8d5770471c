"""What Explore gives away: rows behind its pictures, how they came about, the page as a file."""

import polars as pl
from flask import Flask, Response, request

from app.explore.answer import explain, rows_behind
from app.explore.export import export_html
from app.explore.state import ViewState
from app.kit.context import lake_view
from app.kit.downloads import CSV, PARQUET, file_answer, table_answer, words_answer
from app.kit.lakes import LakeView


def add_routes(server: Flask) -> None:
    """Add `/export.html`, `/data/PICTURE.csv`, `/data/PICTURE.parquet`, `/how/explore/PICTURE`."""
    server.add_url_rule("/export.html", view_func=_export)
    server.add_url_rule("/data/<picture>.csv", "data_csv", _data, defaults={"kind": CSV})
    server.add_url_rule(
        "/data/<picture>.parquet", "data_parquet", _data, defaults={"kind": PARQUET}
    )
    server.add_url_rule("/how/explore/<picture>", view_func=_how)


def _export() -> Response:
    return file_answer(lambda: export_html(*_asked()).encode(), "text/html", "wattlas.html")


def _data(picture: str, kind: str) -> Response:
    def rows() -> pl.DataFrame:
        return rows_behind(*_asked(), picture)

    return table_answer(rows, kind, f"wattlas-{picture}")


def _how(picture: str) -> Response:
    return words_answer(lambda: explain(*_asked(), picture))


def _asked() -> tuple[LakeView, ViewState]:
    """The lake and the state that the request's query names."""
    state = ViewState.from_query(request.query_string.decode())
    return lake_view(state.lake_version), state
