"""A choice: its settings, the runs behind them, and the setting to compare them with.

`data.decisions` is the door to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from data.aggregates import AGGREGATE_N
from data.analysis.best_set import BestSet, Limit, best_set
from data.analysis.noise import (
    ENOUGH_SETTINGS,
    Estimates,
    Prior,
    estimates_of,
    fit_prior,
    resolution,
    settings_of,
)
from data.errors import DataError
from data.knobs import KNOBS
from data.metrics import metric

if TYPE_CHECKING:
    from data.connection import Lake

Value = str | float | None

# The policies stand beside their knobs: a setting with a policy has no number.
POLICIES: Final = {"itr_us": "itr_policy", "dvfs_ghz": "dvfs_policy"}
# What the default is in columns.
DEFAULT: Final[Mapping[str, Value]] = {"is_baseline": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One question: which setting of a system is best?

    Attributes:
        objective: The metric that the best has least of, or most where more is better.
        limit: A metric and its bound: at most where less is better, else at least.
        dataset, machine, load_qps, message_bytes, work: Needed where they vary.
        where: Other columns that were given, such as `device` or `request_bytes`, and their values.
    """

    workload: str
    system: str
    objective: str
    limit: tuple[str, float] | None = None
    dataset: str | None = None
    machine: str | None = None
    load_qps: float | None = None
    message_bytes: int | None = None
    work: str | None = None
    where: Mapping[str, Value] = field(default_factory=dict)

    def scope(self) -> dict[str, Value]:
        """Return the columns that the choice fixes, without the system."""
        own: dict[str, Value] = {
            "workload": self.workload, "dataset": self.dataset, "machine": self.machine,
            "load_qps": self.load_qps, "message_bytes": self.message_bytes, "work": self.work,
        }  # fmt: skip
        return {name: value for name, value in own.items() if value is not None} | dict(self.where)


@dataclass(frozen=True, slots=True)
class Study:
    """The settings of one choice and what their runs say."""

    settings: pl.DataFrame
    cost: Estimates
    limit: Limit | None
    best: BestSet
    step: float
    left_out: int


def study_of(
    lake: "Lake", choice: Choice, alpha: float, baseline: Mapping[str, Value] = DEFAULT
) -> Study:
    """Read the settings of a choice. The baseline is none of them, unless it is the only one."""
    is_more_better = sign_of(choice.objective) < 0
    family = _runs(lake, choice, baseline)
    runs, left_out = _measured(_in_scope(family, choice), choice.objective)
    knobs = [name for name in setting_columns() if _is_set(runs, name)]
    # Of settings that are equal otherwise, the least throttled comes first: a short delay, a high
    # clock, a high power limit.
    settings = (
        runs.select(knobs)
        .unique()
        .sort(knobs, descending=[not name.endswith("_us") for name in knobs], nulls_last=True)
    )
    numbered = settings.with_row_index("setting")
    place = runs.join(numbered, on=knobs, nulls_equal=True, maintain_order="left") if knobs else (
        runs.with_columns(setting=pl.lit(0))
    )  # fmt: skip
    number = place["setting"].to_numpy().astype(np.int64)
    count = max(len(settings), 1)
    values = runs[choice.objective].cast(pl.Float64).to_numpy()
    cost, step = _estimates(values, number, count, _measured(family, choice.objective)[0],
                            choice.objective, is_more_better)  # fmt: skip
    limit = None
    if choice.limit is not None:
        name, bound = choice.limit
        if not bound > 0:
            raise DataError(f"limit {name} is {bound!r}, expected a number above 0")
        is_there = _is_positive(runs[name])
        measured, _ = _estimates(
            runs[name].cast(pl.Float64).to_numpy()[is_there], number[is_there], count,
            _measured(family, name)[0], name, sign_of(name) < 0,
        )  # fmt: skip
        limit = Limit(sign_of(name) * float(np.log(bound)), measured)
    return Study(settings, cost, limit, best_set(cost, limit, alpha), step, left_out)


