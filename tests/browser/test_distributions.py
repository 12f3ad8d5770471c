"""Distributions in a browser: a cell says what it holds, a click opens its runs in Timeline."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.atlas import query_of, visit, wait_idle

pytestmark = pytest.mark.browser
_PLACE = """() => {
  const gd = document.getElementById("distributions-map");
  const trace = gd.data.filter((one) => wattlas.kindOf(one) === "quantile")[1];
  const at = gd._fullData[gd.data.indexOf(trace)];
  const level = Array.from(at.y).findIndex(Number.isFinite);
  gd.scrollIntoView();
  const { clientX, clientY } = wattlas.place(gd, at.x[level], at.y[level], trace);
  const beside = gd._fullLayout.xaxis._length / 40;
  return [clientX + beside, clientY];
}"""

_ENDS = """() => {
  const ends = (name, side) => [...document.querySelectorAll("#distributions-map " + name)]
    .map((one) => one.getBoundingClientRect()[side]);
  return [Math.max(...ends(".textpoint text", "right")), Math.min(...ends(".cbfills", "left"))];
}"""


def test_a_click_on_a_cell_opens_its_runs_in_timeline(page: Page, logged_address: str) -> None:
    visit(page, f"{logged_address}/distributions")
    expect(page.locator("#distributions-status")).to_contain_text("runs with a log")
    x, y = page.evaluate(_PLACE)
    page.mouse.move(x, y)
    card = page.locator("#hover-card")
    expect(card).to_contain_text("%")
    expect(card).to_contain_text("click: the run")
    page.mouse.click(x, y)
    page.wait_for_selector("main.timeline")
    wait_idle(page)
    opened = query_of(page)["run"]
    assert 1 <= len(opened) <= 6
    expect(page.locator("#timeline-runs li")).to_have_count(len(opened))
    page.go_back()
    page.wait_for_selector("main.distributions")
    wait_idle(page)
    # The names of quantiles end before the colour bar, on a phone too.
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    wait_idle(page)
    names, bar = page.evaluate(_ENDS)
    assert names <= bar
    page.locator("[data-view=distributions-map]").focus()
    page.keyboard.press("ArrowRight")
    expect(card).to_contain_text("p10")
    page.keyboard.press("Enter")
    page.wait_for_selector("main.timeline")
    wait_idle(page)


def _to(page: Page, name: str, other: str) -> None:
    page.locator(f"#{name}-to-{other}").click()
    page.wait_for_selector(f"main.{other}")
    wait_idle(page)


@pytest.mark.slow
def test_parts_of_the_tab_keep_their_runs_and_hand_on_those_that_a_visitor_chose(
    page: Page, logged_address: str
) -> None:
    visit(page, f"{logged_address}/timeline")
    first = page.url
    _to(page, "timeline", "distributions")
    expect(page.locator("header .tab[aria-current]")).to_have_text("Timeline")
    status = page.locator("#distributions-status")
    expect(status).not_to_contain_text("selection")
    _to(page, "distributions", "timeline")
    assert page.url == first, "nothing else was chosen"
    page.locator("#timeline-runs button[data-edit=remove]").first.click()
    wait_idle(page)
    left = query_of(page)["run"]
    _to(page, "timeline", "distributions")
    expect(status).to_contain_text(f"{len(left)} runs with a log in the link's selection")
    _to(page, "distributions", "timeline")
    assert query_of(page)["run"] == left
    _to(page, "timeline", "distributions")
    page.locator("#distributions-clear").click()
    expect(status).not_to_contain_text("selection")
