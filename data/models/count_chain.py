"""The exact chain of count-based coalescing, solved level by level without subtraction.

A level is the number of packets in the ring. Its phases are: `count` working ones, by the packets
counted since the last interrupt; one in the interrupt; and, where protocol work takes all visible
packets, up to `count` idle ones. Levels are eliminated from the end at which the ring rarely is,
and each elimination adds positive numbers only, so that every probability keeps its digits.

Source: Grassmann, Taksar, Heyman, Operations Research 33(5), 1985; Alfa, Xue, Ye, Mathematics of
Computation 71, 2002, for the inverse.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numba import njit

from data.errors import DataError

# The work of a level grows with the third power of the count.
MOST_COUNT: Final = 64
# Levels are alike from where their matrices differ by less than this.
_SAME: Final = 4e-16


@dataclass(frozen=True, slots=True)
class CountShares:
    """Probabilities of the chain: work, interrupt, idle, a full ring.

    Attributes:
        mean_packets: Mean packets in the ring.
        raised: Interrupts a microsecond.
    """

    work: float
    interrupt: float
    idle: float
    full: float
    mean_packets: float
    raised: float


def solve_count_chain(
    rate: float,
    service_us: float,
    interrupt_us: float,
    ring: int,
    count: int,
    is_gated: bool,
    drops_interrupt: bool,
) -> CountShares:
    """Solve the chain.

    Args:
        rate: Arrivals a microsecond.
        interrupt_us: Above 0.
        is_gated: Protocol work takes only packets that an interrupt announced.
        drops_interrupt: Packets that the full ring drops are counted too.

    Raises:
        DataError: The count is above MOST_COUNT or above the ring, or an interrupt takes no time.
    """
    if not count <= min(MOST_COUNT, ring):
        raise DataError(
            f"count is {count}; the exact solution takes counts up to {min(MOST_COUNT, ring)}"
        )
    if interrupt_us <= 0:
        raise DataError(
            f"interrupt_us is {interrupt_us:g}; the exact solution of coalescing by count takes "
            "interrupts that last"
        )
    # When there always is work: share of interrupts, and whether the ring fills.
    share = interrupt_us / (count / rate + interrupt_us)
    fills = rate * service_us > 1 - share
    shape = (float(rate), 1 / service_us, 1 / interrupt_us, ring, count, is_gated, drops_interrupt)
    work, interrupt, idle, full, mean_packets = _solve(shape, fills).tolist()
    return CountShares(work, interrupt, idle, full, mean_packets, interrupt / interrupt_us)


@njit(cache=True)
def _phases(shape: tuple, level: int) -> int:
    """Count the phases of a level: working by count, the interrupt, idle by where it began."""
    count, is_gated = shape[4], shape[5]
    return count + 1 if is_gated or level >= count else 2 * count + 1


@njit(cache=True)
def _is_working(shape: tuple, level: int, phase: int) -> bool:
    is_gated = shape[5]
    return level > phase if is_gated else level > 0


@njit(cache=True)
def _raised(shape: tuple, level: int, phase: int) -> int:
    """Return the phase after an arrival.

    An idle phase is the count at the moment when the ring became empty; so many packets less than
    `count` raise the interrupt.
    """
    count = shape[4]
    if phase == count:
        return count
    if phase < count:
        return phase + 1  # The last one leads to the interrupt, whose phase is `count`.
    began = phase - count - 1
    return count if level + 1 + began >= count else phase


@njit(cache=True)
def _lowered(shape: tuple, level: int, phase: int) -> int:
    """Return the phase after a departure from a working phase."""
    count, is_gated = shape[4], shape[5]
    return count + 1 + phase if level == 1 and not is_gated else phase


@njit(cache=True)
def _inside(shape: tuple, level: int) -> np.ndarray:
    """Return the rates between the phases of one level."""
    rate, _, interrupts, ring, count, _, drops = shape
    size = _phases(shape, level)
    moves = np.zeros((size, size))
    if level > 0:
        moves[count, 0] = interrupts
    if level == ring and drops:
        for phase in range(count):
            moves[phase, _raised(shape, level, phase)] += rate
    return moves


@njit(cache=True)
def _inverse(moves: np.ndarray, exits: np.ndarray) -> np.ndarray:
    """Return the mean time in phase j from phase i in a level; phases without moves stay 0."""
    size = len(exits)
    left = exits.copy()
    pivots = np.zeros(size)
    for k in range(size):
        pivots[k] = left[k] + moves[k, k + 1 :].sum()
        if pivots[k] == 0:
            continue
        for i in range(k + 1, size):
            if moves[i, k] == 0:
                continue
            share = moves[i, k] / pivots[k]
            left[i] += share * left[k]
            for j in range(k + 1, size):
                if j != i:
                    moves[i, j] += share * moves[k, j]
    times = np.zeros((size, size))
    for target in range(size):
        if pivots[target] == 0:
            continue
        # Forward: how often each pivot is reached from the target's column; then back.
        for i in range(target, size):
            if pivots[i] == 0:
                continue
            moment = 1.0 if i == target else 0.0
            for k in range(target, i):
                if pivots[k] != 0:
                    moment += moves[i, k] * times[k, target]
            times[i, target] = moment / pivots[i]
        for i in range(size - 1, -1, -1):
            if pivots[i] == 0:
                continue
            moment = 0.0
            for j in range(i + 1, size):
                moment += moves[i, j] * times[j, target]
            times[i, target] += moment / pivots[i]
    return times


@njit(cache=True)
def _stationary(given: np.ndarray, last: int) -> np.ndarray:
    """Solve for the stationary vector of a chain in which `last` recurs, which gets 1."""
    size = len(given)
    order = np.arange(size)
    order[0], order[last] = last, 0
    moves = given[order][:, order]
    sums = np.zeros(size)
    for k in range(size - 1, 0, -1):
        sums[k] = moves[k, :k].sum()
        if sums[k] == 0:
            continue
        for i in range(k):
            share = moves[i, k] / sums[k]
            for j in range(k):
                if j != i:
                    moves[i, j] += share * moves[k, j]
    weights = np.zeros(size)
    weights[0] = 1.0
    for k in range(1, size):
        if sums[k] == 0:
            continue
        for i in range(k):
            weights[k] += weights[i] * moves[i, k]
        weights[k] /= sums[k]
    return weights[order]


@njit(cache=True)
def _is_same(first: np.ndarray, second: np.ndarray) -> bool:
    if first.shape != second.shape:
        return False
    return bool(np.max(np.abs(first - second)) <= _SAME * np.max(first))


@njit(cache=True)
def _from_above(shape: tuple) -> np.ndarray:
    """Return sums over the levels, eliminated from the full ring down."""
    rate, work_rate, _, ring, count, _, _ = shape
    times = np.zeros((0, 0))
    times_of = [np.zeros((0, 0)) for _ in range(ring + 1)]
    is_settled = False
    for level in range(ring, 0, -1):
        if not (is_settled and level >= count):
            size = _phases(shape, level)
            moves, exits = _inside(shape, level), np.zeros(size)
            for phase in range(size):
                if phase < count and _is_working(shape, level, phase):
                    exits[phase] = work_rate
                if level < ring:
                    _return_from_above(shape, level, phase, moves, times)
            before, times = times, _inverse(moves, exits)
            is_settled = level > count and level < ring - 1 and _is_same(times, before)
        times_of[level] = times
    moves = np.zeros((_phases(shape, 0), _phases(shape, 0)))
    for phase in range(len(moves)):
        _return_from_above(shape, 0, phase, moves, times)
    sums = np.zeros(5)
    weights = _stationary(moves, 0 if shape[5] else count + 1)
    _add(shape, 0, weights, sums)
    for level in range(1, ring + 1):
        entered = np.zeros(_phases(shape, level))
        for phase in range(len(weights)):
            if weights[phase] != 0:
                entered[_raised(shape, level - 1, phase)] += rate * weights[phase]
        weights = entered @ times_of[level]
        _add(shape, level, weights, sums)
    return sums


@njit(cache=True)
def _return_from_above(
    shape: tuple, level: int, phase: int, moves: np.ndarray, times: np.ndarray
) -> None:
    """Add the moves of a phase that lead up and come back; `times` are of the level above."""
    rate, work_rate, _, _, count, _, _ = shape
    up = _raised(shape, level, phase)
    for other in range(count):
        if _is_working(shape, level + 1, other):
            back = _lowered(shape, level + 1, other)
            if back != phase:
                moves[phase, back] += rate * times[up, other] * work_rate


@njit(cache=True)
def _from_below(shape: tuple) -> np.ndarray:
    """Return sums over the levels, eliminated from the empty ring up."""
    rate, work_rate, _, ring, count, _, _ = shape
    times = np.zeros((0, 0))
    times_of = [np.zeros((0, 0)) for _ in range(ring + 1)]
    is_settled = False
    for level in range(ring):
        if not is_settled:
            size = _phases(shape, level)
            moves = _inside(shape, level)
            if level > 0:
                _return_from_below(shape, level, moves, times)
            before, times = times, _inverse(moves, np.full(size, rate))
            is_settled = level > count + 1 and _is_same(times, before)
        times_of[level] = times
    moves = _inside(shape, ring)
    _return_from_below(shape, ring, moves, times)
    sums = np.zeros(5)
    weights = _stationary(moves, count)
    _add(shape, ring, weights, sums)
    for level in range(ring - 1, -1, -1):
        entered = np.zeros(_phases(shape, level))
        for phase in range(count):
            if _is_working(shape, level + 1, phase):
                entered[_lowered(shape, level + 1, phase)] += work_rate * weights[phase]
        weights = entered @ times_of[level]
        _add(shape, level, weights, sums)
    return sums


@njit(cache=True)
def _return_from_below(shape: tuple, level: int, moves: np.ndarray, times: np.ndarray) -> None:
    """Add the moves that lead down and come back; `times` are of the level below."""
    rate, work_rate, _, _, count, _, _ = shape
    for phase in range(count):
        if _is_working(shape, level, phase):
            down = _lowered(shape, level, phase)
            for other in range(times.shape[0]):
                back = _raised(shape, level - 1, other)
                if back != phase:
                    moves[phase, back] += work_rate * times[down, other] * rate


@njit(cache=True)
def _add(shape: tuple, level: int, weights: np.ndarray, sums: np.ndarray) -> None:
    """Add a level to the sums: work, interrupt, idle, full, packets."""
    ring, count = shape[3], shape[4]
    for phase in range(len(weights)):
        if phase == count:
            kind = 1
        elif phase < count and _is_working(shape, level, phase):
            kind = 0
        else:
            kind = 2
        sums[kind] += weights[phase]
    if level == ring:
        sums[3] += weights.sum()
    sums[4] += level * weights.sum()


@njit(cache=True)
def _solve(shape: tuple, fills: bool) -> np.ndarray:
    sums = _from_below(shape) if fills else _from_above(shape)
    return sums / sums[:3].sum()
