"""The lake's lock and its two Delta tables; a commit to `runs` names the big files of its rows."""

import fcntl
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from deltalake import DeltaTable, Field, WriterProperties, write_deltalake
from deltalake.exceptions import DeltaError

from data.declared import Column
from data.errors import LakeError
from data.schema import PROBLEMS, RUN_TABLES, RUNS, SCHEMA_DESCRIPTION
from ingest.lake.upgrades import UPGRADERS, unknown_schema, upgraded
from ingest.records import Problem

COMPACT_ABOVE_FILES: Final = 8
_LOCK_NAME: Final = ".ingest.lock"
# Versions stay reachable until `ingest prune`: Delta must not expire them by age.
_KEEP_FOREVER: Final = {
    "delta.logRetentionDuration": "interval 36500 days",
    "delta.deletedFileRetentionDuration": "interval 36500 days",
    "delta.enableExpiredLogCleanup": "false",
}
_DELTA_WRITER: Final = WriterProperties(compression="ZSTD", compression_level=3)
_INT_COLUMNS: Final = frozenset(f.name for f in RUNS if pa.types.is_integer(f.type))


@contextmanager
def locked_lake(lake: Path) -> Iterator[None]:
    """Hold the lake's one ingest lock; readers need none.

    Raises:
        LakeError: Another ingest holds it.
    """
    lake.mkdir(parents=True, exist_ok=True)
    with (lake / _LOCK_NAME).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise LakeError(
                f"another ingest is writing to {lake} (process {holder}); wait until it is done"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def remove_temporaries(lake: Path) -> int:
    """Remove what a killed ingest left half-written; only under the ingest lock."""
    folders = (f"{table}/*/" for table in RUN_TABLES)
    strays = [stray for folder in ("", *folders) for stray in lake.glob(f"{folder}.*.tmp")]
    for stray in strays:
        stray.unlink(missing_ok=True)
    return len(strays)


def open_table(lake: Path, name: str) -> DeltaTable | None:
    """Open `runs` or `problems` at its newest version; None if it is not there yet.

    Raises:
        LakeError: It cannot be read, or is of a schema version that nobody knows.
    """
    path = lake / name
    if not DeltaTable.is_deltatable(str(path)):
        return None
    try:
        table = DeltaTable(str(path))
    except DeltaError as error:
        raise LakeError(f"cannot open {path}: {error}") from error
    found = table.metadata().description
    if found != SCHEMA_DESCRIPTION and found not in UPGRADERS:
        raise unknown_schema(path, found)
    return table


def create_tables(lake: Path) -> None:
    """Make the two Delta tables of a lake that lacks them; upgrade those of older schemas.

    Raises:
        LakeError: A table is of a schema version that nobody knows.
    """
    for name, schema in (("problems", PROBLEMS), ("runs", RUNS)):
        table = open_table(lake, name)
        if table is not None:
            with _naming(lake / name):
                table = upgraded(lake / name)
            there = {field.name for field in table.schema().fields}
            if young := [Field.from_arrow(f) for f in schema if f.name not in there]:
                with _naming(lake / name):
                    table.alter.add_columns(young)
        else:
            with _naming(lake / name):
                DeltaTable.create(
                    str(lake / name),
                    schema=schema,
                    mode="ignore",
                    name=name,
                    description=SCHEMA_DESCRIPTION,
                    configuration=_KEEP_FOREVER,
                )


def describe_columns(lake: Path, columns: Iterable[Column], there: Collection[str]) -> None:
    """Give `runs` further columns and their descriptions, or other descriptions to those it has.

    Args:
        there: Names of the declared columns that it has.

    Raises:
        LakeError: The table cannot be written.
    """
    table = DeltaTable(str(lake / "runs"))
    with _naming(lake / "runs"):
        young = [column for column in columns if column.name not in there]
        if young:
            table.alter.add_columns([_field(column) for column in young])
        for column in columns:
            if column.name in there:
                table.alter.set_column_metadata(column.name, column.to_metadata())


def _field(column: Column) -> Field:
    bare = Field.from_arrow(pa.field(column.name, column.type))
    return Field(bare.name, bare.type, nullable=True, metadata=column.to_metadata())


# The schema asked for last, with its names: pyarrow makes a list of these anew each time.
_LAST: Final[list[tuple[pa.Schema, frozenset[str]]]] = []


def _names_of(schema: pa.Schema) -> frozenset[str]:
    if not _LAST or _LAST[0][0] is not schema:
        _LAST[:] = [(schema, frozenset(schema.names))]
    return _LAST[0][1]


def conform_row(row: Mapping[str, Any], schema: pa.Schema = RUNS) -> dict[str, Any]:
    """A row of `runs` with every column that is set in the column's own type; no NULLs in it.

    Args:
        schema: The columns of `runs`, those that datasets declare included.

    Raises:
        LakeError: A column that `runs` does not have.
    """
    if not row.keys() <= _names_of(schema):
        unknown = sorted(row.keys() - _names_of(schema))
        raise LakeError(f"BUG: runs has no column {unknown[0]!r} (run {row.get('run_id')})")
    return {
        name: int(value) if name in _INT_COLUMNS else value
        for name, value in row.items()
        if value is not None
    }


def replace_runs(
    lake: Path,
    rows: Sequence[Mapping[str, Any]],
    replaced: Iterable[str] = (),
    schema: pa.Schema = RUNS,
) -> None:
    """Add rows to `runs` in one commit, in place of those of the run ids in `replaced`.

    Args:
        schema: As `conform_row`.
    """
    ordered = sorted(rows, key=_sort_key)
    data = pa.Table.from_pylist(ordered, schema=schema)
    gone = sorted(set(replaced))
    if not gone:
        _commit(lake / "runs", data, None)
    else:
        affected = sorted({*gone, *(row["run_id"] for row in rows)})
        _commit(lake / "runs", data, f"run_id IN ({_quoted(affected)})")


def replace_problems(
    lake: Path,
    dataset: str,
    problems: Mapping[str, Sequence[Problem]],
    replaced: Iterable[str] = (),
) -> None:
    """Write the problems of some paths in one commit, in place of the old ones of `replaced`."""
    rows = [
        {
            "dataset": dataset,
            "path": path,
            "line": problem.line,
            "kind": problem.kind,
            "severity": problem.severity,
            "detail": problem.detail,
            "count": problem.count,
        }
        for path in sorted(problems)
        for problem in problems[path]
    ]
    data = pa.Table.from_pylist(rows, schema=PROBLEMS)
    gone = sorted(set(replaced))
    if not gone:
        _commit(lake / "problems", data, None)
    else:
        affected = sorted({*gone, *problems})
        where = f"dataset = {_quoted([dataset])} AND path IN ({_quoted(affected)})"
        _commit(lake / "problems", data, where)


def compact(lake: Path) -> None:
    """Merge the small files of tables that have grown many."""
    for name in ("runs", "problems"):
        table = open_table(lake, name)
        if table is not None and len(table.file_uris()) > COMPACT_ABOVE_FILES:
            with _naming(lake / name):
                table.optimize.compact(writer_properties=_DELTA_WRITER)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say which table could not be written, and why, in our own words."""
    try:
        yield
    except (DeltaError, OSError) as error:
        raise LakeError(f"cannot write {path}: {error}") from error


def _commit(path: Path, data: pa.Table, predicate: str | None) -> None:
    with _naming(path):
        _write_commit(path, data, predicate)


def _write_commit(path: Path, data: pa.Table, predicate: str | None) -> None:
    if predicate is None:
        if data.num_rows:
            write_deltalake(str(path), data, mode="append", writer_properties=_DELTA_WRITER)
    elif data.num_rows:
        write_deltalake(
            str(path),
            data,
            mode="overwrite",
            predicate=predicate,
            writer_properties=_DELTA_WRITER,
        )
    else:
        DeltaTable(str(path)).delete(predicate, writer_properties=_DELTA_WRITER)


def _quoted(texts: Iterable[str]) -> str:
    return ", ".join("'" + text.replace("'", "''") + "'" for text in texts)


def _sort_key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Neighbours in a filter lie next to each other, so that statistics let readers skip."""
    load, message = row.get("load_qps"), row.get("message_bytes")
    names = row["dataset"], row["workload"], row["system"], row["run_id"]
    return *names[:2], load or 0.0, message or 0, *names[2:]
