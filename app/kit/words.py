"""Texts for people: what is shown, why nothing is, and how a view was computed.

In an explanation a query is a paragraph of its own, with its parameters and all filters in it. Run
as it is, it gives the numbers of the view, or the rows that enter the steps after it. The server
may have answered from memory what it asked before; the numbers are the same.
"""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Final

import polars as pl

from app.kit.competitors import itr_words, value_words
from app.kit.encodings import BREAK, bold, without_marks
from app.kit.lake_view import LakeView, leading
from app.kit.metric_choice import number_of_means, unstated_datasets
from data.analysis.coded_rows import Part
from data.analysis.facet_counts import count_runs
from data.analysis.like_with_like import Slice
from data.analysis.mirrored import mirrored
from data.catalogue import Catalogue, deviations
from data.declared import CORRECTED, INSTEAD
from data.knob_table import ADAPTIVE, GOVERNOR
from data.knobs import Knob
from data.queries.lake_page import derived_query, problems_query, unread_query
from data.queries.statement import statement
from data.selection import SHIPPED_FACETS, Selection, Value
from data.units import format_bytes, format_digits, format_load, lowered

workload_title: Final = SHIPPED_FACETS["workload"].titled

# Knobs that labels, titles or `load_words` name instead.
_NAMED_APART: Final = ("dataset", "workload", "system", "load", "message")
# Columns that a note on guesses names of a kind.
_GUESSED_NAMED: Final = 4
_CORRECT: Final = "python -m ingest correct"
# The system of runs of which nobody said one.
UNKNOWN: Final = "unknown"
EMPTY_LAKE: Final = (
    f"The lake holds no runs yet.{BREAK}Add some with {bold('python -m ingest add RAW')}, "
    "then reload this page."
)
EMPTY_LAKE_PLAIN: Final = without_marks(EMPTY_LAKE)
_SEE: Final = f"{bold('docs/own-logs.md')} says what is read, and how settings declare more."
# Reasons that a page without runs gives.
_MOST_REASONS: Final = 2
_DERIVED: Final = {
    "energy_j": "Energy is computed as power x time",
    "power_w": "Power is computed as energy / time",
}


# By kind of problem how its files are told.
_UNREAD: Final = {
    "not_read": ("file with data was not read", "files with data were not read"),
    "value_range": ("value was left out", "values were left out"),
    "no_energy": ("energy of 0 was left out", "energies of 0 were left out"),
    "line": ("row was left out", "rows were left out"),
}


def empty_lake(view: LakeView) -> str:
    """Say that the lake has no runs, and why files that were added gave none."""
    problems = view.lake.polars(*problems_query(_MOST_REASONS + 1))
    refused = problems.filter(pl.col("severity") == "refused", pl.col("path").is_not_null())
    if not len(refused):
        return EMPTY_LAKE
    reasons = [
        f"{'/'.join(path.split('/')[-2:])}: {detail}{f' ({count:,} files)' if count > 1 else ''}."
        for path, detail, count in refused["path", "detail", "count"].head(_MOST_REASONS).rows()
    ]
    more = [f"More in {bold('python -m ingest problems')}."] * (len(refused) > _MOST_REASONS)
    return BREAK.join([f"{bold('No run was read')} from the files added:", *reasons, *more, _SEE])


def unread_words(view: LakeView, selection: Selection) -> str:
    """Say which files with data beside those of the chosen runs were not read, and which values
    and rows were left out; empty: none.
    """
    unread = view.once(_unread, None)
    if not len(unread):
        return ""
    datasets = view.part_left(selection).values("dataset")
    unread = unread.filter(pl.col("dataset").is_in([*datasets]))
    said = (_left_out(unread.filter(pl.col("kind") == kind), *of) for kind, of in _UNREAD.items())
    return " ".join(filter(None, said))


def _left_out(unread: pl.DataFrame, one: str, several: str) -> str:
    if not len(unread):
        return ""
    count, (path, detail) = unread["count"].sum(), unread["path", "detail"].row(0)
    what = f"1 {one}" if count == 1 else f"{count:,} {several}"
    more = " python -m ingest problems lists all." if count > 1 else ""
    such = ", such as " if count > 1 else ": "
    return f"{what}{such}{path.rpartition('/')[2]}: {detail}.{more}"


def _unread(view: LakeView, _: None) -> pl.DataFrame:
    return view.lake.polars(*unread_query())


def configuration_knobs(varying: Collection[str], catalogue: Catalogue) -> list[Knob]:
    """Return the knobs that name a configuration, in the order of menus.

    Where workloads differ, each has its own work, which says nothing of a configuration.

    Args:
        varying: Columns with several values in the study; one value distinguishes nothing.
    """
    apart = {*_NAMED_APART, *(["work"] if "workload" in varying else [])}
    knobs = catalogue.knobs.values()
    return [knob for knob in knobs if knob.column in varying and knob.name not in apart]


def named_columns(view: LakeView, selection: Selection) -> frozenset[str]:
    """Return the columns that distinguish the runs of the leading filters: no two say the same."""
    return view.varying(selection) - view.once(_mirrored, leading(selection))


