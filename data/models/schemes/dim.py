"""DIM (net_dim): the delay and the count follow the traffic, profile by profile."""

from types import SimpleNamespace

from data.models.parameters import ARRIVALS, COMMON, INTERRUPT, PROFILES, REGISTER
from data.models.scheme import Scheme
from data.models.simulation.machine import DIM, Machine, traffic_settings


def _machine(values: SimpleNamespace) -> Machine:
    return Machine(
        values.service_us,
        values.ring,
        interrupt_us=values.interrupt_us,
        register_us=values.register_us,
        masks=True,
        adapts=DIM,
        completions=values.profiles == "completion",
        **traffic_settings(values),
    )


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
    machine=_machine,
)
