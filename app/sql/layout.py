"""The layout of the SQL page: tables, editor, result, chart."""

from dataclasses import replace
from typing import Final

import dash_mantine_components as dmc
from dash import dcc, html

from app.kit import ids
from app.kit.context import sandbox
from app.kit.export import ExportedPage, render
from app.kit.lake_view import LakeView
from app.kit.links import address
from app.kit.page_layout import (
    ALL_TOOLS,
    filter_sidebar,
    legend_of,
    page_layout,
    panel,
    state_stores,
    status_line,
    tool_bar,
    view_menu,
)
from app.kit.words import EMPTY_LAKE_PLAIN
from app.sql.answer import Example, columns_of, default_state, example_of, examples
from app.sql.state import SqlState

IDS: Final = ids.PageIds("sql")
_PYTHON: Final = """from data.connection import open_lake

with open_lake({lake!r}) as lake:
    lake.sql('''
{sql}
''').show()"""


def sql_layout(view: LakeView, state: SqlState, notice: str) -> html.Main:
    """Lay the page out; if SQL is off, with the reason and the equivalent Python code."""
    state = replace(state, sql=state.sql or default_state(view).sql)
    workers = sandbox()
    if not isinstance(workers, str):
        workers.prepare(view.lake)
    why_off = workers if isinstance(workers, str) else ""
    if not view.runs:
        why_off = EMPTY_LAKE_PLAIN
    status = [html.Span(id=IDS.status, role="status"), html.Span(id="status-selection")]
    return page_layout(
        IDS.page,
        state_stores(IDS.page, view, state),
        notice,
        filter_sidebar(_examples(view), "Examples", "examples"),
        [_editor(view, state, why_off), tables(view), *([] if why_off else [_result(), _chart()])],
        status_line(IDS, components=status, has_data=False),
    )


def _examples(view: LakeView) -> list:
    parts = []
    for example in examples(view):
        path = "/" if example.page == "explore" else f"/{example.page}"
        buttons = [
            _example(example),
            dcc.Link(
                f"the same in {example.page.title()}",
                href=f"{address(path)}?{example.state}&lake={view.version}",
                className="quiet",
                title=f"The result has the numbers of its view {example.view}",
            ),
        ]
        parts.append(html.Div(buttons, className="facet"))
    return [html.Div(parts, **{"data-one-stop": "1"})]


def _example(example: Example) -> html.Button:
    return html.Button(example.title, className="example", **{"data-example": example.sql})


def _editor(view: LakeView, state: SqlState, off: str) -> html.Section:
    head = [
        html.H2("Query"),
        html.Button(
            "run", id=IDS("run"), className="plain", title="Ctrl+Enter", disabled=bool(off)
        ),
        html.Button("cancel", id=IDS("cancel"), className="plain", disabled=True),
        html.Button("history", id=IDS("history"), className="plain", disabled=bool(off)),
        html.Span(id=IDS("said"), className="quiet", role="status"),
    ]
    python = _PYTHON.format(lake=str(view.lake.path.name), sql=state.sql)
    body: list = [
        dcc.Textarea(
            id=IDS("editor"), value=state.sql, spellCheck="false", className="editor",
            title="SQL query",
        ),
        html.Label("SQL query", htmlFor=IDS("editor"), className="unseen"),
        # The editor, over the text area, which browsers without its library keep.
        html.Div(id=IDS("code"), className="code"),
    ]  # fmt: skip
    if off:
        body = [html.P(off, className="note"), html.Pre(python, className="note")]
    return panel("", "query", head, body, "panel-editor", is_stop=False)


def tables(view: LakeView, has_menu: bool = True) -> html.Section:
    """List the tables with their columns; a column's title is its description.

    Args:
        has_menu: False in an export.
    """
    parts: list = []
    for (table,), rows in columns_of(view).group_by(["table"], maintain_order=True):
        listed = [
            html.Li(
                [
                    html.Code(row["column"]),
                    html.Span(f" {row['unit'] or row['type'].lower()[:24]}", className="spread"),
                ],
                title=row["description"] or row["type"],
                **{"data-column": row["column"]},
            )
            for row in rows.iter_rows(named=True)
        ]
        words = html.Span(f" {len(rows)} columns", className="spread")
        summary = html.Summary([html.Code(table), words], **{"data-table": table})
        example = example_of(view, table) if has_menu else None
        asks = [_example(example)] if example else []
        parts.append(html.Details([summary, *asks, html.Ul(listed)], open=table == "runs"))
    menu = [view_menu("tables")] if has_menu else []
    head = [html.H2("Tables and columns"), *menu]
    body = [html.Div(parts, className="table-frame tables")]
    return panel("tables", "tables and columns", head, body, "panel-tables")


def _result() -> html.Section:
    head = [
        html.H2("Result"),
        html.Button("CSV", id=IDS("csv"), className="plain", disabled=True),
        html.Button("Parquet", id=IDS("parquet"), className="plain", disabled=True),
        html.Span(id=IDS("rows-of"), className="stale-words", role="status"),
    ]
    # Says that it is loading until the first rows or an error are there.
    grid = html.Div(id=IDS("grid-frame"), className="grid pending")
    return panel("", "result", head, [grid], "panel-result", is_stop=False)


def _chart() -> html.Section:
    selects = [
        html.Span(
            [
                html.Span(label, className="quiet"),
                dmc.Select(
                    id=IDS(key),
                    data=[],
                    w=114,
                    clearable=key == "col",
                    allowDeselect=key == "col",
                    **{"aria-label": label},
                ),
            ],
            className="labelled",
        )
        for key, label in (("x", "x"), ("y", "y"), ("col", "colour"))
    ]
    view = IDS("chart")
    note = html.Span(id=IDS("chart-of"), className="stale-words")
    bar, menu = tool_bar(view, ALL_TOOLS), view_menu(view, "the chart", has_rows=False)
    body = [html.Div(id=view, className="graph"), legend_of(view)]
    return panel(view, "chart", [html.H2("Chart"), *selects, note, bar, menu], body, "panel-chart")


def export_page(view: LakeView, state: SqlState) -> ExportedPage:
    """Build the page for an export, without results, which are downloaded as CSV or Parquet."""
    words = "Without the result and its chart: the page saves them as CSV, Parquet and figures."
    main = f'<main class="sql-export">{query_and_tables(view, state, words)}</main>'
    return ExportedPage("SQL", main, {"sql": state.sql}, view.is_synthetic)


def query_and_tables(view: LakeView, state: SqlState, note_text: str = "") -> str:
    """Write the query, some words and the tables as HTML."""
    sql = state.sql or default_state(view).sql
    note = [html.P(note_text, className="quiet")] if note_text else []
    query = html.Section([html.H2("Query"), html.Pre(sql), *note], className="panel panel-editor")
    return render([query, tables(view, has_menu=False)])
