"""Walk the RAW arguments; find the format and the run of each file."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from data.errors import FormatError, SettingsError
from ingest.discover.disk import Disk, FileStatus
from ingest.discover.found_files import (
    FORMATS_BY_NAME,
    IDLE,
    Discovery,
    Ignored,
    KnownFile,
    RawFile,
    RunGroup,
    parts_of,
    sidecar_files,
)
from ingest.discover.joining import join_neighbours, join_traces, leave_documents
from ingest.discover.matching import RunTerms, find_terms, match_terms
from ingest.discover.names import find_name, read_core, strip_compression
from ingest.discover.sidecars import BadSidecarError, Sidecar
from ingest.files.blocks import BrokenCompressionError, read_head
from ingest.files.walk import Listing, walk_folders
from ingest.formats import Format, sidecar
from ingest.formats.table_text import SEPARATED, fault_of, has_header_of
from ingest.formats.text_log import has_marks
from ingest.lake.machine_states import state_kind
from ingest.lake.recorded_runs import RecordedFile
from ingest.lake.state import LakeState
from ingest.records import Problem
from ingest.settings.dataset import FILE_NAME
from ingest.settings.layers import SettingsByFolder
from ingest.settings.layout import is_dataset_name

_NOT_REGULAR: Final = "neither a file nor a folder"
_UNUSED: Final = "this sidecar applies to no file of a run"
_UNKNOWN: Final = "no known format, and no pattern matches its name"


def discover(
    raw: Sequence[Path],
    state: LakeState,
    dataset: str | None,
    layers: SettingsByFolder | None = None,
    disk: Disk | None = None,
) -> Discovery:
    """Walk files and folders; find the format and the run of each file.

    Args:
        raw: Files and folders; a file reached twice counts once.
        dataset: Name of the dataset of all files; overrides the settings.
        layers: Settings by folder; None for those of the files found.
        disk: Reads the disk; None for this process.

    Raises:
        SettingsError: A settings file or the name of a dataset is invalid.
        OSError: A path of `raw` does not exist.
    """
    disk = disk or Disk()
    discovery = Discovery(layers=layers or SettingsByFolder())
    visited: set[str] = set()
    silent: list[str] = []
    for root in sorted({path.resolve() for path in raw}):
        top = str(root if root.is_dir() else root.parent)
        for listing in _listings(root, visited, disk):
            if listing.names is not None:
                discovery.layers.learn(listing.folder, listing.names)
                discovery.sidecars.learn(listing.folder, listing.names)
            if listing.files:
                folder = _Folder(listing.folder, top, dataset, state, discovery, disk)
                folder.look_at(listing.files)
                folder.refuse_unused(listing.names)
                silent += (f"{listing.folder.rstrip('/')}/{name}" for name in folder.silent)
    leave_documents(discovery)
    join_neighbours(discovery)
    join_traces(discovery)
    files = (file for group in discovery.groups.values() for file in group.files)
    used = {each.path for file in files for each in file.sidecars} if silent else set()
    discovery.ignored += (Ignored(path, _UNUSED) for path in silent if path not in used)
    return discovery


def _listings(root: Path, visited: set[str], disk: Disk) -> Iterator[Listing]:
    """Return the listings of one argument, each folder once.

    A folder that cannot be listed appears as a file, so that it is reported as unreadable.
    """
    if not root.is_dir():
        root.stat()
        is_listed = str(root.parent) in visited and not root.name.startswith(".")
        if not is_listed:
            yield Listing(str(root.parent), None, [root.name])
        return
    closed: list[str] = []
    for listing in walk_folders(str(root), closed.append, disk.entries):
        if listing.folder not in visited:
            visited.add(listing.folder)
            yield listing
    for path in closed:
        if path not in visited:
            visited.add(path)
            yield Listing(os.path.dirname(path), None, [os.path.basename(path)])


class _Seen(NamedTuple):
    """A file on the disk, and the lake's record of its path."""

    path: str
    name: str
    status: os.stat_result | FileStatus
    recorded: RecordedFile | None

    @property
    def unchanged(self) -> RecordedFile | None:
        """Return the lake's record of the file; None if the file has changed since or is new."""
        known, status = self.recorded, self.status
        if known is None or known.size != status.st_size or known.mtime != status.st_mtime:
            return None
        return known


