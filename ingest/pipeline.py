"""Ingest raw files and folders into a lake: find, plan, read on all cores, commit."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data.errors import WattlasError
from ingest.cluster.address import ClusterAddress, ClusterError
from ingest.discover.grouping import walked_among
from ingest.discover.plan import RunWork, make_plan
from ingest.lake.commits import Committer
from ingest.lake.proposals import write_proposal
from ingest.lake.recorded_runs import SUMMARY
from ingest.lake.state import LakeState, load_state, read_rows
from ingest.lake.tables import create_tables, describe_datasets, locked_lake, remove_temporaries
from ingest.lake.verification import check_logs
from ingest.logs.compiling import compile_loops
from ingest.logs.memory import collecting_nothing, frozen_garbage_collector, release_memory
from ingest.proposed_settings import AddOptions, Found, discover_proposing
from ingest.records import Problem
from ingest.report import AddReport, Reported
from ingest.runs.assembly import AssembledRun
from ingest.runs.meter_stage import MeterStage
from ingest.runs.progress import Progress
from ingest.runs.readers import RunReaders, start_server_early
from ingest.runs.row import amended_row
from ingest.runs.row_timelines import draw_trace
from ingest.runs.run_reader import RunReader
from ingest.runs.workers import LostWorkerError
from ingest.settings.layers import SettingsByFolder
from ingest.tables.stage import TableStage

if TYPE_CHECKING:
    import pyarrow as pa

    from ingest.cluster.connection import Cluster
    from ingest.cluster.readers import ClusterReaders

# Problems that this ingest has found, by dataset and path.
_Before = Mapping[tuple[str, str], Sequence[Problem]]


class InterruptedIngestError(WattlasError):
    """The user stopped the ingest; finished runs are committed."""


def add(
    options: AddOptions,
    on_tick: Callable[[Progress], None] = lambda _: None,
    on_compile: Callable[[], None] = lambda: None,
    on_cluster: Callable[[str, str], None] = lambda _address, _dashboard: None,
) -> AddReport:
    """Ingest raw files and folders into a lake.

    Args:
        options: The raw files, the lake, and how to read.
        on_tick: Called from this thread about twice a second while files are read.
        on_compile: Called before loops are compiled, which happens once on each machine.
        on_cluster: Called with the addresses of a cluster's scheduler and dashboard; the latter is
            empty if there is no dashboard.

    Raises:
        LakeError: Another ingest uses the lake, or the lake has another schema version.
        SettingsError: A settings file is wrong.
        DataError: Two datasets declare one column with different types or units.
        InterruptedIngestError: The user pressed Ctrl-C.
        ClusterError: The cluster cannot be used, or the connection to it is lost.
        OSError: The lake cannot be written, or a path does not exist.
    """
    with (
        locked_lake(options.lake),
        _opened(options.cluster, on_cluster) as cluster,
        frozen_garbage_collector(),
    ):
        remove_temporaries(options.lake)
        check_logs(options.lake)
        tables = create_tables(options.lake)
        with collecting_nothing():
            state = load_state(options.lake, tables)
            release_memory()
            disk = None
            if cluster is not None:
                from ingest.cluster.search import ClusterDisk

                disk = ClusterDisk(cluster, options.raw, state)
            discovery = discover_proposing(options, state, disk)
            corrected = [each for each in discovery.kept if each.name in options.corrected]
            for proposal in (*corrected, *discovery.new):
                write_proposal(options.lake, proposal)
            ingest = _Ingest(options, state, discovery, cluster, on_tick, on_compile)
        report = ingest.run()
        report.proposed = [*zip(discovery.new, discovery.summaries, strict=True)]
        if cluster is not None:
            # Workers that died have left some.
            remove_temporaries(options.lake)
        return report


@contextmanager
def _opened(
    address: ClusterAddress | None, on_cluster: Callable[[str, str], None]
) -> Iterator["Cluster | None"]:
    """Open the cluster, if there is an address. Dask is imported only then."""
    if address is None:
        yield None
        return
    try:
        from ingest.cluster.connection import open_cluster
    except ImportError as error:
        raise ClusterError(
            f"--cluster needs more packages ({error}): pip install -r requirements-cluster.txt"
        ) from error
    with open_cluster(address) as cluster:
        on_cluster(cluster.address, cluster.dashboard)
        yield cluster


class _Ingest:
    """One call of `ingest add`."""

    def __init__(
        self,
        options: AddOptions,
        state: LakeState,
        discovered: Found,
        cluster: "Cluster | None",
        on_tick: Callable[[Progress], None],
        on_compile: Callable[[], None],
    ) -> None:
        self._lake = options.lake
        self._cluster = cluster
        self._workers = options.workers or os.cpu_count() or 1
        self._state = state
        self._discovery = discovery = discovered.discovery
        self._layers = SettingsByFolder(None, [(p.root, p.name, p.text) for p in discovered.kept])
        self._on_tick = on_tick
        self._on_compile = on_compile
        self._plan = plan = make_plan(discovery, state)
        if discovery.ignored:
            from ingest.unread import unread_problems

            is_read = plan.works or plan.amended or plan.tables or plan.meters or plan.unchanged
            plan.problems |= unread_problems(discovery, is_empty=not is_read)
        self._committer = Committer(options.lake, state)
        self._committer.declare(discovery.columns)
        about = {name: settings.about for name, settings in discovery.settings.items()}
        describe_datasets(state.tables["runs"], about)
        self._meters = MeterStage(options.lake, state, discovery, self._plan, self._committer)
        self._progress = Progress()
        self._reported: dict[tuple[str, str], list[Problem]] = {}
        self._report = AddReport(
            datasets=tuple(sorted(discovery.settings)),
            ignored=discovery.ignored,
            unchanged=self._plan.unchanged,
        )

    def run(self) -> AddReport:
        plan = self._plan
        if self._cluster is None:
            start_server_early(plan.works, self._workers)
        self._report_unread()
        self._committer.give_digests()
        stage = TableStage(
            self._lake,
            self._state,
            self._discovery,
            plan,
            self._committer,
            self._layers,
            partial(draw_trace, self._lake),
        )
        stage.commit(self._report_problems)
        self._meters.prepare(self._report_problems)
        # Labels and file times change without the logs.
        amended = {work.run_id: work for work in plan.amended}
        for row in read_rows(self._lake, sorted(amended)) if amended else ():
            self._committer.add_run(amended_row(row, amended[row["run_id"]]))
            self._report.amended += 1
        self._committer.flush()
        self._progress.runs_total = len(plan.works)
        self._progress.bytes_total = sum(work.size for work in plan.works)
        self._progress.problems = sum(map(len, self._reported.values()))
        is_logged = any(f.format.role == "log" for work in plan.works for f in work.files)
        if is_logged and self._cluster is None:
            compile_loops(self._on_compile)
        self._progress.begin()
        failed = self._read_runs()
        if failed:
            stage.commit(self._report_problems, failed)
        # What labels work and compares replicates reads the whole table.
        release_memory()
        for dataset, path, problem in self._committer.finish(self._discovery.machine_files):
            self._reported.setdefault((dataset, path), []).append(problem)
        report = self._report
        for part in (stage, self._meters.idle):
            report.added += part.added
            report.replaced += part.replaced
            report.removed += part.removed
            report.unchanged += part.unchanged
        report.rows = stage.counts
        report.bytes_read = self._progress.bytes_done + stage.bytes_read
        report.problems = [
            Reported(dataset, path, problem)
            for (dataset, path), problems in sorted(self._reported.items())
            for problem in problems
        ]
        report.elapsed_s = self._progress.elapsed_s
        return report

    def _report_problems(self, dataset: str, path: str, problems: Sequence[Problem]) -> None:
        self._reported[dataset, path] = list(problems)

    def _report_unread(self) -> None:
        """Report problems of files that are not read, unless the lake has them already."""
        for (dataset, path), problems in sorted(self._plan.problems.items()):
            if not self._committer.is_known(dataset, path, problems):
                self._report_problems(dataset, path, problems)
            self._committer.add_problems(dataset, {path: problems})
        for dataset, path in self._settled():
            self._committer.add_problems(dataset, {path: []})

    def _settled(self) -> Iterator[tuple[str, str]]:
        """Yield paths whose problems are obsolete.

        No run uses them, and they do not exist any more, are folders, or are ignored now.
        """
        known = self._state.problems
        used = walked_among({(d, path) for d in known for path in known[d]}, self._discovery)
        for dataset, folder in self._discovery.roots:
            for path in known.get(dataset, {}):
                key = (dataset, path)
                is_used = key in used or self._state.file_of(dataset, path) is not None
                if is_used or key in self._plan.problems:
                    continue
                if Path(path).is_relative_to(folder) and (
                    path in self._discovery.seen[dataset]
                    or not os.path.lexists(path)
                    or Path(path).is_dir()
                ):
                    yield key

    def _read_runs(self) -> set[str]:
        """Read all planned runs; return the ids of runs without any usable file."""
        failed: set[str] = set()
        readers = self._readers()
        with self._stopping_cleanly(), closing(readers.results(self._plan.works)) as results:
            for result in results:
                self._on_tick(self._progress)
                self._committer.flush_if_due()
                if result is not None and not self._take(*result):
                    failed.add(result[0].run_id)
        return failed

    def _readers(self) -> "RunReaders | ClusterReaders":
        meters = self._meters.run_meters
        if self._cluster is None:
            return RunReaders(RunReader(self._lake, meters), self._workers, self._progress)
        from ingest.cluster.readers import ClusterReaders

        # Workers have other working folders.
        reader = RunReader(self._lake.resolve(), meters)
        return ClusterReaders(reader, self._cluster, self._progress)

    @contextmanager
    def _stopping_cleanly(self) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt:
            self._committer.flush()
            done, total = self._progress.runs_done, self._progress.runs_total
            raise InterruptedIngestError(
                f"stopped after {done} of {total} runs; the same command continues from there"
            ) from None
        except (LostWorkerError, ClusterError):
            self._committer.flush()
            raise

    def _take(self, work: RunWork, run: AssembledRun) -> bool:
        dataset = work.key.dataset
        news = news_of(work, run, self._state, self._committer, self._reported)
        for path, problems in news.items():
            self._report_problems(dataset, path, problems)
        self._committer.add_problems(dataset, news)
        if run.row is not None:
            self._committer.add_columns(run.row, run.columns)
            self._add(work, run.row, run.distributions)
        # Last, so that after Ctrl-C the number of runs is the number of rows.
        self._progress.add_run(sum(map(len, run.problems.values())))
        return run.row is not None

    def _add(self, work: RunWork, row: dict[str, Any], distributions: "pa.Table | None") -> None:
        dataset = work.key.dataset
        recorded = self._state.runs.get(work.run_id)
        if recorded is not None and recorded.source != SUMMARY:
            self._report.replaced += 1
        else:
            self._report.added += 1
        self._committer.add_run(row, distributions)
        self._committer.remove_runs(dataset, work.replaces)
        self._report.removed += len(work.replaces)


def news_of(
    work: RunWork, run: AssembledRun, state: LakeState, committer: Committer, reported: _Before
) -> dict[str, list[Problem]]:
    """Return all current problems of each file of a run.

    Args:
        reported: Problems that this ingest has found so far, by dataset and path.

    Returns:
        Problems by path, without files that make no run and of which an earlier ingest found the
        same problems.
    """
    return {
        path: _joined(work, path, problems, state, reported)
        for path, problems in run.problems.items()
        if run.row is not None or not _is_known(work, path, problems, state, committer)
    }


def _is_known(
    work: RunWork, path: str, problems: Sequence[Problem], state: LakeState, committer: Committer
) -> bool:
    """Return whether an earlier ingest found the same problems; of a part, at least these."""
    if any(file.part for file in work.files if file.path == path):
        known = state.problems[work.key.dataset].get(path, [])
        return all(problem in known for problem in problems)
    return committer.is_known(work.key.dataset, path, problems)


def _joined(
    work: RunWork, path: str, problems: Sequence[Problem], state: LakeState, reported: _Before
) -> list[Problem]:
    """Join a file's problems to those of other runs in the same file if that is unchanged."""
    key = work.key.dataset, path
    before = list(reported.get(key, ()))
    if any(file.part and file.is_unchanged for file in work.files if file.path == path):
        before += [p for p in state.problems[key[0]].get(path, ()) if p not in before]
    return [*before, *(problem for problem in problems if problem not in before)]
