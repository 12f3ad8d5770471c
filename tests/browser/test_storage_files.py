"""Downloads of Storage: a picture for paper, and the page as a file."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from app.__main__ import main
from app.storage.views import VIEWS
from tests.browser.atlas import paper, press, wait_idle
from tests.browser.storage_page import StoragePage

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.usefixtures("storage")
def test_a_picture_for_paper_names_the_modes(page: Page) -> None:
    svg = paper(page.locator('section[data-view="storage-latency"]'), "svg").decode()
    for name in ("interrupt", "classic polling", "hybrid polling", "published"):
        assert f">{name}<" in svg


def test_an_exported_file_links_its_pictures_by_mouse_and_keys(
    page: Page, study: Path, tmp_path: Path
) -> None:
    out = tmp_path / "storage.html"
    assert main(["export", str(out), "--page", "storage", "--lake", str(study)]) == 0
    page.goto(out.as_uri())
    storage = StoragePage(page)
    storage.drawn()
    assert storage.caught("iops") == [None, None, None]
    assert "Mean latency: 10.1 us" in storage.card("latency", 0, 0)
    storage.click_point("cpu", 1, 2)
    assert storage.selection() == "selection: 2 runs in 1 configuration"
    assert storage.caught("power") == storage.caught("iops") == [0, 1, 0]
    assert storage.veiled("bytes-joule") == 17
    press(page, "Escape")
    assert storage.selection() == ""
    page.locator("section[data-view='storage-cpu']").focus()
    page.keyboard.press("ArrowRight")
    press(page, "Enter")
    assert storage.selection() == "selection: 2 runs in 1 configuration"
    page.locator("#theme-button").click()
    wait_idle(page)
    assert page.evaluate("document.getElementById('storage-iops').layout.font.color") == "#e6e8eb"
    assert storage.caught("iops") == [1, 0, 0]
    page.locator(".section-tab", has_text="Devices side by side").click()
    wait_idle(page)
    assert page.locator(".section-tab[aria-current]").inner_text() == "Devices side by side"
    assert storage.overlaps() == []
    assert (
        len(VIEWS)
        == page.locator(
            ".storage-panel .js-plotly-plot, .storage-panel .graph.js-plotly-plot"
        ).count()
    )
