"""Numbers of a table computed again over the runs: what an artifact's verification asks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from data.catalogue import Catalogue
from data.queries.moments import MOMENTS, moments_query
from data.queries.statement import literal, statement
from data.selection import Selection

# The runs of an artifact, as the views of a lake have them.
ARTIFACT_RUNS: Final = "CREATE VIEW _runs_all AS SELECT * FROM read_parquet('data/runs.parquet')"
# What the logs of its runs count, and how it is read there.
COUNTS: Final = "SELECT run_id, quantity, low, high, count FROM distributions ORDER BY ALL"
ARTIFACT_COUNTS: Final = (
    "CREATE VIEW distributions AS SELECT * FROM read_parquet('data/distributions.parquet')"
)

WRITE_MINUS_READ: Final = "_write_minus_read"
_ACCESSES: Final = ("%write", "%read")


def formulas_of(catalogue: Catalogue, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return what the numbers of a table may be: pairs of a column and SQL over the runs of a row.

    A metric is an arithmetic mean or a geometric one; `<metric>_sd` its deviation, `<metric>_n` the
    number of its values, `<metric>_median` their median, `<metric>_write_minus_read` a difference
    of means, `n` the number of runs.
    """
    rows, listed = catalogue.aggregates, []
    for name in catalogue.plottable:
        value = f"{name}::DOUBLE"
        listed += [
            (name, f"({rows.mean_sql(value)})::DOUBLE"),
            (name, f"exp(avg(ln({value})) FILTER ({name} > 0))"),
            (f"{name}_sd", rows.sd_sql(name)),
            (f"{name}_n", rows.count_sql(name)),
            (f"{name}_median", f"quantile_cont({value}, 0.5)"),
            (
                f"{name}{WRITE_MINUS_READ}",
                " - ".join(
                    rows.mean_sql(value, f"FILTER (rw LIKE '{access}')") for access in _ACCESSES
                ),
            ),
        ]
    listed += [("n", rows.count_sql())]
    listed += [("n", rows.count_sql(name)) for name in catalogue.plottable if name in names]
    return [(name, sql) for name, sql in listed if name in names]


def recomputed_query(
    selection: Selection, keys: Mapping[str, str], values: Sequence[tuple[str, str]]
) -> str:
    """Build the query of numbers by the columns that tell the rows of a table apart.

    Args:
        keys: Column of `runs` to its name in the table.
        values: Pairs of a name in the answer and SQL over the runs of a row.

    Returns:
        SQL without parameters.
    """
    columns = [f'{column} AS "{name}"' for column, name in keys.items()]
    columns += [f'{sql} AS "{name}"' for name, sql in values]
    condition = statement(*selection.predicate())
    return f"SELECT {', '.join(columns)} FROM runs WHERE {condition} GROUP BY {', '.join(keys)}"


def part_query(query: str, columns: Sequence[str]) -> str:
    """Build the query of some columns of the answer of another, in the order given."""
    return selected(", ".join(f'"{name}"' for name in columns), query)


def selected(columns: str, query: str) -> str:
    """Build the query of some columns, as SQL, of the answer of another."""
    return f"SELECT {columns} FROM ({query})"


def view_of(name: str, query: str) -> str:
    """Return the SQL that gives a query a name."""
    return f"CREATE VIEW {name} AS {query}"


def file_view(name: str, file: str) -> str:
    """Return the SQL that gives a file of an artifact a name."""
    return view_of(name, f"SELECT * FROM read_parquet('{file}')")


