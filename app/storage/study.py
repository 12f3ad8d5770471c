"""What a state asks, resolved once: its place, the rows of all views, and what they share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final

import polars as pl

from app.kit.competitors import competitors_of
from app.kit.controls import Entries, entries, pool_choices
from app.kit.lake_view import LakeView, leading
from app.kit.settings import MAX_ROWS
from app.kit.words import slice_words, synthetic_note
from app.storage.figures.base import DEVICE_UNKNOWN, NO_DEVICE, Scene
from app.storage.state import StorageState
from data.analysis.coded_rows import Part
from data.analysis.facet_counts import Choice, FacetCounts, matches
from data.analysis.like_with_like import Slice, like_with_like
from data.analysis.storage_means import (
    BARS,
    by_source,
    moves_shown,
    shares_of_greatest,
    with_spreads,
)
from data.analysis.storage_runs import (
    StorageRuns,
    access_pair,
    at_place,
    chosen_place,
    matching,
    place_words,
)
from data.analysis.verdicts import LOADS_STORES
from data.catalogue import Catalogue
from data.knobs import Knob
from data.queries.storage import (
    FUNCTION_SUMS,
    MEASURED,
    idle_knobs_query,
    idle_query,
    peak_query,
    profiled_query,
    storage_query,
)
from data.reference.loads_stores import MOVES
from data.selection import Selection
from data.units import format_bytes

# Maximum configurations in the browser, devices with idle power, runs whose functions are read.
MOST_CONFIGURATIONS: Final = 5_000
MOST_IDLE: Final = 200
MOST_PROFILED: Final = 600
NO_STORAGE: Final = (
    "Storage draws runs by request size and IO depth, and no run of this lake has a request size: "
    "results of fio would make it useful."
)


@dataclass(frozen=True, eq=False)
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

    view: LakeView
    state: StorageState
    rows: pl.DataFrame
    here: pl.DataFrame
    idle: pl.DataFrame
    idle_part: Slice
    peaks: pl.DataFrame
    scene: Scene
    matching: int

    @property
    def catalogue(self) -> Catalogue:
        """The columns of the lake."""
        return self.view.catalogue

    @property
    def has_figures(self) -> bool:
        """Whether there are configurations, and not too many to draw."""
        return 0 < len(self.rows) <= MOST_CONFIGURATIONS

    @property
    def accesses(self) -> tuple[str | None, ...]:
        """The reading and the writing access of the place; the place's own if it has no pair."""
        return access_pair(self.state.at_rw) or (self.state.at_rw,)

    @property
    def place(self) -> Selection:
        """The filters with those on the device, access and size of the views that show one."""
        return at_place(self.state.selection, self.state.place)

    @cached_property
    def functions(self) -> pl.DataFrame:
        """Loads and stores of the runs at the place, by subsystem and published part.

        Columns `run_id`, those of all filters, `subsystem`, `part` (NULL where the published table
        has no parts), `loads_per_s`, `stores_per_s`; sorted. Runs whose functions were not counted
        are absent.
        """
        facets = [facet.column for facet in self.catalogue.facets.values()]
        # The query of the leading filters alone serves more states, if these leave few enough runs.
        query = partial(profiled_query, catalogue=self.catalogue)
        broad = at_place(leading(self.state.selection), self.state.place)
        sums = self.view.cached(_sum_functions, *query(broad, MOST_PROFILED + 1))
        if sums["run_id"].n_unique() > MOST_PROFILED:
            sums = self.view.cached(_sum_functions, *query(self.place, MOST_PROFILED))
        return (
            sums.filter(matches(self.state.selection) & pl.col("subsystem").is_not_null())
            .select("run_id", *facets, "subsystem", "part", *MOVES)
            .sort("mode", "io_depth", "threads", "run_id", "subsystem", "part", nulls_last=True)
        )

    @cached_property
    def moves(self) -> pl.DataFrame:
        """The functions by the sources of the published table: answer of `by_source`."""
        return by_source(self.functions)

    @cached_property
    def proportions(self) -> tuple[pl.DataFrame, Slice]:
        """The configurations of energy proportionality: of one request size and one mode.

        The mode is interrupts; where no run has them, the first of the legend. Answer of
        `shares_of_greatest`, and which ones of those that the filters leave they are.
        """
        rows, part = self.of_devices("power_w", "iops")
        return shares_of_greatest(rows.filter(pl.col("iops") > 0), self.peaks), part

    def of_devices(self, *columns: str) -> tuple[pl.DataFrame, Slice]:
        """Return the configurations of all devices at one request size, in one mode.

        Also which ones of those that the filters leave they are.

        Args:
            columns: Metrics that they have.
        """
        size = {"request_bytes": self.state.at_request}
        measured = [pl.col(name).is_not_null() for name in columns]
        is_drawn = pl.any_horizontal(pl.col("rw").eq_missing(rw) for rw in self.accesses)
        there = matching(self.rows, size).filter(is_drawn, *measured)
        there = matching(there, {"mode": self.usual_mode(there)})
        part = self.alike(there, ("device", "rw", "depth"), is_pooling=False)
        return part.of(there), part

    def usual_mode(self, rows: pl.DataFrame) -> str | None:
        """Return the mode in which devices are compared: interrupts, else the legend's first."""
        rank = self.scene.rank
        modes = sorted(rows["mode"].unique().to_list(), key=lambda m: (m != "interrupt", rank(m)))
        return modes[0] if modes else None

    def alike(
        self, rows: pl.DataFrame, shown: Sequence[str], is_pooling: bool = True, runs: str = "runs"
    ) -> Slice:
        """Return which rows a view shows whose axes and series are the named knobs.

        Args:
            is_pooling: Whether the view pools the settings that the reader chose.
            runs: Column of `rows` with the number of runs.
        """
        knobs = [self.catalogue.knobs[name] for name in shown]
        pool = self.state.pool if is_pooling else ()
        return like_with_like(rows, knobs, pool, runs, catalogue=self.catalogue)

    def shown_moves(
        self, functions: pl.DataFrame, column: str, shown: Sequence[Knob] = BARS
    ) -> tuple[pl.DataFrame, Slice]:
        """Return the answer of `moves_shown` for the state's pooled settings."""
        return moves_shown(functions, column, self.catalogue, self.state.pool, shown)

    def words(self, part: Slice) -> str:
        """Return what a view shows of the runs that the filters leave, and what it pools."""
        return slice_words(part, dict(self.rows.select("system", "system_label").unique().rows()))

    @property
    def runs(self) -> StorageRuns:
        """The tables that the papers' claims compare."""
        return StorageRuns(
            rows=self.rows,
            idle=self.idle,
            moves=self.shown_moves(self.moves, LOADS_STORES)[0],
            peak_w=self.peaks["peak_w"].max(),  # type: ignore[arg-type]
            place=self.state.place,
            accesses=access_pair(self.state.at_rw),
            catalogue=self.catalogue,
        )


