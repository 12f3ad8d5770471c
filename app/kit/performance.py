"""The performance metric of a workload: latency if open-loop, duration if closed-loop."""

from typing import Final

import polars as pl

from app.kit.lakes import LakeView
from data.selection import Selection

# Name in URLs and menus for the workload's own performance metric, whichever column that is.
PERFORMANCE: Final = "performance"


def performance_column(view: LakeView, selection: Selection) -> str:
    """Return the most common performance metric of the runs that match the filters."""
    return view.once(_commonest_performance, selection)


def _commonest_performance(view: LakeView, selection: Selection) -> str:
    left = view.left(selection).filter(pl.col("performance_metric").is_not_null())
    if not len(left):
        return "latency_p99_us"
    totals = left.group_by("performance_metric").agg(pl.col("runs").sum())
    return str(totals.sort("runs", "performance_metric")["performance_metric"][-1])
