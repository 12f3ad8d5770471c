"""The evidence of one cell of Modes: its runs, what was compared, and the verdict in words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import value_words
from app.kit.lakes import LakeView
from app.modes.answer import Judged, judge, place_of
from app.modes.figures.evidence import EvidenceScene, build_evidence
from app.modes.figures.winner_map import margin_words
from app.modes.links import explore_state
from app.modes.payload import effect_title, free_knobs, index_of, setting_words
from app.modes.state import ModesState
from app.modes.words import TEST_TITLES, rules_words
from data.analysis.facets import matches
from data.analysis.significance import smallest_p
from data.analysis.ties import ALONE, TIE, TOO_FEW
from data.knobs import KNOBS
from data.metrics import metric
from data.queries.modes import cell_query
from data.queries.points import CONFIGURATION
from data.selection import Value
from data.units import MINUS, format_quantity

# A figure holds so many runs; a cell with more is cut by configuration, and says so.
RUNS_MAX: Final = 5000


@dataclass(frozen=True, slots=True)
class Standing:
    """One competitor of a cell, stood for by its best setting.

    Attributes:
        setting: The knobs of that setting that vary; empty where none does.
        settings: How many settings it had.
        half_width: Of the mean's 95 % confidence interval; NaN for one run.
        values: What its replicates measured, ascending.
        runs: Its replicates: `run_id`, `replicate`, `value`, `has_log`; those among the first
            RUNS_MAX of the cell.
        explore: URL query of Explore that shows just these runs.
    """

    label: str
    hue: str
    setting: str
    settings: int
    n: int
    mean: float
    sd: float
    half_width: float
    values: tuple[float, ...]
    runs: pl.DataFrame
    explore: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the evidence panel shows.

    Attributes:
        figure: None where the cell holds nothing.
        verdict: The outcome in a sentence.
        statistics: The numbers behind it, in a sentence; empty without a test.
        standings: Best first.
        explore: URL query of Explore that shows all runs of the cell.
    """

    figure: dict[str, Any] | None
    title: str
    verdict: str
    statistics: str = ""
    standings: tuple[Standing, ...] = ()
    unit: str = ""
    explore: str = ""


def evidence(view: LakeView, state: ModesState) -> Evidence | None:
    """The evidence of the cell that is picked; None when none is."""
    if not view.runs or state.picked is None or state.picked.kind != "cell":
        return None
    found = judge(view, state)
    x, y, _ = found.state.knobs()
    pick = state.picked
    places = ((x, pick.x), (y, pick.y))
    title = " · ".join(value_words(knob, value, found.labels) for knob, value in places)
    at = cell_of(found)
    if at is None:
        return Evidence(None, title, "Nothing was measured in this cell under these filters.")
    runs = cell_runs(view, found, at)
    standings = tuple(_standing(found, row, runs, view) for row in _contenders(found, at))
    return Evidence(
        figure=_figure(found, at, runs, title),
        title=title,
        verdict=verdict_words(found, at, standings),
        statistics=statistics_words(found, at, standings),
        standings=standings,
        unit=metric(str(found.state.metric)).unit,
        explore=_explore(view, found.state, place_of(found.state)),
    )


def cell_runs(view: LakeView, found: Judged, at: dict) -> pl.DataFrame:
    """The runs of the picked cell: columns of `cell_query`, `who`, and `is_best`.

    Args:
        at: The cell, a row of the comparison's cells.
    """
    state = found.state
    rows = view.lake.polars(
        *cell_query(state.selection, str(state.metric), place_of(state), RUNS_MAX)
    )
    competitor = state.knobs()[2]
    standing = [row["row"] for row in _contenders(found, at)]
    best = found.comparison.groups[standing].select(CONFIGURATION).with_columns(is_best=True)
    joined = rows.join(
        best, on=list(CONFIGURATION), how="left", nulls_equal=True, maintain_order="left"
    )
    who = index_of(rows[competitor.column], found.competitors.values)
    return joined.with_columns(
        pl.col("is_best").fill_null(False), who=pl.Series(who.astype(np.int64))
    )


def verdict_words(found: Judged, at: dict, standings: Sequence[Standing]) -> str:
    """The outcome of a cell in one sentence."""
    measure = metric(str(found.state.metric))
    first = standings[0].label
    if at["outcome"] == ALONE:
        return f"Only {first} was measured here: there is nothing to compare it with, so no win."
    second = standings[1].label
    change = "less" if measure.better == "less" else "more"
    absolute = margin_words(at, measure.unit, False)
    lead = f"{measure.title} {margin_words(at, measure.unit, True)}, {absolute} {change}"
    if at["outcome"] == TIE:
        return f"A tie: {first} and {second} do not differ significantly ({lead})."
    if at["outcome"] == TOO_FEW:
        why = _why_few(found, standings)
        return f"Too few replicates to tell: {first} leads {second} ({lead}). {why}"
    return f"{first[:1].upper()}{first[1:]} wins over {second} ({lead})."


