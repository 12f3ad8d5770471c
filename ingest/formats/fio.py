"""fio's JSON output (`--output-format=json` or `json+`), fio 3."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from data.errors import FormatError
from ingest.files.text_lines import decode_text, starts_with_mark
from ingest.formats.fio_document import Document, Job, read_documents
from ingest.formats.fio_knobs import (
    MIX,
    device_of,
    direction_names,
    directions_of,
    facts_of,
    is_verified,
    job_counts,
    knobs_of,
    longest_s,
    mixes_of,
    option,
)
from ingest.formats.fio_latency import KINDS, measurements_us, merge, read_distribution
from ingest.formats.pasted import add_settings, cut
from ingest.records import Problem, ProblemList, ReadContext, Reading, RefusedError, UtcWindow
from ingest.settings.number_texts import PERCENTILES

# If the time before submission exceeds this share of the mean, percentiles without it are doubted.
_LEFT_OUT_SHARE: Final = 0.1
# Maximum delay between the end of the jobs and the time when fio writes the document.
_WRITING_S: Final = 0.3
_START_ERROR_S: Final = 0.01
_MESSAGE: Final = re.compile(rb"^fio: ", re.MULTILINE)


def sniff(name: str, head: bytes) -> bool:
    """Return whether the text holds fio's JSON document; other text may precede it.

    A file named `.json` that holds only fio's messages, such as of a failed start, counts too.
    """
    if starts_with_mark(head):
        head = decode_text(head).encode()
    if b'"fio version"' in head and re.search(rb"^[ \t]*\{", head, re.MULTILINE):
        return True
    return ".json" in name.lower() and _MESSAGE.search(head) is not None


def list_parts(blocks: Iterable[bytes], context: ReadContext) -> list[str]:
    """Return the names of the job groups. Groups run one after the other; each is a run.

    Of several documents, one below the other, these are numbered.

    Raises:
        FormatError: As `read`.
    """
    try:
        return [*_parts(read_documents(blocks, context.name, ProblemList())[1])]
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FormatError(f"not valid fio output: {error} ({context.name})") from error


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read what the jobs of one group measured together.

    Rates and processor use are summed over jobs; latencies are merged.

    Args:
        context: `part` is one of `list_parts`; None for a document of one group.

    Returns:
        Rates, latencies, processor use and context switches; size, depth, threads and kind of
        the requests as `knobs`; the time of the measurement as `utc_window`.

    Raises:
        RefusedError: A job failed or made no IO.
        FormatError: No complete document, or a field that fio always writes is missing.
    """
    problems = ProblemList()
    try:
        return _read_part(*read_documents(blocks, context.name, problems), context, problems)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        detail = f"{type(error).__name__}: {error}"
        raise FormatError(f"not valid fio output: {detail} ({context.name})") from error


def _parts(documents: Sequence[Document]) -> dict[str, tuple[Document, str]]:
    """Return the groups of all documents by the name of the run."""
    if len(documents) == 1:
        return {group: (documents[0], group) for group in documents[0].groups}
    return {
        f"{number}-{group}" if len(document.groups) > 1 else f"{number}": (document, group)
        for number, document in enumerate(documents, 1)
        for group in document.groups
    }


def _read_part(
    text: str, documents: Sequence[Document], context: ReadContext, problems: ProblemList
) -> Reading:
    parts = _parts(documents)
    name = context.part if context.part is not None else next(iter(parts))
    if name not in parts:
        raise FormatError(f"no group of jobs named {name!r} ({context.name})")
    document, part = parts[name]
    groups = document.groups
    failures = {name: list(_failures(jobs)) for name, jobs in groups.items()}
    others = [each for name, found in failures.items() if name != part for each in found]
    if failures[part]:
        raise RefusedError([*problems.all(), *others, *failures[part]])
    reading = _read_group(groups[part], problems)
    reading.utc_window = _window(document, part, reading.measurements["duration_s"])
    reading.facts = {"fio version": document.version} | facts_of(groups[part])
    reading.ramp_s = longest_s(groups[part], "ramp_time")
    reading.problems = [*problems.all(), *others]
    outputs = cut(text, [each.span for each in documents])
    options = {
        output.text: repr([job.options for jobs in each.groups.values() for job in jobs])
        for each, output in zip(documents, outputs, strict=True)
    }
    add_settings(reading, outputs[documents.index(document)], outputs, options.__getitem__)
    return reading


def _failures(jobs: Sequence[Job]) -> Iterable[Problem]:
    """Yield the reasons why a group is not a measurement."""
    for job in jobs:
        if job.error:
            why = os.strerror(job.error)
            detail = f"job {job.name!r} ended with error {job.error} ({why}); its run is not used"
            yield Problem("job_failed", "refused", detail, job.line)
        elif not direction_names(job):
            detail = f"job {job.name!r} made no IO; its run is not used"
            yield Problem("no_io", "refused", detail, job.line)
    ran_ms = [float(each["runtime"]) for job in jobs for each in directions_of(job)]
    if ran_ms and not any(ran_ms) and not any(job.error for job in jobs):
        detail = f"job {jobs[0].name!r} ended within a millisecond, so fio gives no rate"
        yield Problem("no_duration", "refused", f"{detail}; its run is not used", jobs[0].line)


