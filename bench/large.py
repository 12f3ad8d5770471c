"""The pages on a lake of many studies: changes within a study, and to another study."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any, Final

import polars as pl
import pyarrow as pa
from deltalake import write_deltalake

from app.explore.state import ExploreState
from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.modes.layout import IDS as MODES
from app.storage.layout import IDS as STORAGE
from app.storage.layout import PICTURES
from bench.callbacks import FilterChanges, OneCallback, varied_states
from bench.lakes import SEED, write_storage_lake
from bench.network_runs import sample_runs
from bench.report import Measurement, p95_and_median
from bench.served import PeakMemory, Served, serve
from data.selection import Selection
from ingest.lake.tables import compact, create_tables

CHANGE_LIMIT_MS: Final = 150.0
MEMORY_LIMIT_MB: Final = 600.0
STORAGE_CONFIGURATIONS: Final = (12, 16, 5)
_WARM_UP: Final = 5
_VISITED: Final = 20
_METRICS: Final = ("energy_j", "latency_p99_us", "instructions", "edp_js")
_AGAINST: Final = ("latency_p50_us", "duration_s", "interrupts")


def measure(studies: int, runs: int, changes: int, folder: Path | None) -> Iterator[Measurement]:
    """Measure on a lake of several network studies and one storage study.

    Args:
        runs: Rows of each network study.
        changes: Filter changes within one study.
        folder: Folder of the lake, which may exist already; None for a temporary one.
    """
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as work:
        lake = (folder or Path(work)) / "lake"
        if not lake.exists():
            start = time.perf_counter()
            write_large_lake(lake, studies, runs)
            yield Measurement("large_write", time.perf_counter() - start, "s", 1)
        view = Lakes(lake).at(None)
        yield Measurement("large_runs", view.runs, "", 1)
        names = view.outline.filter(~pl.col("is_storage"), pl.col("dataset") != "bench")["dataset"]
        with serve(lake, Path(work) / "app.log") as served, PeakMemory(served) as memory:
            yield from _explore(view, served, names.unique().sort().to_list(), changes)
            yield from _modes_and_storage(served, names[0])
            yield Measurement("large_memory", served.worker_mb(), "MB", 1, MEMORY_LIMIT_MB)
        yield Measurement("large_memory_peak", memory.peak_mb, "MB", 1, MEMORY_LIMIT_MB)


def write_large_lake(lake: Path, studies: int, runs: int) -> None:
    """Write the lake, one commit for each study, then compact it."""
    write_storage_lake(lake, *STORAGE_CONFIGURATIONS)
    for study in range(studies):
        rows = pa.concat_tables(sample_runs(runs, SEED + study))
        name = f"study-{study:03}"
        ids = [f"{name}-{run_id}" for run_id in rows["run_id"].to_pylist()]
        rows = rows.set_column(rows.schema.get_field_index("run_id"), "run_id", pa.array(ids))
        names = pa.array([name] * runs)
        rows = rows.set_column(rows.schema.get_field_index("dataset"), "dataset", names)
        write_deltalake(str(lake / "runs"), rows, mode="append")
    compact(create_tables(lake).values())


def _explore(
    view: LakeView, served: Served, names: Sequence[str], changes: int
) -> Iterator[Measurement]:
    """Measure filter changes in one study, then the first change in several others."""
    visitor = FilterChanges(served.port, view.version)
    states = _states(view, names[-1], changes + _WARM_UP)
    yield Measurement("large_first_view", visitor.time_ms(states[0]), "ms", 1)
    times = [visitor.time_ms(state) for state in states[1:]][_WARM_UP - 1 :]
    yield from p95_and_median("large_filter_change", times, CHANGE_LIMIT_MS)
    others = names[: min(_VISITED, len(names) - 1)]
    times = [visitor.time_ms(_states(view, name, 1)[0]) for name in others]
    yield from p95_and_median("large_other_study", times)
    visitor.close()


def _states(view: LakeView, study: str, count: int) -> list[ExploreState]:
    return varied_states(view.cube_of(Selection.of(dataset=[study])), count)


def _modes_and_storage(served: Served, study: str) -> Iterator[Measurement]:
    """Measure questions that are new each time, so that the app reads the lake again."""
    base = {
        "dataset": [study], "workload": ["memcached"], "load": ["200000"],
        "x": "itr", "y": "dvfs", "who": "system",
    }  # fmt: skip
    questions = [{**base, "metric": m, "against": a} for m, a in product(_METRICS, _AGAINST)]
    modes = OneCallback(served.port, MODES.figure("winners"), MODES)
    yield from _post("large_modes_question", modes, questions)
    depths = range(1, STORAGE_CONFIGURATIONS[1] + 1)
    filters: list[dict[str, Any]] = [
        {"dataset": ["bench"], "err": "ci",
         "depth": [str(d) for d in depths if d != out]} for out in depths
    ]  # fmt: skip
    storage = OneCallback(served.port, PICTURES, STORAGE)
    yield from _post("large_storage_filters", storage, list(islice(filters, _VISITED)))


def _post(name: str, callback: OneCallback, questions: list[dict]) -> Iterator[Measurement]:
    first, *times = [callback.time_ms(raw)[0] for raw in questions]
    callback.close()
    yield Measurement(f"{name}_first", first, "ms", 1)
    yield from p95_and_median(name, times)
