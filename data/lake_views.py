"""The views of a lake as SQL: statements that create them in any DuckDB."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from data.declared import Declared, runs_schema
from data.lake_files import (
    LocalFiles,
)
from data.lake_place import LakePath
from data.queries.statement import literal
from data.schema import (
    PROBLEMS,
    derived_sql,
)

if TYPE_CHECKING:
    import pyarrow as pa


_NESTED: Final = ("counted_rates", "cores", "sources", "files")


def view_statements(
    path: LakePath,
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[LocalFiles],
    columns: Declared,
    datasets: Sequence[str],
) -> list[str]:
    """Write the statements that create the views.

    Args:
        files: Those of `runs`, and of `problems`.
        datasets: As of `open_lake`.
    """

    def select(files: LocalFiles, schema: "pa.Schema") -> str:
        sql = _select(connection, files, schema)
        names = ", ".join(map(literal, datasets))
        return f"SELECT * FROM ({sql}) WHERE dataset IN ({names})" if datasets else sql

    runs, problems = files
    formulas = derived_sql({c.name: c.unit for c in columns if c.role == "metric"})
    derived = ", ".join(f"({sql}) AS {name}" for name, sql in formulas.items())
    nested = (
        f"CREATE VIEW {view} AS SELECT run_id, unnest(u) FROM "
        f"(SELECT run_id, unnest({column}) AS u FROM _runs_all)"
        for view, column in (("cores", "cores"), ("sources", "sources"))
    )
    return [
        f"CREATE VIEW _runs_all AS {select(runs, runs_schema(columns))}",
        f"CREATE VIEW runs AS SELECT * EXCLUDE ({', '.join(_NESTED)}), {derived} FROM _runs_all",
        *nested,
        f"CREATE VIEW problems AS {select(problems, PROBLEMS)}",
        f"CREATE MACRO lake_file(path) AS TABLE SELECT {_lake_file(path)}",
    ]


def _lake_file(path: LakePath) -> str:
    if isinstance(path, Path):
        return f"* FROM read_parquet({literal(str(path.resolve()) + '/')} || path)"
    message = (
        f"lake_file reads lakes in a folder only; this one is {path}. The tables runs, cores, "
        "sources and problems are here; lake.scan of Python reads the runs' files"
    )
    return f"error({literal(message)}) AS lake_file"


def _select(connection: duckdb.DuckDBPyConnection, files: LocalFiles, schema: "pa.Schema") -> str:
    """Write the query of a version's files; columns that no file has are NULL."""
    if not files.paths:
        return empty_select(schema)
    listed = ", ".join("'" + path.replace("'", "''") + "'" for path in files.paths)
    rows = f"read_parquet([{listed}], union_by_name = true)"
    there = {name for name, *_ in connection.execute(f"DESCRIBE FROM {rows}").fetchall()}
    columns = (
        f'"{f.name}"' if f.name in there else f"NULL::{_duckdb_type(f.type)} AS {f.name}"
        for f in schema
    )
    return f"SELECT {', '.join(columns)} FROM {rows}"


def empty_select(schema: "pa.Schema") -> str:
    """Write a query with the columns of a table and no rows."""
    columns = ", ".join(f"NULL::{_duckdb_type(f.type)} AS {f.name}" for f in schema)
    return f"SELECT {columns} WHERE FALSE"


def _duckdb_type(kind: "pa.DataType") -> str:
    """Return DuckDB's name of an Arrow type."""
    if kind.num_fields and str(kind).startswith("struct"):
        inner = ", ".join(f'"{f.name}" {_duckdb_type(f.type)}' for f in kind.fields)
        return f"STRUCT({inner})"
    if str(kind).startswith("list"):
        return f"{_duckdb_type(kind.value_type)}[]"
    names = {"string": "VARCHAR", "int64": "BIGINT", "int32": "INTEGER", "double": "DOUBLE"}
    return names.get(str(kind), "BOOLEAN")
