"""Read the summary tables of each dataset, compare them with the lake, commit the changes."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Final

import numpy as np

from data.lake_place import LakePath
from ingest.discover.found_files import FORMATS_BY_NAME, Discovery, Ignored, RawFile, as_it_is
from ingest.discover.names import label_columns
from ingest.discover.plan import Plan
from ingest.discover.source_reads import read_source
from ingest.files.blocks import digest_file
from ingest.files.packed import Packed
from ingest.lake.commits import Committer
from ingest.lake.recorded_runs import SUMMARY, RecordedRun, RunIds, id_number
from ingest.lake.state import (
    LakeState,
    summary_ids,
    summary_labels,
    summary_number,
    summary_row_digests,
)
from ingest.lake.tables import conform_row
from ingest.records import Problem, SummaryRow, SummaryTable
from ingest.settings.dataset import Settings
from ingest.settings.layers import SettingsByFolder
from ingest.tables.joined_tables import join_tables
from ingest.tables.mean_rows import drop_means
from ingest.tables.row_traces import join_traces
from ingest.tables.same_rows import drop_copies, join_repeated
from ingest.tables.summary_rows import SummaryRuns, resolve_tables
from ingest.tables.table_reads import RowCounts, RowTrace, TableRead, read_tables

OnProblems = Callable[[str, str, Sequence[Problem]], None]

# Rows of one commit; they are in memory until then.
BATCH_ROWS: Final = 10_000
_NO_IDS: Final = np.empty(0, np.uint64)
UNFINISHED: Final = Problem(
    "unfinished_table", "doubted", "an ingest ended before all rows were in; the next one goes on"
)


class TableStage:
    """Updates the rows of summary tables so that they agree with the runs from raw logs.

    The stage runs before the runs are read and treats planned runs as present. So after a kill at
    any moment the next ingest finds the remaining work. A row that a planned run will replace stays
    until that run is committed.
    """

    def __init__(
        self,
        lake: LakePath,
        state: LakeState,
        discovery: Discovery,
        plan: Plan,
        committer: Committer,
        layers: SettingsByFolder,
        draw: Callable[[dict[str, Any], RowTrace], None],
    ) -> None:
        """Take what is to be brought up to date.

        Args:
            layers: Settings of tables outside the folders of this ingest.
            draw: Writes the big files of the trace of a row, and names them in it.
        """
        self._lake = lake
        self._state = state
        self._discovery = discovery
        self._layers = layers
        self._plan = plan
        self._committer = committer
        self._draw = draw
        self._reads: dict[str, list[TableRead]] = {}
        # A dataset is committed again if planned runs fail; its rows count once.
        self._counted: set[str] = set()
        self._new: set[str] = set()
        self._tallies: dict[str, RowCounts] = {}
        self.added = self.replaced = self.removed = self.unchanged = self.bytes_read = 0

    @property
    def counts(self) -> RowCounts:
        """What became of the rows of all tables that were read, each once."""
        return sum(self._tallies.values(), RowCounts())

    def commit(self, on_problems: OnProblems, failed: Set[str] = frozenset()) -> None:
        """Bring the summary rows of all datasets of this ingest up to date.

        Args:
            on_problems: Called with the problems of each table that is read.
            failed: Planned runs that gave no row.
        """
        planned = {work.run_id: work.key.dataset for work in self._plan.works}
        for dataset in sorted(self._discovery.settings):
            ids = {run_id for run_id, owner in planned.items() if owner == dataset} - failed
            files = self._files_of(dataset)
            if not files:
                continue
            if not failed and self._is_settled(dataset, files, ids):
                self.unchanged += sum(len(ids) for _, ids in self._summaries(dataset))
                self._counted.add(dataset)
                continue
            self._commit_dataset(dataset, files, ids, on_problems)

    def _files_of(self, dataset: str) -> list[RawFile]:
        """Return found tables, and recorded tables outside the given folders that still exist."""
        files = list(self._plan.tables.get(dataset, ()))
        for path, known in self._state.files[dataset].items():
            form = FORMATS_BY_NAME.get(known.format)
            is_table = form is not None and form.role == "table"
            is_elsewhere = path not in self._discovery.seen[dataset]
            if is_table and is_elsewhere and Path(path).is_file():
                settings = self._layers.settings_of(str(Path(path).parent))
                files.append(as_it_is(known, dataset, settings))
        return sorted(files, key=lambda file: file.path)

    def _is_given(self, file: RawFile) -> bool:
        return file.path in self._discovery.seen[file.dataset]

    def _summaries(self, dataset: str) -> list[tuple[RecordedRun, np.ndarray]]:
        return [each for each in self._state.runs.summaries() if each[0].dataset == dataset]

    def _is_settled(self, dataset: str, files: Sequence[RawFile], planned: Set[str]) -> bool:
        """Return whether reading these tables would give exactly the lake's rows."""
        kinds = self._summaries(dataset)
        by_path = {file.path: file for file in files if self._is_given(file)}
        problems = defaultdict(list, self._state.problems[dataset])
        return (
            not any(run_id not in self._state.runs for run_id in planned)
            and not any(self._state.runs[run_id].source == SUMMARY for run_id in planned)
            and all(_is_same(file) for file in files)
            and not any(UNFINISHED in problems[file.path] for file in files)
            and all(_has_settings(kind, by_path) for kind, _ in kinds)
        )

    def _commit_dataset(
        self, dataset: str, files: Sequence[RawFile], planned: Set[str], on_problems: OnProblems
    ) -> None:
        reads = self._read(dataset, files, on_problems)
        works = [work for work in self._plan.works if work.key.dataset == dataset]
        left, ignored = join_traces(reads, works)
        by_id = {work.run_id: work for work in left}
        gone = {work.run_id for work in works} - by_id.keys()
        self._plan.works = [
            by_id.get(work.run_id, work) for work in self._plan.works if work.run_id not in gone
        ]
        self._discovery.ignored += ignored
        planned = planned - gone
        # Runs of a file that came first are rows of another table now.
        paths = {each.file.path for read in reads for each in (read, *read.joined)}
        # Tables of which nothing was measured are plans of the others.
        filled = {id(read) for read in reads if not all(map(read.is_empty, read.table.rows))}
        plans = {id(read) for read in reads if filled and read.table.rows} - filled
        self._discovery.ignored += [
            Ignored(read.file.path, "nothing in it was measured")
            for read in reads
            if id(read) in plans
        ]
        reads = [read for read in reads if id(read) not in plans]
        digests = {read.digest for read in reads}
        ours, others = [_NO_IDS], [_NO_IDS]
        for kind, ids in self._summaries(dataset):
            is_ours = any(
                file.path in paths or (file.digest in digests and not Path(file.path).exists())
                for file in kind.files
            )
            (ours if is_ours else others).append(ids)
        own = np.concatenate(ours)
        taken = RunIds(self._state.runs.ids_of(dataset) | planned, np.concatenate(others))
        for read in reads:
            self._declare(dataset, read.table)
        resolved = resolve_tables(dataset, reads, taken)
        read_files = {t.file.path: t.file for read in reads for t in (read, *read.joined)}
        for path, file in read_files.items():
            problems = resolved.problems[path]
            if not (file.is_unchanged and self._committer.is_known(dataset, path, problems)):
                on_problems(dataset, path, problems)
        self._committer.add_problems(dataset, resolved.problems)
        elsewhere = {read.file.path for read in reads if not self._is_given(read.file)}
        labels = summary_labels(self._lake, dataset, elsewhere) if elsewhere and len(own) else {}
        self._commit_rows(dataset, resolved, own, planned, labels)

    def _read(
        self, dataset: str, files: Iterable[RawFile], on_problems: OnProblems
    ) -> list[TableRead]:
        if dataset in self._reads:
            return self._reads[dataset]
        reads = []
        for file in files:
            source = read_source(file)
            table = source.content
            self.bytes_read += file.size
            if not isinstance(table, SummaryTable):
                on_problems(dataset, file.path, source.problems)
                self._committer.add_problems(dataset, {file.path: source.problems})
            else:
                reads += read_tables(file, source.digest, table, source.problems)
        reads, further = join_tables(reads)
        reads, repeated = join_repeated(reads)
        drop_copies(reads)
        drop_means(reads)
        self._discovery.ignored += [*further, *repeated]
        if self._plan.works:  # Which may fail; then the dataset is committed again.
            self._reads[dataset] = reads
        return reads

    def _declare(self, dataset: str, table: SummaryTable) -> None:
        """Add a table's undeclared columns to the lake; rename them in the rows if necessary."""
        named = self._committer.give_names(dataset, table.columns)
        table.columns = list(named.values())
        moved = {name: column.name for name, column in named.items() if name != column.name}
        if moved:
            rows: Packed[SummaryRow] = Packed()
            for row in table.rows:
                for name, other in moved.items():
                    row.values[other] = row.values.pop(name, None)
                rows.append(row)
            table.rows = rows

    def _commit_rows(
        self,
        dataset: str,
        resolved: SummaryRuns,
        ours: np.ndarray,
        planned: Set[str],
        labels: Mapping[tuple[str, str], Mapping[str, Any]],
    ) -> None:
        """Commit the rows that differ from the lake's.

        If they take several commits, the first says of the tables that they are not complete, and
        the last that they are. So after a kill the next ingest finds them.
        """
        known = summary_row_digests(self._lake, dataset) if len(ours) else {}
        there, is_marked = array("Q", map(id_number, planned)), False
        for row, trace in resolved.rows():
            run_id, source = row["run_id"], row["sources"][0]
            number = id_number(run_id)
            there.append(number)
            if kept := labels.get((run_id, source["path"])):
                row |= {**kept, "sources": [source, *kept["sources"][1:]]}
            old = known.get(number)
            conformed = conform_row(row, self._state.schema) if old is not None else {}
            if old is not None and old == summary_number(conformed, trace.digest if trace else ""):
                self.unchanged += dataset not in self._counted
                continue
            if trace is not None:
                self._draw(row, trace)
            self._count_new(run_id, old is None)
            self._committer.add_run(row)
            if self._committer.waiting >= BATCH_ROWS:
                if not is_marked:
                    marked = {path: [*all_, UNFINISHED] for path, all_ in resolved.problems.items()}
                    self._committer.add_problems(dataset, marked)
                    is_marked = True
                self._committer.flush()
        lost = RunIds(frozenset(), np.setdiff1d(ours, np.array(there, np.uint64)))
        gone = (
            {i for i in summary_ids(self._lake, dataset) if i in lost} if len(lost) else set[str]()
        )
        self._committer.remove_runs(dataset, gone)
        self.removed += len(gone - self._new)
        self.added -= len(gone & self._new)
        self._new -= gone
        self._tallies[dataset] = resolved.counts
        self._counted.add(dataset)
        self._committer.flush()
        if is_marked:
            self._committer.add_problems(dataset, resolved.problems)
            self._committer.flush()

    def _count_new(self, run_id: str, is_new: bool) -> None:
        if not is_new and run_id not in self._new:
            self.replaced += 1
        elif run_id not in self._new:
            self.added += 1
            if self._plan.works:
                self._new.add(run_id)


def _is_same(file: RawFile) -> bool:
    if file.is_unchanged:
        return True
    known = file.recorded
    return (
        known is not None
        and known.size == file.size
        and known.digest == digest_file(Path(file.path))
    )


def _has_settings(run: RecordedRun, by_path: dict[str, RawFile]) -> bool:
    file = next((by_path[known.path] for known in run.files if known.path in by_path), None)
    settings: Settings | None = file.settings if file else None
    return settings is None or (
        run.fingerprint == settings.table_fingerprint
        and run.labels == label_columns(run.workload, run.system, settings)
    )
