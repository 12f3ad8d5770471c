"""The units of energy, power and time that headings do not say: energy is power times time."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from ingest.proposals.roles import WHEN, Guess, epoch_scale

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
_RARITY: Final = {"ms": 0.1, "us": 0.2, "ns": 0.3, "mW": 0.1, "uW": 0.3, "mJ": 0.2, "uJ": 0.2} | {
    "Wh": 0.5,
    "kWh": 0.3,
}
_LONG_S: Final = 20_000.0
_LONG_US_S: Final = 1_000.0
# A row may take so many times as long as to the next one: its time may be that of the end.
_SPARE: Final = 1.5
_MANY_UJ: Final = 1e5


def choose_units(
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
        if guess.unit or guess.is_declared:
            return [(guess.unit, guess.scale)]
        is_fine = guess.kind == "whole" or (middle_of(guess) or 0.0) >= _MANY_UJ
        # A time of something else makes J of a power that is absurd: that is no reason for mJ, but
        # where the unit of the time is known too.
        is_fine |= power is not None or (duration is not None and bool(duration.unit))
        return [(u, s) for u, s in units.items() if u not in ("uJ", "mJ") or is_fine]

    sides = (
        (energy, options(energy, _ENERGIES)),
        (power, options(power, _POWERS)),
        (duration, options(duration, _TIMES)),
    )
    middles = [middle_of(guess) for guess, _ in sides]
    ranked = []
    is_counter = energy is not None and energy.heading.has("package", "pkg", "dram", "rapl")
    is_whole = energy is not None and not np.any(energy.numbers % 1)
    is_whole = is_whole and (middles[0] or 0.0) > _MANY_UJ
    is_counted = duration is not None and duration.kind == "whole"
    for order, trio in enumerate(
        (e, p, t) for t in sides[2][1] for e in sides[0][1] for p in sides[1][1]
    ):
        if len(sides[1][1]) > 1 and trio[1][0] != "W" and not _is_proven(sides, trio, most_w):
            continue
        joules, watts, seconds = (
            middle * unit[1] if middle else None for middle, unit in zip(middles, trio, strict=True)
        )
        rarity = sum(_RARITY.get(text, 0.0) for text, _ in trio)
        if is_counter:
            # Linux' powercap counts uJ, whole and large.
            rarity += 2.0 * (is_whole and trio[0][0] == "J")
            rarity += {"Wh": 2.0, "kWh": 2.0, "mJ": 1.5, "uJ": -_RARITY["uJ"]}.get(trio[0][0], 0.0)
        # A time of so many us has been counted in ns.
        rarity += 0.2 * (trio[2][0] == "us" and seconds is not None and seconds > _LONG_US_S)
        # Whole numbers of both are 56,818,642 uJ in 571 ms, and not mJ in s.
        rarity += _COUNTING * (is_whole and is_counted and (trio[0][0], trio[2][0]) == ("mJ", "s"))
        is_fine = trio[2][0] in ("us", "ns") and duration is not None and duration.kind == "real"
        if apart_s is not None and duration is not None:
            took = float(np.median(duration.numbers[1:] * trio[2][1] / apart_s))
            rarity += max(0.0, float(np.log(took / _SPARE))) if took > 0 else 0.0
            is_fine = False
        ranked.append(
            (_misfit(joules, watts, seconds, duration, most_w) + rarity + is_fine, order, trio)
        )
    misfit, _, chosen = min(ranked)
    known = " and ".join(
        g.heading.text for (g, _), m in zip(sides, middles, strict=True) if g and m
    )
    is_proven = energy is not None and (power is not None or duration is not None) and misfit < 1
    for (guess, units), (text, scale) in zip(sides, chosen, strict=True):
        if guess is not None and len(units) > 1:
            why = f"by which {known} agree" if is_proven else "which no heading says"
            set_unit(guess, text, scale, why)


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
    is_known = energy.unit or energy.is_declared or most_w == PLAUSIBLE_W[1]
    if len({*map(len, numbers)}) > 1 or not is_known:
        return False
    joules, watts, seconds = (n * scale for n, (_, scale) in zip(numbers, units, strict=True))
    is_near = np.abs(joules - watts * seconds) <= PROVING * np.abs(joules)
    return bool(2 * np.count_nonzero(is_near) > len(joules))


def apart_s_of(guesses: Sequence[Guess], rows: int) -> np.ndarray | None:
    """Return the seconds from each row to the next one by a column of Unix times; None if none."""
    for guess in guesses:
        scale = epoch_scale(guess.numbers) if guess.heading.has("timestamp", *WHEN) else None
        if scale is not None and len(guess.numbers) == rows > 1:
            steps_s = np.diff(guess.numbers) / scale
            return steps_s if np.all(steps_s > 0) else None
    return None


def middle_of(guess: Guess | None) -> float | None:
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
    low = PLAUSIBLE_W[0]
    worst = 0.0
    if energy and power and time:
        off = abs(np.log(energy / (power * time)))
        worst += 0.0 if off < AGREEING else float(off)
    for watts in (power, energy / time if energy and time else None):
        if watts:
            worst += max(0.0, float(np.log(low / watts)), float(np.log(watts / high)))
            worst += _SMALL if watts < _USUAL_W else 0.0
    if time and duration is not None and (energy or duration.kind == "whole"):
        worst += max(0.0, float(np.log(time / _LONG_S)))
    return worst


def set_unit(guess: Guess, text: str, scale: float, why: str) -> None:
    guess.unit = text
    guess.scale = scale if guess.to else 1.0
    guess.why += f"; in {text}, {why}"
