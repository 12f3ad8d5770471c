"""Units that no heading states and no cross-check decides: what they may be instead.

Stated units, energy = power x time and the power of a machine decide some; the rest are doubted.
"""

from collections.abc import Mapping
from itertools import product
from typing import Final

import numpy as np

from ingest.proposals.cost_units import AGREEING, middle_of, set_unit
from ingest.proposals.roles import Guess
from ingest.settings.headings import words_of

# The power of one machine, W.
MACHINE_W: Final = (1.0, 10_000.0)
# Beyond these the time is not that of what the energy was measured for.
_ABSURD_W: Final = (1e-4, 1e5)
_UNITS: Final[dict[str, dict[str, float]]] = {
    "energy_j": {"J": 1.0, "mJ": 1e-3, "uJ": 1e-6},
    "power_w": {"W": 1.0, "mW": 1e-3},
    "duration_s": {"s": 1.0, "ms": 1e-3, "us": 1e-6},
}
_ENERGIES: Final = frozenset({"energy", "joule", "joules", "j", "consumption"})


def powers_of_domains(energies: list[Guess], duration: Guess | None) -> list[Guess]:
    """Take `pkg` and `dram` for powers where their energies would be of no machine.

    A heading that names a part alone says neither energy nor power.
    """
    bare = [g for g in energies if _is_bare(g)]
    middle, time = middle_of(max(bare, key=_middle, default=None)), middle_of(duration)
    if duration is None or not middle or not time or duration.kind != "real":
        return []
    watts = middle / (time * (duration.own_scale if duration.heading.unit else 1.0))
    if watts >= MACHINE_W[0] or not MACHINE_W[0] <= middle <= MACHINE_W[1]:
        return []
    for guess in bare:
        guess.quantity = "power"
        set_unit(guess, "W", 1.0, f"since energies in J would be of {watts:.2g} W")
        guess.doubt = f"says neither unit nor quantity: W, since J would be of {watts:.2g} W"
    return bare


def _middle(guess: Guess) -> float:
    return middle_of(guess) or 0.0


def _is_bare(guess: Guess) -> bool:
    return guess.heading.unit is None and _ENERGIES.isdisjoint(words_of(guess.heading.text))


def doubt_units(sides: Mapping[str, Guess | None], stated: frozenset[str]) -> None:
    """Say of each unit that nothing states or decides what else it may be.

    Args:
        sides: By column of the lake what goes there.
        stated: Columns whose unit the heading, the settings or a known tool states.
    """
    named = {name: guess for name, guess in sides.items() if guess is not None and _middle(guess)}
    options = [
        [(guess.unit, guess.scale)] if name in stated else [*_options(name, guess).items()]
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
    for name, guess in named.items():
        others = dict.fromkeys(each[name] for each in fitting if each[name] != guess.unit)
        taken = f"states no unit, taken as {guess.unit}"
        if name in stated or guess.doubt or not fitting:
            none = f"{taken}: no unit makes the power of a machine, 1 W to 10 kW"
            guess.doubt = guess.doubt or ("" if name in stated else none)
        elif others:
            guess.doubt = f"{taken}: {' or '.join(others)} would fit as well"
        elif guess.unit in ("mJ", "uJ") and guess.kind == "real" and "power_w" not in named:
            guess.doubt = f"{taken}, if the time is that of the same work"
        energy = named.get("energy_j")
        if energy is None or name in stated or "energy_j" in stated or not _is_bare(energy):
            continue
        if guess is not energy:
            guess.doubt = guess.doubt or f"{taken}, if {energy.heading.text} is an energy"
        else:
            guess.doubt = f"states no unit, and not whether it is energy: taken as {guess.unit}"


def _options(name: str, guess: Guess) -> dict[str, float]:
    """Return the units that a column may have; nobody writes fractions of uJ and us."""
    is_fine = guess.kind == "whole" and _middle(guess) >= 1e4
    units = {u: s for u, s in _UNITS[name].items() if not u.startswith("u") or is_fine}
    return units | {guess.unit: guess.scale}


def _is_plausible(sides: Mapping[str, np.ndarray]) -> bool:
    """Return whether energies, powers and times agree, and are those of a machine."""
    energy, power, time = (sides.get(name) for name in _UNITS)
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
    if energy is None or duration is None or not (_middle(energy) and _middle(duration)):
        return False
    watts = _middle(energy) * energy.scale / (_middle(duration) * duration.scale)
    return not _ABSURD_W[0] < watts < _ABSURD_W[1]
