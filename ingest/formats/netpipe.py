"""NetPIPE: the client's `np.out`, the server's window, and the library OS's line with both."""

import re
from collections.abc import Iterable
from typing import Final

from data.errors import FormatError
from ingest.files.text_lines import whole_text
from ingest.records import Problem, ProblemList, ReadContext, Reading, Window, window_fault
from ingest.settings.knobs import decode_dvfs, decode_itr

MEGABIT: Final = 1024 * 1024
_RATE_TOLERANCE: Final = 0.01
_PERIOD: Final = re.compile(r"^SERVER_WORKLOAD_PERIOD:[ \t]*(.*)$", re.MULTILINE)
_DECIMAL: Final = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_LIBRARY_FIELDS: Final = 12
_MOST_DIGITS: Final = 19


def sniff_output(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the rate of each line is its bytes divided by its time."""
    rows = _rows(_head_text(head))
    return bool(rows) and all(_is_output(row) for row in rows)


def sniff_server(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the text holds a workload period, or what the server prints before it."""
    text = _head_text(head)
    return _PERIOD.search(text) is not None or "Send and receive buffers are" in text


def sniff_library_os(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the text is one line of 12 fields whose fourth is a DVFS code."""
    rows = _rows(_head_text(head))
    return len(rows) == 1 and len(rows[0]) == _LIBRARY_FIELDS and rows[0][3][:2] in ("0x", "0X")


def read_output(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read `bytes Mbps seconds [total_seconds]` of one message size.

    Returns:
        `bandwidth_bytes_s` (a Mbps is 1024 * 1024 bits), the one-way time as `latency_mean_us`,
        `duration_s` if there is a total, which includes warm-up; `message_bytes`.

    Raises:
        FormatError: No good line, or several message sizes, which are several runs.
    """
    problems = ProblemList()
    good = []
    for number, row in enumerate(_rows(whole_text(blocks, context.name)), start=1):
        if _is_output(row):
            good.append([float(field) for field in row])
        else:
            detail = f"{' '.join(row)[:60]!r} is not `bytes Mbps seconds`; line dropped"
            problems.add("bad_line", "refused", detail, number)
    sizes = sorted({int(row[0]) for row in good})
    if len(sizes) != 1:
        raise FormatError(f"{len(sizes)} message sizes {sizes[:5]}, expected 1 ({context.name})")
    if len(good) > 1:
        problems.add("several_lines", "doubted", f"{len(good)} lines of one size; the last is used")
    size, mbps, seconds, *total = good[-1]
    reading = Reading(knobs={"message_bytes": int(size)}, problems=problems.all())
    reading.measurements["bandwidth_bytes_s"] = mbps * MEGABIT / 8
    reading.measurements["latency_mean_us"] = seconds * 1e6
    if total:
        reading.measurements["duration_s"] = total[0]
    return reading


def read_server(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read the window from the line `SERVER_WORKLOAD_PERIOD: <tsc0> <tsc1> <J0> <J1>`.

    Returns:
        The window, or a `no_window` problem. Joules are ignored: they are the energies of the
        two packages, and the settings say which package counts. On the published run the second
        is within one sample of what the log's core counted; their difference is a third of it.
    """
    text = whole_text(blocks, context.name)
    periods = list(_PERIOD.finditer(text))
    if not periods:
        why = "no SERVER_WORKLOAD_PERIOD line; the output may be cut"
        return Reading(problems=[Problem("no_window", "doubted", why)])
    period = periods[-1][1]
    line = text.count("\n", 0, periods[-1].start()) + 1
    reading = Reading()
    _take_window(
        reading, period.split()[:2], f"SERVER_WORKLOAD_PERIOD {period[:60]!r}", line, context
    )
    return reading


def read_library_os(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read `rep msg iterations dvfs rapl itr ? ? Mbps one_way_us tsc0 tsc1`.

    Returns:
        Knobs, window, `bandwidth_bytes_s`, `latency_mean_us`. The product of fields 8 and 9 (from
        0) must be the bits of the message. Fields 6 and 7 look like the energies of the two
        packages and are ignored, as in `read_server`.

    Raises:
        FormatError: Not 12 fields, or an invalid knob.
    """
    rows = _rows(whole_text(blocks, context.name))
    row = rows[0] if rows else []
    if len(row) != _LIBRARY_FIELDS:
        raise FormatError(f"{len(row)} fields, expected {_LIBRARY_FIELDS} ({context.name})")
    reading = Reading(knobs=_library_knobs(row))
    _take_window(reading, row[10:], repr(" ".join(row[10:])[:60]), 1, context)
    rate, one_way_us = row[8], row[9]
    if _is_output([row[1], rate, one_way_us], unit_s=1e-6):
        reading.measurements["bandwidth_bytes_s"] = float(rate) * MEGABIT / 8
        reading.measurements["latency_mean_us"] = float(one_way_us)
    else:
        detail = f"rate {rate!r} and time {one_way_us!r} do not fit {row[1]} bytes; both left unset"
        reading.problems.append(Problem("rate_mismatch", "doubted", detail, 1))
    return reading


def _library_knobs(row: list[str]) -> dict[str, float | int | str]:
    if not all(_is_whole(row[place]) for place in (1, 4, 5)):
        raise FormatError(f"message, RAPL, ITR {row[1]!r} {row[4]!r} {row[5]!r} are not numbers")
    itr_us, _ = decode_itr(int(row[5]))
    knobs: dict[str, float | int | str] = {
        "message_bytes": int(row[1]),
        "dvfs_code": decode_dvfs(row[3])[2],
        "rapl_w": float(row[4]),
    }
    return knobs if itr_us is None else knobs | {"itr_us": itr_us}


def _head_text(head: bytes) -> str:
    return whole_text([head], "")


def _rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


def _is_output(row: list[str], unit_s: float = 1.0) -> bool:
    if len(row) not in (3, 4) or not all(_DECIMAL.fullmatch(field) for field in row):
        return False
    size, mbps, seconds = float(row[0]), float(row[1]), float(row[2]) * unit_s
    bits = mbps * MEGABIT * seconds
    return size > 0 and _is_whole(row[0]) and abs(bits - 8 * size) <= _RATE_TOLERANCE * 8 * size


def _is_whole(field: str) -> bool:
    """Return whether a field is digits that fit in 63 bits, checked by length only."""
    return field.isascii() and field.isdigit() and len(field) <= _MOST_DIGITS


def _take_window(
    reading: Reading, fields: list[str], text: str, line: int, context: ReadContext
) -> None:
    """Add the window of two time stamps, or a problem that shows their text."""
    is_window = len(fields) == 2 and all(map(_is_whole, fields))
    start, end = map(int, fields) if is_window else (0, 0)
    if not 0 < start < end:
        problem = Problem("no_window", "doubted", f"{text} is not a valid window", line)
    elif why := window_fault(start, end, context.tsc_hz):
        problem = Problem("window_range", "refused", why, line)
    else:
        reading.window = Window(start, end)
        return
    reading.problems.append(problem)
