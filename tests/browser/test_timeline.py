"""Timeline in a browser, as a visitor uses it, on logs that ingest has read."""

import csv
import io
import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import polars as pl
import pytest
from playwright.sync_api import Route

from tests.browser.atlas import LATER, Atlas, paper, query_of, step, wait_idle
from tests.browser.timeline_page import TimelinePage

pytestmark = pytest.mark.browser

DEFAULT, TUNED, LIBRARY_OS = "linux_default", "linux_tuned", "ebbrt_tuned"
AT_200K = "?v=1&workload=memcached&load=200000"


def logged_point(atlas: Atlas, system: str) -> tuple[float, float]:
    """Position in Explore's scatter of a system's configuration with a per-interrupt log."""
    at = atlas.page.evaluate(
        """(system) => {
          const { columns } = wattlas.explore, gd = wattlas.plot("scatter");
          const { x, y } = gd.layout.meta.fields;
          const i = columns.logged.findIndex((n, k) => n > 0
            && wattlas.knob(columns, "system", k) === system);
          const at = wattlas.place(gd, columns.fields[x][i], columns.fields[y][i]);
          return [at.clientX, at.clientY];
        }""",
        system,
    )
    return at[0], at[1]


def point_at(atlas: Atlas, x: float, y: float) -> None:
    """Move the mouse to a point; Plotly handles clicks only on a point that was hovered."""
    assert "double-click: timeline" in atlas.point_at(x, y)


@pytest.mark.slow
def test_a_double_click_in_explore_opens_a_point_beside_its_reference(
    atlas: Atlas, timeline: TimelinePage, logged_address: str
) -> None:
    atlas.open(logged_address, AT_200K)
    atlas.page.evaluate("window.sameDocument = true")
    x, y = logged_point(atlas, TUNED)
    point_at(atlas, x, y)
    atlas.page.mouse.dblclick(x, y)
    timeline.ready()
    assert atlas.page.evaluate("window.sameDocument")
    reference, opened = timeline.runs()
    assert (DEFAULT in reference, TUNED in opened) == (True, True)
    assert atlas.query()["run"] == [reference, opened]
    label = atlas.page.locator(f'[data-shown-run="{opened}"]').inner_text()
    assert "Linux tuned · ITR 100 us · 2.9 GHz" in label
    # Each line has its letter at its end, which is written again with each figure.
    letters = atlas.page.locator(".timeline-frame .end-word")
    assert set(letters.all_text_contents()) == {"A", "B"}
    written = letters.count()
    atlas.page.keyboard.press("+")
    timeline.ready()
    assert letters.count() == written
    assert "reference" in atlas.page.locator(f'[data-shown-run="{reference}"]').inner_text()

    atlas.page.locator("#tab-explore").click()
    atlas.ready()
    assert "in 1 configuration ·" in atlas.selection()
    assert "workload=memcached" in atlas.page.url
    assert sum(n or 0 for n in atlas.selected_counts()) == 1


@pytest.mark.slow
def test_a_selection_opens_by_button_and_key_and_names_the_runs_that_it_omits(
    atlas: Atlas, timeline: TimelinePage, logged_address: str
) -> None:
    atlas.open(logged_address, AT_200K)
    atlas.drag("scatter", (0.005, 0.005), (0.995, 0.995))
    way = atlas.page.locator("#selected-timeline")
    assert way.inner_text() == "timeline (t)"
    picked = int(re.findall(r"in (\d+) config", atlas.selection())[0])
    way.click()
    timeline.ready()
    assert len(timeline.runs()) == 2
    notice = atlas.page.locator("#notice").inner_text()
    assert notice.startswith(f"2 of the {picked} configurations picked are shown")
    atlas.page.go_back()
    atlas.ready()
    atlas.page.keyboard.press("t")
    timeline.ready()
    assert len(timeline.runs()) == 2


