"""Runs unlike their replicates: in what their logs count, or in when they count it.

    with open_lake("lake") as lake:
        print(odd_runs(lake))

Two runs are compared by each distribution, and by each series over the time since their start. How
far one is from its siblings is told in times of how far these are from each other.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import polars as pl

from data.analysis.log_metrics import SERIES, SERIES_BINS
from data.connection import Lake
from data.distributions import QUANTITIES, Distributions, read_quantities
from data.queries.logged_runs import logged_configurations_query
from data.selection import Selection

LEAST_REPLICATES: Final = 3
# Titles of what runs are compared by.
COMPARED: Final = {
    **{name: quantity.title for name, quantity in QUANTITIES.items()},
    "interrupts_over_time": "Interrupts over time",
    "bytes_over_time": "Bytes over time",
    "energy_over_time": "Energy over time",
}
# An odd run is over so many times as far from its siblings as these are from each other, and its
# values are 10 % off, or what it counts comes 1 % of its time earlier or later.
ODD_TIMES: Final = 8
_LEAST_DOUBLINGS, _LEAST_SHIFT = float(np.log2(1.1)), 0.01
# So many replicates say without others of their choice which of them is odd. Of fewer, the
# distances between the others are too few.
_ENOUGH: Final = 5
# Of more replicates each is compared with so many: their number squared takes too long.
_MOST_COMPARED: Final = 100
_KINDS: Final = {
    "run_id": pl.String, "quantity": pl.String, "sibling": pl.String, "distance": pl.Float64,
    "usual": pl.Float64, "times_usual": pl.Float64, "n": pl.Int64,
}  # fmt: skip


def distance_words(quantity: str, distance: float) -> str:
    """Say a distance: `1.30 times` of a distribution, `12 % of the time` of a series."""
    return (
        f"{100 * distance:.2g} % of the time" if quantity in SERIES else f"{2**distance:.3g} times"
    )


def unlike_siblings(
    lake: Lake, run_ids: Sequence[str], quantities: Sequence[str] = tuple(COMPARED)
) -> pl.DataFrame:
    """Tell how far some runs are from the other replicates of their configurations.

    The distance of two distributions is Wasserstein's (of order 1) on the logarithm of 1 + value,
    in doublings: 1 means that all values are twice as large. That of two series is Wasserstein's on
    the time since the start: how much earlier or later a run counts its interrupts, bytes or
    energy, in SERIES_BINS parts of the longest replicate's time and as a share of it. That of a run
    is the median of its distances to the other replicates. Configurations with fewer than
    LEAST_REPLICATES are left out: of two runs none is the odd one.

    Args:
        quantities: Names of COMPARED.

    Returns:
        One row for each run and quantity: `run_id`, `quantity`, `sibling` (the replicate nearest to
        the others), `distance`, `usual` (median distance between two of the others), `times_usual`
        and `n` (all replicates, also where only some are compared with each other), those with the
        largest `times_usual` first; see `compare`.
    """
    catalogue = lake.catalogue
    codes = ", ".join(
        f"hash(({', '.join(names)})) AS {code}"
        for code, names in (
            ("configuration", [f'"{name}"' for name in catalogue.configuration]),
            ("choice", [f'"{name}"' for name in catalogue.choice_columns]),
        )
    )
    runs = lake.polars(
        f"SELECT run_id, duration_s, {codes} FROM runs WHERE run_id IN (SELECT unnest(?)) "
        f"QUALIFY count(*) OVER (PARTITION BY configuration) >= {LEAST_REPLICATES:d} "
        "ORDER BY configuration, run_id",
        [list(run_ids)],
    )
    ids = runs["run_id"].to_list()
    ranked = [compare(runs, rows) for rows in read_quantities(lake, ids, quantities)]
    rows = pl.concat([*ranked, pl.DataFrame(schema=_KINDS)])
    order = ["times_usual", "distance", "run_id"]
    return rows.sort(order, descending=[True, True, False], maintain_order=True)


def odd_runs(
    lake: Lake, selection: Selection | None = None, most_runs: int = 20_000
) -> pl.DataFrame:
    """Return the runs that are far unlike their replicates; see ODD_TIMES.

    Args:
        most_runs: Only so many runs with a log are compared, the first replicates first.

    Returns:
        `run_id`, the columns of a choice, `metric` (the quantity by which the run is the farthest),
        `times` (as `times_usual`), `runs` (replicates), `sibling`, `distance` and `usual`; the
        farthest first.
    """
    catalogue = lake.catalogue
    query = logged_configurations_query(selection or Selection(), most_runs, catalogue=catalogue)
    runs = lake.polars(*query)
    found = unlike_siblings(lake, runs["run_id"].to_list())
    return (
        found.filter(pl.col("times_usual") > ODD_TIMES)
        .unique("run_id", keep="first", maintain_order=True)
        .rename({"quantity": "metric", "times_usual": "times", "n": "runs"})
        .join(runs.select("run_id", *catalogue.choice_columns), on="run_id", how="left")
        .select(
            "run_id", *catalogue.choice_columns, "metric", "times", "runs", "sibling", "distance",
            "usual",
        )
    )  # fmt: skip


def compare(runs: pl.DataFrame, sizes: Distributions) -> pl.DataFrame:
    """Compare the runs of each configuration by one quantity.

    `times_usual` is the distance over what is usual: the median distance between two of the other
    replicates, but at least the median of that over the runs of the same choice, in which an odd
    run counts as another. So three or four replicates without others of their choice never tell
    which is odd. _ENOUGH of a configuration count as they are without the oddest of them.

    Args:
        runs: `run_id`, `duration_s`, `configuration` and `choice` (numbers) of all runs of `found`.

    Returns:
        As `unlike_siblings`, in no order.
    """
    own = pl.DataFrame({"run_id": sizes.run_ids}, {"run_id": pl.String}).join(
        runs, on="run_id", how="left", maintain_order="left"
    )
    is_counted = sizes.counts.sum(axis=1) > 0
    groups: dict[int, list[int]] = defaultdict(list)
    for row, code in enumerate(own["configuration"]):
        if is_counted[row]:
            groups[code].append(row)
    by_size: dict[int, list[np.ndarray]] = defaultdict(list)
    replicates: dict[int, list[int]] = defaultdict(list)
    for members in groups.values():
        for part in np.array_split(members, -(-len(members) // _MOST_COMPARED)):
            if len(part) >= LEAST_REPLICATES:
                by_size[len(part)].append(part)
                replicates[len(part)].append(len(members))
    is_series, duration_s = sizes.quantity in SERIES, own["duration_s"].to_numpy()
    little = (_LEAST_SHIFT if is_series else _LEAST_DOUBLINGS) / ODD_TIMES
    tables = []
    for n, parts in by_size.items():
        rows = np.array(parts)
        of_kind = _over_time(sizes, rows, duration_s) if is_series else _by_size(sizes, rows)
        pairs = _pairs(*of_kind)
        names = ("row", "sibling", "distance", "usual")
        for each in _against_others(rows, pairs):
            told = pl.DataFrame(dict(zip(names, each, strict=True)))
            tables.append(told.with_columns(n=pl.Series(replicates[n], dtype=pl.Int64)))
    if not tables:
        return pl.DataFrame(schema=_KINDS)
    table = pl.concat(tables)
    usual = pl.col("usual")
    of_choice = pl.when(pl.col("n") < _ENOUGH).then(usual.median().over("choice")).otherwise(
        usual.min().over("configuration").median().over("choice")
    )  # fmt: skip
    return table.with_columns(
        own[table["row"]].select("run_id", "configuration", "choice"),
        sibling=own["run_id"].gather(table["sibling"]),
        quantity=pl.lit(sizes.quantity),
    ).with_columns(
        times_usual=pl.col("distance") / pl.max_horizontal(usual, of_choice, pl.lit(little))
    ).select(*_KINDS)  # fmt: skip


def _by_size(sizes: Distributions, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the share below each edge, shape (groups, n, edges), and what lies between edges.

    Args:
        rows: Indices of runs, shape (groups, n).
    """
    shares = np.cumsum(sizes.counts[rows], axis=2, dtype=np.float64)
    shares = shares[..., :-1] / shares[..., -1:]
    return shares, np.diff(np.log2(1 + sizes.low))


