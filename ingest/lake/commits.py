"""Batched commits of finished runs; a kill loses at most one batch and duplicates nothing."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from data.declared import Column, joined
from data.errors import LakeError
from data.file_digests import digest_of_file
from data.lake_place import LakePath
from ingest.lake.distributions import join_batches, write_batch
from ingest.lake.facts import KIND, doubt_replicates
from ingest.lake.machine_states import give_states
from ingest.lake.off_siblings import FLAG, runs_off_siblings
from ingest.lake.state import LakeState, datasets_with, read_rows, recorded_runs
from ingest.lake.table_files import set_flags
from ingest.lake.tables import (
    compact,
    conform_row,
    describe_columns,
    replace_problems,
    replace_runs,
)
from ingest.lake.work import assign_work
from ingest.records import Problem
from ingest.settings.column_names import own_columns

FLUSH_S: Final = 2.0
FLUSH_RUNS: Final = 500
# Most of the time that commits may take. Each one takes longer the more there were: it reads the
# table's log.
COMMIT_SHARE: Final = 0.05
_DIGESTED_AT_ONCE: Final = 4


@dataclass(slots=True)
class _Batch:
    """Pending changes of one dataset."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    problems: dict[str, list[Problem]] = field(default_factory=dict)
    distributions: dict[str, pa.Table] = field(default_factory=dict)


