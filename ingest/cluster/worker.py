"""Functions of a cluster's workers: read runs and write their big files.

They run in the worker's process, several at once if it has several threads. Workers run the code of
the ingest, since other code may write other bytes.
"""

import hashlib
import os
import pickle
import platform
import socket
import threading
import time
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from typing import Final

from distributed import get_worker

from data.errors import LakeError
from data.lake_place import LakePath
from ingest.cluster.address import ClusterError, UnseenFileError
from ingest.discover.plan import RunWork
from ingest.lake.shared_file import read_shared
from ingest.logs.compiling import load_loops
from ingest.logs.memory import keep_heap_small
from ingest.logs.threads import LogHelpers
from ingest.runs.assembly import AssembledRun
from ingest.runs.run_reader import RunReader, StoppedError

_REPORT_EVERY_S: Final = 0.5
_UNWANTED: Final = ("cancelled", "resumed")
# Libraries that parse, compute and encode the content of big files.
_LIBRARIES: Final = ("numba", "numpy", "pyarrow")
_ROOT: Final = Path(__file__).resolve().parents[2]
_CODE: Final = ("data", "ingest")
_SUFFIXES: Final = (".py", ".toml", ".csv")


@dataclass(frozen=True, slots=True)
class Order:
    """Data that all tasks of one ingest share.

    Attributes:
        version: Version of the ingest's code.
        path: File in the lake with the pickled `RunReader`; reading it shows that a worker sees the
            lake.
        digest: SHA-256 of that file.
        topic: Topic of the workers' reports of bytes read.
    """

    version: str
    path: LakePath
    digest: str
    topic: str


@dataclass(frozen=True, slots=True)
class BatchRead:
    """Result of one task.

    Attributes:
        runs: Assembled runs, in the order of the task's works.
        bytes_read: Bytes of raw files.
        busy_s, cpu_s: Time and processor time of the task.
    """

    runs: list[AssembledRun]
    bytes_read: int
    busy_s: float
    cpu_s: float


@cache
def code_version() -> str:
    """Return the versions of Python and libraries, and a digest of the code at the first call."""
    versions = [f"{name} {metadata.version(name)}" for name in _LIBRARIES]
    return ", ".join([f"code {_digest()}", f"Python {platform.python_version()}", *versions])


def _digest() -> str:
    digest = hashlib.sha256()
    files = (path for folder in _CODE for path in (_ROOT / folder).rglob("*"))
    for path in sorted(path for path in files if path.suffix in _SUFFIXES):
        digest.update(f"{path.relative_to(_ROOT)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


# Computed at import: this process does not run files that change later.
code_version()


def check_version(version: str) -> None:
    """Check that the ingest runs the same code as this worker.

    Raises:
        ClusterError: It runs other code.
    """
    if version != code_version():
        raise ClusterError(
            f"the worker {worker_name()} runs other code than this ingest: {code_version()} there, "
            f"{version} here; start the workers with the same code"
        )


def worker_name() -> str:
    """Return the address and host of the worker that runs this task."""
    return f"{get_worker().address} on {socket.gethostname()}"


def read_batch(order: Order, works: tuple[RunWork, ...], are_there: bool) -> BatchRead:
    """Read runs and write their big files; no row of `runs` names them yet.

    Args:
        are_there: Whether all raw files are known to exist; a missing one is then an error.

    Raises:
        ClusterError: The worker runs other code, or does not see the lake or a file.
        LakeError: A big file cannot be written.
        StoppedError: The task was cancelled.
    """
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    check_version(order.version)
    with _lock:
        reader = _load_reader(order)
    for file in (file for work in works for file in work.files) if are_there else ():
        if not os.path.exists(file.path):
            raise UnseenFileError(file.path, worker_name())
    if any(file.format.role == "log" for work in works for file in work.files):
        load_loops()
    meter = _ByteMeter(order.topic)
    with LogHelpers(1) as helpers:
        runs = [reader.read(work, helpers, meter.count) for work in works]
    busy_s, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    return BatchRead(runs, meter.bytes_read, busy_s, cpu_s)


_lock: Final = threading.Lock()


@lru_cache(maxsize=1)
def _load_reader(order: Order) -> RunReader:
    """Load the reader of an ingest, once."""
    try:
        content = read_shared(order.path)
    except LakeError as error:
        raise ClusterError(
            f"the worker {worker_name()} does not see the lake: {error}; all workers need it at "
            "the same place, or the credentials of its bucket"
        ) from error
    if hashlib.sha256(content).hexdigest() != order.digest:
        raise ClusterError(f"the worker {worker_name()} reads other bytes of {order.path}")
    keep_heap_small()
    reader: RunReader = pickle.loads(content)
    return reader


class _ByteMeter:
    """Counts the bytes of a task, reports them, and ends a task that was cancelled."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._worker = get_worker()
        self._key = self._worker.get_current_task()
        self._reported_s = time.monotonic()
        self.bytes_read = 0

    def count(self, number: int) -> None:
        """Count bytes.

        Raises:
            StoppedError: The task was cancelled.
        """
        self.bytes_read += number
        task = self._worker.state.tasks.get(self._key)
        if task is None or task.state in _UNWANTED:
            raise StoppedError("stopped")
        now = time.monotonic()
        if now - self._reported_s >= _REPORT_EVERY_S:
            self._reported_s = now
            message = {"task": self._key, "bytes": self.bytes_read}
            self._worker.log_event(self._topic, message)
