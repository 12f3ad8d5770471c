"""A file beside a lake's tables that all workers of a cluster read once."""

from contextlib import suppress
from typing import Final

from data.lake_place import LakePath
from data.object_store import FAILURES, file_system, naming

_BEGIN: Final = ".cluster."
_END: Final = ".tmp"


def write_shared(lake: LakePath, name: str, content: bytes) -> LakePath:
    """Write a file; return its path.

    Raises:
        LakeError: It cannot be written.
    """
    path = lake / f"{_BEGIN}{name}{_END}"
    with naming("write", path):
        system, place = file_system(path)
        with system.open_output_stream(place) as out:
            out.write(content)
    return path


def read_shared(path: LakePath) -> bytes:
    """Read a file.

    Raises:
        LakeError: It cannot be read.
    """
    with naming("read", path):
        system, place = file_system(path)
        with system.open_input_stream(place) as file:
            return bytes(file.read())


def remove_shared(path: LakePath) -> None:
    """Remove a file, as far as that is possible."""
    with suppress(*FAILURES):
        system, place = file_system(path)
        system.delete_file(place)


def remove_left(lake: LakePath) -> int:
    """Remove the files that killed ingests left; return their number.

    Raises:
        LakeError: The lake cannot be listed.
    """
    from pyarrow.fs import FileSelector

    with naming("read", lake):
        system, place = file_system(lake)
        infos = system.get_file_info(FileSelector(place, allow_not_found=True))
    left = [info for info in infos if info.base_name.startswith(_BEGIN)]
    for info in left:
        with suppress(*FAILURES):
            system.delete_file(info.path)
    return len(left)
