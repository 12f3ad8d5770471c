"""The claims of the lake."""

import math
from pathlib import Path
from typing import Any

import duckdb

from app.artifact.verify.noise import estimates, moments
from app.artifact.verify.report import CLAIM_TOLERANCE, Report, Row, agrees, quoted, show
from app.artifact.verify.sets import (
    OUTSIDE_SHARE,
    Interval,
    Study,
    from_constant,
    of_sides,
    outcome_of,
    paired,
    saving,
)

MOST_EFFECT = 5.0


def check_claims(
    lake: duckdb.DuckDBPyConnection, claims: dict[str, Any], rows: list[Row], report: Report
) -> None:
    """Compare each claim's counts, effect, interval and outcome with those of the runs."""
    if not claims["list"]:
        return
    decided = 0
    for claim in claims["list"]:
        computed = judged(claim, rows, claims)
        decided += computed["outcome"] != "undecided"
        for name, value in computed.items():
            shown = claim["numbers"][name]
            report.compare(f"claim {claim['id']}: {name}", shown, value, CLAIM_TOLERANCE)
    # Benjamini and Hochberg: the error of each interval follows from how many claims it decides.
    level = claims["alpha"] * max(decided, 1) / len(claims["list"])
    for claim in claims["list"]:
        report.compare(f"claim {claim['id']}: alpha", claim["alpha"], level, CLAIM_TOLERANCE)
    check_listed(lake, "tables/findings-claims.parquet", claims["list"], report)


def judged(claim: dict[str, Any], rows: list[Row], claims: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of a claim, computed from the moments of all settings."""
    scope = [row for row in rows if has(row, claim["scope"])]
    subject, reference = claim["subject"], claim["reference"]
    metric, limit, kind = claim["metric"], claim["limit"], claim["kind"]
    margin, share = math.log1p(claims["margin"]), claim["alpha"]

    def study(system: str) -> Study:
        alike = {k: claim["scope"].get(k) for k in ("dataset", "machine", "workload")}
        plain = {"system": system, "is_baseline": False}
        own, related = (
            [row for row in some if has(row, given)]
            for some, given in ((scope, plain), (rows, alike | plain))
        )
        return Study(own, related, metric, limit)

    own = study(subject[0]["system"])
    if kind == "tuned to tuned":
        other = study(reference[0]["system"])
        a, b = (each.side(claim["alpha"]) for each in (own, other))
        # A limit takes a part of the error.
        share *= 1 - OUTSIDE_SHARE if limit else 1.0
        # The runs that are counted are those of the sets at the error of a single claim.
        n = [sum(e.n for e, _ in each.side(claims["alpha"])) for each in (own, other)]

        def change(alpha: float) -> Interval:
            return of_sides(a, b, alpha)

    elif kind == "limit met":
        estimate = own.limit[position(own.rows, subject[0])]
        n = [estimate.n, 0]

        def change(alpha: float) -> Interval:
            return from_constant(estimate, own.at, alpha)

    elif kind == "knob" and len(subject) > 1:
        sides = [[own.cost[position(own.rows, s)] for s in side] for side in (subject, reference)]
        differences = [s.mean - r.mean for s, r in zip(*sides, strict=True)]
        n = [sum(e.n for e in side) for side in sides]
        items = [tuple(s[name] for name in claim["items"]) for s in subject]

        def change(alpha: float) -> Interval:
            return paired(differences, items, alpha)

    else:
        setting, among = own.cost[position(own.rows, subject[0])], 1
        if kind == "knob":
            base = own.cost[position(own.rows, reference[0])]
        else:
            default = scope[position(scope, reference[0] | {"is_baseline": True})]
            found = moments([default], metric["name"], own.step)
            base = estimates(found, own.prior, metric["sign"])[0]
            among = max(len(own.side(claims["alpha"])), 1)
        n = [setting.n, base.n]

        def change(alpha: float) -> Interval:
            return saving(setting, base, among, alpha)

    estimated, least, most = change(share)
    outcome = outcome_of(change, share, margin)
    if kind == "limit met" and outcome == "equivalent" and least <= 0 <= most:
        outcome = "undecided"
    sign = (limit if kind == "limit met" else metric)["sign"]
    ends = sorted((sign * least, sign * most))
    return {
        "n_subject": n[0], "n_reference": n[1], "effect_pct": percent(sign * estimated),
        "low_pct": percent(ends[0]), "high_pct": percent(ends[1]), "outcome": outcome,
    }  # fmt: skip


def has(row: Row, values: dict[str, Any]) -> bool:
    return all(row[name] == value for name, value in values.items())


def position(rows: list[Row], values: dict[str, Any]) -> int:
    return next(i for i, row in enumerate(rows) if has(row, values))


def percent(difference: float) -> float | None:
    return 100 * math.expm1(difference) if abs(difference) <= MOST_EFFECT else None


def check_listed(
    lake: duckdb.DuckDBPyConnection, name: str, claims: list[dict[str, Any]], report: Report
) -> None:
    """Compare the numbers of claims with those that a table lists."""
    if not claims or not Path(name).is_file():
        return
    columns = list(claims[0]["numbers"])
    listed = ", ".join(map(quoted, columns))
    rows = lake.execute(f"SELECT id, {listed} FROM read_parquet('{name}')").fetchall()
    numbers = {claim["id"]: claim["numbers"] for claim in claims}
    for own, *values in rows:
        for column, shown in zip(columns, values, strict=True):
            given = numbers.get(own, {}).get(column, shown)
            if not agrees(shown, given, 0.0, 0.0):
                report.fault(f"{name}: {column} of {own}: {show(shown)}, claimed is {show(given)}")
