"""Busy polling: the CPU looks into the ring whenever it has nothing else to do."""

from functools import partial
from types import SimpleNamespace

from data.models.cycle import close, gather
from data.models.parameters import ARRIVALS, COMMON, POLL_OVERHEAD
from data.models.scheme import Point, Scheme
from data.models.simulation.machine import LOOK, machine_of


def _exact(rate: float, values: SimpleNamespace) -> Point:
    """Looks take a constant time; the one that finds packets ends the idle time."""
    look_us = values.poll_overhead_us
    look = gather(rate, values.ring, 0, look_us, 0.0)
    found = 1 - look.ends[0]
    if found > 0:
        looks, waits_us = 1 / found, 0.0
        entered = [(looks, look)]
        idle_us = looks * look_us
    else:  # Looks without a length see each packet at once.
        entered, waits_us = [(1.0, gather(rate, values.ring, 1, 0.0, 0.0))], 1 / rate
        idle_us = waits_us
    cycle = close(rate, values.service_us, values.ring, entered, waits_us)
    return Point(
        throughput=cycle.work / values.service_us,
        cpu_left=0.0,
        interrupt_share=idle_us * cycle.per_us,
        protocol_share=cycle.work,
        loss_share=cycle.full,
        mean_packets=cycle.mean_packets,
        interrupts=0.0,
    )


SCHEME = Scheme(
    name="busy_polling",
    title="busy polling",
    sentence="The CPU looks into the ring all the time that it has no packet: nothing is left "
    "for users.",
    parameters=(*COMMON, POLL_OVERHEAD, *ARRIVALS),
    formulas={
        "exact": "M/M/1/B with vacations of one look: in a boundless ring E[T] = 1/(mu-lam) + "
        "half a look; V = 0.",
        "simulated": "Looks of constant length while the ring is empty.",
    },
    solutions={"exact": _exact},
    machine=partial(machine_of, interrupts=False, when_empty=LOOK),
)
