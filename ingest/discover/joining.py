"""Join files of one run that no name pattern joins: neighbours, traces with their results.

Texts for people beside them are left out.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from ingest.discover.found_files import (
    Discovery,
    Ignored,
    KnownFile,
    RawFile,
    RunGroup,
    of_workload,
    path_of,
)
from ingest.discover.matching import place_of
from ingest.discover.names import strip_compression
from ingest.discover.source_reads import read_source
from ingest.formats.table_lines import is_document
from ingest.records import Reading, UtcWindow
from ingest.settings.dataset import UNKNOWN

# Of the time of a run a trace must cover this share.
LEAST_COVERED: Final = 0.9

# From a file and a role to the keys by which a file of this role may be joined.
KeysOf = Callable[[RawFile | KnownFile, str], Iterator[str]]
_VARIANT: Final = {"variant"}
_DOCUMENT: Final = "a text for people beside the data: its tables are not read again"


def leave_documents(discovery: Discovery) -> None:
    """Ignore the tables of documents in datasets that have other files, unless a person declared
    them.
    """
    groups = (group for group in discovery.groups.values() if group.files)
    data = {group.key.dataset for group in groups}
    data |= {file.dataset for file in discovery.files if not is_document(file.path)}
    for file in [each for each in discovery.files if is_document(each.path)]:
        tables = file.settings.tables_of(strip_compression(file.path))
        is_declared = any(not (each.is_shipped or each.guessed) for each in tables)
        if file.dataset in data and not is_declared:
            discovery.files.remove(file)
            discovery.ignored.append(Ignored(file.path, _DOCUMENT))


def join_neighbours(discovery: Discovery) -> None:
    """Move files without a workload to the run with the same other terms and a workload."""
    unknown = [group for group in discovery.groups.values() if group.key.workload == UNKNOWN]
    if not unknown:
        return
    named = {
        replace(group.key, workload=UNKNOWN): group
        for group in discovery.groups.values()
        if group.key.workload != UNKNOWN and group.files
    }
    for group in unknown:
        if (other := named.get(group.key)) is not None:
            other.files += [of_workload(file, other.key.workload) for file in group.files]
            group.files.clear()


def join_traces(discovery: Discovery) -> None:
    """Move each trace of no named run to the one run that it can be of.

    This is the run whose output has the same name, whatever its folder and ending; else the only
    run with an output in the folder of the trace, else the only one in the folder above or in one
    beside, if no other trace is as near. Else it is shared by all runs that took place while it
    was sampled. Otherwise the trace is a run by itself.
    """
    traces: dict[str, list[RunGroup]] = defaultdict(list)
    results: dict[str, list[RunGroup]] = defaultdict(list)
    for group in discovery.groups.values():
        roles = {file.format.role for file in group.files}
        if roles == {"trace"} and dict(group.key.knobs).keys() <= _VARIANT:
            traces[group.key.dataset].append(group)
        elif "output" in roles:
            results[group.key.dataset].append(group)
    for dataset, alone in traces.items():
        for keys_of in (_names, _folders, _folders_above):
            alone = _joined(alone, results[dataset], keys_of)
        if alone and results[dataset]:
            _share(alone, results[dataset])


def _joined(traces: list[RunGroup], results: Iterable[RunGroup], keys_of: KeysOf) -> list[RunGroup]:
    """Join traces and results that alone have a key; return the other traces."""
    by_key: dict[str, list[RunGroup]] = defaultdict(list)
    traces_of: dict[str, list[RunGroup]] = defaultdict(list)
    for group in results:
        for key in {key for file in group.files for key in keys_of(file, "output")}:
            by_key[key].append(group)
    for trace in traces:
        for key in {key for file in trace.files for key in keys_of(file, "trace")}:
            traces_of[key].append(trace)
    left = []
    for trace in traces:
        keys = {key for file in trace.files for key in keys_of(file, "trace")}
        hosts = [by_key[k][0] for k in keys if len(by_key[k]) == 1 and len(traces_of[k]) == 1]
        if hosts:
            match = hosts[0].match(None)
            hosts[0].files += [
                file if isinstance(file, KnownFile) else replace(file, match=match)
                for file in trace.files
            ]
            trace.files.clear()
        else:
            left.append(trace)
    return left


def _share(traces: Iterable[RunGroup], results: Iterable[RunGroup]) -> None:
    """Give each trace to all runs that took place while it was sampled, by one kind of clock.

    The runs' outputs state their times; each run gets its part of the trace.
    """
    windows = [(group, window) for group in results if (window := _window_of(group))]
    for trace in traces if windows else ():
        sampled = _reading_of(trace.files[0]) if len(trace.files) == 1 else None
        rows = sampled.intervals if sampled else None
        if rows is None or rows.start_unix_s is None or not rows.end_s.size:
            continue
        begin_s = rows.start_unix_s + rows.end_s[0] - rows.dt_s[0]
        end_s = rows.start_unix_s + rows.end_s[-1]
        hosts = [
            group
            for group, window in windows
            if window.is_local == rows.is_local
            and min(end_s, window.end_s) - max(begin_s, window.start_s)
            >= LEAST_COVERED * window.length_s
        ]
        for host in hosts:
            match = host.match(None)
            host.files += [
                file if isinstance(file, KnownFile) else replace(file, match=match)
                for file in trace.files
            ]
        if hosts:
            trace.files.clear()


def _window_of(group: RunGroup) -> UtcWindow | None:
    """Return the time that the outputs of a run state; None if none does."""
    outputs = (file for file in group.files if file.format.role == "output")
    readings = filter(None, map(_reading_of, outputs))
    return next((each.utc_window for each in readings if each.utc_window), None)


def _reading_of(file: RawFile | KnownFile) -> Reading | None:
    if isinstance(file, KnownFile):
        known = file.recorded
        file = RawFile(known.path, known.size, known.mtime, "", file.settings, file.format, None)
    content = read_source(file).content
    return content if isinstance(content, Reading) else None


def _names(file: RawFile | KnownFile, role: str) -> Iterator[str]:
    """Yield the name of a file without its ending and without words for its content."""
    if file.format.role == role:
        folder = path_of(file).rpartition("/")[0]
        if name := place_of(path_of(file), folder):
            yield name.lower()


def _folders(file: RawFile | KnownFile, role: str) -> Iterator[str]:
    if file.format.role == role:
        yield path_of(file).rpartition("/")[0]


def _folders_above(file: RawFile | KnownFile, role: str) -> Iterator[str]:
    """Yield the folder above a trace; of an output, its folder and the one above it."""
    folder = path_of(file).rpartition("/")[0]
    if file.format.role != role:
        return
    above = folder.rpartition("/")[0]
    yield above
    if role == "output":
        yield folder
