"""What a lake holds, for the pages Lake and SQL: datasets, knobs, logs, problems, words of SQL."""

import re
from collections.abc import Iterable
from typing import Any, Final

from data.analysis.replicates import EQUAL_STEP, unlike_sql
from data.catalogue import Catalogue
from data.queries.moments import resolution_sql
from data.schema import MEASUREMENTS
from data.selection import Selection
from data.units import kind_of

# Columns of `runs` whose values are listed, and how many of them at most.
_LISTED: Final = {
    "workloads": "workload", "systems": "coalesce(system_label, system)", "machines": "machine",
    "devices": "device", "sources": "source",
}  # fmt: skip
_MOST_LISTED: Final = 12
# Other runs of which Timeline shows something have samples of power or use.
_EACH_INTERRUPT: Final = "(has_log AND interrupts IS NOT NULL)"
# Of studies of interrupts and clocks, and of those of storage.
_STUDIED: Final = {
    "of_interrupts": f"{_EACH_INTERRUPT} OR itr_us IS NOT NULL OR dvfs_ghz IS NOT NULL",
    "of_storage": "device IS NOT NULL OR mode IS NOT NULL OR iops IS NOT NULL",
}
_MOST_NAMES: Final = 4
# In names of metrics without a unit.
_COST: Final = re.compile(r"energy|power|joule|watt")
ALL_RUNS: Final = "SELECT *\nFROM runs"
# What visitors' SQL can ask for.
TABLES: Final = ("runs", "cores", "sources", "problems")


def datasets_query(catalogue: Catalogue) -> tuple[str, list[Any]]:
    """Build the query of what each dataset holds.

    Returns:
        SQL and no parameters. One row a dataset: `dataset`, `runs`, `configurations`, `least_n` and
        `median_n` (runs of a configuration), `workloads`, `systems`, `machines`, `devices`,
        `sources` (lists), `first_s` and `last_s` (Unix times), `logged` (runs that Timeline shows),
        `with_interrupts` (of these such with each interrupt), `is_synthetic`, `with_cost` (an
        energy or a power, of an item of work and of the dataset's own columns too, that is not 0),
        `with_performance`, `with_request_bytes` (runs that have them), and whether any is
        `of_interrupts` or clocks, or `of_storage`. The largest dataset is first.
    """
    rows = catalogue.aggregates
    lists = ", ".join(
        f"list_sort(list(DISTINCT {sql}::VARCHAR) FILTER ({sql} IS NOT NULL))[:{_MOST_LISTED}] "
        f"AS {name}" for name, sql in _LISTED.items()
    )  # fmt: skip
    own = ", ".join(catalogue.configuration)
    metrics = (column for column in catalogue.columns if column.role == "metric")
    kinds = {column.name: kind_of(column.unit) for column in metrics}
    own_costs = (n for n, kind in kinds.items() if kind in ("J", "W") or _COST.search(n))
    cost = _first_of((*catalogue.costs, *own_costs))
    studied = ", ".join(f"coalesce(bool_or({s}), FALSE) AS {n}" for n, s in _STUDIED.items())
    usual = (name for name in MEASUREMENTS if name.startswith("latency_"))
    own_rates = (n for n, kind in kinds.items() if kind_of(kind.partition("/")[0]) == "s"
                 or kind == "1/s")  # fmt: skip
    done = ("throughput_qps", "iops", "bandwidth_bytes_s", "duration_s")
    performance = _first_of((*usual, *done, *own_rates))
    return (
        f"WITH sizes AS (SELECT dataset, n FROM (SELECT {own}, {rows.count_sql()} AS n FROM runs "
        f"GROUP BY {own})), counts AS (SELECT dataset, count(*) AS configurations, min(n) AS "
        "least_n, median(n) AS median_n FROM sizes GROUP BY dataset) "
        f"SELECT * FROM (SELECT dataset, {rows.count_sql()} AS runs, {lists}, "
        "min(start_unix_s) AS first_s, max(start_unix_s + coalesce(duration_s, 0)) AS last_s, "
        "count(*) FILTER (has_log) AS logged, "
        f"count(*) FILTER ({_EACH_INTERRUPT}) AS with_interrupts, "
        "coalesce(bool_or(is_synthetic), FALSE) AS is_synthetic, "
        f"count({cost}) AS with_cost, count({performance}) AS with_performance, "
        f"{studied}, "
        "count(request_bytes) AS with_request_bytes FROM runs GROUP BY dataset) "
        "JOIN counts USING (dataset) ORDER BY runs DESC, dataset",
        [],
    )


