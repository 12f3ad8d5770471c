"""Explore on a big lake: filter change, calls, first load, selection, memory."""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Final

from app.explore.layout_controls import column_choices
from app.explore.state import ExploreState
from app.explore.views import best_table, limit_domain, picture
from app.kit.context import Lakes
from app.kit.filters import offered_choices, offered_filters
from app.kit.lake_view import LakeView
from bench.callbacks import FilterChanges, varied_states
from bench.in_browser import chromium, measure_first_load, measure_selection
from bench.lakes import write_network_lake
from bench.report import Measurement, p95_and_median, quantile
from bench.served import ROOT, PeakMemory, Served, serve
from data.lake_place import LakePath

CHANGE_LIMIT_MS: Final = 100.0
MEMORY_LIMIT_MB: Final = 400.0
CALLS_LIMIT: Final = 1500
FILES_LIMIT: Final = 25
_WARM_UP: Final = 5
_COUNTED: Final = 20


def measure(
    runs: int, changes: int, loads: int, selections: int, lake: Path | None
) -> Iterator[Measurement]:
    """Measure all parts. A count of 0 skips a part.

    Args:
        runs: Rows of the lake.
        changes: Filter changes.
        loads: First loads of the page.
        selections: Selections in each picture.
        lake: A lake of `write_network_lake`; None writes one.
    """
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as name:
        folder = Path(name)
        path = lake or write_network_lake(folder / "lake", runs)
        if changes:
            yield from _functions(path, changes)
            with serve(path, folder / "app.log") as served:
                yield from measure_changes({"": (path, served)}, changes)
        if loads or selections:
            with serve(path, folder / "app.log") as served, chromium() as browser:
                if loads:
                    yield from measure_first_load(browser, served.address, loads)
                if selections:
                    yield from measure_selection(browser, served.address, runs, selections)


def measure_changes(
    apps: Mapping[str, tuple[LakePath, Served]], changes: int
) -> Iterator[Measurement]:
    """Post filter changes to running apps, by turns; yield times and memory.

    Args:
        apps: Lakes and their apps by the prefix of the names of their measurements.
    """
    visitors, states = {}, {}
    for prefix, (lake, served) in apps.items():
        view = Lakes(lake).at(None)
        visitors[prefix] = FilterChanges(served.port, view.version)
        states[prefix] = first_study_states(view, changes + _WARM_UP)
    times: dict[str, list[float]] = {prefix: [] for prefix in apps}
    cpu_s = dict.fromkeys(apps, 0.0)
    with ExitStack() as stack:
        memory = {p: stack.enter_context(PeakMemory(app)) for p, (_, app) in apps.items()}
        for turn in range(changes + _WARM_UP):
            for prefix, (_, served) in apps.items():
                before_s = served.worker_cpu_s()
                taken_ms = visitors[prefix].time_ms(states[prefix][turn])
                if turn >= _WARM_UP:
                    times[prefix].append(taken_ms)
                    cpu_s[prefix] += served.worker_cpu_s() - before_s
    for prefix, (_, served) in apps.items():
        visitors[prefix].close()
        name = f"{prefix}filter_change"
        yield from p95_and_median(name, times[prefix], CHANGE_LIMIT_MS)
        yield Measurement(f"{name}_max", max(times[prefix]), "ms", changes)
        yield Measurement(f"{name}_cpu_mean", cpu_s[prefix] * 1e3 / changes, "ms", changes)
        memory_mb, peak_mb = served.worker_mb(), memory[prefix].peak_mb
        yield Measurement(f"{prefix}worker_memory", memory_mb, "MB", 1, MEMORY_LIMIT_MB)
        yield Measurement(f"{prefix}worker_memory_peak", peak_mb, "MB", changes)


def first_study_states(view: LakeView, count: int) -> list[ExploreState]:
    """Return states of a visitor who stays in the study that the page shows first."""
    return varied_states(view.cube_of(view.first_study()), count)


def _functions(lake: Path, changes: int) -> Iterator[Measurement]:
    """Call the functions of the callbacks in sequence in this process, without HTTP or JSON."""
    view = Lakes(lake).at(None)
    states = first_study_states(view, changes + _WARM_UP)
    times: dict[str, list[float]] = {name: [] for name in _PARTS}
    cpu_s = 0.0
    for turn, state in enumerate(states):
        for name, compute in _PARTS.items():
            start, start_cpu = time.perf_counter(), time.process_time()
            compute(view, state)
            if turn >= _WARM_UP:
                times[name].append((time.perf_counter() - start) * 1e3)
                cpu_s += time.process_time() - start_cpu
    for name, taken in times.items():
        yield Measurement(f"compute_{name}_p95", quantile(taken, 0.95), "ms", changes)
    total = [sum(parts) for parts in zip(*times.values(), strict=True)]
    yield Measurement("compute_all_p95", quantile(total, 0.95), "ms", changes)
    yield Measurement("compute_all_mean", sum(total) / changes, "ms", changes)
    yield Measurement("compute_all_cpu_mean", cpu_s * 1e3 / changes, "ms", changes)
    yield from _calls(lake, states[_WARM_UP:][:_COUNTED])


def _calls(lake: Path, states: Sequence[ExploreState]) -> Iterator[Measurement]:
    """Count calls of the project's functions for a change, and the files that they are in."""
    view = Lakes(lake).at(None)
    calls, files = [], []
    for state in states:
        counts = _counted_calls(view, state)
        calls.append(counts.total())
        files.append(len(counts))
    n = len(states)
    yield Measurement("filter_change_calls_median", quantile(calls, 0.5), "", n, CALLS_LIMIT)
    yield Measurement("filter_change_files_max", max(files), "", n, FILES_LIMIT)


def _counted_calls(view: LakeView, state: ExploreState) -> Counter[str]:
    """Return the calls by file; comprehensions and module bodies do not count."""
    counts: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_OURS) and code.co_name[0] != "<":
            counts[code.co_filename] += 1

    sys.setprofile(count)
    try:
        for compute in _PARTS.values():
            compute(view, state)
    finally:
        sys.setprofile(None)
    return counts


_OURS: Final = (f"{ROOT}/app/", f"{ROOT}/data/")


def _offer(view: LakeView, state: ExploreState) -> None:
    offered_filters(view, state.selection, offered_choices)
    column_choices(view, state)


_PARTS: Final[dict[str, Callable[[LakeView, ExploreState], object]]] = {
    "scatter": partial(picture, "scatter"),
    "heatmap": partial(picture, "heatmap"),
    "best": best_table,
    "limit_range": limit_domain,
    "filters": _offer,
}
