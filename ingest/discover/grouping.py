"""Group files by run: found files, their sidecars, and recorded files."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from data.errors import FormatError
from ingest.discover.found_files import (
    FORMATS_BY_NAME,
    IDLE,
    Discovery,
    RawFile,
    RunGroup,
    as_raw_file,
    parts_of,
    path_of,
)
from ingest.discover.matching import match_run
from ingest.discover.names import NameMatch, RunKey, make_run_id
from ingest.formats import FORMATS, METERS
from ingest.lake.recorded_runs import RecordedFile, RecordedRun
from ingest.lake.state import LakeState

# Formats of which a single file is enough for a run.
_MAKING: Final = frozenset(
    known.name for known in FORMATS if known.role in ("output", "trace", "sidecar")
)
Groups = dict[str, RunGroup]


def group_files(
    discovery: Discovery, state: LakeState, meters: Mapping[str, Sequence[RawFile]]
) -> Groups:
    """Return runs with their found files, by run id.

    Args:
        meters: The found power meters, by dataset. The groups include runs of the lake that one
            of these meters may cover, even if none of the runs' files was given.
    """
    groups = {run_id: group for run_id, group in discovery.groups.items() if group.files}
    given = {dataset: frozenset(discovery.seen[dataset]) for dataset in meters}
    for run in state.runs.values() if given else ():
        paths = given.get(run.dataset)
        if paths is not None and not any(file.path in paths for file in _own(run)):
            _add_metered(run, meters[run.dataset][0], groups, discovery)
    return groups


def raw_files(group: RunGroup, state: LakeState) -> list[RawFile]:
    """Return the files of a group and the sidecars that apply to any of them, each once."""
    return _with_sidecars([as_raw_file(file, group, state) for file in group.files])


def walked_among(places: Collection[tuple[str, str]], discovery: Discovery) -> set[tuple[str, str]]:
    """Return the given places (dataset and path) of which the search found a file."""
    if not places:
        return set()
    walked = ((file.dataset, file.path) for file in discovery.files)
    grouped = (
        (group.key.dataset, path_of(file))
        for group in discovery.groups.values()
        for file in group.files
    )
    return {place for place in chain(walked, grouped) if place in places}


def _with_sidecars(group: list[RawFile]) -> list[RawFile]:
    if not any(file.sidecars for file in group):
        return group
    by_path = {file.path: file for file in group}
    for file in group:
        for sidecar in file.sidecars:
            by_path.setdefault(sidecar.path, sidecar)
    return list(by_path.values())


def _add_metered(run: RecordedRun, meter: RawFile, groups: Groups, discovery: Discovery) -> None:
    """Add a run of the lake that a given power meter may cover; none of its files was given."""
    work = meter.settings.workloads.get(run.workload)
    if work is None or work.logged:
        return
    for known in _own(run):
        if not Path(known.path).is_file():
            continue
        for top in Path(known.path).parents:
            file = as_recorded(known, meter, discovery, str(top))
            for part in parts_of(file) if file is not None else ():
                key = part.match.key(run.dataset) if part.match else None
                if key is not None and make_run_id(key) == run.run_id:
                    group = groups.setdefault(run.run_id, RunGroup(key, run.run_id))
                    group.files.append(replace(part, **on_disk(known.path)))
                    discovery.seen[run.dataset].add(known.path)
                    return


def _own(run: RecordedRun) -> list[RecordedFile]:
    """Return the files that a run was read from, without meters, which runs share."""
    return [file for file in run.files if file.format not in METERS]


def former_names(state: LakeState) -> dict[tuple[str, str], list[str]]:
    """Return runs of the lake, by dataset and the path of their output or sidecar."""
    former: dict[tuple[str, str], list[str]] = defaultdict(list)
    for run in state.runs.values():
        if run.source in _MAKING:
            own = [file.path for file in run.files if file.format == run.source]
            if own:
                former[run.dataset, max(own, key=len)].append(run.run_id)
    return former


def is_making(key: RunKey, file: RawFile) -> bool:
    """Return whether a run needs this file: its output or trace, or the sidecar of an idle run."""
    return file.format.role in (("sidecar",) if key.workload == IDLE else ("output", "trace"))


def on_disk(path: str) -> dict[str, Any]:
    """Return size and time of a file, by field of `RawFile`."""
    status = Path(path).stat()
    return {"size": status.st_size, "mtime": status.st_mtime}


def as_recorded(
    known: RecordedFile, beside: RawFile, discovery: Discovery, top: str | None = None
) -> RawFile | None:
    """Return a recorded file as a `RawFile`; None if its format or name is no longer known.

    Args:
        beside: A file of the same dataset.
        top: The folder that run paths are relative to if no settings file is above the file.
    """
    form = FORMATS_BY_NAME.get(known.format)
    folder = str(Path(known.path).parent)
    settings = discovery.layers.settings_of(folder)
    top = discovery.layers.top_of(folder, top or folder)
    match: NameMatch | None = None
    with suppress(FormatError):
        match = match_run(known.path, settings, form, discovery.sidecars.of(known.path, top), top)
    if form is None or match is None:
        return None
    return replace(
        beside,
        path=known.path,
        size=known.size,
        mtime=known.mtime,
        settings=settings,
        format=form,
        match=match,
        recorded=known,
    )