def statistics_words(found: Judged, at: dict, standings: Sequence[Standing]) -> str:
    """Test, n, p, effect size and the difference's interval; empty where there was no test."""
    state = found.state
    if at["outcome"] in (ALONE, TOO_FEW) and np.isnan(at["p"]):
        return ""
    first, second = standings[0], standings[1]
    parts = [f"{rules_words(state)}: p = {p_words(at['p'])}"]
    if state.correction != "none":
        parts.append(f"corrected {p_words(at['p_corrected'])}")
    parts.append(f"n = {first.n} and {second.n}")
    parts.append(f"{effect_title(state.test)} = {at['effect']:.3g}" if at["effect"] == at["effect"]
                 else f"no {effect_title(state.test)}: neither has any spread")  # fmt: skip
    interval = _difference(state, first, second)
    return " · ".join([*parts, *([interval] if interval else [])])


def p_words(p: float) -> str:
    """A p value with three digits; an en dash where the test has none."""
    return "\N{EN DASH}" if np.isnan(p) else f"{p:.3g}"


def _difference(state: ModesState, first: Standing, second: Standing) -> str:
    """The 95 % confidence interval of the difference of the means, of the t tests."""
    if state.test == "mann-whitney":
        return ""
    from scipy.stats import ttest_ind

    if not first.sd + second.sd > 0:
        return ""
    test = ttest_ind(first.values, second.values, equal_var=state.test == "student")
    low, high = test.confidence_interval(0.95)
    unit = metric(str(state.metric)).unit
    difference = format_quantity(first.mean - second.mean, unit).replace("-", MINUS)
    half = format_quantity(float(high - low) / 2, unit)
    return f"difference {difference} \N{PLUS-MINUS SIGN} {half} (95 % CI)"


def _why_few(found: Judged, standings: Sequence[Standing]) -> str:
    n_first, n_second = standings[0].n, standings[1].n
    if min(n_first, n_second) < 2:
        return f"n = {n_first} and {n_second}: no test below two."
    test = found.state.test
    least = smallest_p(test, np.array([n_first]), np.array([n_second]))[0]
    return (
        f"n = {n_first} and {n_second}: the exact {TEST_TITLES[test]} gives no p value below "
        f"{least:.3g}."
    )


def cell_of(found: Judged) -> dict | None:
    """The picked cell, a row of the comparison's cells; None where none is, or nothing is in it."""
    pick = found.state.picked
    if pick is None or pick.kind != "cell":
        return None
    cells = found.comparison.cells
    rows = cells.filter(_is(cells["x"], pick.x) & _is(cells["y"], pick.y))
    return rows.row(0, named=True) if len(rows) else None


def _is(column: pl.Series, value: Value | None) -> pl.Series:
    """Where a column has a value; nowhere when it is of another kind."""
    if value is None:
        return column.is_null()
    if isinstance(value, str) != (column.dtype == pl.String):
        return pl.repeat(False, len(column), eager=True)
    return (column == value).fill_null(False)


def _contenders(found: Judged, at: dict) -> list[dict]:
    mine = found.comparison.contenders[at["winner"] : at["winner"] + at["competitors"]]
    return list(mine.iter_rows(named=True))


def _standing(found: Judged, row: dict, runs: pl.DataFrame, view: LakeView) -> Standing:
    who = found.competitors.values.index(row["competitor"])
    group = found.comparison.groups.row(row["row"], named=True)
    mine = runs.filter(pl.col("is_best") & (pl.col("who") == who))
    place = {knob.column: group[knob.column] for knob in KNOBS.values()}
    return Standing(
        label=found.competitors.labels[who],
        hue=found.competitors.hues[who],
        setting=setting_words(
            group, free_knobs(found.comparison.groups, found.state), found.labels
        ),
        settings=row["settings"],
        n=row["n"],
        mean=row["mean"],
        sd=row["sd"],
        half_width=row["half_width"],
        values=tuple(group["values"]),
        runs=mine.select("run_id", "replicate", "value", "has_log"),
        explore=_explore(view, found.state, place),
    )


def _explore(view: LakeView, state: ModesState, place: dict[str, Value | None]) -> str:
    """The query of Explore with the runs at some knobs' values, each run a point."""
    selection = state.selection
    left = view.cube.filter(matches(selection))
    for knob in KNOBS.values():
        if knob.column in place and left[knob.column].n_unique() > 1:
            value = place[knob.column]
            selection = selection.with_values(
                knob.name, [knob.facet.null_word if value is None else value]
            )
    return replace(explore_state(view, state), selection=selection, replicates="runs").to_query()


def _figure(found: Judged, at: dict, runs: pl.DataFrame, title: str) -> dict[str, Any]:
    contenders = _contenders(found, at)
    order = [found.competitors.values.index(row["competitor"]) for row in contenders]
    means = pl.DataFrame(
        {
            "who": order,
            "mean": [row["mean"] for row in contenders],
            "half_width": [row["half_width"] for row in contenders],
            "n": [row["n"] for row in contenders],
        }
    )
    subtitle = "replicates, mean, 95 % CI"
    if not runs["is_best"].all():
        subtitle += "; open: others"
    if len(runs) == RUNS_MAX:
        subtitle += f"; first {RUNS_MAX:,} runs"
    scene = EvidenceScene(
        prize=str(found.state.metric),
        title=title,
        subtitle=subtitle,
        order=tuple(order),
        competitors=found.competitors,
    )
    return build_evidence(runs, means, scene)
