"""A running `python -m app` on a free port, with time and memory of its workers."""

import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from data.lake_place import LakePath

ROOT = Path(__file__).resolve().parent.parent
START_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Served:
    """One running app.

    Attributes:
        process: The started process; its child answers.
    """

    port: int
    process: subprocess.Popen

    @property
    def address(self) -> str:
        """The address of the app."""
        return f"http://127.0.0.1:{self.port}"

    def worker_mb(self) -> float:
        """Resident memory of the largest serving worker, in MB."""
        workers = psutil.Process(self.process.pid).children()
        return max(worker.memory_info().rss for worker in workers) / 1e6

    def worker_cpu_s(self) -> float:
        """User and system time of the serving workers, seconds."""
        workers = psutil.Process(self.process.pid).children()
        return sum(sum(worker.cpu_times()[:2]) for worker in workers)


@contextmanager
def serve(lake: LakePath, log: Path, python: str = sys.executable) -> Iterator[Served]:
    """Start the app on a lake, wait until it answers, and end it afterwards.

    Args:
        python: Python interpreter of the app.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [python, "-m", "app", "--lake", str(lake), "--port", str(port)]
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out)
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", process, log)
        yield Served(port, process)
    finally:
        process.terminate()
        process.wait(60)


def _wait_for(address: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=1).read()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"the app did not start: {log.read_text()}")


class PeakMemory:
    """Records a worker's highest memory while a load runs."""

    def __init__(self, served: Served) -> None:
        self.peak_mb = 0.0
        self._served = served
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "PeakMemory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            self.peak_mb = max(self.peak_mb, self._served.worker_mb())
