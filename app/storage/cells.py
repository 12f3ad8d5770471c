"""The cells of Storage's heatmaps: configurations pooled by mode, request size and IO depth."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import floats
from app.storage.defaults import access_pair, at_place
from app.storage.figures.base import Scene, measured_words
from app.storage.figures.grids import Cell
from app.storage.study import Study
from app.storage.views import View
from data.analysis.like_with_like import Slice, like_with_like
from data.analysis.pooling import pool
from data.analysis.spreads import difference_spreads, mean_spreads
from data.knobs import KNOBS
from data.metrics import metric
from data.units import MINUS, format_bytes, format_quantity

_CELL: Final = ("mode", "request_bytes", "io_depth")
_KNOBS: Final = ("mode", "request", "depth")


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one heatmap.

    Attributes:
        part: The part of the filtered runs that the cells show.
        fixed: Columns of the study's place with one value in all of them.
        accesses: The compared reading and writing access; empty unless cells are differences.
    """

    cells: list[Cell]
    part: Slice
    fixed: tuple[str, ...]
    accesses: tuple[str, ...] = ()


def cells_of(study: Study, view: View) -> Cells:
    """Return the cells of a heatmap view; none if nothing was measured."""
    rows = at_place(study.rows, {"device": study.state.at_device})
    accesses: tuple[str, str] | tuple[()] = ()
    shown = [KNOBS[name] for name in _KNOBS]
    fixed: tuple[str, ...] = ("device", "rw")
    if view.kind == "efficiency":
        rows = at_place(rows, {"rw": study.state.at_rw})
    else:
        accesses, fixed = access_pair(study.state.at_rw), ("device",)
        rows = rows.filter(pl.col("rw").is_in(accesses))
        shown.append(KNOBS["rw"])
    rows = rows.filter(pl.col(view.y).is_not_null())
    part = like_with_like(rows, shown, study.state.pool, runs=f"{view.y}_n")
    rows = part.of(rows)
    if view.kind == "efficiency":
        return Cells(_mean_cells(rows, view.y, study.scene), part, fixed)
    cells = _difference_cells(rows, accesses, view.y, study.scene) if accesses else []
    return Cells(cells, part, fixed, accesses)


def cell_columns(found: Cells) -> tuple[str, ...]:
    """Return the columns by which the runs behind some cells are averaged."""
    return (*_CELL, *(("rw",) if found.accesses else ()))


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


def _pooled(rows: pl.DataFrame, column: str, scene: Scene) -> pl.DataFrame:
    """Return the columns of _CELL, `rows`, and the metric's mean, `_sd`, `_n` and `_spread`."""
    parts = rows.select(
        *_CELL,
        n=pl.col(f"{column}_n"),
        mean=pl.col(column),
        sd=pl.when(pl.col(f"{column}_n") > 1).then(pl.col(f"{column}_sd")),
    )
    behind = rows.group_by(_CELL).agg(rows=pl.col("row").sort())
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
