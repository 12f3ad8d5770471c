"""Per-interrupt NIC logs as text: 14, 16 or 17 columns, header and kernel prefix or none."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from data.errors import FormatError
from ingest.counter_lines import CounterLines
from ingest.records import CoreLog, Problem, ReadContext

DRIVER_BUFFER_ENTRIES: Final = 1_000_000

_NIC: Final = ("i", "rx_desc", "rx_bytes", "tx_desc", "tx_bytes")
_COUNTERS: Final = ("instructions", "cycles", "ref_cycles", "llc_misses")
_SLEEP_STATES: Final = {
    14: ("c3", "c6", "c7"),
    16: ("c1", "c1e", "c3", "c6", "c7"),
    17: ("c0", "c1", "c1e", "c3", "c6", "c7"),
}
_ALIASES: Final = {
    "rxdesc": "rx_desc",
    "rxbytes": "rx_bytes",
    "txdesc": "tx_desc",
    "txbytes": "tx_bytes",
    "ins": "instructions",
    "cyc": "cycles",
    "refcyc": "ref_cycles",
    "llcm": "llc_misses",
    "llc_miss": "llc_misses",
    "joule": "joules",
    "timestamp": "tsc",
}
_PREFIX: Final = re.compile(rb"^[ \t]*\[[^\]\n]*\][ \t]*")
_CORE: Final = re.compile(rb"(?m)^[^\n]*?\bCore=(\d+)(?:\s+itr_cnt=(\d+))?")
_HEAD_BYTES: Final = 64 * 1024
_HEAD_LINES: Final = 200


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Tell a counter log by its header or by most of its first lines being such integers."""
    lines = _head_lines(head)
    if any(_header_names(line) in _LAYOUTS.values() for line in lines[:3]):
        return True
    numbers = [line for line in lines if len(line) in _LAYOUTS and _are_digits(line)]
    return 2 * len(numbers) > len(lines)


def read(blocks: Iterable[bytes], context: ReadContext) -> CoreLog:
    """Read one core's log.

    Args:
        blocks: The file's bytes, cut anywhere.
        context: Names the file in errors.

    Returns:
        The log; bad lines are problems, each kind with its count and first line.

    Raises:
        FormatError: No line of a known column count, or a header of unknown columns.
    """
    source = iter(blocks)
    head = _take_head(source)
    columns = _column_count(head, context.name)
    lines = CounterLines(columns)
    lines.feed(head)
    for block in source:
        lines.feed(block)
    lines.finish()
    if not lines.has_interrupts:
        why = "".join(f"; {problem.detail}" for problem in lines.problems()[:1])
        raise FormatError(f"no good line among {lines.entries}{why} ({context.name})")
    return _log(lines, columns, head[:_HEAD_BYTES], context.name)


def sample_names(columns: int) -> tuple[str, ...]:
    """Name the sample columns of a variant in the order in which its lines hold them."""
    return ("tsc", *_COUNTERS, *_SLEEP_STATES[columns], "joules")


def _layout(columns: int) -> tuple[str, ...]:
    return (*_NIC, *_COUNTERS, *_SLEEP_STATES[columns], "joules", "tsc")


_LAYOUTS: Final = {columns: _layout(columns) for columns in _SLEEP_STATES}


def _take_head(source: Iterator[bytes]) -> bytes:
    head = bytearray()
    for block in source:
        head += block
        if len(head) >= _HEAD_BYTES:
            break
    return bytes(head)


def _head_lines(head: bytes) -> list[list[bytes]]:
    """Split the first lines into fields, without kernel prefixes, blanks and a cut last line."""
    head = head[:_HEAD_BYTES]
    lines = head.split(b"\n", _HEAD_LINES)
    if len(lines) > 1:
        lines.pop()
    fields = [re.split(rb"[ \t\r]+", _PREFIX.sub(b"", line).strip()) for line in lines]
    return [line for line in fields if line != [b""] and not line[0].startswith(b"Core=")]


def _are_digits(fields: list[bytes]) -> bool:
    return all(field.isdigit() for field in fields)


def _header_names(fields: list[bytes]) -> tuple[str, ...] | None:
    if fields[0] != b"i":
        return None
    names = [field.decode("latin-1").lower() for field in fields]
    return tuple(_ALIASES.get(name, name) for name in names)


def _column_count(head: bytes, name: str) -> int:
    lines = _head_lines(head)
    for line in lines:
        if (names := _header_names(line)) is None:
            continue
        for columns, layout in _LAYOUTS.items():
            if names == layout:
                return columns
        raise FormatError(f"unknown header: {' '.join(names)[:200]} ({name})")
    counts = Counter(len(line) for line in lines if len(line) in _LAYOUTS)
    if not counts:
        seen = len(lines[0]) if lines else 0
        raise FormatError(f"no counter line: {seen} fields first, expected 14, 16 or 17 ({name})")
    return counts.most_common(1)[0][0]


def _log(lines: CounterLines, columns: int, head: bytes, name: str) -> CoreLog:
    samples = dict(zip(sample_names(columns), lines.sample_columns(), strict=True))
    samples.pop("c0", None)
    problems = lines.problems()
    core, announced = _core_line(head)
    if announced is not None and lines.entries < announced:
        detail = f"{lines.entries} entries, but its first line announces {announced}"
        problems.append(Problem("short_log", "doubted", detail))
    if lines.core_lines > 1:
        detail = f"{lines.core_lines} `Core=` lines in one log; all taken as the first's"
        problems.append(Problem("several_cores", "doubted", detail))
    flags = []
    if DRIVER_BUFFER_ENTRIES in (lines.entries, lines.last_index + 1):
        flags.append("log_full")
        detail = f"{lines.entries} entries fill the driver's buffer; it may have stopped early"
        problems.append(Problem("log_full", "doubted", detail))
    return CoreLog(
        interrupts=dict(zip(("tsc", *_NIC[1:]), lines.interrupt_columns(), strict=True)),
        samples=samples,
        sleep_states_cumulative=columns != 14 or _are_totals(samples, head, name),
        core=core,
        entries=lines.entries,
        flags=flags,
        problems=problems,
    )


def _core_line(head: bytes) -> tuple[int | None, int | None]:
    found = _CORE.search(head)
    if found is None:
        return None, None
    return int(found[1]), int(found[2]) if found[2] else None


def _are_totals(samples: dict[str, np.ndarray], head: bytes, name: str) -> bool:
    """Whether a 14-column log's sleep states are running totals (Linux) or a sample's own."""
    if _PREFIX.match(head):
        return True
    if "ebbrt" in name.lower():
        return False
    return all(bool(np.all(np.diff(samples[state]) >= 0)) for state in _SLEEP_STATES[14])
