"""The filters in the sidebar: one group of chips for each facet of the lake."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import dash_mantine_components as dmc
from dash import html

from app.kit import ids
from app.kit.lakes import LakeView, leading
from app.kit.words import WORKLOAD_TITLES
from data.analysis.facets import LEADING, Choice
from data.knobs import KNOBS
from data.selection import FACETS, UNSET, Selection, Value

# Returns the choices of each facet under the filters of a selection.
Offered = Callable[[LakeView, Selection], Mapping[str, Sequence[Choice]]]

_TITLES: Final = {
    "dataset": "Dataset",
    "workload": "Workload",
    "work": "Work",
    "load": "Load",
    "message": "Message size",
    "device": "Device",
    "rw": "Access",
    "request": "Request size",
    "depth": "IO depth",
    "threads": "Threads",
    "machine": "Machine",
    "system": "System",
    "mode": "Completion mode",
    "delay": "Hybrid delay, us",
    "engine": "IO engine",
    "scheduler": "IO scheduler",
    "fs": "File system",
    "itr": "Interrupt delay (ITR), us",
    "dvfs": "DVFS, GHz",
    "rapl": "Power limit (RAPL), W",
}
SINGLE: Final = frozenset({"workload"})


def facet_title(facet: str) -> str:
    """What a filter is called; that of a declared knob by its column."""
    return _TITLES[facet] if facet in _TITLES else KNOBS[facet].axis_title


def choice_label(facet: str, choice: Choice) -> str:
    """Return a chip's label; the unit is in the facet's title."""
    value = choice.value
    if facet == "system":
        return choice.label
    if isinstance(value, float) and facet in ("depth", "threads"):
        return f"{value:g}"
    label = KNOBS[facet].label(value)
    return WORKLOAD_TITLES.get(label, label) if facet == "workload" else label


def facet_chips(facet: str, choices: Sequence[Choice]) -> list[dmc.Chip]:
    """Return the chips of one facet; a value without runs under the other filters is faint."""
    null_word, title = FACETS[facet].null_word, facet_title(facet)
    return [
        dmc.Chip(
            choice_label(facet, choice),
            value=chip_value(choice.value),
            size="xs",
            radius="sm",
            variant="outline",
            className="chip-empty" if choice.runs == 0 else "",
            **{"aria-label": f"{title} {choice_label(facet, choice)}: {choice.runs} runs"},
        )
        for choice in choices
        if null_word != UNSET or choice.value != UNSET or len(choices) > 1
    ]


def chip_value(value: Value) -> str:
    """Convert a facet's value to its text in chips and URLs."""
    return value if isinstance(value, str) else f"{value:.12g}"


def facet_note(facet: str, choices: Sequence[Choice], chosen: Sequence[Value]) -> str:
    """Return how much a facet narrows: `2 of 12 · 340 runs`; empty without a choice."""
    if not chosen or facet in SINGLE:
        return ""
    runs = sum(c.runs for c in choices if c.value in chosen)
    return f"{len(chosen)} of {len(choices)} · {runs:,} runs"


def offered_choices(view: LakeView, selection: Selection) -> Mapping[str, Sequence[Choice]]:
    """Return the choices of every facet over all runs of the lake."""
    return view.counts_of(selection).choices(selection)


def idle_facets(view: LakeView, selection: Selection, offered: Offered) -> frozenset[str]:
    """Return the facets with nothing to choose, which are hidden: one value or none in the study.

    A facet stays while other filters than the leading ones leave one value.
    """
    in_study = view.once(offered, leading(selection))
    return frozenset(
        name
        for name, choices in in_study.items()
        if name not in LEADING and len(choices) < 2 and not selection.values(name)
    )


def filter_blocks(
    view: LakeView, selection: Selection, offered: Offered, names: ids.PageIds
) -> list[html.Div]:
    """Lay out all facets of a page."""
    idle = idle_facets(view, selection, offered)
    return [
        _filter_block(name, choices, selection.values(name), names, name in idle)
        for name, choices in offered(view, selection).items()
    ]


def _filter_block(
    facet: str,
    choices: Sequence[Choice],
    chosen: Sequence[Value],
    names: ids.PageIds,
    is_idle: bool,
) -> html.Div:
    single = facet in SINGLE
    value: str | list[str] | None = [chip_value(v) for v in chosen]
    if single:
        value = value[0] if value else None
    title = html.Span(facet_title(facet), className="facet-title")
    words = facet_note(facet, choices, chosen)
    note = html.Span(words, id=names.facet_count(facet), className="facet-count")
    clear = [] if single else [_clear_button(facet, names)]
    head = html.Div([title, note, *clear], className="facet-head")
    chips = facet_chips(facet, choices)
    group = dmc.ChipGroup(chips, id=names.facet(facet), value=value, multiple=not single)
    return html.Div(
        [head, html.Div(group, className="facet-chips", role="group")],
        id=names.facet_frame(facet),
        className="facet",
        hidden=is_idle,
        **{"data-facet": facet},
    )


def _clear_button(facet: str, names: ids.PageIds) -> html.Button:
    return html.Button(
        "clear",
        className="facet-clear",
        title=f"Clear the filter on {facet_title(facet)}",
        **{
            "data-clear-facet": json.dumps(names.facet(facet)),
            "aria-label": f"Clear {facet_title(facet)}",
        },
    )
