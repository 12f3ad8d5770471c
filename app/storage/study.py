"""The data that all views of Storage share: filtered configurations, idle power, functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from app.kit.columns import floats
from app.kit.competitors import competitors_of
from app.kit.lakes import LakeView, leading
from app.kit.settings import MAX_ROWS
from app.kit.words import slice_words, synthetic_note
from app.storage.defaults import access_pair, at_place, chosen, place_of, place_words, storage_cube
from app.storage.figures.base import DEVICE_UNKNOWN, NO_DEVICE, Scene
from app.storage.state import StorageState
from data.analysis.facets import matches
from data.analysis.like_with_like import Slice, like_with_like
from data.analysis.spreads import mean_spreads
from data.knobs import KNOBS, Knob
from data.queries.storage import (
    FUNCTION_SUMS,
    MEASURED,
    MOVES,
    idle_knobs_query,
    idle_query,
    peak_query,
    profiled_query,
    storage_query,
)
from data.selection import FACETS, Selection, Value

# Maximum configurations in the browser, devices with idle power, runs whose functions are read.
MOST_CONFIGURATIONS: Final = 5_000
MOST_IDLE: Final = 200
MOST_PROFILED: Final = 600


@dataclass(frozen=True, slots=True)
class Study:
    """A state with every choice made, and its rows.

    Attributes:
        rows: Answer of `storage_query`, plus `row` (row number) and `<metric>_spread` (half of an
            error bar).
        here: Those of `rows` with the device, access and size of the views that show one.
        idle: Answer of `idle_query`, plus `power_w_spread`.
        idle_part: The part of the idle runs that `idle` is of.
        peaks: Answer of `peak_query`.
        matching: Number of runs that match the filters.
    """

    state: StorageState
    rows: pl.DataFrame
    here: pl.DataFrame
    idle: pl.DataFrame
    idle_part: Slice
    peaks: pl.DataFrame
    scene: Scene
    matching: int

    @property
    def accesses(self) -> tuple[str | None, ...]:
        """The reading and the writing access of the place; the place's own if it has no pair."""
        return access_pair(self.state.at_rw) or (self.state.at_rw,)

    @property
    def place(self) -> Selection:
        """The filters with those on the device, access and size of the views that show one."""
        return _at_place(self.state, self.state.selection)

    def words(self, part: Slice) -> str:
        """Return what a view shows of the runs that the filters leave, and what it pools."""
        return slice_words(part, dict(self.rows.select("system", "system_label").unique().rows()))


def study_of(view: LakeView, state: StorageState) -> Study:
    """Read the study of a state: at most MOST_CONFIGURATIONS + 1 configurations."""
    cube = storage_cube(view, state.selection)
    state = chosen(cube, state)
    is_interval = state.spread == "ci"
    rows = view.narrowed(storage_query, state.selection).head(MOST_CONFIGURATIONS + 1)
    rows = _with_spreads(rows, MEASURED, is_interval).with_row_index("row")
    part = idle_part(view, state)
    idle = view.answered(*idle_query(state.selection, MOST_IDLE, part.narrow(Selection())))
    idle = idle.with_columns(pl.col("device").cast(pl.String))
    place = place_of(state)
    modes = cube["mode"].unique().sort(nulls_last=True).to_list()
    scene = Scene(
        modes=competitors_of(KNOBS["mode"], modes, view.systems, {}),
        is_interval=is_interval,
        place=place,
        place_words=place_words(place),
        note=synthetic_note(pl.concat([part.select("is_synthetic") for part in (rows, idle)])),
        unnamed=DEVICE_UNKNOWN if None in rows["device"].to_list() else NO_DEVICE,
    )
    idle = _with_spreads(idle, ("power_w",), is_interval)
    peaks = view.answered(*peak_query(state.selection))
    peaks = peaks.with_columns(pl.col("machine").cast(pl.String))
    here, matching = at_place(rows, place), int(rows["runs"].sum())
    return Study(state, rows, here, idle, part, peaks, scene, matching)


def idle_part(view: LakeView, state: StorageState) -> Slice:
    """Return which idle runs the views show, of those that the filters leave."""
    knobs = view.answered(*idle_knobs_query(state.selection, MAX_ROWS))
    return like_with_like(knobs, (KNOBS["device"],), state.pool)


