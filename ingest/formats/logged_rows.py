"""Rows of a table among the lines of a log: objects, or lines as a header has.

A script that prints a dictionary or `name=value` pairs for each run, or a header and among other
lines one with as many cells, leaves such a file.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ingest.formats.json_cells import parsed
from ingest.formats.written_numbers import is_number
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_measurement, is_setting

# Objects at the ends of lines of a log: how many keys, and how many of so many lines.
_LEAST_KEYS: Final = 3
LEAST_LOGGED: Final = 3
LOGGED_LINES: Final = 400
_LEAST_CELLS: Final = 3
# Words of what counts the steps of one run.
_STEPS: Final = WORDS["steps_of_logs"]
# Words of what counts the parts of one run.
PARTS: Final = frozenset({"core", "cpu", "socket", "package", "gpu", "rank", "phase", "stage"})
_LONGEST: Final = 2_000
_VALUE: Final = r"""(?:"[^"]*"|'[^']*'|[^\s,;|&"'=:]+)"""
_UNIT: Final = r"(?: ?\[[A-Za-z%/]{1,9}\]| [A-Za-z%/]{1,9}(?=[,;|]|$))"
# `threads=4 energy_j=5.5`, `threads=4, energy=5.5 [J]`, `threads: 4, energy: 5.5 J`: several of one
# form.
_PAIRS: Final = re.compile(
    rf"(?:(?:^|[\s,;|&])[A-Za-z][\w./%()\[\]-]*\s?=\s?{_VALUE}{_UNIT}?[\s,;|&]*){{3,}}$"
    rf"|(?:(?:^|[\s,;|])[A-Za-z][\w./%()\[\]-]*\s?:\s{_VALUE}(?: [A-Za-z%/]+)?(?:[,;|]|$)){{3,}}$"
)
_PAIR: Final = re.compile(rf"([A-Za-z][\w./%()\[\]-]*)\s?[=:]\s?({_VALUE}{_UNIT}?)")
_SOME_PAIRS: Final = re.compile(
    rf"(?:(?:^|[\s,;|&])[A-Za-z][\w./%()\[\]-]*\s?=\s?{_VALUE}{_UNIT}?[\s,;|&]*)+$"
)
_WORD: Final = re.compile(r"[^\W\d][\w.-]*")
_NAME: Final = re.compile(r"[A-Za-z_][\w ()%/.-]{0,39}")


def logged_object(line: str) -> dict[str, object] | None:
    """Return the object that ends a line of a log: JSON, a dictionary of Python, or pairs of names
    and values; None for other lines.
    """
    at = line.find("{")
    if at > 0 and line.rstrip().endswith("}") and (content := parsed(line[at:])) is not None:
        return content if isinstance(content, dict) and len(content) >= _LEAST_KEYS else None
    if at >= 0 and line.rstrip().endswith("}"):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            content = ast.literal_eval(line[at:].strip())
            return content if isinstance(content, dict) and is_run(content) else None
        return None
    if len(line) > _LONGEST or ("=" not in line and ": " not in line):
        return None
    pairs = _PAIRS.search(line)
    found = _PAIR.findall(pairs[0]) if pairs else []
    named: dict[str, object] = {name: value.strip(" \"'") for name, value in found}
    return named if len(named) == len(found) and is_run(named) else None


def is_run(content: Mapping[str, object]) -> bool:
    """Return whether names are of a run and not of a step of it: one is a measurement."""
    words = {word for name in content for word in words_of(str(name))}
    is_measured = any(is_measurement(str(n)) and is_number(bare(v)) for n, v in content.items())
    return len(content) >= _LEAST_KEYS and is_measured and words.isdisjoint(_STEPS)


def bare(value: object) -> str:
    """Return the first word of a value: a number without its unit."""
    return (str(value).split() or [""])[0]


def names_of(pairs: str) -> dict[str, str]:
    """Return the values of pairs by name."""
    return dict(_PAIR.findall(pairs))


