"""The whole state of Storage as a URL query; kept like Explore's (see `url_state.py`).

The selection is a clause of one of two kinds, written by the browser:

    knobs~{"mode":"poll","io_depth":8}     configurations that have these values
    box~VIEW~PANEL~x0~x1~y0~y1             those of the points of a view's panel in a rectangle
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal
from urllib.parse import urlencode

from app.kit.url_codec import (
    Parameters,
    pairs_of,
    read_lake_version,
    read_number,
    read_query,
    write_query,
)
from app.storage.views import BY_NAME
from data.errors import SelectionError
from data.selection import Selection

VERSION: Final = 1
UPGRADERS: Final[dict[int, Callable[[Parameters], Parameters]]] = {}

Spread = Literal["ci", "sd"]
Use = Literal["bandwidth_bytes_s", "iops"]
SPREADS: Final[tuple[Spread, ...]] = ("ci", "sd")
USES: Final[tuple[Use, ...]] = ("bandwidth_bytes_s", "iops")
PICK_MAX_CHARS: Final = 1000
# The knobs that name a configuration.
KNOBS: Final = (
    "dataset", "system", "mode", "device", "rw", "request_bytes", "io_depth", "threads", "dvfs_ghz",
    "rapl_w",
)  # fmt: skip
# Filters of the page: those over its knobs.
FACET_NAMES: Final = (
    "dataset", "device", "rw", "request", "depth", "threads", "system", "mode", "dvfs", "rapl",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StorageState:
    """Everything that decides what Storage shows.

    Attributes:
        at_device: Device of the views that show one; None lets the page choose, as for the next
            two.
        at_rw: Access of these views.
        at_request: Request size of these views, bytes.
        spread: What error bars are: the 95 % confidence interval of the mean, or the standard
            deviation.
        use: What utilisation is a share of.
        pick: The selection as the browser wrote it; empty for none.
        lake_version: A version that the link pins; None for the newest.
    """

    selection: Selection = field(default_factory=Selection)
    at_device: str | None = None
    at_rw: str | None = None
    at_request: float | None = None
    spread: Spread = "ci"
    use: Use = "bandwidth_bytes_s"
    pick: str = ""
    lake_version: int | None = None

    def __post_init__(self) -> None:
        _check("err", self.spread, SPREADS)
        _check("use", self.use, USES)
        if self.at_request is not None and self.at_request <= 0:
            raise SelectionError(f"size is {self.at_request:g}, expected bytes above 0")
        check_pick(self.pick)

    def at(self, device: str | None, rw: str | None, request_bytes: float | None) -> "StorageState":
        """A copy in which the views that show one device, access and size show these."""
        return replace(self, at_device=device, at_rw=rw, at_request=request_bytes)

    def to_query(self) -> str:
        """Write the query string, defaults left out: the same state, the same text."""
        return write_query(VERSION, self.selection, _KEYS, self, _DEFAULT)

    @classmethod
    def from_query(cls, query: str) -> "StorageState":
        """Read a query string, of this version or an older one.

        Raises:
            SelectionError: A version from the future, an unknown key, or a bad value; the message
                names it.
        """
        return cls(**read_query(query, VERSION, UPGRADERS, _KEYS, _parse))

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "StorageState":
        """Read what the page's controls were gathered into."""
        return cls.from_query(urlencode(pairs_of(raw, VERSION)))


def check_pick(text: str) -> None:
    """Refuse a text that is no selection of this page.

    Raises:
        SelectionError: It is not empty and neither of the two kinds; the message has its beginning.
    """
    if text and not (len(text) <= PICK_MAX_CHARS and (_is_knobs(text) or _is_box(text))):
        raise SelectionError(f"the link has a selection that is none: {text[:40]!r}")


def _is_knobs(text: str) -> bool:
    kind, _, rest = text.partition("~")
    if kind != "knobs":
        return False
    try:
        knobs = json.loads(rest)
    except ValueError:
        return False
    plain = (str, int, float, type(None))
    return (
        isinstance(knobs, dict)
        and bool(knobs)
        and set(knobs) <= set(KNOBS)
        and all(isinstance(v, plain) and not isinstance(v, bool) for v in knobs.values())
    )


def _is_box(text: str) -> bool:
    kind, *parts = text.split("~")
    if kind != "box" or len(parts) != 6 or parts[0] not in BY_NAME:
        return False
    try:
        for number in parts[2:]:
            read_number("pick", number)
    except SelectionError:
        return False
    return parts[1].isascii() and parts[1].isdecimal()


def _check(name: str, value: object, known: tuple) -> None:
    if value not in known:
        raise SelectionError(f"{name} is {str(value)[:40]!r}, expected one of {', '.join(known)}")


def _parse(key: str, text: str) -> Any:
    if key == "size":
        return read_number(key, text)
    return read_lake_version(text) if key == "lake" else text


_DEFAULT: Final = StorageState()
_KEYS: Final = {
    "at": "at_device",
    "access": "at_rw",
    "size": "at_request",
    "err": "spread",
    "use": "use",
    "pick": "pick",
    "lake": "lake_version",
}
