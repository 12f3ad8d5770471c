"""Recompute the numbers of this study from data/runs.parquet. Needs Python 3.10 and DuckDB alone.

    pip install duckdb
    python verify.py

Every mean, deviation and count in tables/ is computed again by SQL, bins and totals of Timeline by
its interrupts, every claim from the runs up: moments of the settings, their shared noise,
best sets, intervals, outcomes. So are effects of knobs. The claims of papers are judged again by
the queries of papers.sql, those on models from the values in data/models.parquet, of which those
with a formula are computed again here. Each number that differs is named. The exit status is 0 if
all agree, else 1.

Given, not computed: which setting a claim recommends, the steps of the knobs, which
configurations of storage runs are compared, and the values that only a simulation yields.
"""

import csv
import hashlib
import json
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

TOLERANCE = 1e-9
# Intervals come from quantiles that are found by iteration.
CLAIM_TOLERANCE = 1e-6
ENOUGH_SETTINGS, LEAST_SETTINGS, MOST_D0, LEAST_SHARE = 10, 3, 4.0, 1e-5
OUTSIDE_SHARE, MOST_TESTED_BY_ALL, STRONGEST = 0.2, 1000, 64
MOST_EFFECT = 5.0
# Weights of a chain are divided by this before they are too large for a float.
LARGE = 1e200
MODELS = "data/models.parquet"
MODEL_VALUES = ("throughput_kpps", "cpu_left", "latency_mean_us")
UNDECIDED = "cannot be decided"
UNDECIDED_PART: dict[str, Any] = {"outcome": UNDECIDED, "effect": None, "n": []}


Row = dict[str, Any]
# n, mean, variance (None for one run) and rounding floor of the logarithms of a setting's runs.
Moments = tuple[int, Any, Any, float]
# A difference of means and the ends of its interval.
Interval = tuple[float, float, float]


class Report:
    """Counts numbers that agree, and prints those that differ."""

    def __init__(self) -> None:
        self.numbers = self.agreed = self.faults = 0

    def fault(self, words: str) -> None:
        self.faults += 1
        print(words)

    def compare(
        self, name: str, shown: Any, computed: Any, tolerance: float, scale: float = 0.0
    ) -> None:
        self.numbers += 1
        if agrees(shown, computed, tolerance, scale):
            self.agreed += 1
        else:
            print(f"{name}: {show(shown)} is given, the runs yield {show(computed)}")


def agrees(shown: Any, computed: Any, tolerance: float, scale: float) -> bool:
    if any(value is None or isinstance(value, str) for value in (shown, computed)):
        return bool(shown == computed)
    if math.isnan(shown) or math.isnan(computed):
        return math.isnan(shown) and math.isnan(computed)
    if shown == computed:
        return True
    return bool(abs(shown - computed) <= tolerance * max(abs(shown), abs(computed), scale))


def show(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def main() -> int:
    os.chdir(Path(__file__).resolve().parent)
    report = Report()
    try:
        check_sums(report)
        checks = json.loads(Path("checks.json").read_text("utf-8"))
        lake = duckdb.connect()
        for view in checks["views"]:
            lake.execute(view)
        settings = rows_of(lake, checks["claims"]["moments"])
        for table in checks["tables"]:
            check_table(lake, table, settings, report)
        check_claims(lake, checks["claims"], settings, report)
        check_papers(lake, checks["papers"], report)
        check_models(lake, report)
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError, duckdb.Error) as error:
        report.fault(f"cannot be verified: {error}")
    is_whole = not report.faults and report.agreed == report.numbers
    print(f"{report.agreed} of {report.numbers} numbers agree")
    return 0 if is_whole else 1


def check_sums(report: Report) -> None:
    for line in Path("SHA256SUMS").read_text("utf-8").splitlines():
        digest, name = line.split("  ", 1)
        path = Path(name)
        if not path.is_file():
            report.fault(f"{name}: missing")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            report.fault(f"{name}: its SHA-256 sum is another than SHA256SUMS has")


# Tables: means, deviations and counts.


