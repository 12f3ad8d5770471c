"""Modes in a browser: axes, a cell and its evidence, links to Explore and back.

The lake is that of `grid_rows`: energy = 1,000 J x system factor x GHz + replicate (0 or 1), the
library OS's factor 0.6, p99 = 60 us + ITR + replicate / 10 for both; two loads.
"""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.atlas import press, wait_idle
from tests.browser.modes_page import ModesPage

pytestmark = pytest.mark.browser

AT_200K = "?v=1&dataset=tiny&workload=memcached&load=200000&x=itr&y=dvfs&who=system&metric=energy_j"
# ITR 2, 50, 100, 200, adaptive; DVFS 1.3, 1.9, 2.9, governor.
FIFTY, FASTEST = 1, 2


@pytest.fixture
def modes(page: Page) -> ModesPage:
    """The page with the actions of a user."""
    return ModesPage(page)


def test_the_first_view_shows_the_winner_of_each_cell(modes: ModesPage, grid_address: str) -> None:
    modes.open(grid_address)
    assert modes.labels("x") == ["2", "50", "100", "200", "adaptive"]
    assert modes.labels("y") == ["1.3", "1.9", "2.9", "governor"]
    # 1,740.5 J against 2,900.5 J: 40.0 % less. The default is alone in its cell.
    assert modes.texts()[f"{FIFTY},{FASTEST}"].endswith("\u221240.0 %")
    assert len(modes.texts()) == 12
    assert "13 cells: 12 won, 1 alone" in modes.status()
    assert modes.query()["who"] == ["system"]
    # ITR x DVFS has 12 cells that two systems share; load x DVFS, load x ITR have fewer.
    assert (modes.query()["x"], modes.query()["y"]) == (["itr"], ["dvfs"])
    assert "test" not in modes.query()
    assert modes.findings().startswith("Library OS has least energy in 12 of 13 cells")
    assert modes.evidence_title().startswith("closest: ITR ")
    assert modes.verdict().startswith("Library OS wins over Linux tuned (Energy")
    # Nothing is selected: no cell is dimmed, and the link stays short.
    assert (modes.veiled(), modes.selection()) == (0, "")
    assert "sel" not in modes.query()
    # Presented, the map has no controls.
    controls = modes.page.locator(".panel-winners :is(.tools, .question, .rules, input):visible")
    assert controls.count()
    press(modes.page, "p")
    expect(modes.page.locator(".panel.presented")).to_have_attribute("data-view", "winners")
    expect(controls).to_have_count(0)
    press(modes.page, "Escape")


@pytest.mark.slow
def test_another_metric_makes_ties(modes: ModesPage, grid_address: str) -> None:
    modes.open(grid_address, AT_200K)
    modes.choose("metric", "least p99 latency")
    assert set(modes.texts().values()) == {"tie"}
    assert "12 tied" in modes.status()
    assert modes.query()["metric"] == ["latency_p99_us"]


@pytest.mark.slow
def test_axes_can_be_chosen_and_swapped(modes: ModesPage, grid_address: str) -> None:
    modes.open(grid_address, AT_200K)
    # The load becomes an axis, which clears its filter of one value.
    modes.choose("x", "Target load")
    assert modes.labels("x") == ["200k QPS", "400k QPS"]
    assert "load" not in modes.query()
    # Choosing the knob of y for x swaps the two.
    modes.choose("x", "DVFS")
    assert modes.labels("y") == ["200k QPS", "400k QPS"]
    assert modes.labels("x")[0] == "1.3"
    assert (modes.query()["x"], modes.query()["y"]) == (["dvfs"], ["load"])


def test_a_cell_opens_its_evidence_and_is_highlighted_in_all_views(
    modes: ModesPage, grid_address: str
) -> None:
    modes.open(grid_address, AT_200K)
    asked: list[str] = []
    modes.page.on(
        "request", lambda r: asked.append(r.post_data or "") if r.method == "POST" else None
    )
    left, top = modes.place("winners", FIFTY, FASTEST)
    words = modes.point_at(left, top)
    assert words.startswith("ITR 50 us \u00b7 2.9 GHz")
    assert "Library OS wins over Linux tuned: \u221240.0 %, 1.16 kJ less" in words
    assert "Hedges' g" in words
    modes.click_cell(FIFTY, FASTEST)
    assert modes.lit() == [[FIFTY, FASTEST]]
    assert modes.lit_points() == [1, 1, 0]
    assert modes.selection().startswith("selection: ITR 50 us \u00b7 2.9 GHz")
    assert modes.verdict().startswith("Library OS wins over Linux tuned")
    assert "n = 2 and 2" in modes.page.locator(".statistics").first.inner_text()
    # Only the evidence sent a request.
    assert len(asked) == 1
    assert "modes-evidence-words" in asked[0]
    modes.press("Escape")
    assert modes.veiled() == 0
    assert modes.lit_points() == [None, None, None]
    assert modes.selection() == ""
    # Without a selection the closest contest is open.
    assert modes.evidence_title().startswith("closest: ")
    # An entry of a legend hides its trace.
    entry = modes.page.locator("[data-legend-of=pareto] button").first
    for pressed, shown in (("false", "legendonly"), ("true", True)):
        entry.focus()
        modes.press("Enter")
        traces = "wattlas.plot('pareto').data.filter((t) => t.showlegend).map((t) => t.visible)"
        assert modes.page.evaluate(traces)[0] == shown
        expect(entry).to_have_attribute("aria-pressed", pressed)


