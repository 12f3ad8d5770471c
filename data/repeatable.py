"""Which runs a person can make again, and why others are not asked for.

A time that has passed cannot be set, and a mean of several runs has been repeated already.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from data.analysis.replicates import are_unlike
from data.catalogue import Catalogue
from data.choices import Choice, Study
from data.queries.runs import valued_datasets_query

if TYPE_CHECKING:
    from data.connection import Lake

# Texts that begin with a day: `20231220_111612`, `2024-05-03`.
_DAY: Final = re.compile(r"(?:19|20)\d\d([-_.]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01]).*")
# Words of columns whose values are times, whatever they are.
_TIMES: Final = frozenset({"session", "date", "timestamp"})


def are_past(column: str, values: Iterable[Any]) -> bool:
    """Return whether all values of a column, one at least, are times that have passed."""
    known = [value for value in values if value is not None]
    is_time = not _TIMES.isdisjoint(column.split("_"))
    return bool(known) and (is_time or all(map(_is_day, known)))


def _is_day(value: Any) -> bool:
    return isinstance(value, str) and _DAY.fullmatch(value) is not None


def why_not_again(lake: "Lake", choice: Choice, own: Study) -> str:
    """Return why nobody can make the runs of a choice again; empty if somebody can."""
    catalogue: Catalogue = lake.catalogue
    for name, value in choice.scope().items():
        if are_past(name, [value]):
            words = catalogue.knob_of_column[name].words(value)
            return f"{words} has passed: runs of today would not be of it"
    for name in own.knobs:
        if own.rows[name].n_unique() > 1 and are_past(name, own.rows[name].unique()):
            noun = catalogue.knob_of_column[name].noun
            return f"settings differ in {noun}: a time that has passed cannot be set"
    names = catalogue.means_of_unstated
    if names and not {*own.rows["dataset"]}.isdisjoint(
        lake.polars(*valued_datasets_query(names))["dataset"]
    ):
        return "rows are means of runs, and how many is not stated: they were repeated already"
    return ""


def are_far(own: Study) -> np.ndarray:
    """Return which settings cost so much more than the least that the two were no replicates.

    What differs so is nothing that a second run would tell.
    """
    beyond = own.cost.mean - np.nanmin(np.where(own.best.is_outside, np.nan, own.cost.mean))
    # The variance of two runs that are so far apart.
    return np.asarray((beyond > 0) & are_unlike(beyond**2 / 2))
