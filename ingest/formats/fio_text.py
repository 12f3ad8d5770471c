"""fio's text output (`--output-format=normal`), fio 3: as the document that fio writes as JSON."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from data.errors import FormatError
from ingest.files.text_lines import decode_text, whole_text
from ingest.formats import fio
from ingest.formats.fio_knobs import MIX
from ingest.records import Problem, ReadContext, Reading, RefusedError

# Of each group of jobs, before they run.
_STATED: Final = re.compile(
    r"^(?P<name>[^\n:]+): \(g=(?P<group>\d+)\): rw=(?P<rw>\w+), "
    r"bs=\(R\) (?P<bs>\S+)-(?P<most>\S+), "
    r"\(W\) (?P<bs_w>\S+)-(?P<most_w>\S+), .*?ioengine=(?P<ioengine>\w+), iodepth=(?P<iodepth>\d+)",
    re.MULTILINE,
)
# Of each job, or of all with `group_reporting`, when they have run.
_JOB: Final = re.compile(
    r"^(?P<name>[^\n:]+): \(groupid=(?P<group>\d+), jobs=(?P<jobs>\d+)\): err=\s*(?P<error>\d+)",
    re.MULTILINE,
)
_DIRECTION: Final = re.compile(
    r"^  (?P<name>read|write|trim)\s*: IOPS=\S+ BW=\S+ \([^)]*\)\((?P<size>[\d.]+)(?P<unit>\w+)/"
    r"(?P<ms>\d+)msec\)",
    re.MULTILINE,
)
_LATENCY: Final = re.compile(
    r"^ +(?P<kind>c?lat) \((?P<unit>[num]?sec)\): "
    r"min=\s*(?P<min>[\d.]+k?), max=\s*(?P<max>[\d.]+k?), avg=\s*(?P<mean>[\d.]+)",
    re.MULTILINE,
)
_PERCENTILES: Final = re.compile(
    r"^ +(?P<kind>c?lat) percentiles \((?P<unit>[num]?sec)\):\n(?P<rows>(?: +\|.*(?:\n|$))+)",
    re.MULTILINE,
)
_PERCENTILE: Final = re.compile(r"([\d.]+)th=\[\s*(\d+)\]")
_PROCESSOR: Final = re.compile(
    r"^  cpu +: usr=(?P<usr_cpu>[\d.]+)%, sys=(?P<sys_cpu>[\d.]+)%, ctx=(?P<ctx>\d+)", re.MULTILINE
)
_ISSUED: Final = re.compile(r"^ +issued rwts?: total=(\d+),(\d+),(\d+)", re.MULTILINE)
_VERSION: Final = re.compile(r"^fio-(3\.\S+)$", re.MULTILINE)
_SECTION_END: Final = re.compile(r"^(?:Run status group|  lat \([num]?sec\) +:)", re.MULTILINE)
_NS: Final = {"nsec": 1.0, "usec": 1e3, "msec": 1e6, "sec": 1e9}
# fio writes three digits at least.
_ROUNDED: Final = 0.006
_SIZES: Final = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether a text has the version of fio and what its jobs were."""
    text = decode_text(head)
    return _VERSION.search(text) is not None and _STATED.search(text) is not None


def list_parts(blocks: Iterable[bytes], context: ReadContext) -> list[str]:
    """Return the names of the job groups, each of which is a run.

    Raises:
        FormatError: As `read`.
    """
    return fio.list_parts([_document(blocks, context)], context)


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read what the jobs of one group measured together, as `fio.read`.

    Raises:
        RefusedError: A job failed or made no IO.
        FormatError: No job has ended, or it lacks a line that fio always writes.
    """
    try:
        reading = fio.read([_document(blocks, context)], context)
    except RefusedError as error:
        raise RefusedError(_without_lines(error.problems)) from error
    reading.problems = _without_lines(reading.problems)
    # The text does not say which mix was asked for.
    reading.knobs.pop(MIX.name, None)
    reading.columns = tuple(column for column in reading.columns if column != MIX)
    return reading


def _without_lines(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems without their lines, which are of a document that nobody wrote."""
    return [replace(each, line=None) for each in problems]


def _document(blocks: Iterable[bytes], context: ReadContext) -> bytes:
    text = whole_text(blocks, context.name)
    try:
        return _as_json(text, context)
    except (KeyError, ValueError, OverflowError) as error:
        detail = f"{type(error).__name__}: {error}"
        raise FormatError(f"not valid fio output: {detail} ({context.name})") from error


