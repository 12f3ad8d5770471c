"""Questions over a thousand logged runs: distributions by a knob, odd runs, SQL over all."""

import resource
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from bench.report import Measurement, quantile
from data.analysis.log_bins import SLOTS, slot_of
from data.analysis.log_metrics import SERIES, SERIES_BINS, SIZES, LogCounts, distribution_rows
from data.connection import Lake, open_lake
from data.distributions import by_level, read_distributions
from data.sandbox.pool import Sandbox
from data.schema import HISTOGRAMS
from data.siblings import unlike_siblings
from ingest.lake.commits import Committer
from ingest.lake.run_file import RunFile
from ingest.lake.state import load_state
from ingest.lake.tables import create_tables

_REPLICATES: Final = 5
_ITR_US: Final = (2.0, 10.0, 50.0, 100.0, 200.0)
_LEVELS: Final = (1, 8)
# Share of a run's interrupts in each part of its time.
_RATES: Final = np.repeat([1 / 2, 1 / 6, 1 / 6, 1 / 6], SERIES_BINS // 4) / (SERIES_BINS // 4)
_OF_ALL: Final = (
    "SELECT itr_us, sum(low * count) / sum(count) AS mean_gap_ns FROM distributions "
    "WHERE quantity = 'gap_ns' GROUP BY itr_us ORDER BY itr_us"
)
_OF_STRETCHES: Final = (
    "SELECT itr_us, sum(count) AS n FROM histograms WHERE level = 1 AND quantity = 'gap_ns' "
    "GROUP BY itr_us ORDER BY itr_us"
)


def measure(runs: int, repeats: int) -> Iterator[Measurement]:
    """Measure on a lake of some runs with small logs, in the layout that ingest writes."""
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as folder:
        lake = Path(folder) / "lake"
        began = time.perf_counter()
        write_logged_lake(lake, runs)
        yield Measurement("logs_write", time.perf_counter() - began, "s", 1)
        cold = []
        for _ in range(repeats):
            with open_lake(lake) as opened:
                cold += _times(1, partial(_map, opened, runs))
        yield Measurement("logs_map_cold_p95", quantile(cold, 0.95), "ms", repeats, 1000)
        with open_lake(lake) as opened:
            for name, limit, ask in (
                ("logs_map_warm", 200, lambda: _map(opened, runs)),
                ("logs_map_tenth", None, lambda: _map(opened, runs // 10)),
                ("logs_odd", 2000, lambda: unlike_siblings(opened, _ids(opened, runs))),
                ("logs_sql_distributions", 2000, lambda: opened.polars(_OF_ALL)),
                ("logs_sql_histograms", 2000, lambda: opened.polars(_OF_STRETCHES)),
            ):
                ask()
                times = _times(repeats, ask)
                yield Measurement(f"{name}_p95", quantile(times, 0.95), "ms", repeats, limit)
            yield from _growth(Path(folder) / "tenth", opened, runs, repeats)
            sandbox = Sandbox()
            sandbox.prepare(opened)
            for name, sql in (("distributions", _OF_ALL), ("histograms", _OF_STRETCHES)):
                times = []
                for _ in range(repeats):
                    sandbox.wait_ready()
                    times += _times(1, partial(sandbox.run, opened, sql))
                p95 = quantile(times, 0.95)
                yield Measurement(f"logs_sandbox_{name}_p95", p95, "ms", repeats, 2000)
            sandbox.close()
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield Measurement("logs_memory_peak", peak_mb, "MB", 1, 600)


def _growth(folder: Path, opened: Lake, runs: int, repeats: int) -> Iterator[Measurement]:
    """Measure how the map's time grows with the runs chosen, and with the lake around them.

    Processor time, by turns: all runs, a tenth of them, and the same tenth in a lake of only them.
    """
    write_logged_lake(folder, runs // 10)
    with open_lake(folder) as small:
        cases = ((opened, runs), (opened, runs // 10), (small, runs // 10))
        cpu: list[list[float]] = [[], [], []]
        for _ in range(repeats):
            for own, (lake, count) in zip(cpu, cases, strict=True):
                began = time.process_time()
                _map(lake, count)
                own.append(time.process_time() - began)
    whole, tenth, alone = (quantile(own, 0.5) for own in cpu)
    # At most linear: ten times the runs cost ten times the time, or less.
    yield Measurement("logs_map_by_runs", whole / tenth, "", repeats, 10)
    yield Measurement("logs_map_by_lake", tenth / alone, "", repeats, 1.5)


def _times(repeats: int, ask: Callable[[], Any]) -> list[float]:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        ask()
        times.append((time.perf_counter() - began) * 1000)
    return times


def _ids(lake: Lake, runs: int) -> list[str]:
    rows = lake.polars(f"SELECT run_id FROM runs ORDER BY run_id LIMIT {runs:d}")
    return rows["run_id"].to_list()


def _map(lake: Lake, runs: int) -> Any:
    rows = lake.polars(f"SELECT run_id, itr_us FROM runs ORDER BY run_id LIMIT {runs:d}")
    distributions = read_distributions(lake, rows["run_id"].to_list(), "gap_ns")
    levels = by_level(distributions, dict(rows.iter_rows()))
    shares = np.stack([level.shares for level in levels.values()])
    return distributions.quantiles(shares, [0.1, 0.5, 0.9, 0.99])


def write_logged_lake(
    lake: Path,
    runs: int,
    times: Mapping[int, float] | None = None,
    reversed_runs: Collection[int] = (),
) -> None:
    """Write runs with `histograms` and `distributions` by the writers of ingest.

    Interrupts come three times as often in a run's first quarter as later.

    Args:
        times: Number of a run to how many times longer its gaps are than its replicates'.
        reversed_runs: Numbers of runs that count the same in the reverse order of time.
    """
    create_tables(lake)
    committer = Committer(lake, load_state(lake))
    random = np.random.default_rng(1)
    for number in range(runs):
        row = _row(number)
        longer = (times or {}).get(number, 1.0)
        gaps = random.lognormal(np.log(row["itr_us"] * 1e3 * longer), 0.3, 4000).astype(np.int64)
        sizes = np.zeros((len(SIZES), SLOTS), np.int64)
        sizes[:] = np.bincount(slot_of(gaps), minlength=SLOTS)
        file = RunFile(lake, "histograms", row["dataset"], row["run_id"])
        file.write(_stretches(row["run_id"], sizes[0]))
        row["files"] = [file.finish("bench")]
        at_times = random.multinomial(len(gaps), _RATES)
        series = dict.fromkeys(SERIES, at_times[::-1] if number in reversed_runs else at_times)
        counts = LogCounts(sizes, {}, random.normal(60, 5, 200).clip(1), series)
        committer.add_run(row, distribution_rows(row, counts))
        committer.flush_if_due()
    committer.finish({})


def _row(number: int) -> dict[str, Any]:
    configuration = number // _REPLICATES
    return {
        "run_id": f"run-{number:06d}", "dataset": "logged", "source": "intlog",
        "workload": "memcached", "loop": "open", "system": "linux_tuned", "mode": None,
        "replicate": number % _REPLICATES, "system_label": "Linux tuned", "is_synthetic": True,
        "performance_metric": "latency_p99_us", "is_baseline": False, "has_log": True,
        "itr_us": _ITR_US[configuration % len(_ITR_US)], "itr_policy": "static",
        "dvfs_ghz": 1.2 + 0.1 * (configuration // len(_ITR_US) % 18), "dvfs_policy": "static",
        "load_qps": 200_000.0 + 1000 * (configuration // 90), "duration_s": 2.0, "flags": [],
        "cores": [{"core": 0, "package": 0, "energy_j": 100.0}], "sources": [],
    }  # fmt: skip


def _stretches(run_id: str, counts: np.ndarray) -> pa.Table:
    slots = np.flatnonzero(counts)
    rows = [
        {"run_id": run_id, "level": level, "core": 0, "bin": at, "t_ns": at * 10**8,
         "quantity": "gap_ns", "slot": int(slot), "count": int(counts[slot])}
        for level in _LEVELS for at in range(level) for slot in slots
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=HISTOGRAMS)
