"""The layout of the timeline: sidebar, panels over one time axis, distributions, totals."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import dash_mantine_components as dmc
import orjson
from dash import html

from app.kit.controls import entries, segments
from app.kit.encodings import OKABE_ITO
from app.kit.ids import PageIds
from app.kit.lake_view import LakeView
from app.kit.page_layout import (
    filter_sidebar,
    page_layout,
    panel,
    sidebar_block,
    state_stores,
    status_line,
    view_menu,
)
from app.kit.words import EMPTY_LAKE_PLAIN
from app.timeline.layout_runs import add_words, run_items
from app.timeline.panels import DEFAULT_PANELS, HEATS, PANELS
from app.timeline.runs import RunInfo, describe_runs
from app.timeline.state import TimelineState
from data.timeline.alignment import ALIGNMENTS
from data.timeline.question import MOST_CORES, NO_HEAT

ids: Final = PageIds("timeline")
_NO_RUNS: Final = (
    "No run is shown. Add some with the button on the left, or pick points in Explore."
)


def timeline_layout(view: LakeView, state: TimelineState, notice: str) -> html.Main:
    """Lay the timeline out for a state; the browser then requests what it draws."""
    infos = describe_runs(view, state.runs)
    empty = (ids("edits"), ids("shown-runs"), ids("picking"))
    start = {
        **runs_in_browser(state, infos),
        "cores": state.cores,
        "align": state.align,
        "colors": list(OKABE_ITO),
        "panels": list(PANELS),
        "defaultPanels": list(DEFAULT_PANELS),
        "mostCores": MOST_CORES,
        "advice": _NO_RUNS if view.runs else EMPTY_LAKE_PLAIN,
    }
    mouse = [html.Span(_MOUSE, className="quiet"), html.Span(id="status-selection")]
    return page_layout(
        ids.page,
        state_stores(ids.page, view, state, empty, start),
        notice,
        filter_sidebar(_sidebar(state, infos), "Runs", "runs and panels"),
        [
            _time_panel(),
            panel(
                ids("gaps"),
                "distributions of the window in view",
                [html.H2("Distributions in view"), view_menu(ids("gaps"))],
                distribution_parts(),
                "panel-distributions",
            ),
            panel(
                ids("totals"),
                "totals of the window in view",
                [html.H2("Totals in view"), view_menu(ids("totals"))],
                [html.Div(id=ids("totals"), className="table-frame")],
                "panel-totals",
            ),
        ],
        status_line(ids, components=mouse),
        _picker(),
    )


def runs_in_browser(state: TimelineState, infos: Sequence[RunInfo]) -> dict[str, Any]:
    """Return the runs of a state in the browser's form."""
    return {
        "runs": list(state.runs),
        "hues": list(state.shown_hues),
        "base": min(state.base, max(len(state.runs) - 1, 0)),
        "other": state.other,
        # The JSON round trip converts keys of packages to texts, and tuples to lists.
        "infos": orjson.loads(orjson.dumps([asdict(info) for info in infos])),
    }


def _sidebar(state: TimelineState, infos: Sequence[RunInfo]) -> list[html.Div]:
    kind = state.cores if state.cores in ("all", "packages") else "chosen"
    label, is_full = add_words(len(infos))
    return [
        html.Div(
            [
                html.Ul(run_items(infos, state), id=ids("runs"), className="runs"),
                html.Button(label, id=ids("add"), className="plain", disabled=is_full,
                            **{"data-pick-runs": "1"}),
            ],
            className="facet",
        ),
        _block("Panels", dmc.ChipGroup(
            [dmc.Chip(panel.title, value=name, tabIndex=-1 if at else 0)
             for at, (name, panel) in enumerate(PANELS.items())],
            id=ids.control("panel"), value=list(state.shown_panels), multiple=True,
        )),
        _block("Cores", _segments("kind", "cores", kind, {
            "all": "Together", "packages": "Packages", "chosen": "Chosen"}),
            html.Div(
                [
                    dmc.TextInput(
                        id=ids.control("list"), value="" if kind != "chosen" else state.cores,
                        placeholder="0,2,5-7", debounce=300,
                        **{"aria-label": "cores, such as 0,2,5-7"},
                    ),
                    html.Div(id=ids("cores-words"), className="bad", role="status"),
                ],
                id=ids("cores-box"),
                hidden=kind != "chosen",
            )),
        _block("Align runs by", dmc.Select(
            id=ids.control("align"), value=state.align, allowDeselect=False,
            data=entries({name: one.title.lower() for name, one in ALIGNMENTS.items()}),
            **{"aria-label": "what the x axis counts"},
        )),
        _block("Runs in a panel", _segments("layout", "runs in a panel", state.layout, {
            "overlay": "Overlaid", "stacked": "Stacked"})),
        _block("Heatmap of the cores", dmc.Select(
            id=ids.control("heat"), value=state.heat, allowDeselect=False,
            data=entries({NO_HEAT: "none"} | HEATS),
            **{"aria-label": "quantity of the heatmap of the cores"},
        )),
    ]  # fmt: skip


