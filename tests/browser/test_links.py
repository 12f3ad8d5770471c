"""Links that version 1 of the pages' URLs wrote show today what they showed then.

`links_v1.json` holds what a visitor of that version did on the sample lake, the link that the page
wrote, and what the link showed in a new visit (see shown.py). It is never written anew: a link in a
paper cannot be.
"""

import json
import re
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from tests.browser.atlas import wait_idle
from tests.browser.shown import read_shown

pytestmark = pytest.mark.browser

FIXTURES: Final = Path(__file__).resolve().parents[1] / "fixtures"
LINKS: Final = json.loads((FIXTURES / "links_v1.json").read_text("utf-8"))


@pytest.mark.parametrize("written", LINKS, ids=lambda written: written["name"])
def test_a_link_of_version_1(page: Page, logged_address: str, written: dict[str, Any]) -> None:
    page.goto(logged_address + pinned_to_newest(written["link"], logged_address))
    wait_idle(page)
    assert differences(written["shown"], read_shown(page)) == {}


def pinned_to_newest(link: str, address: str) -> str:
    """Pin the whole lake, as the visitor did: how many commits it takes differs from add to add."""
    with urllib.request.urlopen(f"{address}/explore/how/runs?v=2", timeout=60) as answer:
        newest = re.search(r"version (\d+)", answer.read().decode())
    assert newest
    return re.sub(r"\blake=\d+", f"lake={newest[1]}", link)


def test_there_are_twenty_of_all_pages() -> None:
    assert len(LINKS) >= 20
    paths = {written["link"].partition("?")[0] for written in LINKS}
    assert paths == {"/", "/modes", "/storage", "/timeline"}


def differences(then: dict[str, Any], now: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What was shown and is not, by its name: what it was, what it is now.

    Of settings and numbers of the evidence none may be missing; there may be more of them.
    """
    found = {name: (value, now[name]) for name, value in then.items() if name != "views"}
    for view, facts in then["views"].items():
        for fact, value in facts.items():
            found[f"{view} {fact}"] = (value, now["views"].get(view, {}).get(fact))
    return {name: pair for name, pair in found.items() if not _is_shown(name, *pair)}


def _is_shown(name: str, then: Any, now: Any) -> bool:
    if name in ("settings", "evidence"):
        return not Counter(then) - Counter(now)
    if name.endswith(" ranges") and now is not None:
        # Of all axes; a layout lists them in any order.
        return sorted(then) == sorted(now)
    return bool(then == now)
