"""Samples of a run on their way into their file, encoded while the logs are still read.

Whose energy counter stands for its package is known only when all logs are read: that column waits.
"""

import pickle
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import numpy as np
import pyarrow as pa

from data.schema import SAMPLES
from ingest.lake.parquet_file import RowGroup, join_columns
from ingest.lake.tables import RunFile
from ingest.logs import row_loops
from ingest.logs.rows import SampleSteps, Stepped
from ingest.logs.write_queue import WriteQueue

_ENERGY: Final = "energy_uj"
_EARLY: Final = frozenset(SAMPLES.names) - {_ENERGY}
_SPOOL_BYTES: Final = 32 << 20


class SamplesInOrder:
    """Samples of several cores put in time order, in pieces of one size.

    Args:
        piece_samples: How many samples are in each piece but the last.
    """

    def __init__(self, piece_samples: int) -> None:
        self._piece_samples = piece_samples
        self._piece = self._empty_piece()
        self._filled = 0

    def _empty_piece(self) -> np.ndarray:
        return np.empty((1 + len(row_loops.SAMPLED), self._piece_samples), np.int64)

    def add(self, samples: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
        """Take further samples, all of them later than those before; gives the pieces they fill.

        Args:
            samples: Each in time order, as `row_loops.step_samples` wants them. Of equal times, the
                earlier array's come first.
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
                yield self._piece
                self._filled = 0
                self._piece = self._empty_piece()

    def rest(self) -> Iterator[np.ndarray]:
        """The last piece, if there is something in it."""
        if self._filled:
            yield self._piece[:, : self._filled]
            self._filled = 0


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A row group that lacks its energy."""

    groups: Future[list[RowGroup]]
    stepped: Stepped


class SampleRows:
    """Rows of `samples`: encoded without their energy, and completed when it is known.

    What waits is in memory, and beyond a bound in a nameless file.

    Args:
        helpers: Threads that encode.
        folder: Where the file may lie.
        piece_samples: Samples of a row group.
    """

    def __init__(
        self,
        run_id: str,
        steps: SampleSteps,
        file: RunFile,
        helpers: Executor,
        folder: Path,
        piece_samples: int,
    ) -> None:
        self._run_id = run_id
        self._steps = steps
        self._file = file
        self._helpers = helpers
        self._folder = folder
        self._in_order = SamplesInOrder(piece_samples)
        self._waiting: list[_Waiting] = []
        self._waiting_bytes = 0
        self._spool: IO[bytes] | None = None
        self._spilled = 0

    def add(self, samples: Sequence[np.ndarray]) -> None:
        """Count further samples and have them encoded; as `SamplesInOrder.add` wants them."""
        for piece in self._in_order.add(samples):
            self._take(piece)

    def _take(self, piece: np.ndarray) -> None:
        make_rows, stepped = self._steps.take(self._run_id, piece)
        groups = self._helpers.submit(lambda: self._file.encode(make_rows(), _EARLY))
        self._waiting.append(_Waiting(groups, stepped))
        # Encoded columns take less than the samples that they were made of.
        self._waiting_bytes += piece.nbytes // 2
        if self._waiting_bytes > _SPOOL_BYTES:
            self._spill()

    def _spill(self) -> None:
        if self._spool is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._spool = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
        for waiting in self._waiting:
            pickle.dump((waiting.groups.result(), waiting.stepped), self._spool)
            self._spilled += 1
        self._spool.flush()
        self._waiting, self._waiting_bytes = [], 0

    def finish(self, carriers: frozenset[int], writes: WriteQueue) -> None:
        """Complete all rows and send them to their file.

        Args:
            carriers: Cores whose energy counter stands for their package.
        """
        for piece in self._in_order.rest():
            self._take(piece)
        self._steps.settle(carriers)
        if self._spool is not None:
            self._spool.seek(0)
            for _ in range(self._spilled):
                # Ours: written above, into a file that has no name.
                groups, stepped = pickle.load(self._spool)
                writes.send_encoded(self._file, self._completing(groups, stepped))
        while self._waiting:
            waiting = self._waiting.pop(0)
            groups = waiting.groups.result()
            writes.send_encoded(self._file, self._completing(groups, waiting.stepped))
        writes.send_end(self._file)

    def _completing(self, groups: list[RowGroup], stepped: Stepped) -> "_Completing":
        return _Completing(self._file, self._steps, groups, stepped)

    def close(self) -> None:
        """Let go of what waits; nobody touches it on return."""
        for waiting in self._waiting:
            if not waiting.groups.cancel():
                waiting.groups.exception()
        self._waiting = []
        if self._spool is not None:
            self._spool.close()


@dataclass(frozen=True, slots=True)
class _Completing:
    file: RunFile
    steps: SampleSteps
    groups: list[RowGroup]
    stepped: Stepped

    def __call__(self) -> list[RowGroup]:
        energy = pa.table({_ENERGY: self.steps.energy_uj(self.stepped)})
        late = self.file.encode(energy, frozenset((_ENERGY,)))
        return [join_columns(*both) for both in zip(self.groups, late, strict=True)]