def rows_of(lake: duckdb.DuckDBPyConnection, query: str) -> list[Row]:
    answer = lake.execute(query)
    names = [column[0] for column in answer.description]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def check_table(
    lake: duckdb.DuckDBPyConnection, table: dict[str, Any], settings: list[Row], report: Report
) -> None:
    """Compare a table, as Parquet and as CSV, with the answer of its query over the runs."""
    name, keys, values, skip = (table[part] for part in ("file", "keys", "values", "skip"))
    intervals = table.get("intervals", {})
    listed = ", ".join([*map(quoted, [*keys, *values]), *skip])
    shown = lake.execute(f"SELECT {listed} FROM read_parquet('{name}')").fetchall()
    if "effect" in table:
        answer = effect_of(table["effect"], keys, settings)
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
            scale = abs(mean) if mean is not None else 0.0
            tolerance = table.get("tolerances", {}).get(column, TOLERANCE)
            report.compare(f"{name}: {column} of {at}", written, other, tolerance, scale)
            text = texts[number].get(column, "") if number < len(texts) else ""
            if not agrees(written, float(text) if text else None, TOLERANCE, scale):
                report.fault(f"{name}: {column} of {at} is {show(written)}, its CSV has {text!r}")


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


def words_of_key(keys: list[str], key: tuple[Any, ...]) -> str:
    return ", ".join(f"{k} {v}" for k, v in zip(keys, key, strict=True) if v is not None)


def read_csv(name: str, values: list[str]) -> list[dict[str, str]]:
    with Path(name).with_suffix(".csv").open(newline="", encoding="utf-8") as file:
        return [{v: row[v] for v in values} for row in csv.DictReader(file)]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# Special functions.


def digamma(x: float) -> float:
    shift = 0.0
    while x < 12:
        shift -= 1 / x
        x += 1
    y = 1 / x**2
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))
    return shift + math.log(x) - 0.5 / x - series


def trigamma(x: float) -> float:
    shift = 0.0
    while x < 12:
        shift += 1 / x**2
        x += 1
    y = 1 / x**2
    series = y * (1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * 5 / 66))))
    return shift + 1 / x + 0.5 * y + series / x


def inverse_trigamma(value: float) -> float:
    low, high = 1e-6, 1e9
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if trigamma(middle) > value else (low, middle)
    return math.sqrt(low * high)


def beta_share(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, by Lentz's continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(b, a, 1 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        + a * math.log(x) + b * math.log1p(-x)
    ) / a  # fmt: skip
    tiny, c, d = 1e-300, 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    fraction = d
    for m in range(1, 500):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + step * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + step / c
            c = c if abs(c) > tiny else tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction


def t_above(t: float, df: float) -> float:
    """Return the probability that a t statistic is above t, which is not negative."""
    return 0.5 * beta_share(df / 2, 0.5, df / (df + t * t))


@cache
def quantile(p: float, df: float) -> float:
    """Return the value that a t statistic exceeds with probability p, below 0.5."""
    if not df > 0:
        return math.inf
    low, high = 0.0, 1.0
    while t_above(high, df) > p:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if t_above(middle, df) > p else (low, middle)
    return (low + high) / 2


def sidak(alpha: float, comparisons: int) -> float:
    return -math.expm1(math.log1p(-alpha) / max(comparisons, 1))


# Noise: moderated variances of the logarithms (Smyth 2004).


class Estimate:
    """What the runs of one setting say of its mean, on a scale where less is better."""

    def __init__(self, n: int, mean: float, variance: float, df: float, has_prior: bool) -> None:
        self.n, self.mean, self.variance = n, mean, variance
        self.df, self.has_prior = df, has_prior


def moments(rows: list[Row], metric: str, step: float) -> list[Moments]:
    """Return n, mean, variance (None for one run) and rounding floor of each row's logarithms."""
    by_setting = []
    for row in rows:
        n, mean, variance, value = (
            row[f"{metric}_{end}"] for end in ("n", "log_mean", "log_variance", "mean")
        )
        floor = (step / value) ** 2 / 12 if value else math.nan
        n = min(n, 1) if variance is None else n
        by_setting.append((n, mean, max(variance, floor) if n > 1 else None, floor))
    return by_setting


def step_of(rows: list[Row], metric: str) -> float:
    steps = [row[f"{metric}_step"] for row in rows if row[f"{metric}_step"] is not None]
    return min(steps, default=0.0)


