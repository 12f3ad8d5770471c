"""Thrift's compact protocol, as far as a Parquet file's headers and footer need it.

Source: Apache Thrift, "Thrift Compact protocol encoding".
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

_I32: Final = 5
_I64: Final = 6
_BINARY: Final = 8
_LIST: Final = 9
_STRUCT: Final = 12


class Value(NamedTuple):
    """A value as bytes, and the protocol's number of its type."""

    kind: int
    data: bytes


@lru_cache(1 << 12)
def i32(number: int) -> Value:
    """A whole number of 32 bits, or an enumeration's; mostly one of a few."""
    return Value(_I32, _signed(number))


def i64(number: int) -> Value:
    """A whole number of 64 bits."""
    return Value(_I64, _signed(number))


def binary(data: bytes | str) -> Value:
    """Bytes, or a text's."""
    octets = data.encode() if isinstance(data, str) else data
    return Value(_BINARY, varint(len(octets)) + octets)


def listed(values: Iterable[Value]) -> Value:
    """A list of values of one type; of structures, if it is empty."""
    members = list(values)
    kind, count = members[0].kind if members else _STRUCT, len(members)
    head = bytes([count << 4 | kind]) if count < 15 else bytes([0xF0 | kind]) + varint(count)
    return Value(_LIST, head + b"".join(value.data for value in members))


def struct(fields: dict[int, Value | None]) -> Value:
    """Fields by their rising numbers; one that is None is left out."""
    parts, before = [], 0
    for number, value in fields.items():
        if value is None:
            continue
        step = number - before
        if not 0 < step < 16:
            raise AssertionError(f"BUG: field {number} after field {before}")
        parts += [bytes([step << 4 | value.kind]), value.data]
        before = number
    return Value(_STRUCT, b"".join(parts) + b"\0")


def varint(number: int) -> bytes:
    """An unsigned number, 7 bits a byte."""
    if number < 0x80:
        return bytes((number,))
    octets = bytearray()
    while number >= 0x80:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    octets.append(number)
    return bytes(octets)


def _signed(number: int) -> bytes:
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)
