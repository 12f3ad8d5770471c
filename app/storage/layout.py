"""The layout of Storage, on the page and in its export: bar, sections of views, status line."""

from collections.abc import Mapping
from typing import Any

import dash_mantine_components as dmc
import polars as pl
from dash import html

from app.kit.controls import pool_select, segments, select
from app.kit.filters import filter_blocks
from app.kit.ids import PageIds
from app.kit.lake_view import LakeView
from app.kit.page_layout import (
    filter_sidebar,
    legend_of,
    link_to,
    page_layout,
    panel,
    state_stores,
    status_line,
    tool_bar,
    view_menu,
)
from app.storage.figures.base import GLYPHS, Scene
from app.storage.state import NAME, StorageState, View
from app.storage.study import (
    chosen,
    offered,
    place_choices,
    storage_cube,
    storage_pool_choices,
)
from app.storage.views import CLAIMS, PUBLISHED, SECTIONS, VIEWS

IDS = PageIds(NAME)
# Stores: what the views answer; device, access and size that the server chose; DRAWN stays empty.
PICTURES = IDS("pictures")
PLACED, DRAWN = IDS("placed"), IDS("drawn")
LEGEND, PUBLISHED_TABLES, CLAIM_LIST = IDS("legend"), IDS("published"), IDS("claims")
# Stores: HTML text by view, which the browser writes into the published tables and beside pictures.
PUBLISHED_HTML, CLAIMS_HTML = IDS("published-html"), IDS("claims-html")
_STORES = (PICTURES, PLACED, DRAWN, PUBLISHED_HTML, CLAIMS_HTML)
_TOOLS = ("zoom", "pan", "select", "reset")
# View without a picture to the id of its body, and its name for screen readers.
_BODIES = {
    CLAIMS: (CLAIM_LIST, "claims of the papers"),
    PUBLISHED: (PUBLISHED_TABLES, "published values beside those measured"),
}


def storage_layout(view: LakeView, state: StorageState, notice: str) -> html.Main:
    """Lay Storage out for a state; callbacks deliver the figures, and the browser draws them."""
    cube = storage_cube(view, state.selection)
    state = chosen(cube, state)
    blocks = filter_blocks(view, state.selection, offered, IDS)
    bar = html.Div(
        [section_menu(), _place_bar(view, cube, state)], className="storage-bar printless"
    )
    links = [link_to(IDS, name) for name in ("explore", "modes", "findings")]
    return page_layout(
        NAME,
        state_stores(NAME, view, state, _STORES),
        notice,
        filter_sidebar(blocks),
        [bar, *storage_sections({}, has_menus=True)],
        status_line(IDS, *links, components=[html.Span(id=IDS.status), *selection_words()]),
    )


def _place_bar(view: LakeView, cube: pl.DataFrame, state: StorageState) -> html.Div:
    places = place_choices(cube, state)
    values = place_values(state)
    return html.Div(
        [
            html.Span("Lines and maps at", className="quiet"),
            _select("at", "device of the lines", places["at"], values["at"], 118),
            _select("access", "access of the lines", places["access"], values["access"], 112),
            _select("size", "request size of the lines", places["size"], values["size"], 96),
            segments(IDS.control("err"), "error bars", state.spread, {"ci": "95 % CI", "sd": "sd"}),
            pool_select(IDS.control("pool"), storage_pool_choices(view, state), state.pool),
            mode_legend([]),
        ],
        className="storage-place",
    )


def place_values(state: StorageState) -> dict[str, str | None]:
    """Return the values of the menus of device, access and size, by URL key."""
    size = None if state.at_request is None else f"{state.at_request:.0f}"
    return {"at": state.at_device, "access": state.at_rw, "size": size}


def selection_words() -> list:
    """Lay out the text on the selection, and the button that clears it."""
    clear = html.Button("clear (Esc)", id=IDS("clear"), className="plain", hidden=True)
    return [html.Span(id="status-selection", role="status"), clear]


def _select(key: str, label: str, data: list, value: str | None, width: int) -> dmc.Select:
    return select(IDS.control(key), label, data, value, width, 180, placeholder="not said")


def section_menu() -> html.Nav:
    """Lay out the buttons that scroll to a section."""
    return html.Nav(
        [
            html.Button(title, className="section-tab", **{"data-section": name})
            for name, title in SECTIONS.items()
        ],
        className="section-menu",
        **{"aria-label": "sections"},
    )


def mode_legend(entries: list) -> html.Div:
    """Lay out the legend of the completion modes."""
    names = {"role": "group", "aria-label": "completion modes"}
    return html.Div(entries, id=LEGEND, className="storage-legend", **names)


def legend_entries(scene: Scene, modes: list[str | None], has_published: bool) -> list:
    """Lay out a button that selects it for each mode of the study, and what a star means."""
    entries: list = [
        html.Button(
            [html.Span(GLYPHS[scene.symbol(mode)], style={"color": scene.hue(mode)},
                       **{"aria-hidden": "true"}), f" {scene.label(mode)}"],
            className="plain",
            **{"data-mode": "" if mode is None else mode},
        )
        for mode in scene.modes.values if mode in modes
    ]  # fmt: skip
    star = html.Span("\N{WHITE STAR} published", className="quiet")
    return [*entries, star] if has_published else entries


def storage_sections(bodies: Mapping[str, list], has_menus: bool) -> list[html.Section]:
    """Lay out all sections.

    Args:
        bodies: View to its content without a picture: claims, published values; empty if callbacks
            deliver them.
        has_menus: Whether views have menus, which need a server.
    """
    return [_section(name, bodies, has_menus) for name in SECTIONS]


def _section(section: str, bodies: Mapping[str, list], has_menus: bool) -> html.Section:
    body: list[Any] = [_panel(v, bodies, has_menus) for v in VIEWS if v.section == section]
    for view, (element, name) in _BODIES.items():
        if view.section != section:
            continue
        head = [view_menu(element, view.title.lower())] if has_menus else []
        content = [html.Div(bodies.get(view.name), id=element, className="pending")]
        body.append(panel(element, name, head, content, "published", is_stop=False))
    panels = IDS(f"panels-{section}")
    fold = html.Button(
        SECTIONS[section],
        className="section-fold plain",
        **{"type": "button", "aria-expanded": "true", "aria-controls": panels,
           "data-fold": section},
    )  # fmt: skip
    return html.Section(
        [html.H2(fold), html.Div(body, id=panels, className="storage-panels")],
        id=IDS(f"section-{section}"),
        className="storage-section",
        **{"aria-label": SECTIONS[section]},
    )


def _panel(view: View, bodies: Mapping[str, list], has_menus: bool) -> html.Section:
    source = [html.Span(view.source, className="source quiet")] if view.source else []
    menu = [view_menu(view.graph, view.title)] if has_menus else []
    head = [*source, tool_bar(view.graph, _TOOLS), *menu]
    # Panels side by side scroll where the window has no room for them.
    broad = " broad" if view.span == 6 else ""
    picture: list[Any] = [html.Div(id=view.graph, className="graph")]
    if view.has_legend:
        picture.append(legend_of(view.graph))
    body: list[Any] = [html.Div(picture, className=f"picture{broad}")]
    looks = f"storage-panel span-{view.span}"
    if view.claims:
        beside = {"data-claims-of": view.name, "aria-label": f"claims on {view.title}"}
        body = [
            html.Div(
                [
                    *body,
                    html.Div(bodies.get(view.name), className="beside", role="group", **beside),
                ],
                className="judged",
            )
        ]
        looks += " has-claims"
    return panel(view.graph, view.title, head, body, looks)