def study_of(view: LakeView, state: StorageState) -> Study:
    """Resolve a state and read its rows: at most MOST_CONFIGURATIONS + 1 configurations."""
    return view.once(_study_of, replace(state, sel="", lake_version=None), is_large=True)


def _study_of(view: LakeView, state: StorageState) -> Study:
    selection, catalogue, is_interval = state.selection, view.catalogue, state.spread == "ci"
    cube = storage_cube(view, selection)
    state = chosen(cube, state)
    rows = view.narrowed(partial(storage_query, catalogue=catalogue), selection).rows
    rows = with_spreads(rows.head(MOST_CONFIGURATIONS + 1), MEASURED, is_interval)
    rows = rows.with_row_index("row")
    settings = view.answered(*idle_knobs_query(selection, MAX_ROWS, catalogue=catalogue))
    device = (catalogue.knobs["device"],)
    part = like_with_like(settings, device, state.pool, catalogue=catalogue)
    alike = part.narrow(Selection())
    idle = view.answered(*idle_query(selection, MOST_IDLE, alike, catalogue=catalogue))
    idle = with_spreads(
        idle.with_columns(pl.col("device").cast(pl.String)), ["power_w"], is_interval
    )
    peaks = view.answered(*peak_query(selection, catalogue=catalogue))
    everything = pl.concat([each.select("is_synthetic") for each in (rows, idle)])
    modes = cube["mode"].unique().sort(nulls_last=True).to_list()
    scene = Scene(
        modes=competitors_of(catalogue.knobs["mode"], modes, view.systems, {}),
        devices=tuple(cube["device"].cast(pl.String).unique().sort(nulls_last=False)),
        is_interval=is_interval,
        place=state.place,
        place_words=place_words(state.place),
        note=synthetic_note(Part.of(everything)),
        unnamed=DEVICE_UNKNOWN if None in rows["device"].to_list() else NO_DEVICE,
        catalogue=catalogue,
    )
    return Study(
        view=view,
        state=state,
        rows=rows,
        here=matching(rows, state.place),
        idle=idle,
        idle_part=part,
        peaks=peaks.with_columns(pl.col("machine").cast(pl.String)),
        scene=scene,
        matching=int(rows["runs"].sum()),
    )


