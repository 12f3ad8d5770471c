"""What a link from another page hands over: filters and a clause, resolved to configurations."""

from typing import Any, Final

import polars as pl
import polars.selectors as cs

from app.kit.clause import Clause, matching
from app.kit.lakes import LakeView
from data.queries.points import CONFIGURATION, points_query
from data.selection import Selection

# A clause of knobs needs no measured column, but the query of points asks for one.
_ANY: Final = {"any": "duration_s"}


def configurations(
    view: LakeView, selection: Selection, clause: Clause | None = None
) -> pl.DataFrame:
    """Return the configurations that filters leave and a clause selects.

    A box or a lasso selects by the means over a configuration's replicates. A clause that names
    replicates selects single runs.

    Args:
        clause: Of kind `knobs`, `box` or `lasso`; None for all configurations.

    Returns:
        Columns of CONFIGURATION; also `replicate` if the clause names it. One row a configuration,
        or a run, sorted as the points of Explore.
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
