"""A big lake of rows from the sample model, laid out as `ingest add` leaves one."""

from pathlib import Path

from deltalake import write_deltalake

from ingest.lake.commits import FLUSH_RUNS
from ingest.lake.tables import compact, create_tables
from ingest.sample import sample_runs

SEED = 1


def write_bench_lake(lake: Path, n_runs: int) -> Path:
    """Write the lake: commits of as many runs as ingest flushes at a time, then its compaction."""
    create_tables(lake)
    rows = sample_runs(n_runs, SEED)
    for start in range(0, rows.num_rows, FLUSH_RUNS):
        write_deltalake(str(lake / "runs"), rows.slice(start, FLUSH_RUNS), mode="append")
    compact(lake)
    return lake
