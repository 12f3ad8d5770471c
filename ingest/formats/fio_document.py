"""The JSON documents in fio's output, found among other text, and their groups of jobs."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from data.errors import FormatError
from ingest.files.text_lines import decode_text, joined
from ingest.formats.documents import objects_in
from ingest.records import ProblemList

_MOST_BYTES: Final = 256 * 1024 * 1024
_JOB: Final = re.compile(r'"jobname"\s*:')
_MESSAGE: Final = re.compile(r"^fio: .*", re.MULTILINE)
_ALL_CLIENTS: Final = "All clients"
# Tolerance when the time between two documents is compared with fio's whole elapsed seconds.
_SLACK_S: Final = 1.5


@dataclass(frozen=True, slots=True)
class Job:
    """One entry of `jobs`: a job, or several of one kind reported as one.

    Attributes:
        line: Line of the file where the entry begins.
        options: The user's options merged over the global ones; None if the document has neither.
        content: The entry itself.
    """

    line: int
    name: str
    group: int
    options: dict[str, str] | None
    content: dict[str, Any]

    @property
    def error(self) -> int:
        """The errno with which the job ended; 0 for success."""
        return int(self.content.get("error", 0))


@dataclass(frozen=True, slots=True)
class Document:
    """A complete document of a file: its jobs by group; a group's jobs ran together.

    Attributes:
        span: Where it begins and ends in the text.
        written_unix_s: When fio wrote the document, with the error `written_error_s`.
        version: Version of fio; empty if unknown.
    """

    groups: dict[str, list[Job]]
    span: tuple[int, int]
    written_unix_s: float | None
    written_error_s: float
    version: str = ""


def read_documents(
    blocks: Iterable[bytes], name: str, problems: ProblemList
) -> tuple[str, list[Document]]:
    """Return a text and its complete documents; a truncated one becomes a problem.

    Of one that goes on with the counts of an earlier one (`--status-interval`) the last is there.

    Raises:
        FormatError: No complete document, or one without jobs.
    """
    text = decode_text(joined(blocks, name, _MOST_BYTES))
    found: list[tuple[int, int, int, dict[str, Any]]] = []
    cut_off = ""
    counter = _LineCounter(text)
    for start, end, content in objects_in(text):
        line = counter.line_at(start)
        if isinstance(content, Exception):
            if '"fio version"' in text[start : start + 200]:
                cut_off = f"a document that cannot be parsed to its end: {content}"
                problems.add("cut_document", "refused", f"{cut_off}; not used", line)
        elif "jobs" in content or "client_stats" in content:
            if found and _is_continued(found[-1][3], content):
                found.pop()
            found.append((start, end, line, content))
    if not found:
        instead = f", but {message[0][:100]!r}" if (message := _MESSAGE.search(text)) else ""
        instead = f", but {cut_off}" if cut_off else instead
        raise FormatError(f"no whole JSON document with jobs{instead} ({name})")
    return text, [
        _document(text, (start, end), line, content, name) for start, end, line, content in found
    ]


def _is_continued(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> bool:
    """Return whether a document continues the counts of an earlier one (`--status-interval`).

    If so, the same jobs made no fewer requests (fio restarts the counts after a ramp), and the
    time between the documents is the time that fio itself counted. Malformed fields count as
    continued; the caller reports them.
    """
    before, after = _entries(earlier), _entries(later)
    if [each.get("jobname") for each in before] != [each.get("jobname") for each in after]:
        return False
    with suppress(TypeError, ValueError, AttributeError):
        is_fewer = any(_requests(a) > _requests(b) for a, b in zip(before, after, strict=True))
        options = [later.get("global options"), *(each.get("job options") for each in after)]
        if is_fewer and not any("ramp_time" in each for each in options if each):
            return False
        ran_s = _most(after, "elapsed") - _most(before, "elapsed")
        passed_s = float(later.get("timestamp", 0)) - float(earlier.get("timestamp", 0))
        return "elapsed" not in after[0] or passed_s <= ran_s + _SLACK_S
    return True


def _entries(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    entries = content.get("jobs") or content.get("client_stats")
    return [e for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []


def _requests(entry: Mapping[str, Any]) -> int:
    return sum(int(entry.get(name, {}).get("total_ios", 0)) for name in ("read", "write", "trim"))


def _most(entries: Iterable[Mapping[str, Any]], key: str) -> float:
    return max((float(entry.get(key, 0)) for entry in entries), default=0.0)


class _LineCounter:
    """Line numbers of rising positions in a text, found in one pass."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position, self._line = 0, 1

    def line_at(self, position: int) -> int:
        """Return the line of a position; positions must not decrease from call to call."""
        self._line += self._text.count("\n", self._position, position)
        self._position = position
        return self._line


def _document(
    text: str, span: tuple[int, int], first: int, content: Mapping[str, Any], name: str
) -> Document:
    entries = content.get("jobs") or content.get("client_stats")
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise FormatError(f"the document's jobs are not a list of jobs ({name})")
    entries = [each for each in entries if each.get("jobname") != _ALL_CLIENTS]
    if not entries:
        raise FormatError(f"the document has no jobs ({name})")
    shared = content.get("global options")
    counter = _LineCounter(own := text[slice(*span)])
    lines = [first - 1 + counter.line_at(each.start()) for each in _JOB.finditer(own)]
    jobs = [
        Job(
            lines[index] if index < len(lines) else first,
            str(entry.get("jobname", "")),
            int(entry.get("groupid", 0)),
            _options(shared, entry.get("job options")),
            entry,
        )
        for index, entry in enumerate(entries)
    ]
    stamp_ms, stamp_s = content.get("timestamp_ms"), content.get("timestamp")
    version = str(content.get("fio version", ""))
    if stamp_ms is not None:
        return Document(_groups(jobs), span, float(stamp_ms) / 1e3, 0.0, version)
    written_s = float(stamp_s) if stamp_s is not None else None
    return Document(_groups(jobs), span, written_s, 1.0, version)


def _options(shared: Any, own: Any) -> dict[str, str] | None:
    if shared is None and own is None:
        return None
    merged = {**(shared or {}), **(own or {})}
    return {str(key): str(value) for key, value in merged.items()}


def _groups(jobs: Iterable[Job]) -> dict[str, list[Job]]:
    """Group jobs; a group has its first job's name, plus its number if that is not unique."""
    by_number: dict[int, list[Job]] = {}
    for job in jobs:
        by_number.setdefault(job.group, []).append(job)
    names = [members[0].name for members in by_number.values()]
    return {
        members[0].name if names.count(members[0].name) == 1 else f"{members[0].name}#{number}": (
            members
        )
        for number, members in sorted(by_number.items())
    }
