"""The runs that a timeline can show: those with a per-interrupt log in the lake."""

from collections.abc import Sequence
from typing import Any, Final

from data.catalogue import Catalogue
from data.knob_table import SUBJECT
from data.selection import Selection

# The words that describe a run, as one text to search in.
_SHIPPED_TEXT: Final = (
    "lower(concat_ws(' ', machine, dataset, workload, system_label, system, "
    "'ITR ' || coalesce(printf('%g us', itr_us), itr_policy, 'adaptive'), "
    "coalesce(printf('%g GHz', dvfs_ghz), 'governor'), printf('%g W', rapl_w), "
    "printf('%gk QPS', load_qps / 1000), printf('%d B', message_bytes), run_id))"
)
_ORDER: Final = (
    "is_baseline DESC, system, itr_us IS NULL, itr_us, dvfs_ghz IS NULL, dvfs_ghz, rapl_w, "
    "replicate, run_id"
)


def logged_configurations_query(
    selection: Selection, limit: int, *, catalogue: Catalogue
) -> tuple[str, list[Any]]:
    """Build the query of the runs with a log that match the filters, with their configurations.

    Args:
        limit: Maximum number of rows.

    Returns:
        SQL and parameters. Columns: a configuration's, `run_id`, `replicate`, `system_label`;
        sorted by `replicate` and `run_id`.
    """
    condition, parameters = selection.predicate()
    return (
        f"SELECT run_id, replicate, {', '.join(catalogue.configuration)} FROM runs "
        f"WHERE has_log AND {condition} ORDER BY replicate, run_id LIMIT {limit:d}",
        parameters,
    )


def distribution_query(
    selection: Selection, by: Sequence[str], quantity: str, run_ids: Sequence[str] | None = None
) -> tuple[str, list[Any]]:
    """Build the query of the distribution of a quantity at each combination of some knobs.

    Args:
        by: Columns of the knobs; each once.
        quantity: A name of `distributions`.
        run_ids: Only these runs count; None for all that match the filters.

    Returns:
        SQL and parameters. Columns: the knobs', `runs` (that have the quantity), `low`, `high` and
        `share`: the mean over the runs of the share of a run's values in the bin.
    """
    listed = "".join(f"{name}, " for name in by)
    where, parameters = _these(selection, run_ids)
    return (
        f"WITH chosen AS (SELECT {listed}run_id FROM runs WHERE has_log AND {where}), "
        f"own AS (SELECT {''.join(f'c.{name}, ' for name in by)}d.run_id, d.low, d.high, "
        "d.count / sum(d.count) OVER (PARTITION BY d.run_id) AS share "
        "FROM distributions d JOIN chosen c ON c.run_id = d.run_id WHERE d.quantity = ?), "
        f"total AS (SELECT {listed}count(DISTINCT run_id) AS runs FROM own GROUP BY ALL) "
        f"SELECT {''.join(f't.{name}, ' for name in by)}t.runs, o.low, o.high, "
        "sum(o.share / t.runs) AS share FROM own o JOIN total t ON "
        f"{' AND '.join(f'o.{name} IS NOT DISTINCT FROM t.{name}' for name in by) or 'TRUE'} "
        "GROUP BY ALL ORDER BY ALL",
        [*parameters, quantity],
    )


def counts_query(
    selection: Selection, run_ids: Sequence[str] | None = None
) -> tuple[str, list[Any]]:
    """Build the query of all counts of some runs: by size, and over time.

    Args:
        run_ids: Only these runs; None for all that match the filters.

    Returns:
        SQL and parameters. Columns: `run_id`, `quantity`, `low`, `high`, `count`.
    """
    where, parameters = _these(selection, run_ids)
    return (
        f"WITH chosen AS (SELECT run_id FROM runs WHERE has_log AND {where}) "
        "SELECT d.run_id, d.quantity, d.low, d.high, d.count FROM distributions d "
        "SEMI JOIN chosen c ON c.run_id = d.run_id ORDER BY ALL",
        parameters,
    )


def _these(selection: Selection, run_ids: Sequence[str] | None) -> tuple[str, list[Any]]:
    where, parameters = selection.predicate()
    if run_ids is None:
        return where, parameters
    return f"{where} AND run_id IN (SELECT unnest(?))", [*parameters, list(run_ids)]


def joined_traces_query() -> tuple[str, list[Any]]:
    """Build the query of a run that is a row of a table with the energy of its trace.

    Returns:
        SQL and parameters. Column `run_id`; no row if the lake has no such run.
    """
    return "SELECT run_id FROM runs WHERE list_contains(flags, 'trace_joined') LIMIT 1", []


def first_look_query() -> tuple[str, list[Any]]:
    """Build the query of the runs that a visitor without a link sees.

    Returns:
        SQL and no parameters. Column `run_id`, at most three rows: a default run with a log (any
        run if no default has one), then per other system at the same load the run with the
        lowest energy-delay product.
    """
    same = " AND ".join(f"o.{name} IS NOT DISTINCT FROM f.{name}" for name in SUBJECT)
    order = ", ".join(SUBJECT)
    return (
        f"WITH logged AS (SELECT * FROM runs WHERE has_log), first AS (SELECT * FROM logged "
        f"ORDER BY is_baseline DESC NULLS LAST, {order}, replicate, run_id LIMIT 1), "
        f"best AS (SELECT o.run_id, o.system FROM logged o JOIN first f ON {same} "
        "WHERE o.system <> f.system QUALIFY row_number() OVER "
        "(PARTITION BY o.system ORDER BY o.edp_js NULLS LAST, o.run_id) = 1) "
        "SELECT run_id FROM (SELECT 0 AS place, run_id, system FROM first UNION ALL "
        "SELECT 1, run_id, system FROM best) ORDER BY place, system DESC LIMIT 3",
        [],
    )


def logged_runs_query(
    search_terms: Sequence[str], near: str | None, limit: int, *, catalogue: Catalogue
) -> tuple[str, list[Any]]:
    """Build the query of the runs with a log that match all of some words.

    Args:
        search_terms: In any case; each must occur in the run's configuration or id.
        near: A run whose dataset, workload and load come first.
        limit: Maximum number of rows.

    Returns:
        SQL and parameters. Columns: a configuration's, `run_id`, `replicate`, `duration_s`,
        `interrupts`, and `total` (number of all matches). Runs of one load are adjacent.
    """
    own = "".join(f", {name}::VARCHAR" for name in catalogue.further_knobs)
    text = _SHIPPED_TEXT.replace(", run_id))", f"{own}, run_id))")
    matching = "".join(f" AND contains({text}, ?)" for _ in search_terms)
    same = " AND ".join(f"n.{name} IS NOT DISTINCT FROM runs.{name}" for name in SUBJECT)
    return (
        f"SELECT run_id, replicate, duration_s, interrupts, {', '.join(catalogue.configuration)}, "
        f"count(*) OVER () AS total FROM runs WHERE has_log{matching} "
        f"ORDER BY EXISTS (SELECT 1 FROM runs n WHERE n.run_id = ? AND {same}) DESC, "
        f"{', '.join(SUBJECT)}, {_ORDER} LIMIT {limit:d}",
        [*(word.lower() for word in search_terms), near],
    )
