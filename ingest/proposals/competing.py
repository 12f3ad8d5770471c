"""Which names are of what ran, and which of these compete where nothing else would be compared."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ingest.formats.json_cells import Cell
from ingest.proposals.guess import Guess, decides
from ingest.proposals.path_parts import PathColumn, is_plain
from ingest.settings.column_names import WORDS, name_of_values
from ingest.settings.heading_words import words_of

# Words of headings that do not say what a column is of.
_SAY_NOTHING: Final = frozenset({"name", "label", "tag", "title", "type", "id"})
# `eng_Latn`, `pt-BR`
_SPOKEN: Final = re.compile(r"[a-z]{2,3}[-_][A-Z][A-Za-z]{1,3}")
# `size_64mb`, `skew_0.99`: a word and a number, of which several words have several.
_POINT: Final = re.compile(r"([A-Za-z]+)[-_ ]?\d+(?:\.\d+)?[A-Za-z]*")
# What may be written in several forms.
_PROGRAMS: Final = frozenset({"program", "application", "app", "script", "implementation"})
# Numbers of so many digits name something.
_NAMED: Final = 5


def name_what_ran(guess: Guess, others: Sequence[Guess | PathColumn]) -> bool:
    """Return whether names say by themselves that they are of what ran, beside other free knobs.

    Benchmarks, as under `Algorithm`, but not ways to sort; programs under a heading that says
    nothing; languages that people speak; points of several sweeps, beside names that were compared.
    """
    names = {str(cell).strip() for cell in guess.cells if cell}
    if not others or not names:
        return False
    if guess.heading.has("language", "lang") and all(map(_SPOKEN.fullmatch, names)):
        return True
    of = name_of_values(names)
    if {*guess.heading.words} <= _SAY_NOTHING:
        return of in WORDS["given"]
    points = [*filter(None, map(_POINT.fullmatch, names))]
    sweeps = Counter(point[1] for point in points)
    is_several = len(points) == len(names) and len(sweeps) > 1 < min(sweeps.values())
    if is_several and any(each.kind == "text" for each in others):
        return True
    return of == "benchmark" and not any("sort" in name.lower() for name in names)


def let_one_compete(
    parts: Sequence[PathColumn], texts: Mapping[str, Sequence[str]], knobs: Sequence[Guess] = ()
) -> list[PathColumn]:
    """Return the parts of paths; if each place has one setting, part of what ran competes.

    That are forms of one program, what it ran on or by, or names of files that nothing explains: a
    server a file. All settings follow from it, and are what ran then, such as the file's folder.

    Args:
        texts: By name of a part its text in each row.
        knobs: Those of the rows.
    """
    own: list[Guess | PathColumn] = [knob for knob in knobs if len({*knob.cells}) > 1]
    own += [part for part in parts if part.role == "knob" and part.name != "replicate"]
    cells = [texts[each.name] if isinstance(each, PathColumn) else each.cells for each in own]
    given = [at for at, each in enumerate(own) if each.is_given]
    free = [at for at, each in enumerate(own) if not each.is_given]
    # What is constant here differs in other tables.
    if any(len({*cells[at]}) == 1 for at in free) or _differ(cells, given, free):
        return [*parts]
    for at in given:
        ran = [*free, *(each for each in given if each != at)]
        is_whole = all(decides(cells[at], cells[each]) for each in free)
        if is_whole and (why := _may_compete(own[at])) and _differ(cells, ran, [at]):
            return _compete(parts, own[at], [own[each] for each in free], why)
    return [*parts]


def _differ(cells: Sequence[Sequence[Cell]], ran: Sequence[int], free: Sequence[int]) -> bool:
    """Return whether any rows of one place have several settings."""
    rows = [*zip(*cells, strict=True)]
    places = {tuple(row[at] for at in ran) for row in rows}
    return len(places) < len({tuple(row[at] for at in (*ran, *free)) for row in rows})


def _may_compete(column: Guess | PathColumn) -> str:
    """Return what of a column says that people compare it; empty if it is work."""
    if isinstance(column, PathColumn):
        is_compared = is_plain(column) or not WORDS["compared"].isdisjoint(words_of(column.name))
        return "names" if is_compared and column.kind == "text" else ""
    if column.kind != "text":
        return ""
    # Workloads and data, such as `ycsb_a` and `ycsb_b`, are other work.
    forms = _forms({*map(str, column.cells)})
    if forms and (column.heading.has(*_PROGRAMS) or forms <= WORDS["variants"]):
        return "forms of one program"
    is_free = not (column.is_declared or column.to)
    return "the only names" if is_free and column.heading.has(*WORDS["compared"]) else ""


def _compete(
    parts: Sequence[PathColumn],
    column: Guess | PathColumn,
    below: Sequence[Guess | PathColumn],
    why: str,
) -> list[PathColumn]:
    """Return the parts, of which, or of the knobs, a column competes in what follows from it."""
    if isinstance(column, Guess):
        column.is_given = column.is_declared = False
        column.why = f"{why}: {column.count} names"
    for guess in below:
        if isinstance(guess, Guess):
            guess.is_given = True
    given = {id(part): part is not column for part in (column, *below)}
    return [replace(part, is_given=given.get(id(part), part.is_given)) for part in parts]


def _forms(names: set[str]) -> set[str]:
    """Return the words of the one place in which names differ; nothing if they differ in more."""
    rows = [words_of(name) for name in names]
    if len({*map(len, rows)}) > 1:
        return set()
    places = [{*column} for column in zip(*rows, strict=True)]
    shared = {word for each in places if len(each) == 1 for word in each if word.isalpha()}
    apart = [each for each in places if len(each) > 1]
    # Of `sort_100` and `sort_1000` the number is how much was done; a long one is a name.
    is_named = all(not word.isdigit() or len(word) >= _NAMED for each in apart for word in each)
    return apart[0] if len(apart) == 1 and is_named and shared - WORDS["general"] else set()
