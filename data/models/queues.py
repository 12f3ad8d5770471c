"""Finite queues: M/M/1/B, M/D/1/B, and the recurrences that their relatives share."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

# Beyond this load e^load comes near the greatest double; the ring is then full but for 1e-260.
_SATURATED: Final = 600.0


@dataclass(frozen=True, slots=True)
class Queue:
    """A finite queue in steady state; rates in the unit of the arrival rate.

    Attributes:
        empty: Probability of no packet.
        busy: Probability of some packet: 1 - empty, without cancellation.
        full: Probability of a full ring: the share of packets that is lost.
        mean_packets: Mean number, the one in service included.
    """

    empty: float
    busy: float
    full: float
    mean_packets: float


def geometric(ratio: float, last: int) -> np.ndarray:
    """Return `ratio ** n` for n = 0..last, scaled so that the greatest is 1; shape (last + 1,)."""
    n = np.arange(last + 1)
    if ratio <= 1:
        return np.power(ratio, n)
    return np.power(1 / ratio, last - n)


def mm1b(load: float, ring: int) -> Queue:
    """Solve M/M/1/B.

    Args:
        load: Arrival rate over service rate, above 0.
        ring: Packets that fit, the one in service included.
    """
    weights = geometric(load, ring)
    total = weights.sum()
    return Queue(
        empty=weights[0] / total,
        busy=weights[1:].sum() / total,
        full=weights[-1] / total,
        mean_packets=np.arange(ring + 1) @ weights / total,
    )


def md1b(load: float, ring: int) -> Queue:
    """Solve M/D/1/B by the chain of the numbers that departing packets leave behind.

    All terms are positive, so that nothing cancels; the alternating sum of eq. 11 of the published
    study is the same, but not in doubles beyond 30 packets.

    Source: Gross, Shortle, Thompson, Harris, Fundamentals of Queueing Theory, section 5.1.8.
    """
    if load > _SATURATED:
        left = np.zeros(ring)
        left[-1] = 1.0
    else:
        left = _left_behind(load, ring)
    scale = left[0] + load
    mean = (np.arange(ring) @ left + ring * (scale - 1)) / scale
    return Queue(
        empty=left[0] / scale,
        busy=load / scale,
        full=max(scale - 1, 0.0) / scale,
        mean_packets=mean,
    )


def _left_behind(load: float, ring: int) -> np.ndarray:
    from scipy.special import gammainc

    from data.models.compiled_recurrences import departures

    reach = int(min(ring + 1, load + 14 * math.sqrt(load) + 60))
    tails = gammainc(np.arange(1, reach + 2), load)
    return departures(np.concatenate([[1.0], tails]), math.exp(-load), ring)


def recur(ratio: float, inputs: np.ndarray) -> tuple[np.ndarray, float]:
    """Solve `x[n] = ratio * x[n - 1] + inputs[n]` with x[-1] = 0, without overflow.

    Args:
        inputs: Not negative, shape (n,).

    Returns:
        The values times a factor, shape (n,), and that factor, at most 1; it may be 0.
    """
    last = len(inputs) - 1
    if ratio <= 1:
        from data.models.compiled_recurrences import first_order

        return first_order(ratio, inputs), 1.0
    n = np.arange(last + 1)
    sums = np.cumsum(inputs * np.power(1 / ratio, n))
    return sums * np.power(1 / ratio, last - n), (1 / ratio) ** last
