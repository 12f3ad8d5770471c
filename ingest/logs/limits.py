"""How much of a run is in memory at once."""

from dataclasses import dataclass
from typing import Final

from ingest.formats.time_order import MOST_WAITING_ROWS
from ingest.lake.run_file import ROW_GROUP_ROWS

_LONGEST_CUT_LINE_BYTES: Final = 1 << 16
_SHORTEST_LINE_BYTES: Final = 28


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Sizes of the parts in which the logs of a run are read, merged and written.

    Attributes:
        block_bytes: Read at once from one log.
        least_rows: A core with fewer rows in its queue is read on.
        row_group_rows: Interrupts that are written at once.
        piece_samples: Samples that are written at once.
        samples_at_once: Samples that must wait before they are put in order.
        spool_bytes: Samples without energy that wait in memory; more wait on the disk.
    """

    block_bytes: int = 1 << 18
    least_rows: int = 1 << 13
    row_group_rows: int = ROW_GROUP_ROWS
    piece_samples: int = 1 << 14
    samples_at_once: int = 1 << 13
    spool_bytes: int = 8 << 20

    @property
    def block_rows(self) -> int:
        """The most rows of a block, of a line that it ends, and of lines that waited before it."""
        lines = (self.block_bytes + _LONGEST_CUT_LINE_BYTES) // _SHORTEST_LINE_BYTES
        return lines + MOST_WAITING_ROWS

    @property
    def queue_rows(self) -> int:
        """Room of a queue: a block is read while the rows before it are merged."""
        return self.least_rows + 2 * self.block_rows


DEFAULT_LIMITS: Final = StreamLimits()
