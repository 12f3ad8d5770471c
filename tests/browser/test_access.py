"""Access to every page in a browser: a checker of access, stops of Tab, one set of controls."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

import pytest
from playwright.sync_api import Page as Tab

from app.kit.page import Page
from app.pages import PAGES
from tests.browser.atlas import visit, wait_idle

pytestmark = pytest.mark.browser

page_by_page = pytest.mark.parametrize("owed", PAGES, ids=lambda page: page.name, scope="module")
AXE: Final = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
# Colours that are on their way have other contrasts.
_SERIOUS: Final = """async (options) => {
  await Promise.all(document.getAnimations().map((one) => one.finished));
  const { violations } = await axe.run(document, { resultTypes: ["violations"], ...options });
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target} ${node.html}`));
}"""
_TITLES: Final = """() => [...document.querySelectorAll("h1")]
  .filter((part) => part.getClientRects().length > 0).map((part) => part.textContent)"""
# Of groups of choices, those with several stops of the Tab key.
_STOPS: Final = """() => [...document.querySelectorAll(".facet-chips")]
  .filter((box) => box.querySelectorAll("input[type=checkbox]:not([tabindex='-1'])").length > 1)
  .map((box) => box.textContent)"""
# What opens a list, a menu or a dialog: of each kind the last one on the page is clicked.
_OPENERS: Final = (
    "main .mantine-Select-input[role=combobox]",
    "main .mantine-MultiSelect-inputField[role=combobox]", "main .select", "main .legend-title",
    "main [data-menu-of]", "main [data-pick-runs]:enabled",
    "#sql-history:enabled", "#help-button",
)  # fmt: skip
_SHOWN: Final = """() => [...document.querySelectorAll("[role=listbox], [role=menu], dialog[open]")]
  .filter((part) => part.getClientRects().length > 0).length"""
_CLOSE: Final = "() => document.querySelectorAll('dialog[open]').forEach((one) => one.close())"


def _serious(tab: Tab, options: Mapping[str, Any] | None = None) -> list[str]:
    found: list[str] = tab.evaluate(_SERIOUS, options or {})
    return found


def _switch_theme(tab: Tab) -> None:
    tab.locator("#theme-button").click()
    wait_idle(tab)


@pytest.mark.thin(1)
@page_by_page
def test_a_checker_of_access_finds_nothing_serious(
    page: Tab, logged_address: str, owed: Page
) -> None:
    """In both themes and on a phone. Each page has one title, each filter is one stop of Tab."""
    visit(page, logged_address + owed.path)
    page.evaluate(AXE)
    assert _serious(page) == []
    _switch_theme(page)
    assert _serious(page, {"runOnly": ["color-contrast"]}) == []
    _switch_theme(page)
    page.set_viewport_size({"width": 390, "height": 844})
    wait_idle(page)
    # The editor scrolls by its own keys.
    assert [part for part in _serious(page) if ".cm-scroller" not in part] == []
    page.set_viewport_size({"width": 1440, "height": 900})
    wait_idle(page)
    assert page.evaluate(_TITLES) == [owed.title]
    assert page.evaluate(_STOPS) == []


@pytest.mark.thin(1)
@page_by_page
def test_nor_with_a_list_a_menu_or_a_dialog_open(
    page: Tab, logged_address: str, owed: Page
) -> None:
    visit(page, logged_address + owed.path)
    page.evaluate(AXE)
    _open_each(page, {})
    _switch_theme(page)
    # Themes differ in colours alone.
    _open_each(page, {"runOnly": ["color-contrast"]})
    _switch_theme(page)


def _open_each(page: Tab, options: Mapping[str, Any]) -> None:
    for opener in _OPENERS:
        button = page.locator(f"{opener} >> visible=true").last
        if not button.count():
            continue
        button.click()
        wait_idle(page)
        assert page.evaluate(_SHOWN) >= 1, opener
        assert _serious(page, options) == [], opener
        page.keyboard.press("Escape")
        page.evaluate(_CLOSE)
        assert page.evaluate(_SHOWN) == 0, opener
    menu = page.locator("section:has(.js-plotly-plot) [data-menu-of] >> visible=true").first
    if menu.count():
        menu.click()
        page.get_by_role("menuitem", name="Figure for a paper", exact=True).click()
        assert _serious(page, options) == []
        page.keyboard.press("Escape")


# Of each control its kind and its look: height, size and family of the font, corners; the ring of
# the focus. Buttons of several lines are higher.
_LOOKS: Final = """() => {
  const kinds = {
    field: ".field:not(textarea), .select, .mantine-Input-input:not(.mantine-MultiSelect-input)",
    button: ".plain", chip: ".facet-chips label, .filtered-chip, .preset, .legend-title",
    segment: ".mantine-SegmentedControl-label", tab: ".section-tab",
    switch: ".mantine-Switch-track, input.switch",
  };
  const takesFocus = ":is(.field, .select, .plain, .mantine-Input-input):is(:enabled, a)";
  const look = (part, kind) => {
    const { fontSize, fontFamily, borderTopLeftRadius } = getComputedStyle(part);
    const height = Math.round(part.getBoundingClientRect().height), isText = kind !== "switch";
    return [kind, height, ...(isText ? [fontSize, fontFamily, borderTopLeftRadius] : [])].join(" ");
  };
  const ring = (part) => {
    part.focus({ focusVisible: true, preventScroll: true });
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(part);
    return ["ring", outlineStyle, outlineWidth, outlineColor].join(" ");
  };
  const found = Object.entries(kinds).flatMap(([kind, selector]) =>
    [...document.querySelectorAll(selector)].filter((part) => part.checkVisibility())
      .flatMap((part) => [look(part, kind), ...(part.matches(takesFocus) ? [ring(part)] : [])]));
  document.activeElement.blur();
  return [...new Set(found)].sort();
}"""


@pytest.mark.thin(2)
@page_by_page
def test_the_controls_are_one_set(page: Tab, logged_address: str, owed: Page) -> None:
    """Those of the component library and those of scripts."""
    visit(page, logged_address + owed.path)
    font = page.evaluate("getComputedStyle(document.body).fontFamily")
    accent = "rgb(11, 98, 176)"
    for _ in ("light", "dark"):
        text = f"12px {font} 4px"
        expected = {
            f"field 24 {text}", f"button 24 {text}", f"button 20 {text}", f"chip 20 {text}",
            f"segment 20 {text}", f"tab 24 13px {font} 4px", "switch 14",
            f"ring solid 2px {accent}",
        }  # fmt: skip
        assert set(page.evaluate(_LOOKS)) - expected == set()
        _switch_theme(page)
        accent = "rgb(111, 179, 242)"
