"""Best settings with their proof: one row for each system at each load.

A row has the setting to take, the settings that cannot be told from it, what it costs at most more
than the best, and its change against the default with an interval.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
import polars.selectors as cs

from app.explore.question import Question
from app.explore.state import ExploreState
from app.kit.clause import MAX_CHARS, write_knobs
from app.kit.lake_view import LakeView, leading
from app.kit.settings import MAX_ROWS
from data.analysis.best_set import recommend
from data.analysis.facets import matches
from data.analysis.noise import Estimates
from data.analysis.outcomes import Side, compare_sides, saving
from data.analysis.planner import more_runs
from data.catalogue import Catalogue
from data.choices import (
    DEFAULT,
    Baseline,
    Study,
    baseline_of,
    distances,
    in_order,
    more_runs_apart,
    study,
)
from data.errors import DataError
from data.queries.moments import moments_query
from data.selection import Clause, Selection

DEFAULT_WORDS: Final = "the default"
# More choices at once are a menu, not an answer: the first by load and system are judged.
MOST_CHOICES: Final = 60
_COLUMNS: Final[dict[str, Any]] = {
    "n": pl.Int64, "cost": pl.Float64, "limited": pl.Float64, "standing": pl.String,
    "is_proven": pl.Boolean, "settings": pl.Int64, "settings_twice": pl.Int64,
    "members": pl.Int64, "members_once": pl.Int64, "regret_pct": pl.Float64,
    "change_pct": pl.Float64, "change_low_pct": pl.Float64, "change_high_pct": pl.Float64,
    "default_n": pl.Int64, "default_more_runs": pl.Int64,
    "against_outcome": pl.String, "against_pct": pl.Float64,
    "against_low_pct": pl.Float64, "against_high_pct": pl.Float64, "against_more_runs": pl.Int64,
    "reason": pl.String, "set": pl.String,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """One choice, judged.

    Attributes:
        study: Its settings and its best set.
        shown: The setting to take, or the nearest to the limit.
        reference: The default of its place; None without one.
        row: Its row of the table.
    """

    study: Study
    shown: int
    reference: Baseline | None
    row: dict[str, Any]


def decided(question: Question) -> pl.DataFrame:
    """Return the best settings under the question's limit.

    Returns:
        Columns of a configuration of the setting to take (or of the nearest to the limit), and of
        _COLUMNS: `cost` and `limited` are geometric means in their units; `standing` is within,
        maybe or outside; percentages are of the cost, NULL where the data do not bound them;
        `set` is the best set as alternatives of a `knobs` clause. Sorted by place and system.
    """
    moments = moments_of(question)
    kinds = moments.schema
    schema = {name: kinds[name] for name in question.catalogue.configuration} | _COLUMNS
    return pl.DataFrame([judged.row for judged in judge(question)], schema)


def judge(question: Question) -> tuple[Judged, ...]:
    """Judge each system at each load that the filters leave; the same question is judged once."""
    asked = replace(question, state=_without_picture(question.state))
    return question.view.once(_judge, asked, is_large=True)


def studies_of(question: Question) -> tuple[Study, ...]:
    """Return the best set of each system at each load that the filters leave, each found once."""
    plain = replace(_without_picture(question.state), margin_pct=1.0, against="")
    return question.view.once(_studies, replace(question, state=plain), is_large=True)


def standings_of(question: Question, keys: Sequence[str]) -> pl.DataFrame:
    """Return what the judged settings are.

    Args:
        keys: Columns of a setting to return.

    Returns:
        These columns; `standing` (within, maybe, outside; NULL without a limit); `next_run` (in,
        out: whether the next run meets the limit with 95 %); `best` of those that cannot be told
        from the best: `set` with two runs, `once` with one, else NULL.
    """
    studies = studies_of(question)
    if not studies:
        nothing = {name: pl.lit(None, pl.String) for name in ("standing", "next_run", "best")}
        return moments_of(question).select(keys).clear().with_columns(**nothing)
    index = np.concatenate(
        [np.where(s.best.is_outside, 2, np.where(s.best.is_within, 0, 1)) for s in studies]
    )
    member = np.concatenate(
        [np.where(s.best.is_member, np.where(s.cost.n >= 2, 0, 1), 2) for s in studies]
    )
    meets = np.concatenate([_next_runs(s) for s in studies])
    standing = ["within", "maybe", "outside"] if question.state.limit is not None else [None] * 3
    return pl.concat([s.rows.select(keys) for s in studies]).with_columns(
        standing=pl.Series(standing, dtype=pl.String)[index],
        next_run=pl.Series(["in", "out", None])[meets],
        best=pl.Series(["set", "once", None])[member],
    )


def _next_runs(judged: Study) -> np.ndarray:
    """Return 0 for settings whose next run meets the limit, 1 for others, 2 for not known."""
    if judged.limit is None:
        return np.full(len(judged.cost.n), 2)
    is_known = ~np.isnan(judged.limit.metric.variance)
    return np.where(is_known, np.where(judged.limit.next_run_meets(), 0, 1), 2)


def with_standings(question: Question, points: pl.DataFrame) -> pl.DataFrame:
    """Add to the points what their settings are, as `standings_of` says."""
    # What is the same in the whole study tells no settings apart.
    on = [n for n in setting_keys(question) if n in question.varying and n in points.columns]
    on = on or ["system"]
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


def _without_picture(state: ExploreState) -> ExploreState:
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
            studies.append(_study(own, question, family))
    return tuple(studies)


def _judge(view: LakeView, question: Question) -> tuple[Judged, ...]:
    state, catalogue = question.state, view.catalogue
    rows, columns = moments_of(question), list(catalogue.choice_columns)
    everyone = rows.filter(matches(without_settings(state.selection, catalogue)))
    if not state.against:
        everyone = everyone.filter(pl.col("is_baseline").fill_null(False))
    places, nobody = everyone.partition_by(columns[:-1], as_dict=True), everyone.clear()
    return tuple(
        _judged(
            one, places.get(tuple(one.rows[name][0] for name in columns[:-1]), nobody), question
        )
        for one in studies_of(question)
    )


def _judged(judged: Study, here: pl.DataFrame, question: Question) -> Judged:
    """Judge one choice.

    Args:
        here: The settings of the same place, of all systems; at least the defaults.
    """
    state, catalogue = question.state, question.catalogue
    system = judged.rows["system"][0]
    reference, reason = baseline_of(here, system, state.cost, judged, DEFAULT, catalogue=catalogue)
    base = reference.row if reference else {}
    changes, steps = distances(judged.settings, base, catalogue=catalogue)
    margin = float(np.log1p(state.margin_pct / 100))
    chosen = recommend(judged.cost, judged.best, changes, steps, state.alpha, margin)
    shown = _lowest(judged) if chosen.setting is None else chosen.setting
    row = {**judged.rows.row(shown, named=True), **_facts(judged, shown, question)}
    row |= {"is_proven": chosen.is_proven, "reason": "" if reference else reason}
    members = judged.best.is_member & (judged.cost.n >= 2)
    row["regret_pct"] = percent_of(float(judged.best.regret[shown]))
    row["set"] = _alternatives(judged, members, shown, question)
    if reference and reference.is_candidate:
        row["reason"] = DEFAULT_WORDS
    elif (
        reference
        and row["standing"] != "outside"
        and not np.isnan(reference.cost.variance + judged.cost.variance[shown])
    ):
        picked = max(int(members.sum()), 1)
        change = saving(judged.cost.at(shown), reference.cost, picked, state.alpha)
        row |= _interval("change", change.estimate, change.low, change.high)
        row["default_n"] = int(reference.cost.n)
        if change.low <= 0 <= change.high:
            row["default_more_runs"] = _more_runs(
                judged.cost.at(shown), reference.cost, picked, margin, state.alpha
            )
    if state.against and row["standing"] != "outside":
        row |= _against(judged, _at(here, {"system": state.against}), question)
    return Judged(judged, shown, reference, row)


def _more_runs(
    setting: Estimates, default: Estimates, picked: int, margin: float, alpha: float
) -> int | None:
    """Return about how many more runs of both decide which one costs less; None for over 100."""
    variances = tuple(float(e.variance * e.n) for e in (setting, default))
    n = (int(setting.n), int(default.n))
    difference = float(setting.mean - default.mean)
    return more_runs(difference, variances, n, setting.prior, picked, alpha, margin)  # type: ignore[arg-type]


def _study(rows: pl.DataFrame, question: Question, family: Any) -> Study:
    state = question.state
    limit = None if state.limit is None else (state.limited, state.limit)
    return study(rows, state.cost, limit, state.alpha, family, catalogue=question.catalogue)


def family_of(rows: pl.DataFrame, like: Mapping[str, Any]) -> pl.DataFrame:
    """Return the settings of one system and workload at all loads."""
    kept = ("dataset", "workload", "machine", "system")
    return _at(rows, {name: like[name] for name in kept}).filter(
        ~pl.col("is_baseline").fill_null(False)
    )


def _at(rows: pl.DataFrame, place: Mapping[str, Any]) -> pl.DataFrame:
    kinds = rows.schema
    return rows.filter(*(pl.col(n).eq_missing(pl.lit(v, kinds[n])) for n, v in place.items()))


def _facts(judged: Study, shown: int, question: Question) -> dict[str, Any]:
    """Return what a row says of its shown setting and its set."""
    best, n = judged.best, judged.cost.n
    is_beyond = False
    if judged.limit is not None:
        metric = judged.limit.metric.at(shown)
        # Without an estimate of noise the mean itself counts.
        is_beyond = bool(np.isnan(metric.variance) and metric.mean > judged.limit.at)
    standing = "within" if best.is_within[shown] else "maybe"
    limited = judged.rows[f"{question.state.limited}_log_mean"][shown]
    return {
        "n": int(n[shown]),
        "cost": float(np.exp(question.cost.sign * judged.cost.mean[shown])),
        "limited": None if limited is None else float(np.exp(limited)),
        "standing": "outside" if best.is_outside[shown] or is_beyond else standing,
        "settings": len(n),
        "settings_twice": int((n >= 2).sum()),
        "members": int((best.is_member & (n >= 2)).sum()),
        "members_once": int((best.is_member & (n < 2)).sum()),
    }


def _lowest(judged: Study) -> int:
    """Return the setting of least cost among those that may meet the limit, else the nearest."""
    cost = judged.cost.mean
    if judged.limit is None:
        return int(cost.argmin())
    limited = judged.limit.metric.mean
    meets = np.nan_to_num(limited, nan=np.inf) <= judged.limit.at
    if meets.any():
        return int(np.where(meets, cost, np.inf).argmin())
    return 0 if np.isnan(limited).all() else int(np.nanargmin(limited))


def _against(judged: Study, rows: pl.DataFrame, question: Question) -> dict[str, Any]:
    """Compare the best of a choice with the best of the system that the reader chose."""
    if not len(rows) or rows["system"][0] == judged.rows["system"][0]:
        return {}
    try:
        other = _study(rows, question, partial(family_of, rows, rows.row(0, named=True)))
    except DataError:
        return {}
    state = question.state
    sides = Side.of(judged.cost, judged.best), Side.of(other.cost, other.best)
    margin = float(np.log1p(state.margin_pct / 100))
    compared = compare_sides(*sides, state.alpha, margin, state.limit is not None)
    more: int | None = 0
    if compared.outcome == "undecided":
        more = more_runs_apart(judged, other, state.alpha, margin)
    change = compared.change
    return {
        "against_outcome": compared.outcome,
        "against_more_runs": more,
        **_interval("against", change.estimate, change.low, change.high),
    }


def _alternatives(judged: Study, members: np.ndarray, shown: int, question: Question) -> str:
    """Return the members of a set as alternatives, those that differ in ITR alone as one.

    A set that is too large for a link is its shown setting alone.
    """
    keys = setting_keys(question)
    varying = question.varying.intersection(keys)
    knobs = [name for name in question.catalogue.knob_of_column if name in varying]
    if not members.any():
        members = np.arange(len(members)) == shown
    rows = judged.rows.select(knobs or ["system"])[np.flatnonzero(members)]
    rest = [name for name in rows.columns if name != "itr_us"]
    has_delay = "itr_us" in rows.columns
    others = rows.select(rest).rows() if rest else [()] * len(rows)
    delays: dict[tuple[Any, ...], list[Any]] = {}
    for key, delay in zip(others, rows["itr_us"].to_list() if has_delay else others, strict=True):
        delays.setdefault(key, []).append(delay)
    alternatives = [
        dict(zip(rest, key, strict=True)) | ({"itr_us": values} if has_delay else {})
        for key, values in delays.items()
    ]
    text = write_knobs(alternatives).removeprefix("knobs~")
    if len(text) > MAX_CHARS // 2:
        only = judged.rows.select(knobs).row(shown, named=True)
        text = write_knobs([only]).removeprefix("knobs~")
    return text


def _interval(name: str, estimate: float, low: float, high: float) -> dict[str, float | None]:
    return {
        f"{name}_pct": percent_of(estimate),
        f"{name}_low_pct": percent_of(low),
        f"{name}_high_pct": percent_of(high),
    }


def percent_of(difference: float) -> float | None:
    """Return a difference of logarithms in percent; None beyond a factor e^5."""
    return float(100 * np.expm1(difference)) if abs(difference) <= 5 else None
