"""Units as headings and cells write them: what each measures, and its size in the base unit."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

Quantity = Literal[
    "energy", "power", "time", "frequency", "temperature", "voltage", "current", "charge",
    "bytes", "percent", "rate", "price", "",
]  # fmt: skip
_PREFIXES: Final = {
    "": 1.0, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
    "Ki": 1024.0, "Mi": 1024.0**2, "Gi": 1024.0**3,
}  # fmt: skip
# Words of prefixes, as in `millijoules` and `milli_joules`.
PREFIX_WORDS: Final = {
    "": "", "pico": "p", "nano": "n", "micro": "u", "milli": "m", "kilo": "k", "mega": "M",
    "giga": "G", "tera": "T",
}  # fmt: skip
_UNIT_WORDS: Final = {
    "joule": "J", "watthour": "Wh", "watt": "W", "second": "s", "hertz": "Hz", "volt": "V",
    "ampere": "A",
}  # fmt: skip
_SYMBOLS: Final = {
    "J": ("", "p", "n", "u", "m", "k"), "Wh": ("", "u", "m", "k"), "W": ("", "u", "m", "k"),
    "s": ("", "n", "u", "m"), "Hz": ("", "k", "M", "G"), "V": ("", "u", "m"), "A": ("u", "m"),
    "Ah": ("u", "m"),
}  # fmt: skip
# Units as headings and cells write them (in small letters, but for those below), as they are shown.
_SPELLED: Final = {
    **{f"{p}{unit}".lower(): f"{p}{unit}" for unit, prefixes in _SYMBOLS.items() for p in prefixes},
    **{
        f"{word}{unit}{plural}": f"{prefix}{_UNIT_WORDS[unit]}"
        for word, prefix in PREFIX_WORDS.items()
        for unit in _UNIT_WORDS
        for plural in ("", "s")
    },
    **{f"{p}sec{plural}": f"{p}s" for p in _SYMBOLS["s"] for plural in ("", "s")},
    **{"millis": "ms", "micros": "us", "nanos": "ns", "mins": "min", "minutes": "min"},
    **{"hours": "h", "hrs": "h", "amps": "A", "milliamps": "mA", "microamps": "uA"},
    **dict.fromkeys(("celsius", "degc", "°c", "degrees"), "°C"),
    **dict.fromkeys(("bytes", "byte"), "B"),
    **{"kb": "kB", "mb": "MB", "gb": "GB", "tb": "TB", "kib": "KiB", "mib": "MiB", "gib": "GiB"},
    **dict.fromkeys(("%", "pct", "percent", "percentage", "perc"), "%"),
    **{"rpm": "rpm", "pps": "packets/s", "kpps": "kpackets/s", "mpps": "Mpackets/s"},
}
# Those of which the case of the letters decides, tried first.
_CASED: Final = {
    **{"MJ": "MJ", "MW": "MW", "MWh": "MWh", "A": "A", "C": "°C", "B": "B", "Ah": "Ah"},
    # Else they would fall to the unit at their end: `energy_nWh`.
    **{f"{prefix}{base}": f"{prefix}{base}" for prefix in "pnGT" for base in ("Wh", "W")},
    **{unit: unit for unit in ("GJ", "kV", "nV", "nA", "kA", "THz", "kAh")},
    **{f"{prefix}Ws": f"{prefix}J" for prefix in ("", "m", "k")},
}
# Names of rates, which are their own units.
RATES: Final = {
    **dict.fromkeys(("qps", "tps", "rps", "iops"), "1/s"),
    **{"fps": "frames/s", "gibs": "GiB/s", "mibs": "MiB/s", "kibs": "KiB/s"},
}
# Only in brackets: as words they mean something else.
_BRACKETED: Final = {"min": "min", "h": "h", "hr": "h", "sec.": "s"}
# Unit without a prefix: what it measures, and how many of the base unit of that it is.
_BASES: Final[dict[str, tuple[Quantity, float]]] = {
    "J": ("energy", 1), "Wh": ("energy", 3600), "W": ("power", 1), "s": ("time", 1),
    "min": ("time", 60), "h": ("time", 3600), "Hz": ("frequency", 1), "V": ("voltage", 1),
    "A": ("current", 1), "Ah": ("charge", 3600), "B": ("bytes", 1),
}  # fmt: skip
_PLAIN: Final[dict[str, Quantity]] = {
    **{"%": "percent", "rpm": "rate", "°C": "temperature"},
    **dict.fromkeys(("packets/s", "kpackets/s", "Mpackets/s"), "rate"),
}
_PLAIN_SIGNS: Final = str.maketrans("µμ\N{MINUS SIGN}", "uu-")
_PRODUCT: Final = re.compile(r"\s*[*·⋅.]\s*|\s+")
# `10^-6 J`, `x1e6 J`
_TIMES_SIGN: Final = r"[x\u00d7*\u00b7\u22c5]?\s*"
_POWER_OF_TEN: Final = re.compile(
    rf"{_TIMES_SIGN}(?:10(?:\^|\*\*)|1e)([-+]?\d+)\s*{_TIMES_SIGN}(\D.*)"
)


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
    text = text.strip().translate(_PLAIN_SIGNS)
    if in_brackets and (tens := _POWER_OF_TEN.fullmatch(text)):
        one, times = unit_of(tens[2]), f"1e{int(tens[1])}"
        return one and _named(
            one.text, one.quantity, one.scale * float(times), f"{times} {one.text}"
        )
    if "/" in text:
        above, _, below = text.rpartition("/")
        under = unit_of(below, in_brackets)
        over = unit_of(above)
        if over and under and (over.quantity, under.quantity) == ("energy", "time"):
            return _named("W", "power", over.scale / under.scale, f"{over.text}/{under.text}")
        if under is not None:
            return Unit(f"{above.strip()}/{under.text}", "rate")
        return None if over is None else Unit(f"{over.text}/{below.strip()}", "price")
    name = _CASED.get(text) or _SPELLED.get(text.lower())
    if name is None and in_brackets:
        # `milli Joules`
        name = _BRACKETED.get(text.lower()) or _SPELLED.get(re.sub(r"[\s-]", "", text).lower())
    if name is None:
        return _product_of(text) or (_last_of(text) if in_brackets else None)
    if name in _PLAIN:
        return Unit(name, _PLAIN[name])
    base = next(base for base in _BASES if name.removesuffix(base) in _PREFIXES)
    quantity, size = _BASES[base]
    return _named(base, quantity, _PREFIXES[name.removesuffix(base)] * size, name)


def _named(base: str, quantity: Quantity, scale: float, text: str) -> Unit:
    """Return a unit under the name of its base with a prefix, or as a text where none fits."""
    times = float(f"{scale / _BASES[base][1]:.12g}") if base in _BASES else 0.0
    prefix = next((name for name, factor in _PREFIXES.items() if factor == times), None)
    # Multiplied as decimal numbers are written: 3.6, not 3.6000000000000001.
    return Unit(text if prefix is None else prefix + base, quantity, float(f"{scale:.12g}"))


def _product_of(text: str) -> Unit | None:
    """Return the energy that a power times a time is: `mW s`, `W*h`."""
    parts = [unit_of(part, in_brackets=True) for part in _PRODUCT.split(text) if part != text]
    if len(parts) != 2 or None in parts:
        return None
    over, time = sorted(filter(None, parts), key=lambda part: part.quantity == "time")
    product = f"{over.text} {time.text}"
    if (over.quantity, time.quantity) == ("power", "time"):
        base = "Wh" if time.text == "h" else "J"
        return _named(base, "energy", over.scale * time.scale, product)
    # An energy-delay product is no energy and no time.
    return Unit(product) if (over.quantity, time.quantity) == ("energy", "time") else None


def _last_of(text: str) -> Unit | None:
    """Return the unit that ends a text in brackets: `total, J`; none of `1000 J`."""
    before, _, last = text.replace(",", " ").rpartition(" ")
    return None if not before or re.search(r"\d", before) else unit_of(last, in_brackets=True)
