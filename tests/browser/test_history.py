"""The browser's Back undoes what a visitor changed, Forward does it again."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.atlas import LATER, Atlas, step, wait_idle

pytestmark = pytest.mark.browser
QUERY = "?v=2&workload=memcached&load=200000"
# The history of a tab has 50 entries at most, so that its length does not count them.
COUNT = """() => {
  const push = history.pushState.bind(history);
  window.entries = 0;
  history.pushState = (...what) => { window.entries += 1; push(...what); };
}"""
ENTRIES = "window.entries"
RANGES = "['xaxis', 'yaxis'].map((name) => wattlas.plot('heatmap')._fullLayout[name].range)"
SLOW = """() => {
  const clock = performance.now.bind(performance), start = clock();
  performance.now = () => start + (clock() - start) / 100;
}"""


@pytest.mark.slow
@pytest.mark.usefixtures("own_document")
def test_back_undoes_each_change_and_forward_does_it_again(atlas: Atlas, grid_address: str) -> None:
    page = atlas.page
    page.goto(f"{grid_address}/{QUERY}")
    atlas.ready()
    page.evaluate(COUNT)
    first, runs = page.url, atlas.status()
    atlas.chip("system", "linux_tuned")
    page.evaluate(LATER)
    second, fewer = page.url, atlas.status()
    assert fewer != runs
    atlas.drag("scatter", (0.005, 0.005), (0.995, 0.995))
    third = page.url
    assert "sel=" in third
    assert page.evaluate(ENTRIES) == 2
    step(page, "back")
    assert (page.url, atlas.status()) == (second, fewer)
    assert atlas.selected_counts() == [None]
    step(page, "back")
    assert (page.url, atlas.status()) == (first, runs)
    assert page.locator("[data-facet=system] input:checked").count() == 0
    step(page, "forward")
    # As does the usual key, also where a chip of a filter has the focus, and twice no more.
    page.locator("[data-facet=system] input").first.focus()
    for _ in range(2):
        page.keyboard.press("Control+z")
        atlas.ready()
        assert (page.url, atlas.status()) == (first, runs)
    step(page, "forward")
    step(page, "forward")
    assert page.url == third
    assert "24 runs" in atlas.selection()
    page.locator("#tab-modes").click()
    page.wait_for_selector("main.modes")
    wait_idle(page)
    page.evaluate("history.back()")
    page.wait_for_selector("main.explore")
    atlas.ready()
    assert page.url == third
    expect(page.locator(".top .tab[aria-current]:visible")).to_have_text("Explore")
    # Back from the first state leaves the app.
    page.evaluate("() => { setTimeout(() => history.go(-3)); }")
    page.wait_for_url("about:blank")


@pytest.mark.usefixtures("own_document")
def test_the_row_of_filters_removes_undoes_and_resets_and_a_burst_is_one_entry(
    atlas: Atlas, grid_address: str
) -> None:
    page = atlas.page
    page.set_viewport_size({"width": 1440, "height": 700})
    page.goto(f"{grid_address}/{QUERY}&limit=50")
    atlas.ready()
    row, undo = page.locator(".filtered"), page.get_by_role("button", name="undo")
    expect(row).to_contain_text("Workload: memcached")
    expect(row).to_contain_text("limit: 50 us")
    expect(undo).to_be_disabled()
    # No setting meets 50 us: the table offers limits that one meets.
    page.locator("#best-table [data-limit]").first.click()
    atlas.ready()
    expect(row).to_contain_text(re.compile("limit: 6[0-9.]+ us"))
    page.evaluate(LATER)
    page.evaluate("document.querySelector('.sidebar').scrollTop = 60")
    wait_idle(page)
    with_load = page.url
    row.get_by_role("button", name="Load: 200k QPS").click()
    atlas.ready()
    assert "&load=" not in page.url
    page.evaluate("document.querySelector('.sidebar').scrollTop = 0")
    wait_idle(page)
    with page.expect_response("**/_dash-update-component*"):
        undo.click()
    atlas.ready()
    assert page.url == with_load
    assert page.evaluate("document.querySelector('.sidebar').scrollTop") == 60
    with page.expect_response("**/_dash-update-component*"):
        row.get_by_role("button", name="reset").click()
    atlas.ready()
    assert "limit=" not in page.url
    # Changes in a burst are one entry.
    page.evaluate(COUNT)
    page.evaluate(SLOW)
    for itr in ("2", "50"):
        page.locator(f'.facet[data-facet="itr"] input[value="{itr}"] + label').click()
    atlas.ready()
    assert page.evaluate(ENTRIES) == 1
    # So is the zoom of a picture of which the link says nothing.
    page.evaluate(LATER)
    whole, link = page.evaluate(RANGES), page.url
    page.locator("[data-tools-of=heatmap] [data-tool=in]").click()
    wait_idle(page)
    zoomed = page.evaluate(RANGES)
    assert zoomed != whole
    assert (page.evaluate(ENTRIES), page.url) == (2, link)
    ways = (("history.back()", whole), ("history.forward()", zoomed),
            ("window.old = 1; location.reload()", zoomed), ("history.back()", whole))  # fmt: skip
    drawn = "!window.old && window.wattlas && (wattlas.plot('heatmap') || {})._fullLayout"
    for way, shown in ways:
        page.evaluate(way)
        page.wait_for_function(
            f"(shown) => {drawn} && String({RANGES}) === String(shown)", arg=shown
        )
    # The link that skips to the views leaves the page as it is.
    page.evaluate("() => { document.querySelector('main').mark = 1; location.hash = 'views'; }")
    wait_idle(page)
    assert page.evaluate("document.querySelector('main').mark") == 1
    page.evaluate("history.back()")
    page.wait_for_url(lambda url: "#" not in url)
    step(page, "back")
    assert "itr=" not in page.url


# In a wide window the views scroll, in a narrow one the document.
TOP = """() => {
  const views = document.querySelector("main .views");
  const isWide = views.scrollHeight > views.clientHeight + 1;
  return Math.round((isWide ? views : document.documentElement).scrollTop);
}"""


@pytest.mark.usefixtures("own_document")
@pytest.mark.parametrize(
    ("width", "height"), [(1440, 500), pytest.param(390, 844, marks=pytest.mark.slow)]
)
def test_back_forward_and_a_reload_show_the_place_that_was_read(
    page: Page, grid_address: str, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})

    def scroll(by: int) -> int:
        page.mouse.move(width / 2, height / 2)
        page.mouse.wheel(0, by)
        wait_idle(page)
        return int(page.evaluate(TOP))

    def turn(way: str, to: str) -> int:
        page.evaluate(f"history.{way}()")
        expect(page.locator(f"main.{to}")).to_be_visible()
        wait_idle(page)
        return int(page.evaluate(TOP))

    page.goto(f"{grid_address}/findings")
    wait_idle(page)
    assert scroll(700) == 700
    page.evaluate("document.querySelector('#tab-lake').click()")
    expect(page.locator("main.lake")).to_be_visible()
    wait_idle(page)
    # A link leads to the top of the next page.
    assert page.evaluate(TOP) == 0
    assert scroll(90) == 90
    assert turn("back", "findings") == 700
    assert turn("forward", "lake") == 90
    assert turn("back", "findings") == 700
    # The reader goes on from there.
    assert scroll(60) == 760
    assert turn("forward", "lake") == 90
    page.reload()
    wait_idle(page)
    assert page.evaluate(TOP) == 90
    assert turn("back", "findings") == 760
