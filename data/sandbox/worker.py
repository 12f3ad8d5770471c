"""The process of one query: give up all rights but reading the lake, run the query, answer, end.

It is a sealed `Child` (`data/child_process.py`). It reads two lines of JSON from standard
input: what to open (`Opening`), at once; the query (`Question`), when a visitor asks. It writes one
line of JSON and, for files, their bytes.

The order matters: threads that DuckDB or Arrow start before Landlock would escape it.
"""

import datetime
import io
import json
import math
import os
import re
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from data.child_process import leave_out_pandas
from data.csv_cells import guarded_column, guarded_name
from data.lake_views import LogViews
from data.sandbox.landlock import allow_reading_only

Format = Literal["rows", "csv", "parquet"]
ADDRESS_SPACE_BYTES: Final = 1536 << 20
# A query waits for the processor rather than visitors of other pages.
NICENESS: Final = 5
MEMORY: Final = "256MB"
# DuckDB reads there how many processors and how much memory it has.
_SYSTEM: Final = ("/proc/self/cgroup", "/sys/fs/cgroup", "/sys/devices/system/cpu")
_BATCH_ROWS: Final = 512
_LONGEST_ERROR: Final = 2_000
# Larger whole numbers lose digits in a browser.
_MOST_EXACT: Final = 2**53
# Days and units of time by which DuckDB stands for infinity.
_INFINITE: Final = (2**31 - 1, 2**63 - 1)


@dataclass(frozen=True, slots=True)
class Opening:
    """What a process opens before it knows the query.

    Attributes:
        lake: Folder that the process may read.
        views: Statements that create the lake's views.
        log_views: Those over the files of its runs, as JSON.
        has_landlock: False leaves Landlock out, for kernels without it.
        query_s: Time that DuckDB gives a query; it does not count single functions.
        cpu_s: Processor time of the process, whole seconds.
    """

    lake: str
    views: Sequence[str]
    log_views: dict[str, Any]
    has_landlock: bool
    query_s: float
    cpu_s: int


@dataclass(frozen=True, slots=True)
class Question:
    """One query, and bounds of its answer."""

    sql: str
    most_rows: int
    most_bytes: int
    form: Format


def main() -> None:
    """Run one query; the answer is the only thing written to standard output."""
    # Arrow looks for pandas when it converts values: let it find none now, later it may not look.
    leave_out_pandas()
    _ = pa.lib._pandas_api.have_pandas
    os.nice(NICENESS)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    opening = Opening(**json.loads(sys.stdin.buffer.readline()))
    connection = open_locked(opening)
    out.write(b'{"is_ready": true}\n')
    out.flush()
    line = sys.stdin.buffer.readline()
    if not line:
        return
    question = Question(**json.loads(line))
    began = time.perf_counter()
    try:
        LogViews(**opening.log_views).create(connection, question.sql)
        head, body = answer(connection, question)
    except (
        duckdb.Error,
        pa.ArrowException,
        MemoryError,
        OSError,
        OverflowError,
        ValueError,
    ) as error:
        head, body = {"error": error_words(error)}, b""
    head["elapsed_ms"] = round((time.perf_counter() - began) * 1000, 1)
    head["body_bytes"] = len(body)
    out.write(json.dumps(head, allow_nan=False).encode() + b"\n" + body)
    out.flush()
    # Threads of libraries may still hold what they were computing.
    os._exit(0)


def error_words(error: Exception) -> str:
    """Return an error's message without the parts on the query around it, and on settings."""
    words = re.split(r"\n\n(?:LINE \d+: SELECT \* FROM query|Possible solutions)", str(error))[0]
    return words.strip()[:_LONGEST_ERROR] or type(error).__name__