class _Folder:
    """Searches the files of one folder; settings and sidecars of the folder are found once."""

    def __init__(
        self,
        folder: str,
        root: str,
        dataset: str | None,
        state: LakeState,
        discovery: Discovery,
        disk: Disk,
    ) -> None:
        """Find what applies to all files of the folder.

        Args:
            root: The folder of the RAW argument.
            dataset: As for `discover`.

        Raises:
            SettingsError: As for `discover`.
        """
        self._folder = folder
        self._settings = discovery.layers.settings_of(folder)
        self._dataset = dataset or self._settings.dataset or os.path.basename(root)
        if not is_dataset_name(self._dataset):
            raise SettingsError(
                f"{self._dataset!r} is not a valid name of a dataset: give --dataset ({folder})"
            )
        discovery.settings.setdefault(self._dataset, self._settings)
        if self._settings.columns and (self._dataset, self._settings) not in discovery.declared:
            discovery.declared.append((self._dataset, self._settings))
        discovery.roots.add((self._dataset, root))
        self._top = discovery.layers.top_of(folder, root)
        self._for_all = discovery.sidecars.of_all_in(folder, self._top)
        self._recorded = state.files[self._dataset]
        self._seen = discovery.seen[self._dataset]
        self._groups: dict[RunTerms, RunGroup] = {}
        self.silent: list[str] = []
        self._state = state
        self._discovery = discovery
        self._disk = disk

    def look_at(self, names: Sequence[str]) -> None:
        """Search some of the folder's files."""
        start = self._folder.rstrip("/") + "/"
        for name in names:
            if name != FILE_NAME:
                self._look_at(start + name, name)

    def refuse_unused(self, names: Sequence[str] | None) -> None:
        """Refuse sidecars `NAME.run.toml` without a file `NAME.*` to apply to.

        Args:
            names: Names of all files of the folder; None if it was not listed.
        """
        stems = {name: sidecar.stem_of(name) for name in self.silent}
        if names is None or not any(stems.values()):
            return
        others = (name for name in names if name not in stems)
        begun = {name[:at] for name in others for at, c in enumerate(name) if c == "."}
        for name, stem in stems.items():
            if stem and stem not in begun:
                detail = f"no file beside it begins with '{stem}.'; not used"
                path = f"{self._folder.rstrip('/')}/{name}"
                self._refuse(path, Problem("sidecar_unused", "refused", detail))

    def _look_at(self, path: str, name: str) -> None:
        known = self._recorded.get(path)
        if known is None:
            text = path.encode("utf-8", "backslashreplace").decode()
            if text != path:
                detail = "the name is not UTF-8; not read"
                self._refuse(text, Problem("bad_name", "refused", detail))
                return
        else:
            path = known.path  # Keep one object for equal paths.
        self._seen.add(path)
        try:
            status = self._disk.status(path)
            if not stat.S_ISREG(status.st_mode):
                if stat.S_ISDIR(status.st_mode):
                    os.listdir(path)
                self._discovery.ignored.append(Ignored(path, _NOT_REGULAR))
                return
            kind = state_kind(strip_compression(name)) if status.st_size else None
            if kind is not None:
                self._discovery.machine_files[self._dataset][path] = kind
                return
            file = _Seen(path, name, status, known)
            recorded_form = FORMATS_BY_NAME.get(file.unchanged.format) if file.unchanged else None
            form = self._declared(file) or recorded_form
            if form is None and status.st_size:
                form = self._disk.format_of(path)
                if (form is None or form.role == "trace") and self._has_header(file, form is None):
                    form = FORMATS_BY_NAME["table"]
        except FormatError as error:
            is_broken = isinstance(error, BrokenCompressionError)
            kind_of_problem = "broken_compression" if is_broken else "bad_content"
            self._refuse(path, Problem(kind_of_problem, "refused", f"{error}; not read"))
            return
        except OSError as error:
            detail = f"{error.strerror or error}; not read"
            self._refuse(path, Problem("unreadable", "refused", detail))
            return
        try:
            self._take(file, form)
        except FormatError as error:
            kind = "bad_sidecar" if isinstance(error, BadSidecarError) else "bad_knob"
            self._refuse(path, Problem(kind, "refused", f"{error}; not read"))

    def _declared(self, file: _Seen) -> Format | None:
        """Return the format of a file that the settings declare: table, meter, text log, trace."""
        path = strip_compression(file.path)
        if not file.status.st_size:
            return None
        if self._settings.meter_of(path) is not None:
            return FORMATS_BY_NAME["meter_table"]
        logs = self._settings.logs_of(path) if self._settings.logs else ()
        if any(not log.marks for log in logs) or (logs and has_marks(read_head(Path(path)), logs)):
            return FORMATS_BY_NAME["text_log"]
        if self._settings.is_table(path):
            return FORMATS_BY_NAME["table"]
        is_named = any(name.format for name in self._settings.names)
        found = find_name(path, self._settings)[0] if is_named else None
        return FORMATS_BY_NAME.get(self._settings.names[found.number].format) if found else None

    def _has_header(self, file: _Seen, is_any: bool = True) -> bool:
        """Return whether a file begins with the header of a declared table.

        Args:
            is_any: Whether it may be a table of the shipped settings.
        """
        tables = self._settings.tables_of(strip_compression(file.path))
        tables = tables if is_any else tuple(each for each in tables if not each.is_shipped)
        return bool(tables) and has_header_of(read_head(Path(file.path)), tables)

    def _take(self, file: _Seen, form: Format | None) -> None:
        """Add a file that can be read, or record the reason against it.

        Raises:
            FormatError: As `match_run`.
        """
        beside = self._discovery.sidecars.beside(self._folder, file.name)
        sidecars = beside + self._for_all if beside else self._for_all
        terms, said_core = find_terms(file.path, self._settings, form, sidecars, self._top)
        group = None
        if terms is not None:
            # Files of a run mostly have the same terms.
            group = self._groups.get(terms)
            if group is None:
                key = match_terms(terms, self._settings).key(self._dataset)
                group = self._groups[terms] = self._discovery.group_of(key)
        if group is not None and form is FORMATS_BY_NAME["table"]:
            # The name of a run takes precedence over the content of an undeclared table.
            is_declared = self._declared(file) or self._has_header(file)
            form = form if is_declared else None
        core = read_core(said_core)
        problem = _why_not(form, group, file.status.st_size)
        if problem is not None:
            self._refuse(file.path, problem)
        elif form is None:
            is_text = SEPARATED.search(file.name) is not None and file.status.st_size
            if is_text and (fault := fault_of(read_head(Path(file.path)))):
                self._refuse(file.path, Problem("bad_content", "refused", f"{fault}; not read"))
            else:
                self._discovery.ignored.append(Ignored(file.path, _UNKNOWN))
        elif form.role != "sidecar" or (group is not None and group.key.workload == IDLE):
            self._seen.update(each.path for each in sidecars)
            known = file.unchanged
            if known is not None and group is not None and self._is_one(known, form, group):
                group.files.append(KnownFile(known, form, self._settings, core, sidecars))
            else:
                self._take_raw(file, form, group, core, sidecars)
        else:
            self.silent.append(file.name)

    def _take_raw(
        self,
        file: _Seen,
        form: Format,
        group: RunGroup | None,
        core: int | None,
        sidecars: tuple[Sidecar, ...],
    ) -> None:
        raw = RawFile(
            file.path,
            file.status.st_size,
            file.status.st_mtime,
            self._dataset,
            self._settings,
            form,
            group.match(core) if group is not None else None,
            file.recorded,
        )
        raw = replace(raw, sidecars=sidecar_files(raw, sidecars, self._state))
        for part in parts_of(raw):
            self._discovery.take(part, group if part is raw else None)

    def _is_one(self, known: RecordedFile, form: Format, group: RunGroup) -> bool:
        """Return whether an unchanged file belongs to one run, decided without reading it."""
        if form.list_parts is None:
            return form.role not in ("table", "meter")
        run = self._state.runs.get(group.run_id)
        return run is not None and any(file.path == known.path for file in run.files)

    def _refuse(self, path: str, problem: Problem) -> None:
        self._discovery.problems[self._dataset, path] = [problem]


def _why_not(form: Format | None, group: RunGroup | None, size: int) -> Problem | None:
    """Return the reason against a file that is unusable although its name or content is known."""
    if size == 0 and group is not None:
        return Problem("empty_file", "refused", "the file is empty; not read")
    if form is None and group is not None:
        detail = "the name is that of a run, but the format of the content is unknown; not read"
        return Problem("unknown_content", "refused", detail)
    if form is not None and form.role not in ("table", "meter") and group is None:
        detail = f"the content is {form.name}, but no name pattern gives its run; not read"
        return Problem("unknown_name", "refused", detail)
    return None
