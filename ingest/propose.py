"""Propose a settings file for files without one: patterns, knobs, tables, questions.

`look` reads names, sizes and some heads of files from the disk. `propose` is pure: it makes the
text of the settings file from them. A *shape* is a group of files whose paths differ in numbers
only.
"""

import glob
import json
import os
import re
import stat
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from data.declared import check_name
from data.errors import DataError, FormatError, SettingsError
from data.knob_table import KNOB_TABLE
from ingest.discover.names import strip_compression, workload_of
from ingest.files.blocks import read_head
from ingest.files.walk import walk_folders
from ingest.formats import find_format
from ingest.meter_clocks import clock_lines
from ingest.proposals.blocks import TableBlock, sections_of, table_blocks
from ingest.proposals.found_tables import find_tables
from ingest.proposals.path_parts import read_paths
from ingest.settings.column_names import clean_name
from ingest.settings.dataset import FILE_NAME, UNKNOWN, Settings, load_settings

_HEADS_A_SHAPE: Final = 3
_HEAD_BYTES: Final = 1 << 14
# Tables of which `propose` and `add` say what they took for what.
_TOLD_TABLES: Final = 5
# The knob of a number in a path, by the word before it.
_WORDS: Final = {
    **{word: knob.stated_as for knob in KNOB_TABLE for word in knob.words},
    **dict.fromkeys(("iter", "rep", "run", "trial", "replicate", "i", "r"), "replicate"),
    **dict.fromkeys(("core", "cpu"), "core"),
}
_SIZES: Final = tuple(knob.column for knob in KNOB_TABLE if knob.stated_kind == "size")
# Formats that identify the workload, if no word in the path does.
_OF_FORMATS: Final = {"mutilate": "memcached", "wrk": "nodejs", "netpipe_out": "netpipe"}
_RESULTS: Final = ("output", "trace", "log", "window", "counts")
_MACHINE_FILES: Final = ("cpuinfo", "lscpu")
_MACHINE: Final = re.compile(r"[a-z]{1,3}\d{3,4}[a-z]*\d*")
_TOKEN: Final = re.compile(
    r"(?P<hex>0[xX][0-9a-fA-F]+)|(?P<size>\d+[kKmMgG](?:i?[bB])?(?![A-Za-z]))|(?P<number>\d+)"
)
_REGEX: Final = {"hex": "0[xX][0-9a-fA-F]+", "size": r"\d+[kKmMgG]?(?:i?[bB])?", "number": r"\d+"}


class FoundFile(NamedTuple):
    """A file that `look` found.

    Attributes:
        path: Relative to the given folder, with `/`.
        size: Bytes.
    """

    path: str
    size: int


class _Token(NamedTuple):
    kind: str
    text: str
    word: str


@dataclass(slots=True)
class Shape:
    """Files whose paths differ in numbers only.

    Attributes:
        literals: The parts of the path before, between and after the numbers.
        kinds: The type of each number: `hex` or `number`.
        tokens: The numbers of each file's path.
        form: Name of the format, from some heads; None if no format fits.
        role: Role of the format.
    """

    literals: tuple[str, ...]
    kinds: tuple[str, ...]
    files: list[FoundFile] = field(default_factory=list)
    tokens: list[tuple[_Token, ...]] = field(default_factory=list)
    form: str | None = None
    role: str = ""

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
    """Group files by their paths without numbers, in the order of the paths."""
    shapes: dict[tuple[str, ...], Shape] = {}
    for file in sorted(files):
        tokens, literals = _tokens(file.path)
        kinds = tuple("number" if token.kind == "size" else token.kind for token in tokens)
        shape = shapes.setdefault((*literals, "", *kinds), Shape(literals, kinds))
        shape.files.append(file)
        shape.tokens.append(tokens)
    return list(shapes.values())


