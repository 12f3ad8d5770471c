"""Read the raw files of a run, each whatever happens to the others."""

from collections.abc import Callable
from pathlib import Path

from data.errors import FormatError
from ingest.assemble import SourceRead
from ingest.discover import RawFile
from ingest.raw_files import BrokenCompressionError, MeteredFile
from ingest.records import CoreLog, Problem, ReadContext, Reading, SummaryTable

Content = CoreLog | Reading | SummaryTable


def read_source(
    file: RawFile, on_bytes: Callable[[int], None] | None = None
) -> tuple[SourceRead, SummaryTable | None]:
    """Read one raw file; what cannot be read becomes a problem, never an exception.

    Returns:
        The file as read, and its table if it is a table of runs.
    """
    metered = MeteredFile(Path(file.path), on_bytes)
    context = ReadContext(name=file.name, tsc_hz=file.settings.machine.tsc_hz)
    content, refusal = _read_content(file, metered, context)
    if refusal is not None:
        return SourceRead(file, metered.digest, None, [refusal]), None
    assert content is not None
    problems = list(content.problems)
    if _has_changed(file, metered.bytes_read):
        detail = (
            f"changed while it was read ({file.size} bytes before); the next ingest reads it again"
        )
        problems.append(Problem("changed_while_read", "doubted", detail))
    if isinstance(content, SummaryTable):
        return SourceRead(file, metered.digest, None, problems), content
    return SourceRead(file, metered.digest, content, problems), None


def _read_content(
    file: RawFile, metered: MeteredFile, context: ReadContext
) -> tuple[Content | None, Problem | None]:
    try:
        try:
            content = file.format.read(metered.blocks(), context)
        finally:
            metered.finish()
    except BrokenCompressionError as error:
        return None, Problem("broken_compression", "refused", f"{error}; not used")
    except FormatError as error:
        return None, Problem("bad_content", "refused", f"{error}; not used")
    except OSError as error:
        return None, Problem("unreadable", "refused", f"{error.strerror or error}; not used")
    return content, None


def _has_changed(file: RawFile, bytes_read: int) -> bool:
    try:
        status = Path(file.path).stat()
    except OSError:
        return True
    return (status.st_size, status.st_mtime) != (file.size, file.mtime) or bytes_read != file.size
