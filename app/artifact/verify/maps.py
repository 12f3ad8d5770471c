"""The cells of a map: the interval of the lead of the winner over the runner-up."""

import math
from typing import Any

import duckdb

from app.artifact.verify.claims import has
from app.artifact.verify.report import Row, rows_of
from app.artifact.verify.sets import Sided, Study, of_sides


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
