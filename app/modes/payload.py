"""The compared cells of all panels as compact columns, for hovers and highlights."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from app.kit.columns import encode_counts, typed
from app.kit.competitors import competitors_of, ordered_values, value_words, words_of
from app.kit.lake_view import LakeView
from app.kit.panels import NONE, Split
from app.modes.defaults import resolved
from app.modes.judged import DEFAULT, Judged, judge_panel, leaders
from app.modes.state import ModesState
from app.modes.words import EFFECT_TITLES, limit_words
from data.analysis.coded_rows import Part
from data.analysis.like_with_like import Slice, varying_within
from data.analysis.rules import OUTCOMES, WIN
from data.analysis.ties import Comparison
from data.knobs import Knob
from data.selection import Value


def encode_cells(judged: Judged, placed: pl.DataFrame) -> dict[str, Any]:
    """Encode the data of each cell for hovers, texts and selections.

    Args:
        placed: One row per cell: `column`, `row`, `strength`.

    Returns:
        The rows of the page's views (`app/kit/columns.py`) are the cells: `count` and `knobs`, with
        both axes, `outcome`, `won`, the winner, and the knob of the panels. `x`, `y` and `who`:
        values, and texts for them; `panel`: its column and the titles, None without panels;
        `cells`: columns of `Comparison.cells`,
        `first` (row of its first contender), `best` and `second` (rows of those that were compared;
        `second` is -1 for none), `n` (contenders); `contenders`: their columns, best first within a
        cell, `setting` an index into `settings`; `metric`, `rules`.
    """
    state, comparison = judged.state, judged.comparison
    cells, contenders = comparison.cells, comparison.contenders
    x, y, _ = judged.knobs
    setting_words, setting = _settings(judged)
    measure = judged.metric
    against = comparison.groups["against"].gather(contenders["row"]).cast(pl.Float64)
    codes = cells["outcome"].cast(pl.Enum(OUTCOMES))
    split, panels = judged.split, {}
    if split is not None:
        panels = {split.knob.column: _knob(split.values, cells["panel"].to_numpy())}
    # One beyond the competitors where nobody wins.
    winner = judged.who[cells["winner"].to_numpy()]
    won = np.where((cells["outcome"] == WIN).to_numpy(), winner, len(judged.competitors))
    numbers = ("margin", "margin_share", "share_low", "share_high", "effect")
    return {
        "count": len(cells),
        "knobs": {
            x.column: _knob(judged.axes[0], placed["column"].to_numpy()),
            y.column: _knob(judged.axes[1], placed["row"].to_numpy()),
            "outcome": _knob(OUTCOMES, codes.to_physical().to_numpy().astype(np.uint8)),
            "won": _knob(judged.competitors.values, won),
            **panels,
        },
        "fields": {},
        "x": _axis(x, judged.axes[0], judged.labels),
        "y": _axis(y, judged.axes[1], judged.labels),
        "panel": None if split is None else {"column": split.knob.column, "words": split.titles},
        "who": {
            "values": list(judged.competitors.values), "words": list(judged.competitors.labels),
        },
        "cells": {
            "strength": typed(_single(placed["strength"])),
            "first": typed(cells["first"].to_numpy().astype(np.uint32)),
            "best": typed(cells["winner"].to_numpy().astype(np.uint32)),
            "second": typed(cells["runner_up"].to_numpy().astype(np.int32)),
            "n": typed(cells["competitors"].to_numpy().astype(np.uint16)),
            "more": typed(cells["more_runs"].to_numpy().astype(np.int8)),
            **{name: typed(_single(cells[name])) for name in numbers},
            # A p value may be too small for single precision.
            **{name: typed(cells[name].to_numpy()) for name in ("p", "p_corrected")},
        },
        "contenders": {
            "cell": typed(contenders["cell"].to_numpy().astype(np.uint32)),
            "who": typed(judged.who.astype(np.uint16)),
            "settings": typed(contenders["settings"].to_numpy().astype(np.uint32)),
            "setting": typed(setting.astype(np.uint32)),
            "n": typed(contenders["n"].to_numpy().astype(np.uint32)),
            "against": typed(_single(against)),
            **{name: typed(_single(contenders[name])) for name in ("mean", "low", "high")},
        },
        "settings": setting_words,
        "metric": {"unit": measure.unit, "doubt": measure.doubt, "better": measure.better},
        "rules": {"test": state.test, "correction": state.correction, "level": comparison.level,
                  "margin": state.margin_pct, "effect": EFFECT_TITLES[state.test],
                  "percent": state.lead == "percent", "limit": limit_words(judged),
                  "limit_unit": judged.catalogue.metric(state.limited).unit,
                  "unstated": judged.is_unstated},
    }  # fmt: skip


def _knob(values: Sequence[Value | None], index: np.ndarray) -> dict[str, Any]:
    return {"values": list(values), "index": encode_counts(index)}


def _single(column: pl.Series) -> np.ndarray:
    """Convert to single precision; hovers show three digits."""
    return column.to_numpy().astype(np.float32)


def setting_words(row: Mapping[str, Any], knobs: Sequence[Knob], labels: Mapping[str, str]) -> str:
    """Return some knobs of a configuration as text: `ITR 2 us · 2.9 GHz`."""
    return " · ".join(value_words(knob, row[knob.column], labels) for knob in knobs)


def free_knobs(judged: Judged) -> list[Knob]:
    """Return the knobs of which a cell holds several values, neither axes nor the competitor.

    A knob that depends on an axis, such as threads on the depth, has one value in each cell. None
    without a direction, where no setting is named. Those of the default are not in its cell.
    """
    if judged.comparison.better is None:
        return []
    knobs = judged.knobs
    cell = [*knobs[:2], *([judged.split.knob] if judged.split else [])]
    others = [k for k in judged.catalogue.knobs.values() if k not in (*knobs, *cell)]
    if judged.has_default:
        others = [*others, *knobs]
    columns = [knob.column for knob in others]
    mixed = varying_within(
        Part.of(judged.comparison.groups), [knob.column for knob in cell], columns
    )
    return [knob for knob in others if knob.column in mixed]


def _settings(judged: Judged) -> tuple[list[str], np.ndarray]:
    """Return the texts of all compared settings, each once, and the index of each contender's."""
    knobs, contenders = free_knobs(judged), judged.comparison.contenders
    if not knobs:
        return [""], np.zeros(len(contenders), dtype=np.uint32)
    columns = [knob.column for knob in knobs]
    rows = judged.comparison.groups[contenders["row"]].select(columns)
    kinds = rows.unique(maintain_order=True).with_row_index("i")
    at = rows.join(kinds, on=columns, how="left", nulls_equal=True, maintain_order="left")["i"]
    words = [setting_words(row, knobs, judged.labels) for row in kinds.iter_rows(named=True)]
    return words, at.to_numpy()


def _axis(knob: Knob, values: Sequence[Value | None], labels: Mapping[str, str]) -> dict[str, Any]:
    words = words_of(knob, values, labels)
    return {"values": list(values), "words": words, "column": knob.column}


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
    split = Split.of(view.part_left(state.selection), view.catalogue.knobs[state.split])
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
        is_unstated=all(panel.is_unstated for panel in panels),
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
        all(own.is_geometric for own in each),
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