def _mirrored(view: LakeView, selection: Selection) -> frozenset[str]:
    own = view.varying(selection).intersection(view.catalogue.further_knobs)
    return mirrored(view.left(selection), own)


def configuration_words(
    row: Mapping[str, Any], varying: Collection[str], catalogue: Catalogue
) -> str:
    """Return the knobs of one row of `points_query`: `ITR 2 us · 2.9 GHz · 135 W`.

    Args:
        varying: As of `configuration_knobs`.
    """
    systems = (row.get("system"),)
    parts = (
        knob_words(knob, row.get(knob.column), systems)
        for knob in configuration_knobs(varying, catalogue)
    )
    return " · ".join(word for word in parts if word)


def knob_words(knob: Knob, value: Value | None, systems: Iterable[str | None] = ()) -> str:
    """Return one knob's value in words; empty where a shipped knob is not set.

    Args:
        systems: Systems of the runs with this value.
    """
    if value is None or value != value:
        if knob.name == "itr":
            return itr_words(systems)
        is_said = knob.facet.null_word in (ADAPTIVE, GOVERNOR) or knob.is_declared
        return knob.words(None) if is_said else ""
    return value_words(knob, value, {}) if knob.name == "system" else knob.words(value)


def load_words(load_qps: float | None, message_bytes: float | None) -> str:
    """Return `200k QPS` or `512 KiB`; empty if the workload has neither."""
    parts = []
    if not _missing(load_qps):
        parts.append(format_load(load_qps))
    if not _missing(message_bytes):
        parts.append(format_bytes(message_bytes))
    return " · ".join(parts)


def subject(points: Part, named_loads: int = 3) -> str:
    """Return what the points show: `memcached at 200k QPS`, `NetPIPE at 4 message sizes`.

    Args:
        named_loads: Most loads or sizes that are named; of more there is the number.
    """
    names = sorted(points.values("workload"), key=lambda name: (name is not None, name))
    text = some_of([*dict.fromkeys(workload_title(w) for w in names)])
    each = [points.values(name) for name in ("load_qps", "message_bytes")]
    combinations = list(product(*each))
    if min(map(len, each)) > 1:
        combinations = points.combinations(("load_qps", "message_bytes"))
    pairs = sorted(combinations, key=lambda pair: [value or 0 for value in pair])
    loads = [word for pair in pairs if (word := load_words(*pair))]
    if not loads:
        return text
    if len(loads) <= named_loads:
        return f"{text} at {', '.join(loads)}"
    counts = (len([v for v in one if not _missing(v)]) for one in each)
    counted = zip(counts, ("load", "message size"), strict=True)
    parts = [f"{n} {word}{'s' * (n > 1)}" for n, word in counted if n]
    return f"{text} at {' and '.join(parts)}"


def slice_words(part: Slice, systems: Mapping[str, str]) -> str:
    """Return what a view shows of the runs that the filters leave, and what it pools.

    `200k QPS of 3 target loads, 135 W of 4 power limits (most complete)`, or
    `over 4 power limits, unbalanced`. Empty if the filters leave nothing to choose.

    Args:
        systems: System to its label.
    """
    chosen = [
        f"{words} of {one.levels} {one.knob.plural}"
        for one in part.fixed
        if one.levels > 1 and (words := value_words(one.knob, one.value, systems))
    ]
    parts = [f"{', '.join(chosen)} (most complete)"] if chosen else []
    if part.pooled:
        over = " and ".join(f"{levels} {knob.plural}" for knob, levels in part.pooled.knobs)
        parts.append(f"over {over}{'' if part.pooled.is_balanced else ', unbalanced'}")
    return " · ".join(parts)


def system_name(row: Mapping[str, Any]) -> str:
    """Return the label of a row's system; empty where none is known but the name of the dataset."""
    is_named = row["system"] not in (None, UNKNOWN, row["dataset"])
    return str(row["system_label"] or row["system"]) if is_named else ""


def common_prefix(top: float) -> tuple[float, str]:
    """Return the factor and letter of the SI prefix in which values up to `top` are written."""
    prefixes = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
    return next((one for one in prefixes if top >= one[0]), prefixes[-1])


def axis_words(x: str, y: str, catalogue: Catalogue) -> str:
    """Return `Energy against p99 latency`, for the columns along x and y."""
    return f"{catalogue.metric(y).title} against {lowered(catalogue.metric(x).title)}"


def synthetic_note(points: Part) -> str:
    """Return the warning for synthetic runs; empty for measured runs."""
    kinds = points.values("is_synthetic")
    if True not in kinds:
        return ""
    return "partly synthetic data" if False in kinds else "synthetic data"


def _missing(value: float | None) -> bool:
    return value is None or value != value


def no_run_left(cube: pl.DataFrame, selection: Selection, catalogue: Catalogue) -> str:
    """Return that no run matches the filters, and which single filters to clear to see some.

    Args:
        cube: Answer of `facet_cube_query`.
    """
    without = {
        clause.facet.name: count_runs(cube, selection.with_values(clause.facet, ()))
        for clause in selection.clauses
    }
    knobs = catalogue.knobs
    useful = [f"{knobs[name].title} ({runs:,} runs)" for name, runs in without.items() if runs]
    hint = f"Clear one of these to see some: {', '.join(useful)}." if useful else "Clear some."
    return f"No run has all of these filters.{BREAK}{hint}"


