"""Schemes whose idle time is a cycle: stages that begin with an empty ring, then work until empty.

A stage takes a constant and an exponential time, during which packets gather. If it ends with
packets in the ring, they are processed until the ring is empty, and the cycle begins again. By
renewal and reward, probabilities are mean times in a cycle over its mean length. All terms are
positive, and the ring is finite.
"""

from dataclasses import dataclass

import numpy as np

from data.models.queues import recur


@dataclass(frozen=True, slots=True)
class Stage:
    """What one stage gathers.

    Attributes:
        times_us: Mean time with n packets, shape (ring + 1,).
        ends: Probability that it ends with n packets, shape (ring + 1,).
    """

    times_us: np.ndarray
    ends: np.ndarray


@dataclass(frozen=True, slots=True)
class CycleShares:
    """Probabilities of a cycle.

    Attributes:
        per_us: Cycles a microsecond.
        work: Share of the time in protocol work.
        full: Probability of a full ring.
        mean_packets: Mean number in the ring.
    """

    per_us: float
    work: float
    full: float
    mean_packets: float


def gather(rate: float, ring: int, start: int, constant_us: float, mean_us: float) -> Stage:
    """Solve a stage that begins with `start` packets, of which there are more with each arrival.

    Args:
        rate: Arrivals a microsecond.
        constant_us: Its constant part, first.
        mean_us: Mean of its exponential part.
    """
    from scipy.special import gammainc

    room = ring - start
    # tails[k]: probability of at least k arrivals in the constant part.
    mean = rate * constant_us
    tails = np.concatenate([[1.0], gammainc(np.arange(1, room + 2), mean)])
    times = np.zeros(ring + 1)
    times[start:ring] = tails[1 : room + 1] / rate
    times[ring] = max(constant_us - times[start:ring].sum(), 0.0)
    ends = np.zeros(ring + 1)
    ends[start:ring] = np.maximum(tails[:room] - tails[1 : room + 1], 0.0)
    ends[ring] = tails[room]
    if mean_us == 0:
        return Stage(times, ends)
    # In the exponential part: an arrival comes first with this probability.
    more = rate * mean_us / (1 + rate * mean_us)
    visits, _ = recur(more, ends)
    spent = visits * (1 - more) * mean_us
    spent[ring] = visits[ring] * mean_us
    return Stage(times + spent, spent / mean_us)


def close(
    rate: float, service_us: float, ring: int, stages: list[tuple[float, Stage]], idle_us: float
) -> CycleShares:
    """Solve a cycle.

    Args:
        stages: Each with the mean number of times that a cycle goes through it.
        idle_us: Mean time in a cycle with an empty ring and outside of all stages.
    """
    outside = np.sum([times * stage.times_us for times, stage in stages], axis=0)
    entries = np.sum([times * stage.ends for times, stage in stages], axis=0)
    # Work crosses from n to n - 1 as often as something crosses from below n to n or more.
    above = np.cumsum(entries[:0:-1])[::-1]
    work, scale = recur(rate * service_us, service_us * above)
    outside = outside * scale
    length = (idle_us * scale) + outside.sum() + work.sum()
    n = np.arange(ring + 1)
    return CycleShares(
        per_us=scale / length,
        work=work.sum() / length,
        full=(outside[ring] + work[-1]) / length,
        mean_packets=(n @ outside + n[1:] @ work) / length,
    )
