"""Answers of a page's one callback to many states: in this process, and from a running app."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from bench.callbacks import OneCallback
from bench.report import Measurement, p95_and_median, quantile
from bench.served import PeakMemory, Served

LIMIT_MS: Final = 500.0
MEMORY_LIMIT_MB: Final = 400.0

# States of a page as JSON, by what is new in each of them.
States = Mapping[str, Sequence[dict[str, Any]]]


def measure_functions(
    page: str, lake: Path, states: States, compute: Callable[[LakeView, dict[str, Any]], object]
) -> Iterator[Measurement]:
    """Measure the functions of the callback in this process, without HTTP."""
    view = Lakes(lake).at(None)
    for name, some in states.items():
        times = []
        for raw in some:
            start = time.perf_counter()
            compute(view, raw)
            times.append((time.perf_counter() - start) * 1e3)
        yield Measurement(f"{page}_compute_{name}_p95", quantile(times, 0.95), "ms", len(times))


def measure_callback(
    page: str, served: Served, callback: OneCallback, first: dict[str, Any], states: States
) -> Iterator[Measurement]:
    """Post states to a running app, and measure its memory."""
    first_ms, size = callback.time_ms(first)
    yield Measurement(f"{page}_first_answer", first_ms, "ms", 1)
    yield Measurement(f"{page}_answer_size", size / 1e6, "MB", 1)
    with PeakMemory(served) as memory:
        for name, some in states.items():
            cpu_s = served.worker_cpu_s()
            times = [callback.time_ms(raw)[0] for raw in some]
            cpu_ms = (served.worker_cpu_s() - cpu_s) * 1e3 / len(times)
            yield from p95_and_median(f"{page}_new_{name}", times, LIMIT_MS)
            yield Measurement(f"{page}_new_{name}_cpu_mean", cpu_ms, "ms", len(times))
    callback.close()
    yield Measurement(f"{page}_worker_memory", served.worker_mb(), "MB", 1, MEMORY_LIMIT_MB)
    yield Measurement(f"{page}_worker_memory_peak", memory.peak_mb, "MB", 1)