def guessed_words(view: LakeView, selection: Selection) -> str:
    """Say that what was set was guessed in runs that the filters leave; empty where none was."""
    datasets = view.part_left(selection).values("dataset")
    guessed = sorted(view.lake.guessed.intersection(datasets))
    if not guessed:
        return ""
    said = [view.lake.about.get(name, {}) for name in guessed]
    right = said[0].get(CORRECTED, "").split("\n") if len(said) == 1 else []
    knobs = configuration_knobs(named_columns(view, selection), view.catalogue)
    # One that other datasets have too is called `level of sorts` after it was corrected.
    bare = {knob.name: knob.title.removesuffix(f" of {guessed[0]}") for knob in knobs}
    knobs = [knob for knob in knobs if knob.is_declared and bare[knob.name] not in right]
    listed = some_of([knob.noun for knob in knobs])
    found = f"What was set was guessed: {listed}" if listed else "No column was guessed to be set"
    # Where rows are declared to be means, their deviations are used.
    are_used = view.catalogue.aggregates.has_means
    measured = view.measured_columns(selection)
    note = ""
    if not unstated_datasets(view).isdisjoint(datasets):
        number = number_of_means(view, selection)
        note = " Rows with deviations of an energy or a time are means of runs or repetitions, "
        note += f"{number} by the table" if number else "whose number is not stated"
        note += ": n counts rows."
    unused = some_of([] if are_used else deviations(measured))
    note += f" Deviations that a table states are not used: {unused}." if unused else ""
    # What is read without `--lake`.
    place = "" if str(view.lake.path) == "lake" else f" --lake {shlex.quote(str(view.lake.path))}"
    first = min(knobs, key=lambda knob: knob.is_given) if knobs else None
    word = "label" if first is not None and not first.is_given else "knob"
    way = f"{_CORRECT} {first.column if first is not None else 'COLUMN'}={word}{place}"
    units = sorted(each[INSTEAD] for each in said if INSTEAD in each)
    way += f", or {shlex.quote(units[0])} of a guessed unit" if units else ""
    return f"{found}. To correct it: {way}, or --confirm if all is right.{note}"


def derived_words(view: LakeView, selection: Selection, shown: Collection[str]) -> str:
    """Say that an energy or a power of all runs that the filters leave was not measured.

    Args:
        shown: The metrics of the picture.
    """
    part = view.part_left(selection)
    left = {name: {*part.values(name)} - {None} for name in ("dataset", "workload")}
    works = [work for work in view.once(_derived, None) if all(work[n] in left[n] for n in left)]
    are = {name: {work[name] for work in works} - {None} for name in _DERIVED if name in shown}
    told = [_DERIVED[name] for name, each in are.items() if each == {True}]
    return " ".join(f"{words}: it was not measured." for words in told)


def _derived(view: LakeView, _: None) -> list[dict[str, Any]]:
    return view.lake.polars(*derived_query()).to_dicts()


def n_words(counts: Sequence[int], is_unstated: bool = False) -> str:
    """Return `n = 3`, or `n = 3 and 4`.

    Args:
        is_unstated: The rows are means of several runs, whose number is not stated: n counts rows.
    """
    if is_unstated and max(counts) == 1:
        return "n not stated"
    return f"n = {' and '.join(f'{count:,}' for count in counts)}"


def some_of(names: Sequence[str]) -> str:
    """Return the first names, and how many more: a title with all would cover a figure."""
    more = [f"{len(names) - _GUESSED_NAMED} more"] if len(names) > _GUESSED_NAMED else []
    return ", ".join([*names[:_GUESSED_NAMED], *more])


def order_note(view: LakeView, selection: Selection) -> str:
    """Return the warning that the order of runs shows in what the filters leave; else empty."""
    affected = [check for check in view.order(selection).checks if check.is_affected]
    if not affected:
        return ""
    changes = [x for c in affected for x in (c.change_pct, c.block_range_pct) if x is not None]
    choices = len({tuple(check.scope.items()) for check in affected})
    what = "one choice" if choices == 1 else f"{choices:,} choices"
    named = ", ".join(f"{check.metric_words} of {check.words}" for check in affected[:2])
    most = format_digits(max(map(abs, changes)), 2)
    return f"The order of runs shows in {what} here, by up to {most} %: {named}."


def explanation(
    view: LakeView,
    selection: Selection,
    query: Sequence[Any],
    before: Sequence[str] = (),
    after: Sequence[str] = (),
) -> str:
    """Write an explanation.

    Args:
        query: SQL and its parameters.
        before: Paragraphs between the filters and the query.
        after: Later steps on the query's answer, one paragraph each; empty ones are skipped.
    """
    sql, parameters = query
    head = f"{view.words}\nfilters: {selection.in_words()}"
    then = [f"then: {words}" for words in after if words]
    return "\n\n".join([head, *before, statement(sql, parameters), *then])
