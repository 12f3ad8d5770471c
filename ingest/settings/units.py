"""Units as headings and cells write them: what each measures, and its size in the base unit.

pint computes. Which spellings are units is decided here, since pint takes `a` and `d` for units.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from pint import Quantity as Amount
    from pint import UnitRegistry

Quantity = Literal[
    "energy", "power", "time", "frequency", "temperature", "voltage", "current", "charge",
    "bytes", "percent", "rate", "price", "emissions", "",
]  # fmt: skip
# In pint's syntax, prefixes first.
_DEFINITIONS: Final = (
    *("f- = 1e-15", "c- = 1e-2", "d- = 1e-1"),
    *("p- = 1e-12", "n- = 1e-9", "u- = 1e-6", "m- = 1e-3", "k- = 1e3", "M- = 1e6", "G- = 1e9"),
    *("T- = 1e12", "Ki- = 1024", "Mi- = 1024 ** 2", "Gi- = 1024 ** 3"),
    *("J = [energy]", "s = [time]", "min = 60 * s", "h = 60 * min", "W = J / s", "Wh = W * h"),
    *("V = [voltage]", "A = [current]", "Ah = A * h", "Hz = [frequency]", "B = [bytes]"),
)
_QUANTITIES: Final[dict[str, Quantity]] = {
    "[energy]": "energy", "[energy] / [time]": "power", "[time]": "time",
    "[frequency]": "frequency", "[voltage]": "voltage", "[current]": "current",
    "[current] * [time]": "charge", "[bytes]": "bytes",
}  # fmt: skip
# Units that nothing converts.
_PLAIN: Final[dict[str, Quantity]] = {
    **{"%": "percent", "rpm": "rate", "°C": "temperature"},
    **dict.fromkeys(("packets/s", "kpackets/s", "Mpackets/s"), "rate"),
}
# Masses of carbon dioxide, or of what warms as much: `kgCO2`, `g CO2eq`; those of an energy, a
# time or an item are emissions too.
_EMISSIONS: Final = re.compile(r"(?i)([mk]?g|t)[ _]?CO2[ _-]?(e|eq)?")
# Words of prefixes, as in `millijoules`, `milli_joules` and `milliJ`.
PREFIX_WORDS: Final = {
    "femto": "f", "pico": "p", "nano": "n", "micro": "u", "milli": "m", "centi": "c", "deci": "d",
    "kilo": "k", "mega": "M", "giga": "G", "tera": "T",
}  # fmt: skip
_UNIT_WORDS: Final = {
    "joule": "J", "watthour": "Wh", "watt": "W", "second": "s", "sec": "s", "hertz": "Hz",
    "volt": "V", "ampere": "A", "byte": "B",
}  # fmt: skip
# Before one of them, a written prefix is part of the unit.
_PREFIXED: Final = frozenset({*_UNIT_WORDS.values(), "Ah"})
_SYMBOLS: Final = (
    *("J", "pJ", "nJ", "uJ", "mJ", "kJ", "Wh", "uWh", "mWh", "kWh", "W", "uW", "mW", "kW"),
    *("s", "ns", "us", "ms", "Hz", "kHz", "MHz", "GHz", "V", "uV", "mV", "uA", "mA"),
    *("uAh", "mAh", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "rpm"),
)
# Units as headings and cells write them (in small letters, but for those below), as they are shown.
_SPELLED: Final = {
    **{symbol.lower(): symbol for symbol in _SYMBOLS if symbol != "B"},
    **{f"{word}{plural}": symbol for word, symbol in _UNIT_WORDS.items() for plural in ("", "s")},
    **{f"{p}sec{plural}": f"{p}s" for p in ("n", "u", "m") for plural in ("", "s")},
    **{"mins": "min", "minutes": "min", "hours": "h", "hrs": "h", "amps": "A"},
    **dict.fromkeys(("celsius", "degc", "°c", "degrees"), "°C"),
    **dict.fromkeys(("%", "pct", "percent", "percentage", "perc"), "%"),
    **dict.fromkeys(("segundo", "segundos", "sekunde", "sekunden", "secondes", "secondi"), "s"),
    **{"pps": "packets/s", "kpps": "kpackets/s", "mpps": "Mpackets/s"},
}
# Those of which the case of the letters decides, tried first.
_CASED: Final = {
    **{unit: unit for unit in ("MJ", "MW", "MWh", "A", "B", "Ah")},
    # Else they would fall to the unit at their end: `energy_nWh`.
    **{f"{prefix}{base}": f"{prefix}{base}" for prefix in "pnGT" for base in ("Wh", "W")},
    **{unit: unit for unit in ("GJ", "kV", "nV", "nA", "kA", "THz", "kAh")},
    **{"C": "°C", "Ws": "J", "mWs": "mJ", "kWs": "kJ"},
}
# Names of rates, which are their own units.
RATES: Final = {
    **dict.fromkeys(("qps", "tps", "rps", "iops"), "1/s"),
    **{"fps": "frames/s", "gibs": "GiB/s", "mibs": "MiB/s", "kibs": "KiB/s"},
}
# Only in brackets: as words they mean something else.
_BRACKETED: Final = {
    **{"min": "min", "h": "h", "hr": "h", "sec.": "s", "ws": "J", "mws": "mJ", "kws": "kJ"}
}
# `milliJ`, `muJ`, and with what stands between: `micro-Wh`, `$\\mu$ J`.
_PREFIX: Final = re.compile(rf"(?i)({'|'.join(PREFIX_WORDS)}|mu)([a-z]+)")
_GAP: Final = re.compile(
    rf"(?i)(?<![a-z])(?:({'|'.join(PREFIX_WORDS)})[\s-]+|\$?\\mu\$?\s*)(?=[a-z])"
)
# No `kilos` of a weight.
_PARTS_OF_S: Final = frozenset({"nano", "micro", "milli", "mu"})
# Prefixes of what is computed.
_SHOWN: Final = tuple("pnumkMGT")
_PLAIN_SIGNS: Final = str.maketrans("µμ\N{MINUS SIGN}", "uu-")
_PRODUCT: Final = re.compile(r"\s*[-*·⋅.]\s*|\s+")
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
        is_meant: Whether it was written as another one, that nobody measures: W s as `W/s`.
    """

    text: str
    quantity: Quantity = ""
    scale: float = 1.0
    is_meant: bool = False


