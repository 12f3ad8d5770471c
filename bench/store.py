"""A lake in an object store on this machine, and the same lake in a folder, alternately."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
from pyarrow.fs import LocalFileSystem, copy_files

from app.serve.memory import keep_memory_small
from bench.lakes import write_bench_lake
from bench.report import Measurement, quantile
from bench.served import serve
from bench.server_side import measure_server
from bench.store_servers import BUCKET, Proxy, credentials, proxy, store_server
from bench.timeline import RUN_SECONDS, SHARES, Windows, make_lake, serve_windows, timed_ms
from data.file_cache import FOLDER_VARIABLE
from data.lake_place import LakePath, StorePath
from data.object_store import file_system

_SEED: Final = 1
# Goals: filter changes as fast as on a folder, windows at most three times as slow.
FILTER_LIMIT: Final = 1.1
WINDOW_LIMIT: Final = 3.0
REQUESTS_LIMIT: Final = 24
BYTES_LIMIT_MB: Final = 8.0


def measure(
    kind: str, zooms: int, changes: int, runs: int, seconds: float = RUN_SECONDS
) -> Iterator[Measurement]:
    """Make both lakes, copy them into a store, and compare.

    Args:
        kind: Name of the store, as in `store_server`.
        zooms: Windows of each share of a run.
        changes: Number of filter changes; 0 skips Explore.
        runs: Rows of Explore's lake.
        seconds: Length of the timeline's run.
    """
    keep_memory_small()  # as the app does
    with (
        tempfile.TemporaryDirectory(prefix="wattlas-bench-") as name,
        store_server(kind) as address,
        proxy(address) as counting,
    ):
        folder = Path(name)
        local = make_lake(folder / "timeline", seconds, 1)
        with _environment(address, folder):
            there = _copied(local)
            servers = {"": serve_windows(local), "store_": serve_windows(there)}
            yield from _windows(servers, zooms)
        with _environment(counting.address, folder):
            yield from _requests(serve_windows(there), counting, zooms)
        if changes:
            with _environment(address, folder):
                yield from _explore(write_bench_lake(folder / "explore", runs), folder, changes)


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
    system, place = file_system(there)
    copy_files(str(lake), place, source_filesystem=LocalFileSystem(), destination_filesystem=system)
    return there


def _windows(servers: dict[str, Windows], zooms: int) -> Iterator[Measurement]:
    all_ms: dict[str, list[float]] = {prefix: [] for prefix in servers}
    for server in servers.values():
        server.ask(1, 1.0, Random(0))  # opens the files
    for share in SHARES:
        found: dict[str, list[float]] = {prefix: [] for prefix in servers}
        for zoom in range(zooms):
            for prefix, server in servers.items():
                found[prefix].append(timed_ms(server, share, Random(zoom))[0])
        for prefix, taken in found.items():
            name = f"{prefix}window_{100 * share:g}%"
            yield Measurement(f"{name}_median", float(np.median(taken)), "ms", zooms)
            yield Measurement(f"{name}_p95", quantile(taken, 0.95), "ms", zooms)
            all_ms[prefix] += taken
    here_ms, there_ms = (quantile(taken, 0.95) for taken in all_ms.values())
    count = zooms * len(SHARES)
    yield Measurement("window_p95", here_ms, "ms", count)
    yield Measurement("store_window_p95", there_ms, "ms", count)
    yield Measurement("window_p95_store_by_folder", there_ms / here_ms, "x", count, WINDOW_LIMIT)


def _requests(server: Windows, counting: Proxy, zooms: int) -> Iterator[Measurement]:
    """Count the requests to the store for further windows of an open run."""
    server.ask(1, 1.0, Random(0))
    requests: list[int] = []
    sent_mb: list[float] = []
    for share in SHARES:
        for zoom in range(zooms):
            counting.reset()
            server.ask(1, share, Random(zoom))
            requests.append(len(counting.requests))
            sent_mb.append(sum(request.sent for request in counting.requests) / 1e6)
    count = len(requests)
    yield Measurement("requests_a_window_mean", float(np.mean(requests)), "", count)
    yield Measurement("requests_a_window_max", max(requests), "", count, REQUESTS_LIMIT)
    yield Measurement("bytes_a_window_mean", float(np.mean(sent_mb)), "MB", count)
    yield Measurement("bytes_a_window_max", max(sent_mb), "MB", count, BYTES_LIMIT_MB)


def _explore(local: Path, folder: Path, changes: int) -> Iterator[Measurement]:
    there = _copied(local)
    with (
        serve(local, folder / "here.log") as here,
        serve(there, folder / "there.log") as stored,
    ):
        lakes: dict[str, LakePath] = {"": local, "store_": there}
        found = {
            one.name: one for one in measure_server({"": here, "store_": stored}, lakes, changes)
        }
    for name, one in found.items():
        if "filter_change" in name:
            yield replace(one, limit=None)
    by_folder = found["store_filter_change_median"].value / found["filter_change_median"].value
    yield Measurement("filter_change_store_by_folder", by_folder, "x", changes, FILTER_LIMIT)