def _over_time(
    sizes: Distributions, rows: np.ndarray, duration_s: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return as `_by_size` the shares before each time since the start of the runs."""
    edges = np.arange(SERIES_BINS + 1)
    counts = sizes.counts[rows]
    passed = np.concatenate([np.zeros((*rows.shape, 1)), np.cumsum(counts, axis=2)], axis=2)
    lengths = duration_s[rows]
    on_time = np.empty_like(passed)
    for at in np.ndindex(*rows.shape):
        # The edges of the longest run's parts, in parts of this one.
        asked = edges * (lengths[at[0]].max() / lengths[at])
        on_time[at] = np.interp(asked, edges, passed[at] / passed[at][-1])
    return on_time, np.full(SERIES_BINS + 1, 1 / SERIES_BINS)


def _pairs(shares: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return the distances between the runs of each group, shape (groups, n, n)."""
    each = [np.abs(shares - shares[:, [at]]) @ widths for at in range(shares.shape[1])]
    return np.stack(each, axis=1)


def _against_others(rows: np.ndarray, pairs: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield for the first run of each group, the second and so on, what tells it from the others.

    Yields:
        Shape (groups,) each: the run, the sibling nearest to all, the median of its distances, and
        that between two of the others.
    """
    n = rows.shape[1]
    far = np.stack(
        [np.median(np.delete(pairs[:, at], at, axis=1), axis=1) for at in range(n)], axis=1
    )
    first, second = np.triu_indices(n, 1)
    apart = pairs[:, first, second]
    for at in range(n):
        usual = np.median(apart[:, (first != at) & (second != at)], axis=1)
        others = far.copy()
        others[:, at] = np.inf
        sibling = np.take_along_axis(rows, others.argmin(axis=1)[:, None], axis=1)[:, 0]
        yield rows[:, at], sibling, far[:, at], usual
