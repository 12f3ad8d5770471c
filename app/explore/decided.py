"""Best settings with their proof: one row for each system at each load.

A row has the setting to take, the settings that cannot be told from it, what it costs at most more
than the best, and its change against the default with an interval.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
import polars.selectors as cs

from app.explore.question import Question
from app.explore.state import ExploreState
from app.kit.clause import MAX_CHARS, write_knobs
from app.kit.lakes import LakeView, leading
from app.kit.settings import MAX_ROWS
from data.analysis.best_set import recommend
from data.analysis.facets import matches
from data.analysis.outcomes import Side, compare_sides, more_runs_of_all, saving
from data.catalogue import Catalogue
from data.choices import DEFAULT, Study, baseline_of, distances, in_order, study
from data.errors import DataError
from data.queries.moments import moments_query
from data.selection import Selection

DEFAULT_WORDS: Final = "the default"
# More choices at once are a menu, not an answer: the first by load and system are judged.
MOST_CHOICES: Final = 60
_COLUMNS: Final[dict[str, Any]] = {
    "n": pl.Int64, "cost": pl.Float64, "limited": pl.Float64, "standing": pl.String,
    "is_proven": pl.Boolean, "settings": pl.Int64, "settings_twice": pl.Int64,
    "members": pl.Int64, "members_once": pl.Int64, "regret_pct": pl.Float64,
    "change_pct": pl.Float64, "change_low_pct": pl.Float64, "change_high_pct": pl.Float64,
    "default_n": pl.Int64, "against_outcome": pl.String, "against_pct": pl.Float64,
    "against_low_pct": pl.Float64, "against_high_pct": pl.Float64, "against_more_runs": pl.Int64,
    "reason": pl.String, "set": pl.String,
}  # fmt: skip
STANDINGS: Final = ("within", "maybe", "outside")


@dataclass(frozen=True, slots=True)
class Judged:
    """One choice, judged.

    Attributes:
        study: Its settings and its best set.
        shown: The setting to take, or the nearest to the limit.
        row: Its row of the table.
    """

    study: Study
    shown: int
    row: dict[str, Any]

    @property
    def standing(self) -> np.ndarray:
        """Index in STANDINGS of each setting, shape (settings,)."""
        best = self.study.best
        return np.where(best.is_outside, 2, np.where(best.is_within, 0, 1))


def decided(question: Question) -> pl.DataFrame:
    """Return the best settings under the question's limit.

    Returns:
        Columns of a configuration of the setting to take (or of the nearest to the limit), and of
        _COLUMNS: `cost` and `limited` are geometric means in their units; `standing` is within,
        maybe or outside; percentages are of the cost, NULL where the data do not bound them;
        `set` is the best set as alternatives of a `knobs` clause. Sorted by place and system.
    """
    configuration = question.catalogue.configuration
    moments = moments_of(question)
    schema = {name: moments.schema[name] for name in configuration} | _COLUMNS
    return pl.DataFrame([judged.row for judged in judge(question)], schema)


def judge(question: Question) -> tuple[Judged, ...]:
    """Judge each system at each load that the filters leave; the same question is judged once."""
    state = question.state
    asked = replace(state, clause="", zoom="", x=state.cost, y=state.cost)
    return question.view.once(_judge, replace(question, state=asked), is_large=True)


def unjudged_words(question: Question) -> str:
    """Return how many choices the filters leave beyond those that are judged; empty for none."""
    left = question.view.left(question.selection)
    count = left.select(question.catalogue.choice_columns).n_unique() if len(left) else 0
    if count <= MOST_CHOICES:
        return ""
    return f"The first {MOST_CHOICES} of {count:,} systems and loads are judged; filter for others."


def decided_query(
    selection: Selection,
    state: ExploreState,
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
    metrics = list(dict.fromkeys((state.cost, state.limited)))
    return moments_query(f"({condition}) AND {only}", parameters, by, metrics, catalogue=catalogue)


def without_settings(selection: Selection, catalogue: Catalogue) -> Selection:
    """Return the filters on what was given: the default is the load's, whatever the settings."""
    clauses = (c for c in selection.clauses if catalogue.knobs[c.facet.name].is_given)
    return Selection(tuple(clauses), selection.without)