def proportion_rows(study: Study) -> tuple[pl.DataFrame, Slice]:
    """Return the configurations of energy proportionality: of one request size and one mode.

    The mode is interrupts; where no run has them, the first of the legend.

    Returns:
        The configurations, sorted by device, and which ones of those that the filters leave they
        are. Columns of `rows`, plus `rate_share` (IO rate over the greatest of the device and
        access), `peak_w` (the greatest power of the machine) and `power_share` (power over
        `peak_w`).
    """
    is_drawn = pl.any_horizontal(pl.col("rw").eq_missing(rw) for rw in study.accesses)
    there = at_place(study.rows, {"request_bytes": study.state.at_request}).filter(
        is_drawn, pl.col("power_w").is_not_null(), pl.col("iops") > 0
    )
    rank = study.scene.rank
    modes = sorted(there["mode"].unique().to_list(), key=lambda m: (m != "interrupt", rank(m)))
    there = at_place(there, {"mode": modes[0] if modes else None})
    part = like_with_like(there, [KNOBS[name] for name in ("device", "rw", "depth")])
    machine = pl.coalesce(pl.col("machine", "dataset").cast(pl.String))
    rows = (
        part.of(there)
        .join(study.peaks, left_on=machine, right_on="machine", maintain_order="left")
        .with_columns(
            rate_share=pl.col("iops") / pl.col("iops").max().over("device", "rw"),
            power_share=pl.col("power_w") / pl.col("peak_w"),
        )
        .sort("device", "row", nulls_last=True)
    )
    return rows, part


def functions_query(view: LakeView, study: Study) -> tuple[str, list[Any]]:
    """Build the query of the runs whose functions are read.

    It uses the leading filters alone if these match at most MOST_PROFILED runs.
    """
    whole = profiled_query(
        _at_place(study.state, leading(study.state.selection)), MOST_PROFILED + 1
    )
    if view.kept(_sum_functions, *whole)["run_id"].n_unique() <= MOST_PROFILED:
        return whole
    return profiled_query(study.place, MOST_PROFILED)


def counted_functions(view: LakeView, study: Study) -> pl.DataFrame:
    """Return loads and stores of the runs at the study's place, by subsystem and published part.

    Returns:
        Columns `run_id`, those of all filters, `subsystem`, `part` (NULL where the published table
        has no parts), `loads_per_s`, `stores_per_s`; sorted. Runs whose functions were not counted
        are absent.
    """
    facets = [facet.column for facet in FACETS.values()]
    return (
        view.kept(_sum_functions, *functions_query(view, study))
        .filter(matches(study.state.selection) & pl.col("subsystem").is_not_null())
        .select("run_id", *facets, "subsystem", "part", *MOVES)
        .sort("mode", "io_depth", "threads", "run_id", "subsystem", "part", nulls_last=True)
    )


def of_bars(
    study: Study,
    functions: pl.DataFrame,
    column: str,
    shown: Sequence[Knob] = (KNOBS["mode"], KNOBS["depth"]),
) -> tuple[pl.DataFrame, Slice]:
    """Return the functions of the runs that a view shows, and which runs these are.

    Args:
        functions: Answer of `counted_functions`, with `column`.
        shown: Knobs of the view's axes; by default those of bars.
    """
    runs = functions.filter(pl.col(column).is_not_null()).unique("run_id", maintain_order=True)
    runs = runs.with_columns(runs=pl.lit(1))
    part = like_with_like(runs, shown, study.state.pool)
    return part.of(functions), part


def _sum_functions(view: LakeView, sql: str, parameters: Sequence[Any]) -> pl.DataFrame:
    """Join the runs of a query with their loads and stores by subsystem and part."""
    runs = view.lake.polars(sql, list(parameters))
    sums = view.lake.aggregated("functions", runs["run_id"].to_list(), FUNCTION_SUMS)
    return runs.join(sums, on="run_id", how="left")


def _at_place(state: StorageState, selection: Selection) -> Selection:
    """Add filters on the device, access and size of the views that show one."""
    by_facet: dict[str, Value | None] = {
        "device": state.at_device,
        "rw": state.at_rw,
        "request": state.at_request,
    }
    for name, value in by_facet.items():
        wanted = FACETS[name].null_word if value is None else value
        selection = selection.with_values(name, [wanted])
    return selection


def _with_spreads(rows: pl.DataFrame, columns: tuple[str, ...], is_interval: bool) -> pl.DataFrame:
    return rows.with_columns(
        pl.Series(
            f"{name}_spread",
            mean_spreads(
                rows[f"{name}_n"].to_numpy(),
                floats(rows[f"{name}_sd"]),
                is_interval,
            ),
            dtype=pl.Float64,
        )
        for name in columns
    )
