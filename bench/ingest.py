"""Ingest beside bare reading of the same bytes, with more runs, and with nothing to do."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.apart import Added, add_apart, cpu_of_children_s
from bench.report import Floor, Measurement
from ingest.discover.names import identity_columns
from ingest.discover.plan import RunWork, make_plan
from ingest.discover.search import discover
from ingest.discover.source_reads import settings_struct, source_struct
from ingest.formats.intlog import open_log
from ingest.lake.state import load_state
from ingest.lake.tables import create_tables, replace_runs
from ingest.logs.limits import DEFAULT_LIMITS
from ingest.pipeline import AddOptions, add
from ingest.records import ReadContext
from ingest.sample.plan import Run
from ingest.sample.writer import measure_run, write_run

_CORES: Final = 16
_LOG: Final = "0 1 66 0 0 5 5 5 5 0 0 0 0 0 9 500\n" * 2
_WINDOW: Final = "0 7 100 900\n1 8 101 901\n"
_OUTPUT: Final = """\
#type       avg     std     min     5th    10th    50th    90th    95th    99th
read       76.2    29.0    49.8    62.5    65.1    73.7    89.2    97.4   117.9

Total QPS = 200000.0 (400 / 0.002s)
"""
_DOCUMENT: Final = '{"fio version": "fio-3.36", "jobs": []}\n'
_INTERRUPTS: Final = "           CPU0\n  33:        100  IR-PCI-MSI  nvme0q1\n"
SCALES: Final = (1, 4, 16)
MEMORY_LIMIT_MB: Final = 400.0
RESUME_LIMIT_S: Final = 10.0
PROPOSE_LIMIT_S: Final = 30.0
SPREAD_LIMIT_PCT: Final = 10.0
_TIMES: Final = 3
_TABLES: Final = ("interrupts", "samples", "overview", "histograms")
_SECONDS: Final = 18.5
_TSC_HZ: Final = 2_899_999_000.0
_BLOCK: Final = 1 << 20
_BEGINNING_BYTES: Final = 1 << 16


def write_settled_lake(raw: Path, lake: Path, files: int, study: str = "logs") -> int:
    """Write small files of many runs, and the lake that ingest would make of them.

    Args:
        study: A key of STUDIES.

    Returns:
        Number of runs.
    """
    files_a_run, write_files = STUDIES[study]
    for run in range(files // files_a_run):
        write_files(raw, run)
    create_tables(lake)
    state = load_state(lake)
    plan = make_plan(discover([raw], state, None, None), state)
    rows = [_row(lake, work) for work in plan.works]
    for at in range(0, len(rows), 500):
        replace_runs(state.tables["runs"], rows[at : at + 500])
    return len(rows)


def _write_log_run(raw: Path, run: int) -> None:
    """Write 16 core logs, an output and a window of memcached; a folder has a hundred runs."""
    folder = raw / f"{run // 100:04d}"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{run // 500}_{{}}{2 * (run % 500)}_0x1d00_135_200000"
    for core in range(_CORES):
        (folder / f"linux.mcd.dmesg.{name.format(f'{core}_')}").write_text(_LOG)
    (folder / f"linux.mcd.out.{name.format('')}").write_text(_OUTPUT)
    (folder / f"linux.mcd.rdtsc.{name.format('')}").write_text(_WINDOW)


def _write_storage_run(raw: Path, run: int) -> None:
    """Write fio's output, both copies of the interrupts and a sidecar into a folder."""
    folder = raw / f"nvme{run // 3000}" / "poll" / f"randread-{4 + run // 30 % 100}k-t8-r{run % 30}"
    folder.mkdir(parents=True)
    (folder / "fio.json").write_text(_DOCUMENT)
    (folder / "interrupts.before").write_text(_INTERRUPTS)
    (folder / "interrupts.after").write_text(_INTERRUPTS)
    began = f"2022-03-{1 + run // 3600 % 28:02d}T{run // 60 % 24:02d}:{run % 60:02d}:{{:02d}}Z"
    sidecar = f"start_utc = {began.format(0)}\nend_utc = {began.format(30)}\n"
    (folder / "run.toml").write_text(sidecar)


# By study: number of files of a run, and the function that writes them.
STUDIES: Final[dict[str, tuple[int, Callable[[Path, int], None]]]] = {
    "logs": (_CORES + 2, _write_log_run),
    "storage": (4, _write_storage_run),
}


def _row(lake: Path, work: RunWork) -> dict[str, Any]:
    settings = work.files[0].settings
    is_logged = settings.workloads[work.key.workload].logged
    sources = [source_struct(file, "0" * 32) for file in work.files]
    return {
        **identity_columns(work.key, settings),
        "source": "intlog" if is_logged else "fio",
        "flags": [],
        "cores": [],
        "sources": [*sources, settings_struct(settings)],
        "files": [_write_big_file(lake, table, work) for table in _TABLES] if is_logged else [],
    }


