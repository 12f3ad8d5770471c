"""Presets for the views of the network study that the lake has runs for."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

import polars as pl

from app.explore.defaults import with_knobs
from app.explore.question import AGREED_US
from app.explore.state import ExploreState, Levels
from app.kit.lake_view import LakeView
from app.kit.metric_choice import PERFORMANCE
from app.kit.page_layout import Preset
from app.kit.words import WORKLOAD_TITLES, load_words
from data.analysis.facets import matches
from data.selection import Selection

_LOADS_QPS: Final = (200_000.0, 400_000.0, 600_000.0)
_MESSAGES_BYTES: Final = (64.0, 8_192.0, 65_536.0, 524_288.0)


def study_presets(view: LakeView) -> list[Preset]:
    """Return presets of memcached by load, NetPIPE by message size, and node.js.

    Each uses the dataset with most runs. A workload without energies has none.
    """
    return [
        Preset(title, f"energy against performance, {title}, {runs:,} runs", state)
        for title, runs, state in _studied(view, _questions())
    ]


def _studied(
    view: LakeView, questions: Iterable[tuple[str, Selection]]
) -> Iterator[tuple[str, int, ExploreState]]:
    """Yield title, number of runs and state of each question that the lake has energies for."""
    for workload, selection in questions:
        left = view.cube_of(view.first_study()).filter(matches(selection))
        if not len(left) or "energy_j" not in view.measured_columns(selection):
            continue
        datasets = left.group_by("dataset").agg(pl.col("runs").sum()).sort("runs", "dataset")
        load, message = (selection.values(name) for name in ("load", "message"))
        words = load_words(*(float(v[0]) if v else None for v in (load, message)))
        title = f"{WORKLOAD_TITLES.get(workload, workload)} {words}".strip()
        chosen = selection.with_values("dataset", [datasets["dataset"][-1]])
        # A few settings have 30 times the tail latency of most, which would share a tenth of x.
        state = ExploreState(chosen, x_log=workload == "memcached")
        yield title, datasets["runs"][-1], with_knobs(view, state)


_TUNED: Final = ("linux_tuned", "ebbrt_tuned")
_SILO_LOADS_QPS: Final = (50_000.0, 100_000.0, 200_000.0)
# Figures of the study: name, workloads, metrics, knobs along x and of the style, its levels.
_FIGURES: Final[tuple[tuple[str, tuple[str, ...], tuple[str, ...], str, str, Levels], ...]] = (
    ("4", ("netpipe", "nodejs"), ("instructions", "energy_j", PERFORMANCE, "interrupts"),
     "itr", "dvfs", "all"),
    ("6 a-c", ("memcached",), ("energy_j", "interrupts", "instructions", "ipc"),
     "dvfs", "itr", "ends"),
    ("6 d", ("memcached",), ("latency_p99_us",), "itr", "dvfs", "all"),
    ("9", ("memcached-silo",), ("energy_j", "instructions", "ipc"), "dvfs", "itr", "ends"),
)  # fmt: skip


def figure_presets(view: LakeView) -> list[Preset]:
    """Return presets of the study's figures: panels of scatters, and metrics over ITR or DVFS.

    The power limits are pooled, as there; the fastest ITR is that of the runs at a clock.
    """
    studied = [*_studied(view, _questions()), *_studied(view, _SILO)]
    presets = [*panel_presets(view)]
    for number, workloads, metrics, over, style, levels in _FIGURES:
        for title, _, state in studied:
            (workload,) = state.selection.values("workload")
            if workload not in workloads:
                continue
            measured = view.measured_columns(state.selection)
            there = set(view.left(state.selection)["system"])
            systems = [name for name in _TUNED if name in there]
            shown = replace(
                state,
                selection=state.selection.with_values("system", systems),
                show="lines",
                lines_x=over,
                lines_y=tuple(m for m in metrics if m == PERFORMANCE or m in measured),
                lines_by="system",
                lines_style=style,
                lines_levels=levels,
                # In a fifth of node.js's runs on Linux the counters were not reset.
                lines_stat="median" if number == "4" else "mean",
                lines_bands=levels == "ends",
                lines_pool=("rapl",),
            )
            hint = f"figure {number} of the network study, {title}: means over {over.upper()}"
            presets.append(Preset(f"{number}: {title}", hint, shown))
    return presets


# Figures of several panels: name, knob of the panels, workloads.
_PANELS: Final = (
    ("3", "message", ("netpipe", "nodejs")), ("5", "load", ("memcached",)),
    ("8", "load", ("memcached-silo",)),
)  # fmt: skip


def panel_presets(view: LakeView) -> Iterator[Preset]:
    """Yield presets of figures 3, 5 and 8: energy against performance, a panel a load or size."""
    studied = [*_studied(view, _questions()), *_studied(view, _SILO)]
    for number, split, workloads in _PANELS:
        states = [state for _, _, state in studied
                  if state.selection.values("workload")[0] in workloads]  # fmt: skip
        if len(states) < 2:
            continue
        chosen = {
            name: sorted({value for state in states for value in state.selection.values(name)})
            for name in ("workload", "dataset", split)
        }
        if any(not state.selection.values(split) for state in states):
            chosen[split].append(view.catalogue.knobs[split].facet.null_word)
        titles = " and ".join(WORKLOAD_TITLES.get(str(n), str(n)) for n in chosen["workload"])
        selection = Selection.of(**chosen)
        shown = replace(
            states[0], selection=selection, split=split, own_axes=True,
            limit=AGREED_US if number == "5" else None,
        )  # fmt: skip
        hint = f"figure {number} of the network study: energy against performance, {titles}"
        yield Preset(f"{number}: {titles}", hint, shown)


def _questions() -> Iterator[tuple[str, Selection]]:
    for load in _LOADS_QPS:
        yield "memcached", Selection.of(workload=["memcached"], load=[load])
    for message in _MESSAGES_BYTES:
        yield "netpipe", Selection.of(workload=["netpipe"], message=[message])
    yield "nodejs", Selection.of(workload=["nodejs"])


_SILO: Final = [
    ("memcached-silo", Selection.of(workload=["memcached-silo"], load=[load]))
    for load in _SILO_LOADS_QPS
]
