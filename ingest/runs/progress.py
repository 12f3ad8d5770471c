"""Progress of an ingest: counts, and their text for a terminal."""

import threading
import time
from dataclasses import dataclass, field
from typing import Final

_BAR_WIDTH: Final = 24
_UNITS: Final = ("B", "kB", "MB", "GB", "TB")


@dataclass
class Progress:
    """Counts of an ingest under way; workers add to it from their threads.

    Attributes:
        bytes_total: Bytes to read; set after planning.
        workers: Number of workers of a cluster; None without a cluster.
        tasks_done, busy_s, cpu_s: Number of finished tasks of a cluster, and the time and processor
            time that its workers needed for them, seconds.
    """

    bytes_total: int = 0
    runs_total: int = 0
    bytes_done: int = 0
    runs_done: int = 0
    problems: int = 0
    workers: int | None = None
    tasks_done: int = 0
    busy_s: float = 0.0
    cpu_s: float = 0.0
    started: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """Restart the clock, so that earlier work does not affect the rate."""
        self.started = time.monotonic()

    def add_bytes(self, count: int) -> None:
        """Count bytes read."""
        with self._lock:
            self.bytes_done += count

    def add_run(self, problems: int) -> None:
        """Count a finished run and its problems."""
        with self._lock:
            self.runs_done += 1
            self.problems += problems

    def add_task(self, busy_s: float, cpu_s: float) -> None:
        """Count a finished task of a cluster."""
        self.tasks_done += 1
        self.busy_s += busy_s
        self.cpu_s += cpu_s

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started


def format_bytes(count: float) -> str:
    """Format bytes with a decimal prefix: `1.2 GB`."""
    for unit in _UNITS:
        if abs(count) < 1000 or unit == _UNITS[-1]:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError("BUG: no unit left")


def format_progress(progress: Progress) -> str:
    """Format one line: bytes, rate, time left, runs, problems."""
    rate = progress.bytes_done / max(progress.elapsed_s, 1e-9)
    left = max(progress.bytes_total - progress.bytes_done, 0)
    time_left = "starting"
    if rate:
        minutes, seconds = divmod(int(left / rate), 60)
        hours, minutes = divmod(minutes, 60)
        clock = f"{hours}:{minutes:02}" if hours else f"{minutes}"
        time_left = f"{clock}:{seconds:02} left"
    noun = "problem" if progress.problems == 1 else "problems"
    trouble = f", {progress.problems} {noun}" if progress.problems else ""
    workers, helped = progress.workers, ""
    if workers is not None:
        helped = (
            f", {workers} worker{'' if workers == 1 else 's'}" if workers else ", no worker yet"
        )
    return (
        f"{format_bytes(progress.bytes_done)} of {format_bytes(progress.bytes_total)}, "
        f"{format_bytes(rate)}/s, {time_left}, "
        f"{progress.runs_done} of {progress.runs_total} runs{helped}{trouble}"
    )


def format_bar(progress: Progress) -> str:
    """Format the same line after a bar, for a terminal."""
    share = min(progress.bytes_done / progress.bytes_total, 1.0) if progress.bytes_total else 1.0
    full = round(share * _BAR_WIDTH)
    return f"[{'#' * full}{'.' * (_BAR_WIDTH - full)}] {format_progress(progress)}"
