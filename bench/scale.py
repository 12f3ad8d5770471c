"""An add on the workers of a cluster, and a simulation of more workers from its costs."""

import itertools
import pickle
import statistics
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench.cluster_model import Costs, Outcome, simulate
from bench.ingest import make_input
from bench.report import Measurement
from ingest.cluster.address import LocalWorkers
from ingest.cluster.connection import open_cluster
from ingest.cluster.tasks import Tasks
from ingest.discover.plan import make_plan
from ingest.discover.search import discover
from ingest.lake.commits import COMMIT_SHARE, FLUSH_S, Committer
from ingest.lake.state import LakeState, load_state, read_rows
from ingest.lake.tables import create_tables
from ingest.pipeline import AddOptions, add
from ingest.runs.progress import Progress
from ingest.runs.schedule import in_batches

RAW_BYTES: Final = 1e15
_ROUNDS: Final = 3
_NOTHINGS: Final = 1000
_BATCHES: Final = (1, 50, 500, 5000)
_GROWN_COMMITS: Final = 200
_SIZES: Final = (1, 4, 16, 50, 100)
_TASKS_A_WORKER: Final = 200
_MOST_TASKS: Final = 40_000
_TASK_SIZES_S: Final = (0.1, 0.3, 1.0, 3.0, 10.0)
_STORES_GB_S: Final = (1, 5, 10, 20)


@dataclass(frozen=True)
class _Commits:
    """Costs of commits.

    Attributes:
        commit_s: Seconds for a commit into an empty table, besides the rows.
        row_s: Seconds for one row.
        file_s: Additional seconds for each file of the table.
    """

    commit_s: float
    row_s: float
    file_s: float


def measure(runs: int, workers: Sequence[int]) -> Iterator[Measurement]:
    """Add runs with each number of workers, measure each part, and simulate more workers."""
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as name:
        work = Path(name)
        raw = make_input(work / "raw", runs)
        yield Measurement("cluster_input", raw.size / 1e6, "MB", 1)
        plan = make_plan(discover([raw.folder], LakeState(), None, None), LakeState())
        batches = list(in_batches(plan.works))
        yield Measurement("cluster_tasks", len(batches), "", 1)
        task_s = []
        for count in workers:
            adds = [_add(raw.folder, work / f"lake-{count}-{at}", count) for at in range(_ROUNDS)]
            rate = statistics.median(each.rate_mb_s for each in adds)
            idle = statistics.median(each.idle_pct(count) for each in adds)
            yield Measurement(f"cluster_{count}_workers_rate", rate, "MB/s", _ROUNDS)
            yield Measurement(f"cluster_{count}_workers_idle", idle, "%", _ROUNDS)
            task_s.append(statistics.median(each.cpu_s / each.tasks for each in adds))
        yield Measurement("cluster_task_cpu", task_s[0], "s", _ROUNDS)
        scheduler_s = _time_nothing()
        yield Measurement("cluster_task_overhead_cpu", 1e3 * scheduler_s, "ms", _NOTHINGS)
        commits = yield from _time_commits(work, work / f"lake-{workers[0]}-0")
        costs = Costs(
            task_s[0],
            raw.size / len(batches),
            len(plan.works) / len(batches),
            scheduler_s,
            commits.row_s,
            commits.commit_s,
        )
        yield from _simulate(costs, commits)


@dataclass(frozen=True)
class _Added:
    """One add: the times of its reads, and the work of its workers."""

    bytes_read: int
    reading_s: float
    busy_s: float
    cpu_s: float
    tasks: int

    @property
    def rate_mb_s(self) -> float:
        return self.bytes_read / self.reading_s / 1e6

    def idle_pct(self, workers: int) -> float:
        return 100 * (1 - self.busy_s / self.reading_s / workers)


def _add(raw: Path, lake: Path, workers: int) -> _Added:
    """Add with some workers; the time is from the first task to the last row."""
    ends_s: list[float] = []
    seen: list[Progress] = []

    def look(progress: Progress) -> None:
        seen[:] = [progress]
        ends_s[:] = [progress.elapsed_s]

    report = add(AddOptions(lake, [raw], cluster=LocalWorkers(workers)), look)
    if report.problems:
        raise RuntimeError(f"BUG: the input has problems: {report.problems[0]}")
    return _Added(report.bytes_read, ends_s[0], seen[0].busy_s, seen[0].cpu_s, seen[0].tasks_done)


def _time_nothing() -> float:
    """Measure the processor time of scheduler and committer, in one process, for an empty task."""
    with (
        open_cluster(LocalWorkers(2)) as cluster,
        closing(Tasks[int](cluster.client, "x")) as tasks,
    ):
        began = time.process_time()
        done = submitted = 0
        while done < _NOTHINGS:
            while submitted < _NOTHINGS and tasks.has_room:
                tasks.submit("nothing", submitted, int)
                submitted += 1
            done += len(tasks.take())
        return (time.process_time() - began) / _NOTHINGS