def test_a_bar_a_point_and_keys_select_cells(modes: ModesPage, grid_address: str) -> None:
    modes.open(grid_address, AT_200K)
    left, top = modes.page.evaluate(
        """() => {
          const gd = wattlas.plot("shares"), box = gd.getBoundingClientRect();
          const { xaxis, yaxis } = gd._fullLayout;
          const y = yaxis._offset + yaxis.l2p(yaxis.d2c("Library OS"));
          return [box.left + xaxis._offset + xaxis.d2p(40), box.top + y];
        }"""
    )
    assert modes.point_at(left, top).startswith("Library OS")
    modes.page.mouse.click(left, top)
    wait_idle(modes.page)
    # The one cell that the library OS did not win is dimmed.
    assert modes.veiled() == 1
    assert modes.selection().startswith("selection: 12 cells (won by Library OS)")
    assert modes.query()["sel"] == ['won~"ebbrt_tuned"']
    # A point of the Pareto view selects its cell.
    # The library OS at 1.3 GHz and ITR 2 us: 780.5 J and 62.05 us.
    left, top = modes.place("pareto", 62.05, 780.5)
    assert "ITR 2 us \u00b7 1.3 GHz" in modes.point_at(left, top)
    modes.page.mouse.click(left, top)
    wait_idle(modes.page)
    assert [column for column, _ in modes.lit()] == [0]
    assert modes.verdict().startswith("Library OS wins")
    # The map by keyboard.
    modes.press("Escape")
    modes.page.locator('section[data-view="winners"]').focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowUp"):
        modes.page.keyboard.press(key)
    card = modes.page.locator("#hover-card")
    expect(card).to_contain_text("ITR 50 us \u00b7 2.9 GHz")
    modes.press("Enter")
    assert modes.verdict().startswith("Library OS wins")
    assert [column for column, _ in modes.lit()] == [FIFTY]
    modes.page.locator('section[data-view="pareto"]').focus()
    modes.press("ArrowRight")
    expect(card).to_contain_text("n = ")


@pytest.mark.slow
def test_links_to_explore_and_back(modes: ModesPage, grid_address: str) -> None:
    modes.open(grid_address, AT_200K)
    modes.click_cell(FIFTY, FASTEST)
    modes.page.locator("#cell-in-explore").click()
    modes.page.wait_for_function(
        "() => { const gd = window.wattlas && wattlas.plot('scatter'); return gd && gd.calcdata; }"
    )
    wait_idle(modes.page)
    # Two systems, two replicates, at this load, delay and clock.
    assert modes.page.locator("#explore-status").inner_text().startswith("4 of ")
    modes.page.go_back()
    modes.ready()
    assert [column for column, _ in modes.lit()] == [FIFTY]
    modes.page.locator(".to-explore").first.click()
    modes.page.wait_for_url(re.compile(r"/\?.*system=ebbrt_tuned"))
    modes.page.wait_for_function(
        "() => (document.querySelector('#explore-status') || {}).innerText"
    )
    assert modes.page.locator("#explore-status").inner_text().startswith("2 of ")


