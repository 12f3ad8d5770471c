"""Tables and power meters that a dataset's settings declare, and the lake's columns for theirs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

import msgspec
import pyarrow as pa

from data.declared import CORRECTED, DOUBTED, INSTEAD, Column
from data.errors import SettingsError
from data.knob_table import STATED
from data.schema import KNOBS, MEASUREMENTS
from ingest.declarations import Aggregate, MeterDeclaration, TableColumn, TableDeclaration
from ingest.settings.column_names import clean_name
from ingest.settings.headings import without_unit
from ingest.settings.knobs import FOLLOWING
from ingest.settings.patterns import compiled, path_pattern
from ingest.settings.units import doubts_in

# The number of the core that a row is of, if the dataset has no column of this name; and its kind.
CORE: Final = "core"
# Part of a run's key and no column of the lake: only `to` sends a column there.
VARIANT: Final = "variant"
# Columns that identify a row's run and are not plain columns of `runs`.
_NAMING: Final = {
    **{
        knob.stated_as: "whole" if knob.stated_kind == "size" else knob.stated_kind
        for knob in STATED
    },
    "system": "text",
    "workload": "text",
    VARIANT: "text",
    "replicate": "whole",
    CORE: CORE,
}
# Keys of a table's entry that its declaration has by the same name.
_AS_STATED: Final = (
    "workload", "system", "replicates", "unpivot", "skip", "whole", "last_of", "totals", "products",
    "differences", "guessed", "corrected", "confirmed",
)  # fmt: skip


def target_kinds(columns: Mapping[str, Column]) -> dict[str, str]:
    """Return the columns of the lake that a table may fill, and the kinds of their values.

    Args:
        columns: Columns that the dataset declares.
    """
    shipped = {n: t for n, t in (KNOBS | MEASUREMENTS).items() if n not in FOLLOWING}
    kinds = {
        n: "whole" if pa.types.is_integer(t) else "real" if pa.types.is_floating(t) else "text"
        for n, t in shipped.items()
    }
    return {**kinds, **_NAMING, **{name: column.kind for name, column in columns.items()}}


def declaration_of(tables: Sequence[TableDeclaration], headings: Sequence[str]) -> TableDeclaration:
    """Merge the declarations that fit these headings; an earlier one overrides a later one."""
    fitting = [table for table in tables if table.fits_header(headings)]
    merged: dict[str, Any] = {"kinds": fitting[-1].kinds if fitting else target_kinds({})}
    for field in fields(TableDeclaration):
        values = [getattr(table, field.name) for table in fitting]
        if field.name in ("path", "header", "kinds", "is_shipped"):
            continue
        if field.default_factory is dict:
            merged[field.name] = {n: each for own in reversed(values) for n, each in own.items()}
        elif any(values):
            merged[field.name] = next(filter(None, values))
    return TableDeclaration(**merged)


def build_table(
    entry: Mapping[str, Any], number: int, kinds: Mapping[str, str], is_shipped: bool
) -> TableDeclaration:
    """Build one [[tables]] entry.

    Args:
        kinds: As `target_kinds`.

    Raises:
        SettingsError: Neither pattern nor header, an invalid regular expression, or a column that
            the lake does not have; the message names the place.
    """
    where, path = f"tables[{number}]", entry["path"]
    if entry.keys().isdisjoint(("pattern", "header")):
        raise SettingsError(f"{where} lacks 'pattern' or 'header' ({path})")
    stated_columns = entry.get("columns", {})
    names = tuple(stated_columns) if isinstance(stated_columns, list) else ()
    if len({*names}) < len(names) or (names and "pattern" not in entry):
        raise SettingsError(f"{where}.columns must be different names, with a 'pattern' ({path})")
    declared = {} if names else dict(stated_columns)
    columns = {name: table_column(each) for name, each in declared.items()}
    targets = {f"{where}.columns.{name}": each.to for name, each in columns.items() if each.to}
    targets |= {f"{where}.set.{name}": name for name in entry.get("set", {})}
    path_of_table = path_pattern(entry, where) if "pattern" in entry else None
    groups = path_of_table.groupindex if path_of_table is not None else ()
    targets |= {f"{where}.pattern, group {name}": name for name in groups}
    for place, target in targets.items():
        if target not in kinds:
            raise SettingsError(f"{place}: the lake has no column {target!r} to fill ({path})")
    splits = entry.get("split", {})
    for name, text in splits.items():
        key = f"{where}.split.{name}"
        if not compiled({"split": text, "path": path}, "split", key).groupindex:
            raise SettingsError(f"{key} must have a named group ({path})")
    if "unpivot" in entry and compiled(entry, "unpivot", where).groups != 1:
        raise SettingsError(f"{where}.unpivot must have one group ({entry['path']})")
    stated = {name: entry[name] for name in _AS_STATED if name in entry}
    return TableDeclaration(
        path=path_of_table,
        header=compiled(entry, "header", where) if "header" in entry else None,
        constants={name: str(value) for name, value in entry.get("set", {}).items()},
        columns=columns,
        kinds=kinds,
        aggregate=msgspec.convert(entry.get("aggregate"), Aggregate | None),
        has_factors=entry.get("factors", False),
        refusal=entry.get("refuse", ""),
        is_shipped=is_shipped,
        pivot=msgspec.convert(entry.get("pivot"), tuple[str, str] | None),
        parts=tuple(entry.get("parts", ())),
        split=splits,
        names=names,
        **stated,
    )


def table_column(entry: str | Mapping[str, Any]) -> TableColumn:
    """Convert the checked declaration of a table's column: a name, or a table with keys."""
    return TableColumn(entry) if isinstance(entry, str) else msgspec.convert(entry, TableColumn)


