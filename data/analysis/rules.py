"""The outcomes of a cell, the rules by which its competitors are compared.

Also corrections of p values for many comparisons.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np

from data.analysis.significance import Test
from data.errors import DataError

Correction = Literal["none", "holm", "benjamini-hochberg"]


CORRECTIONS: Final[tuple[Correction, ...]] = ("none", "holm", "benjamini-hochberg")


def corrected(p: np.ndarray, correction: Correction) -> np.ndarray:
    """Correct p values for the number of tests; compare the results with the level directly.

    Args:
        p: Shape (k,); NaN where there was no test, which does not count.

    Returns:
        Shape (k,), at most 1. `holm` bounds the probability of any false win among all tests
        (Holm, Scandinavian Journal of Statistics 6, 1979); `benjamini-hochberg` bounds the share of
        false wins among the wins (Benjamini, Hochberg, J. Royal Statistical Society B 57(1), 1995).
    """
    if correction not in CORRECTIONS:
        raise DataError(f"no correction {correction!r}; known: {', '.join(CORRECTIONS)}")
    tested = ~np.isnan(p)
    if correction == "none" or not tested.any():
        return p.copy()
    order = np.flatnonzero(tested)[np.argsort(p[tested], kind="stable")]
    count, ordered = len(order), p[order]
    if correction == "holm":
        stepped = np.maximum.accumulate(ordered * np.arange(count, 0, -1))
    else:
        shares = ordered * count / np.arange(1, count + 1)
        stepped = np.minimum.accumulate(shares[::-1])[::-1]
    out = np.full(len(p), np.nan)
    out[order] = np.minimum(stepped, 1.0)
    return out


Outcome = Literal[
    "win", "equivalent", "undecided", "tie", "too few", "alone", "over", "differ", "unlike"
]
WIN: Final = "win"
EQUIVALENT: Final = "equivalent"
UNDECIDED: Final = "undecided"
TIE: Final = "tie"
TOO_FEW: Final = "too few"
ALONE: Final = "alone"
OVER: Final = "over"
DIFFER: Final = "differ"
UNLIKE: Final = "unlike"
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
