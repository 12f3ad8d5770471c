"""What a search learns from the disk, each thing when it is needed."""

import os
from pathlib import Path
from typing import NamedTuple

from ingest.discover.names import strip_compression
from ingest.files.blocks import read_head
from ingest.files.walk import Entries, list_entries
from ingest.formats import Format, find_format


class FileStatus(NamedTuple):
    """What a search needs of `os.stat_result`, under its names."""

    st_mode: int
    st_size: int
    st_mtime: float


class Disk:
    """Looks at the disk from this process, at one thing after the other."""

    def entries(self, folder: str) -> Entries:
        """List a folder, as `list_entries`."""
        return list_entries(folder)

    def status(self, path: str) -> os.stat_result | FileStatus:
        """Size, time and kind of a file; OSError if it cannot be reached."""
        return os.stat(path)

    def format_of(self, path: str) -> Format | None:
        """The format that a file has by its name and its beginning.

        Raises:
            FormatError: Its compression is broken.
            OSError: It cannot be read.
        """
        name = path.rpartition("/")[2]
        return find_format(strip_compression(name), read_head(Path(path)))
