"""Find the sidecars of a raw file: beside it and in the folders above, nearest first."""

import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from data.errors import FormatError
from ingest.files.blocks import small_blocks
from ingest.files.text_lines import whole_text
from ingest.formats import sidecar


class BadSidecarError(FormatError):
    """A sidecar that cannot be read; the runs of the files that it applies to are uncertain."""


@dataclass(frozen=True, slots=True, eq=False)
class Sidecar:
    """A sidecar as read.

    Attributes:
        stem: Start of the names of its files; empty for all files in its folder and below.
        size, mtime: Of the file, before it was read.
        values: The run's values by key of `sidecar.KEYS`, without times; None if the sidecar is
            bad; `error` is the reason.
    """

    path: str
    stem: str
    size: int
    mtime: float
    values: dict[str, Any] | None
    error: str = ""


class SidecarsByFolder:
    """The sidecars of each folder, each read once; folders are absolute paths."""

    def __init__(self) -> None:
        self._here: dict[str, tuple[Sidecar, ...]] = {}
        self._stems: dict[str, dict[str, Sidecar]] = {}
        self._above: dict[str, dict[str, tuple[Sidecar, ...]]] = defaultdict(dict)

    def of(self, path: str, top: str) -> tuple[Sidecar, ...]:
        """Return sidecars that apply to a file, nearest first; a sidecar applies to itself.

        `NAME.run.toml` applies to `NAME.json` beside it, `run.toml` to its folder and below.

        Args:
            top: Sidecars above this folder are ignored.
        """
        folder, name = os.path.split(path)
        return (*self.beside(folder, name), *self.of_all_in(folder, top))

    def beside(self, folder: str, name: str) -> tuple[Sidecar, ...]:
        """Return sidecars in a folder that apply to some of its files, this one included."""
        self._of_folder(folder)
        stems = self._stems.get(folder)
        if stems is None:
            return ()
        begun = {name[:at] for at, letter in enumerate(name) if letter == "."}
        begun.add(sidecar.stem_of(name) or "")
        return tuple(sorted((stems[each] for each in begun & stems.keys()), key=_nearness))

    def of_all_in(self, folder: str, top: str) -> tuple[Sidecar, ...]:
        """Return sidecars that apply to all files of a folder."""
        known = self._above[top]
        if folder not in known:
            here = self._of_folder(folder)
            if any(each.stem for each in here):
                here = tuple(each for each in here if not each.stem)
            above = os.path.dirname(folder)
            is_below = folder != top and f"{above}/".startswith(f"{top.rstrip('/')}/")
            rest = self.of_all_in(above, top) if is_below and above != folder else ()
            known[folder] = here + rest if rest else here
        return known[folder]

    def learn(self, folder: str, names: Iterable[str]) -> None:
        """Read the sidecars of a folder that the caller has listed already."""
        if folder not in self._here:
            paths = [f"{folder}/{name}" for name in names if sidecar.stem_of(name) is not None]
            read = [each for each in map(_read_sidecar, paths) if each is not None]
            self._here[folder] = tuple(sorted(read, key=_nearness))
            if stems := {each.stem: each for each in read if each.stem}:
                self._stems[folder] = stems

    def _of_folder(self, folder: str) -> tuple[Sidecar, ...]:
        """Return the sidecars of a folder, longest stems first."""
        if folder not in self._here:
            try:
                names = os.listdir(folder)
            except OSError:
                names = []
            self.learn(folder, names)
        return self._here[folder]


def _nearness(one: Sidecar) -> tuple[int, str]:
    """Return the sort key of a folder's sidecars: those that apply to fewer files come first."""
    return -len(one.stem), one.stem


def merged_values(sidecars: Sequence[Sidecar]) -> dict[str, Any]:
    """Merge the values of several sidecars; earlier ones override later ones.

    Raises:
        BadSidecarError: One of them cannot be read.
    """
    values: dict[str, Any] = {}
    for each in reversed(sidecars):
        if each.values is None:
            raise BadSidecarError(f"its sidecar {each.path} is bad: {each.error}")
        # Declared knobs are a table in a sidecar; they merge key by key.
        knobs = values.get("knobs", {}) | each.values.get("knobs", {})
        values |= each.values | ({"knobs": knobs} if knobs else {})
    return values


def _read_sidecar(path: str) -> Sidecar | None:
    """Read a sidecar; None if there is no such file."""
    name = path.rpartition("/")[2]
    stem = sidecar.stem_of(name) or ""
    try:
        status = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    size, mtime = status.st_size, status.st_mtime
    try:
        text = whole_text(small_blocks(path), name)
        values = sidecar.read_values(text, name)
        naming = {key: value for key, value in values.items() if key not in sidecar.TIMES}
        return Sidecar(path, stem, size, mtime, naming)
    except FormatError as error:
        return Sidecar(path, stem, size, mtime, None, str(error))
    except OSError as error:
        return Sidecar(path, stem, size, mtime, None, error.strerror or str(error))
