"""Identifiers of the runs of a table that state several settings.

`crowd_x264_crf22` of a column `label` gives two names and a number, as names of files do.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from itertools import zip_longest
from typing import Final

from ingest.formats.json_cells import Cell
from ingest.formats.written_numbers import UNSET, is_number
from ingest.proposals.guess import are_twins, decides
from ingest.proposals.heading_roles import is_measured
from ingest.proposals.name_tokens import NAMING, is_replicate, literal, renamed, two_lists
from ingest.proposals.path_parts import PathColumn, read_paths
from ingest.settings.column_names import WORDS, clean_name, name_of_values
from ingest.settings.heading_words import words_of
from ingest.settings.headings import quantity_of, read_heading

# A text under such a heading tells a run from others; `setting` is of headings that are runs.
_OF_RUNS: Final = (
    WORDS["identifiers"] | WORDS["replicates"] | {"experiment", "test", "label", "tag", "job"}
) - {"seed"} | {"setting"}
# What texts of all settings of a run together are called.
_COMBINED: Final = WORDS["combined"]
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
# `bs=32,lr=0.1` states each setting by its name, under any heading, and so do flags of a command:
# `clang -O3 -DSIZE=250`, where `-D` is of the preprocessor, and options with a number behind them:
# `mpirun -np 8`.
_NAMED: Final = re.compile(
    r"(?P<mark>(?:^|[,;&|\" ])[,;&|\" ]*(?:-D(?=[A-Z_]{2})|(?P<dash>-{1,2})|))"
    r"(?P<name>[A-Za-z_][\w.-]*)(?: *= *|(?(dash) +(?=\d[\w.]*(?:[,;&|\"\s]|$))|(?!)))"
    r"(?P<value>[^=,;&|\"\s]+)"
)
_END: Final = ',;&|" '
_MARKS: Final = "[-_.=@+ ]+"
_EXPERIMENT: Final = re.compile(rf"([A-Za-z]{{2,}})([0-9]+){_MARKS}(.+)")
# A number of one digit may count things of one name: `ataxkernel2`.
_GLUED: Final = re.compile(r"(?<![a-z0-9])([a-z]{2,})(\d{2,})(?![a-z0-9.])")
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
        others = {h: c for h, c in zip(headings, columns, strict=True) if c is not cells}
        is_plain = not any("/" in text or is_number(text) for text in texts)
        if heading in declared or not 1 < len(texts) <= _MOST:
            continue
        found = _stated_parts(texts, cells, others, taken)
        if found is None and is_plain:
            found = _read_parts(heading, texts, cells, others, taken)
            found = found or _experiments(heading, texts, taken)
            found = found or _numbers_apart(cells, others, taken)
        if found is not None and found[1]:
            splits[heading] = found
            taken |= {part.name for part in found[1]}
    return splits


def _read_parts(
    heading: str,
    texts: set[str],
    cells: Sequence[Cell],
    others: Mapping[str, Sequence[Cell]],
    taken: Set[str],
) -> tuple[str, list[PathColumn]] | None:
    """Return what texts state as names of files do; None if nothing says that they are such.

    That says a heading of runs, all combinations of the parts, which are no chance whatever the
    heading, or names that stand alone and with a variant behind them.
    """
    names, is_apart = {*words_of(heading)}, all(map(_SEPARATED.search, texts))
    is_named = is_apart and len(texts) >= _FEWEST and not _recurs(cells, others)
    is_named &= bool(names & _OF_RUNS) and not names & (WORDS["set"] - _OF_RUNS)
    if not any(map(_SEPARATED.search, texts)):
        return None
    own = f"{clean_name(heading, 'text')}_part"
    pattern, parts = read_paths(sorted(texts), own)
    if not names.isdisjoint(WORDS["programs"]):
        parts = [replace(p, is_given=p.is_given or _is_amount(p)) for p in parts]
    if not names.isdisjoint(WORDS["given"] - _OF_RUNS):
        # What was asked stands before how: `fft_java` of a benchmark.
        pattern = pattern.replace(f"<{own}_", "<part_")
        parts = [replace(p, is_given=p.is_given or not at, name=re.sub(f"^{own}_", "part_", p.name))
                 for at, p in enumerate(parts)]  # fmt: skip
    settings = [part for part in parts if part.role == "knob" or part.name == "replicate"]
    if len(settings) < 2 or not taken.isdisjoint(part.name for part in parts):
        return None
    found = [match.groupdict() for text in texts if (match := re.fullmatch(pattern, text))]
    combinations = math.prod(part.values for part in settings)
    is_all = is_apart and len(texts) >= _FEWEST_APART and len(parts) == len(settings)
    is_all = is_all and combinations == len(texts) and all(all(f.values()) for f in found)
    matches = [re.fullmatch(pattern, str(cell).strip()) for cell in cells]
    own_texts = [[match[part.name] if match else None for match in matches] for part in settings]
    # Parts that go with another column, value by value.
    known = sum(any(are_twins(text, other) for other in others.values()) for text in own_texts)
    if not is_named and (_are_crossed(names, texts) or _have_forms(settings, found)):
        return (pattern, parts) if known < len(parts) else None
    # A bare number at the end may be of a thing: `sata_2`.
    is_counted = re.search(_COUNTED, pattern) or names & {"run", "runid"}
    is_free = is_counted or all(part.name != "replicate" for part in settings)
    is_filled = _FILLED * combinations <= len(texts) <= combinations
    # Beside a column of one of its parts a text without a heading for runs is a command.
    is_new = known < (len(settings) if is_named else 1)
    if not ((is_named or is_all) and is_free and is_filled and is_new):
        return None
    return _without_said(pattern, parts, cells, [*others.values()])


def _experiments(
    heading: str, texts: Collection[str], taken: Set[str]
) -> tuple[str, list[PathColumn]] | None:
    """Return the numbered experiment before what was compared in it: `sheet3-eager`, `sheet4-slim`.

    Most have several texts, of which those of one are others than those of the next.
    """
    matches = [_EXPERIMENT.fullmatch(text) for text in texts]
    found = [(match[1], match[2], match[3]) for match in matches if match]
    words = {word for word, _, _ in found}
    is_named = not _OF_RUNS.isdisjoint(words_of(heading)) and len(words) == 1
    if not is_named or len(found) < max(len(texts), _FEWEST) or words & (NAMING | WORDS["loads"]):
        return None
    often = Counter(number for _, number, _ in found)
    rests = Counter(rest for _, _, rest in found)
    word, own = words.pop(), f"{clean_name(heading, 'text')}_part"
    is_apart = len(often) > 1 and 2 * len(rests) > len(found) and 2 * len(often) < len(found)
    if not is_apart or {word, own} & taken:
        return None
    of = clean_name(word, "text", taken, "knob")
    parts = [PathColumn(of, "text", "knob", len(often), "", True)]
    parts.append(PathColumn(own, "text", "knob", len(rests)))
    return rf"(?P<{of}>{literal(word)}[0-9]+){_MARKS}(?P<{own}>.+)", parts


def _numbers_apart(
    cells: Sequence[Cell], others: Mapping[str, Sequence[Cell]], taken: Set[str]
) -> tuple[str, list[PathColumn]] | None:
    """Return the number behind a word by which alone a name of a row differs from that of another
    row, where both agree in all settings: `darcy_r141_on421` and `darcy_r141`.
    """
    names = [str(cell).strip().lower() for cell in cells]
    said = {text: read_heading(text) for text in others}
    measured = {text for text, each in said.items() if is_measured(each, quantity_of(each))}
    settings = [c for h, c in others.items() if h not in measured and 2 * len({*c}) <= len(c)]
    rows = {name: [cells[at] for cells in settings] for at, name in enumerate(names)}
    if len(rows) < len(names) or not settings:
        return None
    for name, own in rows.items():
        for match in _GLUED.finditer(name):
            word, bare = match[1], name[: match.start()].rstrip("-_.") + name[match.end() :]
            if rows.get(bare) == own and word not in WORDS["replicates"]:
                column = clean_name(word, "whole", taken, "knob")
                pattern = rf"(?i:(?:.*[^A-Za-z0-9])?{word})(?P<{column}>\d+)(?![A-Za-z0-9.]).*|.*"
                told = {dict(_GLUED.findall(each)).get(word) for each in names}
                return pattern, [PathColumn(column, "whole", "knob", len(told))]
    return None


def _without_said(
    pattern: str,
    parts: Sequence[PathColumn],
    cells: Sequence[Cell],
    others: Sequence[Sequence[Cell]],
) -> tuple[str, list[PathColumn]]:
    """Return a pattern and its parts but for those that another column's texts say.

    `Near` beside `near` and `near_wifi` says nothing more, nor does a text that follows from a
    name that recurs.
    """
    matches = [re.fullmatch(pattern, str(cell).strip()) for cell in cells]
    said = {}
    for part in parts:
        texts = [match[part.name].lower() if match else "" for match in matches]
        word = [re.compile(rf"(?<![a-z0-9.]){re.escape(text)}(?![a-z0-9.])") for text in texts]
        for other in others:
            named = [str(cell).strip().lower() for cell in other]
            is_word = "" not in texts and all(map(re.Pattern.search, word, named))
            is_name = part.kind == "text" and not any(map(is_number, named))
            follows = is_name and 2 * len({*named}) <= len(named)
            if (is_word or follows) and decides(named, texts):
                said[part.name] = ""
                break
    rest = [part for part in parts if part.name not in said]
    is_new = any(part.role == "knob" or part.name == "replicate" for part in rest)
    return renamed(pattern, said), rest if is_new else []


def _are_crossed(names: Collection[str], texts: Collection[str]) -> bool:
    """Return whether texts under a heading of all settings are of two lists: `vllm_fp8`."""
    is_sweep = len(texts) >= _FEWEST and not any(map(_NUMBERED.search, texts))
    _, cut = two_lists(texts) if is_sweep and not _COMBINED.isdisjoint(names) else ("", {})
    # Bare numbers may be of things: `sata_2`.
    return not all(end.isdigit() for _, end in cut.values())


def _have_forms(parts: Sequence[PathColumn], found: Sequence[Mapping[str, str]]) -> bool:
    """Return whether several names stand alone and with a variant that a person chose."""
    first, last = parts[0].name, parts[-1].name
    if not last.startswith("variant"):
        return False
    alone, formed = ({f[first] for f in found if bool(f[last]) == is_form} for is_form in (0, 1))
    return len(alone & formed) >= _FEWEST_BOTH


def _is_amount(part: PathColumn) -> bool:
    """Return whether a number in the name of a program is how much it does, by its words."""
    is_set = not {*words_of(part.name)}.isdisjoint(NAMING)
    return part.kind != "text" and part.role == "knob" and not part.unit and not is_set


def _stated_parts(
    texts: Collection[str],
    cells: Sequence[Cell],
    others: Mapping[str, Sequence[Cell]],
    taken: Collection[str],
) -> tuple[str, list[PathColumn]] | None:
    """Return the pattern and the parts of texts that all state the same settings by name.

    Of those that other columns have it has none. What ran may stand before them:
    `resnet50,bs=8`; what all texts have too is no setting.
    """
    read = [[*_NAMED.finditer(text)] for text in texts]
    names = _names_that_vary(read)
    rows = [[match for match in row if match["name"] in names] for row in read]
    if not names or any([match["name"] for match in row] != names for row in rows):
        return None
    heads = [text[: row[0].start()] for text, row in zip(texts, rows, strict=True)]
    between = {
        text: tuple(
            text[match.end() : after.start() if after else None].strip(_END)
            for match, after in zip_longest(row, row[1:])
        )
        for text, row in zip(texts, rows, strict=True)
    }
    said = [read_heading(name) for name in names]
    is_told = not any(is_measured(heading, quantity_of(heading)) for heading in said)
    # `-gpu=0` names a device.
    one = {row[0]["value"] for row in rows} if len(names) == 1 else set()
    is_named = one == {*map(str, range(len(one)))} and said[0].has(*WORDS["parts"], "device")
    ends = [*zip(*between.values(), strict=True)]
    free = [at for at, end in enumerate(ends) if len({*end}) > 1]
    of_cells = [between.get(str(cell).strip(), ()) for cell in cells]
    # Another column, whose values recur, may say what they differ in else.
    recurring = [other for other in others.values() if 2 * len({*other}) <= len(other)]
    is_said = any(are_twins(of_cells, other) for other in recurring)
    if (free and not is_said) or not is_told or is_named:
        return None
    pattern, parts = _head_of(heads, taken)
    values = [[row[at]["value"] for row in rows] for at in range(len(names))]
    for at, (name, mark, of) in enumerate(zip(names, rows[0], values, strict=True)):
        is_whole = all(map(str.isdigit, of))
        kind = "whole" if is_whole else "real" if all(map(is_number, of)) else "text"
        used = {*taken, *(part.name for part in parts)}
        column = clean_name(name, kind, used, "knob")
        if is_replicate(name, of) and "replicate" not in used:
            column = "replicate"
        dashes = literal(mark["mark"].strip(_END))
        pattern += rf"[{_END}]*{dashes}{literal(name)}(?: *= *| +)"
        pattern += rf'(?P<{column}>[^=,;&|"\s]+)'
        end = ".*?" if at in free else literal(ends[at][0])
        pattern += rf"[{_END}]*{end}" if end else ""
        is_given = not WORDS["given"].isdisjoint(words_of(name))
        parts.append(PathColumn(column, kind, "knob", len({*of}), "", is_given))
    # One that goes with the texts says nothing more than they do, unless all else is equal.
    if len(parts) > 1 and any(part.values == len(texts) for part in parts):
        return None
    if len(parts) == 1 and parts[0].kind == "text":
        return None
    if not all(re.fullmatch(pattern, text) for text in texts):
        return None
    there = [[str(cell).strip() for cell in other] for other in others.values()]
    matches = [re.fullmatch(pattern, str(cell).strip()) for cell in cells]
    own = {p.name: [match[p.name] if match else "" for match in matches] for p in parts}
    known = {part.name: "" for part in parts if own[part.name] in there}
    return renamed(pattern, known), [part for part in parts if part.name not in known]


def rests_of(pattern: str, cells: Sequence[Cell]) -> dict[str, str]:
    """Return by text what it says but for the settings that it states by name: the command.

    Nothing where a text states all by name, or none.
    """
    rests = {}
    for text in sorted({str(cell).strip() for cell in cells if cell is not None}):
        match = re.fullmatch(pattern, text)
        spans = {match.span(name) for name in match.re.groupindex} if match else set()
        bare = text
        for flag in reversed([*_NAMED.finditer(text)]):
            if flag.span("value") in spans:
                bare = bare[: flag.start()] + bare[flag.end() :]
        rests[text] = bare.strip(_END)
    is_cut = any(text != rest for text, rest in rests.items())
    return rests if is_cut and all(rests.values()) else {}


def _names_that_vary(read: Sequence[Sequence[re.Match[str]]]) -> list[str]:
    """Return the names, once in each text, of settings of which not all have one value."""
    names = [match["name"] for match in read[0]]
    values = [{match["name"]: match["value"] for match in row} for row in read]
    is_once = all(len(of) == len(row) for of, row in zip(values, read, strict=True))
    return [n for n in names if is_once and len({of.get(n) for of in values}) > 1]


def _head_of(heads: Sequence[str], taken: Collection[str]) -> tuple[str, list[PathColumn]]:
    """Return the pattern of what stands before the settings, and its part where it differs."""
    bare = {head.rstrip(_END) for head in heads}
    if len(bare) == 1:
        return literal(bare.pop()), []
    name = name_of_values(bare) or "name"
    column = clean_name(name, "text", taken, "knob")
    part = PathColumn(column, "text", "knob", len(bare), "", name != "variant")
    return rf"(?P<{column}>{'.+?' if '' not in bare else '.*?'})", [part]


def _recurs(cells: Sequence[Cell], others: Mapping[str, Sequence[Cell]]) -> bool:
    """Return whether texts are of a thing: they stand with several values of another setting."""
    return any(
        2 * len({*other}) <= len(other)
        and WORDS["replicates"].isdisjoint(words_of(heading))
        and not decides(cells, other)
        for heading, other in others.items()
    )
