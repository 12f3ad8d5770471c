"""Moments of the logarithms of metrics, by setting: what best sets and comparisons start from."""

from collections.abc import Sequence
from typing import Any, Final

from data.analysis.noise import RESOLUTIONS, TOLERANCE
from data.metrics import metric

# Of each metric, in the order of its columns: `<metric>_n`, `_log_mean`, ...
MOMENTS: Final = ("n", "log_mean", "log_variance", "mean", "step")


def moments_query(
    condition: str, parameters: Sequence[Any], by: Sequence[str], metrics: Sequence[str]
) -> tuple[str, list[Any]]:
    """Build the query of the moments of each combination of columns.

    Args:
        condition: Over `runs`, with `?` for the parameters.
        by: Columns of `runs`; NULL is a value like any other.
        metrics: Columns of `runs`. Only values above 0 count.

    Returns:
        SQL and parameters. Columns `by`; `runs` (number of rows); of each metric the number of
        values, mean and sample variance of ln(value) (NULL for one value), mean in its unit, and
        resolution of the values (`resolution` in `data/analysis/noise.py`), as `<metric>_` and the
        names of MOMENTS. Sorted by `by`.
    """
    listed = ", ".join(by)
    values = ", ".join(_moments(metric(name).name) for name in metrics)
    return (
        f"SELECT {listed}, count(*) AS runs, {values} FROM runs WHERE {condition} "
        f"GROUP BY {listed} ORDER BY {listed}",
        list(parameters),
    )


def _moments(name: str) -> str:
    value, there = f"{name}::DOUBLE", f"FILTER ({name} > 0)"
    formulas = (
        f"count(*) {there}", f"avg(ln({value})) {there}", f"var_samp(ln({value})) {there}",
        f"avg({value}) {there}", f"min({_resolution(value)}) {there}",
    )  # fmt: skip
    return ", ".join(f"{sql} AS {name}_{end}" for sql, end in zip(formulas, MOMENTS, strict=True))


def _resolution(value: str) -> str:
    tests = " ".join(
        f"WHEN abs({value} / {step} - round({value} / {step})) <= {TOLERANCE} * {value} / {step} "
        f"THEN {step}"
        for step in RESOLUTIONS
    )
    return f"CASE {tests} ELSE 0.0 END"
