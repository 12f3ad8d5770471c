"""Which metric of a table is the lake's energy, power, time or latency, and in which unit."""

import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.proposals.beside import SCORE
from ingest.proposals.cost_units import (
    AGREEING,
    PLAUSIBLE_W,
    PROVING,
    are_watts,
    choose_units,
    doubt_large,
    doubt_power,
    doubt_units,
    excess_of,
    is_integral,
    is_of_something_else,
    is_product,
    is_proven,
    lacks_prefixes,
    leave_out_domains,
    misses,
    read_mega,
    set_unit,
)
from ingest.proposals.document_objects import (
    are_equal,
    are_of_devices,
    may_be_whole,
    own_words,
    times_around,
)
from ingest.proposals.guess import Guess, is_less_a_baseline, wrap_of
from ingest.proposals.heading_roles import MEASURED, PERCENTILE, is_spread
from ingest.proposals.named_powers import is_beside_idle, is_of_idle
from ingest.proposals.request_units import NO_UNIT, is_latency, name_latencies
from ingest.proposals.request_units import choose_units as choose_latency_units
from ingest.settings.column_names import WORDS
from ingest.settings.units import unit_of

# Headings of studies of several machines, and what these take.
_SEVERAL: Final = WORDS["several"]
# The same where whole numbers stand below.
_COUNTED: Final = ("gpu", "node", "machine", "server", "host", "worker", "instance", "rack")
_MOST_W: Final = 1e6
# A power and the time of one of these give the energy of one.
_ITEMS: Final = frozenset({"epoch", "iteration", "iter", "step", "batch", "run"})
_NO_DURATION: Final = ("per", "offset", "interval", "to")
# By so much an energy exceeds what the measured power gives in a time that is not the run's.
_FAR: Final = 2.0
# Words of the mean power of the whole.
_OF_THE_RUN: Final = (
    MEASURED | WORDS["plain"] | {"total", "system", "whole", "machine", "server", "board"}
) - WORDS["statistics"].union(WORDS["parts"], {"peak"})
_UNSAID: Final = ("s", "states no unit, taken as s: ms would fit as well", "ms")
_COSTS: Final = ("energy", "power")
COLUMNS: Final = ("energy_j", "power_w", "duration_s")


def choose_targets(guesses: Sequence[Guess], of_groups: Container[str] = ()) -> None:
    """Give each metric of the lake the column that fits best, with the unit that agrees.

    Args:
        of_groups: Headings of measurements of several rows together.
    """
    run = _candidates(guesses, of_groups)
    _choose_best(run)
    _choose_of_one_part(run)
    _choose_pair(run)
    _read_codecarbon(run, guesses)
    _leave_out_others(run)
    read_mega(run.energy, run.power, run.duration, run.metrics)
    _choose_units(run, guesses)
    _give_units(run, guesses)
    # A percentile alone is one where nothing says a quantity.
    latencies = [g for g in run.metrics if g.quantity in ("time", "") and is_latency(g.heading)]
    choose_latency_units([g for g in latencies if not g.to], guesses)
    name_latencies(run.metrics)


@dataclass
class _Run:
    """The columns that are the energy, the power and the time of the run, of those that may be.

    Attributes:
        metrics: What was measured, but for what the settings declare.
        energies, powers, times: Those of the whole run, by their headings.
    """

    metrics: list[Guess]
    energies: list[Guess]
    powers: list[Guess]
    times: list[Guess]
    energy: Guess | None = None
    power: Guess | None = None
    duration: Guess | None = None


def _candidates(guesses: Sequence[Guess], of_groups: Container[str]) -> _Run:
    metrics = [g for g in guesses if g.role == "metric" and not g.is_declared]
    metrics = [g for g in metrics if g.heading.text not in of_groups and g.why != SCORE]
    kernels = Counter(guess.kernel for guess in metrics)
    has_packages = any(kernels[g.kernel] > 1 and g.heading.has("package", "pkg") for g in metrics)
    # One of several processors is not the run; where packages stand apart a memory is not either.
    whole = [
        g
        for g in metrics
        if not is_spread(g.heading)
        and kernels[g.kernel] == 1
        and not (has_packages and g.heading.has(*WORDS["parts"]))
    ]
    known = {guess.to: guess for guess in guesses if guess.is_declared and guess.to}
    return _Run(
        metrics,
        [g for g in whole if g.quantity == "energy"],
        [g for g in whole if g.quantity == "power"],
        [g for g in metrics if g.quantity == "time" and not is_latency(g.heading)],
        *map(known.get, COLUMNS),
    )


