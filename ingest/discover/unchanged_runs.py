"""Find runs that are unchanged since the last ingest, without reading file contents."""

import os
from collections.abc import Callable, Sequence, Set
from typing import Any

from ingest.discover.file_choice import Slot, only_core, slot
from ingest.discover.found_files import FORMATS_BY_NAME, KnownFile, RawFile, RunGroup
from ingest.discover.meter_files import MeterScopes
from ingest.discover.names import label_columns
from ingest.lake.recorded_runs import SUMMARY, RecordedFile, RecordedRun
from ingest.lake.state import LakeState
from ingest.settings.dataset import Settings


def was_read_from(
    run: RecordedRun, settings: Settings, paths: Set[str], is_same: Callable[[RecordedFile], bool]
) -> bool:
    """Decide whether a run of the lake was read from exactly these files and settings.

    Args:
        is_same: Whether a recorded file, which is among `paths`, is as it was. Called last, since
            it may have to read the file.
    """
    return (
        run.fingerprint == settings.fingerprint
        and paths == {file.path for file in run.files}
        and all(map(is_same, run.files))
    )


class SettledRuns:
    """Separates settled runs from those that `make_plan` must examine."""

    def __init__(self, state: LakeState, scopes: MeterScopes) -> None:
        """Start with the state of the lake.

        Args:
            scopes: Of all power meters, recorded ones included.
        """
        self._state = state
        self._scopes = scopes
        self._labels: dict[tuple[int, str, str], dict[str, Any]] = {}

    def has(self, group: RunGroup) -> bool:
        """Return whether the lake has a run from exactly these files, settings, labels and meters.

        Returns:
            False also if this cannot be decided without reading a file.
        """
        run = self._state.runs.get(group.run_id)
        if run is None or run.source == SUMMARY:
            return False
        files = [file for file in group.files if isinstance(file, KnownFile)]
        settings = files[0].settings if files else None
        if settings is None or len(files) < len(group.files):
            return False
        own = self._recorded(group, files, settings)
        if own is None:
            return False
        meters: tuple[RawFile, ...] = ()
        if not settings.workloads[group.key.workload].logged:
            deepest = min((-f.recorded.path.count("/"), f.recorded.path) for f in files)[1]
            meters = self._scopes.of_folder(group.key.dataset, os.path.dirname(deepest))
        own.update((meter.path, meter.recorded) for meter in meters)
        return (
            all(meter.is_unchanged for meter in meters)
            and was_read_from(run, settings, own.keys(), lambda file: own[file.path] == file)
            and run.labels == self._labels_of(group, settings)
            and self._state.is_whole(run)
        )

    def _recorded(
        self, group: RunGroup, files: Sequence[KnownFile], settings: Settings
    ) -> dict[str, RecordedFile | None] | None:
        """Return the lake's records of a run's files, by path; None if two files have one slot."""
        own: dict[str, RecordedFile | None] = {}
        slots: set[Slot] = set()
        default_core = only_core(settings, group.key.workload)
        for known, form, its_settings, core, sidecars in files:
            own[known.path] = known
            slots.add(slot(form, known.path, default_core if core is None else core))
            if its_settings is not settings:
                return None
            for each in sidecars:
                if each.path not in own:
                    sidecar = self._state.file_of(group.key.dataset, each.path)
                    is_unchanged = sidecar is not None and (
                        (sidecar.size, sidecar.mtime) == (each.size, each.mtime)
                    )
                    own[each.path] = sidecar if is_unchanged else None
                    slots.add(slot(FORMATS_BY_NAME["sidecar"], each.path, None))
        return own if len(slots) == len(own) else None

    def _labels_of(self, group: RunGroup, settings: Settings) -> dict[str, Any]:
        key = id(settings), group.key.workload, group.key.system
        if key not in self._labels:
            self._labels[key] = label_columns(group.key.workload, group.key.system, settings)
        return self._labels[key]
