"""The layouts of Modes: the page, and the page as a file without a server."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import dash_mantine_components as dmc
from dash import dcc, html

from app.kit import ids
from app.kit.columns import encode_view
from app.kit.controls import Entries, entries, pool_choices, pool_select, segments, select
from app.kit.encodings import message_figure, title_of
from app.kit.export import ExportedPage, how_computed, render
from app.kit.filters import filter_blocks, offered_choices
from app.kit.lake_view import LakeView
from app.kit.metric_choice import is_performance, performance_column
from app.kit.page_layout import (
    ZOOM_TOOLS,
    filter_sidebar,
    link_to,
    page_layout,
    panel,
    preset_block,
    state_stores,
    status_line,
    tool_bar,
    view_panel,
)
from app.kit.panels import split_titles
from app.modes.answer import answer
from app.modes.defaults import (
    chosen,
    metric_title,
    offered_knobs,
    offered_metrics,
    resolved,
    rule_preset,
    study_presets,
)
from app.modes.evidence import evidence
from app.modes.layout_evidence import evidence_words
from app.modes.state import ModesState
from app.modes.tables import explain
from app.modes.words import CORRECTION_LABELS, TEST_LABELS, VERSUS_TITLES
from data.declared import PERFORMANCE
from data.metrics import GROUPS

IDS: Final = ids.PageIds("modes")
GRAPHS: Final = ("winners", "shares", "pareto", "evidence")
EVIDENCE_WORDS: Final = IDS("evidence-words")
SELECTED: Final = IDS("selected")
FINDINGS: Final = IDS("findings")
_INVITATION: Final = "Click a cell of the map or a point of the Pareto view to see its comparison."
Groups = list[dict[str, Any]]


def modes_layout(view: LakeView, state: ModesState, notice: str) -> html.Main:
    """Lay Modes out for a state; callbacks deliver the figures."""
    if view.runs:
        state = chosen(view, state)
    figures = [IDS.figure(graph) for graph in GRAPHS]
    stores = state_stores(IDS.page, view, state, figures)
    filters = filter_blocks(view, state.selection, offered_choices, IDS)
    presets = study_presets(view)
    if view.runs:
        presets = [*presets, rule_preset(state)]
    title = "the runs under these filters, with those of the selected cells highlighted"
    label, entries = "metric of the Pareto view's x axis", against_choices(view, state)
    select = _select("against", label, entries, state.against, "max(140px, 9.5vw)")
    against = [html.Span("against", className="quiet"), select]
    return page_layout(
        IDS.page,
        [*stores, dcc.Store(id=SELECTED, data=state.sel)],
        notice,
        filter_sidebar([*preset_block(presets), *filters]),
        [
            html.Div(id=FINDINGS, className="findings", role="status"),
            _map_panel(view, state),
            _panel("shares", "cells won by each competitor", [html.H2("Share of cells")]),
            _evidence_panel(),
            _panel("pareto", "Pareto view over the cells", against),
        ],
        status_line(IDS, link_to(IDS, "explore", title)),
    )


def _panel(
    graph: str, name: str, controls: list, tools: Sequence[str] = ZOOM_TOOLS
) -> html.Section:
    """Build a panel without the box and lasso tools: here a click selects."""
    return view_panel(graph, name, controls, f"panel-{graph}", tools)


def _map_panel(view: LakeView, state: ModesState) -> html.Section:
    knobs = knob_choices(view, state)
    metrics = metric_choices(view, state)
    question = html.Div(
        [
            _select("metric", "compared metric", metrics, state.metric, 234),
            html.Span("by", className="quiet"),
            _select("who", "competitor", knobs, state.competitor),
            html.Span("over", className="quiet"),
            _select("x", "x axis", knobs, state.x),
            html.Span("\N{MULTIPLICATION SIGN}", className="quiet"),
            _select("y", "y axis", knobs, state.y),
            html.Span("split by", className="quiet"),
            _select("split", "knob of the panels", panel_choices(view, state), state.split, 130),
            dmc.Switch(id=IDS.control("own"), label="own axes", checked=state.own_axes,
                       **{"aria-label": "panels have own axes"}),
        ],
        className="question",
    )  # fmt: skip
    section = _panel("winners", "map of winners", [question], tools=())
    section.children.insert(1, _rules(view, state))
    return section


def _rules(view: LakeView, state: ModesState) -> html.Div:
    """Lay out what is compared with what, the limit, the rule and its errors."""
    unit = view.catalogue.metric(resolved(view, state).limited).unit if view.runs else ""
    return html.Div(
        [
            html.Span("against", className="quiet"),
            segments(IDS.control("vs"), "compared with", state.versus, VERSUS_TITLES),
            html.Label("limit", htmlFor=IDS.control("limit"), className="quiet"),
            _select("by", "limited metric", limited_choices(view, state), state.limited, 170),
            _number("limit", state.limit, "limit", 80, suffix=f" {unit}", min=0, decimalScale=6,
                    placeholder="none"),
            _select("test", "rule", entries(TEST_LABELS), state.test, 120),
            _select("corr", "correction over the cells", correction_choices(view, state),
                    state.correction, 172),
            html.Label("level", htmlFor=IDS.control("alpha"), className="quiet"),
            _number("alpha", state.alpha, "level of the comparison", 66, min=0.0001, max=0.99,
                    step=0.01, decimalScale=5),
            html.Label("margin", htmlFor=IDS.control("margin"), className="quiet"),
            _number("margin", state.margin_pct, "margin of equivalence", 62, suffix=" %", min=0.1,
                    max=40),
            segments(IDS.control("lead"), "lead over the runner-up", state.lead,
                     {"percent": "%", "absolute": "absolute"}),
            pool_select(IDS.control("pool"), map_pool_choices(view, state), state.pool),
            tool_bar("winners", ZOOM_TOOLS),
        ],
        className="rules printless",
    )  # fmt: skip


def _number(key: str, value: float | None, label: str, width: int, **more: Any) -> dmc.NumberInput:
    return dmc.NumberInput(
        id=IDS.control(key), value="" if value is None else value, w=width,
        clampBehavior="blur", debounce=400,
        **{"aria-label": label}, **more,
    )  # fmt: skip


def _evidence_panel() -> html.Section:
    clear = html.Button("clear (Esc)", id="clear-selection", className="plain", hidden=True)
    section = _panel(
        "evidence", "evidence of the selected cell", [html.H2("Evidence of a cell"), clear]
    )
    head, graph, _ = section.children
    words = html.Div(id=EVIDENCE_WORDS, className="table-frame pending", role="status")
    section.children = [head, html.Div([graph, words], className="evidence-body")]
    return section


def knob_choices(view: LakeView, state: ModesState) -> Entries:
    """List axes and competitors: the knobs that vary in the lake under the leading filters."""
    return entries({knob.name: knob.menu_title for knob in offered_knobs(view, state)})


def panel_choices(view: LakeView, state: ModesState) -> Entries:
    """List the knobs of which each value can have a map: all but the axes and the competitor."""
    taken = (state.x, state.y, state.competitor)
    listed = {k.name: k.menu_title for k in offered_knobs(view, state) if k.name not in taken}
    if state.split in view.catalogue.knobs:
        listed.setdefault(state.split, view.catalogue.knobs[state.split].menu_title)
    return entries(split_titles(listed))


def map_pool_choices(view: LakeView, state: ModesState) -> Entries:
    """List the settings that the map may pool."""
    knobs = view.catalogue.knobs
    taken = (state.x, state.y, state.competitor, state.split)
    shown = [knobs[name] for name in taken if name and name in knobs]
    return pool_choices(
        view.part_left(state.selection), shown, state.pool, catalogue=view.catalogue
    )


def correction_choices(view: LakeView, state: ModesState) -> Entries:
    """List the corrections: only Student's rule, that of the papers, has none."""
    del view
    is_free = state.test == "student" or state.correction == "none"
    titles = {n: t for n, t in CORRECTION_LABELS.items() if is_free or n != "none"}
    return entries(titles)


