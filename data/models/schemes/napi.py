"""NAPI polling: an interrupt starts polls, which end when they find the ring empty."""

from types import SimpleNamespace

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
from data.models.simulation.machine import AFTER_INTERRUPT, Machine, traffic_settings


def _machine(values: SimpleNamespace) -> Machine:
    return Machine(
        values.service_us,
        values.ring,
        interrupt_us=values.interrupt_us,
        register_us=values.register_us,
        masks=True,
        polls=AFTER_INTERRUPT,
        poll_period_us=values.poll_period_us,
        poll_overhead_us=values.poll_overhead_us,
        quota=values.quota,
        counts_ticks=values.ticks == "count",
        **traffic_settings(values),
    )


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
    machine=_machine,
    refuse=refuse,
)  # fmt: skip
