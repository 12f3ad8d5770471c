"""The evidence of one cell: its runs, what was compared, and the verdict in words."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import index_in
from app.kit.competitors import value_words
from app.kit.lake_view import LakeView
from app.kit.settings import MAX_ROWS
from app.modes.alike import alike_words
from app.modes.figures.evidence import EvidenceScene, build_evidence
from app.modes.judged import Judged, given_filters
from app.modes.payload import free_knobs, judge, own_panel, setting_words
from app.modes.state import ModesState
from app.modes.words import EFFECT_TITLES, competitor_name, p_words, rules_words, verdict_words
from data.analysis.rules import ALONE, EQUIVALENT, OVER, SETS
from data.analysis.significance import Moments, difference_half_widths
from data.knobs import Knob
from data.queries.modes import cell_query
from data.selection import Selection, Value
from data.units import format_quantity

# Maximum number of runs in the figure; the first by configuration are shown.
RUNS_MAX: Final = 5000
Place = dict[str, Value | None]
NOTHING_MEASURED: Final = "Nothing was measured in this cell under these filters."
CLOSEST: Final = "closest"


@dataclass(frozen=True, slots=True)
class Contender:
    """One competitor of a cell, represented by its best setting.

    Attributes:
        setting: The varying knobs of that setting; empty if none varies.
        settings: Number of its settings in the cell.
        low, high: The mean's 95 % confidence interval; NaN for one run.
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
    low: float
    high: float
    sd: float
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
        knobs: All knobs, by column.
        is_unstated: Whether all rows are means of an unstated number of runs.
    """

    figure: dict[str, Any] | None
    title: str
    verdict: str
    statistics: str = ""
    contenders: tuple[Contender, ...] = ()
    unit: str = ""
    doubt: str = ""
    place: Place = field(default_factory=dict)
    filters: Selection = field(default_factory=Selection)
    lake_version: int | None = None
    knobs: Mapping[str, Knob] = field(default_factory=dict)
    is_unstated: bool = False


def evidence(view: LakeView, state: ModesState) -> Evidence | None:
    """Return the evidence of the selected cell, else of the closest contest.

    None if no cell was compared, or several are selected.
    """
    if not view.runs:
        return None
    whole = judge(view, state)
    shown = shown_place(whole, state)
    if not shown:
        return None
    cell_words = place_words(whole, shown)
    title = " · ".join(cell_words)
    judged, cell_values = own_panel(whole, shown)
    if not state.sel:
        title = f"{CLOSEST}: {title}"
    cell = cell_at(judged, cell_values)
    if cell is None:
        return Evidence(None, title, NOTHING_MEASURED)
    runs = evidence_runs(view, judged, cell_values)
    contenders = tuple(_contender(judged, row, runs, view) for row in _rows(judged, cell))
    names = compared_names(judged, cell)
    return Evidence(
        figure=_figure(judged, cell, runs, cell_words, not state.sel),
        title=title,
        verdict=" ".join(
            filter(None, [verdict_words(judged, cell, names), alike_words(judged, cell)])
        ),
        statistics=statistics_words(judged, cell),
        contenders=contenders,
        unit=judged.metric.unit,
        doubt=judged.metric.doubt_of(*judged.comparison.groups["dataset"].unique()),
        place=_place(view, judged, cell_values),
        filters=judged.state.selection,
        lake_version=judged.state.lake_version,
        knobs=judged.catalogue.knob_of_column,
        is_unstated=judged.is_unstated,
    )


def shown_place(judged: Judged, state: ModesState) -> Place:
    """Return the values of the cell whose evidence is shown, by column; empty for none."""
    if state.sel:
        return replace(judged.state, sel=state.sel).cell(judged.catalogue)
    closest, split = judged.closest(), judged.split
    x, y, _ = judged.knobs
    if not closest:
        return {}
    panel = {split.knob.column: split.values[closest["panel"]]} if split else {}
    return {x.column: closest["x"], y.column: closest["y"], **panel}


def place_words(judged: Judged, cell: Place) -> list[str]:
    """Return the values of a place in words."""
    knobs = judged.catalogue.knob_of_column
    return [value_words(knobs[name], value, judged.labels) for name, value in cell.items()]


def cell_at(judged: Judged, cell: Place) -> dict | None:
    """Return a cell as a row of the comparison's cells; None if it has no run."""
    if cell.keys() != {knob.column for knob in judged.knobs[:2]}:
        return None
    cells, (x, y) = judged.comparison.cells, cell.values()
    rows = cells.filter(_equals(cells["x"], x) & _equals(cells["y"], y))
    return rows.row(0, named=True) if len(rows) else None


