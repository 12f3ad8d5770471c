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
    "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
}  # fmt: skip
# Words of prefixes, as in `millijoules` and `milli_joules`.
PREFIX_WORDS: Final = dict(
    zip(("pico", "nano", "micro", "milli", "kilo", "mega", "giga", "tera"), _PREFIXES, strict=True)
)
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
        for word, prefix in {"": "", **PREFIX_WORDS}.items()
        for unit in _UNIT_WORDS
        for plural in ("", "s")
    },
    **{f"{p}sec{plural}": f"{p}s" for p in _SYMBOLS["s"] for plural in ("", "s")},
    **{"millis": "ms", "micros": "us", "nanos": "ns", "mins": "min", "minutes": "min"},
    **{"hours": "h", "hrs": "h", "amps": "A", "milliamps": "mA", "microamps": "uA"},
    **dict.fromkeys(("celsius", "degc", "°c", "degrees"), "degC"),
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
    **{f"{prefix}Ws": f"{prefix}J" for prefix in ("", "m", "k")},
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
_PLAIN: Final[dict[str, Quantity]] = {
    **{"%": "percent", "rpm": "rate"},
    **dict.fromkeys(("packets/s", "kpackets/s", "Mpackets/s"), "rate"),
}
_BYTES: Final = re.compile(r"[kKMGT]?i?B")
_PRODUCT: Final = re.compile(r"\s*[*·⋅.]\s*|\s+")
# `10^-6 J`, `x1e6 J`
_TIMES_SIGN: Final = r"[x\u00d7*\u00b7\u22c5]?\s*"
_POWER_OF_TEN: Final = re.compile(
    rf"{_TIMES_SIGN}(?:10(?:\^|\*\*)|1e)([-\u2212+]?\d+)\s*{_TIMES_SIGN}(\D.*)"
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
    text = text.strip().replace("µ", "u").replace("μ", "u")
    if in_brackets and (tens := _POWER_OF_TEN.fullmatch(text)):
        one = unit_of(tens[2])
        return one and _times(one, int(tens[1].replace("\N{MINUS SIGN}", "-")))
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
    if name is None and in_brackets:
        # `milli Joules`
        name = _BRACKETED.get(text.lower()) or _SPELLED.get(re.sub(r"[\s-]", "", text).lower())
    if name is None:
        return _product_of(text) or (_last_of(text) if in_brackets else None)
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


def _times(unit: Unit, exponent: int) -> Unit:
    """Return a unit times a power of ten: `10^-6 J` is uJ."""
    scale = float(f"1e{exponent}")
    prefix = next((name for name, factor in _PREFIXES.items() if factor == scale), "")
    text = f"{prefix}{unit.text}" if prefix and unit.text in _BASES else f"1e{exponent} {unit.text}"
    return Unit(text, unit.quantity, float(f"{unit.scale * scale:.12g}"))


def _product_of(text: str) -> Unit | None:
    """Return the energy that a power times a time is: `mW s`, `W*h`."""
    parts = [unit_of(part, in_brackets=True) for part in _PRODUCT.split(text) if part != text]
    texts = [part.text for part in parts if part]
    if len(texts) != len(parts) or len(parts) != 2:
        return None
    if {*texts} == {"J", "s"}:
        # An energy-delay product is no energy and no time.
        return Unit("J s")
    watts, time = sorted(texts, key=lambda each: not each.endswith("W"))
    if watts.endswith("W") and time in ("s", "h"):
        return unit_of(f"{watts}h" if time == "h" else f"{watts[:-1]}J")
    return None


def _last_of(text: str) -> Unit | None:
    """Return the unit that ends a text in brackets: `total, J`; none of `1000 J`."""
    before, _, last = text.replace(",", " ").rpartition(" ")
    return None if not before or re.search(r"\d", before) else unit_of(last, in_brackets=True)
