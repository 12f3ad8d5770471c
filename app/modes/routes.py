"""Addresses of what Modes gives away: rows behind its views, and how they came about."""

import polars as pl
from flask import Flask, Response, request

from app.kit.context import lake_view
from app.kit.downloads import CSV, PARQUET, table_answer, words_answer
from app.kit.lakes import LakeView
from app.modes.state import ModesState
from app.modes.tables import explain, rows_behind


def add_routes(server: Flask) -> None:
    """Add `/modes/data/PICTURE.csv`, `/modes/data/PICTURE.parquet`, `/how/modes/PICTURE`."""
    for ending, kind in (("csv", CSV), ("parquet", PARQUET)):
        server.add_url_rule(
            f"/modes/data/<picture>.{ending}", f"modes_{ending}", _data, defaults={"kind": kind}
        )
    server.add_url_rule("/how/modes/<picture>", "modes_how", _how)


def _data(picture: str, kind: str) -> Response:
    def rows() -> pl.DataFrame:
        return rows_behind(*_asked(), picture)

    return table_answer(rows, kind, f"wattlas-modes-{picture}")


def _how(picture: str) -> Response:
    return words_answer(lambda: explain(*_asked(), picture))


def _asked() -> tuple[LakeView, ModesState]:
    """The lake and the state that the request's query names."""
    state = ModesState.from_query(request.query_string.decode())
    return lake_view(state.lake_version), state
