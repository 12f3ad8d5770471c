"""Pages on a lake that is empty, is filled meanwhile, or is pinned by a link."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.atlas import Atlas
from tests.fixtures.lakes import run, write_lake

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_an_empty_lake_shows_the_next_step_and_after_a_reload_its_runs(
    atlas: Atlas, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    address = serve(tmp_path / "lake")
    atlas.page.goto(address)
    text = atlas.page.locator("main").inner_text()
    assert "The lake holds no runs yet." in text
    # No menu names what no run has.
    assert not re.search("DVFS|ITR|p99", text)
    assert "python -m ingest add" in text
    assert "empty" in atlas.page.locator("#lake-line").inner_text()

    write_lake(tmp_path / "lake", [run(replicate=r, energy_j=900.0 + r) for r in (0, 1)])
    atlas.page.reload()
    atlas.ready()
    assert atlas.status() == "2 of 2 runs"
    assert "v0 · 2 runs" in atlas.page.locator("#lake-line").inner_text()

    write_lake(tmp_path / "lake", [run(itr_us=50.0, is_synthetic=True)])
    pinned = f"{address}/?v=2&workload=memcached&lake=0"
    atlas.page.goto(pinned)
    atlas.ready()
    assert atlas.status() == "2 of 2 runs"
    assert "lake=0" in atlas.page.url
    atlas.page.goto(address)
    atlas.ready()
    assert atlas.status() == "3 of 3 runs"
    assert "synthetic data" in atlas.layout("scatter")["title"]["text"]
    assert atlas.page.locator(".badge").inner_text() == "holds synthetic data"
