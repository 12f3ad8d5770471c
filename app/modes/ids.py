"""Names of the components of Modes that callbacks and scripts refer to."""

from typing import Final

from app.kit import ids

PREFIX: Final = "modes-"

LAKE_VERSION: Final = "modes-lake-version"
PINNED: Final = "modes-browser-state"
VIEW: Final = "modes-view-state"
CHANGED: Final = "modes-view-changed"
TURNED: Final = "modes-turned"
QUERY: Final = "modes-query"
CELLS: Final = "modes-cells"
PICK: Final = "modes-pick"
STATUS: Final = "modes-status"

WINNERS: Final = "winners"
SHARES: Final = "shares"
PARETO: Final = "pareto"
EVIDENCE: Final = "evidence"
GRAPHS: Final = (WINNERS, SHARES, PARETO, EVIDENCE)
STANDINGS: Final = "modes-standings"

X: Final = "modes-x"
Y: Final = "modes-y"
COMPETITOR: Final = "modes-competitor"
METRIC: Final = "modes-metric"
TEST: Final = "modes-test"
CORRECTION: Final = "modes-correction"
LEVEL: Final = "modes-level"
MARGIN: Final = "modes-margin"
AGAINST: Final = "modes-against"
# In the order in which the browser gathers them, and by the keys of the URL.
CONTROLS: Final = {
    "x": X, "y": Y, "who": COMPETITOR, "metric": METRIC, "test": TEST, "corr": CORRECTION,
    "level": LEVEL, "margin": MARGIN, "against": AGAINST,
}  # fmt: skip

FACET_NAMES: Final = ids.FACET_NAMES


def figure(graph: str) -> str:
    """The store of a picture as the server drew it, before the browser dresses it."""
    return f"{graph}-figure"


def facet(name: str) -> str:
    """The chip group of one filter."""
    return PREFIX + ids.facet(name)


def facet_frame(name: str) -> str:
    """The block of one filter."""
    return PREFIX + ids.facet_frame(name)


def facet_count(name: str) -> str:
    """The line that says how much a filter narrows."""
    return PREFIX + ids.facet_count(name)
