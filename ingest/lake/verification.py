"""Verification of a lake: its log and all files of kept versions against their digests."""

from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

import pyarrow.parquet as pq

from data.errors import LakeError
from data.file_digests import differs, digest_in_name
from data.lake_files import ListedFile, listed_files
from data.lake_place import LakePath
from data.object_store import error_words, file_system
from data.schema import RUN_TABLES
from ingest.lake.delta_log import list_log, log_faults, seal
from ingest.lake.table_files import kept_files, live_files
from ingest.lake.tables import open_table

_TABLES: Final = ("runs", "problems")
_CHECKED_AT_ONCE: Final = 4
_CHECKED_TOGETHER: Final = 256
_LISTED: Final = 5


@dataclass(frozen=True, slots=True)
class Fault:
    """A file of a lake that is not as it was written.

    Attributes:
        run_id: Run of the file; empty for a file of a table.
    """

    run_id: str
    path: str
    detail: str


@dataclass(slots=True)
class Proof:
    """What a verification could not prove.

    Attributes:
        unproven: Files without a digest, which an older version of wattlas wrote. They were read
            as far as Parquet and JSON show damage.
        unnamed: Files of runs that no kept version names, such as of an ingest that was killed.
    """

    unproven: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Named:
    """The big files that rows name, by path, with their run, and the runs that have two rows."""

    files: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    doubled: list[str] = field(default_factory=list)


def verify_lake(lake: LakePath, proof: Proof | None = None) -> Iterator[Fault]:
    """Compare all files of all kept versions of a lake with their digests.

    Args:
        proof: Filled with what could not be proven.

    Raises:
        LakeError: There is no lake at this path, or it has another schema version.
    """
    proof = proof if proof is not None else Proof()
    is_readable, logs = True, {name: list_log(lake, name) for name in _TABLES}
    for log in logs.values():
        for fault in log_faults(log, is_complete=True):
            is_readable = False
            yield Fault("", fault.path, fault.detail)
        proof.unproven += log.unsealed
    newest: set[str] = set()
    if is_readable:
        table = open_table(lake, "runs")
        if table is None:
            raise LakeError(f"no lake at {lake}: `python -m ingest add RAW...` makes one")
        newest = {file.path for file in live_files(table)}
    try:
        table_files = {name: kept_files(log) for name, log in logs.items()}
    except LakeError as error:
        if is_readable:
            raise
        yield Fault("", "runs", f"cannot be opened: {error}")
        return
    whole = []
    for name in _TABLES:
        for file in table_files[name]:
            fault_words = _table_file_fault(lake, name, file)
            if fault_words:
                yield Fault("", f"{name}/{file.path}", fault_words)
            elif name == "runs":
                whole.append(file.path)
            if digest_in_name(file.path) is None:
                proof.unproven.append(f"{name}/{file.path}")
    named = _named_files(lake, whole, newest)
    for run_id in named.doubled:
        yield Fault(run_id, "runs", "two rows have this run id")
    proof.unproven += [path for path, (_, file) in named.files.items() if not file.get("digest")]
    proof.unnamed = _unnamed(lake, named.files)
    yield from _run_file_faults(lake, named)


def check_logs(lake: LakePath) -> None:
    """Refuse a lake whose log has an empty, missing or cut entry; give digests to those without.

    Raises:
        LakeError: It has; names the files of runs that no version names.
    """
    for name in _TABLES:
        log = list_log(lake, name)
        for fault in log_faults(log):
            unnamed: list[str] = []
            with suppress(LakeError, OSError, ValueError):
                files = kept_files(list_log(lake, "runs"))
                unnamed = _unnamed(lake, _named_files(lake, [f.path for f in files], ()).files)
            more = f", and {len(unnamed) - _LISTED} more" if len(unnamed) > _LISTED else ""
            said = f". No run names {', '.join(unnamed[:_LISTED])}{more}" if unnamed else ""
            raise LakeError(f"{lake}/{fault}{said}")
        seal(lake, name, log.unsealed)


