"""Counter steps of a run's samples: each counts from the previous sample of its core."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from data.analysis.log_metrics import PowerWindows
from data.schema import RATES, SAMPLES
from ingest.lake.run_file import rows_of
from ingest.logs import row_layout, step_loop
from ingest.logs.core_log import CoreCut, Cutting

_COUNTED: Final = SAMPLES.names[4:-1]
_NO_EXTREMES: Final = np.array([np.inf, -np.inf], np.float32)


class SampleSteps:
    """Counter steps of a run's samples: each counts from the previous sample of its core.

    `settle` sets the cores whose energy counts; `energy_uj` and the overview depend on them.

    Attributes:
        sums: Steps over the window, int64, shape (k, 11), rows as `row_layout.SAMPLED`.
        falls: How often each counter ran backwards, same shape.
        power: Of all pieces that `rows` made.
        bins: int64, shape (k, 10, bins), rows as `row_layout.SAMPLE_BINS`.
        extremes: Minimum and maximum rates, float32, shape (k, bins, 2, 10), in the order of
            `RATES`; infinite where there is none.
    """

    def __init__(
        self,
        cuts: Sequence[CoreCut],
        are_totals: np.ndarray,
        by: Cutting,
        energy_bits: int,
        energy_unit_j: float,
    ) -> None:
        shape = (len(cuts), len(row_layout.SAMPLED))
        self.sums, self.falls = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self.bins = np.zeros((len(cuts), len(row_layout.SAMPLE_BINS), by.counted_bins), np.int64)
        self.extremes = np.empty((len(cuts), by.counted_bins, 2, len(RATES)), np.float32)
        self.extremes[:] = _NO_EXTREMES[:, None]
        self.power = PowerWindows(by.length_ns)
        self._last = np.full(shape, -1, np.int64)
        self._last_bin = np.zeros(len(cuts), np.int64)
        self._cores = np.array([cut.core for cut in cuts], np.int32)
        self._cuts = cuts
        self._is_measured = np.zeros(shape, bool)
        self._are_totals = are_totals
        self._by = by
        self._mask = (1 << energy_bits) - 1
        self._unit_uj = energy_unit_j * 1e6

    def settle(self, carriers: frozenset[int]) -> None:
        """Set the cores, one per package, whose counter gives its energy; after the last sample."""
        self._is_measured = self._columns_there()
        self._is_measured[:, row_layout.JOULES] = [cut.core in carriers for cut in self._cuts]

    def _columns_there(self) -> np.ndarray:
        """Return which rows of `row_layout.SAMPLED` each core has so far, shape (k, 11)."""
        names = row_layout.SAMPLED[1:]
        there = [[True, *(cut.has(name) for name in names)] for cut in self._cuts]
        return np.array(there).reshape(self.sums.shape)

    def count(self, samples: np.ndarray) -> pa.RecordBatch:
        """Count the next samples, in time order.

        Returns:
            Columns of `samples` without the run's id and energy, plus `place`, the index of the
            sample's core, and `energy_steps`, which `rows` converts to energy.
        """
        core_index, t_ns = samples[:, 0], samples[:, 1]
        steps = np.empty((len(row_layout.SAMPLED), len(samples)), np.int64)
        is_first = np.empty(len(samples), bool)
        step_loop.step_samples(
            samples,
            self._last,
            self._are_totals,
            self._mask,
            steps,
            is_first,
            self.sums,
            self.falls,
            self._by.counted_edges,
            self.bins,
            self._last_bin,
            self._unit_uj,
            self.extremes,
            np.empty(self.extremes.shape[3], np.float32),
        )
        there = self._columns_there()
        columns = {
            "place": pa.array(core_index.astype(np.int16)),
            "energy_steps": pa.array(steps[row_layout.JOULES], mask=is_first),
            "core": pa.array(self._cores[core_index]),
            "t_ns": pa.array(t_ns.copy()),
            "dt_ns": pa.array(steps[0], mask=is_first),
        }
        for name in _COUNTED:
            row = row_layout.SAMPLED.index(name)
            has = there[:, row]
            missing = is_first if has.all() else is_first | ~has[core_index]
            columns[name] = pa.array(steps[row], mask=missing)
        return pa.record_batch(columns)

    def rows(self, run_id: str, batch: pa.RecordBatch) -> pa.Table:
        """Return rows of `samples` for a batch of `count`; after `settle`, in order of time."""
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        row_index, steps = columns.pop("place").to_numpy(), columns.pop("energy_steps")
        missing = ~self._is_measured[row_index, row_layout.JOULES]
        missing |= steps.is_null().to_numpy(zero_copy_only=False)
        energy_uj = steps.fill_null(0).to_numpy() * self._unit_uj
        columns["energy_uj"] = pa.array(energy_uj, mask=missing)
        own = np.flatnonzero(~missing)
        t_ns, dt_ns = (columns[name].fill_null(0).to_numpy() for name in ("t_ns", "dt_ns"))
        self.power.add(row_index[own], t_ns[own], dt_ns[own], energy_uj[own])
        return rows_of(run_id, columns, SAMPLES)

    def overview_column(self, name: str, finest: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return a slice of a column's finest bins, shape (k, bins), and which cores have it."""
        row = row_layout.JOULES if name == "energy_uj" else row_layout.SAMPLED.index(name)
        values: np.ndarray = self.bins[:, row_layout.SAMPLE_BINS.index(name), finest]
        if name == "energy_uj":
            values = values * self._unit_uj
        enough = np.array([cut.samples > 1 for cut in self._cuts])
        return values, enough & self._is_measured[:, row]

    def overview_extremes(self, name: str, finest: slice) -> np.ndarray:
        """Return minimum and maximum of a rate in a slice of the finest bins, shape (k, bins, 2).

        Infinite where a core has none.
        """
        at = RATES.index(name)
        rows = [row_layout.RATED[at]] if at != row_layout.IPC else row_layout.OF_IPC
        has = np.logical_and.reduce(self._is_measured[:, rows], axis=1)
        return np.where(has[:, None, None], self.extremes[:, finest, :, at], _NO_EXTREMES)
