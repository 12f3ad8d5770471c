"""The x axis of a window: time, or the work that a run has done until then.

Runs that are aligned by work stand at the same place where they have done the same work. The
window of each run is the time in which it did the work between the window's ends, so everything
that is read and computed for a window of time stays as it is.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from data.errors import DataError
from data.run_files import RunFacts, RunFiles
from data.timeline.reads import RunReads
from data.timeline.time_cells import fold_starts

_NS: Final = 1e9


@dataclass(frozen=True, slots=True)
class Alignment:
    """What the x axis counts.

    Attributes:
        column: The column of the overview that is summed; empty for time.
        known: The column of a run's facts with its sum, where `column` only shares it out.
        ends: Says where a run ends: `the run lasts 5 s`.
        note: What a reader must know to read it correctly.
    """

    title: str
    unit: str
    column: str = ""
    known: str = ""
    ends: str = "ends at"
    note: str = ""


_WITHIN: Final = "work is spread evenly within the finest bins of a run's overview"
ALIGNMENTS: Final[dict[str, Alignment]] = {
    "time": Alignment("Time", "s", ends="lasts"),
    "rx_bytes": Alignment("Bytes received", "B", "rx_bytes", note=_WITHIN),
    "tx_bytes": Alignment("Bytes sent", "B", "tx_bytes", note=_WITHIN),
    "requests": Alignment(
        "Requests", "requests", "tx_bytes", "requests",
        note=f"logs count no requests: a run's sum is spread over it by bytes sent; {_WITHIN}",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunAxis:
    """Places of one run on the x axis.

    Attributes:
        length_ns: Length of the run.
        done: Work done until the start of each equal bin of the run, and at its end; never
            falling, shape (bins + 1,). None: the axis is time, in seconds.
    """

    length_ns: int
    done: np.ndarray | None = None

    @property
    def end(self) -> float:
        """The place at which the run ends."""
        return self.length_ns / _NS if self.done is None else float(self.done[-1])

    def at(self, t_ns: np.ndarray) -> np.ndarray:
        """Return the places of times."""
        if self.done is None:
            return t_ns / _NS
        places: np.ndarray = np.interp(
            t_ns, np.linspace(0, self.length_ns, len(self.done)), self.done
        )
        return places

    def times_ns(self, from_x: float, to_x: float) -> tuple[int, int]:
        """Return the times between which the run was between two places.

        A time without work belongs to the window that starts at its place; one at the run's end to
        the last window.
        """
        if self.done is None:
            return round(from_x * _NS), round(to_x * _NS)
        return self._reached_ns(from_x), self._reached_ns(to_x)

    def _reached_ns(self, work: float) -> int:
        """Return the first time at which a place is reached; the run's end for all behind it."""
        if self.done is None or work >= self.end:
            return self.length_ns
        behind = int(np.searchsorted(self.done, work, side="left"))
        if not behind:
            return 0
        before, after = self.done[behind - 1 : behind + 1].tolist()
        share = (work - before) / (after - before)
        return round((behind - 1 + share) * self.length_ns / (len(self.done) - 1))

    def fold_starts(self, edges_ns: np.ndarray, most: int) -> np.ndarray:
        """Return the first of each group of joined bins; about `most` groups of equal width on x.

        Bins without work join the next ones, so that every group has a width.
        """
        if self.done is None:
            return fold_starts(len(edges_ns) - 1, most)
        places = self.at(edges_ns)
        width = places[-1] - places[0]
        if not width:
            return np.zeros(1, np.int64)
        slots = np.floor((places[:-1] - places[0]) / width * most)
        starts = np.flatnonzero(np.diff(slots, prepend=-1))
        return starts[places[starts] < places[-1]]


def run_axis(files: RunFiles, facts: RunFacts, align: str) -> RunAxis:
    """Return a run's places on an x axis.

    Args:
        align: One of ALIGNMENTS.

    Raises:
        DataError: The run's log or its row does not know this work.
        LakeError: A file of the run is missing or broken.
    """
    alignment = ALIGNMENTS[align]
    if not alignment.column:
        return RunAxis(facts.length_ns)
    done = RunReads(files, facts).done(alignment.column)
    if not done[-1] > 0:
        counted = ALIGNMENTS[alignment.column].title.lower()
        raise DataError(f"it cannot be aligned: its log has no {counted}; align by time")
    if alignment.known:
        whole = facts.row.get(alignment.known)
        if not whole or not np.isfinite(whole):
            known = f"its {alignment.known} are not known"
            raise DataError(f"it cannot be aligned: {known}; align by time")
        done = done * (whole / done[-1])
    return RunAxis(facts.length_ns, done)