def _read_group(jobs: Sequence[Job], problems: ProblemList) -> Reading:
    directions = [each for job in jobs for each in directions_of(job)]
    counts = job_counts(jobs)
    measured: dict[str, float | int] = {
        "iops": sum(float(each["iops"]) for each in directions),
        "bandwidth_bytes_s": sum(_bytes_s(each) for each in directions),
        "requests": sum(int(each["total_ios"]) for each in directions),
        "duration_s": max(float(each["runtime"]) for each in directions) / 1e3,
        "context_switches": sum(int(job.content["ctx"]) for job in jobs),
    }
    for column, key in (("cpu_user_pct", "usr_cpu"), ("cpu_sys_pct", "sys_cpu")):
        shares = zip(jobs, counts, strict=True)
        measured[column] = sum(float(job.content[key]) * count for job, count in shares)
    measured |= _latencies(jobs, directions, problems)
    _doubt_jobs(jobs, problems)
    reading = Reading(measured, knobs_of(jobs, directions, problems))
    if len(mixes := mixes_of(jobs)) == 1:
        reading.columns, reading.knobs[MIX.name] = (MIX,), mixes.pop()
    flags = {option(job, "hipri") for job in jobs}
    if len(flags) == 1 and (flag := flags.pop()) is not None:
        reading.polling["hipri"] = flag != "0"
    devices = {device_of(job) for job in jobs}
    if len(devices) == 1 and (device := devices.pop()) is not None:
        reading.hints["device"] = device
    return reading


def _bytes_s(direction: Mapping[str, Any]) -> float:
    """Return the bandwidth in bytes/s: `bw_bytes`, else `bw`, which is in KiB/s."""
    if "bw_bytes" in direction:
        return float(direction["bw_bytes"])
    return float(direction["bw"]) * 1024


def _latencies(
    jobs: Sequence[Job], directions: Sequence[Mapping[str, Any]], problems: ProblemList
) -> dict[str, float]:
    parts = [each for each in map(read_distribution, directions) if each is not None]
    merged = merge(parts)
    if merged is None:
        stated = [kind for kind in KINDS if any(kind in each for each in directions)]
        none = f"{' and '.join(stated)} count no request, as where options of fio disable them"
        absent = f"no {' and no '.join(KINDS)}"
        detail = f"no latencies: {none if stated else absent}; left unset"
        problems.add("no_latencies", "doubted", detail, jobs[0].line)
        return {}
    measurements = measurements_us(merged)
    missing = [name for name in PERCENTILES.values() if name not in measurements]
    if missing:
        if len(parts) > 1 and not merged.bins:
            why = f"{len(parts)} distributions without bins cannot be merged (json+ has bins)"
            problems.add("no_percentiles", "doubted", f"{why}; left unset", jobs[0].line)
        elif len(missing) > 1:
            detail = f"no {' '.join(missing)} in fio's list of percentiles; left unset"
            problems.add("no_percentiles", "doubted", detail, jobs[0].line)
    if len(missing) < len(PERCENTILES) and merged.left_out_ns > _LEFT_OUT_SHARE * merged.mean_ns:
        detail = (
            f"percentiles start at submission and exclude {merged.left_out_ns / 1e3:.3g} us of "
            f"the mean's {merged.mean_ns / 1e3:.3g} us; fio's lat_percentiles=1 includes them"
        )
        problems.add("completion_percentiles", "doubted", detail, jobs[0].line)
    return measurements


def _doubt_jobs(jobs: Sequence[Job], problems: ProblemList) -> None:
    for job in jobs:
        if is_verified(job) and len(direction_names(job)) > 1:
            detail = f"job {job.name!r} read back what it wrote; only its writes are used"
            problems.add("verified", "doubted", detail, job.line)
        if errors := int(job.content.get("total_err", 0)):
            detail = f"job {job.name!r} went on after {errors} errors"
            problems.add("io_errors", "doubted", detail, job.line)


def _window(document: Document, part: str, duration_s: float) -> UtcWindow | None:
    """Return when a group measured, without its ramp.

    fio 3.36 and later state when a job began. Earlier versions state only when the document was
    written: just after the last group ended. Each group began when the one before it ended.
    """
    jobs = document.groups[part]
    ramp_s = longest_s(jobs, "ramp_time")
    starts_s = [float(job.content.get("job_start", 0)) / 1e3 for job in jobs]
    end_s = document.written_unix_s
    if all(starts_s) and (end_s is None or end_s - 30 * 86400 < min(starts_s) < end_s + 1):
        start_s = min(starts_s) + ramp_s
        return UtcWindow(start_s, start_s + duration_s, _START_ERROR_S)
    if end_s is None:
        return None
    ends_s = _ends_s(document.groups)
    later = len(ends_s) - 1 - list(ends_s).index(part)
    end_s -= max(ends_s.values()) - ends_s[part] + max(map(_verifying_s, jobs))
    error_s = document.written_error_s + (1 + later) * _WRITING_S
    return UtcWindow(end_s - duration_s, end_s, error_s)


def _ends_s(groups: Mapping[str, Sequence[Job]]) -> dict[str, float]:
    """Return when each group ended, in seconds since fio began.

    A group begins when the one before it has ended; a job also waits for its own start delay,
    which counts from the start of fio.
    """
    ends_s: dict[str, float] = {}
    before_s = 0.0
    for name, jobs in groups.items():
        before_s = max(
            max(before_s, longest_s([job], "startdelay"))
            + longest_s([job], "ramp_time")
            + max((float(each.get("runtime", 0)) for each in directions_of(job)), default=0.0) / 1e3
            # Reads that verify what was written are requests too.
            + _verifying_s(job)
            for job in jobs
        )
        ends_s[name] = before_s
    return ends_s


def _verifying_s(job: Job) -> float:
    """Return how long a job read back what it had written; this comes last."""
    is_back = is_verified(job) and "read" in direction_names(job)
    return float(job.content["read"].get("runtime", 0)) / 1e3 if is_back else 0.0