def fit_prior(found: list[Moments]) -> tuple[float, float]:
    """Return d0 and s0 squared of the variances of settings with several runs."""
    several = [(n - 1, v) for n, _, v, _ in found if n > 1 and v > 0]
    if len(several) < LEAST_SETTINGS:
        return 0.0, 0.0
    ordered = sorted(v for _, v in several)
    half = len(ordered) // 2
    median = ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    e = [
        math.log(max(v, LEAST_SHARE * median)) - digamma(f / 2) + math.log(f / 2)
        for f, v in several
    ]
    mean = math.fsum(e) / len(e)
    spread = math.fsum((x - mean) ** 2 for x in e) / (len(e) - 1)
    x = spread - math.fsum(trigamma(f / 2) for f, _ in several) / len(several)
    d0 = MOST_D0 if x <= trigamma(MOST_D0 / 2) else 2 * inverse_trigamma(x)
    return d0, math.exp(mean + digamma(d0 / 2) - math.log(d0 / 2))


def estimates(settings: list[Moments], prior: tuple[float, float], sign: float) -> list[Estimate]:
    d0, s0_squared = prior
    listed = []
    for n, mean, variance, floor in settings:
        df = d0 + n - 1
        if mean is None or n < 1 or not df > 0:
            listed.append(
                Estimate(n, math.nan if mean is None else sign * mean, math.nan, df, d0 > 0)
            )
            continue
        one = max((d0 * s0_squared + (n - 1) * (variance or 0.0)) / df, floor)
        listed.append(Estimate(n, sign * mean, one / n, df, d0 > 0))
    return listed


def critical(p: float, a: Estimate, b: Estimate) -> float:
    if a.has_prior:
        return max(quantile(p, a.df), quantile(p, b.df))
    total = (a.variance + b.variance) ** 2
    parts = a.variance**2 / a.df + b.variance**2 / b.df
    return quantile(p, total / parts)


def deviation(a: Estimate, b: Estimate) -> float:
    return math.sqrt(a.variance + b.variance)


# Best sets (Gupta 1965) and comparisons.


# A setting, and whether it surely meets the limit.
Sided = tuple[Estimate, bool]


class Study:
    """The settings of one system in one scope: estimates of a metric, and of a limited one."""

    def __init__(
        self,
        rows: list[Row],
        everything: list[Row],
        metric: dict[str, Any],
        limit: dict[str, Any] | None,
    ) -> None:
        self.rows = [row for row in rows if row[f"{metric['name']}_n"]]
        self.everything = everything
        self.prior, self.step = self.noise(metric["name"])
        self.cost = self.estimated(metric, self.prior, self.step)
        self.limit: list[Estimate] = []
        self.at = math.nan
        if limit is not None:
            self.at = limit["sign"] * math.log(limit["at"])
            self.limit = self.estimated(limit, *self.noise(limit["name"]))

    def noise(self, name: str) -> tuple[tuple[float, float], float]:
        step = step_of(self.rows, name)
        own = moments(self.rows, name, step)
        if sum(n > 1 for n, *_ in own) >= ENOUGH_SETTINGS:
            return fit_prior(own), step
        return fit_prior(moments(self.everything, name, step_of(self.everything, name))), step

    def estimated(
        self, metric: dict[str, Any], prior: tuple[float, float], step: float
    ) -> list[Estimate]:
        return estimates(moments(self.rows, metric["name"], step), prior, metric["sign"])

    def best(self, alpha: float) -> tuple[list[bool], list[bool]]:
        """Return for each setting whether it is in the best set, and surely within the limit."""
        challengers = sum(c.n >= 2 for c in self.cost)
        share = 1 - OUTSIDE_SHARE if self.limit else 1.0
        pair = sidak(share * alpha, challengers - 1)
        within, outside = [True] * len(self.cost), [False] * len(self.cost)
        if self.limit:
            for i, own in enumerate(self.limit):
                room = (self.at - own.mean) / math.sqrt(own.variance) if own.variance else math.nan
                outside[i] = room <= -quantile(OUTSIDE_SHARE * alpha, own.df)
                within[i] = room >= quantile(pair, own.df) and self.cost[i].n >= 2
        every = zip(self.cost, within, outside, strict=True)
        against = [c for c, is_in, is_out in every if c.n >= 2 and is_in and not is_out]
        if len(self.cost) > MOST_TESTED_BY_ALL:
            against.sort(key=lambda c: c.mean + 3 * math.sqrt(c.variance))
            against = against[:STRONGEST]
        members = []
        for own, is_outside in zip(self.cost, outside, strict=True):
            is_in = not is_outside and not math.isnan(own.variance)
            members.append(is_in and not any(beats(b, own, pair) for b in against))
        return members, within

    def side(self, alpha: float) -> list[Sided]:
        """Return the members of the best set with several runs, and which are surely within."""
        members, within = self.best(alpha)
        every = zip(self.cost, members, within, strict=True)
        return [(own, is_within) for own, is_in, is_within in every if is_in and own.n >= 2]