def _is_set(runs: pl.DataFrame, name: str) -> bool:
    """Tell whether a knob, or the policy beside it, has a value."""
    columns = [name, POLICIES.get(name, name)]
    return any(runs[column].null_count() < len(runs) for column in columns)


def setting_columns() -> list[str]:
    """Return the columns of a setting: all knobs that are not given, and their policies."""
    scope = _scope_columns()
    own = [knob.column for knob in KNOBS.values() if knob.column not in scope]
    return [name for knob in own for name in (knob, POLICIES.get(knob)) if name]


def _scope_columns() -> list[str]:
    """Return the columns that a choice must fix where they vary; the system among them."""
    given = [knob.column for knob in KNOBS.values() if knob.is_given]
    return list(dict.fromkeys([*given, "machine", "system"]))


def sign_of(name: str) -> int:
    """Return -1 for a metric of which more is better, else 1."""
    return -1 if metric(name).better == "more" else 1


def _runs(lake: "Lake", choice: Choice, baseline: Mapping[str, Value]) -> pl.DataFrame:
    """Read the runs of the choice's system and workload, whatever their load.

    Noise is borrowed from other loads where a choice has too few settings.
    """
    scope = choice.scope()
    asked: dict[str, Value] = {"workload": choice.workload, "system": choice.system}
    asked |= {name: scope[name] for name in ("dataset", "machine") if name in scope}
    runs = _read(lake, choice, asked)
    others = runs.filter(~_matching(runs, baseline))
    return others if len(others) else runs


def _matching(runs: pl.DataFrame, values: Mapping[str, Value]) -> pl.Series:
    """Mark the rows with these values.

    Raises:
        DataError: No such column.
    """
    unknown = [name for name in values if name not in runs.columns]
    if unknown:
        raise DataError(f"baseline: {', '.join(unknown)}: no column of a setting")
    mask = pl.all_horizontal(*(pl.col(n).eq_missing(pl.lit(v)) for n, v in values.items()))
    return runs.select(mask.alias("mask"))["mask"]


def _read(lake: "Lake", choice: Choice, asked: Mapping[str, Value]) -> pl.DataFrame:
    metrics = [choice.objective, *([choice.limit[0]] if choice.limit else [])]
    for name in metrics:
        metric(name)
    unknown = [n for n in choice.scope() if n not in _scope_columns()]
    if unknown:
        raise DataError(f"{', '.join(unknown)}: no column that a choice can fix")
    aggregates = [AGGREGATE_N] if any(c.name == AGGREGATE_N for c in lake.columns) else []
    columns = dict.fromkeys(
        [*_scope_columns(), *setting_columns(), "is_baseline", *metrics, *aggregates]
    )
    condition = " AND ".join(f"{name} = ?" for name in asked)
    return lake.polars(
        f"SELECT {', '.join(columns)} FROM runs WHERE {condition} ORDER BY run_id",
        list(asked.values()),
    )


def _in_scope(family: pl.DataFrame, choice: Choice) -> pl.DataFrame:
    """Keep the runs of the choice.

    Raises:
        DataError: None is left, or a column that the choice leaves open varies.
    """
    fixed = {**choice.scope(), "system": choice.system}
    runs = family.filter(*(pl.col(name) == value for name, value in fixed.items()))
    if not len(runs):
        words = ", ".join(f"{name} {value}" for name, value in fixed.items())
        raise DataError(f"no run has {words}")
    for name in _scope_columns():
        values = runs[name].unique().sort(nulls_last=True).to_list()
        if name not in fixed and len(values) > 1:
            listed = ", ".join("none" if value is None else str(value) for value in values[:20])
            raise DataError(f"{name} varies in this choice: give one of {listed}")
    return runs


def _measured(runs: pl.DataFrame, name: str) -> tuple[pl.DataFrame, int]:
    """Keep the single runs with a value above 0; also return how many rows that leaves out.

    Raises:
        DataError: None is left.
    """
    is_there = _is_positive(runs[name])
    if AGGREGATE_N in runs.columns:
        is_there &= (runs[AGGREGATE_N].fill_null(1) == 1).to_numpy()
    left = runs.filter(is_there)
    if not len(left):
        raise DataError(f"none of {len(runs):,} runs has a value of {name} above 0")
    return left, len(runs) - len(left)


