"""Tabs and links carry filters, limit and selection from every page to every other, and back."""

from itertools import permutations
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page

from app.pages import PAGES
from tests.browser.atlas import query_of, visit, wait_idle

pytestmark = pytest.mark.browser
NAMES: Final = [page.name for page in PAGES]
PATHS: Final = {page.name: page.path for page in PAGES}
# Modes writes a selection as cells of its map.
SHARED: Final = ("dataset", "workload", "load", "system", "limit", "by")
CONFIGURATION: Final = 'knobs~{"system":"linux_tuned","itr_us":100}'
LINK: Final = urlencode(
    {
        "v": 2, "dataset": "synthetic-tiny", "workload": "memcached", "load": 200000,
        "system": "linux_tuned", "by": "latency_p99_us", "limit": 300, "sel": CONFIGURATION,
    }
)  # fmt: skip


def shared(address: str) -> dict[str, list[str]]:
    """What pages share of an address."""
    found = parse_qs(urlsplit(address).query)
    return {key: found[key] for key in SHARED if key in found}


def selection(address: str) -> list[str]:
    return parse_qs(urlsplit(address).query).get("sel", [])


def tab(page: Page, name: str) -> str:
    return page.locator(f"#tab-{name}").get_attribute("href") or ""


def go(page: Page, name: str) -> None:
    """Follow a tab."""
    # A page that is a part of another's tab is reached from there; its link is known everywhere.
    page.locator(f"#tab-{name}").dispatch_event("click")
    page.wait_for_function("(path) => location.pathname === path", arg=PATHS[name])
    page.wait_for_selector(f"main.{name}")
    wait_idle(page)


@pytest.fixture
def explore(page: Page, logged_address: str) -> Page:
    """Explore with filters, a limit and a selection."""
    visit(page, f"{logged_address}/?{LINK}")
    return page


EXPECTED: Final = {key: value for key, value in parse_qs(LINK).items() if key in SHARED}


@pytest.mark.slow
@pytest.mark.parametrize(("one", "two"), list(permutations(NAMES, 2)))
def test_from_every_page_to_every_other_and_back_to_explore(
    explore: Page, one: str, two: str
) -> None:
    for name in (one, two, "explore"):
        if urlsplit(explore.url).path != PATHS[name]:
            go(explore, name)
        assert shared(explore.url) == EXPECTED, name
        if name not in ("modes", "storage"):
            assert selection(explore.url) == [CONFIGURATION], name


def test_a_filter_that_is_changed_on_another_page_is_changed_everywhere(explore: Page) -> None:
    for other in NAMES:
        assert shared(tab(explore, other)) == EXPECTED, other
    # A link in the status line is the tab of its page.
    assert explore.locator("#explore-to-modes").get_attribute("href") == tab(explore, "modes")
    go(explore, "modes")
    explore.locator("[data-facet=system]").get_by_role("button", name="Clear System").click()
    wait_idle(explore)
    assert "system" not in shared(explore.url)
    go(explore, "explore")
    assert shared(explore.url) == {k: v for k, v in EXPECTED.items() if k != "system"}


@pytest.mark.slow
def test_a_limit_stays_with_its_workload(explore: Page) -> None:
    """Another workload has another metric, of which 300 us are no limit."""
    go(explore, "modes")
    explore.locator("[data-facet=workload] label", has_text="NetPIPE").click()
    wait_idle(explore)
    go(explore, "explore")
    found = shared(explore.url)
    assert found["workload"] == ["netpipe"]
    assert not {"limit", "by"} & set(found)


def test_without_filters_a_page_chooses_and_links_of_the_evidence_have_the_limit(
    page: Page, logged_address: str
) -> None:
    page.goto(f"{logged_address}/lake")
    wait_idle(page)
    assert urlsplit(tab(page, "modes")).query == ""
    go(page, "modes")
    assert shared(page.url)["workload"]
    cell = {"sel": 'knobs~{"dvfs_ghz":2.9,"itr_us":100}', "x": "itr", "y": "dvfs", "who": "system"}
    given = "v=3&dataset=synthetic-tiny&workload=memcached&load=200000&limit=300&by=latency_p99_us"
    visit(page, f"{logged_address}/modes?{given}&{urlencode(cell)}")
    page.locator("#cell-in-explore").click()
    page.wait_for_selector("main.explore")
    wait_idle(page)
    assert (shared(page.url)["limit"], shared(page.url)["by"]) == (["300"], ["latency_p99_us"])
    assert query_of(page)["itr"] == ["100"]
