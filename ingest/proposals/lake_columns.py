"""Which metric of a table is the lake's energy, power, time or latency, and in which unit."""

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Final

import numpy as np

from ingest.proposals.latency_units import choose_units as choose_latency_units
from ingest.proposals.roles import (
    MEASURED,
    PLAIN_WORDS,
    STATISTICS,
    WHEN,
    Guess,
    epoch_scale,
)
from ingest.settings.headings import Heading
from ingest.settings.word_lists import WORDS

_LATENCIES: Final = WORDS["latencies"]
_PERCENTILES: Final = {
    **{f"p{n}": f"p{n}" for n in (5, 10, 50, 75, 90, 95, 99, 999)},
    **{"p99.9": "p999", "min": "min", "minimum": "min", "max": "max", "maximum": "max"},
    **dict.fromkeys(("mean", "avg", "average"), "mean"),
    **{"median": "p50", "99th": "p99", "95th": "p95", "90th": "p90", "50th": "p50"},
}
_PERCENTILE: Final = r"p\d+(\.\d+)?|\d\dth"
# What a machine, a board or a phone takes, W.
_PLAUSIBLE_W: Final = (0.1, 5000.0)
# Headings of studies of several machines, and what these take.
_SEVERAL: Final = (
    *("gpus", "nodes", "nnodes", "machines", "servers", "hosts", "workers", "instances", "racks"),
    *("ranks", "pipelines", "tp", "pp"),
)
# The same where whole numbers stand below.
_COUNTED: Final = ("gpu", "node", "machine", "server", "host", "worker", "instance", "rack")
_MOST_W: Final = 1e6
# A power and the time of one of these give the energy of one.
_ITEMS: Final = frozenset({"epoch", "iteration", "iter", "step", "batch", "run"})
_MEANS: Final = frozenset({"mean", "avg", "average", "media", "medio", "promedio", "mittel"})
# Less than this is more often a power in W whose time is in ms.
_USUAL_W: Final = 1.0
# Parts whose sum is the energy of a machine, the first that there are.
_WHOLES: Final = (("package", "pkg", "socket", "cpu"), ("node", "host"), ("gpu", "device"))
_SMALL: Final = 0.15
_COUNTING: Final = 0.15
_AGREEING: Final = 0.2
# By so much an energy exceeds what the measured power gives in a time that is not the run's.
_FAR: Final = 2.0
# Words of the mean power of the whole.
_OF_THE_RUN: Final = (
    MEASURED | PLAIN_WORDS | {"total", "system", "whole", "machine", "server", "board"}
) - STATISTICS.union(WORDS["parts"], {"peak"})
# So near is an energy to a power times a time that prove the unit of the power.
_PROVING: Final = 0.05
# Evidence of a power whose unit is doubtful.
DOUBTED: Final = "since all of a power are over 5 kW"
COLUMNS: Final = ("energy_j", "power_w", "duration_s")
_TIMES: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_ENERGIES: Final = {"J": 1.0, "mJ": 1e-3, "uJ": 1e-6, "Wh": 3.6e3, "kWh": 3.6e6}
_POWERS: Final = {"W": 1.0, "mW": 1e-3, "uW": 1e-6}
# How much rarer than J, W and s units are, on the scale of `_misfit`.
_RARITY: Final = {"ms": 0.1, "us": 0.2, "ns": 0.3, "mW": 0.1, "uW": 0.3, "mJ": 0.2, "uJ": 0.2} | {
    "Wh": 0.5,
    "kWh": 0.3,
}
_LONG_S: Final = 20_000.0
_LONG_US_S: Final = 1_000.0
# A row may take so many times as long as to the next one: its time may be that of the end.
_SPARE: Final = 1.5
_MANY_UJ: Final = 1e5
_WRAPS: Final = tuple(float(2**power) for power in range(14, 21))


