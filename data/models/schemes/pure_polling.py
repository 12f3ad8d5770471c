"""Pure polling: a timer fires for ever; each poll processes up to a quota of packets."""

from functools import partial
from types import SimpleNamespace

from data.errors import DataError
from data.models.parameters import (
    ARRIVALS,
    COMMON,
    POLL_OVERHEAD,
    POLL_PERIOD,
    QUOTA,
    TICKS,
    WAIT,
)
from data.models.queues import md1b
from data.models.scheme import Point, Scheme
from data.models.simulation.machine import ALWAYS, machine_of


def refuse(values: SimpleNamespace) -> None:
    """Refuse polls that leave no time.

    Raises:
        DataError: The overhead of a poll is not below the period.
    """
    if values.poll_overhead_us >= values.poll_period_us:
        raise DataError(
            f"poll_overhead_us is {values.poll_overhead_us:g}; it must be below "
            f"poll_period_us, {values.poll_period_us:g}"
        )


def solve_paper(rate: float, values: SimpleNamespace) -> Point:
    """Solve the published model with constant times (eqs. 9 to 12).

    Args:
        rate: Packets per microsecond.
    """
    overhead = values.poll_overhead_us / values.poll_period_us
    left_us = values.poll_period_us - values.poll_overhead_us
    if values.quota * values.service_us <= left_us:
        most = values.quota / values.poll_period_us
    else:
        most = (1 - overhead) / values.service_us
    queue = md1b(rate / most, values.ring)
    work = min(rate, most) * values.service_us
    wait_us = values.poll_period_us * (1.0 if values.wait == "upper" else 0.5)
    throughput = most * queue.busy
    return Point(
        throughput=throughput,
        cpu_left=1 - overhead - work,
        interrupt_share=overhead,
        protocol_share=work,
        loss_share=queue.full,
        latency_us=queue.mean_packets / throughput + queue.empty * wait_us,
        interrupts=0.0,
    )


SCHEME = Scheme(
    name="pure_polling",
    title="pure polling",
    sentence="A timer polls the ring for ever; each poll processes up to a quota of packets.",
    parameters=(*COMMON, POLL_PERIOD, POLL_OVERHEAD, QUOTA, TICKS, WAIT, *ARRIVALS),
    formulas={
        "paper": "M/D/1/B with the rate Q/T_poll, or mu(1-T_oh/T_poll) where the quota is more "
        "than a period can serve; plus the wait for a tick while the ring is empty "
        "(eqs. 9 to 12).",
        "simulated": "Each tick costs Exp(T_oh) at interrupt level, then a batch of up to Q.",
    },
    solutions={"paper": solve_paper},
    machine=partial(machine_of, interrupts=False, polls=ALWAYS),
    refuse=refuse,
)
