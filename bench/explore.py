"""Explore on a big lake: filter change, first load, selection, memory."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.declared import DECLARED_LIMIT
from bench.in_browser import chromium, measure_first_load, measure_selection
from bench.lakes import write_bench_lake
from bench.report import Measurement
from bench.served import serve
from bench.server_side import measure_functions, measure_server

_COMPARED = (
    "compute_all_cpu_mean", "filter_change_median", "filter_change_cpu_mean", "first_load_median",
)  # fmt: skip


def measure(
    runs: int, changes: int, loads: int, selections: int, lake: Path | None = None
) -> Iterator[Measurement]:
    """Measure all parts, alternately on lakes without and with 20 declared columns.

    A count of 0 skips a part. Names of measurements on the second lake begin with `declared_`.

    Args:
        runs: Rows of the lake.
        changes: Filter changes.
        loads: First loads of the page.
        selections: Selections in each picture.
        lake: A lake of `write_bench_lake`; None writes one.
    """
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as name:
        folder = Path(name)
        lakes = {
            "": lake or write_bench_lake(folder / "lake", runs),
            "declared_": write_bench_lake(folder / "declared", runs, is_declared=True),
        }
        found: dict[str, float] = {}
        for one in _measure(lakes, runs, changes, loads, selections, folder):
            found[one.name] = one.value
            yield one
        for name in _COMPARED:
            if name in found:
                ratio = found[f"declared_{name}"] / found[name]
                yield Measurement(f"declared_by_plain_{name}", ratio, "x", 1, DECLARED_LIMIT)


def _measure(
    lakes: dict[str, Path], runs: int, changes: int, loads: int, selections: int, folder: Path
) -> Iterator[Measurement]:
    if changes:
        yield from measure_functions(lakes, changes)
        with (
            serve(lakes[""], folder / "app.log") as plain,
            serve(lakes["declared_"], folder / "declared.log") as declared,
        ):
            yield from measure_server({"": plain, "declared_": declared}, lakes, changes)
    if loads or selections:
        with (
            serve(lakes[""], folder / "app.log") as plain,
            serve(lakes["declared_"], folder / "declared.log") as declared,
            chromium() as browser,
        ):
            addresses = {"": plain.address, "declared_": declared.address}
            if loads:
                yield from measure_first_load(browser, addresses, loads)
            if selections:
                for prefix, address in addresses.items():
                    found = measure_selection(browser, address, runs, selections, folder)
                    yield from (one.prefixed(prefix) for one in found)
