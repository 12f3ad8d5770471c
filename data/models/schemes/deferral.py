"""Deferral of hard interrupts: an empty ring arms a timer that looks, instead of unmasking."""

from dataclasses import replace
from types import SimpleNamespace

from data.models.cycle import close, gather
from data.models.parameters import (
    ARRIVALS,
    COMMON,
    COUNT,
    DELAY,
    INTERRUPT,
    POLL_OVERHEAD,
    REGISTER,
)
from data.models.scheme import Point, Scheme
from data.models.simulation.machine import DEFER, Machine, machine_of

LOOKS = replace(
    COUNT,
    default=100,
    range=(1, 65_536),
    sentence="Empty looks in a row after which interrupts are unmasked (napi_defer_hard_irqs).",
)
GAP = replace(
    DELAY,
    default=20.0,
    range=(1e-3, 1e6),
    sentence="Time until the timer looks into the ring (gro_flush_timeout).",
)


def solve_exact(rate: float, values: SimpleNamespace, first_look_us: float = 0.0) -> Point:
    """Solve the cycle: looks until one finds packets or interrupts are unmasked, then work.

    Args:
        rate: Packets per microsecond.
        first_look_us: A look at once when the ring is empty, constant; 0: none.
    """
    ring, gap_us, look_us = values.ring, values.delay_us, values.poll_overhead_us
    setup_us = values.register_us + values.interrupt_us
    at_once = gather(rate, ring, 0, first_look_us, 0.0)
    look = gather(rate, ring, 0, gap_us, look_us)
    setup = gather(rate, ring, 1, values.register_us, values.interrupt_us)
    reached, empty = at_once.ends[0], look.ends[0]
    in_vain = reached * empty**values.count
    # 1 + empty + empty^2 ...; a sum, since the looks' share may be all but 1.
    sum_of_powers, power = 0.0, 1.0
    for _ in range(values.count):
        sum_of_powers += power
        power *= empty
    looks = reached * sum_of_powers
    stages = [(1.0, at_once), (looks, look), (in_vain, setup)]
    cycle = close(rate, values.service_us, ring, stages, in_vain / rate)
    overhead_us = first_look_us + looks * look_us + in_vain * setup_us
    return Point(
        throughput=cycle.work / values.service_us,
        cpu_left=(looks * gap_us + in_vain / rate) * cycle.per_us,
        interrupt_share=overhead_us * cycle.per_us,
        protocol_share=cycle.work,
        loss_share=cycle.full,
        mean_packets=cycle.mean_packets,
        interrupts=in_vain * cycle.per_us,
    )


def machine(values: SimpleNamespace, when_empty: int) -> Machine:
    """Return the machine of deferral and of its relatives."""
    looks = {"look_delay_us": values.delay_us, "looks": values.count}
    return machine_of(values, masks=True, when_empty=when_empty, count=1, delay_us=0.0, **looks)


SCHEME = Scheme(
    name="deferral",
    title="interrupt deferral",
    sentence="A poll that leaves the ring empty arms a timer instead of unmasking; so many empty "
    "looks in a row unmask.",
    parameters=(*COMMON, INTERRUPT, REGISTER, POLL_OVERHEAD, GAP, LOOKS, *ARRIVALS),
    formulas={
        "exact": "A cycle of looks (G, then Exp(T_oh)), perhaps an interrupt, then work until the "
        "ring is empty, by renewal and reward; for many looks M/M/1 with vacations.",
        "simulated": "The same, event by event.",
    },
    solutions={"exact": solve_exact},
    machine=lambda values: machine(values, DEFER),
)
