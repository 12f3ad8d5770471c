"""The tables behind the views, and the queries that compute their numbers again from the runs."""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl
import polars.selectors as cs

from app.kit.columns import floats
from app.kit.lake_view import LakeView
from app.kit.page import Page, Recomputed
from data.analysis.spreads import mean_spreads
from data.errors import WattlasError
from data.queries.recomputed import formulas_of, part_query, recomputed_query
from data.selection import Selection

# Sides of a cell of Modes; their columns have these in front.
_SIDES: Final = ("winner_", "runner_up_")
_IDLE: Final = "is_idle"
_TOLERANCE: Final = 1e-9
# What the ends of an interval have behind the name of their mean.
_END: Final = re.compile(r"(_ci95)?_(low|high)$")
# A table of an artifact in a query.
_FILE: Final = r"tables/[\w-]+\.parquet"


@dataclass(frozen=True, slots=True)
class ViewTable:
    """The rows behind one view.

    Attributes:
        file: Path in the artifact, without ending.
        title: Page and view in words.
        how: How the view was computed.
        checks: Queries over `runs` that compute its numbers again, with keys and values.
        unchecked: Columns with numbers of metrics that no query computes again.
    """

    file: str
    title: str
    rows: pl.DataFrame
    how: str
    checks: list[dict[str, Any]] = field(default_factory=list)
    unchecked: tuple[str, ...] = ()


def view_tables(view: LakeView, page: Page, state: Any, root: Path) -> Iterator[ViewTable]:
    """Write the rows behind each view of a page as Parquet, and find how to compute them again.

    Each mean is computed again over the runs as verify.py does; what the query does not yield to
    nine digits is `unchecked`.
    """
    written: list[tuple[str, pl.DataFrame]] = []
    for own in page.views:
        try:
            rows = page.rows(view, state, own.name)
        except WattlasError:
            # The view needs runs that the lake does not have.
            continue
        rows = rows.with_columns(cs.categorical().cast(pl.String))
        rows.write_parquet(root / f"tables/{page.name}-{own.name}.parquet", compression="zstd")
        written.append((own.name, rows))
    # Queries may read the table of another view.
    for name, rows in written:
        file = f"tables/{page.name}-{name}"
        selection = getattr(state, "selection", Selection())
        if page.scope is not None:
            selection = page.scope(view, state, name)
        recomputed = page.recomputed(view, state, name) if page.recomputed else []
        checked = [_asked(view, rows, one, root) for one in recomputed]
        if all(one.has_means or not one.query for one in recomputed):
            sides = [s for s in _SIDES if any(column.startswith(s) for column in rows.columns)]
            checked += [_check(view, rows, selection, side) for side in sides or [""]]
        checks, unchecked = _checks(view, rows, f"{file}.parquet", checked)
        title = f"{page.title}: {page.view(name).title}"
        yield ViewTable(file, title, rows, page.explain(view, state, name), checks, unchecked)


