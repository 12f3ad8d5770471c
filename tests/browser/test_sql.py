"""SQL in a browser: run, chart, link, files, errors as text."""

import re
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from data.sandbox.landlock import landlock_version
from tests.browser.atlas import paper, query_of, visit, wait_idle
from tests.browser.conftest import load_scripts, make_blank

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock"),
]


EDITOR: Final = "#sql-code .cm-content"


def ask(page: Page, sql: str) -> None:
    page.locator(EDITOR).fill(sql)
    wait_idle(page)
    page.locator(EDITOR).press("Control+Enter")
    expect(page.locator("#sql-cancel")).to_be_disabled()
    wait_idle(page)


def text(page: Page) -> str:
    """What is sent: the text area keeps the editor's content."""
    return page.locator("#sql-editor").input_value()


@pytest.fixture(scope="module")
def scripts(blank: Page) -> Page:
    return load_scripts(blank, "sql/view")


@pytest.mark.parametrize(
    ("written", "statements"),
    [
        ("SELECT 1", ["SELECT 1"]),
        (" SELECT 1;\n\n-- a; b\nSELECT 2 ;;", ["SELECT 1", "-- a; b\nSELECT 2"]),
        ("SELECT 'a;''b', \"c;d\"; SELECT 2", ["SELECT 'a;''b', \"c;d\"", "SELECT 2"]),
        ("SELECT $$a;b$$, $x$ ; $$ $x$, E'\\';'; SELECT 2",
         ["SELECT $$a;b$$, $x$ ; $$ $x$, E'\\';'", "SELECT 2"]),
        ("/* ; */ SELECT 1; /* SELECT 2; */", ["/* ; */ SELECT 1"]),
        ("SELECT 'open; SELECT 2", ["SELECT 'open; SELECT 2"]),
        ("-- nothing;", []),
    ],
)  # fmt: skip
def test_statements_end_at_semicolons_outside_texts_and_comments(
    scripts: Page, written: str, statements: list[str]
) -> None:
    each = "(text) => [...text, ''].map((_, i) => wattlas.sql.statementAt(text, i))"
    told = scripts.evaluate(each, written)
    named = {one["number"]: one["sql"] for one in told if one}
    assert list(named.values()) == statements
    # After the semicolon at the end of a line the caret is still in its statement.
    at = written.find(";\n") + 1
    if at:
        assert told[at]["number"] == 1


def test_completion_knows_the_tables_of_a_statement(scripts: Page) -> None:
    tables = [
        {"name": "runs", "columns": [{"name": "energy_j", "unit": "J", "title": "Energy."}]},
        {"name": "cores", "columns": [{"name": "core", "unit": "", "title": ""}]},
    ]
    words = {"word": ["avg"], "kind": ["function"], "detail": ["x"], "description": ["Mean."]}
    found = {
        statement: scripts.evaluate(
            "(given) => wattlas.sql.completionsOf(...given)",
            [tables, words, statement, word, statement],
        )
        for statement, word in (
            ("SELECT en", "en"), ("SELECT c.", "c."), ("SELECT c. FROM runs, cores AS c", "c."),
            ("SELECT  FROM cores", ""), ("SELECT 1 FROM ", ""),
        )
    }  # fmt: skip
    energy, core, *_, mean = found["SELECT en"]
    assert (energy["label"], energy["detail"], energy["info"]) == ("energy_j", "J", "Energy.")
    assert (mean["label"], mean["detail"]) == ("avg", "(x)")
    assert found["SELECT c."] == []
    assert [one["label"] for one in found["SELECT c. FROM runs, cores AS c"]] == ["core"]
    boosts = {one["label"]: one["boost"] for one in found["SELECT  FROM cores"]}
    assert boosts["core"] > boosts["runs"] > boosts["avg"] > boosts["energy_j"]
    assert core["label"] == "core"
    first = max(found["SELECT 1 FROM "], key=lambda one: one["boost"])
    assert first["kind"] == "table"


