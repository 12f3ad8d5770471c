"""What Distributions shows: distributions by level and panel, and the rows behind its views."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl

from app.distributions.runs import NONE, DistributionsState, chosen_runs, logged_cube
from app.kit.competitors import ordered_values, value_words
from app.kit.encodings import BREAK
from app.kit.lake_view import LakeView
from app.kit.page import Recomputed, View
from app.kit.words import EMPTY_LAKE_PLAIN, explanation, no_run_left
from data.analysis.facet_counts import matches
from data.distributions import (
    QUANTITIES,
    Distributions,
    Level,
    Quantity,
    by_level,
    read_distributions,
)
from data.knobs import Knob
from data.queries.logged_runs import counts_query, distribution_query
from data.queries.statement import statement
from data.selection import Selection, Value
from data.siblings import unlike_siblings
from data.units import counted

# Ends of the names of columns with values of a quantity.
UNITS: Final = {
    "gap_ns": "_ns", "rx_bytes": "_bytes", "tx_bytes": "_bytes", "rx_desc": "", "tx_desc": "",
    "power_w": "_w",
}  # fmt: skip
RANKS: Final = {"p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99}
VIEWS: Final = (
    View("map", "Distribution against a knob"),
    View("quantiles", "Quantiles by level", is_picture=False),
    View("siblings", "Runs unlike their replicates", is_picture=False),
)
# More columns are too narrow to read.
MOST_LEVELS: Final = 60


@dataclass(frozen=True)
class Answer:
    """The runs of a state and their distributions.

    Attributes:
        runs: Answer of `chosen_runs`.
        counted: The distributions of those that have the quantity.
    """

    view: LakeView
    state: DistributionsState
    runs: pl.DataFrame
    counted: Distributions

    @staticmethod
    def of(view: LakeView, state: DistributionsState) -> "Answer":
        """Read what a state asks for; cached."""
        found = view.once(_read, (state.selection, state.sel, state.quantity), is_large=True)
        return Answer(view, state, chosen_runs(view, state), found)

    @property
    def quantity(self) -> Quantity:
        """Title and unit."""
        return QUANTITIES[self.state.quantity]

    @property
    def knob(self) -> Knob:
        """The knob along x."""
        return self.view.catalogue.knobs[self.state.knob]

    @property
    def split(self) -> Knob | None:
        """The knob of the panels; None for one panel."""
        is_one = self.state.split in (NONE, self.state.knob)
        return None if is_one else self.view.catalogue.knobs[self.state.split]

    @property
    def by(self) -> list[str]:
        """The columns of a level: the panel's, if there are any, and the knob's."""
        return [knob.column for knob in (self.split, self.knob) if knob]

    @cached_property
    def drawn(self) -> pl.DataFrame:
        """The rows of `runs` that have the quantity, in the order of `found`."""
        ids = pl.DataFrame({"run_id": self.counted.run_ids}, {"run_id": pl.String})
        return ids.join(self.runs, on="run_id", how="left", maintain_order="left")

    @cached_property
    def levels(self) -> dict[tuple[Value | None, ...], Level]:
        """The distribution of each level of `by` that has a run, in order."""
        keys = self.drawn.select(self.by).rows()
        pooled = by_level(self.counted, dict(zip(self.counted.run_ids, keys, strict=True)))
        knobs = [knob for knob in (self.split, self.knob) if knob]
        orders = [
            ordered_values(knob, self.drawn[knob.column].unique().to_list()) for knob in knobs
        ]
        in_order = sorted(
            pooled, key=lambda key: [order.index(v) for order, v in zip(orders, key, strict=True)]
        )
        return {key: pooled[key] for key in in_order}

    @cached_property
    def values(self) -> list[Value | None]:
        """The values of the knob along x, in order."""
        return ordered_values(self.knob, self.drawn[self.knob.column].unique().to_list())

    @cached_property
    def labels(self) -> dict[str, str]:
        """System to its label."""
        return dict(self.runs.select("system", "system_label").unique().iter_rows())

    @property
    def trouble(self) -> str:
        """Why nothing can be drawn; empty if something can."""
        if not self.view.runs:
            return EMPTY_LAKE_PLAIN
        if not len(self.runs):
            cube = logged_cube(self.view, self.state.selection)
            if len(cube.filter(matches(self.state.selection))):
                return "No run with a log is in the link's selection. Clear it to see the others."
            return no_run_left(cube, self.state.selection, self.view.catalogue)
        if not self.counted.run_ids:
            return (
                f"None of {len(self.runs):,} runs has “{self.quantity.title}”.{BREAK}"
                "Runs that an older version read get all of them by python -m ingest derive."
            )
        return ""

    @property
    def unlike(self) -> pl.DataFrame:
        """Answer of `unlike_siblings`; cached, as it does not depend on what the map shows."""
        return self.view.once(_rank, (self.state.selection, self.state.sel))

    def run_words(self, run_id: str) -> str:
        """Return the settings of a run that vary among the runs, and its replicate."""
        row = self._rows[run_id]
        knobs = self.view.catalogue.knobs.values()
        knob_labels = [
            value_words(knob, row[knob.column], self.labels)
            for knob in knobs
            if knob.column in self._told
        ]
        return " · ".join([*knob_labels, f"replicate {row['replicate']}"])

    @cached_property
    def _told(self) -> frozenset[str]:
        """Columns that tell the chosen runs apart, whichever quantities they have."""
        return self._varying(self.runs)

    def _varying(self, runs: pl.DataFrame) -> frozenset[str]:
        names = self.view.catalogue.configuration
        return frozenset(name for name in names if runs[name].n_unique() > 1)

    @cached_property
    def _rows(self) -> dict[str, dict[str, Any]]:
        return self.runs.rows_by_key("run_id", named=True, unique=True)

    def pooled(self) -> str:
        """Return which settings differ within columns of the map: `pooled: 3 loads`."""
        knobs = self.view.catalogue.knob_of_column
        inside = [
            f"{self.drawn[name].n_unique()} {knobs[name].plural}"
            for name in self._varying(self.drawn)
            if name in knobs and name not in self.by
            and self.drawn.group_by(self.by).agg(pl.col(name).n_unique())[name].max() > 1  # type: ignore[operator]
        ]  # fmt: skip
        return f"pooled: {', '.join(sorted(inside))}" if inside else ""


def _read(view: LakeView, key: tuple[Selection, str, str]) -> Distributions:
    selection, sel, quantity = key
    runs = chosen_runs(view, DistributionsState(selection=selection, sel=sel))
    return read_distributions(view.lake, runs["run_id"].to_list(), quantity)


def _rank(view: LakeView, key: tuple[Selection, str]) -> pl.DataFrame:
    runs = chosen_runs(view, DistributionsState(selection=key[0], sel=key[1]))
    return unlike_siblings(view.lake, runs["run_id"].to_list())


def status_words(answer: Answer) -> str:
    """Return how many runs are shown, and how many lack the quantity."""
    sentence = f"{counted(len(answer.counted.run_ids), 'run')} with a log"
    if answer.state.sel:
        sentence += " in the link's selection"
    if missing := len(answer.counted.missing):
        sentence += f" · {missing:,} without this distribution"
    return sentence


def rows_behind(view: LakeView, state: DistributionsState, name: str) -> pl.DataFrame:
    """Return the rows of a view: a bin of a level, a level, or a run each."""
    return _ROWS[name](Answer.of(view, state))


def _level_rows(answer: Answer) -> tuple[pl.DataFrame, np.ndarray]:
    """Return the knobs of each level with its number of runs, and the shares by level and slot."""
    levels = answer.levels.values()
    schema = {name: answer.drawn.schema[name] for name in answer.by}
    keys = pl.DataFrame(list(answer.levels), schema, orient="row")
    counts = pl.Series("runs", [len(level.rows) for level in levels], pl.Int64)
    none = np.empty((0, len(answer.counted.low)))
    return keys.with_columns(counts), np.array(
        [level.shares for level in levels]
    ) if levels else none


def _map_rows(answer: Answer) -> pl.DataFrame:
    rows, shares = _level_rows(answer)
    level, slot = np.nonzero(shares)
    return rows[level].with_columns(
        low=pl.Series(answer.counted.low[slot], dtype=pl.Float64),
        high=pl.Series(answer.counted.high[slot], dtype=pl.Float64),
        share=pl.Series(shares[level, slot], dtype=pl.Float64),
    )


def quantile_rows(answer: Answer) -> pl.DataFrame:
    """Return the quantiles of each level, in the quantity's unit of the lake (ns, B, 1, W)."""
    rows, shares = _level_rows(answer)
    reached = answer.counted.quantiles(shares, list(RANKS.values())) if len(rows) else shares[:, :4]
    unit = UNITS[answer.state.quantity]
    found = {f"{name}{unit}": own for name, own in zip(RANKS, reached.T, strict=False)}
    return rows.with_columns(**{n: pl.Series(v, dtype=pl.Float64) for n, v in found.items()})


