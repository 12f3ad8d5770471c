"""The effect of a knob: least squares on its levels and the other knobs."""

import math
from typing import Any

from app.artifact.verify.claims import has
from app.artifact.verify.functions import quantile
from app.artifact.verify.report import Row
from app.artifact.verify.sets import Study


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
