"""Replicates of a measurement in columns of their own: `time_ms_1`, `time_ms_2`, `time_ms_3`."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from ingest.formats.json_rows import Cell
from ingest.formats.table_reshaped import stem_of
from ingest.proposals.headings import read_heading, words_of
from ingest.proposals.roles import guess_of
from ingest.settings.word_lists import WORDS

# A word for a replicate says it; else the number stands last.
_PATTERNS: Final = (
    r"(?i)[ _.-]*(?:run|rep|replicate|repetition|trial|iteration|iter)[ _.-]*(\d+)",
    r"[ _.-]?(\d+)(?=$| ?[(\[])",
)
# Numbers behind these words are of parts of a machine or of percentiles, not of replicates.
_PARTS: Final = WORDS["parts"] | {
    *("node", "socket", "channel", "thread", "worker", "zone", "rank", "port", "phase", "stage"),
    *("layer", "level", "step", "p", "c", "l", "q", "top"),
}
# Replicates of a row are so near: the median over rows of the greatest over the least.
_ALIKE: Final = 3.0


def replicate_pattern(headings: Sequence[str], columns: Sequence[Sequence[Cell]]) -> str:
    """Return the pattern of the number of a replicate in headings; empty where there is none.

    Numbers count from 0 or 1. Their columns are measured, and alike in each row.
    """
    for pattern in _PATTERNS:
        found: dict[str, dict[int, int]] = defaultdict(dict)
        for at, heading in enumerate(headings):
            stem, number = stem_of(heading, pattern)
            if number:
                found[stem][int(number)] = at
        if found and all(_are_replicates(stem, at, columns) for stem, at in found.items()):
            return pattern
    return ""


def _are_replicates(stem: str, places: dict[int, int], columns: Sequence[Sequence[Cell]]) -> bool:
    numbers = sorted(places)
    words = words_of(stem)
    is_counted = len(numbers) > 1 and numbers == [*range(numbers[0], numbers[0] + len(numbers))]
    if not is_counted or numbers[0] > 1 or (words and words[-1] in _PARTS):
        return False
    cells = [columns[at] for at in places.values()]
    heading = read_heading(stem)
    if any(guess_of(heading, each).role != "metric" for each in cells):
        return False
    try:
        values = np.array([[float(cell or "nan") for cell in each] for each in cells])
    except ValueError:
        return False
    whole = values[:, np.all(values > 0, axis=0)]
    return whole.size > 0 and float(np.median(whole.max(axis=0) / whole.min(axis=0))) <= _ALIKE
