"""Energies that a processor's registers counted: their numbers say it, whatever the heading.

RAPL counts in 2^-14 or 2^-16 J: no other quantity is a whole multiple of that in every row.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ingest.proposals.guess import Guess
from ingest.proposals.heading_roles import DOMAINS, MEASURED
from ingest.settings.column_names import WORDS

# Steps of the registers, as powers of two of a joule.
_STEPS: Final = (14, 16)
_FEWEST: Final = 4
# Large numbers of 24 bits, as float32 has, are multiples by chance: so many bits are to spare.
_SPARE_BITS: Final = 4
_BITS: Final = 23


def read_counted(guesses: Sequence[Guess]) -> None:
    """Read columns whose numbers are whole multiples of a step of RAPL as energies, J.

    One column proves the step; then others in it are energies too. Beside the cores the column
    `CPU` that is no less in any row is the package.
    """
    free = [guess for guess in guesses if _may_be(guess)]
    step = next((bits for bits in _STEPS if any(_proves(guess, bits) for guess in free)), 0)
    counted = [guess for guess in free if step and _is_in(guess, step)]
    for guess in counted:
        words = guess.heading.words if "energy" in guess.heading.words else (
            "rapl", *("package" if _is_package(guess, word, counted) else word
                      for word in guess.heading.words), "energy")  # fmt: skip
        guess.take("metric", f"whole multiples of 2^-{step} J, as RAPL counts")
        guess.heading = replace(guess.heading, words=words)
        guess.quantity, guess.unit, guess.better = "energy", "J", "less"


def _may_be(guess: Guess) -> bool:
    """Return whether numbers are of an unknown quantity, or an energy without a unit."""
    others = MEASURED.difference(DOMAINS, WORDS["plain"])
    is_free = guess.kind == "real" and not (guess.is_declared or guess.unit or guess.is_dropped)
    is_open = not guess.quantity and others.isdisjoint(guess.heading.words)
    return is_free and (is_open or guess.quantity == "energy") and guess.count >= _FEWEST


def _is_in(guess: Guess, bits: int) -> bool:
    """Return whether all numbers are whole multiples of a step, and some of no step twice that."""
    steps = guess.numbers * 2.0**bits
    return bool(np.isfinite(steps).all() and np.all(steps % 1 == 0) and np.any(steps % 2 == 1))


def _proves(guess: Guess, bits: int) -> bool:
    """Return whether numbers are multiples of a step that no rounding to 24 bits makes so."""
    is_small = np.abs(guess.numbers) < 2.0 ** (_BITS - _SPARE_BITS - bits)
    return _is_in(guess, bits) and int(np.count_nonzero(guess.numbers[is_small])) >= _FEWEST


def _is_package(guess: Guess, word: str, counted: Sequence[Guess]) -> bool:
    """Return whether a `CPU` is the package, as it is no less than the cores in any row."""
    if word != "cpu" or any(other.heading.has("package", "pkg") for other in counted):
        return False
    cores = [other for other in counted if other.heading.has("core", "cores")]
    return bool(cores) and all(
        len(core.numbers) == len(guess.numbers) and bool(np.all(guess.numbers >= core.numbers))
        for core in cores
    )