def _tokens(path: str) -> tuple[tuple[_Token, ...], tuple[str, ...]]:
    """Split a path into its numbers and the parts between them.

    Digits in names of machines are not numbers.
    """
    tokens, literals, at = [], [], 0
    names = _machine_spans(path.rpartition("/")[0])
    for match in _TOKEN.finditer(path):
        if names and any(start <= match.start() < end for start, end in names):
            continue
        before = path[at : match.start()]
        tokens.append(_Token(str(match.lastgroup), match[0], _word_at_end(before)))
        literals.append(before)
        at = match.end()
    return tuple(tokens), (*literals, path[at:])


@lru_cache(maxsize=1024)
def _machine_spans(folder: str) -> tuple[tuple[int, int], ...]:
    """Return start and end of each part of a path that is the name of a machine."""
    parts = re.finditer(r"[^/]+", folder)
    return tuple(part.span() for part in parts if _MACHINE.fullmatch(part[0]))


@lru_cache(maxsize=4096)
def _word_at_end(text: str) -> str:
    """Return the word at the end of a text, which names the number after it; empty for none."""
    word = re.search(r"([A-Za-z]+)[_\-=.]?$", text)
    return word[1].lower() if word else ""


def look(folder: Path) -> tuple[list[FoundFile], list[Shape]]:
    """Find the files of a folder and their shapes, with formats from some heads of each shape."""
    top = folder if folder.is_dir() else folder.parent
    only = None if folder.is_dir() else str(folder)
    start = len(str(top).rstrip("/")) + 1
    files = []
    # Paths are texts, since with 200,000 files `Path` takes half of the time.
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
            return


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


def propose(
    shapes: Sequence[Shape],
    all_paths: Iterable[str],
    dataset: str,
    tables: Iterable[str] = (),
    known: Settings | None = None,
) -> str:
    """Write a commented settings file for the files that no shipped pattern describes.

    Args:
        shapes: Shapes of all files, with their formats.
        all_paths: Paths of all files, including those without a known format.
        dataset: Name of the dataset.
        tables: Sections and entries for tables.
        known: Settings that the folder has; None for the shipped ones.
    """
    shipped = known or load_settings()
    results = [shape for shape in shapes if shape.role in _RESULTS]
    is_described = all(
        any(pattern.regex.match(shape.example) for pattern in shipped.names) for shape in results
    )
    machines = _machines(all_paths, {shape.folder for shape in results})
    of_words = [] if is_described else _differing_in_words(results)
    others = [s for s in results if not any(s in shapes for shapes in of_words)]
    patterns = [] if is_described else _patterns(others, shipped)
    own: dict[str, str] = {}
    blocks: list[str | None] = [
        "# Proposed by `python -m ingest propose`: a guess from names and heads of files.",
        "# Lines with a question mark ask for what names and heads do not show.",
        "",
        "[dataset]",
        f"name = {json.dumps(dataset, ensure_ascii=False)}",
        "",
    ]
    if results and is_described:
        blocks += ["# The shipped patterns fit the names of all outputs, logs and counts.", ""]
    named = [_name_block(pattern, machines, own) for pattern in patterns]
    has_logs = any(pattern.shape.role == "log" for pattern in patterns)
    blocks += [*_label_blocks(patterns, has_logs), _workload_questions(patterns, shipped)]
    worded = [_worded_blocks(shapes, dataset) for shapes in of_words]
    blocks += [*_knob_blocks(own), *named, *chain.from_iterable(worded)]
    used = {id(pattern.shape) for pattern in patterns}
    used |= {id(shape) for shapes in of_words for shape in shapes}
    blocks += _left_over([shape for shape in results if id(shape) not in used and patterns])
    blocks += tables
    return "\n".join(_each_once(blocks)).rstrip() + "\n"


def _each_once(blocks: Iterable[str | None]) -> Iterator[str]:
    """Yield the blocks, of sections with the same name only the first."""
    seen: set[str] = set()
    for block in (block for block in blocks if block is not None):
        section = re.search(r"^\[[^\[].*\]$", block, re.MULTILINE)
        if section is None or "[[" in block or section[0] not in seen:
            yield block
        if section is not None:
            seen.add(section[0])


