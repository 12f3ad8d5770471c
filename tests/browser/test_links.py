"""Links of URL version 1 show the same as when they were written.

`links_v1.json` holds the actions of a visitor of that version on the sample lake, the link that the
page wrote, and the facts that the link showed in a new visit (see shown.py). The links never
change, since links in papers cannot. The facts were read with the code that wrote the links (commit
5a3d0dd). When the sample changed, those that it changed were read again: with the newest code that
had shown all facts of the sample before (commit 9229b82), on a lake that this code ingested from
the new sample. If the sample changes again, do the same with the newest code before the change that
passes this test, never with code that came with the change. Facts that a page has changed on
purpose are in `CHANGED`.
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
# Views of Storage that are other pictures now: all devices in one completion mode.
_OF_DEVICES: Final = (
    "proportionality ", "cpu-interrupts ", "power-interrupts ", "difference ", "ios-joule ",
)  # fmt: skip
UTILISATION: Final = ("bandwidth_bytes_s", "iops")
# By link and fact, what a page shows now that it has changed on purpose.
CHANGED: Final[dict[str, dict[str, Any]]] = {
    # A selection catches the discs of best sets too: 12 and 11.
    "explore_box_each_run": {"scatter caught": 91},
    "explore_lasso": {"scatter caught": 55},
    # The five other cells are dimmed, as in Explore's heatmap; the selected one had a frame. A mean
    # has the ends of its interval: 48.1 [47.7, 48.5] MB/J was 48.1 MB/J and 394 kB/J.
    "modes_cell": {
        "winners veiled": 5,
        "winners marks": 0,
        "shares caught": 1,
        "evidence": [
            47, 47.5, 48, 48.5, 49, 64, 1, 95, 1.48, 704, 5, 0.00213, 10, 10, 1.53, 704, 413, 95,
            95, 10, 48.1, 47.7, 48.5, 550, 10, 10, 47.4, 47.2, 47.6, 289, 10, 10, 47.4, 47.2, 47.6,
            255, 10,
        ],
    },
    # A selection catches the bars of its cells: nobody's without a tied cell.
    "modes_won": {"shares caught": 1},
    "modes_tied": {"shares caught": 0},
    # Titles of maps give way to their short forms.
    "modes_cells_from_explore": {
        "shares caught": 3, "winners titles": ["DVFS, GHz", "Interrupt delay (ITR), us"],
    },
    # Cells mixed two loads or accesses; Modes shows one, and says so. Without a selected cell, the
    # evidence is that of the closest contest.
    "modes_choices": {
        "counts": [75, 863, 13, 3, 7, 2, 1],
        "winners titles": ["ITR, us", "Processor frequency (DVFS), GHz"],
        "pareto ranges": [[5.846e-05, 0.00362], [15.96, 490.6]],
        "evidence titles": ["p99 latency, us"],
    },
    "modes_pinned": {
        "counts": [30, 863, 1, 1],
        "pareto ranges": [[78.13, 80.41], [1402000, 1568000]],
        "evidence titles": ["Bytes per joule, B/J"],
    },
    "modes_from_storage": {
        "evidence titles": ["Bytes per joule, B/J"],
        "winners titles": ["DVFS, GHz", "Interrupt delay (ITR), us"],
    },
    # The heatmap has settings and cost of the study: depth and threads, not ITR and DVFS; bytes per
    # joule, not the energy, which its runs lack.
    "explore_from_modes": {
        "settings": [
            "1000", "bytes_per_joule", "fio", "linux", "means", "optane", "performance", "randread",
            "synthetic-tiny-storage",
        ],
        "heatmap titles": ["IO depth", "Threads"],
        "heatmap ranges": [[-0.5, 2.5], [-0.5, 2.5]],
        "heatmap veiled": 1,
    },
    "explore_from_storage": {"heatmap titles": ["Access", "Device"]},
    # A lower picture has more room above its lines.
    "timeline_runs_base": {"gaps ranges": [[0, 84.22], [0.9583, 3.159]]},
    # Numbers of cells are texts of the cells; they were items that a selection caught again.
    "storage_point": {"bytes-joule caught": 1},
    "storage_box": {"bytes-joule caught": 2},
    "storage_mode_pinned": {"bytes-joule caught": 6},
}  # fmt: skip
_NOTES: Final = re.compile(r" \((?:less|more) is better\)| · arithmetic means")
# Of an evidence without a selected cell and without a contest.
_NO_RANGES: Final = [[-1, 6], [-1, 4]]


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
    assert differences(written["shown"], shown, CHANGED.get(written["name"], {})) == {}


def test_there_are_twenty_links_and_they_cover_all_pages() -> None:
    assert len(LINKS) >= 20
    paths = {written["link"].partition("?")[0] for written in LINKS}
    assert paths == {"/", "/modes", "/storage", "/timeline"}


def differences(
    then: dict[str, Any], now: dict[str, Any], changed: dict[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return the facts that differ, by name: the old value and the new one.

    Settings and numbers of the evidence may have been added, but not removed. The totals of
    Timeline may stand in another order, and titles say which mean they show, or not what is better
    where there is no room. Published values are
    not compared, since `data/reference/` has more of them now. Some pictures
    of Storage are others now, because the old ones misled: energy proportionality, whose x axis is
    no setting any more, and those that have all devices side by side.
    The table of best settings named the lowest mean; now it recommends one of those that the runs
    cannot tell from the best.

    Args:
        changed: Facts that replace the old ones.
    """
    found = {name: (value, now[name]) for name, value in then.items() if name != "views"}
    for view, facts in then["views"].items():
        for fact, value in facts.items():
            found[f"{view} {fact}"] = (value, now["views"].get(view, {}).get(fact))
    found |= {name: (value, found[name][1]) for name, value in changed.items()}
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
    if name.startswith(_OF_DEVICES):
        return True
    if name == "evidence ranges" and then == _NO_RANGES:
        return True
    if name == "totals numbers":
        return Counter(then) == Counter(now)
    if name.endswith(" titles"):
        return [_NOTES.sub("", t) for t in then] == [_NOTES.sub("", t) for t in now or []]
    if name in ("settings", "evidence"):
        return not Counter(then) - Counter(now) - Counter(UTILISATION)
    if name == "best-table numbers":
        return bool(now)
    if name.endswith(" ranges"):
        return _are_near(sorted(then), sorted(now or []))
    return bool(then == now)
