"""The cells of an object of a document: inner names, lists of numbers, pairs of name and value.

Columns may stand in place of rows, as pandas writes them, or beside what holds for all.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np

from ingest.formats.json_samples import samples_of, singular, take_samples
from ingest.formats.written_numbers import is_number
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_setting, quantity_of, read_heading

Cell = str | float | int | None
# Levels of a document that are looked at, and columns that parents give to each row.
DEEPEST: Final = 6
_LONGEST_TEXT: Final = 200
# A list of so many whole numbers is a shape, such as a problem size, not a series of measurements.
_SHAPE: Final = 4
# Keys of the objects of a list that is a dictionary in fact: `{"name": "time", "value": 3}`.
_NAMES: Final = ("name", "metric", "quantity", "key")
_VALUES: Final = ("value", "score")
_UNITS: Final = ("unit", "units")
# Times that are apart by less are one.
_SAME_TIME: Final = 0.02
# Keys of what stands beside the objects of a dictionary and is none of them.
_ASIDE: Final = WORDS["asides"]
STATISTICS: Final = ("n", "mean", "sd", "p50", "p99")
# Fewer cells of lists are no sweep; an epoch and a step of a training are no settings.
_FEWEST_STEPS: Final = 3
# People choose numbers so far apart.
_APART: Final = 1.5
_NO_STEPS: Final = WORDS["replicates"] | {"epoch", "epochs", "step", "steps", "time", "timestamp"}
_SPLIT: Final = {"columns", "index", "data"}
# Names of the sum of parts, and how far it may be from what they add up to.
_SUMS: Final = frozenset({"total", "sum"})
_ROUNDED: Final = 1e-6
# Longer numbers are ids, such as those of processes, which differ from run to run.
_LONGEST_PLACE: Final = 3
# Statistics of one quantity.
_OF_ONE: Final = WORDS["middles"] | WORDS["statistics"] | {"count", "n", "sum", "total"}
_QUANTITIES: Final = WORDS["less"] | WORDS["more"] | WORDS["measured"]


@lru_cache(maxsize=4096)
def quantity_in(heading: str) -> str:
    return quantity_of(read_heading(heading))


def parsed(text: str) -> Any:
    """Return the value of a JSON text; None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_dictionary(node: Mapping[str, Any]) -> bool:
    """Return whether the values are like objects, each under a key of its own.

    Notes and what holds for all may stand beside them.
    """
    values = list(entries_of(node).values())
    if len(values) < 2 or not all(isinstance(each, dict) and each for each in values):
        return False
    if _parts_of(node) or _are_statistics(node):
        return False
    if all(map(is_number, entries_of(node))):
        return True
    return all(are_alike(values[0], each) for each in values)


def _parts_of(node: Mapping[str, Any]) -> list[str]:
    """Return the keys of objects whose sum stands beside them; nothing if none does.

    They are numbered, as `0` and `1` beside `total`, or parts of a machine. A number of the sum is
    that of all of them.
    """
    objects = [key for key, each in node.items() if isinstance(each, dict) and each]
    sums = [key for key in objects if key.lower() in _SUMS]
    parts = [key for key in objects if key not in sums]
    if len(sums) != 1 or not parts or not all(is_number(k) or _is_part(k) for k in parts):
        return []
    for name, whole in node[sums[0]].items():
        cells = [node[key].get(name) for key in parts]
        are_numbers = all(type(each) in (int, float) for each in (whole, *cells))
        if are_numbers and abs(sum(cells) - whole) <= _ROUNDED * abs(whole):
            return parts
    return []


def _is_part(key: str) -> bool:
    words = {word.rstrip("0123456789") for word in words_of(key)} - {""}
    return bool(words) and words <= WORDS["parts"]


