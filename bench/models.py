"""The models: the simulator, figure 7, the curves in formulas, and a slider of the page."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.in_browser import chromium, new_page, wait_quiet
from bench.report import Measurement, quantile
from bench.served import serve
from data.models import SCHEMES

FIGURE_LIMIT_S: Final = 20.0
CURVES_LIMIT_MS: Final = 100.0
EVENT_LIMIT_NS: Final = 50.0
_RATE_KPPS: Final = 168.5
_SERVICE_US: Final = 5.34
_RING: Final = 1024
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
_DRAWN: Final = "() => wattlas.plot && wattlas.plot('models-throughput') && wattlas.isIdle()"
# One move of the slider: milliseconds until the curves are computed, and until they are painted.
_STEP: Final = """(value) => new Promise((done) => {
  const range = document.querySelector('input[type=range][data-control="service_us"]');
  const { models } = wattlas, frame = requestAnimationFrame;
  range.value = value;
  const start = performance.now();
  range.dispatchEvent(new Event("input", { bubbles: true }));
  models.curves().forEach(models.solved);
  const computed = performance.now() - start;
  frame(() => frame(() => done([computed, performance.now() - start])));
})"""
_RELEASE: Final = """() => document.querySelector('input[type=range][data-control="service_us"]')
  .dispatchEvent(new Event("change", { bubbles: true }))"""


def measure(repeats: int, events: float, slider: int) -> Iterator[Measurement]:
    """Measure.

    Args:
        events: Events of one run of the simulator.
        slider: Number of moves of the slider in Chromium; 0 leaves them out.
    """
    _simulate(1e5, 1)
    runs = [_simulate(events, 1) for _ in range(repeats)]
    # Each customer is an arrival and a departure.
    rate = quantile([run["events"] / 2 / run["elapsed_s"] for run in runs], 0.5)
    yield Measurement("models_customers_rate", rate / 1e6, "M/s", repeats)
    for name, spent in (("models_event_time", "elapsed_s"), ("models_event_cpu", "cpu_s")):
        event_ns = quantile([run[spent] / run["events"] * 1e9 for run in runs], 0.5)
        yield Measurement(name, event_ns, "ns", repeats)
    both = [_simulate(events, 2) for _ in range(repeats)]
    event_ns = quantile([run["elapsed_s"] / run["events"] * 1e9 for run in both], 0.5)
    yield Measurement("models_event_time_two_threads", event_ns, "ns", repeats, EVENT_LIMIT_NS)
    yield from _figure_7(2, 2 * events)
    yield _curves(repeats)
    if slider:
        yield from _slider(slider)


def _simulate(events: float, threads: int) -> dict[str, float]:
    """Simulate M/M/1/B at a load of 0.9, one rate in each thread, up to a number of events."""
    rates = [_RATE_KPPS + 0.01 * thread for thread in range(threads)]
    start, cpu_s = time.perf_counter(), time.process_time()
    result = SCHEMES["ideal"].solve(
        "simulated", rates, service_us=_SERVICE_US, ring=_RING, threads=threads,
        precision=1e-9, most_events=events,
    )  # fmt: skip
    return {
        "elapsed_s": time.perf_counter() - start,
        "cpu_s": time.process_time() - cpu_s,
        "events": float(result.events.sum()),
    }


def _figure_7(threads: int, most_events: float) -> Iterator[Measurement]:
    start = time.perf_counter()
    slow = 0
    for name, given in FIGURE_7:
        result = SCHEMES[name].solve(
            "simulated", _RATES, threads=threads, most_events=most_events, **given
        )
        slow += int(result.is_slow.sum())
    elapsed_s = time.perf_counter() - start
    yield Measurement("models_figure_7", elapsed_s, "s", 1, FIGURE_LIMIT_S)
    yield Measurement("models_figure_7_slow", slow, "", 1, 0.0)


def _curves(repeats: int) -> Measurement:
    """Compute all curves of figure 7 in formulas, with counts 1 and 8 and delays 0 and 50 us."""
    cases = (*FIGURE_7, ("count_coalescing", {"count": 1}), ("time_coalescing", {"delay_us": 0.0}))
    times = []
    for repeat in range(repeats + 1):
        # Another service time each time, so that nothing is cached.
        service_us = _SERVICE_US + repeat * 0.01
        start = time.perf_counter()
        for name, given in cases:
            for kind in SCHEMES[name].kinds:
                if kind != "simulated":
                    SCHEMES[name].solve(kind, _CURVE_RATES, service_us=service_us, **given)
        times.append((time.perf_counter() - start) * 1e3)
    return Measurement("models_analytic_curves_python", quantile(times[1:], 0.5), "ms", repeats)


def _slider(repeats: int) -> Iterator[Measurement]:
    """Move the slider of 1/mu to new values while all curves of figure 7 are shown."""
    with (
        tempfile.TemporaryDirectory(prefix="wattlas-bench-") as work,
        serve(Path(work) / "lake", Path(work) / "app.log") as served,
        chromium() as browser,
    ):
        page = new_page(browser)
        page.goto(f"{served.address}/models?fig=7")
        page.wait_for_function(_DRAWN, timeout=60_000)
        wait_quiet(page)
        computed_ms: list[float] = []
        painted_ms: list[float] = []
        for repeat in range(repeats + 1):
            taken: Any = page.evaluate(_STEP, 5 + 0.1 * (repeat + 1))
            computed_ms.append(taken[0])
            painted_ms.append(taken[1])
            wait_quiet(page, 200)
        page.evaluate(_RELEASE)
    middle_ms = quantile(computed_ms[1:], 0.5)
    yield Measurement("models_slider_computed", middle_ms, "ms", repeats, CURVES_LIMIT_MS)
    yield Measurement("models_slider_painted", quantile(painted_ms[1:], 0.5), "ms", repeats)
