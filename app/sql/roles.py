"""What the columns of a result are, by their names, and the chart that follows from it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from app.kit.competitors import OTHER_HUE, UNSET_HUE, competitors_of, scale_hues
from app.kit.encodings import OKABE_ITO, SYMBOLS
from app.kit.lake_view import LakeView
from data.catalogue import Catalogue
from data.metrics import Metric

Role = Literal["knob", "category", "metric", "spread", "count", "index", "time"]
# Columns with more values are coloured by a scale, or not at all where they are texts.
MOST_VALUES: Final = 20
# Functions and their abbreviations in names to what titles call them.
_MEANS: Final = {
    "avg": "mean", "mean": "mean", "median": "median", "min": "least", "max": "greatest",
    "sum": "sum", "quantile_cont": "quantile", "quantile_disc": "quantile",
}  # fmt: skip
_SPREADS: Final = {
    "stddev": "sd", "stddev_samp": "sd",
    "sd": "sd", "std": "sd", "sem": "standard error",
}  # fmt: skip
_WORDS: Final = {**_MEANS, **_SPREADS}
_NAMES: Final = "|".join(_WORDS)
_FORMS: Final = (
    re.compile(rf'(?P<f>{_NAMES})\("?(?P<base>\w+)"?(?:, .*)?\)'),
    re.compile(rf"(?P<base>\w+)_(?P<f>{_NAMES})"),
    re.compile(rf"(?P<f>{_NAMES})_(?P<base>\w+)"),
)
_COUNT: Final = re.compile(r"n|count|count_star\(\)|count\(.*\)|\w+_(n|count)")
_TIME: Final = re.compile(r"t_(ns|us|ms|s)|start_unix_s|from_s|to_s")
_INDICES: Final = frozenset({"core", "package", "bin", "slot", "level", "replicate", "run"})
_NUMBERS: Final = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL.*")
# The units in which names of quantities end.
_UNITS: Final = {
    "ns": "ns", "us": "us", "ms": "ms", "s": "s", "j": "J", "uj": "uJ", "nj": "nJ", "w": "W",
    "v": "V", "a": "A", "hz": "Hz", "mhz": "MHz", "ghz": "GHz", "bytes": "B", "qps": "1/s",
    "pct": "%", "js": "J s",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a result.

    Attributes:
        base: The column of `runs` of which it is the mean, the spread and so on; else its name.
        title: For an axis: with its unit and which direction is better.
        values: Of a column with few values, in order: the value, its label, hue and symbol.
        distinct: Number of its values, without NULL.
        filled: Number of rows that have a value.
        is_knob: Whether it is one, also where its values are texts and so its role a category.
    """

    name: str
    role: Role
    base: str
    title: str
    unit: str
    group: str
    values: tuple[tuple[Any, str, str, str], ...]
    distinct: int
    filled: int
    is_knob: bool


def unit_of(name: str, catalogue: Catalogue) -> str:
    """Return the unit of a column: the catalogue's, else the one in which its name ends."""
    if name in catalogue.metrics:
        return catalogue.metrics[name].unit
    if name.endswith("_per_s"):
        return "1/s"
    return _UNITS.get(name.rpartition("_")[2], "") if "_" in name else ""


def columns_of_result(view: LakeView, answer: Mapping[str, Any]) -> list[Column]:
    """Return what the columns of an answer (`columns`, `types`, `rows`) are."""
    told = zip(answer["columns"], answer["types"], strict=True)
    return [
        _column(view, name, kind, [row[at] for row in answer["rows"]])
        for at, (name, kind) in enumerate(told)
    ]


