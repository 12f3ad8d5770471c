"""Documents with columns in place of rows, as pandas writes them, or beside what holds for all."""

from collections.abc import Mapping
from typing import Any, Final

from ingest.formats.json_cells import quantity_in
from ingest.settings.column_names import WORDS
from ingest.settings.headings import is_setting, words_of

# Fewer cells of lists are no sweep; an epoch and a step of a training are no settings.
_FEWEST_STEPS: Final = 3
_NO_STEPS: Final = WORDS["replicates"] | {"epoch", "epochs", "step", "steps", "time", "timestamp"}
_SPLIT: Final = {"columns", "index", "data"}


def rows_of_columns(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a document that has columns in place of rows; empty for others."""
    names, data = document.get("columns"), document.get("data")
    if isinstance(names, list) and isinstance(data, list) and document.keys() <= _SPLIT:
        return [dict(zip(map(str, names), row, strict=False)) for row in data if type(row) is list]
    columns = list(document.values())
    if len(columns) > 1 and all(isinstance(each, dict) and each for each in columns):
        keys = list(columns[0])
        if keys == [*map(str, range(len(keys)))] and all([*each] == keys for each in columns):
            return [{name: document[name][key] for name in document} for key in keys]
    if steps := _steps(document):
        return steps
    lists = all(isinstance(each, list) and len(each) > 1 for each in columns)
    if len(columns) > 1 and lists and len({len(each) for each in columns}) == 1:
        scalars = all(not isinstance(cell, dict | list) for each in columns for cell in each)
        rows = zip(*columns, strict=True) if scalars else ()
        return [dict(zip(document, row, strict=True)) for row in rows]
    return []


def _steps(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of lists that stand beside what holds for all: `freq_mhz`, `power_w`.

    One list is of a setting, whose values differ, and one of measurements.
    """
    lists = {key: each for key, each in document.items() if isinstance(each, list)}
    beside = {key: each for key, each in document.items() if key not in lists}
    cells = [*beside.values(), *(cell for each in lists.values() for cell in each)]
    sizes = {len(each) for each in lists.values()}
    if len(lists) < 2 or len(sizes) != 1 or min(sizes) < _FEWEST_STEPS:
        return []
    if any(isinstance(cell, dict | list) for cell in cells):
        return []
    # The energy of a whole sweep is not that of each step.
    if any(quantity_in(key) in ("energy", "time") and not is_setting(key) for key in beside):
        return []
    steps = {key for key, each in lists.items() if is_setting(key) and len({*each}) == len(each)}
    steps = {key for key in steps if _NO_STEPS.isdisjoint(words_of(key))}
    measured = {key for key in lists if quantity_in(key) in ("energy", "power", "time", "rate")}
    if not steps or not measured - steps:
        return []
    rows = zip(*lists.values(), strict=True)
    return [{**beside, **dict(zip(lists, row, strict=True))} for row in rows]