def beats(b: Estimate, a: Estimate, alpha: float) -> bool:
    lead = a.mean - b.mean
    return lead > 0 and lead >= critical(alpha, a, b) * deviation(a, b)


def saving(setting: Estimate, other: Estimate, among: int, alpha: float) -> Interval:
    d, dev = setting.mean - other.mean, deviation(setting, other)
    low = critical(alpha / 2, setting, other) * dev
    high = critical(sidak(alpha / 2, among), setting, other) * dev
    return d, d - low, d + high


def from_constant(setting: Estimate, at: float, alpha: float) -> Interval:
    d = setting.mean - at
    width = quantile(alpha / 2, setting.df) * math.sqrt(setting.variance)
    return d, d - width, d + width


def paired(differences: list[float], items: list[Any], alpha: float) -> Interval:
    """Cells of one item, such as a program, are a cluster."""
    k = len(differences)
    mean = math.fsum(differences) / k
    clusters: dict[Any, list[float]] = {}
    for x, item in zip(differences, items if len(set(items)) > 1 else range(k), strict=True):
        clusters.setdefault(item, []).append(x - mean)
    n = len(clusters)
    squares = math.fsum(math.fsum(each) ** 2 for each in clusters.values())
    width = quantile(alpha / 2, n - 1) * math.sqrt(squares * n / (n - 1)) / k
    return mean, mean - width, mean + width


def of_sides(a: list[Sided], b: list[Sided], alpha: float) -> Interval:
    """Compare two best sets; each side is a list of (estimate, is surely within)."""

    def lowest(side: list[Sided]) -> float:
        sure = [e.mean for e, w in side if w]
        return min(sure or [e.mean for e, _ in side])

    up, down = sidak(alpha / 2, len(a)), sidak(alpha / 2, len(b))
    highs, lows = [math.inf], [-math.inf]
    for i, is_sure in a:
        if is_sure:
            highs.append(max(i.mean - j.mean + critical(up, i, j) * deviation(i, j) for j, _ in b))
    for j, is_sure in b:
        if is_sure:
            lows.append(min(i.mean - j.mean - critical(down, i, j) * deviation(i, j) for i, _ in a))
    return lowest(a) - lowest(b), max(lows), min(highs)


def outcome_of(change: Callable[[float], Interval], alpha: float, margin: float) -> str:
    _, low, high = change(alpha)
    _, inner_low, inner_high = change(2 * alpha)
    if -margin < inner_low and inner_high < margin:
        return "equivalent"
    return "a_better" if high < 0 else "b_better" if low > 0 else "undecided"


# Claims.


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
        estimate = own.limit[place(own.rows, subject[0])]
        n = [estimate.n, 0]

        def change(alpha: float) -> Interval:
            return from_constant(estimate, own.at, alpha)

    elif kind == "knob" and len(subject) > 1:
        sides = [[own.cost[place(own.rows, s)] for s in side] for side in (subject, reference)]
        differences = [s.mean - r.mean for s, r in zip(*sides, strict=True)]
        n = [sum(e.n for e in side) for side in sides]
        items = [tuple(s[name] for name in claim["items"]) for s in subject]

        def change(alpha: float) -> Interval:
            return paired(differences, items, alpha)

    else:
        setting, among = own.cost[place(own.rows, subject[0])], 1
        if kind == "knob":
            base = own.cost[place(own.rows, reference[0])]
        else:
            default = scope[place(scope, reference[0] | {"is_baseline": True})]
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


def place(rows: list[Row], values: dict[str, Any]) -> int:
    return next(i for i, row in enumerate(rows) if has(row, values))


def percent(difference: float) -> float | None:
    return 100 * math.expm1(difference) if abs(difference) <= MOST_EFFECT else None


