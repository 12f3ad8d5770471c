"""Discrete-event simulation of a cluster that adds runs: its throughput at any size.

Workers read tasks, and one scheduler distributes the tasks. One committer receives their rows,
commits them in batches, and submits the next tasks, one step at a time. All workers together read
raw bytes at most at the bandwidth of the store.
"""

import heapq
from collections import deque
from dataclasses import dataclass, field
from typing import Final

# As in `ingest.cluster.tasks`: each worker reads one task and has one that waits.
_TASKS_A_WORKER: Final = 2
_BUSY: Final = 0.95


@dataclass(frozen=True, slots=True)
class Costs:
    """Measured costs of each step.

    Attributes:
        task_s: Time in which a worker reads one task.
        task_bytes: Raw bytes of one task.
        task_rows: Runs in one task.
        scheduler_s: Time of Dask's scheduler for one task.
        row_s: Time of the committer for one row.
        commit_s: Additional time for each commit, for any number of rows.
        store_bytes_s: Bandwidth of the store for all workers together.
    """

    task_s: float
    task_bytes: float
    task_rows: float
    scheduler_s: float
    row_s: float
    commit_s: float
    store_bytes_s: float = float("inf")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a simulated add.

    Attributes:
        tasks_per_s: Committed tasks per second.
        efficiency: Throughput divided by that of workers that never wait, 0 to 1.
        busy: Share of the time that each part works: `workers`, `scheduler`, `committer`, `store`.
    """

    tasks_per_s: float
    efficiency: float
    busy: dict[str, float]

    @property
    def bottleneck(self) -> str:
        """Return the part that is always busy; the workers only if no other part is."""
        parts = ("store", "committer", "scheduler")
        return max((p for p in parts if self.busy[p] > _BUSY), key=self.busy.get, default="workers")  # type: ignore[arg-type]


@dataclass(slots=True)
class _Server:
    """A part that does one job at a time, in order of arrival."""

    name: str
    waiting: deque[tuple[str, int]] = field(default_factory=deque)
    busy_s: float = 0.0
    is_busy: bool = False


class _Add:
    """One simulated add."""

    def __init__(self, costs: Costs, workers: int, tasks: int, batch_rows: float, every_s: float):
        self._costs, self._workers = costs, workers
        self._left, self._undone = tasks, tasks
        self._batch_rows, self._every_s = batch_rows, every_s
        self._events: list[tuple[float, int, str, str, int]] = []
        self._count = 0
        self.now_s = 0.0
        self.servers = {name: _Server(name) for name in ("scheduler", "committer")}
        self._queued = [0] * workers
        self._reading: set[int] = set()
        self._pending_rows = 0.0
        self._last_commit_s = 0.0
        self.reading_s = 0.0
        self.stored_bytes = 0.0

    def run(self) -> None:
        for _ in range(_TASKS_A_WORKER * self._workers):
            self._ask()
        while self._undone or self._pending_rows:
            if not self._events:
                self._offer("committer", "commit", 0)
                continue
            self.now_s, _, what, name, worker = heapq.heappop(self._events)
            if what == "read":
                self._finish_read(worker)
            else:
                self._finish_job(self.servers[name], what, worker)

    def _ask(self) -> None:
        if self._left:
            self._left -= 1
            self._offer("scheduler", "assign", 0)

    def _offer(self, name: str, job: str, worker: int) -> None:
        server = self.servers[name]
        server.waiting.append((job, worker))
        self._begin_job(server)

    def _begin_job(self, server: _Server) -> None:
        if server.is_busy or not server.waiting:
            return
        job, worker = server.waiting.popleft()
        server.is_busy = True
        took_s = self._took_s(job)
        server.busy_s += took_s
        self._later(took_s, job, server.name, worker)

    def _took_s(self, job: str) -> float:
        costs = self._costs
        if job == "commit":
            return costs.commit_s
        if job == "take":
            return costs.row_s * costs.task_rows
        return costs.scheduler_s / 2  # To hand a task out, and to hear of its end.

    def _finish_job(self, server: _Server, job: str, worker: int) -> None:
        server.is_busy = False
        if job == "assign":
            self._assign()
        elif job == "hear":
            self._offer("committer", "take", worker)
        elif job == "take":
            self._undone -= 1
            self._pending_rows += self._costs.task_rows
            self._ask()
            self._commit_if_due(server)
        else:
            self._pending_rows = 0.0
            self._last_commit_s = self.now_s
        self._begin_job(server)

    def _commit_if_due(self, server: _Server) -> None:
        is_late = self.now_s - self._last_commit_s >= self._every_s
        if self._pending_rows >= self._batch_rows or is_late or not self._undone:
            server.waiting.appendleft(("commit", 0))

    def _assign(self) -> None:
        worker = min(range(self._workers), key=self._queued.__getitem__)
        self._queued[worker] += 1
        self._begin_read(worker)

    def _begin_read(self, worker: int) -> None:
        if worker in self._reading or not self._queued[worker]:
            return
        self._reading.add(worker)
        # The present readers share the store's bandwidth.
        share = self._costs.store_bytes_s / len(self._reading)
        took_s = max(self._costs.task_s, self._costs.task_bytes / share)
        self.reading_s += self._costs.task_s
        self.stored_bytes += self._costs.task_bytes
        self._later(took_s, "read", "", worker)

    def _finish_read(self, worker: int) -> None:
        self._reading.remove(worker)
        self._queued[worker] -= 1
        self._offer("scheduler", "hear", worker)
        self._begin_read(worker)

    def _later(self, after_s: float, what: str, name: str, worker: int) -> None:
        self._count += 1
        event = (self.now_s + after_s, self._count, what, name, worker)
        heapq.heappush(self._events, event)


def simulate(
    costs: Costs, workers: int, tasks: int, batch_rows: float = 500.0, every_s: float = 2.0
) -> Outcome:
    """Simulate an add.

    Args:
        tasks: Number of tasks; so many that start and end have no effect.
        batch_rows: Most rows in one commit.
        every_s: Seconds between two commits.
    """
    add = _Add(costs, workers, tasks, batch_rows, every_s)
    add.run()
    took_s = add.now_s
    tasks_per_s = tasks / took_s
    busy = {name: server.busy_s / took_s for name, server in add.servers.items()}
    busy["workers"] = add.reading_s / (workers * took_s)
    busy["store"] = add.stored_bytes / costs.store_bytes_s / took_s
    return Outcome(tasks_per_s, tasks_per_s * costs.task_s / workers, busy)
