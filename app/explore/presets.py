"""Presets for the views of the network study that the lake has runs for."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from app.explore.defaults import with_knobs
from app.explore.state import ExploreState
from app.kit.lake_view import LakeView
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
    presets = []
    for workload, selection in _questions():
        left = view.cube_of(view.first_study()).filter(matches(selection))
        if not len(left) or "energy_j" not in view.measured_columns(selection):
            continue
        datasets = left.group_by("dataset").agg(pl.col("runs").sum()).sort("runs", "dataset")
        load, message = (selection.values(name) for name in ("load", "message"))
        words = load_words(*(float(v[0]) if v else None for v in (load, message)))
        title = f"{WORKLOAD_TITLES.get(workload, workload)} {words}".strip()
        hint = f"energy against performance, {title}, {datasets['runs'][-1]:,} runs"
        chosen = selection.with_values("dataset", [datasets["dataset"][-1]])
        # A few settings have 30 times the tail latency of most, which would share a tenth of x.
        state = ExploreState(chosen, x_log=workload == "memcached")
        presets.append(Preset(title, hint, with_knobs(view, state)))
    return presets


def _questions() -> Iterator[tuple[str, Selection]]:
    for load in _LOADS_QPS:
        yield "memcached", Selection.of(workload=["memcached"], load=[load])
    for message in _MESSAGES_BYTES:
        yield "netpipe", Selection.of(workload=["netpipe"], message=[message])
    yield "nodejs", Selection.of(workload=["nodejs"])
