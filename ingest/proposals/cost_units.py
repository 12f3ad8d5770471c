"""The units of energy, power and time that headings do not say: energy is power times time.

What energy = power x time and the power of a machine do not decide is doubted.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final

import numpy as np

from ingest.proposals.guess import Guess, digits_of
from ingest.proposals.heading_roles import MACHINE_W
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of

_Unit = tuple[str, float]
# What a machine, a board or a phone takes, W.
PLAUSIBLE_W: Final = (0.1, 5000.0)
# Less than this is more often a power in W whose time is in ms.
_USUAL_W: Final = 1.0
_SMALL: Final = 0.15
_COUNTING: Final = 0.15
AGREEING: Final = 0.2
# So near is an energy to a power times a time that prove the unit of the power.
PROVING: Final = 0.05
_TIMES: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_ENERGIES: Final = {"J": 1.0, "mJ": 1e-3, "uJ": 1e-6, "Wh": 3.6e3, "kWh": 3.6e6}
_POWERS: Final = {"W": 1.0, "mW": 1e-3, "uW": 1e-6}
# How much rarer than J, W and s units are, on the scale of `_misfit`.
_RARITY: Final = {"ms": 0.1, "us": 0.2, "ns": 0.3, "mW": 0.1, "uW": 0.3, "mJ": 0.2, "uJ": 0.2}
_RARITY_OF_HOURS: Final = {"Wh": 0.5, "kWh": 0.3}
_LONG_S: Final = 20_000.0
_LONG_US_S: Final = 1_000.0
_MANY_UJ: Final = 1e5
_MANY_DIGITS: Final = 9
# Powers that one server with several accelerators may have, and several machines.
_OF_SEVERAL_W: Final = (1_500.0, MACHINE_W[1])
_OF_A_STATION_W: Final = 1e6
_OF_A_BOARD_W: Final = 100.0
# Beyond these the time is not that of what the energy was measured for.
_ABSURD_W: Final = (1e-4, 1e5)
_DOUBTED: Final[dict[str, dict[str, float]]] = {
    "energy_j": {"J": 1.0, "mJ": 1e-3, "uJ": 1e-6, "Wh": 3.6e3},
    "power_w": {"W": 1.0, "mW": 1e-3},
    "duration_s": {"s": 1.0, "ms": 1e-3, "us": 1e-6},
}
# Energies of one table in one unit are no more apart.
_MOST_APART: Final = 1e3
_OF_ENERGY: Final = frozenset({"energy", "joule", "joules", "j", "consumption"})


def choose_units(
    energy: Guess | None, power: Guess | None, duration: Guess | None, most_w: float
) -> None:
    """Choose the units that headings do not say: those by which energy is power times time.

    Args:
        most_w: What the machines take at most, W.
    """
    sides = (energy, power, duration)
    # A time of something else makes J of a power that is absurd: that is no reason for mJ, but
    # where the unit of the time is known too.
    is_compared = power is not None or (duration is not None and bool(duration.unit))
    energies = _options(energy, _ENERGIES, is_compared)
    powers, times = _options(power, _POWERS), _options(duration, _TIMES)
    is_free = power is None and len(energies) > 1 < len(times)
    ranked = []
    for order, (t, e, p) in enumerate(product(times, energies, powers)):
        units = (e, p, t)
        if len(powers) > 1 and p[0] != "W" and not is_proven(sides, units, most_w):
            continue
        if is_free and (e[0], t[0]) != ("J", "s") and not _all_fit(energy, duration, e[1], t[1]):
            continue
        joules, watts, seconds = (
            guess.middle * scale if guess and guess.middle else None
            for guess, (_, scale) in zip(sides, units, strict=True)
        )
        misfit = _misfit(joules, watts, seconds, duration, most_w)
        ranked.append((misfit + _rarity(energy, duration, units), order, units))
    misfit, _, chosen = min(ranked)
    known = " and ".join(guess.heading.text for guess in sides if guess and guess.middle)
    why = "which no heading says"
    if energy is not None and duration is not None and duration.middle and misfit < 1:
        why = f"by which {known} agree"
        if power is None or not power.middle:
            watts = energy.middle * chosen[0][1] / (duration.middle * chosen[2][1])
            why = f"by which {known} are of {watts:.3g} W"
    for guess, of, (text, scale) in zip(sides, (energies, powers, times), chosen, strict=True):
        if guess is not None and len(of) > 1:
            set_unit(guess, text, scale, why)


def doubt_large(powers: Sequence[Guess], guesses: Sequence[Guess]) -> None:
    """Take powers that state no unit for mW, with a doubt, if one is more than a machine takes, or
    than a board that a path names: `jetson_nano_power.csv`.
    """
    boards = [power for power in powers if power.heading.has(*WORDS["boards"])]
    most_w = _OF_A_BOARD_W if boards else PLAUSIBLE_W[1]
    if any(power.numbers.min() > most_w for power in powers):
        why = (
            "since no board takes so much" if boards else "since it would be over 5 kW in all rows"
        )
        metrics = [g for g in guesses if g.role == "metric" and g.quantity == "power"]
        for power in (each for each in metrics if not each.unit):
            set_unit(power, "mW", 1e-3, why)
            power.doubt_unit(f"says no unit, and is taken as mW, {why}")


def _options(
    guess: Guess | None, units: Mapping[str, float], is_compared: bool = True
) -> list[_Unit]:
    """Return the units that a column may have, with their scales: one if it is known."""
    if guess is None:
        return [("", 1.0)]
    if guess.unit or guess.is_declared:
        return [(guess.unit, guess.scale)]
    is_fine = is_compared or guess.kind == "whole" or guess.middle >= _MANY_UJ
    return [(u, scale) for u, scale in units.items() if u not in ("uJ", "mJ") or is_fine]


def _rarity(energy: Guess | None, duration: Guess | None, units: Sequence[_Unit]) -> float:
    """Return how much rarer units are than J, W and s, for such numbers, as `_misfit` counts."""
    (of_energy, _), _, (of_time, scale) = units
    rarity = sum((_RARITY | _RARITY_OF_HOURS).get(text, 0.0) for text, _ in units)
    # A counter of mJ that was divided by the seconds of an hour.
    rarity += (of_energy != "Wh") - (of_energy == "Wh") if _are_of_hours(energy) else 0.0
    is_whole = energy is not None and not np.any(energy.numbers % 1) and energy.middle > _MANY_UJ
    if energy is not None and energy.heading.has("package", "pkg", "dram", "rapl"):
        # Linux' powercap counts uJ, whole and large.
        rarity += 2.0 * (is_whole and of_energy == "J")
        rarity += {"Wh": 2.0, "kWh": 2.0, "mJ": 1.5, "uJ": -_RARITY["uJ"]}.get(of_energy, 0.0)
    if duration is None:
        return rarity
    # A time of so many us has been counted in ns.
    rarity += 0.2 * (of_time == "us" and duration.middle * scale > _LONG_US_S)
    # Whole numbers of both are 56,818,642 uJ in 571 ms, and not mJ in s.
    is_counted = is_whole and duration.kind == "whole"
    rarity += _COUNTING * (is_counted and (of_energy, of_time) == ("mJ", "s"))
    return rarity + (of_time in ("us", "ns") and duration.kind == "real")


def _are_of_hours(energy: Guess | None) -> bool:
    """Return whether numbers of many digits have few after a multiplication by 3600."""
    if energy is None or min(map(digits_of, map(str, energy.cells)), default=0) < _MANY_DIGITS:
        return False
    each = energy.numbers * _ENERGIES["Wh"]
    return bool(np.allclose(each, np.round(each, 3), rtol=0, atol=1e-7))


def _all_fit(
    energy: Guess | None, duration: Guess | None, of_energy: float, of_time: float
) -> bool:
    """Return whether the energy and the time of each row give the power of a machine.

    Of two units that nothing states, both would else be bent until the usual power is plausible.
    """
    if energy is None or duration is None or len(energy.numbers) != len(duration.numbers):
        return True
    is_set = (energy.numbers > 0) & (duration.numbers > 0)
    watts = energy.numbers[is_set] * of_energy / (duration.numbers[is_set] * of_time)
    return bool(np.all((watts >= MACHINE_W[0]) & (watts <= MACHINE_W[1])))


def is_proven(
    sides: tuple[Guess | None, Guess | None, Guess | None], units: Sequence[_Unit], most_w: float
) -> bool:
    """Return whether the energies of the rows are power times time in these units.

    Where several machines may have taken the power, an energy without a unit proves nothing.
    """
    energy, numbers = sides[0], [guess.numbers for guess in sides if guess is not None]
    if energy is None or len(numbers) < len(sides) or len({*map(len, numbers)}) > 1:
        return False
    if not (energy.unit or energy.is_declared or most_w == PLAUSIBLE_W[1]):
        return False
    joules, watts, seconds = (n * scale for n, (_, scale) in zip(numbers, units, strict=True))
    is_near = np.abs(joules - watts * seconds) <= PROVING * np.abs(joules)
    return bool(2 * np.count_nonzero(is_near) > len(joules))


def _misfit(
    energy: float | None,
    power: float | None,
    time: float | None,
    duration: Guess | None,
    high: float,
) -> float:
    """Return 0 for units that fit, more the worse they do; machines take `high` W at most."""
    low, worst = PLAUSIBLE_W[0], 0.0
    if energy and power and time:
        off = float(abs(np.log(energy / (power * time))))
        worst += off if off >= AGREEING else 0.0
    for watts in (power, energy / time if energy and time else None):
        if watts:
            worst += max(0.0, float(np.log(low / watts)), float(np.log(watts / high)))
            worst += _SMALL * (watts < _USUAL_W)
    if time and duration is not None and (energy or duration.kind == "whole"):
        worst += max(0.0, float(np.log(time / _LONG_S)))
    return worst


def set_unit(guess: Guess, text: str, scale: float, why: str) -> None:
    guess.unit = text
    guess.scale = scale if guess.to else 1.0
    guess.why += f"; in {text}, {why}"


def read_mega(
    energy: Guess | None, power: Guess | None, duration: Guess | None, metrics: Sequence[Guess]
) -> None:
    """Take MJ, MW and MWh for mJ, mW and mWh where they would be of a power station, with a doubt.

    Headings in capital letters alone cannot say which: `ENERGY_MJ`.
    """
    sides = (energy, power, duration)
    joules, watts, seconds = (g.middle * g.heading.scale if g else 0 for g in sides)
    watts = watts or (joules / seconds if seconds else 0)
    # Of several powers none may be the run's: those at idle and under load.
    of = [(guess, guess.heading.unit) for guess in metrics]
    powers = [guess.middle * unit.scale for guess, unit in of if unit and unit.quantity == "power"]
    watts = watts or max(powers, default=0)
    for guess, unit in of:
        if unit is None or unit.text not in ("MJ", "MW", "MWh"):
            continue
        small = unit.text.replace("M", "m")
        if watts > _OF_A_STATION_W:
            set_unit(guess, small, unit.scale * 1e-9, f"as {unit.text} it is of {watts:.0e} W")
            guess.doubt_unit(f"says {unit.text}, taken as {small}: else it is of {watts:.0e} W")
        elif guess.to and not watts and guess.heading.text.isupper():
            guess.doubt_unit(f"says {unit.text} in capital letters: may be {small}", small)


def leave_out_domains(energies: Sequence[Guess], energy: Guess, duration: Guess | None) -> bool:
    """Give `pkg` and `dram` no quantity where their energies would be of no machine.

    A heading that names a part alone says neither energy nor power, whose numbers they may be.
    """
    watts = _mean_power_w(energy, duration)
    if not (_is_bare(energy) and (watts < MACHINE_W[0] or watts > MACHINE_W[1])):
        return False
    why = f"; neither energy nor power, since {energy.unit} would be of {watts:.2g} W"
    for guess in filter(_is_bare, energies):
        guess.aim("", why)
        guess.quantity, guess.unit, guess.better = "", "", None
    return True


def _is_bare(guess: Guess) -> bool:
    return guess.heading.unit is None and _OF_ENERGY.isdisjoint(words_of(guess.heading.text))


def doubt_units(sides: Mapping[str, Guess | None], stated: frozenset[str]) -> None:
    """Say of each unit that nothing states or decides what else it may be.

    Args:
        sides: By column of the lake what goes there.
        stated: Columns whose unit the heading, the settings or a known tool states.
    """
    named = {name: guess for name, guess in sides.items() if guess is not None and guess.middle}
    options = [
        [(guess.unit, guess.scale)] if name in stated else [*_doubted_options(name, guess).items()]
        for name, guess in named.items()
    ]
    fitting = [
        dict(zip(named, (unit for unit, _ in each), strict=True))
        for each in product(*options)
        if _is_plausible({
            name: guess.numbers * scale
            for (name, guess), (_, scale) in zip(named.items(), each, strict=True)
        })
    ]  # fmt: skip
    energy = named.get("energy_j")
    is_unsure = energy is not None and "energy_j" not in stated and _is_bare(energy)
    for name, guess in named.items():
        others = dict.fromkeys(each[name] for each in fitting if each[name] != guess.unit)
        taken = f"states no unit, taken as {guess.unit}"
        if name in stated:
            continue
        if is_unsure and guess is energy:
            guess.doubt_unit(f"states no unit, and not whether it is energy: taken as {guess.unit}")
        elif not fitting:
            guess.doubt_unit(f"{taken}: no unit makes the power of a machine, 1 W to 10 kW")
        elif others:
            guess.doubt_unit(f"{taken}: {' or '.join(others)} would fit as well", [*others][-1])
        elif guess.unit in ("mJ", "uJ") and guess.kind == "real" and "power_w" not in named:
            guess.doubt_unit(f"{taken}, if the time is that of the same work")
        elif is_unsure and energy is not None:
            guess.doubt_unit(f"{taken}, if {energy.heading.text} is an energy")


def doubt_power(energy: Guess, duration: Guess) -> None:
    """Doubt an energy whose mean power few machines have, where no heading names several."""
    watts = _mean_power_w(energy, duration)
    if energy.to and duration.to and _OF_SEVERAL_W[0] < watts < _OF_SEVERAL_W[1]:
        said = f"makes {watts / 1e3:.2g} kW with {duration.heading.text}"
        energy.doubt_unit(f"{said}: of several machines, or of another time", "")


def _doubted_options(name: str, guess: Guess) -> dict[str, float]:
    """Return the units of a column; nobody writes fractions of uJ, no domain of a CPU counts Wh."""
    is_fine = guess.kind == "whole" and guess.middle >= 1e4
    units = {u: s for u, s in _DOUBTED[name].items() if not u.startswith("u") or is_fine}
    if guess.kind == "whole" or _is_bare(guess):
        units.pop("Wh", None)
    return units | {guess.unit: guess.scale}


def _is_plausible(sides: Mapping[str, np.ndarray]) -> bool:
    """Return whether energies, powers and times agree, and are those of a machine."""
    energy, power, time = (sides.get(name) for name in _DOUBTED)
    middles = {n: float(np.median(each[each > 0])) for n, each in sides.items()}
    if energy is not None and time is not None:
        watts = middles["energy_j"] / middles["duration_s"]
        if power is not None and abs(np.log(watts / middles["power_w"])) > AGREEING:
            return False
    elif power is not None:
        watts = middles["power_w"]
    else:
        return True
    return MACHINE_W[0] <= watts <= MACHINE_W[1]


def is_of_something_else(energy: Guess | None, duration: Guess | None) -> bool:
    """Return whether an energy over a time is a power that nothing has."""
    watts = _mean_power_w(energy, duration)
    return watts <= _ABSURD_W[0] or watts >= _ABSURD_W[1]


def _mean_power_w(energy: Guess | None, duration: Guess | None) -> float:
    """Return an energy over a time, of the medians; NaN where either has none."""
    if energy is None or duration is None or not (energy.middle and duration.middle):
        return np.nan
    return energy.middle * energy.scale / (duration.middle * duration.scale)


def misses(energy: Guess, duration: Guess, power: Guess) -> float:
    """Return the factor by which an energy differs from power times time, in the worst row.

    What they were rounded by is no difference, if a row was hardly rounded.
    """
    sides = [guess.numbers * guess.heading.scale for guess in (energy, duration, power)]
    if len({*map(len, sides)}) > 1 or any(not len(each) or each.min() <= 0 for each in sides):
        return 1.0
    rounded = sum(guess.half_step / guess.numbers for guess in (energy, duration, power))
    off = np.abs(np.log(sides[0] / (sides[1] * sides[2])))
    off -= np.log1p(rounded) * (np.min(rounded) < PROVING)
    return float(np.exp(off.max(initial=0.0)))


def is_integral(energy: Guess, other: Guess) -> bool:
    """Return whether another energy integrates the power, which proves the time alone."""
    is_computed = other.heading.has("integrated", "integral")
    if is_computed and other is not energy:
        energy.why += f"; {other.heading.text} is computed from the power"
    return is_computed


def are_watts(power: Guess, energies: Sequence[Guess], times: Sequence[Guess]) -> bool:
    """Return whether an energy and a time whose headings say their units make a power in W."""
    sides = [
        (energy, time)
        for energy, time in product(energies, times)
        if energy.heading.unit and time.heading.unit and energy.middle
    ]
    is_full = len(power.numbers) > 0
    return is_full and any(
        len(energy.numbers) == len(time.numbers) == len(power.numbers)
        and misses(energy, time, power) < 1 + PROVING
        for energy, time in sides
    )


def is_product(energy: Guess, price: Guess, items: Guess, duration: Guess | None) -> bool:
    """Return whether an energy is a price times a number of items, or a rate times the time."""
    joules, each, numbers = energy.numbers, price.numbers, items.numbers
    if not len(joules) == len(each) == len(numbers) > 0 or price is items:
        return False
    counts = [numbers]
    if duration is not None and len(duration.numbers) == len(numbers):
        counts.append(numbers * items.heading.scale * duration.numbers * duration.scale)
    return any(np.allclose(each * count, joules, rtol=PROVING) for count in counts)


def lacks_prefixes(energy: Guess, duration: Guess | None) -> bool:
    """Return whether SLURM's `ConsumedEnergy`, as `4.2M`, lost its letters: no J of a machine."""
    is_its = energy.heading.text.lower() == "consumedenergy" and not energy.unit
    if not is_its or energy.is_declared or duration is None or not duration.middle:
        return False
    watts = energy.middle / (duration.middle * duration.heading.scale)
    is_apart = float(energy.numbers.max()) > _MOST_APART * energy.middle
    return is_apart or not MACHINE_W[0] <= watts <= MACHINE_W[1]


def excess_of(energy: Guess | None, *factors: Guess | None) -> float:
    """Return the factor by which an energy exceeds a time and a power; 0 if a unit is not known."""
    sides = (energy, *factors)
    if any(guess is None or guess.heading.unit is None for guess in sides):
        return 0.0
    joules, *others = (guess.middle * guess.scale for guess in sides if guess)
    product = float(np.prod(others))
    return joules / product if product > 0 else 0.0
