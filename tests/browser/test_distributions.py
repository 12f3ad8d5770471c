"""Distributions in a browser: a cell says what it holds, a click opens its runs in Timeline."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.atlas import visit, wait_idle

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
    opened = parse_qs(urlsplit(page.url).query)["run"]
    assert 1 <= len(opened) <= 6
    expect(page.locator("#timeline-runs li")).to_have_count(len(opened))
    page.go_back()
    page.wait_for_selector("main.distributions")
    wait_idle(page)
    page.locator("[data-view=distributions-map]").focus()
    page.keyboard.press("ArrowRight")
    expect(card).to_contain_text("p10")
    page.keyboard.press("Enter")
    page.wait_for_selector("main.timeline")
    wait_idle(page)
