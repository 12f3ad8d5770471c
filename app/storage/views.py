"""The views of Storage: one table. A view is a row: picture, rows, queries, how it is computed."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import polars as pl

from app.storage import rows
from app.storage.figures.devices import build_devices, build_proportionality
from app.storage.figures.grids import build_grids
from app.storage.figures.layouts import unmeasured
from app.storage.figures.lines import build_device_lines, build_lines
from app.storage.figures.subsystems import PublishedMove, build_subsystems
from app.storage.published import Comparisons, idle_stars, line_stars, published_moves
from app.storage.rows import Cells, differences_of, means_of, means_with_depths_of
from app.storage.state import DEPTH, View
from app.storage.study import Study
from data.analysis.storage_runs import place_words
from data.analysis.verdicts import LOADS_STORES
from data.queries.storage import peak_query
from data.reference.claims import claims
from data.reference.loads_stores import UNKNOWN, sources

SECTIONS: Final = {
    "claims": "Claims",
    "modes": "Interrupts or polling",
    "devices": "Devices side by side",
    "published": "Published values",
}


def _bars(
    study: Study, functions: pl.DataFrame, view: View, published: Sequence[PublishedMove] = ()
) -> dict[str, Any]:
    counted, part = study.shown_moves(functions, view.y)
    rows: dict[tuple[str | None, int], list[int]] = {}
    for row, mode, depth in part.of(study.here).select("row", "mode", "io_depth").iter_rows():
        rows.setdefault((mode, depth), []).append(row)
    shown = study.words(part)
    return build_subsystems(counted, rows, view, study.scene, UNKNOWN, sources(), published, shown)


def _grids(
    study: Study, view: View, cells: Cells, how: str = "means of replicates"
) -> dict[str, Any]:
    named = cells.common
    if named.get("mode") is not None:
        named = named | {"mode": study.scene.label(named["mode"])}
    where = place_words(named, tuple(named))
    if not len(cells.rows):
        both = f" by both {' and '.join(cells.accesses)}" if cells.accesses else ""
        return unmeasured(view, [view.y], where, both)
    subtitle = " · ".join(part for part in (how, where, study.words(cells.part)) if part)
    return build_grids(cells, view, study.scene, subtitle)


def _devices_picture(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    idle = study.words(study.idle_part)
    return build_devices(study.rows, study.idle, view, study.scene, idle_stars(study), idle)


def _proportionality_picture(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    rows, part = study.proportions
    words = study.words(part)
    return build_proportionality(rows, study.idle, study.accesses, view, study.scene, words)


def _device_lines_picture(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    rows, part = study.of_devices(view.x, view.y)
    return build_device_lines(rows, view, study.accesses, study.scene, study.words(part))


def _differences_picture(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    cells = differences_of(study, view)
    how = f"{cells.accesses[1]} minus {cells.accesses[0]}, " if cells.accesses else ""
    return _grids(study, view, cells, f"{how}means of replicates")


def _sources_query(study: Study, view: View) -> str:
    shown = study.shown_moves(study.moves, view.y)[1].narrow(study.place)
    return rows.functions_at_query(study, shown)


def _peaks_query(study: Study, _: View) -> str:
    query = peak_query(study.state.selection, catalogue=study.catalogue)
    return rows.written("greatest power", *query)


_LINES: Final = partial(
    View,
    figure=lambda study, view, compared: build_lines(
        study.here, view, study.scene, line_stars(study, view, compared)
    ),
    rows=rows.line_rows,
    queries=(lambda study, _: rows.configurations_at_query(study, study.place),),
    how="Means over the replicates of each configuration at one device, access and size.",
)
_BARS: Final = partial(
    View,
    figure=lambda study, view, _: _bars(study, study.functions, view),
    rows=rows.subsystem_rows,
    queries=(
        lambda study, view: rows.functions_at_query(
            study, study.shown_moves(study.functions, view.y)[1].narrow(study.place)
        ),
    ),
    how="Sums over the functions of each subsystem, means over the replicates of a mode and depth; "
    "a run that lists no function of a subsystem counts as 0 there.",
    has_legend=True,
)
_MEANS: Final = partial(
    View,
    figure=lambda study, view, _: _grids(study, view, means_of(study, view)),
    rows=rows.mean_rows,
    queries=(lambda study, view: rows.cells_query(study, view, means_of(study, view)),),
    how="Means over the replicates of a size and depth, by mode at one device, or by device in one "
    "mode (interrupts, where any run has them); of pooled knobs, over all their runs.",
    span=6,
)
_DIFFERENCES: Final = partial(
    View,
    figure=_differences_picture,
    rows=rows.difference_rows,
    queries=(lambda study, view: rows.cells_query(study, view, differences_of(study, view)),),
    how="Mean power of writing minus mean power of reading, for cells that have both, in one "
    "completion mode (interrupts, where any run has them); Welch's confidence intervals.",
    span=6,
)
_OF_DEVICES: Final = partial(
    View,
    figure=_device_lines_picture,
    rows=rows.device_line_rows,
    queries=(lambda study, view: rows.of_devices_query(study, *study.of_devices(view.x, view.y)),),
    how="Means over the replicates of each configuration of one request size, in one completion "
    "mode (interrupts, where any run has them), reading and writing.",
    by="device",
)
VIEWS: Final = (
    _LINES("iops", "modes", "IO rate by depth", x=DEPTH, y="iops", claims=("000-O1",)),
    _LINES("cpu", "modes", "CPU by depth", x=DEPTH, y="cpu_pct",
           source="HotStorage '22, figure 1b", claims=("000-O2",)),
    _LINES("power-cpu", "modes", "Power against CPU", x="cpu_pct", y="power_w",
           source="HotStorage '22, figure 1d", claims=("000-O3",)),
    _LINES("switches-io", "modes", "Context switches per IO by depth", x=DEPTH,
           y="context_switches_per_io", source="HotStorage '22, figure 2b", claims=("000-O4",)),
    View("loads-stores", "modes", "Loads and stores of the kernel by source",
         lambda study, view, _: _bars(study, study.moves, view, published_moves(study)),
         rows.source_rows, (_sources_query,),
         "Loads and stores of all kernel functions by source file, means over the replicates of a "
         "mode and depth; functions of programs (user) are left out. Published: table 2 of "
         "HotStorage '22.",
         y=LOADS_STORES, source="HotStorage '22, figure 2c", claims=("000-O5",), span=6,
         has_legend=True),
    _MEANS("bytes-joule", "modes", "Bytes per joule", y="bytes_per_joule",
           source="HotStorage '22, figure 3", claims=("000-O6", "000-C7")),
    _LINES("bandwidth", "modes", "Bandwidth by depth", x=DEPTH, y="bandwidth_bytes_s",
           source="HotStorage '22, figure 1a", span=2),
    _LINES("power", "modes", "Power by depth", x=DEPTH, y="power_w",
           source="HotStorage '22, figure 1c", span=2),
    _LINES("switches", "modes", "Context switches a second by depth", x=DEPTH,
           y="context_switches_per_s", source="HotStorage '22, figure 2a", span=2),
    _LINES("latency", "modes", "Mean latency by depth", x=DEPTH, y="latency_mean_us", span=2),
    _LINES("latency-p99", "modes", "p99 latency by depth", x=DEPTH, y="latency_p99_us", span=2),
    _LINES("interrupts", "modes", "Interrupts a second by depth", x=DEPTH, y="interrupts_per_s",
           span=2),
    _BARS("loads", "modes", "Loads by kernel subsystem", y="loads_per_s"),
    _BARS("stores", "modes", "Stores by kernel subsystem", y="stores_per_s"),
    View("devices", "devices", "Idle and active power by device", _devices_picture,
         rows.power_rows, (rows.configurations_query, rows.idle_runs_query),
         "Idle: means over the idle runs of a device. Bars: from there to the greatest mean over "
         "all workloads. Active: for each device and mode, the configurations with the lowest and "
         "the highest mean power.",
         y="power_w", by="device", source="HotStorage '20, figure 1",
         claims=("004-O1", "004-O2"), span=6),
    _DIFFERENCES("difference", "devices", "Write minus read power", y="power_w", by="device",
                 source="HotStorage '20, figure 2", claims=("004-O3",)),
    View("proportionality", "devices", "Energy proportionality", _proportionality_picture,
         rows.proportion_rows,
         (lambda study, _: rows.of_devices_query(study, *study.proportions), _peaks_query,
          rows.idle_runs_query),
         "Configurations of one request size and one completion mode. IO rate: the mean over the "
         "greatest mean of the device, reading or writing. Power: the mean over the greatest mean "
         "of any configuration of the system, over all devices and workloads. Curves: a quadratic "
         "by least squares for each device and access.",
         y="power_w", by="device", source="HotStorage '20, figure 3", claims=("004-O4",), span=6),
    _OF_DEVICES("latency-devices", "devices", "Mean latency by depth and device", x=DEPTH,
                y="latency_mean_us", source="HotStorage '20, figure 4a"),
    _OF_DEVICES("interrupts-devices", "devices", "Interrupts a second by depth and device", x=DEPTH,
                y="interrupts_per_s", source="HotStorage '20, figures 4b, 4c"),
    _OF_DEVICES("cpu-interrupts", "devices", "Kernel CPU against interrupts a second",
                x="interrupts_per_s", y="cpu_sys_pct", source="HotStorage '20, figure 4d",
                claims=("004-O5",)),
    _OF_DEVICES("power-interrupts", "devices", "Power against interrupts a second",
                x="interrupts_per_s", y="power_w", source="HotStorage '20, figure 4e",
                claims=("004-C9",)),
    _MEANS("bytes-joule-devices", "devices", "Bytes per joule by device", y="bytes_per_joule",
           by="device", source="HotStorage '20, figure 5", claims=("004-O6", "004-C8")),
    _MEANS("ios-joule", "devices", "IOs per joule by device", y="ios_per_joule", by="device",
           figure=lambda study, view, _: _grids(study, view, means_with_depths_of(study, view)),
           rows=rows.mean_rows_with_depths,
           source="HotStorage '20, figure 6", claims=("004-O7",)),
)  # fmt: skip
# Without a picture: claims of the papers, published values, all runs.
CLAIMS: Final = View(
    "claims", "claims", "Claims of the papers", None, rows.claim_rows,
    (rows.configurations_query, rows.functions_query),
    "\n".join(f"{claim.source}: {claim.rule}" for claim in claims()),
)  # fmt: skip
PUBLISHED: Final = View(
    "published", "published", "Published values", None, rows.published_rows,
    (rows.configurations_query, rows.idle_runs_query, rows.functions_query),
    "Each published value beside the mean of the replicates of the configuration that\n"
    "its table describes; of several, the one with most runs, which is named;\n"
    "devices are matched by device_pattern (data/reference/). Latency and IO rate by mode: random\n"
    "reads of 4 KiB, as many in flight as threads. Latency by kind of device: random reads of\n"
    "4 KiB, one in flight, completed by interrupts. Context switches: at the device, access and\n"
    "size of the lines. Loads and stores: at these, with as many threads as\n"
    "published; parts by function_pattern; the total includes functions of unknown place, the\n"
    "other sources do not.",
)  # fmt: skip
RUNS: Final = View(
    "runs", "", "Storage runs", None, rows.run_rows,
    (lambda study, _: rows.written("runs", *rows.runs_of(study)),),
    "All columns of the storage runs that match the filters.",
)  # fmt: skip
ALL: Final = (*VIEWS, CLAIMS, PUBLISHED, RUNS)
BY_NAME: Final = {view.name: view for view in ALL}
# Name of a claim to the view that shows the compared values.
VIEW_OF: Final = {name: view for view in VIEWS for name in view.claims}
# Views whose picture was another one in version 1, whose boxes are in its coordinates.
OF_VERSION_1: Final = BY_NAME | {
    "cpu-interrupts": _LINES("cpu-interrupts", "", "", x="interrupts_per_s", y="cpu_pct"),
    "power-interrupts": _LINES("power-interrupts", "", "", x="interrupts_per_s", y="power_w"),
    "difference": _DIFFERENCES("difference", "", "", y="power_w"),
    "ios-joule": _MEANS("ios-joule", "", "", y="ios_per_joule"),
}
