"""Text logs that settings declare (`[[logs]]`): regular expressions and the columns they fill."""

import re
from collections.abc import Mapping
from typing import Any, Final

from data.errors import SettingsError
from ingest.declarations import LogDeclaration, LogHistogram
from ingest.settings.patterns import compiled, path_pattern
from ingest.settings.tables import table_column

# Groups for the time of a run.
TIMES: Final = ("begin_time", "end_time")


def build_log(entry: Mapping[str, Any], number: int, kinds: Mapping[str, str]) -> LogDeclaration:
    """Build one [[logs]] entry.

    Args:
        kinds: Kinds of values of the lake's columns, as `target_kinds` of tables.

    Raises:
        SettingsError: Neither pattern nor marks, nothing to find, an invalid regular expression, a
            column of no group or that the lake does not have; the message names the place.
    """
    where, path = f"logs[{number}]", entry["path"]
    if entry.keys().isdisjoint(("pattern", "marks")):
        raise SettingsError(f"{where} lacks 'pattern' or 'marks' ({path})")
    finds = tuple(
        compiled({"path": path, f"find[{n}]": each}, f"find[{n}]", where, "(?m:{})")
        for n, each in enumerate(entry.get("find", ()), 1)
    )
    histogram = entry.get("histogram")
    if not any(find.groupindex for find in finds) and histogram is None:
        raise SettingsError(f"{where}.find has no named group ({path})")
    begin, output = (
        compiled(entry, key, where, "(?m:{})") if key in entry else None
        for key in ("begin", "output")
    )
    groups = {name for each in (*finds, *filter(None, [begin])) for name in each.groupindex}
    columns = {name: table_column(each) for name, each in entry.get("columns", {}).items()}
    for name, each in columns.items():
        if name not in groups:
            known = ", ".join(sorted(groups))
            raise SettingsError(
                f"{where}.columns.{name}: no group of find, known: {known} ({path})"
            )
        if each.to is not None and each.to not in kinds:
            raise SettingsError(
                f"{where}.columns.{name}: the lake has no column {each.to!r} to fill ({path})"
            )
    return LogDeclaration(
        name=entry.get("name", "text_log"),
        path=path_pattern(entry, where) if "pattern" in entry else None,
        marks=tuple(entry.get("marks", ())),
        finds=finds,
        begin=begin,
        output=output,
        totals=frozenset(entry.get("totals", ())),
        histogram=None if histogram is None else _histogram(histogram, where, path),
        workload=entry.get("workload"),
        columns=columns,
        kinds=kinds,
    )


def _histogram(entry: Mapping[str, str], where: str, path: str) -> LogHistogram:
    parts = {"path": path, **entry}
    rows = compiled(parts, "rows", f"{where}.histogram", "(?m:{})")
    if not {"value", "counts"} <= rows.groupindex.keys():
        raise SettingsError(f"{where}.histogram.rows lacks a group 'value' or 'counts' ({path})")
    over = re.compile("$^")
    if "overflow" in entry:
        over = compiled(parts, "overflow", f"{where}.histogram", "(?m:{})")
    return LogHistogram(rows, over, _SCALES[entry.get("unit", "us")])


_SCALES: Final = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
