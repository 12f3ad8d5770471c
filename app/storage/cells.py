"""The cells of Storage's heatmaps: configurations pooled by mode, request size and IO depth."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.typed_arrays import floats
from app.storage.defaults import access_pair, at_place
from app.storage.figures.base import Scene, measured_words
from app.storage.figures.grids import Cell
from app.storage.study import Study
from app.storage.views import View
from data.analysis.pooling import pool
from data.analysis.spreads import difference_spreads, mean_spreads
from data.declared import Names, further_knobs
from data.metrics import metric
from data.units import MINUS, format_bytes, format_quantity

_CELL: Final = ("mode", "request_bytes", "io_depth")
# Columns in which configurations of one cell may differ.
_SHIPPED: Final = ("dataset", "system", "dvfs_ghz", "rapl_w", "threads", "machine")
_TOGETHER: Final = Names(lambda columns: (*_SHIPPED, *further_knobs(columns)))


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one heatmap.

    Attributes:
        rows: The pooled configurations.
        fixed: Columns of the study's place with one value in all of them.
        accesses: The compared reading and writing access; empty unless cells are differences.
    """

    cells: list[Cell]
    rows: pl.DataFrame
    fixed: tuple[str, ...]
    accesses: tuple[str, ...] = ()


def cells_of(study: Study, view: View) -> Cells:
    """Return the cells of a heatmap view; none if nothing was measured."""
    device, rw = study.state.at_device, study.state.at_rw
    rows = at_place(study.rows, {"device": device})
    if view.kind == "efficiency":
        rows = at_place(rows, {"rw": rw})
        return Cells(_mean_cells(rows, view.y, study.scene), rows, ("device", "rw"))
    accesses = access_pair(rw)
    rows = rows.filter(pl.col("rw").is_in(accesses))
    cells = _difference_cells(rows, accesses, view.y, study.scene) if accesses else []
    return Cells(cells, rows, ("device",), accesses)


def _mean_cells(rows: pl.DataFrame, column: str, scene: Scene) -> list[Cell]:
    cells = _pooled(rows, column, scene)
    return [
        Cell(
            row["mode"], row["request_bytes"], row["io_depth"], row[column], tuple(row["rows"]),
            (_heading(row, scene), measured_words(row, column, scene)),
        )
        for row in cells.iter_rows(named=True)
    ]  # fmt: skip


def _difference_cells(
    rows: pl.DataFrame, accesses: tuple[str, str], column: str, scene: Scene
) -> list[Cell]:
    """Return the cells of one device that have both accesses: writing minus reading."""
    read, write = (_pooled(rows.filter(pl.col("rw") == rw), column, scene) for rw in accesses)
    both = read.join(write, on=_CELL, suffix="_written", nulls_equal=True).sort(
        _CELL, nulls_last=True
    )
    written = f"{column}_written"
    halves = difference_spreads(
        (both[f"{column}_n"].to_numpy(), both[f"{column}_n_written"].to_numpy()),
        (floats(both[f"{column}_sd"]), floats(both[f"{column}_sd_written"])),
        scene.is_interval,
    )
    cells = []
    for row, half in zip(both.iter_rows(named=True), halves, strict=True):
        value = row[written] - row[column]
        words = (
            _heading(row, scene),
            f"write {MINUS} read: {_signed(value, half, column, scene)}",
            f"write: {format_quantity(row[written], metric(column).unit)}, "
            f"n = {row[f'{column}_n_written']}",
            f"read: {format_quantity(row[column], metric(column).unit)}, n = {row[f'{column}_n']}",
        )
        behind = (*row["rows"], *row["rows_written"])
        cells.append(Cell(row["mode"], row["request_bytes"], row["io_depth"], value, behind, words))
    return cells


def mixed_words(rows: pl.DataFrame, column: str) -> str:
    """Return which knobs vary within cells: `cells mix 2 values of dataset`; empty if none does.

    Args:
        rows: The pooled configurations.
    """
    there = rows.filter(pl.col(column).is_not_null())
    most = there.group_by(_CELL).agg(pl.col(*_TOGETHER).n_unique()).select(*_TOGETHER).max()
    mixed = [
        f"{n} values of {metric(name).short}"
        for name, n in most.row(0, named=True).items()
        if n > 1
    ]
    return f"cells mix {', '.join(mixed)}" if mixed else ""


def _pooled(rows: pl.DataFrame, column: str, scene: Scene) -> pl.DataFrame:
    """Return the columns of _CELL, `rows`, and the metric's mean, `_sd`, `_n` and `_spread`."""
    there = rows.filter(pl.col(column).is_not_null())
    parts = there.select(
        *_CELL,
        n=pl.col(f"{column}_n"),
        mean=pl.col(column),
        sd=pl.when(pl.col(f"{column}_n") > 1).then(pl.col(f"{column}_sd")),
    )
    behind = there.group_by(_CELL).agg(rows=pl.col("row").sort())
    pooled = pool(parts, _CELL).join(behind, on=_CELL, nulls_equal=True, maintain_order="left")
    half = mean_spreads(pooled["n"].to_numpy(), floats(pooled["sd"]), scene.is_interval)
    return pooled.rename({"mean": column, "sd": f"{column}_sd", "n": f"{column}_n"}).with_columns(
        pl.Series(f"{column}_spread", half, dtype=pl.Float64)
    )


def _heading(row: dict[str, Any], scene: Scene) -> str:
    return (
        f"{scene.label(row['mode'])} · {format_bytes(row['request_bytes'])} · "
        f"depth {row['io_depth']:g}"
    )


def _signed(value: float, half: float, column: str, scene: Scene) -> str:
    unit = metric(column).unit
    words = f"{MINUS if value < 0 else '+'}{format_quantity(abs(value), unit)}"
    if np.isfinite(half):
        words += f" ± {format_quantity(half, unit)} ({scene.spread_words})"
    return words


def table_of(cells: list[Cell], column: str) -> pl.DataFrame:
    """Return the cells as a table for downloads."""
    return pl.DataFrame(
        {
            "mode": [cell.mode for cell in cells],
            "request_bytes": [cell.request_bytes for cell in cells],
            "io_depth": [cell.io_depth for cell in cells],
            column: [cell.value for cell in cells],
        },
        schema_overrides={"mode": pl.String},
    )
