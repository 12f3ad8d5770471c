"""Cost of the sandbox: the same small query in it and in the serving process, alternately."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.lakes import write_network_lake
from bench.report import Measurement, quantile
from data.connection import Lake, open_lake
from data.sandbox.pool import Sandbox

QUERY: Final = "SELECT system, avg(energy_j) AS energy_j, count(*) AS n FROM runs GROUP BY ALL"
OVERHEAD_MS: Final = 60.0


def measure(queries: int, runs: int) -> Iterator[Measurement]:
    """Measure on a lake of some runs. Each query waits for a ready process, as for visitors."""
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as folder:
        path = write_network_lake(Path(folder) / "lake", runs)
        with open_lake(path) as lake:
            yield from _compare(lake, queries)


def _compare(lake: Lake, queries: int) -> Iterator[Measurement]:
    sandbox = Sandbox()
    sandbox.prepare(lake)
    inside, outside = [], []
    for _ in range(queries):
        sandbox.wait_ready()
        began = time.perf_counter()
        lake.sql(QUERY).fetchall()
        inside.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        sandbox.run(lake, QUERY)
        outside.append((time.perf_counter() - began) * 1000)
    sandbox.close()
    overhead = [there - here for here, there in zip(inside, outside, strict=True)]
    yield Measurement("sql_in_process_p95", quantile(inside, 0.95), "ms", queries)
    yield Measurement("sql_sandbox_p95", quantile(outside, 0.95), "ms", queries)
    yield Measurement("sql_overhead_median", quantile(overhead, 0.5), "ms", queries)
    yield Measurement("sql_overhead_p95", quantile(overhead, 0.95), "ms", queries, OVERHEAD_MS)
