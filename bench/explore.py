"""Explore on a big lake: filter change, first load, selection, memory."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.in_browser import chromium, measure_first_load, measure_selection
from bench.lakes import write_bench_lake
from bench.report import Measurement
from bench.served import serve
from bench.server_side import measure_functions, measure_server


def measure(
    runs: int, changes: int, loads: int, selections: int, lake: Path | None = None
) -> Iterator[Measurement]:
    """Measure all parts; a part with a count of 0 is left out.

    Args:
        runs: Rows of the lake.
        changes: Filter changes.
        loads: First loads of the page.
        selections: Selections in each picture.
        lake: A lake that `write_bench_lake` wrote; None writes one.
    """
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as name:
        folder = Path(name)
        lake = lake or write_bench_lake(folder / "lake", runs)
        if changes:
            yield from measure_functions(lake, changes)
            with serve(lake, folder / "app.log") as served:
                yield from measure_server(served, lake, changes)
        if loads or selections:
            with serve(lake, folder / "app.log") as served, chromium() as browser:
                if loads:
                    yield from measure_first_load(browser, served.address, loads)
                if selections:
                    yield from measure_selection(browser, served.address, runs, selections, folder)
