"""What the SQL page asks of a lake: columns, words of its SQL, subjects of example questions."""

from typing import Any, Final

ALL_RUNS: Final = "SELECT *\nFROM runs"
# What visitors' SQL can ask for.
TABLES: Final = ("runs", "cores", "sources", "problems")


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
