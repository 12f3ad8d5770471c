"""Propose a settings file for files that nobody described: patterns, knobs, tables, questions.

`propose` is a pure function from names, sizes and what heads of files say to text; `look` takes
these from the disk, a few heads a shape of names.
"""

import os
import re
import stat
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from data.declared import check_name
from data.errors import DataError, FormatError
from ingest.discover.names import strip_compression
from ingest.files.blocks import read_head
from ingest.files.walk import walk_folders
from ingest.formats import find_format
from ingest.formats.table import clean_name
from ingest.settings.dataset import FILE_NAME, Settings, load_settings

_HEADS_A_SHAPE: Final = 3
_HEAD_BYTES: Final = 1 << 14
# Words before a number, and the knob that it is.
_WORDS: Final = {
    **dict.fromkeys(("qps", "mqps", "rps", "load", "rate", "targetqps"), "load_qps"),
    **dict.fromkeys(("iter", "rep", "run", "trial", "replicate", "i", "r"), "replicate"),
    **dict.fromkeys(("core", "cpu"), "core"),
    **dict.fromkeys(("itr", "rxusecs"), "itr"),
    **dict.fromkeys(("dvfs", "perfctl"), "dvfs"),
    **dict.fromkeys(("rapl", "cap", "powercap"), "rapl_w"),
    **dict.fromkeys(("msg", "message"), "message_bytes"),
    **dict.fromkeys(("bs", "request", "block"), "request_bytes"),
    **dict.fromkeys(("qd", "depth", "iodepth"), "io_depth"),
    **dict.fromkeys(("t", "threads", "thread", "jobs", "numjobs"), "threads"),
}
_SIZES: Final = ("message_bytes", "request_bytes")
# Words in names and formats, and the workload that they tell of.
_WORKLOADS: Final = (
    ("silo", "memcached-silo"),
    ("mcd", "memcached"),
    ("memcached", "memcached"),
    ("node", "nodejs"),
    ("netpipe", "netpipe"),
)
_OF_FORMATS: Final = {"mutilate": "memcached", "wrk": "nodejs", "netpipe_out": "netpipe"}
_MACHINE_FILES: Final = ("cpuinfo", "lscpu")
_MACHINE: Final = re.compile(r"[a-z]{1,3}\d{3,4}[a-z]*\d*")
_TOKEN: Final = re.compile(
    r"(?P<hex>0[xX][0-9a-fA-F]+)|(?P<size>\d+[kKmMgG](?:i?[bB])?(?![A-Za-z]))|(?P<number>\d+)"
)
_REGEX: Final = {"hex": "0[xX][0-9a-fA-F]+", "size": r"\d+[kKmMgG]?(?:i?[bB])?", "number": r"\d+"}
# Headings of tables, and the column of the lake that they mean.
_HEADINGS: Final = {
    **dict.fromkeys(("sys", "system"), "system"),
    **dict.fromkeys(("rep", "run", "iter", "i", "rnd", "replicate"), "replicate"),
    **dict.fromkeys(("energy", "joule", "joules", "energy_j"), "energy_j"),
    **dict.fromkeys(("power", "watts", "watt", "power_w"), "power_w"),
    **dict.fromkeys(("time", "duration", "seconds", "duration_s"), "duration_s"),
    **dict.fromkeys(("qps", "target_qps", "load", "load_qps"), "load_qps"),
    **dict.fromkeys(("msg", "message_bytes"), "message_bytes"),
    **dict.fromkeys(("p99", "lat99", "p99_us", "latency_p99_us"), "latency_p99_us"),
    **dict.fromkeys(("instructions", "ins"), "instructions"),
    **dict.fromkeys(("cycles", "cyc"), "cycles"),
    **dict.fromkeys(("itr",), "itr"),
    **dict.fromkeys(("dvfs",), "dvfs"),
    **dict.fromkeys(("rapl", "rapl_w"), "rapl_w"),
}


class FoundFile(NamedTuple):
    """A file as `propose` knows it.

    Attributes:
        path: Below the folder that was given, with `/`, without a compression suffix.
    """

    path: str
    size: int


class _Token(NamedTuple):
    kind: str
    text: str
    word: str