def choose_targets(guesses: Sequence[Guess], of_groups: Container[str] = ()) -> None:
    """Give each metric of the lake the column that fits best, with the unit that agrees.

    Args:
        of_groups: Headings of measurements of several rows together.
    """
    known = {guess.to: guess for guess in guesses if guess.is_declared and guess.to}
    metrics = [g for g in guesses if g.role == "metric" and not g.is_declared]
    metrics = [g for g in metrics if g.heading.text not in of_groups]
    kernels = Counter(kernel_of(guess) for guess in metrics)
    # One of several processors is not the run.
    whole = [g for g in metrics if not _is_spread(g.heading) and kernels[kernel_of(g)] == 1]
    if any(kernels[kernel_of(g)] > 1 and g.heading.has("package", "pkg") for g in metrics):
        # Where packages stand apart a memory is not the run either.
        whole = [g for g in whole if not g.heading.has(*WORDS["parts"])]
    of_costs = {
        quantity: [guess for guess in whole if guess.quantity == quantity]
        for quantity in ("energy", "power")
    }
    energy = known.get("energy_j") or _best(of_costs["energy"], "energy_j")
    power = known.get("power_w") or _best(of_costs["power"], "power_w")
    times = [g for g in metrics if g.quantity == "time" and not _is_latency(g.heading)]
    durations = [g for g in times if not _is_spread(g.heading)]
    duration = known.get("duration_s") or _best(durations, "duration_s")
    if (
        energy is not None
        and duration is not None
        and not (energy.is_declared or duration.is_declared)
        and (pair := _by_power(energy, duration, power, of_costs["energy"], durations))
    ):
        for guess in (each for each in (energy, duration) if all(each is not g for g in pair)):
            guess.to, guess.scale = "", 1.0
        energy, duration = pair
    if duration is None and energy is None and power is not None:
        duration = _of_each(durations)
    is_codecarbon = any(g.heading.has("codecarbon", "emissions") for g in guesses)
    if is_codecarbon:
        for guess in of_costs["energy"]:
            if guess.heading.unit is None:
                _set_unit(guess, "kWh", 3.6e6, "as CodeCarbon has it")
    if duration is not None and _is_of_items(duration, energy, power):
        duration.to, duration.scale, duration = "", 1.0, None
    if power is not None and _is_of_a_part(power, energy, duration):
        power.to, power.scale, power = "", 1.0, None
    apart_s = _apart_s(guesses, len(duration.numbers)) if duration is not None else None
    machines = any(
        g.heading.has(*_SEVERAL) or (g.kind == "whole" and g.heading.has(*_COUNTED))
        for g in guesses
        if g not in metrics
    )
    is_free = power is None or not (power.unit or power.is_declared)
    unsaid = [guess for guess in of_costs["power"] if not guess.unit]
    if (
        is_free
        and not (energy or machines)
        and any(g.numbers.min() > _PLAUSIBLE_W[1] for g in unsaid)
    ):
        for guess in unsaid:
            _set_unit(guess, "mW", 1e-3, DOUBTED)
    _choose_units(energy, power, duration, apart_s, _MOST_W if machines else _PLAUSIBLE_W[1])
    for guess in (g for g in metrics if g.quantity == "energy"):
        if guess is not energy and not guess.unit:
            guess.unit = energy.unit if energy and not energy.heading.unit else "J"
        guess.wraps_at = _wrap_of(guess)
        if guess.wraps_at is not None:
            guess.why += f"; negative ones wrapped at {guess.wraps_at:g}"
    for guess in of_costs["power"]:
        guess.unit = guess.unit or (power.unit if power else "W")
    for guess in times:
        # `duration_min` may be the least one, or minutes.
        is_doubtful = guess.heading.unit is None and guess.heading.words[-1:] == ("min",)
        guess.unit = guess.unit or ("" if is_doubtful else duration.unit if duration else "s")
    # A percentile alone is one where nothing says a quantity.
    latencies = [g for g in metrics if g.quantity in ("time", "") and _is_latency(g.heading)]
    choose_latency_units([g for g in latencies if not g.to], guesses)
    _name_latencies(metrics)


