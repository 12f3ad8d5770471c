"""The runs of a lake as an ingest knows them; a row of a table takes 12 bytes."""

from collections.abc import Collection, Iterator, Set
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np
import xxhash

SUMMARY: Final = "summary"
# Rows of tables that are found by a dictionary, before they are sorted among the others.
_RECENT: Final = 1 << 14


class RecordedFile(NamedTuple):
    """A raw file that a run in the lake was read from; there may be millions of them."""

    path: str
    format: str
    size: int
    mtime: float
    digest: str


@dataclass(slots=True)
class RecordedRun:
    """The sources of a row of `runs`, its labels, and its big files with their sizes."""

    run_id: str
    dataset: str
    source: str
    files: list[RecordedFile]
    fingerprint: str
    workload: str
    system: str
    labels: dict[str, Any]
    big_files: list[tuple[str, int]] = field(default_factory=list)


def id_number(run_id: str) -> int:
    """Return a number of 64 bits for a run id: in a million ids two are equal with 1 in 40 M."""
    return xxhash.xxh3_64_intdigest(run_id.encode())


class RecordedRuns:
    """Runs by run id. Of rows of tables only what they share is kept, and a number for each id."""

    def __init__(self) -> None:
        self._runs: dict[str, RecordedRun] = {}
        self._kinds: list[RecordedRun] = []
        self._places: dict[tuple[Any, ...], int] = {}
        # Sorted ids of rows, and the kind of each; -1 for a row that was removed.
        self._ids = np.empty(0, np.uint64)
        self._kind_of = np.empty(0, np.int32)
        self._recent: dict[int, int] = {}

    def add(self, run: RecordedRun) -> None:
        """Add a run, in place of the one with its id."""
        if run.source != SUMMARY:
            self._drop(run.run_id)
            self._runs[run.run_id] = run
            return
        self._runs.pop(run.run_id, None)
        self._drop(run.run_id)
        labels = tuple(run.labels.items())
        key = run.dataset, *run.files, run.fingerprint, run.workload, run.system, labels
        kind = self._places.setdefault(key, len(self._kinds))
        if kind == len(self._kinds):
            self._kinds.append(replace(run, run_id=""))
        self._recent[id_number(run.run_id)] = kind
        if len(self._recent) >= _RECENT:
            self._sort()

    def _sort(self) -> None:
        ids = np.concatenate([self._ids, np.fromiter(self._recent, np.uint64)])
        kinds = [self._kind_of, np.fromiter(self._recent.values(), np.int32)]
        order = np.argsort(ids, kind="stable")
        kind_of = np.concatenate(kinds)[order]
        there = kind_of >= 0
        self._ids, self._kind_of, self._recent = ids[order][there], kind_of[there], {}

    def _place(self, number: int) -> int:
        """Return the place of a sorted id; -1 if it is not there."""
        place = int(np.searchsorted(self._ids, np.uint64(number)))
        is_there = place < len(self._ids) and int(self._ids[place]) == number
        return place if is_there and self._kind_of[place] >= 0 else -1

    def _drop(self, run_id: str) -> None:
        if not self._kinds:
            return
        number = id_number(run_id)
        if self._recent.pop(number, None) is None and (place := self._place(number)) >= 0:
            self._kind_of[place] = -1

    def get(self, run_id: str) -> RecordedRun | None:
        """Return a run; None if there is none."""
        run = self._runs.get(run_id)
        if run is not None or not self._kinds:
            return run
        number = id_number(run_id)
        kind = self._recent.get(number)
        if kind is None:
            place = self._place(number)
            kind = int(self._kind_of[place]) if place >= 0 else None
        return None if kind is None else replace(self._kinds[kind], run_id=run_id)

    def __getitem__(self, run_id: str) -> RecordedRun:
        run = self.get(run_id)
        if run is None:
            raise KeyError(run_id)
        return run

    def __contains__(self, run_id: str) -> bool:
        return self.get(run_id) is not None

    def __len__(self) -> int:
        self._sort()
        return len(self._runs) + int(np.count_nonzero(self._kind_of >= 0))

    def remove(self, run_id: str) -> None:
        """Remove a run, if it is there."""
        self._runs.pop(run_id, None)
        self._drop(run_id)

    def values(self) -> Iterator[RecordedRun]:
        """Yield all runs; rows of tables that differ in their ids alone once, with an empty id."""
        yield from self._runs.values()
        yield from (kind for kind, _ in self.summaries())

    def summaries(self) -> Iterator[tuple[RecordedRun, np.ndarray]]:
        """Yield the kinds of rows of tables that there are, with the numbers of their ids."""
        self._sort()
        for number, kind in enumerate(self._kinds):
            ids = self._ids[self._kind_of == number]
            if len(ids):
                yield kind, ids

    def ids_of(self, dataset: str) -> set[str]:
        """Return the ids of the runs of a dataset that are no rows of tables."""
        return {run.run_id for run in self._runs.values() if run.dataset == dataset}


class RunIds:
    """Ids of runs: texts, and the numbers of others."""

    def __init__(self, texts: Set[str], numbers: Collection[int] | np.ndarray = ()) -> None:
        self._texts = texts
        self._numbers = np.sort(np.array(numbers, np.uint64))

    def __contains__(self, run_id: str) -> bool:
        if run_id in self._texts:
            return True
        number = np.uint64(id_number(run_id)) if len(self._numbers) else np.uint64(0)
        place = int(np.searchsorted(self._numbers, number))
        return place < len(self._numbers) and bool(self._numbers[place] == number)

    def __len__(self) -> int:
        return len(self._texts) + len(self._numbers)
