"""The rows of one run's interrupts and samples, out of what its cores' logs gave."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Final

import numpy as np
import pyarrow as pa

from data.schema import INTERRUPTS, RATES, SAMPLES
from ingest import merging
from ingest.core_logs import CoreCut, Cutting

_SPOOL_BYTES: Final = 32 << 20
_COUNTED: Final = SAMPLES.names[4:-1]
_NO_EXTREMES: Final = np.array([np.inf, -np.inf], np.float32)


class SampleSpool:
    """Samples of a run in time order; in memory, and beyond a bound in a nameless file.

    What they mean is known only when all logs are read: whose energy counter stands for its
    package, and whether sleep states are running totals.

    Args:
        folder: Where the file may lie.
        piece_samples: How many samples are in each piece but the last.
    """

    def __init__(self, folder: Path, piece_samples: int) -> None:
        self._folder = folder
        self._piece_samples = piece_samples
        self._full: list[np.ndarray] = []
        self._piece = self._empty_piece()
        self._filled = 0
        self._file: IO[bytes] | None = None
        self._spilled = 0

    def _empty_piece(self) -> np.ndarray:
        return np.empty((1 + len(merging.SAMPLED), self._piece_samples), np.int64)

    def add(self, samples: Sequence[np.ndarray]) -> None:
        """Take further samples, all of them later than those before, as `step_samples` wants them.

        Args:
            samples: Each in time order. Of equal times, the earlier array's come first.
        """
        if not samples:
            return
        joined = np.concatenate(samples, axis=1)
        order = np.argsort(joined[1], kind="stable")
        while order.size:
            now = order[: self._piece_samples - self._filled]
            place = slice(self._filled, self._filled + now.size)
            for row, values in zip(self._piece, joined, strict=True):
                # No index is out of bounds; told so, NumPy writes without a copy between.
                np.take(values, now, out=row[place], mode="clip")
            self._filled += now.size
            order = order[now.size :]
            if self._filled == self._piece_samples:
                self._full.append(self._piece)
                self._piece, self._filled = self._empty_piece(), 0
        if sum(piece.nbytes for piece in self._full) > _SPOOL_BYTES:
            self._spill()

    def _spill(self) -> None:
        if self._file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
        for piece in self._full:
            self._file.write(piece.data)
            self._spilled += 1
        self._file.flush()
        self._full = []

    def pieces(self) -> Iterator[np.ndarray]:
        """All samples in order, int64, shape (12, n); what was given is forgotten here."""
        if self._file is not None:
            self._file.seek(0)
            for _ in range(self._spilled):
                data = self._file.read(self._piece.nbytes)
                yield np.frombuffer(data, np.int64).reshape(self._piece.shape)
        while self._full:
            yield self._full.pop(0)
        if self._filled:
            yield self._piece[:, : self._filled]

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()


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


class SampleSteps:
    """What the samples of a run counted, each since the one before it on its core.

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
        carriers: frozenset[int],
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
        self._is_measured = np.array([_measured(cut, carriers) for cut in cuts]).reshape(shape)
        self._are_totals = are_totals
        self._by = by
        self._mask = (1 << energy_bits) - 1
        self._unit_uj = energy_unit_j * 1e6

    def take(self, run_id: str, samples: np.ndarray) -> Callable[[], pa.Table]:
        """Count the next samples in time order; gives what makes their rows of `samples`."""
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
        return partial(self._table, run_id, samples, steps, is_first)

    def _table(
        self, run_id: str, samples: np.ndarray, steps: np.ndarray, is_first: np.ndarray
    ) -> pa.Table:
        place = samples[0]
        columns: dict[str, pa.Array] = {
            "core": pa.array(self._cores[place]),
            "t_ns": pa.array(samples[1]),
            "dt_ns": pa.array(steps[0], mask=is_first),
        }
        for name in _COUNTED:
            row = merging.SAMPLED.index(name)
            missing = is_first | ~self._is_measured[place, row]
            columns[name] = pa.array(steps[row], mask=missing)
        missing = is_first | ~self._is_measured[place, merging.JOULES]
        columns["energy_uj"] = pa.array(steps[merging.JOULES] * self._unit_uj, mask=missing)
        return rows_of(run_id, columns, SAMPLES)

    def overview_column(
        self, name: str, cuts: Sequence[CoreCut], finest: slice
    ) -> tuple[np.ndarray, np.ndarray]:
        """Some of the finest bins of a column, shape (k, bins), and which cores have it."""
        row = merging.JOULES if name == "energy_uj" else merging.SAMPLED.index(name)
        values: np.ndarray = self.bins[:, merging.SAMPLE_BINS.index(name), finest]
        if name == "energy_uj":
            values = values * self._unit_uj
        enough = np.array([cut.samples > 1 for cut in cuts])
        return values, enough & self._is_measured[:, row]

    def overview_extremes(self, name: str, finest: slice) -> np.ndarray:
        """Least and greatest of a rate in some of the finest bins, shape (k, bins, 2).

        Infinities where a core has none.
        """
        at = RATES.index(name)
        rows = [merging.RATED[at]] if at != merging.IPC else merging.OF_IPC
        has = np.logical_and.reduce(self._is_measured[:, rows], axis=1)
        return np.where(has[:, None, None], self.extremes[:, finest, :, at], _NO_EXTREMES)


def _measured(cut: CoreCut, carriers: frozenset[int]) -> list[bool]:
    """Which rows of `merging.SAMPLED` a core has to say."""
    has = [cut.has(name) for name in merging.SAMPLED]
    has[0] = True
    has[merging.JOULES] = cut.core in carriers
    return has


def rows_of(run_id: str, columns: dict[str, pa.Array], schema: pa.Schema) -> pa.Table:
    """A table of a run's own rows, from all columns but the run's id."""
    zeros = pa.array(np.zeros(len(columns["t_ns"]), np.int8))
    arrays = {"run_id": pa.DictionaryArray.from_arrays(zeros, pa.array([run_id], pa.string()))}
    arrays |= {f.name: columns[f.name] for f in schema if f.name != "run_id"}
    return pa.table(arrays)