@dataclass(slots=True)
class Shape:
    """Files whose names differ in their numbers alone.

    Attributes:
        literals: Of the path, between the tokens; one more than there are tokens.
        tokens: Of each file's path.
        form: Format by the heads looked at; None if nobody knows it.
        header: Of a table.
    """

    literals: tuple[str, ...]
    kinds: tuple[str, ...]
    files: list[FoundFile] = field(default_factory=list)
    tokens: list[tuple[_Token, ...]] = field(default_factory=list)
    form: str | None = None
    role: str = ""
    header: tuple[str, ...] = ()

    @property
    def example(self) -> str:
        """The first file."""
        return self.files[0].path

    @property
    def folder(self) -> str:
        """The folder with its numbers as `#`."""
        return "#".join(self.literals).rpartition("/")[0]

    @property
    def signature(self) -> str:
        """The name with its numbers as `#`, without its ending."""
        return re.sub(r"\.[A-Za-z]+$", "", "#".join(self.literals).rpartition("/")[2])


def shapes_of(files: Iterable[FoundFile]) -> list[Shape]:
    """Group files by folder and by their names without numbers, in the order of their paths."""
    shapes: dict[tuple[str, ...], Shape] = {}
    for file in sorted(files):
        tokens, literals = _tokens(file.path)
        kinds = tuple("number" if token.kind == "size" else token.kind for token in tokens)
        shape = shapes.setdefault((*literals, "", *kinds), Shape(literals, kinds))
        shape.files.append(file)
        shape.tokens.append(tokens)
    return list(shapes.values())


def _tokens(path: str) -> tuple[tuple[_Token, ...], tuple[str, ...]]:
    """The numbers in a path and what stands between them; names of machines are no numbers."""
    tokens, literals, at = [], [], 0
    names = _machine_spans(path.rpartition("/")[0])
    for found in _TOKEN.finditer(path):
        if names and any(start <= found.start() < end for start, end in names):
            continue
        before = path[at : found.start()]
        tokens.append(_Token(str(found.lastgroup), found[0], _word_at_end(before)))
        literals.append(before)
        at = found.end()
    return tuple(tokens), (*literals, path[at:])


@lru_cache(maxsize=1024)
def _machine_spans(folder: str) -> tuple[tuple[int, int], ...]:
    """Where the parts of a path that are names of machines begin and end."""
    parts = re.finditer(r"[^/]+", folder)
    return tuple(part.span() for part in parts if _MACHINE.fullmatch(part[0]))


@lru_cache(maxsize=4096)
def _word_at_end(text: str) -> str:
    """The word that a number behind a text is of; empty if it ends in none."""
    word = re.search(r"([A-Za-z]+)[_\-=.]?$", text)
    return word[1].lower() if word else ""


def look(folder: Path) -> tuple[list[FoundFile], list[Shape]]:
    """Find the files of a folder, and what heads of some of each shape say."""
    top = folder if folder.is_dir() else folder.parent
    only = None if folder.is_dir() else str(folder)
    start = len(str(top).rstrip("/")) + 1
    files = []
    # 200,000 files: paths are texts here, since `Path` takes half of the time.
    for listing in walk_folders(str(top), lambda _: None):
        for name in listing.files:
            path = f"{listing.folder.rstrip('/')}/{name}"
            if name == FILE_NAME or only not in (None, path):
                continue
            with suppress(OSError):
                status = os.stat(path)
                if stat.S_ISREG(status.st_mode):
                    files.append(FoundFile(path[start:], status.st_size))
    shapes = shapes_of(FoundFile(strip_compression(f.path), f.size) for f in files)
    real = {strip_compression(file.path): file.path for file in files}
    for shape in shapes:
        _look_at(shape, top, real)
    return files, shapes


def _look_at(shape: Shape, top: Path, real: dict[str, str]) -> None:
    for file in [file for file in shape.files if file.size][:_HEADS_A_SHAPE]:
        try:
            head = read_head(top / real[file.path], _HEAD_BYTES)
        except (OSError, FormatError):
            continue
        known = find_format(file.path.rpartition("/")[2], head)
        if known is not None:
            shape.form, shape.role = known.name, known.role
            line = head.decode("utf-8-sig", "replace").split("\n", 1)[0].strip()
            mark = next((m for m in (",", ";", "\t") if m in line), None)
            shape.header = tuple(cell.strip().strip('"') for cell in line.split(mark))
            return


@dataclass(slots=True)
class _Pattern:
    """A pattern to be: the shape, its groups by token, its workload, system, constants."""

    shape: Shape
    groups: list[str | None]
    workload: str
    system: str
    constants: dict[str, str] = field(default_factory=dict)