def about_guesses(tables: Iterable[TableDeclaration], corrected: Collection[str]) -> dict[str, str]:
    """Return what was guessed of columns, by DOUBTED, INSTEAD and CORRECTED, where there is any."""
    # What published tables doubt is a problem of the files that they fit.
    own = [each for each in tables if not (each.is_shipped or each.refusal or each.confirmed)]
    columns = [column for each in own for column in each.columns.items()]
    doubts = doubts_in((heading, c.doubt, c.instead) for heading, c in columns)
    titles = {*corrected, *(c.name for heading, c in columns if c.name and heading in corrected)}
    about = {
        DOUBTED: " ".join(sorted(_doubted_metrics(own))),
        INSTEAD: min((f"{heading}={unit}" for heading, unit, _ in doubts if unit), default=""),
        CORRECTED: "\n".join(sorted(titles | {*map(without_unit, titles)})),
    }
    return {key: text for key, text in about.items() if text}


def _doubted_metrics(tables: Iterable[TableDeclaration]) -> set[str]:
    """Return the metrics of which a unit is a guess, and those that are computed from them."""
    doubted = set[str]()
    for table in tables:
        there = {column.to for column in table.columns.values()}
        doubts = {heading: c for heading, c in table.columns.items() if c.doubt}
        own = {c.to or clean_name(c.name or name, "real") for name, c in doubts.items()}
        costs = own & {"energy_j", "power_w", "duration_s"}
        computed = {"energy_j", "power_w"} - there if len(costs & there) > 0 else set[str]()
        doubted |= own | computed | ({"edp_js"} if costs - {"power_w"} else set[str]())
    return doubted


# Quantities that a column of a meter can be.
TARGETS: Final = ("time", "date", "power_w", "voltage_v", "current_a", "energy_j")


def build_meter(entry: Mapping[str, Any], number: int) -> MeterDeclaration:
    """Build one [[meters]] entry.

    Raises:
        SettingsError: No pattern, an invalid regular expression, an unknown target, or no column
            for the time or the power; the message names the place.
    """
    where, path = f"meters[{number}]", entry["path"]
    regex = path_pattern(entry, where)
    columns = {name: table_column(each) for name, each in entry.get("columns", {}).items()}
    targets = [each.to for each in columns.values() if not each.is_dropped]
    for name, each in columns.items():
        if not each.is_dropped and each.to not in TARGETS:
            raise SettingsError(
                f"{where}.columns.{name} cannot be {each.to!r}, "
                f"known: {', '.join(TARGETS)} ({path})"
            )
    for wanted in ("time", "power_w"):
        if wanted not in targets:
            raise SettingsError(f"{where}.columns has none for {wanted!r} ({path})")
    if twice := sorted({str(each) for each in targets if targets.count(each) > 1}):
        raise SettingsError(f"{where}.columns has two for {twice[0]!r} ({path})")
    return MeterDeclaration(regex, columns, entry.get("time_zone"))