def _first_of(names: Iterable[str]) -> str:
    """Return the SQL of the first of some columns that is neither NULL nor 0."""
    return f"coalesce({', '.join(f'nullif({name}, 0)' for name in names)})"


def knob_ranges_query(catalogue: Catalogue) -> tuple[str, list[Any]]:
    """Build the query of the values of each knob in each dataset.

    Returns:
        SQL and no parameters. One row for each knob that has a value: `dataset`, `knob` (its
        column), `count` (different values), `low`, `high` (text; of numbers the ends, else the
        first and last name), `names` (the first ones as text), `unset` (runs without a value).
    """
    parts = [
        f"SELECT dataset, '{name}' AS knob, count(DISTINCT {name}) AS count, "
        f"min({name})::VARCHAR AS low, max({name})::VARCHAR AS high, "
        f"list_sort(list(DISTINCT {name}::VARCHAR) FILTER ({name} IS NOT NULL))[:{_MOST_NAMES}] "
        f"AS names, count(*) - count({name}) AS unset FROM runs GROUP BY dataset "
        f"HAVING count({name}) > 0"
        for name in catalogue.knob_of_column
        if name not in ("dataset", "workload", "system", "machine")
    ]
    return f"{' UNION ALL '.join(parts)} ORDER BY dataset, count DESC, knob", []


def files_query() -> tuple[str, list[Any]]:
    """Build the query of files: those read but for settings, and those in the lake.

    Returns:
        SQL and no parameters. One row a dataset: `dataset`, `raw_files`, `raw_bytes`, `lake_bytes`
        (of the runs' big files).
    """
    return (
        "WITH raw AS (SELECT dataset, s.path AS path, max(s.size_bytes) AS size FROM "
        "(SELECT dataset, unnest(sources) AS s FROM _runs_all) "
        "WHERE s.format IS DISTINCT FROM 'settings' GROUP BY dataset, s.path), "
        "big AS (SELECT dataset, sum(f.size_bytes) AS size FROM "
        "(SELECT dataset, unnest(files) AS f FROM _runs_all) GROUP BY dataset) "
        "SELECT raw.dataset, count(*) AS raw_files, sum(raw.size)::BIGINT AS raw_bytes, "
        "coalesce(any_value(big.size), 0)::BIGINT AS lake_bytes FROM raw "
        "LEFT JOIN big ON raw.dataset IS NOT DISTINCT FROM big.dataset "
        "GROUP BY raw.dataset ORDER BY raw.dataset",
        [],
    )


def coverage_query(limit: int, catalogue: Catalogue) -> tuple[str, list[Any]]:
    """Build the query of runs and configurations by place and system.

    A place is what is given to a run: workload, load, message size, machine, work and so on.

    Args:
        limit: Maximum number of rows.

    Returns:
        SQL and no parameters. The columns of a choice, `system_label`, `runs`, `configurations`.
    """
    columns = ", ".join(catalogue.choice_columns)
    own = ", ".join(catalogue.configuration)
    count = catalogue.aggregates.count_sql()
    return (
        f"SELECT {columns}, any_value(system_label) AS system_label, sum(n)::BIGINT AS runs, "
        f"count(*) AS configurations FROM (SELECT {own}, {count} AS n FROM runs GROUP BY {own}) "
        f"GROUP BY {columns} ORDER BY {columns} LIMIT {limit:d}",
        [],
    )


def flags_query() -> tuple[str, list[Any]]:
    """Build the query of flags.

    Returns:
        SQL and no parameters. `dataset`, `flag`, `runs`.
    """
    return (
        "SELECT dataset, flag, count(*) AS runs FROM (SELECT dataset, unnest(flags) AS flag "
        "FROM runs) GROUP BY ALL ORDER BY dataset, runs DESC, flag",
        [],
    )


def derived_query() -> tuple[str, list[Any]]:
    """Build the query of the work of which an energy or a power was computed in all runs.

    Returns:
        SQL and no parameters. `dataset`, `workload`, and for `energy_j` and `power_w` whether all
        runs that have one have it from the two others of energy, power and time; NULL for none.
    """
    every = ", ".join(
        f"bool_and(coalesce(list_contains(flags, '{flag}'), FALSE)) "
        f"FILTER ({name} IS NOT NULL) AS {name}"
        for name, flag in (("energy_j", "energy_derived"), ("power_w", "power_derived"))
    )
    return f"SELECT dataset, workload, {every} FROM runs GROUP BY ALL ORDER BY ALL", []