def energy_parts(guesses: Sequence[Guess]) -> list[Guess]:
    """Return the energies of all packages or processors if no column is that of the run.

    `joules.pkg.0` and `joules.pkg.1` are of two sockets.
    """
    if any(guess.to in ("energy_j", "power_w") for guess in guesses):
        return []
    alike: dict[str, list[Guess]] = {}
    for guess in guesses:
        is_own = guess.role == "metric" and not guess.is_declared and not _is_spread(guess.heading)
        if guess.quantity == "energy" and is_own:
            alike.setdefault(kernel_of(guess), []).append(guess)
    groups = [each for each in alike.values() if len(each) > 1]
    for words in _WHOLES:
        found = [each for each in groups if each[0].heading.has(*words)]
        if len(found) == 1:
            return found[0]
    return []


def power_parts(guesses: Sequence[Guess]) -> tuple[Guess, Guess] | None:
    """Return voltage and current if their product is the only power of the rows; else None."""
    if any(guess.to in ("energy_j", "power_w") for guess in guesses):
        return None
    voltage, current = (
        [
            guess
            for guess in guesses
            if guess.quantity == quantity and guess.heading.unit
            # A supply has one voltage in all rows.
            if guess.role == "metric" or guess.count == 1
            if not _is_spread(guess.heading)
        ]
        for quantity in ("voltage", "current")
    )
    return (voltage[0], current[0]) if len(voltage) == len(current) == 1 else None


def _of_each(durations: Sequence[Guess]) -> Guess | None:
    """Return the only time if it is of one epoch or the like: the power has no other time."""
    if len(durations) != 1 or durations[0].heading.words[-2:-1] != ("per",):
        return None
    duration = durations[0]
    if duration.heading.words[-1] not in _ITEMS:
        return None
    duration.to = "duration_s"
    duration.scale = duration.heading.unit.scale if duration.heading.unit else 1.0
    duration.why += f"; energy is that of one {duration.heading.words[-1]}"
    return duration


def _is_latency(heading: Heading) -> bool:
    """Return whether a time is of requests: by its word, or a percentile that has no other word."""
    if heading.words[-1:] in (("length",), ("size",), ("tokens",), ("bytes",), ("count",)):
        return False
    is_percentile = any(re.fullmatch(_PERCENTILE, word) for word in heading.words)
    return heading.has(*_LATENCIES) or (is_percentile and len(heading.words) == 1)


def kernel_of(guess: Guess) -> str:
    """Return the heading with its numbers as `#`."""
    return re.sub(r"\d+", "#", guess.heading.text)


def _set_unit(guess: Guess, text: str, scale: float, why: str) -> None:
    guess.unit = text
    guess.scale = scale if guess.to else 1.0
    guess.why += f"; in {text}, {why}"


def _is_spread(heading: Heading) -> bool:
    """Whether a column holds deviations or extremes of another quantity."""
    return heading.has(*STATISTICS, "error", "uncertainty")


def _best(guesses: Sequence[Guess], target: str) -> Guess | None:
    """Choose the column that is the run's, and send it to its column of the lake."""
    if not guesses:
        return None
    at = max(range(len(guesses)), key=lambda index: (_rank(guesses[index], target), -index))
    best = guesses[at]
    if _rank(best, target) <= -20 and best.heading.text != target:
        return None
    words = {*best.heading.words}
    if target != "duration_s" and any(
        _rank(other, target) == _rank(best, target) and words - other_words and other_words - words
        for other in guesses
        if (other_words := {*other.heading.words})
    ):
        # Of `java_j` and `go_j`, or `cpu_energy` and `gpu_energy`, none is the whole.
        return None
    best.to = target
    unit = best.heading.unit
    if unit is not None:
        best.scale = unit.scale
    if len(guesses) > 1:
        best.why += f"; of {len(guesses)} columns the whole one"
    return best


