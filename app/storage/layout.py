"""The layout of Storage, on the page and in its export: bar, sections of views, status line."""

from collections.abc import Mapping
from typing import Any

import dash_mantine_components as dmc
import polars as pl
from dash import html

from app.kit.filters import filter_blocks
from app.kit.ids import PageIds
from app.kit.lake_view import LakeView
from app.kit.page_layout import (
    filter_sidebar,
    link_to,
    page_layout,
    pool_select,
    segments,
    select,
    state_stores,
    status_line,
)
from app.kit.panel import legend_of, panel, tool_bar, view_menu
from app.storage.figures.base import GLYPHS, Scene
from app.storage.state import (
    CLAIMS,
    NAME,
    PUBLISHED,
    SECTIONS,
    VIEWS,
    WIDE,
    StorageState,
    View,
    across,
)
from app.storage.study import (
    chosen,
    offered,
    place_choices,
    storage_cube,
    storage_pool_choices,
)

IDS = PageIds(NAME)
# Stores: what the views answer; device, access and size that the server chose; DRAWN stays empty.
PICTURES = IDS("pictures")
PLACED, DRAWN = IDS("placed"), IDS("drawn")
LEGEND, PUBLISHED_TABLES, CLAIM_LIST = IDS("legend"), IDS("published"), IDS("claims")
# Stores: HTML text that the browser writes into the published tables and the list of claims.
PUBLISHED_HTML, CLAIMS_HTML = IDS("published-html"), IDS("claims-html")
_STORES = (PICTURES, PLACED, DRAWN, PUBLISHED_HTML, CLAIMS_HTML)
_TOOLS = ("zoom", "pan", "select", "reset")
# Section without figures to the id of its body, and its name for screen readers.
_BODIES = {
    CLAIMS: (CLAIM_LIST, "claims of the papers"),
    PUBLISHED: (PUBLISHED_TABLES, "published values beside those measured"),
}


def storage_layout(view: LakeView, state: StorageState, notice: str) -> html.Main:
    """Lay Storage out for a state; callbacks deliver the figures, and the browser draws them."""
    cube = storage_cube(view, state.selection)
    state = chosen(cube, state)
    blocks = filter_blocks(view, state.selection, offered, IDS)
    bar = html.Div([section_menu(), _place_bar(view, cube, state)], className="storage-bar")
    links = [link_to(IDS, name) for name in ("explore", "modes")]
    return page_layout(
        NAME,
        state_stores(NAME, view, state, _STORES),
        notice,
        filter_sidebar(blocks),
        [bar, *storage_sections({}, has_menus=True)],
        status_line(IDS, *links, said=[html.Span(id=IDS.status), *selection_words()]),
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
        bodies: Section without figures to its content; empty if a callback delivers it.
        has_menus: Whether views have menus, which need a server.
    """
    return [_section(name, bodies, has_menus) for name in SECTIONS]


def _section(section: str, bodies: Mapping[str, list], has_menus: bool) -> html.Section:
    body: list[Any] = [_panel(view, has_menus) for view in VIEWS if view.section == section]
    if section in _BODIES:
        view, name = _BODIES[section]
        head = [view_menu(view, SECTIONS[section].lower())] if has_menus else []
        content = [html.Div(bodies.get(section), id=view, className="pending")]
        body = [panel(view, name, head, content, "published", is_stop=False)]
    return html.Section(
        [
            html.H2(SECTIONS[section]),
            html.Div(body, className=f"storage-panels across-{max(1, across(section))}"),
        ],
        id=IDS(f"section-{section}"),
        className="storage-section",
        **{"aria-label": SECTIONS[section]},
    )


def _panel(view: View, has_menus: bool) -> html.Section:
    wide = " wide" if view.name in WIDE else ""
    menu = [view_menu(view.graph, view.title)] if has_menus else []
    head = [tool_bar(view.graph, _TOOLS), *menu]
    body = [html.Div(id=view.graph, className="graph")]
    if view.kind == "subsystems":
        body.append(legend_of(view.graph))
    return panel(view.graph, view.title, head, body, f"storage-panel{wide}")
