"""How sure a frontier is: bands of typical runs, lines of single sweeps, areas of two systems."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.question import Question
from app.explore.studies import MOST_CHOICES, moments_of, settings_clauses
from app.kit.columns import floats
from data.analysis.attainment import (
    AreaRatio,
    area_ratio,
    attainment_line,
    possible_frontier,
    sure_frontier,
)
from data.analysis.coded_rows import Part
from data.analysis.noise import Estimates
from data.choices import estimates_in
from data.metrics import Metric

# How often one sweep, a run of each setting, attains a line.
ATTAINED: Final = (0.25, 0.5, 0.75)
# A line over more runs is not drawn: its time grows with their square.
MOST_RUNS: Final = 3_000


@dataclass(frozen=True, slots=True)
class Front:
    """The settings of one system at one load, judged along both axes.

    Attributes:
        key: Values of `choice_columns`; the last is the system.
        symbol: Value of the knob that the symbols encode; None without one.
        x, y: On the log scale, where less is better, shape (settings,).
    """

    key: tuple[Any, ...]
    symbol: Any
    x: Estimates
    y: Estimates


def fronts_of(question: Question) -> tuple[Front, ...]:
    """Return the fronts of the systems and loads that the filters leave.

    Empty where an axis has no better end or is a share, of which there are no logarithms.
    """
    metrics = [question.catalogue.metric(name) for name in (question.state.x, question.state.y)]
    if any(metric.better is None or metric.unit == "%" for metric in metrics):
        return ()
    return tuple(_fronts(question, *metrics))


def _fronts(question: Question, x: Metric, y: Metric) -> Iterator[Front]:
    moments = moments_of(question, (y.name, x.name))
    columns = list(question.catalogue.choice_columns)
    has_both = [moments.table.numbers[f"{metric.name}_n"] > 0 for metric in (x, y)]
    there = (
        own[np.logical_and(*has_both)[own]] for own in moments.choices(settings_clauses(question))
    )
    for own in islice(filter(len, there), MOST_CHOICES):
        # The default is no choice, unless nothing else was measured.
        is_default = moments.is_default[own]
        settings = Part(moments.table, own if is_default.all() else own[~is_default])
        lent = partial(moments.prior, int(moments.choice[own[0]]))
        estimates = [estimates_in(settings, metric, lent)[0] for metric in (x, y)]
        first = moments.table.rows.row(int(own[0]), named=True)
        knob = question.catalogue.knobs.get(question.state.symbol)
        key = tuple(first[name] for name in columns)
        yield Front(key, first[knob.column] if knob else None, *estimates)


@dataclass(frozen=True, slots=True)
class Band:
    """The corners of two lines, in the units of the axes, shape (k, 2) each.

    Attributes:
        sure: All its points are attained, together but for alpha; of settings with two runs.
        possible: No setting's true point lies in front of it, each but for alpha.
    """

    symbol: Any
    sure: np.ndarray
    possible: np.ndarray


def bands_of(question: Question) -> list[Band]:
    """Return how sure the frontier of each system at each load is."""
    metric, state = question.catalogue.metric, question.state
    signs = np.array([metric(state.x).sign, metric(state.y).sign])
    bands = []
    for front in fronts_of(question):
        sure = sure_frontier(front.x, front.y, state.alpha)
        possible = possible_frontier(front.x, front.y, state.alpha)
        if not len(sure) or not len(possible):
            continue
        worst = np.maximum(sure.max(axis=0), possible.max(axis=0))
        worst = np.maximum(worst, [front.x.mean.max(), front.y.mean.max()])
        lines = (np.exp(signs * _stairs(line, worst)) for line in (sure, possible))
        bands.append(Band(front.symbol, *lines))
    return bands


def _stairs(points: np.ndarray, worst: np.ndarray) -> np.ndarray:
    """Return the corners of the line behind which points dominate, up to the worst values."""
    x = np.append(points[:, 0], worst[0])
    y = np.concatenate([[worst[1]], points[:, 1]])
    return np.column_stack([np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]])


def attained_lines(question: Question, points: pl.DataFrame) -> list[tuple[Any, float, np.ndarray]]:
    """Return which lines one sweep attains, and how often.

    Args:
        points: Runs, one row each.

    Returns:
        Symbol, chance, and corners in the units of the axes, of each system at each load.
    """
    state, catalogue = question.state, question.catalogue
    signs = np.array([catalogue.metric(name).sign for name in (state.x, state.y)])
    keys = [name for name in catalogue.configuration if name in points.columns]
    knob, lines = catalogue.knobs.get(state.symbol), []
    for own in points.partition_by(list(catalogue.choice_columns), maintain_order=True):
        if len(own) > MOST_RUNS:
            continue
        setting = own.select(pl.struct(keys).rank("dense")).to_series().to_numpy() - 1
        x, y = signs[0] * floats(own["x"]), signs[1] * floats(own["y"])
        worst = np.array([x.max(), y.max()])
        for level in ATTAINED:
            line = attainment_line(x, y, setting.astype(np.int64), level)
            if len(line):
                symbol = own[knob.column][0] if knob else None
                lines.append((symbol, level, signs * _stairs(line, worst)))
    return lines


def areas_of(question: Question) -> dict[tuple[Any, ...], AreaRatio]:
    """Return how many times the area of the system to compare with each frontier dominates.

    Returns:
        By the values of `choice_columns`; no entry where the other system was not measured.
    """
    state = question.state
    if not state.against:
        return {}
    # The other system's settings count whether or not the filters leave them.
    clauses = tuple(c for c in state.selection.clauses if c.facet.name != "system")
    everyone = {front.key: front for front in fronts_of(question.with_clauses(clauses))}
    shown = question.view.left(state.selection)["system"].unique().to_list()
    bound = None
    if state.limit is not None and state.limited == state.x:
        bound = question.limited.sign * float(np.log(state.limit))
    ratios = {}
    for key, front in everyone.items():
        other = everyone.get((*key[:-1], state.against))
        if other is None or key[-1] == state.against or key[-1] not in shown:
            continue
        a, b = (front.x, front.y), (other.x, other.y)
        means = b"".join(e.mean.tobytes() for e in (front.x, other.x, front.y, other.y))
        ratios[key] = area_ratio(a, b, zlib.crc32(means), (bound, None), state.alpha)
    return ratios
