"""HTTP responses with files: tables, exports."""

import io
from collections.abc import Callable

import polars as pl
import polars.selectors as cs
from flask import Response

from data.csv_cells import guarded

CSV = "text/csv"
PARQUET = "application/vnd.apache.parquet"


def file_answer(body: bytes, kind: str, name: str) -> Response:
    """Return a file of a media type, which browsers save under a name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, mimetype=kind, headers=headers)


def table_answer(rows: pl.DataFrame, kind: str, name: str) -> Response:
    """Return a table as a file of type `CSV` or `PARQUET`; lists become text."""
    write, ending = _WRITERS[kind]
    # CSV has no lists.
    body = write(rows.with_columns(cs.list().list.join(" ")))
    return file_answer(body, kind, f"{name}.{ending}")


def _csv(rows: pl.DataFrame) -> bytes:
    return guarded(rows).write_csv().encode()


def _parquet(rows: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


_WRITERS: dict[str, tuple[Callable[[pl.DataFrame], bytes], str]] = {
    CSV: (_csv, "csv"),
    PARQUET: (_parquet, "parquet"),
}
