"""Whether the order of runs shows in their results, and which runs are far off their siblings.

from data.connection import open_lake
from data.order import order_of

with open_lake("lake") as lake:
    found = order_of(lake)
    for check in found.checks:
        print(check.sentence)
    print(found.odd)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from data.analysis.drift import Blocks, block_effects, blocks_in_time, drift, run_order
from data.analysis.noise import group_medians, odd_runs, priors
from data.catalogue import Catalogue
from data.knobs import POLICIES
from data.queries.claims import workloads_query
from data.queries.runs import order_query
from data.selection import Selection
from data.units import format_digits, format_signed

if TYPE_CHECKING:
    from data.connection import Lake

ENERGY: Final = "energy_j"
MOST_RUNS: Final = 300_000
# What differs between the choices of one system and workload, which lend each other their noise.
_LOADS: Final = ("load_qps", "message_bytes")
TIMES, REPLICATES, UNKNOWN = "times", "replicate numbers", "unknown"


@dataclass(frozen=True, slots=True)
class OrderCheck:
    """The order of the runs of one choice, and what it does to one metric.

    Attributes:
        scope: Columns and values of the choice, its system too.
        words: The choice in words.
        order: TIMES, REPLICATES or UNKNOWN.
        runs, settings: That the drift is tested on; of settings with two or more runs.
        change_pct: From the first run to the last; None where it is not tested.
        p: Of no drift; None where it is not tested.
        blocks, block_p, block_range_pct: Number of blocks, the test that they are alike, and the
            difference between the greatest and the least.
        is_affected: Drift or blocks are significant and large enough to matter.
        is_random: Whether drift can be told from the setting; None where the order is unknown.
        follows: Knobs whose ladder the order follows, with Spearman's rho.
        runs_between: Median number of runs between two runs of a setting; None where unknown.
        means: Of an affected choice, one row a setting: its columns, `runs`, `mean` (geometric) and
            `adjusted` (the same without the effects of blocks), in the metric's unit; else None.
    """

    scope: Mapping[str, Any]
    words: str
    metric: str
    metric_words: str
    order: str
    runs: int
    settings: int
    change_pct: float | None
    p: float | None
    blocks: int
    block_p: float | None
    block_range_pct: float | None
    is_affected: bool
    is_random: bool | None
    follows: tuple[tuple[str, float], ...]
    runs_between: float | None
    means: pl.DataFrame | None

    @property
    def sentence(self) -> str:
        """`Energy changes by -6.1 % from the first replicate to the last (...)`."""
        if self.order == UNKNOWN:
            return f"{self.metric_words}: order unknown ({self.words}): no times, no replicates."
        if self.change_pct is None or self.p is None:
            return (
                f"{self.metric_words}: not tested, fewer than ten settings with two runs "
                f"({self.words})."
            )
        what = "run" if self.order == TIMES else "replicate"
        note = self.order if self.order == TIMES else f"{self.order}, no times"
        change = f"{'+' if self.change_pct >= 0 else ''}{format_digits(self.change_pct, 2)}"
        parts = [
            f"{self.metric_words} changes by {change} % from "
            f"the first {what} to the last ({self.words}; {self.runs:,} runs, "
            f"{_p_words(self.p)}; {note})"
        ]
        if self.block_p is not None:
            parts.append(
                f"{self.blocks} blocks differ by up to "
                f"{format_digits(self.block_range_pct or 0.0, 2)} % ({_p_words(self.block_p)})"
            )
        if self.is_random is False:
            why = ", ".join(
                f"{name} (rho {format_signed(rho, '.2f')})" for name, rho in self.follows
            )
            parts.append(
                f"not randomised: the order follows {why}" if why else
                "not randomised: runs of a setting were done one after another, so drift cannot be "
                "told from the setting, and n counts less than it looks"
            )  # fmt: skip
        return f"{'; '.join(parts)}."


@dataclass(frozen=True, slots=True)
class Order:
    """The order of all runs of a selection.

    Attributes:
        checks: Of each choice and metric; affected ones first.
        odd: Runs far off their siblings: `run_id`, the columns of a choice, `metric`, `value`,
            `median` of its setting, `times` (value over median), `runs` (of the setting).
        is_cut: More runs match than MOST_RUNS; those beyond are not checked, or none is.
    """

    checks: tuple[OrderCheck, ...]
    odd: pl.DataFrame
    is_cut: bool

    def left(self, selection: Selection) -> "Order":
        """Return the checks of the choices that the filters leave; odd runs stay."""
        taken = {
            clause.facet.column: {None if v == clause.facet.null_word else v for v in clause.values}
            for clause in selection.clauses
        }
        left = tuple(
            check
            for check in self.checks
            if all(check.scope[n] in values for n, values in taken.items() if n in check.scope)
        )
        return Order(left, self.odd, self.is_cut)

    @property
    def odd_ids(self) -> tuple[str, ...]:
        """Ids of the odd runs."""
        return tuple(self.odd["run_id"].unique().sort().to_list())


NO_ORDER: Final = Order((), pl.DataFrame(schema={"run_id": pl.String}), False)


def order_of(
    lake: "Lake", selection: Selection | None = None, metrics: Sequence[str] | None = None
) -> Order:
    """Check the order of runs, choice by choice.

    Args:
        metrics: Columns of `runs`; None for energy and each workload's own metric of performance.
    """
    catalogue = lake.catalogue
    workloads = lake.polars(*workloads_query())
    own = workloads["performance_metric"].drop_nulls().unique().sort().to_list()
    columns = list(dict.fromkeys(metrics or [ENERGY, *own]))
    query = order_query(selection or Selection(), columns, catalogue, MOST_RUNS + 1)
    runs = lake.polars(*query).with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
    wanted = {row[:2]: [ENERGY, row[2]] for row in workloads.iter_rows()}
    setting = _numbered(runs, [*catalogue.choice_columns, *catalogue.setting_columns])
    runs = runs.with_columns(setting=setting)
    checks = []
    for rows in runs.partition_by(catalogue.choice_columns, maintain_order=True):
        at = rows.row(0, named=True)
        asked = metrics or wanted[at["dataset"], at["workload"]]
        for name in dict.fromkeys(asked):
            if name is not None and rows[name].count():
                checks.append(_check(rows.drop_nulls(name), name, catalogue))
    checks.sort(key=lambda c: (not c.is_affected, c.p is None, c.is_random is not False))
    odd = [_odd(runs.drop_nulls(name), name, catalogue) for name in columns]
    return Order(tuple(checks), pl.concat(odd), len(runs) > MOST_RUNS)


def _check(rows: pl.DataFrame, name: str, catalogue: Catalogue) -> OrderCheck:
    metric = catalogue.metric(name)
    scope = {column: rows[column][0] for column in catalogue.choice_columns}
    scope_words = [
        catalogue.knob_of_column[column].words(value)
        for column, value in scope.items()
        if value is not None and column not in ("dataset", "system")
    ]
    y = np.log(rows[name].to_numpy())
    setting = rows["setting"].to_numpy()
    order, time = _time(rows)
    trend = blocks = placed = means = None
    if time is not None:
        trend = drift(y, time, setting)
        number = blocks_in_time(time) if order == TIMES else time.astype(np.int64)
        blocks = block_effects(y, number, setting)
        placed = _order(rows, time, setting, catalogue) if order == TIMES else None
        if blocks is not None and blocks.is_shown:
            means = _adjusted(rows, y, number, blocks, catalogue)
    follows = [] if placed is None else placed[1]
    count = 0 if blocks is None else len(blocks.effects)
    return OrderCheck(
        scope=scope,
        words=", ".join(
            dict.fromkeys([*scope_words, rows["system_label"][0] or str(scope["system"])])
        ),
        metric=name,
        metric_words=metric.title,
        order=order,
        runs=0 if trend is None else trend.runs,
        settings=0 if trend is None else trend.settings,
        change_pct=None if trend is None else float(100 * np.expm1(trend.change)),
        p=None if trend is None else trend.p,
        blocks=count,
        block_p=None if blocks is None else blocks.p,
        block_range_pct=None if blocks is None else float(100 * np.expm1(np.ptp(blocks.effects))),
        is_affected=bool((trend and trend.is_shown) or (blocks and blocks.is_shown)),
        is_random=None if placed is None else placed[0].is_random,
        follows=tuple(follows),
        runs_between=None if placed is None else float(placed[0].runs_between),
        means=means,
    )


def _adjusted(
    rows: pl.DataFrame, y: np.ndarray, block: np.ndarray, blocks: Blocks, catalogue: Catalogue
) -> pl.DataFrame:
    """Return the mean of each setting, and that of its runs without the effects of their blocks.

    Runs of blocks without a repeated setting stay as they are.
    """
    effects = dict(zip(blocks.names.tolist(), blocks.effects.tolist(), strict=True))
    without = y - np.array([effects.get(number, 0.0) for number in block.tolist()])
    by = list(catalogue.setting_columns)
    return (
        rows.select(by)
        .with_columns(y=pl.Series(y), without=pl.Series(without))
        .group_by(by, maintain_order=True)
        .agg(runs=pl.len(), mean=pl.col("y").mean().exp(), adjusted=pl.col("without").mean().exp())
    )


def _time(rows: pl.DataFrame) -> tuple[str, np.ndarray | None]:
    """Return what orders the runs, and their places in it."""
    for column, order in (("start_unix_s", TIMES), ("replicate", REPLICATES)):
        if not rows[column].null_count() and rows[column].n_unique() > 1:
            return order, rows[column].to_numpy().astype(float)
    return UNKNOWN, None


def _order(
    rows: pl.DataFrame, time: np.ndarray, setting: np.ndarray, catalogue: Catalogue
) -> tuple[Any, list[tuple[str, float]]] | None:
    from data.analysis.drift import MOST_RANK_CORRELATION

    knobs = [
        catalogue.knob_of_column[name] for name in catalogue.setting_columns
        if name not in POLICIES.values() and rows[name].n_unique() > 1
    ]  # fmt: skip
    codes = np.column_stack(
        [rows[k.column].rank("dense").fill_null(0).to_numpy() for k in knobs]
        or [np.zeros(len(rows))]
    ).astype(np.int64)
    order = run_order(time, codes, setting)
    if order is None:
        return None
    follows = [
        (knob.noun, float(rho)) for knob, rho in zip(knobs, order.rank_correlation, strict=False)
        if abs(np.nan_to_num(rho)) > MOST_RANK_CORRELATION
    ]  # fmt: skip
    return order, follows


def _odd(rows: pl.DataFrame, name: str, catalogue: Catalogue) -> pl.DataFrame:
    values = rows[name].to_numpy()
    setting = _numbered(rows, ["setting"]).to_numpy()
    choice = _numbered(rows, catalogue.choice_columns).to_numpy()
    family = [column for column in catalogue.choice_columns if column not in _LOADS]
    fits = priors(values, setting, choice, _numbered(rows, family).to_numpy())
    s0 = np.array([fit.s0 for fit in fits])[choice] if fits else np.zeros(0)
    mask = odd_runs(values, setting, s0)
    medians = np.exp(group_medians(np.log(values), setting))[setting] if len(values) else values
    counts = np.bincount(setting)[setting] if len(values) else np.zeros(0, np.int64)
    return (
        rows.select("run_id", *catalogue.choice_columns)
        .with_columns(
            metric=pl.lit(name),
            value=pl.Series(values, dtype=pl.Float64),
            median=pl.Series(medians, dtype=pl.Float64),
            times=pl.Series(values / medians, dtype=pl.Float64),
            runs=pl.Series(counts, dtype=pl.Int64),
        )
        .filter(pl.Series(mask, dtype=pl.Boolean))
        .sort(pl.col("times").log().abs(), descending=True)
    )


def _numbered(rows: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """Number the combinations of values, from 0."""
    return rows.select(pl.struct(list(columns)).rank("dense").cast(pl.Int64) - 1).to_series()


def _p_words(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
