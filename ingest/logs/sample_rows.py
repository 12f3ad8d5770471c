"""Rows of `samples`: put in time order, spooled without their energy, completed at the end.

Only when all logs are read is known whose energy counter stands for its package.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from data.errors import LakeError
from ingest.lake.run_file import RunFile
from ingest.logs import row_layout
from ingest.logs.limits import StreamLimits
from ingest.logs.sample_steps import SampleSteps
from ingest.logs.write_queue import WriteQueue


class SamplesInOrder:
    """Samples of several cores put in time order, in pieces of one size.

    Args:
        piece_samples: How many samples are in each piece but the last.
    """

    def __init__(self, piece_samples: int) -> None:
        self._piece_samples = piece_samples
        self._piece = np.empty((1 + len(row_layout.SAMPLED), piece_samples), np.int64)
        self._filled = 0

    def add(self, samples: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
        """Take further samples, all of them later than those before; gives the pieces they fill.

        Args:
            samples: Each in time order, as `step_loop.step_samples` wants them. Of equal times, the
                earlier array's come first.

        Yields:
            A piece, which the next one overwrites.
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

    def rest(self) -> Iterator[np.ndarray]:
        """The last piece, if there is something in it."""
        if self._filled:
            yield self._piece[:, : self._filled]
            self._filled = 0


class SampleRows:
    """Counts samples, spools their rows as Arrow IPC, and has them written with their energy.

    Args:
        folder: Where the spool lies if it is large; the file has no name.
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
        """Count further samples and spool their rows; as `SamplesInOrder.add` wants them.

        Raises:
            LakeError: They cannot be spooled, because the disk is full, say.
        """
        for piece in self._in_order.add(samples):
            self._take(piece)

    def _take(self, piece: np.ndarray) -> None:
        batch = self._steps.take(piece)
        try:
            if self._batches is None:
                self._batches = pa.ipc.new_stream(self._spool, batch.schema)
            self._batches.write_batch(batch)
        except OSError as error:
            raise LakeError(f"cannot write samples to {self._folder}: {error}") from error

    def finish(self, carriers: frozenset[int], file: RunFile, writes: WriteQueue) -> None:
        """Have all rows written, and the file sealed.

        Args:
            carriers: Cores whose energy counter stands for their package.
        """
        for piece in self._in_order.rest():
            self._take(piece)
        self._steps.settle(carriers)
        if self._batches is not None:
            self._batches.close()
            self._spool.seek(0)
            for batch in pa.ipc.open_stream(self._spool):
                writes.send(file, partial(self._steps.rows, self._run_id, batch))
        writes.end(file)

    def close(self) -> None:
        """Remove the spool."""
        with suppress(OSError):
            self._spool.close()
