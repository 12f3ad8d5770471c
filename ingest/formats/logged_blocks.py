"""Logs with a line a value and a block a run, and what stands above the results of runs.

Titles and settings above results hold for all results below them until they recur.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise, takewhile
from typing import Final

from ingest.formats.logged_rows import LEAST_LOGGED, LOGGED_LINES, PARTS, bare, is_run
from ingest.formats.written_numbers import is_number
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_measurement, is_setting

# Heading of what a title says, before its level.
TITLES: Final = "heading "
# Of a log with a line a value this share of the lines are such.
_MOST_LINES: Final = 0.9
# In blocks of so many names there are headings between them.
_LEAST_LINES: Final = 0.5
_MANY_NAMES: Final = 6
# A line of a block: a name and a value.
_FIELD: Final = re.compile(
    r"\s*([^\W\d_](?:[\w ./%-]|\([^()]{0,40}\)|\[[^\[\]]{0,30}\]){0,58}?)\s*[:=]\s*(\S.{0,80})"
)
# The same as a comment of a script: `# Total time = 17.5 s`.
_COMMENT: Final = re.compile(r"# (?=[^:=]*[:=]\s*[-+.]?\d)")
# A heading of Markdown, a line within rules, or what a script says before it runs something.
_TITLE: Final = re.compile(
    r"(#{1,6}|={2,}|\*{2,}|-{2,}|(?i:running|testing|executing|benchmarking)) (.*?\w.*?)[ =*.:-]*"
)
# `Domain PKG:` above lines whose names stand under other such lines too.
_SECTION: Final = re.compile(r"\s*([^\W\d_][\w .-]{0,40}):\s*")
# `Remote Machine (me@elk)`
_MACHINE: Final = re.compile(r"\s*([^\W\d_][\w .-]{0,30}(?:\([^()]{1,40}\))?)\s*")
# What stands in brackets behind a number and its unit.
_ASIDE: Final = re.compile(r"([-+]?\d[\d.,]*(?:[eE][-+]?\d+)?\s*[A-Za-z%/]*)\s+\([^()]*\)")


def field_of(line: str) -> tuple[str, str] | None:
    """Return the name and the value of a line; None for other lines."""
    line = line.rstrip()
    comment = _COMMENT.match(line)
    field = _FIELD.fullmatch(line, comment.end() if comment else 0)
    return (field[1], field[2]) if field else None


def title_of(line: str) -> tuple[str, str] | None:
    """Return the mark of a title and its text; None for other lines.

    That of Markdown says its level; of others it is one sign, or the word before what ran.
    """
    title = _TITLE.fullmatch(line.rstrip())
    if title is None or _COMMENT.match(line):
        return None
    is_sign = not title[1].isalpha() and title[1][0] != "#"
    return title[1][:1] if is_sign else title[1].lower(), title[2]


def blocks_of(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the runs of a log with a line a value: the line where each begins, and its values.

    The first name again begins another one, or any name again behind a gap or a rule. Names above
    the first measurement hold for the next run too, if this measurement begins it, or one of them
    does, below others. Titles above a block are values too.
    """
    start, block, is_behind_gap = 1, dict[str, object](), False
    titles, own = dict[str, str](), dict[str, str]()
    above: list[str] | None = None
    for number, line in enumerate(_with_machines(lines), 1):
        if title := title_of(line):
            # Others than those of Markdown are of the first level.
            level = title[0] if title[0][0] == "#" else "#"
            titles = {of: text for of, text in titles.items() if of < level} | {level: title[1]}
        field = field_of(line)
        if field is None:
            is_behind_gap |= not any(map(str.isalnum, line))
            continue
        name, value = field
        if above is None and name in block:
            above = _above([*block])
        begins = above and (name in above or name == first_but(block, above))
        if name in block and (is_behind_gap or begins or name == next(iter(block))):
            yield start, own | block
            kept = above or []
            kept = kept[: kept.index(name)] if name in kept else kept
            block = {each: block[each] for each in kept if each in block}
            start, own = number, {}
        if not own and titles:
            own = {f"{TITLES}{len(level)}": text for level, text in titles.items()}
        start = start if block else number
        is_behind_gap = False
        block.setdefault(name, _ASIDE.sub(r"\1", value))
    if block:
        yield start, own | block


