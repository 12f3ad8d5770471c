"""What the parts of paths are beside the rows of their files: settings, what ran, or labels."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ingest.formats.json_cells import Cell
from ingest.formats.written_numbers import is_number, is_unset
from ingest.proposals.guess import Guess, are_twins, decides, rows_by
from ingest.proposals.path_parts import PathColumn, give_what_ran, is_plain
from ingest.proposals.roles import FEW_VALUES
from ingest.proposals.twin_columns import are_ids, are_paths
from ingest.proposals.work_columns import LEAST_POWER, growth_of
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of

_UNLIKE: Final = 2.0
# Names of parts that no word explains.
_UNEXPLAINED: Final = re.compile(r"(?:file|folder)(?:_\d+)?")
# Names of numbers that no word explains.
_UNSAID: Final = re.compile(r"(?:file|folder)_number(?:_\d+)?")
_COMMANDS: Final = ("arg", "args", "arguments", "command", "cmd")
# Of a setting of rows, so many values stand in one file.
_FEWEST: Final = 2
# Of fewer settings all results may go one way by chance.
_FEWEST_REPEATED: Final = 4


def judged_parts(
    parts: Sequence[PathColumn],
    texts: dict[str, list[str]],
    knobs: Sequence[Guess],
    costs: Sequence[np.ndarray],
    runs: Sequence[np.ndarray] = (),
    is_configuration: bool = False,
) -> list[PathColumn]:
    """Return the columns of paths as what they are beside the rows.

    One that repeats a knob of the rows, or follows from another, is a label. A stamp is a knob if
    the runs of several are no replicates. A name that no word explains is of what ran if the rows
    of its files go through the same settings: `bfs.csv` and `gemm.csv` of one sweep. A number that
    no word explains was set if neither energy nor time grows with it, as they do with work.

    Args:
        texts: By name of a part its text in each row.
        knobs: Those of the rows.
        costs: Numbers of measurements of the rows.
        runs: Those of energy and time.
        is_configuration: Whether the rows say what was set in runs, and nothing was measured.
    """
    settings = [knob.cells for knob in knobs]
    settings += [texts[part.name] for part in parts if part.role == "knob"]
    by_row = [*zip(*settings, strict=True)] or [()] * max(map(len, texts.values()), default=0)
    own_texts = {p.name: texts[p.name] for p in parts if p.role == "knob"}
    _mark_what_is_said(own_texts, knobs)
    _mark_outcomes(own_texts, knobs)
    knobs = [knob for knob in knobs if knob.role == "knob"]
    judged = []
    for part in parts:
        own = texts[part.name]
        is_said = len({*own}) > 1 and any(are_twins(own, knob.cells) for knob in knobs)
        is_said |= _numbers_rows(part, own, None if is_configuration else knobs)
        is_said |= _is_of_rows(part, own, knobs) or _has_words_of_rows(part, own, knobs)
        is_said |= any(_says_that_none_is_set(own, knob.cells) for knob in knobs)
        if is_said or _follows(part, parts, texts):
            part = replace(part, role="label")
        elif part.role == "stamp" and any(_are_unlike(own, by_row, c) for c in costs):
            part = replace(part, role="knob", is_given=True)
        elif (is_plain(part) and _are_programs(own, knobs)) or (
            # How much was done, where the rows have settings of their own.
            _UNSAID.fullmatch(part.name) and any(map(_varies, knobs))
        ):
            part = replace(part, is_given=True)
        elif part.is_given and _is_no_amount(
            part, own, [t for t in settings if t is not own], runs
        ):
            part = replace(part, is_given=False)
        judged.append(part)
    is_set = any(not knob.is_given and _varies(knob) for knob in knobs)
    return give_what_ran(judged, is_set=is_set)


def repeats_in(
    parts: Sequence[PathColumn],
    texts: Mapping[str, Sequence[str]],
    knobs: Sequence[Guess],
    costs: Sequence[np.ndarray],
) -> str:
    """Return the part of paths that numbers the repetitions of a whole sweep; empty: there is none.

    `RAW1.csv` and `RAW2.csv` have the rows of the same settings, once each, and no result goes one
    way from file to file in all of them. No word says what the number is.
    """
    if any(part.name == "replicate" for part in parts):
        return ""
    for part in parts:
        is_plain = {*words_of(part.name)} <= WORDS["general"] or _UNSAID.fullmatch(part.name)
        own = texts[part.name]
        if part.kind != "whole" or not is_plain or not all(map(str.isdigit, own)):
            continue
        numbers = np.array([int(text) for text in own])
        others = [texts[p.name] for p in parts if p is not part and p.role == "knob"]
        groups = rows_by([*(k.cells for k in knobs), *others], np.argsort(numbers).tolist())
        first = numbers.min()
        counted = [*range(first, first + len({*own}))]
        is_counted = first in (0, 1) and all(numbers[g].tolist() == counted for g in groups)
        if not is_counted or len(groups) < _FEWEST_REPEATED:
            continue
        steps = [[np.diff(c[g]) for g in groups] for c in costs if len(c) == len(numbers)]
        is_led = any(all(np.all(sign * s > 0) for s in of) for of in steps for sign in (1, -1))
        if steps and not is_led:
            return part.name
    return ""


def says_the_same(own: Sequence[str], knobs: Sequence[Guess]) -> bool:
    """Return whether a part of the paths has the texts of a knob of the rows in each row: `rpi_4`
    beside `RPi 4`.
    """
    bare = [*map(_bare, own)]
    return len({*bare}) > 1 and any([*map(_bare, knob.cells)] == bare for knob in knobs)


def _bare(cell: Cell) -> str:
    return re.sub(r"[\s_-]+", "", str(cell)).lower()


def _mark_what_is_said(parts: Mapping[str, Sequence[str]], knobs: Sequence[Guess]) -> None:
    """Make labels of settings of rows that say what parts of paths say, alone or with others.

    A command says several; `tokens` recur with `bs8`; a share of the work is 100 and 50 for 1 and 2
    workers in one file, 1000 and 500 in another.
    """
    named = [n for n in parts if not (_UNEXPLAINED.fullmatch(n) or _UNSAID.fullmatch(n))]
    for at, guess in enumerate(knobs):
        if are_paths(guess.cells) and (of := _names_in_paths(guess, knobs, parts)):
            guess.take("label", f"a path that {' and '.join(of)} say")
            continue
        if guess.kind == "text" and guess.heading.has(*_COMMANDS):
            others = {each.heading.text: each.cells for each in knobs if each is not guess}
            said: dict[str, Sequence[Cell]] = {**others, **parts}
            said = {n: c for n, c in said.items() if len({*c}) > 1 and decides(guess.cells, c)}
            is_whole = len({*zip(*said.values(), strict=True)}) == len({*guess.cells})
            if is_whole and not said.keys().isdisjoint(parts):
                guess.take("label", f"goes with {' and '.join(said)}, of the path among them")
            continue
        twin = next((name for name in named if are_twins(parts[name], guess.cells)), "")
        # Of a model and its number of prompt tokens the model was set.
        is_number = guess.kind != "text" and twin in WORDS["work"]
        if twin and (is_number or guess.why.startswith(FEW_VALUES) or are_ids(guess.cells)):
            guess.take("label", f"goes with {twin} of the path")
        for other in knobs[:at] if guess.kind != "text" else ():
            is_earlier = other.kind != "text" and other.role == "knob" == guess.role
            if is_earlier and any(_are_twins_in_files(own, other, guess) for own in parts.values()):
                guess.take("label", f"goes with {other.heading.text} in each file")


def _mark_outcomes(parts: Mapping[str, Sequence[str]], knobs: Sequence[Guess]) -> None:
    """Make labels of amounts of work that each row has of its own, where each file has all names of
    the rows once: the epoch at which a training ended was not set.
    """
    names = [*zip(*(k.cells for k in knobs if k.kind == "text" and k.role == "knob"), strict=True)]
    amounts = [k for k in knobs if k.kind != "text" and k.is_given and k.role == "knob"]
    for part in parts.values() if names and amounts else ():
        pairs = {*zip(names, part, strict=True)}
        counts = len({*names}), len({*part})
        if min(counts) < _FEWEST or not len(pairs) == len(part) == counts[0] * counts[1]:
            continue
        for guess in amounts:
            if not (decides(names, guess.cells) or decides(part, guess.cells)):
                guess.take("label", "differs in the files for one name: it came out")


def _names_in_paths(
    guess: Guess, knobs: Sequence[Guess], parts: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return settings that stand in the paths of a column, and decide them together."""
    said: dict[str, Sequence[Cell]] = {
        each.heading.text: each.cells
        for each in knobs
        if each is not guess and each.role == "knob" and not are_paths(each.cells)
    }
    said |= {name: cells for name, cells in parts.items() if len({*cells}) > 1}
    known = [at for at, cell in enumerate(guess.cells) if cell not in (None, "")]
    own = [words_of(str(guess.cells[at])) for at in known]
    among = {
        name: cells
        for name, cells in said.items()
        if all(
            _stands_in(words_of(str(cells[at])), text) for at, text in zip(known, own, strict=True)
        )
    }
    return [*among] if among and decides([*zip(*among.values(), strict=True)], guess.cells) else []


