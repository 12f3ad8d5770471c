"""Ingest compared with other readers of the same bytes, and with more runs."""

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd
import polars as pl

from bench.apart import Added, add_apart
from bench.long_log import write_long_log
from bench.report import Measurement
from bench.resume import measure as measure_resume
from bench.studies import measure as measure_studies
from ingest.formats.intlog import open_log
from ingest.logs.limits import DEFAULT_LIMITS
from ingest.pipeline import AddOptions, add
from ingest.records import ReadContext
from ingest.sample.plan import Run
from ingest.sample.raw import write_run
from ingest.sample.writer import measure_run

ROUNDS: Final = 5
SCALES: Final = (1, 4, 16)
MEMORY_LIMIT_MB: Final = 400.0
_TIMES: Final = 3
LOG_TABLES: Final = ("interrupts", "samples", "overview", "histograms")
_SECONDS: Final = 18.5
_TSC_HZ: Final = 2_899_999_000.0
_BLOCK: Final = 1 << 20
_BEGINNING_BYTES: Final = 1 << 16
_NIC: Final = ("rx_desc", "rx_bytes", "tx_desc", "tx_bytes")
_COUNTERS: Final = ("instructions", "cycles", "ref_cycles", "llc_miss")
_STATES: Final = ("c1", "c1e", "c3", "c6", "c7")
_NAMES: Final = ["i", *_NIC, *_COUNTERS, *_STATES, "joules", "timestamp"]


class Floor(Measurement):
    """A measurement whose limit is a minimum."""

    @property
    def ok(self) -> bool | None:
        return None if self.limit is None else self.value >= self.limit


@dataclass(frozen=True)
class _Input:
    """A folder of raw runs, with the bytes and lines of its logs."""

    folder: Path
    logs: tuple[Path, ...]
    size: int
    lines: int


def measure(
    rounds: int,
    scale: bool,
    long_log_gb: float,
    resume_files: int,
    propose_files: int = 0,
    table_rows: int = 0,
) -> Iterator[Measurement]:
    """Make the input in a temporary folder, run all parts on it, and yield the measurements."""
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as name:
        work = Path(name)
        raw = make_input(work / "raw", 1)
        yield Measurement("input_size", raw.size / 1e6, "MB", 1)
        yield Measurement("input_lines", raw.lines, "", 1)
        yield from _against_others(raw, work, rounds)
        yield from _sizes(raw, work)
        if scale:
            yield from _scale(raw, work)
        if long_log_gb:
            yield from _long_log(raw, work, int(long_log_gb * 1e9))
        if resume_files:
            yield from measure_resume(work, resume_files)
        yield from measure_studies(work, propose_files, table_rows)


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


def _against_others(raw: _Input, work: Path, rounds: int) -> Iterator[Measurement]:
    contenders: dict[str, Callable[[], object]] = {
        "ours": lambda: _ingest(raw.folder, work / "lake"),
        "newlines_one_core": lambda: [_count_newlines(log) for log in raw.logs],
        "parse_one_core": lambda: [_parse(log) for log in raw.logs],
        "polars_parquet": lambda: _polars(raw, work / "polars.parquet"),
        "pandas_cleaning": lambda: _clean_with_pandas(raw),
    }
    contenders["ours"]()  # compiles, or loads what was compiled
    times: dict[str, list[float]] = {name: [] for name in contenders}
    processor: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            shutil.rmtree(work / "lake", ignore_errors=True)
            began, busy = time.perf_counter(), time.process_time()
            run()
            times[name].append(time.perf_counter() - began)
            processor[name].append(time.process_time() - busy)
    _ingest(raw.folder, work / "lake")
    size = raw.size / 1e6
    for name, taken in times.items():
        yield Measurement(f"{name}_rate", size / statistics.median(taken), "MB/s", rounds)
        busy_rate = size / statistics.median(processor[name])
        yield Measurement(f"{name}_rate_per_processor_second", busy_rate, "MB", rounds)
    ours = statistics.median(times["ours"])
    yield Measurement("ours_rows_rate", raw.lines / ours / 1e6, "M/s", rounds)
    for name, least in (
        ("polars_parquet", 4.0),
        ("pandas_cleaning", 3.0),
        ("newlines_one_core", 0.6),
    ):
        ratios = [other / mine for other, mine in zip(times[name], times["ours"], strict=True)]
        yield Floor(f"ours_against_{name}", statistics.median(ratios), "x", rounds, least)


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


def _parse(path: Path) -> int:
    """Only read a log into columns and check each line; return the number of entries."""
    reader = open_log(ReadContext(path.name, _TSC_HZ))
    with path.open("rb") as file:
        while block := file.read(DEFAULT_LIMITS.block_bytes):
            reader.feed(block)
            reader.take()
    reader.finish()
    reader.take()
    return reader.facts().entries


def _polars(raw: _Input, out: Path) -> None:
    scan = pl.scan_csv(list(raw.logs), separator=" ", has_header=False)
    scan.sink_parquet(out, compression="zstd")