def _choose_best(run: _Run) -> None:
    """Choose the columns with the headings that fit best."""
    durations = [g for g in run.times if may_be_whole(g) and not is_spread(g.heading)]
    durations = times_around(durations, [*run.energies, *run.powers])
    run.duration = run.duration or _best(durations, "duration_s")
    run.energy = run.energy or _best(run.energies, "energy_j")
    run.power = run.power or _best(run.powers, "power_w")
    if run.duration is run.energy is None and run.power is not None:
        run.duration = _of_each(durations)


def _choose_of_one_part(run: _Run) -> None:
    """Choose the time whose heading names the same part of the run as the energy's does.

    `steady_state_energy` is of `steady_state_duration`, and not of `total_runtime`.
    """
    energy, duration = run.energy, run.duration
    if energy is None or energy.is_declared or (duration is not None and duration.is_declared):
        return
    part = _part_of_the_run(energy)
    same = [time for time in run.times if not is_spread(time.heading) and "per" not in part]
    same = [time for time in same if part and _part_of_the_run(time) == part]
    if len(same) == 1 and duration is not same[0]:
        if duration is not None:
            duration.aim("")
        run.duration = same[0]
        run.duration.aim("duration_s", f"; of the same part as {energy.heading.text}")


def _part_of_the_run(guess: Guess) -> frozenset[str]:
    """Return the words of a heading but those of quantities, statistics and parts of machines."""
    known = MEASURED.union(WORDS["plain"], WORDS["statistics"], WORDS["parts"])
    return frozenset(guess.heading.words) - known


def _choose_pair(run: _Run) -> None:
    """Choose the energy and the time that give the power of each row, if the best ones do not.

    `whole_energy` is of all batches and `energy_j` of one, as `total_seconds` and `latency_s` are.
    """
    energy, power, duration = run.energy, run.power, run.duration
    if energy is None or power is None or duration is None or not _is_plain(power):
        return
    if energy.is_declared or duration.is_declared or misses(energy, duration, power) < _FAR:
        return
    times = [*filter(may_be_whole, run.times)]
    pairs = [(e, d) for e in run.energies for d in times if misses(e, d, power) < 1 + PROVING]
    # An extreme is the time of the energy only if no other one is.
    pairs = [pair for pair in pairs if not is_spread(pair[1].heading)] or pairs
    if pairs:
        energy.aim("")
        duration.aim("")
        ranks = [_rank(e, "energy_j") + _rank(d, "duration_s") for e, d in pairs]
        best, run.duration = pairs[ranks.index(max(ranks))]
        run.energy = energy if is_integral(energy, best) else best
        for guess, target in ((run.energy, "energy_j"), (run.duration, "duration_s")):
            guess.aim(target, f"; with {power.heading.text} it agrees")


def _read_codecarbon(run: _Run, guesses: Sequence[Guess]) -> None:
    """Take the energies that stand beside emissions for kWh, unless they would be too large."""
    if not any(guess.heading.has("codecarbon", "emissions") for guess in guesses):
        return
    most_j = _MOST_W * run.duration.middle * run.duration.heading.scale if run.duration else np.inf
    for guess in run.energies:
        # Joules of RAPL may stand beside emissions: as kWh they would be of a power station.
        if not guess.unit and guess.middle * 3.6e6 <= most_j:
            set_unit(guess, "kWh", 3.6e6, "as CodeCarbon has it")


def _leave_out_others(run: _Run) -> None:
    """Leave out what is less a baseline, a time of items, a power of a part, lost prefixes."""
    for name in ("energy", "power"):
        guess = getattr(run, name)
        if guess is not None and is_less_a_baseline(guess):
            guess.aim("")
            guess.doubt_unit("has values below 0, as less a baseline: not what the run used", "")
            setattr(run, name, None)
    if run.energy is not None and lacks_prefixes(run.energy, run.duration):
        run.energy.aim("", f"; {NO_UNIT}")
        run.energy.doubt_unit("may be in J, kJ or MJ, as SLURM writes 4.2M: no unit is taken", "MJ")
        run.energy = None
    if run.duration is not None and _is_of_items(run.duration, run.energy, run.power):
        run.duration.aim("")
        run.duration = None
    if run.power is not None and _is_of_a_part(run.power, run.energy, run.duration):
        run.power.aim("")
        run.power = None


