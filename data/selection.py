"""Filters as values, and their SQL.

A facet's clause keeps the runs with one of the chosen values; a facet without a clause keeps all.
A view that lists the choices of a facet applies the clauses of all other facets (as Mosaic's
cross-filter does), so that a choice never hides the other choices of its facet.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from data.declared import FACET_PREFIX, Column, Declared
from data.errors import SelectionError
from data.knob_table import ADAPTIVE, KNOB_TABLE, UNSET
from data.units import counted

# The system of the published study that polls: without interrupts there is no delay to set.
POLLING_SYSTEM: Final = "ebbrt_poll"
POLLING: Final = "polling"

Value = str | float


@dataclass(frozen=True, slots=True)
class Facet:
    """One column by which runs are filtered.

    Attributes:
        null_word: Text for NULL in URLs and menus.
        unit: Unit of the numbers; empty for counts and texts.
        order: Its position among the filters of its lake, in menus and URLs.
        titles: Texts to what a person reads instead.
    """

    name: str
    # Selections are keys of caches: a filter's name is enough of it for their hash.
    column: str = field(hash=False)
    is_number: bool = field(hash=False)
    null_word: str = field(default=UNSET, hash=False)
    unit: str = field(default="", hash=False)
    order: int = field(default=0, hash=False)
    titles: Mapping[str, str] = field(default_factory=dict, compare=False)

    def titled(self, text: str) -> str:
        """Return what a person reads for a text value: `NetPIPE` for `netpipe`."""
        return self.titles.get(text, text)


SHIPPED_FACETS: Final[dict[str, Facet]] = {
    knob.facet: Facet(
        knob.facet,
        knob.column,
        knob.kind != "text",
        knob.null_word,
        knob.filter_unit or knob.unit,
        order,
        knob.titles,
    )
    for order, knob in enumerate(KNOB_TABLE)
}


def unset_itr(systems: Iterable[str | None]) -> str:
    """Return the word for the NULL interrupt delay of runs of some systems."""
    words = [POLLING if system == POLLING_SYSTEM else ADAPTIVE for system in systems]
    return " or ".join(sorted(set(words))) or ADAPTIVE


def facets_of(columns: Declared) -> dict[str, Facet]:
    """Return all filters of a lake by name: the shipped ones, then those over declared knobs."""
    knobs = (column for column in columns if column.role == "knob")
    return SHIPPED_FACETS | {
        facet_name(column): Facet(
            facet_name(column), column.name, column.kind != "text", UNSET, column.unit, order
        )
        for order, column in enumerate(knobs, len(SHIPPED_FACETS))
    }


def facet_name(column: Column) -> str:
    """Name of the filter over a declared knob, in URLs and menus."""
    return FACET_PREFIX + column.name


def facet_named(name: str, facets: Mapping[str, Facet]) -> Facet:
    """Return a filter by its name.

    Raises:
        SelectionError: There is none; the message names those that there are.
    """
    if name not in facets:
        raise SelectionError(f"unknown filter {name!r}; known: {', '.join(facets)}")
    return facets[name]


@dataclass(frozen=True, slots=True)
class Clause:
    """Keeps the runs whose `facet` has one of `values`; never empty."""

    facet: Facet
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise SelectionError(f"filter {self.facet.name!r} has no value")
        facet = self.facet
        for value in self.values:
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if value != facet.null_word and is_number != facet.is_number:
                wanted = "a number" if facet.is_number else "a text"
                raise SelectionError(f"filter {facet.name!r} wants {wanted}, not {value!r}")
        numbers_as_float = tuple(v if isinstance(v, str) else float(v) for v in self.values)
        object.__setattr__(self, "values", numbers_as_float)

    def predicate(self) -> tuple[str, list[Any]]:
        """Return the SQL condition over `runs` with `?` parameters, and their values."""
        facet = self.facet
        known = [v for v in self.values if v != facet.null_word]
        parts, parameters = [], []
        if known:
            parts.append(f"{facet.column} IN ({', '.join('?' * len(known))})")
            parameters.extend(known)
        if len(known) < len(self.values):
            parts.append(f"{facet.column} IS NULL")
        return f"({' OR '.join(parts)})", parameters

    def takes(self, value: Value | None) -> bool:
        """Return whether it keeps runs with this value; None for NULL."""
        return (self.facet.null_word if value is None else value) in self.values


@dataclass(frozen=True, slots=True)
class Selection:
    """The active filters; at most one clause per facet.

    Attributes:
        without: Ids of runs that are left out, such as odd ones; no part of a link.
    """

    clauses: tuple[Clause, ...] = field(default=())
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [clause.facet.name for clause in self.clauses]
        if len(set(names)) < len(names):
            raise SelectionError(f"a filter is given twice: {names}")

    @classmethod
    def of(cls, **values: Sequence[Value]) -> "Selection":
        """Build a selection from names of shipped facets; an empty sequence gives no clause.

        A lake's own facets: `catalogue.selection`.
        """
        return cls(
            tuple(
                Clause(facet_named(name, SHIPPED_FACETS), tuple(v))
                for name, v in values.items()
                if v
            )
        )

    def values(self, facet: str) -> tuple[Value, ...]:
        """Return the chosen values of one facet; empty without a clause."""
        return next((c.values for c in self.clauses if c.facet.name == facet), ())

    def with_values(self, facet: Facet | str, values: Sequence[Value]) -> "Selection":
        """Return a copy in which the facet has these values; without values, no clause.

        Args:
            facet: The name will do for a shipped one.
        """
        name = facet if isinstance(facet, str) else facet.name
        clauses = tuple(c for c in self.clauses if c.facet.name != name)
        if values:
            known = facet_named(facet, SHIPPED_FACETS) if isinstance(facet, str) else facet
            clauses = (*clauses, Clause(known, tuple(values)))
        return Selection(clauses, self.without)

    def predicate(self, exclude: str | None = None) -> tuple[str, list[Any]]:
        """Return the SQL condition of all clauses except that of `exclude`; `TRUE` without any."""
        parts = [c.predicate() for c in self.clauses if c.facet.name != exclude]
        if self.without:
            marks = ", ".join("?" * len(self.without))
            parts.append((f"run_id NOT IN ({marks})", list(self.without)))
        if not parts:
            return "TRUE", []
        return " AND ".join(p[0] for p in parts), [v for p in parts for v in p[1]]

    def in_words(self) -> str:
        """Return the filters as text, for exports and explanations."""
        parts = [
            f"{c.facet.name} {' or '.join(_word(v, c.facet) for v in c.values)}"
            for c in self.clauses
        ] or ["all runs"]
        if count := len(self.without):
            parts.append(f"without {counted(count, 'odd run')}")
        return "; ".join(parts)


def _word(value: Value, facet: Facet) -> str:
    if isinstance(value, str):
        return facet.titled(value)
    return f"{value:.12g} {facet.unit}".rstrip()
