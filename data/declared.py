"""Columns of `runs` that datasets declare.

A lake's Delta table keeps each description in the metadata of its field (`comment` for any engine,
`wattlas` for us), so that it is versioned with the lake. `catalogue.py` has what follows from the
shipped columns and the declared ones.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Final, Literal, cast, get_args

import pyarrow as pa

from data.errors import DataError
from data.knob_table import KNOB_TABLE
from data.schema import DERIVED, RUNS

Role = Literal["knob", "metric", "label"]
Kind = Literal["text", "whole", "real"]
Writing = Literal["plain", "bytes", "load", "si"]
KINDS: Final = get_args(Kind)
# What the filters over declared knobs begin with in URLs: no page's own key does.
FACET_PREFIX: Final = "c_"
_KEY: Final = "wattlas"
# What a dataset says of itself: a text in Markdown, how to cite it, its licence, its address. It is
# metadata of the column `dataset`, so that each version of the lake has its own.
ABOUT: Final = ("description", "citation", "licence", "url")
# Beside these what was guessed: the metrics of which a unit is, apart by blanks; the `COLUMN=UNIT`
# that corrects one; the titles of columns that a person corrected, by line.
DOUBTED: Final = "doubted"
INSTEAD: Final = "instead"
CORRECTED: Final = "corrected"
ABOUT_COLUMN: Final = "dataset"
_ABOUT_KEY: Final = "wattlas-about"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")
_TYPES: Final[dict[str, pa.DataType]] = {
    "text": pa.string(),
    "whole": pa.int64(),
    "real": pa.float64(),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A declared column of `runs`.

    Attributes:
        role: `knob`: set before a run, part of its key; `metric`: numbers that were measured;
            `label`: anything else, as texts that a table or an older lake has as a metric.
        kind: What its values are.
        written: How numbers are written: plain, as bytes, as a load, with an SI prefix.
        is_given: Whether a knob is part of the question (what ran, a size) rather than a setting.
        datasets: Those that declare it; none where a table has it and nobody declares it.
    """

    name: str
    role: Role
    kind: Kind
    title: str
    short: str = ""
    unit: str = ""
    better: Literal["less", "more"] | None = None
    written: Writing = "plain"
    description: str = ""
    datasets: tuple[str, ...] = ()
    is_given: bool = False

    def __post_init__(self) -> None:
        if self.role == "metric" and self.kind == "text":
            object.__setattr__(self, "role", "label")

    @property
    def type(self) -> pa.DataType:
        """Its type in the lake."""
        return _TYPES[self.kind]

    def to_metadata(self) -> dict[str, str]:
        """Return the description as metadata of a Delta field."""
        properties = {key: value for key, value in asdict(self).items() if value and key != "name"}
        unit = f", {self.unit}" if self.unit else ""
        comment = f"{self.title}{unit}. {self.description}".strip()
        return {"comment": comment, _KEY: json.dumps(properties, sort_keys=True)}


# Pages and links call the performance of a workload so, whichever column that is. A column of this
# name, which an older lake may have, is missing in the menus that have the word.
PERFORMANCE: Final = "performance"
# What no column that a table brings is called: pages, or the columns that they make of it, are.
WORDS_OF_PAGES: Final = frozenset(
    {PERFORMANCE, "is_default", "members", "share", "share_high", "share_low"}
)
# What no knob that a table brings is called: tables of fits have these beside its values.
WORDS_OF_FITS: Final = frozenset(
    {
        "busy_share", "condition", "error", "fit", "identified", "measured", "note", "predicted",
        "quantity", "residual", "unit",
    }
)  # fmt: skip
# Queries call what they compute beside the knobs of runs so.
COMPUTED_NAMES: Final = frozenset(
    {
        "against", "cell", "configurations", "high", "level", "logged", "low", "mean", "n", "p",
        PERFORMANCE, "place", "rank", "runs", "sd", "settings", "value", "who", "x", "y",
    }
)  # fmt: skip


