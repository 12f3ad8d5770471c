"""Moments of the logarithms of metrics, by setting: what best sets and comparisons start from."""

from collections.abc import Sequence
from typing import Any, Final

from data.analysis.noise import RESOLUTIONS, TOLERANCE
from data.catalogue import Aggregates, Catalogue

# Of each metric, in the order of its columns: `<metric>_n`, `_log_mean`, ...
MOMENTS: Final = ("n", "log_mean", "log_variance", "mean", "step")


def moments_query(
    condition: str,
    parameters: Sequence[Any],
    by: Sequence[str],
    metrics: Sequence[str],
    *,
    catalogue: Catalogue,
) -> tuple[str, list[Any]]:
    """Build the query of the moments of each combination of columns.

    Args:
        condition: Over `runs`, with `?` for the parameters.
        by: Columns of `runs`; NULL is a value like any other.
        metrics: Columns of `runs`. Only values above 0 count. A row that is a mean of several
            runs counts as so many.

    Returns:
        SQL and parameters. Columns `by`; `runs` (number of rows); of each metric the number of
        values, mean and sample variance of ln(value) (NULL for one value, or where a row's own
        deviation is not known), mean in its unit, and
        resolution of the values (`resolution` in `data/analysis/noise.py`), as `<metric>_` and the
        names of MOMENTS. Sorted by `by`.
    """
    listed = ", ".join(by)
    values = ", ".join(
        moments_sql(catalogue.metric(name).name, catalogue.aggregates) for name in metrics
    )
    return (
        f"SELECT {listed}, count(*) AS runs, {values} FROM runs WHERE {condition} "
        f"GROUP BY {listed} ORDER BY {listed}",
        list(parameters),
    )


def moments_sql(name: str, rows: Aggregates) -> str:
    """Return the SQL of the moments of a metric's logarithms: the columns named in MOMENTS."""
    value, there = f"{name}::DOUBLE", f"FILTER ({name} > 0)"
    log_mean, log_variance = f"avg(ln({value})) {there}", f"var_samp(ln({value})) {there}"
    if rows.has_means:
        log_mean, log_variance = _pooled(name, value, there, rows)
    formulas = (
        rows.count_sql(there=there), log_mean, log_variance, rows.mean_sql(value, there),
        f"min({resolution_sql(value)}) {there}",
    )  # fmt: skip
    return ", ".join(f"{sql} AS {name}_{end}" for sql, end in zip(formulas, MOMENTS, strict=True))


def _pooled(name: str, value: str, there: str, rows: Aggregates) -> tuple[str, str]:
    """Return mean and variance of the logarithm where rows may be means of several runs.

    Within a row the logarithm has the variance of that of a log-normal value with the row's mean
    and deviation; its mean is below the logarithm of the mean by half its variance.
    """
    weight = rows.weight_sql()
    square = f"pow({rows.row_sd_sql(name)} / {value}, 2)"
    spread = f"coalesce(CASE WHEN {weight} > 1 THEN ln(1 + {square}) END, 0)"
    log = f"(ln({value}) - {spread} * ({weight} - 1) / {weight} / 2)"
    total = f"sum({weight}) {there}"
    mean = f"sum({weight} * {log}) {there} / ({total})"
    is_known = f"bool_and({weight} = 1 OR {rows.row_sd_sql(name)} IS NOT NULL) {there}"
    squares = (
        f"sum(({weight} - 1) * {spread}) {there} + sum({weight} * {log} * {log}) {there} "
        f"- pow(sum({weight} * {log}) {there}, 2) / ({total})"
    )
    variance = (
        f"CASE WHEN {total} > 1 AND {is_known} THEN greatest({squares}, 0) / ({total} - 1) END"
    )
    return mean, variance


def resolution_sql(value: str) -> str:
    """Return the SQL of the resolution of a value above 0."""
    tests = " ".join(
        f"WHEN abs({value} / {step} - round({value} / {step})) <= {TOLERANCE} * {value} / {step} "
        f"THEN {step}"
        for step in RESOLUTIONS
    )
    return f"CASE {tests} ELSE 0.0 END"
