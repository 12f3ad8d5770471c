"""An exported Timeline: it opens from disk and zooms within the windows that it holds."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.atlas import wait_idle
from tests.browser.timeline_page import TimelinePage

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_an_export_is_zoomed_and_read_without_a_server(
    page: Page, timeline: TimelinePage, logged_address: str, tmp_path: Path
) -> None:
    answer = page.request.get(f"{logged_address}/timeline/export.html?from=0.02&to=0.06")
    assert answer.ok
    out = tmp_path / "timeline.html"
    out.write_bytes(answer.body())
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(out.as_uri())
    timeline.ready()
    assert timeline.span() == pytest.approx((0.02, 0.06))
    assert page.locator("#timeline-totals-title").inner_text().startswith("Totals of 0.0200")
    timeline.drag(0.25, 0.75)
    low, high = timeline.span()
    assert (low, high) == (pytest.approx(0.03, abs=2e-4), pytest.approx(0.05, abs=2e-4))
    drawn = timeline.layout()["xaxis"]["range"]
    assert drawn == [pytest.approx(low), pytest.approx(high)]
    assert all(trace["points"] for trace in timeline.traces("mean"))
    page.keyboard.press("v")
    assert timeline.said().startswith("Bytes per interrupt, received at 0.040")
    page.keyboard.press("Escape")
    timeline.press("Home")  # the whole runs are held, too
    assert timeline.span() == (0, pytest.approx(0.1))
    assert page.locator("#timeline-totals-title").inner_text().startswith("Totals of 0.0000")
    page.locator("#theme-button").click()
    wait_idle(page)
    assert timeline.layout()["font"]["color"] == "#e6e8eb"
    answer = page.request.get(f"{logged_address}/timeline/export.html?align=rx_bytes")
    out.write_bytes(answer.body())
    page.goto(out.as_uri())
    timeline.ready()
    _, end = timeline.span()
    timeline.drag(0.25, 0.5)
    assert timeline.span() == (pytest.approx(end / 4, rel=0.01), pytest.approx(end / 2, rel=0.01))
    assert "MB" in page.locator("#timeline-totals-title").inner_text()
    assert all(trace["points"] for trace in timeline.traces("mean"))
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