def _clean_with_pandas(raw: _Input) -> dict[str, float]:
    """Process a run as the published scripts do: read, window, filter, difference, sum."""
    (record,) = raw.folder.glob("*rdtsc*")
    connections = [line.split() for line in record.read_text().splitlines()]
    start = max(int(fields[2]) for fields in connections)
    end = max(int(fields[3]) for fields in connections)
    total: dict[str, float] = {}
    for log in raw.logs:
        rows = pd.read_csv(log, sep=" ", names=_NAMES)
        rows = rows[(rows["timestamp"] >= start) & (rows["timestamp"] <= end)]
        for name in _NIC:
            total[name] = total.get(name, 0) + int(rows[name].sum())
        sampled = rows[(rows["joules"] > 0) & (rows["instructions"] > 0)]
        steps = sampled[_NAMES[5:]].diff().iloc[1:]
        steps = steps[steps["joules"] > 0]
        for name in (*_COUNTERS, *_STATES, "joules"):
            total[name] = total.get(name, 0) + float(steps[name].sum())
    return total


def _sizes(raw: _Input, work: Path) -> Iterator[Measurement]:
    lake = work / "lake"
    names = ("interrupts", "samples", "overview", "histograms")
    tables = {table: _size_of(lake / table) for table in names}
    for table, size in tables.items():
        yield Measurement(f"{table}_size", size / 1e6, "MB", 1)
    yield Floor("raw_to_lake", raw.size / _size_of(lake), "x", 1, 8.0)
    yield from _memory("one_run", [add_apart(raw.folder, work / "lake-apart")])


def _memory(name: str, found: Sequence[Added]) -> Iterator[Measurement]:
    """Measure the peak memory of the process and of a worker, a process or a thread."""
    peak_mb = max(added.peak_mb for added in found)
    yield Measurement(f"{name}_process_memory", peak_mb, "MB", len(found))
    workers = os.cpu_count() or 1
    worker_mb = max(added.reader_peak_mb for added in found) or peak_mb / workers
    yield Measurement(f"{name}_worker_memory", worker_mb, "MB", len(found), MEMORY_LIMIT_MB)


def _size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


def _scale(raw: _Input, work: Path) -> Iterator[Measurement]:
    """Measure whether MB/s and memory stay the same with more runs."""
    beginnings = _beginnings(raw, work / "raw-beginnings")
    starts = [add_apart(beginnings, work / "lake-scale") for _ in range(_TIMES)]
    start_s = statistics.median(each.elapsed_s for each in starts)
    start_cpu_s = statistics.median(each.cpu_s for each in starts)
    yield Measurement("scale_start", start_s, "s", len(starts))
    folders = {runs: _repeat(raw.folder, work / f"raw-{runs}", runs).folder for runs in SCALES}
    # Alternately, so that other load on the machine affects all of them.
    found: dict[int, list[Added]] = {runs: [] for runs in SCALES}
    for _ in range(_TIMES):
        for runs, folder in folders.items():
            found[runs].append(add_apart(folder, work / "lake-scale"))
    rates, cpu_rates = {}, {}
    for runs, added in found.items():
        rates[runs] = statistics.median(
            each.bytes_mb / (each.elapsed_s - start_s) for each in added
        )
        cpu_rates[runs] = statistics.median(
            each.bytes_mb / (each.cpu_s - start_cpu_s) for each in added
        )
        yield Measurement(f"scale_{runs}_runs_rate", rates[runs], "MB/s", len(added))
        name = f"scale_{runs}_runs_rate_per_processor_second"
        yield Measurement(name, cpu_rates[runs], "MB", len(added))
        yield from _memory(f"scale_{runs}_runs", added)
    yield Measurement("scale_spread", _spread_pct(rates), "%", _TIMES, 10.0)
    yield Measurement("scale_processor_spread", _spread_pct(cpu_rates), "%", _TIMES, 10.0)


def _spread_pct(rates: Mapping[int, float]) -> float:
    return 100 * (1 - min(rates.values()) / max(rates.values()))


def _long_log(raw: _Input, work: Path, size: int) -> Iterator[Measurement]:
    """Measure one log of many gigabytes."""
    folder = work / "raw-long"
    write_long_log(raw.folder, folder, size)
    added = add_apart(folder, work / "lake-long")
    shutil.rmtree(folder)
    yield Measurement("long_log_size", added.bytes_mb, "MB", 1)
    yield Measurement("long_log_rate", added.bytes_mb / added.elapsed_s, "MB/s", 1)
    yield from _memory("long_log", [added])


def _beginnings(raw: _Input, folder: Path) -> Path:
    """Measure a run with logs of a few hundred lines: the fixed time of an add."""
    folder.mkdir()
    for path in (path for path in raw.folder.iterdir() if path.is_file()):
        content = path.read_bytes()
        if path in raw.logs:
            content = content[: content.index(b"\n", _BEGINNING_BYTES) + 1]
        (folder / path.name).write_bytes(content)
    return folder
