"""Times and rates of requests: which are latencies, of which percentile, and units not stated.

A latency of the same table states it; else energies that grow with the latencies, as powers of a
machine. Of `ops_s` other columns tell whether it is operations a second or the seconds of one. What
nothing decides keeps neither unit nor direction.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from data.work_items import item_counted
from ingest.proposals.document_objects import times_around
from ingest.proposals.guess import Guess
from ingest.proposals.heading_roles import PERCENTILE
from ingest.proposals.sections import loop_of
from ingest.settings.column_names import WORDS
from ingest.settings.headings import Heading, counted_by_s, is_derived
from ingest.settings.units import unit_of

_LATENCIES: Final = WORDS["latencies"]
_SPREADS: Final = WORDS["spreads"]
_INSERTED: Final = frozenset({"delay"})
_PERCENTILES: Final = {
    **{f"p{n}": f"p{n}" for n in (5, 10, 50, 75, 90, 95, 99, 999)},
    **{"p99.9": "p999", "min": "min", "minimum": "min", "max": "max", "maximum": "max"},
    **dict.fromkeys(("mean", "avg", "average"), "mean"),
    **{"median": "p50", "99th": "p99", "95th": "p95", "90th": "p90", "50th": "p50"},
}
# Evidence of a latency whose unit nothing decides.
NO_UNIT: Final = "nothing says its unit: write `unit`"
_UNITS: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
# Of these no one takes a second, and nobody writes seconds of several.
_SMALL: Final = WORDS["small_items"]
# `queries_s` may be the seconds of all queries.
_WHOLE: Final = frozenset({"queries", "transactions", "iterations", "inferences"})
_RATES: Final = frozenset({"throughput", "speed", "bandwidth", "goodput", "rate"})
_TIMES: Final = frozenset({"time", "duration", "elapsed", "runtime"}) | _LATENCIES
# With so many of these a rate rises by this factor, from the least to the most.
_PARALLEL: Final = WORDS["parallel"]
_RISE: Final = 1.2
# A quotient of two columns differs by no more from a third.
_EQUAL: Final = 0.01
_ABBREVIATED: Final = {"jpt": "token", "jpr": "request", "jpq": "query", "jpf": "frame"}
# No single one of anything takes so long.
_LONG_S: Final = 1000.0
# Powers of what answers one request, W, and how far energies and latencies go together.
_POWERS_W: Final = (1.0, 5000.0)
_TOGETHER: Final = 0.8
_FEW_ROWS: Final = 6
# Evidence of numbers that were counted, such as what was done in a time.
AT_RANDOM: Final = "differs at random within a setting"
_OF_COSTS: Final = WORDS["of_costs"]
_DONE: Final = WORDS["more"] & {"throughput", "fps", "qps", "iops", "tps", "rps", "goodput"}
# Words of the time of a whole job; a `total` may be of one request.
_OF_JOBS: Final = ("elapsed", "wall", "walltime")
OF_REQUESTS: Final = (WORDS["loads"] - {"load"}) | _LATENCIES | {"clients"}
_OFFERED: Final = WORDS["loads"] - {"requests"}
# All rows took the same time but for such a share.
_FIXED: Final = 0.02
# Latencies of one table are so near.
_ALIKE: Final = 100.0


def choose_units(latencies: Sequence[Guess], guesses: Sequence[Guess]) -> None:
    """Give the latencies without a unit one, or say in their evidence that none is known.

    Args:
        guesses: All columns, of which the run's time has its target and scale.
    """
    unstated = [g for g in latencies if g.heading.unit is None and not g.unit and len(g.numbers)]
    if not unstated:
        return
    stated = {g.unit: g for g in latencies if g.heading.unit is not None and len(g.numbers)}
    first = unstated[0]
    unit, why = "", ""
    if len(stated) == 1:
        ((text, other),) = stated.items()
        apart = float(np.median(first.numbers) / np.median(other.numbers))
        between = [of for of in _UNITS if _is_between(other, _UNITS[text] / _UNITS[of], unstated)]
        if text in between and 1 / _ALIKE < apart < _ALIKE:
            unit, why = text, f"as {other.heading.text}"
        elif len(between) == 1:
            unit, why = between[0], f"in which {other.heading.text} is from the least to the most"
    elif not stated:
        unit, why = _by_energy(first, guesses)
    for guess in unstated:
        guess.why += f"; in {unit}, {why}" if unit else f"; {NO_UNIT}"
        if unit:
            guess.unit, guess.quantity, guess.better = unit, "time", "less"


def _is_between(stated: Guess, scale: float, others: Sequence[Guess]) -> bool:
    """Return whether times, multiplied by a scale, are at least each least, and at most each most.

    Those that were rounded may be beyond by half of their last digit.
    """
    for guess in others:
        of = {_PERCENTILES[word] for word in guess.heading.words if word in _PERCENTILES}
        is_like = len(guess.numbers) == len(stated.numbers) and not stated.heading.has(*_SPREADS)
        if of not in ({"min"}, {"max"}) or not is_like:
            continue
        above = (guess.numbers - stated.numbers * scale) * (1 if of == {"min"} else -1)
        if np.any(above > stated.half_step * scale + guess.half_step):
            return False
    return True


def _by_energy(latency: Guess, guesses: Sequence[Guess]) -> tuple[str, str]:
    """Return the only unit in which energies that grow with the latencies are of such powers."""
    energy = next((g for g in guesses if g.to == "energy_j"), None)
    is_apart = energy is None or any(g.to == "duration_s" for g in guesses)
    if energy is None or is_apart or len(energy.numbers) != len(latency.numbers):
        return "", ""
    joules, times = energy.numbers * energy.scale, latency.numbers
    if len(times) < _FEW_ROWS or min(joules.min(), times.min()) <= 0 < float(np.ptp(joules)):
        return "", ""
    together = float(np.corrcoef(np.log(joules), np.log(times))[0, 1])
    watts = float(np.median(joules / times))
    fitting = [
        text for text, scale in _UNITS.items() if _POWERS_W[0] < watts / scale < _POWERS_W[1]
    ]
    is_one = together > _TOGETHER and len(fitting) == 1
    return (fitting[0], f"by {energy.heading.text} / latency as a power") if is_one else ("", "")


def is_latency(heading: Heading) -> bool:
    """Return whether a time is of requests: by its word, or a percentile that has no other word."""
    if heading.words[-1:] in (("length",), ("size",), ("tokens",), ("bytes",), ("count",)):
        return False
    is_percentile = any(re.fullmatch(PERCENTILE, word) for word in heading.words)
    if heading.has("total") and not is_percentile:
        return False
    return heading.has(*_LATENCIES) or (is_percentile and len(heading.words) == 1)


def name_latencies(metrics: Sequence[Guess]) -> None:
    """Send latencies to the percentiles of the lake that their headings name."""
    taken: set[str] = set()
    # A policy may insert a delay that no other time of a request is.
    of_requests = WORDS["moments"] | (_LATENCIES - _INSERTED)
    is_apart = any(guess.heading.has(*of_requests) for guess in metrics)
    for guess in metrics:
        heading = guess.heading
        if guess.to or guess.quantity != "time" or not is_latency(heading):
            continue
        if is_apart and _LATENCIES.intersection(heading.words) <= _INSERTED <= {*heading.words}:
            guess.better = None
            guess.why += "; beside times of requests: may be inserted"
            continue
        of = [_PERCENTILES[word] for word in heading.words if word in _PERCENTILES]
        # A mean behind another statistic is of several runs: `latency_p95_ms_mean`.
        of = of[:-1] if len(of) > 1 and of[-1] == "mean" else of
        others = {*heading.words} - {*_PERCENTILES} - _LATENCIES - WORDS["plain"] - {"time"}
        if others or len(of) > 1 or (heading.unit is None and not guess.unit):
            continue
        target = f"latency_{of[0] if of else 'mean'}_us"
        scale = heading.unit.scale if heading.unit else _UNITS.get(guess.unit, 1.0)
        if target not in taken:
            taken.add(target)
            guess.to, guess.scale = target, float(f"{scale * 1e6:.12g}")


def latency_of_all(metrics: Sequence[Guess]) -> str:
    """Return the latency that stands for the others: p99, else the mean; empty if there is none.

    Of fewer than 100 requests p99 is the slowest, in all rows.
    """
    latencies = {g.to: g for g in metrics if g.to.startswith("latency_")}
    tail, most = (latencies.get(f"latency_{each}_us") for each in ("p99", "max"))
    if tail is not None and most is not None and [*tail.cells] == [*most.cells]:
        del latencies[tail.to]
    usual = (f"latency_{each}_us" for each in ("p99", "mean"))
    return next((name for name in usual if name in latencies), min(latencies, default=""))


def performance_of(guesses: Sequence[Guess]) -> tuple[str, str]:
    """Return the column of the workload's performance, and the loop of its requests.

    The time, unless all rows took the same, or it is that of a whole job beside times or rates of
    its items; then what was done in it, or a latency. Empty if nothing was measured. The loop is
    open if a rate was set: a latency alone may be of an item.
    """
    performance = _performance([g for g in guesses if g.role == "metric"], guesses)
    is_load = any(guess.role == "knob" and guess.heading.has(*_OFFERED) for guess in guesses)
    return performance, loop_of(performance, is_load)


def _performance(metrics: Sequence[Guess], guesses: Sequence[Guess]) -> str:
    # Neither deviations nor work of an energy is a performance.
    metrics = [g for g in metrics if not g.heading.has(*WORDS["spreads"], *_OF_COSTS)]
    # Nor is what fewer than half of the rows have.
    metrics = [g for g in metrics if 2 * len(g.numbers) >= len(g.cells)]
    time = next((guess for guess in metrics if guess.to == "duration_s"), None)
    took = time.numbers[time.numbers > 0] if time is not None else np.empty(0)
    is_fixed = len(took) > 2 and took.std() <= _FIXED * took.mean()
    of_items = _of_items(time, metrics, guesses) if time is not None else []
    if time is not None and not is_fixed and not of_items:
        return "duration_s"
    own = [guess for guess in metrics if not guess.to]
    more = [g for g in own if g.better == "more" and not is_derived(g.heading.text)]
    rates = [g for g in more if not g.heading.has(*WORDS["quality"])]
    rates.sort(key=lambda g: (g.quantity != "rate", not g.heading.has(*_DONE)))
    # Where no load was set, more was done in the same time.
    is_set = any(g.role == "knob" and g.heading.has(*OF_REQUESTS) for g in guesses)
    is_done = is_fixed and not is_set and bool(rates) and rates[0].heading.has(*_DONE)
    if (latency := latency_of_all(metrics)) and not is_done:
        return latency
    # In a time that was set, the more was done the better.
    done = [guess for guess in own if guess.why == AT_RANDOM and time is not None]
    done += [guess for guess in own if is_fixed and _counts_what_was_done(guess)]
    for guess in done[: not rates]:
        guess.better = "more"
        rates = [guess]
    if rates:
        return rates[0].own_name
    prices = [(g, unit_of(g.unit.partition("/")[0])) for g in metrics if g.quantity == "price"]
    costs = [g for g in guesses if g.role == "metric" and g.quantity in ("energy", "power")]
    others = times_around([g for g in own if g.quantity == "time" and g.better == "less"], costs)
    others += [g for g, unit in prices if unit is not None and unit.quantity == "time"] + more
    others = [guess for guess in others if guess in of_items] or others
    # The whole says more of a run than a part, and a mean than its least or its greatest value.
    ranks = [(_is_part(g, others), g.heading.has("min", "max", "sum")) for g in others]
    if others:
        return others[ranks.index(min(ranks))].own_name
    return "duration_s" if time is not None else ""


def _of_items(time: Guess, metrics: Sequence[Guess], guesses: Sequence[Guess]) -> list[Guess]:
    """Return latencies, times of an inference and rates beside the time of a whole job: its setup
    and output too. None beside an energy or a power, which are of the job.
    """
    is_of_job = time.heading.has(*_OF_JOBS) and not time.heading.has("inference", *_LATENCIES)
    if not is_of_job or any(guess.to in ("energy_j", "power_w") for guess in guesses):
        return []
    others = [guess for guess in metrics if guess is not time and np.any(guess.numbers > 0)]
    own = [g for g in others if g.heading.has("inference", *_DONE) or is_latency(g.heading)]
    return [guess for guess in own if guess.better is not None]


def _is_part(guess: Guess, others: Sequence[Guess]) -> bool:
    """Return whether a total of the same statistic is larger in all rows: `init_p50` is a part."""
    if guess.heading.has(*WORDS["wholes"]):
        return False
    wholes = [g for g in others if g.heading.has(*WORDS["wholes"]) and g.unit == guess.unit]
    wholes = [g for g in wholes if _statistics_of(g) == _statistics_of(guess)]
    wholes = [g for g in wholes if len(g.numbers) == len(guess.numbers)]
    return any(bool(np.all(whole.numbers > guess.numbers)) for whole in wholes)


def _statistics_of(guess: Guess) -> set[str]:
    known = WORDS["statistics"] | WORDS["spreads"]
    return {w for w in guess.heading.words if w in known or re.fullmatch(PERCENTILE, w)}


def _counts_what_was_done(guess: Guess) -> bool:
    """Return whether whole numbers are of items of work, or of events: `total_events`."""
    items = {*guess.heading.words} - WORDS["plain"]
    is_counted = items == {"events"} or bool(item_counted("_".join(guess.heading.words)))
    is_whole = bool(len(guess.numbers)) and bool(np.all(guess.numbers % 1 == 0))
    return is_counted and is_whole and not guess.unit


def settle_rates(guesses: Sequence[Guess]) -> None:
    """Let headings such as `iter_s` be rates only where words, sizes or other columns agree.

    Of columns with one such ending all are rates if one is. `jpt` are joules of a token, doubted.
    """
    for guess in guesses:
        item = next((_ABBREVIATED[w] for w in guess.heading.words if w in _ABBREVIATED), "")
        if item and guess.kind != "text" and not (guess.unit or guess.is_dropped):
            guess.take("metric", f"joules of each {item} by an abbreviation")
            guess.quantity, guess.unit, guess.better = "price", f"J/{item}", "less"
            guess.doubt_unit(f"states no unit, taken as {guess.unit} by an abbreviation")
    of = {g: counted_by_s(g.heading) for g in guesses if g.kind != "text" and not g.is_dropped}
    rates = {guess: item for guess, item in of.items() if item and not guess.is_declared}
    known = {guess: _why_a_rate(guess, item, guesses) for guess, item in rates.items()}
    for guess, item in rates.items():
        like = (g for g in rates if known[g] and rates[g] == item and not g.heading.has(*_TIMES))
        why = known[guess] or next((f"as {other.heading.text} is" for other in like), "")
        if guess.heading.has(*_TIMES):
            guess.heading, guess.unit = replace(guess.heading, unit=unit_of("s")), "s"
            guess.quantity, guess.better = "time", "less"
        elif why:
            guess.why += f"; a rate, {why}"
        else:
            guess.heading, guess.unit = replace(guess.heading, unit=None), ""
            guess.quantity, guess.better = "", None
            guess.why = f"{item} a second or seconds of one: {NO_UNIT}"


def _why_a_rate(guess: Guess, item: str, guesses: Sequence[Guess]) -> str:
    """Return the evidence that a column is a rate; empty without any."""
    if guess.heading.has(*_RATES):
        return "as its words say"
    least = guess.numbers.min() if len(guess.numbers) else 0.0
    if (item in _SMALL and least >= 1) or (item not in _WHOLE and least > _LONG_S):
        return "too large for seconds"
    if why := _ratio_of(guess, guesses):
        return why
    for other in guesses:
        if {*other.heading.words[-1:]} & _PARALLEL and len(other.numbers) == len(guess.numbers):
            levels = np.unique(other.numbers)
            means = [float(guess.numbers[other.numbers == level].mean()) for level in levels]
            is_rising = least >= 1 and means[-1] > _RISE * means[0] and means == sorted(means)
            if is_rising:
                return f"rises with {other.heading.text}"
    return ""


def _ratio_of(guess: Guess, guesses: Sequence[Guess]) -> str:
    """Return which column, or 1, over which time gives the numbers of another in each row."""
    others = [g for g in guesses if len(g.numbers) == len(guess.numbers) > 1 and g is not guess]
    for time in (g for g in others if g.heading.unit and g.heading.unit.quantity == "time"):
        product = guess.numbers * time.numbers * time.heading.scale
        if time.count > 1 and np.allclose(product, 1.0, rtol=_EQUAL):
            return f"1 / {time.heading.text} in each row"
        for done in (each for each in others if each.kind == "whole" and each.count > 1):
            if np.allclose(product, done.numbers, rtol=_EQUAL):
                return f"{done.heading.text} / {time.heading.text} in each row"
    return ""
