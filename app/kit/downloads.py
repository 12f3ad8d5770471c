"""HTTP responses other than pages: tables as files, plain text, errors."""

import io
from collections.abc import Callable

import polars as pl
import polars.selectors as cs
from flask import Response

from data.errors import WattlasError

CSV = "text/csv"
PARQUET = "application/vnd.apache.parquet"


def file_answer(make: Callable[[], bytes], kind: str, name: str) -> Response:
    """Return a file to be saved; on an error status 400 with its message.

    Args:
        make: Returns the file's bytes; a `WattlasError` becomes the response.
        kind: Media type.
        name: File name for the browser.
    """
    try:
        body = make()
    except WattlasError as error:
        return refusal(error)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, mimetype=kind, headers=headers)


def table_answer(make: Callable[[], pl.DataFrame], kind: str, name: str) -> Response:
    """Return a table as a file of type `CSV` or `PARQUET`; lists become text."""
    write, ending = _WRITERS[kind]
    return file_answer(lambda: write(_flat(make())), kind, f"{name}.{ending}")


def words_answer(make: Callable[[], str]) -> Response:
    """Return plain text."""
    try:
        return Response(make(), mimetype="text/plain")
    except WattlasError as error:
        return refusal(error)


def refusal(error: WattlasError) -> Response:
    """Return status 400 with the error's message."""
    return Response(f"{error}\n", status=400, mimetype="text/plain")


def _flat(rows: pl.DataFrame) -> pl.DataFrame:
    """Convert lists to text, because CSV has no lists."""
    return rows.with_columns(cs.list().list.join(" "))


def _csv(rows: pl.DataFrame) -> bytes:
    return rows.write_csv().encode()


def _parquet(rows: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


_WRITERS: dict[str, tuple[Callable[[pl.DataFrame], bytes], str]] = {
    CSV: (_csv, "csv"),
    PARQUET: (_parquet, "parquet"),
}
