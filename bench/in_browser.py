"""First load and selection in Chromium."""

import random
import re
import shutil
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright

from app.explore.state import ExploreState
from bench.report import Measurement, p95_and_median
from data.selection import Selection

LOAD_LIMIT_MS: Final = 3000.0
PAINT_LIMIT_MS: Final = 500.0
FILES_LIMIT_MB: Final = 1.0
SELECTION_LIMIT_MS: Final = 300.0

_PROBE: Final = (Path(__file__).parent / "probe.js").read_text("utf-8")
_QUIET_MS: Final = 600
# All responses but those of callbacks; the browser fetches icons later.
_LOADED: Final = """() => {
  const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  const isData = (entry) => entry.name.includes("_dash-update-component");
  const bytes = (some) => some.reduce((sum, entry) => sum + entry.transferSize, 0);
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return {
    picture: probe.firstScatter, paint: paint ? paint.startTime : probe.firstScatter,
    files: bytes(all.filter((entry) => !isData(entry))), data: bytes(all.filter(isData)),
  };
}"""  # noqa: E501
_SEED: Final = 3
# Bounds of a box: left, top, right, bottom as shares of the plotting area.
_BOXES: Final = {"scatter": (0.02, 0.25, 0.55, 0.95), "heatmap": (0.05, 0.05, 0.9, 0.9)}
_PROBE_HIGHLIGHT: Final = """() => {
  const { highlight } = wattlas;
  wattlas.highlight = (...asked) => {
    const drawn = highlight(...asked);
    probe.painted();
    return drawn;
  };
}"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium with software rendering."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-dev-shm-usage"],
        )
        yield browser
        browser.close()


def measure_first_load(browser: Browser, address: str, loads: int) -> Iterator[Measurement]:
    """Load the page with an empty cache until its scatter is painted."""
    check_compressed(address)
    observed: list[dict[str, float]] = []
    for _ in range(loads):
        page = new_page(browser)
        page.goto(address)
        page.wait_for_function("() => probe.firstScatter !== null", timeout=60_000)
        observed.append(page.evaluate(_LOADED))
        page.context.close()
    columns = {name: [each[name] for each in observed] for name in observed[0]}
    painted_ms, files_mb = median(columns["picture"]), median(columns["files"]) / 1e6
    yield Measurement("first_load_median", painted_ms, "ms", loads, LOAD_LIMIT_MS)
    yield Measurement("first_load_max", max(columns["picture"]), "ms", loads)
    yield Measurement("first_paint", median(columns["paint"]), "ms", loads, PAINT_LIMIT_MS)
    yield Measurement("first_load_bytes", files_mb, "MB", loads, FILES_LIMIT_MB)
    yield Measurement("first_load_data", median(columns["data"]) / 1e6, "MB", loads)


def check_compressed(address: str) -> None:
    """Refuse to measure an app whose scripts were not compressed in advance."""
    with urllib.request.urlopen(address) as answer:
        plotly = re.search(r'src="([^"]+plotly[^"]+)"', answer.read().decode())
    if not plotly:
        raise RuntimeError("the first page does not load plotly.js")
    request = urllib.request.Request(address + plotly[1], headers={"Accept-Encoding": "br"})
    with urllib.request.urlopen(request) as answer:
        if answer.headers["Content-Encoding"] != "br":
            raise RuntimeError("scripts are not compressed: run `python -m app compress`")


def measure_selection(
    browser: Browser, address: str, lake_runs: int, repeats: int
) -> Iterator[Measurement]:
    """Drag boxes in scatter and heatmap of Explore."""
    page = new_page(browser)
    page.goto(f"{address}/?{crowded_state(lake_runs).to_query()}")
    drawn = "() => probe.firstScatter !== null && wattlas.explore.columns"
    page.wait_for_function(drawn, timeout=60_000)
    wait_quiet(page)
    # The first frame is drawn before the page has its tables.
    page.wait_for_function(
        "() => wattlas.explore.columns && document.querySelector('#best-table')", timeout=60_000
    )
    wait_quiet(page)
    page.evaluate("probe.watch(['#best-table'])")
    page.evaluate(_PROBE_HIGHLIGHT)
    yield Measurement("selection_points", page.evaluate("wattlas.explore.columns.count"), "", 1)
    for view in _BOXES:
        chance = random.Random(_SEED)
        # The first box does not count.
        _, *times_ms = [_time_box(page, view, _box(view, chance)) for _ in range(repeats + 1)]
        yield from p95_and_median(f"selection_{view}", times_ms, median_limit=SELECTION_LIMIT_MS)


def crowded_state(lake_runs: int) -> ExploreState:
    """Return a state that shows about 12,000 runs of a bench lake of 100,000 runs as points."""
    dvfs = [round(0.1 * step, 1) for step in range(12, 28)]
    chosen = Selection.of(
        dataset=["synthetic-bench"], workload=["memcached"], load=[200_000.0],
        dvfs=[*dvfs, 2.8] if lake_runs >= 100_000 else [],
    )  # fmt: skip
    return ExploreState(chosen, replicates="runs")


def _box(view: str, chance: random.Random) -> tuple[float, float, float, float]:
    left, top, right, bottom = _BOXES[view]
    width = (right - left) * chance.uniform(0.3, 0.8)
    height = (bottom - top) * chance.uniform(0.3, 0.8)
    x, y = chance.uniform(left, right - width), chance.uniform(top, bottom - height)
    return x, y, x + width, y + height


def _time_box(page: Page, view: str, box: tuple[float, ...]) -> float:
    """Drag a box and clear it; return the time from mouse-up to the last paint, ms."""
    area: Any = page.locator(f"#{view} .nsewdrag").first.bounding_box()
    x0, y0, x1, y1 = (
        area[origin] + share * area[extent]
        for share, origin, extent in zip(box, "xyxy", ("width", "height") * 2, strict=True)
    )
    page.mouse.move(x0, y0)
    page.mouse.down()
    page.mouse.move((x0 + x1) / 2, (y0 + y1) / 2, steps=3)
    page.mouse.move(x1, y1, steps=3)
    wait_quiet(page, 200)
    page.mouse.up()
    page.wait_for_function("() => probe.paintedAt > probe.from", timeout=60_000)
    wait_quiet(page)
    taken = float(page.evaluate("probe.paintedAt - probe.from"))
    page.evaluate("wattlas.explore.select('')")
    wait_quiet(page)
    return taken


def new_page(browser: Browser) -> Page:
    """Open a page of the design's size that records its paints."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.add_init_script(_PROBE)
    return page


def wait_quiet(page: Page, quiet_ms: int = _QUIET_MS) -> None:
    """Wait until the page has painted nothing for some time."""
    page.wait_for_function("(ms) => probe.isQuiet(ms)", arg=quiet_ms, timeout=60_000)
