"""Walk folders of raw files; hidden files, lakes and links to folders are left out."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

_LAKE_MARK: Final = ("runs", "_delta_log")


@dataclass(frozen=True, slots=True)
class Listing:
    """What lies in one folder.

    Attributes:
        folder: Absolute path.
        names: Of all that is no folder, hidden files included; None if nobody listed it.
        files: Those of them to look at, in order.
    """

    folder: str
    names: list[str] | None
    files: list[str]


def walk_folders(root: str, on_closed: Callable[[str], None]) -> Iterator[Listing]:
    """List a folder and those beneath it, each before its subfolders, in order of their names.

    Args:
        on_closed: Told of folders that cannot be listed.
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
    """Names of what is no folder, and of the folders, with whether they are links."""
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
