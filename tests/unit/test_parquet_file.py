"""Parquet files of our own making, read by pyarrow, Polars and DuckDB."""

import io
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.lake import column_chunks, page_packing
from ingest.lake.parquet_file import ParquetFile, encode_row_group

_INT32 = st.one_of(st.integers(-(2**31), 2**31 - 1), st.integers(0, 20), st.just(7))
_INT64 = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(0, 300), st.integers(0, 2**17), st.just(-1)
)
_REAL = st.one_of(st.floats(allow_nan=False), st.sampled_from([0.0, 15.26, 30.52]))
_TEXT = st.one_of(st.sampled_from(["gap_ns", "rx_bytes"]), st.text(max_size=5))
_KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "i": (pa.int32(), _INT32),
    "j": (pa.int64(), _INT64),
    "x": (pa.float64(), _REAL),
    "f": (pa.float32(), st.one_of(st.floats(width=32, allow_nan=False), st.just(1.5))),
    "s": (pa.string(), _TEXT),
}


def _written(groups: list[pa.Table], rising: tuple[str, ...] = ()) -> bytes:
    """The bytes of a file of row groups; every column is searched."""
    schema = groups[0].schema
    sink = io.BytesIO()
    file = ParquetFile(sink, schema)
    for group in groups:
        file.append(encode_row_group(group, schema, rising, schema.names))
    file.finish()
    return sink.getvalue()


def _encodings(data: bytes, column: int = 0) -> set[str]:
    return set(pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(column).encodings)


def _assert_read_by_all(data: bytes, expected: pa.Table, folder: Path) -> None:
    path = folder / "made.parquet"
    path.write_bytes(data)
    assert pq.read_table(path).equals(expected)
    assert pl.read_parquet(path).equals(pl.DataFrame(expected))
    rows = duckdb.connect().execute(f"SELECT * FROM '{path}'").fetchall()
    assert rows == [tuple(row.values()) for row in expected.to_pylist()]


@st.composite
def _columns(draw: st.DrawFn, rows: int) -> tuple[pa.Field, list[Any]]:
    kind, values = _KINDS[draw(st.sampled_from(sorted(_KINDS)))]
    nullable = draw(st.booleans())
    one = st.one_of(values, st.none()) if nullable else values
    return (
        pa.field("c", kind, nullable=nullable),
        draw(st.lists(one, min_size=rows, max_size=rows)),
    )


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_columns_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    rows = data.draw(st.one_of(st.integers(1, 12), st.integers(120, 300)))
    found = [data.draw(_columns(rows)) for _ in range(data.draw(st.integers(1, 4)))]
    schema = pa.schema([field.with_name(f"c{n}") for n, (field, _) in enumerate(found)])
    table = pa.table(
        [pa.array(values, field.type) for field, (_, values) in zip(schema, found, strict=True)],
        schema,
    )
    first = data.draw(st.integers(0, rows))
    groups = [part for part in (table[:first], table[first:]) if part.num_rows]
    rising = tuple(f.name for f in schema if f.type == pa.int64() and data.draw(st.booleans()))
    made = _written(groups, rising)
    _assert_read_by_all(made, table, tmp_path_factory.mktemp("made"))


_ROWS = 5000
_RISING = np.cumsum(np.arange(_ROWS) % 97)
_NOISE = np.random.default_rng(3).integers(0, 2**40, _ROWS)


@pytest.mark.parametrize(
    ("values", "rising", "encoding"),
    [
        (_RISING, True, "DELTA_BINARY_PACKED"),
        (np.repeat(_RISING, 16), True, "DELTA_BINARY_PACKED"),
        (np.arange(_ROWS) % 13 - 5, False, "RLE_DICTIONARY"),
        (np.full(_ROWS, 2**40), False, "RLE_DICTIONARY"),
        (np.arange(_ROWS) % 2 * 65535, False, "RLE_DICTIONARY"),
        (np.arange(_ROWS) % 2 * 65536, False, "BYTE_STREAM_SPLIT"),
        (np.arange(_ROWS) % 257 * 9, False, "BYTE_STREAM_SPLIT"),
        (np.arange(_ROWS) % 256 * 9, False, "RLE_DICTIONARY"),
        (_NOISE, False, "BYTE_STREAM_SPLIT"),
        (_NOISE * 1.5, False, "BYTE_STREAM_SPLIT"),
        (np.arange(_ROWS) % 700 * 15.25, False, "RLE_DICTIONARY"),
        ((_NOISE * 1.5).astype(np.float32), False, "BYTE_STREAM_SPLIT"),
        ((np.arange(_ROWS) % 256 / 3).astype(np.float32), False, "RLE_DICTIONARY"),
        ((np.arange(_ROWS) % 257 / 3).astype(np.float32), False, "BYTE_STREAM_SPLIT"),
    ],
)
def test_a_column_is_packed_by_what_is_in_it(
    tmp_path: Path, values: np.ndarray, rising: bool, encoding: str
) -> None:
    table = pa.table({"c": pa.array(values)})
    made = _written([table], ("c",) if rising else ())
    assert encoding in _encodings(made)
    _assert_read_by_all(made, table, tmp_path)


