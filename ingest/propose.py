"""Propose a settings file for files without one: patterns, knobs, tables, questions.

`look` reads names, sizes and some heads of files from the disk. `propose` is pure: it makes the
text of the settings file from them. A *shape* is a group of files whose paths differ in numbers
only.
"""

import glob
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final

from ingest.formats import FORMATS, STATING
from ingest.formats.table_lines import is_document
from ingest.formats.trace_headings import part_in
from ingest.meter_clocks import clock_lines
from ingest.proposals.alike_paths import differ_alike, read_beside
from ingest.proposals.blocks import sections_of, summary_of, table_blocks
from ingest.proposals.competing import let_one_compete
from ingest.proposals.file_names import (
    LATENCY_OF,
    OF_FORMATS,
    knob_blocks,
    label_blocks,
    machines_of,
    name_block,
    names_a_knob,
    patterns_of,
    with_own_names,
    workload_questions,
)
from ingest.proposals.found_tables import find_tables
from ingest.proposals.guessed_table import GuessedTable
from ingest.proposals.name_tokens import renamed
from ingest.proposals.part_traces import idle_block, parts_of_runs, rate_in
from ingest.proposals.sections import (
    column_section,
    loop_of,
    system_section,
    workload_section,
)
from ingest.proposals.shapes import Shape, look
from ingest.proposals.stated_settings import (
    MOST_BYTES,
    stated_in,
    states_a_load,
    telling_parts,
    tells_apart,
)
from ingest.proposals.trace_settings import said_as_set, set_lines, stated_settings
from ingest.settings.dataset import UNKNOWN, Settings
from ingest.settings.loading import load_settings, refusal_of

# Tables of which `propose` and `add` say what they took for what.
_TOLD_TABLES: Final = 5
# Files of one shape that are read for what they state.
_MOST_READ: Final = 200
_RESULTS: Final = ("output", "trace", "log", "window", "counts")


def propose(
    shapes: Sequence[Shape],
    all_paths: Iterable[str],
    dataset: str,
    tables: Iterable[str] = (),
    known: Settings | None = None,
    stated: Callable[[str, str], Collection[str]] = lambda _path, _form: (),
    place_of: Callable[[str], Path] = Path,
    texts: Collection[str] = (),
) -> str:
    """Write a commented settings file for the files that no shipped pattern describes.

    Args:
        shapes: Shapes of all files, with their formats.
        all_paths: Paths of all files, including those without a known format.
        dataset: Name of the dataset.
        tables: Sections and entries for tables.
        known: Settings that the folder has; None for the shipped ones.
        stated: Maps the path and the format of a file to the settings that it states itself.
        place_of: Returns where a path is on the disk.
        texts: Names of columns of texts that the tables have.
    """
    shipped = known or load_settings()
    results = [shape for shape in shapes if shape.role in _RESULTS]
    is_described = all(
        any(pattern.regex.match(shape.example) for pattern in shipped.names) for shape in results
    )
    idle, of_idle = idle_block([] if is_described else results, _key_of(dataset))
    results = [each for each in results if each not in idle]
    machines = machines_of(all_paths, {shape.folder for shape in results})
    by_path = [] if is_described else _named_by_paths(results)
    taken = {id(shape) for shapes in by_path for shape in shapes}
    others = [shape for shape in results if id(shape) not in taken]
    patterns = [] if is_described else patterns_of(others, shipped, _key_of(dataset))
    for pattern in patterns:
        example, form = pattern.shape.example, pattern.shape.form
        if form and tells_apart(pattern.system, place_of(example), form):
            pattern.system = _key_of(dataset)
    own: dict[str, str] = {}
    blocks: list[str | None] = [
        "# Proposed by `python -m ingest propose`: a guess from names and heads of files.",
        "# Lines with a question mark ask for what names and heads do not show.",
        f"\n[dataset]\nname = {json.dumps(dataset, ensure_ascii=False)}\n",
    ]
    if results and is_described:
        blocks += ["# The shipped patterns fit the names of all outputs, logs and counts.", ""]
    named = [of_idle] * bool(idle) + [name_block(each, machines, own) for each in patterns]
    has_logs = any(pattern.shape.role == "log" for pattern in patterns)
    blocks += label_blocks(patterns, has_logs, shipped, place_of)
    blocks.append(workload_questions(patterns, shipped))
    outputs = [s for shapes in by_path for s in shapes if s.role == "output"]
    judge = next((s for s in outputs if s.form in LATENCY_OF), next(iter(outputs), None))
    # Of files of several formats each states a part.
    states = stated if len(by_path) == 1 else lambda *_: ()
    apart = [*map(_paths_of, by_path)]
    scores = _paths_of(shape for shape in shapes if shape.role == "scores")
    named_by_path = [
        _path_blocks(
            each, dataset, states, judge, place_of, texts, apart[:at] + apart[at + 1 :], scores
        )
        for at, each in enumerate(by_path)
    ]
    blocks += [*knob_blocks(own), *named, *chain.from_iterable(named_by_path)]
    taken |= {id(pattern.shape) for pattern in patterns}
    blocks += [*_left_over([s for s in results if id(s) not in taken and patterns]), *tables]
    return "\n".join(_each_once(blocks)).rstrip() + "\n"


