"""An exported Explore, opened from a file: linked figures without network."""

from pathlib import Path

import pytest

from tests.browser.atlas import Atlas, press, visit, wait_idle

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_export_shows_limit_and_selection_and_links(
    atlas: Atlas, grid_address: str, tmp_path: Path
) -> None:
    page = atlas.page
    state = "?v=2&workload=memcached&load=200000&limit=120&hsys=linux_tuned"
    state += '&sel=knobs~{"system":"linux_tuned","dvfs_ghz":1.3,"itr_us":50}'
    visit(page, f"{grid_address}/{state}")
    with page.expect_download() as download:
        page.get_by_role("link", name="export", exact=True).click()
    out = tmp_path / download.value.suggested_filename
    download.value.save_as(out)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(out.as_uri())
    page.wait_for_function("() => window.wattlas && wattlas.plot && wattlas.plot('heatmap')")
    wait_idle(page)
    assert [shape["x0"] for shape in atlas.layout("scatter")["shapes"]] == [120]
    assert sum(n or 0 for n in atlas.selected_counts()) == 1
    assert atlas.veiled_cells() == 11
    press(page, "Escape")
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
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