def test_runs_that_stay_keep_their_colours_and_the_first_added_run_adds_its_reference(
    timeline: TimelinePage, logged_address: str
) -> None:
    timeline.open(logged_address)
    reference, tuned = timeline.runs()
    color = {t["run"]: t["color"] for t in timeline.traces("mean") if t["panel"] == "gap"}
    assert color[reference] != color[tuned]
    timeline.page.locator(f'#timeline-runs [data-edit=remove][data-run="{reference}"]').click()
    timeline.settle()
    assert {t["color"] for t in timeline.traces("mean") if t["run"] == tuned} == {color[tuned]}
    assert timeline.query()["hue"] == ["1"]
    for run in timeline.runs():
        timeline.page.locator(f'#timeline-runs [data-edit=remove][data-run="{run}"]').click()
    timeline.page.keyboard.press("a")
    timeline.page.locator("#timeline-search").fill("tuned memcached 200k")
    choice = timeline.page.locator(".choice", has_text="Linux tuned")
    timeline.page.wait_for_function("() => document.querySelectorAll('.choice').length < 9")
    choice.first.click()
    timeline.page.keyboard.press("Escape")
    timeline.ready()
    reference, tuned = timeline.runs()
    assert (DEFAULT in reference, TUNED in tuned) == (True, True)
    assert "B \u2212 A" in timeline.page.locator("#timeline-totals thead").inner_text()


@pytest.mark.slow
def test_a_point_without_a_log_shows_a_message(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address, AT_200K)
    atlas.page.locator("section[data-view=scatter]").focus()
    atlas.page.keyboard.press("ArrowRight")
    card = atlas.page.locator("#hover-card")
    assert "no timeline: no per-interrupt log" in card.inner_text()
    atlas.press("Enter")
    way = atlas.page.locator("#selected-timeline")
    assert way.inner_text() == "no timeline"
    assert way.is_disabled()
    atlas.press("t")
    assert urlsplit(atlas.page.url).path == "/"


def test_zoom_twice_pan_and_back(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    assert timeline.span() == (0, pytest.approx(0.1))
    assert "(all) · 100 ms wide" in timeline.words()
    timeline.drag(0.25, 0.75)
    low, high = timeline.span()
    assert (low, high) == (pytest.approx(0.025, abs=2e-4), pytest.approx(0.075, abs=2e-4))
    timeline.drag(0.4, 0.42)
    low, high = timeline.span()
    assert high - low == pytest.approx(0.001, rel=0.1)
    assert "every interrupt: A " in timeline.words()
    raw = timeline.traces("raw")
    assert {t["panel"] for t in raw} == {"bytes", "gap"}
    assert timeline.layout()["xaxis"]["range"] == [pytest.approx(low), pytest.approx(high)]

    timeline.page.keyboard.down("Shift")
    timeline.drag(0.8, 0.3)
    timeline.page.keyboard.up("Shift")
    moved, end = timeline.span()
    assert moved - low == pytest.approx(0.5 * (high - low), rel=0.05)
    assert end - moved == pytest.approx(high - low)
    query = timeline.query()
    assert float(query["from"][0]) == pytest.approx(moved, abs=1e-8)
    timeline.press("Backspace")
    timeline.press("Backspace")
    timeline.press("Home")
    assert timeline.span() == (0, pytest.approx(0.1))
    assert "from" not in timeline.query()


@pytest.mark.slow
def test_wheel_and_keys_move_the_window(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    left, top, width, height = timeline.area()
    timeline.page.mouse.move(left + 0.3 * width, top + height / 2)
    for _ in range(10):
        timeline.page.mouse.wheel(0, -100)
    timeline.settle()
    low, high = timeline.span()
    assert high - low == pytest.approx(0.1 * 1.0015**-1000, rel=0.02)
    assert low + 0.3 * (high - low) == pytest.approx(0.03, abs=1e-3)  # what is under it stays
    sent = timeline.page.evaluate(
        """() => { const { requests, zoom } = wattlas.timeline, before = requests.sent;
           for (let i = 0; i < 30; i++) zoom(i % 2 ? 0.5 : 2);
           return before; }"""
    )
    timeline.settle()  # of thirty windows at once the last one alone is asked for
    assert timeline.page.evaluate("wattlas.timeline.requests.sent") == sent + 1
    assert timeline.span() == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))
    timeline.press("-")
    wider = timeline.span()
    assert wider[1] - wider[0] == pytest.approx(2 * (high - low))
    timeline.press("ArrowRight")
    assert timeline.span()[0] - wider[0] == pytest.approx(0.2 * (wider[1] - wider[0]), rel=1e-3)
    timeline.press("+")
    assert timeline.span()[1] - timeline.span()[0] == pytest.approx(high - low)


