"""What a page shows, in facts that no rewording changes: the same for every page."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

_SHOWN = Path(__file__).with_name("shown.js").read_text("utf-8").split("*/", 1)[1]


def read_shown(page: Page) -> dict[str, Any]:
    """The facts that the page on the screen shows; the page must be idle.

    Returns:
        Path, counts of runs, what is selected, runs and window of the timeline, the numbers of the
        evidence, what is switched on, the pinned version of the lake; of each view with a plot its
        axis titles, ranges, selected points, veiled cells and marks, of others their numbers.
    """
    found: dict[str, Any] = page.evaluate(_SHOWN)
    return found
