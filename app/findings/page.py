"""Findings: what the lake proves, which knobs matter, what to run next, the order of runs."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from dash import ClientsideFunction, Input, Output, clientside_callback, html

from app.findings.answer import default_state, effect_of, opened, shares_of
from app.findings.figures.knobs import build_effect, build_knobs
from app.findings.layout import (
    IDS,
    PICTURES,
    across_entries,
    drawn_store,
    findings_layout,
    html_store,
    knob_choices,
    metric_choices,
    pending_bodies,
    sections,
    sweep_choices,
)
from app.findings.layout_claims import (
    claims_block,
    claims_status,
    open_questions,
    published_block,
)
from app.findings.layout_runs import next_block, order_block
from app.findings.routes import add_routes
from app.findings.state import FindingsState
from app.findings.tables import explain, recomputed, rows_behind
from app.kit import ids as kit_ids
from app.kit.callbacks import control_properties, register_answer, register_filters, register_gather
from app.kit.columns import compact_figure
from app.kit.encodings import message_figure
from app.kit.export import ExportedPage, how_computed, render
from app.kit.filters import offered_choices
from app.kit.lake_view import LakeView
from app.kit.page import Page, View
from data.object_store import delta_table

# The rows that the pictures' items are of: none, for nothing selects them.
_NO_COLUMNS: Final = {"count": 1, "knobs": {}, "fields": {}}


def knobs_figure(view: LakeView, state: FindingsState) -> dict[str, Any]:
    """Draw the shares of knobs of the first sweeps that the filters leave."""
    by_sweep = shares_of(view, state) if view.runs else []
    if not by_sweep:
        return message_figure(
            "No sweep is left: shares need three settings and a knob that varies."
        )
    catalogue = view.catalogue
    titles = {
        one.metric: catalogue.metric(one.metric).title for _, all_ in by_sweep for one in all_
    }
    targets = {knob.noun: column for column, knob in catalogue.knob_of_column.items()}
    rows = [(sweep.key, sweep.words, shares) for sweep, shares in by_sweep]
    return build_knobs(rows, titles, targets)


def effect_figure(view: LakeView, state: FindingsState) -> dict[str, Any]:
    """Draw the effect of the state's knob."""
    effect = effect_of(view, state) if view.runs else None
    if effect is None:
        return message_figure("No sweep is left whose knobs have an effect to show.")
    knobs = view.catalogue.knob_of_column
    return build_effect(
        effect.levels, knobs[effect.knob], knobs[effect.across] if effect.across else None,
        view.catalogue.metric(effect.sweep.choice.objective), effect.sweep.words,
    )  # fmt: skip


def export(view: LakeView, state: FindingsState) -> ExportedPage:
    """Build the page as a report: a date, the lake's version, and what stayed open at the end."""
    bodies = {
        "claims": claims_block(view, state, has_links=False),
        "published": published_block(view),
        "next": next_block(view, state),
        "order": order_block(view, state, has_links=False),
    }
    when = _committed(view)
    head = f"{view.words}{when}. Filters: {state.selection.in_words()}."
    head += f" {claims_status(view, state)}."
    opened = [html.Li(sentence) for sentence in open_questions(view, state)]
    main = html.Main(
        [
            html.H2("Findings", className="head"),
            html.P(head, className="quiet export-words"),
            html.Div(sections({name: [html.Div(body)] for name, body in bodies.items()}),
                     className="views"),
            html.Section([html.H2("Questions that stayed open"), html.Ol(opened)],
                         className="panel findings-section findings-open"),
            how_computed("\n\n".join(explain(view, state, name) for name in ("claims", "order"))),
        ],
        className="findings findings-export",
    )  # fmt: skip
    figures = {
        "knobs": compact_figure(knobs_figure(view, state)),
        "effect": compact_figure(effect_figure(view, state)),
    }
    return ExportedPage(
        "Findings", render(main), {"figures": figures, "columns": _NO_COLUMNS}, view.is_synthetic
    )


