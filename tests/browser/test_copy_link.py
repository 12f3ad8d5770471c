"""The link that a visitor copies: of the version on the screen, and copied in every browser."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.atlas import Atlas

pytestmark = pytest.mark.browser
_CLIPBOARD = """(clipboard) => Object.defineProperty(navigator, "clipboard",
  { configurable: true, value: clipboard && {
    writeText: async (text) => { window.written = text; } } })"""
_COPIED = """() => new Promise((done) => {
  document.addEventListener("copy", () => done(String(getSelection())), { once: true });
  document.querySelector(".status [data-action=copy-link]").click();
})"""


def check(link: str) -> None:
    found = parse_qs(urlsplit(link).query)
    assert found["lake"] == ["0"]
    assert (found["load"], found["limit"]) == (["200000"], ["120"])


def test_a_link_is_copied_in_every_browser(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000&limit=120")
    page = atlas.page
    button = page.locator(".status [data-action=copy-link]")
    assert "lake" not in page.url
    page.evaluate(_CLIPBOARD, True)
    button.click()
    page.wait_for_function("window.written")
    check(page.evaluate("window.written"))
    # Without the clipboard of https.
    page.evaluate(_CLIPBOARD, None)
    check(page.evaluate(_COPIED))
    expect(page.locator("#status-selection")).to_have_text(
        "link copied; it pins version 0 of the lake"
    )
    assert page.locator(".copied").count() == 0
    # Where nothing can be copied, the link is selected in a field.
    page.evaluate("document.execCommand = () => false")
    button.click()
    field = page.locator("dialog[open] input.link")
    check(field.input_value())
    selected = "(field) => field.value.slice(field.selectionStart, field.selectionEnd)"
    assert field.evaluate(selected) == field.input_value()
    page.keyboard.press("Escape")
    assert page.locator("dialog:has(input.link)").count() == 0
    page.evaluate("delete navigator.clipboard; delete document.execCommand")
