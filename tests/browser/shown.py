"""The content of a page as facts that do not depend on its wording, the same for each page."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

_SHOWN = Path(__file__).with_name("shown.js").read_text("utf-8").split("*/", 1)[1]


def read_shown(page: Page) -> dict[str, Any]:
    """Read the facts that the shown page has; the page must be idle.

    Returns:
        Path, numbers of runs, selection, runs and window of the timeline, numbers of the evidence,
        settings, pinned version of the lake. For each view with a plot: axis titles, ranges,
        selected points, dimmed cells and marks. For other views: their numbers.
    """
    found: dict[str, Any] = page.evaluate(_SHOWN)
    return found
