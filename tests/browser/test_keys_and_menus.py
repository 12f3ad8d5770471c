"""Explore by keyboard, and its menus."""

import csv
import io

import pytest
from playwright.sync_api import expect

from tests.browser.atlas import Atlas, paper, press, wait_idle

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_heatmap_and_scatter_have_a_keyboard_cursor(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000&hsys=linux_tuned")
    atlas.page.locator("section[data-view=heatmap]").focus()
    atlas.page.keyboard.press("ArrowRight")
    card = atlas.page.locator("#hover-card")
    # The cell of ITR 50 us at 1.3 GHz: 1300 and 1301 J.
    assert "ITR 50 us · 1.3 GHz" in card.inner_text()
    assert "Energy: 1.30 kJ" in card.inner_text()
    atlas.press("Enter")
    assert sum(n or 0 for n in atlas.selected_counts()) == 1
    atlas.page.keyboard.press("Escape")
    atlas.page.locator("section[data-view=scatter]").focus()
    atlas.page.keyboard.press("ArrowRight")
    atlas.page.keyboard.press("ArrowRight")
    assert "ITR 2 us" in card.inner_text()
    atlas.press("Enter")
    assert "in 1 configuration ·" in atlas.selection()


def test_a_filter_is_one_stop_and_a_menu_closes_by_escape_and_by_its_button(
    atlas: Atlas, grid_address: str
) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000")
    press, page = atlas.page.keyboard.press, atlas.page
    box = page.locator("[data-facet=itr] input")
    box.first.focus()
    press("ArrowRight")
    expect(box.nth(1)).to_be_focused()
    press("Space")
    atlas.ready()
    assert "itr=" in page.url
    assert not box.first.is_checked()
    press("End")
    expect(box.last).to_be_focused()
    press("Tab")
    assert page.evaluate("document.activeElement.closest('[data-facet=itr]')") is None
    button = page.locator("section[data-view=heatmap]").get_by_label("menu of this view")
    menu, shown = page.get_by_role("menu"), page.url
    for leave in (lambda: press("Escape"), lambda: press("End") or press("Enter")):
        button.focus()
        press("Enter")
        expect(page.get_by_role("menuitem", name="Copy link")).to_be_focused()
        press("ArrowDown")
        expect(page.get_by_role("menuitem", name="Figure for a paper")).to_be_focused()
        leave()
        expect(menu).to_have_count(0)
        expect(button).to_be_focused()
    assert page.url == shown
    # The title of a line of the legend is the menu of its knob.
    page.get_by_role("button", name="symbol: System").click()
    expect(page.get_by_role("menuitem", name="System", exact=True)).to_be_focused()
    expect(page.get_by_role("menu", name="symbol: choose another knob")).to_be_visible()
    page.get_by_role("menuitem", name="DVFS", exact=True).press("Enter")
    expect(page.get_by_role("button", name="symbol: DVFS")).to_be_focused()
    assert "sym=dvfs" in page.url


_COVER = """() => {
  const panel = document.querySelector(".panel.maximised");
  if (!panel) return null;
  const { width, height } = panel.getBoundingClientRect();
  const texts = [...panel.querySelectorAll("text, .legend-name")];
  const least = Math.min(...texts.map((part) => parseFloat(getComputedStyle(part).fontSize)));
  const textPx = (least * width) / panel.offsetWidth;
  return [panel.dataset.view, Math.round(width), Math.round(height), textPx];
}"""


def test_a_view_is_maximised_and_presented_by_keys(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000")
    page = atlas.page
    small, shown = atlas.layout("scatter"), page.url
    for key, view, least_px in (
        ("m", "scatter", 0),
        ("p", "scatter", 18),
        ("ArrowRight", "heatmap", 18),
    ):
        press(page, key)
        name, width, height, text_px = page.evaluate(_COVER)
        assert (name, width, height) == (view, 1440, 900)
        assert text_px > least_px - 0.1
    press(page, "Escape")
    assert page.evaluate(_COVER) is None
    assert page.url == shown
    assert atlas.layout("scatter")["xaxis"]["range"] == small["xaxis"]["range"]


def test_on_a_phone_menus_are_sheets_and_nothing_is_wider(atlas: Atlas, grid_address: str) -> None:
    page, width = atlas.page, 390
    page.set_viewport_size({"width": width, "height": 844})
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for part in (".lake-line", ".top nav", ".status"):
        box = page.locator(part).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    page.locator("section[data-view=scatter]").get_by_label("menu of this view").click()
    sheet = page.get_by_role("menu").bounding_box()
    assert sheet is not None
    assert (sheet["width"], sheet["y"] + sheet["height"]) == (width, 844)
    page.get_by_role("menuitem", name="Close").click()
    expect(page.get_by_role("menu")).to_have_count(0)


@pytest.mark.slow
def test_menu_explains_and_downloads_what_the_heatmap_shows(
    atlas: Atlas, grid_address: str
) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000&hsys=ebbrt_tuned")
    menu = atlas.page.locator("section[data-view=heatmap]").get_by_label("menu of this view")
    menu.click()
    with atlas.page.expect_download() as download:
        atlas.page.get_by_role("menuitem", name="Data as CSV").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert len(rows) == 12
    cell = next(r for r in rows if (r["dvfs_ghz"], r["itr_us"]) == ("1.9", "50.0"))
    assert (float(cell["energy_j"]), cell["n"]) == (1140.5, "2")  # 600 x 1.9, and 1 J more
    svg = paper(atlas.page.locator("section[data-view=heatmap]"), "svg").decode()
    assert "Interrupt delay (ITR), us" in svg
    # The caption counts the runs that the filters leave, as the status line does.
    status = atlas.page.locator(".status").inner_text()
    assert f"n = {status.split()[0]} runs" in svg
    assert "load 200000 QPS" in svg
    expect(menu).to_be_focused()
    menu.click()
    atlas.page.get_by_role("menuitem", name="How was this computed").click()
    wait_idle(atlas.page)
    text = atlas.page.locator("#explanation").inner_text()
    assert "version 0" in text
    assert "avg(energy_j)" in text
    assert "ebbrt_tuned" in text
    # The query, with its values, is opened and run in SQL.
    atlas.page.get_by_role("button", name="open in SQL").click()
    expect(atlas.page.locator("#sql-said")).to_contain_text("rows")
    assert "ebbrt_tuned" in atlas.page.locator("#sql-editor").input_value()


@pytest.mark.slow
def test_zoom_stays_in_the_url(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000")
    atlas.page.evaluate(
        """() => Plotly.relayout(wattlas.plot("scatter"),
             {"xaxis.range[0]": 50, "xaxis.range[1]": 150,
              "yaxis.range[0]": 500, "yaxis.range[1]": 2000})"""
    )
    wait_idle(atlas.page)
    url = atlas.page.url
    assert "zoom=50%7E150%7E500%7E2000" in url
    atlas.page.goto("about:blank")
    atlas.page.goto(url)
    atlas.ready()
    assert atlas.layout("scatter")["xaxis"]["range"] == [50, 150]
    assert atlas.page.url == url
    atlas.page.locator("[data-tools-of=scatter] [data-tool=reset]").click()
    wait_idle(atlas.page)
    low, high = atlas.layout("scatter")["xaxis"]["range"]
    assert low < 62
    assert high > 260
    assert "zoom" not in atlas.page.url


@pytest.mark.slow
def test_axes_switch_to_any_column_and_logarithm(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000")
    atlas.page.locator("#explore-y").click()
    atlas.page.get_by_role("option", name="Energy-delay product").click()
    wait_idle(atlas.page)
    atlas.page.get_by_label("log x").click(force=True)
    wait_idle(atlas.page)
    atlas.ready()
    layout = atlas.layout("scatter")
    assert layout["yaxis"]["title"]["text"] == "Energy-delay product, J s (less is better)"
    assert layout["xaxis"]["type"] == "log"
    # A box is in the columns' own values for any type of axis, so it holds all points.
    atlas.drag("scatter", (0.005, 0.005), (0.995, 0.995))
    assert atlas.selection().startswith("selection: 51 runs")
