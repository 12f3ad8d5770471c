"""The sources of a run: each small raw file read by itself; entries of `runs.sources`."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from data.errors import FormatError
from ingest.discover.found_files import RawFile, digest_of
from ingest.discover.names import find_name, read_knob, strip_compression
from ingest.files.blocks import BrokenCompressionError, MeteredFile
from ingest.formats.log_reader import LogFacts
from ingest.formats.trace_cells import number_text
from ingest.lake.state import SETTINGS_FORMAT
from ingest.records import Content, Problem, ReadContext, Reading, RefusedError
from ingest.settings.dataset import Settings


@dataclass(slots=True)
class SourceRead:
    """One raw file after it was read; `content` is None if it was refused."""

    file: RawFile
    digest: str
    content: Content | LogFacts | None
    problems: list[Problem] = field(default_factory=list)


def read_source(file: RawFile, on_bytes: Callable[[int], None] | None = None) -> SourceRead:
    """Read one small raw file; errors become problems, not exceptions."""
    metered = MeteredFile(Path(file.path), on_bytes)
    settings = file.settings
    context = ReadContext(
        file.name,
        settings.machine.tsc_hz,
        settings.power.date_order,
        part=file.part,
        tables=settings.tables_of(strip_compression(file.path)),
        logs=settings.logs_of(strip_compression(file.path)),
        meter=settings.meter_of(strip_compression(file.path)),
        hdr_unit=settings.hdr_unit,
        turbostat_s=settings.turbostat_s,
    )
    try:
        try:
            content = file.format.read(metered.blocks(), context)
        finally:
            metered.finish()
    except RefusedError as error:
        return SourceRead(file, metered.digest, None, error.problems)
    except (FormatError, OSError) as error:
        return SourceRead(file, metered.digest, None, [refusal_of(error)])
    if isinstance(content, Reading):
        _take_stated(content, file)
    problems = [*content.problems, *change_of(file, metered.bytes_read)]
    return SourceRead(file, metered.digest, content, problems)


def _take_stated(content: Reading, file: RawFile) -> None:
    """Give a run what its file states and the settings of its name declare as columns.

    A column that is set is no measurement, such as the mean of a clock that never changes.
    """
    found = find_name(file.path, file.settings)[0]
    for heading, name in file.settings.names[found.number].columns if found else ():
        if not (text := content.facts.pop(heading, "")):
            continue
        column = file.settings.columns[name]
        try:
            text = text if column.kind == "text" else number_text(text)
            content.knobs[name] = read_knob(column, text)
        except FormatError as error:
            content.problems.append(Problem("bad_knob", "doubted", f"{error}; left unset"))
        content.columns = tuple(each for each in content.columns if each.name != name)
        content.measurements.pop(name, None)


def refusal_of(error: FormatError | OSError) -> Problem:
    """Return the problem of a file that is not used."""
    if isinstance(error, BrokenCompressionError):
        return Problem("broken_compression", "refused", f"{error}; not used")
    if isinstance(error, FormatError):
        return Problem("bad_content", "refused", f"{error}; not used")
    return Problem("unreadable", "refused", f"{error.strerror or error}; not used")


def change_of(file: RawFile, bytes_read: int) -> list[Problem]:
    """Return a problem if a file has changed since it was found; else none."""
    try:
        status = Path(file.path).stat()
        is_same = (status.st_size, status.st_mtime) == (file.size, file.mtime)
    except OSError:
        is_same = False
    if is_same and bytes_read == file.size:
        return []
    detail = f"changed while it was read ({file.size} bytes before); the next ingest reads it again"
    return [Problem("changed_while_read", "doubted", detail)]


def sources_digest(
    reads: Sequence[SourceRead], meters: Sequence[RawFile], settings: Settings
) -> str:
    """Return the digest of a run's sources and settings; part of the names of its big files."""
    parts = sorted(f"{read.file.format.name} {read.digest}" for read in reads)
    parts += sorted(f"{meter.format.name} {digest_of(meter)}" for meter in meters)
    return hashlib.sha256("\n".join([*parts, settings.fingerprint]).encode()).hexdigest()[:12]


def source_struct(file: RawFile, digest: str) -> dict[str, Any]:
    """Return one element of `runs.sources`."""
    return {
        "path": file.path,
        "format": file.format.name,
        "size_bytes": file.size,
        "mtime": file.mtime,
        "digest": digest,
    }


def settings_struct(settings: Settings, is_row: bool = False) -> dict[str, Any]:
    """Return the element of `runs.sources` for the settings that the numbers depend on.

    Args:
        is_row: Whether the run is a row of a table.
    """
    return {
        "path": settings.origin,
        "format": SETTINGS_FORMAT,
        "size_bytes": None,
        "mtime": None,
        "digest": settings.table_fingerprint if is_row else settings.fingerprint,
    }
