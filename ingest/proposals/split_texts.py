"""Identifiers of the runs of a table that state several settings.

`crowd_x264_crf22` of a column `label` gives two names and a number, as names of files do.
"""

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from ingest.formats.json_cells import Cell
from ingest.formats.written_numbers import UNSET, is_number
from ingest.proposals.heading_roles import is_measured
from ingest.proposals.name_tokens import NAMING, two_lists
from ingest.proposals.path_parts import PathColumn, is_replicate, read_paths
from ingest.proposals.row_groups import are_twins, decides
from ingest.settings.column_names import WORDS, clean_name
from ingest.settings.headings import quantity_of, read_heading, words_of

# A text under such a heading tells a run from others; `setting` is of headings that are runs.
_OF_RUNS: Final = (
    WORDS["identifiers"] | WORDS["replicates"] | {"experiment", "test", "label", "tag", "job"}
) - {"seed"} | {"setting"}
# What texts of all settings of a run together are called.
_COMBINED: Final = frozenset(
    {"tag", "label", "benchmark", "config", "configuration", "variant", "case", "experiment"}
    | {"name"}
)
_COUNTS: Final = "|".join(WORDS["replicates"] | {"r", "i"})
_NUMBERED: Final = re.compile(rf"(?i:(?<![a-z])(?:{_COUNTS})[-_.=@+ ]*\d+)")
_COUNTED: Final = rf"(?i:(?<![a-z])(?:{_COUNTS})[-_.=@+ \\]*\(\?P<replicate>)"
# A sweep has so many texts, and at least this share of all combinations of their parts.
_FEWEST: Final = 4
_FEWEST_APART: Final = 6
# So many names stand alone and with a form.
_FEWEST_BOTH: Final = 2
_MOST: Final = 5_000
_FILLED: Final = 0.5
# `bs=32,lr=0.1` states each setting by its name, under any heading.
_NAMED: Final = re.compile(r"([,;&| ]*)([A-Za-z][\w.-]*) *= *([^=,;&|\s]+)")
_SEPARATED: Final = re.compile(r"[A-Za-z0-9][-_.=@ :|][A-Za-z0-9]")


def split_columns(
    headings: Sequence[str], columns: Sequence[Sequence[Cell]], declared: Collection[str]
) -> dict[str, tuple[str, list[PathColumn]]]:
    """Return by heading the pattern of texts that state settings, and its groups.

    Nothing of texts whose parts other columns have already.
    """
    splits = {}
    taken: set[str] = set(headings)
    for heading, cells in zip(headings, columns, strict=True):
        texts = {str(cell).strip() for cell in cells if cell is not None} - UNSET
        is_named = _FEWEST <= len(texts) <= _MOST and all(map(_SEPARATED.search, texts))
        names = {*words_of(heading)}
        is_named = is_named and bool(names & _OF_RUNS) and not names & (WORDS["set"] - _OF_RUNS)
        if heading in declared:
            continue
        others = [c for c in columns if c is not cells]
        if stated := _stated_parts(texts, taken):
            pattern, named = stated
            there = [[str(cell).strip() for cell in other] for other in others]
            matches = [re.fullmatch(pattern, str(cell).strip()) for cell in cells]
            texts_of = {
                p.name: [match[p.name] if match else "" for match in matches] for p in named
            }
            parts = [part for part in named if texts_of[part.name] not in there]
            for name in {part.name for part in named} - {part.name for part in parts}:
                pattern = pattern.replace(f"(?P<{name}>", "(?:")
            if parts:
                splits[heading] = pattern, parts
                taken |= {part.name for part in parts}
            continue
        is_plain = not any("/" in text or is_number(text) for text in texts)
        if is_plain and (formed := _forms(texts, heading, taken)):
            splits[heading] = formed
            taken |= {part.name for part in formed[1]}
            continue
        is_named = is_named and is_plain and not _recurs(cells, headings, columns)
        is_apart = is_plain and len(texts) >= _FEWEST_APART and all(map(_SEPARATED.search, texts))
        crossed = _crossed_parts(texts, heading, taken) if is_plain and not is_named else None
        if not (is_named or is_apart or crossed):
            continue
        pattern, parts = read_paths(sorted(texts), f"{clean_name(heading, 'text')}_part")
        if not names.isdisjoint(WORDS["programs"]):
            parts = [replace(p, is_given=p.is_given or _is_amount(p)) for p in parts]
        settings = [part for part in parts if part.role == "knob" or part.name == "replicate"]
        combinations = math.prod(part.values for part in settings)
        # All combinations of the parts are no chance, whatever the heading says.
        is_all = is_apart and combinations == len(texts) and len(parts) == len(settings)
        is_all = is_all and all(all(m.groups()) for t in texts if (m := re.fullmatch(pattern, t)))
        if crossed is not None and not (is_all and len(parts) > len(crossed[1])):
            pattern, parts = crossed
            if _known_parts(pattern, parts, cells, others) < len(parts):
                splits[heading] = crossed
                taken |= {part.name for part in parts}
            continue
        if not is_named and not is_all:
            continue
        if len(settings) < 2 or not _FILLED * combinations <= len(texts) <= combinations:
            continue
        # A bare number at the end may be of a thing: `sata_2`.
        is_counted = re.search(_COUNTED, pattern) or names & {"run", "runid"}
        if not is_counted and any(part.name == "replicate" for part in settings):
            continue
        # Another text, such as a path of a log, may say the same replicate again.
        is_free = taken.isdisjoint(part.name for part in parts)
        # Beside a column of one of its parts a text without a heading for runs is a command.
        known = _known_parts(pattern, settings, cells, others)
        if is_free and known < (len(settings) if is_named else 1):
            splits[heading] = pattern, parts
            taken |= {part.name for part in parts}
    return splits