@lru_cache(maxsize=1024)
def unit_of(text: str, in_brackets: bool = False) -> Unit | None:
    """Return the unit that a text is; None if it is none."""
    text = text.strip().translate(_PLAIN_SIGNS)
    text = _GAP.sub(lambda gap: gap[1] or "mu", text) if in_brackets else text
    if in_brackets and (tens := _POWER_OF_TEN.fullmatch(text)):
        one, times = unit_of(tens[2]), f"1e{int(tens[1])}"
        if one is None or one.quantity in _QUANTITIES.values():
            return one and _computed(f"{times} {one.text}", one.text)
        return Unit(f"{times} {one.text}", one.quantity, float(times) * one.scale)
    if "/" in text:
        above, _, below = text.rpartition("/")
        over, under = unit_of(above), unit_of(below, in_brackets)
        if over and under and (over.quantity, under.quantity) == ("energy", "time"):
            return _computed(f"{over.text}/{under.text}", "W")
        if over and under and (over.quantity, under.quantity) == ("power", "time"):
            # Nobody measures watts a second: `W/s` is meant for W s, `kW/h` for kWh.
            meant = _product_of(f"{over.text} {under.text}")
            return meant and replace(meant, is_meant=True)
        if over and over.quantity == "emissions":
            return Unit(f"{over.text}/{under.text if under else below.strip()}", "emissions")
        is_simulated = over is not None and over.quantity == "time" and below.strip() == "day"
        if under is not None or is_simulated:
            # A simulation is the faster the more time it simulates in a day.
            return Unit(f"{above.strip()}/{under.text if under else 'day'}", "rate")
        return None if over is None else Unit(f"{over.text}/{below.strip()}", "price")
    if mass := _EMISSIONS.fullmatch(text):
        return Unit("{}CO2{}".format(*(part.lower() for part in mass.groups(""))), "emissions")
    name = _name_of(text) or _prefixed(text)
    if name is None and in_brackets:
        # `m Wh`
        name = _BRACKETED.get(text.lower()) or _name_of(re.sub(r"[\s-]", "", text))
    if name is None:
        return _product_of(text) or (_last_of(text) if in_brackets else None)
    return Unit(name, _PLAIN[name]) if name in _PLAIN else _computed(name)