def _time_commits(work: Path, lake: Path) -> Generator[Measurement, None, _Commits]:
    """Commit copies of a row to a new lake, at several batch sizes and numbers of files."""
    run_ids = sorted(run.run_id for run in load_state(lake).runs.values())
    (row, *_) = read_rows(lake, run_ids[:1])
    size = len(pickle.dumps(row))
    yield Measurement("cluster_row_size", size, "B", 1)
    target = work / "lake-commits"
    target.mkdir()
    create_tables(target)
    committer = Committer(target, load_state(target))
    numbers = itertools.count()

    def commit(rows: int) -> float:
        began = time.perf_counter()
        for number in itertools.islice(numbers, rows):
            # Without its big files, which are in the other lake.
            committer.add_run({**row, "run_id": f"run-{number}", "files": []})
        committer.flush()
        return time.perf_counter() - began

    took_s = {}
    for rows in _BATCHES:
        took_s[rows] = statistics.median(commit(rows) for _ in range(_ROUNDS))
        yield Measurement(f"cluster_commit_of_{rows}", 1e3 * took_s[rows], "ms", _ROUNDS)
    row_s = (took_s[_BATCHES[-1]] - took_s[1]) / (_BATCHES[-1] - 1)
    yield Measurement("cluster_committer_rows_rate", 1 / row_s, "/s", _ROUNDS)
    yield Measurement("cluster_committer_rate", size / row_s / 1e6, "MB/s", _ROUNDS)
    before_s = statistics.median(commit(1) for _ in range(_ROUNDS))
    for _ in range(_GROWN_COMMITS):
        commit(1)
    after_s = statistics.median(commit(1) for _ in range(_ROUNDS))
    yield Measurement(f"cluster_commit_after_{_GROWN_COMMITS}", 1e3 * after_s, "ms", _ROUNDS)
    return _Commits(took_s[1], row_s, max(0.0, after_s - before_s) / _GROWN_COMMITS)


def _simulate(costs: Costs, commits: _Commits) -> Iterator[Measurement]:
    """Simulate the end of an add of 1 PB, when the table has the files of all commits."""
    for workers in _SIZES:
        outcome, every_s = _at_its_end(costs, commits, workers)
        named = f"simulated_{workers}_workers"
        yield _of_linear(f"{workers}_workers", outcome)
        hours = RAW_BYTES / costs.task_bytes / outcome.tasks_per_s / 3600
        yield Measurement(f"{named}_hours_for_1_pb", hours, "h", 1)
        yield Measurement(f"{named}_store", outcome.tasks_per_s * costs.task_bytes / 1e9, "GB/s", 1)
        for part in ("scheduler", "committer"):
            yield Measurement(f"{named}_{part}_busy", 100 * outcome.busy[part], "%", 1)
        yield Measurement(f"{named}_commit_every", every_s, "s", 1)
    workers = _SIZES[-1]
    for task_s in _TASK_SIZES_S:
        outcome, _ = _at_its_end(_resized(costs, task_s / costs.task_s), commits, workers)
        yield _of_linear(f"{workers}_workers_{task_s:g}_s_tasks", outcome)
    for store_gb_s in _STORES_GB_S:
        outcome, _ = _at_its_end(replace(costs, store_bytes_s=1e9 * store_gb_s), commits, workers)
        yield _of_linear(f"{workers}_workers_store_of_{store_gb_s}_gb_s", outcome)
    second = _resized(costs, 1 / costs.task_s)
    for rows in (1, 50, 500):
        outcome = simulate(second, workers, _TASKS_A_WORKER * workers, rows, float("inf"))
        yield _of_linear(f"{workers}_workers_commits_of_{rows}", outcome)


def _of_linear(name: str, outcome: Outcome) -> Measurement:
    """Return the throughput and the part that limits it."""
    named = f"simulated_{name}_of_linear_by_{outcome.bottleneck}"
    return Measurement(named, 100 * outcome.efficiency, "%", 1)


def _resized(costs: Costs, factor: float) -> Costs:
    """Return the costs with another size of tasks."""
    return replace(
        costs,
        task_s=factor * costs.task_s,
        task_bytes=factor * costs.task_bytes,
        task_rows=factor * costs.task_rows,
    )


def _at_its_end(costs: Costs, commits: _Commits, workers: int) -> tuple[Outcome, float]:
    """Simulate the last part of 1 PB; return the outcome and the seconds between commits.

    The table then has one file for each commit. The time between commits is so long that commits
    take at most `COMMIT_SHARE` of the committer's time, which determines files(t).
    """
    lasting_s = RAW_BYTES / costs.task_bytes * costs.task_s / workers
    files, at_s = 0.0, 0.0
    while at_s < lasting_s:
        commit_s = commits.commit_s + files * commits.file_s
        # Steps grow by 1 %, since there are up to a million commits.
        step = max(1.0, files / 100)
        at_s += step * max(FLUSH_S, commit_s / COMMIT_SHARE)
        files += step
    grown_s = commits.commit_s + files * commits.file_s
    every_s = max(FLUSH_S, grown_s / COMMIT_SHARE)
    grown = replace(costs, commit_s=grown_s)
    tasks = max(_TASKS_A_WORKER, int(2 * every_s / costs.task_s)) * workers
    tasks = min(tasks, _MOST_TASKS)
    return simulate(grown, workers, tasks, float("inf"), every_s), every_s