def _table_file_fault(lake: LakePath, name: str, file: ListedFile) -> str | None:
    """Read a Parquet file of a table completely; return what is wrong with it, or None."""
    path = lake / name / file.path
    try:
        if digest := digest_in_name(file.path):
            return differs(path, digest)
        system, place = file_system(path)
        with system.open_input_file(place) as source, pq.ParquetFile(source) as parquet:
            for _ in parquet.iter_batches():
                pass
    except (LakeError, OSError, ValueError) as error:
        return f"cannot be read: {_words(path, error)}"
    return None


def _named_files(lake: LakePath, paths: Iterable[str], newest: Collection[str]) -> _Named:
    """Read which big files the rows in some files of `runs` name.

    Args:
        newest: The files of the newest version, in which no run has two rows.
    """
    named, seen = _Named(), set()
    for path in paths:
        system, place = file_system(lake / "runs" / path)
        with system.open_input_file(place) as source, pq.ParquetFile(source) as parquet:
            for batch in parquet.iter_batches(columns=["run_id", "files"]):
                for row in batch.to_pylist():
                    run_id = row["run_id"]
                    if path in newest:
                        named.doubled += [run_id] if run_id in seen else []
                        seen.add(run_id)
                    for file in row["files"] or ():
                        known = named.files.get(file["path"])
                        if known is None or path in newest:
                            named.files[file["path"]] = run_id, file
    return named


def _unnamed(lake: LakePath, named: Iterable[str]) -> list[str]:
    known = set(named)
    listed = [file.path for table in RUN_TABLES for file in listed_files(lake, table)]
    return [path for path in listed if path not in known and path.endswith(".parquet")]


def _run_file_faults(lake: LakePath, named: _Named) -> Iterator[Fault]:
    sizes = {file.path: file.size_bytes for name in RUN_TABLES for file in listed_files(lake, name)}
    waiting = iter(sorted(named.files.items()))

    def check(item: tuple[str, tuple[str, dict[str, Any]]]) -> Fault | None:
        path, (run_id, file) = item
        fault = _run_file_fault(lake / path, run_id, file, sizes.get(path))
        return Fault(run_id, path, fault) if fault else None

    with ThreadPoolExecutor(_CHECKED_AT_ONCE) as pool:
        while some := list(islice(waiting, _CHECKED_TOGETHER)):
            yield from filter(None, pool.map(check, some))


def _run_file_fault(
    path: LakePath, run_id: str, expected: dict[str, Any], size: int | None
) -> str | None:
    """Read a big file completely; return what is wrong with it, or None.

    Args:
        size: Its bytes; None if it is not there.
    """
    if size is None:
        return "cannot be read: it is missing"
    if size != expected["size_bytes"]:
        return f"{size} bytes, its row says {expected['size_bytes']}"
    try:
        if digest := expected.get("digest"):
            return differs(path, digest)
        system, name = file_system(path)
        with system.open_input_file(name) as source, pq.ParquetFile(source) as file:
            if file.metadata.num_rows != expected["rows"]:
                return f"{file.metadata.num_rows} rows, its row says {expected['rows']}"
            if file.schema_arrow.names != RUN_TABLES[expected["table"]].names:
                return f"columns {', '.join(file.schema_arrow.names)}"
            for batch in file.iter_batches():
                ids = batch.column("run_id").unique().to_pylist()
                # Runs that were committed together share a file of distributions.
                if ids != [run_id] and expected["table"] != "distributions":
                    return f"holds rows of {', '.join(map(str, ids))}"
    except (LakeError, OSError, ValueError) as error:
        return f"cannot be read: {_words(path, error)}"
    return None


def _words(path: LakePath, error: Exception) -> str:
    return str(error) if isinstance(error, LakeError) else error_words(path, error)
