"""Why a folder gave nothing: its files by shape, and what the first of each lacks."""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from data.errors import FormatError
from ingest.discover.file_choice import Problems
from ingest.discover.found_files import Discovery, Ignored
from ingest.discover.names import strip_compression
from ingest.files.blocks import read_head
from ingest.formats.documents import is_yaml, may_be_document, parse_document
from ingest.formats.json_rows import places_of
from ingest.formats.table_text import SEPARATED
from ingest.formats.written_numbers import is_number
from ingest.proposals.blocks import sections_of
from ingest.proposals.name_tokens import literal
from ingest.proposals.path_parts import read_paths
from ingest.proposals.shapes import FoundFile, Shape, shapes_of
from ingest.records import Problem, Severity
from ingest.settings.dataset import FILE_NAME
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_measurement

# Headings that are numbers, such as `1200MHz`.
_STEPS: Final = re.compile(r"\d[\d.]* ?[A-Za-z%]*(?:\s*[,;\t]\s*\d[\d.]* ?[A-Za-z%]*)+")
_MARKS: Final = {"commas": ",", "semicolons": ";", "tabs": "\t"}
_CELLS: Final = re.compile(r"\s*[,;\t|]\s*|\s+")
# The line below the header of a table.
_MARKDOWN: Final = re.compile(r"[ |]*:?-+:? *(?:\| *:?-+:? *)+\|?\s*")
_LEAST_MEASURED: Final = 3
_OTHER_BARS: Final = "no row of numbers is told from the other lines: write CSV"
_LEAST_ROWS: Final = 2
_FRACTION: Final = re.compile(r"[:\[,]\s*-?\d+\.\d+")
_LEAST_NUMBERS: Final = 4
_MOST_ROWS: Final = 400
_SHOWN_SHAPES: Final = 5
# Words of names of files that say what numbers without a heading are.
_QUANTITIES: Final = ("energy", "power", "runtime", "duration", "latency")
_MOST_WIDTHS: Final = 3
_MOST_SHAPES: Final = 24
# Of more files that are no raw logs, the first say what they are.
_MOST_IGNORED: Final = 5_000
_HEAD_BYTES: Final = 1 << 16
_WRITE: Final = "write CSV, JSON or Parquet"
# Where the bytes stand that tell a binary format, and the reason why it is not read.
_BINARIES: Final = (
    (0, b"PK\x03\x04", "a zip archive: unpack it"),
    (257, b"ustar", "a tar archive: unpack it"),
    (0, b"\x89HDF", f"HDF5: {_WRITE}"),
    (0, b"ARROW1", f"Arrow or Feather: {_WRITE}"),
    (1, b"NUMPY", f"arrays of NumPy: {_WRITE}"),
    (0, b"MATLAB 5.0", f"MATLAB: {_WRITE}"),
)
_MOST_KEYS: Final = 4
# Kind of the problem of files of which no run is read.
NOT_READ: Final = "not_read"
_SEE: Final = "docs/own-logs.md says what is read, and how `[[tables]]` and `[[logs]]` declare more"


def describe_unread(ignored: Sequence[Ignored]) -> Iterator[str]:
    """Yield why nothing was read: one line a shape, those with most files first."""
    if not ignored:
        yield "nothing was read: there is no file"
        return
    yield "nothing was read:"
    shapes = _shapes_of(ignored)
    for shape in shapes[:_SHOWN_SHAPES]:
        count, path = len(shape.files), shape.example
        files = f"{count} files like {path}" if count > 1 else path
        yield f"  {files}: {_reason(Path(path))}"
    if len(shapes) > _SHOWN_SHAPES:
        yield f"  and {len(shapes) - _SHOWN_SHAPES} more shapes of names"
    yield f"  {_SEE}"
    yield from lines_to_paste([each.path for each in ignored])


def _shapes_of(ignored: Sequence[Ignored]) -> list[Shape]:
    """Return the shapes of files, those with most files first; a text about the data is no data."""
    shapes = shapes_of(FoundFile(each.path, 0) for each in ignored)
    return sorted(shapes, key=lambda s: (-len(s.files), s.example.lower().endswith(".md")))


def unread_problems(discovery: Discovery, is_empty: bool) -> Problems:
    """Return the problems of files of which no run is read: one a shape, of its first file.

    Where no file is read, each shape is refused. Beside others, tables by their ending and files
    with rows of numbers, or documents with fractions, are doubted: a text about the data, or a
    program, has none.

    Args:
        is_empty: Whether no file is read.
    """
    ignored = [each for each in discovery.ignored[:_MOST_IGNORED] if not each.is_joined]
    problems: Problems = {}
    for shape in _shapes_of(ignored)[: _SHOWN_SHAPES if is_empty else _MOST_SHAPES]:
        path = shape.example
        is_data = SEPARATED.search(path) is not None or _has_rows_of_numbers(Path(path))
        if not is_empty and not is_data:
            continue
        dataset = next((name for name, seen in discovery.seen.items() if path in seen), None)
        if dataset is None:
            continue
        severity: Severity = "refused" if is_empty else "doubted"
        problem = Problem(NOT_READ, severity, _reason(Path(path)), count=len(shape.files))
        problems[dataset, path] = [problem]
    return problems


