"""Published loads and stores of the kernel by source, compared with those counted in runs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.storage.defaults import at_place
from app.storage.figures.subsystems import PublishedMove
from app.storage.study import Study, of_bars
from app.storage.views import LOADS_STORES_PER_S
from data.analysis.spreads import mean_spreads
from data.queries.storage import LOADS_STORES, MOVES, SUBSYSTEM_UNKNOWN, SUBSYSTEM_USER
from data.reference.tables import published_tables
from data.units import format_quantity

UNIT: Final = "1/s"
_MILLION: Final = 1e6
_SUM, _TOTAL = "sum", "total"
_READ: Final = "randread"


@dataclass(frozen=True, slots=True)
class Moved:
    """One value of the table, and the loads and stores of runs in the same functions.

    Attributes:
        words: Source and part.
        per_s: The published value, 1/s.
        there: One row, or none if nothing was counted: LOADS_STORES_PER_S (mean over runs), its
            `_n` and `_spread`.
        rows: Row numbers of the configurations of these runs.
    """

    words: str
    mode: str
    per_s: float
    there: pl.DataFrame
    rows: list[int]


def sources() -> tuple[str, ...]:
    """Return the sources of the table: subsystems of the lake, then all others as one."""
    return tuple(dict.fromkeys(_name(row) for row in _rows() if row["part"] == _SUM))


def by_source(functions: pl.DataFrame) -> pl.DataFrame:
    """Replace subsystems by the sources of the table; leave out functions of programs.

    Args:
        functions: Answer of `counted_functions`.

    Returns:
        The same columns plus LOADS_STORES_PER_S (NULL if neither was counted). `subsystem` is one
        of `sources()`, or `unknown`.
    """
    *named, other = sources()
    is_counted = pl.any_horizontal(pl.col(name).is_not_null() for name in MOVES)
    is_named = pl.col("subsystem").is_in([*named, SUBSYSTEM_UNKNOWN])
    return functions.filter(pl.col("subsystem") != SUBSYSTEM_USER).with_columns(
        pl.when(is_named).then("subsystem").otherwise(pl.lit(other)).alias("subsystem"),
        pl.when(is_counted).then(pl.sum_horizontal(MOVES)).alias(LOADS_STORES_PER_S),
    )


def published_moves(study: Study) -> list[PublishedMove]:
    """Return the table's sums for the figure, for the modes of the lake.

    Empty if the figure shows another device, access or size.
    """
    found, modes = [], study.scene.modes.values
    for row in _rows():
        if row["part"] != _SUM or row["mode"] not in modes or not _is_here(study, row):
            continue
        mode, threads = row["mode"], int(row["threads"])
        parts = [
            part for part in _rows()
            if (part["source"], part["mode"]) == (row["source"], mode) and part is not row
        ]  # fmt: skip
        words = (
            f"published · {study.scene.label(mode)} · {threads} threads",
            f"{row['source']}: {_rate(row)}",
            *[f"{_part_words(part)}: {_rate(part)}" for part in parts],
            published_tables()[LOADS_STORES].source,
        )
        found.append(PublishedMove(mode, threads, _name(row), _per_s(row), words))
    return found


def measured_moves(study: Study, functions: pl.DataFrame) -> Iterator[Moved]:
    """Compare each value of the table with runs that have as many threads.

    A counted run that lists none of the functions counts as 0.

    Args:
        functions: Answer of `counted_functions`.
    """
    moved = by_source(functions).drop_nulls(LOADS_STORES_PER_S)
    known: dict[str, tuple[dict[str, list], list[int]]] = {}
    for row in _rows():
        if row["mode"] not in known:
            known[row["mode"]] = _counted(study, moved, row)
        runs, rows = known[row["mode"]]
        sums = [sum(v for *at, v in counted if _is_of(row, *at)) for counted in runs.values()]
        there = _mean(np.array(sums, dtype=float), study.scene.is_interval)
        yield Moved(_words(row), row["mode"], _per_s(row), there, rows)


def _counted(
    study: Study, moved: pl.DataFrame, row: dict[str, Any]
) -> tuple[dict[str, list], list[int]]:
    """Return subsystem, part, loads and stores of the compared runs, and their row numbers."""
    place = {"mode": row["mode"], "io_depth": row["threads"], "threads": row["threads"]}
    here = at_place(moved, place) if _is_here(study, row) else moved.clear()
    here, part = of_bars(study, here, LOADS_STORES_PER_S, ())
    runs: dict[str, list] = {}
    columns = ("run_id", "subsystem", "part", LOADS_STORES_PER_S)
    for run_id, *counted in here.select(columns).iter_rows():
        runs.setdefault(run_id, []).append(counted)
    return runs, part.of(at_place(study.here, place))["row"].to_list() if runs else []


def _is_of(row: dict[str, Any], subsystem: str, part: str | None) -> bool:
    """Return whether a row of the table includes a function."""
    if row["part"] == _TOTAL:
        return True
    return subsystem == _name(row) and row["part"] in (_SUM, part)


def _mean(sums: np.ndarray, is_interval: bool) -> pl.DataFrame:
    n = np.array([len(sums)])
    sd = np.array([sums.std(ddof=1) if len(sums) > 1 else np.nan])
    found = {
        LOADS_STORES_PER_S: [sums.mean() if len(sums) else None],
        f"{LOADS_STORES_PER_S}_n": n,
        f"{LOADS_STORES_PER_S}_spread": mean_spreads(n, sd, is_interval),
    }
    means = pl.DataFrame(found, schema_overrides={LOADS_STORES_PER_S: pl.Float64})
    return means.drop_nulls(LOADS_STORES_PER_S)


def _is_here(study: Study, row: dict[str, Any]) -> bool:
    """Return whether the study's place is that of the table."""
    state = study.state
    is_place = state.at_rw == _READ and state.at_request == row["request_bytes"]
    device = state.at_device or ""
    return is_place and re.search(row["device_pattern"], device, re.IGNORECASE) is not None


def _rows() -> tuple[dict[str, Any], ...]:
    return published_tables()[LOADS_STORES].rows


def _name(row: dict[str, Any]) -> str:
    """Return the lake's name of a source; the table's name if it covers several subsystems."""
    return str(row["subsystem"] or row["source"])


def _words(row: dict[str, Any]) -> str:
    """Return `block/`, or for a part `block/ blk_mq_* (36 functions)`."""
    if row["part"] in (_SUM, _TOTAL):
        return str(row["source"])
    return f"{row['source']} {_part_words(row)}"


def _part_words(row: dict[str, Any]) -> str:
    several = f" ({row['functions']:.0f} functions)" if row["functions"] > 1 else ""
    return f"{row['part']}{several}"


def _per_s(row: dict[str, Any]) -> float:
    return float(row["millions_per_s"]) * _MILLION


def _rate(row: dict[str, Any]) -> str:
    return format_quantity(_per_s(row), UNIT)
