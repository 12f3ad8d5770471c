"""The layout of the timeline: rail, the panels over one axis of time, distributions, totals."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import dash_mantine_components as dmc
from dash import dcc, html

from app.kit import ids
from app.kit.encodings import OKABE_ITO
from app.kit.lakes import LakeView
from app.kit.panel import view_menu
from app.timeline.panels import HEATS, PANELS
from app.timeline.runs import RunInfo
from app.timeline.state import VERSION, TimelineState
from data.timeline.question import MOST_CORES, MOST_RUNS

NO_LOGS: Final = (
    "No run of this lake has a per-interrupt log: summary tables hold none. Timelines are drawn "
    "from raw logs: python -m ingest add RAW."
)
EMPTY_LAKE: Final = (
    "The lake holds no runs yet. Put some in with python -m ingest add RAW, then reload this page."
)
NO_RUNS: Final = "No run is shown. Add some with the button on the left, or pick points in Explore."
_HEAT_NONE: Final = "none"


def timeline_layout(
    view: LakeView, state: TimelineState, runs: Sequence[RunInfo], notice: str, has_logs: bool
) -> html.Main:
    """Lay the timeline out for a state; what it draws comes from the browser's own questions."""
    return html.Main(
        [
            dcc.Store(id=ids.TIMELINE_START, data=start(view, state, runs, has_logs)),
            dcc.Store(id=ids.TIMELINE_OPENED),
            html.Div(notice, id=ids.NOTICE, className="notice", role="alert"),
            html.Aside(
                [_rail_head(), *_rail(state)],
                className="rail",
                id="rail",
                **{"aria-label": "runs and panels"},
            ),
            html.Div(
                [_time_panel(), _distributions_panel(), _totals_panel()],
                className="views",
                id="views",
            ),
            _status(),
            _picker(),
        ],
        className="page timeline",
    )


def start(
    view: LakeView, state: TimelineState, runs: Sequence[RunInfo], has_logs: bool
) -> dict[str, Any]:
    """What the browser begins with: the state, what is known of its runs, what can be chosen."""
    default = TimelineState()
    return {
        "version": VERSION,
        "shown": view.version,
        "most": MOST_RUNS,
        "most_cores": MOST_CORES,
        "hues": list(OKABE_ITO),
        "panels": [
            {"name": name, "is_default": panel.is_default} for name, panel in PANELS.items()
        ],
        "defaults": {
            "cores": default.cores, "heat": default.heat, "layout": default.layout,
            "base": default.base, "other": None, "from": None, "to": None, "lake": None,
        },
        "advice": EMPTY_LAKE if not view.runs else NO_RUNS if has_logs else NO_LOGS,
        "runs": [json.loads(json.dumps(asdict(run))) for run in runs],
        "state": {
            "runs": list(state.runs),
            "hues": list(state.hues or range(len(state.runs))),
            "panels": list(state.shown_panels),
            "cores": state.cores,
            "from": state.from_s,
            "to": state.to_s,
            "heat": state.heat,
            "layout": state.layout,
            "base": min(state.base, max(len(state.runs) - 1, 0)),
            "other": state.other,
            "lake": state.lake_version,
        },
    }  # fmt: skip


def _rail_head() -> html.Div:
    return html.Div(
        [
            html.Span("Runs", className="rail-title"),
            html.Button("\N{LEFTWARDS ARROW}", id="rail-button", className="plain",
                        title="fold the rail", **{"aria-expanded": "true"}),
        ],
        className="rail-head",
    )  # fmt: skip


def _rail(state: TimelineState) -> list[html.Div]:
    mode = state.cores if state.cores in ("all", "packages") else "chosen"
    return [
        html.Div(
            [
                html.Ul(id="timeline-runs", className="runs"),
                html.Button("add a run\N{HORIZONTAL ELLIPSIS}", id="timeline-add",
                            className="plain"),
            ],
            className="facet",
        ),
        _block("Panels", dmc.ChipGroup(
            [dmc.Chip(panel.title, value=name, size="xs", radius="sm", variant="outline")
             for name, panel in PANELS.items()],
            id=ids.TIMELINE_PANELS, value=list(state.shown_panels), multiple=True,
        )),
        _block("Cores", _segments(ids.TIMELINE_CORES, mode, {
            "all": "Together", "packages": "Packages", "chosen": "Chosen"}),
            html.Div(
                [
                    dmc.TextInput(
                        id=ids.TIMELINE_CORES_LIST, value="" if mode != "chosen" else state.cores,
                        placeholder="0,2,5-7", size="xs", debounce=300,
                        **{"aria-label": "cores, such as 0,2,5-7"},
                    ),
                    html.Div(id="timeline-cores-words", className="bad", role="status"),
                ],
                id="timeline-cores-box",
                hidden=mode != "chosen",
            )),
        _block("Runs in a panel", _segments(ids.TIMELINE_LAYOUT, state.layout, {
            "overlay": "Overlaid", "stacked": "Stacked"})),
        _block("Heatmap of the cores", dmc.Select(
            id=ids.TIMELINE_HEAT, value=state.heat, size="xs", allowDeselect=False,
            data=[{"value": _HEAT_NONE, "label": "none"},
                  *({"value": name, "label": title} for name, title in HEATS.items())],
            **{"aria-label": "quantity of the heatmap of the cores"},
        )),
    ]  # fmt: skip