def _rank(guess: Guess, target: str) -> int:
    """Say how likely a column is the run's own energy, power or duration."""
    heading = guess.heading
    # The lake's own name counts less than a word for the whole.
    rank = 3 * (heading.unit is not None) + 3 * (heading.text == target)
    rank += 4 * heading.has("total", "overall", "whole", "node", "server", "wall", "elapsed")
    rank += 3 * heading.has("system", "machine", "execution", "runtime", "duration", "makespan")
    rank += 2 * heading.has("package", "pkg", "avg", "average", "mean", "usage", "consumed")
    rank -= 8 * heading.has("idle", "baseline", "static", "dynamic", "saved", "savings", "delta")
    rank -= 6 * heading.has("codecarbon", "estimated", "predicted", "model", "theoretical", "peak")
    rank -= 2 * len([word for word in heading.words if word not in MEASURED | PLAIN_WORDS])
    if not heading.has("package", "pkg"):
        rank -= 4 * heading.has(*WORDS["parts"])
    if target == "duration_s":
        rank -= 12 * heading.has(*WORDS["phases"])
        rank -= 30 * heading.has(*WHEN, *WORDS["moments"], "per", "offset", "interval", "to")
        rank -= 30 * any(re.fullmatch(_PERCENTILE, word) for word in heading.words)
        # A mean of which nothing says what took so long, beside the duration of the run.
        rank -= 4 * ({*heading.words} <= _MEANS)
    if heading.has("per", "efficiency", "rate", "ratio", "percent"):
        rank -= 30
    if not np.any(guess.numbers > 0):
        rank -= 15
    return rank


def _by_power(
    energy: Guess,
    duration: Guess,
    power: Guess | None,
    energies: Sequence[Guess],
    durations: Sequence[Guess],
) -> tuple[Guess, Guess] | None:
    """Return the energy and the time that give the power of each row, if the best ones do not.

    `whole_energy` is of all batches and `energy_j` of one, as `total_seconds` and `latency_s` are.
    """
    if power is None or not _is_plain(power) or _misses(energy, duration, power) < _FAR:
        return None
    fitting = [(e, d) for e in energies for d in durations if _misses(e, d, power) < 1 + _PROVING]
    if not fitting:
        return None
    best = max(fitting, key=lambda p: _rank(p[0], "energy_j") + _rank(p[1], "duration_s"))
    for guess, target in zip(best, ("energy_j", "duration_s"), strict=True):
        guess.to, guess.scale = target, guess.heading.unit.scale if guess.heading.unit else 1.0
        guess.why += f"; with {power.heading.text} it agrees"
    return best


def _misses(energy: Guess, duration: Guess, power: Guess) -> float:
    """Return the factor by which an energy differs from power times time, in the worst row."""
    sides = [
        guess.numbers * (guess.heading.unit.scale if guess.heading.unit else 1.0)
        for guess in (energy, duration, power)
    ]
    if len({*map(len, sides)}) > 1 or any(not len(each) or each.min() <= 0 for each in sides):
        return 1.0
    return float(np.exp(np.abs(np.log(sides[0] / (sides[1] * sides[2]))).max()))


def _is_of_items(duration: Guess, energy: Guess | None, power: Guess | None) -> bool:
    """Return whether a time is of items, since the energy is too large for it.

    A mean time is that if the energy is that of no machine; any time if the power that was measured
    is another one by far.
    """
    sides = [guess for guess in (energy, duration, power) if guess is not None]
    if energy is None or duration.is_declared or any(g.heading.unit is None for g in sides):
        return False
    joules, seconds, *watts = ((_middle(g) or 0.0) * g.scale for g in sides)
    if watts and min(joules, seconds, *watts) > 0 and _is_plain(power):
        return joules > _FAR * seconds * watts[0]
    return duration.heading.has(*_MEANS) and joules > _PLAUSIBLE_W[1] * seconds > 0


