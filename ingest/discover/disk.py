"""The reads of a search: folders, file statuses, beginnings of files."""

import os
from pathlib import Path
from typing import NamedTuple

from ingest.discover.names import strip_compression
from ingest.files.blocks import read_head
from ingest.files.walk import Entries, list_entries
from ingest.formats import Format, find_format


class FileStatus(NamedTuple):
    """The fields of `os.stat_result` that a search needs."""

    st_mode: int
    st_size: int
    st_mtime: float


class Disk:
    """Reads the disk from this process, one item at a time."""

    def entries(self, folder: str) -> Entries:
        """List a folder; see `list_entries`."""
        return list_entries(folder)

    def status(self, path: str) -> os.stat_result | FileStatus:
        """Return size, time and kind of a file.

        Raises:
            OSError: It cannot be reached.
        """
        return os.stat(path)

    def format_of(self, path: str) -> Format | None:
        """Detect a file's format from its name and its beginning; None if it is unknown.

        Raises:
            FormatError: Its compression is broken.
            OSError: It cannot be read.
        """
        name = path.rpartition("/")[2]
        return find_format(strip_compression(name), read_head(Path(path)))
