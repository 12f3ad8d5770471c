"""`ingest add` in a process of its own: what it takes and how much memory it needs at most."""

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
# The image has no pandas; where it is installed, pyarrow loads 30 MB of it that nobody asked for.
_AS_IN_THE_IMAGE: Final = """
import sys

class NoPandas:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoPandas())
from ingest.__main__ import main
sys.exit(main())
"""


@dataclass(frozen=True, slots=True)
class Added:
    """What an add did.

    Attributes:
        cpu_s: Processor time of all its processes, from their beginning.
        peak_mb: Highest resident memory of the process.
        reader_peak_mb: That of whichever of its processes that read runs had the most; 0 if
            threads of its own read them.
    """

    bytes_mb: float
    elapsed_s: float
    cpu_s: float
    peak_mb: float
    reader_peak_mb: float


def add_apart(raw: Path, lake: Path) -> Added:
    """Ingest into a new lake in a process of its own; the lake is removed again.

    Raises:
        RuntimeError: It failed, or refused something.
    """
    shutil.rmtree(lake, ignore_errors=True)
    command = [sys.executable, "-c", _AS_IN_THE_IMAGE]
    command += ["add", str(raw), "--lake", str(lake), "--json"]
    before_s = _cpu_of_children_s()
    # Processes whose parent is over become children of this one, which counts their time.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    others: set[int] = set()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        peak = reader_peak = 0.0
        # Not what `wait4` says of it: that begins with this process's own at the fork.
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
    """Processor time of all processes that were begun here and are over, theirs included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
