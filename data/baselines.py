"""The setting to compare with, and how far others are from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from data.analysis.noise import Estimates, estimates_of
from data.catalogue import Catalogue
from data.choices import DEFAULT, Study, Value, log_moments, matching
from data.knobs import POLICIES


@dataclass(frozen=True, slots=True)
class Baseline:
    row: dict[str, Any]
    cost: Estimates
    is_candidate: bool


def baseline_of(
    everything: pl.DataFrame,
    system: str,
    objective: str,
    own: Study,
    named: Mapping[str, Value],
    *,
    catalogue: Catalogue,
) -> tuple[Baseline | None, str]:
    """Find the setting to compare with, or say why there is none.

    Args:
        everything: All rows of the choice's scope, whatever their system.
        system, objective: Those of the choice.
        named: Columns and values of the setting.
    """
    name = objective
    is_there = matching(everything, named) & (everything[f"{name}_n"] > 0)
    rows = everything[np.flatnonzero(is_there)]
    what = "default" if named is DEFAULT else "setting that the baseline names"
    if not len(rows):
        return None, f"no {what} was measured here"
    if len(rows) > 1:
        return None, f"{len(rows)} settings are the {what}: name one"
    is_more_better = catalogue.metric(name).sign < 0
    cost = estimates_of(log_moments(rows, name, own.step), own.cost.prior, is_more_better)
    row = rows.row(0, named=True)
    values = tuple(row[column] for column in own.knobs)
    is_one = row["system"] == system and len(own.rows) == 1
    is_candidate = is_one and own.settings.row(0) == values
    return Baseline(row, cost.at(0), is_candidate), ""


def distances(
    settings: pl.DataFrame, baseline: Mapping[str, Any], *, catalogue: Catalogue
) -> tuple[np.ndarray, np.ndarray]:
    """Count the knobs in which each setting differs from the baseline, and steps on their ladders.

    A policy against a number is a change without steps. Without a baseline all differ alike.
    """
    changes, steps = (np.zeros(max(len(settings), 1), np.int64) for _ in range(2))
    policies = set(POLICIES.values())
    names = catalogue.setting_columns
    known = {name for name in names if baseline.get(name) is not None}
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
            values = settings[name].cast(pl.Float64).to_numpy()
            values = np.where(np.isnan(values), float(own), values)
            ladder = np.unique(np.append(values, float(own)))
            steps += np.abs(np.searchsorted(ladder, values) - np.searchsorted(ladder, float(own)))
    return changes, steps


def _differs(column: pl.Series, value: Value) -> np.ndarray:
    if column.dtype.is_numeric():
        values = column.cast(pl.Float64).to_numpy()
        return ~np.isnan(values) if value is None else values != float(value)
    if value is None:
        return np.array([one is not None for one in column.to_list()], bool)
    # NULL becomes NaN, and differs.
    return (column == value).cast(pl.Float64).to_numpy() != 1
