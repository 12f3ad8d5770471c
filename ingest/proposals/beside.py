"""What its neighbours say of a column: a score, a level, a statistic, a time, a difference."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import permutations, product
from typing import Final

import numpy as np

from data.catalogue import deviations
from ingest.formats.json_cells import STATISTICS
from ingest.proposals.cost_units import PROVING
from ingest.proposals.guess import COMPUTED, Guess, decides, rows_by, statistic_of
from ingest.proposals.heading_roles import SAVINGS, is_spread
from ingest.proposals.like_columns import spread_pairs
from ingest.proposals.request_units import is_latency
from ingest.proposals.roles import FEW_VALUES
from ingest.settings.column_names import WORDS
from ingest.settings.headings import NUMBERS

SCORE: Final = "a score from 0 to 1"
A_PART: Final = "a clock of one of several processors"
_PERCENT: Final = frozenset({"percent", "pct"})
_LEAST_PARTS: Final = 3
# No two runs of which one takes so many times as long as the other have the same energy.
_FAR: Final = 2.0
# Values of more digits recur in no two measurements.
_LEAST_DIGITS: Final = 5
# Statistics beside which their number stands: `energy_j_mean`, `energy_j_count`.
_OF_SEVERAL: Final = ("mean", "avg", "std", "stdev", "stddev", "sd")
# Words of times of a clock, and words that may stand beside them.
_MOMENTS: Final = WORDS["times_of_day"] | {"stop", "stopped", "finish", "t0", "t1"}
_TIMES: Final = frozenset({"time", "t", "ts", "at", "clock", "unix", "run", "test", "window"})
# A letter for thousands behind a name, before a statistic.
_SCALE: Final = re.compile(r"(.*[a-z\dA-Z])([KMG])((?:[ _][a-z]+\d*)?)")
# Of the number of samples of something.
_COUNTED: Final = frozenset({"n", "samples"})
# First words of what was put to a scale from 0 to 1.
_SCALED: Final = frozenset({"n", "norm", "normalized", "normalised", "scaled", "score"})
# What came out of some of the items of a run.
_OUTCOMES: Final = WORDS["done"] | WORDS["outcomes"] | {"dropped", "errors", "failures", "lost"}
# So near are the intervals of samples together to the time of their run; where a heading says that
# samples were counted, the first and the last ones of a short run may be missing.
_SAMPLED: Final = 0.005
_SAID: Final = 0.05
_LEAST: Final = frozenset({"min", "minimum"})
_MOST: Final = frozenset({"max", "maximum"})
_BEFORE: Final = frozenset({"baseline", "before", "initial"})
_DIFFERENCES: Final = frozenset({"delta", "diff", "difference", "change", "increase", "decrease"})


def mark_beside(guesses: Sequence[Guess]) -> None:
    """Correct the roles of columns of a table by what stands beside them."""
    _mark_statistics(guesses)
    _mark_scores(guesses)
    _mark_levels(guesses)
    _mark_summaries(guesses)
    _drop_scaled(guesses)
    _mark_moments(guesses)
    _mark_samples(guesses)
    _mark_outcomes(guesses)
    _mark_deviations(guesses)
    _mark_differences(guesses)
    _mark_parts(guesses)
    _mark_regions(guesses)
    _mark_machines(guesses)
    _mark_ranges(guesses)
    _mark_states_before(guesses)


def _mark_statistics(guesses: Sequence[Guess]) -> None:
    """Make metrics of what an object has beside the mean of a quantity: `min`, `max`, `std`.

    Nobody sets them, however seldom they differ: `cpu_num.max` beside `cpu_num.mean`, `PWR_IN_MAX`
    beside `PWR_IN_AVG`. A bound such as `max_batch_size` recurs equally often in all its values.
    """
    parts = [guess.heading.text.rpartition(".") for guess in guesses]
    means = {above for above, _, last in parts if above and last.lower() in WORDS["means"]}
    for guess, (above, _, last) in zip(guesses, parts, strict=True):
        if above in means and last.lower() in WORDS["statistics"] | WORDS["means"]:
            if guess.role == "knob":
                guess.take("metric", f"a statistic of {above}")
            guess.better = guess.better if last.lower() in WORDS["means"] else None
    stems = [statistic_of(guess.heading) for guess in guesses]
    computed = {stem for stem, statistic in stems if statistic in COMPUTED}
    for guess, (stem, statistic) in zip(guesses, stems, strict=True):
        if guess.role == "knob" and not guess.is_declared and statistic and stem in computed:
            times = np.unique(guess.numbers, return_counts=True)[1]
            if not len(times) or times.min() < 2 or times.min() < times.max():
                guess.take("metric", f"a statistic of {' '.join(stem)}")
    of = {guess.heading.text: guess for guess in guesses}
    for above in means:
        statistics = [of[f"{above}.{last}"] for start, _, last in parts if start == above]
        if any(_is_interval(guess, guesses) for guess in statistics):
            for guess in statistics:
                guess.take("label", "of the samples of a run, whose number times it is its time")


def _is_interval(guess: Guess, guesses: Sequence[Guess]) -> bool:
    """Return whether a mean time and the number of samples make another time of the run."""
    is_mean = guess.heading.text.rpartition(".")[2].lower() in WORDS["means"]
    times = [g for g in guesses if g.role == "metric" and g.quantity == "time" and g is not guess]
    counts = [g for g in guesses if g.kind == "whole" and len(g.numbers) and g.numbers.min() > 1]
    return (
        is_mean
        and guess.quantity == "time"
        and any(
            len(guess.numbers) == len(time.numbers) == len(count.numbers)
            and np.allclose(
                guess.numbers * count.numbers,
                time.numbers,
                rtol=_SAID if count.heading.has("samples", "measurements") else _SAMPLED,
                atol=0,
            )
            for time, count in product(times, counts)
        )
    )


def _mark_states_before(guesses: Sequence[Guess]) -> None:
    """Make labels of what an object such as `baseline` has alone: the state before the run."""
    parts = [guess.heading.text.rpartition(".") for guess in guesses]
    often = Counter(last for _, _, last in parts)
    for guess, (above, _, last) in zip(guesses, parts, strict=True):
        is_before = above.rpartition(".")[2].lower() in _BEFORE and often[last] == 1
        if guess.role == "metric" and is_before and len({above for above, _, _ in parts}) > 1:
            guess.take("label", "of the state before the run")


def _mark_ranges(guesses: Sequence[Guess]) -> None:
    """Take the least and the most beside a measurement for its range: neither is better less.

    They are of other settings than the row, which the table does not tell: `min_time_s` and
    `max_time_s` beside `auto_time_s`, between them in all rows.
    """
    free = [g for g in guesses if g.role == "metric" and not g.is_declared and len(g.numbers)]
    for least, most in permutations(free, 2):
        stem = _without(least, _LEAST)
        if not stem or stem != _without(most, _MOST) or least.heading.unit != most.heading.unit:
            continue
        for guess in free:
            is_like = guess.heading.unit == least.heading.unit and {*guess.heading.words} >= stem
            same = is_like and len(guess.numbers) == len(least.numbers) == len(most.numbers)
            is_other = guess is not least and guess is not most
            if not (same and is_other and np.any(least.numbers < most.numbers)):
                continue
            if np.all((least.numbers <= guess.numbers) & (guess.numbers <= most.numbers)):
                for end in (least, most):
                    end.better, end.why = None, f"the range of {guess.heading.text}"
                break


def _without(guess: Guess, ends: frozenset[str]) -> frozenset[str]:
    """Return the words of a heading but for those of an end of a range; empty if it has none."""
    words = {*guess.heading.words}
    return frozenset(words - ends) if words & ends else frozenset()


def _mark_regions(guesses: Sequence[Guess]) -> None:
    """Make labels of the regions of countries: alone they may be of a program, or of a cloud."""
    if any(guess.heading.has("country", "longitude") for guess in guesses):
        for guess in guesses:
            if guess.heading.words[-1:] == ("region",) and guess.is_set:
                guess.take("label", "where the run was")


def _mark_machines(guesses: Sequence[Guess]) -> None:
    """Make labels of the processors of a machine, whose model decides their number."""
    models = {guess.heading.words[0]: guess for guess in guesses
              if guess.heading.words[1:] == ("model",) and guess.kind == "text"}  # fmt: skip
    for guess in (g for g in guesses if g.role == "knob" and g.heading.words[1:] == ("count",)):
        model = models.get(guess.heading.words[0])
        if model is not None and guess.is_set and decides(model.cells, guess.cells):
            guess.take("label", f"of the machine, as {model.heading.text}")
            model.is_given = model.role == "knob"


def _mark_scores(guesses: Sequence[Guess]) -> None:
    """Take the quantity of costs from 0 to 1 that are another with a unit, put to this scale.

    `n_energy` beside `energy_net_j` is an energy that was normalised: a score.
    """
    # Of texts, such as `max` among limits, there are no numbers.
    stated = [g for g in guesses if g.heading.unit is not None and len({*g.numbers}) > 1]
    for guess in guesses:
        is_free = guess.role == "metric" and not guess.is_declared and guess.heading.unit is None
        ends = np.min(guess.numbers, initial=1.0), np.max(guess.numbers, initial=0.0)
        of = guess.quantity or ("time" if is_latency(guess.heading) else "")
        alike = [g for g in stated if g.quantity == of in ("energy", "power", "time")]
        is_score = any(map(partial(_is_scaled, guess), alike))
        if is_free and guess.count > 2 and ends == (0.0, 1.0) and is_score:
            guess.quantity, guess.better, guess.why = "", None, SCORE


def _is_scaled(score: Guess, cost: Guess) -> bool:
    """Return whether numbers are those of a cost from the least to the most, or say so."""
    if not _SCALED.isdisjoint(score.heading.words):
        return True
    if not 0 < len(score.numbers) == len(cost.numbers):
        return False
    ends = (cost.numbers - cost.numbers.min()) / np.ptp(cost.numbers)
    return any(np.allclose(score.numbers, of, atol=PROVING) for of in (ends, 1 - ends))


def _mark_levels(guesses: Sequence[Guess]) -> None:
    """Make labels of powers that are the same in all rows where energies or times are not.

    `transmission_power` of a radio is none of the run, and `cpu_power` of 65 W is what its maker
    states, unless energies go with a time. So is an energy where times differ far, and where all
    of its values recur: of a simulation.
    """
    metrics = [guess for guess in guesses if guess.role == "metric" and len(guess.numbers)]
    energies = [g for g in metrics if g.quantity == "energy" and g.count > 1]
    times = [g for g in metrics if g.quantity == "time" and g.numbers.min() > 0]
    is_product = any(
        len(e.numbers) == len(t.numbers)
        and np.ptp(rates := e.numbers / t.numbers) <= PROVING * rates.mean()
        for e in energies for t in times
    )  # fmt: skip
    has_costs = any(g.quantity in ("energy", "time") and g.count > 1 for g in metrics)
    for guess in metrics if has_costs and not is_product else ():
        is_same = guess.count == 1 and len(guess.numbers) >= _LEAST_PARTS
        is_level = guess.quantity == "power"
        is_far = any(t.numbers.max() >= _FAR * t.numbers.min() for t in times)
        is_level |= guess.quantity == "energy" and is_far
        if is_level and is_same:
            guess.take("label", "one value in all rows, while what it takes differs")
        elif guess.heading.has("energy") and any(_recurs_exactly(guess, time) for time in times):
            guess.take("label", "the same to all digits in runs of other times: computed")
            guess.quantity = ""


def _recurs_exactly(energy: Guess, time: Guess) -> bool:
    """Return whether each value of an energy without a unit recurs where the times are unlike.

    Nobody measures 4.697127e+06 in five runs.
    """
    if energy.heading.unit or not len(energy.numbers) == len(time.numbers) == len(energy.cells):
        return False
    digits = [len(str(cell).lower().partition("e")[0].strip("-0.")) for cell in energy.cells]
    groups = [time.numbers[rows] for rows in rows_by([energy.cells], range(len(energy.cells)))]
    return min(digits) > _LEAST_DIGITS and all(np.ptp(times) > 0 for times in groups)


def _mark_summaries(guesses: Sequence[Guess]) -> None:
    """Make metrics of the statistics of lists that a document has, labels of how many there are."""
    names = {guess.heading.text for guess in guesses}
    for guess in guesses:
        stem, mark, statistic = re.split(r"([ _])(?=[^ _]*$)", f"_{guess.heading.text}")[-3:]
        stem = stem.removeprefix("_")
        is_one = statistic in STATISTICS and {f"{stem}_{each}" for each in STATISTICS} <= names
        has_others = any(f"{stem}{mark}{each}" in names for each in _OF_SEVERAL)
        if statistic in NUMBERS and has_others:
            guess.take("label", f"how many there are of {stem}")
        elif is_one or (has_others and guess.role == "knob" and is_spread(guess.heading)):
            guess.take("metric", f"{statistic} of a list")


def _drop_scaled(guesses: Sequence[Guess]) -> None:
    """Drop what another column says in thousands, millions or more: `ConsumedEnergyK`."""
    texts = {guess.heading.text: guess for guess in guesses}
    for guess in guesses:
        scaled = _SCALE.fullmatch(guess.heading.text)
        other = texts.get(f"{scaled[1]}{scaled[3]}") if scaled else None
        if scaled is None or other is None or len(other.numbers) != len(guess.numbers):
            continue
        thousands = 1000.0 ** (1 + "KMG".index(scaled[2]))
        is_same = any(np.allclose(guess.numbers * by, other.numbers) for by in (1.0, thousands))
        if len(guess.numbers) and is_same and not guess.is_declared:
            guess.take("label", f"{other.heading.text} again, over {thousands:g}")
            guess.is_dropped = True


def _mark_moments(guesses: Sequence[Guess]) -> None:
    """Make labels of the times of a clock at which rows begin and end: they rise from row to row.

    One that does not rise is one beside the other: `start_time_s` and `end_time_s`.
    """
    moments = [
        g for g in guesses if g.role == "metric"
        if {*g.heading.words} & _MOMENTS and {*g.heading.words} <= _MOMENTS | _TIMES
    ]  # fmt: skip
    for guess in moments:
        if len(moments) > 1 or bool(np.all(np.diff(guess.numbers) >= 0)):
            guess.take("label", "a time of a clock")


def _mark_samples(guesses: Sequence[Guess]) -> None:
    """Make labels of how many samples a measurement has: `n_idle` beside `board_idle_w`."""
    measured = {word for each in guesses if each.role == "metric" for word in each.heading.words}
    for guess in guesses:
        words = [word for word in guess.heading.words if word not in _COUNTED]
        is_count = guess.role == "knob" and guess.kind == "whole"
        if is_count and len(words) == 1 < len(guess.heading.words) and words[0] in measured:
            guess.take("label", f"counts samples of {words[0]}")


def _mark_outcomes(guesses: Sequence[Guess]) -> None:
    """Make a metric of what with what failed, or did not, is a number that was set, in all rows.

    `Requests OK` and `Failed Requests` are together `Total Requests`: that is an amount of work.
    """
    counts = [
        g for g in guesses
        if g.kind == "whole" and g.role != "label" and len(g.numbers) == len(g.cells)
    ]  # fmt: skip
    results = [g for g in counts if g.role == "metric" and g.heading.has(*_OUTCOMES)]
    wholes = [g for g in counts if g.is_set and not g.is_declared]
    for result, (rest, whole) in product(results, product(counts, wholes)):
        is_sum = np.array_equal(rest.numbers + result.numbers, whole.numbers)
        if is_sum and rest not in (result, whole):
            rest.take("metric", f"with {result.heading.text} it is {whole.heading.text}")
            whole.why += "" if whole.is_given else "; the sum of outcomes: an amount of work"
            whole.is_given = True


def _mark_deviations(guesses: Sequence[Guess]) -> None:
    """Call by its name how far values were apart: `error_us` beside `score_us` is no cost."""
    of = spread_pairs([guess.heading.text for guess in guesses])
    for guess in guesses:
        is_unnamed = guess.role == "metric" and not deviations([guess.own_name])
        if is_unnamed and not guess.is_declared and (mean := of.get(guess.heading.text)):
            guess.name = f"{guess.title}, deviation of {mean}"
            guess.better, guess.quantity, guess.why = None, "", f"how far {mean} differs"


def _mark_differences(guesses: Sequence[Guess]) -> None:
    """Make labels of differences between rows: `delta_runtime_s` beside `runtime_s`.

    They may be in percent, whatever unit the heading ends with. Savings are of another column.
    """
    names = {guess.heading.words for guess in guesses}
    costs = [{*g.heading.words} for g in guesses if g.role == "metric" and not _is_saving(g)]
    for guess in guesses:
        words = guess.heading.words
        rest = tuple(word for word in words if word not in _DIFFERENCES)
        is_free = guess.role == "metric" and not guess.is_declared
        is_percent = guess.unit == "%" or not _PERCENT.isdisjoint(words)
        is_other = rest != words and (rest in names or is_percent)
        saved = {*words}.difference(SAVINGS, _PERCENT)
        if is_free and (is_other or (_is_saving(guess) and any(saved <= of for of in costs))):
            guess.take("label", "a difference between rows")
            guess.quantity = guess.unit = ""


def _is_saving(guess: Guess) -> bool:
    return guess.heading.has(*SAVINGS)


def _mark_parts(guesses: Sequence[Guess]) -> None:
    """Make metrics of the clocks of several processors: `CPU_FREQUENCY_0` to `CPU_FREQUENCY_7`.

    What its like is was measured, unless its values were chosen: `idle 12v` beside `idle 5v`, and
    `time1` beside `time`. The whole part of a metric is none of its own.
    """
    kernels = Counter(guess.kernel for guess in guesses)
    metrics = [guess for guess in guesses if guess.role == "metric"]
    measured = {guess.kernel for guess in metrics}
    stems = {guess.heading.text for guess in metrics}
    for guess in guesses:
        is_few = guess.why.startswith(FEW_VALUES)
        is_free = guess.role == "metric" or is_few
        whole = next((each for each in metrics if is_free and _is_whole_part(guess, each)), None)
        is_rail = guess.kernel.lower().endswith("#v") and guess.kernel in measured
        if whole is not None:
            guess.take("label", f"the whole part of {whole.heading.text}")
        elif is_few and (is_rail or guess.heading.text.rstrip("0123456789").rstrip("_ ") in stems):
            guess.take("metric", "its like is measured")
        is_part = kernels[guess.kernel] >= _LEAST_PARTS and guess.quantity == "frequency"
        if is_part and guess.role == "knob":
            guess.take("metric", A_PART)


def _is_whole_part(guess: Guess, metric: Guess) -> bool:
    """Return whether whole numbers are a metric without its fraction, of a like name in most rows.

    Of another name they are so in all, and of several values.
    """
    is_whole = guess.kind == "whole" and metric.kind == "real"
    if not is_whole or not 0 < len(guess.numbers) == len(metric.numbers):
        return False
    same = guess.numbers == np.floor(metric.numbers)
    if guess.heading.text.startswith(metric.heading.text):
        return 2 * int(np.count_nonzero(same)) > len(same)
    return guess.count > _LEAST_PARTS and bool(same.all())
