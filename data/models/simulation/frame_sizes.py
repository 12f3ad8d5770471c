"""Sizes of Ethernet frames, and the time that a frame takes of a link of 1 Gb/s."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from data.errors import DataError

US_PER_BYTE: Final = 0.008
# Gap and preamble between frames.
BETWEEN_BYTES: Final = 20
SMALLEST_BYTES, LARGEST_BYTES = 64, 1518


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
