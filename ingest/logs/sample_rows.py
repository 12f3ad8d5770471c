"""Rows of `samples`: sorted by time, spooled without energy, completed at the end.

Which core's counter gives a package's energy is known only once all logs are read.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from data.errors import LakeError
from ingest.logs import row_layout
from ingest.logs.limits import StreamLimits
from ingest.logs.sample_steps import SampleSteps


class SamplesInOrder:
    """Sorts samples of several cores by time into pieces of one size.

    Args:
        piece_samples: Samples per piece, except the last.
    """

    def __init__(self, piece_samples: int) -> None:
        self._piece_samples = piece_samples
        self._piece = np.empty((piece_samples, 1 + len(row_layout.SAMPLED)), np.int64)
        self._filled = 0

    def add(self, samples: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
        """Add samples, all later than those before, and yield the completed pieces.

        Args:
            samples: Arrays for `step_loop.step_samples`, each in time order. Samples of equal times
                keep the order of the arrays.

        Yields:
            A piece; the next one overwrites it.
        """
        if not samples:
            return
        joined = np.concatenate(samples)
        order = np.argsort(joined[:, 1], kind="stable")
        while order.size:
            now = order[: self._piece_samples - self._filled]
            span = slice(self._filled, self._filled + now.size)
            # All indices are valid; with `clip` NumPy skips the check and its extra copy.
            np.take(joined, now, axis=0, out=self._piece[span], mode="clip")
            self._filled += now.size
            order = order[now.size :]
            if self._filled == self._piece_samples:
                yield self._piece
                self._filled = 0

    def rest(self) -> Iterator[np.ndarray]:
        """Yield the last piece, if it is not empty."""
        if self._filled:
            yield self._piece[: self._filled]
            self._filled = 0


class SampleRows:
    """Counts samples, spools their rows as Arrow IPC, and later gives them their energy.

    Args:
        folder: Folder of the unnamed spool file, used if the spool is large.
    """

    def __init__(self, run_id: str, steps: SampleSteps, folder: Path, limits: StreamLimits) -> None:
        self._run_id = run_id
        self._steps = steps
        self._folder = folder
        self._in_order = SamplesInOrder(limits.piece_samples)
        self._spool = tempfile.SpooledTemporaryFile(  # noqa: SIM115
            limits.spool_bytes, dir=str(folder)
        )
        self._batches: pa.ipc.RecordBatchStreamWriter | None = None

    def add(self, samples: Sequence[np.ndarray]) -> None:
        """Count further samples and spool their rows; input as of `SamplesInOrder.add`.

        Raises:
            LakeError: They cannot be spooled, such as on a full disk.
        """
        for piece in self._in_order.add(samples):
            self._spool_piece(piece)

    def _spool_piece(self, piece: np.ndarray) -> None:
        batch = self._steps.count(piece)
        try:
            if self._batches is None:
                self._batches = pa.ipc.new_stream(self._spool, batch.schema)
            self._batches.write_batch(batch)
        except OSError as error:
            raise LakeError(f"cannot write samples to {self._folder}: {error}") from error

    def finish(self, carriers: frozenset[int]) -> None:
        """Count and spool the last samples, and set whose energy counts.

        Args:
            carriers: The cores, one per package, whose counter gives the package's energy.
        """
        for piece in self._in_order.rest():
            self._spool_piece(piece)
        self._steps.settle(carriers)
        if self._batches is not None:
            self._batches.close()
            self._spool.seek(0)

    def pieces(self) -> Iterator[Callable[[], pa.Table]]:
        """Yield the makers of all rows, in order of time, once they are finished."""
        if self._batches is not None:
            for batch in pa.ipc.open_stream(self._spool):
                yield partial(self._steps.rows, self._run_id, batch)

    def close(self) -> None:
        """Remove the spool."""
        with suppress(OSError):
            self._spool.close()
