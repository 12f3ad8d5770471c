"""Findings in a browser: a claim is selected, a knob's bar opens its effect, the URL keeps both."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.atlas import query_of, visit, wait_idle

pytestmark = pytest.mark.browser


def query(page: Page) -> dict[str, list[str]]:
    return query_of(page)


def test_a_claim_and_a_knob(page: Page, grid_address: str) -> None:
    """Linux tuned and library OS over ITR x DVFS: energy is 1,000 or 600 J x GHz."""
    visit(page, f"{grid_address}/findings")
    # Each list is one stop of the Tab key; arrows go on.
    lists = page.locator(".findings-claims:has(a)")
    for one in lists.all():
        assert one.locator(":is(a, summary)[tabindex='0']").count() == 1
    links = lists.first.locator("a")
    links.first.focus()
    page.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()
    row = page.locator(".findings-claims > li[data-sel^=knobs]").first
    row.locator(".sentence").click()
    expect(row).to_have_class("holds selected")
    assert query(page)["sel"][0].startswith('knobs~{"system":')
    # Another metric's claim on the same setting, by its link.
    setting, claim = query(page)["sel"][0], row.get_attribute("data-claim")
    others = page.locator(
        f".findings-claims > li:not([data-claim='{claim}'])[data-sel='{setting}']"
    )
    other = others.first.get_attribute("data-claim")
    # The second time the server has all answers, while the page's first text is still there.
    for _ in range(2):
        visit(page, f"{grid_address}/findings?v=2&claim={other}")
        selected = page.locator(".findings-claims > li.selected")
        expect(selected).to_have_attribute("data-claim", str(other))
    expect(selected).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(selected).to_have_count(0)
    assert "sel" not in query(page)
    # The first sweep's bars of p99, the second picture: DVFS, which does nothing, then ITR.
    page.locator(".panel-knobs").scroll_into_view_if_needed()
    page.locator("#knobs .subplot.x2y2 .bars .point path").nth(1).click(force=True)
    wait_idle(page)
    assert query(page)["knob"] == ["itr_us"]
    expect(page.locator("#effect .gtitle")).to_contain_text("Energy by ITR")
    wanted = "knob=itr_us"
    assert wanted in str(page.locator("#findings-to-list").get_attribute("href"))
