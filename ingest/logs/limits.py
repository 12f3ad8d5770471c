"""Bounds of a run's data in memory."""

from dataclasses import dataclass
from typing import Final

from ingest.formats.time_order import MOST_WAITING_ROWS
from ingest.lake.run_file import ROW_GROUP_ROWS

_LONGEST_CUT_LINE_BYTES: Final = 1 << 16
_SHORTEST_LINE_BYTES: Final = 28


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Sizes of the pieces in which logs are read, merged and written.

    Attributes:
        block_bytes: Bytes per read of one log.
        least_rows: A core with fewer rows in its queue reads its next block.
        row_group_rows: Interrupts per write.
        piece_samples: Samples per write.
        samples_at_once: Minimum number of waiting samples before they are sorted.
        spool_bytes: Maximum bytes of samples in memory; beyond it they go to the disk.
    """

    block_bytes: int = 1 << 19
    least_rows: int = 1 << 13
    row_group_rows: int = ROW_GROUP_ROWS
    piece_samples: int = 1 << 14
    samples_at_once: int = 1 << 13
    spool_bytes: int = 8 << 20

    @property
    def block_rows(self) -> int:
        """Maximum rows of a block, the line that it completes, and the unsettled rows before."""
        lines = (self.block_bytes + _LONGEST_CUT_LINE_BYTES) // _SHORTEST_LINE_BYTES
        return lines + MOST_WAITING_ROWS

    @property
    def queue_rows(self) -> int:
        """Rows per queue: room to read one block while the rows before it are merged."""
        return self.least_rows + 2 * self.block_rows


DEFAULT_LIMITS: Final = StreamLimits()
