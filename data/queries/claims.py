"""The runs behind a claim: its two sides, setting by setting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data.catalogue import Catalogue
from data.queries.statement import literal
from data.selection import Selection

SUBJECT, REFERENCE = "subject", "reference"


@dataclass(frozen=True, slots=True)
class Member:
    """One setting of a side of a claim.

    Attributes:
        side: SUBJECT or REFERENCE.
        cell: Pairs a setting of one side with one of the other; else its number.
        is_within: Surely meets the limit; True without one.
        values: Columns of `runs` and their values.
    """

    side: str
    cell: int
    is_within: bool
    values: Mapping[str, Any]


def claim_runs_query(metric: str, scope: Mapping[str, Any], members: Sequence[Member]) -> str:
    """Build the query of the runs behind a claim.

    Args:
        metric: A column of `runs`.
        scope: Columns and values that all runs have.
        members: At least one; all with the same columns.

    Returns:
        SQL without parameters. One row a run: `side`, `cell`, `is_within`, `run_id`, the metric;
        sorted.
    """
    columns = list(members[0].values)
    rows = ", ".join(
        f"({', '.join(map(literal, [m.side, m.cell, m.is_within, *m.values.values()]))})"
        for m in members
    )
    alike = [f"r.{name} IS NOT DISTINCT FROM s.{name}" for name in columns]
    where = [f"r.{name} IS NOT DISTINCT FROM {literal(value)}" for name, value in scope.items()]
    return (
        f"SELECT s.side, s.cell, s.is_within, r.run_id, r.{metric} FROM runs r "
        f"JOIN (VALUES {rows}) s(side, cell, is_within, {', '.join(columns)}) "
        f"ON {' AND '.join(alike)} WHERE {' AND '.join(where)} AND r.{metric} > 0 ORDER BY ALL"
    )


def workloads_query() -> tuple[str, list[Any]]:
    """Build the query of the metric of performance of each workload, and of what is synthetic.

    Returns:
        SQL and parameters. Columns `dataset`, `workload`, `performance_metric`, `is_synthetic`.
    """
    return (
        "SELECT dataset::VARCHAR AS dataset, workload::VARCHAR AS workload, "
        "max(performance_metric)::VARCHAR AS performance_metric, "
        "coalesce(bool_or(is_synthetic), FALSE) AS is_synthetic FROM runs "
        "GROUP BY ALL ORDER BY ALL",
        [],
    )


def sweeps_query(selection: Selection, metric: str, catalogue: Catalogue) -> tuple[str, list[Any]]:
    """Build the query of the choices that have two settings or more beside the default.

    Returns:
        SQL and parameters. The columns of a choice, `settings` and `runs`; most settings first.
    """
    condition, parameters = selection.predicate()
    scope = ", ".join(f"{name}" for name in catalogue.choice_columns)
    setting = ", ".join(catalogue.setting_columns)
    return (
        f"SELECT {scope}, count(*) AS settings, sum(n) AS runs FROM (SELECT {scope}, {setting}, "
        f"count(*) AS n FROM runs WHERE ({condition}) AND {catalogue.metric(metric).name} > 0 "
        f"AND NOT coalesce(is_baseline, FALSE) GROUP BY ALL) GROUP BY {scope} "
        f"HAVING count(*) > 1 ORDER BY settings DESC, {scope}",
        parameters,
    )


def replicates_query(metric: str, members: Sequence[Member]) -> str:
    """Build the query of how many runs settings have.

    Returns:
        SQL without parameters. One row a member, in their order: `n` (runs with the metric),
        `seconds` (median duration), `last` (highest replicate number; NULL without).
    """
    columns = list(dict.fromkeys(name for member in members for name in member.values))
    rows = ", ".join(
        f"({', '.join(map(literal, [m.cell, *(m.values.get(name) for name in columns)]))})"
        for m in members
    )
    alike = " AND ".join(f"r.{name} IS NOT DISTINCT FROM s.{name}" for name in columns)
    return (
        f"SELECT count(r.{metric}) FILTER (r.{metric} > 0) AS n, median(r.duration_s) AS seconds, "
        f"max(r.replicate) AS last FROM (VALUES {rows}) s(cell, {', '.join(columns)}) "
        f"LEFT JOIN runs r ON {alike} GROUP BY s.cell ORDER BY s.cell"
    )
