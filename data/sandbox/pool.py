"""Runs queries that nobody has checked: each in a single-use process, prepared before it is needed.

Nothing of a query runs in the calling process: it sends text to another one, and reads JSON and the
bytes of a file back. It ends that process after a time whatever it does.
"""

import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Final

from data.child_process import Child
from data.connection import Lake
from data.errors import BusyError, WattlasError
from data.sandbox.landlock import landlock_version

START_S: Final = 30.0
_LOOK_S: Final = 0.01
_LONGEST_SQL: Final = 100_000
_MOST_ANSWER_BYTES: Final = 64_000_000


class SqlError(WattlasError):
    """A query that is refused, fails, or takes more than it may; the message says which."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one answer may hold."""

    most_rows: int = 1_000
    most_bytes: int = 4_000_000
    form: str = "rows"


ROWS: Final = Bounds()
CSV: Final = Bounds(100_000, 32_000_000, "csv")
PARQUET: Final = Bounds(100_000, 32_000_000, "parquet")


@dataclass(frozen=True, slots=True)
class Limits:
    """Times of one query.

    Attributes:
        query_s: What DuckDB gives it; functions on single values do not count.
        cpu_s: Processor time of its process.
        kill_s: When its process is ended whatever it does.
    """

    query_s: float = 3.0
    cpu_s: int = 6
    kill_s: float = 8.0


@dataclass(eq=False, slots=True)
class _Process:
    """One worker that has a version of the lake open."""

    version: int
    child: Child
    is_ready: threading.Event = field(default_factory=threading.Event)


class Sandbox:
    """Bounded single-use processes for one lake.

    Args:
        most_running: Queries that run at once; of one visitor one less.
        spares: Processes that are kept ready for the newest version that was asked for.
        has_landlock: False runs without Landlock, for kernels that lack it.

    Attributes:
        outcomes: How many queries ended how: `answered`, `failed`, `killed`, `refused`.
    """

    def __init__(
        self,
        most_running: int = 2,
        spares: int = 2,
        has_landlock: bool = True,
        limits: Limits = Limits(),
    ) -> None:
        if has_landlock and not landlock_version():
            raise SqlError("this kernel has no Landlock, which keeps queries inside the lake")
        self.outcomes: Counter[str] = Counter()
        self._most_running = most_running
        self._most_spares = spares
        self._has_landlock = has_landlock
        self._limits = limits
        self._lock = threading.Lock()
        self._spares: list[_Process] = []
        self._running: dict[str, _Process | None] = {}
        self._visitors: Counter[str] = Counter()
        self._cancelled: set[str] = set()

    @property
    def running(self) -> int:
        """How many queries run."""
        return len(self._running)

    def prepare(self, lake: Lake) -> None:
        """Start spares for a version of the lake; end those of other versions."""
        with self._lock:
            old = [spare for spare in self._spares if spare.version != lake.version]
            self._spares = [spare for spare in self._spares if spare.version == lake.version]
            missing = self._most_spares - len(self._spares)
            self._spares += [self._start(lake) for _ in range(missing)]
        for spare in old:
            spare.child.close()

    def wait_ready(self) -> None:
        """Wait until as many spares are ready as there may be."""
        while True:
            with self._lock:
                spares = list(self._spares)
            if len(spares) == self._most_spares and all(one.is_ready.is_set() for one in spares):
                return
            time.sleep(_LOOK_S)

    def run(
        self, lake: Lake, sql: str, bounds: Bounds = ROWS, key: str = "", visitor: str = ""
    ) -> tuple[dict, bytes]:
        """Run a query on a version of the lake.

        Args:
            key: What `cancel` calls it by.
            visitor: Who asks, for the quota; empty for nobody in particular.

        Returns:
            `columns`, `types`, `truncated`, `elapsed_ms` and `rows` or `row_count`; a file's bytes.

        Raises:
            BusyError: Too many run already, of all visitors or of this one.
            SqlError: It failed, took too much time or memory, or was cancelled.
        """
        if len(sql) > _LONGEST_SQL:
            raise SqlError(f"the query has {len(sql):,} characters, at most {_LONGEST_SQL:,}")
        key = key or str(threading.get_ident())
        with self._lock:
            if len(self._running) >= self._most_running or key in self._running:
                self.outcomes["refused"] += 1
                raise BusyError(f"{len(self._running)} queries run already; try again in a second")
            if visitor and self._visitors[visitor] >= max(1, self._most_running - 1):
                self.outcomes["refused"] += 1
                raise BusyError("a query of your address runs already; try again in a second")
            self._running[key] = None
            self._visitors[visitor] += 1
        try:
            return self._run(lake, sql, bounds, key)
        finally:
            with self._lock:
                self._running.pop(key, None)
                self._visitors -= Counter([visitor])
                self._cancelled.discard(key)

    def cancel(self, key: str) -> bool:
        """End a running query; returns whether there was one."""
        with self._lock:
            running = self._running.get(key)
            if running is None:
                return False
            self._cancelled.add(key)
            running.child.kill()
            return True

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            ended, self._spares = self._spares, []
            running = [worker for worker in self._running.values() if worker]
        for worker in ended:
            worker.child.close()
        for worker in running:
            worker.child.kill()

    def _run(self, lake: Lake, sql: str, bounds: Bounds, key: str) -> tuple[dict, bytes]:
        worker = self._take(lake)
        with self._lock:
            self._running[key] = worker
        worker.is_ready.wait(START_S)
        try:
            with worker.child.ending_after(self._limits.kill_s):
                worker.child.ask({"sql": sql, **asdict(bounds)})
                head = next(worker.child.answers(), {})
                body = worker.child.read(min(head.get("body_bytes", 0), _MOST_ANSWER_BYTES))
        except OSError:
            head, body = {}, b""
        finally:
            worker.child.close()
        if "error" in head or not head:
            raise self._error(head, key, worker.child.is_overdue)
        self.outcomes["answered"] += 1
        head.pop("body_bytes", None)
        return head, body

    def _error(self, head: dict, key: str, is_overdue: bool) -> SqlError:
        if "error" in head:
            self.outcomes["failed"] += 1
            return SqlError(str(head["error"]))
        self.outcomes["killed"] += 1
        if key in self._cancelled:
            return SqlError("the query was cancelled")
        if is_overdue:
            return SqlError(f"the query took longer than {self._limits.kill_s:g} s and was ended")
        return SqlError("the query took more memory or processor time than it may, and was ended")

    def _take(self, lake: Lake) -> _Process:
        """Return a process that has the version open, a spare if there is one; renew the spares."""
        with self._lock:
            spare = next((one for one in self._spares if one.version == lake.version), None)
            if spare:
                self._spares.remove(spare)
        taken = spare or self._start(lake)
        threading.Thread(target=self.prepare, args=[lake], daemon=True).start()
        return taken

    def _start(self, lake: Lake) -> _Process:
        """Start a process; it opens the lake on its own, and says when it has."""
        worker = _Process(lake.version, Child("data.sandbox.worker", is_sealed=True))
        threading.Thread(target=self._open, args=[worker, lake], daemon=True).start()
        return worker

    def _open(self, worker: _Process, lake: Lake) -> None:
        opening = {
            "lake": str(lake.folder), "views": list(lake.views),
            "log_views": lake.log_views.to_json(),
            "has_landlock": self._has_landlock, "query_s": self._limits.query_s,
            "cpu_s": self._limits.cpu_s,
        }  # fmt: skip
        with suppress(OSError, ValueError):
            worker.child.ask(opening)
            next(worker.child.answers(), None)
        worker.is_ready.set()
