"""The settings of a question: their moments, their best sets, and what the points are by them."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
import polars.selectors as cs

from app.explore.question import Question
from app.explore.state import ExploreState
from app.kit.lake_view import LakeView, leading
from app.kit.settings import MAX_ROWS
from data.analysis.facets import matches
from data.catalogue import Catalogue
from data.choices import (
    Study,
    in_order,
    study,
)
from data.errors import DataError
from data.queries.moments import moments_query
from data.selection import Clause, Selection

# More choices at once are a menu, not an answer: the first by load and system are judged.
MOST_CHOICES: Final = 60


def studies_of(question: Question) -> tuple[Study, ...]:
    """Return the best set of each system at each load that the filters leave, each found once."""
    plain = replace(without_picture(question.state), margin_pct=1.0, against="")
    return question.view.once(_studies, replace(question, state=plain), is_large=True)


def standings_of(question: Question, keys: Sequence[str]) -> pl.DataFrame:
    """Return what the judged settings are.

    Args:
        keys: Columns of a setting to return.

    Returns:
        These columns; `standing` (within, maybe, outside; NULL without a limit); `next_run` (in,
        out: whether the next run meets the limit with 95 %); `best` of those that cannot be told
        from the best: `set` with two runs, `once` with one, else NULL, as where neither less nor
        more of the cost is known to be better.
    """
    studies = studies_of(question)
    if not studies:
        nothing = {name: pl.lit(None, pl.Categorical) for name in ("standing", "next_run", "best")}
        return moments_of(question).select(keys).clear().with_columns(**nothing)
    index = np.concatenate(
        [np.where(s.best.is_outside, 2, np.where(s.best.is_within, 0, 1)) for s in studies]
    )
    member = np.concatenate(
        [np.where(s.best.is_member, np.where(s.cost.n >= 2, 0, 1), 2) for s in studies]
    )
    if question.cost.better is None:
        member[:] = 2
    meets = np.concatenate([_next_runs(s) for s in studies])
    standing = ["within", "maybe", "outside"] if question.state.limit is not None else [None] * 3
    return pl.concat([s.rows[list(keys)] for s in studies]).with_columns(
        standing=pl.Series(standing, dtype=pl.Categorical)[index],
        next_run=pl.Series(["in", "out", None], dtype=pl.Categorical)[meets],
        best=pl.Series(["set", "once", None], dtype=pl.Categorical)[member],
    )


def _next_runs(judged: Study) -> np.ndarray:
    """Return 0 for settings whose next run meets the limit, 1 for others, 2 for not known."""
    if judged.limit is None:
        return np.full(len(judged.cost.n), 2)
    is_known = ~np.isnan(judged.limit.metric.variance)
    return np.where(is_known, np.where(judged.limit.next_run_meets(), 0, 1), 2)


def with_standings(question: Question, points: pl.DataFrame) -> pl.DataFrame:
    """Add to the points what their settings are, as `standings_of` says."""
    # What is the same in the whole study, or follows from others, tells no settings apart.
    telling = question.varying.intersection(points.columns)
    if not question.state.merged:
        known = question.view.known(question.selection, question.catalogue.configuration)
        telling -= known.names
    on = [name for name in setting_keys(question) if name in telling] or ["system"]
    settings = standings_of(question, on).unique(on, maintain_order=True)
    wanted, kinds = points.schema, settings.schema
    settings = settings.with_columns(
        pl.col(name).cast(pl.Categorical).cast(wanted[name])
        for name in on
        if wanted[name] != kinds[name]
    )
    return points.join(settings, on=on, how="left", nulls_equal=True, maintain_order="left")


def setting_keys(question: Question) -> list[str]:
    """Return the columns that tell judged settings from one another."""
    catalogue = question.catalogue
    merged = {catalogue.knobs[name].column for name in question.state.merged}
    return [name for name in catalogue.configuration if name not in merged]


def without_picture(state: ExploreState) -> ExploreState:
    """Return the state without what best settings do not depend on."""
    return replace(state, clause="", zoom="", x=state.cost, y=state.cost, bands=False,
                   replicates="means", frontier=True)  # fmt: skip


def unjudged_words(question: Question) -> str:
    """Return how many choices the filters leave beyond those that are judged; empty for none."""
    left = question.view.left(question.selection)
    count = left.select(question.catalogue.choice_columns).n_unique() if len(left) else 0
    if count <= MOST_CHOICES:
        return ""
    return f"The first {MOST_CHOICES} of {count:,} systems and loads are judged; filter for others."


def decided_query(
    selection: Selection,
    metrics: Sequence[str],
    catalogue: Catalogue,
    left_out: Collection[str] = (),
    only: str = "TRUE",
) -> tuple[str, list[Any]]:
    """Build the query of the moments of all settings that the filters leave.

    Args:
        left_out: Columns that have one value, or follow from others.
        only: A further condition, without parameters.
    """
    condition, parameters = selection.predicate()
    by = [name for name in catalogue.configuration if name not in left_out]
    return moments_query(f"({condition}) AND {only}", parameters, by, metrics, catalogue=catalogue)


def without_settings(selection: Selection, catalogue: Catalogue) -> Selection:
    """Return the filters on what was given: the default is the load's, whatever the settings."""
    clauses = (c for c in selection.clauses if catalogue.knobs[c.facet.name].is_given)
    return Selection(tuple(clauses), selection.without)