def problems_query(limit: int) -> tuple[str, list[Any]]:
    """Build the query of what was refused, repaired or doubted.

    Returns:
        SQL and no parameters. The columns of `problems`; refusals first.
    """
    return (
        "SELECT dataset, severity, kind, path, line, detail, count FROM problems ORDER BY "
        "CASE severity WHEN 'refused' THEN 0 WHEN 'doubted' THEN 1 ELSE 2 END, dataset, kind, "
        f"path, line LIMIT {limit:d}",
        [],
    )


def unread_query() -> tuple[str, list[Any]]:
    """Build the query of the files with data of which no run was read, of values of runs that were
    left out and of lines that were refused though they hold something.

    Returns:
        SQL and no parameters. The columns `kind` (`not_read`, `value_range`, `no_energy` or
        `line`), `dataset`, `path`, `detail` and `count`, the largest counts first.
    """
    sql = (
        "SELECT if(is_line, 'line', kind) AS kind, dataset, path, "
        "replace(detail, '; row dropped', '') AS detail, count FROM (SELECT *, "
        "severity = 'refused' AND line NOT NULL AND kind <> 'empty_row' AS is_line FROM problems) "
        "WHERE path NOT NULL AND (is_line OR kind IN ('not_read', 'value_range', 'no_energy')) "
        "ORDER BY count DESC, dataset, path"
    )
    return sql, []


def guessed_query() -> tuple[str, list[Any]]:
    """Build the query of the datasets of which a table's roles of columns were guessed."""
    kind = "kind = 'guessed_columns'"
    return f"SELECT DISTINCT dataset FROM problems WHERE {kind} AND dataset NOT NULL", []


def measured_query(catalogue: Catalogue) -> tuple[str, list[Any]]:
    """Build the query of how many runs of each dataset have each metric: `dataset`, the metrics."""
    counts = ", ".join(f"count({name}) AS {name}" for name in catalogue.plottable)
    return f"SELECT dataset, {counts} FROM runs GROUP BY dataset ORDER BY dataset", []


def extremes_query(
    selection: Selection, column: str, catalogue: Catalogue
) -> tuple[str, list[Any]]:
    """Build the query of the settings with the lowest and the highest mean of a metric.

    Only settings of one choice are compared, whatever their system: of what ran, and under which
    load. It is the choice with most settings; of several the one whose means are farthest apart.

    Args:
        column: The metric; only values above 0 of single runs count.

    Returns:
        SQL and parameters. Two rows, one where all means are of one setting: the columns of a
        configuration, `n`, `mean`; `compared`, how many of all `means` are of the choice; of all
        settings their number `settings`, that of those with several runs `repeated`, that of those
        of these whose runs are replicates `replicated`, and of the last `median_share` and
        `most_share` (standard deviation as a share of the mean). Those whose runs are no replicates
        have no mean: `unlike` is their number, and `most_apart` the largest factor between two of
        their runs. `equal` is the number of those whose runs have equal values.
    """
    catalogue.metric(column)
    condition, parameters = selection.predicate()
    own = ", ".join(catalogue.configuration)
    place = ", ".join(name for name in catalogue.choice_columns if name != "system")
    ranks = " OR ".join(
        f"row_number() OVER (ORDER BY compared DESC, times DESC NULLS LAST, {place}, "
        f"mean {way} NULLS LAST, {own}) = 1"
        for way in ("ASC", "DESC")
    )
    # No column of the first part names another of it: a table may have one of the same name.
    unlike = f"coalesce({unlike_sql(column)}, FALSE)"
    equal = (
        f"(count(*) > 1 AND max({column}) = min({column}) AND "
        f"min({resolution_sql(column)}) <= {EQUAL_STEP} * avg({column}))"
    )
    return (
        f"WITH settings AS (SELECT {own}, count(*) AS n, "
        f"CASE WHEN {unlike} THEN max({column}) / min({column}) END AS apart, "
        f"CASE WHEN NOT {unlike} THEN avg({column}) END AS mean, {equal} AS is_equal, "
        f"CASE WHEN NOT ({unlike} OR {equal}) THEN stddev_samp({column}) / avg({column}) END "
        "AS share "
        f"FROM runs WHERE ({condition}) AND "
        f"{column} > 0 AND {catalogue.aggregates.weight_sql()} = 1 GROUP BY {own}), "
        "compared AS (SELECT *, count(mean) OVER here AS compared, "
        "max(mean) OVER here / min(mean) OVER here AS times FROM settings "
        f"WINDOW here AS (PARTITION BY {place})) "
        "SELECT * EXCLUDE (share, apart, times, is_equal), count(mean) OVER () AS means, "
        "count(share) OVER () AS replicated, "
        "count(*) OVER () AS settings, count(apart) OVER () AS unlike, "
        "count(*) FILTER (is_equal) OVER () AS equal, replicated + unlike + equal AS repeated, "
        "max(apart) OVER () AS most_apart, median(share) OVER () AS median_share, "
        "max(share) OVER () AS most_share "
        f"FROM compared QUALIFY {ranks} ORDER BY mean",
        parameters,
    )