def _is_plain(power: Guess | None) -> bool:
    """Return whether a power is the run's mean: its words name no part, phase or extreme."""
    return power is not None and {*power.heading.words} <= _OF_THE_RUN


def _is_of_a_part(power: Guess, energy: Guess | None, duration: Guess | None) -> bool:
    """Return whether a power is of a part or phase: energy and time of the whole give another."""
    sides = (energy, duration, power)
    if power.is_declared or any(g is None or g.heading.unit is None for g in sides):
        return False
    joules, seconds, watts = ((_middle(g) or 0.0) * g.scale for g in sides if g is not None)
    is_other = min(joules, seconds, watts) > 0 and (
        abs(np.log(joules / (seconds * watts))) > _AGREEING
    )
    return is_other and not _is_plain(power)


def _apart_s(guesses: Sequence[Guess], rows: int) -> np.ndarray | None:
    """Return the seconds from each row to the next one by a column of Unix times; None if none."""
    for guess in guesses:
        scale = epoch_scale(guess.numbers) if guess.heading.has("timestamp", *WHEN) else None
        if scale is not None and len(guess.numbers) == rows > 1:
            steps_s = np.diff(guess.numbers) / scale
            return steps_s if np.all(steps_s > 0) else None
    return None


def _choose_units(
    energy: Guess | None,
    power: Guess | None,
    duration: Guess | None,
    apart_s: np.ndarray | None,
    most_w: float,
) -> None:
    """Choose the units that headings do not say: those by which energy is power times time.

    Args:
        apart_s: Seconds between the rows, which are longer than what a row took; shape (rows - 1,).
        most_w: What the machines take at most, W.
    """

    def options(guess: Guess | None, units: Mapping[str, float]) -> list[tuple[str, float]]:
        if guess is None:
            return [("", 1.0)]
        is_known = guess.unit or guess.is_declared
        return [(guess.unit, guess.scale)] if is_known else [*units.items()]

    sides = (
        (energy, options(energy, _ENERGIES)),
        (power, options(power, _POWERS)),
        (duration, options(duration, _TIMES)),
    )
    middles = [_middle(guess) for guess, _ in sides]
    ranked = []
    is_counter = energy is not None and energy.heading.has("package", "pkg", "dram", "rapl")
    is_whole = energy is not None and not np.any(energy.numbers % 1)
    is_whole = is_whole and (middles[0] or 0.0) > _MANY_UJ
    is_counted = duration is not None and duration.kind == "whole"
    for place, one in enumerate(
        (e, p, t) for t in sides[2][1] for e in sides[0][1] for p in sides[1][1]
    ):
        if len(sides[1][1]) > 1 and one[1][0] != "W" and not _is_proven(sides, one, most_w):
            continue
        joules, watts, seconds = (
            middle * unit[1] if middle else None for middle, unit in zip(middles, one, strict=True)
        )
        rarity = sum(_RARITY.get(text, 0.0) for text, _ in one)
        if is_counter:
            # Linux' powercap counts uJ, whole and large.
            rarity += 2.0 * (is_whole and one[0][0] == "J")
            rarity += {"Wh": 2.0, "kWh": 2.0, "mJ": 1.5, "uJ": -_RARITY["uJ"]}.get(one[0][0], 0.0)
        # A time of so many us has been counted in ns.
        rarity += 0.2 * (one[2][0] == "us" and seconds is not None and seconds > _LONG_US_S)
        # Whole numbers of both are 56,818,642 uJ in 571 ms, and not mJ in s.
        rarity += _COUNTING * (is_whole and is_counted and (one[0][0], one[2][0]) == ("mJ", "s"))
        is_fine = one[2][0] in ("us", "ns") and duration is not None and duration.kind == "real"
        if apart_s is not None and duration is not None:
            took = float(np.median(duration.numbers[1:] * one[2][1] / apart_s))
            rarity += max(0.0, float(np.log(took / _SPARE))) if took > 0 else 0.0
            is_fine = False
        ranked.append(
            (_misfit(joules, watts, seconds, duration, most_w) + rarity + is_fine, place, one)
        )
    misfit, _, chosen = min(ranked)
    known = " and ".join(
        g.heading.text for (g, _), m in zip(sides, middles, strict=True) if g and m
    )
    is_proven = energy is not None and (power is not None or duration is not None) and misfit < 1
    for (guess, units), (text, scale) in zip(sides, chosen, strict=True):
        if guess is not None and len(units) > 1:
            why = f"by which {known} agree" if is_proven else "which no heading says"
            _set_unit(guess, text, scale, why)


