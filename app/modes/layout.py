"""The layout of Modes: rail, map of winners, its evidence, shares, Pareto view, status line."""

from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html

from app.kit import ids
from app.kit.filters import filter_block
from app.kit.lakes import LakeView
from app.kit.panel import GRAPH_CONFIG, graph_panel, view_menu
from app.kit.performance import PERFORMANCE, performance_column
from app.kit.sidebar import filter_rail
from app.modes import ids as names
from app.modes.defaults import chosen, offered_knobs, offered_prizes, prize_title
from app.modes.state import ModesState
from app.modes.words import CORRECTION_TITLES, TEST_TITLES
from data.analysis.facets import all_choices
from data.metrics import metric


def modes_layout(view: LakeView, state: ModesState, notice: str) -> html.Main:
    """Lay Modes out for a state; pictures come by callback."""
    if view.runs:
        state = chosen(view, state)
    return html.Main(
        [
            *_stores(view, state),
            html.Div(notice, id=ids.NOTICE, className="notice", role="alert"),
            filter_rail(_rail(view, state)),
            html.Div(
                [
                    _map_panel(view, state),
                    _shares_panel(),
                    _evidence_panel(),
                    _pareto_panel(view, state),
                ],
                className="views",
                id="views",
            ),
            _status(),
        ],
        className="page modes",
    )  # fmt: skip


def _without_selecting(panel: html.Section) -> html.Section:
    """Take the tools away that draw a box or a lasso: here a click selects."""
    graph = panel.children[-1]
    removed = [*GRAPH_CONFIG["modeBarButtonsToRemove"], "select2d", "lasso2d"]  # type: ignore[misc]
    graph.config = {**GRAPH_CONFIG, "modeBarButtonsToRemove": removed}
    return panel


def _stores(view: LakeView, state: ModesState) -> list:
    pinned = {"pick": state.pick, "lake": state.lake_version, "shown": view.version}
    empty = (names.VIEW, names.CHANGED, names.TURNED, names.QUERY, names.CELLS,
             *map(names.figure, names.GRAPHS))  # fmt: skip
    return [
        dcc.Store(id=names.LAKE_VERSION, data=view.version),
        dcc.Store(id=names.PINNED, data=pinned),
        dcc.Store(id=names.PICK, data=state.pick),
        *[dcc.Store(id=name) for name in empty],
    ]


def _rail(view: LakeView, state: ModesState) -> list:
    return [
        filter_block(name, choices, state.selection.values(name), names.PREFIX)
        for name, choices in all_choices(view.cube, state.selection).items()
    ]


def _map_panel(view: LakeView, state: ModesState) -> html.Section:
    knobs = knob_choices(view, state)
    question = html.Div(
        [
            _select(names.METRIC, "metric that is compared", prize_choices(view, state),
                    state.metric, 234),
            html.Span("by", className="quiet"),
            _select(names.COMPETITOR, "competitor", knobs, state.competitor),
            html.Span("over", className="quiet"),
            _select(names.X, "x axis", knobs, state.x),
            html.Span("\N{MULTIPLICATION SIGN}", className="quiet"),
            _select(names.Y, "y axis", knobs, state.y),
        ],
        className="question",
    )  # fmt: skip
    section = graph_panel(names.WINNERS, "map of winners", [question], "panel-winners")
    section.children.insert(1, _rules(state))
    return _without_selecting(section)


def _shares_panel() -> html.Section:
    head = [html.H2("Share of cells")]
    return _without_selecting(
        graph_panel(names.SHARES, "cells won by each competitor", head, "panel-shares")
    )


