"""Numbers as people write them in cells: `12.5 W`, `45 %`, `1.234,5`, `12,345`.

A column is rewritten only as a whole: all of its cells have one form, and units of one quantity.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from ingest.settings.column_names import WORDS
from ingest.settings.units import unit_of

# Whole numbers as programs write them. A text such as 007 is not a number.
WHOLE: Final = re.compile(r"-?(0|[1-9]\d{0,18})")
MOST_WHOLE: Final = 2**63
UNSET: Final = frozenset({"", "nan", "-nan", "na", "n/a", "null", "none"})
_FIRST: Final = re.compile(r"[-+]?[.,]*+\d[\d.,]*+([eE][-+]?\d+)?\s*+\S*")
_PLAIN: Final = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_NUMBER: Final = r"([-+]?(?:\d[\d.,]*|[.,]\d+)(?:[eE][-+]?\d+)?)"
# Units that stand behind a number: letters, per cent, and products of them.
_WITH_UNIT: Final = re.compile(_NUMBER + r"\s*([%°µμA-Za-z][\w%°µμ/·⋅*. ]{0,15})?")
# `12.5 [ms]`
_BRACKETS: Final = re.compile(r"(?<=\d) ?\[([^\[\]]{1,10})\]$")
# Numbers that were read: so many of a column, and those without a fraction so large.
_SEVERAL: Final = 4
_LEAST_READ: Final = 1000
# Behind numbers, beside all that are units.
_UNITS: Final = frozenset({"", "x", "c", "a", "b", "fps", "gflops"})
# Quantities of which cells may have several units, as programs write for people.
_CONVERTED: Final = frozenset(
    {"energy", "power", "time", "frequency", "bytes", "voltage", "current", "charge"}
)
# `1m23.4s`, `2 min 3 s`, `1h 2m 3s`; `PT1M2.5S`; `0 days 00:01:02.5`, as pandas writes it; and
# `0:01:23.4`, which may be a time of day.
_DURATION: Final = re.compile(
    r"(?:(?P<h>\d+) ?h(?:ours?|rs?)?[ :]?)?(?:(?P<m>\d+) ?m(?:in)?[ :]?)?"
    r"(?P<s>\d+(?:\.\d+)?) ?s(?:ec)?"
)
_ISO: Final = re.compile(
    r"P(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?(?<=\w\w)"
)
_DAYS: Final = re.compile(r"(?P<d>\d+) days?,? (?P<h>\d+):(?P<m>\d+):(?P<s>\d\d(?:\.\d+)?)")
_CLOCK: Final = re.compile(r"(?:(?P<h>\d+):)?(?P<m>\d+):(?P<s>\d\d(?:\.\d+)?)")
_SECONDS: Final = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
_HOURS_OF_A_DAY: Final = 24
_MINUTES: Final = re.compile(r"(?i)\bm{1,2}:ss")
_TOOK: Final = WORDS["took"]
# A mean and its deviation, each with the unit or the last alone.
_LETTERS: Final = "[%°µμA-Za-z]{0,6}"
_PLUS_MINUS: Final = re.compile(
    _NUMBER + rf"\s*({_LETTERS})\s*(?:±|\+/-|\+-)\s*" + _NUMBER + rf"\s*({_LETTERS})"
)
_THOUSANDS: Final = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")

_THOUSAND: Final = 1000.0
# Blanks of fixed width between groups of three digits; and plain ones, before a decimal comma or
# at the begin of a line.
_FIXED: Final = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_ANY: Final = re.compile(_FIXED.pattern.replace("[", "[ "))
_SPACED: Final = re.compile(r"[-+]?[1-9]\d{0,2}(?: \d{3})+,\d")
_LED: Final = re.compile(r"(?m)^\s*[1-9]\d{0,2}((?: \d{3})+)(?=(?:,\d+)?[^\S\n]+[A-Za-z])")
# A number with a decimal comma, whatever groups of digits it has.
_BY_COMMA: Final = re.compile(r"[-+]?(\d{1,3}(?:\.\d{3})+|\d+),(\d+)")
_IN_TEXT: Final = re.compile(
    rf"(?<![\w.,])(?:{_BY_COMMA.pattern}|\d{{1,3}}(?:\.\d{{3}}){{2,}})(?![\w.,])"
)
# How `sacct` shortens joules.
_PREFIXED: Final = re.compile(r"(\d+(?:\.\d+)?)([KMG]?)")
_PREFIXES: Final = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}


def written_numbers(
    cells: Sequence[object], is_comma_separated: bool
) -> tuple[list[str | None], str] | None:
    """Return the cells of a column as plain numbers, and their unit.

    Args:
        is_comma_separated: Whether commas separate the cells; a comma is then no decimal comma
            unless the cell is quoted.

    Returns:
        None if the cells are plain numbers already, or are not all numbers with units of one
        quantity; the numbers are in the first cell's unit.
    """
    texts = [str(cell).strip() if cell is not None else "" for cell in cells]
    if any(text.endswith("]") for text in texts[:_SEVERAL]):
        texts = [_BRACKETS.sub(r" \1", text) for text in texts]
    real = [text for text in texts if not is_unset(text)]
    first = next(iter(real), "")
    if not _FIRST.fullmatch(_ANY.sub("", first)) or all(map(_PLAIN.fullmatch, real)):
        return None
    blanks = _ANY if any(map(_SPACED.match, real)) else _FIXED
    matches = [_WITH_UNIT.fullmatch(blanks.sub("", text)) for text in real]
    if not all(matches):
        return None
    units = [(match[2] or "").strip() for match in matches if match]
    unit = units[0]
    factors = [1.0] * len(units) if len({*units}) == 1 else _factors(units)
    is_known = unit.lower() in _UNITS or unit_of(unit, in_brackets=True) is not None
    if not (is_known and factors):
        return None
    numbers = [match[1] for match in matches if match]
    plain = without_commas(numbers, is_comma_separated)
    if plain is None or not all(map(_PLAIN.fullmatch, plain)):
        return None
    rest = (
        text if factor == 1 else f"{float(text) * factor:.12g}"
        for text, factor in zip(plain, factors, strict=True)
    )
    return [None if is_unset(t) else next(rest) for t in texts], unit


def _factors(units: Sequence[str]) -> list[float]:
    """Return how many of the first unit each one is: `950 ms` below `1.2 s`; nothing for others."""
    known = [unit_of(unit, in_brackets=True) for unit in units]
    first = known[0]
    scaled = [each.scale for each in known if each and first and each.quantity == first.quantity]
    is_one = first is not None and first.quantity in _CONVERTED and len(scaled) == len(units)
    return [scale / first.scale for scale in scaled] if is_one and first else []


def energies_of_slurm(cells: Sequence[object]) -> list[str | None] | None:
    """Return the energies that `sacct` writes as `74.89K` and `4.2M`, J; None for other cells."""
    texts = [str(cell).strip() if cell is not None else "" for cell in cells]
    found = [_PREFIXED.fullmatch(text) for text in texts if not is_unset(text)]
    if not all(found) or not any(match[2] for match in found if match):
        return None
    joules = (f"{float(match[1]) * _PREFIXES[match[2]]:.12g}" for match in found if match)
    return [None if is_unset(text) else next(joules) for text in texts]


def written_durations(cells: Sequence[object], heading: str) -> list[str | None] | None:
    """Return durations as seconds; None if a cell is none, or all are plain numbers of seconds.

    Args:
        heading: Cells such as `0:01:23` are times of day unless it says that they are durations.
    """
    texts = [str(cell).strip() if cell is not None else "" for cell in cells]
    real = [text for text in texts if not is_unset(text)]
    first = real[0] if real else ""
    is_told = "day" in first or first.startswith("P")
    form = _DAYS if "day" in first else _ISO if is_told else _CLOCK if ":" in first else _DURATION
    if form is _CLOCK and _TOOK.isdisjoint(re.findall(r"[a-z]+", heading.lower())):
        return None
    found = [match.groupdict() for text in real if (match := form.fullmatch(text))]
    # Of `1:20` nothing else tells minutes from hours.
    is_hours = any(each["h"] or "." in each["s"] for each in found) if form is _CLOCK else True
    if not is_hours and not _MINUTES.search(heading):
        return None
    if len(found) < len(real) or not (is_told or any(each["h"] or each["m"] for each in found)):
        return None
    seconds = (
        f"{sum(size * float(each.get(unit) or 0) for unit, size in _SECONDS.items()):.12g}"
        for each in found
    )
    return [None if is_unset(text) else next(seconds) for text in texts]


def are_spans(cells: Iterable[object]) -> bool:
    """Return whether cells such as `1:23:45` say how long runs took, and not when they were.

    One is longer than a day; or some took less than an hour, hours have one digit or are all 0, and
    the times fall from row to row where no midnight was. Rows that are sorted by what was set have
    times of day that fall too, of mornings with one digit.
    """
    texts = [text for cell in cells if not is_unset(text := str(cell or "").strip())]
    found = [match for text in texts if (match := _CLOCK.fullmatch(text))]
    if not found or len(found) < len(texts) or not all(match["h"] for match in found):
        return False
    hours = [int(match["h"]) for match in found]
    if max(hours) >= _HOURS_OF_A_DAY:
        return True
    times = [60 * hour + int(match["m"]) for hour, match in zip(hours, found, strict=True)]
    noon = 60 * _HOURS_OF_A_DAY // 2
    falls = any(a > b and not (a >= noon > b) for a, b in pairwise(times))
    return falls and not min(hours) and (not max(hours) or any(len(m["h"]) == 1 for m in found))


def seconds_of_span(text: str) -> str | None:
    """Return the seconds of `1:23:45`, without a day; None for another text."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None or not match["h"]:
        return None
    seconds = sum(_SECONDS[name] * float(match[name]) for name in ("h", "m", "s"))
    return f"{seconds:.12g}"


