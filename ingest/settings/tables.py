"""Tables that a dataset's settings declare, and the lake's columns for their columns."""

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from data.declared import ROLES, Column
from data.errors import SettingsError
from data.knob_table import STATED
from data.schema import KNOBS, MEASUREMENTS
from ingest.records import Aggregate, TableColumn, TableDeclaration
from ingest.settings.knobs import FOLLOWING
from ingest.settings.patterns import compiled, path_pattern

KEYS: Final[dict[str, type | tuple[type, ...]]] = {
    "pattern": str,
    "header": str,
    "workload": str,
    "system": str,
    "set": dict,
    "columns": dict,
    "aggregate": dict,
    "factors": bool,
    "refuse": str,
}
_AGGREGATE_KEYS: Final = {"n", "mean", "sd"}
_COLUMN_KEYS: Final = {"to", "scale", "values", "drop", "unit", "role", "wraps_at"}
# The number of the core that a row is of, if the dataset has no column of this name; and its kind.
CORE: Final = "core"
# Columns that identify a row's run and are not plain columns of `runs`.
_NAMING: Final = {
    **{
        knob.stated_as: "whole" if knob.stated_kind == "size" else knob.stated_kind
        for knob in STATED
    },
    "system": "text",
    "workload": "text",
    "variant": "text",
    "replicate": "whole",
    CORE: CORE,
}


def target_kinds(columns: Mapping[str, Column]) -> dict[str, str]:
    """The columns of the lake that a table may fill, and the kinds of their values.

    Args:
        columns: Columns that the dataset declares.
    """
    shipped = {n: t for n, t in (KNOBS | MEASUREMENTS).items() if n not in FOLLOWING}
    kinds = {n: _kind(t) for n, t in shipped.items()}
    return {**kinds, **_NAMING, **{name: column.kind for name, column in columns.items()}}


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "whole"
    return "real" if pa.types.is_floating(kind) else "text"


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
    found = {}
    for name, said in entry.get("columns", {}).items():
        found[name] = table_column(said, f"{where}.columns.{name}", path)
    targets = {f"{where}.columns.{name}": each.to for name, each in found.items() if each.to}
    targets |= {f"{where}.set.{name}": name for name in entry.get("set", {})}
    for place, target in targets.items():
        if target not in kinds:
            raise SettingsError(f"{place}: the lake has no column {target!r} to fill ({path})")
    return TableDeclaration(
        path_pattern(entry, where) if "pattern" in entry else None,
        compiled(entry, "header", where) if "header" in entry else None,
        entry.get("workload"),
        entry.get("system"),
        {name: str(value) for name, value in entry.get("set", {}).items()},
        found,
        kinds,
        _aggregate(entry.get("aggregate"), f"{where}.aggregate", path),
        entry.get("factors", False),
        entry.get("refuse", ""),
        is_shipped,
    )


def _aggregate(said: Mapping[str, Any] | None, where: str, path: str) -> Aggregate | None:
    if said is None:
        return None
    if missing := sorted({"n", "sd"} - said.keys()):
        raise SettingsError(f"{where} lacks {missing[0]!r} ({path})")
    if unknown := sorted(said.keys() - _AGGREGATE_KEYS):
        known = ", ".join(sorted(_AGGREGATE_KEYS))
        raise SettingsError(f"{where}: unknown key {unknown[0]!r}, known: {known} ({path})")
    n, mean, sd = said["n"], said.get("mean", ""), said["sd"]
    is_count = (isinstance(n, str) and n != "") or (type(n) is int and n > 0)
    if not is_count or not isinstance(mean, str) or not isinstance(sd, str) or sd in ("", mean):
        raise SettingsError(f"{where} cannot be {dict(said)!r} ({path})")
    return Aggregate(n, mean, sd)


def table_column(said: Any, where: str, path: str) -> TableColumn:
    """Read the declaration of a table's column: a name, or a table with keys.

    Raises:
        SettingsError: An unknown key, or an invalid value.
    """
    if isinstance(said, str):
        return TableColumn(said)
    if not isinstance(said, dict) or (unknown := said.keys() - _COLUMN_KEYS):
        known = ", ".join(sorted(_COLUMN_KEYS))
        what = sorted(unknown)[0] if isinstance(said, dict) else said
        raise SettingsError(f"{where}: unknown key {what!r}, known: {known} ({path})")
    scale, values = said.get("scale", 1.0), said.get("values", {})
    if type(scale) not in (int, float) or scale == 0 or not isinstance(values, dict):
        raise SettingsError(f"{where} cannot be {said!r} ({path})")
    if not isinstance(said.get("to", ""), str) or type(said.get("drop", False)) is not bool:
        raise SettingsError(f"{where} cannot be {said!r} ({path})")
    unit, role, wraps_at = said.get("unit", ""), said.get("role"), said.get("wraps_at")
    is_counter = wraps_at is None or (type(wraps_at) in (int, float) and wraps_at > 0)
    if not isinstance(unit, str) or role not in (*ROLES, None) or not is_counter:
        raise SettingsError(f"{where} cannot be {said!r} ({path})")
    return TableColumn(
        said.get("to"), float(scale), values, said.get("drop", False), unit, role, wraps_at
    )