def columns_query() -> tuple[str, list[Any]]:
    """List the columns of the lake's tables: `table`, `column`, `type`, in the tables' order."""
    sql = (
        "SELECT table_name AS \"table\", column_name AS \"column\", data_type AS \"type\"\n"
        "FROM information_schema.columns\n"
        "WHERE table_name IN (?, ?, ?, ?)\n"
        "ORDER BY list_position(?, table_name), ordinal_position"
    )  # fmt: skip
    return sql, [*TABLES, list(TABLES)]


def words_query() -> tuple[str, list[Any]]:
    """Build the query of the words of DuckDB's SQL, for an editor.

    Returns:
        SQL and no parameters. A row a word, sorted: `word`; `kind` (`keyword`, `type`, `function`);
        `detail` and `description` of functions: their parameters, and what they do. Keywords that
        are names of the lake's columns, such as `mode`, are left out.
    """
    return (
        "SELECT keyword_name AS word, 'keyword' AS kind, NULL AS detail, NULL AS description\n"
        "FROM duckdb_keywords() WHERE keyword_category <> 'unreserved' OR keyword_name NOT IN "
        "(SELECT column_name FROM information_schema.columns)\n"
        "UNION ALL SELECT DISTINCT lower(type_name), 'type', NULL, NULL\n"
        "FROM duckdb_types() WHERE regexp_full_match(type_name, '\\w+')\n"
        "UNION ALL SELECT function_name, 'function', "
        "min_by(array_to_string(parameters, ', '), len(parameters)), any_value(description)\n"
        "FROM duckdb_functions() WHERE function_type IN ('scalar', 'aggregate', 'window') "
        "AND description IS NOT NULL AND regexp_full_match(function_name, '[a-z]\\w*')\n"
        "GROUP BY function_name ORDER BY ALL",
        [],
    )


def subjects_query() -> tuple[str, list[Any]]:
    """Build the query of the subjects that most runs have.

    Returns:
        SQL and no parameters. One row: `workload`, `system` and `load` of most runs with energy and
        p99 latency; `device`, `rw` and `request_bytes` of most storage runs; `run_id` and `file`
        (path of its interrupts in the lake) of the run with most interrupts. NULL where there is
        none.
    """
    return (
        "SELECT "
        "(SELECT {'workload': workload, 'system': system, 'load': load_qps::BIGINT} FROM runs "
        "WHERE energy_j IS NOT NULL AND latency_p99_us IS NOT NULL AND load_qps IS NOT NULL "
        "GROUP BY workload, system, load_qps "
        "ORDER BY count(*) DESC, workload, system, load_qps LIMIT 1) AS served, "
        "(SELECT {'device': device, 'rw': rw, 'request_bytes': request_bytes} FROM runs "
        "WHERE mode IS NOT NULL AND device IS NOT NULL AND rw IS NOT NULL "
        "AND energy_j IS NOT NULL AND iops IS NOT NULL AND request_bytes IS NOT NULL "
        "GROUP BY device, rw, request_bytes "
        "ORDER BY count(*) DESC, device, rw, request_bytes LIMIT 1) AS stored, "
        "(SELECT {'run_id': run_id, 'file': "
        "list_filter(files, lambda f: f.\"table\" = 'interrupts')[1].path} FROM _runs_all "
        "WHERE has_log ORDER BY interrupts DESC, run_id LIMIT 1) AS logged",
        [],
    )
