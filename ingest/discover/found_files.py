"""The result of a search: raw files, known and new, grouped by run."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from data.declared import Column
from data.errors import FormatError
from ingest.discover.matching import match_part
from ingest.discover.names import NameMatch, RunKey, make_run_id, strip_compression
from ingest.discover.sidecars import Sidecar, SidecarsByFolder
from ingest.files.blocks import MeteredFile, digest_file
from ingest.formats import FORMATS, Format
from ingest.lake.recorded_runs import RecordedFile
from ingest.lake.state import LakeState
from ingest.records import Problem, ReadContext
from ingest.settings.dataset import Settings
from ingest.settings.layers import SettingsByFolder

_NAMED: Final = {known.name: known for known in FORMATS}
# Older lakes use other names for some formats.
FORMATS_BY_NAME: Final = {
    **_NAMED,
    **dict.fromkeys(("summary", "kernel_tuner"), _NAMED["table"]),
    "powerstat": _NAMED["trace"],
}
# Workload of a run without requests, which only a sidecar describes.
IDLE: Final = "idle"


@dataclass(frozen=True, slots=True)
class RawFile:
    """A raw file of a run, or a table of runs.

    Attributes:
        path: Absolute path; the file's identity in the lake.
        match: The run that its name gives; None for tables and meters, which need no such name.
        recorded: The lake's record of it; None if no run was read from it.
        part: Name of one run in a file of several runs; such a file has one object for each run.
        sidecars: The sidecars that apply to it, nearest first.
    """

    path: str
    size: int
    mtime: float
    dataset: str
    settings: Settings
    format: Format
    match: NameMatch | None
    recorded: RecordedFile | None = None
    part: str | None = None
    sidecars: tuple["RawFile", ...] = ()

    @property
    def name(self) -> str:
        """Return the base name without a compression suffix."""
        return strip_compression(Path(self.path).name)

    @property
    def is_unchanged(self) -> bool:
        """Return whether it has the size and time that the lake recorded."""
        known = self.recorded
        return known is not None and known.size == self.size and known.mtime == self.mtime


class KnownFile(NamedTuple):
    """An unchanged file of one run, as the lake recorded it; smaller than a `RawFile`.

    Attributes:
        sidecars: The sidecars that apply to it, nearest first.
    """

    recorded: RecordedFile
    format: Format
    settings: Settings
    core: int | None
    sidecars: tuple[Sidecar, ...]


@dataclass(slots=True)
class RunGroup:
    """The files of one run, in the order of the search."""

    key: RunKey
    run_id: str
    files: list[RawFile | KnownFile] = field(default_factory=list)

    def match(self, core: int | None) -> NameMatch:
        """Return the match of a file of this run."""
        key = self.key
        return NameMatch(key.workload, key.system, key.knobs, key.replicate, core)


class Ignored(NamedTuple):
    """A file that is no run or part of one by itself, and the reason.

    Attributes:
        is_joined: Whether the runs of another file took what it measured.
    """

    path: str
    reason: str
    is_joined: bool = False


@dataclass(slots=True)
class Discovery:
    """The result of a walk over the RAW arguments.

    Attributes:
        files: Tables and meters, which belong to no single run.
        groups: All other files, by run id; a group may be empty.
        problems: Of files that are not used, by dataset and path.
        seen: Paths of all files of the walk, by dataset.
        roots: Dataset and folder of every argument.
        settings: Settings of each dataset: those of its first folder.
        declared: Settings that declare columns, each with its dataset.
        ignored: Files whose content and name are both unknown.
        machine_files: Kind of each file that describes a machine, by path, by dataset.
        layers: Settings by folder; also used for recorded files outside the walk.
        sidecars: Sidecars by folder.
    """

    files: list[RawFile] = field(default_factory=list)
    groups: dict[str, RunGroup] = field(default_factory=dict)
    problems: dict[tuple[str, str], list[Problem]] = field(default_factory=dict)
    seen: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    roots: set[tuple[str, str]] = field(default_factory=set)
    settings: dict[str, Settings] = field(default_factory=dict)
    declared: list[tuple[str, Settings]] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)
    machine_files: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    layers: SettingsByFolder = field(default_factory=lambda: SettingsByFolder(None))
    sidecars: SidecarsByFolder = field(default_factory=SidecarsByFolder)

    @property
    def columns(self) -> Iterator[Column]:
        """Return the columns that the settings of the found files declare."""
        for dataset, settings in self.declared:
            for column in settings.columns.values():
                yield replace(column, datasets=(dataset,))

    def group_of(self, key: RunKey) -> RunGroup:
        """Return the group of a run; created if it does not exist."""
        run_id = make_run_id(key)
        group = self.groups.get(run_id)
        if group is None:
            group = self.groups[run_id] = RunGroup(key, run_id)
        return group

    def take(self, file: RawFile, group: RunGroup | None = None) -> None:
        """Add a raw file.

        Args:
            group: The group of its run, if the caller knows it.
        """
        if file.match is None or file.format.role in ("table", "meter"):
            self.files.append(file)
        else:
            group = group or self.group_of(file.match.key(file.dataset))
            group.files.append(file)


def path_of(file: RawFile | KnownFile) -> str:
    """Return path of a file of a group."""
    return file.path if isinstance(file, RawFile) else file.recorded.path


def of_workload(file: RawFile | KnownFile, workload: str) -> RawFile | KnownFile:
    """Return the same file, assigned to another workload."""
    if isinstance(file, KnownFile) or file.match is None:
        return file
    match = replace(file.match, workload=workload)
    sidecars = tuple(replace(each, match=match) for each in file.sidecars)
    return replace(file, match=match, sidecars=sidecars)


def as_raw_file(file: RawFile | KnownFile, group: RunGroup, state: LakeState) -> RawFile:
    """Expand a file of a group to a `RawFile`."""
    if isinstance(file, RawFile):
        return file
    known = file.recorded
    raw = RawFile(
        known.path,
        known.size,
        known.mtime,
        group.key.dataset,
        file.settings,
        file.format,
        group.match(file.core),
        known,
    )
    return replace(raw, sidecars=sidecar_files(raw, file.sidecars, state))


def as_it_is(known: RecordedFile, dataset: str, settings: Settings) -> RawFile:
    """Return a recorded table or meter with the size and time that it has now.

    Raises:
        OSError: It is not there.
    """
    status = Path(known.path).stat()
    form = FORMATS_BY_NAME[known.format]
    return RawFile(
        known.path, status.st_size, status.st_mtime, dataset, settings, form, None, known
    )


def sidecar_files(
    file: RawFile, sidecars: tuple[Sidecar, ...], state: LakeState
) -> tuple[RawFile, ...]:
    """Return the sidecars of a file as files of its run."""
    return tuple(
        replace(
            file,
            path=each.path,
            size=each.size,
            mtime=each.mtime,
            format=FORMATS_BY_NAME["sidecar"],
            recorded=state.file_of(file.dataset, each.path),
        )
        for each in sidecars
    )


def parts_of(file: RawFile) -> list[RawFile]:
    """Return one `RawFile` for each run in a file; in most formats a file has one run."""
    if file.format.list_parts is None or file.match is None:
        return [file]
    try:
        blocks = MeteredFile(Path(file.path)).blocks()
        logs = file.settings.logs_of(strip_compression(file.path))
        names = file.format.list_parts(blocks, ReadContext(file.name, 0.0, logs=logs))
    except (FormatError, OSError):
        return [file]
    if len(names) < 2:
        return [file]
    return [replace(file, part=name, match=match_part(file.match, name)) for name in names]


def digest_of(file: RawFile) -> str:
    """Return the digest of a file's bytes; of an unchanged file the recorded digest.

    Raises:
        OSError: The file cannot be read.
    """
    if file.is_unchanged and file.recorded is not None:
        return file.recorded.digest
    return _digest_at(file.path, file.size, file.mtime)


@lru_cache(maxsize=256)
def _digest_at(path: str, size: int, mtime: float) -> str:  # noqa: ARG001
    return digest_file(Path(path))
