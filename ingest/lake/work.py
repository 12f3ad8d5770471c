"""The work of runs, in the column `work`: what was fixed, not what came out.

Runs of one workload and load did the same work if they agree in the number of requests, or else in
the duration. Where no number of requests is known, the duration was fixed if at least three runs
agree within 1 % in a round one, and it is not the performance: nearly equal times are results.
Otherwise clusters tell. In an open loop requests follow from the load and the
duration, so runs that took equally long did the same work. In a closed loop runs did the same work
between which no number of requests is over 10 % above the next lower one; and fixed durations show
in clusters of different requests that took equally long. Bytes are not looked at.

The label of a run depends on all runs of its workload. So it is assigned after the other commits of
an `add`, over the whole table, and only rows whose label changes are written.
"""

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pd
from deltalake import DeltaTable

from data.lake_files import local_files
from data.lake_place import LakePath
from data.schema import RUNS
from data.units import is_round_time
from ingest.lake.table_files import set_changed

# Values agree if the highest is at most so many times the lowest.
_AGREE: Final = 1.1
# Of runs without a number of requests, durations that differ by more are results.
_SAME_TIME: Final = 1.01
_FEWEST: Final = 3
_PERFORMANCE: Final = "performance_metric"
_COLUMNS: Final = (
    *("dataset", "workload", "loop", "load_qps", "requests", "duration_s", "work", _PERFORMANCE),
)


class Runs(NamedTuple):
    """Runs of one workload, float64, shape (n,); NaN where unknown or not set."""

    load_qps: np.ndarray
    requests: np.ndarray
    duration_s: np.ndarray

    def at(self, places: np.ndarray) -> "Runs":
        """Return some of the runs."""
        return Runs(*(values[places] for values in self))


class Work(NamedTuple):
    """Runs that did the same work.

    Attributes:
        label: Two significant digits, `100,000 requests` and `30 s`, or the number of requests
            that all have: `262,144 requests`.
        runs: Their places among the runs of the workload.
    """

    label: str
    runs: np.ndarray


def assign_work(lake: LakePath, runs: DeltaTable) -> bool:
    """Label the work of all runs of a lake, in one commit at most.

    Args:
        runs: The table at the version that this process knows; updated to the new version.

    Returns:
        Whether any label changed.

    Raises:
        LakeError: The table cannot be written, or another ingest has committed to it; or a file of
            an object store cannot be copied.
    """
    files = local_files(lake / "runs", runs)
    if not files.paths:
        return False
    schema = pa.schema([RUNS.field(name) for name in _COLUMNS])
    rows = pd.dataset(list(files.paths), schema=schema, format="parquet").to_table()
    labels = np.full(len(rows), None, object)
    keys = [rows[name].combine_chunks().dictionary_encode() for name in ("dataset", "workload")]
    datasets, workloads = (key.indices.to_numpy().astype(np.int64) for key in keys)
    # The indices of the runs of each dataset and workload.
    for here in _groups(datasets * len(keys[1].dictionary) + workloads):
        part = rows.select([*Runs._fields, "loop", _PERFORMANCE]).take(here)
        numbers = (part[name].cast(pa.float64()).to_numpy() for name in Runs._fields)
        known = Runs(*(np.where(np.isfinite(column), column, np.nan) for column in numbers))
        is_open = "open" in part["loop"].unique().to_pylist()
        is_result = "duration_s" in part[_PERFORMANCE].unique().to_pylist()
        for work in works_of(known, is_open, is_result):
            labels[here[work.runs]] = work.label
    column, before = pa.array(labels, pa.string()), rows["work"].combine_chunks()
    are_unlike = pc.fill_null(pc.not_equal(column, before), True)
    is_changed = pc.and_not(are_unlike, pc.and_(column.is_null(), before.is_null()))
    del rows, labels, before
    return set_changed(runs, files.paths, "work", column, is_changed.to_numpy(zero_copy_only=False))


