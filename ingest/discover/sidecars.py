"""Which sidecars speak for a raw file: those beside it and in the folders above, nearest first."""

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
    """A sidecar that cannot be read, so that nothing is known for sure of the files it is for."""


@dataclass(frozen=True, slots=True, eq=False)
class Sidecar:
    """A sidecar as read.

    Attributes:
        stem: What the names of its files begin with; empty: all in its folder and beneath.
        size, mtime: Of the file, as it was before it was read.
        values: By key of `sidecar.KEYS`, what names the run and so without its times; None if it is
            bad, as `error` says.
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
        """Sidecars that speak for a file (itself included, if it is one), the nearest first.

        `NAME.run.toml` speaks for `NAME.json` beside it, `run.toml` for its folder and below.

        Args:
            top: The folder above which nobody looks.
        """
        folder, name = os.path.split(path)
        return (*self.beside(folder, name), *self.of_all_in(folder, top))

    def beside(self, folder: str, name: str) -> tuple[Sidecar, ...]:
        """Those that speak for some files of a folder, this one among them."""
        self._of_folder(folder)
        stems = self._stems.get(folder)
        if stems is None:
            return ()
        begun = {name[:at] for at, letter in enumerate(name) if letter == "."}
        begun.add(sidecar.stem_of(name) or "")
        return tuple(sorted((stems[each] for each in begun & stems.keys()), key=_nearness))

    def of_all_in(self, folder: str, top: str) -> tuple[Sidecar, ...]:
        """Those that speak for all files of a folder."""
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
        """Take the names of all files of a folder from who has listed it already."""
        if folder not in self._here:
            paths = [f"{folder}/{name}" for name in names if sidecar.stem_of(name) is not None]
            read = [each for each in map(_read_sidecar, paths) if each is not None]
            self._here[folder] = tuple(sorted(read, key=_nearness))
            if stems := {each.stem: each for each in read if each.stem}:
                self._stems[folder] = stems

    def _of_folder(self, folder: str) -> tuple[Sidecar, ...]:
        """A folder's sidecars, those with the longest stems first."""
        if folder not in self._here:
            try:
                names = os.listdir(folder)
            except OSError:
                names = []
            self.learn(folder, names)
        return self._here[folder]


def _nearness(one: Sidecar) -> tuple[int, str]:
    """Sorts those of a folder: what speaks for fewer files comes first."""
    return -len(one.stem), one.stem


def merged_values(sidecars: Sequence[Sidecar]) -> dict[str, Any]:
    """What several sidecars say together, the first holding over the later ones.

    Raises:
        BadSidecarError: One of them cannot be read.
    """
    values: dict[str, Any] = {}
    for each in reversed(sidecars):
        if each.values is None:
            raise BadSidecarError(f"its sidecar {each.path} is bad: {each.error}")
        # Knobs of the dataset's own are a table in a sidecar; the nearest one says each.
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
