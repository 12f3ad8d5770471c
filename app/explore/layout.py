"""The layout of Explore: sidebar, panels of its views, best settings, selection, status line."""

from dataclasses import replace
from typing import Final

import dash_mantine_components as dmc
from dash import html

from app.explore.heat import heat_of
from app.explore.layout_controls import IDS, controls
from app.explore.presets import figure_presets, study_presets
from app.explore.question import AGREED_US, Question
from app.explore.state import ExploreState
from app.explore.views import VIEWS, ExploreView
from app.kit.controls import segments
from app.kit.filters import filter_blocks, offered_choices
from app.kit.lake_view import LakeView
from app.kit.page_layout import (
    filter_sidebar,
    link_to,
    page_layout,
    panel,
    preset_block,
    sidebar_block,
    state_stores,
    status_line,
    view_menu,
    view_panel,
)

_STORES: Final = (
    *(IDS.figure(each.name) for each in VIEWS if each.picture), IDS("limit-domain"),
    *(IDS.requested(each.name) for each in VIEWS if each.is_optional),
)  # fmt: skip


def explore_layout(view: LakeView, state: ExploreState, notice: str) -> html.Main:
    """Lay out Explore for a state; callbacks bring the figures."""
    title = "the winners under these filters, and the cells of the selection"
    heat_system = heat_of(Question.of(view, state)).system or state.heat_system
    shown = replace(state, heat_system=heat_system)
    return page_layout(
        IDS.page,
        state_stores(IDS.page, view, state, _STORES),
        notice,
        filter_sidebar(_sidebar(view, state)),
        [
            html.Div(
                [
                    html.Div(id=IDS("findings"), className="findings", role="status"),
                    *controls(view, state, ["show"]),
                ],
                className="lead",
            ),
            *[_picture_panel(view, shown, each) for each in VIEWS if each.picture],
            _best_panel(view, state),
            _selected_panel(),
        ],
        status_line(IDS, link_to(IDS, "modes", title)),
    )


def _sidebar(view: LakeView, state: ExploreState) -> list:
    blocks = filter_blocks(view, state.selection, offered_choices, IDS)
    titles = {"means": "Means", "runs": "Each run"}
    control = IDS.control("rep")
    replicates = segments(control, "replicates", state.replicates, titles, fullWidth=True)
    figures = preset_block(figure_presets(view), "Figures of the network study")
    presets = [*preset_block(study_presets(view)), *figures]
    odd = controls(view, state, ["noodd"])
    panels = controls(view, state, ["split", "own"])
    return [
        *presets, *blocks, sidebar_block("Panels", *panels),
        sidebar_block("Replicates", replicates, *odd),
    ]  # fmt: skip


def _picture_panel(view: LakeView, state: ExploreState, shown: ExploreView) -> html.Section:
    first, second, folded = (controls(view, state, keys) for keys in (*shown.head, shown.legend))
    lines = ((second, False), (folded, True))
    head = [
        *first, *(html.Div(line, className="roles", hidden=is_folded)
                  for line, is_folded in lines if line),
    ]  # fmt: skip
    return view_panel(shown.name, shown.label, head, f"panel-{shown.name}")


def _best_panel(view: LakeView, state: ExploreState) -> html.Section:
    unit = Question.of(view, state).limited.unit
    number = dmc.NumberInput(
        id=IDS.control("limit"), value="" if state.limit is None else state.limit,
        placeholder="none", suffix=f" {unit}", min=0, w=76, debounce=300, decimalScale=6,
        **{"aria-label": "latency limit"},
    )  # fmt: skip
    slider = dmc.Slider(
        id=IDS("limit-slider"), min=0, max=1000, value=1000, label=None,
        updatemode="drag", thumbLabel="latency limit",
    )  # fmt: skip
    head = [
        html.H2("Best settings"),
        *controls(view, state, ["cost"]),
        html.Label("limit", htmlFor=IDS.control("limit"), className="quiet"),
        *controls(view, state, ["by"]),
        number,
        html.Div(slider, className="limit-slider"),
        html.Button(
            f"{AGREED_US:g} us",
            id=IDS("limit-agreed"),
            className="plain",
            hidden=True,
            title="the service-level agreement of the network study",
        ),
        html.Span(id="limit-words", className="limit-words", role="status"),
        view_menu("best-table"),
        html.Div(_proof_controls(view, state), className="roles"),
    ]
    table = html.Div(id="best-table", className="table-frame pending")
    name = "best settings under the limit"
    return panel("best-table", name, head, [table], "panel-best", is_stop=False)


def _proof_controls(view: LakeView, state: ExploreState) -> list:
    """Lay out what best settings are compared with, the error, and the margin."""
    return [
        *controls(view, state, ["vs"]),
        html.Label("level", htmlFor=IDS.control("alpha"), className="quiet"),
        dmc.NumberInput(id=IDS.control("alpha"), value=state.alpha, min=0.001, max=0.4, w=58,
                        debounce=300, **{"aria-label": "level of the intervals"}),
        html.Label("margin", htmlFor=IDS.control("margin"), className="quiet"),
        dmc.NumberInput(id=IDS.control("margin"), value=state.margin_pct, min=0.1, max=40, w=58,
                        suffix=" %", debounce=300, **{"aria-label": "margin of equal settings"}),
        *controls(view, state, ["same"]),
    ]  # fmt: skip


def _selected_panel() -> html.Section:
    """Lay out the panel of selected points, or of the best setting; the browser fills its table."""
    head = [
        html.H2("Selected"),
        html.Span("loading", id="selected-words", className="quiet", role="status"),
        html.Button("timeline (t)", id="selected-timeline", className="plain", hidden=True),
        html.Button("clear (Esc)", id="clear-selection", className="plain", hidden=True),
    ]
    body = [html.Div(id="selected-table", className="table-frame", tabIndex=0)]
    return panel("", "selected points", head, body, "panel-selected", is_stop=False)
