"""The tool bars and legends of pictures: they work, and cover nothing at any width."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.atlas import Atlas, visit, wait_idle
from tests.browser.overlaps import overlaps
from tests.fixtures.lakes import run, write_lake

pytestmark = pytest.mark.browser

_LATER = ((390, 900), (1280, 900), (2560, 1440))
WIDTHS = [
    *((1024, 900), (1920, 1080)),
    *(pytest.param(*size, marks=pytest.mark.slow) for size in _LATER),
]


def at_width(page: Page, link: str, width: int, height: int) -> list[str]:
    """Open a link in a window of a size; what overlaps there."""
    page.set_viewport_size({"width": width, "height": height})
    visit(page, link)
    return overlaps(page)


@pytest.fixture(scope="module")
def machines_address(serve: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """An app on a lake of ten machines with long names."""
    rows = [
        run(machine=f"r650-with-a-long-name-{m}", itr_us=itr, dvfs_ghz=1.2 + m / 10,
            latency_p99_us=60.0 + 3 * m + itr, energy_j=900.0 + 50 * m - itr)
        for m in range(10) for itr in (2.0, 50.0, 100.0)
    ]  # fmt: skip
    return serve(write_lake(tmp_path_factory.mktemp("machines") / "lake", rows), "--sql", "on")


@pytest.mark.thin(4)
@pytest.mark.parametrize(("width", "height"), WIDTHS)
@pytest.mark.parametrize("path", ["/", "/modes", "/timeline", "/models"])
def test_nothing_overlaps(
    page: Page, logged_address: str, path: str, width: int, height: int
) -> None:
    assert at_width(page, logged_address + path, width, height) == []


@pytest.mark.thin(2)
@pytest.mark.parametrize(("width", "height"), WIDTHS)
def test_nothing_overlaps_in_storage(
    page: Page, study_address: str, width: int, height: int
) -> None:
    assert at_width(page, study_address + "/storage", width, height) == []


@pytest.mark.thin(2)
@pytest.mark.parametrize(("width", "height"), WIDTHS)
@pytest.mark.parametrize("symbol", ["machine", "none"])
def test_ten_machines_leave_the_axes_free(
    page: Page, machines_address: str, symbol: str, width: int, height: int
) -> None:
    link = f"{machines_address}/?v=2&workload=memcached&col=machine&size=itr&sym={symbol}"
    assert at_width(page, link, width, height) == []
    names = page.locator(".legend-name").all_inner_texts()
    assert sum(name.startswith("r650") for name in names) >= (10 if symbol == "machine" else 2)


@pytest.mark.thin(1)
@pytest.mark.parametrize(("width", "height"), WIDTHS)
def test_nothing_overlaps_in_a_chart_of_sql(
    page: Page, machines_address: str, width: int, height: int
) -> None:
    sql = "select+machine,itr_us,energy_j+from+runs"
    link = f"{machines_address}/sql?v=2&sql={sql}&x=itr_us&y=energy_j&col=machine"
    page.set_viewport_size({"width": width, "height": height})
    visit(page, link)
    expect(page.locator("[data-legend-of='sql-chart'] button")).to_have_count(10)
    wait_idle(page)
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
    ]  # fmt: skip
    low, high = ranges(page, "scatter")
    bar.get_by_label("zoom in").click()
    wait_idle(page)
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


def test_the_tool_bar_is_one_stop_of_the_keyboard(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address)
    page = atlas.page
    bar = page.locator("[data-tools-of=scatter]")
    assert bar.locator("[tabindex='0']").count() == 1
    bar.locator("button").first.focus()
    page.keyboard.press("ArrowLeft")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused) == "reset axes"
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    assert page.evaluate(focused) == "zoom in"
    low, high = ranges(page, "scatter")
    page.keyboard.press("Enter")
    wait_idle(page)
    near = ranges(page, "scatter")
    assert near[1] - near[0] == pytest.approx((high - low) / 2)
    bar.get_by_label("reset axes").click()
    wait_idle(page)


def test_an_entry_of_a_legend_hides_its_trace(page: Page, grid_address: str) -> None:
    visit(page, grid_address + "/modes?v=1&workload=memcached&load=200000&x=itr&y=dvfs&who=system")
    entry = page.locator("[data-legend-of=pareto] button").first
    entry.focus()
    page.keyboard.press("Enter")
    wait_idle(page)
    visible = "wattlas.plot('pareto').data.filter((t) => t.showlegend).map((t) => t.visible)"
    assert page.evaluate(visible)[0] == "legendonly"
    expect(entry).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Enter")
    wait_idle(page)
    assert page.evaluate(visible)[0] is True
