"""The big tables of one run out of what its cores' logs gave: samples and overview."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final

import numpy as np
import pyarrow as pa

from data.schema import INTERRUPTS, OVERVIEW, OVERVIEW_LEVELS, SAMPLES
from ingest import merging
from ingest.core_logs import FINEST_BINS, CoreCut, Cutting, bin_starts_ns

_SPOOL_BYTES: Final = 32 << 20
_OVERVIEW_ROWS: Final = 1 << 16
_COUNTED: Final = SAMPLES.names[4:-1]


class SampleSpool:
    """Samples of a run in time order; in memory, and beyond a bound in a nameless file.

    What they mean is known only when all logs are read: whose energy counter stands for its
    package, and whether sleep states are running totals.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: list[np.ndarray] = []
        self._kept_bytes = 0
        self._file: IO[bytes] | None = None
        self._spilled: list[tuple[int, ...]] = []

    def add(self, samples: np.ndarray) -> None:
        """Take further samples, later than all before; as `merging.step_samples` wants them."""
        if not samples.shape[1]:
            return
        self._kept.append(samples)
        self._kept_bytes += samples.nbytes
        if self._kept_bytes > _SPOOL_BYTES:
            self._spill()

    def _spill(self) -> None:
        if self._file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
        for piece in self._kept:
            self._file.write(np.ascontiguousarray(piece).data)
            self._spilled.append(piece.shape)
        self._file.flush()
        self._kept, self._kept_bytes = [], 0

    def pieces(self, rows: int) -> Iterator[np.ndarray]:
        """All samples in pieces of about so many."""
        waiting: list[np.ndarray] = []
        for piece in self._in_order():
            waiting.append(piece)
            if sum(part.shape[1] for part in waiting) >= rows:
                yield np.concatenate(waiting, axis=1)
                waiting = []
        if waiting:
            yield np.concatenate(waiting, axis=1)

    def _in_order(self) -> Iterator[np.ndarray]:
        if self._file is not None:
            self._file.seek(0)
            for shape in self._spilled:
                data = self._file.read(8 * shape[0] * shape[1])
                yield np.frombuffer(data, np.int64).reshape(shape)
        yield from self._kept

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
    rows = _table(run_id, {name: pa.array(c) for name, c in columns.items()}, INTERRUPTS)
    # No column has a NULL, and Parquet then need not say so of every row.
    return pa.table(rows.columns, pa.schema([f.with_nullable(False) for f in rows.schema]))


class SampleSteps:
    """What the samples of a run counted, each since the one before it on its core.

    Attributes:
        sums: Steps over the window, int64, shape (k, 11), rows as `merging.SAMPLED`.
        falls: How often a counter ran backwards, same shape.
        bins: int64, shape (k, 5, FINEST_BINS), rows as `merging.SAMPLE_BINS`.
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
        self.bins = np.zeros((len(cuts), len(merging.SAMPLE_BINS), FINEST_BINS), np.int64)
        self._last = np.full(shape, -1, np.int64)
        self._cores = np.array([cut.core for cut in cuts], np.int32)
        self._is_measured = np.array([_measured(cut, carriers) for cut in cuts]).reshape(shape)
        self._are_totals = are_totals
        self._by = by
        self._mask = (1 << energy_bits) - 1
        self._unit_uj = energy_unit_j * 1e6

    def table(self, run_id: str, samples: np.ndarray) -> pa.Table:
        """Rows of `samples`, from the next samples in time order."""
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
            self._by.edges,
            self.bins,
        )
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
        return _table(run_id, columns, SAMPLES)

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


def _measured(cut: CoreCut, carriers: frozenset[int]) -> list[bool]:
    """Which rows of `merging.SAMPLED` a core has to say."""
    has = [cut.has(name) for name in merging.SAMPLED]
    has[0] = True
    has[merging.JOULES] = cut.core in carriers
    return has


def overview_tables(
    run_id: str, cuts: Sequence[CoreCut], steps: SampleSteps, by: Cutting
) -> Iterator[pa.Table]:
    """Rows of `overview` in pieces: of each level in time order, of each bin in turn all cores."""
    at_once = 1 << (_OVERVIEW_ROWS // len(cuts)).bit_length() - 1
    for bins in OVERVIEW_LEVELS:
        for first in range(0, bins, min(bins, at_once)):
            end = min(first + at_once, bins)
            columns = _overview_columns(cuts, steps, by, bins, slice(first, end))
            yield _table(run_id, columns, OVERVIEW)


def _overview_columns(
    cuts: Sequence[CoreCut], steps: SampleSteps, by: Cutting, bins: int, part: slice
) -> dict[str, pa.Array]:
    n, count = len(cuts), part.stop - part.start
    joined = FINEST_BINS // bins
    finest = slice(part.start * joined, part.stop * joined)
    columns: dict[str, pa.Array] = {
        "level": pa.array(np.full(n * count, bins, np.int32)),
        "core": pa.array(np.tile(np.array([cut.core for cut in cuts], np.int32), count)),
        "bin": pa.array(np.repeat(np.arange(part.start, part.stop, dtype=np.int32), n)),
        "t_ns": pa.array(np.repeat(bin_starts_ns(by.length_ns, bins)[part], n)),
    }
    for row, name in enumerate(merging.INTERRUPT_BINS):
        values = np.stack([cut.interrupt_bins[row, finest] for cut in cuts])
        folded = _fold(values, count, is_most=name.startswith("max_"))
        columns[name] = pa.array(folded.T.ravel())
    for name in merging.SAMPLE_BINS:
        values, has = steps.overview_column(name, cuts, finest)
        folded = _fold(values, count, is_most=False)
        missing = None if has.all() else np.tile(~has, count)
        columns[name] = pa.array(folded.T.ravel(), mask=missing)
    return columns


def _fold(finest: np.ndarray, bins: int, is_most: bool) -> np.ndarray:
    """Join neighbouring bins, shape (k, a multiple of `bins`), into so many."""
    parts = finest.reshape(len(finest), bins, -1)
    folded: np.ndarray = parts.max(axis=2) if is_most else parts.sum(axis=2)
    return folded


def _table(run_id: str, columns: dict[str, pa.Array], schema: pa.Schema) -> pa.Table:
    zeros = pa.array(np.zeros(len(columns["t_ns"]), np.int8))
    arrays = {"run_id": pa.DictionaryArray.from_arrays(zeros, pa.array([run_id], pa.string()))}
    arrays |= {f.name: columns[f.name] for f in schema if f.name != "run_id"}
    return pa.table(arrays)
