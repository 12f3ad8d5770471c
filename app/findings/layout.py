"""The layout of Findings: filters, then one document of claims, knobs, next runs and order."""

from collections.abc import Mapping
from typing import Final

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from app.findings.answer import effect_of, sweeps
from app.findings.figures.knobs import across_choices
from app.findings.state import MOST_BUDGET, FindingsState
from app.kit import ids
from app.kit.controls import Entries, entries, select
from app.kit.filters import filter_blocks, offered_choices
from app.kit.lake_view import LakeView
from app.kit.page_layout import (
    filter_sidebar,
    link_to,
    page_layout,
    panel,
    sidebar_block,
    state_stores,
    status_line,
    view_menu,
    view_panel,
)
from data.claim_scope import LIMIT, is_near_limit
from data.selection import Selection

IDS: Final = ids.PageIds("findings")
PICTURES: Final = ("knobs", "effect")
# Blocks that the server writes as HTML, by the view that they are.
BLOCKS: Final = ("claims", "published", "next", "order")
SECTIONS: Final = {
    "claims": "Claims of this lake", "published": "Claims of the papers", "knobs": "Knobs",
    "next": "Next runs", "order": "Order of runs",
}  # fmt: skip


def html_store(block: str) -> str:
    """Return the id of the store of a block's HTML, which the browser writes into the block."""
    return IDS(f"{block}-html")


def drawn_store(picture: str) -> str:
    """Return the id of the store that ties the drawing of a picture to the page: it stays empty."""
    return IDS(f"drawn-{picture}")


def findings_layout(view: LakeView, state: FindingsState, notice: str) -> html.Main:
    """Lay Findings out for a state; callbacks deliver its blocks and figures."""
    stores = state_stores(
        IDS.page,
        view,
        state,
        (*map(IDS.figure, PICTURES), *map(drawn_store, PICTURES), *map(html_store, BLOCKS)),
    )
    title = "the runs under these filters"
    filters = filter_blocks(view, state.selection, offered_choices, IDS)
    return page_layout(
        IDS.page,
        stores,
        notice,
        filter_sidebar([_claims_rules(view, state), *filters]),
        sections(pending_bodies(), _controls(view, state)),
        status_line(IDS, link_to(IDS, "explore", title)),
    )


def pending_bodies() -> dict[str, list[Component]]:
    """Lay out the blocks, which the browser fills."""
    return {name: [html.Div(id=IDS(name), className="findings-body pending")] for name in BLOCKS}


def sections(
    bodies: Mapping[str, list], controls: Mapping[str, list[Component]] | None = None
) -> list[Component]:
    """Lay out the sections of the document.

    Args:
        bodies: Of the blocks, by name.
        controls: Of the sections, by name; None for an export, which has none, nor menus.
    """
    has_menus = controls is not None
    parts: list[Component] = []
    for name, title in SECTIONS.items():
        head: list[Component] = [html.H2(title), *(controls or {}).get(name, [])]
        if name == "knobs":
            knobs = view_panel("knobs", title, head, "panel-knobs", (), has_menus)
            own = [html.H2("Effect of a knob"), *(controls or {}).get("effect", [])]
            effect = view_panel("effect", "effect of a knob", own, "panel-effect", (), has_menus)
            parts.append(html.Div([knobs, effect], className="findings-knobs"))
            continue
        menu = [view_menu(name, title)] if has_menus else []
        parts.append(
            panel(name, title, [*head, *menu], bodies[name], f"findings-section panel-{name}")
        )
    return parts


