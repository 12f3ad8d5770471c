"""Rows of `interrupts`: the queues of all cores merged by time, one row group at a time."""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from data.analysis.log_metrics import BurstCounts
from data.schema import INTERRUPTS
from ingest.lake.run_file import RunFile, rows_of
from ingest.logs import merge_loop
from ingest.logs.core_log import CoreCut, Queues
from ingest.logs.write_queue import WriteQueue


class _Columns:
    """Buffers for one row group."""

    def __init__(self, rows: int) -> None:
        self.core = np.empty(rows, np.int32)
        self.t_ns = np.empty(rows, np.int64)
        self.descriptors = np.empty((2, rows), np.int32)
        self.octets = np.empty((2, rows), np.int64)
        self.filled = 0

    @property
    def is_full(self) -> bool:
        return self.filled == len(self.t_ns)

    def table(self, run_id: str) -> pa.Table:
        """Return the rows as a table of `interrupts`."""
        columns = {
            "core": self.core,
            "t_ns": self.t_ns,
            "rx_desc": self.descriptors[0],
            "rx_bytes": self.octets[0],
            "tx_desc": self.descriptors[1],
            "tx_bytes": self.octets[1],
        }
        arrays = {name: pa.array(column[: self.filled]) for name, column in columns.items()}
        return rows_of(run_id, arrays, INTERRUPTS)


class InterruptRows:
    """Merges queues into one row group while the previous one is written.

    Args:
        at_once: Rows per row group.
        bursts: Count all rows.
    """

    def __init__(
        self,
        run_id: str,
        cuts: Sequence[CoreCut],
        file: RunFile,
        writes: WriteQueue,
        at_once: int,
        bursts: Iterable[BurstCounts] = (),
    ) -> None:
        self._run_id = run_id
        self._cores = np.array([cut.core for cut in cuts], np.int32)
        self._file = file
        self._writes = writes
        self._bursts = bursts
        self._tree = np.empty(4 * len(cuts), np.int64), np.empty(len(cuts), np.int64)
        self._now, self._other = _Columns(at_once), _Columns(at_once)

    def merge(self, queues: Queues, ends: np.ndarray) -> None:
        """Merge each queue up to its index in `ends`."""
        while (queues.heads < ends).any():
            now = self._now
            now.filled = merge_loop.merge_rows(
                queues.rows,
                queues.heads,
                ends,
                self._cores,
                now.core,
                now.t_ns,
                now.descriptors,
                now.octets,
                now.filled,
                *self._tree,
            )
            if now.is_full:
                self._send()

    def finish(self) -> None:
        """Write the remaining rows and seal the file."""
        if self._now.filled:
            self._send()
        self._writes.end(self._file)

    def _send(self) -> None:
        for counts in self._bursts:
            counts.add(self._now.t_ns[: self._now.filled])
        # `send` returns once the other buffers are written and can be reused.
        self._writes.send(self._file, partial(self._now.table, self._run_id))
        self._now, self._other = self._other, self._now
        self._now.filled = 0
