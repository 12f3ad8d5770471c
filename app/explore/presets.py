"""Presets for the views of the network study that the lake has runs for."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from app.explore.defaults import with_knobs
from app.explore.question import AGREED_US
from app.explore.state import ExploreState, Levels
from app.kit.lake_view import LakeView
from app.kit.page_layout import Preset
from app.kit.words import load_words, workload_title
from data.analysis.facet_counts import matches
from data.declared import PERFORMANCE
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
        title = f"{workload_title(workload)} {words}".strip()
        chosen = selection.with_values("dataset", [datasets["dataset"][-1]])
        yield title, datasets["runs"][-1], with_knobs(view, ExploreState(chosen))


_TUNED: Final = ("linux_tuned", "ebbrt_tuned")
_SILO_LOADS_QPS: Final = (50_000.0, 100_000.0, 200_000.0)
# Figures of lines: name, knob of the panels, workloads, metrics, knobs along x and of the style,
# its levels.
_FIGURES: Final[
    tuple[tuple[str, str, tuple[str, ...], tuple[str, ...], str, str, Levels], ...]
] = (
    ("4", "message", ("netpipe", "nodejs"),
     ("instructions", "energy_j", PERFORMANCE, "interrupts"), "itr", "dvfs", "all"),
    ("6 a-c", "load", ("memcached",), ("energy_j", "interrupts", "instructions", "ipc"),
     "dvfs", "itr", "ends"),
    ("6 d", "load", ("memcached",), ("latency_p99_us",), "itr", "dvfs", "all"),
    ("9", "load", ("memcached-silo",), ("energy_j", "instructions", "ipc"), "dvfs", "itr", "ends"),
)  # fmt: skip
# Figures of scatters: name, knob of the panels, workloads.
_PANELS: Final = (
    ("3", "message", ("netpipe", "nodejs")), ("5", "load", ("memcached",)),
    ("8", "load", ("memcached-silo",)),
)  # fmt: skip


def figure_presets(view: LakeView) -> list[Preset]:
    """Return presets of the study's figures: panels of scatters, and metrics over ITR or DVFS.

    The power limits are pooled, as there; the fastest ITR is that of the runs at a clock. A figure
    of which the lake has runs of one panel has that panel.
    """
    studied = [state for _, _, state in [*_studied(view, _questions()), *_studied(view, _SILO)]]
    presets: list[Preset] = []
    for number, split, workloads in _PANELS:
        states = _of(studied, workloads)
        if len(states) > 1:
            limit = AGREED_US if split == "load" else None
            state = replace(_together(view, states, split), own_axes=True, limit=limit)
            presets.append(_preset(number, "energy against performance", state))
    for number, split, drawn, metrics, over, style, levels in _FIGURES:
        if states := _of(studied, drawn):
            state = _together(view, states, split)
            measured = view.measured_columns(state.selection)
            lines_y = tuple(m for m in metrics if m == PERFORMANCE or m in measured)
            if not lines_y:
                # Runs of the same workload and load need not have what a figure shows.
                continue
            there = set(view.left(state.selection)["system"])
            systems = [name for name in _TUNED if name in there]
            shown = replace(
                state,
                selection=state.selection.with_values("system", systems),
                own_axes=True,
                show="lines",
                lines_x=over,
                lines_y=lines_y,
                lines_by="system",
                lines_style=style,
                lines_levels=levels,
                # In a fifth of node.js's runs on Linux the counters were not reset.
                lines_stat="median" if number == "4" else "mean",
                lines_bands=levels == "ends",
                lines_pool=("rapl",),
            )
            presets.append(_preset(number, f"metrics over {over.upper()}", shown))
    return presets


def _of(states: Sequence[ExploreState], workloads: Sequence[str]) -> list[ExploreState]:
    return [one for one in states if one.selection.values("workload")[0] in workloads]


def _together(view: LakeView, states: Sequence[ExploreState], split: str) -> ExploreState:
    """Return the state with a panel for each of some states' loads or sizes; none has no value."""
    chosen = {
        name: sorted({value for state in states for value in state.selection.values(name)})
        for name in ("workload", "dataset", split)
    }
    if any(not state.selection.values(split) for state in states):
        chosen[split].append(view.catalogue.knobs[split].facet.null_word)
    return replace(states[0], selection=Selection.of(**chosen), split=split)


def _preset(number: str, what: str, state: ExploreState) -> Preset:
    workloads = state.selection.values("workload")
    titles = " and ".join(workload_title(str(name)) for name in workloads)
    hint = f"figure {number} of the network study: {what}, {titles}"
    return Preset(f"{number}: {titles}", hint, state)


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
