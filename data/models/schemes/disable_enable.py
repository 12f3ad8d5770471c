"""Interrupt disable-enable: the first packet of a busy period interrupts, the others do not."""

from functools import partial
from types import SimpleNamespace

import numpy as np

from data.models.cycle import close, gather
from data.models.parameters import ARRIVALS, COMMON, INTERRUPT, REGISTER, SETUP
from data.models.queues import recur
from data.models.scheme import Point, Scheme
from data.models.simulation.machine import machine_of


def solve_joint(rate: float, values: SimpleNamespace) -> Point:
    """Solve the published chain: set-up and first packet are one exponential time.

    Args:
        rate: Packets per microsecond.
    """
    ring, service_us = values.ring, values.service_us
    first_us = values.register_us + values.interrupt_us + service_us
    load, more = rate * service_us, rate * first_us / (1 + rate * first_us)
    # Enabled: the first packet is in its long service; entry n is the state with n packets.
    first = np.power(more, np.arange(ring + 1))
    first[ring] = rate * first_us * first[ring - 1]
    inputs = np.zeros(ring)
    inputs[: ring - 1] = load * more * first[: ring - 1]
    later, scale = recur(load, inputs)
    first = first * scale
    total = first.sum() + later.sum()
    n = np.arange(1, ring + 1)
    long, short = first[1:].sum() / total, later.sum() / total
    own = service_us / first_us
    return Point(
        throughput=long / first_us + short / service_us,
        cpu_left=first[0] / total,
        interrupt_share=(1 - own) * long,
        protocol_share=own * long + short,
        loss_share=(first[ring] + later[-1]) / total,
        mean_packets=(n @ first[1:] + n @ later) / total,
        interrupts=rate * first[0] / total,
    )


def _solve_parts(rate: float, values: SimpleNamespace) -> Point:
    """Solve with set-up c_w + Exp(1/r) and the packet's own time drawn apart."""
    setup_us = values.register_us + values.interrupt_us
    setup = gather(rate, values.ring, 1, values.register_us, values.interrupt_us)
    cycle = close(rate, values.service_us, values.ring, [(1.0, setup)], 1 / rate)
    return Point(
        throughput=cycle.work / values.service_us,
        cpu_left=cycle.per_us / rate,
        interrupt_share=setup_us * cycle.per_us,
        protocol_share=cycle.work,
        loss_share=cycle.full,
        mean_packets=cycle.mean_packets,
        interrupts=cycle.per_us,
    )


def solve_exact(rate: float, values: SimpleNamespace) -> Point:
    """Solve the chain of either set-up."""
    return (solve_joint if values.setup == "joint" else _solve_parts)(rate, values)


SCHEME = Scheme(
    name="disable_enable",
    title="disable-enable",
    sentence="The first packet of a busy period interrupts; interrupts are then off until the "
    "ring is empty.",
    parameters=(*COMMON, INTERRUPT, REGISTER, SETUP, *ARRIVALS),
    formulas={
        "paper": "The published chain: the first packet's time is exponential with mean "
        "1/nu = c_w + 1/r + 1/mu.",
        "exact": "Joint set-up: the same chain by level crossing. In parts: a cycle of set-up "
        "c_w + Exp(1/r), then work until the ring is empty, by renewal and reward.",
        "simulated": "An arrival at an empty ring masks interrupts and runs the interrupt; the "
        "empty ring unmasks them.",
    },
    solutions={"paper": solve_joint, "exact": solve_exact},
    machine=partial(machine_of, masks=True),
)