def storage_tables(
    runs: str,
    idle: str,
    peak: str,
    kinds: Mapping[str, str | None],
    slices: Mapping[str, tuple[Mapping[str, Any], bool]],
) -> list[str]:
    """Return the SQL of the tables by which an artifact judges claims on storage.

    Args:
        runs, idle, peak: SQL of configurations, of idle devices and of the greatest power.
        kinds: Of devices.
        slices: Values of each slice of the configurations, and whether interrupts complete its
            requests; the one named `place` is where claims on one device are.
    """
    devices = ", ".join(f"({literal(device)}, {literal(kind)})" for device, kind in kinds.items())
    parts = []
    for name, (values, is_interrupts) in slices.items():
        wanted = [f"{column} IS NOT DISTINCT FROM {literal(v)}" for column, v in values.items()]
        wanted += ["coalesce(mode, 'interrupt') = 'interrupt'"] if is_interrupts else []
        parts.append(f"SELECT '{name}' AS slice, * FROM storage WHERE {' AND '.join(wanted)}")
    fixed = ", ".join(f"{literal(value)} AS {name}" for name, value in slices["place"][0].items())
    with_kind = "LEFT JOIN kinds ON own.device::VARCHAR = kinds.device"
    return [
        f"CREATE TABLE kinds AS FROM (VALUES {devices or '(NULL, NULL)'}) k(device, kind)",
        f"CREATE TABLE storage AS SELECT own.*, kind FROM ({runs}) own {with_kind}",
        f"CREATE TABLE idle AS SELECT own.*, kind FROM ({idle}) own {with_kind}",
        f"CREATE TABLE peak_power AS SELECT max(peak_w) AS peak_w FROM ({peak})",
        f"CREATE TABLE place AS SELECT {fixed}",
        f"CREATE TABLE slices AS {' UNION ALL '.join(parts)}",
    ]


def claim_moments_query(metrics: Sequence[str], catalogue: Catalogue) -> str:
    """Build the query of the moments of all settings, as claims are judged by.

    Returns:
        SQL without parameters. The columns of a choice and a setting, `is_baseline`, `runs`, and
        of each metric the columns of `moments_query`.
    """
    by = [*catalogue.choice_columns, *catalogue.setting_columns, "is_baseline"]
    query = statement(*moments_query("TRUE", [], by, metrics, catalogue=catalogue))
    names = [*by[:-1], "coalesce(is_baseline, FALSE) AS is_baseline", "runs"]
    names += [f"{metric}_{end}" for metric in metrics for end in MOMENTS]
    return f"SELECT {', '.join(names)} FROM ({query})"


def proportions_query(keys: Sequence[str], peaks: str) -> str:
    """Build the query of IO rates and powers as shares of the greatest, from their table.

    Args:
        keys: Columns of a configuration.
        peaks: SQL of the greatest power of each machine.
    """
    rows = "read_parquet('tables/storage-proportionality.parquet')"
    return (
        f"SELECT {', '.join(keys)}, iops / max(iops) OVER (PARTITION BY device) AS rate_share, "
        f"greatest_w AS peak_w, power_w / greatest_w AS power_share FROM {rows}, (SELECT "
        f"max(peak_w) AS greatest_w FROM ({peaks}) WHERE machine IN (SELECT coalesce(machine, "
        f"dataset)::VARCHAR FROM {rows}))"
    )


def map_counts_query(competitor: str) -> str:
    """Build the query of how many cells of a map each competitor wins, and of other outcomes."""
    cells, all_bests = (
        f"read_parquet('tables/modes-{name}.parquet')" for name in ("winners", "pareto")
    )
    return (
        f"SELECT competitor, 'win' AS outcome, count(outcome) AS cells FROM (SELECT DISTINCT "
        f"{competitor} AS competitor FROM {all_bests}) LEFT JOIN {cells} ON outcome = 'win' AND "
        f"winner_{competitor} IS NOT DISTINCT FROM competitor GROUP BY ALL UNION ALL "
        f"SELECT NULL, outcome, count(*) FROM {cells} WHERE outcome <> 'win' GROUP BY ALL"
    )


def whole_query(table: str) -> tuple[str, list[Any]]:
    """Build the query of all rows of a table or view of the lake, always in the same order."""
    return f"SELECT * FROM {table} ORDER BY ALL", []
