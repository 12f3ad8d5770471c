"""What a column is taken for, what its numbers say, and how its cells go with other columns."""

import math
import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from data.declared import Role
from ingest.formats.json_cells import Cell
from ingest.formats.trace_counters import POWERCAP_J
from ingest.proposals.heading_roles import Better
from ingest.settings.column_names import WORDS, clean_name
from ingest.settings.headings import Heading

# Of so many steps a setting has its values at most.
MOST_VALUES: Final = 64
# Nobody sets a mean or a deviation, as they may a least and a greatest number.
COMPUTED: Final = WORDS["middles"] | WORDS["spreads"]
_MACHINE: Final = re.compile(rf"(?i)^(?:\w+ )?(?:{'|'.join(WORDS['machines'])}) \([^()]+\)")
_TIMES: Final = ("time", "duration", "runtime", "elapsed", "walltime")
_WRAPS: Final = tuple(float(2**power) for power in range(14, 21))
# Fewer may be multiples of a step by chance.
_FEWEST_MULTIPLES: Final = 4
# Of so many values below 0 at most the rows are odd.
_FEW_BELOW: Final = 0.05
_HZ: Final = {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9}
_CLOCKS_HZ: Final = (1e7, 1e10)
# Seconds since 1970 from 2001 to 2096, in s, ms, us and ns.
_EPOCHS: Final = tuple((1e9 * scale, 4e9 * scale) for scale in (1, 1e3, 1e6, 1e9))


@dataclass(eq=False)
class Guess:
    """What a column is taken for.

    Attributes:
        to: Column of the lake; empty for one of its own.
        scale: Factor of its numbers.
        unit: Of a column of its own, as text.
        values: Replacements of cells.
        why: The evidence.
        is_dropped: Whether it has no value at all.
        is_given: Whether a knob is part of the question: what ran, how much of it.
        is_declared: Whether the settings say it already.
        name: Of a column of its own, whose heading is that of another column of the lake.
        doubt: What is doubted of its unit.
        instead: The unit that it may be in, where it is doubted.
        cells: Of the rows, all of one length in a table.
    """

    heading: Heading
    role: Role
    why: str
    kind: str = "real"
    to: str = ""
    scale: float = 1.0
    unit: str = ""
    better: Better | None = None
    values: dict[str, str] = field(default_factory=dict)
    wraps_at: float | None = None
    is_dropped: bool = False
    quantity: str = ""
    is_given: bool = False
    is_declared: bool = False
    name: str = ""
    doubt: str = ""
    instead: str = ""
    numbers: np.ndarray = field(default_factory=lambda: np.empty(0))
    count: int = 0
    cells: Sequence[Cell] = ()

    @property
    def is_set(self) -> bool:
        """Whether it is a knob with several values."""
        return self.role == "knob" and self.count > 1

    @property
    def title(self) -> str:
        """The heading of a column of its own, without a unit in brackets."""
        text = self.heading.text
        bare = re.sub(r"\s*[(\[{][^()\[\]{}]*[)\]}]\s*$", "", text) if self.heading.unit else ""
        return self.name or bare or text

    @property
    def own_name(self) -> str:
        """The name of a column of its own."""
        return clean_name(self.title, "metric")

    @property
    def kernel(self) -> str:
        """The heading with its numbers as `#`, and with the machine before: `Node (elk) J`."""
        return re.sub(r"\d+", "#", _MACHINE.sub("#", self.heading.text))

    @property
    def middle(self) -> float:
        """The median of the numbers over 0; 0 if none is."""
        positive = self.numbers[self.numbers > 0]
        return float(np.median(positive)) if len(positive) else 0.0

    @property
    def half_step(self) -> float:
        """Half of the last digit with which the numbers were written."""
        ends = (str(cell).partition(".")[2] for cell in self.cells if cell is not None)
        return 0.5 * 10.0 ** -max((len(end) for end in ends if end.isdigit()), default=0)

    def take(self, role: Role, why: str) -> None:
        """Take the column for something else, unless the settings say what it is."""
        if not self.is_declared:
            self.role, self.why = role, why
            self.better = self.better if role == "metric" else None
            self.is_given = self.is_given and role == "knob"

    def doubt_unit(self, doubt: str, instead: str | None = None) -> None:
        """Doubt the unit, if nothing does yet; it may be in the one that is taken, or instead."""
        if not self.doubt:
            self.doubt, self.instead = doubt, self.unit if instead is None else instead

    def aim(self, target: str, why: str = "") -> None:
        """Send the column to one of the lake; with an empty target back."""
        self.to, self.scale = target, self.heading.scale if target else 1.0
        self.why += why


def numbers_of(texts: Sequence[str]) -> np.ndarray | None:
    """Return the numbers that texts are; None if one is a name."""
    try:
        values = np.array([float(text) for text in texts])
    except ValueError:
        return None
    # A text such as 007 is a name.
    if any(re.match(r"[-+]?0\d", text) or "_" in text for text in texts[:100]):
        return None
    return values