def open_locked(opening: Opening) -> duckdb.DuckDBPyConnection:
    """Give up this process's rights, then open the views in a DuckDB with locked settings."""
    ZoneInfo("UTC")
    for kind, most in (
        (resource.RLIMIT_AS, ADDRESS_SPACE_BYTES),
        (resource.RLIMIT_CPU, opening.cpu_s),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 256),
    ):
        resource.setrlimit(kind, (most, most))
    if opening.has_landlock:
        allow_reading_only((opening.lake, *_SYSTEM))
    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": MEMORY,
            "threads": 1,
            "temp_directory": "",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "python_enable_replacements": False,
        },
    )
    for statement in opening.views:
        connection.execute(statement)
    folder = opening.lake.rstrip("/").replace("'", "''")
    for setting in (
        "TimeZone = 'UTC'",
        "enable_progress_bar = false",
        f"max_execution_time = {round(opening.query_s * 1000)}",
        f"allowed_directories = ['{folder}/']",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def answer(
    connection: duckdb.DuckDBPyConnection, question: Question
) -> tuple[dict[str, Any], bytes]:
    """Run a query; as a sub-query, so that it can only be one that reads.

    Returns:
        `columns`, `types`, `truncated`, and `rows` where the form is rows; the bytes of a file.
    """
    relation = connection.sql(
        f"SELECT * FROM query($1) LIMIT {question.most_rows + 1:d}", params=[question.sql]
    )
    types = [str(kind) for kind in relation.types]
    reader, batches, rows, size = relation.to_arrow_reader(_BATCH_ROWS), [], 0, 0
    is_truncated = False
    for batch in reader:
        size += batch.nbytes
        if size > question.most_bytes:
            is_truncated = True
            break
        batches.append(batch[: question.most_rows - rows])
        rows += len(batch)
        if rows > question.most_rows:
            is_truncated = True
            break
    table = pa.Table.from_batches(batches, reader.schema)
    head = {"columns": table.column_names, "types": types, "truncated": is_truncated}
    if question.form != "rows":
        return {**head, "row_count": len(table)}, _WRITERS[question.form](table)
    columns = [[to_json(value) for value in _values(column)] for column in table.columns]
    return {**head, "rows": list(zip(*columns, strict=True))}, b""


def to_json(value: Any) -> Any:
    """Convert a cell: numbers that JSON and a browser keep exactly, else text; NULL is None."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, int):
        return value if abs(value) < _MOST_EXACT else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)


def _values(column: pa.ChunkedArray) -> list[Any]:
    """Return a column's values; dates that Python does not have as texts, such as `infinity`."""
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        return [_value(one) for one in column]


def _value(cell: pa.Scalar) -> Any:
    if isinstance(cell, pa.ListScalar) and cell.is_valid:
        return [_value(one) for one in cell.values]
    if isinstance(cell, pa.StructScalar) and cell.is_valid:
        return {name: _value(one) for name, one in cell.items()}
    try:
        return cell.as_py()
    except (OverflowError, ValueError):
        if abs(getattr(cell, "value", 0)) in _INFINITE:
            return "infinity" if cell.value > 0 else "-infinity"
        return str(cell.cast(pa.string()))


def _texts(column: pa.ChunkedArray) -> pa.Array:
    found = [to_json(value) for value in _values(column)]
    return pa.array([None if one is None else str(one) for one in found], pa.string())


def _has_csv(column: pa.ChunkedArray) -> bool:
    kind = column.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return not any(isinstance(value, str) for value in _values(column))
    return not (pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_interval(kind))


def _csv(table: pa.Table) -> bytes:
    """Write CSV. Values that it does not have are written as on the page, nested ones as JSON."""
    flat = [
        guarded_column(column) if _has_csv(column) else _texts(column) for column in table.columns
    ]
    sink = io.BytesIO()
    names = [guarded_name(name) for name in table.column_names]
    pyarrow.csv.write_csv(pa.table(flat, names=names), sink)
    return sink.getvalue()


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()


_WRITERS: Final = {"csv": _csv, "parquet": _parquet}
