"""A lake in an object store on this machine, and the same lake in a folder, alternately."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Final

from pyarrow.fs import LocalFileSystem, copy_files

from app.serve.memory import keep_memory_small
from bench.explore import measure_changes
from bench.lakes import write_network_lake
from bench.report import Measurement, p95_and_median, quantile
from bench.served import Served, serve
from bench.store_servers import BUCKET, best_store, credentials, store_server
from bench.timeline import RUN_SECONDS, SHARES, Windows, make_lake, serve_windows, timed_ms
from data.file_cache import FOLDER_VARIABLE
from data.lake_place import LakePath, StorePath
from data.object_store import file_system

_SEED: Final = 1
# Goals: filter changes as fast as on a folder, windows at most three times as slow.
FILTER_LIMIT: Final = 1.1
WINDOW_LIMIT: Final = 3.0


def measure(server: str | None, zooms: int, changes: int, runs: int) -> Iterator[Measurement]:
    """Make both lakes, copy them into a store, and compare.

    Args:
        server: Name of the store, as in `store_server`; None takes the fastest.
        zooms: Windows of each share of a run.
        changes: Number of filter changes; 0 skips Explore.
        runs: Rows of Explore's lake.
    """
    keep_memory_small()  # as the app does
    with (
        tempfile.TemporaryDirectory(prefix="wattlas-bench-") as name,
        store_server(server or best_store()) as address,
    ):
        folder = Path(name)
        local = make_lake(folder / "timeline", RUN_SECONDS, 1)
        with _environment(address, folder):
            servers = {"": serve_windows(local), "store_": serve_windows(_copied(local))}
            yield from _windows(servers, zooms)
            if changes:
                yield from _explore(write_network_lake(folder / "explore", runs), folder, changes)


@contextmanager
def _environment(address: str, folder: Path) -> Iterator[None]:
    """Configure a store and a new cache for this process and its children."""
    before = dict(os.environ)
    os.environ.update({**credentials(address), FOLDER_VARIABLE: str(folder / "cache")})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _copied(lake: Path) -> StorePath:
    there = StorePath(BUCKET, lake.name)
    system, target = file_system(there)
    copy_files(
        str(lake), target, source_filesystem=LocalFileSystem(), destination_filesystem=system
    )
    return there


def _windows(servers: dict[str, Windows], zooms: int) -> Iterator[Measurement]:
    all_ms: dict[str, list[float]] = {prefix: [] for prefix in servers}
    for server in servers.values():
        server.ask(1, 1.0, Random(0))  # opens the files
    for share in SHARES:
        times: dict[str, list[float]] = {prefix: [] for prefix in servers}
        for zoom in range(zooms):
            for prefix, server in servers.items():
                times[prefix].append(timed_ms(server, share, Random(zoom))[0])
        for prefix, taken in times.items():
            yield from p95_and_median(f"{prefix}window_{100 * share:g}%", taken)
            all_ms[prefix] += taken
    here_ms, there_ms = (quantile(taken, 0.95) for taken in all_ms.values())
    count = zooms * len(SHARES)
    yield Measurement("window_p95", here_ms, "ms", count)
    yield Measurement("store_window_p95", there_ms, "ms", count)
    yield Measurement("window_p95_store_by_folder", there_ms / here_ms, "x", count, WINDOW_LIMIT)


def _explore(local: Path, folder: Path, changes: int) -> Iterator[Measurement]:
    stored = _copied(local)
    medians = {}
    with (
        serve(local, folder / "folder.log") as app,
        serve(stored, folder / "store.log") as store_app,
    ):
        apps: dict[str, tuple[LakePath, Served]] = {
            "": (local, app),
            "store_": (stored, store_app),
        }
        for each in measure_changes(apps, changes):
            medians[each.name] = each.value
            yield each
    ratio = medians["store_filter_change_median"] / medians["filter_change_median"]
    yield Measurement("filter_change_store_by_folder", ratio, "x", changes, FILTER_LIMIT)
