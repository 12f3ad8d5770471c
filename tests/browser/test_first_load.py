"""The first load with an empty cache: what the visitor sees, and the transferred bytes."""

import re
import urllib.request

import brotli
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Response, Route, expect

from app.kit.compressed import find_compressed
from app.pages import PAGES
from app.serve.response_cache import HIT
from tests.browser.atlas import Atlas, visit, wait_idle
from tests.browser.conftest import WAIT_MS

MOST_SCRIPT_BYTES = 1_000_000
CONTRAST = """(element) => {
  const levels = (text) => text.match(/[\\d.]+/g).slice(0, 3).map((v) => {
    const c = v / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const light = (text) => { const [r, g, b] = levels(text); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = element.closest(".panel"), of = (what, name) => light(getComputedStyle(what)[name]);
  const [dark, bright] = [of(element, "color"), of(back, "backgroundColor")].sort((a, b) => a - b);
  return [(bright + 0.05) / (dark + 0.05), of(back, "backgroundColor")];
}"""  # noqa: E501


def test_placeholders_then_a_picture_are_there_before_dash_and_a_busy_server_is_asked_again(
    page: Page, grid_address: str
) -> None:
    held: list[Route] = []
    openings: list[Route] = []
    refused: list[str] = []

    def refuse_once(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=503, headers={"Retry-After": "1"}, body="the server is busy")

    page.route(re.compile("/_dash-(layout|dependencies)"), lambda route: held.append(route))
    page.route(re.compile("/explore/opening"), lambda route: openings.append(route))
    page.route(re.compile("/_dash-update-component"), refuse_once)
    # Dash does not wait for the first picture.
    with page.expect_request(re.compile("/_dash-layout")):
        page.goto(grid_address)
    shown = page.locator(".first-page .panel:visible").all_inner_texts()
    assert len(shown) >= 3
    assert all("loading" in text for text in shown)
    assert page.locator(".first-page .panel").first.is_visible()
    assert page.locator(".first-page").get_by_text("wattlas").is_visible()
    for route in openings:
        route.continue_()
    page.locator("#opening .gtitle").wait_for()
    assert "Energy against" in (page.locator("#opening .gtitle").text_content() or "")
    for route in held:
        route.continue_()
    page.locator(".page").wait_for()
    page.locator(".first-page").wait_for(state="hidden")
    Atlas(page).ready()
    assert len(refused) == 1
    assert Atlas(page).status().endswith("of 104 runs")


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    "path",
    [
        "/findings",
        "/timeline",
        "/?v=2&workload=memcached&limit=200",
        "/lake",
        "/models",
        "/sql",
        "/modes",
    ],
)
def test_the_first_picture_or_text_needs_no_dash(
    page: Page, logged_address: str, path: str
) -> None:
    held: list[Route] = []
    page.route(re.compile("/_dash-(layout|dependencies)"), lambda route: held.append(route))
    page.goto(f"{logged_address}{path}")
    drawn = ".xtick, .gtitle, .findings-body p, .lake-dataset, .panel-tables li"
    page.locator(f".first-page.opened :is({drawn})").first.wait_for(state="attached")
    assert page.locator("main").count() == 0


TAB = """(tab) => {
  const { left, right } = tab.getBoundingClientRect();
  const room = tab.parentElement.getBoundingClientRect();
  return left >= room.left - 1 && right <= Math.min(room.right, innerWidth) + 1;
}"""
FRAME = """(frame) => {
  const at = (name) => frame.querySelector(name).getBoundingClientRect();
  const sidebar = at(".sidebar").height ? frame.querySelector(".sidebar").innerText : "";
  return [at(".views").top - at("nav").bottom, sidebar];
}"""
UNFOLD = """(frame) => [...frame.querySelectorAll(".views details")].map((one) => {
  one.open = true;
}).length"""


