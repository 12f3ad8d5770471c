"""A state's compared cells, of all panels of a split as one.

Each panel is compared as if it were the page: a click on its title shows the same cells.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from app.kit.competitors import competitors_of, ordered_values
from app.kit.lake_view import LakeView
from app.kit.panels import NONE, Split
from app.modes.defaults import resolved
from app.modes.judged import DEFAULT, Judged, judge_panel, leaders
from app.modes.state import ModesState
from data.analysis.like_with_like import Slice
from data.analysis.ties import Comparison
from data.selection import Value


def judge(view: LakeView, state: ModesState) -> Judged:
    """Compare the competitors in every cell of a state; the selection does not matter."""
    shown = resolved(view, replace(state, sel=""))
    if shown.split == NONE:
        return judge_panel(view, _alone(shown))
    return view.once(_joined, shown, is_large=True)


def _alone(state: ModesState) -> ModesState:
    return replace(state, split=NONE, own_axes=False)


def _joined(view: LakeView, state: ModesState) -> Judged:
    """Return the cells of all panels; those of the page where no panel has one."""
    split = Split.of(view.left(state.selection), view.catalogue.knobs[state.split])
    selections = [split.narrow(state.selection, value) for value in split.values]
    judged_panels = [judge_panel(view, replace(_alone(state), selection=own)) for own in selections]
    has_cells = [len(panel.comparison.cells) > 0 for panel in judged_panels]
    panels = [panel for panel, has_one in zip(judged_panels, has_cells, strict=True) if has_one]
    if not panels:
        return judge_panel(view, _alone(state))
    first = panels[0]
    knob = first.competitors.knob
    values = [v for panel in panels for v in panel.competitors.values if v != DEFAULT]
    joined = _comparison([panel.comparison for panel in panels])
    competitors = competitors_of(
        knob, list(dict.fromkeys(values)), view.systems, first.labels, leaders(joined)
    )
    if first.has_default:
        default = first.competitors
        competitors = competitors.with_one(DEFAULT, default.labels[-1], default.hues[-1])
    x, y = (
        ordered_values(knob, list(dict.fromkeys(v for panel in panels for v in panel.axes[i])))
        for i, knob in enumerate(first.knobs[:2])
    )
    axes = (x, y)
    return Judged(
        state=state,
        catalogue=view.catalogue,
        part=_part(panels),
        comparison=joined,
        competitors=competitors,
        axes=axes,
        labels=first.labels,
        split=split.only(has_cells),
        panels=tuple(
            replace(panel, competitors=competitors, axes=panel.axes if state.own_axes else axes)
            for panel in panels
        ),
    )


def _part(panels: Sequence[Judged]) -> Slice:
    """Return the kept values and the pooled knobs that all panels share."""
    first = panels[0].part
    shown_values = tuple(
        kept_value
        for kept_value in first.fixed
        if all(kept_value in panel.part.fixed for panel in panels)
    )
    is_same = all(panel.part.pooled == first.pooled for panel in panels)
    return Slice(shown_values, first.pooled if is_same else None)


def _comparison(each: Sequence[Comparison]) -> Comparison:
    """Return the tables of all panels as one; `panel` of `cells` is the number of each cell's.

    Rows and cells are numbered on from panel to panel. The level is that of the first panel.
    """
    groups: list[pl.DataFrame] = []
    contenders: list[pl.DataFrame] = []
    cells: list[pl.DataFrame] = []
    at = {"groups": 0, "contenders": 0, "cells": 0}
    for number, own in enumerate(each):
        row, contender, cell = at.values()
        second = pl.col("runner_up")
        groups.append(own.groups)
        contenders.append(own.contenders.with_columns(pl.col("cell") + cell, pl.col("row") + row))
        cells.append(own.cells.with_columns(
            pl.col("cell") + cell, pl.col("first", "winner") + contender,
            pl.when(second < 0).then(second).otherwise(second + contender),
            panel=pl.lit(number),
        ))  # fmt: skip
        at = {name: at[name] + len(getattr(own, name)) for name in at}
    return Comparison(
        pl.concat(groups, how="diagonal_relaxed"),
        pl.concat(contenders, how="vertical_relaxed"),
        pl.concat(cells, how="vertical_relaxed"),
        each[0].better,
        each[0].level,
    )


def own_panel(judged: Judged, cell: dict[str, Value | None]) -> tuple[Judged, dict[str, Any]]:
    """Return the panel of a cell, and the cell's place in it, by the columns of its axes.

    Args:
        cell: With the column of the panels where there are several. Without a panel of its value
            it stays as it is: no cell of the first panel has such a place.
    """
    split = judged.split
    if split is None:
        return judged, cell
    own = dict(cell)
    value = own.pop(split.knob.column, None)
    if not cell or value not in split.values:
        return judged.panels[0], cell
    return judged.panels[split.values.index(value)], own
