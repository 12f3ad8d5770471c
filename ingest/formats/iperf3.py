"""Read the JSON output of iperf3 (`iperf3 -J`): TCP, UDP or SCTP, one or both directions.

A text may have several, and what was set for each above it.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from data.declared import Column
from data.errors import FormatError
from ingest.files.text_lines import whole_text
from ingest.formats.documents import (
    facts_of,
    number_of,
    objects_in,
    part_of,
    read_object,
    text_of,
    with_nulls,
)
from ingest.formats.pasted import Output, add_settings, cut
from ingest.records import Problem, ReadContext, Reading, RefusedError, UtcWindow

_BEGIN: Final = re.compile(rb"^[ \t]*\{", re.MULTILINE)
_VERSION: Final = re.compile(rb'"version"\s*:\s*"iperf 3')
# iperf3 gives the start in whole seconds.
_START_ERROR_S: Final = 1.0
# Settings of the test that are knobs, or its work.
_NO_FACTS: Final = frozenset({"protocol", "num_streams", "blksize", "target_bitrate", "duration"})
_VERSIONS: Final = ("version", "system_info")
_CONGESTION: Final = ("sender_tcp_congestion", "receiver_tcp_congestion")
COLUMNS: Final = (
    Column("protocol", "knob", "text", "Protocol", "protocol"),
    Column("streams", "knob", "whole", "Parallel streams", "streams"),
    Column(
        "target_bits_s", "knob", "real", "Target bit rate", "target rate", "bit/s", written="si"
    ),
    Column("retransmits", "metric", "whole", "Retransmissions", "retransmits", better="less"),
    Column("rtt_mean_us", "metric", "real", "Mean round-trip time", "RTT", "us", "less"),
    Column("jitter_us", "metric", "real", "Jitter of arrival", "jitter", "us", "less"),
    Column("lost_pct", "metric", "real", "Lost datagrams", "lost", "%", "less"),
)


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether a JSON object whose version is iperf 3 begins on a line."""
    return _BEGIN.search(head) is not None and _VERSION.search(head) is not None


def list_parts(blocks: Iterable[bytes], context: ReadContext) -> list[str]:
    """Return the numbers of the documents of a text, one below the other; none for one.

    Raises:
        FormatError: As `read`.
    """
    documents = _documents(blocks, context.name)
    return [str(number) for number, _ in enumerate(documents, 1)] if len(documents) > 1 else []


