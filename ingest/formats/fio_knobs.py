"""Requests that fio's options asked for: kind, size, depth, threads, engine."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from data.declared import Column
from data.knob_table import STATED
from ingest.formats.fio_document import Job
from ingest.records import ProblemList
from ingest.settings.number_texts import parse_size

# Engines that wait for each request: one request in flight per job.
_SYNCHRONOUS: Final = frozenset(
    {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "falloc", "ftruncate",
     "e4defrag", "gfapi", "http", "ime_psync", "ime_psyncv", "libcufile", "libhdfs", "libpmem",
     "mtd", "nbd", "net", "netsplice", "pmemblk", "dev-dax", "filecreate", "filestat",
     "filedelete", "dircreate", "dirstat", "dirdelete"}
)  # fmt: skip
_DEFAULT_ENGINE: Final = "psync"
_DEFAULT_BYTES: Final = 4096
_ALIASES: Final = {"readwrite": "rw", "blocksize": "bs", "start_delay": "startdelay"}
# Options that make requests of several sizes in one job.
_SIZE_RANGES: Final = frozenset({"bsrange", "blocksize_range", "bssplit", "bs_unaligned"})
_SECONDS: Final = {"us": 1e-6, "ms": 1e-3, "": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TIME: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s|m|h|d|)")
# Options that are knobs, names, places, seeds, the order of jobs, or reports of fio's own.
_NO_FACTS: Final = re.compile(
    f"({'|'.join(knob.fio for knob in STATED if knob.fio)}|{'|'.join(_ALIASES)}|"
    "name|filename|filename_format|directory|opendir|description|hipri|randseed|stonewall|"
    "wait_for_previous|new_group|group_reporting|startdelay|output.*|status-interval|eta.*|"
    "write_.*_log|log_.*|per_job_logs)"
)
# The direction of each kind of requests with only one; other kinds have both.
_ONE_DIRECTION: Final = {
    "read": "read", "randread": "read", "write": "write", "randwrite": "write",
    "trim": "trim", "randtrim": "trim",
}  # fmt: skip
_DIRECTIONS: Final = ("read", "write", "trim")
# The share of reads of mixed accesses, which fio calls the mix; half where no option says it.
MIX: Final = Column(
    "rwmixread", "knob", "real", "Reads of mixed accesses", "reads", "%", is_given=True
)
_MIXED: Final = frozenset({"rw", "randrw"})
_DEFAULT_MIX: Final = 50.0
# In shorter jobs the run times do not reveal the number of jobs.
_SHORTEST_CONCLUSIVE_MS: Final = 100


def directions_of(job: Job) -> list[Mapping[str, Any]]:
    """Return what a job measured in each direction, or `mixed` where it reports them as one.

    For a job that verified its writes, return the writes alone: it read the data back afterwards,
    so the sum of both rates means nothing.
    """
    directions = {name: job.content.get(name, {}) for name in direction_names(job)}
    direction = _ONE_DIRECTION.get(kind_of(job) or "", "")
    if is_verified(job) and direction in directions:
        return [directions[direction]]
    return list(directions.values())


def direction_names(job: Job) -> list[str]:
    """Return the names of the directions in which a job made requests."""
    names = ("mixed",) if "mixed" in job.content else _DIRECTIONS
    return [name for name in names if int(job.content.get(name, {}).get("total_ios", 0))]


def is_verified(job: Job) -> bool:
    """Return whether a job read back what it had written."""
    is_writing = _ONE_DIRECTION.get(kind_of(job) or "") == "write"
    return is_writing and (option(job, "verify") or "0") not in ("0", "none")


def job_counts(jobs: Sequence[Job]) -> list[int]:
    """Return the number of jobs behind each entry; 1 where each job has its own entry."""
    names = [job.name for job in jobs]
    return [
        1 if names.count(job.name) > 1 else max(int(option(job, "numjobs") or 1), 1) for job in jobs
    ]


def option(job: Job, name: str) -> str | None:
    """Return an option's value; aliases count as the canonical name."""
    options = {_ALIASES.get(key, key): value for key, value in (job.options or {}).items()}
    return options.get(name)


