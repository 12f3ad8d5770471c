"""One big file of a run, written from tables to Parquet, complete or not at all.

pyarrow writes the file. Encodings are set by column: pyarrow's default, a dictionary for every
column, takes twice the time and 1.5 times the bytes.
"""

from contextlib import AbstractContextManager, suppress
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from data.lake_place import LakePath
from data.object_store import naming
from data.schema import RUN_TABLES
from ingest.lake.targets import open_target

# Smaller row groups where readers want a few rows at a time.
ROW_GROUP_ROWS: Final = 1 << 16
SMALL_GROUP_ROWS: Final = {"samples": 1 << 14, "overview": 1 << 14, "histograms": 1 << 13,
                            "distributions": 1 << 14}  # fmt: skip
# Larger than any column of a row group, so that a column is one page.
_PAGE_BYTES: Final = 1 << 26
# Columns that rise or have a narrow range use DELTA_BINARY_PACKED, columns of few values a
# dictionary, all others BYTE_STREAM_SPLIT.
_BY_STEPS: Final = frozenset(("bin", "t_ns"))
_BY_STEPS_IN: Final = {
    "samples": frozenset(("dt_ns", "instructions", "cycles", "ref_cycles", "llc_misses"))
}
_BY_DICTIONARY_IN: Final = {"interrupts": frozenset(("rx_bytes",))}
# Tables whose steps are noise: once packed, zstd makes them less than 1 % smaller.
_NOISY_STEPS: Final = frozenset(("interrupts", "samples"))
# Columns with statistics, by which readers skip row groups.
_SEARCHED: Final = ("run_id", "level", "bin", "t_ns", "t_s", "quantity")
# One value a file: its pages are a few bytes, which take longer to compress than to write.
_UNCOMPRESSED: Final = "run_id"
TEXT: Final = pa.dictionary(pa.int32(), pa.string())


class RunFile:
    """One big file of a run while it is written; readers see it only once it is complete.

    One thread at a time may use it.
    """

    def __init__(self, lake: LakePath, table: str, dataset: str, run_id: str) -> None:
        self._table = table
        self._dataset = dataset
        self._run_id = run_id
        self._folder = lake / table / dataset
        self._schema = _schema_of(table)
        self._rows = 0
        self._is_sealed = False
        with self._naming_file():
            self._target = open_target(self._folder, run_id)
            self._parquet = _parquet_writer(self._target.file, self._schema, table)

    def write(self, rows: pa.Table) -> None:
        """Append rows.

        Args:
            rows: All columns of the table's schema, in its order; strings may be dictionaries.

        Raises:
            LakeError: They cannot be written, such as on a full disk.
        """
        columns = zip(rows.columns, self._schema, strict=True)
        conformed = pa.Table.from_arrays(
            [column if column.type == f.type else column.cast(f.type) for column, f in columns],
            schema=self._schema,
        )
        at_once = SMALL_GROUP_ROWS.get(self._table, ROW_GROUP_ROWS)
        if not rows.num_rows:
            return  # A row group without rows has no statistics, by which readers look.
        with self._naming_file():
            self._parquet.write_table(conformed, row_group_size=at_once)
        self._rows += rows.num_rows

    def seal(self) -> None:
        """Write the end of the file; no more rows can be written.

        Raises:
            LakeError: It cannot be written.
        """
        with self._naming_file():
            self._parquet.close()
            self._target.seal()
        self._is_sealed = True

    def finish(self, digest: str) -> dict[str, Any]:
        """Give the file its final path and return its entry for `runs.files`.

        Args:
            digest: Digest of the run's sources; part of the file name.

        Raises:
            LakeError: It cannot be written.
        """
        if not self._is_sealed:
            self.seal()
        name = f"{self._run_id}.{digest}.parquet"
        with self._naming_file():
            size = self._target.publish(name)
        return {
            "table": self._table,
            "path": f"{self._table}/{self._dataset}/{name}",
            "size_bytes": size,
            "rows": self._rows,
            "digest": self._target.file.digest(),
        }

    def abandon(self) -> None:
        """Close and remove the file, unless it is finished."""
        with suppress(OSError, ValueError):
            self._parquet.close()
        self._target.abandon()

    def _naming_file(self) -> AbstractContextManager[None]:
        return naming("write", self._folder / f"{self._run_id}.parquet")


def _schema_of(table: str) -> pa.Schema:
    """Return the table's schema with strings as dictionaries, which pyarrow writes directly."""
    return pa.schema(
        pa.field(
            field.name,
            TEXT if pa.types.is_string(field.type) else field.type,
            nullable=field.nullable,
        )
        for field in RUN_TABLES[table]
    )


def _parquet_writer(file: Any, schema: pa.Schema, table: str) -> pq.ParquetWriter:
    by_dictionary = _BY_DICTIONARY_IN.get(table, frozenset())
    by_steps = _BY_STEPS | _BY_STEPS_IN.get(table, frozenset())
    uncompressed = {_UNCOMPRESSED} | (by_steps if table in _NOISY_STEPS else set())
    dictionaries = [f.name for f in schema if f.type == TEXT or f.name in by_dictionary]
    encodings = {
        name: "DELTA_BINARY_PACKED" if name in by_steps else "BYTE_STREAM_SPLIT"
        for name in schema.names
        if name not in dictionaries
    }
    return pq.ParquetWriter(
        file,
        schema,
        compression={name: "none" if name in uncompressed else "zstd" for name in schema.names},
        use_dictionary=dictionaries,
        column_encoding=encodings,
        write_statistics=[name for name in _SEARCHED if name in schema.names],
        data_page_size=_PAGE_BYTES,
        write_batch_size=ROW_GROUP_ROWS,
        # Otherwise readers would get dictionaries instead of strings.
        store_schema=False,
    )


def rows_of(run_id: str, columns: dict[str, pa.Array], schema: pa.Schema) -> pa.Table:
    """Build a table of a schema from all columns but the run's id."""
    arrays = {"run_id": _repeated(run_id, len(columns["t_ns"]))}
    arrays |= {f.name: columns[f.name] for f in schema if f.name != "run_id"}
    return pa.table(arrays)


@lru_cache(maxsize=16)
def _repeated(text: str, count: int) -> pa.Array:
    """Return a column that repeats one text."""
    zeros = pa.array(np.zeros(count, np.int32))
    return pa.DictionaryArray.from_arrays(zeros, pa.array([text], TEXT.value_type), safe=False)
