"""DIM (net_dim): the delay and the count follow the traffic, profile by profile."""

from functools import partial

from data.models.parameters import ARRIVALS, COMMON, INTERRUPT, PROFILES, REGISTER
from data.models.scheme import Scheme
from data.models.simulation.machine import DIM, machine_of

SCHEME = Scheme(
    name="dim",
    title="DIM",
    sentence="Linux's dynamic interrupt moderation: after every 64 interrupts it compares rates "
    "and goes on or turns among five profiles.",
    parameters=(*COMMON, INTERRUPT, REGISTER, PROFILES, *ARRIVALS),
    formulas={
        "simulated": "A feedback loop: bytes, packets, then interrupts a millisecond against the "
        "sample before; differences above 10 % count.",
    },
    solutions={},
    machine=partial(machine_of, masks=True, adapts=DIM),
)
