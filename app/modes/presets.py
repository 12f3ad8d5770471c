"""Presets: figure 3 of HotStorage '22, 4 KB reads, and any map by the rule of the papers."""

import re
from dataclasses import replace
from typing import Final

import polars as pl

from app.kit.lake_view import LakeView
from app.kit.page_layout import Preset
from app.modes.state import ModesState
from data.catalogue import SHIPPED
from data.reference.tables import published_tables
from data.selection import Selection, Value

_METRIC: Final = "bytes_per_joule"
_READ, _BASE_BYTES = "randread", 4096
# The figure's axes: 1 to 128 KiB, 1 to 64 in flight.
_RANGES: Final = {"request": (1 << 10, 128 << 10), "depth": (1, 64)}


def rule_preset(state: ModesState) -> Preset:
    """Return the preset of a map by the rule of the papers."""
    hint = "this map by Student's t test at 5 %, uncorrected: p above it is a tie"
    rule = replace(state, test="student", correction="none", alpha=0.05, sel="", limit=None)
    return Preset("Student's rule", hint, rule)


def study_presets(view: LakeView) -> list[Preset]:
    """Return presets of the map over request size and IO depth, and of 4 KB reads.

    They use the dataset with most completion modes, then most runs; empty if none has two modes.
    """
    rows = view.cube_of(view.first_study(is_storage=True)).filter(
        pl.col("request_bytes").is_not_null() & pl.col("mode").is_not_null(), rw=_READ
    )
    datasets = (
        rows.group_by("dataset", "workload")
        .agg(modes=pl.col("mode").n_unique(), runs=pl.col("runs").sum())
        .sort("modes", "runs", "dataset", "workload")
    )
    if not len(datasets) or datasets["modes"][-1] < 2:
        return []
    dataset, workload = datasets.row(-1)[:2]
    if _METRIC not in view.measured_columns(Selection.of(dataset=[dataset], workload=[workload])):
        return []
    rows = rows.filter(dataset=dataset, workload=workload)
    base = Selection.of(dataset=[dataset], workload=[workload], rw=[_READ])
    judged = ModesState(
        base, competitor="mode", metric=_METRIC, lead="absolute", test="student", correction="none"
    )
    presets = _figure_3(rows, judged)
    small = rows.filter(request_bytes=_BASE_BYTES)
    if small["mode"].n_unique() > 1:
        selection = base.with_values("request", [float(_BASE_BYTES)])
        state = replace(judged, x="depth", y="device", selection=selection)
        hint = "most bytes per joule of 4 KB random reads, by IO depth and device"
        presets.append(Preset("4 KB reads", hint, state))
    return presets


def _figure_3(rows: pl.DataFrame, judged: ModesState) -> list[Preset]:
    """Return the preset; empty if no size or depth is within the figure's axes."""
    device = _device(rows)
    selection = judged.selection
    if device is not None:
        selection = selection.with_values("device", [device])
        rows = rows.filter(device=device)
    for facet, (low, high) in _RANGES.items():
        there = rows[SHIPPED.facets[facet].column].drop_nulls().unique().sort()
        inside: list[Value] = [float(value) for value in there if low <= value <= high]
        if not inside:
            return []
        if len(inside) < len(there):
            selection = selection.with_values(facet, inside)
    hint = "most bytes per joule by completion mode, IO depth x request size, Student's t, 5 %"
    state = replace(judged, x="depth", y="request", selection=selection)
    return [Preset("figure 3 of HotStorage '22", hint, state)]


def _device(rows: pl.DataFrame) -> str | None:
    """Return the paper's device, else the one with most modes, then most sizes and depths."""
    (pattern,) = {r["device_pattern"] for r in published_tables()["hotstorage22_performance"].rows}
    ranked = (
        rows.drop_nulls("device")
        .group_by("device")
        .agg(
            modes=pl.col("mode").n_unique(), cells=pl.struct("request_bytes", "io_depth").n_unique()
        )
        .sort("modes", "cells", "device")
    )
    devices: list[str] = ranked["device"].to_list()
    of_paper = [name for name in devices if re.search(pattern, name, re.IGNORECASE)]
    return next(reversed(of_paper or devices), None)
