"""Time and peak memory of `ingest add` in a separate process."""

import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.memory import descendants_of, peak_mb

_POLL_S: Final = 0.01
_PR_SET_CHILD_SUBREAPER: Final = 36
# The container image has no pandas. If it is installed, pyarrow loads it in each process, which
# takes 30 MB and half a second.
_WITHOUT_PANDAS: Final = Path(__file__).with_name("without_pandas")


@dataclass(frozen=True, slots=True)
class Added:
    """Measurements of one `ingest add`.

    Attributes:
        cpu_s: Processor time of all its processes.
        peak_mb: Highest resident memory of the process.
        reader_peak_mb: Highest resident memory of a process that reads runs; 0 if threads read
            them.
    """

    bytes_mb: float
    elapsed_s: float
    cpu_s: float
    peak_mb: float
    reader_peak_mb: float


def add_apart(raw: Path, lake: Path) -> Added:
    """Ingest into a new lake in a separate process, then remove the lake.

    Raises:
        RuntimeError: The ingest failed or refused something.
    """
    shutil.rmtree(lake, ignore_errors=True)
    command = [sys.executable, "-m", "ingest", "add", str(raw), "--lake", str(lake), "--json"]
    environment = os.environ | {"PYTHONPATH": str(_WITHOUT_PANDAS)}
    before_s = _cpu_of_children_s()
    # Orphaned processes become children of this one, so that their time counts.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    others: set[int] = set()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, env=environment)
        peak = reader_peak = 0.0
        # `wait4` would include the memory of this process at the fork.
        while process.poll() is None:
            peak = max(peak, peak_mb(process.pid))
            begun = descendants_of(process.pid)
            others.update(begun)
            reader_peak = max(reader_peak, 0.0, *map(peak_mb, begun))
            time.sleep(_POLL_S)
        for pid in others:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        out.seek(0)
        report = json.load(out) if process.returncode == 0 else {}
    shutil.rmtree(lake, ignore_errors=True)
    if process.returncode or any(p["severity"] == "refused" for p in report["problems"]):
        raise RuntimeError(f"ingest ended with {process.returncode}: {report}")
    return Added(
        report["bytes_read"] / 1e6,
        report["elapsed_s"],
        _cpu_of_children_s() - before_s,
        peak,
        reader_peak,
    )


def _cpu_of_children_s() -> float:
    """Return the processor time of all finished child processes and their descendants."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
