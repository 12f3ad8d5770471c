"""Outputs of sockperf: ping-pong, under-load, playback and throughput, also with `--full-log`."""

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Final

from data.declared import Column
from data.errors import FormatError
from ingest.files.text_lines import iterate_lines
from ingest.records import ProblemList, ReadContext, Reading
from ingest.settings.number_texts import PERCENTILES

# Terminals get colours, and so do files.
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_SNIFFED: Final = re.compile(
    rb"^sockperf: .{0,8}(?:\[Total Run\]|Summary:|== version #|\[Valid Duration\])", re.MULTILINE
)
_NUMBER: Final = r"(\d+(?:\.\d+)?)"
_VALID: Final = re.compile(rf"\[Valid Duration\] RunTime={_NUMBER} sec; SentMessages=(\d+)")
_MEAN: Final = re.compile(rf"=+> avg-(lat|latency|rtt)=\s*{_NUMBER} \(std-dev=\s*{_NUMBER}")
_OBSERVATIONS: Final = re.compile(r"Total (\d+) observations")
_PERCENTILE: Final = re.compile(rf"---> percentile {_NUMBER}\s*=\s*{_NUMBER}")
_EXTREME: Final = re.compile(rf"---> <(MIN|MAX)> observation\s*=\s*{_NUMBER}")
_LOST: Final = re.compile(
    r"# dropped messages = (\d+); # duplicated messages = (\d+); # out-of-order messages = (\d+)"
)
_SENT: Final = re.compile(rf"Total of (\d+) messages sent in {_NUMBER} sec")
_RATE: Final = re.compile(rf"Message Rate is {_NUMBER} \[msg/sec\]")
_BANDWIDTH: Final = re.compile(rf"BandWidth is {_NUMBER} MBps")
_SIZE: Final = re.compile(r"\bmsg-size=(\d+)")
_SERVER: Final = re.compile(r"Printing statistics for Server No: (\d+)")
# A log of all packets, which can be large, comes after the summary.
_LOG: Final = "packet, txTime"
_MIB: Final = 1024.0 * 1024.0
_PRINTED: Final = (50.0, 75.0, 90.0, 99.0, 99.9)
_EXTREMES: Final = {"MIN": "latency_min_us", "MAX": "latency_max_us"}
COLUMNS: Final = (
    Column("latency_kind", "knob", "text", "Kind of latency", "latency kind"),
    Column("latency_sd_us", "metric", "real", "Spread of latency", "latency sd", "us", "less"),
    Column("observations", "metric", "whole", "Measured latencies", "observations", better="more"),
    Column("dropped_messages", "metric", "whole", "Dropped messages", "dropped", better="less"),
    Column(
        "duplicated_messages", "metric", "whole", "Duplicated messages", "duplicated", better="less"
    ),
    Column(
        "reordered_messages", "metric", "whole", "Messages out of order", "reordered", better="less"
    ),
)


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether one of its lines is sockperf's."""
    return _SNIFFED.search(_COLOUR.sub("", head.decode("latin-1")).encode("latin-1")) is not None


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read the latencies or the rate.

    A latency is half of a round trip, unless sockperf ran with `--full-rtt`: the knob
    `latency_kind` says which. Rates are of the messages sent in the valid part of the test.

    Raises:
        FormatError: Neither a latency nor a rate, or a number that cannot be.
    """
    lines = takewhile(lambda line: not line.startswith(_LOG), iterate_lines(blocks))
    reading = Reading(columns=COLUMNS)
    problems = ProblemList()
    try:
        _read_lines(enumerate((_COLOUR.sub("", line) for line in lines), 1), reading, problems)
    except (ValueError, OverflowError) as error:
        raise FormatError(f"cannot parse a number: {error} ({context.name})") from None
    reading.problems = problems.all()
    if not reading.measurements:
        raise FormatError(f"no latency and no message rate in this output ({context.name})")
    return reading


def _read_lines(lines: Iterator[tuple[int, str]], reading: Reading, problems: ProblemList) -> None:
    measured = reading.measurements
    for number, line in lines:
        if (match := _SERVER.search(line)) and int(match[1]) > 0:
            detail = "statistics of several servers; those of the first are used"
            problems.add("several_servers", "doubted", detail, number)
            return
        if match := _VALID.search(line):
            _take_rate(float(match[1]), int(match[2]), reading)
        elif match := _SENT.search(line):
            _take_rate(float(match[2]), int(match[1]), reading)
        elif match := _RATE.search(line):
            measured["throughput_qps"] = float(match[1])
        elif match := _BANDWIDTH.search(line):
            measured["bandwidth_bytes_s"] = float(match[1]) * _MIB
        elif match := _MEAN.search(line):
            reading.knobs["latency_kind"] = "round trip" if match[1] == "rtt" else "half round trip"
            measured["latency_mean_us"], measured["latency_sd_us"] = map(float, match.groups()[1:])
        elif match := _LOST.search(line):
            names = ("dropped_messages", "duplicated_messages", "reordered_messages")
            measured.update(zip(names, map(int, match.groups()), strict=True))
        elif match := _OBSERVATIONS.search(line):
            measured["observations"] = int(match[1])
            # Fewer than one observation lies beyond these percentiles.
            few = [p for p in _PRINTED if int(match[1]) * (1 - p / 100) < 1]
            if few:
                percentiles = ", ".join(f"p{percent:g}" for percent in few)
                detail = f"{match[1]} observations do not determine {percentiles}"
                problems.add("few_observations", "doubted", detail, number)
        elif match := _EXTREME.search(line):
            measured[_EXTREMES[match[1]]] = float(match[2])
        elif (match := _PERCENTILE.search(line)) and float(match[1]) in PERCENTILES:
            measured[PERCENTILES[float(match[1])]] = float(match[2])
        if match := _SIZE.search(line):
            reading.knobs["message_bytes"] = int(match[1])


def _take_rate(seconds: float, messages: int, reading: Reading) -> None:
    reading.measurements["duration_s"] = seconds
    reading.measurements["requests"] = messages
    if seconds:
        reading.measurements["throughput_qps"] = messages / seconds
