"""Which column of a table numbers the runs of each setting, or the steps of one run."""

import re
from collections import Counter
from collections.abc import Container, Sequence
from itertools import chain, compress
from typing import Final

import numpy as np

from ingest.formats.json_cells import Cell
from ingest.proposals.guess import Guess, rows_by
from ingest.proposals.heading_roles import is_measured, is_spread
from ingest.proposals.roles import DRAWN
from ingest.settings.column_names import KNOWN_WORDS, WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_measurement, read_heading

_FEWEST_ROWS: Final = 4
# A result that only grows in so many steps does so by no chance.
_LEAST_STEPS: Final = 6
# A round may be a replicate, or a setting such as the rounds of a training.
_MAYBE_SET: Final = frozenset({"round", "cycle"})
# What stands behind a word for a replicate: `run_id`, `Trial #`.
_NUMBERS: Final = frozenset({"id", "number", "no", "nr", "num", "index", "idx"})
# `r1`, `Run 2`
_NUMBERED: Final = re.compile(r"([A-Za-z]+)[ _-]?(\d{1,4})")
# `ppo_seed0`, `fft-rep 2`: the end of a name that only numbers the runs of what is named.
_NUMBERED_END: Final = re.compile(
    r"(.+?)[ _.-]+(?:seed|rep|replicate|repetition|trial|run)[ _.-]?\d{1,6}", re.IGNORECASE
)
# Words of states of runs, and ends of names of their outputs.
_ENDS: Final = WORDS["states"] | {"csv", "tsv", "json", "log", "txt", "out", "xlsx"}
# Such a share of the names in rows of one setting stands in others too.
_MOSTLY: Final = 0.75
MAYBE_SETTINGS: Final = "they may be settings"
# What a run goes through in order; so many in each setting are a course.
_STEPS: Final = WORDS["steps"]
_FEWEST_OF_COURSE: Final = 8
# Digits of numbers that people set, and the spread of repeated results over that of all.
_MOST_SET: Final = 2
_NEAR: Final = 0.5
# The correlation of the ranks of results and numbers, in half of the settings.
_TREND: Final = 0.5


def choose_replicate(guesses: Sequence[Guess], sources: Sequence[str] = ()) -> None:
    """Choose the column that numbers the runs of each setting; make labels of others like it.

    Args:
        sources: The file of each row; nothing for one.
    """
    _number_texts(guesses)
    _join_names(guesses)
    has_knob = any(each.is_set for each in guesses)
    long = [guess for guess in guesses if _counts_far(guess, guesses, sources)]
    numbers = [guess for guess in guesses if numbers_runs(guess) or guess in long]
    # `rep` counts the runs of a setting, `run` beside it may number the settings.
    # A seed is one where nothing else is: a trial may have several.
    numbers.sort(key=lambda g: (not _repeats(g), g.heading.has("seed"), _is_campaign(g)))
    for guess in numbers:
        heading_words = guess.heading.words
        is_chosen = any(each.to == "replicate" for each in guesses)
        # A number of each row of a sweep is no replicate, nor one that other tables may have too.
        is_id = heading_words[-1] in WORDS["identifiers"]
        is_row = guess.count == len(guess.numbers) > _FEWEST_ROWS and (has_knob or is_id)
        is_counted = _counts_runs(guess, guesses)
        # Numbers of repetitions, as 10, 20 and 30, make the results grow.
        is_odd = guess.numbers.min() > 1 and _leads(guess, guesses, _LEAST_STEPS)
        # Settings or rows lack rounds, or a result goes one way with them in all.
        lacks = len(guess.numbers) < len(guess.cells)
        maybe = heading_words[-1] in _MAYBE_SET and guess not in long
        is_set = is_odd or (maybe and (lacks or _leads(guess, guesses)))
        if is_row or (_is_campaign(guess) and (is_chosen or not is_counted)):
            guess.take("label", "a number of the row")
            for number in (each for each in guesses if each.to == "replicate"):
                # It begins again in each session: runs are numbered by their order.
                number.to = "replicate" if _tells_apart(number, guesses) else ""
        elif is_chosen or not is_counted:
            continue
        elif is_set:
            guess.take("knob", "no replicate by its results")
        else:
            guess.take("label", f"numbers from {guess.numbers.min():.0f} on")
            guess.to = "replicate"
            if heading_words[-1] in _MAYBE_SET or not numbers_runs(guess):
                guess.why += f"; {MAYBE_SETTINGS}"
            for other in guesses if _repeats(guess) else ():
                if other.heading.words in (("run",), ("run", "id")) and other.kind == "whole":
                    other.take("label", "a number of the row")
    # Beside trials a seed was set: of the data, or of what ran.
    for guess in guesses if not any(each.to == "replicate" for each in guesses) else ():
        if guess.role == "knob" and guess.heading.words[-1:] == ("seed",) and numbers_runs(guess):
            guess.take("label", "a seed, which is no setting")