def knobs_of(
    jobs: Sequence[Job], directions: Sequence[Mapping[str, Any]], problems: ProblemList
) -> dict[str, float | int | str]:
    """Return the knobs that the jobs share; a knob in which they differ is left out."""
    counts = job_counts(jobs)
    kinds = {kind_of(job) for job in jobs}
    sizes = {
        _request_bytes(job, directions if len(jobs) == 1 else directions_of(job)) for job in jobs
    }
    knobs: dict[str, float | int | str] = {"threads": sum(counts)}
    if all(job.options is not None for job in jobs):
        knobs["io_depth"] = sum(_depth(j) * n for j, n in zip(jobs, counts, strict=True))
    engines = {option(job, "ioengine") for job in jobs}
    for name, values in (("rw", kinds), ("request_bytes", sizes), ("ioengine", engines)):
        value = next(iter(values))
        if len(values) > 1:
            detail = f"jobs that ran together differ in {name}; left unset"
            problems.add("mixed_jobs", "doubted", detail, jobs[0].line)
        elif value is not None:
            knobs[name] = value
    for job, count in zip(jobs, counts, strict=True):
        for name in _leave_out(job, count, problems):
            knobs.pop(name, None)
    return knobs


def _leave_out(job: Job, count: int, problems: ProblemList) -> tuple[str, ...]:
    """Return the knobs for which an entry's options cannot be right.

    With `group_reporting` an entry may cover jobs of several kinds under the last one's options.
    """
    if is_verified(job):
        return ()
    kind, names = kind_of(job), direction_names(job)
    other = [name for name in names if name not in ("mixed", _ONE_DIRECTION.get(kind or "", name))]
    ran_ms = int(job.content.get("job_runtime", 0))
    longest_ms = max((float(job.content[name].get("runtime", 0)) for name in names), default=0.0)
    is_more = longest_ms >= _SHORTEST_CONCLUSIVE_MS and ran_ms > (count + 0.5) * longest_ms
    if not other and not is_more:
        return ()
    detail = f"job {job.name!r} reports several kinds of jobs as one: its options say "
    if other:
        detail += f"{kind}, its counts {' and '.join(names)}"
    else:
        detail += f"{count}, which ran {longest_ms / 1e3:g} s, but {ran_ms / 1e3:g} s in all"
    problems.add("mixed_jobs", "doubted", f"{detail}; its knobs are left unset", job.line)
    return tuple(knob.column for knob in STATED if knob.fio)


def mixes_of(jobs: Sequence[Job]) -> set[float]:
    """Return the shares of reads, in percent, that mixed accesses asked for; empty for others."""
    mixes = set()
    for job in jobs:
        if kind_of(job) not in _MIXED:
            return set()
        reads, writes = option(job, "rwmixread"), option(job, "rwmixwrite")
        of_writes = 100.0 - float(writes) if writes is not None else _DEFAULT_MIX
        mixes.add(float(reads) if reads is not None else of_writes)
    return mixes


def kind_of(job: Job) -> str | None:
    """Return the kind of requests that a job made; None without options."""
    if job.options is not None:
        kind = (option(job, "rw") or "read").split(":")[0]
        return _ALIASES.get(kind, kind)
    return None


def _depth(job: Job) -> int:
    if (option(job, "ioengine") or _DEFAULT_ENGINE) in _SYNCHRONOUS:
        return 1
    return max(int(option(job, "iodepth") or 1), 1)


def _request_bytes(job: Job, directions: Sequence[Mapping[str, Any]]) -> int | None:
    """Return bytes per request: as measured if all had one size, else as configured."""
    options = job.options or {}
    block_sizes = (option(job, "bs") or "").split(",")
    if (
        _SIZE_RANGES & set(options)
        or any("-" in each for each in block_sizes)
        or len(set(block_sizes)) > 1
    ):
        return None
    total, short = (
        sum(int(each.get(key, 0)) for each in directions) for key in ("io_bytes", "short_ios")
    )
    requests = sum(int(each["total_ios"]) for each in directions)
    if requests and not short and total and total % requests == 0:
        return total // requests
    if job.options is None:
        return None
    return parse_size(block_sizes[0]) if block_sizes[0] else _DEFAULT_BYTES


def facts_of(jobs: Sequence[Job]) -> dict[str, str]:
    """Return the options that replicates should share; values of several jobs are listed."""
    facts: dict[str, dict[str, None]] = {}
    knobs = {"rwmixread", "rwmixwrite"} if len(mixes_of(jobs)) == 1 else set()
    for job in jobs:
        for name, value in (job.options or {}).items():
            if not _NO_FACTS.fullmatch(name) and name not in knobs:
                facts.setdefault(name, {})[value] = None
    return {name: ", ".join(values) for name, values in facts.items()}


def device_of(job: Job) -> str | None:
    """Return the device that a job used, if its options name exactly one."""
    path = option(job, "filename") or ""
    return path.rsplit("/", 1)[-1] if path.startswith("/dev/") and ":" not in path else None


def longest_s(jobs: Sequence[Job], name: str) -> float:
    """Return a time option's maximum over the jobs, seconds; 0 if no job has it."""
    times = (_TIME.fullmatch((option(job, name) or "0").strip()) for job in jobs)
    return max(float(time[1]) * _SECONDS[time[2]] if time else 0.0 for time in times)
