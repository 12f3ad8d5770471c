"""The state of Distributions as a URL query."""

from dataclasses import dataclass
from typing import ClassVar, Final

from app.kit.clause import read_clause
from app.kit.url_state import Parameter, UrlState, check_choice, read_lake_version
from data.catalogue import Catalogue
from data.distributions import QUANTITIES

NONE: Final = "none"
ITR, SYSTEM = "itr", "system"


@dataclass(frozen=True, slots=True)
class DistributionsState(UrlState):
    """The whole state of Distributions.

    Attributes:
        quantity: A name of QUANTITIES.
        knob: The knob along x.
        split: The knob of which each value has a panel; `none` for one panel.
        sel: A clause of another page's link; only the configurations that it selects are shown.
    """

    VERSION: ClassVar = 2
    UPGRADERS: ClassVar = {1: lambda parameters: parameters}
    KEPT: ClassVar = ()
    PARAMETERS: ClassVar = {
        "what": Parameter("quantity"),
        "x": Parameter("knob"),
        "split": Parameter("split"),
        "sel": Parameter("sel"),
        "lake": Parameter("lake_version", read_lake_version),
    }

    quantity: str = "gap_ns"
    knob: str = ITR
    split: str = SYSTEM
    sel: str = ""

    def __post_init__(self) -> None:
        check_choice("what", self.quantity, QUANTITIES)

    def check(self, catalogue: Catalogue) -> None:
        """Refuse knobs that the lake lacks, and a selection that cannot be read."""
        check_choice("x", self.knob, catalogue.knobs)
        check_choice("split", self.split, (NONE, *catalogue.knobs))
        read_clause(self.sel, catalogue=catalogue)
