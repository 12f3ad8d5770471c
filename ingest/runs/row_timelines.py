"""Timelines of rows of tables: the samples of their traces, under the run id of the row."""

from contextlib import ExitStack
from typing import Any

from data.lake_place import LakePath
from ingest.lake.run_file import RunFile
from ingest.runs.interval_tables import interval_tables
from ingest.runs.row import RunRow
from ingest.tables.table_reads import RowTrace


def draw_trace(lake: LakePath, row: dict[str, Any], trace: RowTrace) -> None:
    """Write the intervals of a row's trace, and its samples if they took as long as the row.

    Names the files in the row, which has cores then.

    Raises:
        LakeError: A big file cannot be written.
    """
    run = RunRow(trace.work.key, trace.work.files[0].settings)
    run.take(trace.work.reads)
    run.row = row
    tables = interval_tables(run, trace.window)
    with ExitStack() as on_failure:
        files = []
        for name, table in tables.items():
            files.append(RunFile(lake, name, row["dataset"], row["run_id"]))
            on_failure.callback(files[-1].abandon)
            files[-1].write(table)
        row["files"] = [file.finish(trace.digest) for file in files]
        row["has_log"] = "interrupts" in tables
        on_failure.pop_all()
