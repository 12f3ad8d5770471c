"""The views of a lake as SQL, for any DuckDB, and those over the big files of all runs.

A view over big files names those of all runs, thousands in a large lake, so it is made when a query
first names it. DuckDB reads of them the row groups and columns that the query needs: of the runs
that conditions on knobs leave, and in `distributions` one file for hundreds of runs.
"""

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from data.declared import Declared, runs_schema
from data.lake_files import (
    LocalFiles,
)
from data.lake_place import LakePath
from data.queries.statement import literal
from data.schema import (
    PROBLEMS,
    RUN_TABLES,
    derived_sql,
)
from data.work_items import work_items

if TYPE_CHECKING:
    import pyarrow as pa


_NESTED: Final = ("counted_rates", "cores", "sources", "files")
VIEWS: Final = ("interrupts", "samples", "overview", "histograms", "distributions")
# One of them after FROM or JOIN, perhaps after other tables; most are columns of `runs` too.
_NAMED: Final = re.compile(
    r"\b(?:from|join)\s+(?:[\w\"]+(?:\s+(?:as\s+)?\w+)?\s*,\s*)*\"?(" + "|".join(VIEWS) + r")\b",
    re.IGNORECASE,
)
# What may mean all columns: stars that multiply nothing, patterns of names, joins by all, rows as
# values, descriptions.
_ALL: Final = re.compile(
    r"(?<!count\()\*\s*(?:$|[,);]|--|(?:except|exclude|from|having|(?:not\s+)?i?like|intersect|limit"
    r"|offset|order|qualify|rename|replace|similar|union|where)\b)"
    r"|\bcolumns\s*\(|\b(?:natural|pivot|pragma|unpivot|table)\b"
    r"|(?:\bselect\s|[(,]|\bdistinct\s)\s*runs\b"
    r"|(?:^|\(|\bunion|\ball|\bname|\bexcept|\bintersect)\s*(?:from|desc|describe|summarize)\b"
)
_MADE: Final = "SELECT view_name FROM duckdb_views() WHERE NOT internal"
_making: Final = threading.Lock()
# What each row says of its run, before the knobs.
_NAMES: Final = ("dataset", "workload", "system", "replicate")


