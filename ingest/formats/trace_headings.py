"""What the columns of a trace are: times, powers, energies, shares, frequencies, devices."""

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

Quantity = Literal["time", "date", "delta", "power", "energy", "busy", "frequency", "device", ""]
Domain = Literal["total", "package", "memory", "gpu", "inside", ""]

_SCALES: Final[dict[Quantity, dict[str, float]]] = {
    "power": {"w": 1, "watt": 1, "watts": 1, "mw": 1e-3, "milliwatts": 1e-3, "uw": 1e-6, "kw": 1e3},
    "energy": {
        **{"j": 1, "joule": 1, "joules": 1, "mj": 1e-3, "uj": 1e-6, "nj": 1e-9, "kj": 1e3},
        **{"wh": 3600, "kwh": 3.6e6, "mwh": 3.6},
    },
    "frequency": {"mhz": 1, "ghz": 1e3, "khz": 1e-3, "hz": 1e-6},
    "time": {**dict.fromkeys(("s", "sec", "secs", "seconds"), 1.0), "min": 60,
             "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "millis": 1e-3, "micros": 1e-6},
    "busy": {"%": 1, "pct": 1, "percent": 1},
}  # fmt: skip
_WORDS: Final[dict[Quantity, frozenset[str]]] = {
    "power": frozenset({"power", "pwr", "watt", "watts"}),
    "energy": frozenset({"energy", "joules", "joule"}),
    "busy": frozenset({"util", "utilization", "utilisation", "usage", "busy", "gputl", "sm"}),
    "frequency": frozenset({"freq", "frequency", "clock", "clk", "sclk", "mhz"}),
}
# What was set or is possible, a property, or a part of a duration; no reading.
_NO_READING: Final = frozenset(
    {"limit", "cap", "factor", "state", "min", "max", "minimum", "maximum", "default", "budget",
     "management", "headroom", "pf", "idle"}
)  # fmt: skip
_TIMES: Final = frozenset(
    {"time", "timestamp", "elapsed", "epoch", "datetime", "ts", "t", "seconds", "sec", "s", "clock",
     "date", "stamp", "since", "start", "unix", "utc", "local", "relative", "sample", "ms", "us",
     "ns", "system", "ipmi", "millis", "micros"}
)  # fmt: skip
_TIME_HEADS: Final = frozenset(
    {"time", "timestamp", "elapsed", "epoch", "datetime", "ts", "t", "seconds", "date", "stamp"}
    | {"millis", "micros"}
)
_PROCESSOR: Final = frozenset({"cpu", "gpu", "processor", "sys", "user"})
_DEVICES: Final = frozenset({"index", "gpu", "idx", "entity", "uuid", "device", "socket", "id"})
_DOMAINS: Final[dict[Domain, frozenset[str]]] = {
    "total": frozenset(
        {"total", "system", "psys", "platform", "wall", "node", "server", "input", "ac", "sum"}
    ),
    "package": frozenset({"package", "pkg", "cpu", "proc", "processor", "socket"}),
    "memory": frozenset({"dram", "mem", "memory", "ram"}),
    "gpu": frozenset({"gpu", "nvidia", "card", "cuda"}),
    "inside": frozenset({"core", "cores", "pp", "uncore", "tile", "ia", "gt", "skt"}),
}
_STATISTICS: Final = frozenset(
    {"average", "avg", "mean", "instant", "instantaneous", "current", "reading", "over", "sample"}
    | {"period", "now"}
)
_TOKEN: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|%")
_IN_BRACKETS: Final = re.compile(r"[(\[]\s*([^)\]]{1,14}?)\s*[)\]]")
# A column of one of several like things, such as `CPU_USAGE_3`.
_NUMBERED: Final = re.compile(r"(.*?\D)[\W_]*(\d{1,4})(\D*)")


class Heading(NamedTuple):
    """What a heading says.

    Attributes:
        quantity: Empty for others.
        scale: Factor to W, J, MHz, percent or seconds.
        has_unit: Whether the heading says the unit.
        domain: Of powers and energies: what of the machine; empty where it is not said.
    """

    quantity: Quantity
    scale: float = 1.0
    has_unit: bool = False
    domain: Domain = ""


# A heading that is a unit.
_UNIT_ALONE: Final = {
    **{"W": Heading("power", 1.0, True, "total"), "mW": Heading("power", 1e-3, True, "total")},
    **{"J": Heading("energy", 1.0, True, "total"), "uJ": Heading("energy", 1e-6, True, "total")},
}


def read_heading(text: str, unit: str = "") -> Heading:
    """Read a heading.

    Args:
        unit: The unit in the column's cells; empty for none.
    """
    found = _IN_BRACKETS.search(text)
    bare = _IN_BRACKETS.sub(" ", text)
    tokens = words_of(text)
    stated = (unit or (found[1] if found else "")).lower()
    last = re.split(r"[^A-Za-z%]+", bare.strip())[-1].lower() if len(tokens) > 1 else ""
    if (alone := _UNIT_ALONE.get(bare.strip())) is not None:
        return alone
    if tokens == ["totec"]:  # DCGM's total energy consumption, mJ.
        return Heading("energy", 1e-3, True, "gpu")
    if tokens and set(tokens) <= _TIMES and _TIME_HEADS.intersection(tokens):
        quantity: Quantity = "date" if tokens == ["date"] else "time"
        scales = _SCALES["time"]
        own = stated or next((token for token in reversed(tokens) if token in scales), "")
        return Heading(quantity, scales.get(own, 1.0), own in scales)
    if tokens in (["delta"], ["interval"], ["dt"]):
        return Heading("delta", _SCALES["time"].get(stated, 1.0), stated in _SCALES["time"])
    if _NO_READING.intersection(tokens):
        return Heading("")
    for quantity in ("energy", "power", "frequency", "busy"):
        scales = _SCALES[quantity]
        own = stated or (last if last in scales and last not in _WORDS[quantity] else "")
        names = _WORDS[quantity].intersection(tokens)
        is_processor = not _PROCESSOR.isdisjoint(tokens)
        is_scaled = own in scales and (quantity != "busy" or names or is_processor)
        if is_scaled or (names and not stated):
            return Heading(quantity, scales.get(own, 1.0), own in scales, _domain(tokens))
    if tokens and set(tokens) <= _DEVICES:
        return Heading("device")
    return Heading("")


def _domain(tokens: Sequence[str]) -> Domain:
    for domain in ("total", "inside", "memory", "package", "gpu"):
        if not _DOMAINS[domain].isdisjoint(tokens):
            return domain
    return "total" if set(tokens) <= {"watts", "power", "w"} else ""


def kernel_of(text: str) -> tuple[str, ...]:
    """Return the words of a heading without those of statistics: equal for one quantity."""
    return tuple(word for word in words_of(text) if word not in _STATISTICS)


def words_of(text: str) -> list[str]:
    """Return the words of a heading in small letters, without what is in brackets."""
    return [word.lower() for word in _TOKEN.findall(_IN_BRACKETS.sub(" ", text))]


def numbered(heading: str) -> tuple[str, int] | None:
    """Return the name and the number of a column of one of several like things; None for others."""
    found = _NUMBERED.fullmatch(heading)
    return (f"{found[1]}{found[3]}".strip(" _-:."), int(found[2])) if found else None
