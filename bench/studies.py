"""Studies of other groups: a proposal for many files, and tables with many declared columns."""

import csv
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from bench.apart import add_apart
from bench.report import Measurement

PROPOSE_LIMIT_S: Final = 30.0
DECLARED: Final = 20
DECLARED_LIMIT: Final = 1.2
_FOLDER_FILES: Final = 500
_ROUNDS: Final = 5
_OUTPUT: Final = "#type avg std min 5th 10th 50th 90th 95th 99th\nread 1 1 1 1 1 1 1 1 1\n"


def measure(work: Path, files: int, rows: int) -> Iterator[Measurement]:
    """Propose settings for a sweep of many files, and ingest a table with and without columns.

    Args:
        work: Folder for the files.
        files: Number of files of the sweep.
        rows: Rows of the table.
    """
    if files:
        yield from _propose(work / "raw-propose", files)
    if rows:
        yield from _declared(work, rows)


def _propose(raw: Path, files: int) -> Iterator[Measurement]:
    for first in range(0, files, _FOLDER_FILES):
        folder = raw / f"c220g{first % 2}" / f"mcd_{first // _FOLDER_FILES}"
        folder.mkdir(parents=True)
        for number in range(first, min(first + _FOLDER_FILES, files)):
            # `propose` reads the heads of a few files of each folder; the others may be empty.
            text = _OUTPUT if number < first + 3 else ""
            (folder / f"mcd_qps{number}_iter{number % 10}.out").write_text(text)
    command = [sys.executable, "-m", "ingest", "propose", str(raw), "-o", str(raw) + ".toml"]
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    took_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    yield Measurement("propose_files", files, "", 1)
    yield Measurement("propose", took_s, "s", 1, PROPOSE_LIMIT_S)
    yield Measurement("propose_cpu", cpu_s, "s", 1)


def _declared(work: Path, rows: int) -> Iterator[Measurement]:
    """Ingest a table with its further columns declared, and with them dropped, alternately."""
    names = [f"own_{number}" for number in range(DECLARED)]
    values = np.random.default_rng(1).random((rows, DECLARED + 2)).round(6)
    drops = "".join(f"{name} = {{ drop = true }}\n" for name in names)
    columns = "".join(f'[columns.{name}]\nrole = "metric"\nunit = "J"\n' for name in names)
    folders = {"dropped": f"[tables.columns]\n{drops}", "declared": columns}
    for kind, said in folders.items():
        folder = work / f"raw-{kind}"
        folder.mkdir(parents=True)
        table = '[[tables]]\npattern = \'t\\.csv\'\nworkload = "netpipe"\nsystem = "linux"\n'
        (folder / "wattlas.toml").write_text(f'[dataset]\nname = "d"\n{table}{said}')
        with (folder / "t.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["replicate", "energy_j", "duration_s", *names])
            writer.writerows([n, *row] for n, row in enumerate(values.tolist()))
    taken: dict[str, list[float]] = {kind: [] for kind in folders}
    for _ in range(_ROUNDS):
        for kind in folders:
            added = add_apart(work / f"raw-{kind}", work / "lake-declared")
            taken[kind].append(added.cpu_s)
    yield Measurement("table_rows", rows, "", 1)
    for kind, seconds in taken.items():
        yield Measurement(f"table_{kind}_cpu", statistics.median(seconds), "s", _ROUNDS)
    ratio = statistics.median(taken["declared"]) / statistics.median(taken["dropped"])
    yield Measurement("table_declared_share", ratio, "", _ROUNDS, DECLARED_LIMIT)