# The effect of a knob: least squares on its levels and the other knobs.


def effect_of(given: dict[str, Any], keys: list[str], rows: list[Row]) -> list[tuple[Any, ...]]:
    """Return levels, mean, interval of 95 %, settings and runs, at the average of other knobs."""
    metric, scope = given["metric"], given["scope"]
    own = {"system": given["system"], "is_baseline": False}
    alike = {name: scope.get(name) for name in ("dataset", "machine", "workload")} | own
    study = Study(
        [row for row in rows if has(row, scope | own)],
        [row for row in rows if has(row, alike)], metric, None,
    )  # fmt: skip
    every = zip(study.rows, study.cost, strict=True)
    swept = [(r, c) for r, c in every if all(r[knob] is not None for knob in given["knobs"])]
    cells = sorted({tuple(row[key] for key in keys) for row, _ in swept})
    of_cell = [cells.index(tuple(row[key] for key in keys)) for row, _ in swept]
    columns = [[float(cell == i) for cell in of_cell] for i in range(len(cells))]
    for knob in given["knobs"]:
        levels = sorted({row[knob] for row, _ in swept}) if knob not in keys else []
        for level in levels[1:]:
            dummy = [float(row[knob] == level) for row, _ in swept]
            middle = math.fsum(dummy) / len(dummy)
            columns.append([value - middle for value in dummy])
    inverse = pseudo_inverse([[dot(a, b) for b in columns] for a in columns])
    width = quantile(0.025, min(cost.df for _, cost in swept))
    answer = []
    for i, cell in enumerate(cells):
        weights = [dot(inverse[i], values) for values in zip(*columns, strict=True)]
        mean = dot(weights, [cost.mean for _, cost in swept])
        error = math.sqrt(dot([w * w for w in weights], [cost.variance for _, cost in swept]))
        low, high = sorted(
            math.exp(metric["sign"] * (mean + side * width * error)) for side in (-1, 1)
        )
        here = [row for row, at in zip((r for r, _ in swept), of_cell, strict=True) if at == i]
        counts = len(here), sum(row["runs"] for row in here)
        answer.append((*cell, math.exp(metric["sign"] * mean), low, high, *counts))
    return answer


def dot(a: Any, b: Any) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def pseudo_inverse(matrix: list[list[float]]) -> list[list[float]]:
    """Return the pseudoinverse of a symmetric matrix, by Jacobi's rotations."""
    n = len(matrix)
    a = [row[:] for row in matrix]
    turned = [[float(i == j) for j in range(n)] for i in range(n)]
    for _ in range(60):
        if sum(a[i][j] ** 2 for i in range(n) for j in range(i)) <= 1e-30 * sum(
            a[i][i] ** 2 for i in range(n)
        ):
            break
        for p in range(n):
            for q in range(p + 1, n):
                if a[p][q]:
                    rotate(a, turned, p, q)
    values = [a[i][i] for i in range(n)]
    parts = [1 / v if v > 1e-12 * max(values) else 0.0 for v in values]
    return [
        [math.fsum(x * part * y for x, part, y in zip(u, parts, v, strict=True)) for v in turned]
        for u in turned
    ]


def rotate(a: list[list[float]], turned: list[list[float]], p: int, q: int) -> None:
    """Turn two axes so that the element between them is 0."""
    angle = math.atan2(2 * a[p][q], a[q][q] - a[p][p]) / 2
    c, s = math.cos(angle), math.sin(angle)
    for row in (*a, *turned):
        row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
    a[p], a[q] = (
        [c * x - s * y for x, y in zip(a[p], a[q], strict=True)],
        [s * x + c * y for x, y in zip(a[p], a[q], strict=True)],
    )


# The claims of papers.


