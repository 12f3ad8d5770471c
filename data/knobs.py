"""The knobs: columns that were given or set before a run, for axes and competitors."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from data.declared import FACET_PREFIX, Column, Declared
from data.knob_table import ADAPTIVE, GOVERNOR, KNOB_TABLE, ShippedKnob
from data.selection import (
    SHIPPED_FACETS,
    Facet,
    Value,
    facet_name,
    facets_of,
)
from data.units import format_bytes, format_load, format_setting, lowered


def _plain(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"


def _size(value: Value) -> str:
    return value if isinstance(value, str) else format_bytes(value)


def _load(value: Value) -> str:
    return value if isinstance(value, str) else format_load(value)


def _si(unit: str) -> Callable[[Value], str]:
    return lambda value: value if isinstance(value, str) else format_setting(value, unit)


_WRITERS: Final[dict[str, Callable[[str], Callable[[Value], str]]]] = {
    "plain": lambda _: _plain,
    "bytes": lambda _: _size,
    "load": lambda _: _load,
    "si": _si,
}


# Numbers below such headings have no order: `gpu_model`, `modelId`, `Seed`.
_NAMED: Final = re.compile(r"(?:\b|_)(?:[Ii][Dd]|[Mm]odel|[Ss]eed)$|[a-z](?:Id|ID|Model|Seed)$")
# A page writes the same values after each change of filters.
_CACHED_TEXTS: Final = 512


@dataclass(frozen=True)
class Knob:
    """One knob.

    Attributes:
        facet: The filter over the same column; its name stands in URLs and menus.
        is_given: Whether it is part of the question (a load, a size) rather than of the answer (a
            setting): a cell that mixes several values of it compares unlike things.
        unit: Unit of the labels, which the axis title carries; empty where they need none.
        write: A value as a label.
        before: What a sentence puts before a label.
        after: What it puts behind the label of a number.
        after_one: The same behind the number 1, where that differs.
        title, short: Those of the column.
        filter_title: Title of its filter, where that is not `axis_title`.
    """

    facet: Facet
    is_given: bool = False
    unit: str = ""
    write: Callable[[Value], str] = _plain
    before: str = ""
    after: str = ""
    after_one: str = ""
    title: str = ""
    short: str = ""
    filter_title: str = ""

    @cached_property
    def name(self) -> str:
        """Name in URLs and menus."""
        return self.facet.name

    @cached_property
    def column(self) -> str:
        """Column of `runs`."""
        return self.facet.column

    @cached_property
    def menu_title(self) -> str:
        """Title in menus: the field's abbreviation where it has one, `ITR`, `DVFS`, `RAPL`."""
        return self.title.partition("(")[2].rstrip(")") or self.title

    @cached_property
    def noun(self) -> str:
        """What a sentence calls it: `system`, `request size`, `ITR`."""
        return lowered(self.menu_title)

    @cached_property
    def plural(self) -> str:
        """What a sentence calls several of its values: `power limits`, `values of Batch`."""
        title = self.title.partition(" (")[0]
        if self.name == "work":
            return "kinds of work"
        if self.is_declared or title.endswith("s"):
            return f"values of {self.noun}"
        base = lowered(title)
        return f"{base[:-1]}ies" if base.endswith("cy") else f"{base}s"

    @cached_property
    def is_declared(self) -> bool:
        """Whether a dataset declares it."""
        return self.name.startswith(FACET_PREFIX)

    @cached_property
    def is_name(self) -> bool:
        """Whether its values name things, as those of `model_id` do, which may be numbers."""
        is_said = self.is_declared and _NAMED.search(self.title) is not None
        return is_said or not self.facet.is_number

    @cached_property
    def is_plain_number(self) -> bool:
        """Whether its values are numbers that tables show as they are."""
        return self.facet.is_number and self.write is _plain

    @cached_property
    def axis_title(self) -> str:
        """Title with the unit of the labels."""
        return f"{self.title}, {self.unit}" if self.unit else self.title

    @property
    def short_axis_title(self) -> str:
        """The title of menus with the unit of the labels, for an axis of little room."""
        return f"{self.menu_title}, {self.unit}" if self.unit else self.menu_title

    @cached_property
    def label(self) -> Callable[[Value | None], str]:
        """Return a value on an axis or in a legend; NULL by its word."""
        return lru_cache(_CACHED_TEXTS)(self._label)

    @cached_property
    def words(self) -> Callable[[Value | None], str]:
        """Return a value in a sentence: `ITR 2 us`, `governor`, `64 KiB`, `depth 8`, `no mode`."""
        return lru_cache(_CACHED_TEXTS)(self._words)

    def _label(self, value: Value | None) -> str:
        return self.facet.null_word if value is None else self.write(value)

    def _words(self, value: Value | None) -> str:
        if value is not None:
            after = self.after_one if self.after_one and value == 1 else self.after
            return f"{self.before}{self.write(value)}{after}"
        if self.facet.null_word in (ADAPTIVE, GOVERNOR):
            return f"{self.before}{self.facet.null_word}"
        # An abbreviation of a mechanism does not say what is missing: no power limit, not no RAPL.
        is_abbreviation = self.short.isupper()
        return f"no {self.title.partition(' (')[0].lower() if is_abbreviation else self.short}"


# The policies stand beside their knobs: a setting with a policy has no number. That of a further
# knob follows from the other columns of a setting.
POLICIES: Final = {k.column: k.policy for k in KNOB_TABLE if k.policy and not k.is_further}


def _shipped_knob(row: ShippedKnob) -> Knob:
    unit = row.unit if row.written == "plain" else ""
    facet = SHIPPED_FACETS[row.facet]
    return Knob(
        facet,
        row.is_given,
        unit,
        (lambda value: facet.titled(str(value))) if row.titles else _WRITERS[row.written](row.unit),
        row.before,
        row.after or (f" {unit}" if unit else ""),
        row.after_one,
        row.title,
        row.short,
        row.filter_title,
    )


_SHIPPED: Final = {row.facet: _shipped_knob(row) for row in KNOB_TABLE}


def knobs_of(columns: Declared) -> dict[str, Knob]:
    """Return all knobs of a lake, by the name of their filter: shipped ones, then declared ones."""
    facets = facets_of(columns)
    return _SHIPPED | {
        facet_name(column): _declared_knob(column, facets[facet_name(column)])
        for column in columns
        if column.role == "knob"
    }


def _declared_knob(column: Column, facet: Facet) -> Knob:
    """Return a declared knob; in sentences its short name stands before the value."""
    written = "si" if column.unit == "Hz" else column.written
    has_unit = column.unit and written == "plain"
    return Knob(
        facet,
        column.is_given,
        unit=column.unit if has_unit else "",
        write=_WRITERS[written](column.unit),
        before=f"{column.short} ",
        after=f" {column.unit}" if has_unit else "",
        title=column.title,
        short=column.short or column.title,
    )
