"""All commits to the two Delta tables, and the Parquet files that they name.

A file's name ends in its digest, which thus stands in the commit, in checkpoints and in every
listing of the table's files. The order is: the big files of the rows (see `targets.py`), the file
of the table, its folder, the entry of the log, its folder; each is synced before the next is
written.
"""

import json
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pd
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction

from data.errors import LakeError
from data.file_digests import digest_in_name
from data.lake_files import ListedFile, local_files
from data.lake_place import LakePath, lake_path
from data.object_store import delta_table, file_system, naming
from data.schema import RUNS
from ingest.lake.delta_log import COMMIT_KEY, LOG, Log, parsed_entry, seal, write_checkpoint
from ingest.lake.targets import open_target, sync_folders

# Readers skip row groups by their statistics: by dataset, workload and load, as rows are sorted.
# A row group takes 5 kB of memory a row while it is written.
_GROUP_ROWS: Final = 1 << 14
_READ_ROWS: Final = 1 << 13
_CHECKPOINT_EVERY: Final = 100
COMPACT_ABOVE_FILES: Final = 8


class LostRaceError(LakeError):
    """Another ingest has committed to the table meanwhile."""


def commit_rows(
    table: DeltaTable, new: pa.Table | None, where: pc.Expression | None = None
) -> None:
    """Add rows and remove others in one commit.

    Args:
        table: At the version that this process knows; updated to the new version.
        new: Rows to add.
        where: Condition of the rows to remove; none if it is None.

    Raises:
        LakeError: The table cannot be written, or another ingest has committed to it.
    """
    added = [new] if new is not None and new.num_rows else []
    if where is None:
        touched, remaining = [], iter(())
    else:
        columns = [n for n in ("run_id", "dataset", "path") if n in columns_of(table).names]
        touched = [
            file
            for file in live_files(table)
            if any(part.filter(where).num_rows for part in _parts(table, file, columns))
        ]
        remaining = (part.filter(~where) for file in touched for part in _parts(table, file))
    if touched or added:
        _replace_files(table, touched, chain(remaining, added), is_change=True)


def set_column(table: DeltaTable, name: str, columns: Mapping[str, pa.Array]) -> None:
    """Set a column of some files in one commit.

    Args:
        table: As for `commit_rows`, with the same errors.
        columns: The values of all rows of a file in their order, by the file's name.
    """
    files = [file for file in live_files(table) if file.path in columns]

    def rows() -> Iterator[pa.Table]:
        for file in files:
            begin = 0
            for part in _parts(table, file):
                own = columns[file.path].slice(begin, len(part))
                at = part.schema.get_field_index(name)
                kept = part if at < 0 else part.remove_column(at)
                yield kept.append_column(name, own)
                begin += len(part)

    _replace_files(table, files, rows(), is_change=True)


def set_changed(
    table: DeltaTable, paths: Iterable[str], name: str, values: pa.Array, is_changed: np.ndarray
) -> bool:
    """Set a column in one commit, in the files with a row that changes.

    Args:
        table: As for `commit_rows`, with the same errors.
        paths: All files of the table.
        values, is_changed: Of all rows of these files, in their order.

    Returns:
        Whether any row changed.
    """
    begin, columns = 0, {}
    for path in paths:
        end = begin + pq.read_metadata(path).num_rows
        if is_changed[begin:end].any():
            columns[Path(path).name] = values.slice(begin, end - begin)
        begin = end
    if columns:
        set_column(table, name, columns)
    return bool(columns)


def set_flags(runs: DeltaTable, run_ids: Mapping[str, Set[str]]) -> bool:
    """Give exactly some runs of a lake each of some flags, in one commit at most.

    Args:
        runs: As for `commit_rows`, with the same errors.
        run_ids: Those of each flag.

    Returns:
        Whether any run changed.
    """
    files = local_files(place_of(runs), runs)
    if not files.paths:
        return False
    schema = pa.schema([RUNS.field("run_id"), RUNS.field("flags")])
    rows = pd.dataset(list(files.paths), schema, format="parquet").to_table()
    lists = rows["flags"].combine_chunks()
    names, places = pc.list_flatten(lists), pc.list_parent_indices(lists)
    wanted, is_changed = {}, np.zeros(len(rows), bool)
    for flag, ids in run_ids.items():
        is_flagged = np.zeros(len(rows), bool)
        is_flagged[places.filter(pc.equal(names, flag)).to_numpy()] = True
        wanted[flag] = pc.is_in(rows["run_id"], pa.array(ids, pa.string())).to_numpy()
        is_changed |= is_flagged != wanted[flag]
    if not is_changed.any():
        return False
    values = lists.to_pylist()
    for row in np.flatnonzero(is_changed):
        others = [each for each in values[row] or () if each not in wanted]
        values[row] = sorted([*others, *(flag for flag in wanted if wanted[flag][row])])
    return set_changed(runs, files.paths, "flags", pa.array(values, lists.type), is_changed)


def compact_files(table: DeltaTable) -> None:
    """Write a table with many files, or with files without digests, to one; rows stay the same.

    Raises:
        LakeError: As `commit_rows`.
    """
    files = live_files(table)
    if len(files) <= COMPACT_ABOVE_FILES and all(digest_in_name(file.path) for file in files):
        return
    parts = (part for file in files for part in _parts(table, file))
    _replace_files(table, files, parts, is_change=False)


