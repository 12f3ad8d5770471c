"""The lake's lock and its two Delta tables; a commit to `runs` names the big files of its rows.

Lakes of older schemas are upgraded in place, by one function for each old schema. Each upgrade is a
commit: after a kill between two of them the next `add` continues; old versions stay unchanged.
"""

import fcntl
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, Field

from data.declared import ABOUT_COLUMN, Column, about_metadata
from data.errors import LakeError
from data.lake_files import about_datasets
from data.lake_place import LakePath, StorePath
from data.object_store import delta_table, naming, storage_options
from data.schema import OLDER_DESCRIPTIONS, PROBLEMS, RUN_TABLES, RUNS, SCHEMA_DESCRIPTION
from ingest.lake.delta_log import list_log, seal
from ingest.lake.shared_file import remove_left
from ingest.lake.table_files import (
    LostRaceError,
    columns_of,
    commit_rows,
    committing,
    compact_files,
    lake_of,
    place_of,
)
from ingest.lake.targets import make_folder, sync_folders
from ingest.records import Problem


def _from_3(table: DeltaTable) -> None:
    """Upgrade to schema 4, whose only change is new columns; `create_tables` adds them."""
    table.alter.set_table_description("wattlas schema 4")


# Upgraders to the next schema, by the description of the table.
UPGRADERS: Final[Mapping[str, Callable[[DeltaTable], None]]] = {"wattlas schema 3": _from_3}
assert UPGRADERS.keys() == OLDER_DESCRIPTIONS, "BUG: a schema that is read has no upgrader"


def upgraded(path: LakePath, table: DeltaTable) -> DeltaTable:
    """Upgrade a table to the current schema; return it at its newest version.

    Raises:
        LakeError: Its schema is unknown, for example a future one.
    """
    while (description := table.metadata().description) != SCHEMA_DESCRIPTION:
        if description not in UPGRADERS:
            raise unknown_schema(path, description)
        with committing(table):
            UPGRADERS[description](table)
    return table


def unknown_schema(path: LakePath, description: str | None) -> LakeError:
    """Return the error for a table with another schema."""
    return LakeError(
        f"{path} says {description!r}, this wattlas writes {SCHEMA_DESCRIPTION!r}: "
        "add the raw logs to a lake in another folder"
    )


_LOCK_NAME: Final = ".ingest.lock"
# Versions stay reachable until `ingest prune`: Delta must not expire them by age.
_KEEP_FOREVER: Final = {
    "delta.logRetentionDuration": "interval 36500 days",
    "delta.deletedFileRetentionDuration": "interval 36500 days",
    "delta.enableExpiredLogCleanup": "false",
}
_INT_COLUMNS: Final = frozenset(f.name for f in RUNS if pa.types.is_integer(f.type))


@contextmanager
def locked_lake(lake: LakePath) -> Iterator[None]:
    """Hold the lake's ingest lock; readers need no lock.

    An object store has no lock: there the commits of a second ingest fail.

    Raises:
        LakeError: Another ingest holds it.
    """
    if isinstance(lake, StorePath):
        yield
        return
    make_folder(lake)
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


def remove_temporaries(lake: LakePath) -> int:
    """Remove incomplete files of a killed ingest; requires the ingest lock.

    An object store has no incomplete files, only files that tasks of a cluster share.
    """
    left = remove_left(lake)
    if isinstance(lake, StorePath):
        return left
    strays = [stray for table in RUN_TABLES for stray in (lake / table).glob("*/.*.tmp")]
    strays += [stray for table in ("runs", "problems") for stray in (lake / table).glob(".*.tmp")]
    for stray in strays:
        stray.unlink(missing_ok=True)
    return left + len(strays)


def open_table(lake: LakePath, name: str) -> DeltaTable | None:
    """Open `runs` or `problems` at its newest version; None if it does not exist yet.

    Raises:
        LakeError: It cannot be read, or has an unknown schema version.
    """
    path = lake / name
    with naming("open", path):
        table = delta_table(path)
    if table is None:
        return None
    found = table.metadata().description
    if found != SCHEMA_DESCRIPTION and found not in UPGRADERS:
        raise unknown_schema(path, found)
    return table


def create_tables(lake: LakePath) -> dict[str, DeltaTable]:
    """Create the two Delta tables if they do not exist; upgrade tables of older schemas.

    Returns:
        The tables `runs` and `problems` at their newest versions.

    Raises:
        LakeError: A table has an unknown schema version, or a dataset declared a column that
            wattlas ships now with another type.
    """
    tables = {}
    for name, schema in (("problems", PROBLEMS), ("runs", RUNS)):
        table = open_table(lake, name)
        if table is None:
            with naming("write", lake / name):
                table = DeltaTable.create(
                    str(lake / name),
                    schema=schema,
                    mode="ignore",
                    name=name,
                    description=SCHEMA_DESCRIPTION,
                    configuration=_KEEP_FOREVER,
                    storage_options=storage_options(lake),
                )
            seal(lake, name, list_log(lake, name).unsealed)
        else:
            table = upgraded(lake / name, table)
            _add_missing(lake / name, table, schema)
        tables[name] = table
    return tables


