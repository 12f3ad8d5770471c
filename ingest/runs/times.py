"""Find the times of runs, from their files or the lake: what a power meter covers."""

from collections import defaultdict
from collections.abc import Sequence
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
from ingest.lake.recorded_runs import SUMMARY, RecordedRun
from ingest.lake.state import LakeState, recorded_windows
from ingest.meters.idle_runs import is_idle_run_of
from ingest.records import ReadContext, Reading, UtcWindow
from ingest.runs.assembly import RunAssembly

_TIMED: Final = ("output", "trace", "window", "sidecar")
_SIDECAR: Final = "sidecar"


@dataclass(slots=True)
class MeterTimes:
    """The times of the runs that a meter may cover.

    Attributes:
        windows: Windows of runs to be read and of other runs of the lake.
        devices: Devices of all these runs; None for a run without a device.
        has_others: Whether there are runs of unknown time below its folder.
    """

    windows: list[UtcWindow] = field(default_factory=list)
    devices: set[str | None] = field(default_factory=set)
    has_others: bool = False

    @property
    def device(self) -> str | None:
        """The device of all these runs; None if they have several or none."""
        return next(iter(self.devices)) if len(self.devices) == 1 else None


class RunTimes:
    """The times of a dataset's runs, by meter."""

    def __init__(
        self, lake: LakePath, state: LakeState, plan: Plan, dataset: str, works: Sequence[RunWork]
    ) -> None:
        """Read the small files of planned runs, and the lake for other runs.

        Args:
            works: Planned runs of the dataset that have meters.
        """
        self._by_meter: dict[str, MeterTimes] = defaultdict(MeterTimes)
        self._untimed = {table.path for table in plan.tables.get(dataset, ())}
        for work in works:
            window, device, is_said = planned_window(work)
            if window is not None:
                for meter in work.meters:
                    self._by_meter[meter.path].windows.append(window)
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
        for run in state.runs.values():
            if run.dataset != dataset or run.run_id in planned or is_idle_run_of(run):
                continue
            if run.run_id not in known or run.source == SUMMARY:
                self._untimed |= {file.path for file in run.files}
                continue
            window, device = known[run.run_id]
            window = _sidecar_window(run) or window
            for file in run.files:
                self._by_meter[file.path].windows.append(window)
                self._by_meter[file.path].devices.add(device)

    def all_of(self, path: str) -> list[UtcWindow]:
        """Return the windows of all runs of the meter at a path."""
        return self._by_meter[path].windows

    def of(self, meter: RawFile) -> MeterTimes:
        """Return the times of the runs of a meter."""
        folder = str(Path(meter.path).parent) + "/"
        times = self._by_meter[meter.path]
        times.has_others = any(path.startswith(folder) for path in self._untimed)
        return times


def _sidecar_window(run: RecordedRun) -> UtcWindow | None:
    """Return a run's window by its sidecar; None if that no longer exists or says it.

    The lake has only the start and the measured duration, which may be shorter.
    """
    paths = [file.path for file in run.files if file.format == _SIDECAR]
    for path in sorted(paths, key=lambda each: (-each.count("/"), -len(each))):
        with suppress(OSError, FormatError):
            reading = sidecar.read([Path(path).read_bytes()], ReadContext(Path(path).name, 0.0))
            if reading.utc_window is not None:
                return reading.utc_window
    return None


def planned_window(work: RunWork) -> tuple[UtcWindow | None, str | None, bool]:
    """Return the window and device of a planned run, and whether a small file of it is usable."""
    small = [read_source(file) for file in work.files if file.format.role in _TIMED]
    readings = [read.content for read in small if isinstance(read.content, Reading)]
    hints = (str(each.hints["device"]) for each in readings if "device" in each.hints)
    device = work.key.knob("device") or next(hints, None)
    return RunAssembly(work, small).utc_window, device, bool(readings)
