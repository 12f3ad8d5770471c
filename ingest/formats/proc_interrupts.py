"""Copies of /proc/interrupts before and after a run: interrupts of NVMe IO queues, or of AHCI."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from data.errors import FormatError
from ingest.files.text_lines import iterate_lines
from ingest.records import InterruptCounts, ProblemList, ReadContext

_HEADING: Final = re.compile(r"\s*CPU\d+(?:\s+CPU\d+)*\s*")
_ROW: Final = re.compile(r"\s*([\w-]+):\s*(.*)")
# Queue 0 is the admin queue; all others carry IO.
_IO_QUEUE: Final = re.compile(r"\bnvme\d+q[1-9]\d*\b")
# The line of a SATA controller, or of one of its ports.
_AHCI: Final = re.compile(r"\bahci\d*\b")
_COUNT: Final = re.compile(r"[0-9]{1,20}")
_TIME: Final = re.compile(r"\s*(\d{9,10}(?:\.\d+)?)\s*")
_PHASES: Final = {
    "before": re.compile(r"(?<![a-z])(?:before|start|begin|pre)(?![a-z])", re.IGNORECASE),
    "after": re.compile(r"(?<![a-z])(?:after|end|stop|post)(?![a-z])", re.IGNORECASE),
}
# Rows with one count for the whole machine, whatever the heading says.
_WITHOUT_CPUS: Final = frozenset({"ERR", "MIS"})


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the text has a heading `CPU0 CPU1 ...` and a row of counts below it."""
    lines = head.decode("utf-8", "replace").splitlines()[:8]
    places = [n for n, line in enumerate(lines) if _HEADING.fullmatch(line)]
    return bool(places) and any(_ROW.fullmatch(line) for line in lines[places[0] + 1 :])


def phase_of(name: str) -> str | None:
    """Return `before` or `after`, as the file's name says; None if it names neither or both."""
    phases = [phase for phase, pattern in _PHASES.items() if pattern.search(name)]
    return phases[0] if len(phases) == 1 else None


def read(blocks: Iterable[bytes], context: ReadContext) -> InterruptCounts:
    """Read the interrupts of all NVMe IO queues since boot, by CPU; without one, those of AHCI.

    SATA devices share the line of their controller. Where NVMe queues are, its line may be of the
    system's disk and is left out.

    A line of Unix seconds alone above the heading is the time of the copy.

    Raises:
        FormatError: No heading, no usable row, or a name without `before` or `after`.
    """
    if phase_of(context.name) is None:
        raise FormatError(f"the name must contain either `before` or `after` ({context.name})")
    lines = enumerate(iterate_lines(blocks), 1)
    taken_unix_s, cpus = _read_heading(lines, context.name)
    problems = ProblemList()
    queues: dict[str, tuple[int, ...]] = {}
    lines_of_ahci: dict[str, tuple[int, ...]] = {}
    rows = 0
    for number, line in lines:
        row = _ROW.fullmatch(line)
        if not row:
            if line.strip():
                detail = f"not a row of interrupt counts: {line[:60]!r}"
                problems.add("bad_line", "refused", detail, number)
            continue
        label, rest = row[1], row[2].split()
        if label in _WITHOUT_CPUS:
            continue
        counts, action = rest[: len(cpus)], " ".join(rest[len(cpus) :])
        if len(counts) < len(cpus) or not all(map(_COUNT.fullmatch, counts)):
            detail = f"interrupt {label}: expected {len(cpus)} counts, one per CPU; not counted"
            problems.add("field_count", "refused", detail, number)
            continue
        rows += 1
        if names := _IO_QUEUE.findall(action):
            name = " ".join(names)
            queues[f"{name} ({label})" if name in queues else name] = tuple(map(int, counts))
        elif _AHCI.search(action):
            lines_of_ahci[f"ahci ({label})"] = tuple(map(int, counts))
    if not rows:
        raise FormatError(f"no row of interrupt counts ({context.name})")
    return InterruptCounts(cpus, queues or lines_of_ahci, taken_unix_s, problems.all())


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