def was_repeated(guess: Guess, guesses: Sequence[Guess]) -> bool:
    """Return whether numbers of few digits were set, and numbered runs repeat some of them.

    The runs of one value have a number each, and a result is nearer in them than in all runs.
    """
    is_result = is_measured(guess.heading, guess.quantity) is True
    is_free = guess.role == "metric" and not (is_result or guess.is_declared or guess.heading.unit)
    rows = range(len(guess.cells))
    if not is_free or not 1 < guess.count < len(rows) == len(guess.numbers):
        return False
    if any(len(f"{n:.12g}".replace(".", "").strip("-0")) > _MOST_SET for n in guess.numbers):
        return False
    groups = [of for of in rows_by([guess.cells], rows) if len(of) > 1]
    numbers = [each.cells for each in guesses if numbers_runs(each)]
    is_numbered = any(all(len({n[row] for row in of}) == len(of) for of in groups) for n in numbers)
    results = [g.numbers for g in guesses if g.role == "metric" and g is not guess]
    results = [each for each in results if len({*each}) > len(rows) / 2 and len(each) == len(rows)]
    spreads = [max(np.ptp(each[of]) for of in groups) / np.ptp(each) for each in results]
    return is_numbered and min(spreads, default=1.0) < _NEAR


def _counts_far(guess: Guess, guesses: Sequence[Guess], sources: Sequence[str]) -> bool:
    """Return whether numbers count the runs of each setting in a file far, with no trend.

    Nobody sweeps 1 to 30 with which no result goes, whatever they are called. What a word says to
    be set or measured is none, nor is the only setting.
    """
    words = {*guess.heading.words} - _MAYBE_SET - WORDS["replicates"]
    is_free = guess.kind == "whole" and not (guess.is_declared or guess.heading.unit)
    is_free &= guess.heading.words != () and words.isdisjoint(KNOWN_WORDS)
    is_free &= guess.role == "knob" or numbers_runs(guess)
    others = [each.cells for each in guesses if each.is_set and each is not guess]
    if not (is_free and others and len(guess.numbers) == len(guess.cells)):
        return False
    groups = rows_by([*others, *([sources] if sources else [])], range(len(guess.cells)))
    far = [rows for rows in groups if len(rows) >= _FEWEST_OF_COURSE]
    numbers = [np.sort(guess.numbers[rows]) for rows in groups]
    is_count = all(n[0] in (0, 1) and bool(np.all(np.diff(n) == 1)) for n in numbers)
    if len(far) < 2 or 2 * sum(map(len, far)) < len(guess.cells) or not is_count:
        return False
    results = [g.numbers for g in guesses if g.role == "metric" and g.quantity]
    results = [each for each in results if len(each) == len(guess.cells)]
    trends = [[_trend(guess.numbers[rows], each[rows]) for rows in far] for each in results]
    return bool(trends) and all(abs(float(np.median(each))) < _TREND for each in trends)


def _trend(numbers: np.ndarray, results: np.ndarray) -> float:
    """Return how far the order of results is that of numbers, from -1 to 1."""
    if np.ptp(results) == 0:
        return 0.0
    one, other = (np.argsort(np.argsort(each, kind="stable")) for each in (numbers, results))
    return float(np.corrcoef(one, other)[0, 1])


