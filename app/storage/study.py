"""The study that Storage draws: the configurations that filters leave, idle power, functions."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import competitors_of
from app.kit.lakes import LakeView, leading
from app.kit.words import synthetic_note
from app.storage.defaults import at_place, chosen, place_of, place_words, storage_cube
from app.storage.figures.base import DEVICE_UNSAID, NO_DEVICE, Scene
from app.storage.state import StorageState
from data.analysis.facets import matches
from data.analysis.spreads import mean_spreads
from data.knobs import KNOBS
from data.queries.storage import (
    MEASURED,
    MOVES,
    idle_query,
    profiled_query,
    storage_query,
)
from data.selection import FACETS, Selection, Value

# Bounds: configurations that the browser is sent, devices that idle, runs whose functions are read.
MOST_CONFIGURATIONS: Final = 5_000
MOST_IDLE: Final = 200
MOST_PROFILED: Final = 600


@dataclass(frozen=True, slots=True)
class Study:
    """A state with every choice made, and its rows.

    Attributes:
        rows: Answer of `storage_query`, and `row` (its number), `<metric>_spread` (half an error
            bar).
        idle: Answer of `idle_query`, and `power_w_spread`.
        here: Those of `rows` at the place of the views that show one device, access and size.
        matching: Runs that the filters leave.
    """

    state: StorageState
    rows: pl.DataFrame
    here: pl.DataFrame
    idle: pl.DataFrame
    scene: Scene
    matching: int

    @property
    def place(self) -> dict[str, Any]:
        """Device, access and size of the views that show one, by their columns."""
        return place_of(self.state)


def study_of(view: LakeView, state: StorageState) -> Study:
    """Gather the study of a state; at most MOST_CONFIGURATIONS rows and one more."""
    state = chosen(storage_cube(view), state)
    is_interval = state.spread == "ci"
    rows = view.narrowed(storage_query, state.selection).head(MOST_CONFIGURATIONS + 1)
    rows = _with_spreads(rows, MEASURED, is_interval).with_row_index("row")
    idle = view.lake.polars(*idle_query(state.selection, MOST_IDLE))
    drawn = pl.concat([part.select("is_synthetic") for part in (rows, idle)])
    scene = Scene(
        modes=competitors_of(
            KNOBS["mode"],
            storage_cube(view)["mode"].unique().sort(nulls_last=True).to_list(),
            view.systems,
            {},
        ),
        is_interval=is_interval,
        place=place_words(place_of(state)),
        note=synthetic_note(drawn),
        unnamed=DEVICE_UNSAID if None in rows["device"].to_list() else NO_DEVICE,
    )
    here = at_place(rows, place_of(state))
    idle = _with_spreads(idle, ("power_w",), is_interval)
    return Study(state, rows, here, idle, scene, int(rows["runs"].sum()))


def place_selection(study: Study) -> Selection:
    """The filters, and the device, access and size of the views that show one."""
    return _at_place(study, study.state.selection)


def _at_place(study: Study, selection: Selection) -> Selection:
    by_facet: dict[str, Value | None] = {
        "device": study.state.at_device,
        "rw": study.state.at_rw,
        "request": study.state.at_request,
    }
    for name, value in by_facet.items():
        selection = selection.with_values(
            name, [FACETS[name].null_word if value is None else value]
        )
    return selection


def counted_functions(view: LakeView, study: Study) -> pl.DataFrame:
    """Loads and stores by subsystem of the runs at the study's place.

    Returns:
        Columns `run_id`, `mode`, `io_depth`, `subsystem`, `loads_per_s`, `stores_per_s`; one row a
        run and subsystem, sorted. Runs whose functions were not counted are absent.
    """
    everything = profiled_query(_at_place(study, leading(study.state.selection)), MOST_PROFILED + 1)
    counted = view.function_sums(everything)
    if counted["run_id"].n_unique() > MOST_PROFILED:
        counted = view.function_sums(profiled_query(place_selection(study), MOST_PROFILED))
    return (
        counted.filter(matches(study.state.selection) & pl.col("subsystem").is_not_null())
        .select("run_id", "mode", "io_depth", "subsystem", *MOVES)
        .sort("mode", "io_depth", "run_id", "subsystem")
    )


def _with_spreads(rows: pl.DataFrame, columns: tuple[str, ...], is_interval: bool) -> pl.DataFrame:
    return rows.with_columns(
        pl.Series(
            f"{name}_spread",
            mean_spreads(
                rows[f"{name}_n"].to_numpy(),
                rows[f"{name}_sd"].cast(pl.Float64).fill_null(np.nan).to_numpy(),
                is_interval,
            ),
            dtype=pl.Float64,
        )
        for name in columns
    )
