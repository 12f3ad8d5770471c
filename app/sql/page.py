"""SQL: any other question about the lake, asked safely."""

from typing import Final

from dash import ClientsideFunction, Input, clientside_callback

from app.kit.callbacks import register_gather
from app.kit.page import Page, View
from app.sql.answer import columns_of, default_state, explain
from app.sql.layout import IDS, export_page, query_and_tables, sql_layout
from app.sql.routes import add_routes
from app.sql.state import SqlState

# The first example, with a chart.
_SHOWN: Final = "v=2&x=latency_p99_us&y=energy_j&col=system_label"
PAGE = Page(
    name="sql",
    title="SQL",
    path="/sql",
    state=SqlState,
    default_state=default_state,
    layout=sql_layout,
    views=(View("tables", "Tables and columns", is_picture=False),),
    pictures=(View("chart", "Chart"),),
    missing=None,
    rows=lambda view, *_: columns_of(view),
    explain=lambda view, *_: explain(view),
    export=export_page,
    opening=lambda view, state: {"html": query_and_tables(view, state)},
    keys=(
        ("Ctrl+Enter", "run the statement at the caret"),
        ("Tab", "complete a name"),
        ("Alt+\N{UPWARDS ARROW} \N{DOWNWARDS ARROW}", "earlier and later queries"),
    ),
    add_routes=add_routes,
    cached_routes=("/sql/words",),
    examples={"sql": _SHOWN, "sql-dark": _SHOWN},
)

register_gather(IDS, {})
clientside_callback(
    ClientsideFunction("sql", "chosen"),
    Input(IDS("x"), "value"),
    Input(IDS("y"), "value"),
    Input(IDS("col"), "value"),
    prevent_initial_call=True,
)
