"""memtier_benchmark's JSON (`--json-out-file`): memcached and Redis."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from data.declared import Column
from data.errors import FormatError
from ingest.formats.documents import facts_of, number_of, part_of, read_object, text_of
from ingest.records import ProblemList, ReadContext, Reading, UtcWindow
from ingest.settings.number_texts import PERCENTILES, to_us

_SNIFFED: Final = re.compile(rb'"ALL STATS"\s*:|"RUN #\d+ RESULTS"\s*:|"run information"\s*:')
_ONE: Final = "ALL STATS"
_OF_SEVERAL: Final = re.compile(r"RUN #(\d+) RESULTS")
_KEY: Final = re.compile(r"p(\d{1,3}(?:\.\d{1,9})?)")
_CLOCK_ERROR_S: Final = 0.001
# Configuration that is a knob, a place, a secret, or a report of its own.
_NO_FACTS: Final = frozenset(
    {"protocol", "rate_limit", "clients", "threads", "ratio", "pipeline", "data_size", "server",
     "port", "unix socket", "unix_socket", "uri", "authenticate", "out_file", "client_stats",
     "json_out_file", "hdr_prefix", "hdr-file-prefix", "run_count", "debug"}
)  # fmt: skip
CONNECTIONS: Final = Column("connections", "knob", "whole", "Connections", "connections")
COLUMNS: Final = (
    Column("protocol", "knob", "text", "Protocol", "protocol"),
    CONNECTIONS,
    Column("pipeline_depth", "knob", "whole", "Requests in flight on a connection", "pipeline"),
    Column("set_get_ratio", "knob", "text", "Sets to gets", "sets:gets"),
    Column("hits_per_s", "metric", "real", "Hits", "hits", "1/s", "more"),
    Column("misses_per_s", "metric", "real", "Misses", "misses", "1/s", "less"),
    Column(
        "connection_errors", "metric", "whole", "Connection errors", "connection errors", "", "less"
    ),
)


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether it is a JSON object with the sections of memtier_benchmark."""
    start = head.lstrip()
    return start.startswith(b"{") and b'"configuration"' in head and bool(_SNIFFED.search(start))


