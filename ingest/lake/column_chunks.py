"""The columns of a row group as they lie in a Parquet file: encoded, compressed, with headers.

A column of a row group is one page. What rises is packed by its steps. Of the rest, a column with
few values becomes their numbers in a dictionary, a byte each, and any other is parted byte by byte.
Each part is compressed as blocks of its own, so that the entropy coder meets whole bytes of one
kind: samples are 8 % smaller than in blocks that mix them.
Source: Apache Parquet, "File Format" and `parquet.thrift`.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.files.blocks import zstd
from ingest.lake import page_packing
from ingest.lake.thrift_compact import Value, binary, i32, i64, listed, struct, varint

PLAIN: Final = 0
RLE: Final = 3
DELTA_BINARY_PACKED: Final = 5
RLE_DICTIONARY: Final = 8
BYTE_STREAM_SPLIT: Final = 9

_DATA_PAGE: Final = 0
_DICTIONARY_PAGE: Final = 2
_ZSTD: Final = 6
_UNCOMPRESSED: Final = 0
_INT32: Final = 1
_INT64: Final = 2
_FLOAT: Final = 4
_DOUBLE: Final = 5
_BYTE_ARRAY: Final = 6
# What is left after the encoding is mostly noise with uneven bytes, which Huffman's code alone
# serves best: looking hard for matches, and taking short ones, costs time and bytes.
_LEVEL: Final[dict[int, int]] = {
    zstd.CompressionParameter.compression_level: 1,
    zstd.CompressionParameter.min_match: 7,
    zstd.CompressionParameter.hash_log: 8,
}
_FORMATS: Final = {_INT32: "<i4", _INT64: "<i8", _FLOAT: "<f4", _DOUBLE: "<f8"}
# In a long page of such noise a match is worth even less: look at every 64th byte, and have the
# literals coded all the same, which zstd leaves out at such a pace unless it is told.
_LITERAL_COMPRESSION_MODE: Final = 1002  # zstd.h: ZSTD_c_literalCompressionMode, 1 to enable
_LONG_PAGE_BYTES: Final = 1 << 16
_LONG_LEVEL: Final = _LEVEL | {
    zstd.CompressionParameter.target_length: 64,
    _LITERAL_COMPRESSION_MODE: 1,
}
_PROBE_BYTES: Final = 1 << 14
_WORTH_WHILE: Final = 0.95
_WIDEST_NUMBERING: Final = 1 << 16
_FULLEST_DICTIONARY: Final = 1 << 15
_here = threading.local()


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """A column of a row group: its pages, and what the footer says of them.

    Attributes:
        pages: Page headers and pages, in the order of the file.
        dictionary_bytes: How many of these bytes come before the data page.
        unpacked_bytes: What the pages would take uncompressed, with their headers.
    """

    name: str
    kind: int
    encodings: tuple[int, ...]
    is_compressed: bool
    count: int
    pages: tuple[Any, ...]
    dictionary_bytes: int
    unpacked_bytes: int
    statistics: Value | None

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return sum(len(page) for page in self.pages)

    def describe(self, at: int) -> Value:
        """`ColumnChunk` of the footer, of pages that start at an offset of the file."""
        has_dictionary = self.dictionary_bytes > 0
        meta = struct(
            {
                1: i32(self.kind),
                2: listed(map(i32, self.encodings)),
                3: listed([binary(self.name)]),
                4: i32(_ZSTD if self.is_compressed else _UNCOMPRESSED),
                5: i64(self.count),
                6: i64(self.unpacked_bytes),
                7: i64(self.size),
                9: i64(at + self.dictionary_bytes),
                11: i64(at) if has_dictionary else None,
                12: self.statistics,
            }
        )
        return struct({2: i64(0), 3: meta})


def physical_type(kind: pa.DataType) -> int:
    """The Parquet type of a column.

    Raises:
        TypeError: Lakes have no such column.
    """
    for is_such, number in (
        (pa.types.is_int32, _INT32),
        (pa.types.is_int64, _INT64),
        (pa.types.is_float32, _FLOAT),
        (pa.types.is_float64, _DOUBLE),
        (pa.types.is_string, _BYTE_ARRAY),
    ):
        if is_such(kind):
            return number
    raise TypeError(f"BUG: no column is of {kind}")


def encode_column(
    field: pa.Field, column: pa.Array, is_rising: bool, is_searched: bool
) -> ColumnChunk:
    """Encode a column of a row group; may run in any thread, and mostly without the GIL.

    Args:
        field: Its name and type; texts are given as they are or as a dictionary of them.
        column: Its values; NULLs only if the field may be NULL.
        is_rising: Pack its steps, and leave them uncompressed unless they repeat themselves.
        is_searched: Note its least and most value.
    """
    kind, count = physical_type(field.type), len(column)
    if count and column.null_count == count:
        return _encode_nulls(field.name, kind, count)
    levels = _levels(column) if field.nullable else b""
    statistics = _statistics(column, kind, is_searched)
    if column.null_count:
        column = column.drop_null()
    if kind == _BYTE_ARRAY:
        encoded = _encode_texts(column)
    elif kind in (_FLOAT, _DOUBLE):
        encoded = _encode_reals(column)
    else:
        encoded = _encode_whole(column.to_numpy(), is_rising)
    return _write_pages(field.name, kind, count, encoded, levels, statistics)


@lru_cache(maxsize=256)
def _encode_nulls(name: str, kind: int, count: int) -> ColumnChunk:
    """A column without a value: the same in every row group of so many rows."""
    nulls = pa.nulls(count)
    return _write_pages(
        name, kind, count, _encode_nothing(), _levels(nulls), _statistics(nulls, kind, False)
    )


def _write_pages(
    name: str, kind: int, count: int, encoded: "_Encoded", levels: bytes, statistics: Value
) -> ColumnChunk:
    """Compress an encoded column's pages and put their headers before them."""
    pages = list(_pages(encoded, levels, count))
    is_compressed = encoded.encoding != DELTA_BINARY_PACKED or not _is_noise(encoded.values)
    written: list[Any] = []
    sizes = []
    for header, page, starts in pages:
        packed = _compress(page, starts) if is_compressed else page
        head = struct({1: header[0], 2: i32(len(page)), 3: i32(len(packed)), **header[1]}).data
        written += [head, packed]
        sizes.append((len(head) + len(page), len(head) + len(packed)))
    return ColumnChunk(
        name,
        kind,
        tuple({PLAIN, RLE, encoded.encoding} if encoded.dictionary else {RLE, encoded.encoding}),
        is_compressed,
        count,
        tuple(written),
        sizes[0][1] if encoded.dictionary else 0,
        sum(unpacked for unpacked, _ in sizes),
        statistics,
    )


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A column's values, and the dictionary (how many entries, and they) that they number.

    Attributes:
        planes: Into how many equal parts of unlike bytes the values fall.
    """

    encoding: int
    values: np.ndarray
    dictionary: tuple[int, bytes] | None = None
    planes: int = 1


def _pages(encoded: _Encoded, levels: bytes, count: int) -> Iterator[tuple[Any, Any, range]]:
    """Each page's kind and what its header says of it, the page, and where its parts begin."""
    if encoded.dictionary is not None:
        entries, data = encoded.dictionary
        head = struct({1: i32(entries), 2: i32(PLAIN)})
        yield (i32(_DICTIONARY_PAGE), {7: head}), data, range(1)
    head = struct({1: i32(count), 2: i32(encoded.encoding), 3: i32(RLE), 4: i32(RLE)})
    values = encoded.values
    starts = range(0, max(values.size, 1), max(values.size // encoded.planes, 1))
    if levels:
        values = np.concatenate([np.frombuffer(levels, np.uint8), values])
        starts = range(starts.start + len(levels), starts.stop + len(levels), starts.step)
    yield (i32(_DATA_PAGE), {5: head}), values, starts


def _levels(column: pa.Array) -> bytes:
    """Which rows have a value, as a V1 data page begins."""
    if not column.null_count:
        runs = varint(len(column) << 1) + b"\1"
    else:
        octets = -(-len(column) // 8)
        runs = varint(octets << 1 | 1) + column.is_valid().buffers()[1].to_pybytes()[:octets]
    return len(runs).to_bytes(4, "little") + runs


def _statistics(column: pa.Array, kind: int, is_searched: bool) -> Value:
    least = most = None
    if is_searched and column.null_count < len(column):
        least, most = (_plain(end, kind) for end in _ends(column))
    return struct(
        {
            3: i64(column.null_count),
            5: None if most is None else binary(most),
            6: None if least is None else binary(least),
        }
    )


def _ends(column: pa.Array) -> tuple[Any, Any]:
    """The least and the most value of a column that has one."""
    if pa.types.is_integer(column.type) and not column.null_count:
        return page_packing.find_ends(column.to_numpy())
    values = column.dictionary if pa.types.is_dictionary(column.type) else column
    ends = pc.min_max(values)
    return ends["min"].as_py(), ends["max"].as_py()


def _plain(value: Any, kind: int) -> bytes:
    if kind == _BYTE_ARRAY:
        return str(value).encode()
    return np.array(value, _FORMATS[kind]).tobytes()


def _encode_whole(values: np.ndarray, is_rising: bool) -> _Encoded:
    if not values.size:
        return _encode_nothing()
    if is_rising:
        out = _scratch(page_packing.room_for_deltas(values.size))
        end = page_packing.pack_deltas(values.astype(np.int64, copy=False), out)
        return _Encoded(DELTA_BINARY_PACKED, out[:end].copy())
    least, most = page_packing.find_ends(values)
    if most - least < 256:
        entries = np.arange(least, most + 1, dtype=values.dtype)
        page, numbers = _bytes_of_numbers(values.size)
        page_packing.count_from(values, least, numbers)
        return _numbered(page, entries)
    if most - least < _WIDEST_NUMBERING:
        page, numbers = _bytes_of_numbers(values.size)
        places = np.full(most - least + 1, -1, np.int32)
        if page_packing.number_values(values, least, places, numbers) > 0:
            return _numbered(page, (np.flatnonzero(places >= 0) + least).astype(values.dtype))
    return _split(values)


def _split(values: np.ndarray) -> _Encoded:
    planes = _scratch(values.nbytes)
    page_packing.split_bytes(values, planes.reshape(values.itemsize, -1))
    return _Encoded(BYTE_STREAM_SPLIT, planes, planes=values.itemsize)


def _encode_reals(column: pa.Array) -> _Encoded:
    if not len(column):
        return _encode_nothing()
    # Numbers of more bits than a byte are noise to the compression; of a double they are few.
    is_short = pa.types.is_float32(column.type)
    fullest = min(256 if is_short else _FULLEST_DICTIONARY, len(column) // 2 + 1)
    if is_short and len(column[: 2 * fullest].unique()) > fullest:
        return _split(column.to_numpy().view(np.int32))
    found = column.dictionary_encode()
    entries = found.dictionary.to_numpy()
    if len(entries) > fullest:
        return _split(column.to_numpy().view(f"i{entries.itemsize}"))
    return _numbered(_pack_numbers(found.indices.to_numpy(), len(entries)), entries)


def _encode_nothing() -> _Encoded:
    return _Encoded(PLAIN, np.empty(0, np.uint8))


def _encode_texts(column: pa.Array) -> _Encoded:
    if not len(column):
        return _encode_nothing()
    found = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    texts = [text.encode() for text in found.dictionary.to_pylist()]
    data = b"".join(len(text).to_bytes(4, "little") + text for text in texts)
    page = _pack_numbers(found.indices.to_numpy(), len(texts))
    return _Encoded(RLE_DICTIONARY, page, (len(texts), data))


def _numbered(page: np.ndarray, entries: np.ndarray) -> _Encoded:
    return _Encoded(RLE_DICTIONARY, page, (entries.size, entries.tobytes()))


def _pack_numbers(numbers: np.ndarray, entries: int) -> np.ndarray:
    """Numbers into a dictionary: a byte each, however few, for the compression; or more bits."""
    if entries == 1:
        return np.frombuffer(b"\x08" + varint(numbers.size << 1) + b"\0", np.uint8)
    if entries <= 256:
        page, octets = _bytes_of_numbers(numbers.size)
        octets[:] = numbers
        return page
    width, groups = (entries - 1).bit_length(), -(-numbers.size // 8)
    head = _number_head(width, groups)
    page = np.empty(len(head) + width * groups + page_packing.SLACK_BYTES, np.uint8)
    page[: len(head)] = head
    wide = np.zeros(8 * groups, np.uint64)
    wide[: numbers.size] = numbers
    page_packing.pack_bits(wide, width, page, len(head))
    return page[: len(head) + width * groups]


def _bytes_of_numbers(count: int) -> tuple[np.ndarray, np.ndarray]:
    """A page for numbers of a byte each, and where in it they go."""
    groups = -(-count // 8)
    head = _number_head(8, groups)
    page = _scratch(len(head) + 8 * groups)
    page[: len(head)] = head
    page[len(head) + count :] = 0
    return page, page[len(head) : len(head) + count]


def _number_head(width: int, groups: int) -> np.ndarray:
    return np.frombuffer(bytes([width]) + varint(groups << 1 | 1), np.uint8)


def _scratch(size: int) -> np.ndarray:
    """Bytes of the thread's own, until it asks again: fresh ones cost more than what they hold."""
    found: np.ndarray | None = getattr(_here, "scratch", None)
    if found is None or found.size < size:
        found = _here.scratch = np.empty(size, np.uint8)
    return found[:size]


def _is_noise(page: np.ndarray) -> bool:
    """Whether compression is lost on a page, by its beginning."""
    probe = page[:_PROBE_BYTES]
    return len(_compress(probe, range(1))) > _WORTH_WHILE * len(probe)


def _compressor(is_long: bool) -> zstd.ZstdCompressor:
    """The thread's own compressor of long or of other pages."""
    name = "long" if is_long else "short"
    found: zstd.ZstdCompressor | None = getattr(_here, name, None)
    if found is None:
        found = zstd.ZstdCompressor(options=_LONG_LEVEL if is_long else _LEVEL)
        setattr(_here, name, found)
    return found


def _compress(page: Any, starts: range) -> bytes:
    """Compress a page.

    Args:
        starts: Where parts with statistics of their own begin: each gets blocks of its own. What
            comes before the first goes with it.
    """
    compressor = _compressor(len(page) >= _LONG_PAGE_BYTES)
    if len(starts) == 1:
        packed: bytes = compressor.compress(page, zstd.ZstdCompressor.FLUSH_FRAME)
        return packed
    ends = [*starts[1:], len(page)]
    modes: list[Any] = [zstd.ZstdCompressor.FLUSH_BLOCK] * (len(starts) - 1) + [
        zstd.ZstdCompressor.FLUSH_FRAME
    ]
    blocks = [
        compressor.compress(page[begin:end], mode)
        for begin, end, mode in zip([0, *ends[:-1]], ends, modes, strict=True)
    ]
    return b"".join(blocks)
