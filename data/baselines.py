"""The setting to compare with, and how far others are from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from data.analysis.coded_rows import Part
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
    everything: Part,
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
    is_there = matching(everything, named) & (everything.numbers(f"{name}_n") > 0)
    there, count = everything.where(is_there), int(is_there.sum())
    what = "default" if named is DEFAULT else "setting that the baseline names"
    if not count:
        return None, f"no {what} was measured here"
    if count > 1:
        return None, f"{count} settings are the {what}: name one"
    is_more_better = catalogue.metric(name).sign < 0
    cost = estimates_of(log_moments(there, name, own.step), own.cost.prior, is_more_better)
    row = there.row(0)
    values = tuple(row[column] for column in own.knobs)
    is_one = row["system"] == system and len(own.part) == 1
    is_candidate = is_one and own.settings.row(0) == values
    if cost.is_unlike[0] and not is_candidate:
        return None, f"the runs of the {what} are no replicates"
    return Baseline(row, cost.at(0), is_candidate), ""


def distances(
    own: Study, baseline: Mapping[str, Any], *, catalogue: Catalogue
) -> tuple[np.ndarray, np.ndarray]:
    """Count the knobs in which each setting differs from the baseline, and steps on their ladders.

    A policy against a number is a change without steps. Without a baseline all differ alike.
    """
    count = len(own.cost.n) if own.knobs else 1
    changes, steps = (np.zeros(count, np.int64) for _ in range(2))
    policies = set(POLICIES.values())
    names = catalogue.setting_columns
    known = {name for name in names if baseline.get(name) is not None}
    is_other = own.part.differing({name: baseline.get(name) for name in own.knobs})
    for name in sorted(known.union(own.knobs) - policies):
        value, policy = baseline.get(name), POLICIES.get(name, "")
        if name not in own.knobs:
            changes += 1
            continue
        changes += is_other[name] | is_other[policy] if policy in own.knobs else is_other[name]
        if own.part.table.rows[name].dtype.is_numeric() and value is not None:
            values = own.part.numbers(name).astype(float)
            values = np.where(np.isnan(values), float(value), values)
            ladder = np.unique(np.append(values, float(value)))
            place = np.searchsorted(ladder, float(value))
            steps += np.abs(np.searchsorted(ladder, values) - place)
    return changes, steps
