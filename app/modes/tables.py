"""The rows behind the views of Modes, and text on how each view was computed."""

import math
from typing import Any, Final

import polars as pl

from app.kit.lake_view import LakeView
from app.kit.page import Recomputed
from app.kit.settings import MAX_ROWS
from app.kit.words import explanation
from app.modes.evidence import (
    Place,
    cell_at,
    compared_names,
    evidence_query,
    evidence_runs,
    shown_place,
    statistics_words,
)
from app.modes.judged import Judged, replicates_query
from app.modes.payload import judge, own_panel
from app.modes.state import ModesState
from app.modes.words import EFFECT_TITLES, limit_words, p_words, rules_words, verdict_words
from data.analysis.rules import SETS
from data.analysis.ties import win_counts
from data.errors import SelectionError
from data.queries.recomputed import map_counts_query
from data.queries.runs import runs_query
from data.queries.statement import statement

_CALLS: Final = {
    "student": "stats.ttest_ind(a, b)",
    "welch": "stats.ttest_ind(a, b, equal_var=False)",
    "mann-whitney": "stats.mannwhitneyu(a, b)",
}

_NO_DIRECTION: Final = "no better direction, so nothing wins"
_BEST: Final = (
    "Each competitor is represented in a cell by its best setting: the configuration (all "
    "other knobs equal) with the best mean over its replicates; of equal means the one with "
    "more replicates. The best setting is chosen with the data that are tested, so among many "
    "settings it may be best by chance: the hover shows their number. Cells that are led by a "
    "setting at which the runner-up was not measured are compared once more at the settings that "
    "both have, which the page and the evidence of the cell say."
)
_LIMITED: Final = (
    "A setting whose mean is beyond it does not compete.",
    "A setting that is surely beyond it does not compete, and only settings that are surely within "
    "it can prove that their side is that good.",
)
_DEFAULT: Final = (
    "The best competitor of each cell is compared with the default of the same load, size and "
    "machine, whatever the filters on settings; the default need not meet a limit."
)
_ALL: Final = (
    "Each competitor is represented in a cell by one configuration, the same in all cells: without "
    "a direction no setting is best. The competitor with the highest mean is named."
)


def rows_behind(view: LakeView, state: ModesState, name: str) -> pl.DataFrame:
    """Return the rows of a download.

    Args:
        name: `winners` (one row per cell), `shares`, `pareto` (one row per cell and competitor),
            `evidence` (one row per run of the selected cell, or of all cells unless one is
            selected) or `runs` (all columns of the compared runs).

    Raises:
        SelectionError: Nothing was measured in the selected cell.
    """
    judged = judge(view, state)
    if name == "shares":
        return win_counts(judged.comparison)
    shown, panels = shown_place(judged, state) if state.sel else {}, judged.panels or (judged,)
    if name == "evidence" and shown:
        judged, shown = own_panel(judged, shown)
        panels = (judged,)
    rows = {
        "winners": _cell_rows,
        "pareto": _contender_rows,
        "evidence": lambda panel: _evidence_rows(view, panel, shown),
        "runs": lambda panel: view.lake.polars(*_runs_query(panel)),
    }[name]
    tables = [_named(rows(panel), judged, number) for number, panel in enumerate(panels)]
    return pl.concat(tables, how="diagonal_relaxed")


def recomputed(view: LakeView, state: ModesState, name: str) -> list[Recomputed]:
    """Return how a map of best sets is computed again: bests, outcomes, leads, and their counts."""
    if name not in ("winners", "pareto", "shares") or state.sel:
        return []
    judged = judge(view, state)
    catalogue, rules, measure = judged.catalogue, judged.state, judged.metric
    is_plain = not (judged.split or judged.part.pooled or judged.has_default)
    is_plain &= rules.test == SETS and rules.limit is None and measure.unit != "%"
    is_plain &= rules.correction == "benjamini-hochberg"
    chosen = {clause.facet.column for clause in rules.selection.clauses}
    if not (is_plain and measure.better and chosen <= {*catalogue.choice_columns}):
        return []
    x, y, competitor = judged.knobs
    if name == "shares":
        query = map_counts_query(competitor.column)
        return [Recomputed(query, ("competitor", "outcome"), ("cells",))]
    ends = (f"{measure.name}_ci95_low", f"{measure.name}_ci95_high")
    best = ("settings", *ends)
    again: dict[str, Any] = {
        "how": "bests", "metric": {"name": measure.name, "sign": measure.sign},
        "choice": list(catalogue.choice_columns), "cell": [x.column, y.column],
        "setting": [*catalogue.choice_columns, *catalogue.setting_columns],
        "competitor": competitor.column, "best": best,
        "family": ["dataset", "workload", "machine", "system"],
    }  # fmt: skip
    keys: tuple[str, ...] = (x.column, y.column, competitor.column)
    values: tuple[str, ...] = best
    if name == "winners":
        values = (
            "outcome", "level", f"lead_{measure.name}", "lead_share", "lead_share_low",
            "lead_share_high", "p", "p_corrected", "winner_members", "runner_up_members",
            *(f"{side}{end}" for side in ("winner_", "runner_up_") for end in best),
        )  # fmt: skip
        keys = keys[:2]
        again |= {"how": "cells", "alpha": rules.alpha, "columns": values}
        again["margin"] = math.log1p(rules.margin_pct / 100)
    return [Recomputed("", keys, values, again=again, tolerances=dict.fromkeys(values, 1e-6))]


