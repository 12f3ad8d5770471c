"""Open one version of a lake in DuckDB and run bounded queries over it.

A reader sees only the files of whole commits, as the Delta log lists them, and needs no DuckDB
extension. Each opened lake is its own in-memory database: nothing is locked, and any number of
processes may read while `ingest` writes.
"""

import shutil
import threading
import warnings
import weakref
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import duckdb
from deltalake import DeltaTable

from data.catalogue import Catalogue
from data.declared import Declared, doubts_of
from data.errors import LakeError
from data.file_cache import spill_folder
from data.file_digests import check_file, digest_in_name
from data.lake_files import (
    LocalFiles,
    about_datasets,
    declared_columns,
    local_files,
    readable_folder,
)
from data.lake_place import LakePath, StorePath, lake_path
from data.lake_views import VIEWS, LogViews, RunViews, empty_select
from data.lake_watch import check_version
from data.object_store import dataset_of, delta_table, error_words
from data.queries.lake_page import guessed_query
from data.schema import (
    OLDER_DESCRIPTIONS,
    RUN_TABLES,
    SCHEMA_DESCRIPTION,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    import pyarrow as pa

QUERY_TIMEOUT_S: Final = 20.0
MEMORY_LIMIT: Final = "160MB"
SPILL_LIMIT: Final = "100MB"
# The rows that a query returns are few, and copying them takes less time than binding it again.
warnings.filterwarnings("ignore", "Arrow output on a DB-API result", UserWarning)
# What DuckDB raises for a file that is missing, cut or no Parquet.
_UNREADABLE: Final = (duckdb.IOException, duckdb.InvalidInputException)


class Lake:
    """One version of a lake: views `runs`, `cores`, `sources`, `problems` in DuckDB.

    A query may also name the views of `log_views`.

    `lake_file(PATH)` reads a Parquet file of a lake in a folder, by its path there.

    Safe for use from several threads: each query runs on its own cursor.

    Attributes:
        path: Where the lake is.
        folder: The folder on this machine with all that the views read.
        version: Version of the `runs` Delta table; -1 for a lake without runs.
        columns: Columns of `runs` that datasets declared, as this version describes them.
        catalogue: All its columns, with titles, filters and knobs.
        about: What datasets say of themselves, by dataset and name of `data.declared.ABOUT`.
        views: Statements that create the views in any DuckDB.
        run_views: What creates those of them that a query names.
        log_views: Those over the big files of all runs.
    """

    def __init__(
        self,
        path: LakePath,
        version: int,
        connection: duckdb.DuckDBPyConnection,
        run_views: RunViews,
        columns: Declared = (),
        files: Sequence[LocalFiles] = (),
        is_checked: bool = True,
        about: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.path = path
        self.about = about or {}
        self._is_checked = is_checked
        self.folder = readable_folder(path)
        self._files = files
        self.run_views = run_views
        self.views = tuple(run_views.statements.values())
        self.version = version
        self.columns = columns
        doubts = doubts_of(self.about)
        self.catalogue = Catalogue.of(tuple(columns), *filter(None, (doubts,)))
        empty = {view: empty_select(RUN_TABLES[view]) for view in VIEWS}
        self.log_views = LogViews.of(path, tuple(self.catalogue.knob_of_column), empty)
        self._connection = connection

    @cached_property
    def guessed(self) -> frozenset[str]:
        """The datasets of which nobody declared what was set and what was measured: it is a guess.

        A published table, a known format and a declared table are none of them; nor is a guess
        whose line `guessed` a person removed from the settings.
        """
        return frozenset(self.polars(*guessed_query())["dataset"])

    def __enter__(self) -> "Lake":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; relations made from it stop working."""
        self._connection.close()
        self._files = ()

    def sql(self, query: str, params: Sequence[Any] | None = None) -> duckdb.DuckDBPyRelation:
        """Create a relation over the views, on its own cursor; the query runs when it is read."""
        cursor = self._connection.cursor()
        self._create_views(cursor, query)
        return cursor.sql(query, params=list(params) if params else None)

    def scan(self, table: str, run_ids: Sequence[str]) -> duckdb.DuckDBPyRelation:
        """Create a relation over the big files of some runs.

        Args:
            table: One of `RUN_TABLES`.
            run_ids: Runs of this version of the lake; runs without such a file add no rows.

        Raises:
            LakeError: Unknown table, unknown run, or a file named by a row is missing. For a lake
                in an object store a file may also be found missing when the relation is read.
        """
        paths = self._files_of(table, run_ids)
        return _rows_of(self._connection.cursor(), table, paths)

    def _files_of(self, table: str, run_ids: Sequence[str]) -> list[LakePath]:
        if table not in RUN_TABLES:
            raise LakeError(f"no table {table!r}; known: {', '.join(RUN_TABLES)}")
        marks = ", ".join("?" * len(run_ids)) or "NULL"
        rows = self.sql(
            f"SELECT run_id, list_filter(files, lambda f: f.table = ?) FROM _runs_all "
            f"WHERE run_id IN ({marks})",
            [table, *run_ids],
        ).fetchall()
        unknown = sorted(set(run_ids) - {row[0] for row in rows})
        if unknown:
            raise LakeError(f"the lake (version {self.version}) holds no run {', '.join(unknown)}")
        paths = [self.path / file["path"] for _, files in rows for file in files or ()]
        gone = [str(path) for path in paths if isinstance(path, Path) and not path.exists()]
        if gone:
            raise LakeError(f"{table} of a run are missing from the lake: {', '.join(gone)}")
        for _, files in rows:
            for file in files or ():
                self.check_run_file(file["path"], file.get("digest"))
        return paths

    def check_run_file(self, path: str, digest: str | None) -> None:
        """Compare a big file with its digest, unless it was compared and has not changed since.

        Files of an object store, which are read in parts, are not compared.

        Args:
            path: In the lake.
            digest: None for a file of an older lake.

        Raises:
            LakeError: It is damaged or cannot be read.
        """
        place = self.path / path
        if self._is_checked and digest and isinstance(place, Path):
            check_file(place, digest)

    def polars(
        self, query: str, params: Sequence[Any] = (), timeout_s: float = QUERY_TIMEOUT_S
    ) -> "pl.DataFrame":
        """Run one bounded query and return a Polars table.

        A row of `runs` as a value has the columns that the query names.

        Raises:
            LakeError: The query took longer than `timeout_s`, or more than MEMORY_LIMIT of memory
                and SPILL_LIMIT of disk.
        """
        import polars as pl

        # A relation of `sql` would bind the query, and so the views, a second time, but it gives
        # columns of one name different ones.
        with self._bounded(timeout_s) as cursor:
            self._create_views(cursor, query, is_narrow=True)
            rows: pa.Table = cursor.execute(query, list(params)).to_arrow_table()
            if len(set(rows.column_names)) < rows.num_columns:
                return cursor.sql(query, params=list(params)).pl()
            return pl.from_arrow(rows, rechunk=False)  # type: ignore[return-value]

    def _create_views(
        self, cursor: duckdb.DuckDBPyConnection, query: str, is_narrow: bool = False
    ) -> None:
        self.run_views.create(cursor, query, is_narrow)
        self.log_views.create(cursor, query)

    def aggregated(self, table: str, run_ids: Sequence[str], columns: str) -> "pl.DataFrame":
        """Aggregate the big files of some runs in one bounded query; raises as `scan` and `polars`.

        Args:
            columns: The select list; its columns that are not aggregates group the rows.
        """
        paths = self._files_of(table, run_ids)
        with self._bounded(QUERY_TIMEOUT_S) as cursor:
            return _rows_of(cursor, table, paths).aggregate(columns).pl()

    def arrow(
        self, query: str, params: Sequence[Any] = (), timeout_s: float = QUERY_TIMEOUT_S
    ) -> "pa.Table":
        """Run one bounded query and return an Arrow table; raises as `polars`."""
        with self._bounded(timeout_s) as cursor:
            self._create_views(cursor, query, is_narrow=True)
            return cursor.sql(query, params=list(params)).to_arrow_table()

    @contextmanager
    def _bounded(self, timeout_s: float) -> "Iterator[duckdb.DuckDBPyConnection]":
        cursor = self._connection.cursor()
        timer = threading.Timer(timeout_s, cursor.interrupt)
        timer.start()
        try:
            yield cursor
        except duckdb.InterruptException:
            raise LakeError(f"a query took longer than {timeout_s:g} s and was stopped") from None
        except duckdb.OutOfMemoryException:
            raise LakeError(
                f"a query needs more than {MEMORY_LIMIT} of memory and {SPILL_LIMIT} of disk; "
                "filter on a dataset"
            ) from None
        except _UNREADABLE as error:
            words = error_words(self.path, error)
            detail = f"the lake's files changed under version {self.version}: {words}"
            raise LakeError(detail) from None
        finally:
            timer.cancel()
            cursor.close()


def _rows_of(
    cursor: duckdb.DuckDBPyConnection, table: str, paths: Sequence[LakePath]
) -> duckdb.DuckDBPyRelation:
    if not paths:
        return cursor.sql(empty_select(RUN_TABLES[table]))
    stored = [path for path in paths if isinstance(path, StorePath)]
    if stored:
        return cursor.from_arrow(dataset_of(stored))
    return cursor.read_parquet([str(path) for path in paths])


def open_lake(
    path: str | Path | StorePath,
    version: int | None = None,
    is_checked: bool = True,
    datasets: Sequence[str] = (),
) -> Lake:
    """Open a lake at its newest version, or at a given one.

    A place that has no `runs` opens as an empty lake of version -1.

    Args:
        path: A folder, or `s3://BUCKET/PATH`.
        datasets: The runs that the views have are those of these datasets; all for none.

    Raises:
        UnknownVersionError: The lake has no such version.
        LakeError: Another schema version than this code's, or an object store that does not let it
            be read.
    """
    path = lake_path(path)
    if version is not None:
        check_version(path, version)
    spill = spill_folder()
    connection = _connect(spill)
    # Else each query parses the footers of all files: 0.13 s of 413. Cursors take global settings.
    connection.execute("SET GLOBAL parquet_metadata_cache = true")
    runs = _delta(path / "runs", version)
    columns = declared_columns(runs) if runs is not None else ()
    problems = _delta(path / "problems", None)
    files = [local_files(path / "runs", runs), local_files(path / "problems", problems)]
    for name in (name for each in files for name in each.paths if is_checked):
        if digest := digest_in_name(name):
            check_file(Path(name), digest)
    try:
        views = RunViews(path, connection, files, columns, datasets)
    except _UNREADABLE as error:
        words = error_words(path, error)
        raise LakeError(f"files of the lake {path} cannot be read: {words}") from error
    version = runs.version() if runs is not None else -1
    about = about_datasets(runs) if runs is not None else {}
    lake = Lake(path, version, connection, views, columns, files, is_checked, about)
    # DuckDB removes the folder when the connection is closed, which no process has to do.
    weakref.finalize(lake, shutil.rmtree, spill, ignore_errors=True)
    return lake


def _connect(spill: str) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "memory_limit": MEMORY_LIMIT,
            "temp_directory": spill,
            "max_temp_directory_size": SPILL_LIMIT,
            # One thread per query: with more, the order of summation, and so the last digits
            # of a mean, varies. Queries of several visitors run in parallel.
            "threads": 1,
            # Return freed memory to the system: queries are short, and the process runs for long.
            "allocator_background_threads": True,
            "allocator_flush_threshold": "1MB",
        },
    )


def _delta(path: LakePath, version: int | None) -> DeltaTable | None:
    source = path if version is None else f"{path} at version {version}"
    try:
        table = delta_table(path, version)
    except Exception as error:
        cause = error if isinstance(path, Path) else None
        raise LakeError(f"cannot open {source}: {error_words(path, error)}") from cause
    if table is None:
        return None
    description = table.metadata().description
    if description != SCHEMA_DESCRIPTION and description not in OLDER_DESCRIPTIONS:
        raise LakeError(
            f"{path} has {description!r}, this wattlas reads {SCHEMA_DESCRIPTION!r}: make a new "
            "lake with `python -m ingest add` into another folder"
        )
    return table