def _machines(paths: Iterable[str], folders: Iterable[str]) -> set[str]:
    """Return the parts of paths that name machines.

    A machine's folder has a file `cpuinfo` or `lscpu`, or its name looks like a type of machine.
    """
    machines = set()
    for path in paths:
        parts = path.split("/")
        if len(parts) > 1 and parts[-1].split(".")[0] in _MACHINE_FILES:
            machines.add(parts[-2])
    for folder in folders:
        machines.update(part for part in folder.split("/")[:-1] if _MACHINE.fullmatch(part))
    return machines


def _patterns(results: Sequence[Shape], shipped: Settings) -> list[_Pattern]:
    """Return patterns of outputs and logs, then of the counts and windows that belong to them."""
    patterns: list[_Pattern] = []
    by_folder: dict[str, list[Shape]] = defaultdict(list)
    for shape in results:
        by_folder[shape.folder].append(shape)
    for folder, shapes in by_folder.items():
        outputs = [shape for shape in shapes if shape.role in ("output", "trace", "log")]
        outputs.sort(key=lambda shape: (-len(shape.files), shape.signature))
        in_folder: list[_Pattern] = []
        for shape in outputs:
            groups = _groups(shape)
            places = [part for part in folder.split("/") if part and "#" not in part]
            system = (places or re.split(r"[._\-#]", shape.signature) or ["linux"])[-1]
            named = workload_of(shape.example.split("/"), shipped)
            workload = _OF_FORMATS.get(shape.form or "", UNKNOWN) if named == UNKNOWN else named
            pattern = _Pattern(shape, groups, workload, system)
            twin = any(set(p.groups) == set(groups) and not p.constants for p in in_folder)
            is_same_form = any(p.shape.form == shape.form for p in in_folder)
            if twin and is_same_form:
                pattern.constants["series"] = re.sub(r"[_.\-]*#.*", "", shape.signature)
            in_folder.append(pattern)
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


def _groups(shape: Shape) -> list[str | None]:
    """Return the knob of each number.

    It is None where all files have the same number and no word before it names a knob.
    """
    groups: list[str | None] = []
    for index in range(len(shape.kinds)):
        texts = {tokens[index].text for tokens in shape.tokens}
        word = shape.tokens[0][index].word
        kind = shape.kinds[index]
        known = "dvfs" if kind == "hex" else _WORDS.get(word)
        is_size = any(tokens[index].kind == "size" for tokens in shape.tokens)
        if known is None and is_size:
            known = "request_bytes"
        if known is None and len(texts) > 1:
            known = clean_name(word or f"number_{index + 1}", "whole")
        if known in groups:
            known = (
                clean_name(f"{word or 'number'}_{index + 1}", "whole") if len(texts) > 1 else None
            )
        groups.append(known)
    return groups


def _name_block(pattern: _Pattern, machines: set[str], own: dict[str, str]) -> str:
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
    if group is None:
        return re.escape(shape.tokens[0][index].text)
    if group not in set(_WORDS.values()):
        own[group] = "whole"
    return f"(?P<{group}>{_REGEX[kind]})"


def _label_blocks(patterns: Sequence[_Pattern], has_logs: bool) -> Iterator[str]:
    """Yield the labels of systems, and the workloads without per-interrupt logs.

    Runs of such workloads get no problem for a missing log.
    """
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
    return f"# ? Which workload is `unknown`? Shipped: {known}; or declare one in [workloads].\n"


def _knob_blocks(own: dict[str, str]) -> Iterator[str]:
    for name, kind in sorted(own.items()):
        try:
            check_name(name)
        except DataError:
            continue
        yield (
            f"# ? What is {name!r}, and in which unit?\n"
            f'[columns.{name}]\nrole = "knob"\ntype = "{kind}"\n'
        )


