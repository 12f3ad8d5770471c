"""Texts of a table that state several settings, and rows that are parts of others.

`crowd_x264_crf22` of a column `label` gives two names and a number, as names of files do.
"""

import math
import re
from collections.abc import Collection, Sequence
from typing import Final

from ingest.formats.json_rows import Cell
from ingest.formats.table_text import UNSET, is_number
from ingest.proposals.path_parts import PathColumn, read_paths
from ingest.settings.column_names import clean_name

# A sweep has so many texts, and at least this share of all combinations of their parts.
_FEWEST: Final = 4
_MOST: Final = 5_000
_FILLED: Final = 0.5
_SEPARATED: Final = re.compile(r"[A-Za-z0-9][-_.=@ :|][A-Za-z0-9]")


def split_columns(
    headings: Sequence[str], columns: Sequence[Sequence[Cell]], declared: Collection[str]
) -> dict[str, tuple[str, list[PathColumn]]]:
    """Return by heading the pattern of texts that state settings, and its groups.

    Nothing of texts whose parts other columns have already.
    """
    found = {}
    taken: set[str] = set(headings)
    for heading, cells in zip(headings, columns, strict=True):
        texts = {str(cell).strip() for cell in cells if cell is not None} - UNSET
        is_named = _FEWEST <= len(texts) <= _MOST and all(map(_SEPARATED.search, texts))
        if heading in declared or not is_named or any("/" in t or is_number(t) for t in texts):
            continue
        pattern, parts = read_paths(sorted(texts), f"{clean_name(heading, 'text')}_part")
        settings = [part for part in parts if part.role == "knob" or part.name == "replicate"]
        combinations = math.prod(part.values for part in settings)
        if len(settings) < 2 or not _FILLED * combinations <= len(texts) <= combinations:
            continue
        # Another text, such as a path of a log, may say the same replicate again.
        is_free = taken.isdisjoint(part.name for part in parts)
        others = [c for c in columns if c is not cells]
        if is_free and not _is_known(pattern, settings, cells, others):
            found[heading] = pattern, parts
            taken |= {part.name for part in parts}
    return found


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
        count = len({*own})
        if not any(len({*zip(own, other, strict=True)}) == len({*other}) == count
                   for other in others):  # fmt: skip
            return False
    return True


def parts_of_rows(headings: Sequence[str], columns: Sequence[Sequence[Cell]]) -> dict[str, str]:
    """Return by heading the form of texts of rows that are parts of other rows: steps of a job.

    Half of the texts at least are another one with a dot and a name: `4711` and `4711.batch`.
    """
    for heading, cells in zip(headings, columns, strict=True):
        texts = {str(cell).strip() for cell in cells if cell not in (None, "")}
        inner = {text for text in texts if text.partition(".")[0] in texts - {text}}
        if inner and 2 * len(inner) >= len(texts) and not all(map(is_number, inner)):
            return {heading: r"/[^.]+\..+/"}
    return {}