def _is_proven(
    sides: Sequence[tuple[Guess | None, object]], units: Sequence[tuple[str, float]], most_w: float
) -> bool:
    """Return whether the energies of the rows are power times time in these units.

    Where several machines may have taken the power, an energy without a unit proves nothing.
    """
    energy, power, duration = (guess for guess, _ in sides)
    if energy is None or power is None or duration is None:
        return False
    numbers = (energy.numbers, power.numbers, duration.numbers)
    is_known = energy.unit or energy.is_declared or most_w == _PLAUSIBLE_W[1]
    if len({*map(len, numbers)}) > 1 or not is_known:
        return False
    joules, watts, seconds = (n * scale for n, (_, scale) in zip(numbers, units, strict=True))
    is_near = np.abs(joules - watts * seconds) <= _PROVING * np.abs(joules)
    return bool(2 * np.count_nonzero(is_near) > len(joules))


def _middle(guess: Guess | None) -> float | None:
    if guess is None:
        return None
    positive = guess.numbers[guess.numbers > 0]
    return float(np.median(positive)) if len(positive) else None


def _misfit(
    energy: float | None,
    power: float | None,
    time: float | None,
    duration: Guess | None,
    high: float,
) -> float:
    """Return 0 for units that fit, more the worse they do; machines take `high` W at most."""
    low = _PLAUSIBLE_W[0]
    worst = 0.0
    if energy and power and time:
        off = abs(np.log(energy / (power * time)))
        worst += 0.0 if off < _AGREEING else float(off)
    for watts in (power, energy / time if energy and time else None):
        if watts:
            worst += max(0.0, float(np.log(low / watts)), float(np.log(watts / high)))
            worst += _SMALL if watts < _USUAL_W else 0.0
    if time and duration is not None and (energy or duration.kind == "whole"):
        worst += max(0.0, float(np.log(time / _LONG_S)))
    return worst


def _wrap_of(guess: Guess) -> float | None:
    """Return the power of two at which an energy counter wraps, if negative differences say one."""
    below = guess.numbers[guess.numbers < 0]
    above = guess.numbers[guess.numbers > 0]
    if not len(below) or len(below) > 0.2 * len(guess.numbers) or not len(above):
        return None
    least, most = float(below.min()), float(above.max())
    return next((at for at in _WRAPS if least + at >= 0 and below.max() + at <= 3 * most), None)


def _name_latencies(metrics: Sequence[Guess]) -> None:
    """Send latencies to the percentiles of the lake that their headings name."""
    taken: set[str] = set()
    for guess in metrics:
        heading = guess.heading
        if guess.to or guess.quantity != "time" or not _is_latency(heading):
            continue
        of = [_PERCENTILES[word] for word in heading.words if word in _PERCENTILES]
        others = {*heading.words} - {*_PERCENTILES} - _LATENCIES - PLAIN_WORDS - {"time"}
        if others or len(of) > 1 or (heading.unit is None and not guess.unit):
            continue
        target = f"latency_{of[0] if of else 'mean'}_us"
        scale = heading.unit.scale if heading.unit else _TIMES.get(guess.unit, 1.0)
        if target not in taken:
            taken.add(target)
            guess.to, guess.scale = target, float(f"{scale * 1e6:.12g}")