def propose(shapes: Sequence[Shape], all_paths: Iterable[str], dataset: str) -> str:
    """Write a commented settings file for what no shipped pattern describes.

    Args:
        shapes: Of all the files, with their formats.
        all_paths: Of all files, those of no known format included.
        dataset: Its name.
    """
    shipped = load_settings()
    results = [shape for shape in shapes if shape.role in ("output", "log", "window", "counts")]
    is_described = all(_is_shipped(shape, shipped) for shape in results)
    machines = _machines(all_paths, {shape.folder for shape in results})
    patterns = [] if is_described else _patterns(results)
    own: dict[str, str] = {}
    blocks: list[str | None] = [
        "# Proposed by `python -m ingest propose`: a guess from names and heads of files.",
        "# Lines with a question mark ask what could not be told.",
        "",
        "[dataset]",
        f'name = "{dataset}"',
        "",
    ]
    if results and is_described:
        blocks += ["# The shipped patterns fit the names of all outputs, logs and counts.", ""]
    named = [_name_block(pattern, machines, own) for pattern in patterns]
    has_logs = any(pattern.shape.role == "log" for pattern in patterns)
    blocks += [*_label_blocks(patterns, has_logs), _workload_questions(patterns, shipped)]
    blocks += [_knob_blocks(own), *named]
    used = {id(pattern.shape) for pattern in patterns}
    blocks += _left_over([shape for shape in results if id(shape) not in used and patterns])
    blocks += [
        _table_block(shape)
        for shape in shapes
        if shape.form == "table"
        and not any(t.header and t.fits_header(shape.header) for t in shipped.tables)
    ]
    return "\n".join(block for block in blocks if block is not None).rstrip() + "\n"


def _is_shipped(shape: Shape, shipped: Settings) -> bool:
    return any(pattern.regex.match(shape.example) for pattern in shipped.names)


def _machines(paths: Iterable[str], folders: Iterable[str]) -> set[str]:
    """Parts of paths that name machines: beside a `cpuinfo`, or written like types of machines."""
    found = set()
    for path in paths:
        parts = path.split("/")
        if len(parts) > 1 and parts[-1].split(".")[0] in _MACHINE_FILES:
            found.add(parts[-2])
    for folder in folders:
        found.update(part for part in folder.split("/")[:-1] if _MACHINE.fullmatch(part))
    return found


def _patterns(results: Sequence[Shape]) -> list[_Pattern]:
    """Patterns of outputs, then those of the counts and logs that belong to them."""
    found: list[_Pattern] = []
    by_folder: dict[str, list[Shape]] = defaultdict(list)
    for shape in results:
        by_folder[shape.folder].append(shape)
    for folder, shapes in by_folder.items():
        outputs = [shape for shape in shapes if shape.role in ("output", "log")]
        outputs.sort(key=lambda shape: (-len(shape.files), shape.signature))
        mine: list[_Pattern] = []
        for shape in outputs:
            groups = _groups(shape)
            places = [part for part in folder.split("/") if part and "#" not in part]
            system = (places or re.split(r"[._\-#]", shape.signature) or ["linux"])[-1]
            pattern = _Pattern(shape, groups, _workload_of(shape), system)
            twin = any(set(p.groups) == set(groups) and not p.constants for p in mine)
            is_same_form = any(p.shape.form == shape.form for p in mine)
            if twin and is_same_form:
                pattern.constants["series"] = re.sub(r"[_.\-]*#.*", "", shape.signature)
            mine.append(pattern)
        for shape in shapes:
            if shape not in outputs and (host := _host(shape, mine)) is not None:
                groups = _groups(shape)
                if {group for group in host.groups if group is not None} <= {*groups, "core"}:
                    mine.append(_Pattern(shape, groups, host.workload, host.system, host.constants))
        found += mine
    return found


def _host(shape: Shape, patterns: Sequence[_Pattern]) -> _Pattern | None:
    """The output whose name stands in this one's; of several the longest."""
    fitting = [p for p in patterns if p.shape.signature in shape.signature]
    return max(fitting, key=lambda p: len(p.shape.signature), default=None)