def chart_of(columns: Sequence[Column], rows: int) -> dict[str, str]:
    """Choose the columns of a chart; empty names where there is nothing to draw.

    Time is x; else the knob with most values; with three knobs or more, of which a line would mix
    the others, or with none, one metric is drawn against another: latency and energy where there
    are, of several those that most rows have. A category colours, else the knob that is not x.

    Returns:
        `x`, `y`, `col`: names of columns.
    """
    varied = [c for c in columns if c.distinct > 1]

    def of(*roles: str) -> list[Column]:
        return [c for c in varied if c.role in roles]

    metrics = sorted(
        (c for c in columns if c.role == "metric" and c.distinct),
        key=lambda c: (-c.filled, c.base != "latency_p99_us"),
    )
    knobs = sorted(of("knob"), key=lambda c: -c.distinct)
    x = next(iter(of("time")), None)
    if x is None and knobs and (len(knobs) < 3 or len(metrics) < 2):
        x = knobs[0]
    if x is None and len(metrics) > 1:
        x = next((c for c in metrics if c.group == "Latency"), metrics[0])
        energy = [c for c in metrics if c is not x and c.group == "Energy and power"]
        metrics = [*energy, *metrics]
    # A column of another name for each row, such as the run, is no axis.
    few = [c for c in of("category") if c.distinct < max(rows, 2) or rows <= MOST_VALUES]
    few.sort(key=lambda c: not c.is_knob)
    x = x or next(iter([*few, *of("index")]), None)
    y = next((c for c in [*metrics, *of("count", "index")] if c is not x), None)
    if x is None or y is None:
        return {"x": "", "y": "", "col": ""}
    colours = (c for c in [*few, *knobs, *of("index")] if c is not x and c is not y and c.values)
    colour = next(colours, None)
    return {"x": x.name, "y": y.name, "col": colour.name if colour else ""}


def _column(view: LakeView, name: str, kind: str, cells: Sequence[Any]) -> Column:
    catalogue = view.catalogue
    word, base = _parts(name, catalogue.metrics)
    metric = catalogue.metrics.get(base)
    unit = unit_of(base, catalogue)
    has_list = any(isinstance(cell, (list, dict)) for cell in cells)
    values = [] if has_list else list(dict.fromkeys(cells))
    known = [value for value in values if value is not None]
    role = _role(name, word, bool(_NUMBERS.fullmatch(kind)), catalogue)
    if metric and word:
        title = f"{_WORDS[word]} of {metric.title}" + (f", {unit}" if unit else "")
    elif metric:
        title = metric.axis_title
    else:
        title = f"{name}, {unit}" if unit else name
    is_coloured = role in ("knob", "category", "index") and len(known) <= MOST_VALUES
    looks = _looks(view, name, unit, values) if is_coloured else ()
    return Column(
        name, role, base, title, unit, metric.group if metric else "", looks, len(known),
        sum(cell is not None for cell in cells), name in catalogue.knob_of_column,
    )  # fmt: skip


def _parts(name: str, metrics: Mapping[str, Metric]) -> tuple[str, str]:
    """Return the function in a column's name, or no word, and the column that it is of."""
    if name not in metrics:
        for form in _FORMS:
            match = form.fullmatch(name)
            if match and (match["base"] in metrics or match["f"] in _SPREADS or "(" in name):
                return match["f"], match["base"]
    return "", name


def _role(name: str, word: str, is_number: bool, catalogue: Catalogue) -> Role:
    if word in _SPREADS:
        return "spread"
    if _COUNT.fullmatch(name):
        return "count"
    if _TIME.fullmatch(name):
        return "time"
    if name in _INDICES and is_number:
        return "index"
    if not is_number:
        return "category"
    return "knob" if name in catalogue.knob_of_column else "metric"


def _looks(
    view: LakeView, name: str, unit: str, values: Sequence[Any]
) -> tuple[tuple[Any, str, str, str], ...]:
    """Return the values in order, with label, hue and symbol; those of the house for its knobs."""
    labels = dict(view.outline.select("system", "system_label").unique().drop_nulls().iter_rows())
    if name == "system_label":
        of_label = {label: system for system, label in labels.items()}
        if all(value in of_label for value in values):
            named = _looks(view, "system", "", [of_label[value] for value in values])
            return tuple((label, label, hue, symbol) for _, label, hue, symbol in named)
    knob = view.catalogue.knob_of_column.get(name)
    wanted = {float, int} if knob and knob.facet.is_number else {str}
    # A query may call any column by a knob's name.
    if knob and {type(value) for value in values if value is not None} <= wanted:
        found = competitors_of(knob, values, view.systems, labels)
        return tuple(zip(found.values, found.labels, found.hues, found.symbols, strict=True))
    known = sorted((v for v in values if v is not None), key=lambda v: (isinstance(v, str), v))
    is_named = all(isinstance(value, (str, bool)) for value in known)
    others = [OTHER_HUE] * len(known)
    hues = [*OKABE_ITO, *others] if is_named else scale_hues(known)
    looks = [
        (value, f"{value} {unit}".strip(), hues[at], SYMBOLS[at % len(SYMBOLS)])
        for at, value in enumerate(known)
    ]
    missing = [(None, "NULL", UNSET_HUE, SYMBOLS[0])] if len(known) < len(values) else []
    return (*looks, *missing)