class Committer:
    """The only writer of a lake's two Delta tables.

    Problems are committed before runs. After a kill between the two commits the runs are missing,
    so their files are read again and their problems replaced. In the other order the run would
    count as done and its problems would be lost.

    Attributes:
        committed: Number of Delta commits.
    """

    def __init__(self, lake: LakePath, state: LakeState) -> None:
        self._lake = lake
        self._state = state
        self._batches: dict[str, _Batch] = defaultdict(_Batch)
        self._described = {*state.columns}
        self._young: dict[str, Column] = {}
        # Names of columns that tables of this ingest have: the first one says what each is.
        self._given: set[str] = set()
        self._last_flush = time.monotonic()
        self._flush_s = FLUSH_S
        self.committed = 0

    def declare(self, columns: Iterable[Column]) -> None:
        """Give `runs` the columns that a dataset declares, and their descriptions.

        The next `flush` commits all of them at once.

        Raises:
            DataError: Another dataset has a column of that name with another type or unit.
        """
        known, changed = self._state.columns, dict[str, Column]()
        for column in columns:
            before = changed.get(column.name, known.get(column.name))
            if (after := joined(before, column)) != before:
                changed[column.name] = after
        if changed:
            self._young |= changed
            self._state.declare(changed.values())

    def give_names(self, dataset: str, columns: Iterable[Column]) -> dict[str, Column]:
        """Give `runs` columns that nobody declared; return the lake's by their own names.

        A dataset that alone has a column may call it something else than before.
        """
        given = self._given

        def is_others(name: str) -> bool:
            there = self._state.columns[name].datasets
            return name in given or bool({*there, *datasets_with(self._lake, name)} - {dataset})

        named = own_columns(columns, self._state.columns, is_others)
        self.declare(named.values())
        given |= {column.name for column in named.values()}
        return named

    def add_columns(self, row: dict[str, Any], columns: Iterable[Column]) -> None:
        """Give `runs` columns that nobody declared, and a row the names that they have there."""
        for name, column in self.give_names(row["dataset"], columns).items():
            if name != column.name and name in row:
                row[column.name] = row.pop(name)

    def add_run(self, row: Mapping[str, Any], distributions: pa.Table | None = None) -> None:
        """Queue a row of `runs`; it replaces the row with its run id, if there is one.

        Args:
            distributions: Rows of `distributions`, if the row does not name their file yet.
        """
        conformed = conform_row(row, self._state.schema)
        batch = self._batches[row["dataset"]]
        batch.rows[row["run_id"]] = conformed
        batch.distributions.pop(row["run_id"], None)
        if distributions is not None:
            batch.distributions[row["run_id"]] = distributions

    def remove_runs(self, dataset: str, run_ids: Iterable[str]) -> None:
        """Queue the removal of rows of `runs`."""
        self._batches[dataset].removed.update(run_ids)

    def add_problems(self, dataset: str, problems: Mapping[str, Sequence[Problem]]) -> None:
        """Queue all problems of each path; an empty list deletes recorded ones."""
        batch = self._batches[dataset]
        batch.problems.update({path: sorted_problems(found) for path, found in problems.items()})

    def is_known(self, dataset: str, path: str, problems: Sequence[Problem]) -> bool:
        """Return whether the lake already has exactly these problems of a path."""
        return self._state.problems[dataset].get(path, []) == sorted_problems(problems)

    @property
    def waiting(self) -> int:
        """Number of rows that are not committed yet."""
        return sum(len(batch.rows) for batch in self._batches.values())

    def flush_if_due(self) -> None:
        """Commit if `FLUSH_RUNS` rows are pending or `FLUSH_S` seconds have passed.

        It takes more seconds if the last commit took more than `COMMIT_SHARE` of them.
        """
        if self.waiting >= FLUSH_RUNS or time.monotonic() - self._last_flush > self._flush_s:
            self.flush()

    def flush(self) -> None:
        """Commit all pending changes, if there are any."""
        began = time.monotonic()
        if self._young:
            describe_columns(self._state.tables["runs"], self._young.values(), self._described)
            self._described |= self._young.keys()
            self._young = {}
        for dataset in sorted(self._batches):
            batch = self._batches[dataset]
            self._flush_problems(dataset, batch)
            self._flush_runs(dataset, batch)
        self._batches.clear()
        self._last_flush = time.monotonic()
        self._flush_s = max(FLUSH_S, (self._last_flush - began) / COMMIT_SHARE)

    def give_digests(self) -> None:
        """Give the runs of an older lake the digests of their big files, as these are now."""
        with ThreadPoolExecutor(_DIGESTED_AT_ONCE) as pool:
            for at in range(0, len(ids := self._state.undigested), FLUSH_RUNS):
                for row in read_rows(self._lake, ids[at : at + FLUSH_RUNS]):
                    row["files"] = list(pool.map(self._with_digest, row["files"]))
                    self.add_run(row)
                self.flush()

    def _with_digest(self, file: dict[str, Any]) -> dict[str, Any]:
        with suppress(LakeError):  # A missing file; `verify` says so.
            file = {**file, "digest": digest_of_file(self._lake / file["path"])}
        return file

    def finish(
        self, machine_files: Mapping[str, Mapping[str, str]]
    ) -> list[tuple[str, str, Problem]]:
        """Commit the rest and what depends on all runs of the lake; compact small files.

        This labels the work, stores states of machines, flags runs far off their siblings and
        compares replicates.

        Args:
            machine_files: As `give_states` takes them.

        Returns:
            Dataset, path and problem of files of machines and of replicates that differ, unless
            the lake had it already.
        """
        self.flush()
        self.committed += assign_work(self._lake, self._state.tables["runs"])
        is_stored, state_problems = give_states(self._state, machine_files)
        doubts, unlike = doubt_replicates(self._state)
        flags = {FLAG: runs_off_siblings(self._state), KIND: unlike}
        self.committed += is_stored + set_flags(self._state.tables["runs"], flags)
        new = []
        for (dataset, path), problems in (state_problems | doubts).items():
            known = self._state.problems[dataset].get(path, ())
            new += [(dataset, path, each) for each in problems if each not in known]
            self.add_problems(dataset, {path: problems})
        self.flush()
        self.committed += join_batches(self._state)
        compact(self._state.tables.values())
        return new

    def _flush_problems(self, dataset: str, batch: _Batch) -> None:
        known = self._state.problems[dataset]
        changed = {
            p: problems for p, problems in batch.problems.items() if known.get(p, []) != problems
        }
        if not changed:
            return
        table, replaced = self._state.tables["problems"], [p for p in changed if p in known]
        replace_problems(table, dataset, changed, replaced)
        self.committed += 1
        for path, problems in changed.items():
            known.pop(path, None)
            if problems:
                known[path] = problems

    def _flush_runs(self, dataset: str, batch: _Batch) -> None:
        recorded = self._state.runs
        removed = {run_id for run_id in batch.removed if run_id in recorded} - set(batch.rows)
        replaced = removed | {run_id for run_id in batch.rows if run_id in recorded}
        if not batch.rows and not removed:
            return
        if batch.distributions:
            entry = write_batch(self._lake, dataset, batch.distributions)
            for run_id in batch.distributions:
                batch.rows[run_id]["files"] = [*batch.rows[run_id]["files"], entry]
        table = self._state.tables["runs"]
        replace_runs(table, list(batch.rows.values()), replaced, self._state.schema)
        self.committed += 1
        for run_id in removed:
            recorded.remove(run_id)
        for run in recorded_runs(list(batch.rows.values())):
            self._state.record(run)


def sorted_problems(problems: Sequence[Problem]) -> list[Problem]:
    """Sort the problems of one path as the lake stores them."""
    return sorted(problems, key=lambda p: (p.line or 0, p.kind, p.detail, p.severity, p.count))
