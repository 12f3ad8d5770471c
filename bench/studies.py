"""Studies of others, added without settings: seconds, runs, and what Explore opens on."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.explore.defaults import default_state
from app.explore.views import picture
from app.kit.lake_view import LakeView
from app.kit.metric_choice import performance_column
from bench.apart import cpu_of_children_s
from bench.report import Measurement
from data.connection import open_lake
from data.declared import PERFORMANCE

# An add and the first look.
LIMIT_S: Final = 600.0
# `ingest add` ends with these where it read something.
_READ: Final = (0, 3)


@dataclass(frozen=True, slots=True)
class Opening:
    """What a lake opens with.

    Attributes:
        runs: All of the lake.
        axes: The titles along y and x in small letters: `energy against time`.
    """

    runs: int
    axes: str


def measure(studies: Sequence[Path]) -> Iterator[Measurement]:
    """Add each study to a lake of its own, and make the first picture.

    Raises:
        RuntimeError: `ingest add` failed.
    """
    for study in studies:
        with tempfile.TemporaryDirectory(prefix="wattlas-bench-") as folder:
            lake, name = Path(folder) / "lake", study.name
            began, used_s = time.perf_counter(), cpu_of_children_s()
            _add(study, lake)
            yield Measurement(f"{name}_add", time.perf_counter() - began, "s", 1, LIMIT_S)
            yield Measurement(f"{name}_add_cpu", cpu_of_children_s() - used_s, "s", 1)
            edits = sum(1 for _ in study.rglob("wattlas.toml"))
            yield Measurement(f"{name}_edits", edits, "files", 1, 0)
            began = time.perf_counter()
            opening = opening_of(lake)
            yield Measurement(f"{name}_first_look", time.perf_counter() - began, "s", 1, LIMIT_S)
            yield Measurement(f"{name}: {opening.axes}", opening.runs, "runs", 1)


def opening_of(lake: Path) -> Opening:
    """Return what Explore opens with; the scatter or the lines of it are made too."""
    with open_lake(lake) as opened:
        view = LakeView(opened)
        ((runs,),) = opened.sql("SELECT count(*) FROM runs").fetchall()
        if not runs:
            return Opening(0, "nothing")
        state = default_state(view)
        is_lines = state.show == "lines"
        picture("lines" if is_lines else "scatter", view, state)
        named = state.lines_y[:1] if is_lines else (state.y, state.x)
        metrics = [
            performance_column(view, state.selection) if each == PERFORMANCE else each
            for each in named
        ]
        titles = [view.catalogue.metric(each).title for each in metrics]
        over = [view.catalogue.knobs[state.lines_x].title] if is_lines else []
        between = " over " if is_lines else " against "
        return Opening(int(runs), between.join([*titles, *over]).lower())


def _add(study: Path, lake: Path) -> None:
    command = [sys.executable, "-m", "ingest", "add", str(study), "--lake", str(lake)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in _READ:
        raise RuntimeError(f"{study}: {done.stderr or done.stdout}")