def test_a_selection_goes_from_explore_to_the_cells_and_back(
    modes: ModesPage, grid_address: str
) -> None:
    page = modes.page
    # The library OS at 2.9 GHz stands at 1,740.5 J; 2 and 50 us of delay make p99 62.05 and 110.05.
    modes.open_explore(grid_address, "?v=2&dataset=tiny&workload=memcached&load=200000&limit=500")
    page.evaluate(
        """() => {
          const { explore, clause } = wattlas, { fields } = wattlas.plot("scatter").layout.meta;
          explore.select(clause.box(fields, [60, 120], [1700, 1800]));
        }"""
    )
    wait_idle(page)
    assert page.locator("#status-selection").inner_text().startswith("selection: 4 runs")
    page.locator("#explore-to-modes").click()
    modes.ready()
    found = modes.query()
    assert (found["x"], found["y"], found["who"], found["load"]) == (
        ["itr"], ["dvfs"], ["system"], ["200000"],
    )  # fmt: skip
    assert found["sel"] == ['knobs~{"dvfs_ghz":2.9,"itr_us":[2,50]}']
    assert found["limit"] == ["500"]
    assert page.locator("#modes-limit").input_value() == "500 us"
    assert modes.selection() == "selection: 2 cells"
    # Of 13 cells all but the two are dimmed; each is won by the library OS over Linux tuned.
    assert modes.veiled() == 11
    assert modes.lit_points() == [2, 2, 0]
    # Back with one cell: its four runs are highlighted among all that the filters leave.
    modes.click_cell(FIFTY, FASTEST)
    page.locator("#modes-to-explore").click()
    modes.explore_ready()
    assert page.locator("#explore-status").inner_text().startswith("51 of ")
    assert page.locator("#status-selection").inner_text().startswith("selection: 4 runs")
    lit = page.evaluate(
        """() => {
          const { columns, selected } = wattlas.explore;
          return selected().map((i) => wattlas.configuration(columns, i));
        }"""
    )
    assert sorted((c["system"], c["itr_us"], c["dvfs_ghz"]) for c in lit) == [
        ("ebbrt_tuned", 50, 2.9), ("linux_tuned", 50, 2.9),
    ]  # fmt: skip
    # One point in Explore is one cell in Modes: its evidence opens.
    page.locator("#explore-to-modes").click()
    modes.ready()
    assert modes.query()["sel"] == ['knobs~{"dvfs_ghz":2.9,"itr_us":50}']
    assert modes.verdict().startswith("Library OS wins")


@pytest.mark.slow
def test_a_level_can_be_typed(modes: ModesPage, grid_address: str) -> None:
    modes.open(grid_address, AT_200K)
    box = modes.page.locator("#modes-alpha")
    box.fill("")
    box.press_sequentially("0.01")
    wait_idle(modes.page)
    assert modes.query()["alpha"] == ["0.01"]
    # An incomplete number, or none, changes nothing.
    box.fill("0.")
    wait_idle(modes.page)
    assert modes.query()["alpha"] == ["0.01"]
    assert modes.page.locator("#notice").inner_text() == ""


@pytest.mark.slow
@pytest.mark.usefixtures("own_document")
def test_a_zoomed_large_map_has_texts(modes: ModesPage, grid_address: str) -> None:
    modes.open(grid_address, AT_200K)
    # As for a map that is too large for texts: none without a zoom.
    drawn = modes.texts()
    modes.page.evaluate(
        """() => {
          const gd = wattlas.plot("winners");
          const at = gd.data.findIndex((t) => t.meta.kind === "texts");
          for (const { layout } of [gd, wattlas.modes.figures.winners]) {
            layout.meta.texts_max = [2, 2];
          }
          return Plotly.restyle(gd, { x: [[]], y: [[]], text: [[]] }, [at]);
        }"""
    )
    assert modes.texts() == {}
    zoom = """([x, y]) => Plotly.relayout(wattlas.plot("winners"),
                {"xaxis.range": x, "yaxis.range": y})"""
    modes.page.evaluate(zoom, [[0.5, 2.5], [0.5, 2.5]])
    wait_idle(modes.page)
    part = modes.texts()
    assert set(part) == {"1,1", "1,2", "2,1", "2,2"}
    assert all(drawn[cell] == text for cell, text in part.items())
    # A picture for paper has that part, its labels and its texts.
    paper = modes.page.evaluate("() => wattlas.currentPage().figure('winners')")
    assert paper["layout"]["xaxis"]["range"] == [0.5, 2.5]
    assert paper["layout"]["xaxis"]["ticktext"] == ["50", "100"]
    written = next(t for t in paper["data"] if t["meta"]["kind"] == "texts")["text"]
    assert written == list(part.values())
    modes.page.evaluate(zoom, [[-0.5, 4.5], [-0.5, 3.5]])
    wait_idle(modes.page)
    assert modes.texts() == {}


