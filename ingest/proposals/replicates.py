"""Which column of a table numbers the runs of each setting."""

import re
from collections.abc import Container, Sequence
from typing import Final

import numpy as np

from ingest.formats.json_cells import Cell
from ingest.proposals.guess import Guess
from ingest.proposals.row_groups import rows_by
from ingest.settings.column_names import WORDS

_FEWEST_ROWS: Final = 4
# A result that only grows in so many steps does so by no chance.
_LEAST_STEPS: Final = 6
# A round may be a replicate, or a setting such as the rounds of a training.
_MAYBE_SET: Final = frozenset({"round", "cycle"})
# What stands behind a word for a replicate: `run_id`, `Trial #`.
_NUMBERS: Final = frozenset({"id", "number", "no", "nr", "num", "index", "idx"})
# `r1`, `Run 2`
_NUMBERED: Final = re.compile(r"([A-Za-z]+)[ _-]?(\d{1,4})")
MAYBE_SETTINGS: Final = "they may be settings"


def choose_replicate(guesses: Sequence[Guess], columns: Sequence[Sequence[Cell]]) -> None:
    """Choose the column that numbers the runs of each setting; make labels of others like it."""
    _number_texts(guesses, columns)
    numbers = [n for n, guess in enumerate(guesses) if numbers_runs(guess)]
    has_knob = any(each.role == "knob" and each.count > 1 for each in guesses)
    # `rep` counts the runs of a setting, `run` beside it may number the settings.
    # A seed is one where nothing else is: a trial may have several.
    order = {
        n: (not _repeats(guesses[n]), guesses[n].heading.has("seed"), _is_campaign(guesses[n]))
        for n in numbers
    }
    for index in sorted(numbers, key=lambda n: order[n]):
        guess, heading_words = guesses[index], guesses[index].heading.words
        is_chosen = any(each.to == "replicate" for each in guesses)
        # A number of each row of a sweep is no replicate, nor one that other tables may have too.
        is_id = heading_words[-1] in WORDS["identifiers"]
        is_row = guess.count == len(guess.numbers) > _FEWEST_ROWS and (has_knob or is_id)
        is_counted = _counts_runs(index, guesses, columns)
        # Numbers of repetitions, as 10, 20 and 30, make the results grow.
        is_odd = guess.numbers.min() > 1 and _leads(index, guesses, columns, _LEAST_STEPS)
        # Settings or rows lack rounds, or a result goes one way with them in all.
        lacks = len(guess.numbers) < len(columns[index])
        is_set = is_odd or (
            heading_words[-1] in _MAYBE_SET and (lacks or _leads(index, guesses, columns))
        )
        if is_row or (_is_campaign(guess) and (is_chosen or not is_counted)):
            guess.role, guess.why, guess.better = "label", "a number of the row", None
            for number in (n for n, each in enumerate(guesses) if each.to == "replicate"):
                # It begins again in each session: runs are numbered by their order.
                is_whole = _tells_apart(number, guesses, columns)
                guesses[number].to = "replicate" if is_whole else ""
        elif is_chosen or not is_counted:
            continue
        elif is_set:
            guess.role, guess.why, guess.better = "knob", "no replicate by its results", None
        else:
            guess.role, guess.to = "label", "replicate"
            guess.why, guess.better = f"numbers from {guess.numbers.min():.0f} on", None
            if heading_words[-1] in _MAYBE_SET:
                guess.why += f"; {MAYBE_SETTINGS}"
            for other in guesses if _repeats(guess) else ():
                if other.heading.words in (("run",), ("run", "id")) and other.kind == "whole":
                    other.role, other.why = "label", "a number of the row"


def rows_of_settings(
    guesses: Sequence[Guess], columns: Sequence[Sequence[Cell]], but: Container[int] = ()
) -> list[list[int]]:
    """Return the rows of each combination of knobs.

    Args:
        but: Numbers of knobs that do not count.
    """
    knobs = [n for n, each in enumerate(guesses) if each.role == "knob" and n not in but]
    return rows_by([columns[n] for n in knobs], range(len(columns[0])))