def _as_json(text: str, context: ReadContext) -> bytes:
    stated = {(each["name"], each["group"]): each for each in _STATED.finditer(text)}
    begins = [*_JOB.finditer(text)]
    ends = [*(each.start() for each in begins[1:]), len(text)]
    jobs = []
    for begin, end in zip(begins, ends, strict=True):
        of_job = stated.get((begin["name"], begin["group"]))
        if of_job is None:
            raise FormatError(f"fio does not say what {begin['name']!r} was ({context.name})")
        jobs.append(_job(begin, of_job, text[begin.end() : end], context))
    if not jobs:
        raise FormatError(f"fio's text without a job that ended ({context.name})")
    versions = _VERSION.findall(text)
    started = sum(map(int, re.findall(r"\d+(?= (?:process|thread))", _started(text))))
    if len(versions) > 1 or started < sum(int(each["jobs"]) for each in begins):
        detail = "text of several runs of fio, or several reports of one: its JSON tells them apart"
        raise FormatError(f"{detail} ({context.name})")
    return json.dumps({"fio version": f"fio-{versions[0]}", "jobs": jobs}).encode()


def _started(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.startswith("Starting "))


def _job(
    begin: re.Match[str], stated: re.Match[str], text: str, context: ReadContext
) -> dict[str, Any]:
    processor, issued = _PROCESSOR.search(text), _ISSUED.search(text)
    if processor is None or issued is None:
        raise FormatError(f"fio's text of {begin['name']!r} is not whole ({context.name})")
    options = {key: stated[key] for key in ("rw", "ioengine", "iodepth")}
    options["numjobs"] = begin["jobs"]
    # A range, or sizes that differ by direction, is no size.
    sizes = [stated[key] for key in ("bs", "most", "bs_w", "most_w")]
    request_bytes = _bytes(sizes[0]) if len({*sizes}) == 1 else 0
    if request_bytes:
        options["bs"] = str(request_bytes)
    else:
        options["bsrange"] = f"{stated['bs']}-{stated['most']},{stated['bs_w']}-{stated['most_w']}"
    counts = dict(zip(("read", "write", "trim"), map(int, issued.groups()), strict=True))
    found = [*_DIRECTION.finditer(text)]
    last = _SECTION_END.search(text)
    ends = [*(each.start() for each in found[1:]), last.start() if last else len(text)]
    parts = zip(found, ends, strict=True)
    return {
        "jobname": begin["name"], "groupid": int(begin["group"]), "error": int(begin["error"]),
        "job options": options, **{key: float(processor[key]) for key in ("usr_cpu", "sys_cpu")},
        "ctx": int(processor["ctx"]),
        **{each["name"]: _direction(each, counts[each["name"]], request_bytes, text[each.end():end])
           for each, end in parts},
    }  # fmt: skip


def _direction(line: re.Match[str], requests: int, request_bytes: int, text: str) -> dict[str, Any]:
    """Return one direction; its rates are those of all requests, as IOPS=990k is rounded.

    So is the size that fio writes: of requests of one size their product stands, if it is near.
    """
    runtime_ms = int(line["ms"])
    size = float(line["size"]) * _SIZES[line["unit"]]
    exact = requests * request_bytes
    size = exact if abs(exact - size) <= _ROUNDED * size else size
    per_s = 1e3 / runtime_ms if runtime_ms else 0.0
    said: dict[str, Any] = {
        "total_ios": requests, "runtime": runtime_ms, "iops": requests * per_s,
        "bw_bytes": size * per_s,
    }  # fmt: skip
    for found in _LATENCY.finditer(text):
        scale = _NS[found["unit"]]
        values = {key: _thousands(found[key]) * scale for key in ("min", "max", "mean")}
        said[f"{found['kind']}_ns"] = {"N": requests, **values}
    for found in _PERCENTILES.finditer(text):
        rows = {key: int(value) * _NS[found["unit"]]
                for key, value in _PERCENTILE.findall(found["rows"])}  # fmt: skip
        said.setdefault(f"{found['kind']}_ns", {})["percentile"] = rows
    return said


def _thousands(text: str) -> float:
    return float(text.removesuffix("k")) * (1e3 if text.endswith("k") else 1.0)


def _bytes(text: str) -> int:
    found = re.fullmatch(r"([\d.]+)([KMGT]iB|B)", text)
    return round(float(found[1]) * _SIZES[found[2]]) if found else 0