def _rules(state: ModesState) -> html.Div:
    """How cells are judged and written."""
    return html.Div(
        [
            _select(names.TEST, "test", _listed(TEST_TITLES), state.test, 184),
            _select(names.CORRECTION, "correction over the cells", _listed(CORRECTION_TITLES),
                    state.correction, 264),
            html.Label("level", htmlFor=names.LEVEL, className="quiet"),
            dmc.NumberInput(
                id=names.LEVEL, value=state.level, min=0.0001, max=0.99, step=0.01, size="xs", w=74,
                decimalScale=5, allowNegative=False, clampBehavior="blur", debounce=400,
            ),
            dmc.SegmentedControl(
                id=names.MARGIN, value=state.margin, size="xs",
                data=[{"value": "percent", "label": "%"},
                      {"value": "absolute", "label": "absolute"}],
                **{"aria-label": "margin over the runner-up"},
            ),
        ],
        className="rules",
    )  # fmt: skip


def _pareto_panel(view: LakeView, state: ModesState) -> html.Section:
    controls = [
        html.Span("against", className="quiet"),
        _select(names.AGAINST, "metric of the Pareto view's x axis", against_choices(view, state),
                state.against, 214),
    ]  # fmt: skip
    return _without_selecting(
        graph_panel(names.PARETO, "Pareto view over the cells", controls, "panel-pareto")
    )


def _evidence_panel() -> html.Section:
    graph = dcc.Graph(
        id=names.EVIDENCE,
        config=GRAPH_CONFIG,
        className="graph",
        responsive=True,
        figure={"data": [], "layout": {"xaxis": {"visible": False}, "yaxis": {"visible": False}}},
    )
    head = html.Div(
        [
            html.H2("Evidence of a cell"),
            html.Button("clear (Esc)", id="clear-pick", className="plain", hidden=True),
            view_menu(names.EVIDENCE),
        ],
        className="panel-head",
    )
    body = html.Div(
        [graph, html.Div(id=names.STANDINGS, className="table-frame", role="status")],
        className="evidence-body",
    )
    return html.Section(
        [head, body],
        className="panel panel-evidence",
        tabIndex=0,
        **{"aria-label": "evidence of the selected cell", "data-view": names.EVIDENCE},
    )


def _status() -> html.Footer:
    return html.Footer(
        [
            html.Span(id=names.STATUS),
            html.Span(id="status-selection"),
            html.Span(className="spring"),
            dcc.Link(
                "in Explore",
                href="/",
                id="modes-to-explore",
                className="plain",
                title="the runs under these filters, those of the selected cells lit",
            ),
            html.Button("copy link", className="plain", **{"data-action": "copy-link"}),
            html.A("data", id="modes-data-link", className="plain"),
        ],
        className="status",
    )


def knob_choices(view: LakeView, state: ModesState) -> list[dict[str, str]]:
    """Axes and competitors: the knobs that vary in the lake under the leading filters."""
    return [{"value": knob.name, "label": knob.menu_title} for knob in offered_knobs(view, state)]


def prize_choices(view: LakeView, state: ModesState) -> list[dict[str, str]]:
    """The metrics that one can win."""
    return _listed({name: prize_title(name) for name in offered_prizes(view, state)})


def against_choices(view: LakeView, state: ModesState) -> list[dict[str, str]]:
    """Columns for the Pareto view's x axis; the performance metric stands first by that name."""
    performance = performance_column(view, state.selection)
    listed = {PERFORMANCE: f"{metric(performance).title} (performance)"}
    listed |= {name: metric(name).title for name in offered_prizes(view, state)}
    if state.against != PERFORMANCE:
        listed.setdefault(state.against, metric(state.against).title)
    return _listed(listed)


def _listed(titles: dict[Any, str]) -> list[dict[str, str]]:
    return [{"value": value, "label": title} for value, title in titles.items()]


def _select(
    component_id: str, label: str, data: list, value: str | None, width: int = 152
) -> dmc.Select:
    return dmc.Select(
        id=component_id,
        data=data,
        value=value,
        size="xs",
        searchable=True,
        allowDeselect=False,
        w=width,
        comboboxProps={"width": 260, "position": "bottom-start"},
        **{"aria-label": label},
    )
