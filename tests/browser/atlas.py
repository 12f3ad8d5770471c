"""Actions of a user on Explore, and what the user sees in the figures."""

from pathlib import Path
from typing import Any, ClassVar, Final
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as TimedOut

# Idle in three frames in sequence, since work in one frame may start more in the next.
_IDLE = """() => new Promise((done) => {
  let calm = 0;
  const look = () => {
    calm = window.wattlas && wattlas.isIdle && wattlas.isIdle() ? calm + 1 : 0;
    if (calm > 2) done(true); else requestAnimationFrame(() => setTimeout(look, 0));
  };
  look();
})"""
_READY = """() => {
  const ready = (id) => {
    const gd = wattlas.plot(id);
    return gd && gd._fullLayout && gd.calcdata && gd.data && gd.layout.meta;
  };
  return window.wattlas && wattlas.plot && ready("scatter") && ready("heatmap")
    && document.querySelector("#best-table").children.length > 0
    && !document.querySelector("[data-dash-is-loading='true']");
}"""

# Put the page's clock a minute forward: what follows belongs to no burst of before.
LATER = """() => {
  const clock = performance.now.bind(performance);
  performance.now = () => clock() + 60000;
}"""


def wait_idle(page: Page) -> None:
    """Wait until the page is idle; a failure names the work in progress."""
    try:
        page.wait_for_function(_IDLE)
    except TimedOut as error:
        found = page.evaluate("window.wattlas && wattlas.underWay ? wattlas.underWay() : 'no page'")
        raise AssertionError(f"the page is not idle: {found}") from error


def step(page: Page, way: str) -> None:
    """Press Back or Forward and wait for the page that the server sends."""
    with page.expect_response("**/_dash-update-component*"):
        page.evaluate(f"history.{way}()")
    wait_idle(page)


def choose(part: Page | Locator, name: str, value: str) -> None:
    """Choose an entry of a menu of scripts (`assets/_kit/select.js`), by its value."""
    menu = part.get_by_role("combobox", name=name, exact=True)
    menu.click()
    menu.locator(f"+ .select-list [data-value='{value}']").click()


def point_at(page: Page, left: float, top: float) -> str:
    """Move the pointer to a mark in the window; returns what the card says of it.

    Plotly looks for marks at most once in 50 ms, by a timer: the card may come after all is idle.
    """
    page.mouse.move(left - 3, top)
    page.mouse.move(left, top)
    wait_idle(page)
    card = page.locator("#hover-card")
    expect(card).to_be_visible()
    return card.inner_text()


def press(page: Page, key: str) -> None:
    """Press a key, and wait until the page is idle."""
    page.keyboard.press(key)
    wait_idle(page)


def query_of(page: Page) -> dict[str, list[str]]:
    """The state in the URL by key."""
    return parse_qs(urlsplit(page.url).query)


def paper(panel: Locator, form: str) -> bytes:
    """Save the picture of a panel by the dialog of figures for papers; Escape closes it."""
    page = panel.page
    panel.scroll_into_view_if_needed()
    panel.get_by_label("menu of ").click()
    page.get_by_role("menuitem", name="Figure for a paper", exact=True).click()
    dialog = page.get_by_role("dialog", name="Figure for a paper")
    choose(dialog, "format", form)
    with page.expect_download() as download:
        dialog.get_by_role("button", name="save", exact=True).click()
    data = Path(download.value.path()).read_bytes()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    return data


# As `wattlas.openPage` does, for any address. Dash follows an address only if it differs from the
# last one that it followed: an empty parameter at the end makes every second visit differ.
_OPEN = """(link) => {
  window.visits = (window.visits || 0) + 1;
  const end = (link.includes("?") ? "&" : "?&") + (window.visits % 2 ? "" : "&");
  history.pushState({}, "", link + end);
  dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
}"""
_CLEAR = """() => {
  document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
  document.activeElement.blur();
  document.querySelectorAll("*").forEach((part) => { if (part.scrollTop) part.scrollTop = 0; });
}"""
_RUNS = "!!(window.wattlas && wattlas.isIdle && document.querySelector('#react-entry-point main'))"
_SHOWN = "[location.href, (document.querySelector('#notice') || {}).innerText || '']"

# By link: the URL that the page wrote, and its message above the views.
_reached: Final[dict[str, list[str]]] = {}


def visit(page: Page, link: str) -> None:
    """Show a link in the cheapest way, and wait until the page is idle.

    A load costs two to six seconds of processor time. The URL holds the whole state of a page, so a
    tab that has the state of the link stays as it is. A tab with the same app opens the link as the
    app opens links between pages. All other tabs load the link. A test of the load itself uses
    `page.goto`.
    """
    if urlsplit(page.url)[:2] != urlsplit(link)[:2] or not page.evaluate(_RUNS):
        page.goto(link)
    else:
        page.evaluate(_CLEAR)
        page.keyboard.press("Escape")
        wait_idle(page)
        if page.evaluate(_SHOWN) == _reached.get(link):
            return
        with page.expect_response("**/_dash-update-component*"):
            page.evaluate(_OPEN, link)
    wait_idle(page)
    _reached[link] = page.evaluate(_SHOWN)


