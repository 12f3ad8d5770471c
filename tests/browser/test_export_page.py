"""An exported Explore, opened from a file: linked figures without network."""

from pathlib import Path

import pytest

from app.__main__ import main
from tests.browser.atlas import Atlas, wait_idle
from tests.browser.conftest import grid_rows
from tests.fixtures.lakes import write_lake

pytestmark = pytest.mark.browser

_DRAWN = """() => window.wattlas && ["scatter", "heatmap"].every((id) => {
  const gd = wattlas.plot(id); return gd && gd._fullLayout && gd.calcdata; })"""


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    lake = write_lake(tmp_path / "lake", grid_rows())
    out = tmp_path / "view.html"
    state = "v=2&workload=memcached&load=200000&limit=120&hsys=linux_tuned"
    state += '&sel=knobs~{"system":"linux_tuned","dvfs_ghz":1.3,"itr_us":50}'
    assert main(["export", str(out), "--lake", str(lake), "--state", state]) == 0
    return out


def test_export_shows_limit_and_selection_and_links(atlas: Atlas, exported: Path) -> None:
    page = atlas.page
    page.goto(exported.as_uri())
    page.wait_for_function(_DRAWN)
    wait_idle(page)
    assert [shape["x0"] for shape in atlas.layout("scatter")["shapes"]] == [120]
    assert sum(n or 0 for n in atlas.selected_counts()) == 1
    assert atlas.veiled_cells() == 11
    page.keyboard.press("Escape")
    wait_idle(page)
    assert atlas.veiled_cells() == 0
    atlas.drag("heatmap", (0.02, 0.02), (0.98, 0.3))
    assert sum(n or 0 for n in atlas.selected_counts()) == 4
    assert "selection: 8 runs in 4 configurations" in atlas.selection()
    page.locator("#best-table tbody tr").filter(has_text="Library OS").click()
    wait_idle(page)
    # Its set: two ITR within the limit take the same energy.
    assert sum(n or 0 for n in atlas.selected_counts()) == 2
    page.locator("#theme-button").click()
    wait_idle(page)
    assert atlas.layout("scatter")["font"]["color"] == "#e6e8eb"
