"""What parts of paths are called, beside the files of other formats and beside what files state.

`sysbench_600.txt` and `ina219_600.csv` are of one run: a number in both names is one setting. Where
all files of a name state it, as `freq: 600`, it is called as they call it.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from data.errors import FormatError
from ingest.files.blocks import read_head
from ingest.files.text_lines import decode_text
from ingest.proposals.name_tokens import renamed
from ingest.proposals.path_parts import PathColumn, read_paths
from ingest.settings.column_names import clean_name
from ingest.settings.headings import is_measurement, is_setting

Named = tuple[str, list[PathColumn]]
# What was set stands in the first lines of a file.
_HEAD_BYTES: Final = 1 << 12
# Files that are read for what they call a number.
_MOST_READ: Final = 200
_UNSAID: Final = re.compile(r"replicate|(?:file|folder)(?:_number)?(?:_\d+)?")
_STATED: Final = re.compile(r"([A-Za-z][\w ./-]{0,30}?)\s*[:=]\s*(\d+(?:\.\d+)?)(?![\d.:])")


def differ_alike(groups: Sequence[Sequence[str]]) -> bool:
    """Return whether paths of several formats are of the same runs: a log, and its power beside it.

    They differ in the same columns, each with as many values, or in parts of the same texts.
    """
    first, *others = map(read_paths, groups)
    texts = _texts(first, groups[0])
    return bool(first[1]) and all(
        other[1] == first[1] or _texts(other, paths) == texts
        for other, paths in zip(others, groups[1:], strict=True)
    )


def read_beside(
    paths: Sequence[str],
    others: Iterable[Sequence[str]],
    place_of: Callable[[str], Path],
    scores: Collection[str] = (),
) -> Named:
    """Return the pattern and the columns of paths, whose parts are called as those of others are.

    Args:
        others: Paths of other formats.
        place_of: Returns where a path is on the disk.
        scores: Paths of scores of the same runs.
    """
    pattern, columns = _read(paths, place_of, scores)
    texts = _texts((pattern, columns), paths)
    read = [(_read(each, place_of), each) for each in others] if columns else []
    rows = [columns, *(own[1] for own, each in read if _texts(own, each) == texts)]
    taken: list[str] = []
    named = []
    for same in zip(*rows, strict=True):
        best = max(same, key=_told)
        if not _told(best) and len({column.name for column in same}) > 1:
            best = replace(same[0], name="file" if best.kind == "text" else "file_number")
        if best.name in taken:
            best = replace(best, name=clean_name(best.name, f"{len(taken) + 1}", taken, "knob"))
        taken.append(best.name)
        named.append(best)
    return _renamed(pattern, columns, named), named


def _texts(read: Named, paths: Sequence[str]) -> set[tuple[str, ...]]:
    """Return the texts of all columns for each path; nothing if the pattern does not fit all."""
    matches = [re.fullmatch(f"(?:.*/)?{read[0]}", path) for path in paths]
    rows = {tuple(match[column.name] for column in read[1]) for match in matches if match}
    return rows if None not in matches else set()


def _told(column: PathColumn) -> int:
    """Return how much the name of a column says of what was set: a word before it may be a tool."""
    if column.name == "replicate":
        return 1
    return 2 * (is_setting(column.name) and not is_measurement(column.name))


def _renamed(pattern: str, columns: Sequence[PathColumn], named: Sequence[PathColumn]) -> str:
    """Return a pattern with other names of its groups, which may be names of others of these."""
    names = {old.name: f"{new.name}\0" for old, new in zip(columns, named, strict=True)}
    return renamed(pattern, names).replace("\0", "")


def _read(
    paths: Sequence[str], place_of: Callable[[str], Path], scores: Collection[str] = ()
) -> Named:
    """Return the pattern and the columns of paths; numbers that no word explains are called as all
    files call them.
    """
    pattern, columns = read_paths(paths, beside=scores)
    unsaid = [c for c in columns if c.kind != "text" and c.values > 1 and _UNSAID.fullmatch(c.name)]
    common: dict[str, set[str]] = {}
    for path in paths[:_MOST_READ] if unsaid else ():
        match = re.fullmatch(f"(?:.*/)?{pattern}", path)
        stated = _stated_in(place_of(path))
        for column in unsaid:
            own = {name for name, number in stated if match and number == match[column.name]}
            common[column.name] = common.get(column.name, own) & own
    named = []
    for column in columns:
        names = sorted(common.get(column.name, ()), key=lambda name: (len(name), name))
        others = [each.name for each in columns if each is not column]
        own_name = clean_name(names[0], column.kind, others, "knob") if names else column.name
        named.append(replace(column, name=own_name))
    return _renamed(pattern, columns, named), named


def _stated_in(file: Path) -> set[tuple[str, str]]:
    """Return names of settings and their numbers in the first lines of a file."""
    with suppress(FormatError, OSError):
        found = _STATED.findall(decode_text(read_head(file, _HEAD_BYTES)))
        return {(name.strip().lower(), number) for name, number in found if is_setting(name)}
    return set()