def means_and_deviations(
    cells: Sequence[object],
) -> tuple[list[str | None], list[str | None], str] | None:
    """Return the means, the deviations and the unit of cells such as `12.5 ± 0.25 s`.

    Returns:
        None if a cell is none of these, or their units differ.
    """
    texts = [str(cell).strip() if cell is not None else "" for cell in cells]
    real = [text for text in texts if not is_unset(text)]
    matches = [_PLUS_MINUS.fullmatch(text) for text in real]
    units = {unit for m in matches if m for unit in ((m[2], m[4]) if m[2] else (m[4],))}
    if not matches or not all(matches) or len(units) > 1:
        return None
    if any("," in m[0] for m in matches if m):
        return None
    pairs = iter([(m[1], m[3]) for m in matches if m])
    both = [(None, None) if is_unset(text) else next(pairs) for text in texts]
    return [mean for mean, _ in both], [deviation for _, deviation in both], units.pop()


def without_commas(numbers: Sequence[str], is_comma_separated: bool) -> list[str] | None:
    """Return numbers with a decimal point, whichever mark they have; None if that is unclear.

    Args:
        is_comma_separated: Whether `1,234` is a thousand where no other number tells.
    """
    commas = [number for number in numbers if "," in number]
    if not commas:
        return list(numbers)
    has_points = any("." in number for number in numbers)
    if any(n.rfind(".") > n.rfind(",") for n in commas):
        return [number.replace(",", "") for number in numbers]
    if has_points and any("." in number for number in commas):
        return [number.replace(".", "").replace(",", ".") for number in numbers]
    is_thousands = all(_THOUSANDS.fullmatch(number) for number in commas)
    if any(number.count(",") > 1 for number in commas):
        return [number.replace(",", "") for number in numbers] if is_thousands else None
    if has_points or (is_thousands and is_comma_separated):
        return [number.replace(",", "") for number in numbers] if is_thousands else None
    if is_thousands and (whole := [abs(float(n)) for n in numbers if "," not in n]):
        # Beside 980 is 1,100 more; beside 1100 it may be either.
        return [n.replace(",", "") for n in numbers] if max(whole) < _THOUSAND else None
    return [number.replace(",", ".") for number in numbers]