@pytest.mark.slow
def test_a_link_restores_everything(modes: ModesPage, grid_address: str) -> None:
    query = (
        AT_200K + "&test=welch&corr=holm&level=0.01&margin=absolute&against=edp_js"
        "&pick=%5B%22cell%22%2C50%2C2.9%5D"
    )
    modes.open(grid_address, query)
    assert modes.texts()[f"{FIFTY},{FASTEST}"].endswith("1.16 kJ")
    assert [column for column, _ in modes.lit()] == [FIFTY]
    assert modes.verdict().startswith("Library OS wins")
    words = modes.page.locator(".statistics").first.inner_text()
    assert "Welch's t test at 1 %, Holm's correction over the cells" in words
    assert modes.page.locator("#modes-alpha").input_value() == "0.01"
    found = modes.query()
    assert found["test"] == ["welch"]
    assert found["sel"] == ['knobs~{"dvfs_ghz":2.9,"itr_us":50}']
    assert found["against"] == ["edp_js"]
    before = modes.texts()
    modes.page.reload()
    modes.ready()
    assert modes.texts() == before
    assert modes.query() == found


@pytest.mark.slow
def test_filters_and_another_workload(modes: ModesPage, grid_address: str) -> None:
    modes.open(grid_address, AT_200K)
    modes.chip("system", "linux_tuned")
    assert "12 alone" in modes.status()
    modes.chip("workload", "netpipe")
    assert "2 of " in modes.status()
    assert modes.query()["workload"] == ["netpipe"]
    assert "load" not in modes.query()


@pytest.mark.slow
@pytest.mark.usefixtures("own_document")
def test_a_zoomed_map_has_labels_of_its_part(modes: ModesPage, grid_address: str) -> None:
    modes.open(grid_address, AT_200K)
    modes.page.evaluate(
        """() => Plotly.relayout(wattlas.plot("winners"),
                {"xaxis.range": [0.5, 2.5], "yaxis.range": [-0.5, 1.5]})"""
    )
    wait_idle(modes.page)
    assert modes.labels("x") == ["50", "100"]
    assert modes.labels("y") == ["1.3", "1.9"]
    modes.click_cell(FIFTY, 1)
    assert modes.verdict().startswith("Library OS wins")
    # A selection keeps the zoom.
    assert modes.labels("x") == ["50", "100"]


@pytest.mark.slow
def test_the_small_menus(modes: ModesPage, grid_address: str) -> None:
    modes.open(grid_address, AT_200K)
    modes.click_cell(FIFTY, FASTEST)
    menu = modes.page.locator('section[data-view="winners"] button[aria-label="menu of this view"]')
    menu.click()
    modes.page.get_by_role("menuitem", name="How was this computed").click()
    modes.page.wait_for_function(
        "() => document.querySelector('#explanation').textContent.includes('stats.ttest_ind')"
    )
    modes.page.keyboard.press("Escape")
    menu.click()
    with modes.page.expect_download() as download:
        modes.page.get_by_role("menuitem", name="Data as CSV").click()
    assert download.value.suggested_filename == "wattlas-modes-winners.csv"
    menu.click()
    with modes.page.expect_download() as download:
        modes.page.get_by_role("menuitem", name="PDF", exact=True).click()
    assert Path(download.value.path()).read_bytes().startswith(b"%PDF")


@pytest.mark.slow
@pytest.mark.usefixtures("own_document")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_cut_or_overlaps(modes: ModesPage, grid_address: str, theme: str) -> None:
    modes.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    modes.open(grid_address, AT_200K)
    modes.click_cell(FIFTY, FASTEST)
    color = modes.page.evaluate("() => wattlas.plot('winners')._fullLayout.font.color")
    assert color == ("#e6e8eb" if theme == "dark" else "#1f2328")
    for size in ((1440, 900), (1024, 768)):
        modes.page.set_viewport_size({"width": size[0], "height": size[1]})
        wait_idle(modes.page)
        nothing_is_cut(modes, size)


def nothing_is_cut(modes: ModesPage, size: tuple[int, int]) -> None:
    boxes = modes.page.evaluate(
        """() => [...document.querySelectorAll(".modes .panel")].map((p) => {
             const b = p.getBoundingClientRect();
             return [b.left, b.top, b.right, b.bottom];
           })"""
    )
    assert len(boxes) == 4
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert right <= size[0] + 1
        assert right - left > 200
        assert bottom - top > 150
        for other in boxes[i + 1 :]:
            apart = (right <= other[0] + 1 or other[2] <= left + 1
                     or bottom <= other[1] + 1 or other[3] <= top + 1)  # fmt: skip
            assert apart
    assert modes.page.evaluate("document.documentElement.scrollWidth") <= size[0]
    # The table of the evidence, the status line and the words of the menus are not cut.
    cut = modes.page.evaluate(
        """() => [...document.querySelectorAll(".modes .table-frame, .modes .status span, "
                  + ".modes .panel-head input[role=combobox]")]
                 .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)
                 .map((e) => [e.className, e.textContent || e.value])"""
    )
    assert cut == [], size
