"""Columns of which others say more than their words: powers that are energies, numbers of what was
not measured, costs of an item without its name. What an idle machine takes is no cost of the run.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Final

import numpy as np

from ingest.formats.written_numbers import is_number
from ingest.proposals.guess import Guess
from ingest.proposals.heading_roles import is_counted, is_spread
from ingest.settings.column_names import WORDS
from ingest.settings.headings import Heading
from ingest.settings.units import unit_of

# So near is an energy to a power times a time; in fewer rows that is so by chance.
_NEAR: Final = 0.01
_NEARER: Final = 1e-4
_FEW_ROWS: Final = 3
# Times about 1 s make powers of energies.
_NO_FACTOR: Final = 0.1
_POWERS: Final = frozenset({"power", "powers", "wattage"})
_COSTS: Final = ("energy", "power", "time")
_NOT_MEASURED: Final = -1.0
_AT_IDLE: Final = frozenset({("no", "load"), ("at", "rest")})
# The unit of an energy of so many items, of which nothing says what they are.
_UNNAMED: Final = re.compile(r"(\w+)/1?([kM]?) ?item")
_AMOUNTS: Final = {"": 1.0, "k": 1e3, "M": 1e6}


def is_of_idle(heading: Heading) -> bool:
    """Return whether a heading names what a machine takes without the work: `P_idle (W)`,
    `static power`, `power_at_rest_w`; not `energy_minus_idle_j`.
    """
    is_idle = heading.has(*WORDS["at_idle"]) or not _AT_IDLE.isdisjoint(pairwise(heading.words))
    return is_idle and not heading.has(*WORDS["above_idle"])


def is_beside_idle(heading: Heading, other: Heading) -> bool:
    """Return whether one of two headings names what the work adds to the other: `dynamic power`."""
    return heading.has("dynamic") and is_of_idle(other)


@dataclass(frozen=True, slots=True)
class Product:
    """An energy whose heading says power, and the power and the time whose product it is."""

    energy: Guess
    power: Guess
    time: Guess

    def settle(self) -> None:
        """Give the energy the unit of the product, unless it is chosen already, with a doubt."""
        unit = unit_of(f"{self.power.unit} {self.time.unit}") if self.time.unit else None
        if unit is None or unit.quantity != "energy" or self.energy.to:
            return
        self.energy.unit = unit.text
        for guess in (g for g in (self.energy, self.power) if g.heading.unit is None):
            why = f"says no unit, taken as {guess.unit}: energy, power and time agree so"
            guess.doubt, guess.instead = why, guess.unit


def read_products(guesses: Sequence[Guess]) -> list[Product]:
    """Read powers without a unit that are another power times a time in all rows as energies.

    `total_power_draw` of 28183.3 beside a mean power of 219.1 and a time of 128.7 s. A mean of a
    part, such as `package.mean`, is a power if its product with a time is such an energy too.
    """
    free = [g for g in guesses if g.role == "metric" and not g.is_declared and len(g.numbers)]
    powers = [g for g in free if g.quantity == "power" and not is_spread(g.heading)]
    times = [g for g in free if g.quantity == "time" and not is_spread(g.heading)]
    parts = [g for g in free if not g.quantity and _is_mean_of_a_part(g)]
    found: list[Product] = []
    for energy in (g for g in powers if g.heading.unit is None):
        others = (g for g in (*powers, *parts) if g is not energy)
        pairs = product(others, times)
        of = next((pair for pair in pairs if _is_product(energy, *pair)), None)
        if of is not None:
            found.append(Product(energy, *of))
    for each in found:
        name = f"{each.power.heading.text} times {each.time.heading.text}"
        _call(each.energy, "energy", f"; {name} in all rows: an energy, whatever its word")
        if not each.power.quantity:
            _call(each.power, "power", f"; times {each.time.heading.text} it is an energy")
    return found


def _is_mean_of_a_part(guess: Guess) -> bool:
    words = {word.rstrip("0123456789") for word in guess.heading.words}
    named = WORDS["parts"] | {"package", "pkg"}
    return guess.heading.unit is None and bool(words & WORDS["means"]) and bool(words & named)


def _is_product(energy: Guess, power: Guess, time: Guess) -> bool:
    sides = [guess.numbers * guess.heading.scale for guess in (energy, power, time)]
    if len({*map(len, sides)}) > 1 or any(each.min() <= 0 for each in sides):
        return False
    joules, watts, seconds = sides
    near = _NEAR if len(joules) >= _FEW_ROWS else _NEARER
    is_factor = bool(np.all(np.abs(np.log(time.numbers)) > _NO_FACTOR))
    return is_factor and bool(np.all(np.abs(joules - watts * seconds) <= near * joules))


def _call(guess: Guess, quantity: str, why: str) -> None:
    words = tuple(word for word in guess.heading.words if word not in _POWERS)
    guess.heading = replace(guess.heading, words=(*words, quantity))
    guess.quantity, guess.better = quantity, "less"
    guess.why += why


def leave_out_unmeasured(guesses: Sequence[Guess]) -> None:
    """Take -1 for no measurement among costs over 0, and all of which less or more is better: in a
    column, or beside one of a like name. So is the energy of an item 0 where none came out.
    """
    names = {
        guess.heading.text.rpartition(".")[2]
        for guess in guesses
        if guess.role == "metric" and len(guess.numbers) and guess.numbers.min() > 0
    }
    lacking = [g.numbers == 0 for g in guesses if is_counted(g.heading) and not g.numbers.all()]
    for guess in (g for g in guesses if not g.is_declared and (g.quantity in _COSTS or g.better)):
        zeros = guess.numbers == 0
        is_of_items = guess.quantity == "price" and any(np.array_equal(zeros, c) for c in lacking)
        none = (_NOT_MEASURED, 0.0) if is_of_items else (_NOT_MEASURED,)
        is_none = np.isin(guess.numbers, none)
        if not is_none.any():
            continue
        if is_none.all() and guess.heading.text.rpartition(".")[2] in names:
            guess.role, guess.is_dropped = "label", True
            guess.why = "-1 in all rows, where others of this name are over 0: not measured"
        elif guess.role == "metric" and np.all(guess.numbers[~is_none] > 0):
            texts = {str(cell).strip() for cell in guess.cells if cell is not None}
            guess.values |= {t: "" for t in texts if is_number(t) and float(t) in none}
            guess.numbers = guess.numbers[~is_none]
            guess.why += f"; {'0' if is_of_items else '-1'} is not measured"


def name_items(guesses: Sequence[Guess]) -> None:
    """Name the items of which a cost is the energy: `wh_per_1k` beside `total_wh` and `tokens`."""
    energies = [g for g in guesses if g.role == "metric" and g.quantity == "energy" and g.unit]
    counts = [g for g in guesses if g.kind == "whole" and g.heading.words]
    for cost in (g for g in guesses if g.role == "metric" and g.quantity == "price"):
        unnamed = _UNNAMED.fullmatch(cost.unit)
        unit = unit_of(unnamed[1]) if unnamed else None
        if unnamed is None or unit is None:
            continue
        scale = unit.scale / _AMOUNTS[unnamed[2]]
        for energy, count in product(energies, counts):
            sides = cost.numbers * scale, energy.numbers * energy.heading.scale, count.numbers
            is_full = len({*map(len, sides)}) == 1 and len(cost.numbers) > 0
            if is_full and np.allclose(sides[0] * sides[2], sides[1], rtol=_NEARER, atol=0):
                item = count.heading.words[-1]
                cost.unit = cost.unit.replace("item", item)
                cost.why += f"; times {count.heading.text} it is {energy.heading.text}"
                break
