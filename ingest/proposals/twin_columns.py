"""Knobs of a table that say again what others say: twins, and names of combinations."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, islice, permutations
from typing import Final

import numpy as np

from ingest.formats.json_cells import Cell
from ingest.formats.json_rows import is_set
from ingest.proposals.guess import Guess, are_twins, decides, rows_by
from ingest.proposals.heading_roles import is_measured, names_machines
from ingest.proposals.name_tokens import two_lists
from ingest.proposals.roles import FEW_VALUES, YES_OR_NO
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of

# Numbers with so few values may go together by chance.
_FEW: Final = 2
# Such a share of rows is nearly all.
_NEARLY_ALL: Final = 0.9
# Whole numbers under these stand for names.
_CODES: Final = WORDS["identifiers"] | {"mode", "code", "type", "class", "case", "variant"}
_DIGEST: Final = re.compile(r"(?=.*[a-f])(?=.*\d)[0-9a-f]{7,}")
_PATH: Final = re.compile(r".*/[^/]*\.[A-Za-z]\w{0,7}")
# Words of numbers, of which another word says whether they were set: `n_threads`.
_NUMBERS: Final = frozenset({"n", "num", "number", "count", "total"})
# Words for all settings of a run together.
_OF_SETTINGS: Final = frozenset({"label", "command", "cmd", "config", "configuration", "tag"})


def take_sizes_of_models(guesses: Sequence[Guess]) -> None:
    """Take the number of a model's parameters for what ran where it alone tells models apart.

    Rows of one dataset and precision are not of one model: `parameter_count` says of which.
    """
    for guess in guesses:
        is_size = guess.heading.has("parameter", "parameters", "params") and guess.kind == "whole"
        is_free = guess.role != "knob" and not guess.is_declared and guess.count > 1
        if not (is_size and is_free and 2 * guess.count <= len(guess.cells)):
            continue
        knobs = [each.cells for each in guesses if each.is_set]
        groups = rows_by(knobs, range(len(guess.cells))) if knobs else []
        if any(len({guess.cells[row] for row in rows}) > 1 for rows in groups):
            guess.take("knob", "the size of the model, which nothing else tells")
            guess.is_given = True


def mark_twins(guesses: Sequence[Guess]) -> None:
    """Make labels of knobs that say again what earlier knobs say, or several of them together.

    One has the values of an earlier one under other names; another, such as an image
    `fft:java17`, consists of the values of two.
    """
    _mark_other_units(guesses)
    _cut_names(guesses)
    knobs: list[Guess] = []
    for guess in guesses:
        if guess.role != "knob" or guess.is_declared:
            continue
        for at, twin in enumerate(knobs):
            is_count = guess.heading.has("number", "num", "numero", "anzahl", "tokens")
            is_many = guess.count > _FEW and ("text" not in (guess.kind, twin.kind) or is_count)
            # A limit of each machine is none that someone swept.
            is_again = guess.kind == "text" or is_many or names_machines(twin.heading)
            is_again |= _is_id(twin) or _is_number_of(guess, twin) or _is_number_of(twin, guess)
            if is_again and are_twins(twin.cells, guess.cells):
                left = guess
                is_code = twin.kind == "real" and not _is_named(twin)
                is_code |= twin.heading.has(*_CODES)
                is_plainer = left.kind == "text" and twin.kind != "text" and is_code
                is_whole = _is_of_settings(twin) and not _is_of_settings(left)
                is_plainer |= is_whole and left.kind == "text"
                is_plainer |= _is_id(twin) and not _is_id(left)
                is_plainer |= _is_number_of(twin, left)
                if is_plainer or (is_set(left.heading.text) and not is_set(twin.heading.text)):
                    # An object such as `params` says what was set.
                    knobs[at], twin, left = left, left, twin
                left.take("label", f"goes with {twin.heading.text}, value by value")
                break
        else:
            knobs.append(guess)
    blank = [(each, [cell in (None, "") for cell in each.cells]) for each in knobs]
    for guess in (each for each in knobs if each.kind == "text"):
        # `optimized` is no where another names no form. Of PyTorch, whose threads nobody states,
        # the name was set; so was that of a mode of which a path is.
        says_yes = {str(cell).strip().lower() for cell in guess.cells} <= YES_OR_NO
        forms = (n for n, cells in blank if n is not guess and any(cells)
                 and (says_yes or (n.kind == "text" and not are_paths(n.cells)))
                 and are_twins(cells, guess.cells))  # fmt: skip
        if (form := next(forms, None)) is not None:
            guess.take("label", f"says whether there is a {form.heading.text}")
            continue
        # What its texts decide, as a command its parameters.
        parts = [n for n in knobs if n is not guess and n.is_set and decides(guess.cells, n.cells)]
        number = _combinations(parts)
        is_crossed = number == math.prod(part.count for part in parts)
        is_of_settings = _is_of_settings(guess)
        # Of rows with a name each, most of which other settings tell apart, it is no setting; but
        # for names of other words where nothing else tells them apart, as `base` and `prefetch`.
        is_of_row = is_of_settings and guess.count == len(guess.cells) < 2 * number
        is_of_row = is_of_row and not _differ_in_words(guess, knobs)
        is_whole = number == guess.count and (is_crossed or is_of_settings)
        is_named = not guess.is_given and (is_of_row or is_whole)
        stated = [part for part in parts if _contains(guess.cells, part.cells)]
        # A command states even the only setting, and so do texts that differ in it alone.
        is_one = is_of_settings or (len(stated) == 1 and _differ_alone(guess.cells, stated[0]))
        is_stated = _combinations(stated) == guess.count and len(stated) > (not is_one)
        if is_stated or (len(parts) > 1 and is_named):
            named = " and ".join(part.heading.text for part in parts)
            guess.take("label", f"a name of each combination of {named}")
    _mark_followers(guesses)
    _mark_parameters(guesses)


def _mark_other_units(guesses: Sequence[Guess]) -> None:
    """Make labels of numbers that are those of a setting in another unit: 3.3 V of 3300 mV."""
    for knob in [g for g in guesses if g.is_set and g.heading.unit and len(g.numbers)]:
        for guess in guesses:
            is_free = guess.role != "label" and guess.heading.unit and not guess.is_declared
            is_like = guess.quantity == knob.quantity != "" and guess.unit != knob.unit
            if not (is_free and is_like and guess.numbers.shape == knob.numbers.shape):
                continue
            own = knob.numbers * knob.heading.scale
            if np.allclose(guess.numbers * guess.heading.scale, own, rtol=1e-9, atol=0):
                guess.take("label", f"{knob.heading.text} in another unit")


def _mark_parameters(guesses: Sequence[Guess]) -> None:
    """Make labels of what objects of a document have for some names alone, such as the parameters
    of each model.
    """
    names = [g for g in guesses if g.is_set and g.kind == "text" and None not in g.cells]
    for guess in guesses:
        is_own = "." in guess.heading.text and None in guess.cells and not guess.is_declared
        is_plain = guess.role == "knob" or (guess.role == "metric" and is_set(guess.heading.text))
        of = (n for n in names if n is not guess and decides(n.cells, guess.cells))
        if is_own and is_plain and (name := next(of, None)) is not None:
            guess.take("label", f"of some {name.heading.text} alone, which decides it")


def _cut_names(guesses: Sequence[Guess]) -> None:
    """Leave of names that consist of those of two lists what another column does not say.

    Paths of two models, each with the quantizations of another column, are of these models.
    """
    names = [g for g in guesses if g.is_set and g.kind == "text" and not g.is_declared]
    for guess, other in permutations(names, 2):
        if not (guess.count > other.count and decides(guess.cells, other.cells)):
            continue
        said = [g for g in guesses if g is not guess and g.is_set and decides(guess.cells, g.cells)]
        if _combinations(said) == guess.count:
            # The others say all of it.
            continue
        texts = sorted({str(cell).strip() for cell in guess.cells})
        for parts in _parts_of(texts):
            values = dict(zip(texts, parts, strict=True))
            cells = [values[str(cell).strip()] for cell in guess.cells]
            count = len({*parts})
            is_cut = (
                count * other.count == guess.count == len({*zip(cells, other.cells, strict=True)})
            )
            if is_cut and count > 1 and not any(are_twins(cells, n.cells) for n in names):
                guess.values, guess.cells, guess.count = values, cells, count
                guess.why += f"; of {len(texts)} names what {other.heading.text} does not say"
                break


def _parts_of(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the parts of names: folders of paths, the last ones first; begins and ends."""
    if are_paths(texts):
        rows = [text.split("/")[:-1] for text in texts]
        yield from ([row[-at - 1] for row in rows] for at in range(min(map(len, rows))))
    _, cut = two_lists(texts)
    yield from zip(*(cut[text] for text in texts), strict=True) if cut else ()


