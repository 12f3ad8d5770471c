"""The evidence of one cell: its runs, what was compared, and the verdict in words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import index_in
from app.kit.competitors import value_words
from app.kit.lakes import LakeView
from app.kit.settings import MAX_ROWS
from app.modes.answer import Judged, judge
from app.modes.figures.evidence import EvidenceScene, build_evidence
from app.modes.payload import EFFECT_TITLES, free_knobs, setting_words
from app.modes.state import ModesState
from app.modes.words import TEST_TITLES, rules_words
from data.analysis.significance import smallest_p
from data.analysis.ties import ALONE, DIFFER, TIE, TOO_FEW
from data.knobs import KNOBS
from data.metrics import metric
from data.queries.modes import cell_query
from data.queries.points import CONFIGURATION
from data.selection import Selection, Value
from data.units import MINUS, format_change, format_quantity

# Maximum number of runs in the figure; the first by configuration are shown.
RUNS_MAX: Final = 5000
Place = dict[str, Value | None]
NOTHING_MEASURED: Final = "Nothing was measured in this cell under these filters."


@dataclass(frozen=True, slots=True)
class Contender:
    """One competitor of a cell, represented by its best setting.

    Attributes:
        setting: The varying knobs of that setting; empty if none varies.
        settings: Number of its settings in the cell.
        half_width: Half width of the mean's 95 % confidence interval; NaN for one run.
        values: Measurements of its replicates, ascending.
        runs: Its replicates: `run_id`, `replicate`, `value`, `has_log`; only those among the first
            RUNS_MAX of the cell.
        place: The knobs, by column, that distinguish its runs from the others.
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
    place: Place


@dataclass(frozen=True, slots=True)
class Evidence:
    """The content of the evidence panel.

    Attributes:
        figure: None if the cell holds nothing.
        verdict: The outcome in a sentence.
        statistics: The numbers behind the verdict, in a sentence; empty without a test.
        contenders: Best first.
        place: The knobs, by column, that distinguish the cell's runs from the others.
        filters: The page's filters.
        lake_version: The version that the page shows.
    """

    figure: dict[str, Any] | None
    title: str
    verdict: str
    statistics: str = ""
    contenders: tuple[Contender, ...] = ()
    unit: str = ""
    place: Place = field(default_factory=dict)
    filters: Selection = field(default_factory=Selection)
    lake_version: int | None = None


def evidence(view: LakeView, state: ModesState) -> Evidence | None:
    """Return the evidence of the selected cell; None unless exactly one cell is selected."""
    if not view.runs or not state.cell:
        return None
    found = judge(view, state)
    knobs, values = found.state.knobs()[:2], found.state.cell.values()
    words = (value_words(knob, v, found.labels) for knob, v in zip(knobs, values, strict=True))
    title = " · ".join(words)
    cell = selected_cell(found)
    if cell is None:
        return Evidence(None, title, NOTHING_MEASURED)
    runs = evidence_runs(view, found)
    contenders = tuple(_contender(found, row, runs, view) for row in _rows(found, cell))
    return Evidence(
        figure=_figure(found, cell, runs, title),
        title=title,
        verdict=verdict_words(found, cell, contenders),
        statistics=statistics_words(found, cell, contenders),
        contenders=contenders,
        unit=metric(found.metric).unit,
        place=_place(view, found.state, found.state.cell),
        filters=found.state.selection,
        lake_version=found.state.lake_version,
    )


def selected_cell(found: Judged) -> dict | None:
    """Return the selected cell as a row of the comparison's cells; None if it has no run."""
    place = list(found.state.cell.values())
    if not place:
        return None
    cells = found.comparison.cells
    rows = cells.filter(_equals(cells["x"], place[0]) & _equals(cells["y"], place[1]))
    return rows.row(0, named=True) if len(rows) else None


def _equals(column: pl.Series, value: Value | None) -> pl.Series:
    """Return where a column has a value; nowhere if the value has another type."""
    if value is None:
        return column.is_null()
    if isinstance(value, str) != (column.dtype == pl.String):
        return pl.repeat(False, len(column), eager=True)
    return (column == value).fill_null(False)


def evidence_query(state: ModesState) -> tuple[str, list[Any]]:
    """Build the query of the runs of the selected cell, or of all cells unless one is selected.

    Args:
        state: With every choice made.
    """
    limit = RUNS_MAX if state.cell else MAX_ROWS
    return cell_query(state.selection, str(state.metric), state.cell, limit)


def evidence_runs(view: LakeView, found: Judged) -> pl.DataFrame:
    """Read the runs of the selected cell, or of all cells unless one is selected.

    Returns:
        Columns of `cell_query`, `who` (index among the competitors), and `is_best` (whether the run
        belongs to the setting that represents its competitor; without a direction all do).
    """
    rows = view.lake.polars(*evidence_query(found.state))
    who = index_in(rows[found.competitors.knob.column], found.competitors.values)
    rows = rows.with_columns(who=pl.Series(who.astype(np.int64)))
    if found.comparison.better is None:
        return rows.with_columns(is_best=pl.lit(True))
    best = found.comparison.groups[found.comparison.contenders["row"]]
    over = found.pooled
    same = [k.column for k in KNOBS.values() if k.column not in over] if over else CONFIGURATION
    joined = rows.join(
        best.select(same).with_columns(is_best=True),
        on=list(same), how="left", nulls_equal=True, maintain_order="left",
    )  # fmt: skip
    return joined.with_columns(pl.col("is_best").fill_null(False))


