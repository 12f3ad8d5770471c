"""The rows of one run's interrupts and samples, out of what its cores' logs gave."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

import numpy as np
import pyarrow as pa

from data.schema import INTERRUPTS, RATES, SAMPLES
from ingest import merging
from ingest.core_logs import CoreCut, Cutting

_COUNTED: Final = SAMPLES.names[4:-1]
_EARLY: Final = pa.schema([field for field in SAMPLES if field.name != "energy_uj"])
_NO_EXTREMES: Final = np.array([np.inf, -np.inf], np.float32)


def interrupts_table(
    run_id: str,
    core: np.ndarray,
    t_ns: np.ndarray,
    descriptors: np.ndarray,
    octets: np.ndarray,
) -> pa.Table:
    """Rows of `interrupts`, from merged columns."""
    columns = {
        "core": core,
        "t_ns": t_ns,
        "rx_desc": descriptors[0],
        "rx_bytes": octets[0],
        "tx_desc": descriptors[1],
        "tx_bytes": octets[1],
    }
    return rows_of(run_id, {name: pa.array(c) for name, c in columns.items()}, INTERRUPTS)


@dataclass(frozen=True, slots=True)
class Stepped:
    """What the energy column of some samples is made of, once it is known whose counters count.

    Attributes:
        place: Each sample's core, by its place among the run's, int16.
        energy: Steps of its energy counter, int64.
        is_first: First of its core: no step.
    """

    place: np.ndarray
    energy: np.ndarray
    is_first: np.ndarray


class SampleSteps:
    """What the samples of a run counted, each since the one before it on its core.

    `settle` says whose energy counter counts; `energy_uj` and the overview need to know.

    Attributes:
        sums: Steps over the window, int64, shape (k, 11), rows as `merging.SAMPLED`.
        falls: How often a counter ran backwards, same shape.
        bins: int64, shape (k, 10, bins), rows as `merging.SAMPLE_BINS`.
        extremes: Least and greatest rates, float32, shape (k, bins, 2, 10), in the order of
            `RATES`; infinities where there is none.
    """

    def __init__(
        self,
        cuts: Sequence[CoreCut],
        are_totals: np.ndarray,
        by: Cutting,
        energy_bits: int,
        energy_unit_j: float,
    ) -> None:
        shape = (len(cuts), len(merging.SAMPLED))
        self.sums, self.falls = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self.bins = np.zeros((len(cuts), len(merging.SAMPLE_BINS), by.counted_bins), np.int64)
        self.extremes = np.empty((len(cuts), by.counted_bins, 2, len(RATES)), np.float32)
        self.extremes[:] = _NO_EXTREMES[:, None]
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
        """Say which cores' energy counters stand for their packages, when all samples are in."""
        self._is_measured = self._columns_there()
        self._is_measured[:, merging.JOULES] = [cut.core in carriers for cut in self._cuts]

    def _columns_there(self) -> np.ndarray:
        """Which rows of `merging.SAMPLED` each core has, shape (k, 11), as far as it was read."""
        names = merging.SAMPLED[1:]
        there = [[True, *(cut.has(name) for name in names)] for cut in self._cuts]
        return np.array(there).reshape(self.sums.shape)

    def take(self, run_id: str, samples: np.ndarray) -> tuple[Callable[[], pa.Table], Stepped]:
        """Count the next samples in time order.

        Returns:
            What makes their rows of `samples` but for the energy, and what that is made of.
        """
        steps = np.empty((len(merging.SAMPLED), samples.shape[1]), np.int64)
        is_first = np.empty(samples.shape[1], bool)
        merging.step_samples(
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
        )
        stepped = Stepped(samples[0].astype(np.int16), steps[merging.JOULES].copy(), is_first)
        there = self._columns_there()
        return partial(self._table, run_id, samples, steps, is_first, there), stepped

    def _table(
        self,
        run_id: str,
        samples: np.ndarray,
        steps: np.ndarray,
        is_first: np.ndarray,
        there: np.ndarray,
    ) -> pa.Table:
        place = samples[0]
        columns: dict[str, pa.Array] = {
            "core": pa.array(self._cores[place]),
            "t_ns": pa.array(samples[1]),
            "dt_ns": pa.array(steps[0], mask=is_first),
        }
        for name in _COUNTED:
            row = merging.SAMPLED.index(name)
            has = there[:, row]
            missing = is_first if has.all() else is_first | ~has[place]
            columns[name] = pa.array(steps[row], mask=missing)
        return rows_of(run_id, columns, _EARLY)

    def energy_uj(self, stepped: Stepped) -> pa.Array:
        """The energy column of some samples; after `settle`."""
        missing = stepped.is_first | ~self._is_measured[stepped.place, merging.JOULES]
        return pa.array(stepped.energy * self._unit_uj, mask=missing)

    def overview_column(
        self, name: str, cuts: Sequence[CoreCut], finest: slice
    ) -> tuple[np.ndarray, np.ndarray]:
        """Some of the finest bins of a column, shape (k, bins), and which cores have it."""
        row = merging.JOULES if name == "energy_uj" else merging.SAMPLED.index(name)
        values: np.ndarray = self.bins[:, merging.SAMPLE_BINS.index(name), finest]
        if name == "energy_uj":
            values = values * self._unit_uj
        enough = np.array([cut.samples > 1 and name not in cut.too_large for cut in cuts])
        return values, enough & self._is_measured[:, row]

    def overview_extremes(self, name: str, finest: slice) -> np.ndarray:
        """Least and greatest of a rate in some of the finest bins, shape (k, bins, 2).

        Infinities where a core has none.
        """
        at = RATES.index(name)
        rows = [merging.RATED[at]] if at != merging.IPC else merging.OF_IPC
        has = np.logical_and.reduce(self._is_measured[:, rows], axis=1)
        return np.where(has[:, None, None], self.extremes[:, finest, :, at], _NO_EXTREMES)


def rows_of(run_id: str, columns: dict[str, pa.Array], schema: pa.Schema) -> pa.Table:
    """A table of a run's own rows, from all columns but the run's id."""
    arrays = {"run_id": _repeated(run_id, len(columns["t_ns"]))}
    arrays |= {f.name: columns[f.name] for f in schema if f.name != "run_id"}
    return pa.table(arrays)


@lru_cache(maxsize=16)
def _repeated(text: str, count: int) -> pa.Array:
    """The same text so many times."""
    zeros = pa.array(np.zeros(count, np.int8))
    return pa.DictionaryArray.from_arrays(zeros, pa.array([text], pa.string()), safe=False)
