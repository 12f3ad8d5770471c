"""NAPI polling: an interrupt starts polls, which end when they find the ring empty."""

from functools import partial

from data.models.parameters import (
    ARRIVALS,
    COMMON,
    INTERRUPT,
    POLL_OVERHEAD,
    POLL_PERIOD,
    QUOTA,
    REGISTER,
    TICKS,
)
from data.models.scheme import Scheme
from data.models.schemes.pure_polling import refuse
from data.models.simulation.machine import AFTER_INTERRUPT, machine_of

SCHEME = Scheme(
    name="napi",
    title="NAPI polling",
    sentence="An interrupt masks further ones and starts polls; an empty ring ends them.",
    parameters=(
        *COMMON, INTERRUPT, REGISTER, POLL_PERIOD, POLL_OVERHEAD, QUOTA, TICKS, *ARRIVALS,
    ),
    formulas={
        "simulated": "The interrupt costs c_w + Exp(1/r) and acts as the first tick; each later "
        "tick costs Exp(T_oh). A batch that empties the ring stops the timer and unmasks.",
    },
    solutions={},
    machine=partial(machine_of, masks=True, polls=AFTER_INTERRUPT),
    refuse=refuse,
)  # fmt: skip