def test_late_and_missing_answers_and_missing_runs_leave_what_is_there(
    timeline: TimelinePage, logged_address: str
) -> None:
    timeline.open(logged_address)
    aborted = timeline.page.evaluate("wattlas.timeline.requests.aborted")
    held: list[Route] = []
    timeline.page.route(
        "**/timeline/window*", lambda route: held.append(route) if not held else route.continue_()
    )
    with timeline.page.expect_request("**/timeline/window*"):
        timeline.page.keyboard.press("+")  # is held
    timeline.page.evaluate("0")
    assert len(held) == 1
    timeline.press("+")
    low, high = timeline.span()
    assert high - low == pytest.approx(0.025)
    assert timeline.layout()["xaxis"]["range"] == [pytest.approx(low), pytest.approx(high)]
    assert timeline.page.evaluate("wattlas.timeline.requests.aborted") > aborted
    # The picture stays when the server is gone.
    timeline.page.unroute_all()
    drawn = timeline.traces("mean")
    timeline.page.route("**/timeline/window*", lambda route: route.abort())
    timeline.page.keyboard.press("+")
    timeline.page.wait_for_function(
        "() => document.querySelector('#timeline-problems').innerText"
        ".startsWith('The server did not')"
    )
    assert timeline.traces("mean") == drawn
    timeline.page.unroute("**/timeline/window*")
    timeline.press("+")
    assert timeline.problems() == ""
    # A reference with a problem is not compared.
    first, second = timeline.runs()
    timeline.open(logged_address, f"?v=1&run=nosuchrun&run={first}&run={second}")
    assert "C \u2212 B" in timeline.page.locator("#timeline-totals thead").inner_text()


def test_two_runs_are_compared(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    reference, tuned = timeline.runs()
    rows = timeline.page.locator("#timeline-totals tbody tr")
    energy = rows.filter(has_text="Energy").first.locator("td").all_inner_texts()
    a, b, difference = energy
    joules = [float(text.split()[0]) for text in (a, b)]
    change = 100 * (joules[1] / joules[0] - 1)
    found = re.search(r"([+\u2212])([\d.]+) %", difference)
    assert found is not None
    sign = -1 if found[1] == "\u2212" else 1
    assert sign * float(found[2]) == pytest.approx(change, abs=1.0)
    # The largest change is the first row; a window of the lane is a click away.
    changes = [
        re.search(r"([\d.]+) %", text) for text in rows.locator(".difference").all_inner_texts()
    ]
    sizes = [float(one[1]) for one in changes if one is not None]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) > 5
    lane = timeline.page.locator("#timeline-lane")
    bar = lane.locator("rect").nth(3)
    begin, end = (float(bar.get_attribute(f"data-zoom-{at}") or "nan") for at in ("from", "to"))
    assert "noise" in (bar.text_content() or "")
    assert "B \u2212 A" in lane.inner_text()
    assert "not between replicates" in lane.inner_text()
    bar.click(force=True)
    timeline.settle()
    assert timeline.span() == pytest.approx((begin, end))
    timeline.press("Backspace")
    # The bands come when the window rests, and the card says what they are of.
    timeline.page.wait_for_function("() => wattlas.timeline.page.answer.runs[1].bands")
    assert {trace["run"] for trace in timeline.traces("band")} == {reference, tuned}
    timeline.press("v")
    assert re.search(r"p10 to p90 of windows of [\d.]+ [mu]s: ", timeline.said())
    timeline.press("v")
    limits = timeline.page.locator("#timeline-limits").inner_text()
    assert re.fullmatch(r"B: [\d.]+ % of gaps at the ITR limit \(.*\)", limits.strip())
    # With the other run as the reference the difference changes its sign.
    timeline.page.locator(f'[data-shown-run="{tuned}"] .base').click()
    timeline.settle()
    head = timeline.page.locator("#timeline-totals thead").inner_text()
    assert "B ref" in head
    assert "A \u2212 B" in head
    assert timeline.query()["base"] == ["1"]
    assert reference in timeline.runs()