def _named(rows: pl.DataFrame, judged: Judged, number: int) -> pl.DataFrame:
    """Return the rows of a panel with its value, where they do not have it."""
    if judged.split is None or judged.split.knob.column in rows.columns:
        return rows
    value = pl.lit(judged.split.values[number]).alias(judged.split.knob.column)
    return rows.select(value, pl.all())


def explain(view: LakeView, state: ModesState, name: str) -> str:
    """Return how a view was computed: filters, rules, the shown cell's test, executed queries."""
    whole = judge(view, state)
    shown = shown_place(whole, state)
    judged, cell = own_panel(whole, shown)
    selection = judged.state.selection
    check = _check(judged, cell)
    before = [_rules(judged), *([check] if check else [])]
    if whole.split:
        before.insert(0, _panel_words(whole, judged))
    if name == "runs":
        return explanation(view, selection, _runs_query(judged), before)
    query, _ = replicates_query(view, judged.state)
    own = cell if state.sel else {}
    where = "the selected cell" if own else "all cells"
    runs = statement(*evidence_query(judged, own)) if name == "evidence" else ""
    after = [f"comparison of the cells; then the runs of {where} by\n\n{runs}"] if runs else []
    return explanation(view, selection, query(selection, MAX_ROWS), before, after)


def _panel_words(whole: Judged, shown: Judged) -> str:
    split = whole.split
    assert split is not None
    titles = ", ".join(split.titles)
    at = next((i for i, one in enumerate(whole.panels) if one is shown), 0)
    return (
        f"{len(split.values)} panels, one for each value of {split.knob.column}: {titles}. Each is "
        f"compared as if it were the page; the queries below are those of {split.titles[at]}."
    )


def _rules(judged: Judged) -> str:
    state, measure = judged.state, judged.metric
    x, y, competitor = judged.knobs
    limit = limit_words(judged)
    sentences = [
        f"cells: {x.column} x {y.column}; competitors: values of {competitor.column}; metric: "
        f"{measure.name} ({f'{measure.better} is better' if measure.better else _NO_DIRECTION})",
        _BEST if measure.better else _ALL,
        *([f"limit: {limit}. {_LIMITED[state.test == SETS]}"] if limit else []),
        *([_DEFAULT] if judged.has_default else []),
        *(_set_rules(judged) if state.test == SETS else _test_rules(judged)),
    ]
    if judged.part.pooled:
        over = ", ".join(knob.column for knob, _ in judged.part.pooled.knobs)
        sentences.append(f"Configurations that differ only in {over} are taken together, as one.")
    return "\n".join(sentences)


def _set_rules(judged: Judged) -> list[str]:
    state = judged.state
    return [
        f"rule: {rules_words(state)}; alpha {state.alpha:g}, margin {state.margin_pct:g} %, level "
        f"of each interval {judged.comparison.level:.4g}",
        "Logarithms are compared, so means are geometric and differences are in percent "
        "(percentages, and metrics with values of 0 and below, as they are). The noise of each "
        "setting is moderated by that of all settings of its system and load (Smyth 2004).",
        "Each of the best two competitors is all settings that cannot be told from its best "
        "(Gupta, Hsu). Better: the interval of the difference of their bests does not hold 0. "
        "Equivalent: two one-sided tests put it within the margin. Undecided: neither, with about "
        "how many more runs of each setting would decide. Settings with one run do not count.",
        "p: the least alpha at which the cell alone is decided. The correction counts the cells "
        "that were compared, and every interval has the level at which its outcome was read.",
    ]


def _test_rules(judged: Judged) -> list[str]:
    state = judged.state
    return [
        f"The best two competitors of a cell are tested, two-sided: {rules_words(state)}. A "
        f"corrected p value above {state.alpha:g} is a tie. The correction counts the cells that "
        "were tested. Fewer than two replicates are not tested. Where so few replicates cannot "
        "give a p value below alpha, the outcome is too few. A cell in which only one "
        "competitor was measured is not won.",
        f"lead: (winner - runner-up) / |runner-up|, and absolute; effect size: "
        f"{EFFECT_TITLES[state.test]}; intervals of means: 95 %, Student's t",
    ]