def _committed(view: LakeView) -> str:
    """Return the day of the version's commit: the same lake gives the same report."""
    table = delta_table(view.lake.path / "runs", view.version) if view.runs else None
    when_ms = table.history(1)[0].get("timestamp") if table else None
    if when_ms is None:
        return ""
    return f" of {datetime.fromtimestamp(when_ms / 1000, UTC).date().isoformat()}"


def opening(view: LakeView, state: FindingsState) -> dict[str, Any]:
    """Return all sections as HTML, of which only the claims are there at once."""
    body = html.Div(claims_block(view, state), className="findings-body")
    return {"html": render(sections({**pending_bodies(), "claims": [body]}))}


PAGE = Page(
    name=IDS.page,
    title="Findings",
    path="/findings",
    state=FindingsState,
    default_state=default_state,
    layout=findings_layout,
    views=(
        View("claims", "Claims of this lake", is_picture=False),
        View("published", "Claims of the papers", is_picture=False),
        View("knobs", "Shares of knobs"),
        View("effect", "Effect of a knob"),
        View("next", "Next runs", is_picture=False),
        View("order", "Order of runs", is_picture=False),
    ),
    rows=rows_behind,
    explain=explain,
    recomputed=recomputed,
    export=export,
    opening=opening,
    missing=None,
    keys=(
        ("click", "on a claim: select its setting; on a knob's bar: open its effect"),
        ("Escape", "clear the selection"),
    ),
    open_link=lambda view, state: (opened(view, state), ""),
    add_routes=add_routes,
)


def _register_block(
    name: str, make: Callable[[LakeView, FindingsState], Any], asks: Sequence[str] = ()
) -> Callable[..., Any]:
    """Register the callback that writes a block's HTML, and the one that puts it into the page."""
    store = html_store(name)
    clientside_callback(ClientsideFunction("wattlas", "writeHtml"), Input(store, "data"))
    return register_answer(
        IDS,
        FindingsState,
        Output(store, "data"),
        lambda view, state: render(make(view, state)),
        asks,
    )


update_claims = _register_block("claims", claims_block)
update_published = _register_block("published", lambda view, _: published_block(view))
update_next = _register_block("next", next_block, ("metric", "sweep", "budget", "minutes", "since"))
update_order = _register_block("order", order_block, ("adjust",))
update_status = register_answer(IDS, FindingsState, Output(IDS.status, "children"), claims_status)


def _knobs(view: LakeView, state: FindingsState) -> tuple:
    """Draw the shares of knobs, and list the sweeps."""
    figure = compact_figure(knobs_figure(view, state))
    return {"figure": figure, "columns": _NO_COLUMNS}, sweep_choices(view, state)


def _effect(view: LakeView, state: FindingsState) -> tuple:
    """Draw the effect of the chosen knob, and list the knobs of the sweep."""
    figure = compact_figure(effect_figure(view, state))
    return {"figure": figure}, knob_choices(view, state), across_entries(view, state)


update_knobs = register_answer(
    IDS,
    FindingsState,
    [Output(IDS.figure("knobs"), "data"), Output(IDS.control("sweep"), "data")],
    _knobs,
    ("metric",),
)
update_effect = register_answer(
    IDS,
    FindingsState,
    [
        Output(IDS.figure("effect"), "data"),
        Output(IDS.control("knob"), "data"),
        Output(IDS.control("across"), "data"),
    ],
    _effect,
    ("metric", "sweep", "knob", "across"),
)
update_filters = register_filters(IDS, FindingsState, offered_choices, {"metric": metric_choices})
register_gather(IDS, control_properties(FindingsState))
for _picture in PICTURES:
    clientside_callback(
        ClientsideFunction("wattlasFindings", "draw"),
        Output(drawn_store(_picture), "data"),
        Input(IDS.figure(_picture), "data"),
        Input(kit_ids.THEME, "data"),
    )
