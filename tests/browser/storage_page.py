"""Actions of a user on Storage, and what the user sees in its figures."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from app.storage.views import VIEWS
from tests.browser.atlas import Shown, wait_idle

_DRAWN = f"""window.wattlas && wattlas.storage && !wattlas.storage.isBusy()
  && Object.keys(wattlas.storage.figures).length === {len(VIEWS)}
  && Object.keys(wattlas.storage.figures).every((name) => wattlas.storage.plot(name))"""


class StoragePage(Shown):
    """One Storage page in a browser."""

    NAME = "storage"
    PATH = "/storage"
    READY = f"() => {_DRAWN} && !document.querySelector(\"[data-dash-is-loading='true']\")"

    def drawn(self) -> None:
        """Wait until all views of an exported file are drawn."""
        self.page.wait_for_function(f"() => {_DRAWN}")
        wait_idle(self.page)

    def chip(self, facet: str, value: str) -> None:
        """Click one value of a filter and wait for the figures."""
        with self.changing():
            super().chip(facet, value)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Do something that changes the figures, and wait until they are drawn."""
        self.page.evaluate("window.before = wattlas.storage.columns")
        yield
        wait_idle(self.page)
        assert self.page.evaluate("wattlas.storage.columns !== window.before")
        self.ready()

    def see(self, view: str) -> None:
        """Scroll to a view."""
        # Not where it is just visible: the bar at the top or the status line may cover a part.
        graph = self.page.locator(f"#storage-{view}")
        graph.evaluate("(part) => part.scrollIntoView({ block: 'center' })")
        wait_idle(self.page)

    def click_point(self, view: str, trace: int, point: int) -> None:
        """Click a point of a view's n-th selectable trace."""
        self.click_in(*self.place(view, trace, point))

    def card(self, view: str, trace: int, point: int) -> str:
        """The words of the card for a point under the pointer."""
        return self.point_at(*self.place(view, trace, point))

    def drag_box(self, view: str, corners: list[tuple[int, int]]) -> None:
        """Drag a box around points of a view, given as trace and index."""
        places = [self.place(view, trace, point) for trace, point in corners]
        left, right = min(x for x, _ in places) - 9, max(x for x, _ in places) + 9
        top, bottom = min(y for _, y in places) - 9, max(y for _, y in places) + 9
        self.drag_over(left, top, right, bottom)

    def place(self, view: str, trace: int, point: int) -> tuple[float, float]:
        """Position of a point in the window."""
        self.see(view)
        at = self.page.evaluate(
            """([view, trace, point]) => {
              const gd = document.getElementById("storage-" + view);
              const box = gd.getBoundingClientRect();
              const t = gd.data.filter((d) => wattlas.rows.isSelectable(d))[trace];
              const value = (letter) => {
                const number = (t[letter + "axis"] || letter).slice(1);
                const axis = gd._fullLayout[letter + "axis" + number];
                return axis._offset + axis.d2p(t[letter][point]);
              };
              return [box.left + value("x"), box.top + value("y")];
            }""",
            [view, trace, point],
        )
        return at[0], at[1]

    def caught(self, view: str) -> list[int | None]:
        """Number of selected points of each selectable trace; None without a selection."""
        found: list[int | None] = self.page.evaluate(
            """(view) => document.getElementById("storage-" + view)._fullData
                 .filter((t) => wattlas.rows.isSelectable(t))
                 .map((t) => t.selectedpoints ? t.selectedpoints.length : null)""",
            view,
        )
        return found

    def veiled(self, view: str) -> int:
        """Number of dimmed cells of a heatmap."""
        count: int = self.page.evaluate(
            """(view) => document.getElementById("storage-" + view).data
                 .filter((t) => t.meta.kind === "veil")
                 .flatMap((t) => t.z.flat()).filter((v) => v === 1).length""",
            view,
        )
        return count

    def choose(self, menu: str, words: str) -> None:
        """Choose an entry of a menu above the views."""
        self.page.locator(f"#{menu}").click()
        with self.changing():
            self.page.get_by_role("option", name=words, exact=True).click()

    def overlaps(self) -> list[Any]:
        """Pairs of panels that overlap, and panels wider than the window."""
        found: list[Any] = self.page.evaluate(
            """() => {
              const panels = [...document.querySelectorAll(".storage-panel, .published")];
              const boxes = panels.map((p) => [p.id || p.dataset.view, p.getBoundingClientRect()]);
              const isOut = (b) => b.right > innerWidth + 1 || b.left < 0;
              const cross = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
                && a.top < b.bottom - 1 && b.top < a.bottom - 1;
              const bad = boxes.filter(([, b]) => isOut(b)).map(([name]) => [name, "window"]);
              boxes.forEach(([name, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
                if (cross(a, b)) bad.push([name, other]);
              }));
              return bad;
            }"""
        )
        return found
