"""Time-based coalescing: an interrupt when a delay has passed."""

import math
from types import SimpleNamespace

from data.models.parameters import ARRIVALS, COMMON, DELAY, DROPS_INTERRUPT, INTERRUPT, TAKE, TIMER
from data.models.scheme import Point, Scheme
from data.models.schemes import normal
from data.models.simulation.machine import NO_TIMER, TIMERS, Machine, machine_of

# Below this a product that should be whole counts as whole.
_ROUNDING = 1e-9


def _paper(rate: float, values: SimpleNamespace) -> Point:
    count = max(1, math.ceil(rate * values.delay_us - _ROUNDING))
    return normal.solve_paper(rate, values, count)


def _machine(values: SimpleNamespace) -> Machine:
    if values.delay_us > 0:
        return machine_of(values, count=0, timer=TIMERS[values.timer])
    return machine_of(values, count=1, timer=NO_TIMER)


SCHEME = Scheme(
    name="time_coalescing",
    title="coalescing by time",
    sentence="An interrupt when a delay has passed since a packet, or since the last interrupt.",
    parameters=(*COMMON, INTERRUPT, DELAY, TIMER, TAKE, DROPS_INTERRUPT, *ARRIVALS),
    formulas={
        "paper": "Coalescing by count with tau = max(1, ceil(lam T)). The curves jump where the "
        "ceiling does, and below lam = 1/T they have no delay at all.",
        "simulated": "The timer runs from the first packet after an interrupt, always, or since "
        "the last interrupt.",
    },
    solutions={"paper": _paper},
    machine=_machine,
)