def _stands_in(words: Sequence[str], text: Sequence[str]) -> bool:
    """Return whether the words of a name, or one and a number in one, are words of a text."""
    bare = {*text, *(word.lstrip("abcdefghijklmnopqrstuvwxyz") for word in text)}
    return bool(words) and {*words} <= bare


def _are_twins_in_files(files: Sequence[str], one: Guess, other: Guess) -> bool:
    earlier, later = ([*zip(files, each.cells, strict=True)] for each in (one, other))
    values = Counter(name for name, _ in {*later})
    is_many = len(values) > 1 and min(values.values()) > _FEWEST
    return is_many and are_twins(earlier, later)


def _follows(part: PathColumn, parts: Sequence[PathColumn], texts: dict[str, list[str]]) -> bool:
    """Return whether names follow from other names: a folder with files that no other has."""
    own = texts[part.name]
    return is_plain(part) and any(
        other.kind == "text"
        and other.role == "knob"
        and len({*texts[other.name]}) > len({*own}) > 1
        and decides(texts[other.name], own)
        for other in parts
    )


def _is_of_rows(part: PathColumn, own: Sequence[str], knobs: Sequence[Guess]) -> bool:
    """Return whether a part that no word explains says nothing that the rows do not.

    They decide it together, and what ran is one of them: places tell it already.
    """
    if part.role != "knob" or _UNEXPLAINED.fullmatch(part.name) is None:
        return False
    ran = any(knob.is_given and knob.kind == "text" and _varies(knob) for knob in knobs)
    settings = [*zip(*(knob.cells for knob in knobs), strict=True)]
    return ran and decides(settings, own)


