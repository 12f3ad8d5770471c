"""First load and selection in Chromium, compared with a page of Plotly only."""

import random
import re
import shutil
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright

from app.explore.state import ExploreState
from bench.bare_page import SHOWN, write_bare_page
from bench.report import Measurement, quantile
from data.selection import Selection

LOAD_LIMIT_MS: Final = 3000.0
PAINT_LIMIT_MS: Final = 500.0
FILES_LIMIT_MB: Final = 1.0
SELECTION_LIMIT_MS: Final = 300.0
BARE_LIMIT: Final = 1.5
SHOWN_POINTS: Final = 12_000

_PROBE: Final = (Path(__file__).parent / "probe.js").read_text("utf-8")
_QUIET_MS: Final = 600
_BEST_PLOTLY_BYTES: Final = 480_000
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
_VIEWS: Final = ("#best-table",)
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


def measure_first_load(
    browser: Browser, addresses: Mapping[str, str], loads: int
) -> list[Measurement]:
    """Load the page with an empty cache until its scatter is painted.

    Args:
        addresses: Addresses of apps by the prefix of their measurements; they alternate.
    """
    found: dict[str, list[dict[str, float]]] = {prefix: [] for prefix in addresses}
    for address in addresses.values():
        _wait_for_best_level(address)
    for _ in range(loads):
        for prefix, address in addresses.items():
            page = new_page(browser)
            page.goto(address)
            page.wait_for_function("() => probe.firstScatter !== null", timeout=60_000)
            found[prefix].append(page.evaluate(_LOADED))
            page.context.close()
    return [
        one.prefixed(prefix) for prefix, some in found.items() for one in _load_measurements(some)
    ]


def _load_measurements(found: list[dict[str, float]]) -> list[Measurement]:
    times, loads = [one["picture"] for one in found], len(found)
    return [
        Measurement("first_load_median", median(times), "ms", loads,
                    LOAD_LIMIT_MS),
        Measurement("first_load_max", max(times), "ms", loads),
        Measurement("first_paint", median(one["paint"] for one in found), "ms", loads,
                    PAINT_LIMIT_MS),
        Measurement("first_load_bytes", median(one["files"] for one in found) / 1e6, "MB", loads,
                    FILES_LIMIT_MB),
        Measurement("first_load_data", median(one["data"] for one in found) / 1e6, "MB", loads),
    ]  # fmt: skip


def _wait_for_best_level(address: str) -> None:
    """Wait until the app has compressed plotly.js, the last script, at the best level."""
    with urllib.request.urlopen(address) as answer:
        plotly = re.search(r'src="([^"]+plotly[^"]+)"', answer.read().decode())
    if not plotly:
        raise RuntimeError("the first page does not load plotly.js")
    request = urllib.request.Request(address + plotly[1], headers={"Accept-Encoding": "br"})
    for _ in range(600):
        with urllib.request.urlopen(request) as answer:
            if len(answer.read()) < _BEST_PLOTLY_BYTES:
                return
        time.sleep(0.5)
    raise RuntimeError("plotly.js was not compressed at the best level within five minutes")


def measure_selection(
    browser: Browser, address: str, lake_runs: int, repeats: int, folder: Path
) -> list[Measurement]:
    """Drag boxes in scatter and heatmap, alternately in Explore and in the reference page."""
    atlas = new_page(browser)
    atlas.goto(f"{address}/?{crowded_state(lake_runs).to_query()}")
    drawn = "() => probe.firstScatter !== null && wattlas.explore.view.points"
    atlas.wait_for_function(drawn, timeout=60_000)
    wait_quiet(atlas)
    shown = atlas.evaluate(SHOWN)
    bare = new_page(browser)
    bare.goto(write_bare_page(folder, shown).as_uri())
    bare.wait_for_function("() => window.bare && bare.ready", timeout=60_000)
    atlas.evaluate("(views) => probe.watch(views)", list(_VIEWS))
    atlas.evaluate(_PROBE_HIGHLIGHT)
    bare.evaluate("probe.watch(['#table'])")
    count = sum(len(trace["x"]) for trace in shown["traces"])
    found = [Measurement("selection_points", count, "", 1)]
    for view in _BOXES:
        found += _compare(view, atlas, bare, repeats)
    return found


def crowded_state(lake_runs: int) -> ExploreState:
    """Return a state that shows about 12,000 runs of a bench lake of 100,000 runs as points."""
    dvfs = [round(0.1 * step, 1) for step in range(12, 28)]
    chosen = Selection.of(
        dataset=["synthetic-bench"], workload=["memcached"], load=[200_000.0],
        dvfs=[*dvfs, 2.8] if lake_runs >= 100_000 else [],
    )  # fmt: skip
    return ExploreState(chosen, replicates="runs")


def _compare(view: str, atlas: Page, bare: Page, repeats: int) -> list[Measurement]:
    chance = random.Random(_SEED)
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(repeats + 1):
        box = _box(view, chance)
        mine = _time_box(atlas, view, box, "wattlas.explore.select('')")
        yardstick = _time_box(bare, view, box, "bare.clear()")
        if turn:
            ours.append(mine)
            theirs.append(yardstick)
    name = f"selection_{view}"
    return [
        Measurement(f"{name}_median", median(ours), "ms", repeats, SELECTION_LIMIT_MS),
        Measurement(f"{name}_p95", quantile(ours, 0.95), "ms", repeats),
        Measurement(f"{name}_bare_median", median(theirs), "ms", repeats),
        Measurement(f"{name}_ratio", median(ours) / median(theirs), "x", repeats,
                    BARE_LIMIT),
    ]  # fmt: skip


def _box(view: str, chance: random.Random) -> tuple[float, float, float, float]:
    left, top, right, bottom = _BOXES[view]
    width = (right - left) * chance.uniform(0.3, 0.8)
    height = (bottom - top) * chance.uniform(0.3, 0.8)
    x, y = chance.uniform(left, right - width), chance.uniform(top, bottom - height)
    return x, y, x + width, y + height


def _time_box(page: Page, view: str, box: tuple[float, ...], clear: str) -> float:
    """Drag a box and clear it; return the time from mouse-up to the last paint, ms."""
    page.bring_to_front()
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
    page.evaluate(clear)
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
