"""Files by the shape of their names: those that differ in numbers alone are alike."""

import os
import re
import stat
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from data.errors import FormatError
from ingest.discover.names import strip_compression
from ingest.files.blocks import HEAD_BYTES, read_head
from ingest.files.walk import walk_folders
from ingest.formats import Format, find_format
from ingest.formats.trace_layout import header_of
from ingest.settings.dataset import FILE_NAME

_HEADS_A_SHAPE: Final = 3
# Files of a shape that say whether rows are samples or runs.
_MOST_VOTES: Final = 24
_OF_ROWS: Final = ("trace", "table")
_HEAD_BYTES: Final = 1 << 14
MACHINE: Final = re.compile(r"[a-z]{1,3}\d{3,4}[a-z]*\d*")
_BEHIND: Final = re.compile(r"[A-Za-z]{2,}[_\-]")
_TOKEN: Final = re.compile(
    r"(?P<stamp>(?<!\d)20\d\d(?:-\d\d-\d\d|\d{4})[ _T-]\d\d(?:[-_:.]?\d\d){1,2}(?!\d))|"
    r"(?P<hex>0[xX][0-9a-fA-F]+)|(?P<size>\d+[kKmMgG](?:i?[bB])?(?![A-Za-z]))|(?P<number>\d+)"
)


class FoundFile(NamedTuple):
    """A file that `look` found.

    Attributes:
        path: Relative to the given folder, with `/`.
        size: Bytes.
    """

    path: str
    size: int


class _Token(NamedTuple):
    kind: str
    text: str
    word: str


@dataclass(slots=True)
class Shape:
    """Files whose paths differ in numbers only.

    Attributes:
        literals: The parts of the path before, between and after the numbers.
        kinds: The type of each number: `hex`, `number`, or `stamp` for a date with a time.
        tokens: The numbers of each file's path.
        form: Name of the format, from some heads; None if no format fits.
        role: Role of the format.
        is_voted: Whether the content of some of its files, by itself, is of another format.
    """

    literals: tuple[str, ...]
    kinds: tuple[str, ...]
    files: list[FoundFile] = field(default_factory=list)
    tokens: list[tuple[_Token, ...]] = field(default_factory=list)
    form: str | None = None
    role: str = ""
    is_voted: bool = False

    @property
    def example(self) -> str:
        """The first file."""
        return self.files[0].path

    @property
    def folder(self) -> str:
        """The folder with its numbers as `#`."""
        return "#".join(self.literals).rpartition("/")[0]

    @property
    def signature(self) -> str:
        """The name with its numbers as `#`, without its ending."""
        return re.sub(r"\.[A-Za-z]+$", "", "#".join(self.literals).rpartition("/")[2])


def shapes_of(files: Iterable[FoundFile]) -> list[Shape]:
    """Group files by their paths without numbers, in the order of the paths."""
    shapes: dict[tuple[str, ...], Shape] = {}
    for file in sorted(files):
        tokens, literals = _tokens(file.path)
        kinds = tuple("number" if token.kind == "size" else token.kind for token in tokens)
        shape = shapes.setdefault((*literals, "", *kinds), Shape(literals, kinds))
        shape.files.append(file)
        shape.tokens.append(tokens)
    return list(shapes.values())


def _tokens(path: str) -> tuple[tuple[_Token, ...], tuple[str, ...]]:
    """Split a path into its numbers and the parts between them.

    Digits in names of machines are not numbers.
    """
    tokens, literals, at = list[_Token](), list[str](), 0
    names = _machine_spans(path.rpartition("/")[0])
    for match in _TOKEN.finditer(path):
        if names and any(start <= match.start() < end for start, end in names):
            continue
        before = path[at : match.start()]
        # Of `100rps_2t` the word is of the number before it.
        word = "" if tokens and _BEHIND.fullmatch(before) else _word_at_end(before)
        tokens.append(_Token(str(match.lastgroup), match[0], word))
        literals.append(before)
        at = match.end()
    return tuple(tokens), (*literals, path[at:])


@lru_cache(maxsize=1024)
def _machine_spans(folder: str) -> tuple[tuple[int, int], ...]:
    """Return start and end of each part of a path that is the name of a machine."""
    parts = re.finditer(r"[^/]+", folder)
    return tuple(part.span() for part in parts if MACHINE.fullmatch(part[0]))


@lru_cache(maxsize=4096)
def _word_at_end(text: str) -> str:
    """Return the word at the end of a text, which names the number after it; empty for none."""
    word = re.search(r"([A-Za-z]+)[_\-=.]?$", text)
    return word[1].lower() if word else ""


def look(folder: Path) -> tuple[list[FoundFile], list[Shape]]:
    """Find the files of a folder and their shapes, with formats from some heads of each shape."""
    top = folder if folder.is_dir() else folder.parent
    only = None if folder.is_dir() else str(folder)
    start = len(str(top).rstrip("/")) + 1
    files = []
    # Paths are texts, since with 200,000 files `Path` takes half of the time.
    for listing in walk_folders(str(top), lambda _: None):
        for name in listing.files:
            path = f"{listing.folder.rstrip('/')}/{name}"
            if name == FILE_NAME or only not in (None, path):
                continue
            with suppress(OSError):
                status = os.stat(path)
                if stat.S_ISREG(status.st_mode):
                    files.append(FoundFile(path[start:], status.st_size))
    shapes = shapes_of(FoundFile(strip_compression(f.path), f.size) for f in files)
    real = {strip_compression(file.path): file.path for file in files}
    for shape in shapes:
        _look_at(shape, top, real)
    _vote(shapes, top, real)
    return files, shapes


def _vote(shapes: Iterable[Shape], top: Path, real: Mapping[str, str]) -> None:
    """Take files with one header for one thing, samples or a run a row, as most of them are.

    A few samples are no trace by themselves: where it is equally many, samples.
    """
    alike: dict[str, list[Shape]] = defaultdict(list)
    forms: dict[str, Counter[Format]] = defaultdict(Counter)
    for shape in (each for each in shapes if each.role in _OF_ROWS):
        for file in shape.files[:: 1 + len(shape.files) // _MOST_VOTES]:
            with suppress(OSError, FormatError):
                head = _head_of(top / real[file.path], _HEAD_BYTES)
                known = find_format(file.path.rpartition("/")[2], head)
                header = header_of(head)
                if known is not None and known.role in _OF_ROWS and header:
                    forms[header][known] += 1
                    alike[header].append(shape)
    for header, votes in forms.items():
        best = max(votes, key=lambda form: (votes[form], form.role == "trace"))
        for shape in alike[header] if len(votes) > 1 else ():
            shape.form, shape.role, shape.is_voted = best.name, best.role, True


def _look_at(shape: Shape, top: Path, real: Mapping[str, str]) -> None:
    for file in [file for file in shape.files if file.size][:_HEADS_A_SHAPE]:
        try:
            known = _format_of(file.path, top / real[file.path], _HEAD_BYTES)
            if known is None and file.size > _HEAD_BYTES:
                # Samples of some programs have many lines.
                known = _format_of(file.path, top / real[file.path], HEAD_BYTES)
        except (OSError, FormatError):
            continue
        if known is not None:
            shape.form, shape.role = known.name, known.role
            return


def _format_of(path: str, place: Path, size: int) -> Format | None:
    return find_format(path.rpartition("/")[2], _head_of(place, size))


def _head_of(place: Path, size: int) -> bytes:
    """Return the beginning of a file, of whole lines if it is a text."""
    head = read_head(place, size)
    is_cut = len(head) == size and b"\0" not in head
    return (head.rpartition(b"\n")[0] if is_cut else head) or head
