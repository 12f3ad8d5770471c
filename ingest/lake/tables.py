"""Write the lake: a run's big files first, then one Delta commit that names them."""

import fcntl
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from deltalake import DeltaTable, Field, WriterProperties, write_deltalake
from deltalake.exceptions import DeltaError

from data.errors import LakeError
from data.schema import PROBLEMS, RUN_TABLES, RUNS, SCHEMA_DESCRIPTION
from ingest.lake.parquet_file import ParquetFile, RowGroup, encode_row_group
from ingest.records import Problem

ROW_GROUP_ROWS: Final = 1 << 16
# Of these a reader wants a few rows at a time.
_SMALL_GROUP_ROWS: Final = {"samples": 1 << 14, "overview": 1 << 14, "histograms": 1 << 13}
_WRITTEN_AT_ONCE: Final = 1 << 20
COMPACT_ABOVE_FILES: Final = 8
_LOCK_NAME: Final = ".ingest.lock"
# Versions stay reachable until `ingest prune`: Delta must not expire them by age.
_KEEP_FOREVER: Final = {
    "delta.logRetentionDuration": "interval 36500 days",
    "delta.deletedFileRetentionDuration": "interval 36500 days",
    "delta.enableExpiredLogCleanup": "false",
}
_DELTA_WRITER: Final = WriterProperties(compression="ZSTD", compression_level=3)
# Columns that rise, or nearly; and tables of which no column has a NULL.
_RISING: Final = frozenset(("bin", "t_ns"))
_NEVER_NULL: Final = frozenset(("interrupts",))
# Columns by which a reader passes over whole row groups.
_SEARCHED: Final = frozenset(("run_id", "core", "level", "bin", "t_ns", "t_s"))
_INT_COLUMNS: Final = frozenset(f.name for f in RUNS if pa.types.is_integer(f.type))


@contextmanager
def locked_lake(lake: Path) -> Iterator[int]:
    """Hold the lake's one ingest lock, and give its descriptor; readers need none.

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
        yield file.fileno()


class RunFile:
    """One big file of a run while it is written: whole or not at all, and unseen until then."""

    def __init__(self, lake: Path, table: str, dataset: str, run_id: str) -> None:
        self._lake = lake
        self._table = table
        self._run_id = run_id
        self._folder = lake / table / dataset
        self._temporary = self._folder / f".{run_id}.{os.getpid()}.tmp"
        schema = RUN_TABLES[table]
        is_nullable = table not in _NEVER_NULL
        self._schema = pa.schema([field.with_nullable(is_nullable) for field in schema])
        with self._naming_itself():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = self._temporary.open("wb", buffering=_WRITTEN_AT_ONCE)
            self._parquet = ParquetFile(self._file, self._schema)
        self._is_sealed = False

    def encode(self, rows: pa.Table, names: Collection[str] | None = None) -> list[RowGroup]:
        """Encode further rows; in any thread, several at once.

        Args:
            rows: Columns of the table's schema; texts may be dictionaries, and come back as texts.
            names: The columns to encode; all, if it is not given.
        """
        at_once = _SMALL_GROUP_ROWS.get(self._table, ROW_GROUP_ROWS)
        schema = self._schema
        if names is not None:
            schema = pa.schema([field for field in schema if field.name in names])
        return [
            encode_row_group(rows.slice(first, at_once), schema, _RISING, _SEARCHED)
            for first in range(0, rows.num_rows, at_once)
        ]

    def append(self, groups: Iterable[RowGroup]) -> None:
        """Write encoded rows after those before.

        Raises:
            LakeError: They cannot be written, because the disk is full, say.
        """
        with self._naming_itself():
            for group in groups:
                self._parquet.append(group)

    def write(self, rows: pa.Table) -> None:
        """Encode further rows and write them.

        Raises:
            LakeError: They cannot be written.
        """
        self.append(self.encode(rows))

    def seal(self) -> None:
        """Write the file's end and have the disk take it: nothing can be appended any more.

        Raises:
            LakeError: It cannot be written.
        """
        with self._naming_itself():
            self._parquet.finish()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        self._is_sealed = True

    def finish(self, digest: str) -> dict[str, Any]:
        """Put the file in its place, and describe it as `runs.files` does.

        Args:
            digest: Of the run's sources; a part of the name.

        Raises:
            LakeError: It cannot be written.
        """
        if not self._is_sealed:
            self.seal()
        final = self._folder / f"{self._run_id}.{digest}.parquet"
        with self._naming_itself():
            self._temporary.replace(final)
        return {
            "table": self._table,
            "path": final.relative_to(self._lake).as_posix(),
            "size_bytes": final.stat().st_size,
            "rows": self._parquet.rows,
        }

    def abandon(self) -> None:
        """Leave nothing behind, unless the file is finished."""
        with suppress(OSError):
            self._file.close()
        self._temporary.unlink(missing_ok=True)

    @contextmanager
    def _naming_itself(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            place = self._folder / f"{self._run_id}.parquet"
            raise LakeError(f"cannot write {place}: {error.strerror or error}") from error


def remove_temporaries(lake: Path) -> int:
    """Remove what a killed ingest left half-written; only under the ingest lock."""
    strays = [s for table in RUN_TABLES for s in (lake / table).glob("*/.*.tmp")]
    for stray in strays:
        stray.unlink()
    return len(strays)


def open_table(lake: Path, name: str) -> DeltaTable | None:
    """Open `runs` or `problems` at its newest version; None if it is not there yet.

    Raises:
        LakeError: It cannot be read, or is of another schema version.
    """
    path = lake / name
    if not DeltaTable.is_deltatable(str(path)):
        return None
    try:
        table = DeltaTable(str(path))
    except DeltaError as error:
        raise LakeError(f"cannot open {path}: {error}") from error
    found = table.metadata().description
    if found != SCHEMA_DESCRIPTION:
        raise LakeError(
            f"{path} says {found!r}, this wattlas writes {SCHEMA_DESCRIPTION!r}: add the raw logs "
            "to a lake in another folder"
        )
    return table


def create_tables(lake: Path) -> None:
    """Make the two Delta tables of a lake that lacks them, or the columns that they lack.

    Raises:
        LakeError: A table is of another schema version.
    """
    for name, schema in (("problems", PROBLEMS), ("runs", RUNS)):
        table = open_table(lake, name)
        if table is not None:
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


def conform_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of `runs` with every column that is set in the column's own type; no NULLs in it.

    Raises:
        LakeError: A column that `runs` does not have.
    """
    unknown = sorted(set(row) - set(RUNS.names))
    if unknown:
        raise LakeError(f"BUG: runs has no column {unknown[0]!r} (run {row.get('run_id')})")
    return {
        name: int(value) if name in _INT_COLUMNS else value
        for name, value in row.items()
        if value is not None
    }


def replace_runs(
    lake: Path, rows: Sequence[Mapping[str, Any]], replaced: Iterable[str] = ()
) -> None:
    """Add rows to `runs` in one commit, in place of those of the run ids in `replaced`."""
    ordered = sorted(rows, key=_sort_key)
    data = pa.Table.from_pylist(ordered, schema=RUNS)
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