def _claims_rules(view: LakeView, state: FindingsState) -> html.Div:
    limited = view.catalogue.metric(state.bound[0])
    limit: list[Component] = [dcc.Input(id=IDS.control("limit"), value=state.limit, type="hidden")]
    # A lake without such a metric has nothing to limit, nor has one whose metrics are a guess, or
    # all far from the limit.
    is_declared = not view.lake.guessed.issuperset(view.outline["dataset"].unique())
    known = view.ranges(Selection())[limited.name]
    is_near = state.bound != LIMIT or is_near_limit(known.low, known.high)
    if is_declared and known.runs and is_near:
        limit = [
            html.Span(f"{limited.title}: at most", className="quiet"),
            dmc.NumberInput(
                id=IDS.control("limit"), value=state.limit, min=0, w=104,
                decimalScale=6, clampBehavior="blur", debounce=400,
                suffix=f" {limited.unit}", **{"aria-label": "limit", "data-metric": limited.title},
            ),
        ]  # fmt: skip
    odd = dmc.Switch(id=IDS.control("odd"), label="without odd runs", checked=state.without_odd)
    # The limited metric comes with a link; the page has no menu of it, but judges by it.
    by = dcc.Input(id=IDS.control("by"), value=state.limited, type="hidden")
    return sidebar_block("Limit and exclusions", *limit, by, odd)


def _controls(view: LakeView, state: FindingsState) -> dict[str, list[Component]]:
    effect = effect_of(view, state) if view.runs else None
    knob, across = (effect.knob, effect.across) if effect else ("", "")
    budget = dmc.NumberInput(
        id=IDS.control("budget"), value=state.budget or "", min=1, max=MOST_BUDGET, w=92,
        placeholder="runs", allowDecimal=False, clampBehavior="blur", debounce=400,
        **{"aria-label": "budget, runs"},
    )  # fmt: skip
    minutes = dmc.NumberInput(
        id=IDS.control("minutes"), value=state.minutes or "", min=0, w=92,
        placeholder="minutes", clampBehavior="blur", debounce=400,
        **{"aria-label": "budget, minutes"},
    )  # fmt: skip
    since = dmc.NumberInput(
        id=IDS.control("since"), value="" if state.since is None else state.since, min=0,
        w=112, placeholder="list of version", allowDecimal=False, debounce=400,
        **{"aria-label": "version that the list was made from"},
    )  # fmt: skip
    sweeps = sweep_choices(view, state)
    offered = [entry["value"] for entry in sweeps]
    sweep = state.sweep if state.sweep in offered else next(iter(offered), None)
    run_list = html.A("run list as CSV", id=IDS.link("list"), className="plain")
    return {
        "knobs": [_select("metric", "metric", metric_choices(view, state), state.metric, 180)],
        "effect": [
            _select("knob", "knob", knob_choices(view, state), knob or None, 120),
            _select("across", "colour", across_entries(view, state), across, 120),
        ],
        "next": [
            _select("sweep", "sweep", sweeps, sweep, 300),
            budget, minutes, since, run_list,
        ],
        "order": [
            dmc.Switch(
                id=IDS.control("adjust"), label="means adjusted for blocks",
                checked=state.adjusted,
            )
        ],
    }  # fmt: skip


def _select(key: str, label: str, data: Entries, value: str | None, width: int) -> dmc.Select:
    return select(IDS.control(key), label, data, value, width, max(width, 220), searchable=True)


def sweep_choices(view: LakeView, state: FindingsState) -> Entries:
    """List the sweeps that the filters leave."""
    if not view.runs:
        return []
    return entries({sweep.key: sweep.words for sweep in sweeps(view, state)})


def metric_choices(view: LakeView, state: FindingsState) -> Entries:
    """List the metrics that have a better direction and values."""
    measured = view.measured_columns(state.selection) if view.runs else ()
    names = [n for n in measured if view.catalogue.metric(n).better] or [state.metric]
    names += [] if state.metric in names else [state.metric]
    return entries({name: view.catalogue.metric(name).title for name in names})


def knob_choices(view: LakeView, state: FindingsState) -> Entries:
    """List the knobs of the shown sweep, those with large shares first."""
    effect = effect_of(view, state) if view.runs else None
    knobs = view.catalogue.knob_of_column
    return entries({column: knobs[column].noun for column in (effect.knobs if effect else ())})


def across_entries(view: LakeView, state: FindingsState) -> Entries:
    """List the knobs that may colour the lines."""
    effect = effect_of(view, state) if view.runs else None
    if effect is None:
        return entries({"": "one line"})
    return entries(across_choices(effect.knobs, effect.knob, view.catalogue))
