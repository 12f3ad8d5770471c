"""Many visitors at once: locust replays the requests of Chromium on all pages.

The generator and the server share the machine.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Request
from playwright.sync_api import Page as Tab

from app.pages import PAGES
from bench.in_browser import chromium, new_page, wait_quiet
from bench.report import Measurement
from bench.served import ROOT, Served, serve

MEDIAN_MS: Final = 250.0
P95_MS: Final = 1000.0
MEMORY_MB: Final = 600.0
GROWTH: Final = 0.05
_POLL_S: Final = 2.0
# The headers of a browser that the server reads.
_HEADERS: Final = ("accept", "accept-encoding", "content-type")
_CHIPS: Final = 3


class Recording:
    """The requests of a browser tab, by action."""

    def __init__(self, tab: Tab) -> None:
        self._requests: list[dict[str, Any]] = []
        tab.on("request", self._note)

    def take(self) -> list[dict[str, Any]]:
        """Return the requests since the last call."""
        requests, self._requests = self._requests, []
        return requests

    def _note(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if not parts.scheme.startswith("http"):
            return
        body = request.post_data_buffer
        headers = {k: v for k, v in request.headers.items() if k in _HEADERS}
        self._requests.append(
            {
                "method": request.method,
                "path": f"{parts.path}?{parts.query}" if parts.query else parts.path,
                "name": parts.path,
                "body": b64encode(body).decode() if body else "",
                "headers": {**headers, "accept-encoding": "gzip, br"},
            }
        )


def record(address: str, moves: int) -> dict[str, Any]:
    """Perform visitors' actions on each page in Chromium, and return the requests.

    Args:
        moves: Most actions on each page.

    Returns:
        `first_load`: requests of a new browser; `actions`: requests of each action, in order.
    """
    with chromium() as browser:
        tab = new_page(browser)
        recording = Recording(tab)
        tab.goto(address)
        _wait(tab)
        first, actions = recording.take(), []
        for page in PAGES:
            tab.get_by_role("link", name=page.title, exact=True).first.click()
            _wait(tab)
            actions.append(recording.take())
            for _ in islice(_moves(tab), moves):
                _wait(tab)
                actions.append(recording.take())
    return {"first_load": first, "actions": [action for action in actions if action]}


def _moves(tab: Tab) -> Iterator[None]:
    """Filter, open an explanation, download rows."""
    chips = tab.locator(".facet .mantine-Chip-label:visible")
    for number in range(min(_CHIPS, chips.count())):
        for _ in range(2):
            chips.nth(number).click()
            yield
    for panel in tab.locator("main section[data-view]:visible").all()[:2]:
        _choose(panel, "How was this computed")
        yield
        tab.keyboard.press("Escape")
        with tab.expect_download(timeout=60_000):
            _choose(panel, "Data as CSV")
        yield


def _choose(panel: Locator, entry: str) -> None:
    panel.scroll_into_view_if_needed()
    panel.get_by_label("menu of ").click()
    panel.page.get_by_role("menuitem", name=entry, exact=True).click()


def _wait(tab: Tab) -> None:
    tab.wait_for_function("() => window.wattlas && wattlas.isIdle()", timeout=60_000)
    wait_quiet(tab)


class Memory:
    """Records a worker's resident memory in MB, with seconds since the start."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._observed: list[tuple[float, float]] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Record until the block ends."""
        done, began = threading.Event(), time.monotonic()

        def watch() -> None:
            while not done.wait(_POLL_S):
                self._observed.append((time.monotonic() - began, self._served.worker_mb()))

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    @property
    def peak_mb(self) -> float:
        """The highest observation."""
        return max(mb for _, mb in self._observed)

    def growth(self) -> float:
        """Growth of the mean from the tenth after half of the time to the last tenth, a share."""
        end = self._observed[-1][0]
        half = [mb for second, mb in self._observed if second >= end / 2]
        fifth = max(1, len(half) // 5)
        return sum(half[-fifth:]) / sum(half[:fifth]) - 1


def measure(
    users: int, minutes: float, lake: Path | None, moves: int, apart: bool, server_python: str
) -> Iterator[Measurement]:
    """Replay on a lake; without one, make a small sample first.

    Args:
        moves: Most actions on each page.
        apart: Whether visitors ask differently, so that they share no cached response.
        server_python: The interpreter of the server, which has only the production packages.

    Raises:
        RuntimeError: locust failed, or an ingest did.
    """
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as folder:
        path = lake or write_sample(Path(folder))
        with serve(path, Path(folder) / "app.log", server_python) as served:
            recording = Path(folder) / "recording.json"
            recording.write_text(json.dumps(record(served.address, moves)))
            memory = Memory(served)
            with memory.watched():
                totals = _replay(served, recording, users, minutes, apart)
            yield from _measurements(totals, memory)


def write_sample(folder: Path) -> Path:
    """Write the small sample, add it to a lake, and return the lake."""
    raw, lake = str(folder / "raw"), folder / "lake"
    for arguments in (["sample", raw, "--size", "small"], ["add", raw, "--lake", str(lake)]):
        command = [sys.executable, "-m", "ingest", *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr}")
    return lake


def _replay(
    served: Served, recording: Path, users: int, minutes: float, is_apart: bool
) -> dict[str, Any]:
    """Run locust; return the row of its table that has all requests, and the users' counts."""
    out = recording.with_name("locust")
    command = [
        sys.executable, "-m", "locust", "-f", str(ROOT / "bench" / "load_users.py"), "--headless",
        "--host", served.address, "--users", str(users), "--spawn-rate", "5", "--run-time",
        f"{minutes * 60:.0f}s", "--stop-timeout", "60", "--csv", str(out), "--only-summary",
        "--exit-code-on-error", "0",
    ]  # fmt: skip
    env = {**os.environ, "WATTLAS_LOAD": str(recording)}
    if is_apart:
        env["WATTLAS_LOAD_APART"] = "1"
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"locust ended with {done.returncode}: {done.stderr[-2000:]}")
    with out.with_name("locust_stats.csv").open() as file:
        (row,) = (row for row in csv.DictReader(file) if row["Name"] == "Aggregated")
    with out.with_name("locust_failures.csv").open() as file:
        for failure in csv.DictReader(file):
            print(failure, file=sys.stderr)
    return {**row, **json.loads(recording.with_name("counts").read_text())}


def _measurements(totals: dict[str, Any], memory: Memory) -> Iterator[Measurement]:
    n = int(totals["Request Count"])
    rate = float(totals["Requests/s"])
    yield Measurement("load_requests", rate, "1/s", n)
    yield Measurement("load_kept", totals["kept"] / n, "", n)
    yield Measurement("load_asked_again", totals["again"], "", n)
    yield Measurement("load_failures", float(totals["Failure Count"]), "", n, 0)
    yield Measurement("load_median", float(totals["50%"]), "ms", n, MEDIAN_MS)
    yield Measurement("load_p95", float(totals["95%"]), "ms", n, P95_MS)
    yield Measurement("load_max", float(totals["100%"]), "ms", n)
    yield Measurement("load_worker_memory", memory.peak_mb, "MB", 1, MEMORY_MB)
    yield Measurement("load_memory_growth", memory.growth(), "", 1, GROWTH)
