"""Time in C-states, as a tool measured it in each interval, by bins of time."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow.compute as pc

from data.run_files import RunFacts, RunFiles
from data.timeline.sample_rates import share_samples
from data.timeline.time_cells import COVERED_NS

CORE_STATES: Final = ("c1", "c1e", "c3", "c6", "c7", "c8", "c9", "c10")
PACKAGE_STATES: Final = ("pc2", "pc3", "pc6", "pc7", "pc8", "pc9", "pc10")
# Quantities of the table `intervals`: percent of an interval.
CORE_RESIDENCIES: Final = tuple(f"{state}_residency_pct" for state in CORE_STATES)
PACKAGE_RESIDENCIES: Final = tuple(f"{state}_residency_pct" for state in PACKAGE_STATES)
RESIDENCIES: Final = (*CORE_RESIDENCIES, *PACKAGE_RESIDENCIES)
_SHARE_OF_PCT: Final = 0.01


def residency_rows(
    files: RunFiles, facts: RunFacts, from_ns: int, to_ns: int, names: Sequence[str] = RESIDENCIES
) -> dict[str, np.ndarray]:
    """Read the intervals that overlap a window, a row each processor and interval.

    Args:
        from_ns, to_ns: Nanoseconds after the run's start.
        names: Some of RESIDENCIES.

    Returns:
        `place` (index of the core), `t_ns` (end of the interval, never falling), `dt_ns`, and each
        name that has values, NaN where a row lacks it. The row of a core has what its package did
        where the tool says it there. Empty if the run has no table `intervals`.

    Raises:
        LakeError: The file is missing or broken.
    """
    if "intervals" not in facts.files or not facts.cores:
        return {}
    overlaps = (
        pc.field("quantity").isin(list(names))
        & pc.field("core").isin(list(facts.cores))
        & (pc.field("t_s") > from_ns / 1e9)
        & (pc.field("t_s") - pc.field("dt_s") < to_ns / 1e9)
    )
    columns = ("t_s", "dt_s", "core", "quantity", "value")
    table = files.file(facts, "intervals").filtered(columns, overlaps)
    read = {name: table[name].to_numpy() for name in ("t_s", "dt_s", "core", "value")}
    quantity = np.array(table["quantity"].to_pylist(), object)
    end_ns = np.round(read["t_s"] * 1e9).astype(np.int64)
    keys, firsts, row = np.unique(
        np.stack([end_ns, read["core"].astype(np.int64)]), axis=1, return_index=True,
        return_inverse=True,
    )  # fmt: skip
    rows = {
        "place": np.searchsorted(np.array(facts.cores), keys[1]),
        "t_ns": keys[0],
        "dt_ns": np.round(read["dt_s"][firsts] * 1e9),
    }
    for name in names:
        if (is_of_it := quantity == name).any():
            rows[name] = np.full(len(firsts), np.nan)
            rows[name][row.ravel()[is_of_it]] = read["value"][is_of_it]
    return rows


def residency_cells(
    files: RunFiles, facts: RunFacts, names: Sequence[str], edges: np.ndarray
) -> dict[str, np.ndarray]:
    """Compute the time in C-states by bins of a window.

    Args:
        names: Some of RESIDENCIES.
        edges: First nanosecond of each bin, and the window's end.

    Returns:
        Nanoseconds in the state, by each name that has values, float64, shape (bins, cores); NaN
        for a core that does not report it.

    Raises:
        LakeError: The file is missing or broken.
    """
    rows = residency_rows(files, facts, int(edges[0]), int(edges[-1]), names)
    steps = {n: rows[n] * _SHARE_OF_PCT * rows["dt_ns"] for n in names if n in rows}
    if not steps:
        return {}
    cores = len(facts.cores)
    cells = share_samples(rows["place"], rows["t_ns"], rows["dt_ns"], steps, cores, edges)
    return {name: values for name, values in cells.values.items() if name != COVERED_NS}
