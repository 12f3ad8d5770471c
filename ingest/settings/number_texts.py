"""Numbers in names and sidecars, sizes as fio writes them (`4k`), times of load generators."""

import math
import re
from typing import Final

_SIZE: Final = re.compile(r"(\d+)\s*([kmgtp]?)(?:i?b)?", re.IGNORECASE)
_POWERS: Final = ("", "k", "m", "g", "t", "p")


def parse_size(text: str) -> int:
    """Convert a size to bytes; k is 1024, as by fio's default.

    Raises:
        ValueError: Not a whole number with at most one unit.
    """
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"bad size: {text!r}, expected such as 512, 4k or 1m")
    return int(match[1]) << 10 * _POWERS.index(match[2].lower())


def whole_number(value: int) -> int:
    """Return a number if a column can hold it.

    Raises:
        ValueError: It needs more than 63 bits.
    """
    if not abs(value) < 2**63:
        raise ValueError("over 63 bits")
    return value


def core_number(value: int) -> int:
    """Return a core number if the columns `core` can hold it.

    Raises:
        ValueError: It is negative or needs more than 31 bits.
    """
    if not 0 <= value < 2**31:
        raise ValueError("expected 0 to 2147483647")
    return value


def finite_number(value: float) -> float:
    """Return a number if it is finite.

    Raises:
        ValueError: It is infinite or not a number.
    """
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    return value


# Columns of the percentiles of latencies, by percent.
PERCENTILES: Final = {
    5.0: "latency_p5_us",
    10.0: "latency_p10_us",
    50.0: "latency_p50_us",
    75.0: "latency_p75_us",
    90.0: "latency_p90_us",
    95.0: "latency_p95_us",
    99.0: "latency_p99_us",
    99.9: "latency_p999_us",
}
US: Final = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6}
# Decimals kept: a picosecond, below any clock's step.
_DECIMALS: Final = 6


def to_us(value: float, unit: str) -> float:
    """Convert a time; 6.602 ms are 6602.0, not 6601.999999999999.

    Args:
        unit: One of `US`.
    """
    return round(value * US[unit], _DECIMALS)
