"""Which sidecars speak for a raw file: those beside it and in the folders above, nearest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from data.errors import FormatError
from ingest.formats import sidecar
from ingest.raw_files import MeteredFile
from ingest.text_lines import whole_text


class BadSidecarError(FormatError):
    """A sidecar that cannot be read, so that nothing is known for sure of the files it is for."""


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A sidecar as read.

    Attributes:
        stem: What the names of its files begin with; empty: all in its folder and beneath.
        values: By key of `sidecar.KEYS`; None if it is bad, as `error` says.
    """

    path: str
    stem: str
    values: dict[str, Any] | None
    error: str = ""


class SidecarsByFolder:
    """The sidecars of each folder, each read once."""

    def __init__(self) -> None:
        self._here: dict[Path, tuple[Sidecar, ...]] = {}
        self._above: dict[tuple[Path, Path], tuple[Sidecar, ...]] = {}

    def of(self, path: Path, top: Path) -> tuple[Sidecar, ...]:
        """Sidecars that speak for a file (itself included, if it is one), the nearest first.

        `NAME.run.toml` speaks for `NAME.json` beside it, `run.toml` for its folder and below.

        Args:
            top: The folder above which nobody looks.
        """
        folder, name = path.parent, path.name
        beside = [each for each in self._of_folder(folder) if each.stem]
        if beside:
            own_stem = sidecar.stem_of(name)
            beside = [s for s in beside if s.stem == own_stem or name.startswith(s.stem + ".")]
        return (*beside, *self._of_all_in(folder, top))

    def _of_all_in(self, folder: Path, top: Path) -> tuple[Sidecar, ...]:
        """Those that speak for all files of a folder."""
        if (folder, top) not in self._above:
            folders = takewhile(lambda each: each.is_relative_to(top), (folder, *folder.parents))
            found = [s for each in folders for s in self._of_folder(each) if not s.stem]
            self._above[folder, top] = tuple(found)
        return self._above[folder, top]

    def _of_folder(self, folder: Path) -> tuple[Sidecar, ...]:
        """A folder's sidecars, those with the longest stems first."""
        if folder not in self._here:
            try:
                paths = [p for p in folder.glob("*run.toml") if sidecar.stem_of(p.name) is not None]
            except OSError:
                paths = []
            read = [_read_sidecar(path) for path in paths if path.is_file()]
            self._here[folder] = tuple(sorted(read, key=lambda s: (-len(s.stem), s.stem)))
        return self._here[folder]


def merged_values(sidecars: Sequence[Sidecar]) -> dict[str, Any]:
    """What several sidecars say together, the first holding over the later ones.

    Raises:
        BadSidecarError: One of them cannot be read.
    """
    values: dict[str, Any] = {}
    for each in reversed(sidecars):
        if each.values is None:
            raise BadSidecarError(f"its sidecar {each.path} is bad: {each.error}")
        values |= each.values
    return values


def _read_sidecar(path: Path) -> Sidecar:
    stem = sidecar.stem_of(path.name) or ""
    try:
        text = whole_text(MeteredFile(path).blocks(), path.name)
        return Sidecar(str(path), stem, sidecar.read_values(text, path.name))
    except FormatError as error:
        return Sidecar(str(path), stem, None, str(error))
    except OSError as error:
        return Sidecar(str(path), stem, None, error.strerror or str(error))
