"""The tables behind the views: means, deviations and counts."""

import csv
import math
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb

from app.artifact.verify.effects import effect_of
from app.artifact.verify.functions import quantile
from app.artifact.verify.maps import bests_of, cells_of
from app.artifact.verify.models import curves_of
from app.artifact.verify.order import order_of
from app.artifact.verify.report import TOLERANCE, Report, Row, agrees, quoted, show, words_of_key
from app.artifact.verify.shares import shares_of


def check_table(
    lake: duckdb.DuckDBPyConnection, table: dict[str, Any], settings: list[Row], report: Report
) -> None:
    """Compare a table, as Parquet and as CSV, with the answer of its query over the runs."""
    name, keys, values, skip = (table[part] for part in ("file", "keys", "values", "skip"))
    intervals = table.get("intervals", {})
    listed = ", ".join([*map(quoted, [*keys, *values]), *skip])
    shown = lake.execute(f"SELECT {listed} FROM read_parquet('{name}')").fetchall()
    if "again" in table:
        answer = computed_again(lake, table, settings)
    else:
        answer = lake.execute(table["sql"]).fetchall()
    computed = {row[: len(keys)]: with_ends(values, row[len(keys) :], intervals) for row in answer}
    texts = read_csv(name, values)
    counted = Counter(row[: len(keys)] for row in shown if not any(row[len(keys) + len(values) :]))
    for key, count in counted.items():
        if count > 1 and key in computed:
            report.fault(f"{name}: {words_of_key(keys, key)}: {count} rows")
    missing = [key for key in computed if key not in counted]
    if len(missing) != table["left_out"]:
        example = f", such as {words_of_key(keys, missing[0])}" if missing else ""
        given = table["left_out"]
        report.fault(f"{name}: {given} rows of the runs left out, now {len(missing)}{example}")
    if len(texts) != len(shown):
        report.fault(f"{name}: {len(shown)} rows, its CSV has {len(texts)}")
    columns = [(column, *scale_of(table, column)) for column in values]
    for number, row in enumerate(shown):
        if any(row[len(keys) + len(values) :]):
            continue
        key = row[: len(keys)]
        at = words_of_key(keys, key)
        again = computed.get(key, (None,) * len(values))
        given = row[len(keys) : len(keys) + len(values)]
        for (column, tolerance, mean_at, least), written, other in zip(
            columns, given, again, strict=True
        ):
            mean = None if mean_at is None else again[mean_at]
            scale = least if mean is None else abs(mean)
            report.compare(f"{name}: {column} of {at}", written, other, tolerance, scale)
            text = texts[number].get(column, "") if number < len(texts) else ""
            if not agrees(written, read_cell(text, written), TOLERANCE, scale):
                report.fault(f"{name}: {column} of {at} is {show(written)}, its CSV has {text!r}")


def scale_of(table: dict[str, Any], column: str) -> tuple[float, int | None, float]:
    """Return a column's tolerance, the place of the mean that scales it, its scale without one."""
    values, intervals = table["values"], table.get("intervals", {})
    of = "value" if column == "sd" else column.removesuffix("_sd")
    of = intervals[column][0] if column in intervals else of
    return (
        table.get("tolerances", {}).get(column, TOLERANCE),
        values.index(of) if of != column and of in values else None,
        table.get("scales", {}).get(column, 0.0),
    )


def computed_again(
    lake: duckdb.DuckDBPyConnection, table: dict[str, Any], settings: list[Row]
) -> list[tuple[Any, ...]]:
    """Return keys and values of a table that no query yields."""
    keys, given = table["keys"], table["again"]
    given |= {"file": table["file"], "skip": " OR ".join(table["skip"]) or "FALSE"}
    if given["how"] == "effect":
        return effect_of(given, keys, settings)
    if given["how"] == "shares":
        return shares_of(given, keys, settings)
    if given["how"] == "order":
        return order_of(lake, given, keys)
    if given["how"] in ("bests", "cells"):
        return (bests_of if given["how"] == "bests" else cells_of)(lake, given, keys, settings)
    return curves_of(lake, given, keys)


def with_ends(
    names: list[str], row: tuple[Any, ...], intervals: dict[str, list[str]]
) -> tuple[Any, ...]:
    """Add the ends of 95 % intervals of means, by Student's t; None for one run."""
    at = dict(zip(names, row, strict=False))
    ends = []
    for name, (mean, sd, n) in intervals.items():
        side, end = -1 if name.endswith("low") else 1, None
        if at[n] and at[n] > 1 and at[sd] is not None:
            end = at[mean] + side * quantile(0.025, at[n] - 1) * at[sd] / math.sqrt(at[n])
        ends.append(end)
    return (*row, *ends)


def read_csv(name: str, values: list[str]) -> list[dict[str, str]]:
    with Path(name).with_suffix(".csv").open(newline="", encoding="utf-8") as file:
        return [{v: row[v] for v in values} for row in csv.DictReader(file)]


def read_cell(text: str, written: Any) -> Any:
    """Return what a cell of a CSV has in place of a value."""
    if isinstance(written, bool):
        return {"true": True, "false": False}.get(text)
    return text if isinstance(written, str) else float(text) if text else None
