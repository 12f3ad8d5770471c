"""Whether `ops_s` is operations a second or the seconds of one, by what stands beside it.

What nothing decides keeps neither unit nor direction.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ingest.proposals.latency_units import CLIENTS, NO_UNIT
from ingest.proposals.roles import Guess
from ingest.settings.column_names import WORDS
from ingest.settings.headings import counted_by_s
from ingest.settings.units import unit_of

# Of these no one takes a second, and nobody writes seconds of several.
_SMALL: Final = frozenset(
    {"tokens", "frames", "packets", "pkts", "msgs", "messages", "flops", "gflops", "mflops"}
    | {"mbit", "gbit", "mbits", "gbits"}
)
# `queries_s` may be the seconds of all queries.
_WHOLE: Final = frozenset({"queries", "transactions", "iterations", "inferences"})
_RATES: Final = frozenset({"throughput", "speed", "bandwidth", "goodput", "rate"})
_TIMES: Final = frozenset({"time", "duration", "elapsed", "runtime"}) | WORDS["latencies"]
_PARALLEL: Final = CLIENTS | {"thread", "workers", "procs", "processes", "cores", "batch"}
# No single one of anything takes so long.
_LONG_S: Final = 1000.0
# How well the product of rate and time agrees with one number of items, and how far both must vary.
_AGREEING: Final = 0.1
_VARYING: Final = 1.2
# From the least to the most clients.
_RISE: Final = 1.2


def settle_counted_rates(guesses: Sequence[Guess]) -> None:
    """Let headings such as `iter_s` be rates only where words, sizes or other columns agree."""
    for guess in guesses:
        item = counted_by_s(guess.heading)
        if not item or guess.is_declared or guess.kind == "text" or guess.is_dropped:
            continue
        if guess.heading.has(*_TIMES):
            unit = unit_of("s")
            guess.heading, guess.unit = replace(guess.heading, unit=unit), "s"
            guess.quantity, guess.better = "time", "less"
        elif not (why := _why_a_rate(guess, item, guesses)):
            guess.heading, guess.unit = replace(guess.heading, unit=None), ""
            guess.quantity, guess.better = "", None
            guess.why = f"{item} a second or seconds of one: {NO_UNIT}"
        else:
            guess.why += f"; a rate, {why}"


def _why_a_rate(guess: Guess, item: str, guesses: Sequence[Guess]) -> str:
    """Return the evidence that a column is a rate; empty without any."""
    numbers = guess.numbers
    if guess.heading.has(*_RATES):
        return "as its words say"
    if not len(numbers) or numbers.min() <= 0:
        return ""
    if (item in _SMALL and numbers.min() >= 1) or (item not in _WHOLE and numbers.min() > _LONG_S):
        return "too large for seconds"
    beside = [g for g in guesses if g is not guess and len(g.numbers) == len(numbers)]
    for other in beside:
        if other.quantity == "time" and other.heading.unit and other.numbers.min() > 0:
            items = numbers * other.numbers
            is_varied = numbers.max() > _VARYING * numbers.min()
            if is_varied and items.std() < _AGREEING * items.mean():
                return f"as many in each {other.heading.text}"
    for other in beside:
        if other.heading.words[-1:] and other.heading.words[-1] in _PARALLEL:
            levels = np.unique(other.numbers)
            means = [float(numbers[other.numbers == level].mean()) for level in levels]
            is_rising = len(means) > 1 and means[-1] > _RISE * means[0] and numbers.min() >= 1
            if is_rising and means == sorted(means):
                return f"rises with {other.heading.text}"
    return ""
