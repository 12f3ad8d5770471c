"""Outputs of mutilate, the memcached load generator, of upstream and its forks."""

import re
from collections.abc import Iterable
from typing import Final

from data.errors import FormatError
from ingest.files.text_lines import unwrap_literal, whole_text
from ingest.records import ProblemList, ReadContext, Reading

_COLUMNS: Final = {
    "avg": "latency_mean_us",
    "min": "latency_min_us",
    "5th": "latency_p5_us",
    "10th": "latency_p10_us",
    "50th": "latency_p50_us",
    "90th": "latency_p90_us",
    "95th": "latency_p95_us",
    "99th": "latency_p99_us",
}
_QPS: Final = re.compile(r"Total QPS\s*=\s*([\d.]+)\s*\((\d+)\s*/\s*([\d.]+)s\)")


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the text has the `#type` line above mutilate's latency table."""
    text = unwrap_literal(head.decode("utf-8", "replace"))
    return re.search(r"^#type\s.*\bavg\b", text, re.MULTILINE) is not None


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read the latencies of the `read` line and the total rate.

    Returns:
        Latencies in microseconds, by the names in the `#type` line; `throughput_qps`,
        `requests`, `duration_s`. Byte counts are ignored: an integer bug of the tool makes some
        of them negative or far too large.

    Raises:
        FormatError: Neither a `read` line nor a total rate.
    """
    reading = Reading()
    problems = ProblemList()
    lines = whole_text(blocks, context.name).splitlines()
    _read_latencies(lines, reading, problems)
    _read_rate(lines, reading, problems)
    reading.problems = problems.all()
    if not reading.measurements and "no_load" not in reading.flags:
        why = "".join(f"; {problem.detail}" for problem in reading.problems)
        raise FormatError(f"no measurement in this mutilate output{why} ({context.name})")
    return reading


def _read_latencies(lines: list[str], reading: Reading, problems: ProblemList) -> None:
    split = ((number, line.split()) for number, line in enumerate(lines, start=1))
    rows = {
        fields[0]: (number, fields[1:])
        for number, fields in split
        if fields and fields[0] in ("#type", "read")
    }
    if "#type" not in rows or "read" not in rows:
        problems.add("no_latencies", "refused", "no `read` line under a `#type` line")
        return
    headings, (number, fields) = rows["#type"][1], rows["read"]
    if len(fields) != len(headings):
        detail = f"{len(fields)} values in the `read` line, expected {len(headings)}; not read"
        problems.add("field_count", "refused", detail, number)
        return
    try:
        values = dict(zip(headings, map(float, fields), strict=True))
    except ValueError as error:
        problems.add("not_a_number", "refused", f"`read` line: {error}; not read", number)
        return
    if not any(values.values()):
        reading.flags.append("no_load")
        detail = "every latency of the `read` line is 0: no request was measured; left unset"
        problems.add("no_load", "doubted", detail, number)
        return
    known = {_COLUMNS[name]: value for name, value in values.items() if name in _COLUMNS}
    reading.measurements.update(known)


def _read_rate(lines: list[str], reading: Reading, problems: ProblemList) -> None:
    match = next(filter(None, map(_QPS.search, lines)), None)
    if match is None:
        problems.add("no_throughput", "doubted", "no `Total QPS` line; the output may be cut")
        return
    try:
        qps, requests, seconds = float(match[1]), int(match[2]), float(match[3])
    except ValueError:  # A number of over 4,300 digits.
        raise FormatError("a number in the `Total QPS` line is too long") from None
    if requests:
        reading.measurements["throughput_qps"] = qps
        reading.measurements["requests"] = requests
    reading.measurements["duration_s"] = seconds
