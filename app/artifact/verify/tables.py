"""The tables behind the views: means, deviations, counts, and the cells of maps."""

import csv
import math
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb

from app.artifact.verify.claims import has
from app.artifact.verify.effects import effect_of
from app.artifact.verify.functions import quantile
from app.artifact.verify.models import curves_of
from app.artifact.verify.report import (
    TOLERANCE,
    Report,
    Row,
    agrees,
    quoted,
    rows_of,
    show,
    words_of_key,
)
from app.artifact.verify.sets import Sided, Study, of_sides
from app.artifact.verify.shares import shares_of


def cells_of(
    lake: duckdb.DuckDBPyConnection, given: dict[str, Any], keys: list[str], rows: list[Row]
) -> list[tuple[Any, ...]]:
    """Return lead, its interval and the members of both sets of each decided or open cell."""
    shown = rows_of(lake, f"FROM read_parquet('{given['file']}') WHERE NOT ({given['skip']})")
    studies: dict[Any, Study] = {}
    answer = []
    for cell in shown:
        sides = [side_of(cell, role, given, rows, studies) for role in ("winner", "runner_up")]
        error = cell["level"] * (2 if cell["outcome"] == "equivalent" else 1)
        lead, low, high = of_sides(sides[0], sides[1], error)
        if given["metric"]["sign"] < 0:
            lead, low, high = -lead, -high, -low
        ends = (math.expm1(lead), *(math.expm1(end) for end in (low, high)))
        members = [len(side) for side in sides]
        answer.append((*(cell[key] for key in keys), *ends, *members))
    return answer


def side_of(
    cell: Row, role: str, given: dict[str, Any], rows: list[Row], studies: dict[Any, Study]
) -> list[Sided]:
    """Return the best set of a competitor's settings in a cell, at the level of the map."""
    scope = {name: cell.get(f"{role}_{name}", cell.get(name)) for name in given["choice"]}
    key = tuple(scope.values())
    if key not in studies:
        alike = {name: scope[name] for name in given["family"]}
        studies[key] = Study(
            [row for row in rows if has(row, scope)], [row for row in rows if has(row, alike)],
            given["metric"], None,
        )  # fmt: skip
    whole = studies[key]
    place = {name: cell[name] for name in given["cell"]}
    part = Study([], [], given["metric"], None)
    part.cost = [
        cost for row, cost in zip(whole.rows, whole.cost, strict=True)
        if has(row, place) and cost.n >= 2
    ]  # fmt: skip
    return part.side(cell["level"])


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
    for number, row in enumerate(shown):
        if any(row[len(keys) + len(values) :]):
            continue
        key = row[: len(keys)]
        at = words_of_key(keys, key)
        again = computed.get(key, (None,) * len(values))
        given = row[len(keys) : len(keys) + len(values)]
        for column, written, other in zip(values, given, again, strict=True):
            of = "value" if column == "sd" else column.removesuffix("_sd")
            of = intervals[column][0] if column in intervals else of
            mean = again[values.index(of)] if of != column and of in values else None
            scale = abs(mean) if mean is not None else table.get("scales", {}).get(column, 0.0)
            tolerance = table.get("tolerances", {}).get(column, TOLERANCE)
            report.compare(f"{name}: {column} of {at}", written, other, tolerance, scale)
            text = texts[number].get(column, "") if number < len(texts) else ""
            if not agrees(written, float(text) if text else None, TOLERANCE, scale):
                report.fault(f"{name}: {column} of {at} is {show(written)}, its CSV has {text!r}")


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
    if given["how"] == "cells":
        return cells_of(lake, given, keys, settings)
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