def _mark_followers(guesses: Sequence[Guess]) -> None:
    """Make labels of numbers that follow from other settings.

    `total_tokens`, which no word says to be set, is what each of two decoders wrote; `threads` that
    differ with the program were set. Of prompts each pair of a model and a task has its own length;
    a number of files may go with the scale of the data in those rows alone that have one.
    """
    texts = [g for g in guesses if g.is_set and g.kind == "text" and 2 * g.count <= len(g.cells)]
    for guess in guesses:
        if guess.is_set and guess.kind != "text" and not guess.is_declared:
            said = WORDS["set"].difference(_NUMBERS) & {*guess.heading.words}
            decided = (each for each in texts if decides(each.cells, guess.cells))
            alone = () if said or guess.quantity else tuple(islice(decided, 1))
            alone = alone or (() if said or guess.quantity else _mostly_decided(guess, texts))
            if of := alone or _pair_of(guess, texts) or _twin_where_known(guess, guesses):
                named = " and ".join(each.heading.text for each in of)
                guess.take("label", f"follows from {named}")


def _mostly_decided(guess: Guess, texts: Sequence[Guess]) -> tuple[Guess, ...]:
    """Return two settings that decide numbers of which nothing says that they were set, and of
    which the first does in nearly all rows: numbers of groups of its names.
    """
    if guess.count <= _FEW or not guess.why.startswith(FEW_VALUES):
        return ()
    for one, other in permutations(texts, 2):
        both = [*zip(one.cells, other.cells, strict=True)]
        rows = rows_by([one.cells], range(len(guess.cells)))
        often = [Counter(guess.cells[row] for row in of).most_common(1)[0][1] for of in rows]
        is_near = sum(often) >= _NEARLY_ALL * len(guess.cells)
        if one.count > guess.count and is_near and decides(both, guess.cells):
            return one, other
    return ()


