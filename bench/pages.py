"""Every page in Chromium: the first picture on a slow line, with and without a cache; memory."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from playwright.sync_api import Browser, BrowserContext
from playwright.sync_api import Page as Tab

from app.pages import PAGES
from bench.in_browser import check_compressed, chromium
from bench.load import write_sample
from bench.report import Measurement
from bench.served import serve

COLD_LIMIT_S: Final = 4.0
WARM_LIMIT_S: Final = 0.8
HEAP_LIMIT: Final = 0.1
NODES_LIMIT: Final = 0.05
_BYTES_S: Final = 200_000
# What the visitor came for: a picture with ticks or a title, or the rows of a table or a list. It
# may be there before the page, which then draws its own.
_PICTURE: Final = """(() => {
  const drawn = ".js-plotly-plot :is(.gtitle, .xtick)";
  const texts = "table tbody tr, .findings-claims > li, .panel-tables li";
  const own = `#react-entry-point main :is(${drawn}, ${texts}, .nothing-to-show, .lake-body dl)`;
  const wait = (shown, name) => {
    const look = () => {
      const first = document.querySelector(shown);
      if (first) requestAnimationFrame(() => { window[name] = performance.now(); });
      else requestAnimationFrame(look);
    };
    look();
  };
  wait(`.first-page :is(${drawn}, ${texts}), ${own}`, "firstPicture");
  wait(own, "ownPicture");
})()"""
_BYTES: Final = """() => ["resource", "navigation"]
  .flatMap((kind) => performance.getEntriesByType(kind))
  .reduce((sum, one) => sum + one.transferSize, 0)"""


def measure(loads: int, turns: int, lake: Path | None) -> Iterator[Measurement]:
    """Load each page of a lake; without one, make a small sample first.

    Args:
        loads: Loads of each page with an empty cache, and with a filled one; 0 leaves out.
        turns: Rounds over all pages in one tab; 0 leaves out.
    """
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as name:
        folder = Path(name)
        path = lake or write_sample(folder)
        with serve(path, folder / "app.log") as served, chromium() as browser:
            check_compressed(served.address)
            for page in PAGES if loads else ():
                yield from _loads(browser, f"{served.address}{page.path}", page.name, loads)
            if turns:
                yield from _memory(browser, served.address, turns)


def _loads(browser: Browser, address: str, name: str, loads: int) -> Iterator[Measurement]:
    """Load a page so many times in new profiles, each time twice."""
    cold_s, warm_s, sizes, own_s = [], [], [], []
    for _ in range(loads):
        context = browser.new_context(viewport={"width": 1440, "height": 900}, bypass_csp=True)
        tab = _slow_tab(context)
        cold_s.append(_first_picture_s(tab, address))
        sizes.append(float(tab.evaluate(_BYTES)))
        own_s.append(float(tab.evaluate("window.ownPicture")) / 1e3)
        warm_s.append(_first_picture_s(tab, address))
        context.close()
    yield Measurement(f"{name}_cold_median", median(cold_s), "s", loads, COLD_LIMIT_S)
    yield Measurement(f"{name}_cold_max", max(cold_s), "s", loads)
    yield Measurement(f"{name}_cold_page_median", median(own_s), "s", loads)
    yield Measurement(f"{name}_cold_bytes", median(sizes) / 1e6, "MB", loads)
    yield Measurement(f"{name}_warm_median", median(warm_s), "s", loads, WARM_LIMIT_S)


def _slow_tab(context: BrowserContext) -> Tab:
    tab = context.new_page()
    tab.add_init_script(_PICTURE)
    line = {"offline": False, "latency": 20, "downloadThroughput": _BYTES_S,
            "uploadThroughput": _BYTES_S}  # fmt: skip
    session = context.new_cdp_session(tab)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", line)
    return tab


def _first_picture_s(tab: Tab, address: str) -> float:
    tab.goto(address, wait_until="commit")
    tab.wait_for_function("() => window.firstPicture", timeout=60_000)
    taken_s = float(tab.evaluate("window.firstPicture")) / 1e3
    _wait_idle(tab)
    return taken_s


def _wait_idle(tab: Tab) -> None:
    tab.wait_for_function("() => window.wattlas && wattlas.isIdle()", timeout=60_000)


def _memory(browser: Browser, address: str, turns: int) -> Iterator[Measurement]:
    """Go through all pages by their links, so many times; compare what is left each time."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, bypass_csp=True)
    tab = context.new_page()
    session = context.new_cdp_session(tab)
    tab.goto(address)
    _wait_idle(tab)
    used_mb, nodes, listeners = [], [], []
    for _ in range(turns):
        for page in PAGES:
            tab.get_by_role("link", name=page.title, exact=True).first.click()
            _wait_idle(tab)
        for _ in range(2):
            session.send("HeapProfiler.collectGarbage")
        used_mb.append(float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6)
        counters = session.send("Memory.getDOMCounters")
        nodes.append(int(counters["nodes"]))
        listeners.append(int(counters["jsEventListeners"]))
    # The first rounds fill caches.
    before = min(2, turns) - 1
    yield Measurement("pages_heap", used_mb[-1], "MB", 1)
    yield Measurement("pages_heap_growth", used_mb[-1] / used_mb[before] - 1, "", turns, HEAP_LIMIT)
    for name, counted in (("nodes", nodes), ("listeners", listeners)):
        growth = counted[-1] / counted[before] - 1
        yield Measurement(f"pages_{name}_growth", growth, "", turns, NODES_LIMIT)
    context.close()
