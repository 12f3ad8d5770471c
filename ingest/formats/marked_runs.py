"""Logs of marks alone, `START threads=4 2026-...` and `END ...`: runs beside a trace of power."""

from collections.abc import Iterable, Iterator
from typing import Final

from data.errors import FormatError
from ingest.files.text_lines import decode_text, whole_text
from ingest.formats.pasted import settings_of
from ingest.formats.run_marks import Mark, mark_in, window_of
from ingest.records import ReadContext, Reading, UtcWindow

_LEAST_RUNS: Final = 2
# Such a share of the lines are marks.
_LEAST_MARKS: Final = 0.8


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether nearly all lines are marks: begins and ends by turns."""
    lines = [line for line in decode_text(head).splitlines() if line.strip()]
    if len({line.count(",") for line in lines} - {0}) == 1 and all("," in line for line in lines):
        return False  # A table of such events.
    marks = [mark for line in lines if (mark := mark_in(line)) is not None]
    is_log = len(marks) >= max(2 * _LEAST_RUNS, _LEAST_MARKS * len(lines))
    return is_log and len([*_pairs(marks)]) >= _LEAST_RUNS


def _pairs(marks: Iterable[Mark]) -> Iterator[tuple[Mark, UtcWindow]]:
    """Yield each begin with the time up to the end behind it."""
    begin: Mark | None = None
    for mark in marks:
        if begin is not None and not mark.is_begin and (window := window_of(begin, mark)):
            yield begin, window
        begin = mark if mark.is_begin else None


def list_parts(blocks: Iterable[bytes], context: ReadContext) -> list[str]:
    """Return the numbers of the runs of a log.

    Raises:
        FormatError: As `read`.
    """
    return [str(number) for number, _ in enumerate(_runs(blocks, context), 1)]


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read the time of one run, and what its begin says was set.

    Raises:
        FormatError: No run.
    """
    runs = _runs(blocks, context)
    if not runs:
        raise FormatError(f"no begin with an end ({context.name})")
    at = int(context.part or 1) - 1
    knobs, columns = settings_of([begin.rest for begin, _ in runs])
    window = runs[at][1]
    reading = Reading(knobs=knobs[at], columns=tuple(columns), utc_window=window)
    reading.measurements["duration_s"] = window.length_s
    return reading


def _runs(blocks: Iterable[bytes], context: ReadContext) -> list[tuple[Mark, UtcWindow]]:
    lines = whole_text(blocks, context.name).splitlines()
    return [*_pairs(mark for line in lines if (mark := mark_in(line)) is not None)]
