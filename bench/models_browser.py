"""The page Models in Chromium: all curves of figure 7 after a step of a slider."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench.in_browser import chromium, new_page, wait_quiet
from bench.report import Measurement, quantile
from bench.served import serve

CURVES_LIMIT_MS: Final = 100.0
_DRAWN: Final = "() => wattlas.plot && wattlas.plot('models-throughput') && wattlas.isIdle()"
# One move of the slider: milliseconds until the curves are computed, and until they are painted.
_STEP: Final = """(value) => new Promise((done) => {
  const range = document.querySelector('input[type=range][data-control="service_us"]');
  const { models } = wattlas, frame = requestAnimationFrame;
  range.value = value;
  const start = performance.now();
  range.dispatchEvent(new Event("input", { bubbles: true }));
  models.curves().forEach(models.solved);
  const computed = performance.now() - start;
  frame(() => frame(() => done([computed, performance.now() - start])));
})"""
_RELEASE: Final = """() => document.querySelector('input[type=range][data-control="service_us"]')
  .dispatchEvent(new Event("change", { bubbles: true }))"""


def measure_slider(repeats: int) -> Iterator[Measurement]:
    """Move the slider of 1/mu to new values while all curves of figure 7 are shown."""
    with (
        tempfile.TemporaryDirectory(prefix="wattlas-bench-") as work,
        serve(Path(work) / "lake", Path(work) / "app.log") as served,
        chromium() as browser,
    ):
        page = new_page(browser)
        page.goto(f"{served.address}/models?fig=7")
        page.wait_for_function(_DRAWN, timeout=60_000)
        wait_quiet(page)
        found: list[list[float]] = []
        for repeat in range(repeats + 1):
            taken: Any = page.evaluate(_STEP, 5 + 0.1 * (repeat + 1))
            found.append(taken)
            wait_quiet(page, 200)
        page.evaluate(_RELEASE)
    computed, painted = zip(*found[1:], strict=True)
    middle = quantile(list(computed), 0.5)
    yield Measurement("models_slider_computed", middle, "ms", repeats, CURVES_LIMIT_MS)
    yield Measurement("models_slider_painted", quantile(list(painted), 0.5), "ms", repeats)