def _write_big_file(lake: Path, table: str, work: RunWork) -> dict[str, Any]:
    """Write a small file in place of a large one, of which ingest reads only the size."""
    name = f"{table}/{work.key.dataset}/{work.run_id}.{'0' * 12}.parquet"
    path = lake / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"-")
    return {"table": table, "path": name, "size_bytes": 1, "rows": 1}


@dataclass(frozen=True)
class _Input:
    """A folder of raw runs, with the bytes and lines of its logs."""

    folder: Path
    logs: tuple[Path, ...]
    size: int
    lines: int


def measure(rounds: int, scale: bool, resume_files: int) -> Iterator[Measurement]:
    """Make the input in a temporary folder, run all parts on it, and yield the measurements."""
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as name:
        work = Path(name)
        raw = make_input(work / "raw", 1)
        yield Measurement("input_size", raw.size / 1e6, "MB", 1)
        yield Measurement("input_lines", raw.lines, "", 1)
        yield from _rates(raw, work, rounds)
        yield from _sizes(raw, work)
        if scale:
            yield from _scale(raw, work)
        if resume_files:
            yield from measure_resume(work, resume_files)


def make_input(folder: Path, runs: int) -> _Input:
    """Write runs of 16 core logs; all but the first are links to the first."""
    folder.mkdir(parents=True)
    (folder / "wattlas.toml").write_text('[dataset]\nname = "synthetic-bench"\nsynthetic = true\n')
    run = Run("memcached", "linux_tuned", 50, 2.9, 135, 600_000, 0, _SECONDS, True)
    rng = run.generator(1)
    write_run(folder, run, measure_run(run, rng), rng)
    return _repeat(folder, folder, runs)


def _repeat(first: Path, folder: Path, runs: int) -> _Input:
    folder.mkdir(exist_ok=True)
    originals = sorted(path for path in first.iterdir() if path.is_file())
    for path in originals:
        if first != folder and "_" not in path.name:
            os.link(path, folder / path.name)
        kind, _, knobs = path.name.rpartition(".0_")
        for replicate in range(0 if first != folder else 1, runs):
            if kind:
                os.link(path, folder / f"{kind}.{replicate}_{knobs}")
    logs = tuple(sorted(folder.glob("*dmesg*")))
    lines = sum(_count_newlines(log) for log in logs)
    return _Input(folder, logs, sum(log.stat().st_size for log in logs), lines)


def _rates(raw: _Input, work: Path, rounds: int) -> Iterator[Measurement]:
    """Measure by turns: an add, our reader alone, and reading the bytes and counting newlines."""
    parts: dict[str, Callable[[], object]] = {
        "ours": lambda: _ingest(raw.folder, work / "lake"),
        "newlines_one_core": lambda: [_count_newlines(log) for log in raw.logs],
        "parse_one_core": lambda: _parse(raw.logs),
    }
    parts["ours"]()  # compiles, or loads what was compiled
    times: dict[str, list[float]] = {name: [] for name in parts}
    processor: dict[str, list[float]] = {name: [] for name in parts}
    for _ in range(rounds):
        for name, run in parts.items():
            if name == "ours":
                shutil.rmtree(work / "lake")
            began, busy = time.perf_counter(), time.process_time()
            run()
            times[name].append(time.perf_counter() - began)
            processor[name].append(time.process_time() - busy)
    size = raw.size / 1e6
    for name, taken in times.items():
        yield Measurement(f"{name}_rate", size / median(taken), "MB/s", rounds)
        rate = size / median(processor[name])
        yield Measurement(f"{name}_rate_per_processor_second", rate, "MB", rounds)
    yield Measurement("ours_rows_rate", raw.lines / median(times["ours"]) / 1e6, "M/s", rounds)
    pairs = zip(times["newlines_one_core"], times["ours"], strict=True)
    ratio = median(newlines / ours for newlines, ours in pairs)
    yield Floor("ours_against_newlines_one_core", ratio, "x", rounds, 0.6)


def _ingest(raw: Path, lake: Path) -> None:
    report = add(AddOptions(lake, [raw]))
    if report.problems:
        raise RuntimeError(f"BUG: the input has problems: {report.problems[0]}")