def _add_missing(path: LakePath, table: DeltaTable, schema: pa.Schema) -> None:
    """Give a table the columns of a schema that it lacks, and fields of nested ones."""
    there = columns_of(table)
    young = [field for field in schema if field.name not in there.names]
    for field in schema:
        if field.name in there.names and there.field(field.name).type != field.type:
            if not pa.types.is_nested(field.type):
                raise LakeError(
                    f"{path} declares a column {field.name!r} of another type than "
                    f"wattlas now has under this name; add the raw logs to a new lake"
                )
            young.append(field)
    if young:
        with committing(table) as properties:
            fields = [Field.from_arrow(field) for field in young]
            table.alter.add_columns(fields, commit_properties=properties)


def describe_columns(runs: DeltaTable, columns: Iterable[Column], there: Collection[str]) -> None:
    """Add columns to `runs` with their descriptions, and update descriptions of existing columns.

    Args:
        runs: The table at the version that this process knows; updated to the new version.
        there: Names of the declared columns that it has already.

    Raises:
        LakeError: The table cannot be written, or another ingest has committed to it.
    """
    columns = list(columns)
    young = [
        Field(
            column.name,
            Field.from_arrow(pa.field(column.name, column.type)).type,
            nullable=True,
            metadata=column.to_metadata(),
        )
        for column in columns
        if column.name not in there
    ]
    if young:
        with committing(runs) as properties:
            runs.alter.add_columns(young, commit_properties=properties)
    for column in columns:
        if column.name in there:
            with committing(runs) as properties:
                runs.alter.set_column_metadata(
                    column.name, column.to_metadata(), commit_properties=properties
                )


def describe_datasets(runs: DeltaTable, about: Mapping[str, Mapping[str, str]]) -> None:
    """Write what datasets say of themselves, where it is not what `runs` has of them.

    Args:
        runs: As for `describe_columns`.
        about: By dataset and the names of `data.declared.ABOUT`; others keep what they have.

    Raises:
        LakeError: As for `describe_columns`.
    """
    known = about_datasets(runs)
    after = {name: said for name, said in {**known, **about}.items() if said}
    if after != known:
        with committing(runs) as properties:
            runs.alter.set_column_metadata(
                ABOUT_COLUMN, about_metadata(after), commit_properties=properties
            )


# The last schema and its names; pyarrow would build the list of names at each call.
_LAST: Final[list[tuple[pa.Schema, frozenset[str]]]] = []


def _names_of(schema: pa.Schema) -> frozenset[str]:
    if not _LAST or _LAST[0][0] is not schema:
        _LAST[:] = [(schema, frozenset(schema.names))]
    return _LAST[0][1]


def conform_row(row: Mapping[str, Any], schema: pa.Schema = RUNS) -> dict[str, Any]:
    """Convert the values of a row of `runs` to the types of its columns; leave out NULLs.

    Args:
        schema: The columns of `runs`, declared ones included.

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
    runs: DeltaTable,
    rows: Sequence[Mapping[str, Any]],
    replaced: Collection[str] = (),
    schema: pa.Schema = RUNS,
) -> None:
    """Add rows to `runs` in one commit; they replace the rows with the run ids in `replaced`.

    Args:
        runs: The table at the version that this process knows; updated to the new version.
        schema: As for `conform_row`.

    Raises:
        LakeError: The table cannot be written, or another ingest has committed to it.
    """
    data = pa.Table.from_pylist(sorted(rows, key=_sort_key), schema=schema)
    sync_folders(lake_of(place_of(runs)), {str(PurePosixPath(file["path"]).parent)
                                 for row in rows for file in row.get("files") or ()})  # fmt: skip
    affected = pa.array({*replaced, *(row["run_id"] for row in rows)}, pa.string())
    commit_rows(runs, data, pc.field("run_id").isin(affected) if replaced else None)


def replace_problems(
    table: DeltaTable,
    dataset: str,
    problems: Mapping[str, Sequence[Problem]],
    replaced: Collection[str] = (),
) -> None:
    """Write the problems of some paths in one commit; replace the problems of `replaced` paths.

    Args:
        table: The table `problems`; as `runs` in `replace_runs`, with the same errors.
    """
    rows = [
        {"dataset": dataset, "path": path, **asdict(problem)}
        for path in sorted(problems)
        for problem in problems[path]
    ]
    data = pa.Table.from_pylist(rows, schema=PROBLEMS)
    affected = pa.array({*replaced, *problems}, pa.string())
    where = (pc.field("dataset") == dataset) & pc.field("path").isin(affected)
    commit_rows(table, data, where if replaced else None)


def compact(tables: Iterable[DeltaTable]) -> None:
    """Compact tables with many small files, unless another ingest commits."""
    for table in tables:
        with suppress(LostRaceError):
            compact_files(table)


def _sort_key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Sort key: rows that filters select together are adjacent, so that readers can skip others."""
    load, message = row.get("load_qps"), row.get("message_bytes")
    names = row["dataset"], row["workload"], row["system"], row["run_id"]
    return *names[:2], load or 0.0, message or 0, *names[2:]