def _block(title: str, *controls: Any) -> html.Div:
    head = html.Div(html.Span(title, className="facet-title"), className="facet-head")
    return html.Div([head, html.Div(list(controls), className="facet-chips")], className="facet")


def _segments(component_id: str, value: str, labels: dict[str, str]) -> dmc.SegmentedControl:
    return dmc.SegmentedControl(
        id=component_id,
        value=value,
        data=[{"value": name, "label": label} for name, label in labels.items()],
        size="xs",
        fullWidth=True,
        className="wide",
    )


_BUTTONS: Final = (
    ("timeline-left", "\N{LEFTWARDS ARROW}", "earlier (left arrow)"),
    ("timeline-right", "\N{RIGHTWARDS ARROW}", "later (right arrow)"),
    ("timeline-in", "+", "zoom in (+)"),
    ("timeline-out", "\N{MINUS SIGN}", "zoom out (-)"),
    ("timeline-all", "all", "the whole run (Home)"),
    ("timeline-back", "\N{LEFTWARDS ARROW WITH HOOK}", "the window before this one (Backspace)"),
    ("timeline-pan", "pan", "drag moves the window instead of zooming (p)"),
    ("timeline-values", "values", "read values with the arrow keys (v)"),
)


def _time_panel() -> html.Section:
    buttons = [
        html.Button(sign, id=name, title=title, className="plain", **{"aria-label": title})
        for name, sign, title in _BUTTONS
    ]
    return html.Section(
        [
            html.Div(
                [
                    html.Div(buttons, className="moves", role="group",
                             **{"aria-label": "move the window"}),
                    html.Span(id="timeline-span", className="span-words", role="status"),
                    view_menu(ids.TIMELINE_FIGURE),
                ],
                className="panel-head",
            ),
            html.Div(id="timeline-problems", className="problems", role="alert"),
            html.Div(
                [
                    html.Div(id=ids.TIMELINE_FIGURE, className="timeline-figure"),
                    html.Div(id="timeline-band", className="band"),
                    html.Div(id="timeline-cursor", className="cursor"),
                    html.Div(id="timeline-mark", className="cursor mark"),
                    html.Div(id="timeline-dot", className="cursor dot"),
                ],
                className="timeline-frame",
            ),
            html.Div(id="timeline-value", className="unseen", role="status",
                     **{"aria-live": "polite", "aria-atomic": "true"}),
        ],
        className="panel panel-time",
        tabIndex=0,
        **{"aria-label": "timeline: + and - zoom, arrows move, Home shows all, v reads values",
           "data-view": ids.TIMELINE_FIGURE},
    )  # fmt: skip


def _distributions_panel() -> html.Section:
    return html.Section(
        [
            html.Div([html.H2("Distributions in view"), view_menu(ids.TIMELINE_GAPS)],
                     className="panel-head"),
            html.Div(id=ids.TIMELINE_GAPS, className="side-figure"),
            html.Div(id="timeline-limits", className="limits", role="status"),
            html.Div(id=ids.TIMELINE_SIZES, className="side-figure tall"),
        ],
        className="panel panel-distributions",
        tabIndex=0,
        **{"aria-label": "distributions of the window in view", "data-view": ids.TIMELINE_GAPS},
    )  # fmt: skip


def _totals_panel() -> html.Section:
    return html.Section(
        [
            html.Div([html.H2("Totals in view"), view_menu(ids.TIMELINE_TOTALS)],
                     className="panel-head"),
            html.Div(id=ids.TIMELINE_TOTALS, className="table-frame"),
        ],
        className="panel panel-totals",
        tabIndex=0,
        **{"aria-label": "totals of the window in view", "data-view": ids.TIMELINE_TOTALS},
    )  # fmt: skip


_MOUSE: Final = (
    "drag: zoom · shift-drag: move · wheel: zoom · click: values · double-click: all · ? keys"
)


def _status() -> html.Footer:
    return html.Footer(
        [
            html.Span(_MOUSE, className="quiet"),
            html.Span(id="status-selection"),
            html.Span(className="spring"),
            html.Button("copy link", className="plain", **{"data-action": "copy-link"}),
            html.A("data", id="timeline-data", className="plain"),
        ],
        className="status",
    )  # fmt: skip


def _picker() -> html.Dialog:
    """The list of the lake's runs with a log; the browser fills it from `/timeline/choices`."""
    return html.Dialog(
        [
            html.H2("Add a run"),
            dcc.Input(
                id="timeline-search",
                type="text",
                placeholder="words, such as: tuned 50 us 600k",
                autoComplete="off",
                className="search",
            ),
            html.Div(id="timeline-choices-words", className="quiet", role="status"),
            html.Div(id="timeline-choices", className="choices", role="listbox",
                     **{"aria-label": "runs with a per-interrupt log"}),
            html.Button("done (Esc)", id="timeline-picked", className="plain"),
        ],
        id="timeline-picker",
        className="picker",
    )  # fmt: skip