def _without_sum(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object without the sum of its parts where it has one part alone, which it is.

    Of several parts ids are their places: those of processes differ from run to run.
    """
    if _SUMS.isdisjoint(map(str.lower, node)) or not (parts := _parts_of(node)):
        return node
    if len(parts) == 1:
        merged: dict[str, Any] = {}
        for key, each in node.items():
            merged |= each if isinstance(each, dict) else {key: each}
        return merged
    places = {key: str(at) for at, key in enumerate(parts) if len(key) > _LONGEST_PLACE}
    return {places.get(key, key) if key.isdigit() else key: each for key, each in node.items()}


def _are_statistics(node: Mapping[str, Any]) -> bool:
    """Return whether objects are statistics of quantities, and not of what their keys name.

    `power` and `util`, each with `mean`, `min`, `max` and `std`.
    """
    of = [{*map(str.lower, each)} for each in entries_of(node).values()]
    if not all(each <= _OF_ONE and not WORDS["middles"].isdisjoint(each) for each in of):
        return False
    keys = [*entries_of(node)]
    named = [key for key in keys if not _QUANTITIES.isdisjoint(words_of(key)[-1:])]
    named += [key for key in keys if key not in named and read_heading(key).unit is not None]
    return 2 * len(named) > len(keys) and any(map(quantity_in, named))


def are_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two objects share half of their keys, or have only objects that do."""
    if len(one.keys() & other.keys()) * 2 >= max(len(one), len(other)):
        return True
    inner = [[*entries_of(each).values()] for each in (one, other)]
    if not all(each and all(isinstance(i, dict) and i for i in each) for each in inner):
        return False
    return are_alike(inner[0][0], inner[1][0])


def entries_of(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object without notes and what holds for all, and without texts beside numbers."""
    named = {key: each for key, each in node.items() if not is_aside(key)}
    numbers = {key: each for key, each in named.items() if is_number(key)}
    are_texts = all(isinstance(named[key], str) for key in named.keys() - numbers.keys())
    return numbers if numbers and are_texts else named


@lru_cache(maxsize=4096)
def is_aside(key: str) -> bool:
    """Return whether a key is of a note, or of what holds for all that stands beside it."""
    return bool(words := words_of(key)) and _ASIDE.issuperset(words)


def is_list(node: Any) -> bool:
    if not isinstance(node, list) or not node or not all(type(each) is dict for each in node):
        return False
    return _pairs(node) is None


def cells_of(node: Mapping[str, Any]) -> dict[str, Cell]:
    """Return the cells of an object without its lists and dictionaries of objects."""
    own = without_dictionaries(node).items()
    return flatten({n: v for n, v in own if not isinstance(v, list) or _pairs(v)})[0]


def without_dictionaries(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without its dictionaries of objects."""
    return {n: v for n, v in node.items() if not (isinstance(v, dict) and is_dictionary(v))}


def flatten(content: Mapping[str, Any]) -> tuple[dict[str, Cell], dict[str, list[float]]]:
    """Return the cells of an object, and its lists of numbers; inner names follow a dot."""
    cells: dict[str, Cell] = {}
    lists: dict[str, list[float]] = {}
    _flatten(content, "", cells, lists, 0)
    _add_steps(cells, lists)
    take_samples(cells, lists)
    return cells, lists


def _add_steps(cells: dict[str, Cell], lists: dict[str, list[float]]) -> None:
    """Add up the energies of the steps of which an object consists; change both in place.

    The steps' times are together that of the object, which says it too.
    """
    times = [name for name in lists if "." in name and quantity_in(name) == "time"]
    own = [
        c * read_heading(n).scale
        for n, c in cells.items()
        if isinstance(c, int | float) and quantity_in(n) == "time"
    ]
    for name in times:
        took = sum(lists[name]) * read_heading(name).scale
        if not any(abs(took - each) <= _SAME_TIME * each for each in own if each > 0):
            continue
        start = name[: name.rindex(".") + 1]
        energies = [n for n in lists if n.startswith(start) and quantity_in(n) == "energy"]
        cells |= {each: sum(lists.pop(each)) for each in energies}
        if energies:
            del lists[name]


def _flatten(
    node: Mapping[str, Any],
    start: str,
    cells: dict[str, Cell],
    lists: dict[str, list[float]],
    depth: int,
) -> None:
    for key, value in _without_sum(node).items():
        name = f"{start}{key}"
        if isinstance(value, dict) and depth < DEEPEST:
            _flatten(value, f"{name}.", cells, lists, depth + 1)
        elif not isinstance(value, list):
            cells[name] = plain(value)
        elif (pairs := _pairs(value)) is not None:
            cells |= {f"{start}{own}": cell for own, cell in pairs.items()}
        elif is_list(value):
            flat = [flatten(each)[0] for each in value]
            for inner in dict.fromkeys(inner for each in flat for inner in each):
                cells_of = [each.get(inner) for each in flat]
                series = [cell for cell in cells_of if isinstance(cell, int | float)]
                if series:
                    lists[f"{name}.{inner}"] = series
        elif numbers := _numbers(value):
            is_shape = len(value) <= _SHAPE and all(type(each) is int for each in value)
            if is_shape:
                cells[name] = json.dumps(value)
            else:
                item = f"{start}{singular(key)}"
                lists[item if quantity_in(item) == "power" else name] = numbers
        elif value and len(text := json.dumps(value, default=str)) <= _LONGEST_TEXT:
            cells[name] = text


def _pairs(node: Sequence[Any]) -> dict[str, Cell] | None:
    """Return names with units and values of a list of `{"name": ..., "value": ...}`; else None."""
    pairs: dict[str, Cell] = {}
    for each in node:
        keys = each.keys() if isinstance(each, dict) else ()
        name = next((key for key in _NAMES if key in keys), None)
        value = next((key for key in _VALUES if key in keys), None)
        if name is None or value is None or len(keys) > 4 or isinstance(each[value], dict | list):
            return None
        unit = next((each[key] for key in _UNITS if each.get(key)), "")
        heading = f"{each[name]} ({unit})" if unit else str(each[name])
        if heading in pairs:
            return None
        pairs[heading] = plain(each[value])
    return pairs or None


def _numbers(values: Sequence[Any]) -> list[float]:
    """Return the numbers of a list, or of a list of lists; empty if it has anything else."""
    flat = [n for each in values for n in (each if isinstance(each, list) else (each,))]
    return flat if all(type(n) in (int, float) for n in flat) else []


def summaries(lists: Mapping[str, Sequence[float]]) -> dict[str, Cell]:
    """Return number, mean, sample standard deviation, median and 99th percentile of each list."""
    cells: dict[str, Cell] = {}
    for name, series in lists.items():
        values = np.array(series, np.float64)
        values = values[np.isfinite(values)]
        if not len(values):
            continue
        statistics = [
            len(values),
            float(values.mean()),
            float(values.std(ddof=1)) if len(values) > 1 else None,
            *map(float, np.percentile(values, (50, 99))),
        ]
        cells |= {f"{name}_{s}": v for s, v in zip(STATISTICS, statistics, strict=True)}
    return cells


def plain(value: Any) -> Cell:
    """Return a value as a cell: a text, a number, or None."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return None if value != value else value
    return json.dumps(value, default=str) if isinstance(value, dict | list) else str(value)


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
    if steps := steps_of(document):
        return steps
    lists = all(isinstance(each, list) and len(each) > 1 for each in columns)
    if len(columns) > 1 and lists and len({len(each) for each in columns}) == 1:
        scalars = all(not isinstance(cell, dict | list) for each in columns for cell in each)
        rows = zip(*columns, strict=True) if scalars else ()
        return [dict(zip(document, row, strict=True)) for row in rows]
    return []


def steps_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of lists that stand beside what holds for all: `freq_mhz`, `power_w`.

    One list is of a setting, whose values differ, and one of measurements. A list of any name is of
    one if its numbers double or so: `[1, 2, 4, 8]`.
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
    measured = {key for key in lists if quantity_in(key) in ("energy", "power", "time", "rate")}
    steps = {key for key, each in lists.items() if is_setting(key) and len({*each}) == len(each)}
    steps |= {key for key in lists.keys() - measured if _are_chosen(lists[key])}
    steps = {key for key in steps if _NO_STEPS.isdisjoint(words_of(key))}
    if not steps or not measured - steps:
        return []
    if samples_of({key: each for key, each in lists.items() if key not in steps}) is not None:
        return []
    rows = zip(*lists.values(), strict=True)
    return [{**beside, **dict(zip(lists, row, strict=True))} for row in rows]


def _are_chosen(values: Sequence[Any]) -> bool:
    """Return whether numbers are whole ones that grow by half and more from each to the next."""
    if not all(type(each) is int and each > 0 for each in values):
        return False
    return all(after >= _APART * before for before, after in pairwise(values))
