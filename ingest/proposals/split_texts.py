"""Identifiers of the runs of a table that state several settings.

`crowd_x264_crf22` of a column `label` gives two names and a number, as names of files do.
"""

import math
import re
from collections.abc import Collection, Sequence
from typing import Final

from ingest.formats.json_cells import Cell
from ingest.formats.table_text import UNSET
from ingest.formats.written_numbers import is_number
from ingest.proposals.heading_roles import is_measured
from ingest.proposals.path_parts import PathColumn, is_replicate, read_paths
from ingest.proposals.row_groups import are_twins, decides
from ingest.settings.column_names import WORDS, clean_name
from ingest.settings.headings import quantity_of, read_heading, words_of

# A text under such a heading tells a run from others; `setting` is of headings that are runs.
_OF_RUNS: Final = (
    WORDS["identifiers"] | WORDS["replicates"] | {"experiment", "test", "label", "tag", "job"}
) - {"seed"} | {"setting"}
_COUNTS: Final = "|".join(WORDS["replicates"] | {"r", "i"})
_COUNTED: Final = rf"(?i:(?<![a-z])(?:{_COUNTS})[-_.=@+ \\]*\(\?P<replicate>)"
# A sweep has so many texts, and at least this share of all combinations of their parts.
_FEWEST: Final = 4
_MOST: Final = 5_000
_FILLED: Final = 0.5
# `bs=32,lr=0.1` states each setting by its name, under any heading.
_NAMED: Final = re.compile(r"([,;&| ]*)([A-Za-z][\w.-]*) *= *([^=,;&|\s]+)")
_SEPARATED: Final = re.compile(r"[A-Za-z0-9][-_.=@ :|][A-Za-z0-9]")


def split_columns(
    headings: Sequence[str], columns: Sequence[Sequence[Cell]], declared: Collection[str]
) -> dict[str, tuple[str, list[PathColumn]]]:
    """Return by heading the pattern of texts that state settings, and its groups.

    Nothing of texts whose parts other columns have already.
    """
    splits = {}
    taken: set[str] = set(headings)
    for heading, cells in zip(headings, columns, strict=True):
        texts = {str(cell).strip() for cell in cells if cell is not None} - UNSET
        is_named = _FEWEST <= len(texts) <= _MOST and all(map(_SEPARATED.search, texts))
        words = {*words_of(heading)}
        is_named = is_named and bool(words & _OF_RUNS) and not words & (WORDS["set"] - _OF_RUNS)
        if heading in declared:
            continue
        others = [c for c in columns if c is not cells]
        if stated := _stated_parts(texts, taken):
            pattern, named = stated
            there = [[str(cell).strip() for cell in other] for other in others]
            matches = [re.fullmatch(pattern, str(cell).strip()) for cell in cells]
            texts_of = {
                p.name: [match[p.name] if match else "" for match in matches] for p in named
            }
            parts = [part for part in named if texts_of[part.name] not in there]
            for name in {part.name for part in named} - {part.name for part in parts}:
                pattern = pattern.replace(f"(?P<{name}>", "(?:")
            if parts:
                splits[heading] = pattern, parts
                taken |= {part.name for part in parts}
            continue
        if not is_named or _recurs(cells, headings, columns):
            continue
        if any("/" in t or is_number(t) for t in texts):
            continue
        pattern, parts = read_paths(sorted(texts), f"{clean_name(heading, 'text')}_part")
        settings = [part for part in parts if part.role == "knob" or part.name == "replicate"]
        combinations = math.prod(part.values for part in settings)
        if len(settings) < 2 or not _FILLED * combinations <= len(texts) <= combinations:
            continue
        # A bare number at the end may be of a thing: `sata_2`.
        is_counted = re.search(_COUNTED, pattern) or words & {"run", "runid"}
        if not is_counted and any(part.name == "replicate" for part in settings):
            continue
        # Another text, such as a path of a log, may say the same replicate again.
        is_free = taken.isdisjoint(part.name for part in parts)
        if is_free and not _is_known(pattern, settings, cells, others):
            splits[heading] = pattern, parts
            taken |= {part.name for part in parts}
    return splits


def _stated_parts(
    texts: Collection[str], taken: Collection[str]
) -> tuple[str, list[PathColumn]] | None:
    """Return the pattern and the parts of texts that all state the same settings by name."""
    if not 1 < len(texts) <= _MOST or any(_NAMED.sub("", text).strip() for text in texts):
        return None
    read = [_NAMED.findall(text) for text in texts]
    orders = {tuple(name for _, name, _ in each) for each in read}
    names = orders.pop()
    if orders or not 1 < len({*names}) == len(names):
        return None
    said = [read_heading(name) for name in names]
    if any(is_measured(heading, quantity_of(heading)) for heading in said):
        return None
    pattern, parts = "", list[PathColumn]()
    for at, name in enumerate(names):
        values = {each[at][2] for each in read}
        is_whole = all(map(str.isdigit, values))
        kind = "whole" if is_whole else "real" if all(map(is_number, values)) else "text"
        used = {*taken, *(part.name for part in parts)}
        column = clean_name(name, kind, used, "knob")
        if is_replicate(name, values) and "replicate" not in used:
            column = "replicate"
        pattern += rf"[,;&| ]*{re.escape(name)} *= *(?P<{column}>[^=,;&|\s]+)"
        is_given = not WORDS["given"].isdisjoint(words_of(name))
        parts.append(PathColumn(column, kind, "knob", len(values), "", is_given))
    # One that goes with the texts says nothing more than they do.
    return None if any(part.values == len(texts) for part in parts) else (pattern, parts)


def _recurs(
    cells: Sequence[Cell], headings: Sequence[str], columns: Sequence[Sequence[Cell]]
) -> bool:
    """Return whether texts are of a thing: they stand with several values of another setting."""
    return any(
        2 * len({*other}) <= len(other)
        and WORDS["replicates"].isdisjoint(words_of(heading))
        and not decides(cells, other)
        for heading, other in zip(headings, columns, strict=True)
    )


def _is_known(
    pattern: str,
    parts: Sequence[PathColumn],
    cells: Sequence[Cell],
    others: Sequence[Sequence[Cell]],
) -> bool:
    """Return whether each part of texts goes with another column, value by value."""
    matches = [re.fullmatch(pattern, str(cell).strip()) for cell in cells]
    for part in parts:
        own = [match[part.name] if match else None for match in matches]
        if not any(are_twins(own, other) for other in others):
            return False
    return True
