"""The sections of Storage, on the page and in its export: a panel a view, published values."""

from typing import Any

from dash import html

from app.kit.panel import view_menu
from app.storage import ids as names
from app.storage.views import PREFIX, PUBLISHED, SECTIONS, VIEWS, WIDE, View, across


def section_menu() -> html.Nav:
    """The sections to go to."""
    return html.Nav(
        [
            html.Button(title, className="section-tab", **{"data-section": name})
            for name, title in SECTIONS.items()
        ],
        className="section-menu",
        **{"aria-label": "sections"},
    )


def mode_legend() -> html.Div:
    """Where the browser writes who is who among the completion modes."""
    return html.Div(
        id="storage-legend",
        className="storage-legend",
        role="group",
        **{"aria-label": "completion modes"},
    )


def storage_sections(published: list | None, has_menus: bool) -> list[html.Section]:
    """All sections.

    Args:
        published: What stands under published values; None where a callback brings it.
        has_menus: Whether views have their small menus, which need a server.
    """
    return [_section(name, published, has_menus) for name in SECTIONS]


def _section(section: str, published: list | None, has_menus: bool) -> html.Section:
    body: list[Any] = [_panel(view, has_menus) for view in VIEWS if view.section == section]
    if section == PUBLISHED:
        body = [_published_panel(published, has_menus)]
    return html.Section(
        [
            html.H2(SECTIONS[section]),
            html.Div(body, className=f"storage-panels across-{max(1, across(section))}"),
        ],
        id=PREFIX + "section-" + section,
        className="storage-section",
        **{"aria-label": SECTIONS[section]},
    )


def _published_panel(published: list | None, has_menus: bool) -> html.Section:
    return html.Section(
        [
            *_head(names.PUBLISHED, "published values", has_menus),
            html.Div(published, id=names.PUBLISHED),
        ],
        className="panel published",
        **{"aria-label": "published values beside those measured", "data-view": names.PUBLISHED},
    )


def _panel(view: View, has_menus: bool) -> html.Section:
    """A panel whose picture the browser draws; its menu lies over the picture's corner."""
    wide = " wide" if view.name in WIDE else ""
    return html.Section(
        [*_head(view.graph, view.title, has_menus), html.Div(id=view.graph, className="graph")],
        className=f"panel storage-panel{wide}",
        tabIndex=0,
        **{"aria-label": view.title, "data-view": view.graph},
    )


def _head(view: str, name: str, has_menus: bool) -> list[html.Div]:
    return [html.Div(view_menu(view, name), className="panel-head")] if has_menus else []
