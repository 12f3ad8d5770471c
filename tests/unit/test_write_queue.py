"""Writes of a run's tables: files in parallel, rows in their order, nothing after a failure."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.schema import RUN_TABLES
from ingest.lake.run_file import RunFile
from ingest.logs.write_queue import WriteQueue

TABLES = ("samples", "overview", "histograms")


@pytest.fixture
def helpers() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(len(TABLES)) as threads:
        yield threads


@pytest.fixture
def files(tmp_path: Path) -> dict[str, RunFile]:
    return {table: RunFile(tmp_path, table, "d", "run") for table in TABLES}


def rows(table: str, value: int, count: int = 2) -> pa.Table:
    """Rows with one value in each column, as text where the column holds text."""
    return pa.table(
        {
            field.name: (
                np.repeat(str(value), count)
                if pa.types.is_string(field.type)
                else np.repeat(value, count)
            )
            for field in RUN_TABLES[table]
        }
    ).cast(RUN_TABLES[table])


def test_files_are_written_in_parallel_and_their_rows_in_order(
    tmp_path: Path, files: dict[str, RunFile], helpers: ThreadPoolExecutor
) -> None:
    # Each waits for all others: one after the other they would wait for ever.
    all_at_work = threading.Barrier(len(TABLES))

    def first(table: str) -> pa.Table:
        all_at_work.wait()
        return rows(table, 1)

    writes = WriteQueue(helpers)
    for table, file in files.items():
        writes.send(file, lambda table=table: rows(table, 0))  # type: ignore[misc]
    for table, file in files.items():
        writes.send_all(
            file,
            [lambda table=table: first(table), lambda table=table: rows(table, 2)],  # type: ignore[misc]
        )
    writes.finish()
    for table, file in files.items():
        found = pq.read_table(tmp_path / str(file.finish("digest")["path"]))
        assert found["run_id"].to_pylist() == ["0", "0", "1", "1", "2", "2"], table


def test_after_a_failure_no_file_gets_more_rows_and_none_is_left(
    tmp_path: Path, files: dict[str, RunFile], helpers: ThreadPoolExecutor
) -> None:
    is_writing, has_failed = threading.Event(), threading.Event()
    made: list[str] = []

    def slow() -> pa.Table:
        is_writing.set()
        has_failed.wait()
        return rows("overview", 1)

    def fail() -> pa.Table:
        is_writing.wait()
        raise MemoryError("no memory for the samples")

    def further() -> pa.Table:
        made.append("further")
        return rows("overview", 2)

    writes = WriteQueue(helpers)
    writes.send_all(files["overview"], [slow, further])
    writes.send_all(files["samples"], [fail])
    with pytest.raises(MemoryError, match="no memory for the samples"):
        writes.send(files["samples"], lambda: rows("samples", 3))
    abandoning = helpers.submit(writes.abandon)
    while not writes.is_abandoned:
        threading.Event().wait(0.01)
    has_failed.set()
    abandoning.result()
    assert made == []
    for file in files.values():
        file.abandon()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
