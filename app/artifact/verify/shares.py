"""Shares of the variance of one run that knobs, pairs of knobs and noise have."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from operator import mul
from typing import Any

from app.artifact.verify.claims import has
from app.artifact.verify.effects import pseudo_inverse
from app.artifact.verify.noise import moments
from app.artifact.verify.report import Row
from app.artifact.verify.sets import Study

# Pairs are shown if so much of the grid was measured; pivots below this share are 0.
LEAST_GRID, PIVOT = 0.2, 1e-9
BEST_SHARE, LEAST_BEST, RANKED_SETTINGS = 0.1, 5, 40


def shares_of(given: dict[str, Any], keys: list[str], rows: list[Row]) -> list[tuple[Any, ...]]:
    """Return settings, runs, share and share among the best of each part, by sweep and metric."""
    answer = []
    for sweep in given["sweeps"]:
        at = {"sweep": sweep["sweep"], "metric": sweep["metric"]["name"]}
        settings, runs, parts, local = of_sweep(sweep, rows)
        for part, share in parts.items():
            row = at | {"part": part}
            answer.append((*(row[key] for key in keys), settings, runs, share, local.get(part)))
    return answer


def of_sweep(
    sweep: dict[str, Any], rows: list[Row]
) -> tuple[int, int, dict[str, float], dict[str, float]]:
    own = {"system": sweep["system"], "is_baseline": False}
    alike = {name: sweep["scope"].get(name) for name in ("dataset", "machine", "workload")} | own
    study = Study(
        [row for row in rows if has(row, sweep["scope"] | own)],
        [row for row in rows if has(row, alike)], sweep["metric"], None,
    )  # fmt: skip
    every = zip(study.rows, study.cost, strict=True)
    swept = [(r, c) for r, c in every if all(r[knob] is not None for knob in sweep["swept"])]
    groups = moments([row for row, _ in swept], sweep["metric"]["name"], study.step)
    several = [(n - 1, v) for n, _, v, _ in groups if n > 1]
    pooled = math.fsum(f * v for f, v in several) / max(sum(f for f, _ in several), 1)
    raw = [pooled if v is None else v for *_, v, _ in groups]
    noise, error = (
        math.fsum(v / n for v, n in zip(raw, counts, strict=True)) / len(raw)
        for counts in ([1] * len(raw), [c.n for _, c in swept])
    )
    y = [cost.mean for _, cost in swept]
    levels = {knob: [row[knob] for row, _ in swept] for knob in sweep["names"]}
    shares = divided(levels, y, noise, error)
    named = {" x ".join(sweep["names"][k] for k in part): v for part, v in shares.items() if part}
    runs = sum(row["runs"] for row, _ in swept)
    rest = 1 - math.fsum(shares.values())
    parts = named | {"rest": max(rest, 0.0), "noise": shares[()]}
    allowed, limit = list(range(len(y))), sweep["limit"]
    if limit is not None:
        limited = Study(study.rows, study.everything, sweep["metric"], limit)
        beyond = zip(study.rows, limited.outside(limit["alpha"]), strict=True)
        outside = {id(row) for row, is_outside in beyond if is_outside}
        allowed = [i for i, (row, _) in enumerate(swept) if id(row) not in outside]
    among = {sweep["names"][k]: [v[i] for i in allowed] for k, v in levels.items()}
    return len(y), runs, parts, local_shares(among, [y[i] for i in allowed])


def local_shares(levels: dict[str, list[Any]], y: list[float]) -> dict[str, float]:
    """Return which knob must be right to be among the best tenth; empty with few settings."""
    if len(y) < RANKED_SETTINGS:
        return {}
    top = max(math.ceil(BEST_SHARE * len(y)), LEAST_BEST)
    last_first = list(levels.values())[::-1]
    order = sorted(range(len(y)), key=lambda i: (y[i], *(values[i] for values in last_first)))
    distances = {}
    for knob, values in levels.items():
        best, every = Counter(values[i] for i in order[:top]), Counter(values)
        apart = math.fsum(
            n / len(y) * (best[value] / top / (n / len(y)) - 1) ** 2 for value, n in every.items()
        )
        distances[knob] = max(apart - (len(every) - 1) / top * (1 - top / len(y)), 0.0)
    total = math.fsum(distances.values())
    return {knob: value / total if total else 0.0 for knob, value in distances.items()}


def divided(
    levels: dict[str, list[Any]], y: list[float], noise: float, error: float
) -> dict[tuple[str, ...], float]:
    """Return the share of each knob and pair of knobs, and under () that of noise."""
    knobs = list(levels)
    whole = [len(y) * [0]]
    squares = {k: explained(whole[0], {m: levels[m] for m in k}, y) for k in subsets(knobs)}
    worth = {k: value - rank * error for k, (value, rank) in squares.items()}
    mains = {}
    for knob in knobs:
        added = 0.0
        for subset in subsets([other for other in knobs if other != knob]):
            weight = 1 / (len(knobs) * math.comb(len(knobs) - 1, len(subset)))
            joined = tuple(other for other in knobs if other in subset or other == knob)
            added += weight * (worth[joined] - worth[subset])
        mains[knob] = max(added, 0.0)
    middle = math.fsum(y) / len(y)
    about = math.fsum((value - middle) ** 2 for value in y)
    between = max(about - (len(y) - 1) * error, 0.0)
    room, total = max(between - sum(mains.values()), 0.0), between + len(y) * noise
    pairs: dict[tuple[str, ...], float] = {}
    if len(y) / math.prod(len(set(values)) for values in levels.values()) >= LEAST_GRID:
        all_squares, all_rank = squares[tuple(knobs)]
        for pair in combinations(knobs, 2):
            cells = list(zip(*(levels[knob] for knob in pair), strict=True))
            others = {knob: levels[knob] for knob in knobs if knob not in pair}
            inside, rank = explained(cells, others, y)
            of_cells, cell_rank = between_groups(cells, y)
            more = of_cells + inside - all_squares - (cell_rank + rank - all_rank) * error
            pairs[pair] = max(more, 0.0)
    scale = min(1.0, room / sum(pairs.values())) if sum(pairs.values()) > 0 else 1.0
    shares: dict[tuple[str, ...], float] = {(k,): main / total for k, main in mains.items()}
    shares |= {pair: value * scale / total for pair, value in pairs.items()}
    return shares | {(): len(y) * noise / total}


def subsets(knobs: Sequence[str]) -> list[tuple[str, ...]]:
    return [part for size in range(len(knobs) + 1) for part in combinations(knobs, size)]


def grouped(groups: list[Any]) -> list[list[int]]:
    members: dict[Any, list[int]] = {}
    for i, group in enumerate(groups):
        members.setdefault(group, []).append(i)
    return list(members.values())


def between_groups(groups: list[Any], y: list[float]) -> tuple[float, int]:
    """Return the squares about the mean that groups explain, and their rank."""
    middle, members = math.fsum(y) / len(y), grouped(groups)
    means = [(len(each), math.fsum(y[i] for i in each) / len(each)) for each in members]
    return math.fsum(n * (mean - middle) ** 2 for n, mean in means), len(members) - 1


def explained(groups: list[Any], levels: dict[str, list[Any]], y: list[float]) -> tuple[float, int]:
    """Return the squares within groups that the levels of knobs explain, and their rank."""
    columns = [
        centred([float(value == level) for value in values], groups)
        for values in levels.values()
        for level in sorted(set(values))[1:]
    ]
    columns = [column for column in columns if any(abs(x) > PIVOT for x in column)]
    if not columns:
        return 0.0, 0
    inside = centred(y, groups)
    gram = [[sum(map(mul, a, b)) for b in columns] for a in columns]
    products = [sum(map(mul, column, inside)) for column in columns]
    coefficients, rank = fitted(gram, products)
    return sum(map(mul, coefficients, products)), rank


def centred(values: list[float], groups: list[Any]) -> list[float]:
    """Return values about the mean of their group."""
    out = list(values)
    for each in grouped(groups):
        mean = math.fsum(values[i] for i in each) / len(each)
        for i in each:
            out[i] -= mean
    return out


def fitted(gram: list[list[float]], products: list[float]) -> tuple[list[float], int]:
    """Return coefficients by Cholesky's factor, else by the pseudoinverse, and the rank."""
    n = len(gram)
    factor = [[0.0] * n for _ in range(n)]
    turned = [0.0] * n
    for i in range(n):
        for j in range(i):
            rest = gram[i][j] - sum(map(mul, factor[i][:j], factor[j][:j]))
            factor[i][j] = rest / factor[j][j]
        pivot = gram[i][i] - sum(map(mul, factor[i][:i], factor[i][:i]))
        if pivot <= PIVOT * gram[i][i]:
            inverse = pseudo_inverse(gram)
            rank = round(sum(sum(map(mul, a, b)) for a, b in zip(inverse, gram, strict=True)))
            return [sum(map(mul, row, products)) for row in inverse], rank
        factor[i][i] = math.sqrt(pivot)
        turned[i] = (products[i] - sum(map(mul, factor[i][:i], turned[:i]))) / factor[i][i]
    for i in reversed(range(n)):
        rest = sum(factor[j][i] * turned[j] for j in range(i + 1, n))
        turned[i] = (turned[i] - rest) / factor[i][i]
    return turned, n
