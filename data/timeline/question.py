"""A question about a window of some runs: a value that is checked when it is created."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from data.errors import SelectionError
from data.timeline.alignment import ALIGNMENTS
from data.timeline.quantities import HEAT_CLOCKS, QUANTITIES

MOST_RUNS: Final = 6
# Each chosen core is drawn as its own line.
MOST_CORES: Final = 8
PARTS: Final = ("panels", "heat", "hist", "totals")
# Asked for alone: its windows are finer than the bins of the others.
BANDS: Final = ("bands",)
WIDTHS: Final = (50, 4000)
NO_HEAT: Final = "none"
_CORE_PART: Final = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Question:
    """The request for a window.

    Attributes:
        cores: `all`, `packages`, or a list such as `0,2,5-7`.
        from_x: Place on the x axis, in the unit of `align`: seconds after the start of the run's
            own window, or work done since; None: its start.
        to_x: Place on the x axis; None: the end of the longest run.
        width: Width of a line's plot, pixels.
        panels: Names of QUANTITIES.
        heat: One of HEAT_CLOCKS, or NO_HEAT.
        parts: Some of PARTS, or BANDS: the panels' bands instead of their lines.
        align: One of ALIGNMENTS.
    """

    runs: tuple[str, ...]
    cores: str = "all"
    from_x: float | None = None
    to_x: float | None = None
    width: int = 1000
    panels: tuple[str, ...] = ()
    heat: str = NO_HEAT
    parts: tuple[str, ...] = PARTS
    align: str = "time"

    def __post_init__(self) -> None:
        if not 1 <= len(self.runs) <= MOST_RUNS:
            raise SelectionError(f"{len(self.runs)} runs; expected 1 to {MOST_RUNS}")
        if not WIDTHS[0] <= self.width <= WIDTHS[1]:
            raise SelectionError(f"width is {self.width}, expected {WIDTHS[0]} to {WIDTHS[1]}")
        chosen_cores(self.cores)
        check_window(self.from_x, self.to_x, self.align)
        _check_names("panel", self.panels, QUANTITIES)
        if not self.is_of_bands:
            _check_names("part", self.parts, PARTS)
        _check_names("heatmap of", [self.heat], [NO_HEAT, *HEAT_CLOCKS])

    @property
    def is_of_bands(self) -> bool:
        """Whether bands are asked for."""
        return self.parts == BANDS


def _check_names(kind: str, names: Sequence[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise SelectionError(f"no {kind} {name[:40]!r}; known: {', '.join(known)}")


def check_window(from_x: float | None, to_x: float | None, align: str = "time") -> None:
    """Reject an unknown x axis, and a window that ends before it begins.

    Raises:
        SelectionError: No such axis, or the window ends before it begins.
    """
    _check_names("alignment", [align], ALIGNMENTS)
    unit = ALIGNMENTS[align].unit
    if from_x is not None and to_x is not None and to_x <= from_x:
        raise SelectionError(
            f"the window ends at {to_x:g} {unit}, before it begins at {from_x:g} {unit}"
        )


def chosen_cores(text: str) -> tuple[int, ...] | None:
    """Parse the cores of a list such as `0,2,5-7`, each once.

    Returns:
        None for `all` and `packages`.
    Raises:
        SelectionError: Not such a list, or more than MOST_CORES.
    """
    if text in ("all", "packages"):
        return None
    cores: dict[int, None] = {}
    for part in text.split(","):
        match = _CORE_PART.fullmatch(part.strip())
        if match is None:
            raise SelectionError(
                f"cores is {text[:40]!r}, expected all, packages, or a list such as 0,2,5-7"
            )
        first = int(match[1])
        last = int(match[2] or first)
        if last < first:
            raise SelectionError(f"cores has {part.strip()!r}, which runs backwards")
        if last - first >= MOST_CORES:
            raise SelectionError(f"cores is {text[:40]!r}: {MOST_CORES} cores at most")
        cores |= dict.fromkeys(range(first, last + 1))
    if len(cores) > MOST_CORES:
        raise SelectionError(f"cores names {len(cores)}: {MOST_CORES} at most, each is a line")
    return tuple(cores)
