"""Reading Timeline's values by pointer, keys and screen reader."""

import re

import pytest

from tests.browser.atlas import wait_idle
from tests.browser.timeline_page import TimelinePage

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_the_card_shows_bins_and_single_interrupts(
    timeline: TimelinePage, logged_address: str
) -> None:
    timeline.open(logged_address)
    left, top, width, height = timeline.area()
    card = timeline.page.locator("#hover-card")

    def point(panel: str, share: float) -> str:
        domain = next(r["domain"] for r in timeline.layout()["meta"]["rows"]
                      if r.get("panel") == panel)  # fmt: skip
        y = top + height * (1 - (domain[0] + domain[1]) / 2)
        timeline.page.mouse.move(left + share * width - 5, y)
        timeline.page.mouse.move(left + share * width, y, steps=2)
        wait_idle(timeline.page)
        return card.inner_text()

    said = point("gap", 0.5)
    assert said.startswith("Time between interrupts at 0.050")
    assert re.search(r"A: mean [\d.]+ us \([\d.]+ us to [\d.]+ .?s\) · [\d,]+ interrupts", said)
    timeline.drag(0.5, 0.51)
    raw = timeline.page.evaluate(
        """() => {
          const run = wattlas.timeline.page.answer.runs[1], gd = wattlas.timeline.plot();
          const row = gd.layout.meta.rows.find((r) => r.panel === "gap");
          const axis = gd._fullLayout["yaxis" + row.axis.slice(1)];
          const i = run.raw.gap_us.findIndex((gap) => gap > 0);
          const box = gd.getBoundingClientRect(), { xaxis } = gd._fullLayout;
          return [box.left + xaxis._offset + xaxis.d2p(run.raw.t_s[i]),
            box.top + axis._offset + axis.d2p(run.raw.gap_us[i]), run.raw.core[i], run.raw.t_s[i]];
        }"""
    )
    timeline.page.mouse.move(raw[0] - 3, raw[1])
    timeline.page.mouse.move(raw[0], raw[1], steps=2)
    wait_idle(timeline.page)
    said = card.inner_text()
    assert f"interrupt on core {raw[2]} at {raw[3]:.9f} s" in said
    assert "after the one before it" in said
    assert "descriptor" in said


@pytest.mark.slow
def test_arrow_keys_show_the_same_values_as_the_pointer(
    timeline: TimelinePage, logged_address: str
) -> None:
    timeline.open(logged_address)
    runs = "".join(f"&run={run}" for run in timeline.runs())
    timeline.open(logged_address, f"?v=1{runs}&cores=0-5")  # so that bins are some pixels wide
    card = timeline.page.locator("#hover-card")
    timeline.page.keyboard.press("v")
    said = timeline.said()
    assert said.startswith("Bytes per interrupt, received at 0.0500")
    assert said == ". ".join(card.inner_text().splitlines())
    assert "A is Linux default" in said

    def under_the_pointer() -> str:
        x, y = timeline.cursor()
        timeline.page.mouse.move(x - 4, y)
        timeline.page.mouse.move(x, y, steps=2)
        return card.inner_text()

    for key in ("ArrowRight", "Shift+ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft"):
        before = timeline.said()
        timeline.page.keyboard.press(key)
        assert timeline.said() != before
        read = card.inner_text()
        assert under_the_pointer() == read
        timeline.page.mouse.move(5, 5)
        assert card.inner_text() == read  # the cursor's own, once the pointer has gone
    assert timeline.said().startswith("Interrupts a second at 0.05")
    assert " is " not in timeline.said()  # said when the row was entered, not at each step
    timeline.page.keyboard.press("Escape")
    assert (timeline.said(), card.is_visible()) == ("", False)
    # Without a cursor, arrow keys move the window.
    timeline.press("+")
    span = timeline.span()
    timeline.press("ArrowRight")
    assert timeline.span()[0] > span[0]


