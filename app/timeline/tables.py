"""What is in view as a table: drawn bins, interrupts, samples, distributions, or totals."""

from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.lakes import LakeView
from app.timeline.answer import answer_question
from data.analysis.log_bins import slot_starts
from data.errors import DataError, SelectionError
from data.timeline.quantities import CLOCKS
from data.timeline.question import Question
from data.timeline.reads import NIC_FIELDS, RunReads
from data.timeline.row_bins import NONE
from data.timeline.totals import TOTALS, window_totals
from data.timeline.window import RunAnswer

DEFAULT_CONTENT: Final = "view"
CONTENTS: Final = ("view", "bins", "interrupts", "samples", "distributions", "totals")
MOST_ROWS: Final = 1_000_000


def window_table(view: LakeView, question: Question, what: str, base: int = 0) -> pl.DataFrame:
    """The rows of what is in view, all runs one after the other that the page shows.

    Args:
        what: `view`: the interrupts where they are drawn one by one, else the bins; or one of the
            other CONTENTS.
        base: Place of the run that the others' totals are compared with; where it is not shown, the
            first that is.

    Raises:
        SelectionError: Not such a word.
        DataError: None of the runs can be shown, or there are too many rows.
        LakeError: A file of a run has gone just now.
    """
    if what not in CONTENTS:
        raise SelectionError(f"what is {what[:40]!r}, expected one of {', '.join(CONTENTS)}")
    found = answer_question(view, question)
    shown = found.shown()
    if what == "view":
        what = "interrupts" if all(one.raw is not None for _, one in shown) else "bins"
    tables = [(info, _MAKERS[what](view, one)) for info, one in shown]
    table = pl.concat(
        [
            table.select(pl.lit(info.run_id).alias("run_id"), pl.lit(info.label).alias("run"), "*")
            for info, table in tables
        ],
        how="diagonal",
    )
    if what != "totals":
        return table
    drawn = [isinstance(one, RunAnswer) for one in found.window.runs]
    at = base if base < len(drawn) and drawn[base] else drawn.index(True)
    return _compare(table, found.infos[at].run_id)


def _compare(table: pl.DataFrame, base: str) -> pl.DataFrame:
    """Totals with how far each lies from the base run's; NULL from nothing, and of the base run."""
    of_base = table.filter(pl.col("run_id") == base).select("name", pl.col("value").alias("base"))
    change = pl.when(pl.col("run_id") != base).then(pl.col("value") - pl.col("base"))
    percent = pl.when(pl.col("base") != 0).then(100 * pl.col("difference") / pl.col("base"))
    return (
        table.join(of_base, on="name", how="left", maintain_order="left")
        .with_columns(pl.lit(base).alias("base_run_id"), change.alias("difference"))
        .with_columns(percent.alias("difference_pct"))
        .drop("base")
    )


def _bins(view: LakeView, answer: RunAnswer) -> pl.DataFrame:  # noqa: ARG001
    tables = []
    for group in (*answer.groups, *answer.power):
        for axis, edges in answer.edges.items():
            columns = {
                "interrupts_in_bin" if name == "count" else f"{name}_{word}": values
                for name, line in group.lines.items()
                if CLOCKS[name] == axis
                for word, values in line.items()
            }
            if columns:
                tables.append(_bin_table(group.name, axis, edges, columns))
    return pl.concat(tables, how="diagonal") if tables else pl.DataFrame()


def _bin_table(
    group: str, axis: str, edges: np.ndarray, columns: dict[str, np.ndarray]
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "group": [group] * (len(edges) - 1),
            "axis": [axis] * (len(edges) - 1),
            "from_s": edges[:-1] / 1e9,
            "to_s": edges[1:] / 1e9,
            **columns,
        }
    ).fill_nan(None)


def _interrupts(view: LakeView, answer: RunAnswer) -> pl.DataFrame:
    plan = answer.plan
    _check_rows(answer.interrupts, "interrupts")
    rows = RunReads(view.files, answer.facts).rows(plan.from_ns, plan.to_ns, NIC_FIELDS)
    chosen = rows.of_cores(answer.chosen)
    cores = np.array([answer.facts.cores[at] for at in answer.chosen])
    gap_ns = pl.Series(chosen.gap_ns)
    return pl.DataFrame(
        {
            "core": cores[chosen.place],
            "t_ns": chosen.t_ns,
            "gap_ns": pl.select(pl.when(gap_ns != NONE).then(gap_ns)).to_series(),
            **chosen.columns,
        }
    ).sort("t_ns", "core", maintain_order=True)


def _samples(view: LakeView, answer: RunAnswer) -> pl.DataFrame:
    plan = answer.plan
    rows = RunReads(view.files, answer.facts).touching_samples(plan.from_ns, plan.to_ns)
    place = rows.pop("place")
    is_chosen = np.isin(place, answer.chosen)
    _check_rows(int(is_chosen.sum()), "samples")
    core = np.array(answer.facts.cores)[place]
    columns: dict[str, Any] = {"core": core[is_chosen]}
    columns |= {name: values[is_chosen] for name, values in rows.items()}
    return pl.DataFrame(columns).fill_nan(None)


def _check_rows(rows: int, what: str) -> None:
    if rows > MOST_ROWS:
        raise DataError(
            f"{rows:,} {what} are in view; a file holds {MOST_ROWS:,} at most: zoom in, or read "
            "them from the lake"
        )


def _distributions(view: LakeView, answer: RunAnswer) -> pl.DataFrame:  # noqa: ARG001
    """How many gaps and sizes lie in `[from, below)`; the quantity's name has the unit."""
    tables = [
        pl.DataFrame(
            {
                "quantity": [name] * len(slots),
                "from": slot_starts(slots),
                "below": slot_starts(slots + 1),
                "count": counts[slots],
            }
        )
        for name, counts in (answer.sizes or {}).items()
        for slots in [np.flatnonzero(counts)]
    ]
    return pl.concat(tables) if tables else pl.DataFrame()


def _totals(view: LakeView, answer: RunAnswer) -> pl.DataFrame:  # noqa: ARG001
    values = window_totals(answer)
    return pl.DataFrame(
        {
            "name": [total.name for total in TOTALS],
            "title": [total.title for total in TOTALS],
            "unit": [total.unit for total in TOTALS],
            "value": [values[total.name] for total in TOTALS],
        }
    ).fill_nan(None)


_MAKERS: Final = {
    "bins": _bins,
    "interrupts": _interrupts,
    "samples": _samples,
    "distributions": _distributions,
    "totals": _totals,
}
