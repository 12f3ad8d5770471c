"""Actions of a user on Storage, and what the user sees in its figures."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page

from app.storage.views import VIEWS
from tests.browser.atlas import visit, wait_idle

_DRAWN = """window.wattlas && wattlas.storage && !wattlas.storage.isBusy()
  && Object.keys(wattlas.storage.figures).length === views.length
  && Object.keys(wattlas.storage.figures).every((name) => wattlas.storage.plot(name))"""
_READY = f"""(views) => {_DRAWN} && !document.querySelector("[data-dash-is-loading='true']")"""


class StoragePage:
    """One Storage page in a browser."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, address: str, query: str = "") -> None:
        """Go to the page and wait until all its figures are drawn."""
        visit(self.page, f"{address}/storage{query}")
        self.ready()

    def ready(self) -> None:
        """Wait until all views are drawn and the page is idle."""
        self.page.wait_for_function(_READY, arg=[view.graph for view in VIEWS])
        wait_idle(self.page)

    def drawn(self) -> None:
        """Wait until all views of an exported file are drawn."""
        views = [view.graph for view in VIEWS]
        self.page.wait_for_function(f"(views) => {_DRAWN}", arg=views)
        wait_idle(self.page)

    def chip(self, facet: str, value: str) -> None:
        """Click one value of a filter and wait for the figures."""
        label = f'.facet[data-facet="{facet}"] input[value="{value}"] + label'
        with self.changing():
            self.page.locator(label).click()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Do something that changes the figures, and wait until they are drawn."""
        self.page.evaluate("window.before = wattlas.storage.columns")
        yield
        wait_idle(self.page)
        assert self.page.evaluate("wattlas.storage.columns !== window.before")
        self.ready()

    def status(self) -> str:
        """The number of shown runs."""
        return self.page.locator("#storage-status").inner_text()

    def selection(self) -> str:
        """The words of the selection in the status line."""
        return self.page.locator("#status-selection").inner_text()

    def see(self, view: str) -> None:
        """Scroll to a view."""
        # Not where it is just visible: the bar at the top or the status line may cover a part.
        graph = self.page.locator(f"#storage-{view}")
        graph.evaluate("(part) => part.scrollIntoView({ block: 'center' })")
        wait_idle(self.page)

    def click_point(self, view: str, trace: int, point: int) -> None:
        """Click a point of a view's n-th selectable trace."""
        x, y = self.place(view, trace, point)
        self.page.mouse.move(x, y)
        wait_idle(self.page)
        self.page.mouse.click(x, y)
        wait_idle(self.page)

    def hover_words(self, view: str, trace: int, point: int) -> str:
        """The words of the card for a point under the pointer."""
        x, y = self.place(view, trace, point)
        self.page.mouse.move(x - 3, y)
        self.page.mouse.move(x, y)
        wait_idle(self.page)
        return self.page.locator("#hover-card").inner_text()

    def drag_box(self, view: str, corners: list[tuple[int, int]]) -> None:
        """Drag a box around points of a view, given as trace and index."""
        places = [self.place(view, trace, point) for trace, point in corners]
        left, right = min(x for x, _ in places) - 9, max(x for x, _ in places) + 9
        top, bottom = min(y for _, y in places) - 9, max(y for _, y in places) + 9
        mouse = self.page.mouse
        mouse.move(left, top)
        mouse.down()
        mouse.move((left + right) / 2, (top + bottom) / 2, steps=4)
        mouse.move(right, bottom, steps=4)
        mouse.up()
        wait_idle(self.page)

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