def test_a_query_is_run_drawn_linked_and_saved(page: Page, logged_address: str) -> None:
    visit(page, f"{logged_address}/sql")
    expect(page.locator("#sql-said")).to_contain_text("rows")
    editor = page.locator(EDITOR)
    expect(editor).to_be_visible()
    expect(page.locator("#sql-editor")).to_be_hidden()
    expect(editor.locator(".tok-keyword").first).to_have_text("SELECT")
    editor.fill("SELECT ")
    editor.press_sequentially("energy_")
    offered = page.locator(".cm-tooltip-autocomplete li")
    expect(offered.first).to_have_text("energy_jJ")
    editor.press("Tab")
    expect(offered).to_have_count(0)
    assert text(page) == "SELECT energy_j"
    editor.press_sequentially(" FROM run")
    expect(offered.first).to_contain_text("runs")
    editor.press("Tab")
    # The statement at the caret is run, and marked.
    editor.press_sequentially(";\nSELECT 'a;b' AS two")
    expect(page.locator(".code-own")).to_have_text("SELECT 'a;b' AS two")
    editor.press("Control+Enter")
    expect(page.locator("#sql-said")).to_contain_text("statement 2 of 2: 1 rows")
    editor.press("ArrowUp")
    editor.press("Control+Enter")
    expect(page.locator("#sql-rows .ag-header-cell-text").first).to_have_text("energy_j")
    both = "SELECT energy_j FROM runs;\nSELECT 'a;b' AS two"
    wait_idle(page)
    assert query_of(page)["sql"] == [both]
    # Earlier queries, by keys and from the list. A question mark is no key in the editor.
    editor.fill("SELECT ?")
    assert page.locator("#help").get_attribute("open") is None
    for key, expected in (
        ("Up", "SELECT energy_j FROM runs"), ("Up", "SELECT 'a;b' AS two"),
        ("Down", "SELECT energy_j FROM runs"), ("Down", "SELECT ?"),
    ):  # fmt: skip
        editor.press(f"Alt+Arrow{key}")
        assert text(page) == expected
    page.locator("#sql-history").click()
    page.locator("dialog.history .query").nth(1).click()
    expect(page.locator("dialog.history")).to_have_count(0)
    assert text(page) == "SELECT 'a;b' AS two"
    ask(
        page,
        "SELECT load_qps, avg(energy_j) AS mean_j FROM runs WHERE load_qps > 0 GROUP BY ALL",
    )
    cells = page.locator("#sql-rows .ag-row")
    expect(cells).to_have_count(4)
    expect(page.locator("#sql-said")).to_contain_text("4 rows")
    # The chart follows from the columns' roles, until others are chosen.
    points = "() => wattlas.plot('sql-chart').data[0].x.length"
    titles = "() => [...'xy'].map((l) => wattlas.plot('sql-chart').layout[l + 'axis'].title.text)"
    assert page.evaluate(titles) == ["Target load, 1/s", "mean_j, J"]
    for key, name in (("x", "mean_j"), ("y", "load_qps")):
        page.locator(f"#sql-{key}").click()
        page.get_by_role("option", name=name, exact=True).click()
        wait_idle(page)
    assert page.evaluate(points) == 4
    query = query_of(page)
    assert (query["x"], query["y"]) == (["mean_j"], ["load_qps"])
    page.reload()
    wait_idle(page)
    expect(cells).to_have_count(4)
    wait_idle(page)
    assert page.evaluate(points) == 4
    with page.expect_download() as download:
        page.locator("#sql-csv").click()
    assert download.value.path().read_text().splitlines()[0] == '"load_qps","mean_j"'
    # The chart is a figure for papers; its caption has the rows and the statement.
    svg = paper(page.locator("[data-view=sql-chart]"), "svg").decode()
    assert re.search(r"<text [^>]*>Target load, 1/s</text>", svg)
    assert "Target load, 1/s by mean_j, J." in svg
    assert "Points: n = 4 rows of: SELECT load_qps, avg(energy_j) AS mean_j FROM runs WHERE" in svg

    ask(page, 'SELECT \'<img src=x onerror=alert(1)>\' AS "<b>x</b>", 1 AS "a.b"')
    expect(page.locator("#sql-rows .ag-cell").first).to_have_text("<img src=x onerror=alert(1)>")
    expect(page.locator("#sql-rows .ag-header-cell-text").first).to_have_text("<b>x</b>")
    expect(page.locator("#sql-rows .ag-cell").nth(1)).to_have_text("1")
    assert page.locator("#sql-rows img, #sql-rows b").count() == 0
    ask(page, "SELECT error('<script>alert(1)</script>')")
    expect(page.locator("#sql-said")).to_contain_text("<script>alert(1)</script>")
    assert page.locator("#sql-said script").count() == 0


@pytest.mark.slow
def test_without_its_library_the_text_area_is_the_editor(page: Page, logged_address: str) -> None:
    page.route("**/codemirror.js", lambda route: route.abort())
    page.goto(f"{logged_address}/sql")
    wait_idle(page)
    expect(page.locator("#sql-said")).to_contain_text("rows")
    area = page.locator("#sql-editor")
    area.fill("SELECT 1 AS a;\nSELECT 2 AS b")
    area.press("Control+Enter")
    expect(page.locator("#sql-said")).to_contain_text("statement 2 of 2: 1 rows")
    area.press("Alt+ArrowUp")
    expect(area).to_have_value("SELECT 2 AS b")
    page.locator("[data-example]").first.click()
    expect(page.locator("#sql-said")).not_to_contain_text("statement")
    expect(area).to_have_value(re.compile("^SELECT system_label"))
    make_blank(page)


@pytest.mark.slow
def test_rows_of_an_earlier_query_are_grey_and_say_whose_they_are(
    page: Page, logged_address: str
) -> None:
    page.goto(f"{logged_address}/sql")
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
    page.locator(EDITOR).fill("SELECT 2 AS two")
    wait_idle(page)
    with page.expect_download() as download:
        page.locator("#sql-csv").click()
    assert download.value.path().read_text().splitlines() == ['"one"', "1"]