def list_parts(blocks: Iterable[bytes], context: ReadContext) -> list[str]:
    """Return the runs of `--run-count` with `--print-all-runs`: their numbers as text.

    Raises:
        FormatError: As `read`.
    """
    document = read_object(blocks, context.name)
    return [found[1] for key in document if (found := _OF_SEVERAL.fullmatch(key))]


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read the totals over all kinds of requests; latencies are in milliseconds there.

    Args:
        context: `part` is one of `list_parts`; None for a document of one run.

    Returns:
        Latencies, `throughput_qps`, `bandwidth_bytes_s`, `requests`, `duration_s` and `COLUMNS`;
        threads, value size and load as knobs; the time as `utc_window`.

    Raises:
        FormatError: No document, or no totals; the best, the worst and the average of several runs
            are not used in place of the runs.
    """
    document = read_object(blocks, context.name)
    key = _ONE if context.part is None else f"RUN #{context.part} RESULTS"
    stats = part_of(document, key)
    if context.part is None and not stats:
        only = [name for name in document if _OF_SEVERAL.fullmatch(name)]
        stats = part_of(document, only[0]) if only else stats
    totals = part_of(stats, "Totals")
    if not totals:
        why = f"no {key!r} with 'Totals'; of several runs only --print-all-runs keeps each"
        raise FormatError(f"{why} ({context.name})")
    reading = Reading(columns=COLUMNS)
    problems = ProblemList()
    try:
        _take_time(document, stats, reading, problems)
        _take_totals(totals, reading, problems)
        _take_knobs(part_of(document, "configuration"), reading)
        reading.facts = facts_of(part_of(document, "configuration"), _NO_FACTS)
    except FormatError as error:
        raise FormatError(f"{error} ({context.name})") from error
    reading.problems = problems.all()
    return reading


def _take_time(
    document: Mapping[str, Any], stats: Mapping[str, Any], reading: Reading, problems: ProblemList
) -> None:
    """Take over when and how long it ran; what an interrupted run says of its end is not so."""
    runtime, whole = part_of(stats, "Runtime"), part_of(document, "benchmark_completion")
    duration_ms = number_of(runtime, "Total duration")
    start_ms = number_of(runtime, "Start time")
    if whole.get("full_run") is False or text_of(runtime, "Interrupted") == "true":
        reading.flags.append("interrupted")
        detail = "memtier_benchmark was stopped before its end"
        problems.add("interrupted", "doubted", detail)
        duration_ms = number_of(whole, "actual_duration_ms") or duration_ms
    if duration_ms is None or duration_ms <= 0:
        detail = f"a duration of {duration_ms} ms; left unset"
        problems.add("no_duration", "doubted", detail)
        return
    reading.measurements["duration_s"] = duration_ms / 1e3
    if start_ms:
        start_s = start_ms / 1e3
        reading.utc_window = UtcWindow(start_s, start_s + duration_ms / 1e3, _CLOCK_ERROR_S)


def _take_totals(totals: Mapping[str, Any], reading: Reading, problems: ProblemList) -> None:
    measured = reading.measurements
    requests = number_of(totals, "Count")
    rate = number_of(totals, "Ops/sec")
    if requests == 0 or (requests is None and not rate):
        reading.flags.append("no_load")
        problems.add("no_load", "doubted", "no request was answered; rates are left unset")
        return
    if requests is not None:
        measured["requests"] = round(requests)
    if not rate and requests and measured.get("duration_s"):
        rate = requests / measured["duration_s"]
    means = (number_of(totals, key) for key in ("Average Latency", "Latency"))
    in_ms = {
        "latency_mean_us": next((mean for mean in means if mean is not None), None),
        "latency_min_us": number_of(totals, "Min Latency"),
        "latency_max_us": number_of(totals, "Max Latency"),
    }
    percentiles = part_of(totals, "Percentile Latencies")
    for key in percentiles:
        found = _KEY.fullmatch(key)
        if found and float(found[1]) in PERCENTILES:
            in_ms[PERCENTILES[float(found[1])]] = number_of(percentiles, key)
    measured |= {name: to_us(value, "ms") for name, value in in_ms.items() if value is not None}
    kib_s = number_of(totals, "KB/sec")
    errors = number_of(totals, "Connection Errors")
    others = {
        "throughput_qps": rate or None,
        "bandwidth_bytes_s": kib_s * 1024 if kib_s else None,
        "hits_per_s": number_of(totals, "Hits/sec"),
        "misses_per_s": number_of(totals, "Misses/sec"),
        "connection_errors": None if errors is None else round(errors),
    }
    measured |= {name: value for name, value in others.items() if value is not None}
    if not percentiles:
        detail = "no 'Percentile Latencies': written before memtier_benchmark 1.3"
        problems.add("no_percentiles", "doubted", detail)


def _take_knobs(configuration: Mapping[str, Any], reading: Reading) -> None:
    threads, clients = number_of(configuration, "threads"), number_of(configuration, "clients")
    whole = {
        "threads": threads,
        "connections": threads * clients if threads and clients else None,
        "pipeline_depth": number_of(configuration, "pipeline"),
        "request_bytes": number_of(configuration, "data_size") or None,
    }
    reading.knobs |= {name: round(value) for name, value in whole.items() if value is not None}
    # The limit is of each connection.
    limit = number_of(configuration, "rate_limit")
    if limit and whole["connections"]:
        reading.knobs["load_qps"] = limit * whole["connections"]
    for name, key in (("protocol", "protocol"), ("set_get_ratio", "ratio")):
        if text := text_of(configuration, key):
            reading.knobs[name] = text