@contextmanager
def committing(table: DeltaTable) -> Iterator[CommitProperties]:
    """Give the properties for one commit to a table; make the commit durable.

    It fails unless it makes the version after the one that this process knows. Otherwise delta-rs
    would append to a commit of another process, which may hold the same runs, or to its own commit
    of which the answer was lost.

    Raises:
        LakeError: The table cannot be written, or another ingest has committed to it (then it is a
            LostRaceError).
    """
    path, known = place_of(table), table.version()
    with naming("write", path):
        try:
            yield CommitProperties(max_commit_retries=0)
        except CommitFailedError:
            newest = delta_table(path)
            if newest is None or newest.version() <= known:
                raise
            raise _lost_race(path, known, newest.version()) from None
        table.update_incremental()
    version, lake, name = table.version(), lake_of(path), path.name
    if version > known + 1:
        raise _lost_race(path, known + 1, version)
    if version > known:
        seal(lake, name, [f"{name}/{LOG}/{version:020}.json"])
        if version % _CHECKPOINT_EVERY == 0:
            write_checkpoint(lake, name, version)


def _lost_race(path: LakePath, known: int, newest: int) -> LostRaceError:
    return LostRaceError(
        f"another ingest has committed to {path} meanwhile (version {newest}, expected {known}): "
        "nothing is lost or doubled; the same command continues from there when the other is done"
    )


def place_of(table: DeltaTable) -> LakePath:
    """Return where a table is."""
    uri = table.table_uri.rstrip("/")
    return Path(unquote(uri.removeprefix("file://"))) if uri.startswith("file:") else lake_path(uri)


def lake_of(path: LakePath) -> LakePath:
    return path.parent if isinstance(path, Path) else lake_path(str(path).rpartition("/")[0])


def live_files(table: DeltaTable) -> list[ListedFile]:
    """Return the Parquet files of a table's version, by their paths in the table."""
    names = ["path", "size_bytes"]
    rows = pa.table(table.get_add_actions(flatten=True)).select(names).to_pylist()
    return [ListedFile(unquote(row["path"]), row["size_bytes"], 0.0) for row in rows]


def kept_files(log: Log) -> list[ListedFile]:
    """Return the Parquet files that the versions of a table with a log entry name, once each."""
    path, entries = log.lake / log.name, log.entries
    with naming("open", path):
        oldest = delta_table(path, min(entries)) if entries else None
    files = {file.path: file for file in live_files(oldest)} if oldest is not None else {}
    for entry in list(entries.values())[1:]:
        for line in parsed_entry(log.lake, entry):
            if add := line.get("add"):
                file = ListedFile(unquote(add["path"]), add["size"], 0.0)
                files[file.path] = file
    return sorted(files.values(), key=lambda file: file.path)


def _replace_files(
    table: DeltaTable, files: Iterable[ListedFile], rows: Iterator[pa.Table], is_change: bool
) -> None:
    """Commit one new file with some rows in place of others."""
    now_ms = int(time.time() * 1000)
    actions: list[AddAction | RemoveAction] = [
        RemoveAction(file.path, is_change, now_ms, file.size_bytes, {}) for file in files
    ]
    with committing(table) as properties:
        if (file := _write_file(table, rows)) is not None:
            path, size, count = file
            said = json.dumps({"numRecords": count})
            actions.append(AddAction(path, size, {}, now_ms, is_change, said))
        properties.custom_metadata = {COMMIT_KEY: {"files": len(actions)}}
        table.create_write_transaction(
            actions, mode="append", schema=table.schema(), commit_properties=properties,
            post_commithook_properties=PostCommitHookProperties(
                create_checkpoint=False, cleanup_expired_logs=False
            ),
        )  # fmt: skip


def _write_file(table: DeltaTable, parts: Iterator[pa.Table]) -> tuple[str, int, int] | None:
    """Write rows to a file of a table; return its name, bytes and rows, or None for no rows."""
    path, schema = place_of(table), columns_of(table)
    target = open_target(path, "part")
    count, waiting = 0, [schema.empty_table()]
    try:
        with pq.ParquetWriter(
            target.file, schema, compression="zstd", compression_level=3, store_schema=False
        ) as writer:
            for part in parts:
                waiting.append(_conformed(part, schema))
                count += part.num_rows
                if sum(each.num_rows for each in waiting) >= _GROUP_ROWS:
                    writer.write_table(pa.concat_tables(waiting), row_group_size=_GROUP_ROWS)
                    waiting = [schema.empty_table()]
            if rest := pa.concat_tables(waiting):
                writer.write_table(rest, row_group_size=_GROUP_ROWS)
        if not count:
            target.abandon()
            return None
        target.seal()
        name = f"part-{secrets.token_hex(8)}.{target.file.digest()}.parquet"
        size = target.publish(name)
    except BaseException:
        target.abandon()
        raise
    finally:
        pa.default_memory_pool().release_unused()
    sync_folders(lake_of(path), [path.name])
    return name, size, count


def columns_of(table: DeltaTable) -> pa.Schema:
    """Return the columns of a table without the descriptions, which stand in the log."""
    schema = pa.schema(table.schema().to_arrow())
    return pa.schema(pa.field(f.name, f.type, f.nullable) for f in schema)


def _conformed(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Bring rows of an older schema to the present one; what they lack is NULL."""
    there = {field.name: field.type for field in rows.schema}
    columns = [
        pa.nulls(len(rows), field.type) if field.name not in there
        else rows[field.name] if there[field.name] == field.type
        else rows[field.name].cast(field.type)
        for field in schema
    ]  # fmt: skip
    return pa.Table.from_arrays(columns, schema=schema)


def _parts(
    table: DeltaTable, file: ListedFile, columns: list[str] | None = None
) -> Iterator[pa.Table]:
    path = place_of(table) / file.path
    with naming("read", path):
        system, name = file_system(path)
        with system.open_input_file(name) as source, pq.ParquetFile(source) as parquet:
            for batch in parquet.iter_batches(batch_size=_READ_ROWS, columns=columns):
                yield pa.Table.from_batches([batch])
