"""Choice of what to read for a window: bins of an overview level, or rows."""

from dataclasses import dataclass
from typing import Final

from data.errors import DataError

# A window with fewer interrupts is answered from rows, whatever its width.
FEW_ROWS: Final = 20_000
# Maximum numbers read: interrupt rows, sample rows, and cells (bins times cores).
MOST_ROWS: Final = 120_000
MOST_SAMPLES: Final = 60_000
MOST_CELLS: Final = 600_000
# Bins that fill this share of the width are fine enough; counters, sampled about every
# millisecond, may have wider bins.
_FILLED: Final = 0.6
_FILLED_COUNTED: Final = 0.25
# With this many counter bins the samples need not be read.
ENOUGH_COUNTED: Final = 200
SAMPLE_NS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class RunShape:
    """The facts that decide how a run is read.

    Attributes:
        levels: Numbers of bins of its overview levels, rising.
        counted: Those levels that have counters.
    """

    length_ns: int
    cores: int
    interrupts: int
    levels: tuple[int, ...]
    counted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a window is answered.

    Attributes:
        from_ns, to_ns: The window, widened to whole bins if bins are read. If it ends with the
            run, it includes the last instant.
        level: Overview level of the interrupts; None: read rows.
        counted: Overview level of the counters; None: read samples.
    """

    from_ns: int
    to_ns: int
    level: int | None
    counted: int | None


def plan_window(run: RunShape, from_ns: int, to_ns: int, width: int) -> Plan:
    """Choose the coarsest bins that fill the width, and widen the window to whole bins.

    Args:
        from_ns, to_ns: Within the run, at least a nanosecond apart.
        width: Maximum number of bins that can be drawn.

    Raises:
        DataError: The window is empty or not within the run.
    """
    if not 0 <= from_ns < to_ns <= run.length_ns:
        raise DataError(f"no window of a run of {run.length_ns} ns: {from_ns} to {to_ns}")
    share = (to_ns - from_ns) / run.length_ns
    level = _interrupts_level(run, share, width)
    counted = _counters_level(run, share, width)
    whole = [one for one in (level, counted) if one is not None]
    if whole:
        coarsest = min(whole)
        first, end = bins_between(run.length_ns, coarsest, from_ns, to_ns)
        from_ns, to_ns = (bin_start(run.length_ns, coarsest, edge) for edge in (first, end))
    return Plan(from_ns, to_ns, level, counted)


def _interrupts_level(run: RunShape, share: float, width: int) -> int | None:
    rows = run.interrupts * share
    if rows <= FEW_ROWS:
        return None
    fitting = [one for one in run.levels if one * share * run.cores <= MOST_CELLS]
    enough = [one for one in fitting if one * share >= _FILLED * width]
    if enough:
        return enough[0]
    if rows <= MOST_ROWS:
        return None
    return max(fitting, default=run.levels[0])


def _counters_level(run: RunShape, share: float, width: int) -> int | None:
    fitting = [one for one in run.counted if one * share * run.cores <= MOST_CELLS]
    enough = [one for one in fitting if one * share >= _FILLED_COUNTED * width]
    if enough:
        return enough[0]
    samples = share * run.length_ns / SAMPLE_NS * run.cores
    if samples <= MOST_SAMPLES and (not fitting or fitting[-1] * share < ENOUGH_COUNTED):
        return None
    return max(fitting, default=run.counted[0])


def bins_between(length_ns: int, level: int, from_ns: int, to_ns: int) -> tuple[int, int]:
    """Return the first bin of a level that a window touches, and the bin after the last."""
    first = from_ns * level // length_ns
    end = to_ns * level // length_ns
    return first, end if bin_start(length_ns, level, end) >= to_ns else end + 1


def bin_start(length_ns: int, level: int, at: int) -> int:
    """Return the first whole nanosecond of a bin."""
    return -(-at * length_ns // level)
