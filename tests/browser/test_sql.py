"""SQL in a browser: run, chart, link, files, errors as text."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from data.sandbox.landlock import landlock_version
from tests.browser.atlas import wait_idle

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock"),
]


def ask(page: Page, sql: str) -> None:
    page.locator("#sql-editor").fill(sql)
    wait_idle(page)
    page.locator("#sql-editor").press("Control+Enter")
    expect(page.locator("#sql-cancel")).to_be_disabled()
    wait_idle(page)


def test_a_query_is_run_drawn_linked_and_saved(page: Page, sql_address: str) -> None:
    page.goto(f"{sql_address}/sql")
    wait_idle(page)
    expect(page.locator("#sql-said")).to_contain_text("rows")
    editor = page.locator("#sql-editor")
    editor.fill("SELECT ")
    editor.press_sequentially("energy_")
    offered = page.locator("#sql-complete li")
    expect(offered.first).to_contain_text("energy_j")
    expect(offered.first).to_contain_text("J")
    editor.press("Tab")
    expect(editor).to_have_value("SELECT energy_j")
    expect(offered).to_have_count(0)
    editor.press_sequentially(" FROM run")
    editor.press("Tab")
    wait_idle(page)
    editor.press("Control+Enter")
    expect(page.locator("#sql-rows .ag-header-cell-text").first).to_have_text("energy_j")
    assert parse_qs(urlsplit(page.url).query)["sql"] == ["SELECT energy_j FROM runs"]
    ask(
        page,
        "SELECT load_qps, avg(energy_j) AS mean_j FROM runs WHERE load_qps > 0 GROUP BY ALL",
    )
    cells = page.locator("#sql-rows .ag-row")
    expect(cells).to_have_count(4)
    expect(page.locator("#sql-said")).to_contain_text("4 rows")
    for key, name in (("x", "load_qps"), ("y", "mean_j")):
        page.locator(f"#sql-{key}").click()
        page.get_by_role("option", name=name, exact=True).click()
        wait_idle(page)
    points = "() => wattlas.plot('sql-chart').data[0].x.length"
    assert page.evaluate(points) == 4
    query = parse_qs(urlsplit(page.url).query)
    assert (query["x"], query["y"]) == (["load_qps"], ["mean_j"])
    page.reload()
    wait_idle(page)
    expect(cells).to_have_count(4)
    wait_idle(page)
    assert page.evaluate(points) == 4
    with page.expect_download() as download:
        page.locator("#sql-csv").click()
    assert download.value.path().read_text().splitlines()[0] == '"load_qps","mean_j"'

    # The query of a figure, with its values.
    page.get_by_role("link", name="Explore", exact=True).first.click()
    wait_idle(page)
    page.get_by_label("menu of ").first.click()
    page.get_by_role("menuitem", name="How was this computed", exact=True).click()
    page.get_by_role("button", name="open in SQL").click()
    wait_idle(page)
    expect(page.locator("#sql-said")).to_contain_text("rows")
    assert "AS x_sd" in page.locator("#sql-editor").input_value()

    ask(page, 'SELECT \'<img src=x onerror=alert(1)>\' AS "<b>x</b>", 1 AS "a.b"')
    expect(page.locator("#sql-rows .ag-cell").first).to_have_text("<img src=x onerror=alert(1)>")
    expect(page.locator("#sql-rows .ag-header-cell-text").first).to_have_text("<b>x</b>")
    expect(page.locator("#sql-rows .ag-cell").nth(1)).to_have_text("1")
    assert page.locator("#sql-rows img, #sql-rows b").count() == 0
    ask(page, "SELECT error('<script>alert(1)</script>')")
    expect(page.locator("#sql-said")).to_contain_text("<script>alert(1)</script>")
    assert page.locator("#sql-said script").count() == 0


@pytest.mark.slow
def test_rows_of_an_earlier_query_are_grey_and_say_whose_they_are(
    page: Page, sql_address: str
) -> None:
    page.goto(f"{sql_address}/sql")
    wait_idle(page)
    good = "SELECT run_id, energy_j FROM runs WHERE energy_j > 0 ORDER BY run_id, energy_j LIMIT 3"
    ask(page, good)
    rows = page.locator("#sql-rows .ag-row")
    expect(rows).to_have_count(3)
    ask(page, "SELECT nothing FROM runs")
    expect(page.locator("#sql-said.failed")).to_contain_text("nothing")
    for name in ("rows", "chart"):
        said = page.locator(f"#sql-{name}-of")
        expect(said).to_contain_text(
            re.compile(r"^of an earlier query, \d\d:\d\d:\d\d: SELECT run_id,")
        )
        expect(said).to_have_attribute("title", good)
        assert len(said.inner_text()) < 100
    for part in (".panel-result > .grid", ".panel-chart > .graph, .panel-chart > :has(.graph)"):
        expect(page.locator(part).first).to_have_css("opacity", "0.5")
    for form in ("csv", "parquet"):
        expect(page.locator(f"#sql-{form}")).to_be_disabled()
    expect(rows).to_have_count(3)
    ask(page, "SELECT 1 AS one")
    expect(rows).to_have_count(1)
    expect(page.locator("#sql-rows-of")).to_be_empty()
    expect(page.locator(".panel-result > .grid").first).to_have_css("opacity", "1")
    # The file holds the rows on the screen, also where the editor has another query by now.
    page.locator("#sql-editor").fill("SELECT 2 AS two")
    wait_idle(page)
    with page.expect_download() as download:
        page.locator("#sql-csv").click()
    assert download.value.path().read_text().splitlines() == ['"one"', "1"]