def test_the_strip_shows_the_whole_and_its_brush_moves_the_window(
    timeline: TimelinePage, logged_address: str
) -> None:
    timeline.open(logged_address)
    whole, strip = timeline.span()[1], timeline.page.locator("#timeline-strip")
    assert strip.locator("path").count() == len(timeline.runs()) == 2
    left, _, width, _ = timeline.area()
    box = strip.bounding_box()
    assert box is not None

    def drag(start: float, end: float) -> None:
        mouse, y = timeline.page.mouse, box["y"] + box["height"] / 2
        mouse.move(left + start * width, y)
        mouse.down()
        mouse.move(left + (start + end) / 2 * width, y)
        # Its way is written too, into the entry of the whole drag.
        timeline.settle()
        mouse.move(left + end * width, y)
        mouse.up()
        timeline.settle()

    def shares() -> tuple[float, ...]:
        return tuple(seconds / whole for seconds in timeline.span())

    about = 3 / width
    drag(0.2, 0.4)
    assert shares() == pytest.approx((0.2, 0.4), abs=about)
    brush = strip.locator(".brush").bounding_box()
    assert brush is not None
    assert brush["x"] == pytest.approx(left + 0.2 * width, abs=3)
    assert brush["width"] == pytest.approx(0.2 * width, abs=3)
    timeline.page.evaluate(LATER)
    drag(0.3, 0.6)
    assert shares() == pytest.approx((0.5, 0.7), abs=about)
    for way, begin in (("back", 0.2), ("forward", 0.5)):
        step(timeline.page, way)
        timeline.ready()
        assert shares() == pytest.approx((begin, begin + 0.2), abs=about)
    drag(0.7, 0.9)
    assert shares() == pytest.approx((0.5, 0.9), abs=about)
    drag(0.1, 0.1)
    assert shares() == pytest.approx((0.0, 0.4), abs=about)
    strip.dblclick(position={"x": left - box["x"] + 0.8 * width, "y": 10})
    timeline.settle()
    assert shares() == (0, 1)


@pytest.mark.slow
def test_runs_are_aligned_by_work_done(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address, "?align=rx_bytes&from=1000000&to=1500000")
    page = timeline.page
    assert timeline.span() == (1e6, 1.5e6)
    timeline.press("Home")
    begin, end = timeline.span()
    runs = page.evaluate("wattlas.timeline.page.answer.runs.map((run) => run.axes.interrupts.t1)")
    assert (begin, end) == (0, max(runs))
    assert runs[0] != runs[1]
    axis = timeline.layout()["xaxis"]
    assert axis["title"]["text"] == "Bytes received since the start of the workload, B"
    assert axis["range"] == [0, pytest.approx(end)]
    timeline.drag(0.25, 0.5)
    assert timeline.span() == (pytest.approx(end / 4, rel=0.01), pytest.approx(end / 2, rel=0.01))
    assert float(query_of(page)["from"][0]) == pytest.approx(end / 4, rel=0.01)
    assert "B wide" in timeline.words()
    brush = page.locator("#timeline-strip .brush").bounding_box()
    left, _, width, _ = timeline.area()
    assert brush is not None
    assert brush["x"] == pytest.approx(left + width / 4, abs=3)
    assert "B to" in (page.locator("#timeline-lane rect title").first.text_content() or "")
    # Each run has its own time at a place.
    page.locator("#timeline-values").click()
    assert re.search(r"at [\d.]+ [kM]B.*A: .* s[. ].* B: .* s[. ]", timeline.said())
    # A window of work is none of time: all of it is shown.
    page.locator("#timeline-align").click()
    page.get_by_role("option", name="time", exact=True).click()
    page.wait_for_function("() => wattlas.timeline.page.answer.x.name === 'time'")
    timeline.settle()
    assert timeline.span() == (0, pytest.approx(0.1))
    assert not {"align", "from", "to"} & set(query_of(page))


