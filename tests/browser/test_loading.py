"""Before the server has answered, no page says that something is absent."""

import re
from typing import Final

import pytest
from playwright.sync_api import Page, Route, expect

from app.kit.page import Page as Owed
from app.pages import PAGES
from tests.browser.atlas import wait_idle

pytestmark = pytest.mark.browser
# Answers without which a page has nothing to show; the layout of the page itself comes.
_ANSWERS: Final = re.compile("_dash-update-component|/timeline/window|/sql/run")
_ABSENT: Final = re.compile(r"\b(no|none|nothing|not|0 runs|empty|missing)\b", re.IGNORECASE)
# A test of Models holds its answers back; what Lake says comes with the page.
_PAGES: Final = [page for page in PAGES if page.name not in ("models", "lake")]
_LINKS: Final = {
    "explore": "?v=2&workload=memcached&sel=box~latency_p99_us~energy_j~0~400~0~2000",
    "modes": "?v=2&workload=memcached&x=itr&y=dvfs&who=system",
    # Not the first example, which has a NOT.
    "sql": "?v=2&sql=SELECT+run_id+FROM+runs",
}


class Held:
    """Requests that wait for their answer."""

    def __init__(self, page: Page) -> None:
        self._routes: list[Route] = []
        self._is_over = False
        page.route(_ANSWERS, self._hold)

    def _hold(self, route: Route) -> None:
        if (
            self._is_over
            or "_pages_content" in (route.request.post_data or "").partition('"outputs"')[0]
        ):
            route.continue_()
        else:
            self._routes.append(route)

    def release(self) -> None:
        self._is_over = True
        for route in self._routes:
            route.continue_()


@pytest.mark.thin(1)
@pytest.mark.parametrize("owed", _PAGES, ids=lambda page: page.name)
def test_a_page_that_waits_says_that_it_loads(page: Page, logged_address: str, owed: Owed) -> None:
    name, path = owed.name, owed.path
    held = Held(page)
    page.goto(f"{logged_address}{path}{_LINKS.get(name, '')}")
    page.wait_for_selector(f"main.{name} .views")
    page.wait_for_function(f"window.wattlas && wattlas.address.query({name!r}) !== ''")
    words = page.locator("main .views, main .status").all_inner_texts()
    assert [text for text in words if _ABSENT.search(text)] == []
    if name != "explore":
        held.release()
        wait_idle(page)
        return
    # Nor is the link's selection denied before the points are there.
    said = page.locator("#selected-words")
    expect(said).to_have_text("loading")
    assert "loading" in page.locator("#best-table").evaluate(
        "(part) => getComputedStyle(part, '::before').content"
    )
    held.release()
    expect(said).to_contain_text("points")
    expect(page.locator("#best-table table")).to_be_visible()
    wait_idle(page)
