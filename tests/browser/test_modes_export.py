"""An exported Modes, opened from a file: linked figures and one cell's evidence, no network."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from app.kit.context import Lakes
from app.modes.page import PAGE
from app.serve.routes import export_html
from tests.browser.atlas import press, wait_idle
from tests.browser.conftest import grid_rows
from tests.browser.modes_page import ModesPage
from tests.fixtures.lakes import write_lake

pytestmark = pytest.mark.browser

QUERY = "v=2&workload=memcached&load=200000&x=itr&y=dvfs&who=system&metric=energy_j"
FIFTY = '&sel=knobs~{"dvfs_ghz":2.9,"itr_us":50}'
EVIDENCE = "#modes-evidence-words"


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> Lakes:
    return Lakes(write_lake(tmp_path_factory.mktemp("grid") / "lake", grid_rows()))


@pytest.fixture
def modes(page: Page, tmp_path: Path, lakes: Lakes, request: pytest.FixtureRequest) -> ModesPage:
    """The exported page of a query; by default the cell of FIFTY is selected."""
    file = tmp_path / "modes.html"
    query = getattr(request, "param", QUERY + FIFTY)
    file.write_text(export_html(PAGE, lakes, query), "utf-8")
    page.goto(file.as_uri())
    page.wait_for_function(
        "() => window.wattlas && wattlas.plot && ['winners', 'shares', 'pareto', 'evidence'].every("
        "(id) => wattlas.plot(id) && wattlas.plot(id).calcdata)"
    )
    wait_idle(page)
    return ModesPage(page)


def test_it_opens_with_the_selected_cell_and_its_evidence(modes: ModesPage) -> None:
    assert modes.texts()["1,2"].endswith("\u221240.0 %")
    assert [column for column, _ in modes.lit()] == [1]
    assert modes.lit_points() == [1, 1, 0]
    assert modes.selection() == "selection: ITR 50 us \u00b7 2.9 GHz"
    words = modes.page.locator(EVIDENCE).inner_text()
    assert words.startswith("Library OS wins over Linux tuned")
    assert "n = 2 and 2" in words
    assert modes.page.locator("main a").count() == 0
    hue = modes.page.locator(".swatch").first.evaluate("(e) => getComputedStyle(e).backgroundColor")
    assert hue == "rgb(213, 94, 0)"


@pytest.mark.slow
def test_hover_click_escape_and_keys_link_the_figures(modes: ModesPage) -> None:
    page = modes.page
    left, top = modes.place("winners", 0, 0)
    assert modes.point_at(left, top).startswith("ITR 2 us \u00b7 1.3 GHz")
    page.mouse.click(left, top)
    wait_idle(page)
    assert [column for column, _ in modes.lit()] == [0]
    # Another cell than the exported one shows its comparison, without runs.
    words = page.locator(EVIDENCE).inner_text()
    assert "Library OS wins over Linux tuned: \u221240.0 %" in words
    assert "not in this file" in words
    assert page.locator("#evidence").is_hidden()
    press(page, "Escape")
    assert (modes.veiled(), modes.selection()) == (0, "")
    assert page.locator("#evidence").is_visible()
    page.locator('section[data-view="shares"]').focus()
    press(page, "Enter")
    assert modes.selection() == "selection: 12 cells (won by Library OS)"
    assert modes.veiled() == 1


@pytest.mark.slow
@pytest.mark.parametrize("modes", [QUERY], indirect=True)
def test_without_a_cell_the_closest_contest_is_there(modes: ModesPage) -> None:
    assert modes.evidence_title().startswith("closest: ")
    assert modes.veiled() == 0
