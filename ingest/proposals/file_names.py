"""Patterns of file names as settings: which part is a knob, which part a label."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from data.knob_table import KNOB_TABLE
from ingest.discover.names import workload_of
from ingest.formats import FORMATS
from ingest.proposals.name_tokens import renamed
from ingest.proposals.path_parts import PathColumn
from ingest.proposals.sections import column_section, loop_of, system_section, workload_section
from ingest.proposals.shapes import MACHINE, Shape
from ingest.proposals.stated_settings import states_a_load
from ingest.settings.column_names import WORDS, clean_name
from ingest.settings.dataset import UNKNOWN, Settings
from ingest.settings.heading_words import words_of

# The knob of a number in a path, by the word before it.
_WORDS: Final = {
    **{word: knob.stated_as for knob in KNOB_TABLE for word in knob.words},
    **dict.fromkeys(("iter", "rep", "run", "trial", "replicate", "i", "r"), "replicate"),
    **dict.fromkeys(("core", "cpu"), "core"),
}
_NO_KNOBS: Final = {
    word for word, name in _WORDS.items() if name in ("replicate", "core", "threads")
}
_SIZES: Final = tuple(knob.column for knob in KNOB_TABLE if knob.stated_kind == "size")
# Formats that identify the workload, if no word in the path does.
OF_FORMATS: Final = {"mutilate": "memcached", "netpipe_out": "netpipe"}
# The performance of what load generators measure.
LATENCY_OF: Final = {
    **dict.fromkeys(("mutilate", "wrk", "memtier", "sockperf"), "latency_p99_us"),
    "k6": "latency_p95_us",
}
# Formats of what threads that issue requests measured.
_OF_REQUESTS: Final = frozenset(
    {*LATENCY_OF, "fio", "fio_terse", "iperf3", "netpipe_out", "hdr_percentiles", "sysbench"}
    | {"fio_text", "ycsb", "cyclictest"}
)
_LOADS: Final = frozenset({"rps", "qps"})
_MACHINE_FILES: Final = ("cpuinfo", "lscpu")
_REGEX: Final = {"hex": "0[xX][0-9a-fA-F]+", "size": r"\d+[kKmMgG]?(?:i?[bB])?", "number": r"\d+"}


def names_a_knob(shape: Shape) -> bool:
    """Return whether a number in the paths is a knob of the lake, by its form or its word.

    Words are of these knobs where requests were measured: `bs` is a size of batches too.
    """
    knobs = {token.word for token in shape.tokens[0]} & (_WORDS.keys() - _NO_KNOBS)
    return (bool(knobs) and shape.form in _OF_REQUESTS | OF_FORMATS.keys()) or any(
        token.kind == "hex" for token in shape.tokens[0]
    )


def with_own_names(
    pattern: str, columns: Sequence[PathColumn], form: str, texts: Collection[str]
) -> tuple[str, list[PathColumn]]:
    """Return a pattern of paths and its columns, without names that mean something else.

    Threads of a program are tuned: the lake's `threads` issue requests, and are part of the
    question. Numbers of names are no texts of a table's column.

    Args:
        texts: Names of columns of texts.
    """
    names = {column.name: column.name for column in columns}
    is_of_requests = form in _OF_REQUESTS
    if not is_of_requests and "threads" in names:
        names["threads"] = "thread_count"
    loads = [name for name in names if name in _LOADS]
    if is_of_requests and len(loads) == 1:
        names[loads[0]] = "load_qps"
    for column in columns:
        if column.kind != "text" and (name := names[column.name]) in texts:
            names[column.name] = clean_name(f"{name} number", column.kind, texts, "knob")
    return renamed(pattern, names), [replace(each, name=names[each.name]) for each in columns]


@dataclass(slots=True)
class _Pattern:
    """A proposed pattern.

    Attributes:
        groups: The knob of each number; None for a constant one.
        constants: Knobs that all files of the pattern have.
    """

    shape: Shape
    groups: list[str | None]
    workload: str
    system: str
    constants: dict[str, str] = field(default_factory=dict)


def machines_of(paths: Iterable[str], folders: Iterable[str]) -> set[str]:
    """Return the parts of paths that name machines.

    A machine's folder has a file `cpuinfo` or `lscpu`, or its name looks like a type of machine.
    """
    machines = set()
    for path in paths:
        parts = path.split("/")
        if len(parts) > 1 and parts[-1].split(".")[0] in _MACHINE_FILES:
            machines.add(parts[-2])
    for folder in folders:
        machines.update(part for part in folder.split("/")[:-1] if MACHINE.fullmatch(part))
    return machines


def patterns_of(results: Sequence[Shape], shipped: Settings, dataset: str) -> list[_Pattern]:
    """Return patterns of outputs and logs, then of the counts and windows that belong to them.

    Args:
        dataset: Name of the workload and the system that no path names.
    """
    has_logs = any(shape.role == "log" for shape in results)
    patterns: list[_Pattern] = []
    by_folder: dict[str, list[Shape]] = defaultdict(list)
    for shape in results:
        by_folder[shape.folder].append(shape)
    for folder, shapes in by_folder.items():
        outputs = [shape for shape in shapes if shape.role in ("output", "trace", "log")]
        # A trace with the name of an output in its own is of that run.
        hosts = [shape.signature for shape in outputs if shape.role == "output"]
        outputs = [
            shape
            for shape in outputs
            if shape.role != "trace" or not any(host in shape.signature for host in hosts)
        ]
        outputs.sort(key=lambda shape: (-len(shape.files), shape.signature))
        in_folder: list[_Pattern] = []
        for shape in outputs:
            groups = _groups(shape)
            places = [part for part in folder.split("/") if part and "#" not in part]
            system = (places or re.split(r"[._\-#]", shape.signature) or ["linux"])[-1]
            named = workload_of(shape.example.split("/"), shipped)
            of_format = OF_FORMATS.get(shape.form or "", UNKNOWN)
            workload = of_format if named == UNKNOWN else named
            if workload == UNKNOWN and not has_logs:
                own = {known.name: known.own_workload for known in FORMATS}
                workload = own.get(shape.form or "", UNKNOWN)
                workload = dataset if workload == UNKNOWN else workload
                is_plain = len(system) < 3 or {*words_of(system)} <= WORDS["general"]
                system = dataset if is_plain else system
            pattern = _Pattern(shape, groups, workload, system)
            in_folder.append(pattern)
        _tell_series_apart(in_folder)
        for shape in shapes:
            fitting = [p for p in in_folder if p.shape.signature in shape.signature]
            if shape in outputs or not fitting:
                continue
            # The output with the longest name that this shape's name contains.
            host = max(fitting, key=lambda p: len(p.shape.signature))
            groups = _groups(shape)
            if {group for group in host.groups if group is not None} <= {*groups, "core"}:
                pattern = _Pattern(shape, groups, host.workload, host.system, host.constants)
                in_folder.append(pattern)
        patterns += in_folder
    return patterns


def _tell_series_apart(patterns: Sequence[_Pattern]) -> None:
    """Name the words before the numbers in which patterns of one format and the same knobs differ.

    Words at the end that all of them have, such as `run`, are none of them, nor is the name of
    their system.
    """
    twins: dict[tuple[object, ...], list[_Pattern]] = defaultdict(list)
    for pattern in patterns:
        twins[pattern.shape.form, *sorted({*map(str, pattern.groups)})].append(pattern)
    for alike in (each for each in twins.values() if len(each) > 1):
        words = [re.split(r"[_.\-]+", re.sub(r"[_.\-]*#.*", "", p.shape.signature)) for p in alike]
        while min(map(len, words)) > 1 and len({each[-1] for each in words}) == 1:
            words = [each[:-1] for each in words]
        for pattern, own_words in zip(alike, words, strict=True):
            series = "_".join(own_words)
            if series not in ("", pattern.system):
                pattern.constants["series"] = series


def _groups(shape: Shape) -> list[str | None]:
    """Return the knob of each number; of a stamp None, since no one sets the time of a run.

    It is None too where all files have the same number and no word before it names a knob.
    """
    groups: list[str | None] = []
    for index in range(len(shape.kinds)):
        texts = {tokens[index].text for tokens in shape.tokens}
        word = shape.tokens[0][index].word
        kind = shape.kinds[index]
        if kind == "stamp":
            groups.append(None)
            continue
        known = "dvfs" if kind == "hex" else _WORDS.get(word)
        is_size = any(tokens[index].kind == "size" for tokens in shape.tokens)
        if known is None and is_size:
            known = "request_bytes"
        if known is None and len(texts) > 1:
            known = clean_name(word or f"number_{index + 1}", "whole", role="knob")
        if known in groups:
            known = (
                clean_name(f"{word or 'number'}_{index + 1}", "whole") if len(texts) > 1 else None
            )
        groups.append(known)
    return groups


def name_block(pattern: _Pattern, machines: set[str], own: dict[str, str]) -> str:
    """Return a pattern as a `[[names]]` block; `own` collects knobs of its own and their kinds."""
    shape = pattern.shape
    name = ""
    for index, literal in enumerate(shape.literals):
        name += re.escape(literal).replace("\\-", "-")
        if index < len(shape.kinds):
            name += _regex_of(pattern, index, own)
    constants = dict(pattern.constants)
    for part in shape.folder.split("/"):
        if part in machines:
            constants["machine"] = part
    if "series" in constants:
        own["series"] = "text"
    count = len(shape.files)
    lines = [
        f"# {count} file{'' if count == 1 else 's'} of {shape.form}, such as {shape.example}",
        "[[names]]",
        f"pattern = '{name}'",
        f'workload = "{pattern.workload}"',
        f'system = "{pattern.system}"',
    ]
    if constants:
        said = ", ".join(f'{key} = "{value}"' for key, value in sorted(constants.items()))
        lines.append(f"set = {{ {said} }}")
    return "\n".join([*lines, ""])


def _regex_of(pattern: _Pattern, index: int, own: dict[str, str]) -> str:
    group, shape = pattern.groups[index], pattern.shape
    is_size = any(tokens[index].kind == "size" for tokens in shape.tokens)
    kind = "size" if is_size or group in _SIZES else shape.kinds[index]
    if kind == "stamp":
        # It tells runs of one setting apart.
        name = "?P<variant>" if shape.kinds.index("stamp") == index else "?:"
        return f"({name}[-0-9T_:. ]+)"
    if group is None:
        return re.escape(shape.tokens[0][index].text)
    if group not in set(_WORDS.values()):
        own[group] = "whole"
    return f"(?P<{group}>{_REGEX[kind]})"


def label_blocks(
    patterns: Sequence[_Pattern],
    has_logs: bool,
    shipped: Settings,
    place_of: Callable[[str], Path],
) -> Iterator[str]:
    """Yield the labels of systems, and the workloads without per-interrupt logs.

    Runs of such workloads get no problem for a missing log.

    Args:
        place_of: Returns where a path is on the disk.
    """
    for system in sorted({pattern.system for pattern in patterns}):
        yield f"# ? What is this system called?\n{system_section(system)}"
    for workload in sorted({p.workload for p in patterns} - {UNKNOWN} if not has_logs else ()):
        if workload in shipped.workloads:
            yield f"# No per-interrupt logs were found.\n[workloads.{workload}]\nlogged = false\n"
        else:
            own = [pattern for pattern in patterns if pattern.workload == workload]
            latencies = (LATENCY_OF[p.shape.form] for p in own if p.shape.form in LATENCY_OF)
            is_load = any(
                "load_qps" in p.groups or states_a_load(place_of(p.shape.example), p.shape.form)
                for p in own
            )
            performance = next(latencies, "duration_s")
            yield workload_section(workload, performance, loop_of(performance, is_load))


def workload_questions(patterns: Sequence[_Pattern], shipped: Settings) -> str | None:
    """Return the question which workload it is; None where each pattern has one."""
    names = {pattern.workload for pattern in patterns}
    if "unknown" not in names:
        return None
    known = ", ".join(sorted(set(shipped.workloads) - {"unknown"}))
    return f"# ? Which workload is `unknown`? Shipped: {known}; or declare one in [workloads].\n"


def knob_blocks(own: dict[str, str]) -> Iterator[str]:
    """Yield a section for each knob that the lake does not know."""
    for name, kind in sorted(own.items()):
        if section := column_section(name, "knob", kind, {}):
            yield f"# ? What is {name!r}, and in which unit?\n{section}"
