"""Energies of the phases of a run: of prefill and decode, of training and evaluation.

No phase is the run. Their sum is, if the times of the phases add up to that of the run.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.proposals.guess import Guess
from ingest.proposals.heading_roles import MEASURED, STAGES, is_spread
from ingest.proposals.request_units import is_latency
from ingest.settings.column_names import WORDS
from ingest.settings.units import unit_of

# Beside phases these are some too; what is done before the work or without it is none.
_BESIDE: Final = frozenset({"run", "eval", "execution"})
_PHASES: Final = (STAGES | _BESIDE) - {"warmup", "baseline", "idle"}
_PLAIN: Final = MEASURED.union(WORDS["plain"], WORDS["wholes"]) - _PHASES
# So far are times of phases from that of the run that they add up to, as a share of it.
_ROUNDED: Final = 0.01


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of a run.

    Attributes:
        word: What it is called.
        time: How long it took; None if no column says it.
    """

    word: str
    energy: Guess
    time: Guess | None

    @property
    def joules(self) -> float:
        """Its energy in a usual run."""
        return self.energy.middle * _scale(self.energy)


def phases_of(guesses: Sequence[Guess]) -> list[Phase]:
    """Return the phases whose energies columns have, each once; none if they are fewer than two."""
    energies = _by_phase([g for g in guesses if g.quantity == "energy"])
    times = _by_phase([g for g in guesses if g.quantity == "time" and not is_latency(g.heading)])
    is_several = len(energies) > 1 and not STAGES.isdisjoint(energies)
    if not is_several or any(len(each) > 1 for each in energies.values()):
        return []
    return [Phase(w, own[0], next(iter(times[w]), None)) for w, own in energies.items()]


def _by_phase(guesses: Sequence[Guess]) -> dict[str, list[Guess]]:
    """Return the columns of each phase that say no more than that: no part of the machine."""
    found: dict[str, list[Guess]] = defaultdict(list)
    for guess in guesses:
        words = {*guess.heading.words} - _PLAIN
        is_own = guess.role == "metric" and not is_spread(guess.heading)
        if is_own and len(words) == 1 and words <= _PHASES:
            found[words.pop()].append(guess)
    return found


def leave_out_phases(guesses: Sequence[Guess]) -> None:
    """Take no energy of a phase for that of the run, nor its time for the run's."""
    phases = phases_of(guesses)
    energies = [phase.energy for phase in phases]
    chosen = next((guess for guess in guesses if guess.to == "energy_j"), None)
    if not phases or (chosen is not None and chosen not in energies):
        return
    for guess in (*energies, *(phase.time for phase in phases)):
        if guess is not None and guess.to and not guess.is_declared:
            guess.aim("", "; of a phase")


def phases_in_all(guesses: Sequence[Guess]) -> list[Guess]:
    """Return the energies of phases that follow each other, and together are the run's.

    Their times add up to the run's in each row.
    """
    phases = phases_of(guesses)
    whole = next((guess for guess in guesses if guess.to == "duration_s"), None)
    times = [phase.time for phase in phases if phase.time is not None]
    is_said = any(guess.to == "energy_j" for guess in guesses)
    if is_said or whole is None or not phases or len(times) < len(phases) or whole in times:
        return []
    if len({phase.energy.unit for phase in phases}) > 1:
        return []
    columns = [guess.numbers * _scale(guess) for guess in (whole, *times)]
    if len({len(column) for column in columns}) > 1:
        return []
    total_s, *parts_s = columns
    adds_up = np.allclose(np.sum(parts_s, axis=0), total_s, rtol=_ROUNDED, atol=0)
    return [phase.energy for phase in phases] if adds_up else []


def _scale(guess: Guess) -> float:
    unit = unit_of(guess.unit)
    return unit.scale if unit else 1.0


def open_phases(guesses: Sequence[Guess]) -> tuple[Phase, ...]:
    """Return the phases where no energy is the run's, that with most of it first."""
    is_said = any(guess.to == "energy_j" for guess in guesses)
    phases = [] if is_said else phases_of(guesses)
    return tuple(sorted(phases, key=lambda phase: -phase.joules))


def result_of(phase: Phase, guesses: Sequence[Guess]) -> Guess | None:
    """Return the time of a phase, else its rate."""
    rates = (g for g in guesses if g.role == "metric" and g.better == "more")
    return phase.time or next((g for g in rates if g.heading.has(phase.word)), None)
