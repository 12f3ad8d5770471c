"""Requirements of each page in a browser, for all of PAGES."""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import polars as pl
import pytest
from playwright.sync_api import ConsoleMessage, Locator, expect
from playwright.sync_api import Page as Tab

from app.kit.page import Page
from app.pages import PAGES
from tests.browser.atlas import paper, visit, wait_idle
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.papers import check_files

pytestmark = pytest.mark.browser

# Of each page, views that `make test` downloads; `make test-all` downloads the others too.
_FIRST_VIEWS: Final = 2

every_page = pytest.mark.parametrize("owed", PAGES, ids=lambda page: page.name)
# SQL draws nothing before the visitor runs a query.
DRAWN: Final = [page for page in PAGES if any(view.is_picture for view in page.views)]
# In the order of pages, so that pages are loaded less often.
page_by_page = pytest.mark.parametrize("owed", PAGES, ids=lambda page: page.name, scope="module")
drawn_by_page = pytest.mark.parametrize("owed", DRAWN, ids=lambda page: page.name, scope="module")


@pytest.fixture
def tab(page: Tab) -> Iterator[Tab]:
    """A tab whose console may have no error."""
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    page.on("console", note)
    yield page
    assert errors == []


@pytest.fixture(scope="session")
def empty_address(serve: Callable[[Path], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """An app on an empty lake."""
    return serve(tmp_path_factory.mktemp("empty") / "lake")


@pytest.fixture(scope="session")
def unreadable_address(
    serve: Callable[[Path], str], tmp_path_factory: pytest.TempPathFactory
) -> str:
    """An app on a lake whose log is damaged."""
    lake = write_lake(tmp_path_factory.mktemp("unreadable") / "lake", [run()])
    for commit in (lake / "runs" / "_delta_log").glob("*.json"):
        commit.write_text("{")
    return serve(lake)


def panels(tab: Tab) -> list[Locator]:
    return tab.locator("main section[data-view]").all()


def choose(panel: Locator, entry: str) -> None:
    """Choose an entry of a view's menu."""
    tab = panel.page
    panel.scroll_into_view_if_needed()
    panel.get_by_label("menu of ").click()
    tab.get_by_role("menuitem", name=entry, exact=True).click()


def downloaded(panel: Locator, entry: str) -> bytes:
    with panel.page.expect_download() as download:
        choose(panel, entry)
    path: Path = download.value.path()
    return path.read_bytes()


@pytest.mark.slow
@every_page
def test_an_empty_lake_shows_a_message(tab: Tab, empty_address: str, owed: Page) -> None:
    visit(tab, empty_address + owed.path)
    assert "holds no runs yet" in tab.locator("main").inner_text()
    assert "empty" in tab.locator("#lake-line").inner_text()


@pytest.mark.slow
@every_page
def test_an_unreadable_lake_shows_a_message(tab: Tab, unreadable_address: str, owed: Page) -> None:
    visit(tab, unreadable_address + owed.path)
    assert "the lake cannot be read" in tab.locator("main").inner_text()
    assert "runs" in tab.locator(".lake-line").inner_text()


@pytest.mark.slow
@drawn_by_page
def test_a_bad_link_shows_a_message_and_leads_to_the_default_view(
    page: Tab, logged_address: str, owed: Page
) -> None:
    """Its console names the status, so that this is not tested with `tab`."""
    response = page.goto(f"{logged_address}{owed.path}?lake=newest")
    assert response is not None
    assert response.status == 400
    wait_idle(page)
    said = page.locator("#notice").inner_text()
    assert said == ("This link could not be followed: lake is 'newest', expected a version number.")
    page.get_by_role("link", name=f"{owed.title} without the link's settings").click()
    page.locator("main .js-plotly-plot").first.wait_for()
    wait_idle(page)
    assert page.locator("#notice").inner_text() == ""


@pytest.mark.thin(1)
@drawn_by_page
def test_each_view_is_drawn_and_downloads_as_picture_and_rows_with_explanation(
    tab: Tab, logged_address: str, owed: Page
) -> None:
    visit(tab, f"{logged_address}{owed.path}?utm_source=slack")
    expect(tab.locator(".status")).to_contain_text("ignored in the link: utm_source")
    assert "utm_source" not in tab.url
    assert tab.title() == f"wattlas · {owed.title}"
    assert tab.locator("#notice").inner_text() == ""
    own = next(one.title for one in PAGES if one.name == owed.tab)
    expect(tab.locator(".top .tab[aria-current]:visible")).to_have_text(own)
    views = panels(tab)
    assert len(views) >= min(3, len(owed.views))
    shown = [each for each in views if each.is_visible()]
    for at, panel in enumerate(shown[:_FIRST_VIEWS]):
        _leaves(panel, ("svg",) if at == 0 else ())


@pytest.mark.slow
@drawn_by_page
def test_so_do_all_other_views_and_each_picture_is_a_figure_for_papers(
    tab: Tab, logged_address: str, owed: Page
) -> None:
    """Some are in other tabs or belong to other runs: the page's examples show them."""
    visit(tab, logged_address + owed.path)
    left = {f"{owed.name}-{view.name}" for view in owed.views if view.is_picture}
    first, done = {_name_of(panel) for panel in panels(tab)[:_FIRST_VIEWS]}, set[str]()
    for query in ("", *owed.examples.values(), *_OTHER_VIEWS.get(owed.name, ())):
        visit(tab, f"{logged_address}{owed.path}?{query}")
        for panel in panels(tab):
            name = _name_of(panel)
            if name in done or not panel.is_visible():
                continue
            panel.scroll_into_view_if_needed()
            wait_idle(tab)
            if name not in first:
                _leaves(panel, ())
            view = name.removeprefix(f"{owed.name}-")
            if f"{owed.name}-{view}" in left:
                check_files(tab.evaluate(_SENT, view), (700, 500))
                left.remove(f"{owed.name}-{view}")
            done.add(name)
    assert left == set()


# Links to pictures that no example shows.
_OTHER_VIEWS: Final = {"explore": ("workload=memcached&show=lines",)}
# The figure that the dialog sends.
_SENT: Final = "(view) => wattlas.packedFigure(wattlas.currentPage().figure(view))"


def _name_of(panel: Locator) -> str:
    return panel.get_attribute("data-view") or ""


def _leaves(panel: Locator, forms: Sequence[str]) -> None:
    tab, name = panel.page, panel.get_attribute("data-view")
    if panel.locator(".js-plotly-plot").count():
        files = {form: paper(panel, form) for form in forms}
        assert b"<image" not in files.get("svg", b"<svg"), name
        assert b"<svg" in files.get("svg", b"<svg"), name
        assert files.get("script", b"PK").startswith(b"PK"), name
    csv, parquet = downloaded(panel, "Data as CSV"), downloaded(panel, "Data as Parquet")
    assert pl.read_parquet(io.BytesIO(parquet)).columns == csv.decode().splitlines()[0].split(",")
    choose(panel, "How was this computed")
    wait_idle(tab)
    assert "select" in tab.locator("#explanation").inner_text().lower(), name
    tab.keyboard.press("Escape")


@pytest.mark.thin(1)
@page_by_page
def test_a_page_prints_as_a_report(tab: Tab, logged_address: str, owed: Page) -> None:
    """Light, with the filters and controls as text, the link at the foot; on paper only."""
    visit(tab, logged_address + owed.path)
    if tab.locator("html").get_attribute("data-theme") != "dark":
        tab.locator("#theme-button").click()
        wait_idle(tab)
    assert tab.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    assert tab.locator(".printed, .on-paper").count() == 0
    tab.emulate_media(media="print")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    found = tab.evaluate(_PRINTED)
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    tab.emulate_media(media="screen")
    tab.locator("#theme-button").click()
    assert found["title"] == f"wattlas · {owed.title}"
    assert found["link"].startswith(f"{logged_address}{owed.path}")
    assert "lake=" in found["link"]
    assert re.search(r"lake: \S+ v\d+.*wattlas \d", found["foot"])
    assert found["chrome"] == []
    assert found["wide"] == []
    assert found["paper"] == "rgb(255, 255, 255)"


_PRINTED: Final = """() => {
  const text = (selector) => document.querySelector(selector).textContent;
  const seen = (part) => part.getClientRects().length > 0;
  const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
  const width = (gd) => gd.getBoundingClientRect().width;
  return {
    title: text("h1.printed"), foot: text(".printed-foot"),
    link: document.querySelector(".printed-foot a").href,
    chrome: all(".top, .sidebar, .status, .tools, .panel-head button, .models-questions button"
      + ", [aria-pressed=false], details:not([open]) > :not(summary)").map((e) => e.className),
    wide: all(".js-plotly-plot").filter((gd) => width(gd) > 661).map((gd) => gd.id),
    paper: getComputedStyle(document.body).backgroundColor,
  };
}"""


@pytest.mark.slow
@page_by_page
def test_a_reload_restores_the_page_and_the_help_lists_its_keys(
    tab: Tab, logged_address: str, owed: Page
) -> None:
    visit(tab, logged_address + owed.path)
    before, words = tab.url, tab.locator("main").inner_text()
    tab.reload()
    wait_idle(tab)
    assert tab.url == before
    assert tab.locator("main").inner_text() == words
    tab.keyboard.press("?")
    said = tab.locator("#help").inner_text()
    for _, what in owed.keys:
        assert what in said
    tab.keyboard.press("?")
    expect(tab.locator("#help")).not_to_be_visible()


@pytest.mark.slow
@page_by_page
def test_the_export_opens_from_disk(
    tab: Tab, logged_address: str, owed: Page, tmp_path: Path
) -> None:
    visit(tab, logged_address + owed.path)
    pictures = tab.locator("main section[data-view] .js-plotly-plot").count()
    with tab.expect_download() as download:
        tab.get_by_role("link", name="export", exact=True).click()
    out = tmp_path / download.value.suggested_filename
    download.value.save_as(out)
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(out.as_uri())
    wait_idle(tab)
    if owed.name == "sql":
        # The chart is of a result, which the server does not compute for an export.
        pictures = 0
        expect(tab.locator("main")).to_contain_text("Without the result and its chart")
    assert tab.locator("main .js-plotly-plot").count() == pictures
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    tab.locator("#theme-button").click()
    wait_idle(tab)
    assert tab.locator("html").get_attribute("data-theme") == "dark"
    wait_idle(tab)
    hues = tab.locator("main .js-plotly-plot").evaluate_all(
        "(all) => all.map((gd) => gd._fullLayout.font.color)"
    )
    assert set(hues) <= {"#e6e8eb"}
