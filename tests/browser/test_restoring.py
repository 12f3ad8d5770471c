"""What a link restores, and what does not apply to another workload."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from app.explore.state import ExploreState
from data.catalogue import SHIPPED
from data.declared import Column
from tests.browser.atlas import Atlas
from tests.fixtures.lakes import run, write_lake

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BOX = "box%7Elatency_p99_us%7Eenergy_j%7E50%7E140%7E1200%7E2990"


@pytest.mark.parametrize("clause", [f"v=2&sel={BOX}", f"v=1&brush={BOX}"])
def test_a_link_restores_the_box_its_outline_and_the_table(
    atlas: Atlas, grid_address: str, clause: str
) -> None:
    query = f"?{clause}&workload=memcached&load=200000&system=linux_tuned"
    atlas.open(grid_address, query)
    atlas.page.wait_for_function(
        "() => document.querySelectorAll('#selected-table tbody tr').length === 6"
    )
    outline = atlas.layout("scatter")["selections"][0]
    assert (outline["x0"], outline["x1"], outline["y0"], outline["y1"]) == (50, 140, 1200, 2990)
    assert atlas.selection().startswith("selection: 12 runs in 6 configurations (box)")
    assert f"sel={BOX}" in atlas.page.url
    assert "v=2&" in atlas.page.url
    assert "brush" not in atlas.page.url
    headers = atlas.page.locator("#selected-table th").all_inner_texts()
    assert "Energy" in headers
    atlas.press("Escape")
    assert not atlas.layout("scatter").get("selections")


CELLS = 'knobs~[{"system":"linux_tuned","dvfs_ghz":[1.3,2.9],"itr_us":50}]'
WRITTEN = [
    "v=2&workload=memcached&load=200000&hsys=linux_tuned",
    "v=2&workload=memcached&load=200000&load=400000&system=ebbrt_tuned&itr=2&itr=50&itr=100"
    "&dvfs=1.9&rep=runs&x=energy_j&y=edp_js&xlog=1&ylog=1&frontier=0&hsys=ebbrt_tuned&hmet=ipc",
    f"v=2&workload=memcached&load=200000&hsys=linux_tuned&limit=120.5&sel={quote(CELLS)}&lake=0",
    "v=1&workload=memcached&load=200000&hsys=linux_tuned&zoom=50~150~500~2000"
    "&brush=cells~linux_tuned~2.9:50",
]


@pytest.mark.parametrize("query", WRITTEN)
def test_browser_and_server_write_a_state_alike(
    atlas: Atlas, grid_address: str, query: str
) -> None:
    state = ExploreState.from_query(query, SHIPPED)
    atlas.open(grid_address, f"?{query}")
    written = urlsplit(atlas.page.url).query
    assert ExploreState.from_query(written, SHIPPED) == ExploreState.from_query(
        state.to_query(), SHIPPED
    )
    assert parse_qsl(written) == parse_qsl(state.to_query())
    # Explore's tab on another page leads back to it.
    tab = atlas.page.locator("#tab-explore").get_attribute("href") or ""
    assert urlsplit(tab).query == written


def test_limit_zoom_and_selection_stay_with_their_workload(atlas: Atlas, grid_address: str) -> None:
    query = f"?v=2&workload=memcached&load=200000&limit=120&zoom=50~150~500~2000&sel={BOX}"
    # A link within the app from another workload, whose limit has another column and range.
    atlas.open(grid_address, "?v=2&workload=netpipe&message=8192&zoom=0.1~0.5~10.5~20")
    atlas.open(grid_address, query)
    assert atlas.page.locator("#explore-limit").input_value() == "120 us"
    assert atlas.layout("scatter")["xaxis"]["range"] == [50, 150]
    atlas.chip("workload", "netpipe")
    assert atlas.layout("scatter")["shapes"] == []
    assert atlas.layout("scatter")["xaxis"]["range"][1] < 1  # 0.3 s
    assert atlas.selected_counts() == [None]
    assert atlas.page.locator("#explore-limit").input_value() == ""
    atlas.page.locator("#explore-limit").fill("0.2")
    atlas.press("Tab")
    assert atlas.page.locator("#explore-limit").input_value() == "0.2 s"
    words = atlas.page.locator("#explore-findings").inner_text()
    assert "meets 200 ms" in words
    assert "the lowest time is 300 ms" in words
    for part in ("zoom=", "sel=", "limit=120"):
        assert part not in atlas.page.url


def test_the_heatmap_shows_a_system_that_the_filters_keep(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000&hsys=linux_tuned")
    atlas.chip("system", "ebbrt_tuned")
    assert "Library OS" in atlas.layout("heatmap")["title"]["text"]
    assert atlas.page.locator("#explore-hsys").input_value() == "Library OS"
    assert "hsys=ebbrt_tuned" in atlas.page.url


def test_points_determine_the_range_and_error_bars_do_not(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000")
    low, high = atlas.layout("scatter")["xaxis"]["range"]
    # Points from 62.05 to 260.05 us with 6 % on each side.
    assert low == pytest.approx(62.05 - 0.06 * 198)
    assert high == pytest.approx(260.05 + 0.06 * 198)


def test_each_quantity_of_a_selected_point_has_its_own_n(
    atlas: Atlas, serve: Callable[..., str], tmp_path: Path
) -> None:
    """Means of nine times with one reading of the energy."""
    own = [
        Column("block", "knob", "whole", "block", "block"),
        Column("aggregate_n", "label", "whole", "n", "n"),
        Column("sd_duration_s", "label", "real", "sd", "sd"),
    ]
    rows = [
        run(itr_us=None, block=block, energy_j=40.0 + block, duration_s=1.0 + 9 / block,
            aggregate_n=9, sd_duration_s=0.01, latency_p99_us=None,
            performance_metric="duration_s")
        for block in (32, 64, 128)
    ]  # fmt: skip
    atlas.open(serve(write_lake(tmp_path / "lake", rows, own)))
    atlas.page.wait_for_function(
        "() => document.querySelectorAll('#selected-table tbody tr').length > 0"
    )
    cells = [
        atlas.page.locator(f"#selected-table {name}").all_inner_texts() for name in ("th", "td")
    ]
    assert cells[0] == ["system", "block", "Energy", "n, Energy", "Time", "n, Time"]
    assert cells[1][-3:] == ["1", "1.28 s", "9"]