def check_papers(lake: duckdb.DuckDBPyConnection, papers: dict[str, Any], report: Report) -> None:
    """Judge each claim of a paper by its query, and compare verdict, effects and counts."""
    queries = read_rules(Path("papers.sql"))
    for name, before in papers["inputs"].items():
        for sql in [*before, queries[name]]:
            lake.execute(sql)
        if name == "storage":
            fill_student(lake)
    for claim in papers["list"]:
        rows = lake.execute(queries[claim["id"]]).fetchall() if claim["has_runs"] else []
        computed = verdict_of(rows)
        parts = computed.pop("parts")
        name = f"claim {claim['id']}"
        for column, value in computed.items():
            report.compare(f"{name}: {column}", claim["numbers"][column], value, CLAIM_TOLERANCE)
        for number in range(max(len(parts), len(claim["parts"]))):
            shown, again = (
                (each[number : number + 1] or [UNDECIDED_PART])[0]
                for each in (claim["parts"], parts)
            )
            for column, value in again.items():
                report.compare(
                    f"{name}, part {number + 1}: {column}", shown[column], value, CLAIM_TOLERANCE
                )
    check_listed(lake, "tables/findings-published.parquet", papers["list"], report)


def fill_student(lake: duckdb.DuckDBPyConnection) -> None:
    """Make the table `student` of the limits of t at 5 %, for all pairs of counts."""
    lake.execute("CREATE TABLE student (freedom BIGINT, two_sided DOUBLE, one_sided DOUBLE)")
    pairs = lake.execute("SELECT DISTINCT a.n + b.n - 2 FROM counts a, counts b").fetchall()
    for (df,) in pairs:
        limits = [df, quantile(0.025, df), quantile(0.05, df)]
        lake.execute("INSERT INTO student VALUES (?, ?, ?)", limits)


def read_rules(path: Path) -> dict[str, str]:
    """Return the statements below each line `---- NAME` of a file, by name."""
    text = path.read_text("utf-8")
    return dict(re.findall(r"^---- (\S+)\n(.*?)(?=^---- |\Z)", text, re.DOTALL | re.MULTILINE))


def verdict_of(rows: list[tuple[Row | None]]) -> Row:
    """Return verdict, effect, n and decided parts of a claim; its number is its first part's."""
    parts = [part or UNDECIDED_PART for (part,) in rows or [(None,)]]
    outcomes = {part["outcome"] for part in parts}
    first = next((part for part in parts if part["effect"] is not None), parts[0])
    n = first["n"]
    if len(parts) > 1 and first["effect"] is None:
        n = list(dict.fromkeys(k for part in parts for k in part["n"]))
    verdict = "holds in part"
    if len(outcomes) == 1:
        (verdict,) = outcomes
    elif outcomes == {"holds", "nearly"}:
        verdict = "nearly"
    elif outcomes == {"does not hold", UNDECIDED}:
        verdict = "does not hold"
    return {
        "verdict": verdict, "effect": first["effect"], "n": ", ".join(map(str, n)),
        "parts": [
            part | {"n": ", ".join(map(str, part["n"]))} for part in parts
            if part["outcome"] != UNDECIDED or part["effect"] is not None
        ],
    }  # fmt: skip


# The models of interrupt handling; rates in packets a microsecond.


def check_models(lake: duckdb.DuckDBPyConnection, report: Report) -> None:
    """Compare the values that have a formula; those of simulations are taken as they are."""
    for row in rows_of(lake, f"FROM read_parquet('{MODELS}') WHERE kind <> 'simulated'"):
        at = words_of_key([*row], tuple(None if n in MODEL_VALUES else v for n, v in row.items()))
        values = dict(zip(MODEL_VALUES, solved(row), strict=True))
        for name, value in values.items():
            report.compare(f"{MODELS}: {name} of {at}", row[name], value, TOLERANCE)


def solved(row: Row) -> tuple[float, float, float]:
    """Return throughput in Kpps, the CPU that is left, and mean latency in microseconds."""
    scheme, rate = row["scheme"], row["rate_kpps"] * 1e-3
    if scheme == "hybrid":
        scheme = "pure_polling" if row["rate_kpps"] >= row["switch_kpps"] else "disable_enable"
    if scheme == "disable_enable":
        return of_states(*disable_enable(rate, row), row["service_us"])
    if scheme == "pure_polling":
        return polled(rate, row)
    if scheme == "normal" and row["kind"] == "exact":
        return of_states(*interrupted(rate, row), row["service_us"])
    return shared(rate, row)


def of_states(
    idle: float, work: list[float], others: list[float], service_us: float
) -> tuple[float, float, float]:
    """Reduce the weights of a chain: empty, and with 1 and more packets, at work or not."""
    total = idle + math.fsum(work) + math.fsum(others)
    throughput = math.fsum(work) / total / service_us
    packets = math.fsum(n * (a + b) for n, (a, b) in enumerate(zip(work, others, strict=True), 1))
    return throughput * 1e3, idle / total, packets / total / throughput


