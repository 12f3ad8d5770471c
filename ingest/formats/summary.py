"""Per-run summary tables: `sys i itr dvfs rapl ...`, one row a run, columns mapped by name.

The delimiter is blanks, a comma, a semicolon or a tab; a byte-order mark may come first.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from data.errors import FormatError
from data.schema import KNOBS, MEASUREMENTS
from ingest.files.text_lines import iterate_lines
from ingest.formats.problem_list import ProblemList
from ingest.records import ReadContext, SummaryRow, SummaryTable

# Heading to column of `runs` and factor to its unit. A Mbps of NetPIPE is 1024 * 1024 bits.
COLUMNS: Final[dict[str, tuple[str, float]]] = {
    "i": ("replicate", 1),
    "itr": ("itr", 1),
    "rapl": ("rapl_w", 1),
    "msg": ("message_bytes", 1),
    "target_QPS": ("load_qps", 1),
    "measure_QPS": ("throughput_qps", 1),
    "time": ("duration_s", 1),
    "tput": ("bandwidth_bytes_s", 1024 * 1024 / 8),
    "joules": ("energy_j", 1),
    "joule": ("energy_j", 1),
    "requests": ("requests", 1),
    "read_avg": ("latency_mean_us", 1),
    "read_min": ("latency_min_us", 1),
    **{f"read_{p}th": (f"latency_p{p}_us", 1) for p in (5, 10, 50, 90, 95, 99)},
    **{f"lat{p}": (f"latency_p{p}_us", 1) for p in (50, 75, 90, 99)},
    **{name: (name, 1) for name in ("rx_desc", "rx_bytes", "tx_desc", "tx_bytes")},
    **{name: (name, 1) for name in ("instructions", "cycles", "ref_cycles", "llc_misses")},
    "ins": ("instructions", 1),
    "cyc": ("cycles", 1),
    "refcyc": ("ref_cycles", 1),
    "llc_miss": ("llc_misses", 1),
    "llcm": ("llc_misses", 1),
    **{name: (name, 1) for name in ("c1", "c1e", "c3", "c6", "c7")},
    "num_interrupts": ("interrupts", 1),
}
# Known but not stored: time stamps without their log, and a state that is not sleep.
_NOT_KEPT: Final = frozenset({"START_RDTSC", "END_RDTSC", "c0"})
_REQUIRED: Final = ("sys", "itr", "dvfs")
_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_WHOLE: Final = {"replicate", "itr"} | {
    name for name, kind in (KNOBS | MEASUREMENTS).items() if pa.types.is_integer(kind)
}
_SEPARATORS: Final = (",", ";", "\t")
_MOST_INT64: Final = 2**63
_MOST_DIGITS: Final = 19

Values = dict[str, float | int | str | None]


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the first line is the header of a summary table."""
    header = head.split(b"\n", 1)[0].decode("utf-8-sig", "replace")
    fields = _fields(header, _separator(header))
    return fields[:1] == ["sys"] and all(name in fields for name in _REQUIRED)


def read(blocks: Iterable[bytes], context: ReadContext) -> SummaryTable:
    """Read the rows, each value in the unit of its column of `runs`.

    Args:
        blocks: The file's bytes, in blocks with arbitrary boundaries.
        context: The file's name, which tells memcached-silo from memcached.

    Returns:
        Good rows in file order with `itr` (a whole number) and `dvfs_code` (lower case) as set;
        `ingest.settings.knobs` decodes them. Bad rows and unknown columns are problems.

    Raises:
        FormatError: No header, or no known workload has these columns.
    """
    lines = iterate_lines(blocks)
    header = next(lines, "")
    separator = _separator(header)
    headings = _fields(header, separator)
    if missing := [name for name in _REQUIRED if name not in headings]:
        raise FormatError(f"no {' '.join(missing)} in the header ({context.name})")
    problems = ProblemList()
    for heading in headings:
        if heading not in {*COLUMNS, *_NOT_KEPT, "sys", "dvfs"}:
            detail = f"column {heading!r} is not known; its values are not kept"
            problems.add("unknown_column", "doubted", detail, 1)
    table = SummaryTable(_workload(headings, context.name), [])
    table.rows.extend(_read_rows(lines, headings, separator, problems))
    table.problems = problems.all()
    return table


