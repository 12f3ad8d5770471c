"""Assign a file to a run, by its name, its sidecars and, without a pattern, its folder."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from data.errors import FormatError
from ingest.discover.names import (
    FoundName,
    NameMatch,
    canonical_mode,
    canonical_system,
    check_knobs,
    find_name,
    order_knobs,
    read_core,
    read_knob,
    read_name,
    strip_compression,
)
from ingest.discover.sidecars import Sidecar, merged_values
from ingest.formats import Format
from ingest.formats.sidecar import hybrid_delay, polled_mode
from ingest.settings.dataset import Settings

# Keys of a sidecar that are not knobs.
_NO_KNOBS: Final = frozenset(
    {"workload", "system", "replicate", "hipri", "io_poll_delay", "dvfs", "knobs"}
)
_REQUEST_KNOBS: Final = frozenset({"request_bytes", "io_depth", "threads", "rw"})
# File names that consist of an optional run name and words for their content.
_KINDS: Final = re.compile(
    r"(?:(?P<stem>.+?)[._-])??"
    r"(?:fio|run|vtune|perf(?:[._-]?stat)?|(?:proc[._-])?interrupts|before|after|iperf3?|sockperf|"
    r"memtier(?:_benchmark)?|wrk2?|turbostat|datapoints|power|energy|watts|trace|dcgmi?|"
    r"(?:nvidia-?)?smi|powerstat|powerjoular|energibridge|pcm|s-tui|ipmi|spl|sysbench|stress-ng|cyclictest|ycsb|"
    r"mlperf_log_(?:summary|detail)|[._-])+"
    r"(?:\.(?:json|csv|tsv|txt|toml|out|log|hgrm))*",
    re.IGNORECASE,
)

# The ending of a name, and a number that ends it.
_ENDING: Final = re.compile(r"(?:\.[^.]*?(?<=[A-Za-z])([-_]\d{1,4})|(\.\d{1,4})|\.[^.]*)$")


class RunTerms(NamedTuple):
    """All that decides the run of a file: files with the same terms belong to the same run.

    Attributes:
        name: Match of a pattern with the file's name; None if no pattern matches.
        variant: Of a file without a match, its folder and the start of its name.
        workload: Of a file without a match, the workload of its format.
        sidecars: The sidecars that apply to it, nearest first.
    """

    name: FoundName | None
    variant: str
    workload: str
    sidecars: tuple[Sidecar, ...]


def match_run(
    path: str, settings: Settings, form: Format | None, sidecars: Sequence[Sidecar], top: str
) -> NameMatch | None:
    """Find the run of a file; None if neither a pattern nor its format gives one.

    A sidecar overrides the name. The run of a file that matches no pattern depends on its folder
    and the start of its name.

    Args:
        path: Absolute path with `/`.
        top: The folder that run paths are relative to; sidecars above it are ignored.

    Raises:
        FormatError: An invalid knob, a workload without settings, or a bad sidecar.
    """
    terms, core = find_terms(path, settings, form, tuple(sidecars), top)
    if terms is None:
        return None
    return replace(match_terms(terms, settings), core=read_core(core))


def find_terms(
    path: str, settings: Settings, form: Format | None, sidecars: tuple[Sidecar, ...], top: str
) -> tuple[RunTerms | None, str | None]:
    """Return the terms that decide a file's run, and the core in its name; see `match_run`."""
    name, core = find_name(path, settings)
    if name is not None:
        return RunTerms(name, "", "", sidecars), core
    if form is None or form.workload is None:
        return None, None
    declared = settings.logs_of(strip_compression(path)) if form.name == "text_log" else ()
    # Marks are not known here.
    named = (log.workload for log in declared if log.path is not None)
    workload = next(filter(None, named), form.workload)
    return RunTerms(None, place_of(path, top), workload, sidecars), None


def match_terms(terms: RunTerms, settings: Settings) -> NameMatch:
    """Return the run of some terms.

    Raises:
        FormatError: As `match_run`.
    """
    named = read_name(terms.name, settings) if terms.name is not None else None
    stated = merged_values(terms.sidecars)
    if named is not None and not stated:
        return named
    workload = str(stated.get("workload", named.workload if named else terms.workload))
    if workload not in settings.workloads:
        raise FormatError(f"workload {workload!r} has no [workloads] table in the settings")
    knobs = dict(named.knobs) if named else {"variant": terms.variant}
    knobs |= _sidecar_knobs(stated, settings)
    if knobs.get("mode") == "hybrid" and (delay := hybrid_delay(stated)):
        knobs.setdefault("hybrid_delay", delay)
    ordered = order_knobs(knobs)
    check_knobs(ordered)
    system = stated.get("system") or (named.system if named else "")
    replicate = stated.get("replicate", named.replicate if named else None)
    return NameMatch(workload, canonical_system(system, settings), ordered, replicate, None)


def match_part(match: NameMatch, part: str) -> NameMatch:
    """Return the run of a part of a file, without knobs that only the file's content has."""
    knobs = {name: value for name, value in match.knobs if name not in _REQUEST_KNOBS}
    knobs["variant"] = "/".join(word for word in (knobs.get("variant"), part) if word)
    return replace(match, knobs=order_knobs(knobs))


def place_of(path: str, top: str) -> str:
    """Return a file's folder below `top` and the start of its name: equal for files of one run."""
    folder, _, name = strip_compression(path).rpartition("/")
    start = top.rstrip("/") + "/"
    if f"{folder}/".startswith(start):
        folder = f"{folder}/"[len(start) : -1]
    found = _KINDS.fullmatch(name)
    # Of `out.fio-1` the number is no part of the ending: it tells the run from that of `out.fio-0`.
    stem = (found["stem"] or "") if found else _ENDING.sub(r"\1\2", name)
    return "/".join(part for part in (folder, stem) if part)


def _sidecar_knobs(stated: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    knobs = {name: value for name, value in stated.items() if name not in _NO_KNOBS}
    if "dvfs" in stated:
        knobs["dvfs_code"] = stated["dvfs"].lower()
    mode = stated.get("mode") or polled_mode(stated)
    knobs |= {"mode": canonical_mode(mode, settings)} if mode else {}
    for name, value in stated.get("knobs", {}).items():
        column = settings.columns.get(name)
        if column is None or column.role != "knob":
            raise FormatError(f"its sidecar sets {name!r}, which is not a knob in [columns]")
        knobs[name] = read_knob(column, str(value))
    return knobs