def metric_choices(view: LakeView, state: ModesState) -> Groups:
    """List the metrics that can be compared, in groups."""
    titles = {n: metric_title(view.catalogue.metric(n)) for n in offered_metrics(view, state)}
    return _grouped(view, titles)


def against_choices(view: LakeView, state: ModesState) -> Groups:
    """List columns for the Pareto view's x axis; `performance` is first."""
    shown = resolved(view, replace(state, against=PERFORMANCE)).against
    return _with_performance(view, state, shown, state.against)


def limited_choices(view: LakeView, state: ModesState) -> Groups:
    """List the metrics that a limit may apply to; `performance` is first."""
    shown = performance_column(view, state.selection)
    return _with_performance(view, state, shown, state.limited)


def _with_performance(view: LakeView, state: ModesState, shown: str, chosen: str) -> Groups:
    """List the measured metrics, after the one that stands for the performance."""
    metrics = view.catalogue.metrics
    titles = {name: metrics[name].title for name in offered_metrics(view, state)}
    titles |= {} if chosen == PERFORMANCE else {chosen: metrics[chosen].title}
    # A column of an older lake.
    titles.pop(PERFORMANCE, None)
    first: dict[str, Any] = {"value": PERFORMANCE, "label": metrics[shown].title}
    if is_performance(view, state.selection, shown):
        first = {"group": "Performance", "items": [first]}
    return [first, *_grouped(view, titles)]


