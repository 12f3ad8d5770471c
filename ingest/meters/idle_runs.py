"""Runs of workload `idle`, made from a power meter alone, and their rows in the lake."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from data.lake_place import LakePath
from ingest.discover.found_files import IDLE, RawFile
from ingest.discover.names import RunKey, identity_columns, label_columns, make_run_id, order_knobs
from ingest.discover.source_reads import settings_struct, source_struct
from ingest.formats import METERS
from ingest.lake.commits import Committer
from ingest.lake.recorded_runs import RecordedRun
from ingest.lake.run_file import RunFile
from ingest.lake.state import LakeState, read_rows, row_digest
from ingest.lake.tables import conform_row
from ingest.meters.idle_stretches import idle_stretches
from ingest.meters.join import Meter, RunPower, join_run
from ingest.records import UtcWindow


def is_idle_run_of(run: RecordedRun, path: str | None = None) -> bool:
    """Return whether a run was made from a meter alone; with a path, from that meter."""
    is_own = run.workload == IDLE and run.source in METERS
    return is_own and (path is None or path in {file.path for file in run.files})


class IdleRuns:
    """Updates the lake's idle runs to agree with the meters of an ingest.

    Attributes:
        added, replaced, removed, unchanged: Numbers of idle runs.
    """

    def __init__(
        self,
        lake: LakePath,
        state: LakeState,
        meters: Mapping[str, Sequence[RawFile]],
        committer: Committer,
    ) -> None:
        """Start with no changes.

        Args:
            meters: All known meters, by dataset.
        """
        self._lake = lake
        self._state = state
        self._meters = meters
        self._committer = committer
        self.added = self.replaced = self.removed = self.unchanged = 0

    def is_settled(self, file: RawFile) -> bool:
        """Return whether reading this meter again would give the idle runs that the lake has."""
        settings = file.settings
        labels = label_columns(IDLE, settings.power.idle_system, settings)
        return file.is_unchanged and all(
            run.fingerprint == settings.fingerprint
            and run.labels == labels
            and self._state.is_whole(run)
            for run in self._of(file)
        )

    def keep(self, files: Sequence[RawFile]) -> None:
        """Count the idle runs of unchanged meters."""
        self.unchanged += sum(len(self._of(file)) for file in files)

    def commit(
        self,
        file: RawFile,
        digest: str,
        meter: Meter | None,
        windows: Sequence[UtcWindow] | None,
        device: str | None = None,
    ) -> int:
        """Write the idle runs of a meter, and remove those that no longer exist.

        Args:
            digest: Digest of the meter's file.
            meter: The meter; None if it cannot be used, so that it has no idle runs.
            windows: Windows of all runs that it covers; None if the time of some run is unknown, so
                that idle time is unknown.
            device: The device of all these runs, if it is the same; a device in the meter's name
                takes precedence.

        Returns:
            Number of the meter's idle runs.
        """
        stretches: list[UtcWindow] = []
        if meter is not None and windows is not None:
            stretches = idle_stretches(meter.series, windows, file.settings.power.shortest_idle_s)
        former = {run.run_id for run in self._of(file)}
        rows = read_rows(self._lake, sorted(former)) if former else []
        known = {row["run_id"]: row for row in rows}
        for number, stretch in enumerate(stretches):
            assert meter is not None
            key = self._key(file, meter.places, device, number)
            run_id = make_run_id(key)
            power = join_run(run_id, stretch, None, meter)
            row = _row(key, file, digest, stretch, power)
            if run_id in known and self._is_same(run_id, row, known[run_id]):
                self.unchanged += 1
            else:
                self.added += run_id not in former
                self.replaced += run_id in former
                row["files"] = [_write_power(self._lake, key, power, digest, row)]
                self._committer.add_run(row)
            former.discard(run_id)
        self._committer.remove_runs(file.dataset, former)
        self.removed += len(former)
        return len(stretches)

    def _place(self, file: RawFile) -> str:
        """Return the shortest end of the meter's path, with a folder, unique in its dataset."""
        parts = _parts(file.path)
        others = [_parts(m.path) for m in self._meters[file.dataset] if m.path != file.path]
        length = 2
        while any(other[-length:] == parts[-length:] for other in others):
            length += 1
        return "/".join(parts[-length:])

    def _of(self, file: RawFile) -> list[RecordedRun]:
        runs = self._state.runs.values()
        return [r for r in runs if r.dataset == file.dataset and is_idle_run_of(r, file.path)]

    def _is_same(self, run_id: str, row: dict[str, Any], known: dict[str, Any]) -> bool:
        """Return whether the lake has this row, its source's mtime included, and its files."""
        without = {name: value for name, value in known.items() if name != "files"}
        is_equal = row_digest(conform_row(row)) == row_digest(without)
        is_timed = row["sources"][0]["mtime"] == known["sources"][0]["mtime"]
        return is_equal and is_timed and self._state.is_whole(self._state.runs[run_id])

    def _key(
        self, file: RawFile, places: Mapping[str, str], device: str | None, number: int
    ) -> RunKey:
        """Return the key of an idle run: its device, its file, and the number of the idle time."""
        knobs = {"device": places.get("device", device), "variant": self._place(file)}
        system = places.get("system", file.settings.power.idle_system)
        return RunKey(file.dataset, IDLE, system, order_knobs(knobs), number)


def _parts(path: str) -> list[str]:
    return [part for part in Path(path).with_suffix("").parts if part != "/"]


def _row(
    key: RunKey, file: RawFile, digest: str, stretch: UtcWindow, power: RunPower
) -> dict[str, Any]:
    return {
        **identity_columns(key, file.settings),
        **power.measurements,
        "source": file.format.name,
        "start_unix_s": stretch.start_s,
        "duration_s": stretch.length_s,
        "flags": sorted(power.flags),
        "has_log": False,
        "cores": [],
        "sources": [source_struct(file, digest), settings_struct(file.settings)],
    }


def _write_power(
    lake: LakePath, key: RunKey, power: RunPower, digest: str, row: dict[str, Any]
) -> dict[str, Any]:
    """Write the readings of a stretch; the file's name depends on the meter and the stretch."""
    words = f"{digest} {row['start_unix_s']!r} {row['duration_s']!r} {row['sources'][1]['digest']}"
    name = hashlib.sha256(words.encode()).hexdigest()[:12]
    file = RunFile(lake, "power", key.dataset, row["run_id"])
    try:
        assert power.table is not None, "BUG: a stretch without readings"
        file.write(power.table)
        return file.finish(name)
    except BaseException:
        file.abandon()
        raise
