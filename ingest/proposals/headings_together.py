"""Headings that say more beside each other than alone: domains of RAPL, minutes, one metric."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ingest.formats.json_cells import Cell
from ingest.settings.headings import Heading, quantity_of, read_heading, unit_of

# Domains of RAPL; of the first alone that is not certain.
_ONLY_DOMAINS: Final = frozenset({"package", "pkg", "dram", "uncore", "psys"})
_DOMAINS: Final = _ONLY_DOMAINS | {"cpu", "core", "cores", "gpu"}
# Of these nobody states the least.
_OF_WHOLE: Final = ("total", "elapsed", "wall", "train", "training")
_FEWEST: Final = 2
# Fields of SLURM's `sacct`, and those of seconds.
_OF_ACCOUNTS: Final = frozenset(
    {"consumedenergy", "consumedenergyraw", "averss", "maxrss", "ncpus", "alloccpus", "nnodes"}
)
_ACCOUNTED_S: Final = frozenset({"elapsed", "elapsedraw", "systemcpu", "usercpu", "totalcpu"})
_FEWEST_FIELDS: Final = 3
PERCENTILE: Final = r"p\d+(\.\d+)?|\d\dth"
_MEANS: Final = ("mean", "avg", "average", "median")
_STATISTIC: Final = rf"{PERCENTILE}|{'|'.join(_MEANS)}|min|max"


def read_together(headings: Sequence[Heading], columns: Sequence[Sequence[Cell]]) -> list[Heading]:
    """Return the headings of a table with the words and units that those beside them give.

    Args:
        columns: The cells of each column.
    """
    named = _named_by_others(headings, columns)
    # `J` beside `I` and `K` is the side of a matrix, and no joules.
    if {"I", "J", "K"} <= {heading.text for heading in named}:
        named = [replace(each, unit=None) if each.text == "J" else each for each in named]
    # `std` beside no mean is a standard of a language.
    if not any(heading.has(*_MEANS) for heading in named):
        named = [replace(h, words=("standard",)) if h.words == ("std",) else h for h in named]
    return _with_latencies(_with_minutes(_with_accounts(_with_domains(named))))


def _named_by_others(
    headings: Sequence[Heading], columns: Sequence[Sequence[Cell]]
) -> list[Heading]:
    """Read `Score` as what all cells of `Score Metric` say: `Energy (J)`."""
    named = {}
    for heading, cells in zip(headings, columns, strict=True):
        texts = {str(cell).strip() for cell in cells if cell not in (None, "")}
        if len(texts) == 1 and heading.words[-1:] in (("metric",), ("unit",), ("units",)):
            named[heading.words[:-1]] = heading.words[-1], texts.pop()
    return [
        _named_by(heading, *named[stem])
        if (stem := heading.words[: -1 if heading.words[-1:] == ("value",) else None]) in named
        and not heading.unit
        else heading
        for heading in headings
    ]


def _named_by(heading: Heading, word: str, text: str) -> Heading:
    """Return a heading with what another column says of it: its metric, or its unit."""
    if word != "metric" and (unit := unit_of(text)) is not None:
        return replace(heading, unit=unit)
    other = read_heading(text)
    return replace(heading, words=other.words or heading.words, unit=other.unit)


def _with_domains(headings: Sequence[Heading]) -> list[Heading]:
    """Read `CORE` and `CPU` beside `DRAM` and `PSYS` as energies of RAPL."""
    bare = [h.words[0] if len(h.words) == 1 and not h.unit else "" for h in headings]
    if len({*bare} & _ONLY_DOMAINS) < _FEWEST:
        return [*headings]
    return [
        replace(heading, words=("rapl", "package" if word == "cpu" else word, "energy"))
        if word in _DOMAINS
        else heading
        for heading, word in zip(headings, bare, strict=True)
    ]


def _with_accounts(headings: Sequence[Heading]) -> list[Heading]:
    """Read times of SLURM's accounts, which beside others of its fields are seconds."""
    fields = {heading.text.lower() for heading in headings}
    if len(fields & (_OF_ACCOUNTS | _ACCOUNTED_S)) < _FEWEST_FIELDS or not fields & _OF_ACCOUNTS:
        return [*headings]
    return [
        replace(heading, unit=unit_of("s"))
        if heading.text.lower() in _ACCOUNTED_S and heading.unit is None
        else heading
        for heading in headings
    ]


def _with_latencies(headings: Sequence[Heading]) -> list[Heading]:
    """Read `mean_ns` and `max_ns` beside `p50_ns` as of the same times: latencies."""
    units = {
        heading.unit for heading in headings
        if heading.unit and heading.unit.quantity == "time" and _is_bare(heading, PERCENTILE)
    }  # fmt: skip
    return [
        replace(each, words=("latency", *each.words))
        if each.unit in units and _is_bare(each, _STATISTIC)
        else each
        for each in headings
    ]


def _is_bare(heading: Heading, form: str) -> bool:
    return len(heading.words) == 1 and re.fullmatch(form, heading.words[0]) is not None


def _with_minutes(headings: Sequence[Heading]) -> list[Heading]:
    """Read `duration_min` and `total_time_min` as minutes, if no other statistic stands beside.

    `time_min` and `runtime_min` may be the least time of several.
    """
    stems = Counter(heading.words[:-1] for heading in headings)
    return [
        replace(heading, words=heading.words[:-1], unit=unit_of("mins"))
        if heading.words[-1:] == ("min",) and stems[heading.words[:-1]] == 1
        and heading.unit is None and quantity_of(heading) == "time"
        and (heading.words[-2] == "duration" or heading.has(*_OF_WHOLE))
        else heading
        for heading in headings
    ]  # fmt: skip
