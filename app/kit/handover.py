"""The filters and the clause of a link from another page, resolved to configurations."""

from typing import Any, Final

import polars as pl
import polars.selectors as cs

from app.kit.clause import Clause, matching
from app.kit.lakes import LakeView
from data.queries.points import CONFIGURATION, points_query
from data.selection import Selection

# A clause of knobs needs no measured column, but the query of points requires one.
_ANY: Final = {"any": "duration_s"}


def configurations(
    view: LakeView, selection: Selection, clause: Clause | None = None
) -> pl.DataFrame:
    """Return the configurations that match filters and a clause.

    A box or a lasso selects by the means over a configuration's replicates. A clause that names
    replicates selects single runs.

    Args:
        clause: Of kind `knobs`, `box` or `lasso`; None for all configurations.

    Returns:
        Columns of CONFIGURATION, plus `replicate` if the clause names it. One row per configuration
        or run, sorted as the points of Explore.
    """
    is_runs = clause is not None and any("replicate" in knobs for knobs in clause.knobs)
    fields = clause.fields if clause else None
    columns = dict(zip(("x", "y"), fields, strict=True)) if fields else _ANY

    def query(asked: Selection, limit: int) -> tuple[str, list[Any]]:
        return points_query(asked, columns, not is_runs, limit)

    rows = view.narrowed(query, selection)
    found = rows.filter(matching(clause, rows)) if clause else rows
    names = [*CONFIGURATION, *(["replicate"] if is_runs else [])]
    return found.select(names).with_columns(cs.categorical().cast(pl.String))