class Shown:
    """One page in a browser: what a user does on every page, and sees there."""

    NAME: ClassVar[str]
    PATH: ClassVar[str]
    # A function in JavaScript that returns whether all views are drawn.
    READY: ClassVar[str]

    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, address: str, query: str = "") -> None:
        """Go to the page and wait until its figures are drawn."""
        visit(self.page, f"{address}{self.PATH}{query}")
        self.ready()

    def ready(self) -> None:
        """Wait until all views are drawn and the page is idle."""
        self.page.wait_for_function(self.READY)
        wait_idle(self.page)

    def chip(self, facet: str, value: str) -> None:
        """Click one value of a filter and wait for the figures."""
        self.page.locator(f'.facet[data-facet="{facet}"] input[value="{value}"] + label').click()
        self.ready()

    def status(self) -> str:
        """The words of the runs in the status line."""
        return self.page.locator(f"#{self.NAME}-status").inner_text()

    def selection(self) -> str:
        """The words of the selection in the status line."""
        return self.page.locator("#status-selection").inner_text()

    def query(self) -> dict[str, list[str]]:
        """The state in the URL by key."""
        return query_of(self.page)

    def press(self, key: str) -> None:
        """Press a key, and wait until the page is idle."""
        press(self.page, key)

    def point_at(self, left: float, top: float) -> str:
        """Move the pointer to a place in the window; returns what the card says there."""
        return point_at(self.page, left, top)

    def click_in(self, left: float, top: float) -> None:
        """Move the pointer to a place in the window and click there."""
        self.point_at(left, top)
        self.page.mouse.click(left, top)
        wait_idle(self.page)

    def drag_over(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Drag between two places in the window."""
        mouse = self.page.mouse
        mouse.move(x0, y0)
        mouse.down()
        mouse.move((x0 + x1) / 2, (y0 + y1) / 2, steps=4)
        mouse.move(x1, y1, steps=4)
        mouse.up()
        wait_idle(self.page)


class Atlas(Shown):
    """One Explore page in a browser."""

    NAME = "explore"
    PATH = "/"
    READY = _READY

    def drag(self, plot: str, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag in a plot between two fractions of its drawing area, from the top left."""
        box = self._area(plot)
        (x0, y0), (x1, y1) = [
            (box["x"] + fx * box["width"], box["y"] + fy * box["height"]) for fx, fy in (start, end)
        ]
        self.drag_over(x0, y0, x1, y1)

    def click_at(self, plot: str, x: float | str, y: float | str) -> None:
        """Click on a point given in the plot's own values."""
        self.click_in(*self.pixel(plot, x, y))

    def pixel(self, plot: str, x: float | str, y: float | str) -> tuple[float, float]:
        """Position in the window of a pair of a plot's values."""
        at = self.page.evaluate(
            """([id, x, y]) => {
              const gd = wattlas.plot(id), grid = gd.data[0];
              const of = (values, v) => typeof v === "string" ? values.indexOf(v) : v;
              const at = wattlas.place(gd, of(grid.x, x), of(grid.y, y));
              return [at.clientX, at.clientY];
            }""",
            [plot, x, y],
        )
        return at[0], at[1]

    def selected_counts(self) -> list[int | None]:
        """Number of selected points of each trace of the scatter; None without a selection."""
        found: list[int | None] = self.page.evaluate(
            """() => wattlas.plot("scatter")._fullData
                 .filter((t) => t.meta && t.meta.kind === "points")
                 .map((t) => t.selectedpoints ? t.selectedpoints.length : null)"""
        )
        return found

    def veiled_cells(self) -> int:
        """Number of dimmed cells of the heatmap."""
        count: int = self.page.evaluate(
            """() => wattlas.plot("heatmap").data.find((t) => t.meta.kind === "veil").z
                 .flat().filter((v) => v === 1).length"""
        )
        return count

    def layout(self, plot: str) -> dict[str, Any]:
        """The drawn layout."""
        found: dict[str, Any] = self.page.evaluate("(id) => wattlas.plot(id).layout", plot)
        return found

    def picture(self, plot: str) -> bytes:
        """A screenshot of the plotting area of a plot."""
        area: Any = self._area(plot)
        return self.page.screenshot(clip=area)

    def _area(self, plot: str) -> dict[str, float]:
        box = self.page.locator(f"#{plot} .nsewdrag").first.bounding_box()
        assert box is not None
        return {name: float(value) for name, value in box.items()}  # type: ignore[arg-type]