def _block(title: str, *controls: Any) -> html.Div:
    return sidebar_block(title, html.Div(list(controls), className="facet-chips"))


def _segments(key: str, label: str, value: str, titles: dict[str, str]) -> dmc.SegmentedControl:
    return segments(ids.control(key), label, value, titles, fullWidth=True, className="wide")


_BUTTONS: Final = (
    ("left", "\N{LEFTWARDS ARROW}", "earlier (left arrow)"),
    ("right", "\N{RIGHTWARDS ARROW}", "later (right arrow)"),
    ("in", "+", "zoom in (+)"),
    ("out", "\N{MINUS SIGN}", "zoom out (-)"),
    ("all", "all", "all of the run (Home)"),
    ("back", "\N{LEFTWARDS ARROW WITH HOOK}", "the previous window (Backspace)"),
    ("pan", "pan", "pan: drag moves the window instead of zooming (d)"),
    ("values", "values", "read values with the arrow keys (v)"),
)


def _time_panel() -> html.Section:
    head = [move_buttons(), html.Span(id=ids("span"), className="span-words", role="status")]
    name = "timeline: + and - zoom, arrows move, Home shows all, v reads values"
    view = ids("figure")
    return panel(view, name, [*head, view_menu(view)], time_parts(), "panel-time")


def move_buttons() -> html.Div:
    """Return the buttons that move the window."""
    buttons = [
        html.Button(sign, id=ids(name), title=title, className="plain", **{"aria-label": title})
        for name, sign, title in _BUTTONS
    ]
    return html.Div(buttons, className="moves", role="group", **{"aria-label": "move the window"})


def time_parts() -> list[html.Div]:
    """Return the panels over time: messages, the figure and its overlays, the live region."""
    return [
        html.Div(id=ids("problems"), className="problems", role="alert"),
        html.Div(id=ids("strip"), className="strip-box"),
        html.Div(
            [
                html.Div(id=ids("figure"), className="timeline-figure"),
                html.Div(id=ids("words"), className="timeline-words"),
                html.Div(id=ids("band"), className="band"),
                html.Div(id=ids("cursor"), className="cursor"),
                html.Div(id=ids("mark"), className="cursor mark"),
                html.Div(id=ids("dot"), className="cursor dot"),
            ],
            className="timeline-frame",
        ),
        html.Div(id=ids("lane"), className="lane-box"),
        html.Div(id=ids("value"), className="unseen", role="status",
                 **{"aria-live": "polite", "aria-atomic": "true"}),
    ]  # fmt: skip


def distribution_parts() -> list[html.Div]:
    """Return the figures of distributions, and the count of gaps at the ITR limit."""
    return [
        html.Div(id=ids("gaps"), className="side-figure"),
        html.Div(id=ids("limits"), className="limits", role="status"),
        html.Div(id=ids("sizes"), className="side-figure tall"),
    ]


_MOUSE: Final = (
    "drag: zoom · shift-drag: move · wheel: zoom · click: values · double-click: all · ? keys"
)


def _picker() -> html.Dialog:
    return html.Dialog(
        [
            html.H2("Add a run"),
            dmc.TextInput(
                id=ids("search"), placeholder="words, such as: tuned 50 us 600k", debounce=120,
                **{"aria-label": "search runs"},
            ),
            html.Div(id=ids("choices-words"), className="quiet", role="status"),
            html.Div(id=ids("choices"), className="choices", role="listbox",
                     **{"aria-label": "runs with a per-interrupt log"}),
            html.Button("done (Esc)", id=ids("picked"), className="plain"),
        ],
        id=ids("picker"),
        className="picker",
    )  # fmt: skip
