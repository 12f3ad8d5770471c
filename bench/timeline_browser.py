"""Timeline in Chromium: time from a click in Explore to the page, from a zoom to its figure."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

from playwright.sync_api import Page

from bench.in_browser import chromium, new_page, wait_quiet
from bench.report import Measurement, p95_and_median
from bench.served import serve

OPEN_LIMIT_MS: Final = 1500.0
ZOOM_LIMIT_MS: Final = 300.0
RUNS: Final = 4
_SEED: Final = 5
_EXPLORE: Final = "?v=2&workload=memcached&rep=runs"
_EXPLORE_DRAWN: Final = "() => probe.firstScatter !== null && wattlas.explore.columns"
# The runs of the lake are replicates with overlapping points, which no box separates.
_SELECT: Final = """(count) => {
  const { columns } = wattlas.explore, names = [...columns.configuration, "replicate"];
  const run = (_, i) => wattlas.configuration(columns, i, names);
  wattlas.explore.select(wattlas.clause.knobs(Array.from({ length: count }, run)));
}"""
_TIMELINE_DRAWN: Final = """(count) => wattlas.timeline.page.answer
  && wattlas.timeline.page.answer.runs.length === count && !wattlas.timeline.isBusy()
  && document.querySelector("#timeline-sizes.js-plotly-plot")"""
_AREA: Final = """() => {
  const gd = wattlas.timeline.plot(), box = gd.getBoundingClientRect(), size = gd._fullLayout._size;
  return [box.left + size.l, box.top + size.t, size.w, size.h];
}"""


def measure_browser(lake: Path, repeats: int) -> Iterator[Measurement]:
    """Open four runs from Explore and zoom, each several times."""
    with (
        tempfile.TemporaryDirectory(prefix="wattlas-bench-") as work,
        serve(lake, Path(work) / "app.log") as served,
        chromium() as browser,
    ):
        page = new_page(browser)
        page.goto(f"{served.address}/{_EXPLORE}")
        opened_ms = [_open(page) for _ in range(repeats + 1)]
        yield Measurement("open_four_runs_first", opened_ms[0], "ms", 1)
        yield from p95_and_median("open_four_runs", opened_ms[1:], median_limit=OPEN_LIMIT_MS)
        page.locator("#tab-timeline").click()
        _wait_drawn(page)
        chance = Random(_SEED)
        zoomed_ms = [_zoom(page, chance) for _ in range(repeats)]
        yield from p95_and_median("zoom", zoomed_ms, median_limit=ZOOM_LIMIT_MS)
        pressed_ms = [_press(page) for _ in range(repeats)]
        yield from p95_and_median("zoom_by_key", pressed_ms, median_limit=ZOOM_LIMIT_MS)


def _open(page: Page) -> float:
    """Click "timeline" at four selected points; return the time to the last paint, ms.

    Then go back to Explore.
    """
    page.wait_for_function(_EXPLORE_DRAWN, timeout=60_000)
    wait_quiet(page)
    page.evaluate(_SELECT, RUNS)
    wait_quiet(page)
    page.locator("#selected-timeline").click()
    taken = _taken(page)
    page.evaluate("() => probe.firstScatter = null")
    page.locator("#tab-explore").click()
    return taken


def _zoom(page: Page, chance: Random) -> float:
    """Drag over a part of the run; return the time from mouse-up to the last paint, ms."""
    page.keyboard.press("Home")
    _wait_drawn(page)
    left, top, width, height = page.evaluate(_AREA)
    share = chance.choice((0.25, 0.05, 0.01))
    start = left + chance.uniform(0, 1 - share) * width
    page.mouse.move(start, top + height / 2)
    page.mouse.down()
    page.mouse.move(start + max(share * width, 6), top + height / 2, steps=4)
    wait_quiet(page, 200)
    page.mouse.up()
    return _taken(page)


def _press(page: Page) -> float:
    """Press +; return the time from the key to the last paint, ms."""
    page.evaluate("probe.from = performance.now(); probe.paintedAt = 0")
    page.keyboard.press("+")
    return _taken(page)


def _taken(page: Page) -> float:
    page.wait_for_function("() => probe.paintedAt > probe.from", timeout=60_000)
    _wait_drawn(page)
    taken: Any = page.evaluate("probe.paintedAt - probe.from")
    return float(taken)


def _wait_drawn(page: Page) -> None:
    page.wait_for_function(_TIMELINE_DRAWN, arg=RUNS, timeout=60_000)
    wait_quiet(page)