def _differing_in_words(results: Sequence[Shape]) -> list[list[Shape]]:
    """Return the outputs of a folder whose names differ in words: single files of one format."""
    by_form: dict[tuple[str, str | None], list[Shape]] = defaultdict(list)
    for shape in results:
        if shape.role in ("output", "trace") and len(shape.files) == 1:
            by_form[shape.folder, shape.form].append(shape)
    return [shapes for shapes in by_form.values() if len(shapes) > 1]


def _worded_blocks(shapes: Sequence[Shape], dataset: str) -> Iterator[str]:
    """Yield the sections and the entry of files whose names differ in words."""
    pattern, columns = read_paths([shape.example for shape in shapes])
    if not pattern:
        return
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", dataset)
    workload = _OF_FORMATS.get(shapes[0].form or "", name)
    if workload == name:
        yield (
            f'[workloads.{name}]\nloop = "closed"\nperformance_metric = "duration_s"\n'
            "logged = false\n"
        )
    yield f"[systems.{name}]\nlabel = {json.dumps(dataset, ensure_ascii=False)}\n"
    yield from sections_of(columns)
    lines = [f"# {len(shapes)} files of {shapes[0].form}, such as {shapes[0].example}", "[[names]]"]
    lines += [f"pattern = '{pattern}'", f'workload = "{workload}"', f'system = "{name}"', ""]
    yield "\n".join(lines)


def _left_over(shapes: Sequence[Shape]) -> Iterator[str]:
    for shape in shapes:
        count = len(shape.files)
        yield (
            f"# ? {count} file{'' if count == 1 else 's'} of {shape.form}, such as "
            f"{shape.example}: of which runs? No name of an output fits.\n"
        )


@dataclass(frozen=True, slots=True)
class Proposal:
    """Proposed settings for a folder.

    Attributes:
        dataset: Its name.
        text: TOML.
        summary: What was taken for what, in a few lines a table.
        is_needed: Whether the text declares anything that the shipped settings do not.
    """

    dataset: str
    text: str
    summary: tuple[str, ...]
    is_needed: bool


def propose_for(raw: Path, dataset: str | None = None, known: Settings | None = None) -> Proposal:
    """Propose settings for a folder or a file, with estimates of the clocks of its power meters.

    Args:
        known: Settings that the folder has; nothing is proposed for what they describe.
    """
    raw = raw.resolve()
    name = dataset or (raw if raw.is_dir() else raw.parent).name or "dataset"
    files, shapes = look(raw)
    top = raw if raw.is_dir() else raw.parent
    known = known or load_settings()
    groups = [
        [(file.path, _on_disk(top, file.path)) for file in shape.files if file.size]
        for shape in shapes
        if shape.form == "table"
    ]
    tables, _ = find_tables(groups, known)
    texts, blocks = table_blocks(tables, name, known)
    text = propose(shapes, [file.path for file in files], name, texts, known)
    has_meter = any(shape.role == "meter" for shape in shapes)
    is_needed = bool(blocks) or "[[names]]" in text
    text += clock_lines(raw) if has_meter else ""
    return Proposal(name, text, _summary(blocks), is_needed and _is_sound(text))


def _is_sound(text: str) -> bool:
    """Return whether a proposal can be used: names in paths may be such that it cannot."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / FILE_NAME
        file.write_text(text, "utf-8")
        try:
            load_settings(file)
        except SettingsError:
            return False
    return True


def _on_disk(top: Path, path: str) -> Path:
    """Return where a file is whose path lacks the ending of its compression."""
    place = top / path
    if not place.exists():
        place = next((p for p in place.parent.glob(f"{glob.escape(place.name)}.*")), place)
    return place


def _summary(blocks: Sequence[TableBlock]) -> tuple[str, ...]:
    lines = []
    for block in blocks[:_TOLD_TABLES]:
        lines.append(f"{block.table.paths[0]}: {block.table.rows:,} rows")
        lines += (f"  {line.lstrip('# ')}" for line in block.summary())
    if len(blocks) > _TOLD_TABLES:
        lines.append(f"and {len(blocks) - _TOLD_TABLES} tables of other columns")
    return tuple(lines)