def test_the_frame_on_a_phone_and_what_the_page_takes_over_of_it(
    page: Page, logged_address: str
) -> None:
    held: list[Route] = []
    for path, width, height in (("lake", 390, 844), ("findings", 1440, 300)):
        page.set_viewport_size({"width": width, "height": height})
        page.route("**/_bundle/dash.js*", lambda route: held.append(route))
        page.goto(f"{logged_address}/{path}", wait_until="domcontentloaded")
        frame = page.locator(".first-page.opened")
        frame.locator(".lake-dataset, .findings-body p").first.wait_for(state="attached")
        below, words = frame.evaluate(FRAME)
        assert below >= 0
        assert (words == "") == (width == 390 or path == "lake")
        assert frame.locator(".tab.active").evaluate(TAB)
        frame.evaluate("(one) => { one.querySelector('.views').scrollTop = 150; }")
        unfolded = frame.evaluate(UNFOLD)
        held.pop().continue_()
        page.unroute("**/_bundle/dash.js*")
        page.locator(".first-page").wait_for(state="detached")
        wait_idle(page)
        assert page.locator("header.top .tab[aria-current]").evaluate(TAB)
        assert page.evaluate("scrollY + document.querySelector('main .views').scrollTop") == 150
        assert page.locator("main .views details[open]").count() >= unfolded
        assert unfolded or path == "lake"


def test_a_script_that_does_not_arrive_is_told(page: Page, grid_address: str) -> None:
    page.route(re.compile("/_bundle/dash.js"), lambda route: route.abort())
    page.goto(grid_address)
    expect(page.locator(".first-page .status")).to_contain_text("reload the page")


@pytest.mark.slow
def test_placeholders_need_no_script(new_browser: Browser, grid_address: str) -> None:
    context = new_browser.new_context(java_script_enabled=False)
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    for path in (owed.path for owed in PAGES):
        page.goto(f"{grid_address}{path}")
        words = page.locator(".first-page .panel .placeholder").first
        assert words.inner_text() == "loading", path
        assert words.is_visible(), path
    context.close()


def test_placeholders_can_be_read_in_both_themes(
    visitor: BrowserContext, grid_address: str
) -> None:
    page = visitor.new_page()
    page.route(re.compile(r"\.js"), lambda route: route.abort())
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.goto(grid_address)
        words = page.locator(".first-page .panel .placeholder").first
        contrast, background = words.evaluate(CONTRAST)
        assert contrast >= 4.5
        assert (background < 0.1) == (theme == "dark")
    page.close()


def test_an_unknown_address_has_no_placeholders(page: Page, grid_address: str) -> None:
    page.goto(f"{grid_address}/no-such-page")
    assert page.locator(".first-page").count() == 0


def test_the_first_load_is_small(grid_address: str) -> None:
    """The files that the index names, well compressed, without data of figures and icons."""
    with urllib.request.urlopen(grid_address) as answer:
        index = answer.read()
    total = len(brotli.compress(index))
    for address in re.findall(r'(?:script src|stylesheet" href)="([^"]+)"', index.decode()):
        with urllib.request.urlopen(grid_address + address) as answer:
            script = answer.read()
        total += len(find_compressed(script, "br") or brotli.compress(script, lgwin=24))
    assert total <= MOST_SCRIPT_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("path", [page.path for page in PAGES])
def test_nothing_is_loading_when_a_page_is_idle(page: Page, grid_address: str, path: str) -> None:
    visit(page, f"{grid_address}{path}")
    words = """() => [...document.querySelectorAll(".graph")].filter((graph) => graph.offsetHeight)
      .filter((graph) => getComputedStyle(graph, "::before").content.includes("loading"))
      .map((graph) => graph.id || graph.className)"""
    assert page.evaluate(words) == []
    assert page.locator(".first-page").is_hidden()


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/", "/modes"])
def test_a_second_visitor_gets_the_responses_of_the_first(
    page: Page, grid_address: str, path: str
) -> None:
    """Headers that differ by browser and load do not affect the cache of responses."""
    asked: list[Response] = []
    page.on("response", lambda found: asked.append(found) if "/_dash-" in found.url else None)
    for _ in range(2):
        asked.clear()
        page.goto(f"{grid_address}{path}")
        wait_idle(page)
    answers = [one for one in asked if "component-suites" not in one.url]
    assert len(answers) > 4
    assert {one.headers.get("cache-status") for one in answers} == {HIT}
