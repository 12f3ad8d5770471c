"""Modes on many cells: time from a request to the finished map, over HTTP and in this process."""

import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final

import orjson

from app.kit.columns import compact_figure
from app.kit.lake_view import LakeView
from app.modes.answer import answer
from app.modes.layout import IDS
from app.modes.state import ModesState
from bench.answers import measure_callback, measure_functions
from bench.callbacks import OneCallback
from bench.lakes import MODES, write_storage_lake
from bench.report import Measurement
from bench.served import serve
from data.analysis.rules import CORRECTIONS, RULES

_METRICS: Final = ("bytes_per_joule", "ios_per_joule", "energy_j", "latency_mean_us")
_AGAINST: Final = ("latency_mean_us", "iops", "power_w", "energy_j")
_BASE: Final[dict[str, Any]] = {
    "dataset": ["bench"], "workload": ["fio"], "x": "request", "y": "depth", "who": "mode",
}  # fmt: skip


def measure(sizes: int, depths: int, replicates: int) -> Iterator[Measurement]:
    """Measure on a lake of sizes x depths cells with three modes and several replicates."""
    states = {"question": _new_questions(), "rules": _new_rules()}
    with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as folder:
        lake = Path(folder) / "lake"
        write_storage_lake(lake, sizes, depths, replicates, ("optane",), ("randread",))
        yield Measurement("modes_runs", len(MODES) * sizes * depths * replicates, "", 1)
        yield from measure_functions("modes", lake, states, _answer)
        with serve(lake, Path(folder) / "app.log") as served:
            callback = OneCallback(served.port, IDS.figure("winners"), IDS)
            first = {**_BASE, "metric": "edp_js"}
            yield from measure_callback("modes", served, callback, first, states)


def _new_questions() -> list[dict[str, Any]]:
    """Return states with other metrics, for which the app reads the lake again."""
    pairs = [(m, a) for m, a in product(_METRICS, _AGAINST) if m != a]
    return [{**_BASE, "metric": name, "against": against} for name, against in pairs]


def _new_rules() -> list[dict[str, Any]]:
    """Return states with another rule, correction, level or axes; the replicates are in memory."""
    rules = [
        {**_BASE, "metric": "bytes_per_joule", "test": t, "corr": c, "alpha": alpha}
        for t, c, alpha in product(RULES, CORRECTIONS, (0.01, 0.05))
    ]
    swapped = {"x": "depth", "y": "request"}
    return [*rules, *({**rule, **swapped} for rule in rules[:6])]


def _answer(view: LakeView, raw: dict[str, Any]) -> bytes:
    content = answer(view, ModesState.from_json(raw, view.catalogue))
    figures = [compact_figure(f) for f in (content.winners, content.shares, content.pareto)]
    return orjson.dumps([*figures, content.cells])
