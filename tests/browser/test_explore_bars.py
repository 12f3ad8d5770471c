"""Error bars that leave the axes, and odd runs, as a visitor sees them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.atlas import Atlas, wait_idle
from tests.fixtures.lakes import run, write_lake

pytestmark = pytest.mark.browser

# Eleven settings with p99 near 100, 110, ... 200 us, and one with runs of 1000, 100, 101 us: its
# mean is 400 us +- 519 us. Energies are 10 to 21 J.
LINK = "?v=2&workload=memcached&load=200000"
ARROWS = """() => {
  const t = wattlas.plot("scatter")._fullData.find((t) => t.meta && t.meta.kind === "arrows");
  return t.x.map((x, i) => [x, t.y[i], t.marker.symbol[i]]);
}"""


def _rows() -> list[dict[str, Any]]:
    odd = [(1.0, (1000.0, 100.0, 101.0))]
    even = [(float(i + 1), (90.0 + 10 * i, 90.5 + 10 * i, 91.0 + 10 * i)) for i in range(1, 12)]
    return [
        run(itr_us=itr, replicate=i, latency_p99_us=value, energy_j=9.0 + itr)
        for itr, values in (*odd, *even)
        for i, value in enumerate(values)
    ]


@pytest.fixture(scope="module")
def noisy(serve: Callable[[Path], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    return serve(write_lake(tmp_path_factory.mktemp("noisy") / "lake", _rows()))


def edges(atlas: Atlas) -> tuple[float, float]:
    low, high = atlas.page.evaluate("wattlas.plot('scatter')._fullLayout.xaxis.range")
    return low, high


def test_bars_that_leave_the_axis_end_in_arrow_heads(atlas: Atlas, noisy: str) -> None:
    atlas.open(noisy, LINK)
    low, high = edges(atlas)
    assert atlas.page.evaluate(ARROWS) == [
        [pytest.approx(low, abs=0.01), 10, "triangle-left"],
        [pytest.approx(high, abs=0.01), 10, "triangle-right"],
    ]
    atlas.open(noisy, LINK + "&xlog=1")
    low, high = edges(atlas)
    # 400 - 519 has no logarithm: the bar is drawn, and its arrow stands at the lower edge.
    assert atlas.page.evaluate(ARROWS) == [
        [pytest.approx(10**low, rel=1e-4), 10, "triangle-left"],
        [pytest.approx(10**high, rel=1e-4), 10, "triangle-right"],
    ]


def test_what_lies_beyond_is_counted_at_the_edges_and_a_click_shows_it(
    atlas: Atlas, noisy: str
) -> None:
    atlas.open(noisy, LINK)
    beyond = atlas.page.locator("[data-view=scatter] .annotation-text")
    expect(beyond).to_have_count(0)
    atlas.page.evaluate("Plotly.relayout(wattlas.plot('scatter'), {'xaxis.range': [145, 215]})")
    wait_idle(atlas.page)
    # Of means from 100.5 to 200.5 us and one of 400 us, five lie below and one above.
    assert beyond.all_text_contents() == [
        "\N{BLACK LEFT-POINTING SMALL TRIANGLE} 5 beyond",
        "1 beyond \N{BLACK RIGHT-POINTING SMALL TRIANGLE}",
    ]
    beyond.last.click(force=True)
    expect(beyond).to_have_count(0)
    low, high = edges(atlas)
    assert low < 100 < 400 < high


def test_arrow_heads_follow_a_zoom(atlas: Atlas, noisy: str) -> None:
    atlas.open(noisy, LINK)
    atlas.page.evaluate("Plotly.relayout(wattlas.plot('scatter'), {'xaxis.range': [350, 450]})")
    wait_idle(atlas.page)
    assert [row[2] for row in atlas.page.evaluate(ARROWS)] == ["triangle-left", "triangle-right"]
    assert atlas.page.evaluate(ARROWS)[0][0] == pytest.approx(350)
    atlas.page.evaluate("Plotly.relayout(wattlas.plot('scatter'), {'xaxis.range': [-500, 1500]})")
    wait_idle(atlas.page)
    assert atlas.page.evaluate(ARROWS) == []


def test_odd_runs_are_counted_named_and_left_out(atlas: Atlas, noisy: str) -> None:
    atlas.open(noisy, LINK)
    assert atlas.status() == "36 of 36 runs · 1 odd run"
    left, top = atlas.pixel("scatter", 1201 / 3, 10)
    atlas.page.mouse.move(left - 40, top - 30)
    atlas.page.mouse.move(left, top, steps=4)
    wait_idle(atlas.page)
    card = atlas.page.locator("#hover-card").inner_text()
    assert "odd: p99 latency 1.00 ms (median of 3: 101 us)" in card
    atlas.page.locator("#explore-noodd").click(force=True)
    wait_idle(atlas.page)
    assert atlas.status() == "36 of 36 runs · without 1 odd run"
    assert "noodd=1" in atlas.page.url
    assert atlas.page.evaluate(ARROWS) == []
    assert edges(atlas)[1] < 300
