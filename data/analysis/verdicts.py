"""Verdicts on claims: parts that hold, nearly hold or do not, with the compared means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, Final

from data.analysis.two_means import TwoMeans
from data.catalogue import SHIPPED
from data.units import format_quantity

HOLDS: Final = "holds"
IN_PART: Final = "holds in part"
NEARLY: Final = "nearly"
DOES_NOT: Final = "does not hold"
UNDECIDED: Final = "cannot be decided"
OUTCOMES: Final = (HOLDS, IN_PART, NEARLY, DOES_NOT, UNDECIDED)
# Ratios of a measured to a printed size that hold, and that nearly hold.
_HOLDS: Final = (0.8, 1.25)
_NEARLY: Final = (2 / 3, 1.5)
# Quantities that are no metric of runs: title and unit.
LOADS_STORES: Final = "loads_stores_per_s"
_OTHERS: Final = {LOADS_STORES: ("loads and stores", "1/s")}

STUDENT: Final = "Student's t"
EQUIVALENCE: Final = "two one-sided Student's t"


class UnmeasuredError(Exception):
    """The lake lacks runs that a rule needs; the message says which."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two means that a rule compares.

    Attributes:
        what: The two groups: `classic polling, interrupt`.
        where: The cell: `depth 1`.
        column: The compared quantity.
        test: Name of the statistical test.
    """

    what: str
    where: str
    column: str
    test: str
    pair: TwoMeans

    @property
    def words(self) -> str:
        """`classic polling, interrupt, depth 1: 120 k/s, 96.4 k/s; n = 10, 10; p < 0.001`."""
        first, second = (format_quantity(mean, unit_of(self.column)) for mean in self.pair.means)
        n = f"n = {self.pair.n[0]}, {self.pair.n[1]}"
        return f"{self.what}, {self.where}: {first}, {second}; {n}; {self.p_words}"

    @property
    def p_words(self) -> str:
        """`p < 0.001`, `p = 0.246`; `no p: no spread` if no value differs from another."""
        if isnan(self.pair.p):
            return "no p: no spread"
        return "p < 0.001" if self.pair.p < 0.001 else f"p = {self.pair.p:.3f}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim, or one part of it, holds for some runs.

    Attributes:
        outcome: One of OUTCOMES.
        words: The reason with its numbers, in one line.
        comparisons: The compared means, if any.
        parts: The verdicts of its parts; empty for a part.
        effect: The measured number that is compared with the printed one; None without.
        n: Runs behind each side of it; empty without.
    """

    outcome: str
    words: str
    comparisons: tuple[Comparison, ...] = ()
    parts: tuple["Verdict", ...] = ()
    effect: float | None = None
    n: tuple[int, ...] = ()

    @property
    def sides(self) -> tuple[int, ...]:
        """Runs behind each side, else the different numbers behind all compared means."""
        return self.n or tuple(dict.fromkeys(k for c in self.comparisons for k in c.pair.n))

    def outcome_words(self, note: str) -> str:
        """Return the outcome, with a warning such as `synthetic data` in the same line."""
        return f"{self.outcome} ({note})" if note and self.outcome != UNDECIDED else self.outcome


def judge(rules: Sequence[Callable[[Any], Verdict]], runs: Any) -> Verdict:
    """Decide a claim by the rules of its parts; a part without the runs for it is undecided."""
    parts = []
    for rule in rules:
        try:
            parts.append(rule(runs))
        except UnmeasuredError as missing:
            parts.append(Verdict(UNDECIDED, str(missing)))
    # Parts may miss the same runs.
    parts = list(dict.fromkeys(parts))
    comparisons = tuple(each for part in parts for each in part.comparisons)
    outcome = combined([part.outcome for part in parts])
    if len(parts) == 1:
        return replace(parts[0], outcome=outcome, comparisons=comparisons)
    detail = "; ".join(
        part.words if outcome == UNDECIDED else f"{part.words}: {part.outcome}" for part in parts
    )
    # The number of a claim in parts is that of its first part with one.
    first = next((part for part in parts if part.effect is not None), parts[0])
    return Verdict(outcome, detail, comparisons, tuple(parts), first.effect, first.n)


def combined(outcomes: Sequence[str]) -> str:
    """Return the outcome of a claim from those of its parts.

    All hold: HOLDS; all hold or nearly: NEARLY; none holds: DOES_NOT; none is decided: UNDECIDED;
    else IN_PART.
    """
    different = set(outcomes)
    if len(different) == 1:
        return outcomes[0]
    if different == {HOLDS, NEARLY}:
        return NEARLY
    return DOES_NOT if different == {DOES_NOT, UNDECIDED} else IN_PART


def size_outcome(ratio: float) -> str:
    """Judge a measured size over the printed one by the two-sided rule."""
    if _HOLDS[0] <= ratio <= _HOLDS[1]:
        return HOLDS
    return NEARLY if _NEARLY[0] <= ratio <= _NEARLY[1] else DOES_NOT


def share_outcome(holding: int, all_cells: int, least: float = 1.0) -> str:
    """Judge a direction by the share of cells in which it holds; in some of them, in part."""
    if holding >= least * all_cells:
        return HOLDS
    return IN_PART if holding else DOES_NOT


def title_of(column: str) -> str:
    """Return the title of a metric, or of loads and stores."""
    return _OTHERS[column][0] if column in _OTHERS else SHIPPED.metrics[column].title


def unit_of(column: str) -> str:
    """Return the unit of a metric, or of loads and stores."""
    return _OTHERS[column][1] if column in _OTHERS else SHIPPED.metrics[column].unit


def plain(
    holds: bool,
    detail: str,
    comparisons: Sequence[Comparison] = (),
    effect: float | None = None,
    n: tuple[int, ...] = (),
) -> Verdict:
    """Return a verdict without degrees."""
    return Verdict(HOLDS if holds else DOES_NOT, detail, tuple(comparisons), effect=effect, n=n)


def by_depth(detail: str, comparisons: Sequence[Comparison], least: float = 1.0) -> Verdict:
    """Judge that the first mean is greater, by the share of depths; reversed at none.

    Raises:
        UnmeasuredError: No pair has a test, because its means are equal and have no spread.
    """
    if all(isnan(compared.pair.p) for compared in comparisons):
        raise UnmeasuredError(f"{detail}: all means are equal and have no spread")
    more = sum(compared.pair.is_more for compared in comparisons)
    less = sum(compared.pair.is_less for compared in comparisons)
    sentence = f"{detail} at {more} of {len(comparisons)} IO depths" + (
        f", less at {less}" if less else ""
    )
    outcome = share_outcome(more, len(comparisons), 2.0 if less else least)
    return Verdict(outcome, sentence, tuple(comparisons))