def _workload(headings: list[str], name: str) -> str:
    if "target_QPS" in headings or "measure_QPS" in headings:
        return "memcached-silo" if "mcdsilo" in name else "memcached"
    if "msg" in headings:
        return "netpipe"
    if "lat50" in headings or "requests" in headings:
        return "nodejs"
    raise FormatError(f"columns of no known workload: {' '.join(headings)[:200]} ({name})")


def _read_rows(
    lines: Iterable[str], headings: list[str], separator: str | None, problems: ProblemList
) -> Iterator[SummaryRow]:
    for number, line in enumerate(lines, start=2):
        if not line.strip(" \t,;"):
            continue
        fields = _fields(line, separator)
        if separator is None or len(fields) != len(headings):
            fields = _split(line, headings, separator)
        if len(fields) != len(headings):
            detail = f"{len(fields)} fields, expected {len(headings)}; row dropped"
            problems.add("field_count", "refused", detail, number)
            continue
        named = dict(zip(headings, fields, strict=True))
        try:
            values = _values(named, number, problems)
        except FormatError as error:
            problems.add("not_a_number", "refused", f"{error}; row dropped", number)
            continue
        row = SummaryRow(number, named["sys"], values)
        _doubt(row, problems)
        yield row


def _separator(header: str) -> str | None:
    """Return the delimiter; None for any number of blanks."""
    for mark in _SEPARATORS:
        if all(name in _fields(header, mark) for name in _REQUIRED):
            return mark
    return None


def _fields(line: str, separator: str | None) -> list[str]:
    return [field.strip().strip('"') for field in line.split(separator)]


def _split(line: str, headings: list[str], separator: str | None) -> list[str]:
    """Split a row; if only its `i` is missing, insert an empty one."""
    line = line.strip(" \t")
    for fields in (line.split(separator or " "), _fields(line, separator)):
        if len(fields) == len(headings):
            return fields
    code = headings.index("dvfs")
    is_short = len(fields) == len(headings) - 1 and fields[code - 1][:2].lower() == "0x"
    if is_short and "i" in headings[:code]:
        fields.insert(headings.index("i"), "")
    return fields


def _values(named: dict[str, str], line: int, problems: ProblemList) -> Values:
    values: Values = {"dvfs_code": named["dvfs"].lower() or None}
    for heading, text in named.items():
        if heading not in COLUMNS:
            continue
        column, factor = COLUMNS[heading]
        value = _number(heading, text)
        if value is None or column not in _WHOLE:
            values[column] = None if value is None else float(value) * factor
            continue
        values[column] = round(value)
        if values[column] != value:
            detail = f"{heading} {text!r} is not a whole number; rounded to {round(value)}"
            problems.add("fractional_count", "repaired", detail, line)
    return values


def _number(heading: str, text: str) -> float | int | None:
    if text.lower() in ("", "nan", "-nan", "none"):
        return None
    if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS:
        value: float | int = int(text)
    elif _NUMBER.fullmatch(text):
        value = float(text)
    else:
        raise FormatError(f"{heading} {text[:60]!r} is not a number")
    if not 0 <= value < _MOST_INT64:
        raise FormatError(f"{heading} {text[:60]!r} is out of range")
    return value


def _doubt(row: SummaryRow, problems: ProblemList) -> None:
    values = row.values
    if values.get("replicate") is None:
        problems.add("no_replicate", "doubted", "no `i`; kept without a replicate", row.line)
    itr = values["itr"]
    if isinstance(itr, int) and itr > 1 and itr % 2:
        detail = f"itr {itr} is odd; the NIC counts in 2 us and rounds down"
        problems.add("odd_itr", "doubted", detail, row.line)
    measured = ("load_qps", "throughput_qps", *(n for n in values if n.startswith("latency_")))
    zeros = [name for name in measured if values.get(name) == 0]
    if zeros:
        row.values.update(dict.fromkeys(zeros))
        row.flags.append("no_load")
        detail = f"0 is not a measurement; left unset: {' '.join(zeros)}"
        problems.add("no_load", "doubted", detail, row.line)
