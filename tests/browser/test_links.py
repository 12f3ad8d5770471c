"""Links of URL version 1 show the same as when they were written.

`links_v1.json` holds the actions of a visitor of that version on the sample lake, the link that the
page wrote, and the facts that the link showed in a new visit (see shown.py). The links never
change, since links in papers cannot. If the sample changes, read the facts again with the code that
wrote the links (commit 5a3d0dd, on a lake of the new sample), never with the present code.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable
from playwright.sync_api import Page

from tests.browser.atlas import visit
from tests.browser.shown import read_shown

pytestmark = pytest.mark.browser

FIXTURES: Final = Path(__file__).resolve().parents[1] / "fixtures"
LINKS: Final = json.loads((FIXTURES / "links_v1.json").read_text("utf-8"))
# Runs that the versions of the links held, and those of them with a log: with tables, with logs,
# with the whole sample. An ingest commits every two seconds what was read until then, so that the
# numbers of versions vary.
HELD: Final = {2: (354, 0), 3: (363, 9), 4: (863, 9)}
_KERNEL_CPU: Final = ("cpu-interrupts titles", "cpu-interrupts ranges")
# Modes without a selected cell: no evidence then, that of the closest contest now. The bars of its
# shares are items that a selection catches now.
_NO_EVIDENCE: Final = {"evidence titles": [], "evidence ranges": [[-1, 6], [-1, 4]]}
UTILISATION: Final = ("bandwidth_bytes_s", "iops")


@pytest.fixture(scope="module")
def versions(logged_lake: Path) -> dict[int, int]:
    """By the links' version, the first present version with as many runs."""
    table = str(logged_lake / "runs")
    held = [_held(table, version) for version in range(DeltaTable(table).version() + 1)]
    return {
        old: next(v for v, (runs, logged) in enumerate(held) if runs >= least and logged >= logs)
        for old, (least, logs) in HELD.items()
    }


def _held(table: str, version: int) -> tuple[int, int]:
    """Number of runs of a version, and of those with a log."""
    has_log = DeltaTable(table, version=version).to_pyarrow_table(columns=["has_log"])["has_log"]
    return len(has_log), pc.sum(has_log).as_py() or 0


@pytest.mark.slow
@pytest.mark.parametrize("written", LINKS, ids=lambda written: written["name"])
def test_a_link_of_version_1(
    page: Page, logged_address: str, versions: dict[int, int], written: dict[str, Any]
) -> None:
    link = re.sub(r"(?<=lake=)\d+", lambda old: str(versions[int(old[0])]), written["link"])
    visit(page, logged_address + link)
    shown = read_shown(page)
    pinned = written["shown"]["lake"]
    if pinned is not None and shown["lake"] == str(versions[int(pinned)]):
        shown["lake"] = pinned
    found = differences(written["shown"], shown)
    if written["name"] in MIXED:
        found = {name: pair for name, pair in found.items() if name not in OF_CELLS}
    assert found == {}


def test_there_are_twenty_links_and_they_cover_all_pages() -> None:
    assert len(LINKS) >= 20
    paths = {written["link"].partition("?")[0] for written in LINKS}
    assert paths == {"/", "/modes", "/storage", "/timeline"}


# Links whose cells mixed two loads or accesses. Now Modes shows one, and says so.
MIXED: Final = ("modes_choices", "modes_pinned")
OF_CELLS: Final = ("counts", "pareto ranges")


def differences(then: dict[str, Any], now: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the facts that differ, by name: the old value and the new one.

    Settings and numbers of the evidence may have been added, but not removed. Published values are
    not compared, since `data/reference/` has more of them now. Energy proportionality is another
    picture now, because the old one misled; so the quantity of its x axis is no setting any more.
    The table of best settings named the lowest mean; now it recommends one of those that the runs
    cannot tell from the best. Marks are of each load now: a lasso can catch more of them.
    CPU against interrupts is that of the kernel, as published.
    """
    found = {name: (value, now[name]) for name, value in then.items() if name != "views"}
    for view, facts in then["views"].items():
        for fact, value in facts.items():
            found[f"{view} {fact}"] = (value, now["views"].get(view, {}).get(fact))
    return {name: pair for name, pair in found.items() if not _is_shown(name, *pair)}


def _are_near(then: list[list[float]], now: list[list[float]]) -> bool:
    """Whether the ranges of axes are those of then, to 1 % of their length.

    Plotly leaves room for markers by the height of the picture, which has a tool bar above it now.
    """
    return len(then) == len(now) and all(
        abs(a - b) <= 0.01 * abs(old[1] - old[0])
        for old, new in zip(then, now, strict=True)
        for a, b in zip(old, new, strict=True)
    )


def _is_shown(name: str, then: Any, now: Any) -> bool:
    if name == "published numbers":
        return bool(now)
    if name.startswith("proportionality ") or name in _KERNEL_CPU:
        return True
    if (name in _NO_EVIDENCE and then == _NO_EVIDENCE[name]) or name == "shares caught":
        return True
    if name in ("settings", "evidence"):
        return not Counter(then) - Counter(now) - Counter(UTILISATION)
    if name == "best-table numbers":
        return bool(now)
    if name == "scatter caught" and then is not None:
        return bool(now >= then)
    if name.endswith(" ranges"):
        return _are_near(sorted(then), sorted(now or []))
    return bool(then == now)
