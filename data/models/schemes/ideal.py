"""Ideal: no cost of interrupts; the queue M/M/1/B."""

from functools import partial
from types import SimpleNamespace

from data.models.parameters import ARRIVALS, COMMON
from data.models.queues import mm1b
from data.models.scheme import Point, Scheme
from data.models.simulation.machine import machine_of


def _solve(rate: float, values: SimpleNamespace) -> Point:
    queue = mm1b(rate * values.service_us, values.ring)
    return Point(
        throughput=queue.busy / values.service_us,
        cpu_left=queue.empty,
        interrupt_share=0.0,
        protocol_share=queue.busy,
        loss_share=queue.full,
        mean_packets=queue.mean_packets,
        interrupts=0.0,
    )


SCHEME = Scheme(
    name="ideal",
    title="ideal",
    sentence="Packets are processed at once; interrupts cost nothing.",
    parameters=(*COMMON, *ARRIVALS),
    formulas={
        "paper": "M/M/1/B with the service rate mu (section 3).",
        "exact": "M/M/1/B with the service rate mu.",
        "simulated": "Arrivals and protocol work alone.",
    },
    solutions={"paper": _solve, "exact": _solve},
    machine=partial(machine_of, interrupts=False),
)
