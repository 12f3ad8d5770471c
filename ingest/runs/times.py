"""When runs took place, as far as their files or the lake say: what a power meter is set by."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from data.errors import FormatError
from data.lake_place import LakePath
from ingest.discover.found_files import RawFile
from ingest.discover.plan import Plan, RunWork
from ingest.discover.source_reads import read_source
from ingest.formats import sidecar
from ingest.lake.state import SUMMARY, LakeState, RecordedRun, recorded_windows
from ingest.meters.idle_runs import is_idle_run_of
from ingest.records import ReadContext, Reading, UtcWindow
from ingest.runs.assembly import RunAssembly

_TIMED: Final = ("output", "window", "sidecar")
_SIDECAR: Final = "sidecar"


@dataclass(slots=True)
class MeterTimes:
    """When the runs that a meter may cover took place.

    Attributes:
        planned: Of runs to be read.
        known: Of the lake's others.
        devices: Of all these runs; None for those of which nothing says it.
        has_others: Whether runs of which nothing says when they were lie below its folder.
    """

    planned: list[UtcWindow] = field(default_factory=list)
    known: list[UtcWindow] = field(default_factory=list)
    devices: set[str | None] = field(default_factory=set)
    has_others: bool = False

    @property
    def all(self) -> list[UtcWindow]:
        """Planned and known ones."""
        return [*self.planned, *self.known]

    @property
    def device(self) -> str | None:
        """The one device of all these runs; None if there is no such one."""
        return next(iter(self.devices)) if len(self.devices) == 1 else None


class RunTimes:
    """The times of a dataset's runs, by the meters in whose scope they are."""

    def __init__(
        self,
        lake: LakePath,
        state: LakeState,
        plan: Plan,
        dataset: str,
        works: Sequence[RunWork],
    ) -> None:
        """Look into the small files of planned runs, and into the lake for the others.

        Args:
            works: Planned runs of the dataset that have meters.
        """
        self._by_meter: dict[str, MeterTimes] = defaultdict(MeterTimes)
        self._untimed = {table.path for table in plan.tables.get(dataset, ())}
        for work in works:
            window, device, is_said = _said_of(work)
            if window is not None:
                for meter in work.meters:
                    self._by_meter[meter.path].planned.append(window)
                    self._by_meter[meter.path].devices.add(device)
            elif is_said:
                self._untimed.add(work.files[0].path)
        for work in plan.works:
            if work.key.dataset == dataset and not work.meters:
                self._untimed.add(work.files[0].path)
        self._take_known(recorded_windows(lake, dataset), state, dataset, works)

    def _take_known(
        self,
        known: dict[str, tuple[UtcWindow, str | None]],
        state: LakeState,
        dataset: str,
        works: Sequence[RunWork],
    ) -> None:
        planned = {work.run_id for work in works}
        for run in _runs_of(state, dataset):
            if run.run_id in planned or is_idle_run_of(run):
                continue
            if run.run_id not in known or run.source == SUMMARY:
                self._untimed |= {file.path for file in run.files}
                continue
            window, device = known[run.run_id]
            window = _sidecar_window(run) or window
            for file in run.files:
                self._by_meter[file.path].known.append(window)
                self._by_meter[file.path].devices.add(device)

    def all_of(self, path: str) -> list[UtcWindow]:
        """When the runs of the meter at a path took place."""
        return self._by_meter[path].all

    def of(self, meter: RawFile) -> MeterTimes:
        """What is known for a meter."""
        folder = str(Path(meter.path).parent) + "/"
        times = self._by_meter[meter.path]
        times.has_others = any(path.startswith(folder) for path in self._untimed)
        return times


def _runs_of(state: LakeState, dataset: str) -> Iterator[RecordedRun]:
    return (run for run in state.runs.values() if run.dataset == dataset)


def _sidecar_window(run: RecordedRun) -> UtcWindow | None:
    """When a run of the lake took place, if its sidecar is still there and says so.

    The lake has only the beginning and how long it measured, which may be less.
    """
    paths = [file.path for file in run.files if file.format == _SIDECAR]
    for path in sorted(paths, key=lambda each: (-each.count("/"), -len(each))):
        with suppress(OSError, FormatError):
            reading = sidecar.read([Path(path).read_bytes()], ReadContext(Path(path).name, 0.0))
            if reading.utc_window is not None:
                return reading.utc_window
    return None


def _said_of(work: RunWork) -> tuple[UtcWindow | None, str | None, bool]:
    """When a planned run took place, its device, and whether it ran: refused files say nothing."""
    small = [read_source(file) for file in work.files if file.format.role in _TIMED]
    readings = [read.content for read in small if isinstance(read.content, Reading)]
    hints = (str(each.hints["device"]) for each in readings if "device" in each.hints)
    device = work.key.knob("device") or next(hints, None)
    return RunAssembly(work, small).utc_window, device, bool(readings)