def column_of_field(name: str, metadata: Mapping[str, str]) -> Column | None:
    """Read the description of a Delta field; None for a column that nobody declared.

    Also None for a column that older lakes declared and that is shipped now.
    """
    if _KEY not in metadata or name in RUNS.names:
        return None
    said = json.loads(metadata[_KEY])
    return Column(name=name, **{**said, "datasets": tuple(said.get("datasets", ()))})


def about_metadata(about: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return what datasets say of themselves as metadata of a Delta field; by dataset and ABOUT."""
    return {_ABOUT_KEY: json.dumps(about, sort_keys=True)}


def about_of_field(metadata: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Read what `about_metadata` wrote; empty where no dataset says anything."""
    found: dict[str, dict[str, str]] = json.loads(metadata.get(_ABOUT_KEY, "{}"))
    return found


def doubts_of(about: Mapping[str, Mapping[str, str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the metrics of which a unit is a guess, and the datasets where it is."""
    where: dict[str, list[str]] = {}
    for dataset, said in sorted(about.items()):
        for name in said.get(DOUBTED, "").split():
            where.setdefault(name, []).append(dataset)
    return tuple((name, tuple(names)) for name, names in sorted(where.items()))


def check_name(name: str) -> None:
    """See that SQL and URLs can carry a column's name, and that no shipped column has it.

    Raises:
        DataError: They cannot; the message has the name.
    """
    if not _NAME.fullmatch(name):
        raise DataError(
            f"{name!r} cannot name a column: small letters, digits and _ only, 63 at most, "
            "a letter first"
        )
    if name in reserved_words():
        raise DataError(f"{name!r} cannot name a column: it is a word of SQL")
    facets = (knob.facet for knob in KNOB_TABLE)
    if name in RUNS.names or name in DERIVED or name in facets:
        raise DataError(f"{name!r} cannot name a column: wattlas has a column of that name")


@lru_cache(maxsize=1)
def reserved_words() -> frozenset[str]:
    """Return the words that SQL does not take as a name without quotes."""
    # Imported here: it takes 0.2 s, and only a dataset that declares columns needs it.
    import duckdb

    # A connection of its own: several threads may ask, and the shared one refuses all but one.
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved'"
        ).fetchall()
    return frozenset(str(row[0]) for row in rows)


def joined(known: Column | None, new: Column) -> Column:
    """Return a column that several datasets have: the newer words, all of the datasets.

    Raises:
        DataError: The types differ, or the units of two datasets; the message names them.
    """
    if known is None or (known.kind == new.kind and not new.datasets):
        return new
    is_others = bool({*known.datasets} - {*new.datasets})
    for key in ("kind", "unit") if is_others else ("kind",):
        before, after = getattr(known, key), getattr(new, key)
        if before != after:
            ours, theirs = (", ".join(c.datasets) or "that declares none" for c in (new, known))
            word = "type" if key == "kind" else key
            raise DataError(
                f"column {new.name!r}: dataset {ours} says {word} {after!r}, "
                f"dataset {theirs} says {before!r}; give one of them another name"
            )
    datasets = tuple(dict.fromkeys((*known.datasets, *new.datasets)))
    return Column(**{**asdict(new), "datasets": datasets})


Declared = tuple[Column, ...]


def runs_schema(columns: Iterable[Column]) -> pa.Schema:
    """Return the columns of `runs`, shipped and declared."""
    return pa.schema([*RUNS, *(pa.field(column.name, column.type) for column in columns)])


def from_settings(name: str, entry: Mapping[str, Any], dataset: str) -> Column:
    """Return a column as a settings file declares it; keys and types are checked already.

    Raises:
        DataError: As `check_name`; or a knob has the name of what queries compute.
    """
    check_name(name)
    role = entry.get("role", "metric")
    if role == "knob" and name in COMPUTED_NAMES:
        raise DataError(f"{name!r} cannot name a knob: queries compute a column of this name")
    kind = entry.get("type", "text" if role == "label" else "real")
    title = entry.get("title", name.replace("_", " "))
    return Column(
        name,
        cast(Role, role),
        cast(Kind, kind),
        title,
        entry.get("short", title),
        entry.get("unit", ""),
        entry.get("better"),
        entry.get("written", "plain"),
        entry.get("description", ""),
        (dataset,),
        entry.get("given", False),
    )
