"""The compared cells as compact columns, from which the browser makes hovers and highlights."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import index_in, typed
from app.kit.competitors import Competitors, value_words
from app.modes.state import ModesState
from data.analysis.dependence import varying_within
from data.analysis.ties import OUTCOMES, Comparison
from data.knobs import KNOBS, Knob
from data.metrics import metric
from data.selection import Value

# Test to its effect size.
EFFECT_TITLES: Final = {
    "student": "Hedges' g",
    "welch": "Hedges' g",
    "mann-whitney": "probability that its run beats one of the runner-up",
}


def encode_cells(
    comparison: Comparison,
    placed: pl.DataFrame,
    axes: Sequence[Sequence[Value | None]],
    competitors: Competitors,
    state: ModesState,
    labels: Mapping[str, str],
) -> dict[str, Any]:
    """Encode the data of each cell for hovers, texts and selections.

    Args:
        placed: One row per cell: `column` and `row`.
        axes: The values along x and y, in order.
        state: With every choice made.
        labels: System to its label.

    Returns:
        `x`, `y` and `who`: values, and texts for them; `cells`: columns of `comparison.cells`,
        `first` (row of its best contender), `n` (contenders); `contenders`: their columns, best
        first within a cell, `setting` an index into `settings`; `metric`, `rules`.
    """
    cells, contenders = comparison.cells, comparison.contenders
    x, y, _ = state.knobs()
    words, setting = _settings(comparison, state, labels)
    who = index_in(contenders["competitor"], competitors.values)
    measure = metric(str(state.metric))
    return {
        "x": _axis(x, axes[0], labels),
        "y": _axis(y, axes[1], labels),
        "who": {"values": list(competitors.values), "words": list(competitors.labels)},
        "outcomes": list(OUTCOMES),
        "cells": {
            "column": typed(placed["column"].to_numpy().astype(np.uint16)),
            "row": typed(placed["row"].to_numpy().astype(np.uint16)),
            "outcome": typed(index_in(cells["outcome"], OUTCOMES).astype(np.uint8)),
            "first": typed(cells["winner"].to_numpy().astype(np.uint32)),
            "n": typed(cells["competitors"].to_numpy().astype(np.uint16)),
            **{name: typed(_single(cells[name])) for name in ("margin", "margin_share", "effect")},
            # A p value may be too small for single precision.
            **{name: typed(cells[name].to_numpy()) for name in ("p", "p_corrected")},
        },
        "contenders": {
            "cell": typed(contenders["cell"].to_numpy().astype(np.uint32)),
            "who": typed(who.astype(np.uint16)),
            "settings": typed(contenders["settings"].to_numpy().astype(np.uint32)),
            "setting": typed(setting.astype(np.uint32)),
            "n": typed(contenders["n"].to_numpy().astype(np.uint32)),
            "mean": typed(_single(contenders["mean"])),
            "half_width": typed(_single(contenders["half_width"])),
        },
        "settings": words,
        "metric": {"unit": measure.unit, "better": measure.better},
        "rules": {"test": state.test, "correction": state.correction, "level": state.level,
                  "effect": EFFECT_TITLES[state.test], "percent": state.margin == "percent"},
    }  # fmt: skip


def _single(column: pl.Series) -> np.ndarray:
    """Convert to single precision; hovers show three digits."""
    return column.to_numpy().astype(np.float32)


def setting_words(row: Mapping[str, Any], knobs: Sequence[Knob], labels: Mapping[str, str]) -> str:
    """Return some knobs of a configuration as text: `ITR 2 us · 2.9 GHz`."""
    return " · ".join(value_words(knob, row[knob.column], labels) for knob in knobs)


def free_knobs(groups: pl.DataFrame, state: ModesState) -> list[Knob]:
    """Return the knobs that vary within a cell and name a setting; none without a direction."""
    if metric(str(state.metric)).better is None:
        return []
    return mixed_in_cells(groups, state)


def mixed_in_cells(groups: pl.DataFrame, state: ModesState) -> list[Knob]:
    """Return the knobs of which a cell holds several values, neither axes nor the competitor.

    A knob that depends on an axis, such as threads on the depth, has one value in each cell.
    """
    x, y, competitor = state.knobs()
    others = [knob for knob in KNOBS.values() if knob not in (x, y, competitor)]
    columns = [knob.column for knob in others]
    mixed = varying_within(groups, [x.column, y.column], columns)
    return [knob for knob in others if knob.column in mixed]


def _settings(
    comparison: Comparison, state: ModesState, labels: Mapping[str, str]
) -> tuple[list[str], np.ndarray]:
    """Return the texts of all compared settings, each once, and the index of each contender's."""
    knobs = free_knobs(comparison.groups, state)
    if not knobs:
        return [""], np.zeros(len(comparison.contenders), dtype=np.uint32)
    columns = [knob.column for knob in knobs]
    rows = comparison.groups[comparison.contenders["row"]].select(columns)
    kinds = rows.unique(maintain_order=True).with_row_index("i")
    at = rows.join(kinds, on=columns, how="left", nulls_equal=True, maintain_order="left")["i"]
    words = [setting_words(row, knobs, labels) for row in kinds.iter_rows(named=True)]
    return words, at.to_numpy()


def _axis(knob: Knob, values: Sequence[Value | None], labels: Mapping[str, str]) -> dict[str, Any]:
    words = [value_words(knob, value, labels) for value in values]
    return {"values": list(values), "words": words, "column": knob.column}
