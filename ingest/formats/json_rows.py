"""Flatten a document of JSON or YAML to tables: lists and dictionaries of like objects.

A *place* is the path of a table in its document, with `*` for each list or dictionary of objects:
`models/*/runs/*`. The document itself has the place ``, and one row.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from data.errors import FormatError
from ingest.formats.documents import is_yaml, parse_document
from ingest.formats.json_cells import (
    DEEPEST,
    Cell,
    are_alike,
    cells_of,
    entries_of,
    flatten,
    is_dictionary,
    is_list,
    quantity_in,
    rows_of_columns,
    steps_of,
    summaries,
    without_dictionaries,
)
from ingest.formats.json_samples import are_moments, is_clock, samples_of
from ingest.settings.column_names import WORDS, name_of_values
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_setting, quantity_of, read_heading

_MOST_CARRIED: Final = 100
# Seconds since 1970 of a time that measures nothing.
_SINCE_1970: Final = (1e9, 4e9)
# An object of this name states what was set.
_SET: Final = re.compile(
    r"(?:.*\.)?(?:(?:hyper_?|h)?param|config|setting|factor|knob)\w*\.", re.IGNORECASE
)
# Fractions in an object of this name came out of a run.
_METRICS: Final = re.compile(r"(?i)(?:metrics|scores)\.")
# Times and rates that nobody sets; a duration may be set, and a latency that is added.
_RESULTS: Final = {"elapsed", "makespan", "wall", "walltime", "throughput"}
_MOST_SET: Final = 1e5
# Keys of a document that no run wrote: a notebook, a lock file of packages.
_OTHER_TOOLS: Final = ("nbformat", "lockfileVersion")
_CONFIGURATIONS: Final = WORDS["configurations"]


@dataclass(slots=True)
class Place:
    """The objects at one place of a document.

    Attributes:
        path: The place.
        objects: Each object with what its parents carry into its row.
        keys: Headings of the keys of dictionaries in the place.
        is_keyed: Whether its keys are several settings, as in a cache: its objects are runs.
    """

    path: str
    objects: list[tuple[Mapping[str, Cell], Mapping[str, Any]]] = field(default_factory=list)
    keys: dict[str, None] = field(default_factory=dict)
    is_keyed: bool = False

    def rows(self, replicates: str | None = None) -> Iterator[dict[str, Cell]]:
        """Yield the cells of each row by heading.

        Args:
            replicates: A list of numbers in each object: each number becomes a row.
        """
        for carried, content in self.objects:
            own, lists = flatten(content)
            series = lists.get(replicates or "", ())
            for index in range(len(series)):
                same = {name: each[index] for name, each in lists.items() if len(each) > index}
                yield {**carried, **own, **same}
            if not series:
                yield {**carried, **own, **summaries(lists)}


def is_table(head: bytes, name: str) -> bool:
    """Return whether a head begins a document with a table of numbers; YAML must have results."""
    try:
        document, _ = parse_document(head.decode("utf-8-sig", "replace").lstrip("\n"), name)
    except FormatError:
        return False
    if isinstance(document, dict) and any(key in document for key in _OTHER_TOOLS):
        return False
    if isinstance(document, dict) and is_configuration(name) and flatten(document)[0]:
        return True
    return any(_has_numbers(place, is_yaml(name)) for place in places_of(document))


def is_configuration(name: str) -> bool:
    """Return whether the name of a file, or its path, says that it has what was set for a run.

    `energy_per_config` has results of several.
    """
    words = words_of(name.rpartition("/")[2].partition(".")[0])
    return bool(_CONFIGURATIONS & {*words[-1:]}) and words[-2:-1] not in (("per",), ("by",))


def _has_numbers(listed: Place, are_results: bool) -> bool:
    """Return whether an object has a number; a document of one row must have a measured one.

    Args:
        are_results: Whether it must be of a result, since most such files are configurations: of
            more digits than people set.
    """
    some = [content for _, content in listed.objects[:10]]
    flat = [(flatten(without_dictionaries(each))[0], flatten(each)[1]) for each in some]
    cells = [each for own, _ in flat for each in own.items()]
    series = [(name, number) for _, lists in flat for name in lists for number in lists[name]]
    if are_results:
        read = {
            heading
            for heading, number in (*cells, *series)
            # People set whole, round numbers; others were read from a meter or a clock.
            if isinstance(number, float | int)
            and (number % 1 or (abs(number) > _MOST_SET and number % 1000))
        }
        # A power alone, such as `idle_power_w: 45.25`, is of a machine, unless several were read.
        has_time = any(quantity_in(heading) == "time" for heading in read)
        are_samples = any(quantity_in(heading) == "power" for heading, _ in series)
        return any(
            _is_result(heading) and (quantity_in(heading) != "power" or has_time or are_samples)
            for heading in read
        )
    return any(_has_energy(name) for name, _ in series) or any(
        isinstance(cell, float | int)
        and not (_SINCE_1970[0] < cell < _SINCE_1970[1] and "time" in heading)
        and (
            listed.path
            or _has_energy(heading)
            or _has_time(heading)
            or (cell % 1 and _METRICS.match(heading))
        )
        for heading, cell in cells
    )


def _has_energy(heading: str) -> bool:
    return quantity_in(heading) in ("energy", "power")


def _has_time(heading: str) -> bool:
    read = read_heading(heading)
    return quantity_of(read) in ("time", "rate") or read.has("throughput", "score")


def _is_result(heading: str) -> bool:
    words = {*words_of(heading)}
    is_named = quantity_in(heading) in ("energy", "power", "rate") or bool(words & _RESULTS)
    return is_named and not is_setting(heading) and words.isdisjoint(WORDS["loads"])


def places_of(document: Any) -> list[Place]:
    """Return the places of a document, the one with the most objects first.

    Like objects share half of their keys.
    """
    places: dict[str, Place] = {}
    if isinstance(document, dict) and (columns := rows_of_columns(document)):
        document = columns
    if isinstance(document, dict) and not is_dictionary(document):
        places[""] = Place("", [({}, document)])
    _collect(document, "", {}, (), places, 0)
    return sorted(places.values(), key=lambda place: (-len(place.objects), place.path.count("/")))


def _collect(
    node: Any,
    path: str,
    carried: Mapping[str, Cell],
    keys: Sequence[str],
    places: dict[str, Place],
    depth: int,
    is_one: bool = False,
) -> None:
    """Add the places at a node and below it.

    Args:
        is_one: Whether the node is a dictionary of one object.
    """
    if depth > DEEPEST or not isinstance(node, dict | list):
        return
    is_keyed = False
    below = f"{path}/*".lstrip("/")
    if isinstance(node, dict) and (is_one or is_dictionary(node)):
        rows, keys, is_keyed = _keyed_rows(node, path, keys)
    elif isinstance(node, list) and is_list(node):
        if _are_samples(node, "*" in path, carried):
            return
        rows = [({}, each) for each in node]
    else:
        if isinstance(node, dict):
            scalars = {} if path.endswith("*") else _carried(node)
            for key, child in node.items():
                beside = {n: v for n, v in scalars.items() if not n.startswith(f"{key}.")}
                inner = f"{path}/{key}".lstrip("/")
                child = steps_of(child) or child if isinstance(child, dict) else child
                _collect(child, inner, {**carried, **beside}, keys, places, depth + 1)
        return
    rows = [(own, step) for own, each in rows for step in steps_of(each) or [each]]
    there = places.setdefault(below, Place(below))
    there.keys |= dict.fromkeys(keys)
    there.is_keyed |= is_keyed
    like = [child for _, each in rows if is_dictionary(each) for child in entries_of(each).values()]
    for own, each in rows:
        there.objects.append(({**carried, **own}, each))
        if any(isinstance(child, dict | list) for child in each.values()):
            single = [*entries_of(each).values()]
            # One setting was measured of it, and several of its neighbours.
            is_one = len(single) == 1 and isinstance(single[0], dict) and len(like) > 0
            is_one = is_one and are_alike(like[0], single[0])
            more = {**carried, **own, **({} if is_one else _carried(each))}
            _collect(each, below, more, keys, places, depth + 1, is_one)


def _keyed_rows(
    node: Mapping[str, Any], path: str, keys: Sequence[str]
) -> tuple[list[tuple[dict[str, Cell], Any]], Sequence[str], bool]:
    """Return the objects of a dictionary with what its keys say and what holds for all of them.

    Returns:
        Them, the headings of keys up to here, and whether keys are several settings, as in a cache:
        they consist of values of their objects.
    """
    entries = entries_of(node)
    beside = cells_of({key: each for key, each in node.items() if key not in entries})
    word, values = _numbered(entries)
    # A number such as `32` is a value of the level above it, and no name.
    name = path.rpartition("/")[2].replace("*", "")
    name = "" if name[:1].isdigit() or word in WORDS["replicates"] else name
    heading = name or word or name_of_values(entries) or "key"
    heading = f"{heading}_{len(keys) + 1}" if heading in keys else heading
    is_restated = all(
        {*key.split(",")} <= {str(v) for v in each.values() if not isinstance(v, dict | list)}
        for key, each in entries.items()
    )
    if is_restated or [*entries] in [[str(b + n) for n in range(len(entries))] for b in (0, 1)]:
        is_keyed = is_restated and any("," in key for key in entries)
        return [(beside, each) for each in entries.values()], keys, is_keyed
    rows = [({**beside, heading: values.get(key, key)}, each) for key, each in entries.items()]
    return rows, (*keys, heading), False


def _are_samples(
    objects: Sequence[Mapping[str, Any]], is_in_row: bool, carried: Mapping[str, Cell]
) -> bool:
    """Return whether objects are samples of the run that has them, and no runs.

    A document without a row and a result is the trace of its samples.
    """
    if not is_in_row and not any(
        # `benchmark_results.tokens_per_sec` is a result, though a benchmark was set.
        _is_result(name.rpartition(".")[2]) and isinstance(each, int | float)
        for name, each in carried.items()
    ):
        return False
    if not any(map(is_clock, objects[0])):
        return False
    rows = [cells_of(each) for each in objects]
    columns = {name: [row.get(name) for row in rows] for name in rows[0]}
    return are_moments(columns) or samples_of(columns) is not None


def _numbered(keys: Collection[str]) -> tuple[str, dict[str, Cell]]:
    """Return the word before the numbers of keys, and these: `batch_1`, `run_2`.

    It is one of a setting or of replicates.
    """
    found = {key: re.fullmatch(r"([A-Za-z_]+?)[ _-]?(\d+(?:\.\d+)?)", key) for key in keys}
    words = {match[1] if match else "" for match in found.values()}
    word = words.pop() if len(words) == 1 else ""
    if word.lower() in WORDS["replicates"]:
        word = word.lower()
    elif not word or not is_setting(word):
        return "", {}
    numbers = {key: match[2] for key, match in found.items() if match}
    # `batch_01`
    return word, {key: float(n) if "." in n else int(n) for key, n in numbers.items()}


def _carried(node: Mapping[str, Any]) -> dict[str, Cell]:
    """Return the cells of a parent without its lists."""
    cells = {}.items() if is_dictionary(node) else cells_of(node).items()
    some = ((n, v) for n, v in cells if v is not None and not str(v).startswith("["))
    return dict([*some][:_MOST_CARRIED])


def is_set(heading: str) -> bool:
    """Return whether a heading is of an object such as `parameters`: of what was set."""
    return _SET.match(heading) is not None


def choose_places(places: Sequence[Place]) -> list[Place]:
    """Return the places whose objects are runs: the longest, and others apart from it.

    The run is where the energy is: a document that has one, with a list of objects that have
    none, such as single requests, is one run.

    Args:
        places: As `places_of` gives them.
    """
    measured = [candidate for candidate in places if any(map(_has_energy, _headings(candidate)))]
    if not measured:
        return list(places[:1])
    chosen = measured[:1]
    for candidate in measured[1:]:
        paths = [(f"{candidate.path}/", f"{other.path}/") for other in chosen]
        are_nested = any(a.startswith(b) or b.startswith(a) for a, b in paths)
        if len(candidate.objects) > 1 and not are_nested:
            chosen.append(candidate)
    return chosen


def whole_places(places: Sequence[Place], cut: Sequence[Any]) -> list[Place]:
    """Return the places that have two whole objects at least, with these alone.

    Args:
        cut: The objects and lists that the document does not end.
    """
    known = {*map(id, cut)}
    for place in places:
        place.objects = [each for each in place.objects if id(each[1]) not in known]
    return [place for place in places if len(place.objects) > 1]


def left_out(document: Any, chosen: Sequence[Place]) -> list[str]:
    """Return where objects stand that have an energy, and the keys of rows, but are no rows."""
    rows = [content for place in chosen for _, content in place.objects]
    forms = {frozenset(row) for row in rows if any(map(_has_energy, row))}
    known, paths = {*map(id, rows)}, []

    def visit(node: Any, path: str) -> None:
        if id(node) in known or not isinstance(node, dict | list):
            return
        if isinstance(node, dict) and frozenset(node) in forms:
            paths.append(path)
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            visit(child, f"{path}/{key}".lstrip("/"))

    visit(document, "")
    return paths


def _headings(place: Place) -> Iterator[str]:
    for _, content in place.objects[:20]:
        cells, lists = flatten(content)
        yield from cells
        yield from (name for name in lists if "." not in name)