def _checks(
    view: LakeView, rows: pl.DataFrame, file: str, found: Sequence[dict[str, Any] | None]
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    checks = [{"file": file, **check} for check in found if check is not None]
    checked = {name for check in checks for name in check["values"]}
    known = {*view.catalogue.configuration, *view.catalogue.knob_of_column, "replicate"}
    others = (
        name
        for name in rows.columns
        if rows[name].dtype.is_numeric() and rows[name].dtype != pl.Boolean
        and name not in checked | known and rows[name].null_count() < len(rows)
    )  # fmt: skip
    return checks, tuple(others)


def _check(
    view: LakeView, rows: pl.DataFrame, selection: Selection, side: str
) -> dict[str, Any] | None:
    """Find the formulas whose answers over the runs are the numbers of a table; None for none."""
    catalogue = view.catalogue
    named = {name.removeprefix(side): name for name in rows.columns if name.startswith(side)}
    if side:
        named |= {name: name for name in rows.columns if name in catalogue.knob_of_column}
    known = {*catalogue.configuration, *catalogue.knob_of_column}
    run_id = rows[named["run_id"]] if "run_id" in named else None
    is_by_run = run_id is not None and not run_id.null_count() and run_id.is_unique().all()
    columns = ["run_id"] if is_by_run else [name for name in named if name in known]
    keys = {column: named[column] for column in columns}
    numeric = [n for n, own in named.items() if n not in keys and rows[own].dtype.is_numeric()]
    formulas = formulas_of(catalogue, numeric)
    if not keys or not formulas or not len(rows):
        return None
    numbered = [(f"f{i}", sql) for i, (_, sql) in enumerate(formulas)]
    answer = view.lake.polars(recomputed_query(selection, keys, numbered))
    answer = answer.with_columns(pl.col(name).cast(rows.schema[name]) for name in keys.values())
    # Idle runs of a device have no setting.
    skipped = [_IDLE] if _IDLE in rows.columns else []
    counted = rows.filter(~pl.col(_IDLE)) if skipped else rows
    both = counted.join(answer, on=list(keys.values()), how="left", nulls_equal=True)
    right: dict[str, str] = {}
    for (name, sql), (again, _) in zip(formulas, numbered, strict=True):
        own = named[name]
        if own not in right and _is_same(both[own], both[again], _mean_of(own, both)):
            right[own] = sql
    if not right:
        return None
    sql = recomputed_query(selection, keys, list(right.items()))
    ends = _intervals(both, right, side)
    return {
        "keys": list(keys.values()),
        "values": [*right, *ends],
        "intervals": ends,
        "skip": skipped,
        "sql": sql,
        "left_out": _left_out(answer, counted, [*keys.values()]),
        "count": len(counted) * (len(right) + len(ends)),
    }


def _intervals(
    rows: pl.DataFrame, known: Collection[str], side: str
) -> dict[str, tuple[str, str, str]]:
    """Return the columns that are ends of 95 % intervals of means, with mean, deviation and n."""
    ends: dict[str, tuple[str, str, str]] = {}
    for name in rows.columns:
        mean = _END.sub("", name)
        n = next((n for n in (f"{mean}_n", f"{side}n") if n in known), "")
        parts = mean, f"{mean}_sd", n
        if mean != name and all(part in known for part in parts):
            half = mean_spreads(rows[n].to_numpy(), floats(rows[parts[1]]), is_interval=True)
            sign = -1 if name.endswith("low") else 1
            again = pl.Series(floats(rows[mean]) + sign * half).fill_nan(None)
            if _is_same(rows[name], again, rows[mean]):
                ends[name] = parts
    return ends


def _asked(
    view: LakeView, rows: pl.DataFrame, check: Recomputed, root: Path
) -> dict[str, Any] | None:
    """Return the check by a page's own query of the numbers that it yields."""
    keys, counted = list(check.keys), rows.filter(~pl.sql_expr(check.skip))
    if check.again is not None:
        return {
            "keys": keys, "values": list(check.values), "skip": [check.skip], "again": check.again,
            "left_out": 0, "count": len(counted) * len(check.values),
            "tolerances": dict(check.tolerances), "scales": dict(check.scales),
        }  # fmt: skip
    if not all((root / name).is_file() for name in re.findall(_FILE, check.query)):
        return None
    query = re.sub(_FILE, lambda name: str(root / name[0]), check.query)
    answer = view.lake.polars(query).with_columns(cs.categorical().cast(pl.String))
    answer = answer.with_columns(pl.col(name).cast(rows.schema[name]) for name in keys)
    both = counted.join(answer, on=keys, how="left", nulls_equal=True, suffix="_again")
    right = [
        name for name in check.values
        if name in rows.columns and _is_same(
            both[name], both[f"{name}_again"], _mean_of(name, both),
            check.tolerances.get(name, _TOLERANCE),
        )
    ]  # fmt: skip
    if not right:
        return None
    return {
        "keys": keys, "values": right, "skip": [check.skip],
        "sql": part_query(check.query, (*keys, *right)), "count": len(counted) * len(right),
        "tolerances": dict(check.tolerances), "left_out": _left_out(answer, counted, keys),
    }  # fmt: skip


def _left_out(answer: pl.DataFrame, counted: pl.DataFrame, keys: list[str]) -> int:
    """Return how many keys of the answer a table does not show, such as all but the best."""
    return answer.select(keys).unique().join(counted, on=keys, how="anti", nulls_equal=True).height


def _mean_of(name: str, rows: pl.DataFrame) -> pl.Series | None:
    """Return the means of a column of deviations; None for another."""
    mean = "value" if name == "sd" else name.removesuffix("_sd")
    return rows[mean] if mean != name else None


def _is_same(
    shown: pl.Series, again: pl.Series, mean: pl.Series | None, tolerance: float = _TOLERANCE
) -> bool:
    scales = [0.0] * len(shown) if mean is None else mean
    for a, b, scale in zip(shown, again, scales, strict=True):
        if a is None or b is None:
            if a is not b:
                return False
        elif not math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance * abs(scale or 0.0)):
            return False
    return True