@pytest.mark.slow
def test_runs_of_the_lake_can_be_added(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    timeline.press("a")
    choices = timeline.page.locator("#timeline-choices .choice")
    timeline.page.wait_for_function("() => document.querySelectorAll('.choice').length === 9")
    subjects = timeline.page.locator(".choice-subject").all_inner_texts()
    assert subjects[0].startswith("memcached at 200k QPS")  # what is like the first run is first
    timeline.page.locator("#timeline-search").fill("library nodejs")
    timeline.page.wait_for_function("() => document.querySelectorAll('.choice').length === 1")
    assert "Library OS · ITR 20 us · 2.9 GHz" in choices.first.inner_text()
    timeline.page.keyboard.press("ArrowDown")
    timeline.page.keyboard.press("Enter")
    timeline.page.wait_for_function("() => wattlas.timeline.page.state.runs.length === 3")
    timeline.page.keyboard.press("Escape")
    timeline.settle()
    assert "ebbrt_tuned" in timeline.runs()[2]
    # It is longer than the other runs: the whole window is now its length.
    assert timeline.span()[1] == pytest.approx(1.481, abs=0.001)


@pytest.mark.slow
def test_without_a_run_one_can_be_added(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    for run in timeline.runs():
        timeline.page.locator(f'#timeline-runs [data-edit=remove][data-run="{run}"]').click()
    wait_idle(timeline.page)
    assert timeline.page.locator("#timeline-figure").inner_text().startswith("No run is shown.")
    assert "run" not in timeline.query()
    timeline.page.keyboard.press("a")
    timeline.page.locator(".choice").first.click()
    timeline.page.keyboard.press("Escape")
    timeline.ready()
    assert len(timeline.runs()) == 1
    assert timeline.traces("mean")


@pytest.mark.slow
def test_downloads_hold_the_visible_window(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    timeline.drag(0.5, 0.51)
    drawn = sum(t["points"] for t in timeline.traces("raw") if t["panel"] == "gap")
    rows = read_csv(timeline.download("timeline-figure", "Data as CSV"))
    assert len(rows) == drawn
    low, high = timeline.span()
    assert all(low <= float(r["t_ns"]) / 1e9 < high for r in rows)
    stored = pl.read_parquet(timeline.download("timeline-figure", "Data as Parquet"))
    assert stored["t_ns"].to_list() == [int(r["t_ns"]) for r in rows]
    for view, what in (("timeline-gaps", "quantity"), ("timeline-totals", "title")):
        saved = read_csv(timeline.download(view, "Data as CSV"))
        assert {row["run_id"] for row in saved} == set(timeline.runs())
        assert all(row[what] for row in saved)
    timeline.choose("timeline-figure", "How was this computed")
    timeline.page.wait_for_function(
        "() => document.querySelector('#explanation').innerText.length > 40"
    )
    said = timeline.page.locator("#explanation").inner_text()
    assert all(run in said for run in timeline.runs())


def read_csv(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text())))


@pytest.mark.slow
def test_pictures_for_paper(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    page = timeline.page
    svg = paper(page.locator('section[data-view="timeline-figure"]'), "svg").decode()
    assert "<image" not in svg
    for run in ("A \N{EN DASH} Linux default", "B \N{EN DASH} Linux tuned"):
        assert run in svg  # the runs are in the legend
    assert "Timeline, " in svg  # the window is in the caption
    sides = paper(page.locator('section[data-view="timeline-gaps"]'), "svg").decode()
    for words in ("Time between", "Received per", "Sent per", "Linux tuned"):
        assert words in sides


def test_a_core_of_the_heatmap_becomes_a_line(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    left, top, width, height = timeline.area()
    row = next(r for r in timeline.layout()["meta"]["rows"] if r["kind"] == "heat")
    low, high = row["domain"]
    y = top + height * (1 - (high - (high - low) * 3.5 / 16))
    timeline.page.mouse.click(left + width / 2, y)
    timeline.settle()
    assert timeline.query()["cores"] == ["3"]
    assert {t["group"] for t in timeline.traces("mean") if t["panel"] == "gap"} == {"core 3"}
    timeline.page.locator("#timeline-list").fill("0,99")
    wait_idle(timeline.page)
    assert "no run here has core 99" in timeline.page.locator("#timeline-cores-words").inner_text()


# Elements with letters smaller than 12 px.
_TOO_SMALL = """() => [...document.querySelectorAll(".timeline *")]
  .filter((e) => [...e.childNodes].some((part) => part.nodeType === 3 && part.data.trim()))
  .filter((e) => e.getClientRects().length && parseFloat(getComputedStyle(e).fontSize) < 12)
  .map((e) => e.tagName + " " + e.textContent)"""


@pytest.mark.slow
def test_the_page_fits_in_both_themes_and_widths(
    timeline: TimelinePage, logged_address: str
) -> None:
    timeline.open(logged_address)
    for name in ("#timeline-figure", "#timeline-gaps", "#timeline-sizes", "#timeline-totals"):
        box = timeline.page.locator(name).bounding_box()
        assert box is not None
        assert box["y"] + min(box["height"], 40) <= 900
        assert box["x"] + box["width"] <= 1440
    # The largest differences are above the fold.
    row = timeline.page.locator("#timeline-totals tbody tr").nth(5).bounding_box()
    assert row is not None
    assert row["y"] + row["height"] < 900
    assert timeline.page.evaluate(_TOO_SMALL) == []
    timeline.page.locator("#theme-button").click()
    wait_idle(timeline.page)
    assert timeline.layout()["font"]["color"] == "#e6e8eb"
    timeline.page.set_viewport_size({"width": 1024, "height": 768})
    wait_idle(timeline.page)
    wide = timeline.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 1024
    assert timeline.layout()["width"] > 800
    timeline.page.set_viewport_size({"width": 390, "height": 844})
    wait_idle(timeline.page)
    assert timeline.page.evaluate(_TOO_SMALL) == []
    assert timeline.page.evaluate("document.documentElement.scrollWidth") <= 390
    for view in timeline.page.locator(".timeline section").all():
        box = view.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390
    # A column of its own for each of three runs and their difference.
    table, frame = (
        timeline.page.locator(f"#timeline-totals{of}").bounding_box() for of in (" table", "")
    )
    assert table is not None
    assert frame is not None
    assert table["width"] <= frame["width"]


@pytest.mark.slow
def test_words_of_six_runs_do_not_overlap(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    timeline.press("a")
    found = timeline.page.evaluate(
        "() => Array.from(document.querySelectorAll('.choice'), (choice) => choice.title)"
    )
    runs = "".join(f"&run={run}" for run in found[:6])
    for more in ("", "&layout=stacked", "&from=0.01&to=0.02"):
        timeline.open(logged_address, f"?v=1{runs}{more}")
        boxes = [
            timeline.page.locator(name).bounding_box()
            for name in (
                "#timeline-gaps .svg-container",
                "#timeline-limits",
                "#timeline-sizes .svg-container",
            )
        ]
        panel = timeline.page.locator(".panel-distributions").bounding_box()
        assert panel is not None
        assert all(box is not None for box in boxes)
        edges = [(box["y"], box["y"] + box["height"]) for box in boxes if box is not None]
        assert all(above[1] <= below[0] + 1 for above, below in pairwise(edges))
        assert edges[-1][1] <= panel["y"] + panel["height"] + 1
        words = timeline.page.locator("#timeline-span")
        assert words.evaluate("(e) => e.scrollHeight <= e.clientHeight + 1")


def test_tab_reaches_all_controls(timeline: TimelinePage, logged_address: str) -> None:
    timeline.open(logged_address)
    timeline.page.locator("#timeline-add").focus()
    reached = set()
    for _ in range(60):
        timeline.page.keyboard.press("Tab")
        reached.add(
            timeline.page.evaluate(
                """() => { const e = document.activeElement;
                   if (e.type === "checkbox") return e.value;
                   return e.id || e.dataset.view || e.className; }"""
            )
        )
    assert {"timeline-in", "timeline-figure", "timeline-gaps", "timeline-totals"} <= reached
    # The panels' switches are one stop; arrows reach the others.
    assert "bytes" in reached
    timeline.page.locator('input[value="bytes"]').focus()
    timeline.page.keyboard.press("ArrowRight")
    assert timeline.page.evaluate("document.activeElement.value") == "byte_rate"
