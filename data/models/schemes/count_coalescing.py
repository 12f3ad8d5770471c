"""Count-based coalescing: an interrupt when so many packets have arrived."""

from types import SimpleNamespace

from data.errors import DataError
from data.models.parameters import ARRIVALS, COMMON, COUNT, DROPS_INTERRUPT, INTERRUPT, TAKE
from data.models.scheme import Point, Scheme
from data.models.schemes import normal
from data.models.simulation.machine import machine_of


def _refuse(values: SimpleNamespace) -> None:
    if values.count > values.ring:
        raise DataError(
            f"count is {values.count}; it must be at most ring, {values.ring}: "
            "else the ring fills before an interrupt"
        )


def _paper(rate: float, values: SimpleNamespace) -> Point:
    return normal.solve_paper(rate, values, values.count)


def _exact(rate: float, values: SimpleNamespace) -> Point:
    if values.count == 1:
        return normal.solve_exact(rate, values)
    # Imported here: Numba takes 50 MB.
    from data.models.count_chain import solve_count_chain

    chain = solve_count_chain(
        rate,
        values.service_us,
        values.interrupt_us,
        values.ring,
        values.count,
        values.take == "gated",
        values.drops_interrupt,
    )
    return Point(
        throughput=chain.work / values.service_us,
        cpu_left=chain.idle,
        interrupt_share=chain.interrupt,
        protocol_share=chain.work,
        loss_share=chain.full,
        mean_packets=chain.mean_packets,
        interrupts=chain.raised,
    )


SCHEME = Scheme(
    name="count_coalescing",
    title="coalescing by count",
    sentence="An interrupt when so many packets have arrived since the last one ended.",
    parameters=(*COMMON, INTERRUPT, COUNT, TAKE, DROPS_INTERRUPT, *ARRIVALS),
    formulas={
        "paper": "Normal interruption with the share U = lam/(lam + tau r); latency "
        "(tau-1)/(2 lam) + 1/r + E[N]/X.",
        "exact": "The chain (packets in the ring, packets counted, idle, working or "
        "interrupted), eliminated level by level.",
        "simulated": "Arrivals outside of an interrupt are counted; the last of a count "
        "interrupts.",
    },
    solutions={"paper": _paper, "exact": _exact},
    machine=machine_of,
    refuse=_refuse,
)
