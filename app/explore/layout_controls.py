"""The controls of Explore's views: one row for each URL key, and what its menu lists."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from app.explore.question import Question
from app.explore.state import MOST_METRICS, ExploreState
from app.kit.controls import Entries, entries, pool_choices, pool_select, segments, select
from app.kit.ids import PageIds
from app.kit.lake_view import LakeView, leading
from app.kit.metric_choice import is_performance, performance_column
from app.kit.panels import NONE, split_titles
from data.declared import PERFORMANCE
from data.selection import Selection

IDS: Final = PageIds("explore")
Choices = Callable[[LakeView, ExploreState], Entries]


@dataclass(frozen=True, slots=True)
class Menu:
    """A menu of which one entry is chosen.

    Attributes:
        label: Name for screen readers.
        word: Text before it; empty for none.
        placeholder: Text where none is chosen.
    """

    label: str
    choices: Choices
    width_px: int = 158
    word: str = ""
    placeholder: str = ""

    def laid_out(self, key: str, listed: Entries, value: Any) -> Component:
        """Lay out the control."""
        more = {"placeholder": self.placeholder} if self.placeholder else {}
        return select(IDS.control(key), self.label, listed, value or None, self.width_px, 230,
                      searchable=True, **more)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Several:
    """A menu of which any entries are chosen; `placeholder` is its text where none is."""

    label: str
    choices: Choices
    placeholder: str
    word: str = ""

    def laid_out(self, key: str, listed: Entries, value: Any) -> Component:
        """Lay out the control."""
        return pool_select(IDS.control(key), listed, value, self.placeholder, self.label)


@dataclass(frozen=True, slots=True)
class Stack:
    """A menu of which one entry to MOST_METRICS entries are chosen."""

    label: str
    choices: Choices
    width_px: int
    word: str = ""

    def laid_out(self, key: str, listed: Entries, value: Any) -> Component:
        """Lay out the control."""
        return dmc.MultiSelect(
            id=IDS.control(key), data=listed, value=list(value), maxValues=MOST_METRICS,
            miw=self.width_px, searchable=True, **{"aria-label": self.label},
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Segments:
    """A few values side by side, of which one is chosen."""

    label: str
    titles: Mapping[str, str]
    word: str = ""
    choices: None = None

    def laid_out(self, key: str, listed: Entries, value: Any) -> Component:
        """Lay out the control."""
        del listed
        return segments(IDS.control(key), self.label, value, self.titles)


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch with its label beside it."""

    label: str
    word: str = ""
    choices: None = None

    def laid_out(self, key: str, listed: Entries, value: Any) -> Component:
        """Lay out the control."""
        del listed
        return dmc.Switch(id=IDS.control(key), label=self.label, checked=value)


def column_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the workload's columns with values; its performance metric comes first."""
    workloads = state.selection.values("workload")
    columns = view.measured_columns(state.selection) if workloads else ("energy_j",)
    metrics = view.catalogue.metrics
    performance = performance_column(view, state.selection)
    own = " (performance)" if is_performance(view, state.selection, performance) else ""
    listed = {PERFORMANCE: f"{metrics[performance].title}{own}"}
    listed |= {name: metrics[name].title for name in columns}
    for name in (state.x, state.y, state.heat_metric, state.cost, state.limited, *state.lines_y):
        listed.setdefault(name, metrics[name].title if name != PERFORMANCE else name)
    return entries(listed)


def system_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the systems that match the filters, by their labels."""
    return view.once(_systems, state.selection)


def _systems(view: LakeView, selection: Selection) -> Entries:
    left = view.part_left(selection)
    systems, labels = left.codes("system"), left.codes("system_label")
    first = left.numbered(["system"])[0]
    pairs = zip(systems.codes[first].tolist(), labels.codes[first].tolist(), strict=True)
    named = {systems.values[system]: labels.values[label] for system, label in pairs}
    return entries({name: named[name] or name for name in sorted(filter(None, named))})


def against_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the systems of the workloads, whatever the other filters, to compare with."""
    everyone = Selection(leading(state.selection).clauses)
    return system_choices(view, replace(state, selection=everyone))


