"""The link that a visitor copies: of the version on the screen, and copied in every browser."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.atlas import Atlas

pytestmark = pytest.mark.browser
# Browsers without it, and where the page may not copy by itself.
_NO_CLIPBOARD = "Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined })"
_NO_COPYING = "document.execCommand = () => false"
_COPIED = """() => new Promise((done) => {
  document.addEventListener("copy", () => done(String(getSelection())), { once: true });
  document.querySelector(".status [data-action=copy-link]").click();
})"""


def check(link: str) -> None:
    found = parse_qs(urlsplit(link).query)
    assert found["lake"] == ["0"]
    assert (found["load"], found["limit"]) == (["200000"], ["120"])


@pytest.mark.thin(1)
def test_without_the_clipboard_of_https_the_link_is_copied_all_the_same(
    new_tab: Page, grid_address: str
) -> None:
    new_tab.add_init_script(_NO_CLIPBOARD)
    Atlas(new_tab).open(grid_address, "?v=2&workload=memcached&load=200000&limit=120")
    assert "lake" not in new_tab.url
    check(new_tab.evaluate(_COPIED))
    expect(new_tab.locator("#status-selection")).to_have_text(
        "link copied; it pins version 0 of the lake"
    )
    assert new_tab.locator(".copied").count() == 0


@pytest.mark.slow
def test_where_nothing_can_be_copied_the_link_is_selected_in_a_field(
    new_tab: Page, grid_address: str
) -> None:
    new_tab.add_init_script(_NO_CLIPBOARD)
    new_tab.add_init_script(_NO_COPYING)
    Atlas(new_tab).open(grid_address, "?v=2&workload=memcached&load=200000&limit=120")
    new_tab.locator(".status [data-action=copy-link]").click()
    field = new_tab.locator("dialog[open] input.link")
    check(field.input_value())
    selected = "(field) => field.value.slice(field.selectionStart, field.selectionEnd)"
    assert field.evaluate(selected) == field.input_value()
    new_tab.keyboard.press("Escape")
    assert new_tab.locator("dialog:has(input.link)").count() == 0


@pytest.mark.slow
def test_with_the_clipboard_it_is_copied_there(new_tab: Page, grid_address: str) -> None:
    new_tab.add_init_script(
        "Object.defineProperty(Navigator.prototype, 'clipboard', "
        "{ value: { writeText: async (text) => { window.written = text; } } })"
    )
    Atlas(new_tab).open(grid_address, "?v=2&workload=memcached&load=200000&limit=120")
    new_tab.locator(".status [data-action=copy-link]").click()
    new_tab.wait_for_function("window.written")
    check(new_tab.evaluate("window.written"))
