"""The ON/OFF sources of bursty traffic as a picture: when each of them sends.

The ON and OFF times are Pareto, by the published formula. `assets/models/view_sources.js` draws the
same times: both take them from one small generator of random numbers (mulberry32).
"""

from collections.abc import Iterator
from typing import Final

SOURCES: Final = 8
ON_SHAPE: Final = 1.3
OFF_SHAPE: Final = 1.5
LEAST_ON_US: Final = 0.512
# Each source begins so long before the first shown time.
_BEFORE_US: Final = 2_000.0
_WORD: Final = 0xFFFFFFFF


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