def steps_of_runs(guesses: Sequence[Guess]) -> str:
    """Return why each row is a step of a run; empty if nothing says so.

    A column named for steps counts them in order within each setting, and an energy or a time grows
    with them: more than half of its values are above all before, as by chance few are.
    """
    costs = [g for g in guesses if g.role == "metric" and g.quantity in ("energy", "time")]
    for guess in guesses:
        words = [word for word in guess.heading.words if word not in _NUMBERS]
        is_whole = guess.kind == "whole" and len(guess.numbers) == len(guess.cells)
        if len(words) != 1 or words[0] not in _STEPS or not is_whole or guess.is_declared:
            continue
        runs = rows_of_settings(guesses, (guess,))
        counts = [guess.numbers[rows] for rows in runs]
        are_far = all(len(n) >= _FEWEST_OF_COURSE and n[0] in (0, 1) for n in counts)
        if not are_far or not all(np.all(np.diff(n) == 1) for n in counts):
            continue
        for cost in (each for each in costs if len(each.numbers) == len(guess.cells)):
            most = [np.maximum.accumulate(cost.numbers[rows]) for rows in runs]
            if all(2 * np.mean(np.diff(each) > 0) > 1 for each in most):
                count, grown = guess.heading.text, cost.heading.text
                return f"a row is a step of a run: {count} counts them, and {grown} grows"
    return ""


def rows_of_settings(guesses: Sequence[Guess], but: Container[Guess] = ()) -> list[list[int]]:
    """Return the rows of each combination of knobs, but for some of them."""
    knobs = [each.cells for each in guesses if each.role == "knob" and each not in but]
    return rows_by(knobs, range(len(guesses[0].cells)))


def _number_texts(guesses: Sequence[Guess]) -> None:
    """Make numbers of `r1` to `r6` under a heading of replicates, if no setting has one twice."""
    for guess in guesses:
        texts = {str(cell).strip() for cell in guess.cells}
        found = {text: _NUMBERED.fullmatch(text) for text in texts}
        parts = {text: (each[1].lower(), int(each[2])) for text, each in found.items() if each}
        numbers = {number for _, number in parts.values()}
        is_alike = len(numbers) == len(texts) and len({word for word, _ in parts.values()}) == 1
        is_free = guess.kind == "text" and not guess.is_declared and _names_replicates(guess)
        begins_again = 1 < len(texts) < len(guess.cells) and min(numbers, default=2) <= 1
        if is_free and is_alike and begins_again and _tells_apart(guess, guesses):
            guess.values = {text: str(number) for text, (_, number) in sorted(parts.items())}
            guess.kind = "whole"
            guess.numbers = np.array(
                [float(guess.values[str(cell).strip()]) for cell in guess.cells]
            )


def _join_names(guesses: Sequence[Guess]) -> None:
    """Give names that only their replicate tells apart one name: `ppo_seed0` and `ppo_seed1`."""
    for guess in guesses:
        if not guess.is_set or guess.kind != "text" or guess.is_declared:
            continue
        texts = sorted({str(cell).strip() for cell in guess.cells if cell not in (None, "")})
        found = {text: each[1] for text in texts if (each := _NUMBERED_END.fullmatch(text))}
        names = {found.get(text, text) for text in texts}
        if len({*found.values()}) < len(found):
            guess.values, guess.count = found, len(names)
            guess.cells = [found.get(str(cell).strip(), cell) for cell in guess.cells]
            guess.why += "; numbers of replicates end them"
            if len(names) == 1:
                guess.take("label", "one name, and numbers of replicates")


def _names_replicates(guess: Guess) -> bool:
    words, replicates = guess.heading.words, WORDS["replicates"]
    # A seed is of a run, whatever draws from it.
    is_named = words[-1:] != () and words[-1] in replicates
    is_named = is_named and (len(words) <= 2 or words[-1] == "seed")
    return is_named or (len(words) == 2 and words[0] in replicates and words[1] in _NUMBERS)


