"""Flags of runs that depend on the other runs of a lake: set after the other commits of an `add`.

A run is off its siblings if its energy or a latency is over 5 times, or under a fifth of, the
median of its configuration, of which three or more runs have the value. The flag changes no
decision by itself. Since later runs move a median, each `add` flags the whole lake anew, after the
commits of its rows.
"""

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pd

from data.catalogue import Catalogue
from data.declared import runs_schema
from data.lake_files import local_files
from ingest.lake.state import LakeState

FLAG: Final = "off_siblings"
LEAST_SIBLINGS: Final = 3
MOST_TIMES: Final = 5.0
# Of more rows one column of the key is in memory at a time, of fewer all: a scan has a fixed cost.
_ROWS_AT_ONCE: Final = 100_000
# Of the latencies those that a sound run repeats: the least and the greatest vary by themselves.
_COLUMNS: Final = ("energy_j", "latency_mean_us", "latency_p50_us", "latency_p99_us")


def runs_off_siblings(state: LakeState) -> set[str]:
    """Return the ids of the runs of a lake that are off their siblings."""
    declared = tuple(state.columns.values())
    files = local_files(state.lake / "runs", state.tables["runs"])
    if not files.paths:
        return set()
    keys, values = Catalogue.of(declared).configuration, ["run_id", *_COLUMNS]
    data = pd.dataset(list(files.paths), runs_schema(declared), format="parquet")
    groups = np.zeros(0, np.int64)
    is_small = len(state.runs) <= _ROWS_AT_ONCE
    rows = data.to_table([*keys, *values] if is_small else values)
    for names in [keys] if is_small else [[name] for name in keys]:
        for column in (rows if is_small else data.to_table(names)).select(names).itercolumns():
            encoded = column.combine_chunks().dictionary_encode("encode")
            codes = encoded.indices.to_numpy().astype(np.int64)
            joined = codes if not groups.size else groups * (codes.max(initial=0) + 1) + codes
            groups = np.unique(joined, return_inverse=True)[1]
    is_off = np.zeros(len(rows), bool)
    for name in _COLUMNS:
        is_off |= off_siblings(groups, rows[name].to_numpy())
    return set(rows["run_id"].filter(pa.array(is_off)).to_pylist())


def off_siblings(groups: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Mark the values that are far off the median of their group.

    Args:
        groups: Group of each value, whole numbers from 0, shape (n,).
        values: float64, shape (n,); only those above 0 count, NaN is unknown.

    Returns:
        Boolean mask, shape (n,); False in groups with fewer than `LEAST_SIBLINGS` known values.
    """
    known = np.flatnonzero(values > 0)
    order = known[np.lexsort((values[known], groups[known]))]
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    counts = np.diff(starts, append=len(order))
    low, high = starts + (counts - 1) // 2, starts + counts // 2
    medians = (values[order[low]] + values[order[high]]) / 2
    ratios = values[order] / np.repeat(medians, counts)
    is_off = (ratios > MOST_TIMES) | (ratios < 1 / MOST_TIMES)
    mask = np.zeros(len(values), bool)
    mask[order] = is_off & np.repeat(counts >= LEAST_SIBLINGS, counts)
    return mask