def verdict_words(found: Judged, cell: dict, contenders: Sequence[Contender]) -> str:
    """Write the outcome of a cell in one sentence."""
    measure = metric(found.metric)
    first = contenders[0].label
    if cell["outcome"] == ALONE:
        return f"Only {first} was measured here: there is nothing to compare it with, so no win."
    second = contenders[1].label
    change = "less" if measure.better == "less" else "more"
    absolute = format_quantity(cell["margin"], measure.unit)
    lead = f"{measure.title} {format_change(cell['margin_share'])}, {absolute} {change}"
    if cell["outcome"] == DIFFER:
        return (
            f"{_capital(found, first)} is above {second} ({lead}). There is no better direction, "
            "so nothing wins."
        )
    if cell["outcome"] == TIE:
        return f"A tie: {first} and {second} do not differ significantly ({lead})."
    if cell["outcome"] == TOO_FEW:
        why = _why_too_few(found, contenders)
        return f"Too few replicates to decide: {first} leads {second} ({lead}). {why}"
    return f"{_capital(found, first)} wins over {second} ({lead})."


def _capital(found: Judged, label: str) -> str:
    """Begin a sentence with a mode's words; names stay as they are."""
    is_words = found.competitors.knob.name == "mode"
    return f"{label[:1].upper()}{label[1:]}" if is_words else label


def statistics_words(found: Judged, cell: dict, contenders: Sequence[Contender]) -> str:
    """Write test, n, p, effect size and the difference's interval; empty without a test."""
    state = found.state
    if cell["outcome"] in (ALONE, TOO_FEW) and np.isnan(cell["p"]):
        return ""
    first, second = contenders[:2]
    effect, name = cell["effect"], EFFECT_TITLES[state.test]
    parts = [
        f"{rules_words(state)}: p = {p_words(cell['p'])}",
        f"corrected {p_words(cell['p_corrected'])}" if state.correction != "none" else "",
        f"n = {first.n} and {second.n}",
        f"no {name}: neither has any spread" if np.isnan(effect) else f"{name} = {effect:.3g}",
        _difference(state, first, second),
    ]
    return " · ".join(part for part in parts if part)


def p_words(p: float) -> str:
    """Format a p value with three digits; an en dash if the test has none."""
    return "\N{EN DASH}" if np.isnan(p) else f"{p:.3g}"


def _difference(state: ModesState, first: Contender, second: Contender) -> str:
    """Format the 95 % confidence interval of the difference of the means, for t tests."""
    if state.test == "mann-whitney" or not first.sd + second.sd > 0:
        return ""
    from scipy.stats import ttest_ind

    test = ttest_ind(first.values, second.values, equal_var=state.test == "student")
    low, high = test.confidence_interval(0.95)
    unit = metric(str(state.metric)).unit
    difference = format_quantity(first.mean - second.mean, unit).replace("-", MINUS)
    half = format_quantity(float(high - low) / 2, unit)
    return f"difference {difference} \N{PLUS-MINUS SIGN} {half} (95 % CI)"


def _why_too_few(found: Judged, contenders: Sequence[Contender]) -> str:
    first, second = (contender.n for contender in contenders[:2])
    if min(first, second) < 2:
        return f"n = {first} and {second}: a test needs two or more."
    test = found.state.test
    least = smallest_p(test, np.array([first]), np.array([second]))[0]
    return (
        f"n = {first} and {second}: the exact {TEST_TITLES[test]} gives no p value below "
        f"{least:.3g}."
    )


def _rows(found: Judged, cell: dict) -> list[dict]:
    first = cell["winner"]
    return list(
        found.comparison.contenders[first : first + cell["competitors"]].iter_rows(named=True)
    )


def _contender(found: Judged, row: dict, runs: pl.DataFrame, view: LakeView) -> Contender:
    who = found.competitors.values.index(row["competitor"])
    groups = found.comparison.groups
    group = groups.row(row["row"], named=True)
    mine = runs.filter(pl.col("is_best") & (pl.col("who") == who))
    return Contender(
        label=found.competitors.labels[who],
        hue=found.competitors.hues[who],
        setting=setting_words(group, free_knobs(groups, found.state), found.labels),
        settings=row["settings"],
        n=row["n"],
        mean=row["mean"],
        sd=row["sd"],
        half_width=row["half_width"],
        values=tuple(group["values"]),
        runs=mine.select("run_id", "replicate", "value", "has_log"),
        place=_place(
            view,
            found.state,
            {k.column: group[k.column] for k in KNOBS.values() if k.column not in found.pooled},
        ),
    )


def _place(view: LakeView, state: ModesState, knobs: Place) -> Place:
    """Return the knobs that vary under the filters; both axes if none does."""
    left = view.left(state.selection)
    varying = {name: value for name, value in knobs.items() if left[name].n_unique() > 1}
    return varying or {knob.column: knobs[knob.column] for knob in state.knobs()[:2]}


def _figure(found: Judged, cell: dict, runs: pl.DataFrame, title: str) -> dict[str, Any]:
    rows = _rows(found, cell)
    order = [found.competitors.values.index(row["competitor"]) for row in rows]
    means = pl.DataFrame(
        {"who": order, **{name: [row[name] for row in rows] for name in ("mean", "half_width")}}
    )
    subtitle = "replicates, mean, 95 % CI"
    if not runs["is_best"].all():
        subtitle += "; open: others"
    if len(runs) == RUNS_MAX:
        subtitle += f"; first {RUNS_MAX:,} runs"
    scene = EvidenceScene(found.metric, title, subtitle, tuple(order), found.competitors)
    return build_evidence(runs, means, scene)