@pytest.mark.slow
def test_the_cursor_steps_through_interrupts_and_moves_the_window(
    timeline: TimelinePage, logged_address: str
) -> None:
    timeline.open(logged_address)
    timeline.drag(0.5, 0.51)
    timeline.page.keyboard.press("v")
    found = timeline.page.evaluate(
        """() => wattlas.timeline.page.answer.runs.flatMap((run) => Array.from(run.raw.t_s)
             .map((t, i) => ({ t, core: run.raw.core[i] }))).sort((a, b) => a.t - b.t)"""
    )
    low, high = timeline.span()
    rest = [one for one in found if one["t"] >= (low + high) / 2]
    for at in range(3):
        assert timeline.interrupt() == (rest[at]["core"], pytest.approx(rest[at]["t"], abs=1e-9))
        timeline.page.keyboard.press("ArrowRight")
    for _ in range(len(found) // 10 + 2):
        timeline.page.keyboard.press("Shift+ArrowRight")
    timeline.settle()
    core, time = timeline.interrupt()
    assert timeline.span()[0] > low
    assert time >= found[-1]["t"]
    assert core is not None
    timeline.press("+")  # about the cursor
    assert timeline.interrupt() == (core, pytest.approx(time, abs=1e-9))


@pytest.mark.slow
def test_m_goes_to_the_largest_value(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    timeline.page.keyboard.press("v")
    for _ in range(3):
        timeline.page.keyboard.press("ArrowDown")
    timeline.page.keyboard.press("m")
    most_us = timeline.page.evaluate(
        """() => Math.max(...wattlas.timeline.page.answer.runs.flatMap((run) =>
             Array.from(run.groups[0].series.gap.max).filter((gap) => !isNaN(gap))))"""
    )
    words = timeline.page.evaluate("(us) => wattlas.formatQuantity(us, 'us')", most_us)
    assert f"to {words})" in timeline.said()
    # It is the largest value at each zoom: no bin omits it.
    for _ in range(4):
        timeline.press("+")
        timeline.page.keyboard.press("m")
        assert words in timeline.said()


@pytest.mark.slow
def test_cores_of_the_heatmap_are_reached_and_chosen_by_keys(
    timeline: TimelinePage, logged_address: str
) -> None:
    timeline.open(logged_address)
    timeline.page.get_by_role("button", name="read values").click()
    rows = len([r for r in timeline.layout()["meta"]["rows"] if r["kind"] == "lines"])
    for _ in range(rows + 3):
        timeline.page.keyboard.press("ArrowDown")
    assert re.search(r"Interrupts a second\. core 3 at 0\.0500.* s: [\d.]+ k/s", timeline.said())
    timeline.page.locator("section.panel-time").focus()
    timeline.page.keyboard.press("Enter")
    timeline.settle()
    assert "cores=3" in timeline.page.url
    timeline.page.keyboard.press("v")
    assert timeline.said() == ""


def test_the_note_of_a_panel_is_announced_once(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    timeline.page.keyboard.press("v")
    while not timeline.said().startswith("Energy per millisecond"):
        timeline.page.keyboard.press("ArrowDown")
    assert "note: " in timeline.said()
    assert "of whole packages: the counter is not per core" in timeline.said()
    timeline.page.keyboard.press("ArrowRight")
    assert "note:" not in timeline.said()
    assert "whole packages" in timeline.page.locator("#hover-card").inner_text()
    notes = timeline.page.locator("#timeline-totals tbody th[title*='whole packages']")
    assert notes.all_inner_texts() == ["Energy", "Power"]


def test_a_click_sets_the_cursor(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    left, top, width, height = timeline.area()
    row = next(r for r in timeline.layout()["meta"]["rows"] if r["panel"] == "ipc")
    timeline.page.mouse.click(left + 0.25 * width, top + height * (1 - sum(row["domain"]) / 2))
    assert timeline.said().startswith("Instructions per cycle at 0.0250")
    timeline.page.keyboard.press("ArrowRight")
    assert timeline.said().startswith("Instructions per cycle at 0.02")


def test_distributions_are_read_by_pointer_and_by_keys(
    timeline: TimelinePage, logged_address: str
) -> None:
    timeline.open(logged_address)
    span = timeline.span()
    timeline.page.locator(".panel-distributions").focus()
    for _ in range(4):
        timeline.page.keyboard.press("ArrowRight")
    assert timeline.span() == span
    found = re.search(
        r"^Time between interrupts: ([\d.]+) us to ([\d.]+) us\. "
        r"A: ([\d.]+) % · ([\d,]+) of ([\d,]+)",
        timeline.said(),
    )
    assert found is not None
    share, count, of = (float(found[at].replace(",", "")) for at in (3, 4, 5))
    assert share == pytest.approx(100 * count / of, rel=5e-3)
    read = timeline.page.locator("#hover-card").inner_text()
    x, y = timeline.page.evaluate(
        """(us) => {
          const gd = document.querySelector("#timeline-gaps"), { xaxis, yaxis } = gd._fullLayout;
          const box = gd.getBoundingClientRect();
          return [box.left + xaxis._offset + xaxis.d2p(us), box.top + yaxis._offset + 20];
        }""",
        (float(found[1]) + float(found[2])) / 2,
    )
    timeline.page.mouse.move(x - 3, y)
    timeline.page.mouse.move(x, y, steps=2)
    assert timeline.page.locator("#hover-card").inner_text() == read
    timeline.page.keyboard.press("ArrowDown")
    assert timeline.said().startswith("Received per interrupt: ")
    timeline.page.keyboard.press("ArrowDown")
    assert timeline.said().startswith("Sent per interrupt: ")


@pytest.mark.slow
@pytest.mark.usefixtures("own_document")
def test_the_live_region_is_invisible(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    region = timeline.page.locator("#timeline-value")
    assert (region.get_attribute("aria-live"), region.get_attribute("role")) == ("polite", "status")
    box = region.bounding_box()
    assert box is not None
    assert box["width"] * box["height"] <= 1
    timeline.page.mouse.move(600, 300)
    timeline.page.mouse.move(620, 320, steps=3)
    assert timeline.said() == ""  # the pointer is seen; it need not be heard
