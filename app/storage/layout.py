"""The layout of Storage: rail, a bar with the sections and the place, the views, status line."""

import dash_mantine_components as dmc
from dash import dcc, html

from app.kit import ids
from app.kit.filters import filter_block
from app.kit.lakes import LakeView
from app.kit.sidebar import filter_rail
from app.storage import ids as names
from app.storage.defaults import chosen, offered, place_choices, storage_cube
from app.storage.sections import mode_legend, section_menu, storage_sections
from app.storage.state import StorageState
from app.storage.views import PREFIX
from data.metrics import metric


def storage_layout(view: LakeView, state: StorageState, notice: str) -> html.Main:
    """Lay Storage out for a state; pictures come by callback and are drawn by the browser."""
    state = chosen(storage_cube(view), state)
    return html.Main(
        [
            *_stores(view, state),
            html.Div(notice, id=ids.NOTICE, className="notice", role="alert"),
            filter_rail(_rail(view, state)),
            html.Div(
                [_bar(view, state), *storage_sections(None, has_menus=True)],
                className="views",
                id="views",
            ),
            _status(),
        ],
        className="page storage",
    )


def _stores(view: LakeView, state: StorageState) -> list:
    pinned = {"pick": state.pick, "lake": state.lake_version, "shown": view.version}
    empty = (names.VIEW, names.CHANGED, names.QUERY, names.FIGURES, names.CONFIGURATIONS,
             names.PLACED, names.DRAWN)  # fmt: skip
    return [
        dcc.Store(id=names.LAKE_VERSION, data=view.version),
        dcc.Store(id=names.PINNED, data=pinned),
        *[dcc.Store(id=name) for name in empty],
    ]


def _rail(view: LakeView, state: StorageState) -> list:
    return [
        filter_block(name, choices, state.selection.values(name), PREFIX)
        for name, choices in offered(storage_cube(view), state.selection).items()
    ]


def _bar(view: LakeView, state: StorageState) -> html.Div:
    """Sections to go to, what the views of one device show, what error bars are, who is who."""
    places = place_choices(storage_cube(view), state)
    size = None if state.at_request is None else f"{state.at_request:.0f}"
    return html.Div(
        [
            section_menu(),
            html.Div(
                [
                    html.Span("Lines and maps at", className="quiet"),
                    _select(names.AT_DEVICE, "device of the lines", places["device"],
                            state.at_device, 118),
                    _select(names.AT_RW, "access of the lines", places["rw"], state.at_rw, 112),
                    _select(names.AT_REQUEST, "request size of the lines",
                            places["request_bytes"], size, 96),
                    _segments(names.SPREAD, "error bars", state.spread,
                              {"ci": "95 % CI", "sd": "sd"}),
                    html.Span("utilisation by", className="quiet"),
                    _segments(names.USE, "utilisation", state.use,
                              {"bandwidth_bytes_s": metric("bandwidth_bytes_s").title.lower(),
                               "iops": metric("iops").title}),
                    mode_legend(),
                ],
                className="storage-place",
            ),
        ],
        className="storage-bar",
    )  # fmt: skip


def _status() -> html.Footer:
    return html.Footer(
        [
            html.Span(id=names.STATUS),
            html.Span(id="status-selection"),
            html.Button("clear (Esc)", id="storage-clear", className="plain", hidden=True),
            html.Span(className="spring"),
            html.A("in Explore", id="storage-to-explore", className="plain", href="/"),
            html.A("in Modes", id="storage-to-modes", className="plain", href="/modes"),
            html.Button("copy link", className="plain", **{"data-action": "copy-link"}),
            html.A("export", id="storage-export", className="plain"),
            html.A("data", id=names.DATA_LINK, className="plain"),
        ],
        className="status",
    )


def _select(component_id: str, label: str, data: list, value: str | None, width: int) -> dmc.Select:
    return dmc.Select(
        id=component_id,
        data=data,
        value=value,
        size="xs",
        allowDeselect=False,
        placeholder="not said",
        w=width,
        comboboxProps={"width": 180, "position": "bottom-start"},
        **{"aria-label": label},
    )


def _segments(
    component_id: str, label: str, value: str, titles: dict[str, str]
) -> dmc.SegmentedControl:
    return dmc.SegmentedControl(
        id=component_id,
        value=value,
        size="xs",
        data=[{"value": v, "label": title} for v, title in titles.items()],
        **{"aria-label": label},
    )