def _grouped(view: LakeView, titles: Mapping[str, str]) -> Groups:
    """Return the entries of a menu under the headings of their metrics."""
    groups: dict[str, dict[str, str]] = {}
    for name, title in titles.items():
        groups.setdefault(view.catalogue.metric(name).group or "Other", {})[name] = title
    order = [*(group for group in GROUPS if group in groups), *groups.keys() - set(GROUPS)]
    return [{"group": group, "items": entries(groups[group])} for group in order]


def _select(
    key: str, label: str, data: Groups | Entries, value: str | None, width: int | str = 152
) -> dmc.Select:
    return select(IDS.control(key), label, data, value, width, 260, searchable=True)


def modes_export(view: LakeView, state: ModesState) -> ExportedPage:
    """Build the page for an export, with the compared cells and the runs of the selected one."""
    drawn, shown = answer(view, state), evidence(view, state)
    evidence_part = evidence_words(shown, has_links=False) if shown else html.Div(_INVITATION)
    figure = shown.figure if shown and shown.figure else message_figure("")
    pictures: dict[str, dict[str, Any]] = {
        "winners": {"figure": drawn.winners, "columns": drawn.cells},
        "shares": {"figure": drawn.shares},
        "pareto": {"figure": drawn.pareto},
        "evidence": {"figure": figure},
    }
    name = "evidence" if state.sel else "winners"
    explained = explain(view, state, name) if drawn.cells else ""
    filters = resolved(view, state).selection.in_words() if view.runs else ""
    main = html.Main(
        [
            html.P(
                f"{drawn.status}: {filters}. Click a cell, a bar or a point to select; Escape "
                "clears.",
                className="quiet",
            ),
            html.Div([html.P(sentence) for sentence in drawn.conclusions], className="findings"),
            html.Div(
                [
                    _exported_panel("winners", "map of winners"),
                    _exported_panel("shares", "cells won by each competitor"),
                    _exported_evidence(evidence_part),
                    _exported_panel("pareto", "Pareto view over the cells"),
                ],
                className="views",
            ),
            html.P(id="status-selection", role="status"),
            how_computed(explained),
        ],
        className="modes modes-export",
    )
    views = {name: encode_view(picture) for name, picture in pictures.items()}
    data = {"views": views, "sel": state.sel}
    title = title_of(drawn.winners) or "Modes"
    return ExportedPage(title, render(main), data, view.is_synthetic)


def _exported_panel(graph: str, name: str) -> html.Section:
    return view_panel(graph, name, [], f"panel-{graph}", ZOOM_TOOLS, has_menu=False)


def _exported_evidence(evidence_part: html.Div) -> html.Section:
    clear = html.Button("clear (Esc)", id="clear-selection", className="plain", hidden=True)
    head = [html.H2("Evidence of a cell"), clear, tool_bar("evidence", ZOOM_TOOLS)]
    graph = html.Div(id="evidence", className="graph")
    beside = html.Div(evidence_part, id=EVIDENCE_WORDS, className="table-frame")
    body = [html.Div([graph, beside], className="evidence-body")]
    return panel("evidence", "evidence of the selected cell", head, body, "panel-evidence")
