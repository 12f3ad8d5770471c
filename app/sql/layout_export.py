"""The SQL page as one file: the query and the list of tables."""

from dash import html

from app.kit.export import ExportedPage, render
from app.kit.lakes import LakeView
from app.sql.layout import tables
from app.sql.state import SqlState


def export_page(view: LakeView, state: SqlState) -> ExportedPage:
    """Build the page for an export, without results, which are downloaded as CSV or Parquet."""
    query = html.Section([html.H2("Query"), html.Pre(state.sql)], className="panel")
    main = render(html.Main([query, tables(view, has_menu=False)], className="sql-export"))
    return ExportedPage("SQL", main, {"sql": state.sql}, view.is_synthetic)
