"""Kernels over one core's sorted times: gap histogram, merge over cores, overview bins."""

from typing import Final

import numpy as np
from numba import njit

from data.errors import DataError

GAP_BINS: Final = 64
_NEVER: Final = np.iinfo(np.int64).max


def gap_histogram(t_ns: np.ndarray) -> np.ndarray:
    """Count the times between successive interrupts of one core by their power of two.

    Args:
        t_ns: Times in ns, int64, shape (n,), never decreasing.
    Returns:
        int64, shape (64,). Bin b counts gaps in [2**b, 2**(b+1)) ns; gaps of 0 are in bin 0.
        Fewer than two interrupts, all zeros.
    """
    return _gap_histogram(t_ns)


@njit(nogil=True, cache=True)
def _gap_histogram(t_ns: np.ndarray) -> np.ndarray:
    counts = np.zeros(GAP_BINS, np.int64)
    for i in range(1, t_ns.size):
        gap = t_ns[i] - t_ns[i - 1]
        power = 0
        for step in (32, 16, 8, 4, 2, 1):
            if gap >> step:
                gap >>= step
                power += step
        counts[power] += 1
    return counts


def merge_order(times: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Give the order that sorts several sorted arrays, laid end to end, by time.

    Args:
        times: The arrays one after the other, int64, shape (n,); each never decreases.
        starts: Where each array starts, and n at the end: int64, shape (k + 1,).
    Returns:
        Indices into `times`, int64, shape (n,). Equal times keep the order of the arrays.
    Raises:
        DataError: `starts` does not run from 0 to n.
    """
    if (
        starts.size == 0
        or starts[0] != 0
        or starts[-1] != times.size
        or np.any(np.diff(starts) < 0)
    ):
        raise DataError(f"starts must run from 0 to {times.size}, got {starts.tolist()}")
    if starts.size <= 2:
        return np.arange(times.size)
    return _merge_order(times, starts.astype(np.int64))


@njit(nogil=True, cache=True)
def _merge_order(times: np.ndarray, starts: np.ndarray) -> np.ndarray:
    # A tournament: leaves are the arrays' next times, each inner node the earlier of its two.
    arrays = starts.size - 1
    leaves = 1
    while leaves < arrays:
        leaves *= 2
    head = starts[:-1].copy()
    winner = np.empty(2 * leaves, np.int64)
    next_time = np.full(leaves, _NEVER, np.int64)
    for i in range(leaves):
        winner[leaves + i] = i
        if i < arrays and head[i] < starts[i + 1]:
            next_time[i] = times[head[i]]
    for node in range(leaves - 1, 0, -1):
        left, right = winner[2 * node], winner[2 * node + 1]
        winner[node] = left if next_time[left] <= next_time[right] else right
    order = np.empty(times.size, np.int64)
    for out in range(times.size):
        first = winner[1]
        order[out] = head[first]
        head[first] += 1
        next_time[first] = times[head[first]] if head[first] < starts[first + 1] else _NEVER
        node = (leaves + first) // 2
        while node:
            left, right = winner[2 * node], winner[2 * node + 1]
            winner[node] = left if next_time[left] <= next_time[right] else right
            node //= 2
    return order


def bin_starts_ns(duration_ns: int, bins: int) -> np.ndarray:
    """Give the first whole nanosecond of each of `bins` equal bins of a window, int64."""
    return -(-np.arange(bins, dtype=np.int64) * duration_ns // bins)


def bin_indices(t_ns: np.ndarray, duration_ns: int, bins: int) -> np.ndarray:
    """Tell the bin of each time in a window cut into equal bins.

    Args:
        t_ns: Times since the window's start, int64, shape (n,), never decreasing, all within
            the closed range [0, duration_ns]; the last instant falls into the last bin.
        duration_ns: The window's length; 0 puts all into bin 0.
        bins: How many bins.
    Returns:
        int64, shape (n,), each in [0, bins).
    Raises:
        DataError: A time lies outside the window.
    """
    if t_ns.size and (t_ns[0] < 0 or t_ns[-1] > duration_ns):
        raise DataError(f"times {t_ns[0]} to {t_ns[-1]} ns leave the window of {duration_ns} ns")
    return np.minimum(t_ns * bins // max(duration_ns, 1), bins - 1)


def bin_interrupts(
    t_ns: np.ndarray, rx_bytes: np.ndarray, tx_bytes: np.ndarray, duration_ns: int, bins: int
) -> dict[str, np.ndarray]:
    """Fold one core's interrupts into equal time bins.

    Args:
        t_ns: As in `bin_indices`.
        rx_bytes: Bytes received an interrupt, int64, shape (n,).
        tx_bytes: Bytes sent an interrupt, int64, shape (n,).
        duration_ns: The window's length.
        bins: How many bins.
    Returns:
        Columns `interrupts rx_bytes tx_bytes max_rx_bytes max_tx_bytes max_gap_ns`, int64, shape
        (bins,), 0 where nothing happened. A gap counts in the bin of its later interrupt; the
        first interrupt ends no gap.
    """
    out = np.zeros((6, bins), np.int64)
    _bin_interrupts(bin_indices(t_ns, duration_ns, bins), t_ns, rx_bytes, tx_bytes, out)
    names = ("interrupts", "rx_bytes", "tx_bytes", "max_rx_bytes", "max_tx_bytes", "max_gap_ns")
    return dict(zip(names, out, strict=True))


@njit(nogil=True, cache=True)
def _bin_interrupts(
    at: np.ndarray, t_ns: np.ndarray, rx_bytes: np.ndarray, tx_bytes: np.ndarray, out: np.ndarray
) -> None:
    for i in range(at.size):
        b = at[i]
        out[0, b] += 1
        out[1, b] += rx_bytes[i]
        out[2, b] += tx_bytes[i]
        out[3, b] = max(out[3, b], rx_bytes[i])
        out[4, b] = max(out[4, b], tx_bytes[i])
        if i:
            out[5, b] = max(out[5, b], t_ns[i] - t_ns[i - 1])


def bin_samples(
    t_ns: np.ndarray, deltas: dict[str, np.ndarray], duration_ns: int, bins: int
) -> dict[str, np.ndarray]:
    """Sum one core's sample deltas over equal time bins, each by the time of its sample.

    Args:
        t_ns: As in `bin_indices`.
        deltas: By column (`energy_uj instructions cycles ...`): int64 or float64, shape (n,).
        duration_ns: The window's length.
        bins: How many bins.
    Returns:
        The same columns and types, shape (bins,), 0 where no sample fell.
    """
    at = bin_indices(t_ns, duration_ns, bins)
    sums = {name: np.zeros(bins, values.dtype) for name, values in deltas.items()}
    for name, values in deltas.items():
        _add_at(at, values, sums[name])
    return sums


@njit(nogil=True, cache=True)
def _add_at(at: np.ndarray, values: np.ndarray, out: np.ndarray) -> None:
    for i in range(at.size):
        out[at[i]] += values[i]
