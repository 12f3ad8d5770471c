"""What one version of a Delta table says: its files, and the columns that datasets declared."""

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable

from data.declared import ABOUT_COLUMN, Declared, about_of_field, column_of_field
from data.errors import LakeError
from data.file_cache import SIZE_VARIABLE, FileCache, HeldFile, cache_folder, most_bytes
from data.lake_place import LakePath, StorePath
from data.object_store import endpoint, file_system, naming

_BLOCK_BYTES: Final = 8 << 20
_AT_ONCE: Final = 4


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """The Parquet files of a table's version on this machine; they stay while this object lives.

    Attributes:
        paths: Sorted.
        held: Copies of a store's files.
    """

    paths: Sequence[str]
    held: Sequence[HeldFile] = ()


def local_files(path: LakePath, table: DeltaTable | None) -> LocalFiles:
    """Return the files of a version of a table; those of an object store are copied first.

    Args:
        path: Of the table.
        table: None for no files.

    Raises:
        LakeError: A file cannot be copied, or the version has more bytes than copies may have.
    """
    if table is None:
        return LocalFiles(())
    if isinstance(path, Path):
        uris = table.file_uris()
        return LocalFiles(sorted(unquote(uri.removeprefix("file://")) for uri in uris))
    files = pa.table(table.get_add_actions(flatten=True)).select(["path", "size_bytes"]).to_pylist()
    bound, size = most_bytes(), sum(file["size_bytes"] for file in files)
    if size > bound:
        raise LakeError(
            f"{path} at version {table.version()} has {size / 1e6:.0f} MB, but the copies on this "
            f"machine may have {bound / 1e6:.0f} MB: {SIZE_VARIABLE} sets more"
        )
    cache = FileCache(copies_folder(), bound)
    folder = _name_of(path)

    def hold(file: dict) -> HeldFile:
        name = unquote(file["path"])
        source = path / name
        return cache.hold(f"{folder}/{name}", file["size_bytes"], lambda out: _copy(source, out))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        held = list(pool.map(hold, files))
    return LocalFiles(sorted(str(each.path) for each in held), held)


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file of a lake.

    Attributes:
        path: In the lake.
        written_s: When it was last written, Unix time.
    """

    path: str
    size_bytes: int
    written_s: float


def listed_files(lake: LakePath, folder: str) -> list[ListedFile]:
    """List the files below a folder of a lake, sorted; none if there is no such folder.

    Raises:
        LakeError: It cannot be read.
    """
    from pyarrow.fs import FileSelector

    with naming("list", lake / folder):
        system, name = file_system(lake / folder)
        infos = system.get_file_info(FileSelector(name, recursive=True, allow_not_found=True))
    return sorted(
        (
            ListedFile(folder + info.path.removeprefix(name), info.size, info.mtime_ns / 1e9)
            for info in infos
            if info.is_file
        ),
        key=lambda file: file.path,
    )


def readable_folder(lake: LakePath) -> Path:
    """Return the folder on this machine with all that queries of a lake read."""
    if isinstance(lake, Path):
        return lake.resolve()
    return (copies_folder() / _name_of(lake / "runs")).parent.resolve()


def copies_folder() -> Path:
    """Return the folder of the copies of all object stores' tables."""
    return cache_folder() / "lakes"


def _name_of(path: StorePath) -> str:
    """Return the folder of a table's copies, which differs from that of other stores' tables."""
    lake, _, table = str(path).rpartition("/")
    digest = hashlib.sha256(f"{endpoint()} {lake}".encode()).hexdigest()[:16]
    return f"{digest}/{table}"


def _copy(source: StorePath, out: IO[bytes]) -> None:
    with naming("read", source):
        system, name = file_system(source)
        file = system.open_input_file(name)
    with file:
        while True:
            with naming("read", source):
                block: bytes = file.read(_BLOCK_BYTES)
            if not block:
                break
            out.write(block)


def about_datasets(runs: DeltaTable) -> dict[str, dict[str, str]]:
    """Return what datasets say of themselves in a version of `runs`, by dataset and `ABOUT`."""
    fields = (field for field in runs.schema().fields if field.name == ABOUT_COLUMN)
    return next((about_of_field(field.metadata) for field in fields), {})


def declared_columns(runs: DeltaTable) -> Declared:
    """Return the declared columns of a version of `runs`, as its schema describes them."""
    found = (column_of_field(field.name, field.metadata) for field in runs.schema().fields)
    return tuple(column for column in found if column is not None)
