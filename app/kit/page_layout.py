"""What the layouts of all pages share: stores, main element, sidebar, panels, status line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dash import dcc, html
from dash.development.base_component import Component

from app.kit import ids
from app.kit.lake_view import LakeView
from app.kit.url_state import UrlState

# Tools of a picture (`assets/_kit/tools.js`).
ZOOM_TOOLS: Final = ("zoom", "pan", "in", "out", "fit", "reset")
ALL_TOOLS: Final = ("zoom", "pan", "select", "lasso", "in", "out", "fit", "reset")
_TOOL_PX: Final = 24


def browser_state(page: str, view: LakeView, state: Any) -> dict[str, Any]:
    """Return the data that the browser needs to hold a page's state and write its URL.

    Returns:
        `page`; `kept` (URL keys whose values only the browser holds); `carried` (what the page
        hands on and cannot use, lists by URL key); `lake` (the version that the link pins, or
        null); `shown` (the version on the page); and the entries of `UrlState.spec`.
    """
    carried = {key: [text for k, text in state.carried if k == key] for key, _ in state.carried}
    return {
        "page": page, "kept": kept_values(state), "carried": carried, "lake": state.lake_version,
        "shown": view.version, **state.spec(view.catalogue),
    }  # fmt: skip


def kept_values(state: Any) -> dict[str, Any]:
    """Return the values that only the browser holds, by URL key; tuples as lists."""
    kept = {key: p for key, p in state.parameters().items() if p.is_kept}
    values = {key: getattr(state, p.attribute) for key, p in kept.items()}
    return {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}


def state_stores(
    page: str,
    view: LakeView,
    state: Any,
    empty: Sequence[str] = (),
    more: Mapping[str, Any] | None = None,
) -> list[Component]:
    """Return the stores that every page has, plus empty ones with the ids in `empty`.

    Args:
        more: Further data for the browser, beside `browser_state`.
    """
    names = ids.PageIds(page)
    return [
        dcc.Store(id=names.lake_version, data=view.version),
        dcc.Store(id=names.browser, data={**browser_state(page, view, state), **(more or {})}),
        *[dcc.Store(id=name) for name in (names.view_state, names.changed, names.offered, *empty)],
    ]


def page_layout(
    page: str,
    stores: Sequence[Component],
    notice: str,
    sidebar: Component,
    views: Sequence[Component],
    *last: Component,
) -> html.Main:
    """Lay out a page's main element; `last` are the status line and dialogs.

    A page with filters has a row that says which are set (`assets/_kit/page_filters.js`).
    """
    has_filters = any(hasattr(part, "data-facet") for part in sidebar._traverse())
    filtered = [html.Div(className="filtered", role="group", **{"aria-label": "filtered by"})]
    return html.Main(
        [
            *stores,
            html.Div(
                [
                    html.Div(notice, id=ids.NOTICE, className="notice", role="alert"),
                    html.Div(id=ids.PageIds(page).order_note, className="notice", role="status"),
                    *(filtered if has_filters else []),
                ],
                className="notices",
            ),
            sidebar,
            html.Div(views, className="views", id="views"),
            *last,
        ],
        className=f"page {page}",
    )


def link_to(names: ids.PageIds, page: str, title: str = "") -> dcc.Link:
    """Lay out the status line's link to another page; the browser sets its address."""
    link_id = names.link(page)
    return dcc.Link(f"in {page.title()}", href="", id=link_id, className="plain", title=title)


def status_line(
    names: ids.PageIds,
    *links: Component,
    components: Sequence[Component] = (),
    has_data: bool = True,
) -> html.Footer:
    """Lay out the status line.

    Args:
        links: Links to other pages, from `link_to`.
        components: What is at its left; empty for the counts and the selection.
        has_data: Whether it links to the page's rows.
    """
    parts = ("export", "data") if has_data else ("export",)
    return html.Footer(
        [
            *(components or [html.Span(id=names.status), html.Span(id="status-selection")]),
            html.Span(id=ids.IGNORED, className="quiet"),
            html.Span(className="spring"),
            *links,
            html.Button("copy link", className="plain", **{"data-action": "copy-link"}),
            *[html.A(part, id=names.link(part), className="plain") for part in parts],
        ],
        className="status",
    )


