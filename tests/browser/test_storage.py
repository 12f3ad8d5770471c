"""Storage in a browser: its views, and its layout at both widths."""

import json
import re
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from app.storage.views import SECTIONS
from tests.browser.atlas import press, wait_idle
from tests.browser.storage_page import StoragePage

pytestmark = pytest.mark.browser


def test_one_selection_in_all_views(storage: StoragePage, page: Page) -> None:
    assert storage.status() == "76 of 76 storage runs in 38 configurations"
    assert storage.caught("iops") == [None, None, None]
    words = storage.card("latency", 0, 0)
    assert "Mean latency: 10.1 us ± 1.27 us (95 % CI), n = 2" in words

    # both switch once per IO: the card of the upper point also names the other
    words = storage.card("switches-io", 2, 0)
    assert words.startswith(
        "optane · randread · 4 KiB requests · depth 1 · 1 thread · hybrid polling"
    )
    assert "also here: optane · randread · 4 KiB requests · depth 1" in words

    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    storage.click_point("cpu", 1, 2)
    # classic polling with 8 in flight: one configuration
    assert storage.selection() == "selection: 2 runs in 1 configuration"
    assert storage.caught("power") == storage.caught("iops") == [0, 1, 0]
    # interrupts alone
    assert sum(n or 0 for n in storage.caught("proportionality")) == 0
    # one of the 18 measured cells of the map is selected; devices are compared in interrupts
    assert storage.veiled("bytes-joule") == 17
    assert storage.veiled("difference") == 6
    assert "sel=knobs" in page.url
    assert asked == []

    press(page, "Escape")
    assert storage.selection() == ""
    assert storage.caught("iops") == [None, None, None]
    assert storage.veiled("bytes-joule") == 0
    assert "sel=" not in page.url

    # Keys reach every point. Along x: the first depth of each mode comes before the second.
    page.locator("section[data-view='storage-cpu']").focus()
    page.keyboard.press("ArrowRight")
    assert "optane · randread · 4 KiB requests" in page.locator("#hover-card").inner_text()
    page.keyboard.press("ArrowRight")
    press(page, "Enter")
    assert storage.caught("cpu") == [0, 1, 0]
    press(page, "Escape")
    assert storage.caught("cpu") == [None, None, None]


@pytest.mark.slow
def test_a_click_before_all_figures_are_drawn_selects_in_all_of_them(
    page: Page, study_address: str
) -> None:
    page.goto(f"{study_address}/storage")
    page.wait_for_function(
        """() => { const gd = document.getElementById("storage-iops");
                   return gd && gd.data && gd.data.length > 2; }""",
    )
    page.evaluate("""() => wattlas.storage.select('knobs~{"mode":"poll"}')""")
    storage = StoragePage(page)
    storage.ready()
    assert storage.caught("interrupts") == [0, 3, 0]
    assert storage.veiled("bytes-joule") == 12


@pytest.mark.slow
def test_a_link_restores_a_box(storage: StoragePage, page: Page) -> None:
    storage.drag_box("power-cpu", [(0, 0), (1, 0), (2, 0)])
    assert storage.selection() == "selection: 6 runs in 3 configurations (box)"
    assert storage.caught("iops") == [1, 1, 1]
    link = page.url
    assert "sel=box" in link
    page.goto("about:blank")
    page.goto(link)
    storage.ready()
    assert storage.selection() == "selection: 6 runs in 3 configurations (box)"
    assert storage.caught("iops") == [1, 1, 1]
    assert storage.veiled("bytes-joule") == 15
    # Published values of other configurations are dimmed; the tables may come after the figures.
    lines = page.locator(".published-rows tr[data-rows]")
    expect(lines.and_(page.locator(".selected"))).to_have_count(10)
    expect(lines.and_(page.locator(".dimmed"))).to_have_count(7)


@pytest.mark.slow
def test_a_cell_and_a_bar_and_a_legend_entry_select_too(storage: StoragePage, page: Page) -> None:
    storage.click_point("ios-joule", 0, 0)
    assert storage.selection() == "selection: 2 runs in 1 configuration"
    storage.click_point("difference", 0, 1)
    assert storage.selection() == "selection: 4 runs in 2 configurations"
    storage.click_point("loads", 0, 1)
    assert storage.caught("loads") == [1, 1, 1, 1]
    assert storage.caught("iops") == [0, 1, 0]
    page.locator("#storage-legend button", has_text="hybrid").click()
    wait_idle(page)
    assert storage.selection() == "selection: 24 runs in 12 configurations"
    assert storage.caught("iops") == [0, 0, 3]
    page.locator("#storage-clear").click()
    assert storage.selection() == ""


