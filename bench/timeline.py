"""Time and size of Timeline's answers, on a run and on one ten times as long."""

import shutil
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from random import Random
from typing import Final

from flask.testing import FlaskClient

from app.kit.settings import Settings
from app.serve.memory import keep_memory_small
from app.server import create_app
from app.timeline.panels import PANELS
from bench.report import Measurement, p95_and_median, quantile
from bench.timeline_browser import measure_browser
from data.connection import open_lake
from data.lake_place import LakePath
from ingest.pipeline import AddOptions, add
from ingest.sample.plan import Run
from ingest.sample.writer import measure_run, write_run

SHARES: Final = (1.0, 0.25, 0.05, 0.01, 0.001)
WIDTH: Final = 1000
SERVER_LIMIT_MS: Final = 25.0
GROWTH_LIMIT: Final = 1.3
BYTES_LIMIT_KB: Final = 300.0
RUN_SECONDS: Final = 18.5
_LONGER: Final = 10
MOST_RUNS: Final = 6
_SEED: Final = 1


def measure(zooms: int, no_long: bool, browser: int, folder: Path | None) -> Iterator[Measurement]:
    """Make the lakes, ask for windows at random positions, and yield the measurements.

    Args:
        zooms: Number of windows of each share of the run.
        no_long: Whether to leave out the run ten times as long.
        browser: Openings and zooms in Chromium.
        folder: Folder of the lakes, which may exist already; None for a temporary one.
    """
    keep_memory_small()  # as the app does
    with _folder(folder) as work:
        lake = make_lake(work / "lake", RUN_SECONDS, MOST_RUNS)
        server = serve_windows(lake)
        p95_ms = yield from _zooms(server, "run", zooms)
        yield from _bytes(server, zooms)
        if not no_long:
            longer = serve_windows(make_lake(work / "long", RUN_SECONDS * _LONGER, 1))
            longer_ms = yield from _zooms(longer, "long", zooms)
            yield Measurement("long_by_run", longer_ms / p95_ms, "x", 2, GROWTH_LIMIT)
        if browser:
            yield from measure_browser(lake, browser)


@contextmanager
def _folder(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as name:
        yield Path(name)


def make_lake(lake: Path, seconds: float, runs: int) -> Path:
    """Ingest runs of 16 core logs of the sample model, unless the lake exists.

    The raw logs are removed afterwards.
    """
    if (lake / "runs").is_dir():
        return lake
    raw = lake.with_name(f"{lake.name}-raw")
    raw.mkdir(parents=True)
    (raw / "wattlas.toml").write_text('[dataset]\nname = "synthetic-bench"\nsynthetic = true\n')
    for replicate in range(runs):
        run = Run("memcached", "linux_tuned", 50, 2.9, 135, 600_000, replicate, seconds, True)
        rng = run.generator(_SEED)
        write_run(raw, run, measure_run(run, rng), rng)
    report = add(AddOptions(lake, [raw]))
    if report.problems:
        raise RuntimeError(f"BUG: the input has problems: {report.problems[0]}")
    shutil.rmtree(raw)
    return lake


@dataclass(frozen=True, slots=True)
class Windows:
    """The app on a lake in this process, so that times do not include a network."""

    client: FlaskClient
    run_ids: list[str]
    length_s: float
    interrupts: int

    def ask(self, runs: int, share: float, rng: Random) -> int:
        """Ask for a window of a share of the runs at a random position, with all panels and cores.

        Returns:
            Bytes of the answer, compressed as the app compresses it.
        """
        begin = rng.uniform(0, 1 - share) * self.length_s
        query = {
            "runs": self.run_ids[:runs],
            "from": f"{begin:.9f}",
            "to": f"{begin + share * self.length_s:.9f}",
            "width": WIDTH,
            "panels": ",".join(PANELS),
            "heat": "interrupts",
        }
        takes = {"Accept-Encoding": "br"}
        answer = self.client.get("/timeline/window", query_string=query, headers=takes)
        if answer.status_code != HTTPStatus.OK:
            raise RuntimeError(f"BUG: {answer.status}: {answer.text[:200]}")
        return len(answer.data)


def serve_windows(lake: LakePath) -> Windows:
    """Start the app on a lake, in this process."""
    with open_lake(lake) as opened:
        rows = opened.sql(
            "SELECT run_id, duration_s, interrupts FROM runs WHERE has_log ORDER BY run_id"
        ).fetchall()
    client = create_app(Settings(lake)).server.test_client()
    return Windows(client, [row[0] for row in rows], rows[0][1], rows[0][2])


def _zooms(server: Windows, name: str, zooms: int) -> Generator[Measurement, None, float]:
    """Yield the times of one run's zooms; the generator returns the p95 of processor time, ms.

    The limit applies to wall-clock time. The growth is that of processor time, which other load on
    the machine hardly affects.
    """
    yield Measurement(f"{name}_interrupts", server.interrupts / 1e6, "M", 1)
    server.ask(1, 1.0, Random(0))  # opens the files
    rng = Random(_SEED)
    all_wall_ms: list[float] = []
    all_busy_ms: list[float] = []
    for share in SHARES:
        taken = [timed_ms(server, share, rng) for _ in range(zooms)]
        wall_ms, busy_ms = ([times[at] for times in taken] for at in (0, 1))
        percent = f"{name}_{100 * share:g}%"
        yield from p95_and_median(percent, wall_ms)
        yield Measurement(f"{percent}_cpu_median", quantile(busy_ms, 0.5), "ms", zooms)
        all_wall_ms += wall_ms
        all_busy_ms += busy_ms
    limit_ms = SERVER_LIMIT_MS if name == "run" else None
    count = len(all_wall_ms)
    yield Measurement(f"{name}_p95", quantile(all_wall_ms, 0.95), "ms", count, limit_ms)
    yield Measurement(f"{name}_cpu_p95", quantile(all_busy_ms, 0.95), "ms", count)
    return quantile(all_busy_ms, 0.95)


def timed_ms(server: Windows, share: float, rng: Random) -> tuple[float, float]:
    """Return wall-clock time and processor time of one answer, ms."""
    began, busy = time.perf_counter(), time.process_time()
    server.ask(1, share, rng)
    return (time.perf_counter() - began) * 1e3, (time.process_time() - busy) * 1e3


def _bytes(server: Windows, zooms: int) -> Iterator[Measurement]:
    """Yield the bytes of an answer, for one run and for the most runs that a page shows."""
    rng, each = Random(_SEED), max(zooms // 10, 2)
    for name, runs in (("one_run", 1), ("six_runs", len(server.run_ids))):
        kb = [server.ask(runs, share, rng) / 1e3 for share in SHARES for _ in range(each)]
        yield Measurement(f"bytes_{name}_max", max(kb), "kB", len(kb), BYTES_LIMIT_KB)