class RunViews:
    """The views over the tables `runs` and `problems`, each made when a query first names it.

    To bind all columns of `runs` takes a third of the time of a query. So one that names them has a
    view `runs` of its own, with those that occur in its text.

    Args:
        path: The lake.
        connection: Reads which columns the files have.
        files: Those of `runs`, and of `problems`.
        columns: What datasets declare of `runs`.
        datasets: As of `open_lake`.

    Attributes:
        statements: What creates the views in any DuckDB, in this order, by name.
    """

    def __init__(
        self,
        path: LakePath,
        connection: duckdb.DuckDBPyConnection,
        files: Sequence[LocalFiles],
        columns: Declared,
        datasets: Sequence[str],
    ) -> None:
        runs, problems = (
            _Rows.of(connection, each, schema, datasets)
            for each, schema in zip(files, (runs_schema(columns), PROBLEMS), strict=True)
        )
        self._runs = runs
        self._formulas = derived_sql({c.name: c.unit for c in columns if c.role == "metric"})
        self._formulas |= {item.column.name: item.sql for item in work_items(columns)}
        derived = ", ".join(f"({sql}) AS {name}" for name, sql in self._formulas.items())
        nested = {
            view: f"CREATE VIEW {view} AS SELECT run_id, unnest(u) FROM "
            f"(SELECT run_id, unnest({column}) AS u FROM _runs_all)"
            for view, column in (("cores", "cores"), ("sources", "sources"))
        }
        self.statements = {
            "_runs_all": f"CREATE VIEW _runs_all AS {runs.select(runs.columns)}",
            "runs": f"CREATE VIEW runs AS SELECT * EXCLUDE ({', '.join(_NESTED)}), {derived} "
            "FROM _runs_all",
            **nested,
            "problems": f"CREATE VIEW problems AS {problems.select(problems.columns)}",
            "lake_file": f"CREATE MACRO lake_file(path) AS TABLE SELECT {_lake_file(path)}",
        }
        self._made: set[str] = set()
        self._making = threading.Lock()

    def create(self, cursor: duckdb.DuckDBPyConnection, sql: str, is_narrow: bool) -> None:
        """Create the views that a query names, unless they are there.

        Args:
            is_narrow: `runs` may have only the columns that the query names.
        """
        text = sql.lower()
        lists = "duckdb_" in text or "information_schema" in text
        named = {name for name in self.statements if lists or name in text}
        if is_narrow and "runs" in named and not lists and not _ALL.search(text):
            named -= {"runs"}
            cursor.execute(f"CREATE TEMP VIEW runs AS {self._columns_in(text)}")
        if any(view in text for view in VIEWS) or named - {"problems", "lake_file"}:
            named |= {"_runs_all"}
        with self._making:
            for name in [name for name in self.statements if name in named - self._made]:
                cursor.execute(self.statements[name])
                self._made.add(name)

    def _columns_in(self, text: str) -> str:
        """Write the query of `runs` with the columns whose names occur in a text."""
        formulas = {name: sql for name, sql in self._formulas.items() if name in text}
        needed = " ".join((text, *formulas.values())).lower()
        inner = [name for name in self._runs.columns if name.lower() in needed]
        outer = [f'"{name}"' for name in inner if name.lower() in text and name not in _NESTED]
        outer += [f"({sql}) AS {name}" for name, sql in formulas.items()]
        return f"SELECT {', '.join(outer) or 'NULL'} FROM ({self._runs.select(inner)})"


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a version's files.

    Attributes:
        columns: How each column is read; one that no file has is NULL.
        origin: What follows the columns.
    """

    columns: Mapping[str, str]
    origin: str

    @staticmethod
    def of(
        connection: duckdb.DuckDBPyConnection,
        files: LocalFiles,
        schema: "pa.Schema",
        datasets: Sequence[str],
    ) -> "_Rows":
        """Return those of these datasets; of all for none."""
        nulls = {f.name: f"NULL::{_duckdb_type(f.type)} AS {f.name}" for f in schema}
        if not files.paths:
            return _Rows(nulls, "WHERE FALSE")
        listed = ", ".join("'" + path.replace("'", "''") + "'" for path in files.paths)
        # To compare the columns of files takes a tenth of a query, also of one file.
        union = ", union_by_name = true" if len(files.paths) > 1 else ""
        rows = f"FROM read_parquet([{listed}]{union})"
        there = {name for name, *_ in connection.execute(f"DESCRIBE {rows}").fetchall()}
        names = ", ".join(map(literal, datasets))
        return _Rows(
            {name: f'"{name}"' if name in there else null for name, null in nulls.items()},
            f"{rows} WHERE dataset IN ({names})" if datasets else rows,
        )

    def select(self, names: Iterable[str]) -> str:
        """Write a query of some columns."""
        return f"SELECT {', '.join(self.columns[name] for name in names) or 'NULL'} {self.origin}"


def _lake_file(path: LakePath) -> str:
    if isinstance(path, Path):
        return f"* FROM read_parquet({literal(str(path.resolve()) + '/')} || path)"
    message = (
        f"lake_file reads lakes in a folder only; this one is {path}. The tables runs, cores, "
        "sources and problems are here; lake.scan of Python reads the runs' files"
    )
    return f"error({literal(message)}) AS lake_file"


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


@dataclass(frozen=True, slots=True)
class LogViews:
    """What the views need; can be sent as JSON.

    Attributes:
        folder: The lake's, absolute, with a slash at its end; empty for an object store.
        place: The lake, for messages.
        knobs: Columns of `runs` that each row has beside its own.
        empty: For each view a query of its own columns without rows.
    """

    folder: str
    place: str
    knobs: Sequence[str]
    empty: Mapping[str, str]

    @staticmethod
    def of(lake: LakePath, knobs: Sequence[str], empty: Mapping[str, str]) -> "LogViews":
        """Return those of a lake, whose knobs may be declared."""
        folder = f"{lake.resolve()}/" if isinstance(lake, Path) else ""
        own = {name for view in VIEWS for name in RUN_TABLES[view].names}
        beside = dict.fromkeys((*_NAMES, *knobs))
        return LogViews(folder, str(lake), tuple(n for n in beside if n not in own), empty)

    def to_json(self) -> dict[str, Any]:
        """Return the arguments as JSON has them."""
        return asdict(self)

    def create(self, connection: duckdb.DuckDBPyConnection, sql: str) -> None:
        """Create the views that a query names, unless they are there."""
        named = {match.lower() for match in _NAMED.findall(sql)}
        if not named:
            return
        with _making:
            made = {name for (name,) in connection.execute(_MADE).fetchall()}
            for view in sorted(named - made):
                connection.execute(f"CREATE VIEW {view} AS {self._select(connection, view)}")

    def without_rows(self, view: str) -> str:
        """Return the query of a view that no run has a file of: its columns."""
        knobs = ", ".join(f'r."{name}"' for name in self.knobs)
        return f"SELECT t.*, {knobs} FROM ({self.empty[view]}) t JOIN _runs_all r USING (run_id)"

    def _select(self, connection: duckdb.DuckDBPyConnection, view: str) -> str:
        if not self.folder:
            message = (
                f"{view} is a view of lakes in a folder only; this one is {self.place}. "
                "lake.scan of Python reads the runs' files"
            )
            return f"SELECT error({literal(message)}) AS {view}"
        knobs = ", ".join(f'r."{name}"' for name in self.knobs)
        files = (
            f"SELECT run_id, {literal(self.folder)} || f.path AS file FROM (SELECT run_id, "
            f"unnest(files) AS f FROM _runs_all WHERE has_log) WHERE f.table = {literal(view)}"
        )
        paths = connection.execute(f"SELECT DISTINCT file FROM ({files}) ORDER BY 1").fetchall()
        if not paths:
            return self.without_rows(view)
        listed = ", ".join(literal(path) for (path,) in paths)
        if view != "distributions":
            return (
                f"SELECT t.*, {knobs} FROM read_parquet([{listed}]) t "
                "JOIN _runs_all r USING (run_id)"
            )
        # A file may still hold rows of a run that has been read again since.
        return (
            f"SELECT t.* EXCLUDE (filename), {knobs} FROM read_parquet([{listed}], "
            f"filename = true) t JOIN ({files}) f ON t.run_id = f.run_id AND t.filename = f.file "
            "JOIN _runs_all r ON r.run_id = t.run_id"
        )