def with_settings(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a log; pairs of settings on a line are put before those of results below.

    `CONFIG threads=4` above `RESULT energy_j=5.5 time_s=2` holds until the next such line.
    """
    held, is_above, is_open = "", False, False
    for line in lines:
        whole = line
        if "=" in line and len(line) <= _LONGEST and (pairs := _SOME_PAIRS.search(line)):
            names = [*names_of(pairs[0])]
            was_open, is_open = is_open, not any(map(is_measurement, names))
            if is_open:
                is_new = any(map(is_setting, names)) and not is_above
                before = held if was_open and not names_of(held).keys() & {*names} else ""
                held = f"{before} {pairs[0].strip()} " if is_new else held
            elif not held:
                # Results above the first settings may be those of the settings below them.
                is_above |= len(names) > 1
            elif len(names) > 1 and not names_of(held).keys() & {*names}:
                whole = f"{line[: pairs.start()]}{held}{pairs[0].lstrip()}"
        yield whole


@dataclass(frozen=True, slots=True)
class LoggedObjects:
    """The objects at the ends of lines of a log that are its rows.

    Attributes:
        names: Names that most of them have.
        heading: Heading of the words before each of them, such as the name of what ran.
        places: Places of those words, of which not all lines have the same; none if all do.
    """

    names: frozenset[str]
    heading: str
    places: tuple[int, ...]

    def row(self, line: str) -> dict[str, object] | None:
        """Return the row that a line ends with; None if it has half of the names at most."""
        content = logged_object(line)
        if content is None or 2 * len(self.names & {*content}) <= len(self.names):
            return None
        words = _words_before(line, content)
        text = " ".join(words[at] for at in self.places if at < len(words))
        return {self.heading: text, **content} if self.places else content

    def is_other(self, line: str) -> bool:
        """Return whether a line that is no row has values too."""
        return _PAIRS.search(line[:_LONGEST]) is not None or logged_object(line) is not None


def logged_objects(lines: Iterable[str]) -> LoggedObjects | None:
    """Return the objects of a log: some of its lines end with such that have the same names."""
    some = [line for line in islice(with_settings(lines), LOGGED_LINES) if line.strip()]
    found = [(line, content) for line in some if (content := logged_object(line))]
    names = Counter(tuple(content) for _, content in found)
    usual, often = names.most_common(1)[0] if names else ((), 0)
    if often < max(LEAST_LOGGED, 0.1 * len(some)):
        return None
    words = [_words_before(line, content) for line, content in found if tuple(content) == usual]
    columns = [{*column} for column in zip(*words, strict=False)]
    places = tuple(at for at, column in enumerate(columns) if 1 < len(column) <= often / 2)
    heading = next(each for each in ("name", "line", "text") if each not in usual)
    return LoggedObjects(frozenset(usual), heading, places)


def _words_before(line: str, content: Mapping[str, object]) -> list[str]:
    """Return the words of a line before its object: what ran, or a state of it."""
    begins = (line.find(mark) for mark in ("{", next(iter(content))))
    return _WORD.findall(line[: min((at for at in begins if at >= 0), default=0)])


@dataclass(frozen=True, slots=True)
class LoggedRows:
    """The lines of a log that are rows of the header on its first line.

    Attributes:
        cells: How many a row has.
        numeric: Places of those that are numbers.
    """

    cells: int
    numeric: tuple[int, ...]

    def has(self, line: str) -> bool:
        """Return whether a line is a row."""
        cells = [cell.strip() for cell in line.split(",")]
        return len(cells) == self.cells and all(
            is_number(cell) == (at in self.numeric) for at, cell in enumerate(cells)
        )


def logged_rows(lines: Sequence[str]) -> LoggedRows | None:
    """Return how to tell the rows from the other lines of a log that begins with their header.

    None unless there are both, and each row has as many cells, with numbers in the same places and
    texts in others: any line of numbers may be another thing's.
    """
    first, *others = [line for line in islice(lines, LOGGED_LINES) if line.strip()] or [""]
    names = [name.strip() for name in first.lstrip("\ufeff").split(",")]
    is_header = len({*names}) == len(names) >= _LEAST_CELLS and all(map(_NAME.fullmatch, names))
    split = [[cell.strip() for cell in line.split(",")] for line in others if "," in line]
    rows = [cells for cells in split if len(cells) == len(names)]
    forms = [{is_number(cells[at]) for cells in rows} for at in range(len(names))]
    numeric = [at for at, form in enumerate(forms) if form == {True}]
    is_log = is_header and len(rows) >= LEAST_LOGGED and len(rows) == len(split) < len(others)
    is_log &= all(len(form) == 1 for form in forms)
    is_told = 0 < len(numeric) < len(names)
    return LoggedRows(len(names), tuple(numeric)) if is_log and is_told else None