def _choose_units(run: _Run, guesses: Sequence[Guess]) -> None:
    """Choose the units that headings do not say, and doubt those that nothing decides."""
    has_machines = any(
        g.heading.has(*_SEVERAL)
        or (g.kind == "whole" and g.heading.has(*_COUNTED) and max(g.numbers, default=0) > 1)
        for g in guesses
        if g not in run.metrics
    )
    unsaid = [guess for guess in run.powers if not guess.unit]
    is_free = run.power is None or not (run.power.unit or run.power.is_declared)
    is_alone = is_free and not (run.energy or has_machines)
    is_alone &= not any(are_watts(each, run.energies, run.times) for each in unsaid)
    if is_alone:
        doubt_large(unsaid, guesses)
    sides = dict(zip(COLUMNS, (run.energy, run.power, run.duration), strict=True))
    stated = frozenset(n for n, g in sides.items() if g is None or g.unit or g.is_declared)
    most_w = _MOST_W if has_machines else PLAUSIBLE_W[1]
    choose_units(run.energy, run.power, run.duration, most_w)
    energy = None if "energy_j" in stated else run.energy
    if energy and leave_out_domains(run.energies, energy, run.duration):
        run.energy = None
        del sides["energy_j"]
    is_open = not {"energy_j", "duration_s"} <= stated
    if run.duration is not None and is_open and is_of_something_else(run.energy, run.duration):
        run.duration.aim("", "; the energy is not of this time")
        del sides["duration_s"]
    doubt_units(sides, stated)
    if not (has_machines or run.power) and run.energy and run.duration:
        doubt_power(run.energy, run.duration)


def _give_units(run: _Run, guesses: Sequence[Guess]) -> None:
    """Give the other energies, powers and times the units of those of the run."""
    energy, power, duration = run.energy, run.power, run.duration
    _choose_of_parts(run.metrics)
    for guess in (g for g in run.metrics if g.quantity in _COSTS and is_of_idle(g.heading)):
        # No setting of a run saves it; alone it may be what a study is about.
        guess.better = None if energy or power or duration else guess.better
    for guess in (g for g in run.metrics if g.quantity == "energy"):
        if energy and guess is not energy and guess.heading.has(*WORDS["predicted"]):
            # Less of what a model says is no better; its unit may be another one.
            guess.better = None
        elif guess is not energy and not (guess.unit or guess.why.endswith(NO_UNIT)):
            guess.unit = energy.unit if energy and not energy.heading.unit else "J"
        guess.wraps_at = wrap_of(guess)
        if guess.wraps_at is not None:
            guess.why += f"; negative ones wrapped at {guess.wraps_at:g}"
    for guess in (g for g in run.metrics if g.heading.unit and g.heading.unit.is_meant):
        guess.doubt_unit(f"is in watts over a time, taken as {guess.unit}: nobody measures that")
    for guess in (g for g in run.metrics if g.quantity == "price" and not g.unit):
        # Energy per item, if the items stand in a column too.
        if energy and any(is_product(energy, guess, each, duration) for each in guesses):
            item = guess.heading.words[guess.heading.words.index("per") + 1]
            guess.unit, guess.better = f"{energy.unit}/{item}", "less"
    for guess in run.powers:
        guess.unit = guess.unit or (power.unit if power else "W")
    unit, *doubt = (duration.unit, duration.doubt, duration.instead) if duration else _UNSAID
    # `duration_min` may be the least one, or minutes.
    for guess in (g for g in run.times if not g.unit and g.heading.words[-1:] != ("min",)):
        guess.unit = unit
        guess.doubt_unit(*doubt)


def _choose_of_parts(metrics: Sequence[Guess]) -> None:
    """Choose the units of an energy, a power and a time of one part, such as `w_energy`.

    Only where the energies are power times time: `cpu_time` may be of something else.
    """
    parts: dict[tuple[str, ...], dict[str, Guess]] = {}
    for guess in metrics:
        if not (guess.to or guess.unit):
            parts.setdefault(guess.heading.words[:-1], {})[guess.quantity] = guess
    for part, of in parts.items():
        if not part or not {"energy", "power", "time"} <= of.keys():
            continue
        sides = of["energy"], of["power"], of["time"]
        reasons = [guess.why for guess in sides]
        choose_units(*sides, PLAUSIBLE_W[1])
        units = [unit for guess in sides if (unit := unit_of(guess.unit))]
        if is_proven(sides, [(unit.text, unit.scale) for unit in units], PLAUSIBLE_W[1]):
            told = ", ".join(unit.text for unit in units)
            for guess in sides:
                guess.doubt_unit(
                    f"says no unit: {told} of energy, power and time agree, others may"
                )
        else:
            for guess, reason in zip(sides, reasons, strict=True):
                guess.unit, guess.why = "", reason


