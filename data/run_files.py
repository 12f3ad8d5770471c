"""A run's big files, read by row groups; facts of runs and Parquet footers are cached.

The caches are bounded and shared by all visitors. They never go stale, since a file's name holds
the digest of its sources. Row groups are read with Arrow, not DuckDB: for a window of 1 % of a run
of 5 million interrupts Arrow took 2.5 ms of processor time, `read_parquet` 3.2, `Lake.scan` 11.5;
for 5 % 3.6, 12 and 19; for 4,096 overview bins Arrow 2.9 and DuckDB 7.3.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from cachetools import LRUCache

from data.connection import Lake
from data.errors import LakeError
from data.lake_place import LakePath
from data.object_store import error_words, file_system
from data.queries.timeline import run_facts_query
from data.schema import HISTOGRAM_QUANTITIES

_KEPT_FOOTERS: Final = 96
_KEPT_RUNS: Final = 1024
# Work until each bin takes up to 1 MiB a run.
_FOUND_BYTES: Final = 64 << 20
_TEXTS: Final = {"quantity": HISTOGRAM_QUANTITIES}
_SEARCHED: Final = frozenset({"t_ns", "level", "bin"})
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of a run from its row of `runs`.

    Attributes:
        row: Columns of the configuration, `replicate`, `duration_s`, `interrupts`, `has_log`.
        length_ns: Length of the workload window.
        cores: Core numbers, rising.
        packages: Package of each core; None where the settings do not define it.
        tsc_hz: Rate of the time-stamp counter.
        files: Table to path in the lake.
        digests: Table to the file's digest; None for a file of an older lake.
    """

    run_id: str
    row: dict[str, Any]
    length_ns: int
    cores: tuple[int, ...]
    packages: dict[int, int | None]
    tsc_hz: float
    files: dict[str, str]
    digests: dict[str, str | None] = field(default_factory=dict)

    @property
    def has_log(self) -> bool:
        """Whether the lake holds all interrupts of the run."""
        return "interrupts" in self.files and "overview" in self.files

    @property
    def package_cores(self) -> dict[str, tuple[int, ...]]:
        """The cores of each package, by its number as text; `?` for cores without a package."""
        names = {core: "?" if at is None else str(at) for core, at in self.packages.items()}
        return {
            name: tuple(core for core in self.cores if names[core] == name)
            for name in sorted(set(names.values()))
        }

    @classmethod
    def of(cls, row: dict[str, Any]) -> Self:
        """Convert a row of `run_facts_query`."""
        cores = {
            core["core"]: core for core in sorted(row["cores"] or (), key=lambda core: core["core"])
        }
        rates = [core["tsc_hz"] for core in cores.values() if core["tsc_hz"]]
        return cls(
            row["run_id"],
            {name: value for name, value in row.items() if name not in ("cores", "files")},
            round((row["duration_s"] or 0) * 1e9),
            tuple(cores),
            {number: core["package"] for number, core in cores.items()},
            rates[0] if rates else float("nan"),
            {file["table"]: file["path"] for file in row["files"] or ()},
            {file["table"]: file.get("digest") for file in row["files"] or ()},
        )


