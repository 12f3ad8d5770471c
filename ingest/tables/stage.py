"""Read the summary tables of each dataset, compare them with the lake, commit the changes."""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from pathlib import Path

from data.lake_place import LakePath
from ingest.discover.found_files import FORMATS_BY_NAME, Discovery, RawFile, as_it_is
from ingest.discover.names import label_columns
from ingest.discover.plan import Plan
from ingest.discover.source_reads import read_source
from ingest.files.blocks import digest_file
from ingest.formats.table import own_columns
from ingest.lake.commits import Committer
from ingest.lake.state import (
    LABEL_COLUMNS,
    SUMMARY,
    LakeState,
    RecordedFile,
    RecordedRun,
    read_rows,
    row_digest,
    summary_row_digests,
)
from ingest.lake.tables import conform_row
from ingest.records import Problem, SummaryTable
from ingest.settings.dataset import Settings
from ingest.settings.layers import SettingsByFolder
from ingest.tables.summary_rows import (
    RowCounts,
    SummaryRuns,
    TableRead,
    finish_table,
    resolve_tables,
)

OnProblems = Callable[[str, str, Sequence[Problem]], None]


class TableStage:
    """Updates the rows of summary tables so that they agree with the runs from raw logs.

    The stage runs before the runs are read and treats planned runs as present. So after a kill at
    any moment the next ingest finds the remaining work. A row that a planned run will replace stays
    until that run is committed.
    """

    def __init__(
        self, lake: LakePath, state: LakeState, found: Discovery, plan: Plan, committer: Committer
    ) -> None:
        self._lake = lake
        self._state = state
        self._found = found
        self._layers = SettingsByFolder(None)
        self._plan = plan
        self._committer = committer
        self._reads: dict[str, list[TableRead]] = {}
        # A dataset is committed again if planned runs fail; its rows count once.
        self._counted: set[str] = set()
        self._new: set[str] = set()
        self._tallies: dict[str, RowCounts] = {}
        self.replaced = self.removed = self.unchanged = self.bytes_read = 0

    @property
    def added(self) -> int:
        """Number of rows of the lake that this ingest added."""
        return len(self._new)

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
        for dataset in sorted(self._found.settings):
            ids = {run_id for run_id, owner in planned.items() if owner == dataset} - failed
            files = self._files_of(dataset)
            if not files:
                continue
            if not failed and self._is_settled(dataset, files, ids):
                self.unchanged += len(self._summaries(dataset))
                self._counted.add(dataset)
                continue
            self._commit_dataset(dataset, files, ids, on_problems)

    def _files_of(self, dataset: str) -> list[RawFile]:
        """Found tables, and recorded tables outside the given folders that still exist."""
        found = list(self._plan.tables.get(dataset, ()))
        for path, known in self._state.files[dataset].items():
            form = FORMATS_BY_NAME.get(known.format)
            is_table = form is not None and form.role == "table"
            is_elsewhere = path not in self._found.seen[dataset]
            if is_table and is_elsewhere and Path(path).is_file():
                settings = self._layers.settings_of(str(Path(path).parent))
                found.append(as_it_is(known, dataset, settings))
        return sorted(found, key=lambda file: file.path)

    def _is_given(self, file: RawFile) -> bool:
        return file.path in self._found.seen[file.dataset]

    def _summaries(self, dataset: str) -> list[RecordedRun]:
        runs = self._state.runs.values()
        return [run for run in runs if run.dataset == dataset and run.source == SUMMARY]

    def _is_settled(self, dataset: str, files: Sequence[RawFile], planned: Set[str]) -> bool:
        """Whether reading these tables would give exactly the lake's rows."""
        runs = self._summaries(dataset)
        by_path = {file.path: file for file in files if self._is_given(file)}
        return (
            not any(run_id not in self._state.runs for run_id in planned)
            and not any(self._state.runs[run_id].source == SUMMARY for run_id in planned)
            and all(_is_same(file) for file in files)
            and all(_has_settings(run, by_path) for run in runs)
        )

    def _commit_dataset(
        self, dataset: str, files: Sequence[RawFile], planned: Set[str], on_problems: OnProblems
    ) -> None:
        reads = self._read(dataset, files, on_problems)
        paths = {read.file.path for read in reads}
        digests = {read.digest for read in reads}
        ours = {
            run.run_id
            for run in self._summaries(dataset)
            if any(file.path in paths or _is_moved(file, digests) for file in run.files)
        }
        others = {
            run.run_id
            for run in self._state.runs.values()
            if run.dataset == dataset and run.run_id not in ours
        }
        for read in reads:
            self._declare(read.table)
        resolved = resolve_tables(dataset, reads, others | planned)
        for read in reads:
            path, problems = read.file.path, resolved.problems[read.file.path]
            if not (read.file.is_unchanged and self._committer.is_known(dataset, path, problems)):
                on_problems(dataset, path, problems)
        self._committer.add_problems(dataset, resolved.problems)
        elsewhere = {read.file.path for read in reads if not self._is_given(read.file)}
        self._keep_labels(resolved, ours, elsewhere)
        self._commit_rows(dataset, resolved, ours - planned)

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
                table = finish_table(replace(table, problems=source.problems), file.settings)
                reads.append(TableRead(file, source.digest, table))
        self._reads[dataset] = reads
        return reads

    def _declare(self, table: SummaryTable) -> None:
        """Add a table's undeclared columns to the lake; rename them in the rows if necessary."""
        named = own_columns(table.columns, self._state.columns)
        self._committer.declare(named.values())
        table.columns = list(named.values())
        moved = {name: column.name for name, column in named.items() if name != column.name}
        for row in table.rows if moved else ():
            for name, other in moved.items():
                row.values[other] = row.values.pop(name, None)

    def _keep_labels(self, resolved: SummaryRuns, ours: set[str], elsewhere: set[str]) -> None:
        """Keep the lake's labels in rows of tables that are not among the given files."""
        ids = {
            run_id
            for run_id in ours
            if any(file.path in elsewhere for file in self._state.runs[run_id].files)
        }
        rows = read_rows(self._lake, sorted(ids)) if ids else []
        recorded = {(row["run_id"], row["sources"][0]["path"]): row for row in rows}
        for row in resolved.rows:
            if known := recorded.get((row["run_id"], row["sources"][0]["path"])):
                row |= {name: known.get(name) for name in LABEL_COLUMNS}
                row["sources"] = [row["sources"][0], *known["sources"][1:]]

    def _commit_rows(self, dataset: str, resolved: SummaryRuns, ours: set[str]) -> None:
        known = summary_row_digests(self._lake, dataset) if ours else {}
        for row in resolved.rows:
            run_id = row["run_id"]
            old = known.get(run_id)
            is_new = old is None or run_id in self._new
            if old is not None and old == row_digest(conform_row(row, self._state.schema)):
                self.unchanged += dataset not in self._counted
                continue
            self._committer.add_run(row)
            self.replaced += not is_new
            if is_new:
                self._new.add(run_id)
        gone = ours - {row["run_id"] for row in resolved.rows}
        self._committer.remove_runs(dataset, gone)
        self.removed += len(gone - self._new)
        self._new -= gone
        self._tallies[dataset] = resolved.counts
        self._counted.add(dataset)
        self._committer.flush()


def _is_same(file: RawFile) -> bool:
    if file.is_unchanged:
        return True
    known = file.recorded
    return (
        known is not None
        and known.size == file.size
        and known.digest == digest_file(Path(file.path))
    )


def _is_moved(known: RecordedFile, digests: Set[str]) -> bool:
    return known.digest in digests and not Path(known.path).exists()


def _has_settings(run: RecordedRun, by_path: dict[str, RawFile]) -> bool:
    file = next((by_path[known.path] for known in run.files if known.path in by_path), None)
    settings: Settings | None = file.settings if file else None
    return settings is None or (
        run.fingerprint == settings.table_fingerprint
        and run.labels == label_columns(run.workload, run.system, settings)
    )
