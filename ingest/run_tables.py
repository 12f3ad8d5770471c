"""The big tables of one run: interrupts and samples in time order over all cores, and overview."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from data.schema import INTERRUPTS, OVERVIEW, OVERVIEW_LEVELS, SAMPLES
from ingest.binning import bin_interrupts, bin_samples, bin_starts_ns, merge_order
from ingest.core_logs import CoreCut, duration_ns
from ingest.records import Window

_OVERVIEW_STEPS: Final = ("energy_uj", "instructions", "cycles", "ref_cycles", "llc_misses")
_INT32_MAX: Final = np.iinfo(np.int32).max


def build_tables(
    run_id: str,
    cuts: Sequence[CoreCut],
    carriers: set[int],
    window: Window,
    tsc_hz: float,
) -> dict[str, pa.Table]:
    """Build `interrupts`, `samples` and `overview` of a run.

    Args:
        cuts: Its cores in order of their numbers, at least one.
        carriers: Cores whose energy counter stands for their package; the other cores of a
            package carry no energy, so that a sum over cores is the run's.
    """
    return {
        "interrupts": _interrupts(run_id, cuts),
        "samples": _samples(run_id, cuts, carriers),
        "overview": _overview(run_id, cuts, carriers, duration_ns(window, tsc_hz)),
    }


def _time_order(times: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """All times end to end, and the order that sorts them."""
    starts = np.concatenate([[0], np.cumsum([len(t) for t in times])])
    joined = np.concatenate(times)
    return joined, merge_order(joined, starts)


def _interrupts(run_id: str, cuts: Sequence[CoreCut]) -> pa.Table:
    times, order = _time_order([cut.t_ns for cut in cuts])
    columns = {
        "core": np.repeat([cut.core for cut in cuts], [len(cut.t_ns) for cut in cuts]),
        "t_ns": times,
        **{
            name: np.concatenate([cut.interrupts[name] for cut in cuts])
            for name in ("rx_desc", "rx_bytes", "tx_desc", "tx_bytes")
        },
    }
    for name in ("rx_desc", "tx_desc"):
        columns[name] = np.clip(columns[name], 0, _INT32_MAX)
    return _table(run_id, {n: pa.array(c[order]) for n, c in columns.items()}, INTERRUPTS)


def _samples(run_id: str, cuts: Sequence[CoreCut], carriers: set[int]) -> pa.Table:
    times, order = _time_order([cut.sample_t_ns for cut in cuts])
    counts = [len(cut.sample_t_ns) for cut in cuts]
    columns: dict[str, pa.Array] = {
        "core": pa.array(np.repeat([cut.core for cut in cuts], counts)[order]),
        "t_ns": pa.array(times[order]),
        "dt_ns": _stepped([np.diff(cut.sample_t_ns) for cut in cuts], counts, order),
    }
    for name in SAMPLES.names[4:]:
        parts = [_measured(cut, name, carriers) for cut in cuts]
        columns[name] = _stepped(parts, counts, order)
    return _table(run_id, columns, SAMPLES)


def _measured(cut: CoreCut, name: str, carriers: set[int]) -> np.ndarray | None:
    if name == "energy_uj" and cut.core not in carriers:
        return None
    return cut.steps.get(name)


def _stepped(
    parts: Sequence[np.ndarray | None], counts: Sequence[int], order: np.ndarray
) -> pa.Array:
    """Steps of each core behind a NULL for its first sample; all NULL for a core without them."""
    kind = next((part.dtype for part in parts if part is not None), np.dtype(np.int64))
    values, missing = np.zeros(sum(counts), kind), np.ones(sum(counts), bool)
    at = 0
    for part, count in zip(parts, counts, strict=True):
        if part is not None and count:
            values[at + 1 : at + count] = part
            missing[at + 1 : at + count] = False
        at += count
    return pa.array(values[order], mask=missing[order])


def _overview(run_id: str, cuts: Sequence[CoreCut], carriers: set[int], length_ns: int) -> pa.Table:
    levels = [_level(cuts, carriers, length_ns, bins) for bins in OVERVIEW_LEVELS]
    return pa.concat_tables([_table(run_id, level, OVERVIEW) for level in levels])


def _level(
    cuts: Sequence[CoreCut], carriers: set[int], length_ns: int, bins: int
) -> dict[str, pa.Array]:
    """One level, in time order: of each bin in turn all the cores."""
    n = len(cuts)
    columns: dict[str, pa.Array] = {
        "level": pa.array(np.full(n * bins, bins)),
        "core": pa.array(np.tile([cut.core for cut in cuts], bins)),
        "bin": pa.array(np.repeat(np.arange(bins), n)),
        "t_ns": pa.array(np.repeat(bin_starts_ns(length_ns, bins), n)),
    }
    folded = [
        bin_interrupts(
            cut.t_ns, cut.interrupts["rx_bytes"], cut.interrupts["tx_bytes"], length_ns, bins
        )
        for cut in cuts
    ]
    for name in folded[0]:
        columns[name] = pa.array(np.stack([core[name] for core in folded], axis=1).ravel())
    sums = [_binned_steps(cut, carriers, length_ns, bins) for cut in cuts]
    for name in _OVERVIEW_STEPS:
        columns[name] = _side_by_side([core.get(name) for core in sums], bins)
    return columns


def _binned_steps(
    cut: CoreCut, carriers: set[int], length_ns: int, bins: int
) -> dict[str, np.ndarray]:
    steps = {
        name: part
        for name in _OVERVIEW_STEPS
        if (part := _measured(cut, name, carriers)) is not None and len(part)
    }
    return bin_samples(cut.sample_t_ns[1:], steps, length_ns, bins)


def _side_by_side(parts: Sequence[np.ndarray | None], bins: int) -> pa.Array:
    kind = next((part.dtype for part in parts if part is not None), np.dtype(np.int64))
    values = [np.zeros(bins, kind) if part is None else part for part in parts]
    missing = [np.full(bins, part is None) for part in parts]
    return pa.array(np.stack(values, axis=1).ravel(), mask=np.stack(missing, axis=1).ravel())


def _table(run_id: str, columns: dict[str, pa.Array], schema: pa.Schema) -> pa.Table:
    zeros = pa.array(np.zeros(len(columns["t_ns"]), np.int8))
    arrays = {"run_id": pa.DictionaryArray.from_arrays(zeros, pa.array([run_id], pa.string()))}
    arrays |= {f.name: columns[f.name].cast(f.type) for f in schema if f.name != "run_id"}
    return pa.table(arrays)
