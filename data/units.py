"""Numbers as text: three significant digits or as many as an interval needs, SI prefix, unit."""

import math

MISSING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"

# Units that take an SI prefix; others (GHz, %) do not.
_PREFIXED = frozenset({"J", "W", "s", "B", "B/s", "B/J", "J s", "V", "A", "Hz"})
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "u"))
# Sizes are written in KiB and above if they are a multiple of an eighth, else in bytes.
_FINEST_BYTES = 8
# People set such numbers, or ten or a hundred times as much, of seconds, minutes or hours.
_ROUND = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0)
_UNITS_S = (1.0, 60.0, 3600.0)
_NEAR = 1.01
_LARGE_PREFIXES = tuple(p for p in _PREFIXES if p[0] >= 1)


def format_digits(value: float, digits: int = 3) -> str:
    """Format a number with `digits` significant digits, without exponent: `61.7`, `0.00420`.

    Its minus is a true one (U+2212); CSV files have ASCII (`csv_cells.guarded`).
    """
    if value == 0:
        return "0"
    shown = float(f"{abs(value):.{digits - 1}e}")
    magnitude = math.floor(math.log10(shown))
    return f"{MINUS if value < 0 else ''}{shown:.{max(0, digits - 1 - magnitude)}f}"


def format_signed(value: float, form: str = "", digits: int = 3) -> str:
    """Format a change with its sign, `+` or a true minus: `+12.0`.

    Args:
        form: How its size is written, such as `.1f`; empty for significant digits, of which one
            below -99 % has those that tell it from all: `-99.973`.
    """
    left = 100 + value
    digits = max(digits, 3 - math.floor(math.log10(left))) if 0 < left < 1 else digits
    size = f"{abs(value):{form}}" if form else format_digits(abs(value), digits)
    return f"{MINUS if value < 0 else '+'}{size}"


def format_signed_ends(low: float | None, high: float | None, missing: str) -> str:
    """Format an interval of changes with the digits that tell its ends apart: `[-60.74, -60.66]`.

    Args:
        missing: What stands for an end that is not bounded: None, not finite.
    """
    ends = [math.nan if end is None else end for end in (low, high)]
    digits = digits_between(*ends)
    shown = (format_signed(e, digits=digits) if math.isfinite(e) else missing for e in ends)
    return f"[{', '.join(shown)}]"


def format_quantity(value: float | None, unit: str, digits: int = 3) -> str:
    """Format a measured value for a table or a hover: `61.7 us`, `2.17 kJ`, `1.20 ms`, `0.910`.

    A missing or infinite value is an en dash. Counts, ratios and rates take k, M and G but not m.
    """
    if value is None or not math.isfinite(value):
        return MISSING
    if unit == "us":
        value, unit = value * 1e-6, "s"
    if unit in ("", "1/s", "1/J"):
        return f"{_scaled(value, _LARGE_PREFIXES, digits)}{unit[1:]}".strip()
    if unit in _PREFIXED:
        return f"{_scaled(value, _PREFIXES, digits)}{unit}"
    return f"{format_digits(value, digits)} {unit}"


def digits_between(low: float, high: float) -> int:
    """Return the significant digits, 3 to 6, that show the first digit of an interval's width.

    With three digits an interval such as [282.7, 283.3] J has twice the same end.
    """
    largest, width = max(abs(low), abs(high)), high - low
    if not (math.isfinite(largest) and width > 0):
        return 3
    return min(max(math.floor(math.log10(largest)) - math.floor(math.log10(width)) + 1, 3), 6)


def counted(count: int, noun: str) -> str:
    """Return a number of things: `1 run`, `1,204 more runs`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def lowered(title: str) -> str:
    """Return a title for use inside a sentence: `mean latency`, but `IOs per joule`, `PowerCap`."""
    first = title.partition(" ")[0]
    is_name = first.isupper() or first[1:] != first[1:].lower() or title[1:2].isdigit()
    return title if is_name else title[:1].lower() + title[1:]


def kind_of(unit: str) -> str:
    """Return the unit without its SI prefix, and `1/s` for every rate: `J` for `mJ`.

    Two metrics of one kind measure much the same: parts of a sum, or one rate counted in two ways.
    """
    if unit.endswith("/s"):
        return "1/s"
    return unit[1:] if unit[1:] in _PREFIXED else unit


def has_prefix(unit: str) -> bool:
    """Return whether a unit has an SI prefix, so that its numbers take no further one: `kWh/FU`."""
    base = unit.partition("/")[0]
    return base[:1] in "kMGTmun" and base[1:].partition("CO2")[0] in {*_PREFIXED, "Wh", "g"}


def format_change(fraction: float | None) -> str:
    """Format a relative change in percent with its sign: `+40.6 %`."""
    if fraction is None or not math.isfinite(fraction):
        return MISSING
    return f"{format_signed(100 * fraction)} %"


def format_setting(value: float, unit: str) -> str:
    """Format a value that was set, exactly, with an SI prefix: `306 MHz`, `114.75 MHz`, `0 Hz`."""
    scale, prefix = next((p for p in _PREFIXES if abs(value) >= p[0]), (1.0, ""))
    return f"{value / scale:.10g} {prefix}{unit}"


def format_bytes(count: float | None) -> str:
    """Format a configured size exactly: `64 B`, `1.5 KiB`, `512 KiB`, `1500 B`."""
    if count is None or not math.isfinite(count):
        return MISSING
    for scale, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= scale and (count * _FINEST_BYTES) % scale == 0:
            return f"{count / scale:.10g} {unit}"
    return f"{count:.0f} B"


def format_load(qps: float | None) -> str:
    """Format a configured load: `200k QPS`."""
    if qps is None or not math.isfinite(qps):
        return MISSING
    if qps >= 1e6:
        return f"{qps / 1e6:g}M QPS"
    return f"{qps / 1e3:g}k QPS" if qps >= 1e3 else f"{qps:g} QPS"


def _scaled(value: float, prefixes: tuple[tuple[float, str], ...], digits: int) -> str:
    if value == 0:
        return "0 "
    shown = abs(float(f"{value:.{digits - 1}e}"))
    scale, prefix = next((p for p in prefixes if shown >= p[0]), prefixes[-1])
    return f"{format_digits(value / scale, digits)} {prefix}"


def is_round_time(seconds: float) -> bool:
    """Return whether a time above 0 is one that people set, within 1 %: 120 s, not 0.33 ms."""
    amounts = [seconds / unit for unit in _UNITS_S if seconds * _NEAR >= unit]
    digits = [each / 10 ** math.floor(math.log10(each * _NEAR)) for each in amounts]
    return any(max(own, of) <= _NEAR * min(own, of) for own in digits for of in _ROUND)
