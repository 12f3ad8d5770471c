"""Copies of /proc/interrupts, taken before and after a run: what NVMe IO queues raised."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from data.errors import FormatError
from ingest.files.text_lines import iterate_lines
from ingest.formats.problem_list import ProblemList
from ingest.records import InterruptCounts, ReadContext

_HEADING: Final = re.compile(r"\s*CPU\d+(?:\s+CPU\d+)*\s*")
_ROW: Final = re.compile(r"\s*([\w-]+):\s*(.*)")
# Queue 0 is for administration; IO goes through the others.
_IO_QUEUE: Final = re.compile(r"\bnvme\d+q[1-9]\d*\b")
_COUNT: Final = re.compile(r"[0-9]{1,20}")
_TIME: Final = re.compile(r"\s*(\d{9,10}(?:\.\d+)?)\s*")
_PHASES: Final = {
    "before": re.compile(r"(?<![a-z])(?:before|start|begin|pre)(?![a-z])", re.IGNORECASE),
    "after": re.compile(r"(?<![a-z])(?:after|end|stop|post)(?![a-z])", re.IGNORECASE),
}
# Rows that count for the whole machine and so have one number, whatever the heading says.
_WITHOUT_CPUS: Final = frozenset({"ERR", "MIS"})


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Tell the file by its heading, `CPU0 CPU1 ...`, and the row below it."""
    lines = head.decode("utf-8", "replace").splitlines()[:8]
    places = [n for n, line in enumerate(lines) if _HEADING.fullmatch(line)]
    return bool(places) and any(_ROW.fullmatch(line) for line in lines[places[0] + 1 :])


def phase_of(name: str) -> str | None:
    """Whether a file was taken before or after its run, by its name; None if that does not say."""
    said = [phase for phase, pattern in _PHASES.items() if pattern.search(name)]
    return said[0] if len(said) == 1 else None


def read(blocks: Iterable[bytes], context: ReadContext) -> InterruptCounts:
    """Read what the IO queues of all NVMe devices raised since boot, on each CPU.

    A line above the heading with nothing but seconds since 1970 says when the copy was taken.

    Raises:
        FormatError: No heading, no usable row, or a name that says neither before nor after.
    """
    if phase_of(context.name) is None:
        raise FormatError(f"the name says neither before nor after ({context.name})")
    lines = enumerate(iterate_lines(blocks), 1)
    taken_unix_s, cpus = _read_heading(lines, context.name)
    problems = ProblemList()
    queues: dict[str, tuple[int, ...]] = {}
    rows = 0
    for number, line in lines:
        found = _ROW.fullmatch(line)
        if not found:
            if line.strip():
                problems.add("bad_line", "refused", f"no row of interrupts: {line[:60]!r}", number)
            continue
        label, rest = found[1], found[2].split()
        if label in _WITHOUT_CPUS:
            continue
        counts, action = rest[: len(cpus)], " ".join(rest[len(cpus) :])
        if len(counts) < len(cpus) or not all(map(_COUNT.fullmatch, counts)):
            detail = f"interrupt {label} has no {len(cpus)} counts, one a CPU; not counted"
            problems.add("field_count", "refused", detail, number)
            continue
        rows += 1
        if names := _IO_QUEUE.findall(action):
            name = " ".join(names)
            queues[f"{name} ({label})" if name in queues else name] = tuple(map(int, counts))
    if not rows:
        raise FormatError(f"no row of interrupts ({context.name})")
    return InterruptCounts(cpus, queues, taken_unix_s, problems.all())


def _read_heading(
    lines: Iterator[tuple[int, str]], name: str
) -> tuple[float | None, tuple[str, ...]]:
    taken_unix_s: float | None = None
    for _, line in lines:
        if _HEADING.fullmatch(line):
            return taken_unix_s, tuple(line.split())
        if found := _TIME.fullmatch(line):
            taken_unix_s = float(found[1])
    raise FormatError(f"no heading CPU0 CPU1 ... ({name})")