def knob_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the knobs that vary in the lake, and those that are shown."""
    shown = (
        state.colour, state.size, state.symbol, state.heat_x, state.heat_y,
        state.lines_x, state.lines_by, state.lines_style, state.split,
    )  # fmt: skip
    varying = view.varying(state.selection if view.is_large else Selection())
    listed = {
        n: k.menu_title
        for n, k in view.catalogue.knobs.items()
        if n in shown or k.column in varying
    }
    return entries(listed)


def heat_pool_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the settings that the heatmap may pool."""
    shown = Question.of(view, state).heat_knobs
    left = view.part_left(state.selection)
    return pool_choices(left, shown, state.pool, catalogue=view.catalogue)


def merge_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the knobs that a reader may call without effect: those that settings differ in."""
    left = view.part_left(state.selection)
    return pool_choices(left, (), state.merged, catalogue=view.catalogue)


def role_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the knobs that a colour or a symbol can show, and none."""
    return [{"value": NONE, "label": "none"}, *knob_choices(view, state)]


def split_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the knobs of which each value can have a panel."""
    return entries(split_titles({one["value"]: one["label"] for one in knob_choices(view, state)}))


def size_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the knobs of numbers, which a size can show, and none."""
    listed = role_choices(view, state)
    knobs = view.catalogue.knobs
    return [c for c in listed if c["value"] == NONE or knobs[c["value"]].facet.is_number]


def lines_pool_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the settings that the lines may pool."""
    shown = [
        view.catalogue.knobs[name]
        for name in (state.lines_x, state.lines_by, state.lines_style)
        if name != NONE
    ]
    left = view.part_left(state.selection)
    return pool_choices(left, shown, state.lines_pool, catalogue=view.catalogue)


# URL key to its control; keys without a row have controls of their own in `layout.py`.
CONTROLS: Final[dict[str, Menu | Several | Stack | Segments | Switch]] = {
    "noodd": Switch("without odd runs"),
    "y": Menu("y", column_choices),
    "ylog": Switch("log y"),
    "x": Menu("x", column_choices, 198, "against"),
    "xlog": Switch("log x"),
    "frontier": Switch("frontier"),
    "band": Switch("how sure"),
    "col": Menu("colour", role_choices, 128, "colour"),
    "size": Menu("size", size_choices, 128, "size"),
    "sym": Menu("symbol", role_choices, 128, "symbol"),
    "hmet": Menu("metric of the heatmap", column_choices),
    "hsys": Menu("system of the heatmap", system_choices, placeholder="all systems"),
    "hy": Menu("knob along y", knob_choices, word="y"),
    "hx": Menu("knob along x", knob_choices, word="x"),
    "pool": Several("settings to pool over", heat_pool_choices, "pool over"),
    "show": Segments("large pictures", {"points": "Points", "lines": "Lines", "both": "Both"}),
    "split": Menu("knob of the panels", split_choices),
    "own": Switch("own axes"),
    "ly": Stack("metrics of the lines", column_choices, 190),
    "lx": Menu("knob along x of the lines", knob_choices, 110, "over"),
    "lxlog": Switch("log x"),
    "lylog": Switch("log y"),
    "lband": Switch("intervals"),
    "lby": Menu("knob of the lines", role_choices, 110, "a line a"),
    "lst": Menu("knob of the lines' style", size_choices, 110, "style"),
    "llev": Segments("levels of the style", {"ends": "fastest, slowest", "all": "all levels"}),
    "lstat": Segments("value of a point", {"mean": "means", "median": "medians"}),
    "lpool": Several("settings that the lines pool", lines_pool_choices, "pool over"),
    "cost": Menu("cost", column_choices, 132, "of"),
    "by": Menu("limited metric", column_choices, 196),
    "vs": Menu("system to compare with", against_choices, 150, "against the default and",
               "no other system"),
    "same": Several("knobs without effect", merge_choices, "no effect of"),
}  # fmt: skip
# What their menus list after a change of the filters, by URL key.
MENUS: Final = {key: one.choices for key, one in CONTROLS.items() if one.choices}


def controls(view: LakeView, state: ExploreState, keys: Sequence[str]) -> list[Component]:
    """Lay out the controls of some URL keys."""
    laid_out: list[Component] = []
    for key in keys:
        control = CONTROLS[key]
        if control.word:
            laid_out.append(html.Span(control.word, className="quiet"))
        listed = control.choices(view, state) if control.choices else []
        value = getattr(state, ExploreState.parameters()[key].attribute)
        laid_out.append(control.laid_out(key, listed, value))
    return laid_out
