"""The cells of a map: best settings with their intervals, outcomes, leads, and the map's level."""

import math
from collections.abc import Sequence
from typing import Any

import duckdb

from app.artifact.verify.claims import has
from app.artifact.verify.functions import quantile, t_above
from app.artifact.verify.noise import Estimate, deviation, freedom
from app.artifact.verify.report import Row, rows_of
from app.artifact.verify.sets import Sided, Study, of_sides

# The level falls each time that larger sets leave fewer cells decided.
MOST_ROUNDS = 8
ROLES = ("winner_", "runner_up_")
# What is not known of a lead where the runs of one setting are no replicates.
UNKNOWN = ("lead_share_low", "lead_share_high", "p", "p_corrected")
# Two means within it are one value.
SAME_SHARE = 1e-12


class Map:
    """The settings behind a map's table, and what its rows have in common."""

    def __init__(self, given: dict[str, Any], rows: list[Row]) -> None:
        self.given, self.rows = given, rows
        self.sign = given["metric"]["sign"]
        self.studies: dict[Any, Study] = {}

    def settings(self, row: Row, role: str = "") -> list[tuple[Row, Estimate]]:
        """Return the settings of a competitor in the cell of a row of the table."""
        here = {name: row.get(role + name, row.get(name)) for name in self.given["setting"]}
        scope = {name: here[name] for name in self.given["choice"]}
        key = tuple(scope.values())
        if key not in self.studies:
            alike = {name: scope[name] for name in self.given["family"]}
            self.studies[key] = Study(
                [own for own in self.rows if has(own, scope)],
                [own for own in self.rows if has(own, alike)],
                self.given["metric"], None,
            )  # fmt: skip
        study = self.studies[key]
        place = {name: here[name] for name in (*self.given["cell"], self.given["competitor"])}
        return [each for each in zip(study.rows, study.cost, strict=True) if has(each[0], place)]

    def shown(self, row: Row, role: str = "") -> Estimate:
        """Return the estimate of the setting that a row of the table shows."""
        names = [n for n in self.given["setting"] if n in row or role + n in row]
        shown = {name: row.get(role + name, row.get(name)) for name in names}
        return next(cost for own, cost in self.settings(row, role) if has(own, shown))

    def best(self, row: Row, role: str = "") -> tuple[int, float | None, float | None, float]:
        """Return how many settings a competitor has, and interval and mean of the one shown."""
        settings, own = self.settings(row, role), self.shown(row, role)
        mean = math.exp(self.sign * own.mean)
        ends: Sequence[float | None] = (None, None)
        if own.n > 1:
            wide = quantile(0.025, own.df) * math.sqrt(own.variance)
            ends = sorted(math.exp(self.sign * own.mean + side * wide) for side in (-1, 1))
        return len(settings), ends[0], ends[1], mean

    def twice(self, row: Row, role: str) -> Study:
        """Return a competitor's settings in a cell that were measured twice."""
        part = Study([], [], self.given["metric"], None)
        part.cost = [cost for _, cost in self.settings(row, role) if cost.n >= 2]
        return part

    def lead(self, contest: Row, level: float) -> Row:
        """Return the lead of the winner, its interval as shares, and the members of both sets."""
        error = level * (2 if contest["outcome"] == "equivalent" else 1)
        ends = of_sides(contest["sides"][0], contest["sides"][1], error)
        if self.sign < 0:
            ends = -ends[0], -ends[2], -ends[1]
        shares = map(math.expm1, ends)
        members = map(len, contest["sides"])
        names = ("lead_share", "lead_share_low", "lead_share_high")
        return dict(zip(names, shares, strict=True)) | {
            f"{role}members": n for role, n in zip(ROLES, members, strict=True)
        }


def bests_of(
    lake: duckdb.DuckDBPyConnection, given: dict[str, Any], keys: list[str], rows: list[Row]
) -> list[tuple[Any, ...]]:
    """Return number of settings and interval of the best one of each cell and competitor."""
    shown, own = rows_of(lake, f"FROM read_parquet('{given['file']}')"), Map(given, rows)
    return [(*(row[key] for key in keys), *own.best(row)[:3]) for row in shown]