def without_blanks(text: str) -> str:
    """Return a text whose numbers have no blanks: `9 584,56` is one number.

    Those of fixed width separate groups of three digits; plain ones do so in a number that leads a
    line, before its unit, if another one there has a decimal comma.
    """
    text = _FIXED.sub("", text)
    if any(has_decimal_comma(m[1]) for m in re.finditer(r"(?m)^[^\S\n]*(\d+,\d+)\s", text)):
        text = _LED.sub(lambda found: found[0].replace(found[1], found[1].replace(" ", "")), text)
    return text


def has_decimal_comma(number: str) -> bool:
    """Return whether a number has a comma that no mark of thousands can be: `1249,739`."""
    return _BY_COMMA.fullmatch(number) is not None and not is_either([number])


def with_points(text: str) -> str:
    """Return a text of decimal commas with decimal points."""

    def plain(found: re.Match[str]) -> str:
        return found[0].replace(".", "").replace(",", ".")

    return _IN_TEXT.sub(plain, text)


def is_either(numbers: Sequence[str]) -> bool:
    """Return whether each number is a thousand as well as one with three decimals: `12,345`."""
    return bool(numbers) and all(
        _THOUSANDS.fullmatch(each) and each.count(",") == 1 for each in numbers
    )


def is_unset(text: str) -> bool:
    """Return whether a cell says that it has no value: `n/a`, or only dashes."""
    bare = text.strip()
    return bare.lower() in UNSET or not bare.strip("-\u2013\u2014")


def is_number(text: str) -> bool:
    """Return whether a text is a number in decimal digits, with or without an exponent."""
    return _PLAIN.fullmatch(text) is not None


def are_readings(cells: Iterable[object]) -> bool:
    """Return whether cells were read from a meter or a clock: several numbers that nobody sets."""
    texts = {str(cell).strip() for cell in cells}
    numbers = [float(text) for text in texts if is_number(text)]
    return sum(bool(n % 1) or (abs(n) >= _LEAST_READ and bool(n % 10)) for n in numbers) >= _SEVERAL


def is_precise(cell: object) -> bool:
    """Return whether a fraction has so many digits, six, that no two measurements agree in it."""
    text = str(cell).strip()
    mantissa = re.sub(r"[eE].*", "", text)
    return "." in mantissa and is_number(text) and len(re.sub(r"\D", "", mantissa).strip("0")) >= 6
