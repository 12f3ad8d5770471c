"""Hybrid: disable-enable at low load, pure polling above a switching point."""

from types import SimpleNamespace

from data.models.parameters import (
    ARRIVALS,
    COMMON,
    INTERRUPT,
    POLL_OVERHEAD,
    POLL_PERIOD,
    QUOTA,
    REGISTER,
    SETUP,
    SWITCH,
    TICKS,
    WAIT,
)
from data.models.scheme import PER_KPPS, Point, Scheme
from data.models.schemes import disable_enable, pure_polling
from data.models.simulation.machine import ABOVE_SWITCH, Machine, machine_of


def _paper(rate: float, values: SimpleNamespace) -> Point:
    if rate < values.switch_kpps * PER_KPPS:
        return disable_enable.solve_joint(rate, values)
    return pure_polling.solve_paper(rate, values)


def _machine(values: SimpleNamespace) -> Machine:
    switch = values.switch_kpps * PER_KPPS
    return machine_of(values, masks=True, polls=ABOVE_SWITCH, switch=switch)


SCHEME = Scheme(
    name="hybrid",
    title="hybrid (proposed)",
    sentence="Disable-enable below a switching point, pure polling above it; capacity is that "
    "of the polls above the switch.",
    parameters=(
        *COMMON, INTERRUPT, REGISTER, SETUP, POLL_PERIOD, POLL_OVERHEAD, QUOTA, TICKS, WAIT,
        SWITCH, *ARRIVALS,
    ),
    formulas={
        "paper": "Disable-enable below the switch, pure polling from it on.",
        "simulated": "Throughput is measured over windows of 10 ms; polling begins at the "
        "switch and ends below 95 % of it.",
    },
    solutions={"paper": _paper},
    machine=_machine,
    refuse=pure_polling.refuse,
)  # fmt: skip
