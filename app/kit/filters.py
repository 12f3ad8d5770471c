"""The filters in the sidebar: one group of chips for each facet of the lake."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import dash_mantine_components as dmc
from dash import html

from app.kit import ids
from app.kit.lake_view import LakeView, leading
from data.analysis.facet_counts import LEADING, Choice
from data.knob_table import UNSET
from data.knobs import Knob
from data.selection import Selection, Value
from data.units import counted

# Returns the choices of each facet under the filters of a selection.
Offered = Callable[[LakeView, Selection], Mapping[str, Sequence[Choice]]]

SINGLE: Final = frozenset({"workload"})


def chip_words(knob: Knob, choices: Sequence[Choice]) -> list[tuple[str, str, str, bool]]:
    """Return of each chip of a facet its value, label, name for screen readers, and if it is faint.

    A value without runs under the other filters is faint. The unit is in the facet's title.
    """
    null_word, title = knob.facet.null_word, knob.filter_title or knob.axis_title
    shown = [c for c in choices if null_word != UNSET or c.value != UNSET or len(choices) > 1]
    # Written here: there are hundreds of chips.
    return [
        (
            text,
            label,
            f"{title} {label}: {choice.runs:,} run{'s' * (choice.runs != 1)}",
            choice.runs == 0,
        )
        for choice in shown
        for text in [choice.value if isinstance(choice.value, str) else f"{choice.value:.12g}"]
        for label in [choice.label if knob.name == "system" else knob.label(choice.value)]
    ]


def offered_filters(view: LakeView, selection: Selection, offered: Offered) -> dict[str, Any]:
    """Return what the filters show; the browser sets what differs (`assets/_kit/page_filters.js`).

    Returns:
        By facet `chips` (as of `chip_words`), `note` (of `facet_note`) and `isIdle`.
    """
    idle, knobs = idle_facets(view, selection, offered), view.catalogue.knobs
    chosen = {clause.facet.name: clause.values for clause in selection.clauses}
    return {
        name: {
            "chips": chip_words(knobs[name], choices),
            "note": facet_note(name, choices, chosen[name]) if name in chosen else "",
            "isIdle": name in idle,
        }
        for name, choices in offered(view, selection).items()
    }


def chip_values(values: Sequence[Value]) -> list[str]:
    """Convert values of a facet to their texts in chips and URLs."""
    return [value if isinstance(value, str) else f"{value:.12g}" for value in values]


def facet_note(facet: str, choices: Sequence[Choice], chosen: Sequence[Value]) -> str:
    """Return how much a facet narrows: `2 of 12 · 340 runs`; empty without a choice."""
    if not chosen or facet in SINGLE:
        return ""
    runs = sum(c.runs for c in choices if c.value in chosen)
    return f"{len(chosen)} of {len(choices)} · {counted(runs, 'run')}"


def offered_choices(view: LakeView, selection: Selection) -> Mapping[str, Sequence[Choice]]:
    """Return the choices of every facet over all runs of the lake."""
    return view.counts_of(selection).choices(selection)


def idle_facets(view: LakeView, selection: Selection, offered: Offered) -> frozenset[str]:
    """Return the facets with nothing to choose, which are hidden: one value or none in the study.

    A facet stays while other filters than the leading ones leave one value.
    """
    in_study = view.once(offered, leading(selection))
    stay = {*LEADING, *(clause.facet.name for clause in selection.clauses)}
    return frozenset(
        name for name, choices in in_study.items() if name not in stay and len(choices) < 2
    )


def filter_blocks(
    view: LakeView, selection: Selection, offered: Offered, names: ids.PageIds
) -> list[html.Div]:
    """Lay out all facets of a page."""
    idle, knobs = idle_facets(view, selection, offered), view.catalogue.knobs
    return [
        _filter_block(knobs[name], choices, selection.values(name), names, name in idle)
        for name, choices in offered(view, selection).items()
    ]


def _filter_block(
    knob: Knob,
    choices: Sequence[Choice],
    chosen: Sequence[Value],
    names: ids.PageIds,
    is_idle: bool,
) -> html.Div:
    facet, title = knob.name, knob.filter_title or knob.axis_title
    # A link may name several workloads, of which each has a panel.
    single = facet in SINGLE and len(chosen) < 2
    value: str | list[str] | None = chip_values(chosen)
    if single:
        value = value[0] if value else None
    note_text = facet_note(facet, choices, chosen)
    note = html.Span(note_text, id=names.facet_count(facet), className="facet-count")
    clear = [] if single else [_clear_button(facet, title, names)]
    head = html.Div(
        [html.Span(title, className="facet-title"), note, *clear], className="facet-head"
    )
    chips = [
        dmc.Chip(
            label,
            value=text,
            className="chip-empty" if is_empty else "",
            # One stop of the Tab key; arrows go on from there (`assets/_kit/tools.js`).
            tabIndex=-1 if at else 0,
            **{"aria-label": name},
        )
        for at, (text, label, name, is_empty) in enumerate(chip_words(knob, choices))
    ]
    group = dmc.ChipGroup(chips, id=names.facet(facet), value=value, multiple=not single)
    return html.Div(
        [head, html.Div(group, className="facet-chips", role="group", **{"aria-label": title})],
        id=names.facet_frame(facet),
        className="facet",
        hidden=is_idle,
        **{"data-facet": facet, "data-part": names.facet(facet)["part"]},
    )


def _clear_button(facet: str, title: str, names: ids.PageIds) -> html.Button:
    return html.Button(
        "clear",
        className="facet-clear",
        title=f"Clear the filter on {title}",
        **{
            "data-clear-facet": json.dumps(names.facet(facet)),
            "aria-label": f"Clear {title}",
        },
    )