def _each_once(blocks: Iterable[str | None]) -> list[str]:
    """Return the blocks; of sections with one name only the last, which tables have."""
    texts: dict[str | int, str] = {}
    for at, block in enumerate(blocks):
        section = re.search(r"^\[[^\[].*\]$", block or "", re.MULTILINE)
        if block is not None:
            texts[at if section is None or "[[" in block else section[0]] = block
    return [*texts.values()]


def _key_of(dataset: str) -> str:
    """Return the name of a dataset as a key of TOML."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", dataset)


def _named_by_paths(results: Sequence[Shape]) -> list[list[Shape]]:
    """Return the outputs and traces of each format whose paths alone say which run each is.

    Those are single files of a folder whose names differ in words, and all files of a study without
    logs in whose paths no number is a knob of the lake. Counts are results where nothing else is.
    """
    if not any(shape.form in OF_FORMATS and names_a_knob(shape) for shape in results):
        # Files of one depth are of the same runs if those of all are not.
        for levels in ([results], _grouped(results, lambda shape: shape.example.count("/"))):
            groups = [_grouped(level, lambda shape: shape.form) for level in levels]
            are_alike = (differ_alike([*map(_paths_of, each)]) for each in groups)
            if any(len(each) > 1 for each in groups) and all(are_alike):
                return [*chain.from_iterable(groups)]
    roles = {shape.role for shape in results}
    wanted = ("output", "trace") if roles - {"counts"} else ("counts",)
    own = [shape for shape in results if shape.role in wanted]
    is_free = "log" not in roles and len({shape.form for shape in results}) == 1
    is_trace = all(shape.role == "trace" for shape in own)
    has_knobs = any(s.form in OF_FORMATS or (not is_trace and names_a_knob(s)) for s in own)
    if is_free and not has_knobs:
        return [own] if sum(len(shape.files) for shape in own) > 1 else []
    single = [shape for shape in own if len(shape.files) == 1]
    by_folder = _grouped(single, lambda shape: (shape.folder, shape.form))
    return [shapes for shapes in by_folder if len(shapes) > 1]


def _grouped(shapes: Iterable[Shape], key: Callable[[Shape], Hashable]) -> list[list[Shape]]:
    groups: dict[Hashable, list[Shape]] = defaultdict(list)
    for shape in shapes:
        groups[key(shape)].append(shape)
    return [*groups.values()]


def _paths_of(shapes: Iterable[Shape]) -> list[str]:
    return [file.path for shape in shapes for file in shape.files]


def _path_blocks(
    shapes: Sequence[Shape],
    dataset: str,
    stated: Callable[[str, str], Collection[str]],
    of: Shape | None = None,
    place_of: Callable[[str], Path] = Path,
    texts: Collection[str] = (),
    others: Iterable[Sequence[str]] = (),
    scores: Collection[str] = (),
) -> Iterator[str]:
    """Yield the sections and the entry of files that their paths tell apart.

    What each file states itself is no setting of its path too.

    Args:
        stated, place_of, texts: As in `propose`.
        of: Files whose format says the workload; None for their own.
        others: Paths of files of other formats.
        scores: Paths of scores of their runs.
    """
    paths = _paths_of(shapes)
    pattern, columns = read_beside(paths, others, place_of, scores)
    form = shapes[0].form or ""
    of = of or shapes[0]
    judge = of.form or ""
    if not pattern:
        return
    if form == "trace":
        # Powers of two parts of a machine are no rivals, and of one run if their times say so.
        one_run = parts_of_runs(columns, pattern, paths, place_of)
        pattern = renamed(pattern, dict.fromkeys(one_run, ""))
        matches = [*filter(None, (re.fullmatch(f"(?:.*/)?{pattern}", path) for path in paths))]
        columns = [
            replace(c, is_given=True) if all(part_in(m[c.name]) for m in matches) else c
            for c in columns
            if c.name not in one_run
        ]
    matches = [*filter(None, (re.fullmatch(f"(?:.*/)?{pattern}", path) for path in paths))]
    if form not in STATING:
        columns = let_one_compete(columns, {c.name: [m[c.name] for m in matches] for c in columns})
    pattern, columns = with_own_names(pattern, columns, judge, texts)
    # What only tells files apart identifies their runs, and is no setting.
    stamps = [column for column in columns if column.role == "stamp"]
    columns = [column for column in columns if column.role != "stamp"]
    pattern = _with_variant(pattern, [column.name for column in stamps])
    match = re.compile(f"(?:^|.*/){pattern}").fullmatch
    read = [path for shape in shapes for path in _some_of(shape)] if columns else []
    known = [(found, stated(path, form)) for path in read if (found := match(path))]
    own_names = [
        c.name for c in columns if known and all((f[c.name] or "").lower() in t for f, t in known)
    ]
    told = stated_settings(paths, place_of) if form == "trace" else {}
    for c in columns if told else ():
        texts = {path: m[c.name] for path in paths if (m := match(path))}
        if c.name in told or any(each.is_said_by(c, texts) for each in told.values()):
            own_names.append(c.name)
    if form in STATING:
        needed = telling_parts(columns, {p: m for p in read if (m := match(p))}, form, place_of)
        own_names += [c.name for c in columns if c.name not in (*needed, *own_names)]
        if not needed:
            return
        # Of a tool that states what was set a folder that no word explains names the machine.
        columns = [replace(c, is_given=True) if c.name == "folder" else c for c in columns]
    if own_names and not stamps:
        # The name still tells a run from others.
        pattern = f"(?P<variant>{renamed(pattern, dict.fromkeys(own_names, ''))})"
        columns = [column for column in columns if column.name not in own_names]
    name = _key_of(dataset)
    own = next((f.own_workload for f in FORMATS if f.name == judge), UNKNOWN)
    # No name says a workload that wattlas knows, such as that of a published study.
    workload = name if own == UNKNOWN or judge in OF_FORMATS else own
    if workload != own:
        rate = rate_in(place_of(shape.example) for shape in shapes) if form == "trace" else None
        performance = LATENCY_OF.get(judge, "duration_s")
        is_load = "(?P<load_qps>" in pattern or states_a_load(place_of(of.example), judge)
        loop = loop_of(performance, is_load)
        yield workload_section(name, rate.name if rate else performance, loop)
        if rate:
            keys = {"title": rate.title, "unit": rate.unit, "better": "more"}
            yield column_section(rate.name, "metric", "real", keys)
    yield system_section(name, dataset)
    yield from sections_of(columns)
    yield from (each.section for each in told.values())
    count = f"{len(paths)} file{'' if len(paths) == 1 else 's'} of {form}, such as {paths[0]}"
    lines = [f"# {count}", "[[names]]", f"pattern = '{pattern}'", f'workload = "{workload}"']
    lines.append(f'system = "{name}"')
    lines += [f'format = "{form}"'] * any(shape.is_voted for shape in shapes)
    knobs = {c.name for c in columns if f"(?P<{c.name}>" in pattern} - {"replicate"}
    lines += set_lines(sorted(knobs), told)
    yield "\n".join((*lines, ""))


def _with_variant(pattern: str, stamps: Sequence[str]) -> str:
    """Return a pattern with one group from the first stamp to the last: a day, and its hours."""
    if len(stamps) < 2:
        return renamed(pattern, dict.fromkeys(stamps, "variant"))
    begin, last = pattern.index(f"(?P<{stamps[0]}>"), pattern.index(f"(?P<{stamps[-1]}>")
    end = next(at for at in range(last + 1, len(pattern) + 1) if _is_closed(pattern[last:at]))
    whole = f"{pattern[:begin]}(?P<variant>{pattern[begin:end]}){pattern[end:]}"
    return renamed(whole, dict.fromkeys(stamps, ""))


def _is_closed(pattern: str) -> bool:
    """Return whether a beginning of a pattern is all of its first group."""
    try:
        re.compile(pattern)
    except re.error:
        return False
    return pattern.endswith(")")


def _some_of(shape: Shape) -> list[str]:
    """Return paths of some files that are small enough to be read for a proposal."""
    step = max(1, len(shape.files) // _MOST_READ)
    return [file.path for file in shape.files[::step] if file.size <= MOST_BYTES]


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
    data = [shape for shape in shapes if shape.role in (*_RESULTS, "table", "meter")]
    # Tables of documents say again what the files beside them have.
    is_data = any(not is_document(shape.example) for shape in data)
    groups = [
        [file.path for file in shape.files if file.size]
        for shape in shapes
        if shape.form == "table" and not (is_data and is_document(shape.example))
    ]
    tables, _ = find_tables(groups, lambda path: _on_disk(top, path), known)
    is_named = any(shape.role in ("output", "trace", "log") for shape in shapes)
    texts, blocks = table_blocks(tables, name, known, is_named)
    text = propose(
        shapes,
        [file.path for file in files],
        name,
        texts,
        known,
        lambda path, form: stated_in(_on_disk(top, path), form),
        lambda path: _on_disk(top, path),
        {guess.own_name for block in blocks for guess in block.guesses if guess.kind == "text"},
    )
    has_meter = any(shape.role == "meter" for shape in shapes)
    is_needed = bool(blocks) or "[[names]]" in text
    text += clock_lines(raw) if has_meter else ""
    return Proposal(name, text, _summary(blocks, text), is_needed and not refusal_of(text))


def _on_disk(top: Path, path: str) -> Path:
    """Return where a file is whose path lacks the ending of its compression."""
    file = top / path
    packed = [] if file.exists() else file.parent.glob(f"{glob.escape(file.name)}.*")
    return next(iter(packed), file)


def _summary(blocks: Sequence[GuessedTable], text: str) -> tuple[str, ...]:
    lines = []
    for files, pattern, rest in re.findall(
        r"^# (.+)\n\[\[names\]\]\npattern = '(.*)'((?:\n.+)*)", text, re.MULTILINE
    ):
        groups = [*filter("variant".__ne__, re.findall(r"\(\?P<(\w+)>", pattern))]
        stated = re.findall(r" = '(\w+)'", rest.partition("[names.columns]")[2])
        lines += [files, *(f"  {line}" for line in said_as_set(groups, stated))]
    for block in blocks[:_TOLD_TABLES]:
        lines.append(f"{block.table.paths[0]}: {block.table.rows:,} rows")
        lines += (f"  {line.lstrip('# ')}" for line in summary_of(block))
    if len(blocks) > _TOLD_TABLES:
        lines.append(f"and {len(blocks) - _TOLD_TABLES} tables of other columns")
    return tuple(lines)
