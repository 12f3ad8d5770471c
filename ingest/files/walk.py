"""Folders of raw files, listed recursively; skips hidden files, lakes and links to folders."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
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


# The names of non-folders, and a map from subfolder name to whether it is a link.
Entries = tuple[list[str], dict[str, bool]]


def list_entries(folder: str) -> Entries:
    """List a folder.

    Raises:
        OSError: It cannot be listed.
    """
    names: list[str] = []
    subfolders: dict[str, bool] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                is_folder = entry.is_dir()
            except OSError:
                is_folder = False
            if is_folder:
                subfolders[entry.name] = entry.is_symlink()
            else:
                names.append(entry.name)
    return names, subfolders


def walk_folders(
    root: str,
    on_closed: Callable[[str], None],
    list_folder: Callable[[str], Entries] = list_entries,
) -> Iterator[Listing]:
    """Yield a folder and its subfolders, each before its own subfolders, sorted by name.

    Args:
        on_closed: Called with each folder that cannot be listed.
    """
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            names, subfolders = list_folder(folder)
        except OSError:
            on_closed(folder)
            continue
        if is_lake(folder, subfolders):
            continue
        yield Listing(folder, names, files_to_read(names))
        waiting += reversed(folders_below(folder, subfolders))


def is_lake(folder: str, subfolders: Collection[str]) -> bool:
    """Return whether a folder is a lake, whose files are no raw files."""
    return _LAKE_MARK[0] in subfolders and os.path.isdir(os.path.join(folder, *_LAKE_MARK))


def files_to_read(names: Iterable[str]) -> list[str]:
    """Return the names without those of hidden files, sorted."""
    return sorted(name for name in names if name[0] != ".")


def folders_below(folder: str, subfolders: Mapping[str, bool]) -> list[str]:
    """Return the paths of the subfolders that are walked, sorted: neither hidden nor links."""
    names = sorted(name for name, is_link in subfolders.items() if name[0] != "." and not is_link)
    return [f"{folder.rstrip('/')}/{name}" for name in names]