def _pair_of(guess: Guess, texts: Sequence[Guess]) -> Sequence[Guess]:
    """Return two settings of which each pair recurs, and has a number of its own."""
    for pair in combinations(texts, 2):
        both = [*zip(*(each.cells for each in pair), strict=True)]
        is_of_both = math.prod(each.count for each in pair) == guess.count == len({*both})
        if is_of_both and 2 * guess.count <= len(both) and are_twins(both, guess.cells):
            return pair
    return ()


def _twin_where_known(guess: Guess, guesses: Sequence[Guess]) -> Sequence[Guess]:
    """Return the setting with which numbers go in each row that has one, if not all have."""
    known = [at for at, cell in enumerate(guess.cells) if cell not in (None, "")]
    if guess.count <= _FEW or len(known) == len(guess.cells):
        return ()
    own = [guess.cells[at] for at in known]
    others = (each for each in guesses if each is not guess and each.is_set)
    return [*islice((o for o in others if are_twins(own, [o.cells[at] for at in known])), 1)]


def are_ids(cells: Sequence[Cell]) -> bool:
    """Return whether texts are paths of files or digests, which say less than names do."""
    texts = {str(cell).strip() for cell in cells} - {"", "None"}
    return are_paths(cells) or (bool(texts) and all(map(_DIGEST.fullmatch, texts)))


def _is_id(guess: Guess) -> bool:
    return guess.kind == "text" and (are_ids(guess.cells) or guess.heading.has("hash", "sha"))


def _is_of_settings(guess: Guess) -> bool:
    """Return whether a column names all settings of a run: `command`, not `config.model`."""
    words = words_of(guess.heading.text.rpartition(".")[2])
    return not _OF_SETTINGS.isdisjoint(words)


def _is_number_of(guess: Guess, other: Guess) -> bool:
    """Return whether an id without a unit numbers what another column states with one."""
    is_id = guess.kind == "whole" and guess.heading.has(*_CODES) and guess.heading.unit is None
    return is_id and other.kind != "text" and other.heading.unit is not None


def are_paths(cells: Sequence[Cell]) -> bool:
    """Return whether texts are paths of files, where there are any."""
    texts = {str(cell).strip() for cell in cells} - {"", "None"}
    return bool(texts) and all(map(_PATH.fullmatch, texts))


def _differ_in_words(guess: Guess, knobs: Sequence[Guess]) -> bool:
    """Return whether rows that other knobs do not tell apart have names of unlike words.

    Numbers and letters that count do not matter: `exp 7` and `exp 8` are repetitions. Where most
    settings have several rows, names tell no setting.
    """
    others = [each.cells for each in knobs if each is not guess and each.is_set]
    groups = rows_by(others, range(len(guess.cells)))
    alike = [rows for rows in groups if len(rows) > 1]
    words = [words_of(str(cell)) for cell in guess.cells]
    own = [frozenset(word for word in each if len(word) > 1 and word.isalpha()) for each in words]
    names = [{own[row] for row in rows} for rows in alike]
    unlike = all(len(name) == len(rows) for name, rows in zip(names, alike, strict=True))
    return 0 < 2 * len(alike) < len(groups) and unlike


def _combinations(parts: Sequence[Guess]) -> int:
    return len({*zip(*(part.cells for part in parts), strict=True)})


def _is_named(guess: Guess) -> bool:
    """Return whether a heading is of a number that people set: a clock, a learning rate."""
    is_free = guess.heading.unit is None and is_measured(guess.heading, guess.quantity) is False
    return is_free or guess.quantity in ("frequency", "power")


def _contains(cells: Sequence[Cell], parts: Sequence[Cell]) -> bool:
    pairs = {*zip(cells, parts, strict=True)}
    return all(str(part or "").lower() in str(text).lower() for text, part in pairs)


def _differ_alone(cells: Sequence[Cell], part: Guess) -> bool:
    """Return whether texts are equal but for the number of a part behind `=` or an option."""
    pairs = {*zip(map(str, cells), map(str, part.cells), strict=True)}
    rest = {re.sub(rf"(=|-\w[\w.-]* +){re.escape(n)}(?![\w.])", r"\1", text) for text, n in pairs}
    return part.kind != "text" and len(rest) == 1