@dataclass(frozen=True, slots=True)
class BigFile:
    """One big file of a run, with its footer.

    Of a file in an object store, only the bytes of the columns and row groups asked for are read.

    Attributes:
        source: What is read: the path, or the open file of an object store, which any number of
            threads may read.
        first_rows: First row of each row group and the number of rows; int64, shape (groups + 1,).
        spans: Column with statistics to minimum and maximum per row group, shape (groups,) each.
    """

    path: LakePath
    source: Path | pa.NativeFile
    metadata: pq.FileMetaData
    first_rows: np.ndarray
    spans: dict[str, tuple[np.ndarray, np.ndarray]]

    def groups_between(self, from_ns: int, to_ns: int) -> range:
        """Return the row groups that may hold times from `from_ns` to `to_ns`, inclusive."""
        low, high = self.spans["t_ns"]
        begin = int(np.searchsorted(high, from_ns, side="left"))
        return range(begin, max(begin, int(np.searchsorted(low, to_ns, side="right"))))

    def groups_of_rows(self, first: int, end: int) -> range:
        """Return the row groups with the rows from `first` to `end`, exclusive."""
        begin = int(np.searchsorted(self.first_rows, first, side="right")) - 1
        return range(begin, int(np.searchsorted(self.first_rows, end, side="left")))

    def read(self, groups: Sequence[int], columns: Sequence[str]) -> dict[str, np.ndarray]:
        """Read some row groups to arrays; columns with NULLs as float64 with NaN, texts as codes.

        Raises:
            LakeError: The file is missing or broken.
        """
        if not groups:
            return {name: np.empty(0, np.int64) for name in columns}
        try:
            texts = [name for name in columns if name in _TEXTS]
            with pq.ParquetFile(self.source, metadata=self.metadata, read_dictionary=texts) as file:
                rows = file.read_row_groups(list(groups), list(columns), use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise _unreadable(self.path, error) from None
        return {
            name: np.concatenate([_places(_TEXTS[name], chunk) for chunk in rows[name].chunks])
            if name in _TEXTS
            else rows[name].to_numpy()
            for name in columns
        }

    def filtered(self, columns: Sequence[str], condition: pc.Expression) -> pa.Table:
        """Read the rows that meet a condition; raises as `read`."""
        try:
            return pq.read_table(self.source, columns=list(columns), filters=condition)
        except (OSError, pa.ArrowException) as error:
            raise _unreadable(self.path, error) from None


def _places(words: Sequence[str], chunk: pa.DictionaryArray) -> np.ndarray:
    order = np.array([words.index(word) for word in chunk.dictionary.to_pylist()], np.int64)
    places: np.ndarray = order[chunk.indices.to_numpy()]
    return places


def _unreadable(path: LakePath, error: Exception) -> LakeError:
    if isinstance(error, FileNotFoundError):
        return LakeError(f"its file is missing from the lake: {path}")
    said = error if isinstance(path, Path) else error_words(path, error)
    return LakeError(f"its file cannot be read: {path}: {said}")


class RunFiles:
    """The big files of one version of a lake, shared by all visitors."""

    def __init__(self, lake: Lake, kept_runs: int = _KEPT_RUNS) -> None:
        self._lake = lake
        self._lock = threading.Lock()
        self._facts: LRUCache[str, RunFacts] = LRUCache(kept_runs)
        self._files: LRUCache[str, BigFile] = LRUCache(_KEPT_FOOTERS)
        self._found: LRUCache[str, np.ndarray] = LRUCache(_FOUND_BYTES, lambda found: found.nbytes)

    @property
    def version(self) -> int:
        """Version of the lake."""
        return self._lake.version

    def facts(self, run_ids: Sequence[str]) -> dict[str, RunFacts]:
        """Return the facts of some runs; unknown runs are missing in the answer."""
        with self._lock:
            by_run = {run_id: self._facts.get(run_id) for run_id in run_ids}
        unread = [run_id for run_id, facts in by_run.items() if facts is None]
        if unread:
            query = run_facts_query(unread, catalogue=self._lake.catalogue)
            rows = self._lake.arrow(*query).to_pylist()
            read = {row["run_id"]: RunFacts.of(row) for row in rows}
            by_run |= read
            with self._lock:
                self._facts.update(read)
        return {run_id: facts for run_id, facts in by_run.items() if facts is not None}

    def once(self, facts: RunFacts, find: Callable[[], np.ndarray], name: str = "") -> np.ndarray:
        """Return what a function reads from a run, cached by `name`, else the function's name."""
        return self._cached(self._found, f"{name or find.__name__} {facts.run_id}", find)

    def file(self, facts: RunFacts, table: str) -> BigFile:
        """Return a big file of a run.

        Raises:
            LakeError: The run has no such file, or it is missing, damaged or broken.
        """
        if table not in facts.files:
            raise LakeError(f"the lake has no {table} of the run")
        path = self._lake.path / facts.files[table]
        self._lake.check_run_file(facts.files[table], facts.digests.get(table))
        return self._cached(self._files, str(path), lambda: _open(path))

    def _cached(
        self, cache: LRUCache[str, _Value], name: str, make: Callable[[], _Value]
    ) -> _Value:
        """Return what a cache holds; two threads may make the same value at the same time."""
        with self._lock:
            value = cache.get(name)
        if value is None:
            value = make()
            with self._lock:
                cache[name] = value
        return value


def _open(path: LakePath) -> BigFile:
    try:
        if isinstance(path, Path):
            source = path
        else:
            system, name = file_system(path)
            source = system.open_input_file(name)
        metadata = pq.read_metadata(source)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, error) from None
    groups = [metadata.row_group(g) for g in range(metadata.num_row_groups)]
    first_rows = np.concatenate([[0], np.cumsum([g.num_rows for g in groups], dtype=np.int64)])
    spans: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for at, name in enumerate(metadata.schema.names):
        if name not in _SEARCHED:
            continue
        said = [group.column(at).statistics for group in groups]
        if all(s is not None and s.has_min_max for s in said):
            low, high = ([getattr(s, end) for s in said] for end in ("min", "max"))
            spans[name] = (np.array(low, np.int64), np.array(high, np.int64))
    return BigFile(path, source, metadata, first_rows, spans)
