"""What a visitor with an empty cache sees first, and what comes over the wire."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.browser.atlas import wait_idle
from tests.fixtures.lakes import run, write_lake

MOST_SCRIPT_BYTES = 1_700_000
CONTRAST = """(element) => {
  const levels = (text) => text.match(/[\\d.]+/g).slice(0, 3).map((v) => {
    const c = v / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const light = (text) => { const [r, g, b] = levels(text); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = element.closest(".panel"), of = (what, name) => light(getComputedStyle(what)[name]);
  const [dark, bright] = [of(element, "color"), of(back, "backgroundColor")].sort((a, b) => a - b);
  return [(bright + 0.05) / (dark + 0.05), of(back, "backgroundColor")];
}"""  # noqa: E501


def test_placeholders_are_there_before_dash_answers(page: Page, grid_address: str) -> None:
    held: list[Route] = []
    page.route(re.compile("/_dash-(layout|dependencies|update)"), held.append)
    page.goto(grid_address)
    page.wait_for_function("document.readyState === 'complete'")
    shown = page.locator(".first-page .panel").all_inner_texts()
    assert len(shown) >= 3
    assert all("loading" in text for text in shown)
    assert page.locator(".first-page .panel").first.is_visible()
    assert page.locator(".first-page").get_by_text("wattlas").is_visible()
    assert held, "Dash asked for nothing: the test holds the wrong requests"
    for route in held:
        route.continue_()
    page.unroute_all()
    page.locator(".page").wait_for()
    page.locator(".first-page").wait_for(state="hidden")


@pytest.mark.parametrize("path", ["", "modes", "timeline", "storage"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_placeholders_need_no_script(
    chromium: Browser, grid_address: str, path: str, theme: str
) -> None:
    context = chromium.new_context(java_script_enabled=False, color_scheme=theme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{grid_address}/{path}")
    words = page.locator(".first-page .panel .placeholder").first
    assert words.inner_text() == "loading"
    assert words.is_visible()
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_placeholders_can_be_read_in_both_themes(
    chromium: Browser, grid_address: str, theme: str
) -> None:
    context = chromium.new_context(color_scheme=theme)  # type: ignore[arg-type]
    page = context.new_page()
    page.route(re.compile(r"\.js"), lambda route: route.abort())
    page.goto(grid_address)
    contrast, background = page.locator(".first-page .panel .placeholder").first.evaluate(CONTRAST)
    assert contrast >= 4.5
    assert (background < 0.1) == (theme == "dark")
    context.close()


def test_an_unknown_address_promises_nothing(page: Page, grid_address: str) -> None:
    page.goto(f"{grid_address}/no-such-page")
    assert page.locator(".first-page").count() == 0


def test_the_first_load_is_small(
    page: Page, serve: Callable[[Path], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the best level is there; the grid of selected points comes with the first selection."""
    monkeypatch.setenv("WATTLAS_CACHE", str(Path.home() / ".cache" / "wattlas"))
    address = serve(write_lake(tmp_path / "lake", [run(energy_j=5.0), run(energy_j=6.0)]))
    page.goto(address)
    wait_idle(page)
    loaded = page.evaluate(
        "performance.getEntriesByType('resource').map((r) => [r.name, r.encodedBodySize])"
    )
    names = [name for name, _ in loaded]
    assert not [name for name in names if "dash_ag_grid" in name or "dash_table" in name]
    assert sum(size for name, size in loaded if "update-component" not in name) < 2_400_000