def _equals(column: pl.Series, value: Value | None) -> pl.Series:
    """Return where a column has a value; nowhere if the value has another type."""
    if value is None:
        return column.is_null()
    if isinstance(value, str) != (column.dtype == pl.String):
        return pl.repeat(False, len(column), eager=True)
    return (column == value).fill_null(False)


def evidence_query(judged: Judged, cell: Place) -> tuple[str, list[Any]]:
    """Build the query of the runs of a cell, or of all cells where `cell` is empty."""
    limit = RUNS_MAX if cell else MAX_ROWS
    return cell_query(
        judged.state.selection, judged.metric.name, cell, limit, catalogue=judged.catalogue
    )


def evidence_runs(view: LakeView, judged: Judged, cell: Place) -> pl.DataFrame:
    """Read the runs of a cell, or of all cells where `cell` is empty.

    Returns:
        Columns of `cell_query`, `who` (index among the competitors), and `is_best` (whether the run
        belongs to the setting that represents its competitor; without a direction all do).
    """
    catalogue, comparison = judged.catalogue, judged.comparison
    rows = view.lake.polars(*evidence_query(judged, cell))
    values = judged.competitors.values[: len(judged.competitors) - judged.has_default]
    who = index_in(rows[judged.competitors.knob.column], values).astype(float)
    # Where the default is compared, only the best competitor of each cell is.
    rows = rows.with_columns(who=pl.Series(who)).filter(~np.isnan(who))
    rows = rows.with_columns(pl.col("who").cast(pl.Int64))
    if comparison.better is None:
        return rows.with_columns(is_best=pl.lit(True))
    best = comparison.groups[comparison.contenders["row"]]
    over = judged.pooled
    knobs = [name for name in catalogue.knob_of_column if name not in over]
    same = knobs if over else list(catalogue.configuration)
    joined = rows.join(
        best.select(same).unique().with_columns(is_best=True),
        on=same, how="left", nulls_equal=True, maintain_order="left",
    )  # fmt: skip
    joined = joined.with_columns(pl.col("is_best").fill_null(False))
    return pl.concat([joined, *_default_runs(view, judged, cell, joined.columns)])


def _default_runs(
    view: LakeView, judged: Judged, cell_values: Place, columns: list[str]
) -> list[pl.DataFrame]:
    """Read the runs of the default that a cell is compared with."""
    cell = cell_at(judged, cell_values)
    rows = [row for row in _rows(judged, cell) if row["is_default"]] if cell else []
    groups, catalogue = judged.comparison.groups, judged.catalogue
    knobs = [name for name in catalogue.knob_of_column if name not in judged.pooled]
    tables = []
    for row in rows:
        own = groups.select(knobs).row(row["row"], named=True)
        only = given_filters(catalogue, judged.state.selection)
        query = cell_query(only, judged.metric.name, own, RUNS_MAX, catalogue=catalogue)
        runs = view.lake.polars(*query).filter(pl.col("is_baseline").fill_null(False))
        runs = runs.with_columns(who=pl.lit(row["who"], pl.Int64), is_best=pl.lit(True))
        tables.append(runs.select(columns))
    return tables


def compared_names(judged: Judged, cell: dict) -> list[str]:
    """Return the names of the winner and the runner-up, or of the only contender."""
    rows = [cell["winner"], *([cell["runner_up"]] if cell["runner_up"] >= 0 else [])]
    return [competitor_name(judged, judged.who[row]) for row in rows]


