"""The claims of a lake, listed by rule before any result is seen, each as a question.

`data.findings` is the door to it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from data.analysis.best_set import best_set, saving
from data.analysis.claims import (
    Question,
    change_from,
    more_runs_from,
    outcome_of,
    paired_change,
)
from data.analysis.coded_rows import Part
from data.analysis.noise import Estimates
from data.analysis.outcomes import Comparison, Side, compare_sides, more_runs_of_all
from data.analysis.planner import more_runs
from data.baselines import baseline_of
from data.below_zero import below_zero
from data.catalogue import SHIPPED
from data.choices import DEFAULT, Study, Value, members_within
from data.claim_scope import ENERGY, LIMIT, USUAL_PERFORMANCE, Scope, Spec, is_near_limit
from data.errors import DataError
from data.knobs import POLICIES
from data.queries.claims import REFERENCE, SUBJECT, workloads_query
from data.queries.moments import moments_query
from data.queries.runs import UNLIKE
from data.repeatable import are_past
from data.selection import Selection
from data.work_items import counts_of_work

if TYPE_CHECKING:
    from data.connection import Lake

# The levels of a knob in words are compared with this one, or with the first.
_PLAIN_LEVELS: Final = ("interrupt", "none")


def specs_of(
    lake: "Lake",
    metrics: Sequence[str] | None,
    limit: tuple[str, float] | None,
    alpha: float,
    margin: float,
    selection: Selection,
) -> list[Spec]:
    """List the claims of all scopes of a lake.

    Runs of one setting that are no replicates (`data/analysis/replicates.py`) make no claim, nor do
    metrics with values below 0.

    Args:
        metrics: Columns of `runs`; None for energy, else power, and each workload's own metric of
            performance, else time.
        limit: Of workloads whose performance is that metric.
        alpha: Error of the best sets from which settings are recommended.
        margin: Settings within this share are as good.
        selection: The runs that count; others are as if they had not been made.
    """
    workloads = lake.polars(*workloads_query())
    own = workloads["performance_metric"].drop_nulls().unique().sort().to_list()
    catalogue = lake.catalogue
    columns = list(dict.fromkeys(metrics or [*catalogue.costs, *own, USUAL_PERFORMANCE]))
    wanted = [*columns, *([limit[0]] if limit and limit[0] not in columns else [])]
    wanted = list(dict.fromkeys([*wanted, *counts_of_work(catalogue.columns)]))
    by = [*catalogue.choice_columns, *catalogue.setting_columns, "is_baseline", "system_label"]
    unjudged = below_zero(lake, columns)
    query = moments_query(*selection.predicate(), by, wanted, catalogue=catalogue)
    everything = lake.polars(*query)
    everything = everything.with_columns(
        pl.col(pl.Categorical, pl.Enum).cast(pl.String), pl.col("is_baseline").fill_null(False)
    )
    performance = {row[:2]: row[2:] for row in workloads.iter_rows()}
    specs: list[Spec] = []
    names = [name for name in catalogue.choice_columns if name != "system"]
    shared = [name for name in names if name not in catalogue.item_columns]

    def scope_of(rows: pl.DataFrame, columns: Sequence[str]) -> Scope:
        at = rows.row(0, named=True)
        metric, is_synthetic = performance[at["dataset"], at["workload"]]
        bound = limit if limit is not None and metric == limit[0] else None
        if bound == LIMIT:
            means = rows[f"{metric}_mean"].drop_nulls().drop_nans().to_numpy()
            is_agreed = len(means) > 0 and is_near_limit(means.min(), means.max())
            bound = bound if is_agreed and at["dataset"] not in lake.guessed else None
        return Scope(
            rows, {name: at[name] for name in columns}, everything, catalogue, alpha, margin,
            bound, is_synthetic, metric,
        )  # fmt: skip

    for rows in everything.partition_by(shared, maintain_order=True):
        over_items = scope_of(rows, shared)
        scopes = [over_items]
        if len(shared) < len(names):
            scopes = [scope_of(own, names) for own in rows.partition_by(names, maintain_order=True)]
        for name in metrics or over_items.usual_metrics:
            if name in unjudged:
                continue
            for scope in scopes:
                studies = scope.studies(name)
                for system, study in studies.items():
                    specs += _against_default(scope, system, name, study)
                for a, b in combinations(studies, 2):
                    specs += _of_systems(scope, a, b, name, studies)
            specs += _claims_of_knobs(over_items, name)
        for scope in scopes:
            if scope.limit is not None:
                specs += _limits_met(scope)
    return specs


def _against_limit(estimate: Estimates, at: float, margin: float, alpha: float) -> Comparison:
    """Compare with a limit; a value as good as the limit does not surely meet it."""
    found = outcome_of(partial(change_from, estimate, at), alpha, margin)
    is_open = found.outcome == "equivalent" and not (found.change.high < 0 or found.change.low > 0)
    return replace(found, outcome="undecided") if is_open else found


def _means_something(rows: pl.DataFrame, column: str) -> bool:
    """Return whether no value of a knob is one setting: no limit, or one and the same policy."""
    if column not in SHIPPED.setting_columns:
        return False
    if (policy := POLICIES.get(column)) is None:
        return True
    policies = rows.filter(pl.col(column).is_null())[policy]
    return policies.null_count() == 0 and policies.n_unique() == 1


def _level_pairs(column: pl.Series, is_none_a_level: bool) -> list[tuple[Any, Any]]:
    """Return the pairs of levels that are compared: lowest to highest; of words, each to one.

    A single number is compared with no value where that means something: no limit, a governor.
    """
    levels = column.drop_nulls().unique().sort().to_list()
    if len(levels) < 2:
        is_pair = len(levels) == 1 and column.null_count() and column.dtype.is_numeric()
        return [(levels[0], None)] if is_pair and is_none_a_level else []
    if column.dtype.is_numeric():
        return [(levels[0], levels[-1])]
    plain = next((level for level in _PLAIN_LEVELS if level in levels), levels[0])
    return [(level, plain) for level in levels if level != plain]


def _claims_of_knobs(scope: Scope, metric: str) -> Iterator[Spec]:
    """List the claims on one metric of the lowest level of each knob against its highest."""
    policies = set(POLICIES.values())
    for system, own in scope.studies(metric).items():
        for column in own.knobs:
            # Nobody can set a day again.
            if column not in policies and not are_past(column, own.rows[column].unique()):
                pairs = _level_pairs(own.rows[column], _means_something(own.rows, column))
                for low, high in pairs:
                    yield from _of_levels(scope, system, metric, own, column, low, high)


def _against_default(scope: Scope, system: str, metric: str, own: Study) -> Iterator[Spec]:
    default, _ = baseline_of(
        Part.of(scope.rows), system, metric, own, DEFAULT, catalogue=scope.catalogue
    )
    chosen = scope.recommended(own, default.row if default else {})
    if default is None or chosen is None or np.isnan(default.cost.variance):
        return
    setting = own.cost.at(chosen)
    if np.isnan(setting.variance) or setting.is_unlike:
        return
    members = max(int((own.best.is_member & (own.cost.n >= 2)).sum()), 1)

    def question(alpha: float) -> Comparison:
        change = partial(saving, setting, default.cost, members)
        return outcome_of(change, alpha, scope.log_margin)

    def more(alpha: float) -> int | None:
        return more_runs(setting, default.cost, members, alpha, scope.log_margin)

    words = scope.setting_words(own.rows.row(chosen, named=True))
    yield scope.spec(
        "default to tuned", f"{scope.labels[system]} with {words}",
        scope.labels[default.row["system"]], metric, "", scope.bound(metric), question, more,
        [scope.member(SUBJECT, 0, True, own.rows.row(chosen, named=True)),
         scope.member(REFERENCE, 0, True, default.row)],
        (int(setting.n), int(default.cost.n)),
    )  # fmt: skip


def _of_systems(
    scope: Scope,
    a: str,
    b: str,
    metric: str,
    studies: Mapping[str, Study],
) -> Iterator[Spec]:
    both = studies[a], studies[b]
    bound = scope.bound(metric)
    sides = [Side.of(own.cost, own.best) for own in both]
    if any(not len(side.settings) or side.cost.is_least_unlike for side in sides):
        return

    @cache
    def at(alpha: float) -> tuple[Side, ...]:
        """Return the sets at an error; those of a smaller one are larger."""
        return tuple(Side.of(own.cost, best_set(own.cost, own.limit, alpha)) for own in both)

    def question(alpha: float) -> Comparison:
        first, second = at(alpha)
        return compare_sides(first, second, alpha, scope.log_margin, bound is not None)

    def more(alpha: float) -> int | None:
        first, second = at(alpha)
        after = None
        if bound is not None:
            after = (
                partial(members_within, both[0], first, alpha),
                partial(members_within, both[1], second, alpha),
            )
        return more_runs_of_all(first, second, alpha, scope.log_margin, after)

    members = [
        scope.member(name, i, bool(side.is_within[i]), own.rows.row(int(place), named=True))
        for name, own, side in zip((SUBJECT, REFERENCE), both, sides, strict=True)
        for i, place in enumerate(side.settings)
    ]
    n = [int(side.cost.n.sum()) for side in sides]
    yield scope.spec(
        "tuned to tuned", scope.labels[a], scope.labels[b], metric, "", bound, question, more,
        members, (n[0], n[1]),
    )  # fmt: skip


def _of_levels(
    scope: Scope, system: str, metric: str, own: Study, column: str, low: Value, high: Value | None
) -> Iterator[Spec]:
    alike = (*own.knobs, *scope.items)
    others = [name for name in alike if name not in (column, POLICIES.get(column))]
    numbered = own.rows.with_row_index("place")
    left, right = (
        numbered.filter(pl.col(column).eq_missing(pl.lit(level))) for level in (low, high)
    )
    cells = (
        left.join(right, on=others, nulls_equal=True, suffix="_other", maintain_order="left")
        if others
        else left.join(right, how="cross", suffix="_other")
    )
    is_unlike = own.cost.is_unlike
    # Runs that did other amounts of work tell nothing of a total.
    for name in scope.counts_apart(metric, own.rows):
        ratio = (pl.col(f"{name}_mean") / pl.col(f"{name}_mean_other")).log().abs()
        cells = cells.filter(ratio.fill_null(0) <= np.log(UNLIKE))
    cells = cells.filter(
        ~(is_unlike[cells["place"].to_numpy()] | is_unlike[cells["place_other"].to_numpy()])
    )
    lower, higher = (own.cost.at(cells[name].to_numpy()) for name in ("place", "place_other"))
    if not len(cells) or (len(cells) == 1 and np.isnan([lower.variance, higher.variance]).any()):
        return
    question, more = _paired(scope, lower, higher, scope.items_of(cells))
    knob = scope.catalogue.knob_of_column[column]
    members = [
        scope.member(name, i, True, own.rows.row(place, named=True))
        for name, places in ((SUBJECT, cells["place"]), (REFERENCE, cells["place_other"]))
        for i, place in enumerate(places)
    ]
    yield scope.spec(
        "knob", knob.words(low), knob.words(high), metric, scope.labels[system], None, question,
        more, members, (int(lower.n.sum()), int(higher.n.sum())),
    )  # fmt: skip


def _paired(
    scope: Scope, lower: Estimates, higher: Estimates, items: np.ndarray | None
) -> tuple[Question, Callable[[float], int | None]]:
    """Ask for the mean difference of matched cells; of one cell, for that of its runs."""
    if len(lower.mean) > 1:
        change = partial(paired_change, lower.mean - higher.mean, items=items)
        # More runs of a cell do not make the cells more alike.
        return (lambda alpha: outcome_of(change, alpha, scope.log_margin)), lambda _: None
    a, b = lower.at(0), higher.at(0)
    change = partial(saving, a, b, 1)
    return (
        lambda alpha: outcome_of(change, alpha, scope.log_margin),
        lambda alpha: more_runs(a, b, 1, alpha, scope.log_margin),
    )


def _limits_met(scope: Scope) -> Iterator[Spec]:
    """List the claims that the setting of a system that saves most energy meets the limit.

    Where none is recommended, the one that is nearest to the limit is judged.
    """
    assert scope.limit is not None, "BUG: no limit"
    metric, bound = scope.limit
    if f"{ENERGY}_n" not in scope.rows.columns:
        return
    for system in scope.systems:
        try:
            own = scope.study_of(system, ENERGY, scope.limit)
        except DataError:
            continue
        assert own.limit is not None, "BUG: a study without its limit"
        if not own.limit.metric.is_judged.any():
            continue
        default, _ = baseline_of(
            Part.of(scope.rows), system, ENERGY, own, DEFAULT, catalogue=scope.catalogue
        )
        chosen = scope.recommended(own, default.row if default else {})
        if chosen is None:
            chosen = int(np.nanargmin(own.limit.metric.mean))
        is_chosen = len(own.cost.n) > 1
        is_unlike = own.limit.metric.is_unlike | (own.cost.is_unlike & is_chosen)
        if is_unlike[chosen] or not own.limit.metric.is_judged[chosen]:
            continue
        row = own.rows.row(chosen, named=True)
        estimate, at = own.limit.metric.at(chosen), own.limit.at
        yield scope.spec(
            "limit met", f"{scope.labels[system]} with {scope.setting_words(row)}",
            f"{bound:g}", metric, "", scope.limit,
            partial(_against_limit, estimate, at, scope.log_margin),
            partial(more_runs_from, estimate, at, margin=scope.log_margin),
            [scope.member(SUBJECT, 0, True, row)], (int(estimate.n), 0),
        )  # fmt: skip
