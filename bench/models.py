"""The models: the simulator compared with SimPy and ciw, figure 7, the curves in formulas."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.models_browser import measure_slider
from bench.report import Measurement, quantile
from data.models import SCHEMES

FIGURE_LIMIT_S: Final = 20.0
CURVES_LIMIT_MS: Final = 100.0
EVENT_LIMIT_NS: Final = 50.0
# Limits of the other simulators' rate divided by ours: 1/50 and 1/12.
CONTENDER_LIMITS_PCT: Final = {"simpy_process_a_customer": 2.0, "simpy_two_processes": 100 / 12}
_RATE_KPPS: Final = 168.5
_SERVICE_US: Final = 5.34
_RING: Final = 1024
_CONTENDERS: Final = Path(__file__).with_name("models_contenders.py")
# Figure 7 of the published study.
FIGURE_7: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("ideal", {}),
    ("normal", {}),
    ("disable_enable", {}),
    ("pure_polling", {}),
    ("napi", {}),
    ("count_coalescing", {"count": 8}),
    ("time_coalescing", {"delay_us": 50.0}),
)
_RATES: Final = np.linspace(1, 300, 18)
_CURVE_RATES: Final = np.linspace(1, 400, 60)


def measure(
    repeats: int, events: float, contenders: str | None, slider: int
) -> Iterator[Measurement]:
    """Measure.

    Args:
        contenders: Python interpreter with SimPy and ciw.
        slider: Number of moves of the slider in Chromium.
    """
    _simulate(1e5, 1)
    ours = [_simulate(events, 1) for _ in range(repeats)]
    rates = [found["customers"] / found["elapsed_s"] for found in ours]
    rate = quantile(rates, 0.5)
    yield Measurement("models_customers_rate", rate / 1e6, "M/s", repeats)
    for name, spent in (("models_event_time", "elapsed_s"), ("models_event_cpu", "cpu_s")):
        middle = quantile([_event_ns(found, spent) for found in ours], 0.5)
        yield Measurement(name, middle, "ns", repeats)
    both = [_event_ns(_simulate(events, 2)) for _ in range(repeats)]
    yield Measurement(
        "models_event_time_two_threads", quantile(both, 0.5), "ns", repeats, EVENT_LIMIT_NS
    )
    if contenders:
        yield from _beside(contenders, repeats, rate)
    yield from _figure_7(2, 2 * events)
    yield from _curves(repeats)
    if slider:
        yield from measure_slider(slider)


def _simulate(events: float, threads: int) -> dict[str, float]:
    """Simulate M/M/1/B at a load of 0.9, one rate in each thread, up to a number of events."""
    rates = [_RATE_KPPS + 0.01 * thread for thread in range(threads)]
    start, cpu_s = time.perf_counter(), time.process_time()
    found = SCHEMES["ideal"].solve(
        "simulated", rates, service_us=_SERVICE_US, ring=_RING, threads=threads,
        precision=1e-9, most_events=events,
    )  # fmt: skip
    elapsed_s = time.perf_counter() - start
    # Each customer is an arrival and a departure.
    return {
        "elapsed_s": elapsed_s,
        "cpu_s": time.process_time() - cpu_s,
        "events": float(found.events.sum()),
        "customers": float(found.events.sum()) / 2,
    }


def _event_ns(found: dict[str, float], spent: str = "elapsed_s") -> float:
    return found[spent] / found["events"] * 1e9


def _beside(python: str, repeats: int, rate: float) -> Iterator[Measurement]:
    """Run the other simulators on the same queue.

    Raises:
        RuntimeError: The script failed; the message has the end of its output.
    """
    shape = [_RATE_KPPS * 1e-3, 1 / _SERVICE_US, _RING, 200_000, repeats]
    command = [python, str(_CONTENDERS), *map(str, shape)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"contenders: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, list[float]] = {}
    for line in done.stdout.splitlines():
        one = json.loads(line)
        found.setdefault(one["name"], []).append(one["rate"])
    for name, rates in found.items():
        middle = quantile(rates, 0.5)
        yield Measurement(f"{name}_rate", middle / 1e6, "M/s", len(rates))
        limit = CONTENDER_LIMITS_PCT.get(name)
        yield Measurement(f"{name}_by_ours", middle / rate * 100, "%", len(rates), limit)


def _figure_7(threads: int, most_events: float) -> Iterator[Measurement]:
    start = time.perf_counter()
    slow = 0
    for name, given in FIGURE_7:
        found = SCHEMES[name].solve(
            "simulated", _RATES, threads=threads, most_events=most_events, **given
        )
        slow += int(found.is_slow.sum())
    elapsed_s = time.perf_counter() - start
    yield Measurement("models_figure_7", elapsed_s, "s", 1, FIGURE_LIMIT_S)
    yield Measurement("models_figure_7_slow", slow, "", 1, 0.0)


def _curves(repeats: int) -> Iterator[Measurement]:
    """Compute all curves of figure 7 in formulas, with counts 1 and 8 and delays 0 and 50 us."""
    cases = (*FIGURE_7, ("count_coalescing", {"count": 1}), ("time_coalescing", {"delay_us": 0.0}))
    times = []
    for repeat in range(repeats + 1):
        start = time.perf_counter()
        for name, given in cases:
            for kind in SCHEMES[name].kinds:
                if kind != "simulated":
                    # Another service time each time, so that nothing is cached.
                    SCHEMES[name].solve(
                        kind, _CURVE_RATES, service_us=5.34 + repeat * 0.01, **given
                    )
        times.append((time.perf_counter() - start) * 1e3)
    yield Measurement("models_analytic_curves_python", quantile(times[1:], 0.5), "ms", repeats)
