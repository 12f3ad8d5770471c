"""Tests of order: drift within settings, blocks of runs, and order that follows a knob."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any

import duckdb

from app.artifact.verify.claims import has
from app.artifact.verify.effects import dot
from app.artifact.verify.functions import beta_share, t_above
from app.artifact.verify.report import Row, rows_of
from app.artifact.verify.shares import centred, fitted

TESTED_SETTINGS, SHOWN_AT, LEAST_CHANGE = 10, 0.01, math.log(1.02) / 2
GAP, MOST_RANK_CORRELATION, LEAST_RUNS_BETWEEN = 10.0, 0.5, 3.0


def order_of(
    lake: duckdb.DuckDBPyConnection, given: dict[str, Any], keys: list[str]
) -> list[tuple[Any, ...]]:
    """Return the tests of each choice and metric."""
    runs, answer = rows_of(lake, given["query"]), []
    for check in given["checks"]:
        scope, metric = check["scope"], check["metric"]
        rows = [row for row in runs if has(row, scope) and row[metric] is not None]
        key = {name: None if value is None else str(value) for name, value in scope.items()}
        tests = checked(rows, metric, given) | key | {"metric": metric}
        answer.append((*(tests[name] for name in keys), *(tests[n] for n in given["columns"])))
    return answer


def checked(rows: list[Row], metric: str, given: dict[str, Any]) -> Row:
    tests: Row = dict.fromkeys(given["columns"]) | {"order": "unknown", "blocks": 0}
    tests |= {"runs": 0, "settings": 0, "is_affected": False}
    time_column, tests["order"] = next(
        (each for each in (("start_unix_s", "times"), ("replicate", "replicate numbers"))
         if None not in (known := {row[each[0]] for row in rows}) and len(known) > 1),
        ("", "unknown"),
    )  # fmt: skip
    if not time_column:
        return tests
    time = [float(row[time_column]) for row in rows]
    setting = [tuple(row[name] for name in given["settings"]) for row in rows]
    block = [int(at) for at in time]
    if time_column == "start_unix_s":
        block = blocks_in_time(time)
        tests |= placed(rows, time, setting, given["knobs"])
    several = [i for i, own in enumerate(setting) if setting.count(own) > 1]
    groups = [setting[i] for i in several]
    count, at = len(set(groups)), [time[i] for i in several]
    if count < TESTED_SETTINGS:
        return tests
    y = centred([math.log(rows[i][metric]) for i in several], groups)
    changes = []
    if max(at) > min(at):
        tests |= drift(y, at, groups, count)
        changes.append((tests["p"], abs(math.log1p(tests["change_pct"] / 100))))
    names = sorted({block[i] for i in several})
    if len(names) > 1 and len(y) - count - len(names) + 1 > 0:
        tests |= blocks(y, [names.index(block[i]) for i in several], groups, count)
        changes.append((tests["block_p"], math.log1p(tests["block_range_pct"] / 100)))
    tests["is_affected"] = any(p <= SHOWN_AT and size > LEAST_CHANGE for p, size in changes)
    return tests


def drift(y: list[float], time: list[float], groups: list[Any], count: int) -> Row:
    """Test the slope of a metric over time within settings."""
    span = max(time) - min(time)
    at = centred([(each - min(time)) / span for each in time], groups)
    squares = dot(at, at)
    if squares == 0:
        return {}
    slope, df = dot(at, y) / squares, len(y) - count - 1
    rest = math.fsum((value - slope * x) ** 2 for value, x in zip(y, at, strict=True))
    error = math.sqrt(rest / df / squares)
    t = abs(slope) / error if error else math.inf if slope else 0.0
    return {
        "runs": len(y), "settings": count, "change_pct": 100 * math.expm1(slope),
        "p": 2 * t_above(t, df),
    }  # fmt: skip


def blocks(y: list[float], block: list[int], groups: list[Any], count: int) -> Row:
    """Test blocks given settings (two-way, additive)."""
    columns = [
        centred([float(own == name) for own in block], groups) for name in range(1, max(block) + 1)
    ]
    gram = [[dot(a, b) for b in columns] for a in columns]
    products = [dot(column, y) for column in columns]
    effects, rank = fitted(gram, products)
    explained, df = dot(effects, products), len(y) - count - rank
    rest = max(dot(y, y) - explained, 0.0)
    f = explained / rank / (rest / df) if rest else math.inf if explained else 0.0
    every = [0.0, *effects]
    return {
        "blocks": len(every), "block_p": beta_share(df / 2, rank / 2, df / (df + rank * f)),
        "block_range_pct": 100 * math.expm1(max(every) - min(every)),
    }  # fmt: skip


def blocks_in_time(start_s: Sequence[float]) -> list[int]:
    """Number the blocks that long gaps in time part."""
    order = sorted(range(len(start_s)), key=start_s.__getitem__)
    gaps = [start_s[b] - start_s[a] for a, b in pairwise(order)]
    block, number, usual = [0] * len(start_s), 0, median(gaps)
    for i, gap in zip(order[1:], gaps, strict=True):
        number += usual > 0 and gap > GAP * usual
        block[i] = number
    return block


def placed(rows: list[Row], time: list[float], setting: list[Any], knobs: list[str]) -> Row:
    """Tell whether the order of runs follows a knob, or repeats settings closely."""
    if len(set(time)) < len(time):
        return {}
    order = sorted(range(len(time)), key=time.__getitem__)
    position = {i: float(at) for at, i in enumerate(order)}
    last: dict[Any, int] = {}
    between = []
    for at, i in enumerate(order):
        if setting[i] in last:
            between.append(at - last[setting[i]])
        last[setting[i]] = at
    follows = any(
        abs(spearman([position[i] for i in range(len(rows))], [row[knob] for row in rows]))
        > MOST_RANK_CORRELATION
        for knob in knobs if len({row[knob] for row in rows}) > 1
    )  # fmt: skip
    apart = float(median(between)) if between else math.nan
    return {"is_random": not follows and not apart < LEAST_RUNS_BETWEEN, "runs_between": apart}


def spearman(position: list[float], values: list[Any]) -> float:
    """Return the correlation with ranks, of which ties share the mean; NULL is first."""
    known = sorted({value for value in values if value is not None})
    first, rank = 0, {}
    for value in [None, *known]:
        count = values.count(value)
        rank[value] = first + (count + 1) / 2
        first += count
    whole = [0] * len(values)
    x, y = centred(position, whole), centred([rank[value] for value in values], whole)
    return dot(x, y) / math.sqrt(dot(x, x) * dot(y, y))
