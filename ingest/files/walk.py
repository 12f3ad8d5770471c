"""Folders of raw files, listed recursively; skips hidden files, lakes and links to folders."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

_LAKE_MARK: Final = ("runs", "_delta_log")


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of one folder.

    Attributes:
        folder: Absolute path.
        names: Names of all entries but folders, with hidden files; None if not listed.
        files: Names of the files to read, sorted.
    """

    folder: str
    names: list[str] | None
    files: list[str]


def walk_folders(root: str, on_closed: Callable[[str], None]) -> Iterator[Listing]:
    """Yield a folder and its subfolders, each before its own subfolders, sorted by name.

    Args:
        on_closed: Called with each folder that cannot be listed.
    """
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            names, subfolders = _list(folder)
        except OSError:
            on_closed(folder)
            continue
        if _LAKE_MARK[0] in subfolders and os.path.isdir(os.path.join(folder, *_LAKE_MARK)):
            continue
        yield Listing(folder, names, sorted(name for name in names if name[0] != "."))
        below = sorted((name for name in subfolders if name[0] != "."), reverse=True)
        waiting += (f"{folder.rstrip('/')}/{name}" for name in below if not subfolders[name])


def _list(folder: str) -> tuple[list[str], dict[str, bool]]:
    """Return the names of non-folders, and a map from subfolder name to whether it is a link."""
    names: list[str] = []
    subfolders: dict[str, bool] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if _is_folder(entry):
                subfolders[entry.name] = entry.is_symlink()
            else:
                names.append(entry.name)
    return names, subfolders


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