def _forms(
    texts: Collection[str], heading: str, taken: Collection[str]
) -> tuple[str, list[PathColumn]] | None:
    """Return the pattern and the parts of names that stand alone and with a form behind them.

    `sort` and `sum` beside `sort_opt_unrolled` and `sum_v2`: what ran, and a variant that a person
    chose. Some forms may stand without the plain name.
    """
    for mark in "_-":
        cut = {text: text.partition(mark)[::2] for text in texts}
        forms = {form for _, form in cut.values() if form}
        both = {base for base, form in cut.values() if form} & {*texts}
        is_chosen = all(words_of(form)[:1] and words_of(form)[0] in WORDS["variants"]
                        for form in forms)  # fmt: skip
        if len(both) < _FEWEST_BOTH or not is_chosen:
            continue
        names = [clean_name(f"{heading}_part", "text", taken, "knob"), ""]
        names[1] = clean_name(f"{heading}_variant", "text", {*taken, names[0]}, "knob")
        apart = re.escape(mark)
        pattern = rf"(?P<{names[0]}>[^{apart}]+)(?:{apart}(?P<{names[1]}>.+))?"
        return pattern, [
            PathColumn(names[0], "text", "knob", len({b for b, _ in cut.values()}), is_given=True),
            PathColumn(names[1], "text", "knob", len(forms)),
        ]
    return None


def _is_amount(part: PathColumn) -> bool:
    """Return whether a number in the name of a program is how much it does, by its words."""
    is_set = not {*words_of(part.name)}.isdisjoint(NAMING)
    return part.kind != "text" and part.role == "knob" and not part.unit and not is_set


def _crossed_parts(
    texts: Collection[str], heading: str, taken: Collection[str]
) -> tuple[str, list[PathColumn]] | None:
    """Return the pattern and the parts of texts that are all combinations of two lists of names.

    `vllm_fp8` and `trt_fp8_v2` have parts of their own, which no separator tells from the others.
    """
    words = words_of(heading)
    is_sweep = _FEWEST <= len(texts) <= _MOST and not any(map(_NUMBERED.search, texts))
    is_sweep = is_sweep and not {*words[-1:]}.isdisjoint(_COMBINED)
    mark, cut = two_lists(texts) if is_sweep else ("", {})
    if not cut:
        return None
    starts, ends = ({*each} for each in zip(*cut.values(), strict=True))
    if all(map(str.isdigit, ends)):
        # Bare numbers may be of things: `sata_2`.
        return None
    # What was asked stands before how: `fft_java` of a benchmark.
    is_given = not WORDS["given"].isdisjoint(words)
    second = "part_2" if is_given else f"{heading}_part_2"
    names = [clean_name(n, "text", taken, "knob") for n in (f"{heading}_part", second)]
    either = "|".join(map(re.escape, sorted(starts, key=len, reverse=True)))
    pattern = f"(?P<{names[0]}>{either}){re.escape(mark)}(?P<{names[1]}>.+)"
    return pattern, [
        PathColumn(names[0], "text", "knob", len(starts), is_given=is_given),
        PathColumn(names[1], "text", "knob", len(ends)),
    ]


def _stated_parts(
    texts: Collection[str], taken: Collection[str]
) -> tuple[str, list[PathColumn]] | None:
    """Return the pattern and the parts of texts that all state the same settings by name."""
    if not 1 < len(texts) <= _MOST or any(_NAMED.sub("", text).strip() for text in texts):
        return None
    read = [_NAMED.findall(text) for text in texts]
    orders = {tuple(name for _, name, _ in each) for each in read}
    names = orders.pop()
    if orders or not 1 < len({*names}) == len(names):
        return None
    said = [read_heading(name) for name in names]
    if any(is_measured(heading, quantity_of(heading)) for heading in said):
        return None
    pattern, parts = "", list[PathColumn]()
    for at, name in enumerate(names):
        values = {each[at][2] for each in read}
        is_whole = all(map(str.isdigit, values))
        kind = "whole" if is_whole else "real" if all(map(is_number, values)) else "text"
        used = {*taken, *(part.name for part in parts)}
        column = clean_name(name, kind, used, "knob")
        if is_replicate(name, values) and "replicate" not in used:
            column = "replicate"
        pattern += rf"[,;&| ]*{re.escape(name)} *= *(?P<{column}>[^=,;&|\s]+)"
        is_given = not WORDS["given"].isdisjoint(words_of(name))
        parts.append(PathColumn(column, kind, "knob", len(values), "", is_given))
    # One that goes with the texts says nothing more than they do.
    return None if any(part.values == len(texts) for part in parts) else (pattern, parts)


def _recurs(
    cells: Sequence[Cell], headings: Sequence[str], columns: Sequence[Sequence[Cell]]
) -> bool:
    """Return whether texts are of a thing: they stand with several values of another setting."""
    return any(
        2 * len({*other}) <= len(other)
        and WORDS["replicates"].isdisjoint(words_of(heading))
        and not decides(cells, other)
        for heading, other in zip(headings, columns, strict=True)
    )


def _known_parts(
    pattern: str,
    parts: Sequence[PathColumn],
    cells: Sequence[Cell],
    others: Sequence[Sequence[Cell]],
) -> int:
    """Return how many parts of texts go with another column, value by value."""
    matches = [re.fullmatch(pattern, str(cell).strip()) for cell in cells]
    own = ([match[part.name] if match else None for match in matches] for part in parts)
    return sum(any(are_twins(part, other) for other in others) for part in own)
