"""Several outputs of one tool in a text, one below the other, and what was set for each.

A script that appends to a file, or a person who pastes into Markdown, writes titles, `name=value`
or commands above the outputs; each holds for all outputs below it until it recurs.
"""

import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from data.declared import Column, Kind
from data.knob_table import KNOB_TABLE
from ingest.formats.logged_blocks import field_of, title_of
from ingest.formats.logged_rows import names_of
from ingest.formats.run_marks import Mark, mark_in, window_of
from ingest.records import Problem, Reading, UtcWindow
from ingest.settings.column_names import WORDS, clean_name, name_of_values
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_measurement, is_setting
from ingest.settings.units import unit_of

# Beginnings of the names of what titles, options of commands and lines `name: value` say.
_HEADING: Final = "heading"
_OPTION_MARK: Final = "--"
_FIELD: Final = ":"
_PAIRS: Final = re.compile(
    r"[\w./-]+\s?=\s?\S+(?: [A-Za-z]{1,3})?(?:[\s,;|]+[\w./-]+\s?=\s?\S+)*[,;]?"
)
_PAIR: Final = re.compile(
    r"([A-Za-z][\w./-]*)\s?[=:]\s?([^\s,;|=:]+(?: ?(?:[kMG]?Hz|[kKMG]i?B|m?W)\b)?)"
)
# `$ sysbench --threads=4 run`, `me@host:~$ ./bench -t 4`
_OPTION: Final = re.compile(r"(?<=\s)--?([a-z][\w-]*)(?:=|\s+)([\w.]+)(?=\s|$)")
_COMMAND: Final = re.compile(r"\s*(?:[\w.-]+@[\w.-]+[^$#%]*|\S*[\w/~])?[$%] \S.*")
_AMOUNT: Final = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z]*)")
_FILLERS: Final = WORDS["fillers"]
_NO_SETTINGS: Final = WORDS["replicates"] | WORDS["identifiers"] | {"number", "no", "test", "step"}
_KINDS: Final = {knob.column: knob.kind for knob in KNOB_TABLE}
# What is said with a unit alone: `1200 MHz`, `60 W`.
_UNNAMED: Final = {"frequency": "frequency", "power": "power limit"}


@dataclass(frozen=True, slots=True)
class Output:
    """One output of a tool.

    Attributes:
        text: The output.
        knobs: What stands above it, by column.
        columns: Declarations of these, without those of the lake.
        titles: Columns of `knobs` with what titles say beside settings.
        window: The time between lines that mark its begin and its end; None without these.
    """

    text: str
    knobs: Mapping[str, float | int | str] = field(default_factory=dict)
    columns: tuple[Column, ...] = ()
    titles: frozenset[str] = frozenset()
    window: UtcWindow | None = None


def cut(text: str, spans: Sequence[tuple[int, int]]) -> list[Output]:
    """Return the outputs of a text.

    Args:
        spans: Where each begins, and where the last value of it is; what stands behind that is
            above the next one.
    """
    bounds = [0, *(end for _, end in spans)]
    gaps = [text[end:begin] for end, (begin, _) in zip(bounds, spans, strict=False)]
    gaps.append(text[bounds[-1] :])
    marks = [[mark for line in gap.splitlines() if (mark := mark_in(line))] for gap in gaps]
    said: list[dict[str, str]] = []
    held: list[tuple[str, dict[str, str]]] = []
    for gap in gaps[:-1]:
        for line in gap.splitlines():
            _take(line, held)
        said.append({name: value for _, values in held for name, value in values.items()})
    columns = _columns(said)
    own = tuple(column for _, column in columns if column.name not in _KINDS)
    heads = frozenset(column.name for name, column in columns if name.startswith(_HEADING))
    begins = [*(begin for begin, _ in spans), len(text)]
    windows = (_window(above, below) for above, below in pairwise(marks))
    return [
        Output(text[begin:end], _knobs(values, columns), own, heads, window)
        for (begin, end), values, window in zip(pairwise(begins), said, windows, strict=True)
    ]


