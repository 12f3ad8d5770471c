"""Actions of a user on Timeline, and what the user sees."""

import re
from pathlib import Path
from typing import Any

from tests.browser.atlas import Shown, wait_idle

_DRAWN = """() => window.wattlas && wattlas.timeline && wattlas.timeline.page.answer
  && document.querySelector("#timeline-figure.js-plotly-plot")
  && document.querySelector("#timeline-sizes.js-plotly-plot")
  && document.querySelector("#timeline-totals table")"""
_AREA = """() => {
  const gd = wattlas.timeline.plot(), box = gd.getBoundingClientRect(), size = gd._fullLayout._size;
  return [box.left + size.l, box.top + size.t, size.w, size.h];
}"""


class TimelinePage(Shown):
    """One timeline page in a browser."""

    NAME = "timeline"
    PATH = "/timeline"
    READY = _DRAWN

    def settle(self) -> None:
        """Wait until the answer for the window is painted."""
        wait_idle(self.page)

    def span(self) -> tuple[float, float]:
        """The visible window, in seconds."""
        found = self.page.evaluate("wattlas.timeline.span()")
        return found[0], found[1]

    def words(self) -> str:
        """The words of the visible window."""
        return self.page.locator("#timeline-span").inner_text()

    def said(self) -> str:
        """The text of the live region about the value at the cursor."""
        return self.page.locator("#timeline-value").inner_text()

    def cursor(self) -> tuple[float, float]:
        """Position of the cursor's dot in the window."""
        box = self.page.locator("#timeline-dot").bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def interrupt(self) -> tuple[int, float]:
        """Core and seconds of the interrupt at the cursor."""
        found = re.search(r"interrupt on core (\d+) at ([\d.]+) s", self.said())
        assert found is not None, self.said()
        return int(found[1]), float(found[2])

    def problems(self) -> str:
        """The page's problems in words."""
        return self.page.locator("#timeline-problems").inner_text()

    def area(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of the plotting area in the window."""
        left, top, width, height = self.page.evaluate(_AREA)
        return left, top, width, height

    def drag(self, start: float, end: float) -> None:
        """Drag between two shares of the width, in the middle of the figure."""
        left, top, width, height = self.area()
        y = top + height / 2
        self.drag_over(left + start * width, y, left + end * width, y)

    def choose(self, view: str, item: str) -> None:
        """Choose an entry of a view's menu, and wait until the menu is closed."""
        self.page.locator(f"section[data-view={view}]").get_by_label("menu of this").click()
        self.page.get_by_role("menuitem", name=item).click()
        self.page.wait_for_function("() => !document.querySelector('[role=menuitem]')")

    def download(self, view: str, item: str) -> Path:
        """Download a file by a view's menu."""
        with self.page.expect_download() as download:
            self.choose(view, item)
        path: Path = download.value.path()
        return path

    def layout(self) -> dict[str, Any]:
        """The drawn layout."""
        found: dict[str, Any] = self.page.evaluate("wattlas.timeline.plot().layout")
        return found

    def traces(self, kind: str) -> list[dict[str, Any]]:
        """`run`, `panel`, `color` and `points` of each drawn trace of a kind."""
        found: list[dict[str, Any]] = self.page.evaluate(
            """(kind) => wattlas.timeline.plot().data.filter((t) => t.meta.kind === kind)
                 .map((t) => ({ run: t.meta.run, panel: t.meta.panel, group: t.meta.group,
                   color: (t.line || t.marker || {}).color, points: (t.x || []).length }))""",
            kind,
        )
        return found

    def runs(self) -> list[str]:
        """Ids of the runs in the sidebar."""
        found: list[str] = self.page.eval_on_selector_all(
            "#timeline-runs .run", "(rows) => rows.map((row) => row.dataset.shownRun)"
        )
        return found

    def panel_chip(self, title: str) -> None:
        """Click a panel's chip in the sidebar."""
        self.page.locator(".timeline").get_by_text(title, exact=True).first.click()
        self.settle()
