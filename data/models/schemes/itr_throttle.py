"""ITR throttle with NAPI: interrupts are at least a delay apart, and masked while there is work."""

import math
from functools import partial

from data.models.parameters import ARRIVALS, COMMON, DELAY, INTERRUPT, REGISTER
from data.models.scheme import Scheme
from data.models.simulation.machine import THROTTLE, machine_of

# One step of "2 us" of the 82599's register is 2.048 us.
US_PER_ITR_US = 1.024


def packets_per_interrupt(rate: float, delay_us: float) -> float:
    """Return the mean packets of an interrupt at low load: lam T + e^(-lam T).

    Args:
        rate: Events that may interrupt, per microsecond.
        delay_us: Least time between two interrupts.
    """
    return rate * delay_us + math.exp(-rate * delay_us)


def interrupts_per_s(rate: float, delay_us: float) -> float:
    """Return the interrupts of one queue at low load: 1/(T + e^(-lam T)/lam), per second."""
    return rate / packets_per_interrupt(rate, delay_us) * 1e6


SCHEME = Scheme(
    name="itr_throttle",
    title="ITR throttle",
    sentence="Interrupts are at least a delay apart and masked until the ring is empty: Intel's "
    "rx-usecs with NAPI.",
    parameters=(*COMMON, INTERRUPT, REGISTER, DELAY, *ARRIVALS),
    formulas={
        "simulated": "Disable-enable in parts; an unmasked interface interrupts at once if its "
        "last interrupt is T or more ago, else when it is. As the load goes to 0: "
        "lam T + e^(-lam T) packets an interrupt.",
    },
    solutions={},
    machine=partial(machine_of, masks=True, count=0, timer=THROTTLE),
)
