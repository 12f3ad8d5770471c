"""Bursty traffic: the sum of 8 ON/OFF sources with Pareto times on links of 1 Gb/s."""

import math
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numba import njit

from data.errors import DataError
from data.models.simulation.bursts import (
    BETWEEN_BYTES,
    LEAST_ON_US,
    OFF_SHAPE,
    ON_SHAPE,
    SOURCES,
    US_PER_BYTE,
    frame_time_us,
)
from data.models.simulation.machine import FITTING_ONLY, TRUE_LOAD, Machine

# The frame of fixed size.
FRAME_BYTES: Final = 64.0
# Packet copy at 748 MB/s; of the 5.34 us for 64 bytes the published study counts 5.25 us without.
COPY_US_PER_BYTE: Final = 1 / 748
COPY_64_US: Final = 0.09
# How far the renewal function is computed; beyond, it is its asymptote.
_REACH_BYTES: Final = 20_000


def mean_off_us(rate: float, reading: int, sizes: np.ndarray) -> float:
    """Return the mean OFF time of a source at which all sources have a rate together.

    Args:
        rate: Frames per microsecond; at most the link's.
        reading: TRUE_LOAD: by the time really spent sending; else by the published formula, which
            takes the mean ON time for it.
    """
    on_us = ON_SHAPE * LEAST_ON_US / (ON_SHAPE - 1)
    if reading == TRUE_LOAD:
        on_us = sending_us(tuple(map(tuple, sizes.tolist())))
    load = min(rate * frame_time_us(sizes), 1.0)
    return on_us * (SOURCES / load - 1)


@lru_cache(maxsize=8)
def sending_us(frame_sizes: tuple[tuple[float, float], ...]) -> float:
    """Return how long a source sends in one ON time, on average, if it finishes its last frame.

    By Wald's identity: frames that start in an ON time, times a frame's mean time. Frames start
    at 0 and then as a renewal process on the lattice of byte times.
    """
    from scipy.special import zeta

    sizes = np.array(frame_sizes)
    steps = np.zeros(int(sizes[:, 0].max()) + BETWEEN_BYTES + 1)
    np.add.at(steps, sizes[:, 0].astype(int) + BETWEEN_BYTES, sizes[:, 1])
    starts = _renewals(steps, _REACH_BYTES)
    least = LEAST_ON_US / US_PER_BYTE
    at = np.arange(_REACH_BYTES)
    lasts = np.minimum(1.0, (least / np.maximum(at, 1)) ** ON_SHAPE)
    lasts[0] = 1.0
    mean = frame_time_us(sizes) / US_PER_BYTE
    beyond = least**ON_SHAPE * float(zeta(ON_SHAPE, _REACH_BYTES)) / mean
    return float(starts @ lasts + beyond) * frame_time_us(sizes)


@njit(cache=True)
def _renewals(steps: np.ndarray, reach: int) -> np.ndarray:
    renewals = np.zeros(reach)
    renewals[0] = 1.0
    used = np.nonzero(steps)[0]
    for at in range(1, reach):
        for step in used:
            if step > at:
                break
            renewals[at] += steps[step] * renewals[at - step]
    return renewals


@njit(cache=True, nogil=True, error_model="numpy")
def _draw(s: Any, draws: np.ndarray) -> float:
    """Take the next standard exponential of the arrivals' stream."""
    s.drawn_0 += 1
    return float(draws[0, s.drawn_0 - 1])


def new_sources() -> np.ndarray:
    """Return the sources before the first frame: when the next one ends, its bytes, end of ON."""
    sources = np.zeros((SOURCES, 3))
    sources[:, 0] = -1.0
    return sources


@njit(cache=True, nogil=True, error_model="numpy")
def next_frame(
    s: Any, sources: np.ndarray, sizes: np.ndarray, cumulated: np.ndarray, draws: np.ndarray
) -> None:
    """Take the frame that ends first; its source goes on to its next one.

    Args:
        sources: Of each source: end of its frame, its bytes, end of ON; shape (SOURCES, 3).
        sizes: Bytes of the frame sizes, shape (n,).
        cumulated: Their cumulated shares, shape (n,).
    """
    if sources[0, 0] < 0:
        for source in range(SOURCES):
            _begin_on(s, sources, source, 0.0, sizes, cumulated, draws)
    first = 0
    for source in range(1, SOURCES):
        if sources[source, 0] < sources[first, 0]:
            first = source
    end = sources[first, 0]
    s.frame_bytes = sources[first, 1]
    s.arrival_at = end
    if s.shared_link:
        s.arrival_at = max(end, s.link_free)
        s.link_free = s.arrival_at + (s.frame_bytes + BETWEEN_BYTES) * US_PER_BYTE
    start = end + BETWEEN_BYTES * US_PER_BYTE
    if start < sources[first, 2]:
        _send(s, sources, first, start, sizes, cumulated, draws)
    else:
        _begin_on(s, sources, first, start, sizes, cumulated, draws)


@njit(cache=True, nogil=True, error_model="numpy")
def _send(
    s: Any, sources: np.ndarray, source: int, start: float, sizes: np.ndarray,
    cumulated: np.ndarray, draws: np.ndarray,
) -> None:  # fmt: skip
    """Send one frame; where only fitting ones are sent and it does not fit, the next ON begins."""
    found = int(np.searchsorted(cumulated, math.exp(-_draw(s, draws))))
    size = sizes[min(found, len(sizes) - 1)]
    end = start + size * US_PER_BYTE
    if s.reading == FITTING_ONLY and end > sources[source, 2]:
        _begin_on(s, sources, source, sources[source, 2], sizes, cumulated, draws)
        return
    sources[source, 0] = end
    sources[source, 1] = size


@njit(cache=True, nogil=True, error_model="numpy")
def _begin_on(
    s: Any, sources: np.ndarray, source: int, after: float, sizes: np.ndarray,
    cumulated: np.ndarray, draws: np.ndarray,
) -> None:  # fmt: skip
    least_off = s.mean_off * (OFF_SHAPE - 1) / OFF_SHAPE
    start = after
    size, end = 0.0, 0.0
    while True:
        start += least_off * math.exp(_draw(s, draws) / OFF_SHAPE)
        on_end = start + LEAST_ON_US * math.exp(_draw(s, draws) / ON_SHAPE)
        found = int(np.searchsorted(cumulated, math.exp(-_draw(s, draws))))
        size = sizes[min(found, len(sizes) - 1)]
        end = start + size * US_PER_BYTE
        if s.reading != FITTING_ONLY or end <= on_end:
            break
        start = on_end
    sources[source, 0] = end
    sources[source, 1] = size
    sources[source, 2] = on_end


def check_load(machine: Machine, rates: np.ndarray, sizes: np.ndarray) -> None:
    """Refuse rates that the link does not reach, and services shorter than a packet's copy.

    Raises:
        DataError: One is.
    """
    most = 1 / frame_time_us(sizes)
    if rates.max() > most * (1 + 1e-12):
        raise DataError(
            f"rates_kpps holds {rates.max() * 1e3:g}; bursty traffic of frames of mean "
            f"{sizes[:, 0] @ sizes[:, 1]:.0f} bytes reaches {most * 1e3:.1f} Kpps"
        )
    if machine.service_us <= COPY_64_US:
        raise DataError(
            f"service_us is {machine.service_us:g}; with bursty traffic it must be above "
            f"{COPY_64_US:g} us, the copy of a 64-byte packet"
        )
