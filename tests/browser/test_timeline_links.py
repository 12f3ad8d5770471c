"""Links of Timeline: what they restore, and the messages of bad ones."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.timeline.panels import DEFAULT_PANELS, PANELS
from app.timeline.state import TimelineState
from data.catalogue import SHIPPED
from tests.browser.atlas import visit
from tests.browser.timeline_page import TimelinePage

pytestmark = pytest.mark.browser

DEFAULT_TITLES = [PANELS[name].title for name in DEFAULT_PANELS]


@pytest.mark.slow
def test_a_link_restores_everything(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    timeline.panel_chip("Busy share")
    timeline.panel_chip("Sleep-state entries a second")
    timeline.page.get_by_text("Stacked", exact=True).click()
    timeline.page.get_by_text("Packages", exact=True).click()
    timeline.drag(0.2, 0.6)
    first = timeline.runs()[0]
    timeline.page.locator(f'#timeline-runs [data-edit=remove][data-run="{first}"]').click()
    timeline.settle()
    url = timeline.page.url

    def seen() -> tuple:
        rows = [(r["panel"], r.get("series")) for r in timeline.layout()["meta"]["rows"]
                if r["kind"] == "lines"]  # fmt: skip
        return timeline.runs(), timeline.span(), rows, timeline.traces("mean"), timeline.words()

    before = seen()
    assert ("busy", "busy") not in before[2]
    assert any(panel == "sleep" for panel, _ in before[2])
    assert {t["group"] for t in before[3] if t["panel"] == "gap"} == {"package 0", "package 1"}
    timeline.page.goto("about:blank")
    timeline.page.goto(url)
    timeline.ready()
    assert seen() == before
    assert timeline.page.url == url


@pytest.mark.slow
def test_a_link_restores_no_panel_and_the_compared_run(
    timeline: TimelinePage, logged_address: str
) -> None:
    timeline.open(logged_address)
    timeline.press("a")
    timeline.page.locator("#timeline-search").fill("library memcached")
    timeline.page.wait_for_function("() => document.querySelectorAll('.choice').length === 1")
    timeline.page.locator(".choice").click()
    timeline.page.keyboard.press("Escape")
    timeline.settle()
    head = timeline.page.locator("#timeline-totals thead")
    assert "B \u2212 A" in head.inner_text()
    timeline.page.locator("#timeline-totals thead button", has_text="C").focus()
    timeline.page.keyboard.press("Enter")
    assert "C \u2212 A" in head.inner_text()
    assert timeline.page.evaluate("document.activeElement.innerText") == "C"
    for title in DEFAULT_TITLES:
        timeline.panel_chip(title)
    assert timeline.traces("mean") == []
    assert len(timeline.traces("heat")) == 3  # is no panel, and stays
    url = timeline.page.url
    query = timeline.query()
    assert (query["panel"], query["other"]) == (["none"], ["2"])

    timeline.page.goto("about:blank")
    timeline.page.goto(url)
    timeline.ready()
    assert (timeline.traces("mean"), len(timeline.traces("heat"))) == ([], 3)
    assert "C \u2212 A" in head.inner_text()
    assert timeline.page.url == url
    # Reference and compared run are swapped; removing another run shifts their positions.
    timeline.page.locator(f'[data-shown-run="{timeline.runs()[2]}"] .base').click()
    timeline.settle()
    assert "A \u2212 C" in head.inner_text()
    timeline.page.locator(
        f'#timeline-runs [data-edit=remove][data-run="{timeline.runs()[1]}"]'
    ).click()
    timeline.settle()
    assert "A \u2212 B" in head.inner_text()
    query = timeline.query()
    assert (query["base"], query["other"]) == (["1"], ["0"])


@pytest.mark.slow
def test_the_totals_stay_when_all_panels_are_off(
    timeline: TimelinePage, logged_address: str
) -> None:
    timeline.open(logged_address)
    runs = "".join(f"&run={run}" for run in timeline.runs())
    timeline.page.goto(f"{logged_address}/timeline?v=1{runs}&panel=none&heat=none")
    timeline.page.wait_for_selector("#timeline-totals table")
    assert timeline.page.locator("#timeline-figure").inner_text().startswith("All panels are")
    timeline.panel_chip("Busy share")
    assert {t["panel"] for t in timeline.traces("mean")} == {"busy"}


@pytest.mark.slow
def test_bad_links_show_messages_and_the_rest_works(
    timeline: TimelinePage, logged_address: str
) -> None:
    timeline.open(logged_address)
    good = timeline.runs()[0]
    timeline.open(logged_address, f"?v=1&run={good}&run=nosuchrun")
    assert "holds no run 'nosuchrun'" in timeline.problems()
    assert {t["run"] for t in timeline.traces("mean")} == {good}
    timeline.page.goto(f"{logged_address}/timeline?v=1&run=nosuchrun")
    timeline.page.wait_for_function(
        "() => document.querySelector('#timeline-problems')?.innerText.includes('nosuchrun')"
    )
    assert timeline.words() == ""
    figure = timeline.page.locator("#timeline-figure")
    assert figure.inner_text().startswith("None of these runs can be shown.")
    timeline.page.locator("#timeline-problems").get_by_text("runs of the lake").click()
    timeline.page.wait_for_function("() => document.querySelectorAll('.choice').length === 9")
    for ends, shown in (
        ("from=0.05&to=7", (0.05, 0.1)),
        ("from=7&to=7.03", (0.07, 0.1)),
        ("from=-2&to=-1", (0, 0.1)),
    ):
        timeline.open(logged_address, f"?v=1&run={good}&{ends}")
        assert "the longest run lasts 0.1 s: showing" in timeline.problems()
        assert timeline.span() == (pytest.approx(shown[0]), pytest.approx(shown[1], abs=1e-6))
        assert {t["run"] for t in timeline.traces("mean")} == {good}
        assert "7" not in "".join(timeline.query().get("to", []))
    timeline.press("+")
    assert timeline.problems() == ""
    visit(timeline.page, f"{logged_address}/timeline?v=1&run=x&panel=nonsense")
    assert "no panel 'nonsense'" in timeline.page.locator("#notice").inner_text()


@pytest.mark.slow
def test_a_run_without_a_log_offers_runs_with_one(
    timeline: TimelinePage, logged_address: str
) -> None:
    timeline.open(logged_address)
    good = timeline.runs()[0]
    table = timeline.page.evaluate(
        "async () => (await (await fetch('data/runs.csv?v=1&workload=memcached')).text())"
    )
    rows = csv.DictReader(io.StringIO(table))
    bare = next(r["run_id"] for r in rows if r["has_log"] != "true")
    timeline.page.goto(f"{logged_address}/timeline?v=1&run={bare}&run={good}")
    timeline.ready()
    assert "has no per-interrupt log" in timeline.problems()
    offer = timeline.page.locator("#timeline-problems button").first
    assert offer.inner_text().startswith("show ")
    every = timeline.page.locator("#timeline-problems").get_by_text("runs that have one")
    every.click()
    timeline.page.wait_for_function("() => document.querySelectorAll('.choice').length === 9")
    timeline.page.keyboard.press("Escape")
    offer.click()
    timeline.page.wait_for_function(
        "(bare) => !wattlas.timeline.page.state.runs.includes(bare)", arg=bare
    )
    timeline.settle()
    assert len(timeline.runs()) == 2
    assert timeline.problems() == ""


@pytest.mark.slow
def test_a_file_removed_while_the_app_runs_shows_one_message(
    timeline: TimelinePage, serve: Callable[[Path], str], logged_lake: Path, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    shutil.copytree(logged_lake, lake)
    address = serve(lake)
    timeline.open(address)
    reference, tuned = timeline.runs()
    for table in ("interrupts", "overview"):
        for path in (lake / table).rglob(f"{tuned}*"):
            path.unlink()
    timeline.drag(0.3, 0.35)
    assert timeline.problems().count("B: ") == 1
    assert "missing from the lake" in timeline.problems()
    assert {t["run"] for t in timeline.traces("mean")} == {reference}
    timeline.press("Home")
    assert {t["run"] for t in timeline.traces("mean")} == {reference}


@pytest.mark.slow
def test_the_browser_and_python_have_the_same_state(
    timeline: TimelinePage, logged_address: str
) -> None:
    """Python reads the state that the browser writes, and writes the same."""
    timeline.open(logged_address)
    timeline.panel_chip("Instructions per cycle")
    timeline.page.get_by_text("Stacked", exact=True).click()
    timeline.drag(0.1, 0.9)
    state = TimelineState.from_query(urlsplit(timeline.page.url).query, SHIPPED)
    there = json.loads(timeline.page.evaluate("JSON.stringify(wattlas.timeline.page.state)"))
    assert list(state.runs) == there["runs"]
    assert list(state.shown_panels) == there["panels"]
    assert (state.from_x, state.to_x) == (there["from"], there["to"])
    assert (state.layout, state.cores, state.heat) == ("stacked", "all", "interrupts")
    again = TimelineState.from_query(state.to_query(), SHIPPED)
    assert again == state
