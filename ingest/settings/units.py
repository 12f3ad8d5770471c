"""Units as headings and cells write them: what each measures, and its size in the base unit."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

Quantity = Literal[
    "energy", "power", "time", "frequency", "temperature", "voltage", "current", "charge",
    "bytes", "percent", "rate", "price", "",
]  # fmt: skip
# Units as headings and cells write them (in small letters, but for those below), as they are shown.
_SPELLED: Final = {
    **dict.fromkeys(("j", "joule", "joules"), "J"),
    **dict.fromkeys(("kj", "kilojoule", "kilojoules"), "kJ"),
    **dict.fromkeys(("mj", "millijoule", "millijoules"), "mJ"),
    **dict.fromkeys(("uj", "µj", "μj", "microjoule", "microjoules"), "uJ"),
    **dict.fromkeys(("nj", "nanojoules"), "nJ"),
    **dict.fromkeys(("pj", "picojoules"), "pJ"),
    **dict.fromkeys(("wh", "watthour", "watthours"), "Wh"),
    **dict.fromkeys(("kwh", "kilowatthours"), "kWh"),
    **dict.fromkeys(("uwh", "µwh", "μwh", "microwatthours"), "uWh"),
    **dict.fromkeys(("mwh", "milliwatthours"), "mWh"),
    **dict.fromkeys(("w", "watt", "watts"), "W"),
    **dict.fromkeys(("kw", "kilowatt", "kilowatts"), "kW"),
    **dict.fromkeys(("mw", "milliwatt", "milliwatts"), "mW"),
    **dict.fromkeys(("uw", "µw", "μw", "microwatt", "microwatts"), "uW"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("us", "µs", "μs", "usec", "usecs", "micros", "microseconds"), "us"),
    **dict.fromkeys(("ns", "nsec", "nanos", "nanoseconds"), "ns"),
    **dict.fromkeys(("minutes", "mins"), "min"),
    **dict.fromkeys(("hours", "hrs"), "h"),
    **{"hz": "Hz", "khz": "kHz", "mhz": "MHz", "ghz": "GHz"},
    **dict.fromkeys(("celsius", "degc", "°c", "degrees"), "degC"),
    **dict.fromkeys(("v", "volt", "volts"), "V"),
    **dict.fromkeys(("mv", "millivolts"), "mV"),
    **dict.fromkeys(("uv", "microvolts"), "uV"),
    **dict.fromkeys(("amps", "ampere", "amperes"), "A"),
    **dict.fromkeys(("ma", "milliamps"), "mA"),
    **dict.fromkeys(("ua", "microamps"), "uA"),
    **{"mah": "mAh", "uah": "uAh"},
    **dict.fromkeys(("bytes", "byte"), "B"),
    **{"kb": "kB", "mb": "MB", "gb": "GB", "tb": "TB", "kib": "KiB", "mib": "MiB", "gib": "GiB"},
    **dict.fromkeys(("%", "pct", "percent", "percentage", "perc"), "%"),
    **{"rpm": "rpm", "pps": "packets/s", "kpps": "kpackets/s", "mpps": "Mpackets/s"},
}
# Those of which the case of the letters decides, tried first.
_CASED: Final = {
    **{"MJ": "MJ", "MW": "MW", "MWh": "MWh", "A": "A", "C": "degC", "B": "B", "Ah": "Ah"},
    # Else they would fall to the unit at their end: `energy_nWh`.
    **{f"{prefix}{base}": f"{prefix}{base}" for prefix in "pnGT" for base in ("Wh", "W")},
    **{unit: unit for unit in ("GJ", "kV", "nV", "nA", "kA", "THz", "kAh")},
}
# Names of rates, which are their own units.
RATES: Final = {**dict.fromkeys(("qps", "tps", "rps", "iops"), "1/s"), "fps": "frames/s"}
# Only in brackets: as words they mean something else.
_BRACKETED: Final = {"min": "min", "h": "h", "hr": "h", "sec.": "s"}
# Unit without a prefix: what it measures, and how many of the base unit of that it is.
_BASES: Final[dict[str, tuple[Quantity, float]]] = {
    "J": ("energy", 1), "Wh": ("energy", 3600), "W": ("power", 1), "s": ("time", 1),
    "min": ("time", 60), "h": ("time", 3600), "Hz": ("frequency", 1), "V": ("voltage", 1),
    "A": ("current", 1), "Ah": ("charge", 3600),
}  # fmt: skip
_PREFIXES: Final = {
    "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
}  # fmt: skip
_PLAIN: Final[dict[str, Quantity]] = {
    **{"%": "percent", "rpm": "rate"},
    **dict.fromkeys(("packets/s", "kpackets/s", "Mpackets/s"), "rate"),
}
_BYTES: Final = re.compile(r"[kKMGT]?i?B")
_PRODUCT: Final = re.compile(r"\s*[*·⋅.]\s*|\s+")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit.

    Attributes:
        text: As it is shown: `kWh`, `ms`, `tokens/s`.
        quantity: What it measures; empty if that is unknown.
        scale: How many of the base unit it is: J, W, s, Hz, V, A, A s.
    """

    text: str
    quantity: Quantity = ""
    scale: float = 1.0


@lru_cache(maxsize=1024)
def unit_of(text: str, in_brackets: bool = False) -> Unit | None:
    """Return the unit that a text is; None if it is none."""
    text = text.strip()
    if "/" in text:
        above, _, below = text.rpartition("/")
        under = unit_of(below, in_brackets)
        over = unit_of(above)
        if over is not None and over.quantity == "energy" and under and under.text == "s":
            return Unit("W", "power", over.scale)
        if under is not None:
            return Unit(f"{above.strip()}/{under.text}", "rate")
        return None if over is None else Unit(f"{over.text}/{below.strip()}", "price")
    name = _CASED.get(text) or _SPELLED.get(text.lower())
    name = name or (_BRACKETED.get(text.lower()) if in_brackets else None)
    if name is None:
        parts = [_SPELLED.get(part.lower()) for part in _PRODUCT.split(text)]
        if {*parts} == {"W", "s"}:
            return Unit("J", "energy")
        if {*parts} == {"J", "s"}:
            # An energy-delay product is no energy and no time.
            return Unit("J s")
        if {*parts} == {"W", "h"} or text.lower().replace(" ", "") == "watthour":
            return Unit("Wh", "energy", 3600.0)
        # `Energy (Watt sec)` and `Energy consumed (total, J)`.
        last = text.replace(",", " ").split()[-1] if text else ""
        return unit_of(last) if in_brackets and last != text else None
    if name in _PLAIN:
        return Unit(name, _PLAIN[name])
    if _BYTES.fullmatch(name):
        step = 1024.0 if "i" in name else 1000.0
        return Unit(name, "bytes", step ** " kmgt".index(name[0].lower() if len(name) > 1 else " "))
    if name == "degC":
        return Unit("°C", "temperature")
    if name in _BASES:
        return Unit(name, *_BASES[name])
    quantity, scale = _BASES[name[1:]]
    # Multiplied as decimal numbers are written: 3.6, not 3.6000000000000001.
    return Unit(name, quantity, float(f"{_PREFIXES[name[0]] * scale:.12g}"))