def _has_rows_of_numbers(path: Path) -> bool:
    """Return whether most lines of a text, and a few at least, have two numbers or more; or whether
    a document has as many fractions, which nobody sets.
    """
    if path.suffix.lower() == ".json" and len(_FRACTION.findall(_text_of(path))) > _LEAST_NUMBERS:
        return True
    lines = [line for line in _text_of(path).splitlines() if line.strip()][:_MOST_ROWS]
    rows = [sum(map(is_number, _CELLS.split(line.strip()))) for line in lines]
    numeric = sum(numbers >= _LEAST_ROWS for numbers in rows)
    return numeric > _LEAST_NUMBERS and 2 * numeric > len(lines)


def _text_of(path: Path) -> str:
    """Return the beginning of a text; nothing of a pipe, which would be waited for."""
    if not path.is_file():
        return ""
    try:
        head = read_head(path, _HEAD_BYTES)
    except (OSError, FormatError):
        return ""
    text = head.decode("utf-8-sig", "replace")
    text = text.rpartition("\n")[0] if len(head) == _HEAD_BYTES else text
    return "" if "\0" in text else text


def _reason(path: Path) -> str:
    """Return what a file lacks to be read; a pipe would be waited for."""
    if path.exists() and not path.is_file():
        return "neither a file nor a folder"
    try:
        head = read_head(path, _HEAD_BYTES)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except FormatError as error:
        return str(error)
    if not head.strip():
        return "empty"
    if reasons := [reason for at, magic, reason in _BINARIES if head.startswith(magic, at)]:
        return reasons[0]
    if b"\0" in head:
        return "binary, of no known format"
    text = head.decode("utf-8-sig", "replace").lstrip()
    if may_be_document(head, path.name):
        return _document_reason(text, path.name)
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        return "one line, so no header with rows"
    named = next((name for name, mark in _MARKS.items() if mark in lines[0]), "")
    split = [[cell.strip() for cell in line.split(_MARKS.get(named))] for line in lines]
    if named and _lacks_names(split):
        return f"cells between {named} without names: write those of the columns above the rows"
    if named and _STEPS.fullmatch(lines[0].partition(_MARKS[named])[2].strip()):
        return (
            f"cells between {named} at the crossings of two settings: a name such as energy_j.csv "
            "says what was measured, or a row a run with a heading for each setting"
        )
    if all(map(is_number, lines)):
        if named := _quantity_in([path.name]):
            known = f"numbers without names: {named}, by that of the file, in an unknown unit"
            return f"{known}; where a line is a run, write a heading such as `{named} (UNIT)` above"
        return "numbers without names: write what was measured above them"
    if named:
        return _broken_rows(split) or f"cells between {named}, but no header with rows of numbers"
    if tables := [*filter(_MARKDOWN.fullmatch, lines)]:
        known = "three rows below a heading of a measurement, such as `energy (J)`"
        of = f"Markdown tables, {len(tables)} in all"
        return f"{of}: {_OTHER_BARS if _is_measured(lines) else f'none with {known}'}"
    if _rows_without_names(path):
        return "cells between blanks without names: write those of the columns above the rows"
    return "text without a header, columns or a known tool's lines; `[[logs]]` can declare it"


def _is_measured(lines: Sequence[str]) -> bool:
    """Return whether a table of Markdown has three rows below a heading of a measurement."""
    return any(
        _MARKDOWN.fullmatch(line)
        and any(map(is_measurement, lines[at].split("|")))
        and all("|" in row for row in lines[at + 2 : at + 2 + _LEAST_MEASURED])
        and len(lines) >= at + 2 + _LEAST_MEASURED
        for at, line in enumerate(lines[1:])
    )


def _broken_rows(rows: Sequence[Sequence[str]]) -> str:
    """Return that rows have other numbers of cells than the header; empty if most have as many."""
    header, *others = rows
    widths = Counter(map(len, others))
    if 2 * widths[len(header)] > len(others):
        return ""
    said = " or ".join(str(width) for width, _ in widths.most_common(_MOST_WIDTHS))
    return (
        f"the header has {len(header)} cells, and rows below have {said}: "
        "a line break or a separator within a cell needs quotes"
    )