def moments_of(question: Question) -> pl.DataFrame:
    """Return the moments of all settings of the workloads, whatever the other filters, in order."""
    state = question.state
    key = (leading(question.selection), state.cost, state.limited)
    return question.view.once(_moments, key)


def _moments(view: LakeView, key: tuple[Selection, str, str]) -> pl.DataFrame:
    base, cost, limited = key
    state, catalogue = ExploreState(base, cost=cost, limited=limited), view.catalogue
    known = view.known(base, catalogue.configuration)

    def query(selection: Selection, limit: int) -> tuple[str, list[Any]]:
        sql, parameters = decided_query(selection, state, catalogue, known.names)
        return f"{sql} LIMIT {min(limit, MAX_ROWS):d}", parameters

    rows = view.narrowed(query, base, known).with_columns(cs.categorical().cast(pl.String))
    columns = list(catalogue.choice_columns)
    return in_order(rows, catalogue=catalogue).sort(columns, maintain_order=True)


def _judge(view: LakeView, question: Question) -> tuple[Judged, ...]:
    state, catalogue = question.state, view.catalogue
    rows, columns = moments_of(question), list(catalogue.choice_columns)
    own = rows.filter(matches(state.selection))
    everyone = rows.filter(matches(without_settings(state.selection, catalogue)))
    if not state.against:
        everyone = everyone.filter(pl.col("is_baseline").fill_null(False))
    places = everyone.partition_by(columns[:-1], as_dict=True)
    found = []
    for i, (key, part) in enumerate(own.group_by(columns, maintain_order=True)):
        if i == MOST_CHOICES:
            break
        here = places.get(key[:-1], everyone.clear())
        found.append(_judged(part, here, rows, question))
    return tuple(judged for judged in found if judged)


def _judged(
    own: pl.DataFrame, here: pl.DataFrame, rows: pl.DataFrame, question: Question
) -> Judged | None:
    """Judge one choice; None if no run has a value of the cost.

    Args:
        here: The settings of the same place, of all systems; at least the defaults.
    """
    state, catalogue = question.state, question.catalogue
    first = own.row(0, named=True)
    tuned = own.filter(~pl.col("is_baseline").fill_null(False))
    family = partial(_family, rows, first)
    try:
        judged = _study(tuned if len(tuned) else own, question, family)
    except DataError:
        return None
    reference, reason = baseline_of(
        here, first["system"], state.cost, judged, DEFAULT, catalogue=catalogue
    )
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
    if state.against and row["standing"] != "outside":
        row |= _against(judged, _at(here, {"system": state.against}), question)
    return Judged(judged, shown, row)


def _study(rows: pl.DataFrame, question: Question, family: Any) -> Study:
    state = question.state
    limit = None if state.limit is None else (state.limited, state.limit)
    return study(rows, state.cost, limit, state.alpha, family, catalogue=question.catalogue)


def _family(rows: pl.DataFrame, like: Mapping[str, Any]) -> pl.DataFrame:
    """Return the settings of one system and workload at all loads."""
    kept = ("dataset", "workload", "machine", "system")
    return _at(rows, {name: like[name] for name in kept}).filter(
        ~pl.col("is_baseline").fill_null(False)
    )


def _at(rows: pl.DataFrame, place: Mapping[str, Any]) -> pl.DataFrame:
    return rows.filter(*(pl.col(n).eq_missing(pl.lit(v, rows.schema[n])) for n, v in place.items()))


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
        other = _study(rows, question, partial(_family, rows, rows.row(0, named=True)))
    except DataError:
        return {}
    state = question.state
    sides = Side.of(judged.cost, judged.best), Side.of(other.cost, other.best)
    margin = float(np.log1p(state.margin_pct / 100))
    compared = compare_sides(*sides, state.alpha, margin, state.limit is not None)
    more: int | None = 0
    if compared.outcome == "undecided":
        more = more_runs_of_all(*sides, state.alpha, margin)
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
    knobs = [name for name in question.catalogue.knob_of_column if name in question.varying]
    if not members.any():
        members = np.arange(len(members)) == shown
    rows = judged.rows.filter(pl.Series(members)).select(knobs or ["system"])
    rest = [name for name in rows.columns if name != "itr_us"]
    delays: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows.iter_rows(named=True):
        delays.setdefault(tuple(row[name] for name in rest), []).append(row.get("itr_us"))
    has_delay = "itr_us" in rows.columns
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