def digits_of(text: str) -> int:
    """Return how many digits a fraction has; 0 for a whole number."""
    whole, _, fraction = text.partition(".")
    return len(f"{whole}{fraction.rstrip('0')}".lstrip("-0")) if fraction.strip("0") else 0


def is_even(numbers: np.ndarray) -> bool:
    """Return whether whole numbers are few steps of one size, as people choose them."""
    step = int(np.gcd.reduce(np.abs(numbers).astype(np.int64)))
    return step > 0 and float(numbers.max()) <= MOST_VALUES * step


def are_multiples(numbers: np.ndarray) -> bool:
    """Return whether numbers are a step above 1 and its multiples in order: 5, 10, 15, 20."""
    values = np.unique(numbers)
    is_long = len(values) >= _FEWEST_MULTIPLES and values[0] > 1
    return bool(is_long and np.all(np.diff(values) == values[0]))


def clock_unit(most: float) -> str:
    """Return in which unit clocks of processors and memories have such values at most."""
    return "Hz" if most >= 1e8 else "kHz" if most >= 1e5 else "MHz" if most >= 50 else "GHz"


def is_clock(numbers: np.ndarray) -> bool:
    """Return whether the largest number is of a clock, 10 MHz to 10 GHz, in any unit."""
    most = float(numbers.max())
    return _CLOCKS_HZ[0] <= most * _HZ[clock_unit(most)] <= _CLOCKS_HZ[1]


def are_epochs(heading: Heading, numbers: np.ndarray) -> bool:
    """Return whether numbers below the heading of a time are times since 1970.

    1.7e9 below `time` may be 1.7 s in ns: times since 1970 rise from row to row, or are near. A
    unit that the heading states is theirs: no run takes 31 years.
    """
    unit = heading.unit
    is_time = unit is not None and unit.quantity == "time"
    if not len(numbers) or not (is_time or heading.has(*WORDS["times_of_day"], *_TIMES)):
        return False
    middle, spread = float(np.median(numbers)), float(np.ptp(numbers))
    a_second = next((low / 1e9 for low, high in _EPOCHS if low <= middle <= high), 0.0)
    if not a_second or (unit is not None and not math.isclose(unit.scale * a_second, 1.0)):
        return False
    return is_time or spread < (0.2 if heading.has(*WORDS["times_of_day"]) else 0.01) * middle


def is_less_a_baseline(guess: Guess) -> bool:
    """Return whether more values are below 0 than a sentinel or a counter that wraps leaves so."""
    below = guess.numbers[guess.numbers < 0]
    is_often = len(below) > _FEW_BELOW * len(guess.numbers) and len(np.unique(below)) > 1
    return is_often and not guess.is_declared and wrap_of(guess) is None


def wrap_of(guess: Guess) -> float | None:
    """Return the power of two at which an energy counter wraps, if negative differences say one.

    It is the run's energy or has a unit. Where so few rows wrap, none uses half of its range.
    """
    below = guess.numbers[guess.numbers < 0]
    above = guess.numbers[guess.numbers > 0]
    is_counter = guess.to or guess.unit
    if not (is_counter and len(below) and len(above)) or len(below) > 0.2 * len(guess.numbers):
        return None
    least, most = float(below.min()), float(above.max())
    # Linux' powercap counts uJ, and wraps a little below a power of two of J.
    unit = guess.heading.unit
    is_counted = unit is not None and unit.text == "uJ"
    wraps = [round(each * 1e6) for each in POWERCAP_J] if is_counted else _WRAPS
    fits = (at for at in sorted(wraps) if least + at >= 0 and below.max() + at <= 3 * most)
    at = next(fits, None)
    return at if at is not None and below.max() + at <= at / 2 else None


def statistic_of(heading: Heading) -> tuple[tuple[str, ...], str]:
    """Return the words of a heading without that of a statistic, and this: `PWR_IN_MAX`."""
    words = heading.words
    own = next((word for word in words if word in WORDS["statistics"] | COMPUTED), "")
    return tuple(word for word in words if word != own), own


def decides(cells: Sequence[Hashable], others: Sequence[Hashable]) -> bool:
    """Return whether each value of some cells stands with one value of the others alone."""
    return len({*zip(cells, others, strict=True)}) == len({*cells})


def are_twins(cells: Sequence[Hashable], others: Sequence[Hashable]) -> bool:
    """Return whether two columns say the same, value by value."""
    return decides(cells, others) and decides(others, cells)


def rows_by(columns: Sequence[Sequence[Cell]], rows: Sequence[int]) -> list[list[int]]:
    """Return the rows of each combination of the values of some columns.

    Args:
        rows: Numbers of rows, in the order in which each group has them.
    """
    groups: dict[tuple[Cell, ...], list[int]] = defaultdict(list)
    for row in rows:
        groups[tuple(cells[row] for cells in columns)].append(row)
    return [*groups.values()]