def _lacks_names(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first line is a row too: of numbers, or of a name that recurs below."""
    first, *others = rows
    return all(map(is_number, first)) or (
        any(map(is_number, first[1:])) and any(each[0] == first[0] for each in others)
    )


def lines_to_paste(paths: Sequence[str]) -> Iterator[str]:
    """Yield the settings that read tables without headings, an entry for each form in a folder."""
    forms: dict[tuple[Path, int], dict[str, list[list[str]]]] = defaultdict(dict)
    for shape in shapes_of(FoundFile(path, 0) for path in paths)[:_MOST_SHAPES]:
        if rows := _rows_without_names(Path(shape.example)):
            form = forms[Path(shape.example).parent, len(rows[0])]
            form.update({file.path: rows for file in shape.files})
    for files in forms.values():
        yield from _entry([*files], [*chain.from_iterable(files.values())])


def _entry(paths: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the entry of files: what their names below their folder differ in are settings."""
    folder = Path(os.path.commonpath([Path(path).parent for path in paths]))
    names = [strip_compression(Path(path).relative_to(folder).as_posix()) for path in paths]
    pattern, parts = read_paths(names) if len(names) > 1 else (literal(names[0]), [])
    quantity = _quantity_in(names) if len(rows[0]) == 1 else ""
    if quantity:
        yield f"# into {folder}/{FILE_NAME}, if a line is a run and no sample;"
        yield f"# the names of the files say {quantity}, and nothing says its unit"
        yield from (f"[columns.{quantity}]", 'role = "metric"', 'type = "real"')
        yield from (f"title = '{quantity}'", "unit = ''")
    else:
        yield f"# into {folder}/{FILE_NAME}, each column with its name; energy_j, power_w,"
        yield "# duration_s, threads, replicate are taken for these, others for settings or metrics"
    yield from "".join(sections_of(parts)).splitlines()
    yield "[[tables]]"
    yield f"pattern = '{pattern}'"
    yield "factors = true"
    yield "columns = ["
    for number, cells in enumerate(zip(*rows, strict=True), 1):
        values = [*dict.fromkeys(cells)]
        is_real = all(map(is_number, values))
        ends = [f"{end(map(float, values)):g}" for end in (min, max)] if is_real else []
        few = f"{len(values)} value{'s' * (len(values) > 1)}: {', '.join(values[:_MOST_KEYS])}"
        said = f"numbers from {' to '.join(ends)}" if is_real and len(values) > _MOST_KEYS else few
        name = quantity or f"{'number' if is_real else 'text'}_{number}"
        yield f'  "{name}",  # {said}'
    yield "]"


def _quantity_in(names: Sequence[str]) -> str:
    """Return the quantity that all names of files have a word of; empty for none."""
    words = [{*words_of(name)} for name in names]
    return next((each for each in _QUANTITIES if all(each in own for own in words)), "")


def _rows_without_names(path: Path) -> list[list[str]]:
    """Return the first rows of a table without headings; none of other files."""
    lines = [line for line in _text_of(path).splitlines() if line.strip()][:_MOST_ROWS]
    if len(lines) < _LEAST_ROWS:
        return []
    for mark in (*_MARKS.values(), "|", None):
        rows = [[cell.strip(' "') for cell in line.split(mark)] for line in lines]
        width = len(rows[0]) if len({*map(len, rows)}) == 1 else 0
        numeric = (all(is_number(row[at]) for row in rows) for at in range(width))
        # Two words a line are cells if both columns are numbers.
        are_cells = width > 2 or (width > 1 and (mark is not None or _are_numbers(rows)))
        if are_cells and any(numeric) and _lacks_names(rows):
            return rows
    is_bare = len(lines) >= _LEAST_NUMBERS and all(map(is_number, lines))
    return [[line] for line in lines] if is_bare else []


def _are_numbers(rows: Sequence[Sequence[str]]) -> bool:
    return len(rows) > _LEAST_ROWS and all(map(is_number, chain.from_iterable(rows)))


def _document_reason(text: str, name: str) -> str:
    kind = "YAML" if is_yaml(name) else "JSON"
    try:
        document, _ = parse_document(text, name)
    except FormatError:
        return f"begins like {kind}, but is none"
    places = places_of(document)
    if not places:
        return f"{kind} without an object"
    objects = places[0].objects
    keys = list(dict.fromkeys(key for _, content in objects[:10] for key in content))
    named = ", ".join(keys[:_MOST_KEYS]) + (", ..." if len(keys) > _MOST_KEYS else "")
    where = f" under `{places[0].path}`" if places[0].path else ""
    return (
        f"{kind}, {len(objects)} object{'s' * (len(objects) > 1)}{where} ({named}) "
        f"without a {'result' if kind == 'YAML' else 'number'}"
    )
