"""What traces state in all of their samples, each another value: it is set, as in a table of runs.

A limit of power, the clock that was applied, the size of a batch, beside what was measured.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data.errors import FormatError
from ingest.files.blocks import read_head
from ingest.formats.trace import stated_in
from ingest.formats.trace_blocks import OF_SETTINGS
from ingest.formats.trace_cells import is_number, number_text, unit_of
from ingest.formats.trace_headings import read_heading
from ingest.proposals.guess import Guess, are_twins
from ingest.proposals.path_parts import PathColumn
from ingest.proposals.roles import guess_of
from ingest.proposals.sections import column_section, guessed_lines, key_of, text_of
from ingest.settings import headings
from ingest.settings.column_names import WORDS, clean_name

# Traces of which the beginnings are read, and bytes of each.
_MOST_READ: Final = 100
_MOST_BYTES: Final = 1 << 16
# What a device allows is no setting.
_NOT_SET: Final = WORDS["statistics"] | {"default", "enforced"}


@dataclass(frozen=True, slots=True)
class StatedSetting:
    """A column of traces that was set.

    Attributes:
        texts: By path what the samples of a trace have.
    """

    guess: Guess
    texts: Mapping[str, str]

    @property
    def name(self) -> str:
        """The column of `runs`."""
        return clean_name(self.guess.title, self.guess.kind, role="knob")

    @property
    def section(self) -> str:
        """The declaration of the column."""
        keys = {"title": self.guess.title, "unit": self.guess.unit}
        return column_section(self.name, "knob", self.guess.kind, keys, self.guess.is_given)

    @property
    def line(self) -> str:
        """The line of `[names.columns]`."""
        return f"{key_of(self.guess.heading.text)} = {text_of(self.name)}"

    def is_said_by(self, part: PathColumn, texts: Mapping[str, str | None]) -> bool:
        """Return whether a part of paths says the same of every trace, or numbers its values."""
        pairs = [(_plain(texts.get(path) or ""), _plain(own)) for path, own in self.texts.items()]
        is_number = part.kind != "text" and not headings.is_setting(part.name)
        return all(part == own for part, own in pairs) or (
            is_number and are_twins(*zip(*pairs, strict=True))
        )


def stated_settings(
    paths: Sequence[str], place_of: Callable[[str], Path]
) -> dict[str, StatedSetting]:
    """Return the columns that were set, by name: one value in each trace, others in others.

    A column that changes within one of the traces was measured in all of them.
    """
    traces = {path: _read(place_of(path)) for path in paths[:: 1 + len(paths) // _MOST_READ]}
    names = dict.fromkeys(name for own in traces.values() for name in own)
    columns = {name: {p: own[name] for p, own in traces.items() if name in own} for name in names}
    judged = (
        StatedSetting(guess, texts)
        for name, texts in columns.items()
        if all(texts.values()) and len({*texts.values()}) > 1
        if (guess := _judged(name, [*texts.values()])) is not None
    )
    return {each.name: each for each in judged}


def set_lines(parts: Sequence[str], stated: Mapping[str, StatedSetting]) -> list[str]:
    """Return the lines of an entry that say what was set, by paths and by what traces state."""
    lines = [line for said in said_as_set(parts, [*stated]) for line in guessed_lines(said)]
    columns = [each.line for each in stated.values()]
    return [*lines, *["[names.columns]"] * bool(columns), *columns]


def said_as_set(parts: Sequence[str], stated: Sequence[str]) -> list[str]:
    """Return the line that says what was set, by paths and by what traces state."""
    sources = [*["the path"] * bool(parts), *["the samples"] * bool(stated)]
    return [f"set: {', '.join((*parts, *stated))}, from {' and '.join(sources)}"] * bool(sources)


def _judged(name: str, texts: Sequence[str]) -> Guess | None:
    """Return what a column that each run has once is taken for if it was set."""
    heading = headings.read_heading(name, unit_of(texts[0]))
    of_trace = read_heading(name).quantity
    is_named = heading.has(*OF_SETTINGS) and not heading.has(*_NOT_SET)
    if of_trace not in ("", "frequency") or not (is_named or of_trace == "frequency"):
        return None
    cells = [number_text(text) if is_number(text) else text for text in texts]
    guess = guess_of(heading, cells)
    return guess if guess.role == "knob" else None


def _read(file: Path) -> dict[str, str]:
    try:
        head = read_head(file, _MOST_BYTES)
        # The last line of a longer file is cut.
        head = head if len(head) < _MOST_BYTES else head.rpartition(b"\n")[0] or head
        return stated_in([head], file.name)
    except (FormatError, OSError):
        return {}


def _plain(text: str) -> str:
    """Return a text as names of files have it: `250` for `250.00 W`."""
    number = number_text(text)
    return text.lower() if number == "nan" else re.sub(r"\.0*$", "", number)
