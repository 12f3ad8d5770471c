"""`ingest add` while it is at work: what it says, its threads and memory, Ctrl-C, closed files."""

import ctypes
import json
import os
import pty
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from ingest.__main__ import main
from ingest.lake.run_file import ROW_GROUP_ROWS
from ingest.lake.verification import verify_lake
from ingest.pipeline import AddOptions, add
from ingest.runs.progress import Progress, format_bar, format_progress
from tests.fixtures.ingest import tuples
from tests.fixtures.raw_runs import LOG, RDTSC, write_netpipe, write_settings

_ROOT = Path(__file__).resolve().parents[2]
_PR_CAPBSET_DROP = 24
_RIGHTS_TO_ANY_FILE = (1, 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of linux/capability.h.


def long_log(mebibytes: int) -> bytes:
    """Lines within the drawn window, a mebibyte of them at each moment."""
    lines = (1 << 20) // 44
    return b"".join(
        b"0 2 100 1 10 0 0 0 0 0 0 0 0 0 0 %d\n" % (1_000_000_000 + piece) * lines
        for piece in range(mebibytes)
    )


# Sends SIGINT to all processes of the ingest after four runs, as a terminal does for Ctrl-C.
_STOPPED = """
import os, signal, sys
import ingest.runs.schedule
from ingest.__main__ import main
from ingest.runs.progress import Progress
add_run = Progress.add_run
def add_run_and_stop(self, problems):
    add_run(self, problems)
    if self.runs_done == 4:
        os.killpg(0, signal.SIGINT)
Progress.add_run = add_run_and_stop
if {how!r} == "processes":
    ingest.runs.schedule.WORTH_A_PROCESS_BYTES = 0
if {how!r} == "batches":
    ingest.runs.schedule.WORTH_PROCESSES_S = 0.0
    ingest.runs.schedule.TASK_S = 0.05
sys.exit(main())
"""


def start(
    raw: Path, lake: Path, script: str | None = None, **options: object
) -> subprocess.Popen[bytes]:
    command = [sys.executable, *(("-c", script) if script else ("-m", "ingest"))]
    command += ["add", str(raw), "--lake", str(lake)]
    return subprocess.Popen(command, cwd=_ROOT, **options)  # type: ignore[call-overload]


def test_progress_says_bytes_rate_time_left_runs_and_problems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A quarter of 4 GB in 10 s: 100 MB/s, and 30 s for the rest."""
    monkeypatch.setattr(time, "monotonic", lambda: 1_000.0)
    progress = Progress(bytes_total=4_000_000_000, runs_total=8)
    progress.add_bytes(1_000_000_000)
    progress.add_run(0)
    progress.add_run(3)
    progress.started = 990.0
    said = "1.0 GB of 4.0 GB, 100.0 MB/s, 0:30 left, 2 of 8 runs, 3 problems"
    assert format_progress(progress) == said
    assert format_bar(progress) == f"[######..................] {said}"


def test_nothing_read_yet_has_no_time_left() -> None:
    said = format_progress(Progress(bytes_total=10, runs_total=1))
    assert said == "0 B of 10 B, 0 B/s, starting, 0 of 1 runs"


def test_plain_lines_of_progress_where_there_is_no_terminal(
    raw: Path, lake: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.__main__.LINE_EVERY_S", 0.0)
    for replicate in range(8):
        write_netpipe(raw, replicate, LOG + "7 1 2\n")
    (raw / "linux.np.log.9_1_64_5000_8_0x1900_135").write_text("")
    assert main(["add", str(raw), "--lake", str(lake)]) == 3
    lines = capsys.readouterr().err.splitlines()
    assert lines
    shape = re.compile(
        r"[\d.]+ \w?B of [\d.]+ \w?B, [\d.]+ \w?B/s, (\d+:\d\d left|starting), "
        r"\d of 8 runs, (\d+) problems?"
    )
    said = [shape.fullmatch(line) for line in lines]
    assert all(said), lines
    # The empty file is known from the start; every log has one bad line.
    problems = [int(each[2]) for each in said if each]
    assert problems == sorted(problems)
    assert problems[0] >= 1


@pytest.mark.slow
def test_a_bar_on_a_terminal(raw: Path, lake: Path) -> None:
    for replicate in range(3):
        write_netpipe(raw, replicate, long_log(4).decode())
    ours, theirs = pty.openpty()
    with start(raw, lake, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        written = _read_all(ours)
    assert process.returncode == 0
    bars = [text for text in written.decode().split("\r") if text.startswith("[")]
    assert bars, written
    assert all(re.match(r"\[#*\.*\] .* of 12\.6 MB, .*, \d of 3 runs", bar) for bar in bars), bars


def _read_all(descriptor: int) -> bytes:
    """What a terminal is told until nobody has it open; it then reads as a disk error."""
    written = b""
    try:
        while block := os.read(descriptor, 4096):
            written += block
    except OSError:
        pass
    os.close(descriptor)
    return written


@pytest.mark.slow
@pytest.mark.parametrize("how", ["threads", "processes", "batches"])
def test_ctrl_c_ends_it_cleanly_and_says_how_to_go_on(raw: Path, lake: Path, how: str) -> None:
    log = long_log(1).decode()
    for replicate in range(40):
        write_netpipe(raw, replicate, log)
    given = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "start_new_session": True}
    process = start(raw, lake, _STOPPED.format(how=how), **given)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    found = re.search(r"stopped after (\d+) of 40 runs; the same command continues", err.decode())
    assert found, err.decode()
    assert b"Traceback" not in err
    assert list(verify_lake(lake)) == []
    assert [path for path in lake.rglob("*.tmp") if "_delta_log" not in path.parts] == []
    ((done,),) = tuples(lake, "SELECT count(*) FROM runs")
    assert 0 < done == int(found[1]) < 40
    report = add(AddOptions(lake, [raw]))
    assert (report.added, report.unchanged) == (40 - done, done)
    assert list(verify_lake(lake)) == []


def test_one_run_of_many_logs_keeps_all_threads_at_work(
    raw: Path, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[int] = set()
    add_bytes = Progress.add_bytes

    def note(self: Progress, count: int) -> None:
        threads.add(threading.get_ident())
        add_bytes(self, count)

    monkeypatch.setattr(Progress, "add_bytes", note)
    packages = "packages = { 0 = [0, 1, 2, 3, 4, 5, 6, 7] }"
    write_settings(raw, f'[dataset]\nname = "d"\n[machine]\ntsc_khz = 1000000\n{packages}\n')
    knobs = "50_0x1d00_135_200000"
    (raw / f"linux.mcd.rdtsc.0_{knobs}").write_text(RDTSC)
    for core in range(8):
        (raw / f"linux.mcd.dmesg.0_{core}_{knobs}").write_bytes(long_log(3))
    assert add(AddOptions(lake, [raw], workers=3)).added == 1
    assert len(threads) >= 3
    (path,) = lake.rglob("interrupts/*/*.parquet")
    _check_interrupts(path, 8 * 3 * ((1 << 20) // 44))


def _check_interrupts(path: Path, rows: int) -> None:
    """In time order over all cores, in row groups small enough to pass over, times as steps."""
    with pq.ParquetFile(path) as file:
        t_ns = file.read(["t_ns"])["t_ns"].to_numpy()
        groups = [file.metadata.row_group(n) for n in range(file.num_row_groups)]
        column = file.schema.names.index("t_ns")
    assert len(t_ns) == rows
    assert (np.diff(t_ns) >= 0).all()
    assert all(group.num_rows <= ROW_GROUP_ROWS for group in groups)
    assert len(groups) > 1
    assert all("DELTA_BINARY_PACKED" in group.column(column).encodings for group in groups)


@pytest.mark.slow
def test_memory_does_not_grow_with_a_file(raw: Path, lake: Path) -> None:
    """192 MiB in one log of one core: 6 million interrupts, in less than 400 MB."""
    path = write_netpipe(raw)
    with path.open("wb") as log:
        log.writelines(
            b"0 2 100 1 10 0 0 0 0 0 0 0 0 0 0 %d\n" % (1_000_000_000 + piece) * 29_000
            for piece in range(192)
        )
    process = start(raw, lake, stdout=subprocess.DEVNULL)
    peak_mb = 0.0
    while process.poll() is None:
        peak_mb = max(peak_mb, _peak_mb(process.pid))
        time.sleep(0.01)
    assert process.returncode == 0
    assert 50 < peak_mb < 400
    ((interrupts,),) = tuples(lake, "SELECT interrupts FROM runs")
    assert interrupts == 192 * 29_000


def _peak_mb(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def _give_up_rights() -> None:
    """Have the program that is started next read only what its owner may, even for root."""
    library = ctypes.CDLL(None)
    for right in _RIGHTS_TO_ANY_FILE:
        library.prctl(_PR_CAPBSET_DROP, right, 0, 0, 0)


def test_files_and_folders_that_may_not_be_read_are_named_and_the_rest_goes_on(
    raw: Path, lake: Path
) -> None:
    closed = write_netpipe(raw, 0)
    write_netpipe(raw, 1)
    write_netpipe(raw / "closed", 2)
    closed.chmod(0)
    (raw / "closed").chmod(0)
    command = [sys.executable, "-m", "ingest", "add", str(raw), "--lake", str(lake), "--json"]
    try:
        done = subprocess.run(
            command, cwd=_ROOT, capture_output=True, preexec_fn=_give_up_rights, check=False
        )
    finally:
        closed.chmod(0o644)
        (raw / "closed").chmod(0o755)
    # No library complains at the end either.
    assert (done.returncode, done.stderr) == (3, b"")
    said = json.loads(done.stdout)
    refused = {p["path"]: p["detail"] for p in said["problems"] if p["kind"] == "unreadable"}
    assert refused == dict.fromkeys(
        (str(closed), str(raw / "closed")), "Permission denied; not read"
    )
    assert said["added"] == 2
    assert list(verify_lake(lake)) == []
    assert add(AddOptions(lake, [raw])).refused == []
    assert tuples(lake, "SELECT count(*) FROM problems") == [(0,)]
    assert tuples(lake, "SELECT count(*) FROM runs WHERE has_log") == [(3,)]
