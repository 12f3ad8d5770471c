"""The outcomes of a cell, and the rules by which its competitors are compared."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from data.analysis.corrections import Correction
from data.analysis.significance import Test
from data.errors import DataError

Outcome = Literal["win", "equivalent", "undecided", "tie", "too few", "alone", "over", "differ"]
WIN: Final = "win"
EQUIVALENT: Final = "equivalent"
UNDECIDED: Final = "undecided"
TIE: Final = "tie"
TOO_FEW: Final = "too few"
ALONE: Final = "alone"
OVER: Final = "over"
DIFFER: Final = "differ"
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
# What the runs of a cell prove.
PROVEN: Final = (WIN, EQUIVALENT, DIFFER)

# `sets`: the best sets of both sides, with four outcomes; else a test of the two best settings.
Rule = Literal["sets"] | Test
SETS: Final = "sets"
RULES: Final[tuple[Rule, ...]] = ("sets", "student", "welch", "mann-whitney")


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for comparing the competitors of a cell.

    Attributes:
        alpha: Error of one comparison: between 0 and 1, for `sets` below 0.5.
        margin_pct: Differences within it are equivalent, by `sets`.
    """

    test: Rule = SETS
    correction: Correction = "benjamini-hochberg"
    alpha: float = 0.05
    margin_pct: float = 2.0

    def __post_init__(self) -> None:
        most = 0.5 if self.test == SETS else 1
        if not 0 < self.alpha < most:
            raise DataError(f"alpha is {self.alpha:g}, expected a number between 0 and {most:g}")
        if not 0 < self.margin_pct < 50:
            raise DataError(f"margin is {self.margin_pct:g}, expected a number between 0 and 50")
