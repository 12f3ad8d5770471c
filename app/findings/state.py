"""The state of Findings as a URL query."""

from dataclasses import dataclass
from typing import ClassVar, Final

from app.kit.clause import read_clause
from app.kit.url_state import UrlState, parameter
from app.kit.url_values import read_lake_version, read_number
from data.catalogue import Catalogue
from data.declared import PERFORMANCE
from data.errors import SelectionError
from data.findings import LIMIT

ENERGY: Final = "energy_j"
MOST_BUDGET: Final = 2_000


def _read_count(name: str, text: str) -> int:
    value = read_number(name, text)
    if value != int(value) or not 1 <= value <= MOST_BUDGET:
        raise SelectionError(f"{name} is {text[:40]!r}, expected a number up to {MOST_BUDGET:,}")
    return int(value)


@dataclass(frozen=True, slots=True)
class FindingsState(UrlState):
    """The whole state of Findings.

    Attributes:
        metric: What knobs and next runs are about.
        limited, limit: A metric and its bound, for the energy of workloads whose performance it is;
            `performance` is the tail latency.
        sweep: The choice whose knob and next runs are shown, as `choice_key` writes it; empty lets
            the page choose.
        knob, across: Column of the knob whose effect is drawn, and of the one that colours it;
            empty lets the page choose, or draws one line.
        budget, minutes: Of the list of next runs; None for what is likely to settle the choice.
        since: Version of the lake from which the list of next runs was made; None for this one.
        adjusted: Means of choices whose blocks differ are shown without the blocks' effects too.
        without_odd: Runs far off their replicates are left out of all claims.
        sel, claim: The selected claim's settings, and its id: others have the same settings.
    """

    VERSION: ClassVar = 2

    metric: str = parameter("metric", ENERGY, is_view=True)
    limit: float = parameter("limit", LIMIT[1])
    limited: str = parameter("by", PERFORMANCE)
    sweep: str = parameter("sweep", "", is_view=True)
    knob: str = parameter("knob", "", is_view=True)
    across: str = parameter("across", "", is_view=True)
    budget: int | None = parameter("budget", None, _read_count, is_view=True)
    minutes: float | None = parameter("minutes", None, read_number, is_view=True)
    since: int | None = parameter("since", None, read_lake_version, is_view=True)
    without_odd: bool = parameter("odd", False)
    adjusted: bool = parameter("adjust", False, is_view=True)
    sel: str = parameter("sel", "", is_kept=True)
    claim: str = parameter("claim", "", is_kept=True)

    def __post_init__(self) -> None:
        if not self.limit > 0:
            raise SelectionError(f"limit is {self.limit:g}, expected a number above 0")
        if self.minutes is not None and not self.minutes > 0:
            raise SelectionError(f"minutes is {self.minutes:g}, expected a number above 0")

    def check(self, catalogue: Catalogue) -> None:
        """Refuse columns that the lake lacks, and a selection that cannot be read."""
        for name in (self.metric, self.limited):
            if name != PERFORMANCE and name not in catalogue.plottable:
                raise SelectionError(f"no such metric: {name[:40]!r}")
        for name in (self.knob, self.across):
            if name and name not in catalogue.knob_of_column:
                raise SelectionError(f"no such knob: {name[:40]!r}")
        read_clause(self.sel, catalogue=catalogue)

    @property
    def bound(self) -> tuple[str, float]:
        """The limited metric and its bound."""
        return (LIMIT[0] if self.limited == PERFORMANCE else self.limited, self.limit)
