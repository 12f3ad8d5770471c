"""The rows behind the views of Modes, and text on how each view was computed."""

from typing import Any, Final

import polars as pl

from app.kit.lakes import LakeView
from app.kit.settings import MAX_ROWS
from app.kit.words import explanation
from app.modes.answer import Judged, judge
from app.modes.evidence import (
    Evidence,
    evidence,
    evidence_query,
    evidence_runs,
    p_words,
    selected_cell,
)
from app.modes.payload import EFFECT_TITLES
from app.modes.state import ModesState
from app.modes.words import rules_words
from data.analysis.ties import win_counts
from data.errors import SelectionError
from data.knobs import KNOBS
from data.metrics import metric
from data.queries.modes import configurations_query
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
    "settings it may be best by chance: the hover shows their number."
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
    found = judge(view, state)
    if name == "runs":
        return view.lake.polars(*_runs_query(found.state))
    return _ROWS[name](view, found)


def explain(view: LakeView, state: ModesState, name: str) -> str:
    """Return how a view was computed: filters, rules, selected cell's test, executed queries."""
    found = judge(view, state)
    shown, asked = evidence(view, state), found.state
    check = _check(found, shown) if shown and len(shown.contenders) > 1 else ""
    before = [_rules(found), *([check] if check else [])]
    if name == "runs":
        return explanation(view, asked.selection, _runs_query(asked), before)
    query = configurations_query(asked.selection, found.metric, asked.against, MAX_ROWS)
    where = "the selected cell" if asked.cell else "all cells"
    runs = statement(*evidence_query(asked)) if name == "evidence" else ""
    after = [f"comparison of the cells; then the runs of {where} by\n\n{runs}"] if runs else []
    return explanation(view, asked.selection, query, before, after)


def _rules(found: Judged) -> str:
    state = found.state
    x, y, competitor = state.knobs()
    measure = metric(found.metric)
    words = [
        f"cells: {x.column} x {y.column}; competitors: values of {competitor.column}; metric: "
        f"{measure.name} ({f'{measure.better} is better' if measure.better else _NO_DIRECTION})",
        _BEST if measure.better else _ALL,
        f"The best two competitors of a cell are tested, two-sided: {rules_words(state)}. A "
        f"corrected p value above {state.level:g} is a tie. The correction counts the cells that "
        "were tested. Fewer than two replicates are not tested. Where so few replicates cannot "
        "give a p value below the level, the outcome is too few. A cell in which only one "
        "competitor was measured is not won.",
        f"margin: (winner - runner-up) / |runner-up|, and absolute; effect size: "
        f"{EFFECT_TITLES[state.test]}; intervals of means: 95 %, Student's t",
    ]
    if found.part.pooled:
        over = ", ".join(knob.column for knob, _ in found.part.pooled.knobs)
        words.append(f"Configurations that differ only in {over} are taken together, as one.")
    return "\n".join(words)


def _check(found: Judged, shown: Evidence) -> str:
    """Return Python code that repeats the selected cell's test."""
    cell = selected_cell(found)
    a, b = shown.contenders[:2]
    alone = "its one setting" if found.comparison.better else "all its runs"
    p = p_words(cell["p"]) if cell else ""
    return (
        f"the selected cell, {shown.title}: {shown.verdict}\n{shown.statistics}\n\n"
        f"from scipy import stats\n"
        f"a = {[float(v) for v in a.values]}  # {a.label}, {a.setting or alone}\n"
        f"b = {[float(v) for v in b.values]}  # {b.label}, {b.setting or alone}\n"
        f"{_CALLS[found.state.test]}  # p = {p}"
    )


def _runs_query(state: ModesState) -> tuple[str, list[Any]]:
    return runs_query(state.selection, MAX_ROWS, str(state.metric))


def _cell_rows(view: LakeView, found: Judged) -> pl.DataFrame:
    """Return one row per cell, with the winner and the runner-up side by side."""
    x, y, _ = found.state.knobs()
    cells = found.comparison.cells
    rows = _contender_rows(view, found)
    parts = [
        cells.select("x", "y", "outcome", "competitors").rename({"x": x.column, "y": y.column})
    ]
    for role in ("winner", "runner_up"):
        mine = rows.select(pl.all().gather(cells[role].replace(-1, None)))
        named = {n: f"{role}_{n}" for n in mine.columns if n not in (x.column, y.column)}
        parts.append(mine.select(list(named)).rename(named))
    numbers = cells.select(
        pl.col("margin").alias(f"margin_{found.metric}"), "margin_share", "p", "p_corrected",
        "effect",
    )  # fmt: skip
    return pl.concat([*parts, numbers.fill_nan(None)], how="horizontal")


def _contender_rows(_: LakeView, found: Judged) -> pl.DataFrame:
    """Return one row per cell and competitor: its best setting, mean, spread, second metric."""
    axes = found.state.knobs()
    contenders, groups = found.comparison.contenders, found.comparison.groups
    column, against = found.metric, found.state.against
    settings = [knob.column for knob in KNOBS.values() if knob not in axes]
    second = against if against != column else f"{against}_again"
    numbers = contenders.select(
        "n", "settings", pl.col("mean").alias(column), pl.col("sd").alias(f"{column}_sd"),
        pl.col("half_width").alias(f"{column}_ci95_half_width"),
    ).fill_nan(None)  # fmt: skip
    named = [knob.column for knob in axes]
    return pl.concat(
        [
            contenders.select(pl.col("x", "y", "competitor")).rename(
                dict(zip(("x", "y", "competitor"), named, strict=True))
            ),
            groups.select(pl.col(settings).gather(contenders["row"])),
            numbers,
            groups.select(pl.col("against").gather(contenders["row"]).alias(second)),
        ],
        how="horizontal",
    )


def _evidence_rows(view: LakeView, found: Judged) -> pl.DataFrame:
    if found.state.cell and selected_cell(found) is None:
        raise SelectionError("nothing was measured in the selected cell")
    runs = evidence_runs(view, found).drop("who", "has_log")
    return runs.rename({"value": found.metric, "is_best": "is_compared"})


_ROWS: Final = {
    "winners": _cell_rows,
    "shares": lambda _, found: win_counts(found.comparison),
    "pareto": _contender_rows,
    "evidence": _evidence_rows,
}
