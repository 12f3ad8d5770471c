"""The unit of latencies whose headings say none, by what other columns must be with it.

A latency of the same table states it; else Little's law: requests in flight are throughput times
latency, as many as clients wait for their answers, if the rate says that it is of single requests:
in thousands of them each unit would be the next. What nothing decides keeps no unit.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ingest.proposals.roles import Guess
from ingest.settings.headings import ITEMS, RATES

# Evidence of a latency whose unit nothing decides.
NO_UNIT: Final = "nothing says its unit: write `unit`"
_UNITS: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
CLIENTS: Final = frozenset(
    {"threads", "clients", "connections", "concurrency", "users", "depth", "iodepth", "outstanding"}
)
# Single ones of these a second are requests a second; a name alone may stand for thousands, but
# nobody writes thousands of thousands.
_REQUESTS: Final = ITEMS - {"flops", "gflops", "mflops", "mbit", "gbit", "mbits", "gbits"} | {"1"}
_THOUSANDS: Final = {"k", "kilo", "thousand", "thousands", "m", "mega", "million", "millions"}
_MANY: Final = 1000.0
_COUNTS: Final = frozenset({"requests", "operations", "queries", "transactions"})
# Requests in flight over clients, of means and of percentiles; without clients, requests in flight.
_CLOSED: Final = {False: (0.1, 10.0), True: (0.3, 30.0)}
_OPEN: Final = (0.05, 2000.0)
# Powers of what answers one request, W, and how far energies and latencies go together.
_POWERS_W: Final = (1.0, 5000.0)
_TOGETHER: Final = 0.8
_FEW_ROWS: Final = 6
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
        if 1 / _ALIKE < apart < _ALIKE:
            unit, why = text, f"as {other.heading.text}"
    elif not stated:
        unit, why = _by_littles_law(first, guesses)
        if not unit:
            unit, why = _by_energy(first, guesses)
    for guess in unstated:
        guess.why += f"; in {unit}, {why}" if unit else f"; {NO_UNIT}"
        if unit:
            guess.unit, guess.quantity, guess.better = unit, "time", "less"


def _by_littles_law(latency: Guess, guesses: Sequence[Guess]) -> tuple[str, str]:
    """Return the only unit with which a number of requests can be in flight, and the evidence."""
    of_rows = [g for g in guesses if len(g.numbers) == len(latency.numbers)]
    duration = next((g for g in of_rows if g.to == "duration_s"), None)
    duration_s = duration.numbers * duration.scale if duration is not None else None
    rate = next((g for g in of_rows if _is_rate(g)), None)
    count = next((g for g in of_rows if _is_count(g)), None)
    if rate is not None:
        per_s, name = rate.numbers, rate.heading.text
    elif count is not None and duration is not None and duration_s is not None:
        per_s, name = count.numbers / duration_s, f"{count.heading.text} / {duration.heading.text}"
    else:
        return "", ""
    clients = [g for g in of_rows if g.heading.words[-1:] and g.heading.words[-1] in CLIENTS]
    most = max(clients, key=lambda g: float(g.numbers.max()), default=None)
    is_percentile = not latency.heading.has("mean", "avg", "average", "p50", "median") and any(
        word[:1] == "p" and word[1:].isdigit() for word in latency.heading.words
    )
    low, high = _OPEN if most is None else _CLOSED[is_percentile]
    fitting = []
    for text, scale in _UNITS.items():
        flying = per_s * latency.numbers * scale / (1 if most is None else most.numbers)
        is_short = duration_s is None or np.all(latency.numbers * scale <= duration_s)
        if is_short and np.all((low <= flying) & (flying <= high)):
            fitting.append(text)
    of = f"{most.heading.text} = " if most is not None else ""
    return (fitting[0], f"by {of}{name} x latency") if len(fitting) == 1 else ("", "")


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


def _is_rate(guess: Guess) -> bool:
    """Return whether a column is surely of single requests a second: not of bytes or thousands."""
    unit, words = guess.heading.unit, guess.heading.words
    if guess.kind == "text" or unit is None or guess.heading.has(*_THOUSANDS):
        return False
    above, _, below = unit.text.partition("/")
    is_named = words[-1:] and words[-1] in RATES
    is_large = len(guess.numbers) > 0 and guess.numbers.max() >= _MANY
    return below == "s" and above.lower() in _REQUESTS and (not is_named or is_large)


def _is_count(guess: Guess) -> bool:
    is_named = guess.heading.words[-1:] and guess.heading.words[-1] in _COUNTS
    return bool(is_named) and guess.kind == "whole" and not guess.heading.has(*_THOUSANDS)
