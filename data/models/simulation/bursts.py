"""Bursty traffic in formulas: sizes of frames, their times on a link of 1 Gb/s, and its sources.

The ON and OFF times of the sources are Pareto, by the published formula.
`assets/models/view_sources.js` draws the same times as `on_periods`: both take them from one small
generator of random numbers (mulberry32).
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from data.errors import DataError

US_PER_BYTE: Final = 0.008
# Gap and preamble between frames.
BETWEEN_BYTES: Final = 20
SMALLEST_BYTES, LARGEST_BYTES = 64, 1518
SOURCES: Final = 8
ON_SHAPE: Final = 1.3
OFF_SHAPE: Final = 1.5
LEAST_ON_US: Final = 0.512
# Each source begins so long before the first shown time.
_BEFORE_US: Final = 2_000.0
_WORD: Final = 0xFFFFFFFF


def default_frame_sizes() -> list[tuple[float, float]]:
    """Return bytes and share of each frame size: mean 557, peaks at 64, 570, 594 and 1518.

    The published histogram is a picture. 5 % are spread evenly over all sizes, 10 % have 570 and
    15 % 594 bytes; the shares of 64 and 1518 follow from the mean.
    """
    even, peaks, mean = 0.05, {570: 0.10, 594: 0.15}, 557.0
    low, high = SMALLEST_BYTES, LARGEST_BYTES
    rest = 1 - even - sum(peaks.values())
    known = even * (low + high) / 2 + sum(size * share for size, share in peaks.items())
    large = (mean - known - rest * low) / (high - low)
    shares = dict.fromkeys(range(low, high + 1), even / (high - low + 1))
    for size, share in {**peaks, low: rest - large, high: large}.items():
        shares[size] += share
    return [(float(size), share) for size, share in shares.items()]


def check_frame_sizes(frame_sizes: Sequence[tuple[float, float]] | None) -> np.ndarray:
    """Return frame sizes as an array of bytes and shares, shape (n, 2), shares of sum 1.

    Raises:
        DataError: A size is not a whole number of bytes of 1 to 65,535, a share is negative, or
            there is none.
    """
    given = default_frame_sizes() if frame_sizes is None else list(frame_sizes)
    table = np.array(given, dtype=np.float64).reshape(-1, 2)
    for size, share in table.tolist():
        if not (1 <= size <= 65_535 and size == int(size)) or not share >= 0:
            raise DataError(f"frame_sizes holds {size:g} bytes with the share {share:g}")
    if not table[:, 1].sum() > 0:
        raise DataError("frame_sizes has no share above 0")
    return np.stack([table[:, 0], table[:, 1] / table[:, 1].sum()], axis=1)


def link_kpps(frame_sizes: Sequence[tuple[float, float]] | None = None) -> float:
    """Return the arrival rate at a link load of 1, Kpps; arguments and errors as above."""
    return 1e3 / frame_time_us(check_frame_sizes(frame_sizes))


def frame_time_us(sizes: np.ndarray) -> float:
    """Return the mean time that a frame takes of the link, gap and preamble included."""
    return float((sizes[:, 0] + BETWEEN_BYTES) @ sizes[:, 1]) * US_PER_BYTE


def least_off_us(load: float) -> float:
    """Return the least OFF time at which all sources load the link so, 0 < load <= 1."""
    on_us = ON_SHAPE * LEAST_ON_US / (ON_SHAPE - 1)
    return (OFF_SHAPE - 1) / OFF_SHAPE * on_us * (SOURCES / load - 1)


def on_periods(load: float, span_us: float, seed: int) -> list[tuple[int, float, float]]:
    """Return when the sources send within a time: source (from 1), begin and end in us."""
    least_us, periods = least_off_us(load), []
    for source in range(1, SOURCES + 1):
        draws, at = _uniforms(seed * SOURCES + source), -_BEFORE_US
        while True:
            at += least_us * next(draws) ** (-1 / OFF_SHAPE)
            if at >= span_us:
                break
            end = at + LEAST_ON_US * next(draws) ** (-1 / ON_SHAPE)
            if end > 0:
                periods.append((source, max(at, 0.0), min(end, span_us)))
            at = end
    return periods


def _uniforms(seed: int) -> Iterator[float]:
    """Yield random numbers in (0, 1]."""
    state = seed & _WORD
    while True:
        state = (state + 0x6D2B79F5) & _WORD
        mixed = ((state ^ (state >> 15)) * (1 | state)) & _WORD
        mixed = (mixed + (((mixed ^ (mixed >> 7)) * (61 | mixed)) & _WORD)) & _WORD ^ mixed
        yield 1 - ((mixed ^ (mixed >> 14)) & _WORD) / (_WORD + 1)
