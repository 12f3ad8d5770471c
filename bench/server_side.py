"""Time from a filter change to new figures on the server: over HTTP, and of the functions."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from app.explore.answer import best_table, heatmap, limit_domain, scatter
from app.explore.layout import column_choices
from app.explore.state import ExploreState
from app.kit.context import Lakes
from app.kit.filters import facet_chips
from app.kit.lakes import LakeView
from bench.callbacks import FilterChanges
from bench.report import Measurement, quantile
from bench.served import PeakMemory, Served
from bench.states import varied_states
from data.lake_place import LakePath

CHANGE_LIMIT_MS = 100.0
MEMORY_LIMIT_MB = 400.0
_WARM_UP = 5


def measure_server(
    served: Mapping[str, Served], lakes: Mapping[str, LakePath], changes: int
) -> list[Measurement]:
    """Post filter changes to running apps, alternately; yield times and memory.

    Args:
        served: Apps by the prefix of the names of their measurements.
    """
    opened = {prefix: Lakes(lake) for prefix, lake in lakes.items()}
    states, visitors = {}, {}
    for prefix, app in served.items():
        view = opened[prefix].at(None)
        states[prefix] = _states(view, changes + _WARM_UP)
        visitors[prefix] = FilterChanges(app.port, view.version)
    times: dict[str, list[float]] = {prefix: [] for prefix in served}
    cpu_s = dict.fromkeys(served, 0.0)
    with ExitStack() as stack:
        memory = {p: stack.enter_context(PeakMemory(app)) for p, app in served.items()}
        for turn in range(changes + _WARM_UP):
            for prefix, app in served.items():
                opened[prefix].at(None)
                before = app.worker_cpu_s()
                taken = visitors[prefix].time_ms(states[prefix][turn])
                if turn >= _WARM_UP:
                    times[prefix].append(taken)
                    cpu_s[prefix] += app.worker_cpu_s() - before
    for visitor in visitors.values():
        visitor.close()
    return [
        one.prefixed(prefix)
        for prefix, app in served.items()
        for one in _server_measurements(
            times[prefix], cpu_s[prefix] * 1e3, app.worker_mb(), memory[prefix].peak_mb
        )
    ]


def _server_measurements(
    times: list[float], cpu_ms: float, memory_mb: float, peak_mb: float
) -> list[Measurement]:
    n = len(times)
    return [
        Measurement("filter_change_p95", quantile(times, 0.95), "ms", n,
                    CHANGE_LIMIT_MS),
        Measurement("filter_change_median", quantile(times, 0.5), "ms", n),
        Measurement("filter_change_max", max(times), "ms", n),
        Measurement("filter_change_cpu_mean", cpu_ms / n, "ms", n),
        Measurement("worker_memory", memory_mb, "MB", 1,
                    MEMORY_LIMIT_MB),
        Measurement("worker_memory_peak", peak_mb, "MB", n),
    ]  # fmt: skip


def _states(view: LakeView, count: int) -> list[ExploreState]:
    return varied_states(view.cube_of(view.first_study()), count)


def measure_functions(lakes: Mapping[str, Path], changes: int) -> list[Measurement]:
    """Call the functions of the callbacks in sequence in this process, without HTTP or JSON.

    Args:
        lakes: Lakes by the prefix of the names of their measurements; they alternate.
    """
    opened = {prefix: Lakes(lake) for prefix, lake in lakes.items()}
    states = {p: _states(one.at(None), changes + _WARM_UP) for p, one in opened.items()}
    times: dict[str, dict[str, list[float]]] = {p: {name: [] for name in _PARTS} for p in lakes}
    cpu_ms = dict.fromkeys(lakes, 0.0)
    for turn in range(changes + _WARM_UP):
        for prefix, one in opened.items():
            view = one.at(None)
            for name, compute in _PARTS.items():
                start, cpu = time.perf_counter(), time.process_time()
                compute(view, states[prefix][turn])
                if turn >= _WARM_UP:
                    times[prefix][name].append((time.perf_counter() - start) * 1e3)
                    cpu_ms[prefix] += (time.process_time() - cpu) * 1e3
    return [
        one.prefixed(prefix)
        for prefix in lakes
        for one in _function_measurements(times[prefix], cpu_ms[prefix], changes)
    ]


def _function_measurements(
    times: Mapping[str, list[float]], cpu_ms: float, changes: int
) -> list[Measurement]:
    found = [
        Measurement(f"compute_{name}_p95", quantile(each, 0.95), "ms", changes)
        for name, each in times.items()
    ]
    total = [sum(parts) for parts in zip(*times.values(), strict=True)]
    return [
        *found,
        Measurement("compute_all_p95", quantile(total, 0.95), "ms", changes),
        Measurement("compute_all_mean", sum(total) / changes, "ms", changes),
        Measurement("compute_all_cpu_mean", cpu_ms / changes, "ms", changes),
    ]


def _offer(view: LakeView, state: ExploreState) -> None:
    for name, choices in view.counts_of(state.selection).choices(state.selection).items():
        facet_chips(name, choices)
    column_choices(view, state)


_PARTS: dict[str, Callable[[LakeView, ExploreState], object]] = {
    "scatter": scatter,
    "heatmap": heatmap,
    "best": best_table,
    "limit_range": limit_domain,
    "filters": _offer,
}
