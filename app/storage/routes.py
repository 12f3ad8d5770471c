"""Addresses of what Storage gives away: rows behind its views, and how they came about."""

import polars as pl
from flask import Flask, Response, request

from app.kit.context import lake_view
from app.kit.downloads import CSV, PARQUET, file_answer, table_answer, words_answer
from app.kit.lakes import LakeView
from app.storage.export import export_html
from app.storage.state import StorageState
from app.storage.tables import explain, rows_behind


def add_routes(server: Flask) -> None:
    """Add `/storage/data/PICTURE.csv`, `.parquet`; `/storage/export.html`; `/how/storage/...`."""
    for ending, kind in (("csv", CSV), ("parquet", PARQUET)):
        server.add_url_rule(
            f"/storage/data/<picture>.{ending}",
            f"storage_{ending}",
            _data,
            defaults={"kind": kind},
        )
    server.add_url_rule("/how/storage/<picture>", "storage_how", _how)
    server.add_url_rule("/storage/export.html", "storage_export", _export)


def _export() -> Response:
    return file_answer(lambda: export_html(*_asked()).encode(), "text/html", "wattlas-storage.html")


def _data(picture: str, kind: str) -> Response:
    def rows() -> pl.DataFrame:
        return rows_behind(*_asked(), picture)

    return table_answer(rows, kind, f"wattlas-{picture}")


def _how(picture: str) -> Response:
    return words_answer(lambda: explain(*_asked(), picture))


def _asked() -> tuple[LakeView, StorageState]:
    """The lake and the state that the request's query names."""
    state = StorageState.from_query(request.query_string.decode())
    return lake_view(state.lake_version), state
