"""Outputs of wrk and wrk2, the HTTP load generators, with or without `--latency`."""

import re
from collections.abc import Iterable
from typing import Final

from data.errors import FormatError
from ingest.files.text_lines import unwrap_literal, whole_text
from ingest.formats.hdr_percentiles import HEADING, read_spectrum, take_spectrum
from ingest.formats.memtier import CONNECTIONS
from ingest.formats.pasted import Output, add_settings, cut
from ingest.records import ProblemList, ReadContext, Reading
from ingest.settings.number_texts import PERCENTILES, to_us

# Blanks before a line: `\s` would try all empty lines below each other.
_START: Final = r"^[^\S\n]*"
_TIME: Final = r"(\d+(?:\.\d+)?)(us|ms|s|m|h)\b"
_MEAN: Final = re.compile(rf"{_START}Latency\s+{_TIME}", re.MULTILINE)
_PERCENTILE: Final = re.compile(rf"{_START}(\d+(?:\.\d+)?)%\s+{_TIME}", re.MULTILINE)
_TOTAL: Final = re.compile(rf"{_START}(\d+) requests in {_TIME}", re.MULTILINE)
_RATE: Final = re.compile(rf"{_START}Requests/sec:\s+(\d+(?:\.\d+)?)", re.MULTILINE)
_SETUP: Final = re.compile(rf"{_START}(\d+) threads and (\d+) connections\s*$", re.MULTILINE)
_SOCKET: Final = re.compile(rf"{_START}(Socket errors: .*\S)", re.MULTILINE)
_BEGIN: Final = re.compile(rf"{_START}Running \S+ test @ ", re.MULTILINE)
_END: Final = re.compile(r"^(?:Requests|Transfer)/sec:.*", re.MULTILINE)
_STATUS: Final = re.compile(rf"{_START}(Non-2xx or 3xx responses: \d+)", re.MULTILINE)
# In a command above the output: wrk2 sends at this rate, whatever the server does.
_ASKED: Final = re.compile(r"(?:^|\s)(?:-R\s*|--rate[=\s]\s*)(\d+)(k?)(?=\s|$)")
# wrk2 prints further ones.
_PRINTED: Final = (50.0, 75.0, 90.0, 99.0)
_COLUMNS: Final = PERCENTILES | {100.0: "latency_max_us"}
# wrk2 divides its microseconds by 1,000.
_SPECTRUM_UNIT: Final = "ms"


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether a line is wrk's `Running 30s test @ http://...`."""
    text = unwrap_literal(head.decode("utf-8", "replace"))
    return _BEGIN.search(text) is not None


def list_parts(blocks: Iterable[bytes], context: ReadContext) -> list[str]:
    """Return the numbers of the outputs of a text, one below the other; none for one.

    Raises:
        FormatError: As `read`.
    """
    outputs = _outputs(whole_text(blocks, context.name))
    return [str(number) for number, _ in enumerate(outputs, 1)] if len(outputs) > 1 else []


def _outputs(text: str) -> list[Output]:
    begins = [found.start() for found in _BEGIN.finditer(text)] or [0]
    ends = [*begins[1:], len(text)]
    lasts = [
        max((found.end() for found in _END.finditer(text, begin, end)), default=begin)
        for begin, end in zip(begins, ends, strict=True)
    ]
    return cut(text, [*zip(begins, lasts, strict=True)])


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read latencies, requests, time and rate.

    Returns:
        Latencies in microseconds (of wrk2 the recorded ones, with the digits of its percentile
        list where that has the percentile), `requests`, `duration_s`, `throughput_qps`; the load
        that a command above the output asks for; flags `socket_errors` and `non_2xx` where wrk
        reports them.

    Raises:
        FormatError: Neither a latency nor a request count, or a number that cannot be parsed.
    """
    whole = whole_text(blocks, context.name)
    outputs = _outputs(whole)
    output = outputs[int(context.part or 1) - 1]
    text = output.text
    reading = Reading()
    problems = ProblemList()
    try:
        _read_latencies(text, reading, problems)
        _read_totals(text, reading, problems)
    except ValueError as error:
        raise FormatError(f"cannot parse a number: {error} ({context.name})") from None
    for flag, pattern in (("socket_errors", _SOCKET), ("non_2xx", _STATUS)):
        if match := pattern.search(text):
            reading.flags.append(flag)
            line = text.count("\n", 0, match.start(1)) + 1
            problems.add(flag, "doubted", f"the load generator says: {match[1]}", line)
    if found := _SETUP.search(text):
        reading.facts = {"threads": found[1], "connections": found[2]}
        setups = {each for output in outputs for each in _SETUP.findall(output.text)}
        if len({connections for _, connections in setups}) > 1:
            # Names of files say it of one output each.
            reading.columns = (CONNECTIONS,)
            reading.knobs["connections"] = int(found[2])
    reading.problems = problems.all()
    if not reading.measurements:
        raise FormatError(f"no latency and no count of requests in this output ({context.name})")
    add_settings(reading, output, outputs, lambda text: tuple(_SETUP.findall(text)))
    if asked := [*_ASKED.finditer(whole, 0, whole.index(text))]:
        rate, thousands = asked[-1].groups()
        reading.knobs["load_qps"] = float(rate) * (1e3 if thousands else 1.0)
        # The option of the command is no second setting.
        reading.knobs.pop("rate", None)
        reading.columns = tuple(each for each in reading.columns if each.name != "rate")
    return reading


def _read_latencies(text: str, reading: Reading, problems: ProblemList) -> None:
    if found := _MEAN.search(text):
        reading.measurements["latency_mean_us"] = to_us(float(found[1]), found[2])
    for percent, value, unit in _PERCENTILE.findall(text):
        if column := _COLUMNS.get(float(percent)):
            reading.measurements.setdefault(column, to_us(float(value), unit))
    printed = (PERCENTILES[percent] for percent in _PRINTED)
    missing = [name for name in printed if name not in reading.measurements]
    if missing:
        detail = f"no {' '.join(missing)}: run without --latency, or the output is cut"
        problems.add("no_percentiles", "doubted", detail)
    if heading := HEADING.search(text):
        # A second list, of uncorrected latencies, is not read.
        spectrum = read_spectrum(text[heading.end() :])
        if spectrum is not None:
            take_spectrum(spectrum, _SPECTRUM_UNIT, reading)


def _read_totals(text: str, reading: Reading, problems: ProblemList) -> None:
    if match := _TOTAL.search(text):
        reading.measurements["requests"] = int(match[1])
        reading.measurements["duration_s"] = to_us(float(match[2]), match[3]) / 1e6
    else:
        problems.add("no_requests", "doubted", "no `N requests in T` line; the output may be cut")
    if match := _RATE.search(text):
        reading.measurements["throughput_qps"] = float(match[1])
    else:
        problems.add("no_throughput", "doubted", "no `Requests/sec` line; the output may be cut")
