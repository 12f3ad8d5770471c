"""Best settings with their proof: one row for each system at each load.

A row has the setting to take, the settings that cannot be told from it, what it costs at most more
than the best, and its change against the default with an interval.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
import polars.selectors as cs

from app.explore.state import ExploreState
from app.kit.answer_cache import KnownColumns
from app.kit.clause import MAX_CHARS, write_knobs
from app.kit.lakes import LakeView, leading
from app.kit.settings import MAX_ROWS
from app.kit.words import explanation
from data.analysis.best_set import recommend
from data.analysis.facets import matches
from data.analysis.outcomes import Side, compare_sides, more_runs_of_all, saving
from data.choices import (
    DEFAULT,
    Study,
    baseline_of,
    distances,
    in_order,
    sign_of,
    study,
)
from data.errors import DataError
from data.knobs import KNOBS, choice_columns
from data.queries.moments import moments_query
from data.queries.points import CONFIGURATION
from data.queries.statement import statement
from data.selection import Selection

DEFAULT_WORDS: Final = "the default"
# More choices at once are a menu, not an answer: the first by load and system are judged.
MOST_CHOICES: Final = 60
# Filters on the settings narrow the candidates; the default is the load's, whatever they are.
_SETTINGS: Final = tuple(name for name, knob in KNOBS.items() if not knob.is_given)
_COLUMNS: Final[dict[str, Any]] = {
    "n": pl.Int64, "cost": pl.Float64, "limited": pl.Float64, "standing": pl.String,
    "is_proven": pl.Boolean, "settings": pl.Int64, "settings_twice": pl.Int64,
    "members": pl.Int64, "members_once": pl.Int64, "regret_pct": pl.Float64,
    "change_pct": pl.Float64, "change_low_pct": pl.Float64, "change_high_pct": pl.Float64,
    "default_n": pl.Int64, "against_outcome": pl.String, "against_pct": pl.Float64,
    "against_low_pct": pl.Float64, "against_high_pct": pl.Float64, "against_more_runs": pl.Int64,
    "reason": pl.String, "set": pl.String,
}  # fmt: skip


def decided(view: LakeView, state: ExploreState) -> pl.DataFrame:
    """Return the best settings under the state's limit.

    Args:
        state: With `performance` resolved to a column.

    Returns:
        Columns of CONFIGURATION of the setting to take (or of the nearest to the limit), and of
        _COLUMNS: `cost` and `limited` are geometric means in their units; `standing` is within,
        maybe or outside; percentages are of the cost, NULL where the data do not bound them;
        `set` is the best set as alternatives of a `knobs` clause. Sorted by place and system.
    """
    return view.once(_decided, replace(state, clause="", zoom="", x=state.y))


def _decided(view: LakeView, state: ExploreState) -> pl.DataFrame:
    rows = _moments(view, state)
    columns = list(choice_columns())
    own = in_order(rows.filter(matches(state.selection))).sort(columns, maintain_order=True)
    everyone = rows.filter(matches(_without_settings(state.selection)))
    if not state.against:
        everyone = everyone.filter(pl.col("is_baseline").fill_null(False))
    places = everyone.partition_by(columns[:-1], as_dict=True)
    varying = view.varying(state.selection)
    found = []
    for i, (key, part) in enumerate(own.group_by(columns, maintain_order=True)):
        if i == MOST_CHOICES:
            break
        here = places.get(key[:-1], everyone.clear())
        found.append(_judged(part, here, rows, state, varying))
    schema = {name: rows.schema[name] for name in CONFIGURATION} | _COLUMNS
    return pl.DataFrame([row for row in found if row], schema)


def unjudged_words(view: LakeView, state: ExploreState) -> str:
    """Return how many choices the filters leave beyond those that are judged; empty for none."""
    left = view.left(state.selection)
    count = left.select(choice_columns()).n_unique() if len(left) else 0
    if count <= MOST_CHOICES:
        return ""
    return f"The first {MOST_CHOICES} of {count:,} systems and loads are judged; filter for others."


def decided_query(
    selection: Selection, state: ExploreState, left_out: Collection[str] = (), only: str = "TRUE"
) -> tuple[str, list[Any]]:
    """Build the query of the moments of all settings that the filters leave.

    Args:
        left_out: Columns that have one value, or follow from others.
        only: A further condition, without parameters.
    """
    condition, parameters = selection.predicate()
    by = [name for name in CONFIGURATION if name not in left_out]
    metrics = dict.fromkeys((state.cost, state.limited))
    return moments_query(f"({condition}) AND {only}", parameters, by, list(metrics))


def explain_best(view: LakeView, state: ExploreState) -> str:
    """Return how the best settings were computed: the settings, the defaults, and the rules."""
    limit = "" if state.limit is None else f"limit: {state.limited} {state.limit:g}; "
    before = [
        f"{limit}alpha {state.alpha:g}, margin {state.margin_pct:g} %",
        "only values above 0 count; all comparisons are of logarithms",
    ]
    after = [
        "of each system and load: the noise of each setting moderated by that of all (Smyth 2004)",
        "the settings that cannot be told from the best (Gupta, Hsu), errors divided by Sidak",
        "of these the lowest upper bound; within the margin the fewest changes of the default",
        "docs/decisions.md has an example by hand",
    ]
    asked = decided_query(state.selection, state)
    words = explanation(view, state.selection, asked, before, after)
    defaults = _without_settings(state.selection)
    query = statement(*decided_query(defaults, state, only="is_baseline"))
    return f"{words}\n\nthe defaults that these settings are compared with:\n\n{query}"


def _moments(view: LakeView, state: ExploreState) -> pl.DataFrame:
    """Return the moments of all settings of the workloads, whatever the other filters."""
    base = leading(state.selection)
    known: KnownColumns = view.known(base, tuple(CONFIGURATION))

    def query(selection: Selection, limit: int) -> tuple[str, list[Any]]:
        sql, parameters = decided_query(selection, state, known.names)
        return f"{sql} LIMIT {min(limit, MAX_ROWS):d}", parameters

    return view.narrowed(query, base, known).with_columns(cs.categorical().cast(pl.String))


def _without_settings(selection: Selection) -> Selection:
    clauses = (clause for clause in selection.clauses if clause.facet.name not in _SETTINGS)
    return Selection(tuple(clauses), selection.without)


def _judged(
    own: pl.DataFrame,
    here: pl.DataFrame,
    rows: pl.DataFrame,
    state: ExploreState,
    varying: Collection[str],
) -> dict[str, Any] | None:
    """Return the row of one choice; None if no run has a value of the cost.

    Args:
        here: The settings of the same place, of all systems; at least the defaults.
    """
    first = own.row(0, named=True)
    tuned = own.filter(~pl.col("is_baseline").fill_null(False))
    family = partial(_family, rows, first)
    try:
        judged = _study(tuned if len(tuned) else own, state, family)
    except DataError:
        return None
    reference, reason = baseline_of(here, first["system"], state.cost, judged, DEFAULT)
    changes, steps = distances(judged.settings, reference.row if reference else {})
    margin = float(np.log1p(state.margin_pct / 100))
    chosen = recommend(judged.cost, judged.best, changes, steps, state.alpha, margin)
    shown = _lowest(judged) if chosen.setting is None else chosen.setting
    row = {**judged.rows.row(shown, named=True), **_words_of(judged, shown, state)}
    row |= {"is_proven": chosen.is_proven, "reason": "" if reference else reason}
    members = judged.best.is_member & (judged.cost.n >= 2)
    row["regret_pct"] = _percent(float(judged.best.regret[shown]))
    row["set"] = _alternatives(judged, members, shown, varying)
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
        row |= _against(judged, in_order(_at(here, {"system": state.against})), state)
    return row


def _study(rows: pl.DataFrame, state: ExploreState, family: Any) -> Study:
    limit = None if state.limit is None else (state.limited, state.limit)
    return study(rows, state.cost, limit, state.alpha, family)


def _family(rows: pl.DataFrame, like: Mapping[str, Any]) -> pl.DataFrame:
    """Return the settings of one system and workload at all loads."""
    kept = ("dataset", "workload", "machine", "system")
    return _at(rows, {name: like[name] for name in kept}).filter(
        ~pl.col("is_baseline").fill_null(False)
    )


def _at(rows: pl.DataFrame, place: Mapping[str, Any]) -> pl.DataFrame:
    return rows.filter(*(pl.col(n).eq_missing(pl.lit(v, rows.schema[n])) for n, v in place.items()))


def _words_of(judged: Study, shown: int, state: ExploreState) -> dict[str, Any]:
    """Return what a row says of its shown setting and its set."""
    best, n = judged.best, judged.cost.n
    is_beyond = False
    if judged.limit is not None:
        metric = judged.limit.metric.at(shown)
        # Without an estimate of noise the mean itself counts.
        is_beyond = bool(np.isnan(metric.variance) and metric.mean > judged.limit.at)
    standing = "within" if best.is_within[shown] else "maybe"
    limited = judged.rows[f"{state.limited}_log_mean"][shown]
    return {
        "n": int(n[shown]),
        "cost": float(np.exp(sign_of(state.cost) * judged.cost.mean[shown])),
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


def _against(judged: Study, rows: pl.DataFrame, state: ExploreState) -> dict[str, Any]:
    """Compare the best of a choice with the best of the system that the reader chose."""
    if not len(rows) or rows["system"][0] == judged.rows["system"][0]:
        return {}
    try:
        other = _study(rows, state, partial(_family, rows, rows.row(0, named=True)))
    except DataError:
        return {}
    sides = Side.of(judged.cost, judged.best), Side.of(other.cost, other.best)
    margin = float(np.log1p(state.margin_pct / 100))
    found = compare_sides(*sides, state.alpha, margin, state.limit is not None)
    more: int | None = 0
    if found.outcome == "undecided":
        more = more_runs_of_all(*sides, state.alpha, margin)
    change = found.change
    return {
        "against_outcome": found.outcome,
        "against_more_runs": more,
        **_interval("against", change.estimate, change.low, change.high),
    }


def _alternatives(judged: Study, members: np.ndarray, shown: int, varying: Collection[str]) -> str:
    """Return the members of a set as alternatives, those that differ in ITR alone as one.

    A set that is too large for a link is its shown setting alone.
    """
    knobs = [knob.column for knob in KNOBS.values() if knob.column in varying]
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
        f"{name}_pct": _percent(estimate),
        f"{name}_low_pct": _percent(low),
        f"{name}_high_pct": _percent(high),
    }


def _percent(difference: float) -> float | None:
    """Return a difference of logarithms in percent; None beyond a factor e^5."""
    return float(100 * np.expm1(difference)) if abs(difference) <= 5 else None