def _documents(blocks: Iterable[bytes], name: str) -> list[tuple[Mapping[str, Any], Output]]:
    """Return the documents of a text, each with what stands above it."""
    text = with_nulls(whole_text(blocks, name))
    found = [
        (begin, end, each)
        for begin, end, each in objects_in(text)
        if isinstance(each, dict) and "start" in each and {"end", "error"} & each.keys()
    ]
    if not found:
        return [(read_object([text.encode()], name), Output(text))]
    outputs = cut(text, [(begin, end) for begin, end, _ in found])
    return [(each, output) for (_, _, each), output in zip(found, outputs, strict=True)]


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read bandwidth, duration, processor use and the quality of the connection.

    The bandwidth is the rate that the receivers measured, summed over both directions of `--bidir`.
    iperf3 before 3.7 gives no receiver's sum for UDP. The bandwidth is then the sent rate minus the
    share of lost datagrams.

    Returns:
        Measurements: `bandwidth_bytes_s`, `duration_s`, the client's processor use in percent of
        one core, and the metrics of `COLUMNS`. Knobs: the size of a write or datagram, and the
        knobs of `COLUMNS`. `utc_window` is the time of the test.

    Raises:
        RefusedError: iperf3 reports that the test failed.
        FormatError: The file is not a JSON object, or has no sums.
    """
    documents = _documents(blocks, context.name)
    document, output = documents[int(context.part or 1) - 1]
    error = text_of(document, "error")
    if error is not None:
        raise RefusedError([Problem("run_failed", "refused", f"iperf3 says: {error[:200]}")])
    try:
        reading = _read(document, context)
    except FormatError as wrong:
        raise FormatError(f"{wrong} ({context.name})") from wrong
    tests = {each.text: repr(part_of(own, "start", "test_start")) for own, each in documents}
    add_settings(reading, output, [each for _, each in documents], tests.__getitem__)
    return reading


def _read(document: Mapping[str, Any], context: ReadContext) -> Reading:
    end, test = part_of(document, "end"), part_of(document, "start", "test_start")
    reading = Reading(columns=COLUMNS)
    measured = reading.measurements
    bandwidth = [
        rate for ending in ("", "_bidir_reverse") if (rate := _received(end, ending)) is not None
    ]
    sums = (part_of(end, name) for name in ("sum_sent", "sum"))
    duration_s = number_of(next(filter(None, sums), {}), "seconds")
    if not bandwidth or not duration_s or duration_s < 0:
        raise FormatError(f"no sum of what was sent and received ({context.name})")
    measured["bandwidth_bytes_s"] = sum(bandwidth)
    measured["duration_s"] = duration_s
    use = part_of(end, "cpu_utilization_percent")
    _take(measured, "cpu_user_pct", number_of(use, "host_user"))
    _take(measured, "cpu_sys_pct", number_of(use, "host_system"))
    _take_quality(end, measured)
    _take_knobs(test, reading)
    start = part_of(document, "start")
    reading.facts = facts_of(test, _NO_FACTS) | {
        key: text
        for values, keys in ((start, _VERSIONS), (end, _CONGESTION))
        for key in keys
        if (text := text_of(values, key))
    }
    start_s = number_of(part_of(document, "start", "timestamp"), "timesecs")
    if start_s is not None:
        start_s += number_of(test, "omit") or 0.0
        reading.utc_window = UtcWindow(start_s, start_s + duration_s, _START_ERROR_S)
    if not sum(bandwidth):
        reading.flags.append("no_load")
        del measured["bandwidth_bytes_s"]
        detail = "nothing arrived; bandwidth is left unset"
        reading.problems = [Problem("no_load", "doubted", detail)]
    return reading


def _received(end: Mapping[str, Any], ending: str) -> float | None:
    """Return the bytes per second received in one direction; None if the document has no sum."""
    received = part_of(end, f"sum_received{ending}")
    rate = number_of(received, "bits_per_second")
    if received:
        return None if rate is None else rate / 8
    total = part_of(end, f"sum{ending}")
    rate, lost = number_of(total, "bits_per_second"), number_of(total, "lost_percent")
    return None if rate is None else rate / 8 * (1 - (lost or 0.0) / 100)


def _take(measured: dict[str, float | int], name: str, value: float | None) -> None:
    if value is not None:
        measured[name] = value


def _take_quality(end: Mapping[str, Any], measured: dict[str, float | int]) -> None:
    sent = [part_of(end, f"sum_sent{ending}") for ending in ("", "_bidir_reverse")]
    again = [n for each in sent if (n := number_of(each, "retransmits")) is not None]
    if again:
        measured["retransmits"] = round(sum(again))
    streams = end.get("streams")
    rtts = [
        rtt
        for each in (streams if isinstance(streams, list) else ())
        if isinstance(each, dict) and (rtt := number_of(part_of(each, "sender"), "mean_rtt"))
    ]
    if rtts:
        measured["rtt_mean_us"] = sum(rtts) / len(rtts)
    datagrams = part_of(end, "sum")
    jitter_ms = number_of(datagrams, "jitter_ms")
    _take(measured, "jitter_us", None if jitter_ms is None else jitter_ms * 1e3)
    _take(measured, "lost_pct", number_of(datagrams, "lost_percent"))


def _take_knobs(test: Mapping[str, Any], reading: Reading) -> None:
    for name, key in (("message_bytes", "blksize"), ("streams", "num_streams")):
        if (value := number_of(test, key)) is not None:
            reading.knobs[name] = round(value)
    if target := number_of(test, "target_bitrate"):
        reading.knobs["target_bits_s"] = target
    if protocol := text_of(test, "protocol"):
        reading.knobs["protocol"] = protocol