def _number_texts(guesses: Sequence[Guess], columns: Sequence[Sequence[Cell]]) -> None:
    """Make numbers of `r1` to `r6` under a heading of replicates, if no setting has one twice."""
    for index, (guess, cells) in enumerate(zip(guesses, columns, strict=True)):
        texts = {str(cell).strip() for cell in cells}
        found = {text: _NUMBERED.fullmatch(text) for text in texts}
        parts = {text: (each[1].lower(), int(each[2])) for text, each in found.items() if each}
        numbers = {number for _, number in parts.values()}
        is_alike = len(numbers) == len(texts) and len({word for word, _ in parts.values()}) == 1
        is_free = guess.kind == "text" and not guess.is_declared and _names_replicates(guess)
        begins_again = 1 < len(texts) < len(cells) and min(numbers, default=2) <= 1
        if is_free and is_alike and begins_again and _tells_apart(index, guesses, columns):
            guess.values = {text: str(number) for text, (_, number) in sorted(parts.items())}
            guess.kind = "whole"
            guess.numbers = np.array([float(guess.values[str(cell).strip()]) for cell in cells])


def _names_replicates(guess: Guess) -> bool:
    words, replicates = guess.heading.words, WORDS["replicates"]
    # A seed is of a run, whatever draws from it.
    is_named = words[-1:] != () and words[-1] in replicates
    is_named = is_named and (len(words) <= 2 or words[-1] == "seed")
    return is_named or (len(words) == 2 and words[0] in replicates and words[1] in _NUMBERS)


def numbers_runs(guess: Guess) -> bool:
    """Return whether the heading of whole numbers is of replicates: `rep`, `run_id`, `Trial #`."""
    is_number = guess.kind == "whole" and not guess.heading.unit and guess.count > 1
    is_named = _names_replicates(guess) or _is_campaign(guess) if is_number else False
    return is_named and not guess.is_declared


def _counts_runs(index: int, guesses: Sequence[Guess], columns: Sequence[Sequence[Cell]]) -> bool:
    """Return whether numbers begin at 0 or 1, of which some may be left out.

    Seeds are any numbers. They, and sessions, number runs if no two of a setting have the same.
    """
    guess = guesses[index]
    least, most = float(guess.numbers.min()), float(guess.numbers.max())
    if guess.heading.words[-1] == "seed":
        return _tells_apart(index, guesses, columns)
    if least < 0 or (least > 1 and not _repeats(guess)) or most > 10 * guess.count:
        return False
    if not _is_campaign(guess):
        return True
    return _tells_apart(index, guesses, columns)


def _tells_apart(index: int, guesses: Sequence[Guess], columns: Sequence[Sequence[Cell]]) -> bool:
    """Return whether no two runs of a setting have the same number."""
    settings = rows_of_settings(guesses, columns, (index,))
    return all(len({columns[index][row] for row in rows}) == len(rows) for rows in settings)


def _is_campaign(guess: Guess) -> bool:
    """Return whether a heading is of parts of a campaign: `session`, `batch_id`."""
    words = guess.heading.words
    is_numbered = words[1:2] != () and words[1] in _NUMBERS and len(words) == 2
    # A block of 128 threads is none.
    is_block = (
        words == ("block",) and guess.numbers.min() <= 1 and np.ptp(guess.numbers) < guess.count
    )
    is_named = is_numbered and words[0] in WORDS["campaigns"]
    return bool(words == ("session",) or is_block or is_named)


def _repeats(guess: Guess) -> bool:
    return guess.heading.words[:1] == ("rep",) or guess.heading.has("repetition", "replicate")


def _leads(
    index: int, guesses: Sequence[Guess], columns: Sequence[Sequence[Cell]], least: int = 0
) -> bool:
    """Return whether a result goes one way with the rounds in all settings, in enough steps.

    Args:
        least: Steps; 0 for any, and for settings that lack rounds.
    """
    rounds = guesses[index].numbers
    if len(rounds) < len(columns[index]):
        return False
    knobs = [columns[at] for at, each in enumerate(guesses) if each.role == "knob" and at != index]
    rows = rows_by(knobs, np.argsort(rounds, kind="stable").tolist())
    if len({tuple(rounds[row] for row in each) for each in rows}) > 1 and not least:
        return True
    if len(rounds) - len(rows) < least:
        return False
    results = [g.numbers for g in guesses if g.role == "metric" and len(g.numbers) == len(rounds)]
    steps = [[np.diff(numbers[each]) for each in rows] for numbers in results]
    return any(all(np.all(sign * step > 0) for step in each) for each in steps for sign in (1, -1))