def statistics_words(judged: Judged, cell: dict) -> str:
    """Write the rule, n, p, and what was compared; empty without a comparison."""
    if cell["outcome"] in (ALONE, OVER) or np.isnan(cell["p"]):
        return ""
    state, contenders = judged.state, judged.comparison.contenders
    first, second = (contenders.row(cell[role], named=True) for role in ("winner", "runner_up"))
    parts = [
        f"{rules_words(state)}: p = {p_words(cell['p'])}",
        f"corrected {p_words(cell['p_corrected'])}" if state.correction != "none" else "",
        f"n = {first['n']} and {second['n']}",
    ]
    if state.test == SETS:
        members = cell["members_winner"], cell["members_runner_up"]
        if max(members) > 1:
            parts.append(f"best of {members[0]} and {members[1]} settings that may be the best")
        # The two one-sided tests of an equivalence have an interval with twice the error.
        error = judged.comparison.level * (2 if cell["outcome"] == EQUIVALENT else 1)
        parts.append(f"{100 * (1 - error):.4g} % interval")
    else:
        effect, name = cell["effect"], EFFECT_TITLES[state.test]
        is_none = np.isnan(effect)
        parts.append(f"no {name}: neither has any spread" if is_none else f"{name} = {effect:.3g}")
        parts.append(_difference(judged, first, second))
    return " · ".join(part for part in parts if part)


def _difference(judged: Judged, first: dict, second: dict) -> str:
    """Format the 95 % confidence interval of the difference of the means, for t tests."""
    if judged.state.test == "mann-whitney" or not first["sd"] + second["sd"] > 0:
        return ""
    n, mean, sd = (np.array([first[name], second[name]]) for name in ("n", "mean", "sd"))
    one, other = np.array([0]), np.array([1])
    half = difference_half_widths(Moments(n, mean, sd), one, other, judged.state.test == "student")
    unit = judged.metric.unit
    difference = format_quantity(first["mean"] - second["mean"], unit)
    return f"difference {difference} \N{PLUS-MINUS SIGN} {format_quantity(half[0], unit)} (95 % CI)"


def _rows(judged: Judged, cell: dict) -> list[dict]:
    first = cell["first"]
    contenders = judged.comparison.contenders[first : first + cell["competitors"]]
    who = judged.who[first : first + cell["competitors"]]
    return [
        {**row, "who": int(i)} for row, i in zip(contenders.iter_rows(named=True), who, strict=True)
    ]


def _contender(judged: Judged, row: dict, runs: pl.DataFrame, view: LakeView) -> Contender:
    who, groups = row["who"], judged.comparison.groups
    group = groups.row(row["row"], named=True)
    own = runs.filter(pl.col("is_best") & (pl.col("who") == who))
    knobs = [name for name in judged.catalogue.knob_of_column if name not in judged.pooled]
    return Contender(
        label=judged.competitors.labels[who],
        hue=judged.competitors.hues[who],
        setting=setting_words(group, free_knobs(judged), judged.labels),
        settings=row["settings"],
        n=row["n"],
        mean=row["mean"],
        low=row["low"],
        high=row["high"],
        sd=row["sd"],
        values=tuple(group["values"]),
        runs=own.select("run_id", "replicate", "value", "has_log"),
        place=_place(view, judged, {name: group[name] for name in knobs}),
    )


def _place(view: LakeView, judged: Judged, knobs: Place) -> Place:
    """Return the knobs that vary under the filters; both axes if none does."""
    left = view.left(judged.state.selection)
    varying = {name: value for name, value in knobs.items() if left[name].n_unique() > 1}
    return varying or {knob.column: knobs[knob.column] for knob in judged.knobs[:2]}


def _figure(
    judged: Judged, cell: dict, runs: pl.DataFrame, title_parts: list[str], is_closest: bool
) -> dict[str, Any]:
    """Draw the runs of a cell; `title_parts` are its place, its panel last."""
    title = " · ".join(title_parts[:2])
    title = f"{CLOSEST}: {title}" if is_closest else title
    rows = _rows(judged, cell)
    means = pl.DataFrame(rows).select("who", "mean", "low", "high")
    subtitle = f"{judged.kind_of_mean} mean, 95 % CI"
    subtitle = " · ".join([*title_parts[2:], subtitle])
    if not runs["is_best"].all():
        subtitle += "; open: others"
    if len(runs) == RUNS_MAX:
        subtitle += f"; first {RUNS_MAX:,} runs"
    order = tuple(means["who"].to_list())
    # Where the default is compared, it and the best competitor are shown.
    runs = runs.filter(pl.col("who").is_in(order))
    scene = EvidenceScene(judged.metric, title, subtitle, order, judged.competitors)
    return build_evidence(runs, means, scene)
