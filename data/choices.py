"""A choice: its settings, the runs behind them, and the setting to compare them with.

`data.decisions` is the door to it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from data.analysis.best_set import BestSet, Limit, best_set
from data.analysis.coded_rows import Part
from data.analysis.noise import (
    ENOUGH_SETTINGS,
    Estimates,
    Prior,
    Settings,
    estimates_of,
    fit_prior,
)
from data.analysis.outcomes import Side, more_runs_of_all, with_more_runs
from data.analysis.replicates import observed
from data.below_zero import below_zero, below_zero_words
from data.catalogue import Catalogue
from data.errors import DataError
from data.knobs import POLICIES
from data.metrics import Metric
from data.queries.moments import moments_query

if TYPE_CHECKING:
    from data.connection import Lake

Value = str | float | None

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


@dataclass(frozen=True)
class Study:
    """The settings of one choice and what their runs say.

    Attributes:
        part: The moments of each setting, one row a setting.
        knobs: Columns of the knobs that are set in the choice, and of their policies.
        alpha: Error of the best set.
        step: Resolution of the objective's values, in its unit.
        left_out: Rows of `runs` in settings without a value of the objective above 0.
    """

    part: Part
    knobs: tuple[str, ...]
    cost: Estimates
    limit: Limit | None
    alpha: float
    step: float
    left_out: int

    @cached_property
    def best(self) -> BestSet:
        """The settings that may be the best."""
        return best_set(self.cost, self.limit, self.alpha)

    @property
    def rows(self) -> pl.DataFrame:
        """The moments as a table."""
        return self.part.rows

    @cached_property
    def settings(self) -> pl.DataFrame:
        """The knobs of each setting."""
        # Brackets take a fraction of the time of `select`; an empty list in them means all columns.
        return self.rows[list(self.knobs)] if self.knobs else self.rows.select()


def study_of(
    lake: "Lake", choice: Choice, alpha: float, baseline: Mapping[str, Value] = DEFAULT
) -> tuple[Study, pl.DataFrame]:
    """Read the settings of a choice, and all rows of its scope, whatever their system.

    The baseline is none of the settings, unless it is the only one.
    """
    catalogue = lake.catalogue
    _check(choice, catalogue)
    if below_zero(lake, [choice.objective]):
        raise DataError(below_zero_words(catalogue.metric(choice.objective)))
    scope = choice.scope()
    everything = _moments(lake, choice, scope)
    own = _without(everything.filter(pl.col("system") == choice.system), baseline)
    _check_scope(own, choice, catalogue)

    @cache
    def family() -> Part:
        """Return the runs of the system and workload at all loads: their noise can be borrowed."""
        asked: dict[str, Value] = {"workload": choice.workload, "system": choice.system}
        asked |= {name: scope[name] for name in ("dataset", "machine") if name in scope}
        return Part.of(_without(_moments(lake, choice, asked), baseline))

    ordered = in_order(own, catalogue=catalogue)
    found = study(
        Part.of(ordered), choice.objective, choice.limit, alpha,
        lambda name: prior_in(family(), name), catalogue=catalogue,
    )  # fmt: skip
    return found, everything


def study(
    rows: Part,
    objective: str,
    bound: tuple[str, float] | None,
    alpha: float,
    lent: Callable[[str], Prior],
    *,
    catalogue: Catalogue,
) -> Study:
    """Find the best set among the settings of one choice.

    Args:
        rows: One row a setting, columns of `moments_query` by the columns of a setting; as
            `in_order` returns them.
        lent: Returns the prior of a metric over such rows of all loads, for a choice with few.

    Raises:
        DataError: No setting has a value of the objective above 0.
    """
    known = rows.known(catalogue.setting_columns)
    # A knob is set if it, or the policy beside it, has a value.
    knobs = [
        name for name in catalogue.setting_columns if name in known or POLICIES.get(name) in known
    ]
    counted, runs = (rows.table.numbers[name][rows.at] for name in (f"{objective}_n", "runs"))
    is_there = counted > 0
    if not is_there.any():
        raise DataError(f"none of {int(runs.sum()):,} runs has a value of {objective} above 0")
    there, left_out = rows.where(is_there), int(runs[~is_there].sum())
    cost, step = estimates_in(there, catalogue.metric(objective), lent)
    limit = None
    if bound is not None:
        limited, at_most = catalogue.metric(bound[0]), bound[1]
        estimates, _ = estimates_in(there, limited, lent)
        limit = Limit(limited.sign * float(np.log(at_most)), estimates)
    return Study(there, tuple(knobs), cost, limit, alpha, step, left_out)


def in_order(rows: pl.DataFrame, *, catalogue: Catalogue) -> pl.DataFrame:
    """Sort settings so that of equal ones the least throttled comes first.

    That is a short delay, a high clock, a high power limit.
    """
    knobs = catalogue.setting_columns
    descending = [not name.endswith("_us") for name in knobs]
    return rows.sort(knobs, descending=descending, nulls_last=True, maintain_order=True)


def _check(choice: Choice, catalogue: Catalogue) -> None:
    """Refuse metrics and columns that do not exist, and a bound that is no number above 0."""
    catalogue.metric(choice.objective)
    unknown = [name for name in choice.scope() if name not in catalogue.choice_columns]
    if unknown:
        raise DataError(f"{', '.join(unknown)}: no column that a choice can fix")
    if choice.limit is not None:
        name, bound = choice.limit
        catalogue.metric(name)
        if not bound > 0:
            raise DataError(f"limit {name} is {bound!r}, expected a number above 0")


def _moments(lake: "Lake", choice: Choice, fixed: Mapping[str, Value]) -> pl.DataFrame:
    """Read the moments of all settings with some values."""
    metrics = dict.fromkeys([choice.objective, *([choice.limit[0]] if choice.limit else [])])
    condition = " AND ".join(f"{name} = ?" for name in fixed)
    catalogue = lake.catalogue
    by = [*catalogue.choice_columns, *catalogue.setting_columns, "is_baseline"]
    values = list(fixed.values())
    return lake.polars(*moments_query(condition, values, by, list(metrics), catalogue=catalogue))


def _without(rows: pl.DataFrame, baseline: Mapping[str, Value]) -> pl.DataFrame:
    others = rows.filter(~matching(Part.of(rows), baseline))
    return others if len(others) else rows


def matching(rows: Part, values: Mapping[str, Value]) -> np.ndarray:
    """Mark the rows with these values.

    Raises:
        DataError: No such column.
    """
    unknown = [name for name in values if name not in rows.table.columns]
    if unknown:
        raise DataError(f"baseline: {', '.join(unknown)}: no column of a setting")
    if not values:
        return np.ones(len(rows), bool)
    is_other: np.ndarray = np.logical_or.reduce([*rows.differing(values).values()])
    return ~is_other


def _check_scope(rows: pl.DataFrame, choice: Choice, catalogue: Catalogue) -> None:
    """See that the choice leaves no column open that varies.

    Raises:
        DataError: One does, or no run is left.
    """
    fixed = {**choice.scope(), "system": choice.system}
    if not len(rows):
        words = ", ".join(f"{name} {value}" for name, value in fixed.items())
        raise DataError(f"no run has {words}")
    for name in catalogue.choice_columns:
        values = rows[name].unique().sort(nulls_last=True).to_list()
        if name not in fixed and len(values) > 1:
            listed = ", ".join("none" if value is None else str(value) for value in values[:20])
            raise DataError(f"{name} varies in this choice: give one of {listed}")


def log_moments(rows: Part, name: str, step: float) -> Settings:
    """Return the moments of a metric in each row; NaN without a value."""
    table, ends = rows.table.numbers, ("n", "log_mean", "log_variance", "mean")
    counted, log_mean, log_variance, mean = (table[f"{name}_{end}"][rows.at] for end in ends)
    floor = (step / mean) ** 2 / 12
    n, variance = observed(counted, log_variance, floor)
    return Settings(n, log_mean, variance, floor)


def estimates_in(
    rows: Part, metric: Metric, lent: Callable[[str], Prior]
) -> tuple[Estimates, float]:
    """Return the estimates of a metric in each row, and the resolution of its values.

    Args:
        rows, lent: As of `study`.
    """
    name = metric.name
    step = _step(rows, name)
    settings = log_moments(rows, name, step)
    is_large = int((settings.n > 1).sum()) >= ENOUGH_SETTINGS
    prior = fit_prior(settings) if is_large else lent(name)
    with np.errstate(divide="ignore", invalid="ignore"):
        return estimates_of(settings, prior, metric.sign < 0), step


def prior_in(rows: Part, name: str) -> Prior:
    """Return the prior of a metric over all rows."""
    return fit_prior(log_moments(rows, name, _step(rows, name)))


def _step(rows: Part, name: str) -> float:
    step = float(np.fmin.reduce(rows.numbers(f"{name}_step"), initial=np.inf))
    return step if step < np.inf else 0.0


def more_runs_apart(a: Study, b: Study, alpha: float, margin: float) -> int | None:
    """Return about how many more runs of each member would tell two best sets apart.

    Under a limit, more runs also tell whether a member meets it.

    Args:
        margin: As a natural logarithm.

    Returns:
        None for over 100.
    """
    sides = [Side.of(study.cost, study.best) for study in (a, b)]
    within = None
    if a.limit is not None and b.limit is not None:
        within = (
            partial(members_within, a, sides[0], alpha),
            partial(members_within, b, sides[1], alpha),
        )
    return more_runs_of_all(sides[0], sides[1], alpha, margin, within)


def members_within(study: Study, side: Side, alpha: float, more: int) -> np.ndarray:
    """Tell which members surely meet the limit after more runs of each."""
    assert study.limit is not None, "BUG: no limit"
    limit = Limit(study.limit.at, with_more_runs(study.limit.metric, more))
    return best_set(study.cost, limit, alpha).is_within[side.settings]
