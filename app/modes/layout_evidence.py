"""The evidence of a cell in words: the verdict, its numbers, and each competitor's runs."""

from dash import dcc, html
from dash.development.base_component import Component

from app.kit.clause import write_knobs
from app.kit.links import page_link
from app.modes.evidence import Contender, Evidence, Place
from data.units import MISSING, counted, digits_between, format_quantity

INVITATION = (
    "No cell of this map was compared. Click one to see its replicates and the runs behind it."
)
_RUNS_LISTED = 60
_TIMELINE_RUNS = 6


def evidence_words(evidence: Evidence | None, has_links: bool = True) -> html.Div:
    """Lay the evidence out; a hint if no cell is selected.

    Args:
        has_links: False in a static export, which has no other pages.
    """
    if evidence is None:
        return html.Div(INVITATION, className="note")
    parts: list[Component] = [html.P(evidence.verdict, className="verdict")]
    if evidence.statistics:
        parts.append(html.P(evidence.statistics, className="statistics"))
    if evidence.contenders:
        if has_links:
            link = dcc.Link(
                "All runs of this cell in Explore",
                href=_link("/", evidence, evidence.place),
                id="cell-in-explore",
            )
            parts.append(html.P(link, className="statistics"))
        parts.append(_table(evidence, has_links))
    # The browser adds the limit to these links (assets/_kit/page_tabs.js).
    return html.Div(parts, className="evidence-words with-limit")


def _table(evidence: Evidence, has_links: bool) -> html.Table:
    has_settings = any(contender.setting for contender in evidence.contenders)
    numbers = ("n", ", ".join(filter(None, ["Mean, 95 % CI", evidence.doubt])), "sd")
    titles = ["Competitor", *(["Best setting"] if has_settings else []), *numbers, "Runs"]
    head = [html.Th(title, className="number" if title in numbers else "") for title in titles]
    rows = [
        html.Tr(
            [
                html.Th(
                    [html.Span(className="swatch", style={"background": each.hue}), each.label],
                    scope="row",
                ),
                *([_setting(each)] if has_settings else []),
                *_numbers(each, evidence),
                html.Td(_runs(each, evidence, has_links)),
            ]
        )
        for each in evidence.contenders
    ]
    return html.Table([html.Thead(html.Tr(head)), html.Tbody(rows)], className="best contenders")


def _setting(contender: Contender) -> html.Td:
    many = f", best of {contender.settings:,}" if contender.settings > 1 else ""
    words = contender.setting or "its one setting"
    return html.Td([words, html.Span(many, className="spread")], className="setting")


def _numbers(contender: Contender, evidence: Evidence) -> list[html.Td]:
    unit, is_unstated = evidence.unit, evidence.is_unstated and contender.n == 1
    sd, digits = contender.sd, digits_between(contender.low, contender.high)
    ends = [format_quantity(end, unit, digits) for end in (contender.low, contender.high)]
    interval = f" [{ends[0]}, {ends[1]}]" if contender.low == contender.low else ""
    mean = html.Span(format_quantity(contender.mean, unit, digits), className="piece")
    return [
        html.Td("not stated" if is_unstated else str(contender.n), className="number"),
        html.Td([mean, html.Span(interval, className="spread piece")], className="number mean"),
        html.Td(format_quantity(sd, unit) if sd == sd else MISSING, className="number"),
    ]


def _runs(contender: Contender, evidence: Evidence, has_links: bool) -> html.Div:
    """List the runs, with links to Explore and, for those with a log, to Timeline."""
    rows = list(contender.runs.head(_RUNS_LISTED).iter_rows(named=True))
    items = [html.Li(_run(row, contender, evidence, has_links)) for row in rows]
    if len(contender.runs) > len(rows):
        more = len(contender.runs) - len(rows)
        items.append(html.Li(f"and {more:,} more: see the evidence as CSV"))
    links: list = []
    if has_links:
        links = [
            dcc.Link("Explore", href=_link("/", evidence, contender.place), className="to-explore")
        ]
        logged = contender.runs.filter("has_log")["replicate"].head(_TIMELINE_RUNS).to_list()
        if logged:
            address = _timeline(evidence, contender.place, logged)
            links += [" ", dcc.Link("Timeline", href=address, className="to-timeline")]
    words = counted(len(contender.runs), "run")
    return html.Div([*links, html.Details([html.Summary(words), html.Ul(items)])], className="runs")


def _run(row: dict, contender: Contender, evidence: Evidence, has_links: bool) -> list:
    value = format_quantity(row["value"], evidence.unit)
    replicate = "" if row["replicate"] is None else f"replicate {row['replicate']}: "
    parts = [f"{replicate}{value}", html.Span(f" {row['run_id']}", className="spread")]
    if has_links and row["has_log"]:
        address = _timeline(evidence, contender.place, [row["replicate"]])
        parts += [" ", dcc.Link("timeline", href=address)]
    return parts


def _link(path: str, evidence: Evidence, knob_values: Place, sel: str = "") -> str:
    """Return the link to a page that shows just the runs with some knobs' values."""
    filters = evidence.filters
    for column, value in knob_values.items():
        facet = evidence.knobs[column].facet
        filters = filters.with_values(facet, [facet.null_word if value is None else value])
    return page_link(path, filters, sel, evidence.lake_version)


def _timeline(evidence: Evidence, knob_values: Place, replicates: list[int | None]) -> str:
    """Return the link to the timeline of some replicates of a configuration."""
    sel = write_knobs([{**knob_values, "replicate": replicates}])
    return _link("/timeline", evidence, knob_values, sel)
