"""What the outputs of known tools state of their settings, and what only their paths tell."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from data.errors import FormatError
from ingest.files.blocks import read_head
from ingest.formats import FORMATS
from ingest.formats.text_log import presets
from ingest.proposals.path_parts import PathColumn
from ingest.records import ReadContext, Reading
from ingest.settings.heading_words import words_of

# Of each file so many bytes are read.
MOST_BYTES: Final = 1 << 20


def telling_parts(
    columns: Sequence[PathColumn],
    found: Mapping[str, re.Match[str]],
    form: str,
    place_of: Callable[[str], Path],
) -> list[str]:
    """Return the parts of paths without which runs that state equal settings are not told apart.

    Folders come first: where one is needed the names of files may say again what these state.
    """
    stated = {path: settings_in(place_of(path), form) for path in found}
    needed: list[str] = []
    for column in columns:
        keys = {p: (stated[p], *(m[name] for name in needed)) for p, m in found.items()}
        alike: dict[Hashable, set[str | None]] = defaultdict(set)
        for path, key in keys.items():
            alike[key].add(found[path][column.name])
        if any(len(values) > 1 for values in alike.values()):
            needed.append(column.name)
    return needed


def settings_in(file: Path, form: str) -> Hashable:
    """Return what the output of a tool states that was set, of all its parts."""
    readings = _readings_of(file, form)
    return tuple(tuple(sorted((n, str(v)) for n, v in r.knobs.items())) for r in readings)


def states_a_load(file: Path, form: str | None) -> bool:
    """Return whether the output of a tool states a rate of requests that was asked for: `-R 2000`
    of wrk2.
    """
    return any("load_qps" in reading.knobs for reading in _readings_of(file, form))


def tells_apart(word: str, file: Path, form: str) -> bool:
    """Return whether a word stands in what tells parts of a file apart: it names one of them."""
    if next(each for each in FORMATS if each.name == form).list_parts is None:
        return False
    stated = [{str(value) for value in each.knobs.values()} for each in _readings_of(file, form)]
    apart = set[str]().union(*stated) - set[str].intersection(*stated) if stated else ()
    return any({*words_of(word)} <= {*words_of(text)} for text in apart)


def stated_in(file: Path, form: str) -> set[str]:
    """Return the settings that the log of a known tool states of all its runs.

    They are written as in paths: in small letters, whole numbers as such.
    """
    if form not in {*(preset.name for preset in presets()), "key_values"}:
        return set()
    stated = [
        {_as_in_paths(value) for name, value in reading.knobs.items()
         if name not in {column.name for column in reading.columns if column.role == "label"}}
        for reading in _readings_of(file, form)
    ]  # fmt: skip
    return set.intersection(*stated) if stated else set()


def _readings_of(file: Path, form: str | None) -> list[Reading]:
    """Return what a file of a known format says, part by part; nothing if it cannot be read."""
    known = next((each for each in FORMATS if each.name == form), None)
    context = ReadContext(file.name, 1.0)
    if known is None:
        return []
    try:
        content = read_head(file, MOST_BYTES)
        names = known.list_parts([content], context) if known.list_parts is not None else []
        parts: list[str | None] = [*names] or [None]
        readings = [known.read([content], replace(context, part=part)) for part in parts]
    except (FormatError, OSError):
        return []
    return [reading for reading in readings if isinstance(reading, Reading)]


def _as_in_paths(value: float | str) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).lower()