def filter_sidebar(
    blocks: Sequence[Component], title: str = "Filters", name: str = "filters"
) -> html.Aside:
    """Lay out a page's filters in the sidebar, with the button that folds it."""
    fold = html.Button(
        "\N{LEFTWARDS ARROW}",
        id="sidebar-button",
        className="plain",
        title="fold the sidebar",
        **{"aria-expanded": "true"},
    )
    words = html.Span(title, className="sidebar-title")
    head = html.Div([words, fold], className="sidebar-head")
    return html.Aside([head, *blocks], className="sidebar", id="sidebar", **{"aria-label": name})


def sidebar_block(title: str, *parts: Component, class_name: str = "facet") -> html.Div:
    """Lay out controls under a title."""
    head = html.Div(html.Span(title, className="facet-title"), className="facet-head")
    return html.Div([head, *parts], className=class_name)


@dataclass(frozen=True, slots=True)
class Preset:
    """A named state of a page.

    Attributes:
        title: Text of the link.
        hint: Text of the tooltip.
    """

    title: str
    hint: str
    state: UrlState


def preset_block(presets: Sequence[Preset], title: str = "Presets") -> list[html.Div]:
    """Lay out the links of a page's presets for the sidebar; empty without presets."""
    if not presets:
        return []
    links = [
        # A query alone keeps the path, also under a prefix.
        html.A(one.title, href=f"?{one.state.to_query()}", title=one.hint, className="preset")
        for one in presets
    ]
    chips = html.Div(links, className="facet-chips")
    return [sidebar_block(title, chips, class_name="facet presets")]


def view_panel(
    view: str,
    name: str,
    controls: Sequence,
    class_name: str,
    tools: Sequence[str] = ALL_TOOLS,
    has_menu: bool = True,
) -> html.Section:
    """Lay out a panel around a picture that `assets/_kit/view.js` draws.

    Args:
        has_menu: False in an exported page, which has no server to ask.
    """
    body = [html.Div(id=view, className="graph"), legend_of(view)]
    bar = [tool_bar(view, tools)] if tools else []
    menu = [view_menu(view)] if has_menu else []
    return panel(view, name, [*controls, *bar, *menu], body, class_name)


def tool_bar(graph_id: str, tools: Sequence[str]) -> html.Div:
    """Lay out the tool bar of a figure, which the browser fills when the figure is drawn."""
    data = {"data-tools-of": graph_id, "data-tools": " ".join(tools), "aria-label": "tools"}
    # One more presents the picture.
    style = {"minWidth": f"{_TOOL_PX * (len(tools) + 1)}px"}
    return html.Div(className="tools", role="toolbar", style=style, **data)


def legend_of(graph_id: str) -> html.Div:
    """Lay out the legend of a figure, which the browser fills."""
    data = {"data-legend-of": graph_id, "aria-label": "legend"}
    return html.Div(className="legend", role="group", **data)


def panel(
    view: str,
    name: str,
    head: Sequence[Component],
    body: Sequence[Component],
    class_name: str,
    is_stop: bool = True,
) -> html.Section:
    """Lay out a panel.

    Args:
        view: Id of its figure or table; empty for a panel without a menu.
        name: Name for screen readers.
        head: Components of its header; empty for a panel without one.
        is_stop: Whether the Tab key stops at the panel.
    """
    header = [html.Div(head, className="panel-head")] if head else []
    properties: dict[str, Any] = {"aria-label": name}
    properties |= {"data-view": view} if view else {}
    properties |= {"tabIndex": 0} if is_stop else {}
    return html.Section([*header, *body], className=f"panel {class_name}", **properties)


def view_menu(view: str, name: str = "this view", has_rows: bool = True) -> html.Button:
    """Lay out the button of a view's menu, which `assets/_kit/page_menu.js` opens.

    Args:
        name: Name of the view for screen readers.
        has_rows: Whether the server has the rows behind it, and says how they were computed.
    """
    properties = {"data-menu-of": view, "aria-haspopup": "menu", "aria-expanded": "false"}
    properties |= {} if has_rows else {"data-has-rows": "no"}
    label = f"menu of {name}"
    return html.Button(
        "\N{VERTICAL ELLIPSIS}", className="tool", **{"aria-label": label, **properties}
    )
