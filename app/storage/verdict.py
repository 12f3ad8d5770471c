"""Claims with their rules and verdicts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from app.storage.claim_means import ClaimRuns, Comparison
from data.reference.claims import Claim

HOLDS: Final = "holds in this lake"
DOES_NOT: Final = "does not hold"
UNDECIDED: Final = "cannot be decided"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim holds for the runs.

    Attributes:
        outcome: HOLDS, DOES_NOT or UNDECIDED.
        words: The reason, in one line.
        comparisons: The compared means, if any.
    """

    outcome: str
    words: str
    comparisons: tuple[Comparison, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule that decides a claim.

    Attributes:
        view: Name of the view that shows the compared values.
        words: The rule as text.
    """

    view: str
    words: str
    judge: Callable[[ClaimRuns], Verdict]


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its rule and verdict."""

    claim: Claim
    rule: Rule
    verdict: Verdict
