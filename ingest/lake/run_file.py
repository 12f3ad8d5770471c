"""One big file of a run: tables in, a Parquet file out, whole or not at all.

pyarrow writes the file. The encodings are set by column, since its own choice, a dictionary for
every column, takes twice the time and half as many bytes again.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from data.errors import LakeError
from data.schema import RUN_TABLES

# A reader of the other tables wants a few rows at a time.
ROW_GROUP_ROWS: Final = 1 << 16
SMALL_GROUP_ROWS: Final = {"samples": 1 << 14, "overview": 1 << 14, "histograms": 1 << 13}
_BUFFER_BYTES: Final = 1 << 20
# Longer than any column of a row group: a column is one page.
_PAGE_BYTES: Final = 1 << 26
# Columns that rise or lie in a narrow range are packed by their steps, columns of few values become
# numbers of a dictionary, all others are parted byte by byte.
_BY_STEPS: Final = frozenset(("bin", "t_ns"))
_BY_STEPS_IN: Final = {"samples": frozenset(("instructions", "cycles", "ref_cycles"))}
_BY_DICTIONARY_IN: Final = {"interrupts": frozenset(("rx_bytes", "rx_desc"))}
# Where it is not 1: what is worth a closer look.
_ZSTD_LEVELS: Final = {"interrupts": {"tx_bytes": 3}}
# Columns by which a reader passes over whole row groups.
_SEARCHED: Final = ("run_id", "core", "level", "bin", "t_ns", "t_s")
_NEVER_NULL: Final = frozenset(("interrupts",))
TEXT: Final = pa.dictionary(pa.int32(), pa.string())


class RunFile:
    """One big file of a run while it is written: readers see it only when it is whole.

    One thread at a time may use it.
    """

    def __init__(self, lake: Path, table: str, dataset: str, run_id: str) -> None:
        self._lake = lake
        self._table = table
        self._run_id = run_id
        self._folder = lake / table / dataset
        self._temporary = self._folder / f".{run_id}.{os.getpid()}.tmp"
        self._schema = _schema_of(table)
        self._rows = 0
        self._is_sealed = False
        with self._naming_itself():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = self._temporary.open("wb", buffering=_BUFFER_BYTES)
            self._parquet = _parquet_writer(self._file, self._schema, table)

    def write(self, rows: pa.Table) -> None:
        """Write further rows after those before.

        Args:
            rows: The columns of the table's schema, in its order; texts may be dictionaries.

        Raises:
            LakeError: They cannot be written, because the disk is full, say.
        """
        columns = zip(rows.columns, self._schema, strict=True)
        conformed = pa.Table.from_arrays(
            [column if column.type == f.type else column.cast(f.type) for column, f in columns],
            schema=self._schema,
        )
        at_once = SMALL_GROUP_ROWS.get(self._table, ROW_GROUP_ROWS)
        with self._naming_itself():
            self._parquet.write_table(conformed, row_group_size=at_once)
        self._rows += rows.num_rows

    def seal(self) -> None:
        """Write the file's end and have the disk take it: nothing can be written any more.

        Raises:
            LakeError: It cannot be written.
        """
        with self._naming_itself():
            self._parquet.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        self._is_sealed = True

    def finish(self, digest: str) -> dict[str, Any]:
        """Put the file in its place, and describe it as `runs.files` does.

        Args:
            digest: Of the run's sources; a part of the name.

        Raises:
            LakeError: It cannot be written.
        """
        if not self._is_sealed:
            self.seal()
        final = self._folder / f"{self._run_id}.{digest}.parquet"
        with self._naming_itself():
            self._temporary.replace(final)
        return {
            "table": self._table,
            "path": final.relative_to(self._lake).as_posix(),
            "size_bytes": final.stat().st_size,
            "rows": self._rows,
        }

    def abandon(self) -> None:
        """Close the file and remove it, unless it is finished."""
        with suppress(OSError, ValueError):
            self._parquet.close()
        with suppress(OSError):
            self._file.close()
        self._temporary.unlink(missing_ok=True)

    @contextmanager
    def _naming_itself(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            place = self._folder / f"{self._run_id}.parquet"
            raise LakeError(f"cannot write {place}: {error.strerror or error}") from error


def _schema_of(table: str) -> pa.Schema:
    """The table's schema with texts as dictionaries, which pyarrow writes as they are."""
    return pa.schema(
        pa.field(
            field.name,
            TEXT if pa.types.is_string(field.type) else field.type,
            nullable=table not in _NEVER_NULL,
        )
        for field in RUN_TABLES[table]
    )


def _parquet_writer(file: Any, schema: pa.Schema, table: str) -> pq.ParquetWriter:
    by_dictionary = _BY_DICTIONARY_IN.get(table, frozenset())
    by_steps = _BY_STEPS | _BY_STEPS_IN.get(table, frozenset())
    dictionaries = [f.name for f in schema if f.type == TEXT or f.name in by_dictionary]
    encodings = {
        name: "DELTA_BINARY_PACKED" if name in by_steps else "BYTE_STREAM_SPLIT"
        for name in schema.names
        if name not in dictionaries
    }
    return pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        compression_level=_ZSTD_LEVELS.get(table),
        use_dictionary=dictionaries,
        column_encoding=encodings,
        write_statistics=[name for name in _SEARCHED if name in schema.names],
        data_page_size=_PAGE_BYTES,
        write_batch_size=ROW_GROUP_ROWS,
        # Without it, readers get texts, not the dictionaries of the schema here.
        store_schema=False,
    )
