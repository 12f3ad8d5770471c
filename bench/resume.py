"""Time and memory of an `ingest add` without new files."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench.memory import peak_mb
from bench.report import Measurement
from bench.settled import STUDIES, write_settled_lake

LIMIT_S: Final = 10.0
MEMORY_LIMIT_MB: Final = 400.0
_ROUNDS: Final = 3


def measure(work: Path, files: int) -> Iterator[Measurement]:
    """Add files that the lake has already, in each layout, in separate processes.

    Args:
        work: Folder for the files.
        files: Number of files.
    """
    yield Measurement("resume_scan_files", files, "", 1)
    for study in STUDIES:
        raw, lake = work / f"raw-settled-{study}", work / f"lake-settled-{study}"
        runs = write_settled_lake(raw, lake, files, study)
        taken = [_add(raw, lake, runs) for _ in range(_ROUNDS)]
        name = "resume_scan" if study == "logs" else f"resume_scan_{study}"
        for what, unit, limit, values in (
            ("", "s", LIMIT_S, [each[0] for each in taken]),
            ("_cpu", "s", None, [each[1] for each in taken]),
            ("_memory", "MB", MEMORY_LIMIT_MB, [each[2] for each in taken]),
        ):
            yield Measurement(f"{name}{what}", statistics.median(values), unit, _ROUNDS, limit)


def _add(raw: Path, lake: Path, runs: int) -> tuple[float, float, float]:
    """Add all files; return wall-clock seconds, processor seconds, and peak memory in MB."""
    command = [sys.executable, "-m", "ingest", "add", str(raw), "--lake", str(lake), "--json"]
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        pid = subprocess.Popen(command, stdout=out).pid
        peak, ended = 0.0, 0
        while not ended:
            peak = max(peak, peak_mb(pid))
            time.sleep(0.01)
            ended, status, usage = os.wait4(pid, os.WNOHANG)
        took_s = time.perf_counter() - began
        out.seek(0)
        _check(json.load(out), os.waitstatus_to_exitcode(status), runs)
    return took_s, usage.ru_utime + usage.ru_stime, peak


def _check(report: dict[str, Any], code: int, runs: int) -> None:
    if code or report["unchanged"] != runs or report["added"] or report["bytes_read"]:
        raise RuntimeError(f"BUG: something was done (status {code}): {report}")
