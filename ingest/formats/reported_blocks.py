"""Reports of blocks of measurements: names and numbers below lines that state their unit.

    keras Experiment Data:
    Average energy consumption <Joules (deviation %)>:
    GPU: 174,699,833.44 (0.72%)

The first words of a block are what ran; rules, gaps or such words begin the next one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ingest.formats.written_numbers import without_commas
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_measurement
from ingest.settings.units import unit_of

# `Average energy consumption <Joules (deviation %)>:`
_UNIT: Final = re.compile(
    r"\s*([^\W\d_][\w .-]{0,58}?)\s*"
    r"(?:<([^<>]{1,40})>|\[([^\[\]]{1,40})\]|\(([^()]{1,40})\))\s*:\s*"
)
_HEAD: Final = re.compile(r"\s*[^\W\d_][\w .+/-]{0,58}?\s*:\s*")
_NUMBER: Final = r"([-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?)"
_VALUE: Final = re.compile(
    rf"\s*(?:([^\W\d_][\w ./-]{{0,38}}?)\s*[:=]\s*)?{_NUMBER}\s*%?\s*"
    rf"(?:\(\s*{_NUMBER}\s*%\s*\))?\s*"
)
_LEAST_VALUES: Final = 2
# Columns of what ran and of how far values were apart.
_WHAT: Final = "name"
_DEVIATION: Final = "deviation (%)"
# Words of the head of a block that do not tell it from others.
_GENERAL: Final = WORDS["general"] | {"of", "for", "average", "averages"}


def are_reported(lines: Sequence[str]) -> bool:
    """Return whether each line is of such blocks; several numbers of a unit have deviations."""
    filled = [line for line in lines if any(map(str.isalnum, line))]
    kinds = [_kind_of(line) for line in filled]
    units = [at for at, kind in enumerate(kinds) if kind == "unit"]
    if "" in kinds or not units or kinds[-1] != "value" or kinds[0] == "value":
        return False
    values = [*filter(None, map(_VALUE.fullmatch, filled))]
    apart = sum(match[3] is not None for match in values)
    is_below = all(kinds[at + 1 : at + 2] == ["value"] for at in units)
    are_plain = without_commas(_numbers(filled), True) is not None
    is_measured = any(_is_measured(filled[at]) for at in units)
    # No name recurs in a block.
    blocks = [{**block} for _, block in reported_blocks(filled)]
    is_once = sum(len({*block} - {_WHAT}) for block in blocks) == len(values) + apart
    return is_below and are_plain and is_measured and is_once and apart >= _LEAST_VALUES


def reported_blocks(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield each block with its first line: what ran, its numbers, and how far these were apart."""
    text = [*lines]
    numbers = _numbers(text)
    plain = dict(zip(numbers, without_commas(numbers, True) or numbers, strict=True))
    start, block = 0, dict[str, object]()
    quantity = unit = ""
    for at, line in enumerate(text, 1):
        kind = _kind_of(line)
        if kind == "head":
            if len(block) > 1:
                yield start, block
            start, block, quantity = at, {_WHAT: _what_ran(line)}, ""
        elif kind == "unit":
            quantity, unit = _quantity_of(line)
        elif value := _VALUE.fullmatch(line):
            name = " ".join(filter(None, (value[1], quantity if value[3] else "")))
            block[f"{name} ({unit})" if unit and value[3] else name] = plain[value[2]]
            if value[3]:
                block[f"{name} {_DEVIATION}"] = plain[value[3]]
    if len(block) > 1:
        yield start, block


def _kind_of(line: str) -> str:
    """Return whether a line states a unit, a value or what ran; empty for others."""
    if _UNIT.fullmatch(line):
        return "unit"
    if _VALUE.fullmatch(line):
        return "value"
    return "head" if _HEAD.fullmatch(line) else ""


def _numbers(lines: Iterable[str]) -> list[str]:
    found = (match for line in lines if (match := _VALUE.fullmatch(line)))
    return [number for match in found for number in (match[2], match[3]) if number]


def _quantity_of(line: str) -> tuple[str, str]:
    """Return the name above numbers and their unit; an empty unit if it is none."""
    match = _UNIT.fullmatch(line)
    assert match is not None
    stated = next(filter(None, match.groups()[1:]))
    unit = re.split(r"\s*[(,;±]", stated)[0].strip()
    return match[1], unit if unit_of(unit, in_brackets=True) is not None else ""


def _is_measured(line: str) -> bool:
    name, unit = _quantity_of(line)
    return bool(unit) and is_measurement(f"{name} ({unit})")


def _what_ran(line: str) -> str:
    """Return the first words of a line up to those that any block may have."""
    words = line.strip(" :\t").split()
    own = [word for word in words if not {*words_of(word)} <= _GENERAL]
    return " ".join(own or words)
