"""Modes on many cells: time from a request to the finished map, over HTTP and in this process."""

import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import orjson

from app.kit.columns import compact_figure
from app.kit.context import Lakes
from app.kit.lakes import LakeView
from app.modes.answer import answer
from app.modes.layout import IDS
from app.modes.state import ModesState
from bench.declared import measure_declared
from bench.modes_lake import write_modes_lake
from bench.one_callback import OneCallback
from bench.report import Measurement, quantile
from bench.served import PeakMemory, Served, serve
from data.analysis.significance import CORRECTIONS, TESTS, load_statistics

MAP_LIMIT_MS = 500.0
MEMORY_LIMIT_MB = 400.0
_METRICS = ("bytes_per_joule", "ios_per_joule", "energy_j", "latency_mean_us")
_AGAINST = ("latency_mean_us", "iops", "power_w", "energy_j")
_BASE = {
    "dataset": ["bench"], "workload": ["fio"], "x": "request", "y": "depth", "who": "mode",
}  # fmt: skip


def measure(sizes: int, depths: int, replicates: int) -> Iterator[Measurement]:
    """Measure on a lake of sizes x depths cells with three modes and several replicates."""
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as folder:
        lake = write_modes_lake(Path(folder) / "lake", sizes, depths, replicates)
        runs = 3 * sizes * depths * replicates
        yield Measurement("modes_runs", runs, "", 1)
        yield from _functions(lake)
        declared = Path(folder) / "declared"
        write_modes_lake(declared, sizes, depths, replicates, is_declared=True)
        yield from measure_declared("modes", lake, declared, _answer, _new_questions())
        with serve(lake, Path(folder) / "app.log") as served:
            yield from _through_http(served)


def _new_questions() -> list[dict]:
    """Return states with other metrics, for which the app reads the lake again."""
    pairs = [(m, a) for m, a in product(_METRICS, _AGAINST) if m != a]
    return [{**_BASE, "metric": name, "against": against} for name, against in pairs]


def _new_rules() -> list[dict]:
    """Return states with another test, correction, level or axes; the replicates are in memory."""
    rules = [
        {**_BASE, "metric": "bytes_per_joule", "test": t, "corr": c, "level": level}
        for t, c, level in product(TESTS, CORRECTIONS, (0.01, 0.05))
    ]
    swapped = {"x": "depth", "y": "request"}
    return [*rules, *({**rule, **swapped} for rule in rules[:6])]


def _functions(lake: Path) -> Iterator[Measurement]:
    """Measure the functions of the callback in this process, and the encoding of the answer."""
    view = Lakes(lake).at(None)
    load_statistics()
    for name, questions in (("question", _new_questions()), ("rules", _new_rules())):
        times = []
        for raw in questions:
            start = time.perf_counter()
            _answer(view, raw)
            times.append((time.perf_counter() - start) * 1e3)
        yield Measurement(f"modes_compute_{name}_p95", quantile(times, 0.95), "ms", len(times))


def _answer(view: LakeView, raw: dict[str, Any]) -> bytes:
    found = answer(view, ModesState.from_json(raw))
    figures = [compact_figure(f) for f in (found.winners, found.shares, found.pareto)]
    return orjson.dumps([*figures, found.cells])


def _through_http(served: Served) -> Iterator[Measurement]:
    output = f"{IDS.figure('winners')}.data"
    callback = OneCallback(served.port, output, IDS.view_state, IDS.lake_version)
    first_ms, size = callback.time_ms({**_BASE, "metric": "edp_js"})
    yield Measurement("modes_first_map", first_ms, "ms", 1)
    yield Measurement("modes_answer_size", size / 1e6, "MB", 1)
    with PeakMemory(served) as memory:
        for name, questions in (("question", _new_questions()), ("rules", _new_rules())):
            cpu_s = served.worker_cpu_s()
            times = [callback.time_ms(raw)[0] for raw in questions]
            cpu_ms = (served.worker_cpu_s() - cpu_s) * 1e3 / len(times)
            n = len(times)
            yield Measurement(f"modes_new_{name}_p95", quantile(times, 0.95), "ms", n, MAP_LIMIT_MS)
            yield Measurement(f"modes_new_{name}_median", quantile(times, 0.5), "ms", n)
            yield Measurement(f"modes_new_{name}_cpu_mean", cpu_ms, "ms", n)
    yield Measurement("modes_worker_memory", served.worker_mb(), "MB", 1, MEMORY_LIMIT_MB)
    yield Measurement("modes_worker_memory_peak", memory.peak_mb, "MB", 1, MEMORY_LIMIT_MB)
    callback.close()