def settings_of(titles: Sequence[str]) -> tuple[list[dict[str, float | int | str]], list[Column]]:
    """Return what titles of runs say was set for each, and the declarations of what is not the
    lake's own.
    """
    said = [settings_in(title, f"{_HEADING} 1") for title in titles]
    columns = _columns(said)
    own = [column for _, column in columns if column.name not in _KINDS]
    return [_knobs(values, columns) for values in said], own


def _window(above: Sequence[Mark], below: Sequence[Mark]) -> UtcWindow | None:
    """Return the time of an output between marks of its begin and its end."""
    begin = next((mark for mark in reversed(above) if mark.is_begin), None)
    end = next((mark for mark in below if not mark.is_begin), None)
    return window_of(begin, end) if begin and end else None


def add_settings(
    reading: Reading, output: Output, outputs: Sequence[Output], said_in: Callable[[str], Hashable]
) -> None:
    """Add what stands above an output to what the tool says itself, but titles that say the same.

    Args:
        outputs: All of the text; where nothing says what was set for them, the first is doubted.
        said_in: Maps the text of an output to the settings that it states itself.
    """
    stated = [said_in(each.text) for each in outputs] if len(outputs) > 1 else []
    own = {**reading.knobs}
    reading.utc_window = reading.utc_window or output.window
    for name, value in output.knobs.items():
        titles = {(at, each.knobs.get(name)) for at, each in zip(stated, outputs, strict=False)}
        is_known = name in own or (name == "thread_count" and "threads" in own)
        if not is_known and (name not in output.titles or len(titles) > len({*stated})):
            reading.knobs[name] = value
    added = (each for each in output.columns if each.name in reading.knobs and each.name not in own)
    reading.columns = (*reading.columns, *added)
    is_told = len({*stated}) > 1 or any(each.knobs for each in outputs)
    if stated and output is outputs[0] and not is_told:
        detail = f"{len(outputs)} outputs, one below the other, and nothing says what was set for "
        detail += "each: taken as repetitions"
        reading.problems.append(Problem("several_outputs", "doubted", detail))


def _take(line: str, held: list[tuple[str, dict[str, str]]]) -> None:
    """Add what a line above an output says to what holds; what recurs ends what was below it."""
    mark, values = _read(line, held)
    if not values:
        return
    recurs = [n for n, (of, each) in enumerate(held) if _is_again(mark, of, values, each)]
    del held[recurs[0] if recurs else len(held) :]
    held.append((mark, values))


def _is_again(mark: str, other: str, values: Collection[str], others: Collection[str]) -> bool:
    """Return whether a title is of the level of another or above it, or settings recur."""
    if mark.startswith("#"):
        return other.startswith("#") and len(mark) <= len(other)
    return mark == other if mark else bool({*values} & {*others})


def _read(line: str, held: Sequence[tuple[str, object]]) -> tuple[str, dict[str, str]]:
    """Return the marks of a title and the settings that a line says; none for other lines."""
    if mark := mark_in(line):
        return "@", settings_in(mark.rest, f"{_HEADING} 1") if mark.is_begin else {}
    if _COMMAND.fullmatch(line):
        found = _OPTION.findall(line)
        return "$", {
            f"{_OPTION_MARK}{name}": value for name, value in found if not is_measurement(name)
        }
    if title := title_of(line):
        sign, text = title
        others = [*dict.fromkeys(of for of, _ in held if of and of[0] != "#"), sign]
        level = len(sign) if sign[0] == "#" else 1 + others.index(sign)
        return sign, settings_in(text, f"{_HEADING} {level}")
    named: Mapping[str, str] = {}
    if _PAIRS.fullmatch(line.strip()):
        named = names_of(line.strip())
    elif (pair := field_of(line)) and is_setting(pair[0]):
        # A tool writes such lines too.
        named = {f"{_FIELD}{pair[0]}": pair[1]}
    return "", {n: v.strip("\"' ") for n, v in named.items() if not is_measurement(n)}


