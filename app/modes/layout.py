"""The layout of Modes: filters, map of winners, evidence, shares, Pareto view, status line."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import dash_mantine_components as dmc
from dash import dcc, html

from app.kit import ids
from app.kit.filters import filter_blocks, offered_choices
from app.kit.lakes import LakeView
from app.kit.metric_choice import PERFORMANCE, performance_column
from app.kit.page_layout import (
    Entries,
    entries,
    filter_sidebar,
    link_to,
    page_layout,
    pool_choices,
    pool_select,
    preset_block,
    segments,
    select,
    state_stores,
    status_line,
)
from app.kit.panel import ZOOM_TOOLS, graph_panel, tool_bar
from app.modes.defaults import (
    chosen,
    metric_title,
    offered_knobs,
    offered_metrics,
    resolved,
)
from app.modes.presets import study_presets
from app.modes.state import ModesState
from app.modes.words import CORRECTION_TITLES, TEST_TITLES
from data.knobs import KNOBS
from data.metrics import metric

IDS: Final = ids.PageIds("modes")
GRAPHS: Final = ("winners", "shares", "pareto", "evidence")
CELLS: Final = IDS("cells")
EVIDENCE_WORDS: Final = IDS("evidence-words")
SELECTED: Final = IDS("selected")


def modes_layout(view: LakeView, state: ModesState, notice: str) -> html.Main:
    """Lay Modes out for a state; callbacks deliver the figures."""
    if view.runs:
        state = chosen(view, state)
    figures = [IDS.figure(graph) for graph in GRAPHS]
    stores = state_stores(IDS.page, view, state, (CELLS, *figures))
    filters = filter_blocks(view, state.selection, offered_choices, IDS)
    title = "the runs under these filters, with those of the selected cells highlighted"
    return page_layout(
        IDS.page,
        [*stores, dcc.Store(id=SELECTED, data=state.sel)],
        notice,
        filter_sidebar([*preset_block(study_presets(view)), *filters]),
        [
            _map_panel(view, state),
            _panel("shares", "cells won by each competitor", [html.H2("Share of cells")]),
            _evidence_panel(),
            _pareto_panel(view, state),
        ],
        status_line(IDS, link_to(IDS, "explore", title)),
    )


def _panel(
    graph: str, name: str, controls: list, tools: Sequence[str] = ZOOM_TOOLS
) -> html.Section:
    """Build a panel without the box and lasso tools: here a click selects."""
    return graph_panel(graph, name, controls, f"panel-{graph}", tools)


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
        ],
        className="question",
    )
    section = _panel("winners", "map of winners", [question], tools=())
    section.children.insert(1, _rules(view, state))
    return section


def _rules(view: LakeView, state: ModesState) -> html.Div:
    corrections = entries(CORRECTION_TITLES)
    level = IDS.control("level")
    return html.Div(
        [
            _select("test", "test", entries(TEST_TITLES), state.test, 184),
            _select("corr", "correction over the cells", corrections, state.correction, 264),
            html.Label("level", htmlFor=level, className="quiet"),
            dmc.NumberInput(
                id=level, value=state.level, min=0.0001, max=0.99, step=0.01, size="xs", w=74,
                decimalScale=5, allowNegative=False, clampBehavior="blur", debounce=400,
            ),
            segments(IDS.control("margin"), "margin over the runner-up", state.margin,
                     {"percent": "%", "absolute": "absolute"}),
            pool_select(IDS.control("pool"), map_pool_choices(view, state), state.pool),
            tool_bar("winners", ZOOM_TOOLS),
        ],
        className="rules",
    )  # fmt: skip


def _pareto_panel(view: LakeView, state: ModesState) -> html.Section:
    label, entries = "metric of the Pareto view's x axis", against_choices(view, state)
    select = _select("against", label, entries, state.against, 214)
    controls = [html.Span("against", className="quiet"), select]
    return _panel("pareto", "Pareto view over the cells", controls)


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


def map_pool_choices(view: LakeView, state: ModesState) -> Entries:
    """List the settings that the map may pool."""
    shown = [KNOBS[name] for name in (state.x, state.y, state.competitor) if name]
    return pool_choices(view.left(state.selection), shown, state.pool)


def metric_choices(view: LakeView, state: ModesState) -> Entries:
    """List the metrics that can be compared."""
    return entries({name: metric_title(name) for name in offered_metrics(view, state)})


def against_choices(view: LakeView, state: ModesState) -> Entries:
    """List columns for the Pareto view's x axis; `performance` is first."""
    performance = performance_column(view, state.selection)
    # What stands in for a performance that is the compared metric or was not measured.
    shown = resolved(view, replace(state, against=PERFORMANCE)).against
    note = " (performance)" if shown == performance else ""
    listed = {PERFORMANCE: f"{metric(shown).title}{note}"}
    listed |= {name: metric(name).title for name in offered_metrics(view, state)}
    if state.against != PERFORMANCE:
        listed.setdefault(state.against, metric(state.against).title)
    return entries(listed)


def _select(key: str, label: str, data: Entries, value: str | None, width: int = 152) -> dmc.Select:
    return select(IDS.control(key), label, data, value, width, 260, searchable=True)