def cells_of(
    lake: duckdb.DuckDBPyConnection, given: dict[str, Any], keys: list[str], rows: list[Row]
) -> list[tuple[Any, ...]]:
    """Return outcome, lead with its interval, sets, p and level of each cell, and both bests."""
    shown, own = rows_of(lake, f"FROM read_parquet('{given['file']}')"), Map(given, rows)
    pairs = [[role for role in ROLES if row[f"{role}n"] is not None] for row in shown]
    contests = {}
    for i, row in enumerate(shown):
        sides = [own.twice(row, role) for role in pairs[i]]
        if len(sides) == 2 and all(side.cost for side in sides):
            contests[i] = sides
    judged, level = judged_together(contests, given["alpha"], given["margin"])
    answer = []
    for i, row in enumerate(shown):
        values: Row = {"outcome": "alone", "level": level}
        values |= {f"{role}members": 0 for role in ROLES}
        bests = [own.best(row, role) for role in pairs[i]]
        for role, best in zip(pairs[i], bests, strict=True):
            values |= {role + end: n for end, n in zip(given["best"], best, strict=False)}
        if len(bests) == 2:
            first, second = (best[-1] for best in bests)
            lead = abs(first - second)
            few = "tie" if lead <= SAME_SHARE * abs(second) else "too few"
            values |= {"outcome": few, f"lead_{given['metric']['name']}": lead}
            values["lead_share"] = (first - second) / abs(second)
        if i in judged:
            values |= judged[i] | own.lead(judged[i], level)
        if len(bests) == 2 and any(own.shown(row, role).is_unlike for role in ROLES):
            values |= {"outcome": "unlike", **dict.fromkeys(UNKNOWN)}
        answer.append((*(row[key] for key in keys), *(values.get(n) for n in given["columns"])))
    return answer


def judged_together(
    contests: dict[int, list[Study]], alpha: float, margin: float
) -> tuple[dict[int, Row], float]:
    """Return sides, p and outcome of each contest, and the error of each interval."""
    level, judged = alpha, {}
    for _ in range(MOST_ROUNDS):
        sides = {i: [study.side(level) for study in pair] for i, pair in contests.items()}
        levels = {i: deciding_levels(both[0], both[1], margin) for i, both in sides.items()}
        p = {i: min(1.0, *each.values()) for i, each in levels.items()}
        corrected = stepped_up(p)
        lower = alpha * max(sum(q <= alpha for q in corrected.values()), 1) / max(len(p), 1)
        is_settled = lower >= level or all(len(s.cost) == 1 for c in contests.values() for s in c)
        level = min(level, lower)
        if is_settled:
            break
    for i, both in sides.items():
        names = [name for name, least in levels[i].items() if least <= level]
        outcome = names[0] if names and corrected[i] <= alpha else "undecided"
        judged[i] = {"sides": both, "p": p[i], "p_corrected": corrected[i], "outcome": outcome}
    return judged, level


def deciding_levels(a: list[Sided], b: list[Sided], margin: float) -> dict[str, float]:
    """Return the least error at which each outcome of two best sets holds."""

    def below(own: list[Sided], rival: list[Sided], room: float) -> float:
        least = 1.0
        for i, _ in own:
            # Of pairs with as many degrees of freedom the one with the largest excess is worst.
            excess: dict[float, float] = {}
            for j, _ in rival:
                t, df = (i.mean - j.mean - room) / deviation(i, j), freedom(i, j)
                excess[df] = max(t, excess.get(df, -math.inf))
            tails = [t_above(-t, df) if t < 0 else 1 - t_above(t, df) for df, t in excess.items()]
            least = min(least, max(tails))
        return -math.expm1(len(own) * math.log1p(-least)) if least < 1 else 1.0

    return {
        "equivalent": max(below(a, b, margin), below(b, a, margin)),
        "win": min(2 * below(a, b, 0.0), 1.0),
        "lost": min(2 * below(b, a, 0.0), 1.0),
    }


def stepped_up(p: dict[int, float]) -> dict[int, float]:
    """Return p values corrected by Benjamini and Hochberg."""
    out, least = {}, 1.0
    for place, i in sorted(enumerate(sorted(p, key=p.__getitem__), start=1), reverse=True):
        least = min(least, p[i] * len(p) / place)
        out[i] = least
    return out