def works_of(runs: Runs, is_open: bool, is_result: bool = False) -> list[Work]:
    """Return the work of the runs of one workload; runs of which nothing was fixed have none.

    Args:
        is_open: Whether requests arrive at a given rate.
        is_result: Whether the duration is the performance of the workload.

    Returns:
        Each run at most once; the same runs and labels whatever the order of the runs.
    """
    if label := _fixed(runs, is_open, is_result):
        return [Work(label, np.arange(len(runs.requests)))]
    if is_open:
        return [
            Work(_label(runs.duration_s[cluster], "s"), cluster)
            for cluster in _clusters(runs.duration_s)
            if len(cluster) > 1
        ]
    works = []
    for here in _groups(runs.load_qps):
        if label := _fixed(runs.at(here), is_open, is_result):
            works.append(Work(label, here))
        else:
            works += [Work(label, here[own]) for label, own in _closed(runs.at(here))]
    return works


def _fixed(runs: Runs, is_open: bool, is_result: bool) -> str | None:
    """Return the work of runs that all agree; one run does not show that its duration was fixed."""
    requests, duration_s = runs.requests, runs.duration_s
    by_requests = _label(requests, "requests") if _agree(requests) else None
    if is_open or np.any(requests > 0):
        is_same_time = len(duration_s) > 1 and _agree(duration_s)
    else:
        is_same_time = not is_result and len(duration_s) >= _FEWEST and _is_set(duration_s)
    by_duration = _label(duration_s, "s") if is_same_time else None
    return (by_duration or by_requests) if is_open else (by_requests or by_duration)


def _is_set(duration_s: np.ndarray) -> bool:
    """Return whether durations agree in a round one: 0.00033 s is none, 120 s and 15 min are."""
    if not _agree(duration_s, _SAME_TIME):
        return False
    return is_round_time(float(np.median(duration_s)))


def _closed(runs: Runs) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the clusters of requests of one load, each with the label of its work."""
    clusters = _clusters(runs.requests)
    steady = [cluster for cluster in clusters if _agree(runs.duration_s[cluster])]
    middles = np.array([np.median(runs.duration_s[cluster]) for cluster in steady])
    labels = {id(own): _label(runs.requests[own], "requests") for own in clusters}
    for alike in _clusters(middles):
        durations = np.concatenate([runs.duration_s[steady[place]] for place in alike])
        if len(alike) > 1 and _agree(durations):
            labels |= {id(steady[place]): _label(durations, "s") for place in alike}
    yield from ((labels[id(own)], own) for own in clusters)


def _agree(values: np.ndarray, within: float = _AGREE) -> bool:
    """Return whether all values are known, and the highest is at most so many times the lowest."""
    return bool(len(values) and values.min() > 0 and values.max() <= within * values.min())


def _clusters(values: np.ndarray) -> list[np.ndarray]:
    """Return the places of known values, ascending, split where the next is over 10 % higher."""
    order = np.argsort(values, kind="stable")[: np.count_nonzero(values > 0)]
    ordered = values[order]
    parts = np.split(order, np.flatnonzero(ordered[1:] > _AGREE * ordered[:-1]) + 1)
    return [part for part in parts if len(part)]


def _label(values: np.ndarray, unit: str) -> str:
    # A number of requests that several runs have alike was set: it is exact.
    if unit == "requests" and 1 < len(values) == np.count_nonzero(values == values[0]):
        return f"{values[0]:,.0f} {unit}"
    if _agree(values):
        return f"{_written(float(np.median(values)))} {unit}"
    return f"{_written(values.min())} to {_written(values.max())} {unit}"


def _written(value: float) -> str:
    """Write a number above 0 with two significant digits."""
    digits = 1 - math.floor(math.log10(value))
    rounded = round(value, digits)
    return f"{rounded:,.0f}" if rounded == round(rounded) else f"{rounded:.{digits}f}".rstrip("0")


def _groups(values: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the places of each value; NaN is one."""
    _, codes = np.unique(values, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
