"""What Modes gives away: the rows behind its views, and how they were computed, in words."""

from typing import Any, Final

import polars as pl

from app.kit.lakes import LakeView
from app.kit.settings import MAX_ROWS
from app.modes.answer import Judged, judge, place_of
from app.modes.evidence import RUNS_MAX, Evidence, cell_of, cell_runs, evidence, p_words
from app.modes.payload import effect_title
from app.modes.state import ModesState
from app.modes.words import mixed_knobs, rules_words
from data.analysis.ties import win_counts
from data.errors import SelectionError
from data.knobs import KNOBS
from data.metrics import metric
from data.queries.modes import cell_query, configurations_query

VIEWS: Final = ("winners", "shares", "pareto", "evidence", "runs")
_CALLS: Final = {
    "student": "stats.ttest_ind(a, b)",
    "welch": "stats.ttest_ind(a, b, equal_var=False)",
    "mann-whitney": "stats.mannwhitneyu(a, b)",
}


def rows_behind(view: LakeView, state: ModesState, picture: str) -> pl.DataFrame:
    """The rows that a download gives.

    Args:
        picture: `winners` (one row a cell), `shares`, `pareto` (one row a cell and competitor),
            `evidence` (one row a run of the picked cell) or `runs` (all runs that are compared).

    Raises:
        SelectionError: No such picture, or no cell is picked whose evidence could be given.
    """
    found = judge(view, state)
    if picture == "winners":
        return _cell_rows(found)
    if picture == "shares":
        return win_counts(found.comparison)
    if picture == "pareto":
        return _contender_rows(found)
    if picture == "evidence":
        return _evidence_rows(view, found)
    if picture == "runs":
        return view.lake.polars(*_runs_query(found.state))
    raise SelectionError(f"no picture {picture!r}; known: {', '.join(VIEWS)}")


def explain(view: LakeView, state: ModesState, picture: str) -> str:
    """How a view was computed: query, filters, rules, and the call that checks the picked cell."""
    if picture not in VIEWS:
        raise SelectionError(f"no picture {picture!r}; known: {', '.join(VIEWS)}")
    found = judge(view, state)
    sql, parameters = _query(found.state, picture)
    shown = evidence(view, state)
    return "\n\n".join(
        [
            f"lake {view.lake.path.name}, version {view.version}\n"
            f"filters: {found.state.selection.in_words()}",
            _rules(found),
            *([_check(found, shown)] if shown and len(shown.standings) > 1 else []),
            f"{sql}\n\nparameters: {parameters}",
        ]
    )


def _rules(found: Judged) -> str:
    """The way from replicates to outcomes, in words."""
    state = found.state
    x, y, competitor = state.knobs()
    measure = metric(str(state.metric))
    words = [
        f"cells: {x.column} x {y.column}; competitors: values of {competitor.column}; prize: "
        f"{measure.name} ({measure.better} is better)",
        "In each cell a competitor is stood for by its best setting: the configuration (all other "
        "knobs equal) with the best mean over its replicates; of equal means the one with more "
        "replicates. The best is picked with the same data that are tested, so of many settings "
        "the luckiest may be picked: the hover says how many there were.",
        f"The best two competitors of a cell are tested, two-sided: {rules_words(state)}. A "
        f"corrected p value above {state.level:g} is a tie. The correction counts the cells that "
        "were tested. With fewer than two replicates there is no test, and where the test could "
        "not get below the level with so few it is not believed: too few. A cell that one "
        "competitor alone was measured in is not won.",
        f"margin: (winner - runner-up) / |runner-up|, and absolute; effect size: "
        f"{effect_title(state.test)}; intervals of means: 95 %, Student's t",
    ]
    for knob, count in mixed_knobs(found.comparison, state):
        words.append(
            f"Cells mix {count} values of {knob.column}: the best setting is picked among them."
        )
    return "\n".join(words)


def _check(found: Judged, shown: Evidence) -> str:
    """Lines for a notebook that give the picked cell's numbers again."""
    at = cell_of(found)
    a, b = shown.standings[:2]
    p = p_words(at["p"]) if at else ""
    return (
        f"the picked cell, {shown.title}: {shown.verdict}\n{shown.statistics}\n\n"
        f"from scipy import stats\n"
        f"a = {[float(v) for v in a.values]}  # {a.label}, {a.setting or 'its one setting'}\n"
        f"b = {[float(v) for v in b.values]}  # {b.label}, {b.setting or 'its one setting'}\n"
        f"{_CALLS[found.state.test]}  # p = {p}"
    )


def _query(state: ModesState, picture: str) -> tuple[str, list[Any]]:
    place = place_of(state)
    if picture == "evidence" and place:
        return cell_query(state.selection, str(state.metric), place, RUNS_MAX)
    if picture == "runs":
        return _runs_query(state)
    return configurations_query(state.selection, str(state.metric), state.against, MAX_ROWS)


def _runs_query(state: ModesState) -> tuple[str, list[Any]]:
    condition, parameters = state.selection.predicate()
    prize = f"isfinite({state.metric}::DOUBLE)"
    return (
        f"SELECT * FROM runs WHERE ({condition}) AND {prize} ORDER BY run_id LIMIT {MAX_ROWS}",
        parameters,
    )


def _cell_rows(found: Judged) -> pl.DataFrame:
    """One row a cell, with the winner and the runner-up side by side."""
    x, y, _ = found.state.knobs()
    cells = found.comparison.cells
    rows = _contender_rows(found)
    parts = [
        cells.select("x", "y", "outcome", "competitors").rename({"x": x.column, "y": y.column})
    ]
    for role, place in (("winner", cells["winner"]), ("runner_up", cells["runner_up"])):
        at = place.replace(-1, None)
        mine = rows.select(pl.all().gather(at))
        named = {n: f"{role}_{n}" for n in mine.columns if n not in (x.column, y.column)}
        parts.append(mine.select(list(named)).rename(named))
    prize = str(found.state.metric)
    numbers = cells.select(
        pl.col("margin").alias(f"margin_{prize}"), "margin_share", "p", "p_corrected", "effect"
    ).fill_nan(None)
    return pl.concat([*parts, numbers], how="horizontal")


def _contender_rows(found: Judged) -> pl.DataFrame:
    """One row a cell and competitor: its best setting's knobs, mean, spread, second metric."""
    x, y, competitor = found.state.knobs()
    contenders, groups = found.comparison.contenders, found.comparison.groups
    prize, against = str(found.state.metric), found.state.against
    knobs = [k.column for k in KNOBS.values() if k.name not in (x.name, y.name, competitor.name)]
    settings = groups.select(pl.col(knobs).gather(contenders["row"]))
    second = groups["against"].gather(contenders["row"]).alias(
        against if against != prize else f"{against}_again"
    )  # fmt: skip
    numbers = contenders.select(
        "n", "settings", pl.col("mean").alias(prize), pl.col("sd").alias(f"{prize}_sd"),
        pl.col("half_width").alias(f"{prize}_ci95_half_width"),
    ).fill_nan(None)  # fmt: skip
    named = contenders.select("x", "y", "competitor").rename(
        {"x": x.column, "y": y.column, "competitor": competitor.column}
    )
    return pl.concat([named, settings, numbers, second.to_frame()], how="horizontal")


def _evidence_rows(view: LakeView, found: Judged) -> pl.DataFrame:
    at = cell_of(found)
    if at is None:
        raise SelectionError("no measured cell is selected, so there is no evidence to give")
    runs = cell_runs(view, found, at).drop("who", "has_log")
    return runs.rename({"value": str(found.state.metric), "is_best": "is_compared"})
