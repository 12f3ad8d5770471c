"""Views over the big files of all runs of a lake: `interrupts`, `samples`, `overview` and more.

A view names the files of all its runs, thousands in a large lake, so it is made when a query first
names it. DuckDB reads of them the row groups and columns that the query needs: of the runs that
conditions on knobs leave, and in `distributions` one file for hundreds of runs.
"""

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import duckdb

from data.lake_place import LakePath
from data.queries.statement import literal
from data.schema import RUN_TABLES

VIEWS: Final = ("interrupts", "samples", "overview", "histograms", "distributions")
# One of them after FROM or JOIN, perhaps after other tables; most are columns of `runs` too.
_NAMED: Final = re.compile(
    r"\b(?:from|join)\s+(?:[\w\"]+(?:\s+(?:as\s+)?\w+)?\s*,\s*)*\"?(" + "|".join(VIEWS) + r")\b",
    re.IGNORECASE,
)
_MADE: Final = "SELECT view_name FROM duckdb_views() WHERE NOT internal"
_making: Final = threading.Lock()
# What each row says of its run, before the knobs.
_NAMES: Final = ("dataset", "workload", "system", "replicate")


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
