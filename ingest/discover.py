"""Find the raw files in files and folders, and tell of each what it is and whose run it is of."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from data.errors import FormatError, SettingsError
from ingest.formats import FORMATS, Format, find_format
from ingest.lake_state import LakeState, RecordedFile
from ingest.names import NameMatch, make_run_id, strip_compression
from ingest.raw_files import MeteredFile, digest_file, read_head
from ingest.records import Problem, ReadContext
from ingest.run_match import match_part, match_run
from ingest.settings import FILE_NAME, Settings
from ingest.settings_file import is_dataset_name
from ingest.settings_layers import SettingsByFolder
from ingest.sidecars import BadSidecarError, Sidecar, SidecarsByFolder

_FORMATS_BY_NAME: Final = {known.name: known for known in FORMATS}
# The workload of a run without requests, which a sidecar alone tells of.
IDLE: Final = "idle"


@dataclass(frozen=True, slots=True)
class RawFile:
    """A raw file that is a run's, or a table of runs.

    Attributes:
        path: Absolute path as text, the file's identity in the lake.
        match: What its name says; None for a table or a meter's readings, which need no name.
        recorded: What the lake knows of it, if the lake was made from it.
        part: Of a file that holds several runs, which of them; one such file is several of these.
        sidecars: Those that speak for it, nearest first.
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
        """Base name without a compression suffix."""
        return strip_compression(Path(self.path).name)

    @property
    def is_unchanged(self) -> bool:
        """Whether it has the size and time that the lake recorded."""
        known = self.recorded
        return known is not None and known.size == self.size and known.mtime == self.mtime


@dataclass(slots=True)
class Discovery:
    """What a walk over the RAW arguments found.

    Attributes:
        files: Raw files in order of their paths.
        problems: By dataset and path, of files that are nobody's.
        seen: Dataset and path of every file looked at.
        roots: Dataset and folder of every argument.
        settings: The settings of each dataset (of its first file, or of its folder).
        ignored: Files of which nobody knows the content or the name.
        layers: Settings of files that the lake knows from elsewhere.
        sidecars: What they say, by folder.
    """

    files: list[RawFile] = field(default_factory=list)
    problems: dict[tuple[str, str], list[Problem]] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)
    roots: set[tuple[str, str]] = field(default_factory=set)
    settings: dict[str, Settings] = field(default_factory=dict)
    ignored: int = 0
    layers: SettingsByFolder = field(default_factory=lambda: SettingsByFolder(None))
    sidecars: SidecarsByFolder = field(default_factory=SidecarsByFolder)


def discover(
    raw: Sequence[Path], state: LakeState, dataset: str | None, settings_file: Path | None
) -> Discovery:
    """Walk files and folders and tell what each file is.

    Args:
        raw: Files and folders in any mixture; one reached twice counts once.
        dataset: Name for all of them, over whatever their settings say.
        settings_file: Settings on top of those found beside the files.

    Raises:
        SettingsError: A settings file is wrong, or a dataset cannot be named.
        OSError: A path of `raw` is not there.
    """
    layers = SettingsByFolder(settings_file)
    found = Discovery(layers=layers)
    visited: set[str] = set()
    for root in sorted({path.resolve() for path in raw}):
        folder = root if root.is_dir() else root.parent
        for path in _walk(root):
            if str(path) in visited:
                continue
            visited.add(str(path))
            settings = layers.settings_of(path.parent)
            name = dataset or settings.dataset or folder.name
            if not is_dataset_name(name):
                raise SettingsError(f"{name!r} cannot name a dataset: give --dataset ({path})")
            found.settings.setdefault(name, settings)
            found.roots.add((name, str(folder)))
            _look_at(path, name, folder, settings, state, found)
    return found


def _walk(root: Path) -> Iterator[Path]:
    """Files under a path in order of their names; hidden ones and lakes are passed over.

    A folder that cannot be listed is given as if it were a file, to be found unreadable.
    """
    if not root.is_dir():
        root.stat()
        yield root
        return
    closed: list[Path] = []
    for folder, subfolders, names in os.walk(
        root, onerror=lambda e: closed.append(Path(e.filename))
    ):
        is_lake = Path(folder, "runs", "_delta_log").is_dir()
        subfolders[:] = [] if is_lake else sorted(s for s in subfolders if not s.startswith("."))
        if not is_lake:
            yield from (Path(folder, n) for n in sorted(names) if not n.startswith("."))
    yield from closed


