"""The tool bars and legends of pictures: they work, and cover nothing at any width."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.atlas import Atlas, press, visit, wait_idle
from tests.browser.overlaps import WIDTHS, overlaps, unreachable

pytestmark = pytest.mark.browser


@pytest.mark.thin(2)
@pytest.mark.parametrize(("width", "height"), WIDTHS)
@pytest.mark.parametrize("path", ["/", "/modes", "/timeline", "/models"])
def test_nothing_overlaps(
    page: Page, logged_address: str, path: str, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    visit(page, logged_address + path)
    assert overlaps(page) == []
    assert unreachable(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_all_sentences_of_the_lead_are_whole(page: Page, grid_address: str) -> None:
    page.set_viewport_size({"width": 1200, "height": 700})
    visit(page, f"{grid_address}/?v=2&workload=memcached")
    lead = page.locator("#explore-findings p")
    assert sum(one["height"] for one in map(Locator.bounding_box, lead.all()) if one) > 60
    assert unreachable(page) == []


def test_a_title_divides_only_words_that_are_wider_than_its_picture(
    page: Page, grid_address: str
) -> None:
    visit(page, f"{grid_address}/?v=2&workload=memcached")
    word = "a_system_with_a_name_that_is_longer_than_its_picture"
    fitted = """(text) => wattlas.titles.fitted({ clientWidth: 200, clientHeight: 200 },
      { title: { text, font: { size: 14 } }, margin: { l: 0, r: 0, t: 30, b: 0 } }).title.text"""
    lines = page.evaluate(fitted, f"Energy of {word} at 5 &amp; 6").split("<br>")
    assert lines[0] == "Energy of"
    assert "".join(lines[1:]) == f"{word} at 5 &amp; 6"
    assert len(lines) > 2
    assert page.evaluate(fitted, "Energy at 200k QPS") == "Energy at 200k QPS"


def test_the_title_of_an_axis_is_no_wider_than_its_axis(page: Page, grid_address: str) -> None:
    """Brackets go first, then the dataset of a guessed unit, then the scale; then its end."""
    visit(page, f"{grid_address}/?v=2&workload=memcached")
    fitted = """([text, clientHeight]) => wattlas.titles.fitted({ clientWidth: 300, clientHeight },
      { margin: { l: 0, r: 0, t: 0, b: 0 }, yaxis: { title: { text } } }).yaxis.title.text"""
    long = "Time, s, unit guessed in a_study_of_compilers (less is better) \u00b7 log scale"
    steps = ("Time, s, unit guessed in a_study_of_compilers \u00b7 log scale",
             "Time, s, unit guessed \u00b7 log scale", "Time, s, unit guessed")  # fmt: skip
    shown = [page.evaluate(fitted, [long, height]) for height in range(600, 160, -5)]
    assert list(dict.fromkeys(shown)) == [long, *steps]
    cut = page.evaluate(fitted, [long, 60])
    assert cut.endswith("\N{HORIZONTAL ELLIPSIS}")
    assert steps[-1].startswith(cut[:-1])
    # A picture that gets lower is drawn again where the title of an axis is then too long.
    refit = """([text, clientHeight]) => wattlas.titles.areFitted({ clientWidth: 300, clientHeight,
      layout: { yaxis: { title: { text } } } },
      { margin: { l: 0, r: 0, t: 0, b: 0 }, yaxis: { title: { text } } })"""
    assert [page.evaluate(refit, [long, height]) for height in (600, 160)] == [True, False]
    # Of a name that is too long for its axis the unit stays.
    named = page.evaluate(fitted, ["energy_of_a_very_long_name_mean, mJ/image", 150])
    assert re.fullmatch("energy_of_\\w+\N{HORIZONTAL ELLIPSIS}, mJ/image", named)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), WIDTHS)
def test_nothing_overlaps_in_storage(
    page: Page, study_address: str, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    visit(page, study_address + "/storage")
    assert overlaps(page) == []


def ranges(page: Page, graph: str) -> list[Any]:
    return list(page.evaluate(f"wattlas.plot('{graph}')._fullLayout.xaxis.range"))


def test_the_tools_of_the_scatter(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address)
    page = atlas.page
    bar = page.locator("[data-tools-of=scatter]")
    assert page.locator(".modebar-btn").count() == 0
    # Nor has it a toast, "Double-click to zoom back out".
    assert page.evaluate("wattlas.plot('scatter')._context.showTips") is False
    names = [tool.get_attribute("aria-label") for tool in bar.locator("button").all()]
    assert names == [
        "drag to zoom", "drag to move", "drag to select a box", "drag to select by a lasso",
        "zoom in", "zoom out", "fit all points", "reset axes",
        "present: this picture alone, large (p)",
    ]  # fmt: skip
    # It is one stop of the keyboard.
    assert bar.locator("[tabindex='0']").count() == 1
    bar.locator("button").first.focus()
    page.keyboard.press("ArrowLeft")
    focused = "document.activeElement.getAttribute('aria-label')"
    press(page, "Enter")
    expect(page.locator(".panel.presented")).to_have_attribute("data-view", "scatter")
    press(page, "Escape")
    expect(page.locator(".panel.presented")).to_have_count(0)
    bar.locator("button").first.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    assert page.evaluate(focused) == "zoom in"
    low, high = ranges(page, "scatter")
    press(page, "Enter")
    near = ranges(page, "scatter")
    assert near[1] - near[0] == pytest.approx((high - low) / 2)
    assert sum(near) == pytest.approx(low + high)
    page.wait_for_function("location.search.includes('zoom=')")
    bar.get_by_label("reset axes").click()
    wait_idle(page)
    assert ranges(page, "scatter") == [low, high]
    pan = bar.get_by_label("drag to move")
    pan.click()
    expect(pan).to_have_attribute("aria-pressed", "true")
    expect(bar.get_by_label("drag to select a box")).to_have_attribute("aria-pressed", "false")
    assert page.evaluate("wattlas.plot('scatter')._fullLayout.dragmode") == "pan"
    # A figure that comes later keeps it, as it kept the tool of Plotly's bar.
    atlas.chip("itr", "50")
    assert page.evaluate("wattlas.plot('scatter')._fullLayout.dragmode") == "pan"
    bar.get_by_label("drag to select a box").click()
    wait_idle(page)