def _of_each(durations: Sequence[Guess]) -> Guess | None:
    """Return the only time if it is of one epoch or the like: the power has no other time."""
    if len(durations) != 1 or durations[0].heading.words[-2:-1] != ("per",):
        return None
    if (item := durations[0].heading.words[-1]) not in _ITEMS:
        return None
    durations[0].aim("duration_s", f"; energy is that of one {item}")
    return durations[0]


def _best(guesses: Sequence[Guess], target: str) -> Guess | None:
    """Choose the column that is the run's, and send it to its column of the lake."""
    if not guesses:
        return None
    at = max(range(len(guesses)), key=lambda index: (_rank(guesses[index], target), -index))
    best = guesses[at]
    if _rank(best, target) <= -20 and best.heading.text != target:
        return None
    # Of times `elapsed` and `runtime` are no two things.
    usual = MEASURED | WORDS["plain"] if target == "duration_s" else frozenset[str]()
    words = {*best.heading.words} - usual
    if any(
        _rank(other, target) == _rank(best, target) and words - other_words and other_words - words
        for other in guesses
        if (other_words := {*other.heading.words} - usual) and not are_equal(best, other)
    ) or any(are_of_devices(best, g) or is_beside_idle(best.heading, g.heading) for g in guesses):
        # Of `java_j` and `go_j`, or `cpu_energy` and `gpu_energy`, none is the whole.
        return None
    best.aim(target, f"; of {len(guesses)} columns the whole one" if len(guesses) > 1 else "")
    return best


_OF_PROCESSORS: Final = ({"system", "time"}, {"sys", "time"}, {"user", "time"})


def _rank(guess: Guess, target: str) -> int:
    """Say how likely a column is the run's own energy, power or duration."""
    heading = guess.heading
    # The lake's own name counts less than a word for the whole.
    rank = 7 * (heading.unit is not None) + 3 * (heading.text == target)
    rank += 4 * heading.has("total", "overall", "whole", "node", "server", "wall", "elapsed")
    rank += 3 * heading.has("system", "machine", "execution", "runtime", "duration", "makespan")
    rank += 2 * heading.has("package", "pkg", "usage", "consumed", *WORDS["means"])
    rank -= 8 * heading.has("idle", "baseline", "static", "dynamic", "saved", "savings", "delta")
    rank -= 40 * (target != "duration_s" and is_of_idle(heading))
    rank -= 6 * heading.has("codecarbon", "peak", *WORDS["predicted"])
    rank -= 2 * len([word for word in heading.words if word not in MEASURED | WORDS["plain"]])
    if not heading.has("package", "pkg"):
        rank -= 4 * heading.has(*WORDS["parts"])
    if target == "duration_s":
        # That a kernel and a program took of processors: `System time (seconds)`, `User time`.
        rank -= 30 * ({*heading.words} - WORDS["plain"] in _OF_PROCESSORS)
        rank -= 12 * heading.has("gpu", *WORDS["phases"])
        rank -= 30 * heading.has(*WORDS["times_of_day"], *WORDS["moments"], *_NO_DURATION)
        rank -= 30 * any(re.fullmatch(PERCENTILE, word) for word in heading.words)
        # A mean of which nothing says what took so long, beside the duration of the run.
        rank -= 4 * ({*heading.words} <= WORDS["means"])
    if {"per", "efficiency", "rate", "ratio", "percent"}.intersection(own_words(heading)):
        rank -= 30
    if not np.any(guess.numbers > 0):
        rank -= 15
    return rank


def _is_of_items(duration: Guess, energy: Guess | None, power: Guess | None) -> bool:
    """Return whether a time is of items, since the energy is too large for it.

    A mean time is that if the energy is that of no machine; any time if the power that was measured
    is another one by far.
    """
    if power is not None and (excess := excess_of(energy, duration, power)):
        return not duration.is_declared and _is_plain(power) and excess > _FAR
    is_mean = not duration.is_declared and duration.heading.has(*WORDS["means"])
    return is_mean and excess_of(energy, duration) > PLAUSIBLE_W[1]


def _is_of_a_part(power: Guess, energy: Guess | None, duration: Guess | None) -> bool:
    """Return whether a power is of a part or phase: energy and time of the whole give another."""
    excess = excess_of(energy, duration, power)
    is_other = excess > 0 and abs(np.log(excess)) > AGREEING
    return is_other and not (power.is_declared or _is_plain(power))


def _is_plain(power: Guess) -> bool:
    """Return whether a power is the run's mean: its words name no part, phase or extreme."""
    return {*power.heading.words} <= _OF_THE_RUN
