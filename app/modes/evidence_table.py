"""The evidence of a cell in words: the verdict, its numbers, and who stood with which runs."""

from urllib.parse import urlencode

from dash import dcc, html

from app.modes.evidence import Evidence, Standing
from data.units import MISSING, format_quantity

INVITATION = (
    "Click a cell of the map, or a point of the Pareto view: here come every replicate, the test "
    "and the runs behind it."
)
_RUNS_LISTED = 60


def standings_table(found: Evidence | None) -> html.Div:
    """Lay the evidence out; an invitation where no cell is picked."""
    if found is None:
        return html.Div(INVITATION, className="note")
    parts: list = [html.P(found.verdict, className="verdict")]
    if found.statistics:
        parts.append(html.P(found.statistics, className="statistics"))
    if found.standings:
        parts += [_cell_link(found), _table(found)]
    return html.Div(parts, className="standings")


def _table(found: Evidence) -> html.Table:
    has_settings = any(standing.setting for standing in found.standings)
    titles = ("", "Best setting", "n", "Mean, 95 % CI", "sd", "Runs")
    numbers = ("n", "Mean, 95 % CI", "sd")
    head = [html.Th(t, className="number" if t in numbers else "") for t in titles]
    rows = [_cells(standing, found.unit) for standing in found.standings]
    if not has_settings:
        head, rows = [head[0], *head[2:]], [[row[0], *row[2:]] for row in rows]
    body = [html.Tr(row) for row in rows]
    return html.Table([html.Thead(html.Tr(head)), html.Tbody(body)], className="best standing-rows")


def _cells(standing: Standing, unit: str) -> list:
    setting = standing.setting or "its one setting"
    many = f", best of {standing.settings:,}" if standing.settings > 1 else ""
    swatch = html.Span(className="swatch", style={"background": standing.hue})
    half = standing.half_width
    interval = f" \N{PLUS-MINUS SIGN} {format_quantity(half, unit)}" if half == half else ""
    return [
        html.Th([swatch, standing.label], scope="row"),
        html.Td([setting, html.Span(many, className="spread")], className="setting"),
        html.Td(str(standing.n), className="number"),
        html.Td([html.Span(format_quantity(standing.mean, unit), className="piece"),
                 html.Span(interval, className="spread piece")], className="number mean"),
        html.Td(format_quantity(standing.sd, unit) if standing.sd == standing.sd else MISSING,
                className="number"),
        html.Td(_runs(standing, unit)),
    ]  # fmt: skip


def _runs(standing: Standing, unit: str) -> html.Div:
    """A link to just these runs in Explore, and each of them, with its timeline if it has one."""
    rows = list(standing.runs.head(_RUNS_LISTED).iter_rows(named=True))
    more = len(standing.runs) - len(rows)
    items = [html.Li(_run(row, unit)) for row in rows]
    if more > 0:
        items.append(html.Li(f"and {more:,} more: see the evidence as CSV"))
    logged = [row["run_id"] for row in rows if row["has_log"]][:6]
    links = [dcc.Link("Explore", href=f"/?{standing.explore}", className="to-explore")]
    if logged:
        links += [" ", dcc.Link("Timeline", href=timeline_address(logged), className="to-timeline")]
    count = len(standing.runs)
    words = f"{count:,} run{'' if count == 1 else 's'}"
    return html.Div([*links, html.Details([html.Summary(words), html.Ul(items)])], className="runs")


def _run(row: dict, unit: str) -> list:
    value = format_quantity(row["value"], unit)
    replicate = "" if row["replicate"] is None else f"replicate {row['replicate']}: "
    words = [f"{replicate}{value}", html.Span(f" {row['run_id']}", className="spread")]
    if row["has_log"]:
        words += [" ", dcc.Link("timeline", href=timeline_address([row["run_id"]]))]
    return words


def _cell_link(found: Evidence) -> html.P:
    words, address = "All runs of this cell in Explore", f"/?{found.explore}"
    return html.P(dcc.Link(words, href=address, id="cell-in-explore"), className="statistics")


def timeline_address(run_ids: list[str]) -> str:
    """Where Timeline shows some runs."""
    return "/timeline?" + urlencode([("v", "1"), *(("run", run_id) for run_id in run_ids)])