def _count_newlines(path: Path) -> int:
    count = 0
    with path.open("rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            count += block.count(b"\n")
    return count


def _parse(logs: Sequence[Path]) -> None:
    """Only read logs into columns and check each line."""
    for path in logs:
        reader = open_log(ReadContext(path.name, _TSC_HZ))
        with path.open("rb") as file:
            while block := file.read(DEFAULT_LIMITS.block_bytes):
                reader.feed(block)
                reader.take()
        reader.finish()
        reader.take()


def _sizes(raw: _Input, work: Path) -> Iterator[Measurement]:
    lake = work / "lake"
    for table in _TABLES:
        yield Measurement(f"{table}_size", _size_of(lake / table) / 1e6, "MB", 1)
    yield Floor("raw_to_lake", raw.size / _size_of(lake), "x", 1, 8.0)
    yield from _memory("one_run", [_add_to_new(raw.folder, work)])


def _size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


def _add_to_new(raw: Path, work: Path) -> Added:
    added = add_apart(raw, work / "lake-apart")
    shutil.rmtree(work / "lake-apart")
    return added


def _memory(name: str, some: list[Added]) -> Iterator[Measurement]:
    """Measure the peak memory of the process, and the share of each thread that reads runs."""
    peak_mb = max(added.peak_mb for added in some)
    yield Measurement(f"{name}_process_memory", peak_mb, "MB", len(some))
    worker_mb = peak_mb / (os.cpu_count() or 1)
    yield Measurement(f"{name}_worker_memory", worker_mb, "MB", len(some), MEMORY_LIMIT_MB)


def _scale(raw: _Input, work: Path) -> Iterator[Measurement]:
    """Measure whether MB/s and memory stay the same with more runs."""
    beginnings = _write_beginnings(raw, work / "raw-beginnings")
    starts = [_add_to_new(beginnings, work) for _ in range(_TIMES)]
    start_s = median(each.report["elapsed_s"] for each in starts)
    start_cpu_s = median(each.cpu_s for each in starts)
    yield Measurement("scale_start", start_s, "s", len(starts))
    folders = {runs: _repeat(raw.folder, work / f"raw-{runs}", runs).folder for runs in SCALES}
    # Alternately, so that other load on the machine affects all of them.
    adds: dict[int, list[Added]] = {runs: [] for runs in SCALES}
    for _ in range(_TIMES):
        for runs, folder in folders.items():
            adds[runs].append(_add_to_new(folder, work))
    rates, cpu_rates = {}, {}
    for runs, some in adds.items():
        size_mb = some[0].report["bytes_read"] / 1e6
        rates[runs] = size_mb / (median(each.report["elapsed_s"] for each in some) - start_s)
        cpu_rates[runs] = size_mb / (median(each.cpu_s for each in some) - start_cpu_s)
        name = f"scale_{runs}_runs"
        yield Measurement(f"{name}_rate", rates[runs], "MB/s", len(some))
        rate = cpu_rates[runs]
        yield Measurement(f"{name}_rate_per_processor_second", rate, "MB", len(some))
        yield from _memory(name, some)
    for name, by_runs in (("scale_spread", rates), ("scale_processor_spread", cpu_rates)):
        yield Measurement(name, _spread_pct(by_runs), "%", _TIMES, SPREAD_LIMIT_PCT)


def _spread_pct(rates: Mapping[int, float]) -> float:
    return 100 * (1 - min(rates.values()) / max(rates.values()))


def _write_beginnings(raw: _Input, folder: Path) -> Path:
    """Write a run with logs of a few hundred lines: its add takes the fixed time of an add."""
    folder.mkdir()
    for path in (path for path in raw.folder.iterdir() if path.is_file()):
        content = path.read_bytes()
        if path in raw.logs:
            content = content[: content.index(b"\n", _BEGINNING_BYTES) + 1]
        (folder / path.name).write_bytes(content)
    return folder


def measure_resume(work: Path, files: int) -> Iterator[Measurement]:
    """Add files that the lake has already, in the layout of each study, and propose settings.

    Raises:
        RuntimeError: An add did something.
    """
    yield Measurement("resume_scan_files", files, "", 1)
    for study in STUDIES:
        raw, lake = work / f"raw-settled-{study}", work / f"lake-settled-{study}"
        runs = write_settled_lake(raw, lake, files, study)
        adds = [add_apart(raw, lake) for _ in range(_TIMES)]
        for report in (added.report for added in adds):
            if report["unchanged"] != runs or report["added"] or report["bytes_read"]:
                raise RuntimeError(f"BUG: something was done: {report}")
        name = "resume_scan" if study == "logs" else f"resume_scan_{study}"
        elapsed_s, cpu_s = (median(getattr(a, of) for a in adds) for of in ("elapsed_s", "cpu_s"))
        yield Measurement(name, elapsed_s, "s", _TIMES, RESUME_LIMIT_S)
        yield Measurement(f"{name}_cpu", cpu_s, "s", _TIMES)
        peak_mb = median(added.peak_mb for added in adds)
        yield Measurement(f"{name}_memory", peak_mb, "MB", _TIMES, MEMORY_LIMIT_MB)
        command = [sys.executable, "-m", "ingest", "propose", str(raw)]
        began, used_s = time.perf_counter(), cpu_of_children_s()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        propose = name.replace("resume_scan", "propose")
        yield Measurement(propose, time.perf_counter() - began, "s", 1, PROPOSE_LIMIT_S)
        yield Measurement(f"{propose}_cpu", cpu_of_children_s() - used_s, "s", 1)