def settings_in(text: str, heading: str) -> dict[str, str]:
    """Return the settings that a title says: `threads=4`, `4 threads`, `governor performance`.

    Args:
        heading: Name of what it says else.
    """
    said = dict(_PAIR.findall(text))
    words = _PAIR.sub(" ", text).replace(",", " ").split()
    rest: list[str] = []
    while words:
        word, *words = words
        following = words[0] if words else ""
        amount = _AMOUNT.fullmatch(word)
        unit = unit_of(amount[2] or following) if amount else None
        if amount and unit and unit.quantity in _UNNAMED:
            words = words if amount[2] else words[1:]
            is_named = bool(rest) and (is_setting(rest[-1]) or is_measurement(rest[-1]))
            name = rest.pop() if is_named else _UNNAMED[unit.quantity]
            said[name] = f"{amount[1]} {unit.text}"
        elif amount and not amount[2] and rest and _is_name(rest[-1]):
            said[rest.pop()] = word
        elif amount and not amount[2] and _is_name(following):
            said[following], words = word, words[1:]
        elif is_setting(word) and following and not _is_name(following) and not rest:
            if _AMOUNT.fullmatch(following):
                rest.append(word)
            else:
                said[word], words = following, words[1:]
        else:
            rest.append(word)
    told = [word for word in rest if any(map(str.isalnum, word))]
    if any(word.lower() not in _FILLERS for word in told):
        said[heading] = " ".join(told)
    return {name: value for name, value in said.items() if not is_measurement(name)}


def _is_name(word: str) -> bool:
    """Return whether a number beside a word is of it."""
    words = words_of(word)
    return is_setting(word) or not _NO_SETTINGS.isdisjoint(words)


def _columns(said: Sequence[Mapping[str, str]]) -> list[tuple[str, Column]]:
    names = dict.fromkeys(name for each in said for name in each)
    return [*filter(None, (_column(name, said) for name in names))]


def _column(name: str, said: Sequence[Mapping[str, str]]) -> tuple[str, Column] | None:
    """Return the knob of what is said above outputs; None for what numbers repetitions, and for
    titles, options and lines `name: value` that are the same above all or not above each.
    """
    texts = [each[name] for each in said if name in each]
    is_same = len({*texts}) == 1 and len(texts) == len(said)
    words = words_of(name)
    is_sure = is_setting(name) and not name.startswith((_OPTION_MARK, _FIELD, _HEADING))
    if (not is_sure and (is_same or len(texts) < len(said))) or not _NO_SETTINGS.isdisjoint(
        words[-1:]
    ):
        return None
    numbers = [_AMOUNT.fullmatch(text.replace(" ", "")) for text in texts]
    units = {number[2] if number else None for number in numbers}
    unit = units.pop() if len(units) == 1 else None
    is_number = unit is not None and (unit == "" or unit_of(unit) is not None)
    is_whole = unit == "" and all(text.isdigit() for text in texts)
    kind: Kind = "whole" if is_whole else "real" if is_number else "text"
    title = name.removeprefix(_OPTION_MARK).removeprefix(_FIELD)
    if name.startswith(_HEADING):
        title = name_of_values({*texts}) or name.removesuffix(" 1")
    bare = title.lower()
    if bare != "threads" and _KINDS.get(bare) == kind and not unit:
        return name, Column(bare, "knob", kind, bare, bare)
    title = "thread count" if bare == "threads" else title
    is_given = not WORDS["given"].isdisjoint(words)
    shown = (unit or "") if is_number else ""
    column = clean_name(title, kind, role="knob")
    return name, Column(column, "knob", kind, title, title, shown, is_given=is_given)


def _knobs(
    values: Mapping[str, str], columns: Sequence[tuple[str, Column]]
) -> dict[str, float | int | str]:
    knobs: dict[str, float | int | str] = {}
    for name, column in columns:
        if name not in values:
            continue
        number = _AMOUNT.fullmatch(values[name].replace(" ", ""))
        if column.kind == "text" or number is None:
            knobs[column.name] = values[name]
        else:
            knobs[column.name] = int(number[1]) if column.kind == "whole" else float(number[1])
    return knobs