@pytest.mark.slow
def test_filters_and_places(storage: StoragePage, page: Page) -> None:
    storage.choose("storage-size", "64 KiB")
    assert "size=65536" in page.url
    assert storage.card("latency", 1, 0).startswith("optane · randread · 64 KiB requests")
    storage.chip("device", "disk")
    assert storage.status() == "4 of 76 storage runs in 2 configurations"
    # the disk has no 64 KiB runs: the page shows others, and its menus name them
    assert page.locator("#storage-at").input_value() == "disk"
    assert page.locator("#storage-size").input_value() == "4 KiB"
    assert "size=4096" in page.url
    storage.see("difference")
    assert "not measured" in (page.locator("#storage-difference").text_content() or "")


@pytest.mark.slow
def test_links_to_explore_and_to_modes(storage: StoragePage, page: Page) -> None:
    storage.click_point("iops", 0, 2)
    queries = {}
    for name in ("explore", "modes"):
        address = page.locator(f"#storage-to-{name}").get_attribute("href") or ""
        queries[name] = parse_qs(urlsplit(address).query)
        # filters and the selection, and nothing else
        assert set(queries[name]) == {"v", "dataset", "workload", "sel"}
        (clause,) = queries[name]["sel"]
        assert json.loads(clause.removeprefix("knobs~"))["io_depth"] == 8
    page.locator("#storage-to-explore").click()
    page.wait_for_selector("#explore-status:not(:empty)")
    wait_idle(page)
    assert "2 runs" in page.locator("#status-selection").inner_text()
    page.go_back()
    storage.ready()
    assert storage.selection() == "selection: 2 runs in 1 configuration"


@pytest.mark.slow
def test_links_of_other_pages_and_of_earlier_versions(page: Page, study_address: str) -> None:
    storage = StoragePage(page)
    # a box of Explore over columns that Storage does not draw: 45 W x 10 s at 10 s
    box = {"v": "2", "dataset": "lab", "sel": "box~duration_s~energy_j~9~11~440~460"}
    storage.open(study_address, "?" + urlencode(box))
    # depth 1 of optane: 3 modes x 2 sizes that read; of the disk one more
    assert storage.selection().startswith("selection: 14 runs in 7 configurations")
    # of version 1, in positions of the figure: the three points at depth 1 and 2 of all modes
    old = {"v": "1", "dataset": "lab", "pick": "box~latency~0~0~1~8~11"}
    storage.open(study_address, "?" + urlencode(old))
    assert storage.selection().startswith("selection: 12 runs in 6 configurations")
    assert storage.caught("iops") == [2, 2, 2]


def test_a_published_claim_opens_its_numbers_and_links_to_its_view(storage: StoragePage) -> None:
    page = storage.page
    claim = page.locator(".claims > li[data-claim='000-O3']")
    assert "does not hold" in claim.inner_text()
    claim.locator("summary").click()
    assert "interrupt, classic polling, depth 1: 40.0 %, 100 %; n = 2, 2" in claim.inner_text()
    # folded sections stay folded in this browser; a claim in short unfolds that of its picture
    fold = page.locator("#storage-section-modes .section-fold")
    fold.click()
    page.reload()
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(claim).to_be_hidden()
    page.locator(".claim-index button", has_text="observation 3").first.click()
    expect(fold).to_have_attribute("aria-expanded", "true")
    page.wait_for_function("() => document.activeElement.dataset.view === 'storage-power-cpu'")
    page.wait_for_function("""() => {
      const box = document.activeElement.getBoundingClientRect();
      return box.top >= 0 && box.bottom <= innerHeight;
    }""")


@pytest.mark.slow
@pytest.mark.usefixtures("own_document")
@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (1024, "dark")])
def test_nothing_overlaps_and_every_section_is_reached(
    page: Page, study_address: str, width: int, theme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    storage = StoragePage(page)
    storage.open(study_address)
    assert storage.overlaps() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for section, title in SECTIONS.items():
        page.locator(f".section-tab[data-section='{section}']").click()
        wait_idle(page)
        heading = page.locator(f"#storage-section-{section} h2")
        box = heading.bounding_box()
        assert box is not None
        assert 0 < box["y"] < 880, title
    ink = page.locator("#storage-iops .xtitle").evaluate("e => getComputedStyle(e).fill")
    red = int(re.findall(r"\d+", ink)[0])
    assert red > 180 if theme == "dark" else red < 80
    star = page.evaluate(
        """() => document.getElementById("storage-devices")._fullData
             .find((t) => t.meta.kind === "published").marker.color[0]"""
    )
    assert star == ("#e6e8eb" if theme == "dark" else "#1f2328")
