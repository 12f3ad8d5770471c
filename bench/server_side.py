"""Filter change to new figures on the server: through HTTP, and the functions by themselves."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from app.explore.answer import best_table, heatmap, limit_domain, scatter
from app.explore.layout import column_choices
from app.explore.state import ExploreState
from app.kit.filters import facet_chips
from app.kit.lakes import Lakes, LakeView
from bench.callbacks import FilterChanges
from bench.report import Measurement, quantile
from bench.served import PeakMemory, Served
from bench.states import varied_states

CHANGE_LIMIT_MS = 100.0
MEMORY_LIMIT_MB = 400.0
_WARM_UP = 5


def measure_server(served: Served, lake: Path, changes: int) -> list[Measurement]:
    """Post filter changes to a running app; its times and its memory."""
    view = Lakes(lake).at(None)
    states = varied_states(view.cube, changes + _WARM_UP)
    visitor = FilterChanges(served.port, view.version)
    for state in states[:_WARM_UP]:
        visitor.time_ms(state)
    cpu_s = served.worker_cpu_s()
    with PeakMemory(served) as memory:
        times = [visitor.time_ms(state) for state in states[_WARM_UP:]]
    cpu_ms = (served.worker_cpu_s() - cpu_s) * 1e3
    visitor.close()
    n = len(times)
    return [
        Measurement("filter_change_p95", quantile(times, 0.95), "ms", n,
                    CHANGE_LIMIT_MS),
        Measurement("filter_change_median", quantile(times, 0.5), "ms", n),
        Measurement("filter_change_max", max(times), "ms", n),
        Measurement("filter_change_cpu_mean", cpu_ms / n, "ms", n),
        Measurement("worker_memory", served.worker_mb(), "MB", 1,
                    MEMORY_LIMIT_MB),
        Measurement("worker_memory_peak", memory.peak_mb, "MB", n),
    ]  # fmt: skip


def measure_functions(lake: Path, changes: int) -> list[Measurement]:
    """Call what the callbacks call, one after the other in this process, without HTTP or JSON."""
    view = Lakes(lake).at(None)
    states = varied_states(view.cube, changes + _WARM_UP)
    found = []
    total = [0.0] * changes
    for name, compute in _PARTS.items():
        times = _times_ms(view, states, compute)[_WARM_UP:]
        total = [a + b for a, b in zip(total, times, strict=True)]
        found.append(Measurement(f"compute_{name}_p95", quantile(times, 0.95), "ms", changes))
    found.append(Measurement("compute_all_p95", quantile(total, 0.95), "ms", changes))
    return found


def _offer(view: LakeView, state: ExploreState) -> None:
    for name, choices in view.counts.choices(state.selection).items():
        facet_chips(name, choices)
    column_choices(view, state)


_PARTS: dict[str, Callable[[LakeView, ExploreState], object]] = {
    "scatter": scatter,
    "heatmap": heatmap,
    "best": best_table,
    "limit_range": limit_domain,
    "filters": _offer,
}


def _times_ms(
    view: LakeView,
    states: Sequence[ExploreState],
    compute: Callable[[LakeView, ExploreState], object],
) -> list[float]:
    times = []
    for state in states:
        start = time.perf_counter()
        compute(view, state)
        times.append((time.perf_counter() - start) * 1e3)
    return times