def _check(judged: Judged, cell_values: Place) -> str:
    """Return the numbers of a cell's comparison, and Python code that repeats a test."""
    cell = cell_at(judged, cell_values)
    if cell is None or cell["runner_up"] < 0:
        return ""
    names = compared_names(judged, cell)
    title = " · ".join(
        knob.words(value) for knob, value in zip(judged.knobs, cell_values.values(), strict=False)
    )
    head = (
        f"the cell {title}: {verdict_words(judged, cell, names)}\n{statistics_words(judged, cell)}"
    )
    contenders, groups = judged.comparison.contenders, judged.comparison.groups
    values = [
        [float(v) for v in groups["values"][contenders["row"][cell[role]]]]
        for role in ("winner", "runner_up")
    ]
    lines = [f"{a} = {v}  # {name}" for a, v, name in zip("ab", values, names, strict=True)]
    if judged.state.test == SETS:
        return "\n".join([head, "", "runs of the best setting of each:", *lines])
    call = f"{_CALLS[judged.state.test]}  # p = {p_words(cell['p'])}"
    return "\n".join([head, "", "from scipy import stats", *lines, call])


def _runs_query(judged: Judged) -> tuple[str, list[Any]]:
    return runs_query(
        judged.state.selection, MAX_ROWS, judged.metric.name, catalogue=judged.catalogue
    )


def _cell_rows(judged: Judged) -> pl.DataFrame:
    """Return one row per cell, with the winner and the runner-up side by side."""
    x, y, _ = judged.knobs
    cells = judged.comparison.cells
    rows = _contender_rows(judged)
    parts = [
        cells.select("x", "y", "outcome", "competitors").rename({"x": x.column, "y": y.column})
    ]
    for role in ("winner", "runner_up"):
        mine = rows.select(pl.all().gather(cells[role].replace(-1, None)))
        named = {n: f"{role}_{n}" for n in mine.columns if n not in (x.column, y.column)}
        parts.append(mine.select(list(named)).rename(named))
    names = {
        "margin_share": "lead_share", "share_low": "lead_share_low",
        "share_high": "lead_share_high", "more_runs": "more_runs",
        "members_winner": "winner_members", "members_runner_up": "runner_up_members", "p": "p",
        "p_corrected": "p_corrected", "effect": "effect",
    }  # fmt: skip
    lead = cells.select(pl.col("margin").alias(f"lead_{judged.metric.name}"))
    numbers = cells.select(pl.col(own).alias(name) for own, name in names.items())
    level = pl.lit(judged.comparison.level).alias("level")
    return _beside(*parts, lead.fill_nan(None), numbers.fill_nan(None).with_columns(level))


def _beside(*tables: pl.DataFrame) -> pl.DataFrame:
    """Return tables side by side; a second column of one name, as of a lake that has a column
    called as one of the page's, ends in `_2`.
    """
    columns: dict[str, pl.Series] = {}
    for column in (column for table in tables for column in table):
        columns[column.name + "_2" * (column.name in columns)] = column
    return pl.DataFrame(columns)


def _contender_rows(judged: Judged) -> pl.DataFrame:
    """Return one row per cell and competitor: its best setting, mean, spread, second metric."""
    axes = judged.knobs
    contenders, groups = judged.comparison.contenders, judged.comparison.groups
    column, against = judged.metric.name, judged.state.against
    settings = [n for n, knob in judged.catalogue.knob_of_column.items() if knob not in axes]
    second = against if against != column else f"{against}_again"
    numbers = contenders.select(
        pl.col("mean").alias(column), pl.col("sd").alias(f"{column}_sd"),
        pl.col("low").alias(f"{column}_ci95_low"), pl.col("high").alias(f"{column}_ci95_high"),
    )  # fmt: skip
    named = [knob.column for knob in axes]
    places = zip(("x", "y", "competitor"), named, strict=True)
    return _beside(
        contenders.select(pl.col(own).alias(name) for own, name in places),
        groups.select(pl.col(settings).gather(contenders["row"])),
        contenders.select("is_default", "n", "settings"),
        numbers.fill_nan(None),
        groups.select(pl.col("against").gather(contenders["row"]).alias(second)),
    )


def _evidence_rows(view: LakeView, judged: Judged, cell: Place) -> pl.DataFrame:
    if cell and cell_at(judged, cell) is None:
        raise SelectionError("nothing was measured in the selected cell")
    runs = evidence_runs(view, judged, cell).drop("who", "has_log")
    return runs.rename({"value": judged.metric.name, "is_best": "is_compared"})