def _has_words_of_rows(part: PathColumn, own: Sequence[str], knobs: Sequence[Guess]) -> bool:
    """Return whether the words of a part that no word explains are those of the rows' settings.

    `net_int8_15W_6fc2633c` is `engine` and `mode`; digests, and words that all have, say nothing.
    """
    if part.role != "knob" or not knobs or _UNEXPLAINED.fullmatch(part.name) is None:
        return False
    named = [{word for word in _split(text) if not are_ids([word])} for text in own]
    shared = set.intersection(*filter(None, named)) if any(named) else set()
    settings = [*zip(*(knob.cells for knob in knobs), strict=True)]
    said = [{word for cell in row for word in _split(str(cell))} for row in settings]
    is_again = all(words - shared <= of for words, of in zip(named, said, strict=True))
    return is_again and any(words - shared for words in named) and decides(settings, own)


def _says_that_none_is_set(own: Sequence[str], cells: Sequence[Cell]) -> bool:
    """Return whether one of two names is of the rows in which a setting has no value, and of no
    others: `baseline/` with a limit of -1 beside limits in another folder.
    """
    for name in {*own} if len({*own}) == 2 else ():
        pairs = {*zip(own, cells, strict=True)}
        none = {cell for each, cell in pairs if each == name}
        others = {cell for each, cell in pairs if each != name}
        is_told = len(none) == 1 < len(others) and none.isdisjoint(others) and _is_none(*none)
        if is_told and not WORDS["variants"].isdisjoint(words_of(name)):
            return True
    return False