def interrupted(rate: float, row: Row) -> tuple[float, list[float], list[float]]:
    """Solve normal interruption: each level of the ring holds a ratio of the one below."""
    ring, load, cost = row["ring"], rate * row["service_us"], rate * row["interrupt_us"]
    ratio = load + cost / (1 + cost)
    below = [ratio ** (n - (ring - 1 if ratio > 1 else 0)) for n in range(ring)]
    work = [load * level for level in below]
    handlers = [level * cost / (1 + cost) for level in below]
    handlers[-1] = cost * (below[-1] + (work[-1] if row["drops_interrupt"] else 0))
    return below[0], work, handlers


def disable_enable(rate: float, row: Row) -> tuple[float, list[float], list[float]]:
    """Solve the chain in which set-up and first packet are one time, a part of it work."""
    ring, service_us = row["ring"], row["service_us"]
    first_us = row["register_us"] + row["interrupt_us"] + service_us
    more = rate * first_us / (1 + rate * first_us)
    first, later = [1.0], [0.0]
    for n in range(1, ring + 1):
        # Packets become n as often as they become n - 1 again.
        entered = more * first[-1] if n < ring else 0.0
        later.append(rate * service_us * (later[-1] + entered))
        first.append(first[-1] * (more if n < ring else rate * first_us))
        if later[-1] > LARGE:
            first, later = ([value / LARGE for value in each] for each in (first, later))
    share = service_us / first_us
    work = [a + share * b for a, b in zip(later[1:], first[1:], strict=True)]
    return first[0], work, [(1 - share) * value for value in first[1:]]


def shared(rate: float, row: Row) -> tuple[float, float, float]:
    """Solve M/M/1/B with the CPU that interrupts leave, one for each so many packets."""
    interrupt_us, packets = row["interrupt_us"] or 0.0, 1
    if row["scheme"] == "count_coalescing":
        packets = row["count"]
    elif row["scheme"] == "time_coalescing":
        packets = max(1, math.ceil(rate * row["delay_us"] - 1e-9))
    taken = rate * interrupt_us / (rate * interrupt_us + packets)
    service_us, ring = row["service_us"] / (1 - taken), row["ring"]
    load = rate * service_us
    idle, *work = [load ** (n - (ring if load > 1 else 0)) for n in range(ring + 1)]
    throughput, left, in_ring_us = of_states(idle, work, [0.0] * ring, service_us)
    wait_us = (packets - 1) / (2 * rate) + interrupt_us
    return throughput, (1 - taken) * left, wait_us + in_ring_us


def polled(rate: float, row: Row) -> tuple[float, float, float]:
    """Solve M/D/1/B at the rate of the polls, by what departing packets leave behind."""
    ring, service_us, period_us = row["ring"], row["service_us"], row["poll_period_us"]
    left = 1 - row["poll_overhead_us"] / period_us
    most = min(row["quota"] / period_us, left / service_us)
    load = rate / most
    arrivals = [math.exp(-load)]
    while arrivals[-1] > 1e-20 or len(arrivals) < load:
        arrivals.append(arrivals[-1] * load / len(arrivals))
    # more[k]: probability of over k arrivals during one service.
    more = [math.fsum(arrivals[k + 1 :]) for k in range(len(arrivals))]
    behind = [1.0]
    for n in range(ring - 1):
        near = range(max(1, n + 2 - len(more)), n + 1)
        above = math.fsum(behind[i] * more[n + 1 - i] for i in near)
        above += behind[0] * more[n] if n < len(more) else 0.0
        behind.append(above / arrivals[0])
        if behind[-1] > LARGE:
            behind = [value / LARGE for value in behind]
    total = math.fsum(behind)
    scale = behind[0] / total + load
    packets = math.fsum(n * value for n, value in enumerate(behind)) / total
    packets = (packets + ring * (scale - 1)) / scale
    throughput = most * load / scale
    wait_us = period_us * (1.0 if row["wait"] == "upper" else 0.5) * behind[0] / total / scale
    return throughput * 1e3, left - min(rate, most) * service_us, packets / throughput + wait_us


if __name__ == "__main__":
    sys.exit(main())
