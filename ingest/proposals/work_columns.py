"""Columns that say how much work a row did, or of which kinds: part of the question.

A heading alone does not tell: `n_threads` is tuned, and so is the share of a cache. Costs that grow
with a number of things do, and so do a second share that fills a first one up to the whole.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from data.work_items import item_counted
from ingest.formats.json_cells import Cell
from ingest.proposals.guess import Guess, decides, digits_of, rows_by
from ingest.proposals.heading_roles import is_spread
from ingest.proposals.replicates import stands_with_all
from ingest.settings.column_names import KNOWN_WORDS, VALUES, WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import quantity_of
from ingest.settings.units import unit_of

_COUNTS: Final = frozenset({"n", "num", "number", "count"})
_SHARES: Final = frozenset({"ratio", "mix", "share", "fraction", "percent", "percentage", "pct"})
_COSTS: Final = frozenset({"energy", "time", "price"})
_BATCHES: Final = ("batch", "batches", "bs")
_OF_ITEMS: Final = ("rate", "price")
_RATES: Final = ("throughput", "fps", "qps", "rps", "tps", "iops", "epoch", "epochs")
# So many times as much of the work tells whether costs grow with it.
_APART: Final = 2.0
# Costs grow at least as the root of the work.
LEAST_POWER: Final = 0.5
_WHOLES: Final = (1.0, 100.0)
# Of what is proportional to energy so many values, so far apart, and the largest ratio of ratios.
_FEWEST_AMOUNTS: Final = 3
_FAR_APART: Final = 4.0
_PROPORTION: Final = 1.1
_LINEAR: Final = 0.9
_A_BATCH: Final = "costs grow with it, and no rate stands beside: an amount of work"
_IN_TIME: Final = "times grow with it in proportion or more: an amount of work"
# Words of how often an item of work was repeated, and digits before zeros of such numbers.
_REPEATS: Final = frozenset({"iterations", "iters", "repetitions", "repeats", "reps", "loops"})
_REPEATED: Final = WORDS["repeated"]
# Of how many runs or samples means are.
_OF_MEANS: Final = _COUNTS.union(
    _REPEATED, ("cnt", "sample", "samples", "observations", "points", "datapoints", "readings")
)
_MOST_DIGITS: Final = 2
_FEWEST_KNOBS: Final = 2
_SAME: Final = 0.01
# Names of so many rows that stand first are of what ran, not of ways to do it.
_MANY_NAMES: Final = 10
_NAMES: Final = frozenset({"name", "names"})
# In so many of the rows of a setting the number of what was done is the same.
_MOSTLY: Final = 0.8
# So many pairs of rows agree by no chance.
_FEWEST_GROUPS: Final = 4
# Rows of each work, on average, and digits of costs that people set.
_LEAST_ROWS: Final = 2
_MOST_SET: Final = 3


def give_work(guesses: Sequence[Guess]) -> None:
    """Take amounts and mixes of work for part of the question, if anything else was set.

    What alone was set is an amount of work if energy is proportional to it. So is a setting by
    which no cost of the run differs, such as how what came out was counted: nothing competes by it.
    """
    knobs = [each for each in guesses if each.is_set]
    for guess in (each for each in knobs if not (each.is_given or each.is_declared)):
        if _changes_nothing(guess, guesses):
            guess.is_given = True
            guess.why += "; no cost differs by it: one run, seen in several ways"
    free = [each for each in knobs if not each.is_given]
    work: list[tuple[Guess, str]] = []
    has_rates = any(g.quantity in _OF_ITEMS or g.heading.has(*_RATES) for g in guesses)
    for guess in free:
        # A batch is the work of a row that states no rate, and no cost of an item.
        is_batch = guess.heading.has(*_BATCHES) and not has_rates
        is_batch = is_batch and guess.kind == "whole" and _are_far_apart(guess)
        is_working = guess.heading.has(*WORDS["working"]) and not is_batch
        if guess.kind == "text" or guess.is_declared or is_working:
            continue
        others = [each.cells for each in knobs if each is not guess]
        ends = guess.heading.words[:1] + guess.heading.words[1:][-1:]
        is_number = guess.kind == "whole" and len(ends) > 1 and not _COUNTS.isdisjoint(ends)
        # So does what ran as long as someone set.
        is_amount = is_batch or is_number or guess.heading.has("duration")
        if is_amount and _costs_grow(guess, guesses, others):
            work.append((guess, _A_BATCH if is_batch else "costs grow with it: an amount of work"))
        elif _times_grow(guess, guesses, others):
            work.append((guess, _IN_TIME))
        elif guess.kind == "whole" and item_counted(_last_of(guess)):
            work.append((guess, "items of work: an amount of it"))
        elif why := _why_a_mix(guess, guesses):
            work.append((guess, why))
    if len(free) == len(knobs) == 1 and _is_proportional(free[0], guesses):
        work = [(free[0], "energy is proportional to it: an amount of work")]
    elif len(free) == len(knobs) == 1 and _names_what_ran(free[0], guesses):
        work = [(free[0], "a name of each row: what ran")]
    elif len(work) == len(free):
        work = [each for each in work if each[1] in (_IN_TIME, _A_BATCH)]
    for guess, why in work:
        guess.is_given = True
        guess.why += f"; {why}"


def _changes_nothing(guess: Guess, guesses: Sequence[Guess]) -> bool:
    """Return whether rows that differ in a setting alone agree in all costs, to the last digit.

    There are several such groups of rows, each with costs of its own.
    """
    costs = [g for g in guesses if g.role == "metric" and g.quantity in ("energy", "power", "time")]
    others = [g.cells for g in guesses if g.role == "knob" and g is not guess]
    groups = [rows for rows in rows_by(others, range(len(guess.cells))) if len(rows) > 1]
    is_alone = all(len({guess.cells[row] for row in rows}) == len(rows) for rows in groups)
    if len(groups) < _FEWEST_GROUPS or not (costs and is_alone):
        return False
    found = {tuple(cost.cells[rows[0]] for cost in costs) for rows in groups}
    are_equal = all(len({c.cells[row] for row in rows}) == 1 for c in costs for rows in groups)
    return are_equal and len(found) == len(groups)


def _names_what_ran(guess: Guess, guesses: Sequence[Guess]) -> bool:
    """Return whether the first column has a name for each of many rows, as of programs."""
    words = {*guess.heading.words}
    is_first = guess is next(each for each in guesses if not each.is_dropped)
    is_each = guess.kind == "text" and guess.count == len(guess.cells) >= _MANY_NAMES
    return is_first and is_each and words <= _NAMES and not guess.is_declared


def _last_of(guess: Guess) -> str:
    """Return the words of a heading without those of its object: `metadata.num_tokens`."""
    return "_".join(words_of(guess.heading.text.rpartition(".")[2]))


def leave_out_repetitions(guesses: Sequence[Guess]) -> None:
    """Make labels of how often a row was measured, unless its costs grow with it.

    So is `n` or `sample_size` beside the means of energies, powers or times.
    """
    read = [guess.heading for guess in guesses if guess.role == "metric"]
    headings, columns = [g.heading.text for g in guesses], [g.cells for g in guesses]
    costs = [heading for heading in read if quantity_of(heading) in ("energy", "power", "time")]
    has_means = any(heading.has(*WORDS["middles"]) for heading in costs)
    for guess in guesses:
        words = {*guess.heading.words}
        is_repeated = guess.is_set and not words.isdisjoint(_REPEATED)
        is_repeated &= words <= _COUNTS | _REPEATED
        is_of_means = (
            has_means and not words.isdisjoint(_OF_MEANS) and words <= _OF_MEANS | {"data", "size"}
        )
        is_of_means = is_of_means and not stands_with_all(guess.heading.text, headings, columns)
        if guess.role != "label" and guess.kind == "whole" and (is_repeated or is_of_means):
            others = [each.cells for each in guesses if each.is_set and each is not guess]
            if guess.count > 1 and not _costs_grow(guess, guesses, others):
                of = "often the row was measured" if is_repeated else "many the means are of"
                guess.take("label", f"how {of}")


def leave_out_baselines(guesses: Sequence[Guess]) -> None:
    """Make labels of costs that the work alone decides, beside others of their kind that differ.

    They are of another run, with which the rows are compared: no two runs take 1.17854 s.
    """
    knobs = [each for each in guesses if each.is_set]
    work = [each.cells for each in knobs if each.is_given]
    settings = [*zip(*work, strict=True)] or [()] * len(guesses[0].cells)
    costs = [g for g in guesses if g.role == "metric" and g.quantity in _COSTS]
    fixed = [each for each in costs if decides(settings, each.cells)]
    if len(work) == len(knobs) or len(settings) < _LEAST_ROWS * len({*settings}):
        return
    for guess in fixed:
        own = next((g for g in costs if g.quantity == guess.quantity and g not in fixed), None)
        is_measured = any(digits_of(str(cell)) > _MOST_SET for cell in {*guess.cells})
        if own is not None and is_measured:
            why = f"a baseline: the work alone decides it, unlike {own.heading.text}"
            guess.take("label", why)


def leave_out_repeated(guesses: Sequence[Guess]) -> None:
    """Take energies and times of unequal numbers of repetitions for no costs of the run.

    That of an item stands beside them. How often it was repeated was set: a size of a batch, or a
    round number that one of several knobs decides. What a solver needs to converge depends on all.
    Of tasks each run of the same work got another number done: the more the better.
    """
    knobs = [each for each in guesses if each.is_set]
    prices = [g for g in guesses if g.quantity == "price" and not g.is_dropped]
    for repeats in guesses:
        if repeats.kind != "whole" or repeats.count < 2:
            continue
        is_batch = repeats.role == "knob" and repeats.heading.has("batch", "batches")
        is_done = repeats.role == "metric" and repeats.heading.has(*WORDS["done"])
        if not (is_batch or is_done or _is_set_by_a_knob(repeats, knobs)):
            continue
        for whole in guesses:
            is_free = whole.quantity in ("energy", "time") and not whole.is_declared
            of = next((p for p in prices if is_free and _is_sum(whole, p, repeats)), None)
            if of and whole.role == "metric":
                whole.quantity, whole.better = "", None
                whole.why += f"; {of.heading.text} times unequal {repeats.heading.text}"
                repeats.better = "more" if is_done else repeats.better
    _leave_out_times(guesses, knobs)


def _leave_out_times(guesses: Sequence[Guess], knobs: Sequence[Guess]) -> None:
    """Take times of runs for no costs where a setting decides how much each run did.

    512 clients that did twice the requests of 256 are not slower: costs of items tell.
    """
    measured = [guess for guess in guesses if guess.role == "metric" and not guess.is_declared]
    times = [g for g in measured if g.quantity == "time" and g.better == "less"]
    times = [g for g in times if not g.heading.has(*WORDS["latencies"], *WORDS["moments"])]
    is_told = any(g.quantity in _OF_ITEMS and g.better for g in measured)
    has_energy = any(g.quantity in ("energy", "power") for g in guesses)
    for done in measured if is_told and times and not has_energy else ():
        is_done = done.heading.has(*WORDS["done"]) or item_counted(_last_of(done))
        knob = next((k for k in knobs if not k.is_given and _follows(done, k)), None)
        if is_done and done.kind == "whole" and knob is not None:
            for time in times:
                time.quantity, time.better = "", None
                time.why += f"; of unlike {done.heading.text}, by {knob.heading.text}"
            return


def _follows(done: Guess, knob: Guess) -> bool:
    """Return whether a setting decides a number: in proportion, or in most of its rows."""
    if done.count < 2 or len(done.numbers) != len(done.cells):
        return False
    if len(knob.numbers) == len(done.numbers) and knob.numbers.min() > 0:
        each = done.numbers / knob.numbers
        if each.max() <= (1 + 1e-9) * each.min():
            return True
    rows: dict[Cell, list[Cell]] = defaultdict(list)
    for setting, number in zip(knob.cells, done.cells, strict=True):
        rows[setting].append(number)
    usual = [Counter(numbers).most_common(1)[0] for numbers in rows.values()]
    is_usual = all(
        often >= max(2, _MOSTLY * len(numbers))
        for (_, often), numbers in zip(usual, rows.values(), strict=True)
    )
    return is_usual and len({number for number, _ in usual}) > 1


def _is_set_by_a_knob(repeats: Guess, knobs: Sequence[Guess]) -> bool:
    """Return whether a number of repetitions was set, and one of several knobs decides it."""
    if repeats.role == "knob" or not repeats.heading.has(*_REPEATS) or len(knobs) < _FEWEST_KNOBS:
        return False
    is_round = all(len(str(cell).strip().rstrip("0")) <= _MOST_DIGITS for cell in repeats.cells)
    return is_round and any(decides(knob.cells, repeats.cells) for knob in knobs)


def _is_sum(whole: Guess, price: Guess, repeats: Guess) -> bool:
    """Return whether a cost is that of an item times how often it was repeated, in any units."""
    unit = unit_of(price.unit.partition("/")[0])
    if unit is not None and unit.quantity != whole.quantity:
        return False
    if not len(whole.numbers) == len(price.numbers) == len(repeats.numbers):
        return False
    if min(each.numbers.min() for each in (whole, price, repeats)) <= 0:
        return False
    factors = whole.numbers / (price.numbers * repeats.numbers)
    return bool(factors.max() <= (1 + _SAME) * factors.min())


def _costs_grow(guess: Guess, guesses: Sequence[Guess], others: Sequence[Sequence[Cell]]) -> bool:
    """Return whether a cost grows far with the work in each setting of the others, and none falls.

    The energy of a whole row may grow less, where more work was repeated less often.
    """
    costs = [g.numbers for g in guesses if g.role == "metric" and g.quantity in _COSTS]
    least = [min(powers) for powers in growth_of(guess.numbers, costs, others) if powers]
    return bool(least) and min(least) > 0 and max(least) >= LEAST_POWER


def _times_grow(guess: Guess, guesses: Sequence[Guess], others: Sequence[Sequence[Cell]]) -> bool:
    """Return whether times are at least in proportion to numbers far apart that no word explains.

    Where a quality differs too, more time may have bought it.
    """
    is_unsaid = guess.kind == "whole" and KNOWN_WORDS.isdisjoint(guess.heading.words)
    is_far = _are_far_apart(guess) and not (guess.quantity or guess.heading.unit)
    measured = [each for each in guesses if each.role == "metric"]
    if not (is_unsaid and is_far) or any(g.heading.has(*WORDS["quality"]) for g in measured):
        return False
    times = [g.numbers for g in measured if g.quantity == "time" and not is_spread(g.heading)]
    powers = [*filter(None, growth_of(guess.numbers, times, others))]
    return bool(powers) and min(map(min, powers)) >= _LINEAR


def _are_far_apart(guess: Guess) -> bool:
    least, most = guess.numbers.min(), guess.numbers.max()
    return guess.count >= _FEWEST_AMOUNTS and bool(0 < _FAR_APART * least <= most)


def growth_of(
    amounts: np.ndarray, costs: Sequence[np.ndarray], others: Sequence[Sequence[Cell]]
) -> list[list[float]]:
    """Return as which power of an amount each cost above 0 grows, in each setting of the others.

    Settings count in which the largest amount is twice the least or more.
    """
    rows = len(amounts)
    costs = [each for each in costs if len(each) == rows and each.min() > 0]
    if not rows or amounts.min() <= 0:
        return []
    ends = [
        (min(of, key=amounts.__getitem__), max(of, key=amounts.__getitem__))
        for of in rows_by(others, range(rows))
    ]
    apart = [(low, high) for low, high in ends if amounts[high] >= _APART * amounts[low]]
    return [
        [
            float(np.log(c[high] / c[low]) / np.log(amounts[high] / amounts[low]))
            for low, high in apart
        ]
        for c in costs
    ]


def _is_proportional(guess: Guess, guesses: Sequence[Guess]) -> bool:
    """Return whether all energies of rows are in proportion to numbers far apart."""
    amounts = guess.numbers
    if len(amounts) != len(guess.cells) or guess.is_declared or not _are_far_apart(guess):
        return False
    energies = [g.numbers for g in guesses if g.role == "metric" and g.quantity == "energy"]
    ratios = [each / amounts for each in energies if len(each) == len(amounts) and each.min() > 0]
    return bool(ratios) and all(r.max() <= _PROPORTION * r.min() for r in ratios)


def _why_a_mix(guess: Guess, guesses: Sequence[Guess]) -> str:
    """Return why a share is one of the work; empty: nothing says so.

    Its heading names an operation, as `read_ratio` does, or another share of the table fills it up
    to the whole.
    """
    words = {*guess.heading.words}
    if words.isdisjoint(_SHARES) or guess.numbers.min() < 0:
        return ""
    if "mix" in words or not words.isdisjoint(VALUES["operation"]):
        return "a mix of work"
    for other in guesses:
        is_like = other is not guess and not {*other.heading.words}.isdisjoint(_SHARES)
        is_like = is_like and not other.heading.has(*WORDS["working"])
        if is_like and len(other.numbers) == len(guess.numbers):
            both = other.numbers + guess.numbers
            if any(np.allclose(both, whole) for whole in _WHOLES):
                return f"with {other.heading.text} the whole: a mix of work"
    return ""