def _with_machines(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a log; before the fields of several machines, below each title, those.

    A line without a value names each: `Local Machine (elk)`, `Remote Machine (owl)`.
    """
    lines = iter(lines)
    head = [*islice(lines, LOGGED_LINES)]
    groups = [[*map(_machine_of, group)] for group in _below_titles(head)]
    is_told = len(groups) > 1 and len(groups[0]) > 1 and all(g == groups[0] for g in groups)
    is_told &= "" not in (groups or [[""]])[0]
    machine = ""
    for line in chain(head, lines):
        if field_of(line) is None:
            machine = _machine_of(line) if is_told else ""
        yield f"{machine} {line.lstrip()}" if machine and field_of(line) else line


def _below_titles(lines: Sequence[str]) -> list[list[str]]:
    """Return the lines without a value below each title."""
    groups: list[list[str]] = []
    for line in lines:
        if title_of(line):
            groups.append([])
        elif groups and field_of(line) is None and any(map(str.isalnum, line)):
            groups[-1].append(line)
    return groups


def _machine_of(line: str) -> str:
    """Return the line if it names a machine, without a value and no more; else nothing."""
    machine = _MACHINE.fullmatch(line)
    words = words_of(machine[1].partition("(")[0]) if machine else ()
    return machine[1] if machine and not WORDS["machines"].isdisjoint(words) else ""


def _above(names: Sequence[str]) -> list[str]:
    """Return the names before the first of a measurement; none if there is none."""
    others = [*takewhile(lambda name: not is_measurement(name), names)]
    return others if len(others) < len(names) else []


def first_but(names: Iterable[str], others: Sequence[str]) -> str:
    """Return the first name that is none of some others; empty if there is none."""
    return next((name for name in names if name not in others), "")


def are_blocks(lines: Sequence[str]) -> bool:
    """Return whether a log has a line a value and a block a run.

    Nearly all lines are such, or half of them in blocks of many names; the blocks have the same
    names, one of these is a measurement, and one of a setting with several values; or all are
    measurements that are no running totals, and a gap or a rule parts the blocks.
    """
    some = [
        line
        for line in islice(lines, LOGGED_LINES)
        if any(map(str.isalnum, line)) and title_of(line) is None and not _machine_of(line)
    ]
    fields = sum(field_of(line) is not None for line in some)
    if fields < max(_LEAST_LINES * len(some), LEAST_LOGGED * 2):
        return False
    blocks = [block for _, block in blocks_of(islice(lines, LOGGED_LINES))]
    names = [name for name in blocks[0] if all(name in block for block in blocks[1:-1])]
    is_report = len(names) >= _MANY_NAMES and 2 * len(names) > max(map(len, blocks))
    if len(blocks) < LEAST_LOGGED or not (is_report or fields >= _MOST_LINES * len(some)):
        return False
    values = {name: {block[name] for block in blocks[:-1]} for name in names}
    varied = [name for name in names if len(values[name]) > 1]
    words = [{*words_of(name)} - WORDS["identifiers"] for name in varied]
    are_parts = any(each and each <= PARTS for each in words)
    is_set = not are_parts and any(
        is_setting(name) or not any(is_number(bare(v)) for v in values[name]) for name in varied
    )
    content = {name: blocks[0][name] for name in names}
    return (is_set and is_run(content)) or _are_repetitions(lines, blocks)


def _are_repetitions(lines: Sequence[str], blocks: Sequence[dict[str, object]]) -> bool:
    """Return whether lines are measurements alone, with a gap or a rule between equal blocks."""
    head = lines[:LOGGED_LINES]
    begins = [field_of(line) is not None and (not at or field_of(lines[at - 1]) is None)
              for at, line in enumerate(head)]  # fmt: skip
    is_whole = all(field_of(line) or not any(map(str.isalnum, line)) for line in head)
    are_measured = len(blocks[0]) > 1 and all(
        is_measurement(name) and is_number(bare(value))
        for block in blocks
        for name, value in block.items()
    )
    are_equal = sum(begins) == len(blocks) and len({*map(tuple, blocks[:-1])}) == 1
    return is_whole and are_measured and are_equal and not _are_totals(blocks[:-1])


def _are_totals(blocks: Sequence[dict[str, object]]) -> bool:
    """Return whether two numbers or more rise from block to block: those of one run so far."""
    values = [[float(bare(block[name])) for block in blocks] for name in blocks[0]]
    return sum(all(a < b for a, b in pairwise(each)) for each in values) > 1


def under_sections(lines: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names of the values of lines; those under several sections with their section.

    Args:
        names: Of each line; empty for one without.
    """
    sections, own = list[str](), ""
    for line in lines:
        found = _SECTION.fullmatch(line)
        own = found[1] if found else own
        sections.append(own)
    under: dict[str, set[str]] = defaultdict(set)
    for section, name in zip(sections, names, strict=True):
        under[name].add(section)
    return [
        f"{section} {name}" if name and section and len(under[name] - {""}) > 1 else name
        for section, name in zip(sections, names, strict=True)
    ]