def moments_of(question: Question, metrics: tuple[str, ...] = ()) -> pl.DataFrame:
    """Return the moments of all settings of the workloads, whatever the filters on them, in order.

    Args:
        metrics: Without any, the cost and the limited metric.
    """
    state, knobs = question.state, question.catalogue.knobs
    named = metrics or (state.cost, state.limited)
    # A setting of several values of a knob has none: a filter on it is one on its runs.
    of_runs = tuple(c for c in question.selection.clauses if c.facet.name in state.merged)
    merged = tuple(knobs[name].column for name in state.merged)
    key = (leading(question.selection), of_runs, merged, tuple(dict.fromkeys(named)))
    return question.view.once(_moments, key)


def _moments(
    view: LakeView,
    key: tuple[Selection, tuple[Clause, ...], tuple[str, ...], tuple[str, ...]],
) -> pl.DataFrame:
    base, of_runs, merged, metrics = key
    catalogue = view.catalogue
    names = [name for name in catalogue.configuration if name not in merged]
    known = view.known(base, tuple(names))

    def query(selection: Selection, limit: int) -> tuple[str, list[Any]]:
        narrowed = Selection((*selection.clauses, *of_runs), selection.without)
        left_out = known.names.union(merged)
        sql, parameters = decided_query(narrowed, metrics, catalogue, left_out)
        return f"{sql} LIMIT {min(limit, MAX_ROWS):d}", parameters

    rows = view.narrowed(query, base, known).with_columns(cs.categorical().cast(pl.String))
    schema = view.cube_of(base).schema
    rows = rows.with_columns(pl.lit(None, schema[name]).alias(name) for name in merged)
    columns = list(catalogue.choice_columns)
    return in_order(rows, catalogue=catalogue).sort(columns, maintain_order=True)


def settings_left(question: Question, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `moments_of` that the filters leave."""
    merged = question.state.merged
    clauses = (c for c in question.selection.clauses if c.facet.name not in merged)
    return rows.filter(matches(Selection(tuple(clauses))))


def _studies(view: LakeView, question: Question) -> tuple[Study, ...]:
    rows, columns = moments_of(question), list(view.catalogue.choice_columns)
    studies = []
    for own in settings_left(question, rows).partition_by(columns, maintain_order=True)[
        :MOST_CHOICES
    ]:
        if 0 < (own["is_baseline"].sum() or 0) < len(own):
            own = own.filter(~pl.col("is_baseline").fill_null(False))
        family = partial(family_of, rows, own.row(0, named=True))
        # Choices without a run that has a value of the cost have no best.
        with suppress(DataError):
            studies.append(best_of(own, question, family))
    return tuple(studies)


def best_of(rows: pl.DataFrame, question: Question, family: Any) -> Study:
    state = question.state
    limit = None if state.limit is None else (state.limited, state.limit)
    return study(rows, state.cost, limit, state.alpha, family, catalogue=question.catalogue)


def family_of(rows: pl.DataFrame, like: Mapping[str, Any]) -> pl.DataFrame:
    """Return the settings of one system and workload at all loads."""
    kept = ("dataset", "workload", "machine", "system")
    return rows_at(rows, {name: like[name] for name in kept}).filter(
        ~pl.col("is_baseline").fill_null(False)
    )


def rows_at(rows: pl.DataFrame, place: Mapping[str, Any]) -> pl.DataFrame:
    kinds = rows.schema
    return rows.filter(*(pl.col(n).eq_missing(pl.lit(v, kinds[n])) for n, v in place.items()))