@pytest.mark.parametrize("width", range(1, 65))
def test_steps_of_any_width_are_packed_to_the_bit(width: int) -> None:
    rng = np.random.default_rng(width)
    steps = rng.integers(0, 2**width, 1000, dtype=np.uint64, endpoint=False)
    values = np.cumsum(steps.view(np.int64))
    out = np.empty(page_packing.room_for_deltas(1000), np.uint8)
    end = page_packing.pack_deltas(values, out)
    assert end <= 30 + 8 * (4 + 10 + 16 * width)
    made = _written([pa.table({"c": values})], ("c",))
    assert pq.read_table(io.BytesIO(made))["c"].to_numpy().tolist() == values.tolist()


def test_what_repeats_is_compressed_and_noise_is_not() -> None:
    table = pa.table({"noise": np.cumsum(_NOISE), "again": np.repeat(np.arange(50) * 1000, 100)})
    metadata = pq.ParquetFile(io.BytesIO(_written([table], ("noise", "again")))).metadata
    noise, again = (metadata.row_group(0).column(at) for at in (0, 1))
    assert noise.compression == "UNCOMPRESSED"
    assert again.compression == "ZSTD"
    assert again.total_compressed_size < again.total_uncompressed_size / 5


def test_bytes_of_one_kind_are_compressed_apart_from_others() -> None:
    """A byte of noise and two bits: 1.25 bytes a value, where a code for both needs more."""
    rng = np.random.default_rng(5)
    values = rng.integers(0, 256, 1 << 14) + rng.integers(0, 4, 1 << 14) * 2**40
    column = pq.ParquetFile(io.BytesIO(_written([pa.table({"c": values})]))).metadata.row_group(0)
    assert column.column(0).total_compressed_size < 1.27 * len(values)
    assert pq.read_table(io.BytesIO(_written([pa.table({"c": values})])))["c"].to_pylist() == (
        values.tolist()
    )


def test_columns_without_a_value_are_encoded_once(tmp_path: Path) -> None:
    kinds = {"i": pa.int32(), "j": pa.int64(), "f": pa.float32(), "x": pa.float64()}
    table = pa.table(
        {name: pa.nulls(9, kind) for name, kind in (kinds | {"s": pa.string()}).items()}
    )
    before = column_chunks._encode_nulls.cache_info()
    made = _written([table, table, table.slice(2)])
    after = column_chunks._encode_nulls.cache_info()
    assert after.hits - before.hits == 5
    _assert_read_by_all(made, pa.concat_tables([table, table, table.slice(2)]), tmp_path)
    assert (
        pq.ParquetFile(io.BytesIO(made)).metadata.row_group(0).column(1).statistics.null_count == 9
    )


def test_statistics_are_what_a_reader_passes_over_groups_by() -> None:
    table = pa.table({"t": [5, 3, None, 9], "s": ["b", "a", "b", None]})
    column = pq.ParquetFile(io.BytesIO(_written([table[:2], table[2:]]))).metadata
    first, second = (column.row_group(group).column(0).statistics for group in (0, 1))
    assert (first.min, first.max, first.null_count) == (3, 5, 0)
    assert (second.min, second.max, second.null_count) == (9, 9, 1)
    text = column.row_group(0).column(1).statistics
    assert (text.min, text.max) == ("a", "b")


def test_a_file_without_rows_has_its_columns(tmp_path: Path) -> None:
    empty = pa.table({"t": pa.array([], pa.int64()), "s": pa.array([], pa.string())})
    sink = io.BytesIO()
    ParquetFile(sink, empty.schema).finish()
    _assert_read_by_all(sink.getvalue(), empty, tmp_path)


def test_a_column_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="list"):
        _written([pa.table({"c": [[1, 2]]})])