def numbers_runs(guess: Guess) -> bool:
    """Return whether the heading of whole numbers is of replicates: `rep`, `run_id`, `Trial #`."""
    is_number = guess.kind == "whole" and not guess.heading.unit and guess.count > 1
    is_number &= guess.why != DRAWN
    is_named = _names_replicates(guess) or _is_campaign(guess) if is_number else False
    return is_named and not guess.is_declared


def _counts_runs(guess: Guess, guesses: Sequence[Guess]) -> bool:
    """Return whether numbers begin at 0 or 1, of which some may be left out.

    Seeds are any numbers. They, and sessions, number runs if no two of a setting have the same.
    """
    least, most = float(guess.numbers.min()), float(guess.numbers.max())
    if guess.heading.words[-1] == "seed":
        return _tells_apart(guess, guesses)
    if least < 0 or (least > 1 and not _repeats(guess)) or most > 10 * guess.count:
        return False
    return not _is_campaign(guess) or _tells_apart(guess, guesses)


def _tells_apart(guess: Guess, guesses: Sequence[Guess]) -> bool:
    """Return whether no two runs of a setting have the same number."""
    settings = rows_of_settings(guesses, (guess,))
    return all(len({guess.cells[row] for row in rows}) == len(rows) for rows in settings)


def names_a_setting(guess: Guess, guesses: Sequence[Guess]) -> bool:
    """Return whether names alone tell rows of one setting apart, and most recur in other settings.

    So do states, names that count runs, and those of their outputs, of rows that are replicates.
    """
    names = [str(cell).strip() for cell in guess.cells]
    words = {word for name in names for word in words_of(name)}
    counts = [re.findall(r"\d+", name) for name in names]
    are_counted = all(map(len, counts)) and {*chain(*counts)} == {
        str(at) for at in range(min(map(int, chain(*counts))), guess.count + 1)
    }
    is_state = not words.isdisjoint(_ENDS | WORDS["failed"] | WORDS["succeeded"])
    if is_state or are_counted or guess.is_declared or guess.count < 2:
        return False
    own = [each.cells for each in guesses if each.role == "knob" or numbers_runs(each)]
    groups = [Counter(names[row] for row in rows) for rows in rows_by(own, range(len(names)))]
    several = [each for each in groups if each.total() > 1]
    often = Counter(chain(*several))
    recurring = sum(number for number in often.values() if number > 1)
    times = {number for each in several for number in each.values()}
    return len(times) == 1 and _MOSTLY * often.total() <= recurring


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


def _leads(guess: Guess, guesses: Sequence[Guess], least: int = 0) -> bool:
    """Return whether a result goes one way with the rounds in all settings, in enough steps.

    Args:
        least: Steps; 0 for any, and for settings that lack rounds.
    """
    rounds = guess.numbers
    if len(rounds) < len(guess.cells):
        return False
    knobs = [each.cells for each in guesses if each.role == "knob" and each is not guess]
    rows = rows_by(knobs, np.argsort(rounds, kind="stable").tolist())
    if len({tuple(rounds[row] for row in each) for each in rows}) > 1 and not least:
        return True
    if len(rounds) - len(rows) < least:
        return False
    results = [g.numbers for g in guesses if g.role == "metric" and len(g.numbers) == len(rounds)]
    steps = [[np.diff(numbers[each]) for each in rows] for numbers in results]
    return any(all(np.all(sign * step > 0) for step in each) for each in steps for sign in (1, -1))


def stands_with_all(count: str, headings: Sequence[str], columns: Sequence[Sequence[Cell]]) -> bool:
    """Return whether what else was set stands with each of the same numbers: `n` is a size."""
    is_set = [h != count and not is_measurement(h) and not is_spread(read_heading(h))
              for h in headings]  # fmt: skip
    groups = rows_by([*compress(columns, is_set)], range(len(columns[0])))
    cells = columns[headings.index(count)]
    numbers = [sorted(str(cells[row]) for row in rows) for rows in groups]
    return len({*numbers[0]}) == len(numbers[0]) > 1 and all(n == numbers[0] for n in numbers)
