"""A run's `overview` and `histograms`, built from what was counted while its logs were read."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Final

import numpy as np
import pyarrow as pa

from data.analysis.log_bins import SLOTS
from data.schema import (
    COUNTED_INTERRUPTS,
    EXTREMES,
    HISTOGRAM_QUANTITIES,
    HISTOGRAM_STEP,
    HISTOGRAMS,
    OVERVIEW,
    RATES,
    rounded_singles,
)
from ingest.lake.run_file import rows_of
from ingest.logs import row_layout, size_histograms
from ingest.logs.core_log import CoreCut, Cutting, bin_starts_ns
from ingest.logs.sample_steps import SampleSteps

# Several row groups at once spread the fixed cost of the many columns.
_OVERVIEW_ROWS: Final = 1 << 16
STRETCHES_AT_ONCE: Final = 1 << 8
_REDUCERS: Final = {"min": np.min, "max": np.max}

MakeRows = Callable[[], pa.Table]


def overview_tables(
    run_id: str, cuts: Sequence[CoreCut], steps: SampleSteps, by: Cutting
) -> Iterator[MakeRows]:
    """Yield the makers of `overview` in pieces: by level, then time, then core.

    The pieces may be made in any order and in parallel.
    """
    at_once = 1 << (_OVERVIEW_ROWS // len(cuts)).bit_length() - 1
    for bins in by.levels:
        for first in range(0, bins, min(bins, at_once)):
            part = slice(first, min(first + at_once, bins))
            yield partial(_overview_rows, run_id, cuts, steps, by, bins, part)


def _overview_rows(
    run_id: str, cuts: Sequence[CoreCut], steps: SampleSteps, by: Cutting, bins: int, part: slice
) -> pa.Table:
    columns = _places(cuts, by, bins, part)
    columns |= _interrupt_columns(cuts, by.bins // bins, part)
    columns |= _interrupt_extreme_columns(cuts, by.bins // bins, part)
    columns |= _counter_columns(cuts, steps, by.counted_bins // bins, part)
    columns |= _rate_columns(len(cuts), steps, by.counted_bins // bins, part)
    return rows_of(run_id, columns, OVERVIEW)


def _places(cuts: Sequence[CoreCut], by: Cutting, bins: int, part: slice) -> dict[str, pa.Array]:
    n, count = len(cuts), part.stop - part.start
    return {
        "level": pa.array(np.full(n * count, bins, np.int32)),
        "core": pa.array(np.tile(np.array([cut.core for cut in cuts], np.int32), count)),
        "bin": pa.array(np.repeat(np.arange(part.start, part.stop, dtype=np.int32), n)),
        "t_ns": pa.array(np.repeat(bin_starts_ns(by.length_ns, bins)[part], n)),
    }


def _interrupt_columns(cuts: Sequence[CoreCut], joined: int, part: slice) -> dict[str, pa.Array]:
    """Return the columns of interrupts; each bin joins `joined` of the finest."""
    finest = slice(part.start * joined, part.stop * joined)
    columns = {}
    for row, name in enumerate(row_layout.INTERRUPT_BINS):
        is_gap = row in (row_layout.MIN_GAP, row_layout.MAX_GAP)
        values = np.stack([cut.interrupt_bins[row, finest] for cut in cuts])
        folded = _fold(values, joined, np.max if is_gap or name.startswith("max_") else np.sum)
        missing = folded == 0 if is_gap else None
        if row == row_layout.MIN_GAP:
            folded = row_layout.LATEST - folded
        elif row == row_layout.MAX_GAP:
            folded = folded - 1
        columns[name] = pa.array(folded, mask=missing)
    return columns


def _counter_columns(
    cuts: Sequence[CoreCut], steps: SampleSteps, joined: int, part: slice
) -> dict[str, pa.Array]:
    """Return the columns of samples; all NULL in bins finer than the counted ones."""
    n, count = len(cuts), part.stop - part.start
    if not joined:
        kinds = {name: OVERVIEW.field(name).type for name in row_layout.SAMPLE_BINS}
        return {name: _nulls(n * count, kind) for name, kind in kinds.items()}
    finest = slice(part.start * joined, part.stop * joined)
    columns = {}
    for name in row_layout.SAMPLE_BINS:
        values, has = steps.overview_column(name, finest)
        missing = None if has.all() else np.tile(~has, count)
        columns[name] = pa.array(_fold(values, joined, np.sum), mask=missing)
    return columns


def _interrupt_extreme_columns(
    cuts: Sequence[CoreCut], joined: int, part: slice
) -> dict[str, pa.Array]:
    """Return minimum and maximum interrupts per finest bin; NULL on the finest level."""
    n, count = len(cuts), part.stop - part.start
    if joined == 1:
        nothing = _nulls(n * count, pa.int64())
        return {f"{end}_{name}": nothing for name in COUNTED_INTERRUPTS for end in EXTREMES}
    finest = slice(part.start * joined, part.stop * joined)
    row = row_layout.INTERRUPT_BINS.index("interrupts")
    counts = np.stack([cut.interrupt_bins[row, finest] for cut in cuts])
    packages = [cut.package for cut in cuts]
    firsts = {
        "interrupts": list(range(n)),
        "package_interrupts": [packages.index(package) for package in packages],
        "run_interrupts": [0] * n,
    }
    columns = {}
    for name in COUNTED_INTERRUPTS:
        places = sorted(set(firsts[name]))
        members = [np.array(firsts[name]) == place for place in places]
        together = np.stack([counts[of_group].sum(axis=0) for of_group in members])
        for end in EXTREMES:
            values, missing = np.zeros((count, n), np.int64), np.ones((count, n), bool)
            values[:, places] = _fold(together, joined, _REDUCERS[end]).reshape(count, -1)
            missing[:, places] = False
            columns[f"{end}_{name}"] = pa.array(values.ravel(), mask=missing.ravel())
    return columns


def _rate_columns(cores: int, steps: SampleSteps, joined: int, part: slice) -> dict[str, pa.Array]:
    """Return minimum and maximum rates between samples; all NULL where the counters are."""
    if not joined:
        nothing = _nulls(cores * (part.stop - part.start), pa.float32())
        return {f"{end}_{name}": nothing for name in RATES for end in EXTREMES}
    finest = slice(part.start * joined, part.stop * joined)
    columns = {}
    for name in RATES:
        extremes = steps.overview_extremes(name, finest)
        for at, end in enumerate(EXTREMES):
            folded = _fold(extremes[..., at], joined, _REDUCERS[end])
            columns[f"{end}_{name}"] = pa.array(rounded_singles(folded), mask=np.isinf(folded))
    return columns


@lru_cache(maxsize=8)
def _nulls(count: int, kind: pa.DataType) -> pa.Array:
    """Return a column of NULLs; many columns share one."""
    return pa.nulls(count, kind)


def _fold(finest: np.ndarray, joined: int, how: Callable[..., np.ndarray]) -> np.ndarray:
    """Join each `joined` neighbouring bins, shape (k, a multiple), into one; all k rows per bin."""
    if joined == 1:
        return finest.T.ravel()
    folded = how(finest.reshape(len(finest), -1, joined), axis=2)
    return folded.T.ravel()


def histogram_levels(finest: int) -> tuple[int, ...]:
    """Return the numbers of stretches of the histogram levels, rising, from the finest."""
    levels = [finest]
    while levels[-1] >= HISTOGRAM_STEP:
        levels.append(levels[-1] // HISTOGRAM_STEP)
    return tuple(reversed(levels))


def histogram_tables(run_id: str, cuts: Sequence[CoreCut], by: Cutting) -> Iterator[MakeRows]:
    """Yield the makers of `histograms` in pieces: by level, then time, core, quantity and slot."""
    size_words = [cut.finish_sizes() for cut in cuts]
    finest = len(by.stretches) - 1
    for level in histogram_levels(finest):
        joined = finest // level
        at_once = max(STRETCHES_AT_ONCE, joined)
        for first in range(0, finest, at_once):
            ends = np.array([first, first + at_once], np.int64) << size_histograms.STRETCH_SHIFT
            parts = [of_core[slice(*np.searchsorted(of_core, ends))] for of_core in size_words]
            yield partial(_histogram_rows, run_id, cuts, parts, level, joined, by)


def _histogram_rows(
    run_id: str,
    cuts: Sequence[CoreCut],
    size_words: Sequence[np.ndarray],
    level: int,
    joined: int,
    by: Cutting,
) -> pa.Table:
    ends = np.cumsum([len(part) for part in size_words])
    heads = ends - [len(part) for part in size_words]
    histogram = np.empty((5, ends[-1]), np.int64)
    words = np.concatenate(size_words)
    sizes = np.zeros((size_histograms.SIZE_ROWS, SLOTS), np.int64)
    filled = size_histograms.join_words(words, heads, ends, joined, histogram, sizes)
    at, core_index, row, slot, count = histogram[:, :filled]
    cores = np.array([cut.core for cut in cuts], np.int32)
    columns = {
        "level": pa.array(np.full(filled, level, np.int32)),
        "core": pa.array(cores[core_index]),
        "bin": pa.array(at.astype(np.int32)),
        "t_ns": pa.array(bin_starts_ns(by.length_ns, level)[at]),
        "quantity": pa.DictionaryArray.from_arrays(
            pa.array(row.astype(np.int8)), pa.array(HISTOGRAM_QUANTITIES)
        ),
        "slot": pa.array(slot.astype(np.int32)),
        "count": pa.array(count),
    }
    return rows_of(run_id, columns, HISTOGRAMS)
