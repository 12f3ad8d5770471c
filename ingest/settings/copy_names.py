"""Names of files that are copies of others, as programs and people call them."""

import re
from collections.abc import Collection
from itertools import takewhile
from typing import Final

from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of

# The end of a name: ` copy 2`, ` - Copy (2)`, ` (1)`.
COPY_END: Final = r" - Copy(?: ?\(\d+\))?|[ _](?:copy|Copy)(?: ?\d+)?| ?\(\d+\)"
_NUMBER: Final = re.compile(r"[ _-](\d+)$")
_ASIDE: Final = frozenset({"backup", "bak", "archive", "archived", "duplicate", "duplicates"})
_MARK: Final = re.compile(rf"(?:{COPY_END})(?=\.|$)|(?<![^/])Copy of ")


def has_mark_of_copy(path: str) -> bool:
    """Return whether a path is called a copy: `runs (1).csv`, `backup/runs.csv`."""
    return _MARK.search(path) is not None or not _ASIDE.isdisjoint(words_of(path))


def is_marked_copy(path: str, other: str) -> bool:
    """Return whether a path is called a copy of another one: `runs (1).csv`, `backup/runs.csv`.

    What is called `backup` or `archive` may be what ran: nothing else may tell the two apart.
    """
    plain = WORDS["general"] | _ASIDE
    own, theirs = ([word for word in words_of(each) if word not in plain] for each in (path, other))
    return _MARK.search(path) is not None or (has_mark_of_copy(path) and own == theirs)


def are_numbered(names: Collection[str]) -> bool:
    """Return whether names are one, and this one with numbers that set nothing.

    A program gave them (`fft`, `fft (1)`), or the name says nothing: `runs`, `runs_2`.
    """
    bare = {_NUMBER.sub("", _MARK.sub("", name)) for name in names}
    others = {*names} - bare
    numbers = [int(match[1]) for name in others if (match := _NUMBER.search(name))]
    is_counted = len(numbers) == len(others) and max(numbers, default=0) <= len(names)
    words = {word for name in bare for word in words_of(name)}
    is_plain = bare <= {*names} and is_counted and words <= WORDS["general"]
    return len(bare) == 1 and len(others) > 0 and (is_plain or all(map(_MARK.search, others)))


def is_named_as_copy(path: str, other: str) -> bool:
    """Return whether one of two paths says nothing that the other does not, but that it is a copy.

    `results.csv` beside `fft.csv`, `backup/fft.csv`, `fft_sorted.csv`; not `lu.csv`.
    """
    parts = [_MARK.sub("", each).split("/") for each in (path, other)]
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*parts, strict=False)))
    words = [{*words_of("/".join(each[shared:]))} for each in parts]
    plain = WORDS["general"] | WORDS["aside"] | WORDS["copies"]
    return any(own - theirs <= plain for own, theirs in (words, reversed(words)))
