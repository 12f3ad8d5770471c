"""The places of a view at which runs of one setting are no replicates, and these runs."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from app.explore.question import Question
from app.explore.studies import moments_of
from app.kit.metric_choice import is_below_zero
from app.kit.settings import MAX_ROWS
from data.analysis.like_with_like import Slice
from data.queries.explore import replicates_query
from data.selection import Selection, Value


def unlike_places(
    question: Question, metric: str, filters: Selection, part: Slice, by: Sequence[str]
) -> set[tuple[Value | None, ...]]:
    """Return the values of some columns at which runs of one setting are no replicates.

    None where the reader pools settings: a place then has runs of several.
    """
    if part.pooled or question.state.merged or is_below_zero(question.view, metric):
        return set()
    is_known = metric in (question.state.cost, question.state.limited)
    moments = question.moments if is_known else moments_of(question, (metric,))
    table, unlike = moments.table, moments.unlike[metric]
    if not unlike.any():
        return set()
    left = np.arange(len(table))[table.part(filters.clauses).at_values(part.place).at]
    return {*table.rows[left[unlike[left]], [*by]].iter_rows()}


def unlike_runs(
    question: Question, shown: Selection, cells: pl.DataFrame, by: Sequence[str]
) -> pl.DataFrame:
    """Return each run of the cells whose runs are no replicates, in the columns of the cells.

    Args:
        shown: The filters of the runs behind the cells.
        cells: With `metric`, `value` and `is_unlike`.
    """
    unlike, runs = cells.filter("is_unlike"), [cells[:0]]
    for (name,), places in unlike.group_by("metric", maintain_order=True):
        query = replicates_query(shown, str(name), MAX_ROWS, catalogue=question.catalogue)
        rows = question.view.answered(*query).select(*by, value="values").explode("value")
        each = rows.cast({column: cells.schema[column] for column in by})
        runs.append(
            places.drop("value")
            .join(each, on=by, nulls_equal=True, maintain_order="left")
            .select(cells.columns)
        )
    return pl.concat(runs)
