"""The whole state of Storage as a URL query (see `kit.url_state`)."""

from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, Literal

from app.kit.clause import read_clause
from app.kit.url_state import (
    Parameter,
    Parameters,
    Upgraders,
    UrlState,
    check_choice,
    read_lake_version,
    read_number,
)
from app.storage.views import BY_NAME
from data.declared import Names, knob_names
from data.errors import SelectionError
from data.selection import Selection, facet_name

Spread = Literal["ci", "sd"]
Use = Literal["bandwidth_bytes_s", "iops"]
SPREADS: Final[tuple[Spread, ...]] = ("ci", "sd")
USES: Final[tuple[Use, ...]] = ("bandwidth_bytes_s", "iops")
_SHIPPED: Final = (
    "dataset", "system", "mode", "device", "rw", "request_bytes", "io_depth", "threads", "dvfs_ghz",
    "rapl_w", "machine",
)  # fmt: skip
_FILTERS: Final = (
    "dataset", "device", "rw", "request", "depth", "threads", "machine", "system", "mode", "dvfs",
    "rapl",
)  # fmt: skip
# The knobs that name a configuration.
KNOBS: Final = Names(lambda columns: (*_SHIPPED, *knob_names(columns)))
# A box of version 1: `panel~VIEW~PANEL~x0~x1~y0~y1`, in the coordinates of a view's n-th panel.
# What these mean is known once the figures are built (`links.py`).
OLD_BOX: Final = "panel"


@dataclass(frozen=True, slots=True)
class StorageState(UrlState):
    """Everything that decides what Storage shows.

    Attributes:
        at_device: Device of the views that show one; None lets the page choose, as for the next
            two.
        at_rw: Access of these views.
        at_request: Request size of these views, bytes.
        spread: What error bars are: the 95 % confidence interval of the mean, or the standard
            deviation.
        use: The metric of which utilisation is a share.
        sel: The selection as a clause (see `kit.clause`); empty for none.
        lake_version: The version that a link pins; None for the newest.
    """

    VERSION: ClassVar[int] = 2
    UPGRADERS: ClassVar[Upgraders] = {1: lambda parameters: _from_version_1(parameters)}
    PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "at": Parameter("at_device"),
        "access": Parameter("at_rw"),
        "size": Parameter("at_request", read_number),
        "err": Parameter("spread"),
        "use": Parameter("use"),
        "sel": Parameter("sel"),
        "lake": Parameter("lake_version", read_lake_version),
    }
    FILTERS: ClassVar = Names(
        lambda columns: (*_FILTERS, *(facet_name(c) for c in columns if c.role == "knob"))
    )

    selection: Selection = field(default_factory=Selection)
    at_device: str | None = None
    at_rw: str | None = None
    at_request: float | None = None
    spread: Spread = "ci"
    use: Use = "bandwidth_bytes_s"
    sel: str = ""
    lake_version: int | None = None

    def __post_init__(self) -> None:
        check_choice("err", self.spread, SPREADS)
        check_choice("use", self.use, USES)
        if self.at_request is not None and self.at_request <= 0:
            raise SelectionError(f"size is {self.at_request:g}, expected bytes above 0")
        if not read_old_box(self.sel):
            read_clause(self.sel)

    def at(self, device: str | None, rw: str | None, request_bytes: float | None) -> "StorageState":
        """A copy in which the views of one device, access and size show these."""
        return replace(self, at_device=device, at_rw=rw, at_request=request_bytes)


def read_old_box(text: str) -> tuple[str, int, tuple[float, ...]] | None:
    """Read a box of version 1 as view, panel and x0, x1, y0, y1; None for any other text.

    Raises:
        SelectionError: It names no view, or a part of it is no number.
    """
    kind, *parts = text.split("~")
    if kind != OLD_BOX:
        return None
    if len(parts) != 6 or parts[0] not in BY_NAME or not parts[1].isdecimal():
        raise SelectionError(f"the selection cannot be read: {text[:40]!r}")
    return parts[0], int(parts[1]), tuple(read_number("sel", part) for part in parts[2:])


def _from_version_1(parameters: Parameters) -> Parameters:
    """`pick` became `sel`; a box was in coordinates of a view."""
    upgraded = {**parameters}
    for text in upgraded.pop("pick", [])[-1:]:
        kind, _, rest = text.partition("~")
        upgraded["sel"] = [f"{OLD_BOX}~{rest}" if kind == "box" else text]
    return upgraded
