"""Settings for tables, as text: what each column was taken for, and why."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from data.declared import Kind, Role
from ingest.formats.json_cells import Cell
from ingest.formats.table_columns import kind_of
from ingest.formats.table_reshaped import VALUE
from ingest.formats.written_numbers import is_unset
from ingest.proposals.found_tables import FoundTable, header_pattern, paths_beside
from ingest.proposals.guess import Guess
from ingest.proposals.guessed_table import GuessedTable, are_of_requests
from ingest.proposals.means_beside import rows_meant, rows_repeated
from ingest.proposals.name_tokens import renamed
from ingest.proposals.path_parts import PathColumn, read_paths
from ingest.proposals.replicates import MAYBE_SETTINGS
from ingest.proposals.request_units import NO_UNIT
from ingest.proposals.roles import ONE_VALUE, guess_of
from ingest.proposals.sections import (
    column_section,
    guessed_lines,
    key_of,
    system_section,
    value_of,
    workload_section,
)
from ingest.proposals.shared_costs import keep_parts_apart, part_of_run
from ingest.proposals.shared_parts import share_parts
from ingest.settings.column_names import WORDS, can_be, clean_name
from ingest.settings.dataset import Settings
from ingest.settings.heading_words import words_of
from ingest.settings.headings import without_unit
from ingest.settings.units import doubts_in, unit_of

_NAMED: Final = 8
# Tables of one sweep share this part of their headings, or this one where names say it.
_ALIKE: Final = 0.8
_LESS_ALIKE: Final = 0.5


def summary_of(guessed: GuessedTable) -> Iterator[str]:
    """Yield what was taken for knob, metric and label, in a few lines."""
    for role, word in (("knob", "set"), ("metric", "measured"), ("label", "labels")):
        guesses = (g for g in guessed.guesses if g.role == role)
        named = [_said(g) for g in guesses if role != "metric" or not g.is_dropped]
        parts = [part for part in guessed.parts if part.role == role == "knob"]
        named += [f"{part.name} ({part.values}, from the path)" for part in parts]
        if named:
            more = f", and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
            yield f"#   {word}: {', '.join(named[:_NAMED])}{more}"
    yield from (f"#   {words}" for words in guessed.shape.words())
    measured = (guess for guess in guessed.guesses if guess.to or guess.role == "metric")
    doubts = doubts_in((g.heading.text, g.doubt, g.instead) for g in measured)
    yield from (f"#   doubtful: {doubt}" for _, _, doubt in doubts)
    if guessed.means is not None:
        deviations = ", with their deviations" if guessed.means.sd or guessed.means.of else ""
        yield f"#   means: of {guessed.means.n} runs each{deviations}"
    if guessed.refusal:
        yield f"#   no runs: {guessed.refusal}"
    if guessed.power is not None:
        yield f"#   power: {' times '.join(guess.heading.text for guess in guessed.power)}"
    if guessed.energy:
        yield f"#   energy: the sum of {', '.join(guess.heading.text for guess in guessed.energy)}"
    if guessed.phases:
        names = ", ".join(phase.energy.heading.text for phase in guessed.phases)
        first = guessed.phases[0].word
        yield f"#   phases: {names}; none is the energy of the run, {first} has most"
    if guessed.performance:
        yield f"#   performance: {guessed.performance}"


def _sections(guessed: GuessedTable) -> Iterator[str]:
    """Yield the sections of columns."""
    yield from sections_of(guessed.parts)
    for guess in guessed.guesses:
        if _has_section(guessed, guess):
            keys = {"title": without_unit(guess.title), "unit": guess.unit}
            keys |= {"better": guess.better or ""}
            kind = guessed.kinds.get(guess.heading.text, "real")
            yield column_section(_name_of(guess), guess.role, kind, keys, guess.is_given)


def _has_section(guessed: GuessedTable, guess: Guess) -> bool:
    """Return whether a column of its own is declared for all tables, with one kind."""
    is_performance = guess.role == "metric" and guess.own_name == guessed.performance
    return not guess.to and (is_performance or guess.heading.text in guessed.kinds)


def _name_of(guess: Guess) -> str:
    is_knob = guess.role == "knob"
    return clean_name(guess.title, "real", role="knob") if is_knob else guess.own_name


def _lines(guessed: GuessedTable, tables: Sequence[FoundTable]) -> Iterator[str]:
    """Yield the lines of the entry.

    Args:
        tables: All tables of the study.
    """
    table, shape, means = guessed.table, guessed.shape, guessed.means
    count = len(table.paths)
    files = "1 file" if count == 1 else f"{count:,} files"
    yield f"# A table: {files}, {table.rows:,} rows looked at, such as {table.paths[0]}"
    yield from summary_of(guessed)
    aggregate = (
        {"n": str(means.n), "mean": means.mean, "sd": means.sd, "of": means.of} if means else {}
    )
    power = [guess.heading.text for guess in guessed.power or ()]
    energy = "|".join(re.escape(guess.heading.text) for guess in guessed.energy)
    entries: dict[str, tuple[object, str]] = {
        "pattern": (guessed.pattern, ""),
        "header": (header_pattern(table, tables), ""),
        "refuse": (guessed.refusal, ""),
        "split": ({name: text for name, (text, _) in shape.split.items()}, ""),
        "pivot": (shape.pivot, "a measurement a row: its name and its value"),
        "parts": (shape.parts, "a part of a run a row: its name, and what was measured of it"),
        "unpivot": (shape.unpivot, "columns that differ in this part are runs"),
        "aggregate": ({name: each for name, each in aggregate.items() if each}, ""),
        "differences": (shape.differences, ""),
        "products": ({"power": power} if power else {}, "voltage times current"),
        "totals": ({"energy": energy} if energy else {}, ""),
        "workload": (guessed.workload, ""),
        "system": (guessed.system, ""),
    }
    yield "[[tables]]"
    for key, (value, note) in entries.items():
        if value or key == "header":
            yield f"{key} = {value_of(value)}" + (f"  # {note}" if note else "")
    yield from guessed_lines("; ".join(text.lstrip("# ") for text in summary_of(guessed)))
    yield "[tables.columns]"
    for guess in guessed.guesses:
        if guess.heading.text and not guess.is_declared:
            key = VALUE if guess.heading.text == shape.measured else guess.heading.text
            yield f"{key_of(key)} = {value_of(_declaration(guessed, guess))}  # {guess.why}"
    if guessed.power is not None:
        scale = math.prod(unit.scale for guess in guessed.power if (unit := guess.heading.unit))
        yield f"power = {{ to = 'power_w', scale = {scale:.12g} }}"
    if guessed.energy:
        unit = unit_of(guessed.energy[0].unit)
        yield f"energy = {{ to = 'energy_j', scale = {unit.scale if unit else 1.0:.12g} }}"


def _declaration(guessed: GuessedTable, guess: Guess) -> object:
    """Return what the entry says of a column: where it goes, or more."""
    if guess.is_dropped:
        return {"drop": True}
    to, is_section = guess.to, _has_section(guessed, guess)
    is_own = not (to or is_section)
    keys: dict[str, object] = {"to": _name_of(guess) if is_section else to}
    if is_own:
        bare = guess.title
        is_said = bare == guess.heading.text and bare != guessed.shape.measured
        keys |= {"name": "" if is_said else bare, "role": guess.role}
        keys |= {"unit": guess.unit, "better": guess.better}
    is_measured = bool(to) or guess.role == "metric"
    keys |= {"doubt": guess.doubt, "instead": guess.instead} if is_measured and guess.doubt else {}
    keys["given"] = guess.is_given and is_own
    keys |= {"scale": guess.scale if guess.scale != 1.0 else None, "values": guess.values}
    keys["wraps_at"] = guess.wraps_at and float(guess.wraps_at)
    keys = {name: value for name, value in keys.items() if value}
    return to if to and len(keys) == 1 else keys


def _said(guess: Guess) -> str:
    text = guess.heading.text or "(no heading)"
    if guess.role == "knob":
        return f"{text} ({guess.count})"
    if guess.why.endswith(MAYBE_SETTINGS):
        return f"{text} (doubted: replicates, but {MAYBE_SETTINGS})"
    # `peak memory (MB)` says its unit.
    unit = "" if text.endswith((f"({guess.unit})", f"[{guess.unit}]")) else guess.unit
    shown = "no unit" if guess.why.endswith(NO_UNIT) else guess.to or unit
    if guess.role == "metric" and shown:
        is_stated = guess.is_declared or guess.heading.unit is not None
        source = f" {'from' if is_stated else 'taken as'} {guess.unit}"
        source += f", of the {part} alone" if (part := part_of_run(guess)) else ""
        return f"{text} ({shown}{source if guess.to and guess.unit else ''})"
    return text


def sections_of(parts: Sequence[PathColumn]) -> Iterator[str]:
    """Yield the sections that declare the columns of paths which the lake has not."""
    for part in parts:
        title = re.sub(r"_(?:text|whole|real)(?=_\d+$|$)", "", part.name).replace("_", " ")
        if part.kind != "text":
            # No word says what the number is: `300-450.csv`.
            title = re.sub(r"^(file|folder)((?: \d+)?)$", r"number\2 in \1 name", title)
        keys = {"title": title, "unit": part.unit}
        role = "label" if part.role == "stamp" else part.role
        if section := column_section(part.name, role, part.kind, keys, part.is_given):
            yield section


def _drop_what_is_said(blocks: Sequence[GuessedTable]) -> None:
    """Drop parts of paths that say what columns of the rows say, unless rows of another table are
    told apart by them.
    """
    needed = {p.name for block in blocks for p in block.parts if p.name not in block.said}
    for block in blocks:
        names = {p.name: "" if p.name in block.said - needed else p.name for p in block.parts}
        block.path = renamed(block.path, names)
        block.parts = [p for p in block.parts if names[p.name]]


def _settle_labels(blocks: Sequence[GuessedTable], is_named: bool) -> None:
    """Make labels of parts of paths that are labels of other tables.

    Those are numbers beside a configuration in the same folder, and names of which a table has one.
    Other labels get names of their own where a part of that name, with other texts, is a setting.

    Args:
        is_named: Whether paths of other files are settings.
    """
    labels = {p.name for block in blocks for p in block.parts if p.role == "label"}
    for block in blocks:
        block.parts = [
            replace(p, role="label")
            if p.name in labels and (p.kind == "whole" or len({*block.table.sources}) == 1)
            else p
            for p in block.parts
        ]
    knobs = defaultdict[str, set[str]](set)
    for block in (each for each in blocks if not each.refusal):
        for part in (p for p in block.parts if p.role == "knob"):
            knobs[part.name] |= _texts_of(part, block)
    for block in blocks:
        others = [p for p in block.parts if p.role != "knob"]
        other = (p for p in others if p.name in knobs)
        own = {p.name for p in other if knobs[p.name].isdisjoint(_texts_of(p, block))}
        own |= {p.name for p in others if is_named and p.role == "label" and can_be(p.name)}
        names = {p.name: p.name + "_of_path" * (p.name in own) for p in block.parts}
        block.path = renamed(block.path, names) if own else block.path
        block.parts = [replace(p, name=names[p.name]) for p in block.parts]


def _texts_of(part: PathColumn, block: GuessedTable) -> set[str]:
    matches = (re.search(f"{block.path}$", path) for path in block.table.paths)
    return {match[part.name] for match in matches if match} - {None, ""}


def _settle_keys(
    block: GuessedTable, blocks: Sequence[GuessedTable], beside: Sequence[str]
) -> None:
    """Take the keys of one document for what they are in several beside it of another shape.

    What has one value in all of them, or numbers runs, was not set in it alone; nor was what they
    lack.
    """
    others = [each for each in blocks if each is not block and {*each.table.paths} <= {*beside}]
    others = [each for each in others if each.table.is_document and each.table.rows > 1]
    if not (others and block.table.is_document and block.table.rows == 1):
        return
    theirs = {guess.heading.text: guess for each in others for guess in each.guesses}
    are_swept = any(guess.is_set for guess in theirs.values())
    for guess in block.guesses:
        like = theirs.get(guess.heading.text)
        # Beside a sweep a name that all of them have, and this one not, was set too.
        fixed = like.cells[:1] if like is not None and like.why == ONE_VALUE else ()
        is_other = are_swept and guess.kind == "text" and [*fixed] not in ([], [*guess.cells])
        if guess.role == "knob" and not is_other and (like is None or like.role == "label"):
            why = "no other document has it" if like is None else "as in the documents beside it"
            guess.take("label", why)
            guess.to = like.to if like is not None and not guess.is_declared else guess.to
        elif like is not None and like.role == "knob" and guess.role == "label":
            # Of one row nothing tells what was set.
            guess.take("knob", "as in the documents beside it")
            guess.is_given, guess.name = like.is_given, like.name
            guess.to = guess.to if guess.is_declared else like.to


def _settle_roles(blocks: Sequence[GuessedTable]) -> None:
    """Take a heading for what most tables of the study take it for: a column has one role.

    Of two equal numbers it was measured: a setting would make other runs of measured ones.
    """
    read = [block for block in blocks if not block.refusal]
    same: dict[str, list[Guess]] = defaultdict(list)
    for guess in (each for block in read for each in block.guesses):
        same[guess.heading.text].append(guess)
    for guesses in (each for each in same.values() if len(each) > 1):
        _settle_fixed(guesses)
        free = [g for g in guesses if not (g.to or g.is_declared) and g.kind != "text"]
        often = Counter(guess.role for guess in free)
        role: Role = "knob" if often["knob"] > often["metric"] else "metric"
        like = next((guess for guess in free if guess.role == role), None)
        for guess in free if often["knob"] and often["metric"] else ():
            if like is not None and guess.role not in (role, "label"):
                guess.take(role, f"as in {often[role]} of {len(guesses)} tables: {like.why}")
                guess.is_given, guess.better = like.is_given, like.better


def _settle_fixed(guesses: Sequence[Guess]) -> None:
    """Take a heading for a setting in all tables if its values differ in or among them.

    `model_format` of one value in a sweep of threads is a setting where INT8 stands in another
    table of the study: without it the runs of both would be replicates.
    """
    fixed = [g for g in guesses if g.why == ONE_VALUE and not (g.to or g.is_declared)]
    varied = [guess for guess in guesses if guess not in fixed]
    if not fixed or any(guess.role != "knob" for guess in varied):
        return
    cells = [cell for guess in guesses for cell in guess.cells]
    swept = next((guess for guess in varied if guess.is_set), None)
    like = swept or guess_of(fixed[0].heading, cells)
    is_text = {guess.kind == "text" for guess in guesses}
    for guess in fixed if like.is_set and len(is_text) == 1 else ():
        guess.role, guess.why = "knob", "its values differ in other tables"
        guess.is_given, guess.to, guess.name = like.is_given, like.to, like.name or guess.name


def _settle_kinds(blocks: Sequence[GuessedTable]) -> None:
    """Give columns one kind in all files.

    Numbers are real where a file has fractions under their heading, and settings are names where
    one has a name: rates of 1, 4 and `inf`. A setting of no value in a file, `none`, is no name.
    """
    kinds: dict[str, set[tuple[Role, str]]] = defaultdict(set)
    read = [block for block in blocks if not block.refusal]
    for block, guess in ((each, guess) for each in read for guess in each.guesses):
        if not (guess.to or guess.is_declared or guess.is_dropped):
            of_files: dict[str, list[Cell]] = defaultdict(list)
            for source, cell in zip(block.table.sources, guess.cells, strict=False):
                if cell is not None and not is_unset(str(cell)):
                    of_files[source].append(cell)
            own: set[str] = {kind_of(cells) for cells in of_files.values()}
            own |= {""} if guess.role == "knob" and {*block.table.sources} - {*of_files} else set()
            kinds[guess.heading.text] |= {(guess.role, kind) for kind in own}
    settled: dict[str, Kind] = {}
    for heading, each in kinds.items():
        roles, named = {role for role, _ in each}, {kind for _, kind in each}
        is_name, are_whole = "text" in named, named <= {"whole", ""}
        if roles == {"knob"} or (roles == {"metric"} and not is_name):
            kind: Kind = "text" if is_name else "whole" if are_whole else "real"
            settled |= {heading: kind} if len(named) > 1 else {}
    for block in read:
        block.kinds = settled


def table_blocks(
    tables: Sequence[FoundTable], dataset: str, settings: Settings, is_named: bool = False
) -> tuple[list[str], list[GuessedTable]]:
    """Return the sections and entries of some tables, and what they came from.

    Args:
        is_named: Whether paths of other files say what was set.
    """
    filled = [table for table in tables if table.rows]
    repeated = {id(t): of for t in filled if (of := rows_repeated(t, filled))}
    own = [table for table in filled if id(table) not in repeated]
    of_means = {table.paths[0]: meant for table in own if (meant := rows_meant(table, own))}
    is_of_requests = are_of_requests(heading for table in own for heading in table.headings)
    blocks = []
    for table in own:
        beside = paths_beside(table, own, _ALIKE)
        # A table with nearly the headings of one of means is one too.
        meant = next((of_means[path] for path in beside if path in of_means), "")
        meant = meant and f"its rows are means or sums of rows of {meant}"
        # Names of several parts are of one sweep whose tables are less alike; no name is of a
        # warm-up.
        wide = paths_beside(table, own, _LESS_ALIKE)
        are_runs = all(
            WORDS["aside"].isdisjoint(words_of(path.rpartition("/")[2])) for path in wide
        )
        if len(wide) > len(beside) and are_runs and len(read_paths(wide)[1]) > 1:
            beside = wide
        blocks.append(GuessedTable(table, dataset, settings, beside, meant, is_of_requests))
    for table in (each for each in filled if id(each) in repeated):
        why = f"its rows are those of {repeated[id(table)]}"
        blocks.append(GuessedTable(table, dataset, settings, (), why, is_of_requests))
    for block in blocks:
        _settle_keys(block, blocks, paths_beside(block.table, own, _LESS_ALIKE))
    share_parts(blocks)
    _settle_roles(blocks)
    keep_parts_apart(blocks, own, _LESS_ALIKE)
    _drop_what_is_said(blocks)
    _settle_labels(blocks, is_named)
    _settle_kinds(blocks)
    texts: list[str] = []
    columns: dict[str, str] = {}
    workloads: dict[str, tuple[str, str]] = {}
    for block in blocks:
        for section in _sections(block):
            columns.setdefault(section.partition("\n")[0], section)
        shipped = settings.workloads.get(block.workload)
        targets = {guess.to for guess in block.guesses}
        # A shipped workload of this name is another one if its performance was not measured.
        is_new = shipped is None or shipped.performance_metric not in targets
        if is_new and block.performance and not block.refusal:
            workloads.setdefault(block.workload, (block.performance, block.loop))
    for name, (performance, loop) in workloads.items():
        texts.append(workload_section(name, performance, loop))
    texts += map(system_section, dict.fromkeys(block.system for block in blocks))
    texts += columns.values()
    texts += ["\n".join([*_lines(block, filled), ""]) for block in blocks]
    return texts, blocks
