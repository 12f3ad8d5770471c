"""Best settings with their proof: one row for each system at each load.

A row has the setting to take, the settings that cannot be told from it, what it costs at most more
than the best, and its change against the default with an interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.question import Question
from app.explore.studies import Chosen, best_of, setting_keys
from app.kit.clause import MAX_CHARS, write_knobs
from data.analysis.best_set import Change, recommend, saving
from data.analysis.cell_outcomes import SAME_SHARE
from data.analysis.coded_rows import Part
from data.analysis.outcomes import Side, compare_sides
from data.analysis.planner import more_runs
from data.baselines import Baseline, baseline_of, distances
from data.choices import DEFAULT, Study, more_runs_apart
from data.errors import DataError

DEFAULT_WORDS: Final = "the default"
_COLUMNS: Final[dict[str, Any]] = {
    "n": pl.Int64, "equal_runs": pl.Int64, "cost": pl.Float64, "limited": pl.Float64,
    "standing": pl.String, "cost_mean": pl.Float64, "limited_mean": pl.Float64, "equals": pl.Int64,
    "is_proven": pl.Boolean, "settings": pl.Int64, "spread": pl.Float64, "is_least": pl.Boolean,
    "is_unlike": pl.Boolean,
    "settings_twice": pl.Int64, "members": pl.Int64, "members_once": pl.Int64, "unjudged": pl.Int64,
    "regret_pct": pl.Float64,
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
        _COLUMNS: `cost` and `limited` are geometric means in their units, `cost_mean` and
        `limited_mean` arithmetic ones; `equal_runs` is the number of runs with equal costs, which
        count as one, else 0; `equals` counts the settings within the limit with just this
        cost; `spread` is the geometric standard deviation of the cost, a factor, NaN if unknown,
        and `is_unlike` whether the runs differ so much that they are no replicates;
        `is_least` is whether no setting of the choice has a better mean; `standing` is within,
        maybe or outside; percentages are of the cost, NULL where the data do not bound them; `set`
        is the best set as alternatives of a `knobs` clause. Sorted by place and system.
    """
    kinds = question.moments.table.rows.schema
    schema = {name: kinds[name] for name in question.catalogue.configuration} | _COLUMNS
    return pl.DataFrame([judged.row for judged in judge(question)], schema)


def judge(question: Question) -> list[Judged]:
    """Judge each system at each load that the filters leave; the same choice is judged once.

    Nothing is judged by a cost of which neither less nor more is known to be better, or that has
    values below 0: means are geometric.
    """
    if question.cost.better is None or question.has_negative_costs:
        return []
    state = question.state
    asked = "judged", state.limited, state.margin_pct, state.against
    return [
        chosen.moments.once(
            (*chosen.key, asked), len(chosen.study.cost.n), partial(_judged, chosen, question)
        )
        for chosen in question.studies
    ]


def _judged(chosen: Chosen, question: Question) -> Judged:
    state, catalogue, judged = question.state, question.catalogue, chosen.study
    moments, place = chosen.moments, chosen.moments.place
    at_place = (place == place[chosen.choice])[moments.choice]
    here = Part(moments.table, np.flatnonzero(at_place & moments.is_default))
    first = judged.part.row(0)
    reference, reason = baseline_of(
        here, first["system"], state.cost, judged, DEFAULT, catalogue=catalogue
    )
    base = reference.row if reference else {}
    changes, steps = distances(judged, base, catalogue=catalogue)
    margin = float(np.log1p(state.margin_pct / 100))
    taken = recommend(judged.cost, judged.best, changes, steps, state.alpha, margin)
    shown = taken.setting
    # Where it is a guess what was set, the table states which setting has the least.
    if shown is None or first["dataset"] in question.view.lake.guessed:
        shown = _lowest(judged)
    row = judged.part.row(shown)
    row |= _facts(judged, shown, row, question)
    row |= {"is_proven": taken.is_proven, "reason": "" if reference else reason}
    members = judged.best.is_member & (judged.cost.n >= 2)
    row["regret_pct"] = percents_of([float(judged.best.regret[shown])])[0]
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
        row |= _interval("change", change, question)
        row["default_n"] = int(reference.cost.n)
        if change.low <= 0 <= change.high:
            row["default_more_runs"] = more_runs(
                judged.cost.at(shown), reference.cost, picked, state.alpha, margin
            )
    if state.against and row["standing"] != "outside":
        systems = moments.table.codes["system"]
        is_rival = np.array([value == state.against for value in systems.values])[systems.codes]
        row |= _against(chosen, np.flatnonzero(at_place & is_rival), question)
    return Judged(judged, shown, reference, row)


