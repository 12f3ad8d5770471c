"""Counts of values by size for stretches of a run, read from its `histograms`."""

from collections.abc import Sequence

import numpy as np

from data.analysis.log_bins import SLOTS
from data.run_files import BigFile
from data.schema import HISTOGRAM_QUANTITIES

# Counts by slot, int64, shape (SLOTS,), of each quantity.
Sizes = dict[str, np.ndarray]


def stretch_sizes(
    file: BigFile, parts: Sequence[tuple[int, int, int]], cores: Sequence[int] | None
) -> tuple[Sizes, int]:
    """Sum the counts of ranges of stretches.

    Args:
        parts: From `whole_stretches`.
        cores: Cores to count; None for all.

    Returns:
        The counts, and the number of rows that they come from.
    """
    (low, high), (least, most) = file.spans["level"], file.spans["bin"]
    hits = [
        (low <= level) & (high >= level) & (most >= first) & (least < end)
        for level, first, end in parts
    ]
    groups = np.flatnonzero(np.any(hits, axis=0)).tolist()
    names = ("level", "bin", "quantity", "slot", "count", *(() if cores is None else ("core",)))
    read = file.read(groups, names)
    is_in = np.zeros(len(read["level"]), bool)
    for level, first, end in parts:
        is_in |= (read["level"] == level) & (read["bin"] >= first) & (read["bin"] < end)
    if cores is not None:
        is_in &= np.isin(read["core"], cores)
    kind = read["quantity"][is_in] * SLOTS + read["slot"][is_in]
    counts = np.bincount(kind, read["count"][is_in], len(HISTOGRAM_QUANTITIES) * SLOTS)
    tables = counts.astype(np.int64).reshape(len(HISTOGRAM_QUANTITIES), SLOTS)
    return dict(zip(HISTOGRAM_QUANTITIES, tables, strict=True)), int(is_in.sum())


def whole_stretches(levels: Sequence[int], first: int, end: int) -> list[tuple[int, int, int]]:
    """Cover stretches of the finest level by as few stretches of all levels as possible.

    Args:
        levels: Rising, each a multiple of the one before.
        first, end: Range on the finest level, `end` exclusive.

    Returns:
        Level, first and end of each range of stretches.
    """
    if first >= end:
        return []
    if len(levels) == 1:
        return [(levels[0], first, end)]
    joined = levels[-1] // levels[-2]
    inner, outer = -(-first // joined), end // joined
    if inner >= outer:
        return [(levels[-1], first, end)]
    parts = [(levels[-1], first, inner * joined), *whole_stretches(levels[:-1], inner, outer)]
    parts.append((levels[-1], outer * joined, end))
    return [part for part in parts if part[1] < part[2]]
