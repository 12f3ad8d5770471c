"""Text out of blocks with arbitrary boundaries: whole texts, lines, Python byte literals."""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from data.errors import FormatError

_MOST_TEXT_BYTES: Final = 16 * 1024 * 1024
_LONGEST_LINE: Final = 1 << 16
_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SEPARATOR: Final = re.compile(r"""\ufeff?"?sep=.?"?\s*""", re.IGNORECASE)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}


def starts_with_mark(data: bytes) -> bool:
    """Return whether a text starts with a byte-order mark."""
    return data.startswith(tuple(_MARKS))


def decode_text(data: bytes) -> str:
    """Decode by the byte-order mark (removed), else as UTF-8; invalid bytes become U+FFFD."""
    encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
    return data.decode(encoding, "replace")


def without_mark(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Remove a UTF-8 byte-order mark at the start; a block boundary may split it."""
    head = b""
    waiting = True
    for block in blocks:
        if not waiting:
            yield block
            continue
        head += block
        if len(head) >= len(codecs.BOM_UTF8) or not codecs.BOM_UTF8.startswith(head):
            waiting = False
            yield head.removeprefix(codecs.BOM_UTF8)
    if waiting and head:
        yield head


def without_separator(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines; a first one that tells spreadsheets the separator, `sep=;`, becomes empty."""
    source = iter(lines)
    for first in islice(source, 1):
        yield "" if _SEPARATOR.fullmatch(first) else first
    yield from source


def whole_text(blocks: Iterable[bytes], name: str) -> str:
    """Join the blocks of a load generator's output; unwrap it if it is a Python byte literal.

    Args:
        blocks: The file's bytes, in blocks with arbitrary boundaries.
        name: File name for the error.

    Raises:
        FormatError: The text is over 16 MiB, larger than any such output.
    """
    return unwrap_literal(decode_text(joined(blocks, name, _MOST_TEXT_BYTES)))


def joined(blocks: Iterable[bytes], name: str, most: int) -> bytes:
    """Join the blocks of a file.

    Raises:
        FormatError: There are more bytes than `most`.
    """
    data = bytearray()
    for block in blocks:
        data += block
        if len(data) > most:
            raise FormatError(f"output too large: over {most} bytes ({name})")
    return bytes(data)


def unwrap_literal(text: str) -> str:
    r"""Return the content of a Python byte literal `b'...'`, newlines real or `\n`; else the text.

    A truncated literal without its last quote is unwrapped as well.
    """
    bare = text.strip()
    if bare[:2] not in ("b'", 'b"'):
        return text
    inner = bare[2:].removesuffix(bare[1])
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), inner)


def iterate_lines(blocks: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a text without line ends; a line is truncated at 64 KiB.

    A UTF-8 byte-order mark is removed.
    """
    rest = b""
    for block in without_mark(blocks):
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield _decoded(line)
        rest = rest[:_LONGEST_LINE]
    if rest:
        yield _decoded(rest)


def _decoded(line: bytes) -> str:
    try:
        return line.decode().rstrip("\r")
    except UnicodeDecodeError:
        # Programs of Windows write its code page; a line that was cut may end within a letter.
        is_cut = len(line) >= _LONGEST_LINE
        return line.decode("utf-8" if is_cut else "cp1252", "replace").rstrip("\r")