def _sum_functions(view: LakeView, sql: str, parameters: Sequence[Any]) -> pl.DataFrame:
    """Join the runs of a query with their loads and stores by subsystem and part."""
    runs = view.lake.polars(sql, list(parameters))
    sums = view.lake.aggregated("functions", runs["run_id"].to_list(), FUNCTION_SUMS)
    return runs.join(sums, on="run_id", how="left")


def storage_cube(view: LakeView, selection: Selection) -> pl.DataFrame:
    """Return the rows of the filter cube that are storage runs, which have a request size."""
    return view.cube_of(selection).filter(pl.col("request_bytes").is_not_null())


def storage_runs(view: LakeView) -> int:
    """Return the number of storage runs of the lake."""
    return int(view.outline.filter("is_storage")["runs"].sum())


def missing(view: LakeView, _: StorageState) -> str:
    """Return that no run of the lake has a request size."""
    return "" if storage_runs(view) else NO_STORAGE


def default_state(view: LakeView) -> StorageState:
    """Return the state without a link: the dataset with most modes, then most runs."""
    cube = storage_cube(view, view.first_study(is_storage=True))
    if not len(cube):
        return StorageState()
    ranked = (
        cube.group_by("dataset")
        .agg(modes=pl.col("mode").drop_nulls().n_unique(), runs=pl.col("runs").sum())
        .sort("modes", "runs", "dataset")
    )
    return StorageState(Selection.of(dataset=[ranked["dataset"][-1]]))


def chosen(cube: pl.DataFrame, state: StorageState) -> StorageState:
    """Choose device, access and size where the state has none, or one that the filters exclude.

    Args:
        cube: Answer of `storage_cube`.
    """
    place = chosen_place(cube.filter(matches(state.selection)), state.place)
    device, rw, size = place.values()
    return replace(state, at_device=device, at_rw=rw, at_request=size)


def offered(view: LakeView, selection: Selection) -> dict[str, list[Choice]]:
    """Return the choices of each filter of the page."""
    outline = view.outline.filter("is_storage") if view.is_large else None
    counts = FacetCounts(storage_cube(view, selection), outline, catalogue=view.catalogue)
    names = StorageState.filters(view.catalogue)
    return {name: counts.of(name, selection) for name in names}


def place_choices(cube: pl.DataFrame, state: StorageState) -> dict[str, Entries]:
    """Return the entries of the menus of device, access and size, by URL key.

    A menu lists the values that the filters and the menus before it allow.
    """
    left = cube.filter(matches(state.selection))
    here = matching(left, {"device": state.at_device})
    sizes = matching(here, {"rw": state.at_rw})["request_bytes"].unique().sort()
    return {
        "at": entries({d: d for d in left["device"].drop_nulls().unique().sort()}),
        "access": entries({a: a for a in here["rw"].drop_nulls().unique().sort()}),
        "size": entries({str(s): format_bytes(s) for s in sizes}),
    }


def storage_pool_choices(view: LakeView, state: StorageState) -> Entries:
    """List the settings that heatmaps, bars and idle power may pool."""
    left = storage_cube(view, state.selection).filter(matches(state.selection))
    modes = (view.catalogue.knobs["mode"],)
    return pool_choices(Part.of(left), modes, state.pool, catalogue=view.catalogue)
