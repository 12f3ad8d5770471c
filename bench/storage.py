"""Storage on many configurations: time from a change to figures, from a selection to a paint."""

import tempfile
import time
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any, Final

import orjson
from playwright.sync_api import Page

from app.kit.lake_view import LakeView
from app.storage.answer import answer
from app.storage.layout import IDS, PICTURES
from app.storage.state import StorageState
from app.storage.views import VIEWS
from bench.answers import measure_callback, measure_functions
from bench.callbacks import OneCallback
from bench.in_browser import chromium
from bench.lakes import ACCESSES, DEVICES, MODES, write_storage_lake
from bench.report import Measurement, quantile
from bench.served import Served, serve

SELECTION_LIMIT_MS: Final = 300.0
_QUESTIONS: Final = 30
_BASE: Final[dict[str, Any]] = {"dataset": ["bench"], "err": "ci"}
_IS_DRAWN: Final = """(count) => window.wattlas && wattlas.storage && !wattlas.storage.isBusy()
  && Object.keys(wattlas.storage.figures).length === count
  && Object.keys(wattlas.storage.figures).every((name) => wattlas.storage.plot(name))"""
# From the selection to the second frame after it, when visible figures are painted.
_SELECT: Final = """(clause) => new Promise((done) => {
  const start = performance.now();
  wattlas.storage.select(clause);
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const seen = performance.now() - start;
    const wait = () => (wattlas.storage.isBusy() ? setTimeout(wait, 1)
      : requestAnimationFrame(() => done([seen, performance.now() - start])));
    wait();
  }));
})"""


def measure(sizes: int, depths: int, replicates: int, selections: int) -> Iterator[Measurement]:
    """Measure on a lake of sizes x depths of three modes, accesses and devices."""
    states = {"filters": _new_filters(depths), "place": _new_places(sizes)}
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as folder:
        lake = write_storage_lake(Path(folder) / "lake", sizes, depths, replicates)
        configurations = len(DEVICES) * len(MODES) * len(ACCESSES) * sizes * depths
        yield Measurement("storage_runs", configurations * replicates, "", 1)
        yield Measurement("storage_configurations", configurations, "", 1)
        yield from measure_functions("storage", lake, states, _answer)
        with serve(lake, Path(folder) / "app.log") as served:
            callback = OneCallback(served.port, PICTURES, IDS)
            yield from measure_callback("storage", served, callback, _BASE, states)
            if selections:
                yield from _in_browser(served, selections)


def _new_filters(depths: int) -> list[dict[str, Any]]:
    """Return states that each leave out another depth, so that the app reads the lake again."""
    others = [[f"{d}" for d in range(1, depths + 1) if d != out] for out in range(1, depths + 1)]
    modes = [list(MODES), *([m for m in MODES if m != out] for out in MODES)]
    pairs = islice(product(modes, others), _QUESTIONS)
    return [{**_BASE, "mode": mode, "depth": depth} for mode, depth in pairs]


def _new_places(sizes: int) -> list[dict[str, Any]]:
    """Return states with another device, access, size or error bar; the rows are in memory."""
    bytes_each = [f"{4096 * (size + 1)}" for size in range(sizes)]
    places = islice(product(bytes_each, ACCESSES, DEVICES, ("ci", "sd")), _QUESTIONS)
    return [{**_BASE, "at": d, "access": a, "size": s, "err": e} for s, a, d, e in places]


def _answer(view: LakeView, raw: dict[str, Any]) -> bytes:
    content = answer(view, StorageState.from_json(raw, view.catalogue))
    parts = [content.figures, content.configurations]
    return orjson.dumps(parts, option=orjson.OPT_SERIALIZE_NUMPY)


def _in_browser(served: Served, selections: int) -> Iterator[Measurement]:
    """Measure selections by mode and by configuration, which send no request."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        start = time.perf_counter()
        page.goto(f"{served.address}/storage")
        page.wait_for_function(_IS_DRAWN, arg=len(VIEWS), timeout=120_000)
        all_drawn_ms = (time.perf_counter() - start) * 1e3
        yield Measurement("storage_page_drawn", all_drawn_ms, "ms", 1)
        seen, whole = zip(*_selections(page, selections), strict=True)
    n = len(seen)
    limit = SELECTION_LIMIT_MS
    yield Measurement("storage_selection_seen_median", quantile(seen, 0.5), "ms", n, limit)
    yield Measurement("storage_selection_seen_max", max(seen), "ms", n)
    yield Measurement("storage_selection_all_median", quantile(whole, 0.5), "ms", n)


def _selections(page: Page, count: int) -> Iterator[tuple[float, float]]:
    clauses = [f'knobs~{{"mode":"{mode}","io_depth":{d}}}' for d in range(1, 99) for mode in MODES]
    for clause in clauses[:count]:
        seen, whole = page.evaluate(_SELECT, clause)
        yield seen, whole
