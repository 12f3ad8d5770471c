"""Digests (XXH3, 128 bits) of a lake's files: where they are, and whether a file still has them.

The name of each Parquet file of `runs` and `problems` ends in its digest, so the commit that names
the file holds it. `runs.files` holds the digests of a run's big files.
"""

import re
import threading
from pathlib import Path
from typing import Final

import xxhash
from cachetools import LRUCache

from data.errors import LakeError
from data.lake_place import LakePath
from data.object_store import file_system, naming

_NAMED: Final = re.compile(r"\.([0-9a-f]{32})\.parquet$")
_BLOCK_BYTES: Final = 4 << 20
_KEPT_FILES: Final = 1 << 16
# Path and digest to size, mtime and inode of the file when it had that digest.
_checked: LRUCache[tuple[str, str], tuple[int, int, int]] = LRUCache(_KEPT_FILES)
_lock: Final = threading.Lock()


def digest_in_name(name: str) -> str | None:
    """Return the digest in the name of a file of `runs` or `problems`; None for an older file."""
    found = _NAMED.search(name)
    return found[1] if found else None


def digest_of_file(path: LakePath) -> str:
    """Read a file of a lake and return its digest.

    Raises:
        LakeError: It cannot be read.
    """
    hasher = xxhash.xxh3_128()
    with naming("read", path):
        system, name = file_system(path)
        with system.open_input_stream(name) as file:
            while block := file.read_buffer(_BLOCK_BYTES):
                hasher.update(block)
    return hasher.hexdigest()


def differs(path: LakePath, digest: str) -> str | None:
    """Read a file; return what is wrong with it as a phrase, or None if it has the digest."""
    actual = digest_of_file(path)
    if actual == digest:
        return None
    return f"is damaged: its bytes have the digest {actual}, those written had {digest}"


def check_file(path: Path, digest: str) -> None:
    """Check a file of a lake in a folder, unless it was checked and has not changed since.

    Size, mtime and inode tell of a change.

    Raises:
        LakeError: It is damaged or cannot be read.
    """
    with naming("read", path):
        try:
            status = path.stat()
        except FileNotFoundError:
            raise LakeError(f"its file is missing from the lake: {path}") from None
    now, key = (status.st_size, status.st_mtime_ns, status.st_ino), (str(path), digest)
    with _lock:
        if _checked.get(key) == now:
            return
    if fault := differs(path, digest):
        raise LakeError(f"{path} {fault}. `python -m ingest verify` lists all damaged files")
    with _lock:
        _checked[key] = now
