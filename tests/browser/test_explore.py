"""Explore in a browser, as a visitor uses it."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from data.catalogue import SHIPPED
from data.units import MINUS
from tests.browser.atlas import Atlas, query_of, wait_idle
from tests.fixtures.lakes import run, write_lake

pytestmark = pytest.mark.browser


def test_first_look_a_filter_a_row_of_the_table_and_the_keys(
    atlas: Atlas, grid_address: str
) -> None:
    atlas.open(grid_address)
    assert atlas.layout("scatter")["title"]["text"].startswith(
        "Energy against p99 latency, memcached at 200k QPS"
    )
    # 2 systems x 4 ITR x 3 DVFS x 2 replicates at one of two loads, and 3 runs of the default.
    assert atlas.status() == "51 of 104 runs"
    rows = atlas.page.locator("#best-table tbody tr")
    assert rows.count() == 3
    assert (
        f"{MINUS}68.8 %" in rows.filter(has_text="Library OS").inner_text()
    )  # 780.5 J against 2,500 J
    for view in ("#scatter", "#heatmap", "#best-table"):
        box = atlas.page.locator(view).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 900
    # Nothing is selected: the table lists the settings that may be the best, cheapest system's.
    assert atlas.page.locator("#best-table tr[data-best] th").inner_text() == "Library OS"
    said = atlas.page.locator("#selected-words").inner_text()
    listed = atlas.page.locator("#selected-table tbody tr")
    count = f"{listed.count()} point{'s' * (listed.count() > 1)}"
    assert said == f"nothing yet; {count} of Library OS may be the best"
    assert all("Library OS" in text for text in listed.all_inner_texts())
    # The flags of a configuration's runs.
    left, top = atlas.pixel("scatter", 110.0, 2500.0)
    text = atlas.point_at(left, top)
    assert "n = 3" in text
    assert "flags: log_short" in text
    # A row of the table selects its best set, by mouse and by key.
    row = atlas.page.locator("#best-table tbody tr").filter(has_text="Library OS")
    row.click()
    wait_idle(atlas.page)
    # At 1.3 GHz all four ITR take the same energy.
    assert sum(n or 0 for n in atlas.selected_counts()) == 4
    assert row.get_attribute("aria-selected") == "true"
    row.focus()
    atlas.press("Enter")
    assert atlas.selection() == ""
    # A filter narrows and counts.
    atlas.chip("itr", "50")
    assert atlas.status() == "12 of 104 runs"
    assert (
        "1 of 5 · 12 runs" in atlas.page.locator(".facet[data-facet=itr] .facet-count").inner_text()
    )
    # Of the next one, the chips that stay are the same, with another number of runs.
    chips = atlas.page.locator("[data-facet=dvfs] input")
    chips.evaluate_all("inputs => { window.before = inputs }")
    atlas.chip("system", "linux_tuned")
    expect(chips.first).to_have_attribute("aria-label", "DVFS, GHz 1.3: 2 runs")
    assert chips.evaluate_all("inputs => inputs.every((one, i) => one === window.before[i])")
    atlas.page.get_by_label("Clear System").click()
    atlas.page.get_by_label("Clear Interrupt delay").click()
    wait_idle(atlas.page)
    assert atlas.status() == "51 of 104 runs"
    atlas.page.keyboard.press("?")
    assert "Escape" in atlas.page.locator("dialog#help").inner_text()
    atlas.page.keyboard.press("?")
    assert not atlas.page.locator("dialog#help").is_visible()


def test_a_card_and_a_box_in_the_scatter_which_selects_in_all_views(
    atlas: Atlas, grid_address: str
) -> None:
    atlas.open(
        grid_address, "?v=2&workload=memcached&load=200000&system=linux_tuned&hsys=linux_tuned"
    )
    # The card names configuration, values and n.
    left, top = atlas.pixel("scatter", 260.05, 2900.5)
    text = atlas.point_at(left, top)
    assert "Linux tuned · ITR 200 us · 2.9 GHz\n" in text
    assert "Energy: 2.90 kJ ± 707 mJ" in text
    assert "p99 latency: 260 us ± 0.0707 us" in text
    assert "n = 2" in text
    assert "flags" not in text
    # 12 configurations; a box over p99 < 150 us holds ITR 2 and 50 at three frequencies.
    left, top = atlas.pixel("scatter", 54, 2980)
    right, bottom = atlas.pixel("scatter", 140, 1220)
    mouse = atlas.page.mouse
    mouse.move(left, top)
    mouse.down()
    mouse.move(right, bottom, steps=6)
    mouse.up()
    wait_idle(atlas.page)
    assert sum(n or 0 for n in atlas.selected_counts()) == 6
    assert atlas.veiled_cells() == 6
    assert atlas.selection().startswith("selection: 12 runs in 6 configurations (box)")
    assert atlas.page.locator("#selected-words").inner_text() == "6 points"
    expect(atlas.page.locator("#selected-table tbody tr")).to_have_count(6)
    # The table's winner, 1.3 GHz at ITR 2, is among them.
    assert "selected" in (atlas.page.locator("#best-table tbody tr").get_attribute("class") or "")
    atlas.press("Escape")
    assert atlas.selected_counts() == [None]
    assert atlas.veiled_cells() == 0
    assert atlas.selection() == ""


@pytest.mark.slow
def test_a_heatmap_names_the_load_that_it_shows_and_pools_what_a_reader_chooses(
    atlas: Atlas, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    runs = [run(itr_us=itr, dvfs_ghz=ghz, load_qps=load, rapl_w=rapl, latency_p99_us=60 + itr)
            for itr in (2.0, 50.0) for ghz in (1.3, 2.9) for load in (200_000.0, 400_000.0)
            for rapl in (75.0, 135.0)]  # fmt: skip
    atlas.open(serve(write_lake(tmp_path / "lake", runs)), "?v=2&workload=memcached")
    title = atlas.page.locator("#heatmap .gtitle")
    expect(title).to_contain_text("200k QPS of 2 target loads, 135 W of 2 power")
    # A cell selects the runs that it is the mean of: one of the four of its ITR and frequency.
    atlas.click_at("heatmap", "50", "1.3")
    assert sum(n or 0 for n in atlas.selected_counts()) == 1
    assert '"load_qps":200000' in atlas.query()["sel"][0]
    atlas.page.keyboard.press("Escape")
    atlas.page.locator("#explore-pool").click()
    atlas.page.get_by_role("option", name="RAPL").click()
    expect(title).to_contain_text("over 2 power limits")
    wait_idle(atlas.page)
    assert atlas.query()["pool"] == ["rapl"]
    atlas.click_at("heatmap", "50", "1.3")
    assert sum(n or 0 for n in atlas.selected_counts()) == 2


_LINE_POINT = """(axis) => {
  const gd = wattlas.plot("lines");
  const t = gd.data.findIndex((one) => one.meta.kind === "line" && (one.yaxis || "y") === axis);
  const { x, y } = gd._fullData[t];
  return wattlas.place(gd, x[0], y[0], gd.data[t]);
}"""


def test_lines_are_drawn_when_shown_and_linked(atlas: Atlas, grid_address: str) -> None:
    page = atlas.page
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000&system=linux_tuned&limit=120")
    assert page.evaluate("wattlas.explore.plot('lines')") is None
    page.locator("#explore-show").get_by_text("Lines").click()
    page.wait_for_function("() => wattlas.explore.plot('lines')")
    wait_idle(page)
    assert not page.locator("#scatter").is_visible()
    page.locator("#explore-ly").click()
    page.get_by_role("option", name="p99 latency", exact=True).click()
    page.keyboard.press("Escape")
    page.wait_for_function("() => wattlas.plot('lines').layout.yaxis2")
    wait_idle(page)
    assert query_of(page)["ly"] == ["energy_j", "latency_p99_us"]
    # The limit is drawn over the panel of its metric.
    shapes = page.evaluate("wattlas.plot('lines').layout.shapes.map((s) => [s.yref, s.y0])")
    assert shapes == [["y2", 120]]
    at = page.evaluate(_LINE_POINT, "y2")
    page.mouse.move(at["clientX"], at["clientY"])
    card = page.locator("#hover-card")
    # Both metrics of the point, and n: energy is 1,300 J in both runs.
    expect(card).to_contain_text("1.3 GHz")
    expect(card).to_contain_text("Energy: 1.30 kJ")
    expect(card).to_contain_text("n = 2")
    # One crosshair over both panels.
    spike = page.locator("#lines .spikeline").first.bounding_box()
    plot = page.locator("#lines .nsewdrag").first.bounding_box()
    assert spike is not None
    assert plot is not None
    assert spike["height"] > 1.5 * plot["height"]
    page.mouse.click(at["clientX"], at["clientY"])
    wait_idle(page)
    # A point of ITR and frequency; the heatmap shows the same cell.
    assert atlas.selection().startswith("selection: 2 runs in 1 configuration ·")
    assert atlas.veiled_cells() == 11
    page.locator("#explore-show").get_by_text("Both").click()
    expect(page.locator("#scatter")).to_be_visible()
    assert sum(n or 0 for n in atlas.selected_counts()) == 1
    # Panels that were drawn while they were hidden get the room of the page.
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000&show=lines&split=system")
    page.wait_for_function("() => wattlas.explore.plot('scatter')")
    assert not page.locator("#scatter").is_visible()
    page.locator("#explore-show").get_by_text("Both").click()
    page.wait_for_function(
        """() => { const { clientHeight, _fullLayout } = wattlas.explore.plot('scatter');
        return clientHeight && Math.abs(_fullLayout.height - clientHeight) < 1; }"""
    )


@pytest.mark.slow
def test_the_limit_draws_a_line_greys_points_and_changes_the_table(
    atlas: Atlas, grid_address: str
) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000")
    box = atlas.page.locator("#explore-limit")
    box.fill("120")
    atlas.press("Tab")
    shapes = atlas.layout("scatter")["shapes"]
    assert [shape["x0"] for shape in shapes] == [120]
    grey = atlas.page.evaluate(
        """() => wattlas.plot("scatter").data.filter((t) => t.meta.kind === "points")
             .flatMap((t) => [].concat(t.marker.color)).filter((c) => c === "#c3c7cc").length"""
    )
    assert grey == 12  # ITR 100 and 200 at three frequencies on two systems
    winner = atlas.page.locator("#best-table tbody tr").filter(has_text="Linux tuned")
    assert "1.30 kJ" in winner.inner_text()
    box.fill("50")
    atlas.press("Tab")
    words = atlas.page.locator("#explore-findings").inner_text()
    assert "meets 50.0 us at 200k QPS: the lowest p99 latency is 62" in words
    assert "limit=50" in atlas.page.url


@pytest.mark.slow
def test_slider_moves_the_limit(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000")
    thumb = atlas.page.get_by_role("slider", name="latency limit")
    thumb.focus()
    for _ in range(5):
        atlas.page.keyboard.press("ArrowLeft")
    wait_idle(atlas.page)
    value = atlas.page.locator("#explore-limit").input_value()
    limit = float(value.split()[0])
    assert 240 < limit < 260.1
    assert thumb.get_attribute("aria-valuetext") == f"{limit:.3g} us"
    assert atlas.layout("scatter")["shapes"][0]["x0"] == pytest.approx(limit)


@pytest.mark.slow
def test_the_url_restores_the_view_and_the_selection(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address)
    atlas.chip("system", "linux_tuned")
    atlas.page.locator("#explore-rep").get_by_text("Each run").click()
    wait_idle(atlas.page)
    atlas.click_at("heatmap", "50", "1.3")
    before = (atlas.status(), atlas.selection(), atlas.selected_counts(), atlas.veiled_cells())
    url = atlas.page.url
    assert re.search(r"[?&]v=2&", url)
    assert parse_qs(urlsplit(url).query)["sel"] == [
        'knobs~{"system":"linux_tuned","dvfs_ghz":1.3,"itr_us":50}'
    ]
    atlas.page.goto("about:blank")
    atlas.page.goto(url)
    atlas.ready()
    after = (atlas.status(), atlas.selection(), atlas.selected_counts(), atlas.veiled_cells())
    assert after == before
    assert before[1].startswith("selection: 2 runs ·")
    assert atlas.page.url == url


@pytest.mark.slow
def test_links_to_other_pages_carry_filters_limit_and_selection(
    atlas: Atlas, grid_address: str
) -> None:
    atlas.open(
        grid_address,
        "?v=2&workload=memcached&load=200000&system=linux_tuned&hsys=linux_tuned"
        "&y=edp_js&xlog=1&limit=120&lake=0",
    )
    atlas.click_at("heatmap", "50", "1.3")
    link = urlsplit(atlas.page.locator("#explore-to-modes").get_attribute("href") or "")
    assert link.path == "/modes"
    assert parse_qs(link.query) == {
        "v": ["3"], "workload": ["memcached"], "load": ["200000"], "system": ["linux_tuned"],
        "sel": ['knobs~{"system":"linux_tuned","dvfs_ghz":1.3,"itr_us":50}'], "limit": ["120"],
        "lake": ["0"],
    }  # fmt: skip
    for file, target in (("export.html", "export"), ("data/runs.csv", "data")):
        address = atlas.page.locator(f"#explore-to-{target}").get_attribute("href") or ""
        assert urlsplit(address).path == f"/explore/{file}"
        assert urlsplit(address).query == urlsplit(atlas.page.url).query


def test_filters_without_a_match_show_a_message(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000&itr=50&dvfs=governor")
    text = atlas.layout("scatter")["annotations"][0]["text"].replace("<br>", " ")
    assert text.startswith("No run has all of these filters.")
    assert f"{SHIPPED.metric('itr_us').title} (3 runs)" in text
    assert f"{SHIPPED.metric('dvfs_ghz').title} (12 runs)" in text


@pytest.mark.slow
def test_the_scatter_is_painted_first(new_tab: Page, grid_address: str) -> None:
    atlas = Atlas(new_tab)
    atlas.page.add_init_script(
        """window.order = [];
        new MutationObserver(() => {
          const seen = {
            scatter: document.querySelector("#scatter .scatterlayer, #scatter .gl-container canvas")
              && document.querySelector("#scatter .gtitle"),
            heatmap: document.querySelector("#heatmap .gtitle"),
            table: document.querySelector("#selected-table th"),
          };
          for (const [name, element] of Object.entries(seen)) {
            if (element && element.textContent && !order.includes(name)) order.push(name);
          }
        }).observe(document, { subtree: true, childList: true });"""
    )
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000")
    atlas.page.wait_for_function("() => window.order.length === 3")
    assert atlas.page.evaluate("window.order")[0] == "scatter"


_KINDS = """(kind) => wattlas.plot("scatter")._fullData
  .filter((t) => t.meta && t.meta.kind === kind)
  .reduce((sum, t) => sum + t.x.length, 0)"""


def test_one_click_takes_the_agreed_limit_and_all_views_follow(
    atlas: Atlas, grid_address: str
) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000")
    assert atlas.page.evaluate(_KINDS, "maybe") == 0
    # At 1.3 GHz all four ITR of a system take the same energy; the default is a set of its own.
    assert atlas.page.evaluate(_KINDS, "set") == 9
    atlas.page.get_by_role("button", name="500 us").click()
    wait_idle(atlas.page)
    assert atlas.query()["limit"] == ["500"]
    assert [shape["x0"] for shape in atlas.layout("scatter")["shapes"]] == [500]
    findings = atlas.page.locator("#explore-findings").inner_text()
    assert "\nUnder 500 us at 200k QPS" in findings
    legend = atlas.page.locator(".legend[data-legend-of=scatter]").inner_text()
    assert "within the limit" in legend


@pytest.mark.slow
def test_how_sure_a_frontier_is_is_one_switch(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000&system=linux_tuned")
    assert atlas.page.evaluate(_KINDS, "band") == 0
    atlas.page.get_by_label("how sure").click(force=True)
    wait_idle(atlas.page)
    assert atlas.page.evaluate(_KINDS, "band") > 6
    assert atlas.query()["band"] == ["1"]
    legend = atlas.page.locator(".legend[data-legend-of=scatter]").inner_text()
    assert "sure frontier" in legend


def test_a_split_has_panels_with_one_selection_and_a_title_opens_one(
    atlas: Atlas, grid_address: str
) -> None:
    """Two loads that are chosen split by themselves."""
    page = atlas.page
    atlas.open(grid_address, "?v=2&workload=memcached&load=200000&load=400000")
    titles = page.locator("#scatter .annotation-text")
    assert titles.all_text_contents() == ["200k QPS", "400k QPS"]
    # 13 points a panel; a configuration with the same knobs at both loads is two points.
    rows = page.evaluate("wattlas.explore.figures.scatter.layout.meta.panels.map((p) => p.rows)")
    assert rows == [{"first": 0, "end": 25}, {"first": 25, "end": 50}]
    page.evaluate(
        """() => wattlas.explore.select(wattlas.clause.knobs(
             [{ system: "linux_tuned", itr_us: 2, dvfs_ghz: 1.3 }]))"""
    )
    wait_idle(page)
    shown = """wattlas.plot("scatter").data.filter((t) => t.meta && t.meta.kind === "points")
      .flatMap((t) => Array(t.selectedpoints ? t.selectedpoints.length : 0).fill(t.xaxis))"""
    assert sorted(page.evaluate(shown)) == ["x", "x2"]
    titles.nth(1).click(force=True)
    expect(titles).to_have_count(0)
    wait_idle(page)
    assert "load=400000" in page.url
    assert "load=200000" not in page.url
    page.go_back()
    expect(titles).to_have_count(2)
