"""Normal interruption: every packet interrupts, but for those that arrive during an interrupt."""

import math
from types import SimpleNamespace

import numpy as np

from data.models.parameters import ARRIVALS, COMMON, DROPS_INTERRUPT, INTERRUPT
from data.models.queues import geometric, mm1b
from data.models.scheme import PER_KPPS, Point, Scheme
from data.models.simulation.machine import machine_of


def cliff_kpps(service_us: float, interrupt_us: float, count: int = 1) -> float:
    """Return the rate above which the throughput of interrupts by count falls (eq. 13).

    Args:
        interrupt_us: Above 0.
        count: Packets that raise one interrupt.
    """
    rate = count / interrupt_us
    return rate / 2 * (math.sqrt(1 + 4 / (service_us * rate)) - 1) / PER_KPPS


def solve_paper(rate: float, values: SimpleNamespace, count: int = 1) -> Point:
    """Solve the published model: protocol work is M/M/1/B with the CPU that interrupts leave.

    Args:
        rate: Packets per microsecond.
        count: Packets that raise one interrupt: coalescing is this model with another share.

    Source: eqs. 1 to 6 of the study; for count above 1 reconstructed from its text.
    """
    taken = rate * values.interrupt_us / (rate * values.interrupt_us + count)
    service_us = values.service_us / (1 - taken)
    queue = mm1b(rate * service_us, values.ring)
    throughput = queue.busy / service_us
    return Point(
        throughput=throughput,
        cpu_left=(1 - taken) * queue.empty,
        interrupt_share=taken,
        protocol_share=throughput * values.service_us,
        loss_share=queue.full,
        latency_us=(count - 1) / (2 * rate) + values.interrupt_us + queue.mean_packets / throughput,
        interrupts=rate / (rate * values.interrupt_us + count),
    )


def solve_exact(rate: float, values: SimpleNamespace) -> Point:
    """Solve the chain of packets in the ring and the interrupt in closed form.

    Args:
        rate: Packets per microsecond.
    """
    ring, drops = values.ring, values.drops_interrupt
    work, interrupt = rate * values.service_us, rate * values.interrupt_us
    during = interrupt / (1 + interrupt)
    # Levels are geometric up to the last but one; the full ring has its own two states.
    sums = geometric(work + during, ring - 1)
    working = np.append(work * sums[:-1], work * sums[-1])
    interrupted = np.append(
        during * sums[:-1], interrupt * (sums[-1] + (working[-1] if drops else 0.0))
    )
    total = sums[0] + working.sum() + interrupted.sum()
    n = np.arange(1, ring + 1)
    busy, isr = working.sum() / total, interrupted.sum() / total
    # Arrivals outside of interrupts raise one, those at a full ring if drops do.
    raising = 1 - isr - (0.0 if drops else working[-1] / total)
    return Point(
        throughput=busy / values.service_us,
        cpu_left=sums[0] / total,
        interrupt_share=isr,
        protocol_share=busy,
        loss_share=(working[-1] + interrupted[-1]) / total,
        mean_packets=(n @ working + n @ interrupted) / total,
        interrupts=rate * raising,
    )


SCHEME = Scheme(
    name="normal",
    title="normal interruption",
    sentence="Every packet interrupts, except packets that arrive while an interrupt runs.",
    parameters=(*COMMON, INTERRUPT, DROPS_INTERRUPT, *ARRIVALS),
    formulas={
        "paper": "Share of interrupts U = lam/(lam+r); protocol work is M/M/1/B with the rate "
        "mu(1-U); latency 1/r + E[N]/X (eqs. 1 to 6).",
        "exact": "The chain (packets in the ring, interrupt running), geometric in lam/mu + "
        "lam/(lam+r), in closed form.",
        "simulated": "Arrivals outside of an interrupt start one; it preempts protocol work.",
    },
    solutions={"paper": solve_paper, "exact": solve_exact},
    machine=machine_of,
)