def doubts_in(columns: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield each doubt of the units of columns: the first column, of which it speaks, the unit that
    this may be in instead, and in words with the other columns.

    Args:
        columns: Names, doubts, empty for none, and the units instead.
    """
    same: dict[str, list[tuple[str, str]]] = {}
    for name, doubt, instead in columns:
        same.setdefault(doubt, []).append((name, instead))
    for doubt, ((name, instead), *others) in same.items():
        if doubt:
            alike = f"; so {', '.join(other for other, _ in others)}" if others else ""
            yield name, instead, f"{name} {doubt}{alike}"


def _name_of(text: str) -> str | None:
    return _CASED.get(text) or _SPELLED.get(text.lower())


def _prefixed(text: str) -> str | None:
    """Return the unit that a written prefix and a unit without a prefix are."""
    if (found := _PREFIX.fullmatch(text)) is None:
        return None
    prefix, unit = found.groups()
    name = _name_of(unit) or _name_of(f"{unit}s")
    is_unit = name in _PREFIXED and (unit != "s" or prefix.lower() in _PARTS_OF_S)
    return f"{PREFIX_WORDS.get(prefix.lower(), 'u')}{name}" if is_unit else None


def _product_of(text: str) -> Unit | None:
    """Return the energy that a power times a time is: `mW s`, `W*h`."""
    parts = [unit_of(part, in_brackets=True) for part in _PRODUCT.split(text) if part != text]
    if len(parts) != 2 or None in parts:
        return None
    over, time = sorted(filter(None, parts), key=lambda part: part.quantity == "time")
    product = f"{over.text} {time.text}"
    if (over.quantity, time.quantity) == ("power", "time"):
        return _computed(product, "Wh" if time.text == "h" else "J")
    # An energy-delay product is no energy and no time.
    return Unit(product) if (over.quantity, time.quantity) == ("energy", "time") else None


def _last_of(text: str) -> Unit | None:
    """Return the unit that ends a text in brackets: `total, J`; none of `1000 J`."""
    before, _, last = text.replace(",", " ").rpartition(" ")
    return None if not before or re.search(r"\d", before) else unit_of(last, in_brackets=True)


def _computed(text: str, like: str = "") -> Unit:
    """Return the unit that an expression of units is in pint's syntax: `kWh/h`, `mW s`.

    Args:
        like: Where the expression is of the size of this unit with another prefix, that is shown.
    """
    registry = _registry()
    amount: Amount[Decimal] = registry.Quantity(text)
    base = registry.parse_unit_name(like)[0][1] if like else ""
    names = (f"{prefix}{base}" for prefix in ("", *_SHOWN) if like)
    shown = next((name for name in names if registry.Quantity(name) == amount), text)
    size = float(amount.to_base_units().magnitude)
    return Unit(shown, _QUANTITIES[str(amount.dimensionality)], size)


@cache
def _registry() -> "UnitRegistry[Decimal]":
    # pint takes a fifth of a second to load, and most programs ask for no unit.
    from pint import UnitRegistry

    # Multiplied as decimal numbers are written: 3.6, not 3.6000000000000001.
    return UnitRegistry(_DEFINITIONS, non_int_type=Decimal)