def _facts(judged: Study, shown: int, row: dict[str, Any], question: Question) -> dict[str, Any]:
    """Return what a row says of its shown setting and its set; `row` has the moments."""
    limited = row[f"{question.state.limited}_log_mean"]
    variance = row[f"{question.cost.name}_log_variance"]
    best, n = judged.best, judged.cost.n
    is_beyond = False
    if judged.limit is not None:
        metric = judged.limit.metric.at(shown)
        # Without an estimate of noise the mean itself counts.
        is_beyond = bool(np.isnan(metric.variance) and metric.mean > judged.limit.at)
    standing = "within" if best.is_within[shown] else "maybe"
    is_same = np.abs(judged.cost.mean - judged.cost.mean[shown]) <= SAME_SHARE
    return {
        "n": int(n[shown]),
        "equal_runs": 0 if variance is None or n[shown] > 1 else row[f"{question.cost.name}_n"],
        "cost_mean": row[f"{question.cost.name}_mean"],
        "limited_mean": row[f"{question.state.limited}_mean"],
        "equals": int((is_same & ~best.is_outside).sum()),
        "cost": float(np.exp(question.cost.sign * judged.cost.mean[shown])),
        "limited": None if limited is None else float(np.exp(limited)),
        "standing": "outside" if best.is_outside[shown] or is_beyond else standing,
        "settings": len(n),
        "is_least": bool(judged.cost.mean[shown] <= np.nanmin(judged.cost.mean)),
        "spread": np.nan if variance is None else float(np.exp(np.sqrt(variance))),
        "is_unlike": bool(judged.cost.is_unlike[shown]),
        "settings_twice": int((n >= 2).sum()),
        "members": int((best.is_member & (n >= 2)).sum()),
        "members_once": int((best.is_member & (n < 2)).sum()),
        "unjudged": int((~judged.cost.is_judged).sum()),
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


def _against(chosen: Chosen, rivals: np.ndarray, question: Question) -> dict[str, Any]:
    """Compare the best of a choice with the best of the system that the reader chose."""
    moments, judged = chosen.moments, chosen.study
    if not len(rivals) or moments.choice[rivals[0]] == chosen.choice:
        return {}
    try:
        other = best_of(moments, rivals, question).study
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
        **_interval("against", change, question),
    }


def _alternatives(judged: Study, members: np.ndarray, shown: int, question: Question) -> str:
    """Return the members of a set as alternatives, those that differ in ITR alone as one.

    A set that is too large for a link is its shown setting alone.
    """
    keys = setting_keys(question)
    varying = question.varying.intersection(keys)
    knobs = [name for name in question.catalogue.knob_of_column if name in varying]
    places = np.flatnonzero(members) if members.any() else np.array([shown])
    text, most = "", MAX_CHARS // 2
    # So many are too many: a member has two characters at least.
    places = places[: most // 2 + 1]
    columns = judged.part.listed(knobs or ["system"], places)
    rest = [name for name in columns if name != "itr_us"]
    others = list(zip(*(columns[n] for n in rest), strict=True)) if rest else [()] * len(places)
    delays: dict[tuple[Any, ...], list[Any]] = {}
    for key, delay in zip(others, columns.get("itr_us", others), strict=True):
        delays.setdefault(key, []).append(delay)
    # Of each an alternative has the name in quotes, a colon, a value and a comma at least.
    if len(delays) * sum(len(name) + 5 for name in columns) <= most:
        has_delay = "itr_us" in columns
        alternatives = [
            dict(zip(rest, key, strict=True)) | ({"itr_us": values} if has_delay else {})
            for key, values in delays.items()
        ]
        text = write_knobs(alternatives).removeprefix("knobs~")
    if not text or len(text) > most:
        row = judged.part.row(shown)
        text = write_knobs([{name: row[name] for name in knobs}]).removeprefix("knobs~")
    return text


def _interval(name: str, change: Change, question: Question) -> dict[str, float | None]:
    """Return a change of the cost in percent: where more is better, its logarithm is negated."""
    ends = [change.estimate, change.low, change.high]
    if question.cost.better == "more":
        ends = [-change.estimate, -change.high, -change.low]
    names = (f"{name}_pct", f"{name}_low_pct", f"{name}_high_pct")
    return dict(zip(names, percents_of(ends), strict=True))


def percents_of(differences: Sequence[float]) -> list[float | None]:
    """Return differences of logarithms in percent; None beyond a factor e^5."""
    return [float(100 * np.expm1(d)) if abs(d) <= 5 else None for d in differences]


def is_unjudged(row: Mapping[str, Any]) -> bool:
    """Return whether the runs of a setting among several are no replicates: none is the best."""
    return bool(row["is_unlike"] and row["settings"] > 1)