def _look_at(
    path: Path, dataset: str, root: Path, settings: Settings, state: LakeState, found: Discovery
) -> None:
    text = str(path).encode("utf-8", "backslashreplace").decode()
    if path.name == FILE_NAME:
        return
    if text != str(path):
        detail = "the name is not UTF-8; not read"
        found.problems[dataset, text] = [Problem("bad_name", "refused", detail)]
        return
    found.seen.add((dataset, text))
    recorded = state.files.get((dataset, text))
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            next(path.iterdir(), None)
        if not stat.S_ISREG(status.st_mode):
            found.ignored += 1
            return
        form = _known_format(recorded, status) or _sniff(path, status.st_size)
    except (OSError, FormatError) as error:
        found.problems[dataset, text] = [_unreadable(error)]
        return
    top = found.layers.top_of(path.parent, root)
    sidecars = found.sidecars.of(path, top)
    try:
        match = match_run(path.as_posix(), settings, form, sidecars, top)
    except FormatError as error:
        kind = "bad_sidecar" if isinstance(error, BadSidecarError) else "bad_knob"
        found.problems[dataset, text] = [Problem(kind, "refused", f"{error}; not read")]
        return
    problem = _why_not(form, match, status.st_size)
    if problem is not None:
        found.problems[dataset, text] = [problem]
    elif form is None:
        found.ignored += 1
    elif form.role != "sidecar" or (match is not None and match.workload == IDLE):
        file = RawFile(
            text, status.st_size, status.st_mtime, dataset, settings, form, match, recorded
        )
        beside = tuple(_sidecar_files(file, sidecars, state, found))
        found.files += (replace(part, sidecars=beside) for part in _parts(file, state))


def _sidecar_files(
    file: RawFile, sidecars: Sequence[Sidecar], state: LakeState, found: Discovery
) -> Iterator[RawFile]:
    """The sidecars of a file as files of its run, wherever they lie."""
    for each in sidecars:
        status = Path(each.path).stat()
        found.seen.add((file.dataset, each.path))
        yield replace(
            file,
            path=each.path,
            size=status.st_size,
            mtime=status.st_mtime,
            format=_FORMATS_BY_NAME["sidecar"],
            recorded=state.files.get((file.dataset, each.path)),
        )


def _parts(file: RawFile, state: LakeState) -> list[RawFile]:
    """As `parts_of`, without a look at what the lake has as one run already."""
    if file.match is not None and file.is_unchanged:
        known = state.runs.get(make_run_id(file.match.key(file.dataset)))
        if known is not None and file.path in {source.path for source in known.files}:
            return [file]
    return parts_of(file)


def parts_of(file: RawFile) -> list[RawFile]:
    """A file once for each run that it holds; of most formats just itself."""
    if file.format.list_parts is None or file.match is None:
        return [file]
    try:
        blocks = MeteredFile(Path(file.path)).blocks()
        names = file.format.list_parts(blocks, ReadContext(file.name, 0.0))
    except (FormatError, OSError):
        return [file]
    if len(names) < 2:
        return [file]
    return [replace(file, part=name, match=match_part(file.match, name)) for name in names]


def digest_of(file: RawFile) -> str:
    """Digest of a file's bytes; of one that has not changed, as the lake recorded it.

    Raises:
        OSError: The disk refuses.
    """
    if file.is_unchanged and file.recorded is not None:
        return file.recorded.digest
    return _digest_at(file.path, file.size, file.mtime)


@lru_cache(maxsize=256)
def _digest_at(path: str, size: int, mtime: float) -> str:  # noqa: ARG001
    return digest_file(Path(path))


def _known_format(recorded: RecordedFile | None, status: os.stat_result) -> Format | None:
    """The format that the lake recorded of a file that has not changed since."""
    if recorded is None or (recorded.size, recorded.mtime) != (status.st_size, status.st_mtime):
        return None
    return _FORMATS_BY_NAME.get(recorded.format)


def _sniff(path: Path, size: int) -> Format | None:
    if size == 0:
        return None
    return find_format(strip_compression(path.name), read_head(path))


def _why_not(form: Format | None, match: NameMatch | None, size: int) -> Problem | None:
    """Why a file cannot be used, if its name or its content claims that it should be."""
    if size == 0 and match is not None:
        return Problem("empty_file", "refused", "the file is empty; not read")
    if form is None and match is not None:
        detail = "the name is a run's, but the content is of no known format; not read"
        return Problem("unknown_content", "refused", detail)
    if form is not None and form.role not in ("table", "meter") and match is None:
        detail = f"the content is {form.name}, but no name pattern says which run's; not read"
        return Problem("unknown_name", "refused", detail)
    return None


def _unreadable(error: OSError | FormatError) -> Problem:
    if isinstance(error, FormatError):
        return Problem("broken_compression", "refused", f"{error}; not read")
    return Problem("unreadable", "refused", f"{error.strerror or error}; not read")