def _groups(shape: Shape) -> list[str | None]:
    """The knob of each token; None where all files have the same and no word says what it is."""
    groups: list[str | None] = []
    for place in range(len(shape.kinds)):
        texts = {tokens[place].text for tokens in shape.tokens}
        word = shape.tokens[0][place].word
        kind = shape.kinds[place]
        known = "dvfs" if kind == "hex" else _WORDS.get(word)
        is_size = any(tokens[place].kind == "size" for tokens in shape.tokens)
        if known is None and is_size:
            known = "request_bytes"
        if known is None and len(texts) > 1:
            known = clean_name(word or f"number_{place + 1}", "whole")
        if known in groups:
            known = (
                clean_name(f"{word or 'number'}_{place + 1}", "whole") if len(texts) > 1 else None
            )
        groups.append(known)
    return groups


def _workload_of(shape: Shape) -> str:
    path = shape.example.lower()
    for word, workload in _WORKLOADS:
        if word in path:
            return workload
    return _OF_FORMATS.get(shape.form or "", "unknown")


def _name_block(pattern: _Pattern, machines: set[str], own: dict[str, str]) -> str:
    shape = pattern.shape
    name = ""
    for place, literal in enumerate(shape.literals):
        name += re.escape(literal).replace("\\-", "-")
        if place < len(shape.kinds):
            name += _regex_of(pattern, place, own)
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


def _regex_of(pattern: _Pattern, place: int, own: dict[str, str]) -> str:
    group, shape = pattern.groups[place], pattern.shape
    is_size = any(tokens[place].kind == "size" for tokens in shape.tokens)
    kind = "size" if is_size or group in _SIZES else shape.kinds[place]
    if group is None:
        return re.escape(shape.tokens[0][place].text)
    if group not in set(_WORDS.values()):
        own[group] = "whole"
    return f"(?P<{group}>{_REGEX[kind]})"


def _label_blocks(patterns: Sequence[_Pattern], has_logs: bool) -> Iterator[str]:
    """Systems by their labels; workloads without per-interrupt logs, which nobody then misses."""
    for system in sorted({pattern.system for pattern in patterns}):
        key = system if re.fullmatch(r"[A-Za-z0-9_-]+", system) else f'"{system}"'
        yield f'# ? What is this system called?\n[systems.{key}]\nlabel = "{system}"\n'
    for workload in sorted({p.workload for p in patterns} - {"unknown"} if not has_logs else ()):
        yield f"# No per-interrupt logs were found.\n[workloads.{workload}]\nlogged = false\n"


def _workload_questions(patterns: Sequence[_Pattern], shipped: Settings) -> str | None:
    names = {pattern.workload for pattern in patterns}
    if "unknown" not in names:
        return None
    known = ", ".join(sorted(set(shipped.workloads) - {"unknown"}))
    return (
        f"# ? What ran where the workload is unknown? Shipped: {known}; or a [workloads] table.\n"
    )


def _knob_blocks(own: dict[str, str]) -> str | None:
    lines = []
    for name, kind in sorted(own.items()):
        try:
            check_name(name)
        except DataError:
            continue
        lines += [
            f"# ? What is {name!r}, and in which unit?",
            f"[columns.{name}]",
            'role = "knob"',
            f'type = "{kind}"',
            "",
        ]
    return "\n".join(lines) or None


def _left_over(shapes: Sequence[Shape]) -> Iterator[str]:
    for shape in shapes:
        count = len(shape.files)
        yield (
            f"# ? {count} file{'' if count == 1 else 's'} of {shape.form}, such as "
            f"{shape.example}: of which runs? No output has such a name.\n"
        )


def _table_block(shape: Shape) -> str:
    name = re.escape(shape.example.rpartition("/")[2]).replace("\\-", "-")
    lines = [f"# A table: {shape.example}", "[[tables]]", f"pattern = '{name}'"]
    lines += ['# ? workload = "netpipe"', "[tables.columns]"]
    used: Counter[str] = Counter()
    for heading in filter(None, shape.header):
        target = _HEADINGS.get(heading.lower())
        key = heading if re.fullmatch(r"[A-Za-z0-9_-]+", heading) else f'"{heading}"'
        if target is not None and not used[target]:
            used[target] += 1
            lines.append(f'{key} = "{target}"')
            if target in ("energy_j", "duration_s"):
                lines[-1] += "  # ? in steps or ticks: { to = ..., scale = ... }"
        else:
            lines.append(f"# {key} is kept under its own name; or {{ drop = true }}")
    return "\n".join([*lines, ""])


def propose_for(folder: Path) -> str:
    """Write the settings file for a folder."""
    files, shapes = look(folder.resolve())
    return propose(shapes, [file.path for file in files], folder.resolve().name.split(".")[0])