def sibling_rows(answer: Answer) -> pl.DataFrame:
    """Return each run by each distribution and series, the farthest from its siblings first.

    Runs with too few of them have one row, which is NULL.
    """
    n = pl.len().over(answer.view.catalogue.configuration).alias("replicates")
    own = answer.runs.select("run_id", "replicate", n, *answer.view.catalogue.configuration)
    found = answer.unlike.drop("n").with_row_index("place")
    rows = own.join(found, on="run_id", how="left")
    return rows.sort("place", "run_id", nulls_last=True).drop("place")


_ROWS: Final[dict[str, Callable[[Answer], pl.DataFrame]]] = {
    "map": _map_rows, "quantiles": quantile_rows, "siblings": sibling_rows,
}  # fmt: skip
_HOW: Final = {
    "map": "colour and rows: the share of a bin, the mean over the runs of the share of each run's "
    "values in it; bins are at most 12.5 % wide, of power half a watt",
    "quantiles": "the middle of the bin in which the mean share reaches 10, 50, 90 and 99 %",
    "siblings": "distance of two runs by a distribution: Wasserstein's of order 1 on log2(1 + "
    "value), in doublings; by a series (..._over_time): the same on the time since the start, as a "
    "share of the longest replicate's time; of a run: the median of its distances to the other "
    "replicates of its configuration, of which at least three must have a log; usual: the median "
    "distance between two of the others; times_usual: the distance over this, or over what is "
    "usual in its choice or an eighth of 10 % (1 % of the time), whichever is largest",
}


def explain(view: LakeView, state: DistributionsState, name: str) -> str:
    """Return how a view was computed, with SQL that selects the same rows."""
    answer = Answer.of(view, state)
    ids = None
    steps = [_HOW[name]]
    if name != "siblings":
        steps.insert(0, f"quantity: {state.quantity}")
    if state.sel:
        ids = answer.runs["run_id"].to_list()
        steps.append(f"of {len(answer.runs):,} runs in the link's selection")
    if name == "siblings":
        query = counts_query(state.selection, ids)
    else:
        by = list(dict.fromkeys(answer.by))
        query = distribution_query(state.selection, by, state.quantity, ids)
    return explanation(view, state.selection, query, steps)


def recomputed(view: LakeView, state: DistributionsState, name: str) -> list[Recomputed]:
    """Return how the map's rows are computed again."""
    # Over an object store an artifact has no counts.
    if name != "map" or not view.lake.log_views.folder:
        return []
    answer = Answer.of(view, state)
    by = tuple(dict.fromkeys(answer.by))
    ids = answer.runs["run_id"].to_list() if state.sel else None
    query = statement(*distribution_query(state.selection, by, state.quantity, ids))
    return [Recomputed(query, (*by, "low", "high"), ("runs", "share"))]
