"""What goes wrong while ingest is at work: said with the file, and the lake stays whole."""

import contextlib
import gzip
import math
import os
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from data.connection import open_lake
from data.errors import LakeError
from ingest import pipeline
from ingest.lake.verification import verify_lake
from ingest.report import AddReport
from ingest.runs import schedule
from tests.fixtures.ingest import ingest
from tests.fixtures.odd_readers import LateFaultReader
from tests.fixtures.raw_runs import LOG, write_netpipe

_TINY_DISK = "size=1500k"


def kinds(report: AddReport) -> dict[str, str]:
    """File name to the kind of its problem."""
    return {Path(found.path).name: found.problem.kind for found in report.problems}


def long_log(lines: int, seed: int = 0) -> str:
    """A log within the drawn window, of traffic that does not pack well."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 2**31, (lines, 4))
    tsc = 1_000_000_000 + np.sort(rng.integers(0, 2_000_000, lines))
    rows = zip(numbers.tolist(), tsc.tolist(), strict=True)
    return "".join(f"0 {a} {b} {c} {d} 0 0 0 0 0 0 0 0 0 0 {t}\n" for (a, b, c, d), t in rows)


_READERS = {"threads": (1 << 62, math.inf), "processes": (0, math.inf), "batches": (1 << 62, 0.0)}


@pytest.fixture(params=_READERS)
def readers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are read by threads of this process, or by processes one by one or in batches."""
    a_process_bytes, processes_s = _READERS[request.param]
    monkeypatch.setattr(schedule, "WORTH_A_PROCESS_BYTES", a_process_bytes)
    monkeypatch.setattr(schedule, "WORTH_PROCESSES_S", processes_s)
    monkeypatch.setattr(schedule, "TASK_S", 0.012)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, too small for the lake that is to come."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", _TINY_DISK, "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("NOT TESTED: a full disk needs the right to mount a small tmpfs")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.thin(1)
@pytest.mark.usefixtures("readers")
def test_a_full_disk_names_the_file_and_leaves_a_whole_lake(raw: Path, tiny_disk: Path) -> None:
    lake = tiny_disk / "lake"
    write_netpipe(raw)
    assert ingest(lake, raw).added == 1
    for replicate in range(1, 6):
        write_netpipe(raw, replicate, long_log(40_000, replicate))
    with pytest.raises(LakeError, match=r"cannot write .*(No space left|parquet)"):
        ingest(lake, raw)
    assert list(verify_lake(lake)) == []
    assert [p for p in lake.rglob("*.tmp") if "_delta_log" not in p.parts] == []
    with open_lake(lake) as opened:
        assert len(opened.polars("SELECT run_id FROM runs")) >= 1
    subprocess.run(["mount", "-o", "remount,size=64m", str(tiny_disk)], check=True)
    report = ingest(lake, raw)
    assert report.added + report.unchanged == 6
    assert list(verify_lake(lake)) == []


def test_a_disk_too_full_for_a_commit_says_so(raw: Path, tiny_disk: Path) -> None:
    lake = tiny_disk / "lake"
    write_netpipe(raw)
    ingest(lake, raw)
    filler = tiny_disk / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    (raw / "linux.np.log.1_1_64_5000_8_0x1900_135").write_text(LOG)
    with pytest.raises(LakeError, match="cannot write"):
        ingest(lake, raw)
    assert list(verify_lake(lake)) == []
    filler.unlink()
    assert ingest(lake, raw).added == 1


@pytest.mark.usefixtures("readers")
def test_a_disk_error_in_the_middle_refuses_that_file_only(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = write_netpipe(raw, 0, long_log(20_000))
    write_netpipe(raw, 1)
    monkeypatch.setattr(pipeline, "RunReader", partial(LateFaultReader, path=bad))
    report = ingest(tmp_path / "lake", raw)
    assert report.added == 2
    assert kinds(report)[bad.name] == "unreadable"
    assert list(verify_lake(tmp_path / "lake")) == []


def test_a_file_that_shrinks_while_it_is_read_is_doubted_and_read_again(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = write_netpipe(raw, 0, long_log(20_000))
    write_netpipe(raw, 1)
    reader = partial(LateFaultReader, path=log, shrink_to=700_000)
    lake = tmp_path / "lake"
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "RunReader", reader)
        report = ingest(lake, raw)
    assert log.stat().st_size == 700_000
    said = [found.problem.kind for found in report.problems if found.path == str(log)]
    assert "changed_while_read" in said
    assert report.added == 2
    assert list(verify_lake(lake)) == []
    again = ingest(lake, raw)
    assert (again.replaced, again.unchanged) in ((1, 1), (0, 1))
    assert "changed_while_read" not in kinds(again).values()


def test_a_corrupt_gzip_is_named_and_the_rest_goes_on(raw: Path, tmp_path: Path) -> None:
    log = write_netpipe(raw, 0, long_log(20_000))
    packed = bytearray(gzip.compress(log.read_bytes()))
    packed[len(packed) // 2] ^= 0xFF
    log.unlink()
    (raw / f"{log.name}.gz").write_bytes(packed)
    write_netpipe(raw, 1)
    report = ingest(tmp_path / "lake", raw)
    assert report.added == 2
    assert kinds(report)[f"{log.name}.gz"] == "broken_compression"
    assert list(verify_lake(tmp_path / "lake")) == []
    assert [p for p in (tmp_path / "lake").rglob("*.tmp") if "_delta_log" not in p.parts] == []


@pytest.mark.slow
@pytest.mark.usefixtures("readers")
def test_a_reader_sees_whole_runs_only_before_during_and_after(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.lake.commits.FLUSH_RUNS", 2)
    lake = tmp_path / "lake"
    write_netpipe(raw)
    ingest(lake, raw)
    for replicate in range(1, 30):
        write_netpipe(raw, replicate)
    seen: list[int] = []
    faults: list[str] = []
    is_over = threading.Event()

    def look() -> None:
        while True:
            was_over = is_over.is_set()
            rows = _look_at(lake)
            faults.extend(fault for row in rows for fault in _missing(lake, row))
            seen.append(len(rows))
            if was_over:
                return

    with open_lake(lake) as before:
        reader = threading.Thread(target=look)
        reader.start()
        report = ingest(lake, raw)
        is_over.set()
        reader.join()
        assert len(before.polars("SELECT run_id FROM runs")) == 1
    assert report.added == 29
    assert faults == []
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (1, 30)


def _look_at(lake: Path) -> list[dict[str, Any]]:
    with open_lake(lake) as opened:
        rows = opened.polars("SELECT run_id, interrupts FROM runs").to_dicts()
        for row in rows:
            row["found"] = len(opened.scan("interrupts", [row["run_id"]]).fetchall())
        return rows


def _missing(lake: Path, row: dict[str, Any]) -> Iterator[str]:
    if row["found"] != row["interrupts"]:
        yield f"{row['run_id']}: {row['found']} rows of {row['interrupts']}"
    for table in ("samples", "overview", "histograms"):
        for path in (lake / table).glob(f"*/{row['run_id']}.*.parquet"):
            pq.read_metadata(path)
