"""Storage in a browser on lakes without runs, power, functions or names."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.atlas import wait_idle
from tests.browser.storage_page import StoragePage
from tests.fixtures.lakes import write_lake
from tests.fixtures.storage_rows import fio

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def open_on(page: Page, address: str) -> StoragePage:
    found = StoragePage(page)
    found.open(address)
    return found


def words_in(page: Page, view: str) -> str:
    return " ".join((page.locator(f"#storage-{view}").text_content() or "").split())


def test_runs_without_power_functions_and_names(
    serve: Callable[[Path], str], page: Page, tmp_path: Path
) -> None:
    rows = [
        fio("interrupt", device=None, depth=d, replicate=r, power_w=None, energy_j=None,
            interrupts=None) | {"mode": None}
        for d in (1, 2) for r in (0, 1)
    ]  # fmt: skip
    storage = open_on(page, serve(write_lake(tmp_path / "lake", rows)))
    assert storage.status() == "4 of 4 storage runs in 2 configurations"
    assert page.locator("#storage-legend button").inner_text().endswith("mode not said")
    assert page.locator("#storage-at").get_attribute("placeholder") == "not said"
    assert "meter's CSV" in words_in(page, "power")
    assert "VTune" in words_in(page, "loads")
    assert words_in(page, "power").startswith("Power by depth")
    picture, said = (page.locator(f"#storage-{view}").bounding_box() for view in ("cpu", "loads"))
    assert picture
    assert said
    assert said["height"] < picture["height"] / 2
    storage.click_point("iops", 0, 1)
    assert storage.selection() == "selection: 2 runs in 1 configuration"
    assert storage.caught("cpu") == [1]
    page.locator("#storage-legend button").click()
    wait_idle(page)
    assert storage.selection() == "selection: 4 runs in 2 configurations"
    assert storage.overlaps() == []
