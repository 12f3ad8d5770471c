"""What runs say of a claim, and how that is found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from app.storage.claim_means import ClaimRuns, Comparison
from data.reference.claims import Claim

Outcome = Literal["holds in this lake", "does not hold", "cannot be told"]
HOLDS: Final = "holds in this lake"
DOES_NOT: Final = "does not hold"
UNTOLD: Final = "cannot be told"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the runs say of a claim.

    Attributes:
        words: The reason, in a line.
        comparisons: The means behind it, where it compares two.
    """

    outcome: Outcome
    words: str
    comparisons: tuple[Comparison, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """How a claim is judged.

    Attributes:
        view: The view that shows it.
        words: The rule.
    """

    view: str
    words: str
    judge: Callable[[ClaimRuns], Verdict]


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim, its rule, and what the runs say."""

    claim: Claim
    rule: Rule
    verdict: Verdict
