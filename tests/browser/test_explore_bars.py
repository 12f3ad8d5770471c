"""Error bars that leave the axes, odd runs, and names that are long or have tags.

A second workload has ten machines with long names.
"""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.atlas import Atlas, visit, wait_idle
from tests.browser.overlaps import WIDTHS, overlaps
from tests.browser.test_hostile_names import FOUND, NAME
from tests.browser.test_hostile_names import LINK as ANCHOR
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
    noisy = [
        run(itr_us=itr, replicate=i, latency_p99_us=value, energy_j=9.0 + itr)
        for itr, values in (*odd, *even)
        for i, value in enumerate(values)
    ]
    machines = [
        run(machine=f"r650-with-a-long-name-{m}", itr_us=itr, dvfs_ghz=1.2 + m / 10,
            latency_p99_us=60.0 + 3 * m + itr, energy_j=900.0 + 50 * m - itr, workload="nodejs")
        for m in range(10) for itr in (2.0, 50.0, 100.0)
    ]  # fmt: skip
    return [row | {"system_label": f"{NAME}Linux"} for row in (*noisy, *machines)]


@pytest.fixture(scope="module")
def noisy(serve: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> str:
    return serve(write_lake(tmp_path_factory.mktemp("noisy") / "lake", _rows()), "--sql", "on")


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
    # They follow a zoom.
    atlas.page.evaluate("Plotly.relayout(wattlas.plot('scatter'), {'xaxis.range': [350, 450]})")
    wait_idle(atlas.page)
    assert [row[2] for row in atlas.page.evaluate(ARROWS)] == ["triangle-left", "triangle-right"]
    assert atlas.page.evaluate(ARROWS)[0][0] == pytest.approx(350)
    atlas.page.evaluate("Plotly.relayout(wattlas.plot('scatter'), {'xaxis.range': [-500, 1500]})")
    wait_idle(atlas.page)
    assert atlas.page.evaluate(ARROWS) == []
    # A name is shown as it is, and is no link.
    found = atlas.page.evaluate(FOUND)
    assert found["links"] == []
    assert ANCHOR in found["shown"]
    assert ANCHOR in found["pictured"]
    assert "&lt;" not in found["shown"]
    atlas.open(noisy, LINK + "&xlog=1")
    low, high = edges(atlas)
    # 400 - 519 has no logarithm: the bar is drawn, and its arrow stands at the lower edge.
    assert atlas.page.evaluate(ARROWS) == [
        [pytest.approx(10**low, rel=1e-4), 10, "triangle-left"],
        [pytest.approx(10**high, rel=1e-4), 10, "triangle-right"],
    ]


MARKS = """(id) => {
  const { data, layout } = document.getElementById(id);
  const arrows = data.filter(({ meta }) => meta.kind === "arrows");
  return [
    arrows.map(({ x, y, marker }) => [[...x], [...y], marker.symbol]),
    (layout.shapes || []).map(({ x0 }) => x0),
  ];
}"""


@pytest.mark.parametrize("query", [LINK, f"{LINK}&xlog=1", f"{LINK}&limit=150"])
def test_the_first_picture_has_the_marks_that_the_page_has(
    atlas: Atlas, noisy: str, query: str
) -> None:
    page = atlas.page
    page.route("**/_dash-layout", lambda route: route.abort())
    page.goto(f"{noisy}/{query}")
    page.locator("#opening .gtitle").wait_for()
    arrows, limits = page.evaluate(MARKS, "opening")
    page.unroute("**/_dash-layout")
    atlas.open(noisy, query)
    drawn, drawn_limits = page.evaluate(MARKS, page.evaluate("wattlas.plot('scatter').id"))
    assert limits == drawn_limits == ([150] if "limit" in query else [])
    assert [symbols for _, _, symbols in arrows] == [["triangle-left", "triangle-right"]]
    for of_first, of_page in zip(arrows[0][:2], drawn[0][:2], strict=True):
        assert of_first == pytest.approx(of_page, rel=1e-6)


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
    shown = atlas.page.locator("[data-view=scatter] .hoverlayer .hovertext")
    beyond.last.hover(force=True)
    expect(shown).to_have_count(1)
    beyond.last.click(force=True)
    expect(beyond).to_have_count(0)
    expect(shown).to_have_count(0)
    low, high = edges(atlas)
    assert low < 100 < 400 < high


def test_odd_runs_are_counted_named_and_left_out(atlas: Atlas, noisy: str) -> None:
    atlas.open(noisy, LINK)
    assert atlas.status() == "36 of 66 runs · 1 odd run"
    left, top = atlas.pixel("scatter", 1201 / 3, 10)
    assert "odd: p99 latency 1.00 ms (median of 3: 101 us)" in atlas.point_at(left, top)
    atlas.page.locator("#explore-noodd").click(force=True)
    wait_idle(atlas.page)
    assert atlas.status() == "36 of 66 runs · without 1 odd run"
    assert "noodd=1" in atlas.page.url
    assert atlas.page.evaluate(ARROWS) == []
    assert edges(atlas)[1] < 300


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), WIDTHS)
@pytest.mark.parametrize("symbol", ["machine", "none"])
def test_ten_machines_leave_the_axes_free(
    page: Page, noisy: str, symbol: str, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    visit(page, f"{noisy}/?v=2&workload=nodejs&col=machine&size=itr&sym={symbol}")
    assert overlaps(page) == []
    names = page.locator(".legend-name").all_inner_texts()
    assert sum(name.startswith("r650") for name in names) >= (10 if symbol == "machine" else 2)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), WIDTHS)
def test_nothing_overlaps_in_a_chart_of_sql(
    page: Page, noisy: str, width: int, height: int
) -> None:
    sql = "select+machine,itr_us,energy_j+from+runs+where+machine+is+not+null"
    link = f"{noisy}/sql?v=2&sql={sql}&x=itr_us&y=energy_j&col=machine"
    page.set_viewport_size({"width": width, "height": height})
    visit(page, link)
    expect(page.locator("[data-legend-of='sql-chart'] button")).to_have_count(10)
    wait_idle(page)
    assert overlaps(page) == []