def _is_none(cell: Cell) -> bool:
    text = str(cell if cell is not None else "").strip().lower()
    is_below = is_number(text) and float(text) <= 0
    return is_below or is_unset(text) or text in WORDS["variants"]


def _split(text: str) -> list[str]:
    return [*filter(None, re.split(r"[\W_]+", text.lower()))]


def _numbers_rows(part: PathColumn, own: Sequence[str], knobs: Sequence[Guess] | None) -> bool:
    """Return whether a part counts rows from 0 or 1, each of which has settings of its own, or
    numbers outputs of which most have.

    Args:
        knobs: None of configurations: where two are equal their runs are repeated.
    """
    is_free = part.kind == "whole" and part.name != "replicate"
    if not is_free or not 2 < len({*own}) == len(own):
        return False
    # `output_15` of rows that say what was set.
    settings = {*zip(*(knob.cells for knob in knobs or () if _varies(knob)), strict=True)}
    if {*words_of(part.name)} <= WORDS["general"] and 2 * len(settings) > len(own):
        return True
    first, *_, last = numbers = sorted(map(int, own))
    is_count = first in (0, 1) and last == first + len(numbers) - 1
    if knobs is None or not is_count:
        return is_count
    return len({*zip(*(knob.cells for knob in knobs), strict=True)}) == len(own)


def _is_no_amount(
    part: PathColumn,
    own: Sequence[str],
    others: Sequence[Sequence[Cell]],
    runs: Sequence[np.ndarray],
) -> bool:
    """Return whether a number that no word explains is twice another, and costs hardly more."""
    # A path that the pattern of most others does not fit has no text.
    if part.kind == "text" or "" in own or _UNEXPLAINED.fullmatch(part.name) is None:
        return False
    powers = growth_of(np.array([float(text) for text in own]), runs, others)
    return any(powers) and max(map(max, filter(None, powers))) < LEAST_POWER


def _are_programs(own: Sequence[str], knobs: Sequence[Guess]) -> bool:
    """Return whether each name stands with several values of a setting, and none is a variant."""
    names = {*own}
    # Of `smt` and `nosmt` neither is a program.
    plain = {re.sub(r"(?i)^(?:no|non|un)[-_]?", "", name) for name in names}
    if len(plain) < len(names) or any(
        not WORDS["variants"].isdisjoint(words_of(name)) for name in names
    ):
        return False
    values = [{*zip(own, knob.cells, strict=True)} for knob in knobs if not knob.is_given]
    return any(min(Counter(name for name, _ in each).values()) >= _FEWEST for each in values)


def _varies(knob: Guess) -> bool:
    return len({*knob.cells}) > 1


def _are_unlike(
    stamps: Sequence[str], settings: Sequence[tuple[Cell, ...]], numbers: np.ndarray
) -> bool:
    """Return whether the runs of one stamp need over twice as much as others, in all settings."""
    if len(numbers) != len(stamps):
        return False
    values: dict[tuple[Cell, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for setting, stamp, number in zip(settings, stamps, numbers.tolist(), strict=True):
        values[setting][stamp].append(number)
    both = [
        sorted((float(np.median(of)), stamp) for stamp, of in each.items())
        for each in values.values()
        if len(each) > 1
    ]
    ends = {each[0][1] for each in both}, {each[-1][1] for each in both}
    factors = [each[-1][0] / each[0][0] for each in both if each[0][0] > 0]
    is_alike = len(both) < 2 or min(map(len, ends)) > 1 or len(factors) < len(both)
    return not is_alike and float(np.median(factors)) > _UNLIKE
