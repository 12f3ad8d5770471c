"""Time and peak memory of `ingest add` in a separate process."""

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_POLL_S: Final = 0.01
_PR_SET_CHILD_SUBREAPER: Final = 36


@dataclass(frozen=True, slots=True)
class Added:
    """Measurements of one `ingest add`.

    Attributes:
        report: What `--json` prints.
        elapsed_s: From the start of the process to its end.
        cpu_s: Processor time of the process and of all that it started.
        peak_mb: Highest resident memory of the process.
    """

    report: dict[str, Any]
    elapsed_s: float
    cpu_s: float
    peak_mb: float


def add_apart(raw: Path, lake: Path) -> Added:
    """Ingest into a lake in a separate process.

    Raises:
        RuntimeError: The ingest failed or refused something.
    """
    command = [sys.executable, "-m", "ingest", "add", str(raw), "--lake", str(lake), "--json"]
    before_s, start = cpu_of_children_s(), time.perf_counter()
    # Orphaned processes become children of this one, so that their time counts.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    others: set[int] = set()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        peak_mb = 0.0
        # `wait4` would include the memory of this process at the fork.
        while process.poll() is None:
            peak_mb = max(peak_mb, _peak_mb(process.pid))
            others.update(_descendants_of(process.pid))
            time.sleep(_POLL_S)
        elapsed_s = time.perf_counter() - start
        for pid in others:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        out.seek(0)
        report = json.load(out) if process.returncode == 0 else {}
    if process.returncode or any(p["severity"] == "refused" for p in report["problems"]):
        raise RuntimeError(f"ingest ended with {process.returncode}: {report}")
    return Added(report, elapsed_s, cpu_of_children_s() - before_s, peak_mb)


def cpu_of_children_s() -> float:
    """Return the processor time of all finished child processes and their descendants."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _peak_mb(pid: int) -> float:
    """Return the highest resident memory of a process so far, MB; 0 if it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def _descendants_of(pid: int) -> list[int]:
    """Return the running descendants of a process."""
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [each for child in map(int, children) for each in (child, *_descendants_of(child))]
    return []