def _is_positive(column: pl.Series) -> np.ndarray:
    return (column.fill_null(0) > 0).to_numpy()


def _estimates(
    values: np.ndarray,
    number: np.ndarray,
    count: int,
    family: pl.DataFrame,
    name: str,
    is_more_better: bool,
) -> tuple[Estimates, float]:
    """Return the estimates of all settings, NaN without a value, and the values' resolution."""
    there, compact = np.unique(number, return_inverse=True)
    step = resolution(values)
    found = settings_of(values, compact, step)
    prior = fit_prior(found.n, found.variance)
    if int((found.n > 1).sum()) < ENOUGH_SETTINGS:
        prior = _family_prior(family, name)
    estimates = estimates_of(found, prior, is_more_better)
    n, mean = np.zeros(count, np.int64), np.full(count, np.nan)
    variance, df = np.full(count, np.nan), np.zeros(count)
    n[there], mean[there] = estimates.n, estimates.mean
    variance[there], df[there] = estimates.variance, estimates.df
    return Estimates(n, mean, variance, df, prior), step


def _family_prior(family: pl.DataFrame, name: str) -> Prior:
    columns = [*_scope_columns(), *setting_columns()]
    number = family.select(pl.struct(columns).rank("dense")).to_series().to_numpy() - 1
    found = settings_of(family[name].cast(pl.Float64).to_numpy(), number.astype(np.int64))
    return fit_prior(found.n, found.variance)


@dataclass(frozen=True, slots=True)
class Baseline:
    row: dict[str, Any]
    cost: Estimates
    is_candidate: bool


def baseline_of(
    lake: "Lake", choice: Choice, study: Study, named: Mapping[str, Value]
) -> tuple[Baseline | None, str]:
    """Find the setting to compare with: the named one, else the default of any system."""
    runs = _read(lake, choice, choice.scope())
    runs = runs.filter(_matching(runs, named))
    runs = runs.filter(_is_positive(runs[choice.objective]))
    columns = ["system", *setting_columns()]
    settings = runs.select(columns).unique()
    what = "default" if named is DEFAULT else "setting that the baseline names"
    if not len(settings):
        return None, f"no {what} was measured here"
    if len(settings) > 1:
        return None, f"{len(settings)} settings are the {what}: name one"
    values = runs[choice.objective].cast(pl.Float64).to_numpy()
    moments = settings_of(values, np.zeros(len(values), np.int64), study.step)
    cost = estimates_of(moments, study.cost.prior, sign_of(choice.objective) < 0)
    row = settings.row(0, named=True)
    own = [row[name] for name in study.settings.columns]
    is_candidate = row["system"] == choice.system and study.settings.rows() == [tuple(own)]
    return Baseline(row, cost.at(0), is_candidate), ""


def distances(settings: pl.DataFrame, baseline: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Count the knobs in which each setting differs from the baseline, and steps on their ladders.

    A policy against a number is a change without steps. Without a baseline all differ alike.
    """
    changes, steps = (np.zeros(max(len(settings), 1), np.int64) for _ in range(2))
    policies = set(POLICIES.values())
    known = {name for name, value in baseline.items() if value is not None and name != "system"}
    for name in sorted(known.union(settings.columns) - policies):
        own, policy = baseline.get(name), POLICIES.get(name, "")
        if name not in settings.columns:
            changes += 1
            continue
        is_other = _differs(settings[name], own)
        if policy in settings.columns:
            is_other |= _differs(settings[policy], baseline.get(policy))
        changes += is_other
        if settings[name].dtype.is_numeric() and own is not None:
            ladder = np.unique([*settings[name].drop_nulls().to_list(), own])
            place = np.searchsorted(ladder, settings[name].fill_null(own).to_numpy())
            steps += np.abs(place - np.searchsorted(ladder, own))
    return changes, steps


def _differs(column: pl.Series, value: Value) -> np.ndarray:
    return column.ne_missing(pl.Series([value], dtype=column.dtype)).to_numpy()
